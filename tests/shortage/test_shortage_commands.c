/* SPDX-License-Identifier: MIT */
/*
 * Commands that run out of memory, threads or disk: each fails at its n-th call, for each n up to the number of its
 * calls. It must neither crash nor hang. Either its output is the one without the failure, or it says why and its exit
 * status says so, too.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/model/tiny_model.h"
#include "support/program/command.h"
#include "support/program/shortage.h"

#define SHORT "--ctx", "64", "--threads", "2"

static char model[256], prompts[256], text[256], out[256];
static bool is_able;

static int files_write(void **state)
{
    (void)state;
    strcpy(model, test_temporary("tiny.gguf"));
    strcpy(prompts, test_temporary("prompts.txt"));
    strcpy(text, test_temporary("text.txt"));
    strcpy(out, test_temporary("out.bin"));
    tiny_model_write(model, &(tiny_model_options){.seed = 1});
    write_whole(prompts, "one\ntwo\n", 8);
    const char words[] =
        "The quick brown fox jumps over the lazy dog, and the lazy dog looks at the quick brown fox.\n";
    write_whole(text, words, strlen(words));
    is_able = shortage_begin();
    return 0;
}

/* The result of a command: its exit status, its standard output, and the file `out` if the command has written it. */
typedef struct given {
    result r;
    char *file;
    size_t n_file;
} given;

static given run(const char *const *arguments, shortage_call call, long n, int n_more)
{
    given g = {0};
    unlink(out);
    shortage_set(call, n, n_more);
    g.r = run_as(&(setting){0}, "vouch", arguments);
    if (access(out, R_OK) == 0) g.file = read_whole(out, &g.n_file);
    return g;
}

static void given_free(given *g)
{
    result_free(&g->r);
    free(g->file);
}

static bool is_same(const given *a, const given *b)
{
    return a->r.n_out == b->r.n_out && memcmp(a->r.out, b->r.out, a->r.n_out) == 0 && a->n_file == b->n_file &&
           !a->file == !b->file && (!a->file || memcmp(a->file, b->file, a->n_file) == 0);
}

/* NULL: the command did as it should. */
static const char *wrong_of(const given *g, const given *whole, bool can_say)
{
    if (g->r.status >= 128) return "crashed or hung";
    if (g->r.status == 0) return is_same(g, whole) ? NULL : "another output with exit status 0";
    return can_say && !*g->r.err ? "failed without a message" : NULL;
}

/* Every n in `make test`; in `make check` every 13th. */
static void sweep(const char *const *arguments)
{
    if (!is_able) test_skip("no programs that run out of memory in this build");
    given whole = run(arguments, SHORTAGE_NONE, 1, 0);
    int n_wrong = 0;
    if (whole.r.status != 0) fail_msg("%s", whole.r.err);
    for (shortage_call call = SHORTAGE_MALLOC; call <= SHORTAGE_WRITE; call++) {
        long n = 1;
        int counts[2] = {0};
        for (bool came = true; came; n += test_is_quick() ? 13 : 1) {
            for (int goes_on = 0; goes_on < 2; goes_on++) {
                given g = run(arguments, call, n, goes_on ? INT_MAX : 0);
                came = shortage_came();
                const char *wrong = wrong_of(&g, &whole, call != SHORTAGE_WRITE || !goes_on);
                if (wrong) {
                    print_error("%s %s %ld%s: %s, status %d: %s\n", arguments[0], shortage_name(call), n,
                                goes_on ? "+" : "", wrong, g.r.status, g.r.err);
                    n_wrong++;
                }
                counts[g.r.status == 0]++;
                given_free(&g);
                if (!came) break;
            }
        }
        print_message("%s, %s: %d runs failed, %d gave the whole output\n", arguments[0], shortage_name(call),
                      counts[0], counts[1]);
        const bool is_called = call == SHORTAGE_MALLOC || call == SHORTAGE_WRITE;
        if (is_called && counts[0] == 0) fail_msg("no %s was made to fail", shortage_name(call));
    }
    given_free(&whole);
    assert_int_equal(n_wrong, 0);
}

/* The shim truncates the model file while vouch reads it, as another program could. */
static void cut_models_are_told(void **state)
{
    (void)state;
    const char *const commands[][8] = {{"quantize", model, out, "Q8_0"},
                                       {"run", "--temp", "0", model, "-n", "4", "hello"}};
    size_t n_model;
    if (!is_able) test_skip("no programs that run out of memory in this build");
    char *bytes = read_whole(model, &n_model);
    shortage_cut(model);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        given whole = run(commands[i], SHORTAGE_NONE, 1, 0);
        int n_failed = 0;
        long n = 1;
        for (bool came = true; came; n += test_is_quick() ? 5 : 1) {
            given g = run(commands[i], SHORTAGE_CUT, n, 0);
            came = shortage_came();
            const char *wrong = wrong_of(&g, &whole, true);
            if (wrong) fail_msg("%s, cut %ld: %s, status %d: %s", commands[i][0], n, wrong, g.r.status, g.r.err);
            n_failed += g.r.status != 0;
            given_free(&g);
            write_whole(model, bytes, n_model);
        }
        print_message("%s, cut: %ld times, %d runs failed\n", commands[i][0], n - 1, n_failed);
        assert_true(n_failed > 0);
        given_free(&whole);
    }
    free(bytes);
}

static void small_stacks_are_told(void **state)
{
    (void)state;
    struct rlimit before, small;
    if (test_is_emulated()) test_skip("the emulator gives a program its own stack, whatever the limit");
    assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
    small = before;
    small.rlim_cur = 128 << 10;
    assert_int_equal(setrlimit(RLIMIT_STACK, &small), 0);
    result r = RUN("info", model);
    assert_int_equal(setrlimit(RLIMIT_STACK, &before), 0);
    expect(r, 1, "the stack may have 128 KiB; vouch needs 1024");
}

static void run_tells(void **state)
{
    (void)state;
    sweep(ARGUMENTS(GREEDY, model, "-n", "8", SHORT, "hello"));
}

static void help_tells(void **state)
{
    (void)state;
    sweep(ARGUMENTS("help", "run"));
}

static void info_tells(void **state)
{
    (void)state;
    sweep(ARGUMENTS("info", model));
}

static void tokenize_tells(void **state)
{
    (void)state;
    sweep(ARGUMENTS("tokenize", model, "hello and more"));
}

static void perplexity_tells(void **state)
{
    (void)state;
    sweep(ARGUMENTS("perplexity", model, text, "--ctx", "32", "--threads", "2"));
}

static void logits_tell(void **state)
{
    (void)state;
    sweep(ARGUMENTS("logits", model, "--tokens", "1,2,3", "--out", out, "--threads", "2"));
}

static void batch_tells(void **state)
{
    (void)state;
    sweep(ARGUMENTS("batch", model, "--prompts", prompts, "-n", "4", SHORT));
}

static void quantize_tells(void **state)
{
    (void)state;
    sweep(ARGUMENTS("quantize", model, out, "Q8_0", "--threads", "2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_tells),           cmocka_unit_test(help_tells),
        cmocka_unit_test(info_tells),          cmocka_unit_test(tokenize_tells),
        cmocka_unit_test(perplexity_tells),    cmocka_unit_test(logits_tell),
        cmocka_unit_test(batch_tells),         cmocka_unit_test(quantize_tells),
        cmocka_unit_test(cut_models_are_told), cmocka_unit_test(small_stacks_are_told),
    };
    return cmocka_run_group_tests(tests, files_write, NULL);
}
