/* SPDX-License-Identifier: MIT */
/*
 * `vouch bench --prompts`: which lines it takes as prompts, whether its figures are consistent, its three files,
 * Ctrl-C. No test judges a speed.
 */
#include "support/program/command.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/model/tiny_model.h"

static char model[256], draft[256], prompts[256];

/* A file of prompts. Lines 3, 4, 6, 7, 8 and 9 are no valid prompts. */
static const char lines[] =
    "{\"question_id\": 81, \"category\": \"copy\", \"turns\": [\"one two one two one two one two\", \"again\"]}\n"
    "\n"
    "{\"question_id\": 82, \"category\": \"copy\", \"turns\": []}\n"
    "{\"question_id\": 83, \"category\": \"copy\", \"turns\": [\"unfinished\n"
    "{\"task_id\": \"Code/0\", \"prompt\": \"def f(x):\\n    return x, \\\"y\\\"\"}\r\n"
    "no JSON at all\n"
    "{\"question_id\": 84, \"category\": \"copy\", \"prompt\": \"a \\u0000 byte\"}\n"
    "{\"question_id\": 85, \"category\": \"copy\", \"prompt\": \"  \"}\n"
    "{\"question_id\": 86, \"category\": \"copy\", \"prompt\": 7}\n"
    "{\"question\": \"How many rivers?\", \"category\": \"a,\\\"b\\\" <c>\"}\n"
    "{\"question_id\": 87, \"category\": \"copy\", \"turns\": [\"three four three four\"]}";

static int files_write(void **state)
{
    (void)state;
    strcpy(model, test_temporary("model.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    strcpy(prompts, test_temporary("set.jsonl"));
    tiny_model_write(model, &(tiny_model_options){.n_ctx = 256, .seed = 1});
    tiny_model_write(draft, &(tiny_model_options){.n_ctx = 256, .seed = 1, .noise = 0.02f, .noise_seed = 3});
    write_whole(prompts, lines, sizeof lines - 1);
    return 0;
}

static double real(const json_t *object, const char *key)
{
    assert_true(json_is_real(json_object_get(object, key)));
    return json_real_value(json_object_get(object, key));
}

static int64_t sum_of(const json_t *array)
{
    int64_t sum = 0;
    for (size_t i = 0; i < json_array_size(array); i++) sum += json_integer_value(json_array_get(array, i));
    return sum;
}

/* The figures of one config in one category must follow from the counts beside them. */
static void check_summary(const json_t *s, const json_t *plain, int rounds)
{
    const double seconds = real(s, "decode_seconds"), tokens = (double)whole(s, "generated_tokens");
    const double speed = real(s, "tokens_per_second"), speedup = speed / real(plain, "tokens_per_second");
    assert_true(fabs(speed * seconds / tokens - 1) < 1e-9);
    assert_true(fabs(real(s, "speedup") / speedup - 1) < 1e-9);
    assert_true(real(s, "tokens_per_second_p10") <= real(s, "tokens_per_second_p90"));
    assert_true(real(s, "draft_seconds") + real(s, "verify_seconds") + real(s, "judge_seconds") <= seconds * 1.0001);
    assert_true(fabs(real(s, "tokens_per_cycle") * (double)whole(s, "cycles") / tokens - 1) < 1e-9);
    assert_int_equal(sum_of(json_object_get(s, "accepted_per_position")), whole(s, "accepted"));
    assert_int_equal(sum_of(json_object_get(s, "drafted_per_position")), whole(s, "drafted"));
    assert_int_equal(sum_of(json_object_get(s, "depth_histogram")), whole(s, "cycles"));
    assert_int_equal(whole(s, "answers") % rounds, 0);
    assert_int_equal(whole(s, "different_answers"), 0);
    if (whole(s, "drafted") == 0) {
        assert_true(json_is_null(json_object_get(s, "acceptance_rate")));
        assert_true(json_is_null(json_object_get(s, "theory_speedup")));
        return;
    }
    const double rate = (double)whole(s, "accepted") / (double)whole(s, "drafted");
    assert_true(fabs(real(s, "acceptance_rate") - rate) < 1e-9);
    assert_true(real(s, "theory_speedup") > 0);
    assert_true(real(s, "theory_tokens_per_cycle") >= 1);
}

/* The predicted tokens per cycle are the mean of 1 + a + ... + a^k over the histogram of draft lengths k. */
static void check_theory(const json_t *s)
{
    const json_t *histogram = json_object_get(s, "depth_histogram");
    const double a = real(s, "guess_holds");
    double tokens = 0;
    for (size_t k = 0; k < json_array_size(histogram); k++)
        tokens += (double)json_integer_value(json_array_get(histogram, k)) *
                  (a < 1 ? (1 - pow(a, (double)k + 1)) / (1 - a) : (double)k + 1);
    assert_true(fabs(real(s, "theory_tokens_per_cycle") - tokens / (double)whole(s, "cycles")) < 1e-9);
}

/* Every report marks a config that changes the target's distribution. Greedy text never does. */
static void lossy_configs_are_named(void **state)
{
    (void)state;
    static const char *const temperatures[] = {"0", "0.8"};
    char json[256], html[256], csv[256];
    strcpy(json, test_temporary("lossy.json"));
    strcpy(html, test_temporary("lossy.html"));
    strcpy(csv, test_temporary("lossy.csv"));
    for (size_t i = 0; i < 2; i++) {
        size_t n;
        result r = RUN("bench", "-m", model, "-d", draft, "--prompts", prompts, "--spec", "draft", "--lenience", "0.25",
                       "-n", "12", "--temp", temperatures[i], "--json", json, "--html", html, "--csv", csv);
        assert_int_equal(r.status, 0);
        char *page = read_whole(html, &n), *lines_of_answers = read_whole(csv, &n);
        const bool lossy = i == 1;
        const char *const warning = "lossy: with lenience 0.25 no token becomes more than 1 / 0.25 times as likely";
        assert_int_equal(strstr(r.out, warning) != NULL, lossy);
        assert_int_equal(strstr(page, "Lossy: with lenience 0.25") != NULL, lossy);
        assert_int_equal(strstr(page, "draft lossy") != NULL, lossy);
        assert_int_equal(strstr(lines_of_answers, ",draft lossy,") != NULL, lossy);
        json_t *o = json_of(json);
        const json_t *configs = json_object_get(o, "configs");
        for (size_t config = 0; config < 3; config++)
            assert_int_equal(json_is_true(json_object_get(json_array_get(configs, config), "lossless")),
                             !(lossy && config == 2));
        json_decref(o);
        free(page);
        free(lines_of_answers);
        result_free(&r);
    }
}

/* A context with room for small passes only gives a cost curve that ends earlier and has no gaps. */
static void short_cost_curve_is_complete(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("short.txt"));
    write_whole(path, "one two\n", 8);
    result r = RUN("bench", "-m", model, "--prompts", path, "--ctx", "14", "-n", "4", "--spec", "ngram", "--raw");
    assert_int_equal(r.status, 0);
    const char *costs = strstr(r.out, "\ncost curve: time of a pass by its rows, median\nrows        1        2 ");
    assert_non_null(costs);
    const char *times = strstr(costs, "\nms "), *row = strstr(costs, " 17");
    assert_non_null(times);
    assert_true(!row || row > times); /* a time may begin so */
    assert_true(r.out[r.n_out - 1] == '\n' && strchr("0123456789", r.out[r.n_out - 2]));
    result_free(&r);
}

static void answers_without_a_limit_end_with_the_context(void **state)
{
    (void)state;
    char path[256], html[256];
    size_t n;
    strcpy(path, test_temporary("short.txt"));
    strcpy(html, test_temporary("limit.html"));
    write_whole(path, "one two\n", 8);
    result r = RUN("bench", "-m", model, "--prompts", path, "--ctx", "40", "-n", "0", "--raw", "--html", html);
    assert_int_equal(r.status, 0);
    char *page = read_whole(html, &n);
    assert_non_null(strstr(r.out, "answers    up to the context's end, "));
    assert_non_null(strstr(page, ", up to the context's end, "));
    free(page);
    result_free(&r);
}

static void assert_fits_terminal(const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strcspn(line, "\n") > 80) fail_msg("more than 80 columns: %.200s", line);
}

