/* SPDX-License-Identifier: MIT */
/*
 * The reports of `vouch bench` where counts leave a rate undefined: an answer that took no time by the clock, an answer
 * without tokens. Tables and pages then have a dash, JSON null, CSV an empty field, and plots no bar.
 */
#include "support/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/load.h"
#include "support/model/tiny_model.h"

enum { CONFIGS = 2, QUESTIONS = 2 };

/* Everything that the reports read of one question's answers with two configs. */
typedef struct bench {
    cli_options options;
    cli_engine engine;
    cli_config configs[CONFIGS];
    cli_question questions[QUESTIONS];
    char *categories[QUESTIONS];
    cli_answered answers[QUESTIONS * CONFIGS];
    char json[256], csv[256], html[256], table[256];
    cli_comparison comparison;
} bench;

/* Question 0 is answered as `first` says, question 1 at 10 tokens/s; each by every config. */
static void bench_make(bench *b, const vouch_stats *first)
{
    static char odd[] = "odd", usual[] = "usual", *const names[QUESTIONS] = {odd, usual};
    *b = (bench){.configs = {{.name = "target only", .lossless = true},
                             {.name = "ngram", .speculates = true, .lossless = true}}};
    strcpy(b->json, test_temporary("report.json"));
    strcpy(b->csv, test_temporary("report.csv"));
    strcpy(b->html, test_temporary("report.html"));
    strcpy(b->table, test_temporary("report.txt"));
    b->options.model = b->options.prompts = "none";
    b->options.json = b->json;
    b->options.bench.csv = b->csv;
    b->options.bench.html = b->html;
    b->engine.options = &b->options;
    const char *model = test_temporary("model.gguf");
    tiny_model_write(model, &(tiny_model_options){.seed = 1});
    assert_int_equal(vouch_model_open(&b->engine.model, model, NULL, NULL), VOUCH_OK);
    for (size_t q = 0; q < QUESTIONS; q++) {
        b->categories[q] = names[q];
        b->questions[q] = (cli_question){.id = names[q], .category = names[q]};
        for (size_t c = 0; c < CONFIGS; c++) b->answers[q * CONFIGS + c] = (cli_answered){.counts = true, .n_turns = 1};
    }
    const vouch_stats common = {.generated_tokens = 20, .cycles = 20, .decode_seconds = 2, .verify_seconds = 1.5};
    for (size_t c = 0; c < CONFIGS; c++) {
        b->answers[c].stats = *first;
        b->answers[CONFIGS + c].stats = common;
    }
    b->comparison = (cli_comparison){
        .engine = &b->engine,
        .questions = {.items = b->questions, .n = QUESTIONS, .categories = b->categories, .n_categories = QUESTIONS},
        .configs = {b->configs, CONFIGS},
        .costs = cli_cost_curve_new(),
        .answers = b->answers,
        .n_rounds = 1,
        .n_complete = QUESTIONS};
    for (size_t q = 0; q < QUESTIONS; q++) cli_bench_close_question(&b->comparison, q);
}

static int bench_print(const void *report)
{
    return cli_bench_print(report);
}

static int load_print(const void *report)
{
    return cli_load_print(report);
}

/* Writes what `print` writes to standard output into a file. */
static void print_to(const char *path, int (*print)(const void *report), const void *report)
{
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    assert_true(kept >= 0 && freopen(path, "w", stdout));
    const int status = print(report);
    fflush(stdout);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    assert_int_equal(status, 0);
}

/* The report has both texts, and finite numbers only. */
static void expect_in(const char *path, const char *first, const char *second)
{
    size_t n;
    char *text = read_whole(path, &n);
    if (strstr(text, "nan") || strstr(text, "inf")) fail_msg("a number is not finite: %s", text);
    if (!strstr(text, first)) fail_msg("%s is missing: %s", first, text);
    if (!strstr(text, second)) fail_msg("%s is missing: %s", second, text);
    free(text);
}

