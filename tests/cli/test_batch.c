/* SPDX-License-Identifier: MIT */
/* `vouch batch`: every prompt gets the answer that `vouch run` gives, in the order of the prompts, however many run at
 * once, and once only, wherever the program was killed. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/program/command.h"
#include "support/head/tiny_head.h"
#include "support/model/tiny_model.h"
#include "support/model/tiny_table.h"

enum { N_PROMPTS = 13 };

static char target[256], other[256], prompts[256], out[256];

static int files_write(void **state)
{
    (void)state;
    char lines[4096] = "";
    strcpy(target, test_temporary("target.gguf"));
    strcpy(prompts, test_temporary("prompts.txt"));
    strcpy(out, test_temporary("answers.jsonl"));
    strcpy(other, test_temporary("other.gguf"));
    tiny_model_write(target, &(tiny_model_options){.seed = 7});
    tiny_model_write(other, &(tiny_model_options){.seed = 8}); /* the same name and sizes, other weights */
    for (int i = 0; i < N_PROMPTS; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "the quick brown fox %.*s number %d\n",
                 i * 5 % 40, "jumps over the lazy dog and over the fence", i * i);
    write_whole(prompts, lines, strlen(lines));
    return 0;
}

static int files_remove(void **state)
{
    (void)state;
    unlink(out);
    return 0;
}

/* Line i of the output. The caller frees it. */
static json_t *line_of(const char *bytes, int i)
{
    for (; i > 0; i--) bytes = strchr(bytes, '\n') + 1;
    json_t *object = json_loads(bytes, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, NULL);
    assert_non_null(object);
    return object;
}

static int count_lines(const char *bytes)
{
    int n = 0;
    for (; *bytes; bytes++) n += *bytes == '\n';
    return n;
}

/* The string must be a beginning of the text, with U+FFFD in place of each byte that is no UTF-8. */
static void expect_text(const json_t *string, const char *text, size_t n)
{
    const char *s = json_string_value(string), *end = s + json_string_length(string), *past = text + n;
    while (s < end) {
        assert_true(text < past);
        const bool is_replaced =
            end - s >= 3 && memcmp(s, "\xef\xbf\xbd", 3) == 0 && (past - text < 3 || memcmp(text, s, 3) != 0);
        if (!is_replaced) assert_int_equal(*s, *text);
        s += is_replaced ? 3 : 1;
        text++;
    }
}

static void answers_are_those_of_run(void **state)
{
    (void)state;
    static const char *const temps[] = {"0", "0.9"}, *const numbers[] = {"1", "3", "16"};
    size_t n;
    char *text = read_whole(prompts, &n);
    for (size_t t = 0; t < 2; t++) {
        char *first = NULL;
        for (size_t p = 0; p < 3; p++) {
            result r = RUN("batch", target, "--prompts", prompts, "--raw", "-n", "20", "--temp", temps[t], "--seed",
                           "3", "--parallel", numbers[p]);
            assert_int_equal(r.status, 0);
            assert_int_equal(count_lines(r.out), N_PROMPTS);
            if (first) assert_string_equal(first, r.out);
            else first = strdup(r.out);
            result_free(&r);
        }
        char *at = text;
        for (int i = 0; i < N_PROMPTS; i++) {
            char *end = strchr(at, '\n');
            *end = 0;
            result r =
                RUN("run", target, "--raw", "-n", "20", "--temp", temps[t], "--seed", "3", "--spec", "none", "-p", at);
            json_t *line = line_of(first, i);
            assert_int_equal(whole(line, "line"), i + 1);
            expect_text(json_object_get(line, "text"), r.out, r.n_out);
            assert_int_equal(whole(line, "tokens"), 20);
            json_decref(line);
            result_free(&r);
            *end = '\n';
            at = end + 1;
        }
        free(first);
    }
    free(text);
}