static void answers_are_compared(void **state)
{
    (void)state;
    static const char *const names[] = {"target only", "draft only", "draft k=2",
                                        "draft k=3",   "ngram k=2",  "ngram k=3"};
    static const int bad[] = {3, 4, 6, 7, 8, 9};
    char path[256];
    strcpy(path, test_temporary("report.json"));
    result r = RUN("bench", "-m", model, "-d", draft, "--prompts", prompts, "--spec", "draft", "--spec", "ngram", "-k",
                   "2,3", "--ngram-min", "1", "-n", "24", "--reps", "2", "--threads", "1", "--json", path);
    assert_int_equal(r.status, 0);
    json_t *o = json_of(path);
    const json_t *left_out = json_object_get(o, "left_out"), *configs = json_object_get(o, "configs");
    assert_true(json_equal(configs, json_object_get(o, "ways"))); /* the older name */
    assert_int_equal(json_array_size(left_out), 6);
    for (size_t i = 0; i < 6; i++) {
        char complaint[320];
        assert_int_equal(whole(json_array_get(left_out, i), "line"), bad[i]);
        snprintf(complaint, sizeof complaint, "--prompts %s: line %d is left out: ", prompts, bad[i]);
        assert_non_null(strstr(r.err, complaint));
    }
    assert_int_equal(whole(o, "questions"), 4);
    assert_int_equal(whole(o, "rounds"), 2);
    assert_int_equal(whole(o, "rounds_complete"), 2);
    assert_true(json_is_false(json_object_get(o, "interrupted")));
    assert_int_equal(json_array_size(configs), 6);
    for (size_t i = 0; i < 6; i++) {
        const json_t *config = json_array_get(configs, i), *plain = json_array_get(configs, 0), *categories, *s;
        const char *category;
        assert_string_equal(json_string_value(json_object_get(config, "name")), names[i]);
        assert_non_null(strstr(r.out, names[i]));
        categories = json_object_get(config, "categories");
        assert_int_equal(json_object_size(categories), 3);
        check_summary(json_object_get(config, "all"), json_object_get(plain, "all"), 2);
        assert_int_equal(whole(json_object_get(config, "all"), "answers"), 8);
        assert_int_equal(whole(json_object_get(config, "all"), "turns"), 5);
        assert_int_equal(whole(json_object_get(categories, "copy"), "answers"), 4);
        assert_int_equal(whole(json_object_get(categories, "set"), "answers"), 2);
        json_object_foreach((json_t *)(uintptr_t)categories, category, s)
            check_summary(s, json_object_get(json_object_get(plain, "categories"), category), 2);
        if (i >= 2) assert_true(whole(json_object_get(config, "all"), "drafted") > 0);
        if (i == 2 || i == 3) check_theory(json_object_get(config, "all"));
    }
    assert_true(json_array_size(json_object_get(o, "costs")) >= 8);
    json_decref(o);
    assert_fits_terminal(strstr(r.out, "\n\n"));
    assert_non_null(strstr(r.out, "Fewer than 10 answers of each config"));
    result_free(&r);
}