static void reports_check(const vouch_stats *first, const char *csv_line, const char *speed)
{
    static bench b;
    bench_make(&b, first);
    print_to(b.table, bench_print, &b.comparison);
    assert_int_equal(cli_bench_write_csv(&b.comparison), 0);
    assert_int_equal(cli_bench_write_html(&b.comparison), 0);
    assert_int_equal(cli_bench_write_json(&b.comparison), 0);
    expect_in(b.table, speed, " 0 target only");
    expect_in(b.csv, csv_line, "usual,usual,1,ngram,0,20,2.000000,10.000,20,0,0,1.0000,");
    expect_in(b.html, "<td>&ndash;</td>", "1.00\xc3\x97 plain");
    json_t *o = json_load_file(b.json, 0, NULL), *odd, *usual;
    assert_int_equal(json_unpack(json_array_get(json_object_get(o, "configs"), 1), "{s:{s:o, s:o}}", "categories",
                                 "odd", &odd, "usual", &usual),
                     0);
    assert_true(json_is_null(json_object_get(odd, "speedup")));
    assert_true(json_real_value(json_object_get(usual, "speedup")) == 1);
    json_decref(o);
    vouch_model_close(b.engine.model);
}

static void no_time_by_the_clock(void **state)
{
    (void)state;
    const vouch_stats no_time = {.generated_tokens = 1, .cycles = 1};
    /* The fastest and slowest answers are those whose speed is known. */
    reports_check(&no_time, "odd,odd,1,ngram,0,1,0.000000,,1,0,0,1.0000,", "10 to 10");
}

static void no_tokens(void **state)
{
    (void)state;
    const vouch_stats no_tokens = {.decode_seconds = 1};
    reports_check(&no_tokens, "odd,odd,1,ngram,0,0,1.000000,0.000,0,0,0,,", "1.0 to 9.0");
}

static void nothing_at_all(void **state)
{
    (void)state;
    static bench b;
    bench_make(&b, &(vouch_stats){0});
    b.answers[2].counts = b.answers[3].counts = false;
    b.comparison.n_complete = 1;
    print_to(b.table, bench_print, &b.comparison);
    assert_int_equal(cli_bench_write_html(&b.comparison), 0);
    expect_in(b.table, " 1 ngram               -        -           -", "0 target only");
    expect_in(b.html, "Milliseconds per token", "</html>");
    vouch_model_close(b.engine.model);
}

/* A report of answers at once, of one config at 1 and at 2: at 1, a round without tokens. */
static void no_tokens_at_once(void **state)
{
    (void)state;
    enum { AT_ONCE = 2 };
    static bench b;
    const tool_ints at_once = {.items = {1, 2}, .n = AT_ONCE};
    double speeds[AT_ONCE] = {0, 12.5};
    unsigned drafters[] = {VOUCH_DRAFTER_NONE};
    cli_load_cell cells[AT_ONCE] = {{.speeds = &speeds[0]}, {.speeds = &speeds[1], .generated = 25, .passes = 20}};
    bench_make(&b, &(vouch_stats){0});
    const cli_load load = {.engine = &b.engine,
                           .questions = {.n = QUESTIONS},
                           .drafters = drafters,
                           .n_configs = 1,
                           .at_once = &at_once,
                           .cells = cells,
                           .n_rounds = 1,
                           .n_complete = 1};
    print_to(b.table, load_print, &load);
    assert_int_equal(cli_load_write_html(&load), 0);
    assert_int_equal(cli_load_write_json(&load), 0);
    expect_in(b.table, "       1       0.0        -        -        -", "       2      12.5        -     1.00");
    expect_in(b.html, "<td>1</td><td>0.0</td><td>&ndash;</td>", "<td>2</td><td>12.5</td>");
    json_t *o = json_load_file(b.json, 0, NULL);
    const json_t *loads = json_object_get(json_array_get(json_object_get(o, "configs"), 0), "loads");
    assert_true(json_real_value(json_object_get(json_array_get(loads, 1), "tokens_per_second")) == 12.5);
    assert_true(json_is_null(json_object_get(json_array_get(loads, 0), "to_first")));
    json_decref(o);
    vouch_model_close(b.engine.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_time_by_the_clock),
        cmocka_unit_test(no_tokens),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(no_tokens_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