/* Each answer has the form that was asked for, and another form or least length is another run. */
static void answers_are_bound(void **state)
{
    (void)state;
#define BOUND(...) RUN("batch", target, "--prompts", prompts, "-n", "9", "--out", out, __VA_ARGS__)
    expect(BOUND("--regex", "[ab]{3}"), 0, "13 answers");
    size_t n;
    char *lines = read_whole(out, &n);
    for (int i = 0; i < N_PROMPTS; i++) {
        json_t *line = line_of(lines, i);
        const char *text = json_string_value(json_object_get(line, "text"));
        assert_true(strlen(text) == 3 && strspn(text, "ab") == 3);
        json_decref(line);
    }
    free(lines);
    expect(BOUND("--regex", "[ab]{3}", "--resume"), 0, "has all answers already");
    expect(BOUND("--regex", "[ab]{2}", "--resume"), 1, "line 1 belongs to");
    expect(BOUND("--regex", "[ab]{3}", "--min-tokens", "1", "--resume"), 1, "line 1 belongs to");
#undef BOUND
}

/* Killed at any moment and resumed, the file ends with the same bytes, each answer once. */
static void a_killed_run_is_resumed(void **state)
{
    (void)state;
    test_skip_slow();
    const char *const arguments[] = {
        program("vouch"), "batch",      target, "--prompts", prompts, "--raw",    "-n", "200",
        "--ignore-eos",   "--parallel", "4",    "--out",     out,     "--resume", NULL};
    size_t n;
    expect(run_as(&(setting){0}, "vouch", arguments + 1), 0, NULL);
    char *whole_run = read_whole(out, &n);
    test_random random = {9};
    for (int time = 0; time < (test_is_quick() ? 4 : 20); time++) {
        unlink(out);
        for (int kills = 0; kills < 3; kills++) {
            const pid_t child = fork();
            if (child == 0) become(arguments, &(setting){0}, "/dev/null", "/dev/null", "/dev/null");
            usleep(1000 * test_below(&random, 300));
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
        expect(run_as(&(setting){0}, "vouch", arguments + 1), 0, NULL);
        size_t m;
        char *resumed = read_whole(out, &m);
        assert_int_equal(m, n);
        assert_memory_equal(resumed, whole_run, n);
        free(resumed);
    }
    /* Every cut, half lines included, is continued. */
    for (size_t cut = 0; cut < n; cut += n / 7) {
        write_whole(out, whole_run, cut);
        expect(run_as(&(setting){0}, "vouch", arguments + 1), 0, NULL);
        char *resumed = read_whole(out, &(size_t){0});
        assert_string_equal(resumed, whole_run);
        free(resumed);
    }
    expect(run_as(&(setting){0}, "vouch", arguments + 1), 0, "has all answers already");
    free(whole_run);
}

/* A file that this run did not begin keeps its bytes, also where it has no end of line. */
static void resume_cuts_off_only_its_own_lines(void **state)
{
    (void)state;
    static const char *const foreign[] = {"A letter without an end of line", "{\"id\":\"2\",\"line\":2,", " ", "\n"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        write_whole(out, foreign[i], strlen(foreign[i]));
        expect(RUN("batch", target, "--prompts", prompts, "--raw", "-n", "3", "--out", out, "--resume"), 1,
               "--resume needs the file of a run with these prompts, model and options");
        char *kept = read_whole(out, &(size_t){0});
        assert_string_equal(kept, foreign[i]);
        free(kept);
    }
    unlink(out);
    expect(RUN("batch", target, "--prompts", prompts, "--raw", "-n", "3", "--out", out), 0, "13 answers");
    FILE *file = fopen(out, "a");
    assert_non_null(file);
    fputs("{\"id\"", file);
    fclose(file);
    expect(RUN("batch", target, "--prompts", prompts, "--raw", "-n", "3", "--out", out, "--resume"), 1,
           "line 14 is beyond the last prompt");
}

/* Under match the drafters don't change the text, so --resume accepts a file that other drafters began. With free
 * drafters auto stands for match. */
static void resume_takes_other_drafters_where_texts_are_the_same(void **state)
{
    (void)state;
#define SAMPLED "batch", target, "--prompts", prompts, "-n", "3", "--temp", "0.8", "--seed", "2", "--out", out
    expect(RUN(SAMPLED), 0, "13 answers");
    expect(RUN(SAMPLED, "--resume", "--spec", "ngram"), 0, NULL);
    expect(RUN(SAMPLED, "--resume", "--accept", "match", "--spec", "none"), 0, NULL);
    expect(RUN(SAMPLED, "--resume", "--accept", "rejection"), 1, "line 1 belongs to another prompt");
#undef SAMPLED
}

/* Two processes never write to one file: the second is refused. */
static void a_file_in_use_is_refused(void **state)
{
    (void)state;
    if (test_is_windows()) test_skip("Wine doesn't see this program's lock");
    const int fd = open(out, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    expect(RUN("batch", target, "--prompts", prompts, "-n", "3", "--out", out), 1, "another process writes to this");
    expect(RUN("batch", target, "--prompts", prompts, "-n", "3", "--out", out, "--resume"), 1,
           "another process writes to this file");
    close(fd);
    expect(RUN("batch", target, "--prompts", prompts, "-n", "3", "--out", out), 0, "13 answers");
}

static void an_interrupted_run_keeps_its_answers(void **state)
{
    (void)state;
    const char *const arguments[] = {program("vouch"), "batch",      target, "--prompts", prompts, "--raw", "-n", "450",
                                     "--ignore-eos",   "--parallel", "1",    "--out",     out,     NULL};
    char errors[256];
    strcpy(errors, test_temporary("errors.txt"));
    write_whole(out, "", 0);
    const pid_t child = fork();
    if (child == 0) become(arguments, &(setting){0}, "/dev/null", "/dev/null", errors);
    wait_for_text(child, out, "\n");
    kill(child, SIGINT);
    const int status = status_of(child);
    size_t n;
    char *message = read_whole(errors, &n), *bytes = read_whole(out, &n);
    if (status == 1) {
        assert_non_null(strstr(message, "of 13 answers are written; --resume continues after them"));
        assert_in_range(count_lines(bytes), 1, N_PROMPTS - 1);
    } else {
        assert_int_equal(status, 0); /* the command ended before the signal */
    }
    assert_int_equal(bytes[n - 1], '\n');
    free(message);
    free(bytes);
}

static void prompts_that_do_not_fit_are_named(void **state)
{
    (void)state;
    char path[256], stats[256];
    strcpy(path, test_temporary("long.txt"));
    strcpy(stats, test_temporary("stats.json"));
    char text[2048];
    memset(text, 'x', sizeof text);
    memcpy(text, "short\n", 6);
    memcpy(text + sizeof text - 7, "\nshort\n", 7);
    write_whole(path, text, sizeof text);
    result r = RUN("batch", target, "--prompts", path, "--raw", "-n", "5", "--ctx", "64", "--stats-json", stats,
                   "--ignore-eos");
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "--prompts: line 2: the prompt has"));
    assert_int_equal(count_lines(r.out), 3);
    json_t *line = line_of(r.out, 1);
    assert_non_null(strstr(json_string_value(json_object_get(line, "error")), "the context holds 64"));
    json_decref(line);
    json_t *figures = json_of(stats);
    assert_int_equal(whole(figures, "answers"), 3);
    assert_int_equal(whole(figures, "failed"), 1);
    assert_int_equal(whole(figures, "generated_tokens"), 10);
    assert_true(json_real_value(json_object_get(figures, "tokens_per_second")) > 0);
    json_decref(figures);
    result_free(&r);
}