/* The questions of SPEED-Bench as they are published, with turns, and as its script prepares them, with messages. */
static const char *const published[] = {
    "{\"question_id\": \"9c1185a5c5e9fc54612808977ee8f548\", \"category\": \"math\", \"sub_category\": \"algebra\", "
    "%s, \"source\": \"https://example.org/a\", \"src_id\": \"a_1\", \"difficulty\": \"\", \"multiturn\": true}\n",
    "{\"question_id\": \"e5ad5a381e4aeb2d372a3be1d0e4e2b7\", \"category\": \"stem\", \"sub_category\": null, "
    "%s, \"source\": null, \"src_id\": \"7\", \"difficulty\": null, \"multiturn\": false}\n"};
static const char *const as_turns[] = {"\"turns\": [\"one two one two\", \"and three\", \"three two one\"]",
                                       "\"turns\": [\"four five\"]"};
static const char *const as_messages[] = {
    "\"messages\": [{\"role\": \"user\", \"content\": \"one two one two\"}, {\"role\": \"user\", \"content\": "
    "\"and three\"}, {\"content\": \"three two one\", \"role\": \"user\"}]",
    "\"messages\": [{\"role\": \"user\", \"content\": \"four five\"}]"};

/* Runs both questions with these texts, and returns the report. */
static json_t *speed_bench_run(const char *const *texts, const char *flag, const char *value)
{
    char path[256], json[256], file[2048];
    int n = snprintf(file, sizeof file, published[0], texts[0]);
    n += snprintf(file + n, sizeof file - (size_t)n, published[1], texts[1]);
    strcpy(path, test_temporary("qualitative.jsonl"));
    strcpy(json, test_temporary("speed.json"));
    write_whole(path, file, (size_t)n);
    result r = RUN("bench", "-m", model, "--prompts", path, "--spec", "ngram", "-k", "3", "-n", "12", "--temp", "0",
                   "--json", json, flag, value);
    assert_int_equal(r.status, 0);
    assert_null(strstr(r.err, "left out"));
    assert_non_null(strstr(r.out, "tokens per cycle, by category"));
    assert_non_null(strstr(r.out, "guesses accepted, by category"));
    result_free(&r);
    return json_of(json);
}

static const json_t *category_at(const json_t *report, size_t config, const char *name)
{
    return json_object_get(json_object_get(json_array_get(json_object_get(report, "configs"), config), "categories"),
                           name);
}

/* A file with `turns` and one with `messages` ask the same questions. The command answers every turn, and a category's
 * figures count all its turns. */
static void speed_bench_is_read(void **state)
{
    (void)state;
    static const char *const counts[] = {"turns",   "prompt_tokens", "generated_tokens", "cycles",
                                         "drafted", "accepted",      "different_answers"};
    json_t *turns = speed_bench_run(as_turns, "--threads", "1");
    json_t *messages = speed_bench_run(as_messages, "--threads", "1");
    for (size_t config = 0; config < 2; config++) {
        const json_t *math = category_at(turns, config, "math"), *stem = category_at(turns, config, "stem");
        assert_int_equal(whole(math, "answers"), 1);
        assert_int_equal(whole(math, "turns"), 3);
        assert_int_equal(whole(math, "generated_tokens"), 3 * 12);
        assert_int_equal(whole(stem, "turns"), 1);
        assert_int_equal(whole(stem, "generated_tokens"), 12);
        assert_int_equal(whole(math, "different_answers"), 0);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            assert_int_equal(whole(math, counts[i]), whole(category_at(messages, config, "math"), counts[i]));
            assert_int_equal(whole(stem, counts[i]), whole(category_at(messages, config, "stem"), counts[i]));
        }
    }
    /* Later turns copy from earlier ones. */
    assert_true(whole(category_at(turns, 1, "math"), "drafted") > 0);
    json_decref(turns);
    json_decref(messages);
}

