/* SPDX-License-Identifier: MIT */
/*
 * `vouch analyze`. Its arithmetic equals direct computation. Its report has the values that are known beforehand: a
 * model that drafts for itself, greedy text. It writes its files. Also tests vouch_session_probabilities, which it
 * uses.
 */
#include "support/program/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/acceptance.h"
#include "report/rates.h"
#include "tool/statistics.h"
#include "support/model/tiny_model.h"
#include "vouch.h"

static char model[256], draft[256];

static int models_write(void **state)
{
    (void)state;
    strcpy(model, test_temporary("model.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    tiny_model_write(model, &(tiny_model_options){.seed = 1});
    tiny_model_write(draft, &(tiny_model_options){.seed = 1, .noise = 0.02f, .noise_seed = 2});
    return 0;
}

/* ---------------------------------------------------------------- arithmetic */

static void acceptance_of_two_rows(void **state)
{
    (void)state;
    static const float p[] = {0.6f, 0.3f, 0.1f}, q[] = {0.3f, 0.5f, 0.2f}, logits[] = {5 + 0.6931472f, 5, -INFINITY};
    const cli_acceptance at = cli_acceptance_of(p, q, logits, 3);
    assert_true(fabs(at.sampled - 0.7) < 1e-7);
    assert_true(fabs(at.greedy - 0.3) < 1e-7);
    assert_true(fabs(at.entropy - 0.9182958) < 1e-6); /* the target's own entropy, of 2/3 and 1/3 */
    assert_false(at.same_argmax);
    const float flat[8] = {0};
    assert_true(fabs(cli_acceptance_of(flat, flat, flat, 8).entropy - 3) < 1e-12);
}

enum { TEXT = 40 };

/* The number of cycles of a text when a random number decides whether each guess is accepted. */
static int cycles_drawn(const cli_acceptance *at, int n, int k, test_random *random)
{
    int cycles = 0;
    for (int t = 0; t < n; t++, cycles++)
        for (int i = 0; i < k && t < n && (double)test_uniform(random, 0, 1) < at[t].sampled; i++) t++;
    return cycles;
}

static void cycles_are_those_of_a_simulation(void **state)
{
    (void)state;
    enum { RUNS = 40000 };
    static const int lengths[] = {0, 1, 4, 16, TEXT - 1, TEXT + 3};
    cli_acceptance at[TEXT] = {{0}};
    double room[TEXT + 1];
    test_random random = {7};
    for (int i = 0; i < TEXT; i++) at[i].sampled = (double)test_uniform(&random, 0, 1);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const double cycles = cli_expected_cycles(at, TEXT, lengths[l], room);
        double drawn = 0;
        for (int run = 0; run < RUNS; run++) drawn += cycles_drawn(at, TEXT, lengths[l], &random);
        assert_true(fabs(drawn / RUNS - cycles) < 0.01 * cycles);
    }
    /* If every guess is accepted, a cycle makes k + 1 tokens; if none is, it makes one. */
    for (int i = 0; i < TEXT; i++) at[i].sampled = 1;
    assert_true(fabs(cli_expected_cycles(at, TEXT, 4, room) - 8) < 1e-12);
    assert_true(fabs(cli_expected_cycles(at, TEXT - 1, 4, room) - 8) < 1e-12);
    for (int i = 0; i < TEXT; i++) at[i].sampled = 0;
    assert_true(fabs(cli_expected_cycles(at, TEXT, 4, room) - TEXT) < 1e-12);
    for (int i = 0; i < TEXT; i++) at[i].sampled = 0.8;
    double reached = 0, accepted = 0;
    cli_draft_position_acceptance(at, TEXT, 3, &reached, &accepted);
    assert_true(fabs(accepted / reached - 0.8) < 1e-12);
}

/* A former mistake: counts only the cycles that begin with at least k tokens left, and their tokens. Each k then covers
 * other tokens. */
static double tokens_per_cycle_of_whole_drafts(const cli_acceptance *at, int n, int k)
{
    double room[TEXT + 1] = {1}, cycles = 0, tokens = 0;
    for (int t = 0; t < n - k; t++) {
        double accepted = room[t];
        cycles += accepted;
        for (int i = 0; i < k; i++) {
            room[t + i + 1] += accepted * (1 - at[t + i].sampled);
            accepted *= at[t + i].sampled;
        }
        room[t + k + 1] += accepted;
    }
    for (int t = n - k; t <= n; t++) tokens += room[t] * t;
    return tokens / cycles;
}

static void tokens_per_cycle_never_fall_with_k(void **state)
{
    (void)state;
    cli_acceptance at[TEXT] = {{0}};
    double room[TEXT + 1];
    int falls_of_whole_drafts = 0;
    test_random random = {11};
    for (int text = 0; text < 300; text++) {
        const int n = 1 + (int)((double)test_uniform(&random, 0, 1) * (TEXT - 1));
        double before = 0, whole_before = 0;
        /* Three kinds of texts: random acceptance, rising acceptance, and only 0 and 1 as for greedy text. */
        for (int i = 0; i < n; i++) {
            const double u = (double)test_uniform(&random, 0, 1);
            at[i].sampled = text % 3 == 0 ? u : text % 3 == 1 ? (double)i / n : u < 0.6;
        }
        for (int k = 0; k <= 16; k++) {
            const double tokens = n / cli_expected_cycles(at, n, k, room);
            assert_true(tokens >= before - 1e-12 && tokens <= k + 1 + 1e-12);
            before = tokens;
            if (k >= n) continue;
            const double whole = tokens_per_cycle_of_whole_drafts(at, n, k);
            falls_of_whole_drafts += whole < whole_before - 1e-12;
            whole_before = whole;
        }
    }
    assert_true(falls_of_whole_drafts > 0); /* so this test finds the former mistake */
}

/* The figures of a draft position join several texts. Each text weighs as much as its cycles are likely to reach the
 * position. */
static void draft_positions_are_of_all_texts_together(void **state)
{
    (void)state;
    const cli_acceptance often[] = {{.sampled = 1}, {.sampled = 1}, {.sampled = 0.5}},
                         never[] = {{.sampled = 0}, {.sampled = 0.2}, {.sampled = 0}};
    double reached = 0, accepted = 0;
    cli_draft_position_acceptance(often, 3, 1, &reached, &accepted); /* reached 1 + 1, accepted 1 + 0.5 */
    cli_draft_position_acceptance(never, 3, 1, &reached, &accepted); /* reached 0 + 0.2, accepted 0 */
    assert_true(fabs(reached - 2.2) < 1e-12 && fabs(accepted - 1.5) < 1e-12);
    cli_draft_position_acceptance(often, 3, 3, &reached, &accepted);
    assert_true(fabs(reached - 2.2) < 1e-12);
}

/* Too few rounds can't show that the speed falls short, but any number can show that it is kept. */
static void few_rounds_give_no_bad_verdict(void **state)
{
    (void)state;
    double plain[TOOL_MOST_PAIRS], other[TOOL_MOST_PAIRS];
    for (size_t i = 0; i < TOOL_MOST_PAIRS; i++) {
        plain[i] = 1;
        other[i] = 2;
    }
    for (size_t n = 1; n <= TOOL_MOST_PAIRS; n++) {
        const tool_speed_kept half = tool_compare_speeds(plain, other, n, 0.97),
                              twice = tool_compare_speeds(other, plain, n, 0.97);
        assert_int_equal(half.n, n);
        assert_true(half.share == 0.5 && half.error < 1e-6 && twice.share == 2);
        assert_int_equal(half.verdict, n < TOOL_ENOUGH_PAIRS ? TOOL_SPEED_UNCLEAR : TOOL_SPEED_LOST);
        assert_int_equal(twice.verdict, TOOL_SPEED_KEPT);
    }
    /* Rounds in which the machine paused don't count. Of 25 rounds too few are left for a verdict, of 26 enough. */
    for (size_t i = 0; i < 5; i++) plain[2 * i] = other[2 * i + 1] = 100;
    const tool_speed_kept few = tool_compare_speeds(plain, other, 25, 0.97),
                          enough = tool_compare_speeds(plain, other, 26, 0.97);
    assert_int_equal(few.n, 15);
    assert_int_equal(few.verdict, TOOL_SPEED_UNCLEAR);
    assert_int_equal(enough.n, 16);
    assert_int_equal(enough.verdict, TOOL_SPEED_LOST);
    /* A shortfall that is tiny, and one that is lost in the scatter. */
    for (size_t i = 0; i < TOOL_MOST_PAIRS; i++) {
        plain[i] = 1;
        other[i] = i % 2 ? 1.05 : 1.02;
    }
    assert_int_equal(tool_compare_speeds(plain, other, TOOL_MOST_PAIRS, 0.967).verdict, TOOL_SPEED_KEPT);
    for (size_t i = 0; i < TOOL_MOST_PAIRS; i++) other[i] = i % 2 ? 1.8 : 0.3;
    assert_int_equal(tool_compare_speeds(plain, other, TOOL_MOST_PAIRS, 0.97).verdict, TOOL_SPEED_UNCLEAR);
}

static void tails_and_quantiles(void **state)
{
    (void)state;
    /* For two degrees of freedom the tail is exp(-x / 2). test_chisquare.c tests other degrees. */
    for (double x = 0.1; x < 60; x *= 1.7) assert_true(fabs(tool_chi_square_tail(x, 2) / exp(-x / 2) - 1) < 1e-10);
    assert_true(tool_chi_square_tail(0, 3) == 1);
    double values[] = {3, 1, 2, 5};
    assert_true(tool_quantile(values, 4, 0.5) == 2.5 && values[0] == 1);
    assert_true(tool_quantile(values, 4, 0) == 1 && tool_quantile(values, 4, 1) == 5);
}

/* cli_stats_add adds every field. The pattern is 1.0 as a double and a valid integer with the same bits. */
static void all_counts_are_summed(void **state)
{
    (void)state;
    static const double pattern = 1;
    enum { N = sizeof(vouch_stats) / sizeof pattern };
    vouch_stats one, sum = {0};
    for (size_t i = 0; i < N; i++) memcpy((char *)&one + i * sizeof pattern, &pattern, sizeof pattern);
    one.plain_step_seconds = 0; /* the sum keeps the latest value of this field */
    cli_stats_add(&sum, &one);
    assert_memory_equal(&sum, &one, sizeof sum);
    cli_stats_add(&sum, &one);
    assert_true(sum.predicted_seconds == 2 && sum.lenient_cycles == 2 * one.lenient_cycles);
}

/* ------------------------------------------------------------ probabilities */

static void probabilities_are_processed_logits(void **state)
{
    (void)state;
    static const int32_t tokens[] = {5, 9, 5, 7, 11};
    enum { N = 5, V = 400 };
    static float logits[N * V], p[N * V];
    vouch_model *m = NULL;
    vouch_session *s = NULL;
    vouch_error err;
    vouch_session_options options = vouch_session_options_default();
    options.n_ctx = 16;
    options.sampling.temperature = 0.7f;
    options.sampling.presence_penalty = 1.5f;
    options.sampling.penalty_window = 2;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    assert_int_equal(vouch_model_open(&m, model, NULL, &err), VOUCH_OK);
    assert_int_equal(vouch_session_open(&s, m, &options, &err), VOUCH_OK);
    assert_int_equal(vouch_session_prompt(s, tokens, N, &err), VOUCH_OK);
    assert_int_equal(vouch_session_logits(s, 0, N, logits, &err), VOUCH_OK);
    assert_int_equal(vouch_session_probabilities(s, 1, N - 1, p + V, &err), VOUCH_OK);
    for (int i = 1; i < N; i++) {
        double sum = 0, difference = 0;
        for (int x = 0; x < V; x++) {
            double z = (double)logits[i * V + x] - (x == tokens[i] || x == tokens[i - 1] ? 1.5 : 0);
            logits[i * V + x] = (float)exp(z / 0.7 - 60);
            sum += (double)logits[i * V + x];
        }
        for (int x = 0; x < V; x++) difference += fabs((double)logits[i * V + x] / sum - (double)p[i * V + x]);
        assert_true(difference < 1e-4);
    }
    assert_int_equal(vouch_session_probabilities(s, 3, 3, p, &err), VOUCH_E_ARGUMENT);
    vouch_session_close(s);
    vouch_model_close(m);
}

/* ------------------------------------------------------------------ command */

static double real(const json_t *object, const char *key)
{
    assert_true(json_is_number(json_object_get(object, key)));
    return json_number_value(json_object_get(object, key));
}

static double item(const json_t *object, const char *key, size_t i)
{
    return json_number_value(json_array_get(json_object_get(object, key), i));
}

static void figures_are_consistent(void **state)
{
    (void)state;
    char json[256], svg[256];
    size_t n;
    strcpy(json, test_temporary("analysis.json"));
    strcpy(svg, test_temporary("analysis.svg"));
    result r = RUN("analyze", "-m", model, "-d", draft, "-n", "60", "--temp", "1", "--json", json, "--svg", svg,
                   "--threads", "1");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "Best: k = "));
    result_free(&r);
    json_t *o = json_of(json);
    const json_t *texts = json_object_get(o, "texts"), *all = json_object_get(o, "all");
    double sum = 0, tokens = 0;
    assert_int_equal(json_array_size(texts), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *text = json_array_get(texts, i);
        sum += real(text, "r") * real(text, "tokens");
        tokens += real(text, "tokens");
    }
    assert_true(fabs(real(all, "r") - sum / tokens) < 1e-9);
    assert_true(real(all, "r") > 0.3 && real(all, "r") < 0.99);
    assert_true(fabs(item(o, "r_at_place", 0) - real(all, "r")) < 1e-9);
    assert_true(item(o, "tokens_per_cycle", 0) == 1 && item(o, "tokens_per_cycle_same_r", 0) == 1);
    const int64_t best = whole(o, "best_k");
    for (size_t k = 0; k <= 16; k++) {
        const double seconds = item(o, "pass_seconds", k) + (double)k * real(o, "draft_seconds");
        const double speedup = item(o, "tokens_per_cycle", k) * item(o, "pass_seconds", 0) / seconds;
        assert_true(fabs(item(o, "speedup", k) / speedup - 1) < 1e-9);
        assert_true(item(o, "speedup", k) <= item(o, "speedup", (size_t)best));
        if (k > 0) assert_true(item(o, "tokens_per_cycle", k) >= item(o, "tokens_per_cycle", k - 1) - 1e-9);
    }
    json_decref(o);
    char *text = read_whole(svg, &n);
    assert_int_equal(strncmp(text, "<svg xmlns=", 11), 0);
    assert_null(strstr(strstr(text, "<g class=\"i1\""), "nan")); /* the heading before it names a random folder */
    assert_null(strstr(text, "<script"));
    assert_non_null(strstr(text, "prefers-color-scheme:dark"));
    assert_non_null(strstr(text, "1.00\xc3\x97 plain decoding"));
    assert_non_null(strstr(text, "target: model.gguf, "));
    assert_non_null(strstr(text, " UTC<"));
    free(text);
}

