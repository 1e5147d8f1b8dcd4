/* SPDX-License-Identifier: MIT */
#include "support/program/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *program(const char *name)
{
    static char path[512];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "build/%s/%s", build ? build : "release", name);
    return path;
}

void become(const char *const *arguments, const setting *how, const char *in, const char *out, const char *err)
{
    const int from = open(in, O_RDONLY), to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int errors = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    dup2(from, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    if (how->out && strcmp(how->out, "closed") == 0) close(STDOUT_FILENO);
    if (how->file_limit) setrlimit(RLIMIT_FSIZE, &(struct rlimit){how->file_limit, how->file_limit});
    for (int fd = 3; fd < 32; fd++) close(fd);
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

int status_of(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0) assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool text_comes(pid_t child, const char *path, const char *text)
{
    for (bool ended = false;; usleep(2000)) {
        size_t n;
        char *said = read_whole(path, &n);
        const bool came = strstr(said, text) != NULL;
        free(said);
        if (came || ended) return came;
        siginfo_t info = {0};
        ended = waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
    }
}

void wait_for_text(pid_t child, const char *path, const char *text)
{
    size_t n;
    if (text_comes(child, path, text)) return;
    char *said = read_whole(path, &n);
    fail_msg("no '%s' came, but '%s'", text, said);
}

const char *null_device(void)
{
    return test_is_windows() ? "NUL" : "/dev/null";
}

bool has_full_disk(void)
{
    if (test_is_windows()) test_skip_part("a part, because Windows has no full disk");
    return !test_is_windows();
}

result run_as(const setting *how, const char *name, const char *const *arguments)
{
    char in[256], out[256], err[256];
    const char *all[MAX_ARGUMENTS + 2] = {program(name)};
    size_t n = 1;
    for (; arguments[n - 1]; n++) all[n] = arguments[n - 1];
    strcpy(in, test_temporary("stdin"));
    strcpy(out, test_temporary("stdout"));
    strcpy(err, test_temporary("stderr"));
    write_whole(in, how->input ? how->input : "", how->n_input ? how->n_input : how->input ? strlen(how->input) : 0);
    write_whole(out, "", 0);
    const char *to = how->out && strcmp(how->out, "closed") != 0 ? how->out : out;
    if (how->file_limit && test_is_windows()) test_skip("Windows has no limit on the size of files");
    if (how->out && strcmp(how->out, "/dev/full") == 0 && test_is_windows()) test_skip("Windows has no full disk");
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) become(all, how, how->device ? how->device : in, to, err);
    result r = {.status = status_of(child)};
    size_t n_err;
    r.out = read_whole(out, &r.n_out);
    r.err = read_whole(err, &n_err);
    return r;
}

void result_free(result *r)
{
    free(r->out);
    free(r->err);
}

void expect(result r, int status, const char *message)
{
    if (r.status != status || (message && !strstr(r.err, message)))
        print_error("status %d, want %d with \"%s\": %s", r.status, status, message ? message : "", r.err);
    assert_int_equal(r.status, status);
    if (message) assert_non_null(strstr(r.err, message));
    result_free(&r);
}

json_t *json_of(const char *path)
{
    json_error_t error;
    json_t *object = json_load_file(path, JSON_ALLOW_NUL, &error);
    if (!object) print_error("%s\n", error.text);
    assert_non_null(object);
    return object;
}

int64_t whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}