/* A conversation that outgrows the context ends there, for every config alike. */
static void a_long_conversation_ends(void **state)
{
    (void)state;
    json_t *o = speed_bench_run(as_turns, "--ctx", "90");
    for (size_t config = 0; config < 2; config++) {
        const int64_t n = whole(category_at(o, config, "math"), "turns");
        assert_true(n >= 1 && n < 3);
        assert_int_equal(whole(category_at(o, config, "stem"), "turns"), 1);
    }
    json_decref(o);
}

/* What is wrong with a line is told with the file, the line, the field, its value, and what is expected. */
static void bad_lines_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } lines_of[] = {
        {"{\"turns\": []}", "turns: []: expected a list of texts"},
        {"{\"turns\": \"a\"}", "turns: \"a\": expected a list of texts"},
        {"{\"turns\": [\"a\", 7]}", "turns[1]: 7: expected a text"},
        {"{\"turns\": [\"a\", \" \"]}", "turns[1]: \" \": expected a text that isn't empty"},
        {"{\"turns\": [\"FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH\"]}",
         "turns[0]: SPEED-Bench's placeholder; prepare the file with the data set's script"},
        {"{\"turns\": [\"FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH\\n\\n{question}\"]}",
         "turns[0]: SPEED-Bench's placeholder"},
        {"{\"messages\": []}", "messages: []: expected a list of messages"},
        {"{\"messages\": [\"a\"]}", "messages[0]: \"a\": expected \"role\": \"user\""},
        {"{\"messages\": [{\"role\": \"system\", \"content\": \"a\"}]}",
         "expected \"role\": \"user\"; the model writes the answers, --system is the system's message"},
        {"{\"messages\": [{\"role\": \"user\"}]}",
         "messages[0]: {\"role\":\"user\"}: expected a text as its \"content\""},
        {"{\"prompt\": 3}", "prompt: 3: expected a text"},
        {"{\"question_id\": 4, \"category\": \"math\"}", "expected a field turns, messages, prompt or question"},
        {"{\"turns\": [\"a\"], \"category\": 5}", "category: 5: expected a name, or no such field"},
        {"{\"turns\": [\"a\"], \"category\": \"\"}", "category: \"\": expected a name, or no such field"},
        {"{\"turns\": [\"a\"], \"question_id\": [1]}", "question_id: [1]: expected a text or a whole number"},
        {"[{\"turns\": 1}, 2]", "expected a JSON object"},
    };
    char path[256], says[512], text[4096] = "{\"turns\": [\"a good one\"]}\n";
    strcpy(path, test_temporary("bad.jsonl"));
    for (size_t i = 0; i < sizeof lines_of / sizeof *lines_of; i++) strcat(strcat(text, lines_of[i].line), "\n");
    write_whole(path, text, strlen(text));
    result r = RUN("bench", "-m", model, "--prompts", path, "--spec", "none", "-n", "2");
    assert_int_equal(r.status, 0);
    for (size_t i = 0; i < sizeof lines_of / sizeof *lines_of; i++) {
        snprintf(says, sizeof says, "--prompts %s: line %zu is left out: ", path, i + 2);
        const char *complaint = strstr(r.err, says);
        if (!complaint || strstr(complaint, lines_of[i].says) == NULL ||
            strstr(complaint, lines_of[i].says) > strchr(complaint, '\n'))
            fail_msg("%s%s is missing: %s", says, lines_of[i].says, r.err);
    }
    result_free(&r);
    write_whole(path, "PAR1\x15\x04", 6);
    expect(RUN("bench", "-m", model, "--prompts", path), 1, "a Parquet file; expected JSON lines");
}

/* --parallel: for each config and number of answers at once, the figures follow from the counts beside them, and no
 * answer differs. */