/* A model that drafts for itself has p = q. */
static void a_model_agrees_with_itself(void **state)
{
    (void)state;
    char json[256], text[256];
    strcpy(json, test_temporary("itself.json"));
    strcpy(text, test_temporary("itself.txt"));
    write_whole(text, "one two three four five six seven eight nine ten one two three four five six seven", 82);
    result r = RUN("analyze", "-m", model, "-d", model, "--text", text, "--ctx", "40", "--chunks", "1", "--temp", "1.3",
                   "--json", json);
    assert_int_equal(r.status, 0);
    result_free(&r);
    json_t *o = json_of(json);
    assert_true(fabs(real(json_object_get(o, "all"), "r") - 1) < 1e-5);
    assert_int_equal(whole(json_object_get(o, "all"), "tokens"), 39);
    assert_true(fabs(item(o, "tokens_per_cycle", 4) - 39.0 / 8) < 1e-3); /* the last cycle ends one token early */
    json_decref(o);
}

/* The default is greedy, as in `vouch run`. The entropy bins use the target's own entropy, so they are the same for
 * each temperature and still separate tokens at temperature 0. */
static void greedy_entropy_is_that_of_the_model(void **state)
{
    (void)state;
    static const char *const temperatures[] = {NULL, "0", "1", "0.4"};
    static const char words[] = "one two three four five six seven eight nine ten one two three four five six seven";
    char json[256], text[256];
    double entropy[4] = {0}, last[4] = {0};
    strcpy(json, test_temporary("greedy.json"));
    strcpy(text, test_temporary("greedy.txt"));
    write_whole(text, words, sizeof words - 1);
    for (size_t i = 0; i < 4; i++) {
        const char *arguments[] = {"analyze",       "-m", model,    "-d", draft,
                                   "--text",        text, "--json", json, temperatures[i] ? "--temp" : NULL,
                                   temperatures[i], NULL};
        expect(run_as(&(setting){0}, "vouch", arguments), 0, NULL);
        json_t *o = json_of(json);
        const json_t *all = json_object_get(o, "all"), *bins = json_object_get(o, "entropies");
        entropy[i] = real(all, "entropy");
        last[i] = real(json_array_get(bins, 7), "to");
        assert_true(real(json_array_get(bins, 0), "to") < last[i]);
        if (i < 2) {
            assert_true(real(o, "temperature") == 0);
            assert_true(real(all, "r") == real(all, "agree") && real(all, "r") == real(all, "argmax"));
        }
        json_decref(o);
    }
    for (size_t i = 1; i < 4; i++) assert_true(entropy[i] == entropy[0] && last[i] == last[0] && entropy[0] > 1);
}

