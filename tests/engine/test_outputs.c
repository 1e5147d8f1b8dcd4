/* SPDX-License-Identifier: MIT */
/* Output to files, links, descriptors, closed pipes and full disks, and the output that remains after Ctrl-C. */
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/program/command.h"
#include "support/model/tiny_model.h"

/* A target, a draft model close to it, and a larger model. */
static char target[256], draft[256], large[256];

static int models_write(void **state)
{
    (void)state;
    strcpy(target, test_temporary("target.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    strcpy(large, test_temporary("large.gguf"));
    tiny_model_write(target, &(tiny_model_options){.n_ctx = 8192, .seed = 1});
    tiny_model_write(draft, &(tiny_model_options){.n_ctx = 8192, .seed = 1, .noise = 0.15f});
    tiny_model_write(large, &(tiny_model_options){.n_ctx = 8192, .seed = 1, .n_layers = 3});
    return 0;
}

static void failing_output_fails_the_command(void **state)
{
    (void)state;
    const setting full = {.out = "/dev/full"}, closed = {.out = "closed"};
    expect(run_as(&closed, "vouch", ARGUMENTS("run", "-m", target, "-p", "x", "-n", "9")), 1, "standard output: ");
    expect(run_as(&full, "vouch", ARGUMENTS("run", "-m", target, "-p", "x", "-n", "9")), 1,
           "standard output: No space");
    expect(run_as(&full, "vouch", ARGUMENTS("--help")), 1, "standard output: No space");
    expect(run_as(&full, "vouch", ARGUMENTS("info", "-m", target)), 1, "standard output: No space");
    expect(run_as(&full, "vouch", ARGUMENTS("tokenize", "-m", target, "-p", "x")), 1, "standard output: No space");
}

static void full_disk_leaves_the_old_json(void **state)
{
    (void)state;
    char path[256], pattern[272];
    size_t n;
    strcpy(path, test_temporary("old.json"));
    write_whole(path, "old", 3);
    const setting limited = {.out = "/dev/null", .file_limit = 256};
    expect(run_as(&limited, "vouch", ARGUMENTS("run", "-m", target, "-p", "x", "-n", "4", "--stats-json", path)), 1,
           "--stats-json: ");
    char *content = read_whole(path, &n);
    assert_string_equal(content, "old");
    free(content);
    snprintf(pattern, sizeof pattern, "%.*s.vouch-*", (int)(strrchr(path, '/') + 1 - path), path);
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
    if (has_full_disk())
        expect(RUN("run", "-m", target, "-p", "x", "-n", "4", "--stats-json", "/dev/full"), 1, "No space left");
    expect(RUN("run", "-m", target, "-p", "x", "-n", "4", "--stats-json", path), 0, NULL);
    json_decref(json_of(path));
}

/* Files under /dev/shm are replaced like other files. Names of open descriptors are written to, not replaced. */
static void files_are_replaced_and_descriptors_are_not(void **state)
{
    (void)state;
    char path[64], both[256];
    size_t n;
    strcpy(both, test_temporary("both"));
    const setting into = {.out = both};
    expect(run_as(&into, "vouch",
                  ARGUMENTS("run", "-m", target, "-p", "x", "-n", "4", NO_CONTROL, "--stats-json", "/dev/stdout")),
           0, NULL);
    char *content = read_whole(both, &n);
    assert_true(content[0] != '{' && strstr(content, "\"generated_tokens\": 4"));
    free(content);
    result r = RUN("run", "-m", target, "-p", "x", "-n", "4", "--stats-json", "/dev/fd/250");
    assert_int_equal(r.n_out, 0); /* the error comes before the answer starts */
    expect(r, 2, "--stats-json: /dev/fd/250");
    if (test_is_windows()) test_skip("programs of Windows get no descriptor of this system but 0 to 2");
    /* A later write to the same descriptor continues after the report. */
    char command[1024];
    snprintf(command, sizeof command,
             "{ '%s' run -m '%s' -p x -n 4 --stats-json /dev/fd/3; echo next >&3; } 3> '%s' >/dev/null",
             program("vouch"), target, both);
    assert_int_equal(system(command), 0);
    content = read_whole(both, &n);
    assert_true(content[0] == '{' && n > 7 && strcmp(content + n - 7, "}\nnext\n") == 0);
    free(content);
    expect(run_as(&into, "vouch", ARGUMENTS("run", "-m", target, "-p", "x", "--stats-json", both)), 2,
           "and would overwrite it");

    snprintf(path, sizeof path, "/dev/shm/vouch-test-%d", (int)getpid());
    FILE *stream = fopen(path, "w");
    if (!stream) test_skip("no /dev/shm to write to");
    assert_int_equal(fclose(stream) | unlink(path), 0);
    expect(RUN("run", "-m", target, "-p", "x", "-n", "4", "--stats-json", path), 0, NULL);
    json_decref(json_of(path));
    assert_int_equal(unlink(path), 0);
}

/* For a child process: mounts a file on itself, so that rename gives EBUSY, and runs the command. Returns 77 if
 * mounting fails. */
static int write_to_mounted(const char *path)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 && unshare(CLONE_NEWNS) != 0) return 77;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return 77;
    if (mount(path, path, NULL, MS_BIND, NULL) != 0) return 77;
    execl(program("vouch"), "vouch", "run", target, "-p", "x", "-n", "4", "--ignore-eos", "--stats-json", path,
          (char *)NULL);
    return 127;
}