static void answers_at_once_are_compared(void **state)
{
    (void)state;
    static const int at_once[] = {1, 2, 4};
    char path[256], page[256];
    strcpy(path, test_temporary("load.json"));
    strcpy(page, test_temporary("load.html"));
    result r = RUN("bench", "-m", model, "--prompts", prompts, "--parallel", "1,2,4", "-n", "24", "--reps", "2",
                   "--threads", "2", "--json", path, "--html", page);
    assert_int_equal(r.status, 0);
    json_t *o = json_of(path);
    const json_t *configs = json_object_get(o, "configs");
    assert_int_equal(whole(o, "questions"), 4);
    assert_int_equal(whole(o, "rounds_complete"), 2);
    assert_int_equal(json_array_size(configs), 2);
    for (size_t c = 0; c < 2; c++) {
        const json_t *loads = json_object_get(json_array_get(configs, c), "loads");
        assert_int_equal(json_array_size(loads), 3);
        for (size_t i = 0; i < 3; i++) {
            const json_t *load = json_array_get(loads, i), *one = json_array_get(loads, 0);
            const json_t *speeds = json_object_get(load, "tokens_per_second_by_round");
            const double first = json_real_value(json_array_get(speeds, 0));
            const double second = json_real_value(json_array_get(speeds, 1));
            assert_int_equal(whole(load, "parallel"), at_once[i]);
            assert_int_equal(whole(load, "different_answers"), 0);
            assert_int_equal(whole(load, "generated_tokens"), whole(one, "generated_tokens"));
            assert_true(fabs(real(load, "tokens_per_second") / ((first + second) / 2) - 1) < 1e-9);
            assert_true(real(load, "between_tokens_median_seconds") <= real(load, "between_tokens_p99_seconds"));
            assert_true(fabs(real(load, "tokens_per_pass") * (double)whole(load, "passes") /
                                 (double)whole(load, "generated_tokens") -
                             1) < 1e-9);
            assert_true(whole(load, "accepted") <= whole(load, "drafted"));
            assert_true(c > 0 || whole(load, "drafted") == 0);
        }
        /* More answers at once need fewer passes. */
        assert_true(whole(json_array_get(loads, 2), "passes") < whole(json_array_get(loads, 0), "passes"));
    }
    size_t n;
    char *html = read_whole(page, &n);
    assert_non_null(strstr(html, "<h2>Throughput</h2>"));
    assert_non_null(strstr(html, "</html>"));
    assert_non_null(strstr(r.out, " at once  tokens/s"));
    assert_fits_terminal(r.out + strcspn(r.out, "\n"));
    free(html);
    json_decref(o);
    result_free(&r);
    r = RUN("bench", "-m", model, "--prompts", prompts, "--parallel", "5");
    expect(r, 2, "has 4 prompts to answer; give more prompts, or answer fewer at once");
    r = RUN("bench", "-m", model, "--prompts", prompts, "--parallel", "2", "-k", "1,2");
    expect(r, 2, "--parallel can't be measured with --num-speculative-tokens with several numbers");
    r = RUN("bench", "-m", model, "--prompts", prompts, "--parallel", "2", "--csv", path);
    expect(r, 2, "--parallel can't be measured with --csv");
    r = RUN("bench", "-m", model, "--parallel", "2");
    expect(r, 2, "--parallel has no effect without --prompts");
}

/* Each round forgets what the drafters recycle and history have learned in the round before. */
static void rounds_are_independent(void **state)
{
    (void)state;
    static const char *const reps[] = {"1", "3"};
    json_int_t accepted[2][2], drafted[2][2];
    char path[256];
    strcpy(path, test_temporary("rounds.json"));
    for (int i = 0; i < 2; i++) {
        result r = RUN("bench", "-m", model, "--prompts", prompts, "--spec", "recycle", "--spec", "history", "-k", "4",
                       "-n", "24", "--reps", reps[i], "--threads", "1", "--json", path);
        assert_int_equal(r.status, 0);
        result_free(&r);
        json_t *o = json_of(path);
        for (size_t config = 1; config < 3; config++) {
            const json_t *all = json_object_get(json_array_get(json_object_get(o, "configs"), config), "all");
            accepted[i][config - 1] = whole(all, "accepted");
            drafted[i][config - 1] = whole(all, "drafted");
        }
        json_decref(o);
    }
    assert_true(drafted[0][0] > 0);
    assert_memory_equal(accepted[0], accepted[1], sizeof accepted[0]);
    assert_memory_equal(drafted[0], drafted[1], sizeof drafted[0]);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    while ((text = strstr(text, word)) != NULL) n++, text++;
    return n;
}

/* The CSV lines and their sum count the same prompt tokens: those that were run, without reused ones. */
static void check_prompt_tokens(const char *csv, const json_t *sums)
{
    int64_t sum = 0;
    for (const char *at = csv; (at = strstr(at, ",1,target only,")) != NULL;)
        sum += strtoll(at += strlen(",1,target only,"), NULL, 10);
    assert_int_equal(sum, whole(sums, "prompt_tokens"));
}