/* An answer of one token leaves no room for a guess, so the report states no acceptance rate. The report prints a
 * category name of more than 40 bytes in full. */
static void short_texts_give_no_rate(void **state)
{
    (void)state;
    static const char name[] = "a category of \xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f and of more than forty bytes Q-12";
    char json[256], path[256], line[256];
    strcpy(json, test_temporary("one.json"));
    strcpy(path, test_temporary("one.jsonl"));
    const int n =
        snprintf(line, sizeof line, "{\"category\": \"%.*s\", \"task_id\": \"Q-12\", \"prompt\": \"one two\"}\n",
                 (int)strlen(name) - 5, name);
    write_whole(path, line, (size_t)n);
    result r = RUN("analyze", "-m", model, "-d", draft, "--prompts", path, "-n", "1", "--json", json);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "Best: unknown. No text has 2 tokens"));
    result_free(&r);
    json_t *o = json_of(json);
    const json_t *text = json_array_get(json_object_get(o, "texts"), 0);
    assert_true(json_is_null(json_object_get(o, "best_k")));
    assert_true(json_is_null(json_array_get(json_object_get(o, "speedup"), 1)));
    assert_string_equal(json_string_value(json_object_get(text, "name")), name);
    assert_null(json_object_get(text, "from"));
    assert_true(json_is_number(json_object_get(json_array_get(json_object_get(o, "positions"), 0), "to")));
    json_decref(o);
}