/* A file with errors isn't done, however often the run is resumed. */
static void errors_stay_errors(void **state)
{
    (void)state;
    char path[256], text[512];
    strcpy(path, test_temporary("long.txt"));
    memset(text, 'x', sizeof text);
    memcpy(text, "a\n", 2);
    write_whole(path, text, sizeof text);
    const char *const arguments[] = {"batch", target, "--prompts", path, "--raw",    "-n", "5",
                                     "--ctx", "64",   "--out",     out,  "--resume", NULL};
    expect(run_as(&(setting){0}, "vouch", arguments), 1, "2 answers, 5 tokens");
    expect(run_as(&(setting){0}, "vouch", arguments), 1, "some with an error");
    write_whole(path, text, 2);
    unlink(out);
    expect(run_as(&(setting){0}, "vouch", arguments), 0, "1 answer, 5 tokens");
    expect(run_as(&(setting){0}, "vouch", arguments), 0, "has all answers already");
}

/* A file of figures that can't be written is refused before the first answer, not after the last. */
static void figures_are_refused_early(void **state)
{
    (void)state;
    result r = RUN("batch", target, "--prompts", prompts, "-n", "3", "--stats-json", "/nowhere/at/all");
    assert_int_equal(r.status, 2);
    assert_int_equal(r.n_out, 0);
    assert_non_null(strstr(r.err, "--stats-json: /nowhere/at/all: No such file or directory"));
    result_free(&r);
}