static void files_are_whole(void **state)
{
    (void)state;
    char csv[256], html[256], json[256];
    size_t n;
    strcpy(csv, test_temporary("report.csv"));
    strcpy(html, test_temporary("report.html"));
    strcpy(json, test_temporary("report.json"));
    result r = RUN("bench", "-m", model, "--prompts", prompts, "--spec", "ngram", "--spec", "suffix,recycle", "-n",
                   "16", "--temp", "0.9", "--csv", csv, "--html", html, "--json", json);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, ", 1 round\nanswers    up to 16 tokens, temperature 0.9\n"));
    result_free(&r);
    char *text = read_whole(csv, &n);
    json_t *o = json_of(json);
    assert_true(real(o, "temperature") == 0.9);
    check_prompt_tokens(text, json_object_get(json_array_get(json_object_get(o, "configs"), 0), "all"));
    json_decref(o);
    assert_int_equal(count(text, "\n"), 1 + 4 * 3);
    assert_non_null(strstr(text, "\n10,\"a,\"\"b\"\" <c>\",1,\"suffix,recycle\","));
    assert_non_null(strstr(text, "\nCode/0,set,1,target only,"));
    free(text);
    /* The page stands alone: no script, no external resource, no unescaped text. */
    text = read_whole(html, &n);
    assert_int_equal(strncmp(text, "<!DOCTYPE html>", 15), 0);
    assert_int_equal(count(text, "<svg"), 7); /* one for each of three categories, one for all, three plots */
    assert_int_equal(count(text, "</svg>"), 7);
    assert_int_equal(count(text, "<section"), count(text, "</section>"));
    assert_int_equal(count(text, "<figure>"), 4);
    assert_int_equal(count(text, "://"), count(text, "xmlns=\"http://www.w3.org/2000/svg\""));
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "url("));
    assert_non_null(strstr(text, "prefers-color-scheme:dark"));
    assert_non_null(strstr(text, "a,&quot;b&quot; &lt;c&gt;"));
    assert_null(strstr(text, "<c>"));
    /* Searches after </dl>: the list before it has a random temporary path, which may contain "nan". */
    assert_null(strstr(strstr(text, "</dl>"), "nan"));
    assert_non_null(strstr(text, "line 4: "));
    /* The page names models, processor, date and the number of answers. */
    assert_non_null(strstr(text, "<dt>target</dt><dd>model.gguf, "));
    assert_non_null(strstr(text, "<dt>processor</dt><dd>"));
    assert_non_null(strstr(text, " UTC</dd>"));
    assert_non_null(strstr(text, "<dt>version</dt><dd>vouch "));
    assert_non_null(strstr(text, "<dt>command</dt><dd>vouch bench -m "));
    assert_int_equal(count(text, "1.00\xc3\x97 plain"), 4);
    assert_non_null(strstr(text, "<b>all categories</b><span class=\"d\">, 4 answers*</span>"));
    assert_non_null(strstr(text, "scroll it sideways"));
    /* A drafter has its colour in the table and in each plot. */
    const char *drafter = strstr(text, "<i style=\"background:var(--c1)\"></i>suffix,recycle</td>");
    assert_non_null(drafter);
    assert_int_equal(count(drafter, "<rect style=\"fill:var(--c1)\""), 4);
    free(text);
}

/* Drafts of one guess make a plot of one point, with one mark on its x axis. */
static void one_point_is_a_plot(void **state)
{
    (void)state;
    static const char mark[] = "text-anchor=\"middle\"";
    char html[256];
    size_t n;
    strcpy(html, test_temporary("point.html"));
    result r =
        RUN("bench", "-m", model, "--prompts", prompts, "--spec", "recycle", "-k", "1", "-n", "24", "--html", html);
    assert_int_equal(r.status, 0);
    result_free(&r);
    char *page = read_whole(html, &n);
    const char *plot = strstr(page, "Acceptance rate by draft position");
    assert_non_null(plot);
    assert_int_equal(count(plot, mark) - count(strstr(plot, "</svg>"), mark), 1);
    assert_true(n < 20000);
    free(page);
}

/* A model that drafts for itself is always right. A stop text that ends the answer inside a draft rejects nothing. */
static void a_stop_text_is_no_rejection(void **state)
{
    (void)state;
    char json[256];
    strcpy(json, test_temporary("ends.json"));
    result r = RUN("bench", "-m", model, "-d", model, "--prompts", prompts, "--spec", "draft", "-k", "8", "-n", "64",
                   "--stop", "a", "--stop", "e", "--json", json);
    assert_int_equal(r.status, 0);
    result_free(&r);
    json_t *o = json_of(json);
    const json_t *all = json_object_get(json_array_get(json_object_get(o, "configs"), 2), "all");
    assert_true(whole(all, "accepted") > 0 && whole(all, "accepted") < whole(all, "drafted"));
    assert_true(real(all, "full_accept_fraction") < 1);
    assert_true(real(all, "guess_holds") == 1);
    json_decref(o);
}

static void plain_lines_and_selections(void **state)
{
    (void)state;
    char path[256], json[256];
    strcpy(path, test_temporary("lines.txt"));
    strcpy(json, test_temporary("lines.json"));
    static const char text[] = "one two\r\n\nthree \xff four\nnul \0 here\nfive";
    write_whole(path, text, sizeof text - 1);
    result r = RUN("bench", "-m", model, "--prompts", path, "--spec", "none", "-n", "4", "--json", json);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err, "line 4 is left out: a NUL byte at 4"));
    result_free(&r);
    json_t *o = json_of(json);
    assert_int_equal(whole(o, "questions"), 3);
    assert_int_equal(json_array_size(json_object_get(o, "configs")), 1);
    assert_non_null(json_object_get(json_object_get(json_array_get(json_object_get(o, "configs"), 0), "categories"),
                                    "lines"));
    json_decref(o);
    r = RUN("bench", "-m", model, "--prompts", prompts, "--category", "copy", "--each", "1", "-n", "4", "--json", json);
    assert_int_equal(r.status, 0);
    result_free(&r);
    o = json_of(json);
    assert_int_equal(whole(o, "questions"), 1);
    json_decref(o);
    /* For a file of another kind, only the first lines give warnings. */
    char junk[2 * 30] = "";
    for (size_t i = 0; i < sizeof junk; i += 2) junk[i + 1] = '\n';
    write_whole(path, junk, sizeof junk);
    r = RUN("bench", "-m", model, "--prompts", path);
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "line 20 is left out: "));
    assert_null(strstr(r.err, "line 21 "));
    assert_non_null(strstr(r.err, "more lines are left out"));
    assert_non_null(strstr(r.err, "has no prompt to answer"));
    result_free(&r);
    /* Each rule is a config of its own. */
    r = RUN("bench", "-m", model, "--prompts", prompts, "--spec", "ngram", "-k", "3", "--accept", "match", "--accept",
            "block", "--tree", "1,3", "-n", "6", "--json", json);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "ngram k=3 match "));
    assert_non_null(strstr(r.out, "ngram k=3 block "));
    result_free(&r);
    /* Some editors begin a file with a byte order mark; some programs write an absent field as null. */
    static const char marked[] = "\xef\xbb\xbf{\"prompt\": \"one\", \"turns\": null}\n"
                                 "{\"question\": \"two\", \"prompt\": null}";
    write_whole(path, marked, sizeof marked - 1);
    r = RUN("bench", "-m", model, "--prompts", path, "--spec", "none", "-n", "4", "--json", json);
    assert_int_equal(r.status, 0);
    assert_null(strstr(r.err, "left out"));
    result_free(&r);
    o = json_of(json);
    assert_int_equal(whole(o, "questions"), 2);
    json_decref(o);
    const setting piped = {.input = "from here\n"};
    expect(run_as(&piped, "vouch", ARGUMENTS("bench", "-m", model, "--prompts", "-", "-n", "2")), 0, NULL);
}