/* By default, as in `vouch run`, answers end at the context length that the model was trained for. Prompts that
 * leave no room are skipped. */
static void answers_end_with_the_context(void **state)
{
    (void)state;
    enum { N_CTX = 60 };
    char small[256], json[256], path[256], lines[1000] = "one two\n";
    strcpy(small, test_temporary("small.gguf"));
    strcpy(json, test_temporary("small.json"));
    strcpy(path, test_temporary("small.txt"));
    tiny_model_write(small, &(tiny_model_options){.n_ctx = N_CTX, .seed = 1});
    for (int i = 0; i < 100; i++) strcat(lines, "three ");
    write_whole(path, lines, strlen(lines));
    expect(RUN("analyze", "-m", small, "-d", small, "--raw", "--prompts", path, "-n", "1000000", "--ignore-eos",
               "--json", json),
           0, ": line 2 is left out: ");
    json_t *o = json_of(json);
    assert_int_equal(json_array_size(json_object_get(o, "texts")), 1);
    const int64_t n = whole(json_object_get(o, "all"), "tokens");
    assert_true(n > N_CTX / 2 && n < N_CTX);
    json_decref(o);
    write_whole(path, lines + 8, strlen(lines + 8));
    expect(RUN("analyze", "-m", small, "-d", small, "--raw", "--prompts", path), 1,
           "no prompt fits into the context: the model was trained for");
}