static void a_prompt_keeps_its_id(void **state)
{
    (void)state;
    static const char lines[] = "{\"id\": \"a/7\", \"prompt\": \"one\"}\n"
                                "{\"id\": 7, \"prompt\": \"two\"}\n"
                                "{\"id\": null, \"prompt\": \"three\"}\n"
                                "{\"id\": 7, \"task_id\": \"t\", \"prompt\": \"four\"}\n";
    static const char *const ids[] = {"a/7", "7", "3", "t"};
    char path[256];
    strcpy(path, test_temporary("ids.jsonl"));
    write_whole(path, lines, sizeof lines - 1);
    result r = RUN("batch", target, "--prompts", path, "--raw", "-n", "3");
    assert_int_equal(r.status, 0);
    for (int i = 0; i < 4; i++) {
        json_t *line = line_of(r.out, i);
        assert_string_equal(json_string_value(json_object_get(line, "id")), ids[i]);
        json_decref(line);
    }
    result_free(&r);
}

/* With little memory answers wait for each other, and are the same. */
static void memory_stays_within_the_limit(void **state)
{
    (void)state;
    result plenty = RUN("batch", target, "--prompts", prompts, "--raw", "-n", "100", "--parallel", "8");
    char stats[256];
    strcpy(stats, test_temporary("stats.json"));
    for (int mb = 165; mb > 0; mb -= 25) {
        char size[16];
        snprintf(size, sizeof size, "%dM", mb);
        result r = RUN("batch", target, "--prompts", prompts, "--raw", "-n", "100", "--parallel", "8", "--max-memory",
                       size, "--stats-json", stats);
        if (r.status == 0) {
            assert_string_equal(r.out, plenty.out);
            json_t *figures = json_of(stats);
            assert_in_range(whole(figures, "memory_bytes"), 1, 1000000 * mb);
            json_decref(figures);
        } else {
            assert_non_null(strstr(r.err, "--max-memory: weights, cache and sessions need"));
            mb = 0;
        }
        result_free(&r);
    }
    result_free(&plenty);
}

static void wrong_use_is_refused(void **state)
{
    (void)state;
    expect(RUN("batch", target), 2, "--prompts FILE is missing");
    expect(RUN("batch", target, "--prompts", prompts, "--resume"), 2, "--resume needs --out, too");
    expect(RUN("batch", target, "--prompts", prompts, "--parallel", "0"), 2, "--parallel");
    expect(RUN("batch", target, "--prompts", prompts, "--parallel", "10000"), 2, "--parallel");
    expect(RUN("batch", target, "--prompts", prompts, "--max-memory", "lots"), 2, "'lots': not a size");
    expect(RUN("batch", target, "--prompts", "/nowhere/at/all"), 2, "--prompts: /nowhere/at/all");
    expect(RUN("batch", target, "--prompts", prompts, "--out", "/nowhere/at/all"), 2, "/nowhere/at/all");
    expect(RUN("batch", target, "--prompts", prompts, "--max-memory", "1K"), 1, "need");
    write_whole(out, "{}\n", 3);
    expect(RUN("batch", target, "--prompts", prompts, "--out", out), 1, "the file exists already");
    expect(RUN("batch", target, "--prompts", prompts, "--out", out, "--resume"), 1, "line 1 belongs to another prompt");
    write_whole(out, "no\n", 3);
    expect(RUN("batch", target, "--prompts", prompts, "--out", out, "--resume"), 1, "line 1 is no JSON");
    unlink(out);
    expect(RUN("batch", target, "--prompts", prompts, "--raw", "-n", "3", "--out", out), 0, "13 answers");
    expect(RUN("batch", target, "--prompts", prompts, "--raw", "-n", "3", "--spec", "ngram", "--out", out, "--resume"),
           0, "has all answers already"); /* law L2: guesses change no greedy text */
    expect(RUN("batch", target, "--prompts", prompts, "--raw", "-n", "4", "--out", out, "--resume"), 1,
           "line 1 belongs to");
    expect(RUN("batch", other, "--prompts", prompts, "--raw", "-n", "3", "--out", out, "--resume"), 1,
           "line 1 belongs to");
    expect(RUN("batch", target, "--prompts", prompts, "--raw", "-n", "3", "--ctx", "90", "--out", out, "--resume"), 1,
           "line 1 belongs to");
    unlink(out);
#define SAMPLED(...)                                                                                                  \
    RUN("batch", target, "--prompts", prompts, "-n", "3", "--temp", "1", "--accept", "rejection", "--out", out, \
        __VA_ARGS__)
    expect(SAMPLED("--spec", "ngram"), 0, "13 answers");
    expect(SAMPLED("--spec", "recycle", "--resume"), 1, "line 1 belongs to");
    expect(SAMPLED("--spec", "ngram", "--resume"), 0, "has all answers already");
#undef SAMPLED
    if (has_full_disk())
        expect(run_as(&(setting){.out = "/dev/full"}, "vouch",
                      ARGUMENTS("batch", target, "--prompts", prompts, "-n", "3")),
               1, "No space left");
}