static void prompts_that_fail(void **state)
{
    (void)state;
    char path[256], absent[256];
    strcpy(path, test_temporary("empty.txt"));
    strcpy(absent, test_temporary("absent"));
    write_whole(path, "\n \n", 3);
    expect(RUN("bench", "-m", model, "--prompts", path), 1, "has no prompt to answer");
    expect(RUN("bench", "-m", model, "--prompts", absent), 2, "--prompts: ");
    expect(RUN("bench", "-m", model, "--prompts", prompts, "--category", "no"), 1, "in the categories named");
    expect(RUN("bench", "-m", model, "--prompts", prompts, "--html", "/nowhere/at/all"), 2, "--html: /nowhere");
    expect(RUN("bench", "-m", model, "--prompts", prompts, "--csv", "/"), 2, "--csv: /");
    expect(RUN("bench", "-m", model, "--prompts", prompts, "--ctx", "12", "-n", "8"), 1, "no prompt fits into");
    /* A prompt that doesn't fit is left out, and the others are answered. */
    expect(RUN("bench", "-m", model, "--prompts", prompts, "--ctx", "75", "-n", "20"), 0, "line 1 is left out: ");
    if (has_full_disk())
        expect(RUN("bench", "-m", model, "--prompts", prompts, "-n", "2", "--html", "/dev/full"), 1, "No space left");
    if (has_full_disk())
        expect(RUN("bench", "-m", model, "--prompts", prompts, "-n", "2", "--csv", "/dev/full"), 1, "No space left");
    /* If one report can't be written, the others still are. */
    const setting full = {.out = "/dev/full"};
    char json[256];
    strcpy(json, test_temporary("kept.json"));
    expect(run_as(&full, "vouch", ARGUMENTS("bench", "-m", model, "--prompts", prompts, "-n", "2", "--json", json)), 1,
           "No space left");
    json_decref(json_of(json));
    expect(RUN("bench", "-m", model, "--prompts", prompts, "--category", "copy", "--category", "cpoy"), 1,
           "--category cpoy: no prompt has this category");
    expect(RUN("bench", "-m", model, "--prompts", prompts, "--json", "nowhere/"), 2, "--json: nowhere/");
    write_whole(path, "[{\"prompt\": \"x\"}]", 17);
    expect(RUN("bench", "-m", model, "--prompts", path), 1, "expected one JSON object per line");
    static const struct {
        const char *arguments[8];
        const char *says;
    } mistakes[] = {
        {{"bench", "--spec", "ngram"}, "--spec has no effect without --prompts FILE"},
        {{"bench", "--temp", "1"}, "--temp has no effect without --prompts FILE"},
        {{"bench", "--html", "x"}, "--html has no effect without --prompts FILE"},
        {{"bench", "--prompts", "x", "--rows", "1"}, "--rows has no effect with --prompts"},
        {{"bench", "--prompts", "x", "--spec", "draft"}, "needs a draft model"},
        {{"bench", "--prompts", "x", "--spec", "ngram", "--spec", "ngram"}, "--spec 'ngram': given twice"},
        {{"bench", "--prompts", "x", "--spec", "auto", "--spec", "suffix,ngram,recycle"},
         "--spec ngram,suffix,recycle is given twice, because auto means the same"},
        {{"bench", "--prompts", "x", "--spec", "none", "-k", "3"}, "has no effect with --spec none"},
        {{"bench", "--prompts", "x", "-k", "8,4"}, "not ascending"},
        {{"bench", "--prompts", "x", "--accept", "match", "--accept", "match"}, "--accept 'match': given twice"},
        {{"bench", "--prompts", "x", "--accept", "most"}, "--accept 'most': expected one of rejection|match"},
        {{"bench", "--prompts", "x", "--spec", "ngram,none"}, "none stands alone"},
        {{"bench", "--prompts", "x", "--each", "-1"}, "--each '-1'"},
        {{"bench", "--prompts", "x", "--csv", ""}, "--csv '': the value is empty"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        result r = run_as(&(setting){0}, "vouch", mistakes[i].arguments);
        if (r.status != 2 || !strstr(r.err, mistakes[i].says))
            print_error("expected '%s', got: %s\n", mistakes[i].says, r.err);
        assert_int_equal(r.status, 2);
        assert_non_null(strstr(r.err, mistakes[i].says));
        result_free(&r);
    }
}

/* A prompt with which the model fails ends the measurement and is named; the earlier answers are reported. */
static void failure_keeps_earlier_results(void **state)
{
    (void)state;
    static const char text[] = "one two\n\nthree four\nQQ\nfive\n";
    char path[256], json[256], broken[256];
    result ids = RUN("tokenize", "-m", model, "--ids", "--prompt", "Q");
    assert_int_equal(ids.status, 0);
    strcpy(path, test_temporary("failing.txt"));
    strcpy(json, test_temporary("failing.json"));
    strcpy(broken, test_temporary("poisoned.gguf"));
    tiny_model_write(broken, &(tiny_model_options){.n_ctx = 256, .seed = 1, .poison = atoi(ids.out)});
    result_free(&ids);
    write_whole(path, text, sizeof text - 1);
    result r = RUN("bench", "-m", broken, "--prompts", path, "--raw", "-n", "4", "--json", json);
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "--prompts: line 4: token "));
    assert_non_null(strstr(r.out, "\ninterrupted: 2 of 4 answers of each config are complete\n"));
    result_free(&r);
    json_t *o = json_of(json);
    const json_t *plain = json_object_get(json_array_get(json_object_get(o, "configs"), 0), "all");
    assert_true(json_is_true(json_object_get(o, "interrupted")));
    assert_int_equal(whole(plain, "answers"), 2);
    assert_int_equal(whole(plain, "generated_tokens"), 8);
    json_decref(o);
    write_whole(path, "Q\n", 2);
    expect(RUN("bench", "-m", broken, "--prompts", path, "--raw", "-n", "4", "--json", json), 1, "line 1: token ");
}