/* The command writes a file that is a mount point in place, whether it grows or shrinks. */
static void mounted_files_are_written(void **state)
{
    (void)state;
    char path[256], old[3000];
    struct stat before, after;
    if (test_is_windows()) test_skip("Wine keeps no file in place that is mounted");
    memset(old, 'x', sizeof old);
    for (size_t n = 3; n <= sizeof old; n = n == 3 ? sizeof old : n + 1) {
        strcpy(path, test_temporary("mounted.json"));
        write_whole(path, old, n);
        assert_int_equal(stat(path, &before), 0);
        fflush(stdout);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const int null = open("/dev/null", O_RDWR);
            dup2(null, STDIN_FILENO), dup2(null, STDOUT_FILENO);
            _exit(write_to_mounted(path));
        }
        const int status = status_of(child);
        if (status == 77) test_skip("no file can be mounted here");
        assert_int_equal(status, 0);
        assert_int_equal(stat(path, &after), 0);
        assert_int_equal(before.st_ino, after.st_ino);
        json_t *o = json_of(path);
        assert_int_equal(whole(o, "generated_tokens"), 4);
        json_decref(o);
    }
}

/* The command writes through links, to existing files and to new ones. */
static void links_are_followed(void **state)
{
    (void)state;
    if (test_is_windows()) test_skip("Wine doesn't show links of this system");
    char file[256], near[256], far[256], loop[256];
    struct stat info;
    strcpy(file, test_temporary("led.to"));
    strcpy(near, test_temporary("near"));
    strcpy(far, test_temporary("far"));
    strcpy(loop, test_temporary("loop"));
    assert_int_equal(symlink("led.to", near) | symlink(near, far) | symlink("loop", loop), 0);
    for (int i = 0; i < 2; i++) {
        expect(RUN("run", "-m", target, "-p", "x", "-n", "4", "--stats-json", far), 0, NULL);
        assert_int_equal(lstat(far, &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        assert_int_equal(lstat(near, &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        json_decref(json_of(file));
    }
    result r = RUN("run", "-m", target, "-p", "x", "-n", "4", "--stats-json", loop);
    assert_int_equal(r.n_out, 0);
    expect(r, 2, loop);
}

/* Starts the command with standard output into a small pipe. */
static pid_t run_into_pipe(const char *const *arguments, int *read_end, const char *err)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *all[MAX_ARGUMENTS + 2] = {program("vouch")};
        char out[32];
        for (size_t i = 0; arguments[i]; i++) all[i + 1] = arguments[i];
        snprintf(out, sizeof out, "/dev/fd/%d", ends[1]);
        close(ends[0]);
        become(all, &(setting){0}, "/dev/null", out, err);
    }
    close(ends[1]);
    *read_end = ends[0];
    return child;
}

/* An answer of 4,000 tokens exceeds the pipe's buffer, so the command is still running when the test acts. */
#define LONG_RUN "run", "-m", target, "--raw", "-p", "The river", "-c", "4096", "-n", "4000", NO_CONTROL

/* The reader of standard output may have enough, as head does. */
static void closed_pipe_is_silent(void **state)
{
    (void)state;
    char err[256], byte;
    int end;
    size_t n;
    strcpy(err, test_temporary("pipe.err"));
    const pid_t child = run_into_pipe(ARGUMENTS(LONG_RUN), &end, err);
    assert_int_equal(read(end, &byte, 1), 1);
    close(end);
    assert_int_equal(status_of(child), 0);
    char *text = read_whole(err, &n);
    assert_string_equal(text, "");
    free(text);
}

static void interrupt_ends_the_answer(void **state)
{
    (void)state;
    char err[256], path[256], bytes[4096];
    int end;
    size_t n;
    strcpy(err, test_temporary("interrupt.err"));
    strcpy(path, test_temporary("interrupt.json"));
    const pid_t child = run_into_pipe(ARGUMENTS(LONG_RUN, "--stats-json", path), &end, err);
    assert_int_equal(read(end, bytes, 1), 1);
    kill(child, SIGINT);
    while (read(end, bytes, sizeof bytes) > 0) {}
    close(end);
    assert_int_equal(status_of(child), 1);
    char *text = read_whole(err, &n);
    assert_string_equal(text, "vouch: interrupted\n");
    free(text);
    json_t *o = json_of(path);
    assert_string_equal(json_string_value(json_object_get(o, "finish")), "interrupted");
    assert_true(whole(o, "generated_tokens") < 4000);
    /* After an interrupt the command doesn't time plain passes for comparison. */
    assert_true(json_is_null(json_object_get(o, "plain_tokens_per_second")));
    assert_true(json_is_null(json_object_get(o, "speedup")));
    json_decref(o);
}

/* Ctrl-C while the command reads its input: one line on standard error and status 1. */
static void interrupt_while_reading(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    test_skip("ThreadSanitizer holds signals back while a file is read");
#endif
    char fifo[256], err[256], out[256];
    strcpy(fifo, test_temporary("fifo"));
    strcpy(err, test_temporary("read.err"));
    strcpy(out, test_temporary("read.out"));
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const char *const *const lines[] = {
        ARGUMENTS(program("vouch"), "tokenize", "-m", target, "-f", fifo),
        ARGUMENTS(program("vouch"), "run", "-m", target, "-f", fifo),
        ARGUMENTS(program("vouch"), "perplexity", "-m", target, "-f", fifo),
        ARGUMENTS(program("vouch"), "bench", "-m", target, "--prompts", fifo),
        ARGUMENTS(program("vouch"), "analyze", "-m", target, "-d", draft, "--text", fifo),
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const pid_t child = fork();
        size_t n, n_out;
        assert_true(child >= 0);
        if (child == 0) become(lines[i], &(setting){0}, "/dev/null", out, err);
        const int end = open(fifo, O_WRONLY); /* open() returns once the command reads */
        assert_true(end >= 0);
        kill(child, SIGINT);
        assert_int_equal(status_of(child), 1);
        close(end);
        char *text = read_whole(err, &n), *said = read_whole(out, &n_out);
        assert_string_equal(text, "vouch: interrupted\n");
        assert_int_equal(n_out, 0);
        free(text), free(said);
    }
}

/* After Ctrl-C the output has the complete chunks and no final result. */
static void interrupt_keeps_the_chunks(void **state)
{
    (void)state;
    char path[256], err[256], bytes[4096], text[8000] = "", wanted[128];
    int end, n_lines = 0;
    size_t n;
    ssize_t got;
    for (int i = 0; i < 100; i++) strcat(text, "Where are you going? asked the stones, and the river said: down. ");
    strcpy(path, test_temporary("stones"));
    strcpy(err, test_temporary("chunks.err"));
    write_whole(path, text, strlen(text));
    const pid_t child =
        run_into_pipe(ARGUMENTS("perplexity", "-m", target, "-f", path, "--ctx", "4", "--chunks", "500"), &end, err);
    assert_int_equal(read(end, bytes, 1), 1);
    kill(child, SIGINT);
    while ((got = read(end, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < got; i++) n_lines += bytes[i] == '\n';
        assert_null(memmem(bytes, (size_t)got, "perplexity", 10));
    }
    close(end);
    assert_int_equal(status_of(child), 1);
    snprintf(wanted, sizeof wanted, "vouch: interrupted: %d of 500 chunks are complete and reported\n", n_lines);
    char *said = read_whole(err, &n);
    assert_string_equal(said, wanted);
    free(said);
}

/* Ctrl-C during a measurement: status 1 and a last line that says so. A JSON report, if any, says so, too. */
static void interrupt_while_measuring(void **state)
{
    (void)state;
    enum { LENGTH = 300000 };
    char path[256], err[256], json[256];
    size_t n;
    strcpy(path, test_temporary("long.txt"));
    strcpy(err, test_temporary("measured.err"));
    strcpy(json, test_temporary("measured.json"));
    char *text = malloc(LENGTH);
    memset(text, 'x', LENGTH);
    write_whole(path, text, LENGTH);
    free(text);
    const char *const *const lines[] = {
        ARGUMENTS(program("vouch"), "check", "-m", target, "-d", large, "--seconds", "3600", "--json", json),
        ARGUMENTS(program("vouch"), "bench", "-m", target, "-c", "9000", "--depth", "2000", "--decode", "200", "--reps",
                  "1000", "--json", json),
        ARGUMENTS(program("vouch"), "analyze", "-m", target, "-d", large, "--text", path, "--chunks", "10000", "--ctx",
                  "32", "--json", json),
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_whole(err, "", 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) become(lines[i], &(setting){0}, "/dev/null", "/dev/null", err);
        wait_for_text(child, err, "vouch: note: ");
        kill(child, SIGINT);
        assert_int_equal(status_of(child), 1);
        char *said = read_whole(err, &n);
        const char *last = strchr(said, '\n') + 1;
        assert_int_equal(strncmp(last, "vouch: interrupted", 18), 0);
        assert_string_equal(strchr(last, '\n'), "\n");
        assert_int_equal(access(json, F_OK) == 0, strchr(last, ':') != strrchr(last, ':'));
        free(said);
        if (access(json, F_OK) != 0) continue;
        json_t *o = json_of(json);
        assert_true(json_is_true(json_object_get(o, "interrupted")));
        json_decref(o);
        assert_int_equal(unlink(json), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_output_fails_the_command),
        cmocka_unit_test(full_disk_leaves_the_old_json),
        cmocka_unit_test(files_are_replaced_and_descriptors_are_not),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(mounted_files_are_written),
        cmocka_unit_test(closed_pipe_is_silent),
        cmocka_unit_test(interrupt_ends_the_answer),
        cmocka_unit_test(interrupt_while_reading),
        cmocka_unit_test(interrupt_keeps_the_chunks),
        cmocka_unit_test(interrupt_while_measuring),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