/* Writes another head or table to the same path, on whose guesses sampled texts depend. */
static void write_head(const char *path, const vouch_model *model, int number)
{
    tiny_head_write(path, &(tiny_head_options){.target = model, .seed = (uint64_t)number});
}

static void write_table(const char *path, const vouch_model *model, int number)
{
    tiny_table_write(path, model,
                     &(tiny_table){
                         .contexts = {{1, -1, -1}, {1, 2, -1}}, .starts = {0, 2, 3}, .tokens = {7, 8, number}});
}

/* A run goes on only with a head and a table of the same content. */
static void resume_knows_the_drafters_files(void **state)
{
    (void)state;
    static const struct {
        const char *flag, *spec;
        void (*write)(const char *path, const vouch_model *model, int number);
    } kinds[] = {{"--head", "head", write_head}, {"--draft-table", "table", write_table}};
    vouch_model *model;
    char path[256];
    strcpy(path, test_temporary("drafter.gguf"));
    assert_int_equal(vouch_model_open(&model, target, NULL, NULL), VOUCH_OK);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *const arguments[] = {"batch",       target, "--prompts", prompts,     "-n",       "3",
                                         "--temp",      "1",    "--accept",  "rejection", "--spec",   kinds[i].spec,
                                         kinds[i].flag, path,   "--out",     out,         "--resume", NULL};
        unlink(out);
        kinds[i].write(path, model, 1);
        expect(run_as(&(setting){0}, "vouch", arguments), 0, "13 answers");
        kinds[i].write(path, model, 1);
        expect(run_as(&(setting){0}, "vouch", arguments), 0, "has all answers already");
        kinds[i].write(path, model, 2);
        expect(run_as(&(setting){0}, "vouch", arguments), 1, "line 1 belongs to another prompt, model or option");
    }
    vouch_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(answers_are_those_of_run, files_remove),
        cmocka_unit_test_setup(answers_are_bound, files_remove),
        cmocka_unit_test_setup(a_killed_run_is_resumed, files_remove),
        cmocka_unit_test_setup(resume_cuts_off_only_its_own_lines, files_remove),
        cmocka_unit_test_setup(resume_takes_other_drafters_where_texts_are_the_same, files_remove),
        cmocka_unit_test_setup(resume_knows_the_drafters_files, files_remove),
        cmocka_unit_test_setup(a_file_in_use_is_refused, files_remove),
        cmocka_unit_test_setup(an_interrupted_run_keeps_its_answers, files_remove),
        cmocka_unit_test_setup(prompts_that_do_not_fit_are_named, files_remove),
        cmocka_unit_test_setup(errors_stay_errors, files_remove),
        cmocka_unit_test_setup(figures_are_refused_early, files_remove),
        cmocka_unit_test_setup(a_prompt_keeps_its_id, files_remove),
        cmocka_unit_test_setup(memory_stays_within_the_limit, files_remove),
        cmocka_unit_test_setup(wrong_use_is_refused, files_remove),
    };
    return cmocka_run_group_tests(tests, files_write, NULL);
}