/* After Ctrl-C the reports have the complete answers and say that others are missing. */
static void interrupt_keeps_complete_results(void **state)
{
    (void)state;
    char json[256], html[256], err[256], out[256], path[256];
    size_t n;
    strcpy(json, test_temporary("cut.json"));
    strcpy(out, test_temporary("cut.out"));
    strcpy(html, test_temporary("cut.html"));
    strcpy(err, test_temporary("cut.err"));
    strcpy(path, test_temporary("long.txt"));
    char text[4096];
    memset(text, 'x', sizeof text);
    memcpy(text, "one two\n", 8);
    write_whole(path, text, sizeof text);
    write_whole(err, "", 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *all[] = {program("vouch"), "bench", "-m",     model, "--prompts", path,
                             "--spec",         "ngram", "-n",     "200", "--reps",    "1000",
                             "--json",         json,    "--html", html,  NULL};
        become(all, &(setting){0}, "/dev/null", out, err);
    }
    /* The warning about the long line appears after the signal handler is set. */
    wait_for_text(child, err, "line 2 is left out");
    kill(child, SIGINT);
    assert_int_equal(status_of(child), 1);
    char *said = read_whole(err, &n);
    assert_non_null(strstr(said, "interrupted: "));
    free(said);
    json_t *o = json_of(json);
    assert_true(json_is_true(json_object_get(o, "interrupted")));
    assert_int_equal(whole(o, "rounds"), 1000);
    assert_true(whole(o, "rounds_complete") < 1000);
    json_decref(o);
    said = read_whole(out, &n);
    assert_int_equal(n > 0, strstr(said, "\ninterrupted: ") != NULL);
    free(said);
    char *page = read_whole(html, &n);
    assert_non_null(strstr(page, "Interrupted: "));
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_compared),
        cmocka_unit_test(lossy_configs_are_named),
        cmocka_unit_test(speed_bench_is_read),
        cmocka_unit_test(a_long_conversation_ends),
        cmocka_unit_test(bad_lines_are_explained),
        cmocka_unit_test(answers_at_once_are_compared),
        cmocka_unit_test(rounds_are_independent),
        cmocka_unit_test(short_cost_curve_is_complete),
        cmocka_unit_test(answers_without_a_limit_end_with_the_context),
        cmocka_unit_test(files_are_whole),
        cmocka_unit_test(one_point_is_a_plot),
        cmocka_unit_test(a_stop_text_is_no_rejection),
        cmocka_unit_test(plain_lines_and_selections),
        cmocka_unit_test(prompts_that_fail),
        cmocka_unit_test(failure_keeps_earlier_results),
        cmocka_unit_test(interrupt_keeps_complete_results),
    };
    return cmocka_run_group_tests(tests, files_write, NULL);
}