static void wrong_usage_is_named(void **state)
{
    (void)state;
    char other[256], tiny[256];
    strcpy(other, test_temporary("other.gguf"));
    strcpy(tiny, test_temporary("tiny.txt"));
    tiny_model_write(other, &(tiny_model_options){.seed = 1, .vocab_seed = 9});
    write_whole(tiny, "", 0);
    expect(RUN("analyze", "-m", model), 2, "--draft-model FILE is missing");
    expect(RUN("analyze", "-m", model, "-d", draft, "--text", "x", "--prompts", "y"), 2, "exclude each other");
    expect(RUN("analyze", "-m", model, "-d", draft, "--chunks", "3"), 2, "--chunks has no effect without --text");
    expect(RUN("analyze", "-m", model, "-d", draft, "-n", "0"), 2, "in [1, 2147483647]");
    expect(RUN("analyze", "-m", model, "-d", other), 1, "--draft-model: ");
    expect(RUN("analyze", "-m", model, "-d", draft, "--text", tiny), 1, "fewer than 2 tokens");
    expect(RUN("analyze", "-m", model, "-d", draft, "--text", "/nowhere/at/all"), 2, "--text: /nowhere/at/all");
    if (has_full_disk())
        expect(RUN("analyze", "-m", model, "-d", draft, "-n", "4", "--svg", "/dev/full"), 1, "No space left");
    expect(RUN("analyze", "-m", model, "-d", draft, "-n", "4", "--json", "/nowhere/at/all"), 2, "--json: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acceptance_of_two_rows),
        cmocka_unit_test(cycles_are_those_of_a_simulation),
        cmocka_unit_test(tokens_per_cycle_never_fall_with_k),
        cmocka_unit_test(draft_positions_are_of_all_texts_together),
        cmocka_unit_test(few_rounds_give_no_bad_verdict),
        cmocka_unit_test(tails_and_quantiles),
        cmocka_unit_test(all_counts_are_summed),
        cmocka_unit_test(probabilities_are_processed_logits),
        cmocka_unit_test(figures_are_consistent),
        cmocka_unit_test(a_model_agrees_with_itself),
        cmocka_unit_test(greedy_entropy_is_that_of_the_model),
        cmocka_unit_test(short_texts_give_no_rate),
        cmocka_unit_test(answers_end_with_the_context),
        cmocka_unit_test(wrong_usage_is_named),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
