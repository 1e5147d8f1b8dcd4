/* SPDX-License-Identifier: MIT */
/*
 * Options of a session through its API: incompatible draft models, options out of range, limits, the registry of
 * drafters.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draft/compose.h"
#include "engine/options.h"
#include "engine/session.h"
#include "model/head/draft_table.h"
#include "support/decode/configs.h"

/* --------------------------------------------------------------------- pairs */

static void a_pair_with_unequal_tables_is_refused(void **state)
{
    (void)state;
    vouch_model *foreign = tiny_model_open(&(tiny_model_options){.vocab_seed = 5});
    vouch_model *longer = tiny_model_open(&(tiny_model_options){.n_vocab = N_VOCAB + 1});
    vouch_model *silent = tiny_model_open(&(tiny_model_options){.n_vocab = 40});
    vouch_model *quieter = tiny_model_open(&(tiny_model_options){.n_vocab = 41});
    int32_t first = 0;
    for (;; first++) {
        size_t n, m;
        const char *a = vouch_token_bytes(target, first, &n), *b = vouch_token_bytes(foreign, first, &m);
        if (n != m || memcmp(a, b, n) != 0) break;
    }
    char number[16];
    snprintf(number, sizeof number, " %d ", first);
    const struct {
        vouch_model *target, *draft;
        const char *says;
    } pairs[] = {{target, foreign, number}, {target, longer, "401"},         {longer, target, "400"},
                 {target, silent, "table"}, {silent, target, "token table"}, {silent, quieter, "41"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        vouch_error err;
        vouch_session *session = (vouch_session *)&err;
        vouch_session_options options = options_of(PLAIN, 3, NULL);
        options.speculation.drafters = i % 2 ? VOUCH_DRAFTER_AUTO : VOUCH_DRAFTER_MODEL;
        options.speculation.draft_model = pairs[i].draft;
        assert_int_equal(vouch_session_open(&session, pairs[i].target, &options, &err), VOUCH_E_MISMATCH);
        assert_null(session);
        assert_non_null(strstr(err.message, pairs[i].says));
        assert_int_equal(vouch_model_check_pair(pairs[i].target, pairs[i].draft, NULL), VOUCH_E_MISMATCH);
    }
    const int32_t heads[][3] = {{5, 6, -1}, {5, 6, N_VOCAB}, {5, 6, 5}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        vouch_error err;
        vouch_session *session = NULL;
        vouch_session_options options = options_of(PLAIN, 3, NULL);
        options.speculation.drafters = VOUCH_DRAFTER_MODEL;
        options.speculation.draft_model = near;
        options.speculation.draft_vocab = heads[i];
        options.speculation.n_draft_vocab = 3;
        assert_int_equal(vouch_session_open(&session, target, &options, &err), VOUCH_E_ARGUMENT);
        assert_non_null(strstr(err.message, "draft_vocab[2]"));
        options.speculation.draft_vocab = NULL;
        assert_int_equal(vouch_session_open(&session, target, &options, &err), VOUCH_E_ARGUMENT);
        assert_non_null(strstr(err.message, "draft_vocab is NULL"));
    }
    assert_int_equal(vouch_model_check_pair(target, near, NULL), VOUCH_OK);
    assert_int_equal(vouch_model_check_pair(silent, silent, NULL), VOUCH_OK);
    vouch_model_close(foreign);
    vouch_model_close(longer);
    vouch_model_close(silent);
    vouch_model_close(quieter);
}

/* The draft model may have a shorter context than the session or the prompt, and may be larger than the target. */
static void a_draft_model_may_be_shorter_or_larger(void **state)
{
    (void)state;
    static known k;
    static answer got;
    know(&k, 9);
    const tiny_model_options drafts[] = {{.seed = 21, .n_ctx = 35},
                                         {.seed = 21, .n_ctx = PROMPT},
                                         {.seed = 21, .n_ctx = 5},
                                         {.seed = 21, .n_ctx = 1},
                                         {.seed = 21, .n_layers = 4, .n_embd = 96, .n_ff = 200}};
    for (size_t i = 0; i < sizeof drafts / sizeof drafts[0]; i++) {
        vouch_model *draft = tiny_model_open(&drafts[i]);
        vouch_session_options options = options_of(MODEL, 5, NULL);
        options.ignore_eos = true;
        options.prefill_chunk = 7;
        options.speculation.draft_model = draft;
        answer_run(&got, target, &options, k.prompt, PROMPT);
        assert_true(answer_equal(&got, &k.plain));
        const int64_t drafted = got.stats.drafted;
        assert_true(i == 0 ? drafted > 0 && drafted <= 15 : i < 4 ? drafted == 0 : drafted > LENGTH);
        vouch_model_close(draft);
    }
}

/* ------------------------------------------------------------------- options */

static void assert_refused(const vouch_session_options *options, const char *says)
{
    vouch_session *session;
    vouch_error err = {0};
    const vouch_status status = vouch_session_open(&session, target, options, &err);
    if (status != VOUCH_E_ARGUMENT || !strstr(err.message, says)) fail_msg("%s: %d '%s'", says, status, err.message);
    assert_null(session);
}

/* Default options with one changed field must be refused, with a message that contains `says`. */
#define REFUSED(says, field, value)                                                                          \
    do {                                                                                                     \
        vouch_session_options options = vouch_session_options_default();                                     \
        options.n_threads = 1;                                                                               \
        options.field = (value);                                                                             \
        assert_refused(&options, says);                                                                      \
    } while (0)

static void options_out_of_range_are_named(void **state)
{
    (void)state;
    REFUSED("n_ctx is -1", n_ctx, -1);
    REFUSED("n_ctx is 1, must be 2", n_ctx, 1);
    REFUSED("n_ctx is 2000000000", n_ctx, 2000000000);
    REFUSED("prefill_chunk is -1", prefill_chunk, -1);
    REFUSED("prefill_chunk is 513", prefill_chunk, 513);
    REFUSED("kv_type", kv_type, (vouch_kv_type)4);
    REFUSED("max_tokens is -1", max_tokens, -1);
    REFUSED("threads", n_threads, -1);
    REFUSED("threads", n_threads, 1000);
    REFUSED("n_draft is -1", speculation.n_draft, -1);
    REFUSED("n_draft is 65", speculation.n_draft, VOUCH_MAX_DRAFT + 1);
    REFUSED("lenience is 0", speculation.lenience, 0);
    REFUSED("lenience is 1.5", speculation.lenience, 1.5);
    REFUSED("lenience is", speculation.lenience, NAN);
    REFUSED("accept is 7", speculation.accept, (vouch_accept)(VOUCH_ACCEPT_AUTO + 1));
    vouch_speculation contrary = vouch_speculation_default();
    contrary.accept = VOUCH_ACCEPT_BLOCK;
    contrary.tree_branches = 2;
    REFUSED("tree_branches is 2, must be 1 with the rule block", speculation, contrary);
    contrary.tree_branches = 1;
    contrary.lenience = 0.5;
    REFUSED("lenience is 0.5, must be 1 with the rule block", speculation, contrary);
    REFUSED("drafters", speculation.drafters, 1u << VOUCH_DRAFTERS);
    REFUSED("none can't be combined", speculation.drafters, VOUCH_DRAFTER_NONE | VOUCH_DRAFTER_NGRAM);
    REFUSED("drafters has draft,custom: expected one of them at most", speculation.drafters,
            VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_CUSTOM);
    REFUSED("tree_branches", speculation.tree_branches, -1);
    REFUSED("tree_depth", speculation.tree_depth, VOUCH_MAX_DRAFT + 1);
    REFUSED("draft model", speculation.drafters, VOUCH_DRAFTER_MODEL);
    REFUSED("a table; set its file", speculation.drafters, VOUCH_DRAFTER_TABLE);
    REFUSED("propose", speculation.drafters, VOUCH_DRAFTER_CUSTOM);
    REFUSED("ngram_min", speculation.ngram_min, 0);
    REFUSED("ngram_max", speculation.ngram_max, 17);
    REFUSED("draft_sampling", speculation.draft_sampling, (vouch_draft_sampling)3);
    REFUSED("temperature", sampling.temperature, -1);
    REFUSED("temperature", sampling.temperature, NAN);
    REFUSED("top_p", sampling.top_p, 0);
    REFUSED("min_p", sampling.min_p, 1);
    REFUSED("repeat_penalty", sampling.repeat_penalty, 0);
    static const char *const empty[] = {""}, *const broken[] = {"fine", "\xff"};
    vouch_session_options options = options_of(PLAIN, 0, NULL);
    options.n_stop = 1;
    options.stop = empty;
    assert_refused(&options, "stop");
    options.n_stop = 2;
    options.stop = broken;
    assert_refused(&options, "stop");
}

/* NULL options mean the defaults, and a session reports all facts about itself. */
static void a_session_describes_itself(void **state)
{
    (void)state;
    vouch_session *session;
    assert_int_equal(vouch_session_open(&session, target, NULL, NULL), VOUCH_OK);
    assert_string_equal(vouch_session_drafter(session), "ngram,suffix,recycle");
    assert_true(vouch_session_drafter_memory(session) > 100000 &&
                vouch_session_drafter_memory(session) < vouch_session_memory(session));
    assert_true(vouch_session_memory(session) > 100000);
    double seconds;
    assert_int_equal(vouch_session_time_pass(session, 1, 1, &seconds, NULL), VOUCH_E_ARGUMENT);
    vouch_session_close(session);
    vouch_session_close(NULL);
    static const char *const names[] = {"none", "draft", "custom", "ngram"};
    oracle o = {0};
    for (int config = 0; config < N_CONFIGS; config++) {
        const vouch_session_options options = options_of(config, 2, &o);
        session = answer_open(target, &options);
        assert_string_equal(vouch_session_drafter(session), names[config]);
        vouch_session_close(session);
    }
}

/* The smallest context has two positions: one for the prompt, one for the answer. By default a session has at least
 * these, even if the model was trained for fewer. */
static void the_smallest_context_holds_one_answer(void **state)
{
    (void)state;
    vouch_model *shortest = tiny_model_open(&(tiny_model_options){.seed = 21, .n_ctx = 1});
    const int32_t prompt[] = {50, 60};
    for (int32_t n_ctx = 0; n_ctx <= 2; n_ctx += 2) {
        vouch_session_options options = options_of(NGRAM, 4, NULL);
        options.n_ctx = n_ctx;
        options.ignore_eos = true;
        vouch_session *session = answer_open(shortest, &options);
        vouch_step step;
        assert_int_equal(vouch_session_prompt(session, prompt, 2, NULL), VOUCH_E_CONTEXT);
        assert_int_equal(vouch_session_prompt(session, prompt, 1, NULL), VOUCH_OK);
        assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
        assert_int_equal(step.n_tokens, 1);
        assert_int_equal(step.finish, VOUCH_FINISH_CONTEXT);
        vouch_session_close(session);
    }
    vouch_model_close(shortest);
}

/* Timed passes with the most rows, with one row too many, and with more rows than the context has left. */
static void a_timed_pass_has_limits(void **state)
{
    (void)state;
    static const int32_t limits[][2] = {{1, 16}, {15, 16}, {16, 17}, {VOUCH_MAX_DRAFT, VOUCH_MAX_DRAFT + 1}};
    const int32_t prompt[] = {50, 60, 70};
    double seconds;
    vouch_error err;
    oracle o = {0};
    vouch_session_options options;
    vouch_session *session;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        options = options_of(ORACLE, limits[i][0], &o);
        session = answer_open(target, &options);
        assert_int_equal(vouch_session_prompt(session, prompt, 3, NULL), VOUCH_OK);
        assert_int_equal(vouch_session_time_pass(session, limits[i][1], 1, &seconds, &err), VOUCH_OK);
        assert_int_equal(vouch_session_time_pass(session, limits[i][1] + 1, 1, &seconds, &err), VOUCH_E_ARGUMENT);
        assert_non_null(strstr(err.message, "n_draft"));
        vouch_session_close(session);
    }
    options = options_of(PLAIN, 0, NULL);
    options.n_ctx = 10;
    session = answer_open(target, &options);
    assert_int_equal(vouch_session_prompt(session, prompt, 3, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_time_pass(session, 8, 1, &seconds, &err), VOUCH_OK);
    assert_int_equal(vouch_session_time_pass(session, 9, 1, &seconds, &err), VOUCH_E_CONTEXT);
    vouch_session_close(session);
}

static void logits_outside_the_sequence_are_refused(void **state)
{
    (void)state;
    static float logits[3 * N_VOCAB];
    const vouch_session_options options = options_of(PLAIN, 0, NULL);
    vouch_session *session = answer_open(target, &options);
    const int32_t prompt[] = {50, 60, 70}, bad[][2] = {{-1, 1}, {0, 4}, {3, 1}, {4, 0}, {0, -1}, {2, INT32_MAX}};
    vouch_error err;
    assert_int_equal(vouch_session_prompt(session, prompt, 3, NULL), VOUCH_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(vouch_session_logits(session, bad[i][0], bad[i][1], logits, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_session_logits(session, 0, 3, logits, &err), VOUCH_OK);
    assert_int_equal(vouch_session_logits(session, 3, 0, logits, &err), VOUCH_OK);
    double seconds;
    assert_int_equal(vouch_session_time_pass(session, 0, 1, &seconds, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_session_time_pass(session, 1, 0, &seconds, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_session_time_pass(session, VOUCH_MAX_DRAFT + 2, 1, &seconds, &err), VOUCH_E_ARGUMENT);
    vouch_session_close(session);
}

/* ------------------------------------------------------------------ registry */

/* The registry gives each drafter the same name by its type, its source and its bit. */
static void the_registry_knows_each_drafter(void **state)
{
    (void)state;
    assert_null(vouch_drafter_name(-1));
    assert_null(vouch_drafter_name(VOUCH_DRAFTERS));
    assert_string_equal(vouch_drafter_name(0), "none");
    assert_string_equal(vouch_drafter_name(VOUCH_DRAFTER_NUMBER_CUSTOM), "custom");
    for (int i = 1; i < VOUCH_DRAFTERS; i++) {
        const vouch_drafter_info info = vouch_drafter_get_info(i);
        assert_string_equal(info.name, vouch_drafter_name(i));
        assert_true(info.summary && info.summary[0] && (info.is_paid || info.in_auto));
        if (info.is_paid) {
            assert_non_null(info.needs);
            continue;
        }
        vouch_session_options options = vouch_session_options_default();
        vouch_table_rows rows = {0};
        const vouch_draft_file table = {.drafter = VOUCH_DRAFTER_NUMBER_TABLE, .target = target, .content = &rows};
        vouch_draft_memory *memory;
        assert_int_equal(vouch_draft_memory_open(&memory, target, NULL, 1 << 16, NULL), VOUCH_OK);
        options.speculation.drafters = 1u << i;
        options.speculation.draft_memory = memory;
        options.speculation.files[VOUCH_DRAFTER_NUMBER_TABLE] = 1u << i == VOUCH_DRAFTER_TABLE ? &table : NULL;
        vouch_session *session = answer_open(target, &options);
        assert_string_equal(vouch_session_drafter(session), info.name);
        const vouch_source source = vouch_drafter_compose_source(vouch_session_get_drafters(session)->free, 1u << i);
        assert_string_equal(source.ops->name, info.name);
        vouch_session_close(session);
        vouch_draft_memory_close(memory);
    }
}

/* AUTO is the free drafters plus those that the caller's options provide, except a custom drafter. */
static void auto_takes_what_is_given(void **state)
{
    (void)state;
    const unsigned free = VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE;
    assert_int_equal(vouch_drafter_auto(0), free);
    assert_int_equal(vouch_drafter_auto(VOUCH_DRAFTER_MODEL), free | VOUCH_DRAFTER_MODEL);
    assert_int_equal(vouch_drafter_auto(VOUCH_DRAFTER_HISTORY | VOUCH_DRAFTER_CUSTOM), free | VOUCH_DRAFTER_HISTORY);
    vouch_session_options options = vouch_session_options_default();
    options.speculation.auto_with = VOUCH_DRAFTER_PREDICTION;
    options.speculation.draft_model = near;
    vouch_session *session = answer_open(target, &options);
    assert_string_equal(vouch_session_drafter(session), "draft,ngram,suffix,recycle,prediction");
    vouch_session_close(session);
}

static int32_t paid_branches(unsigned drafters, int32_t n_draft, int32_t tree_branches, vouch_draft_sampling sampling)
{
    const vouch_draft_file head = {.target = target};
    vouch_options_choice choice;
    vouch_session_options o = vouch_session_options_default();
    o.sampling.temperature = 0.8f;
    o.speculation.drafters = drafters;
    o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = &head;
    o.speculation.draft_model = near;
    o.speculation.n_draft = n_draft;
    o.speculation.tree_branches = tree_branches;
    o.speculation.draft_sampling = sampling;
    assert_int_equal(vouch_options_resolve(&o, &choice, target, NULL), VOUCH_OK);
    assert_int_equal(choice.is_paced, n_draft == 0);
    return choice.paid_branches;
}

/* Drawn guesses can't be taken back, so only likeliest ones make trees by themselves. */
static void heads_make_trees_where_pace_chooses(void **state)
{
    (void)state;
    const unsigned head = VOUCH_DRAFTER_HEAD | VOUCH_DRAFTER_NGRAM, model = VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_NGRAM;
    assert_int_equal(paid_branches(head, 0, 0, VOUCH_DRAFT_AUTO), 4);
    assert_int_equal(paid_branches(head, 0, 0, VOUCH_DRAFT_GREEDY), 4);
    assert_int_equal(paid_branches(VOUCH_DRAFTER_HEAD, 0, 0, VOUCH_DRAFT_GREEDY), 4);
    assert_int_equal(paid_branches(VOUCH_DRAFTER_HEAD, 0, 0, VOUCH_DRAFT_SAMPLE), 1);
    assert_int_equal(paid_branches(head, 0, 0, VOUCH_DRAFT_SAMPLE), 1);
    assert_int_equal(paid_branches(head, 5, 0, VOUCH_DRAFT_GREEDY), 1);
    assert_int_equal(paid_branches(model, 0, 0, VOUCH_DRAFT_GREEDY), 1);
    assert_int_equal(paid_branches(head, 5, 2, VOUCH_DRAFT_SAMPLE), 2);
    assert_int_equal(paid_branches(model, 0, 3, VOUCH_DRAFT_SAMPLE), 3);
}

static void rules_have_the_names_of_the_list(void **state)
{
    (void)state;
    for (int i = 0; i < VOUCH_ACCEPTS; i++)
        assert_string_equal(vouch_accept_name(i), vouch_rule_get((vouch_accept)i)->name);
    assert_string_equal(vouch_accept_name(VOUCH_ACCEPT_COUPLED), "coupled");
    assert_null(vouch_accept_name(VOUCH_ACCEPTS));
    assert_null(vouch_accept_name(-1));
}

/* -------------------------------------------------------------------- lengths */

/* Tokens that end answers come after min_tokens others at the earliest, with every drafter and rule; match and coupled
 * still give the text of plain decoding. The bias makes the end likely from the first token on. */
static void answers_have_their_fewest_tokens(void **state)
{
    (void)state;
    static known k;
    static answer got, plain;
    const vouch_logit_bias end = {vouch_model_get_info(target)->token_eos, 60};
    int n_early = 0, n_compared = 0;
    know(&k, 4);
    for (int i = 0; i < 60; i++) {
        const int config = i % N_CONFIGS;
        vouch_session_options options = options_of(PLAIN, 0, NULL);
        options.sampling.temperature = i % 3 ? 1.5f : 0;
        options.sampling.seed = (uint64_t)i;
        options.sampling.bias = &end;
        options.sampling.n_bias = 1;
        options.speculation.accept = (vouch_accept)(i / N_CONFIGS % VOUCH_ACCEPTS);
        answer_run(&plain, target, &options, k.prompt, PROMPT);
        n_early += plain.n < 10;
        options.min_tokens = i % 10;
        answer_run(&plain, target, &options, k.prompt, PROMPT);
        const vouch_session_options with = options_of(config, 4, &k.o);
        options.speculation.drafters = with.speculation.drafters;
        options.speculation.draft_model = with.speculation.draft_model;
        options.speculation.custom = with.speculation.custom;
        options.speculation.n_draft = 4;
        answer_run(&got, target, &options, k.prompt, PROMPT);
        assert_int_equal(got.finish, VOUCH_FINISH_EOS);
        assert_true(got.n > options.min_tokens); /* the end counts as a token */
        if (options.sampling.temperature == 0) assert_int_equal(got.n, options.min_tokens + 1);
        const bool is_same = options.speculation.accept == VOUCH_ACCEPT_MATCH ||
                             options.speculation.accept == VOUCH_ACCEPT_COUPLED || options.sampling.temperature == 0;
        if (is_same) assert_true(answer_equal(&got, &plain));
        n_compared += is_same;
    }
    assert_true(n_early > 40 && n_compared > 30);
    /* The chance of the end is 0 up to there and 1 after it. */
    static float p[3][N_VOCAB];
    vouch_session_options options = options_of(PLAIN, 0, NULL);
    options.sampling.bias = &end;
    options.sampling.n_bias = 1;
    options.min_tokens = 1;
    vouch_session *session = answer_open(target, &options);
    vouch_step step;
    assert_int_equal(vouch_session_prompt(session, k.prompt, PROMPT, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_probabilities(session, PROMPT - 1, 2, p[0], NULL), VOUCH_OK);
    assert_true(p[0][end.token] == 0 && p[1][end.token] == 1);
    vouch_session_close(session);
    /* A grammar that leaves nothing but the end, ends. */
    vouch_grammar *grammar = NULL;
    assert_int_equal(vouch_grammar_open(&grammar, VOUCH_GRAMMAR_GBNF, "root ::= \"a\"", 12, NULL), VOUCH_OK);
    options = options_of(PLAIN, 0, NULL);
    options.grammar = grammar;
    options.min_tokens = 9;
    answer_run(&got, target, &options, k.prompt, PROMPT);
    assert_int_equal(got.finish, VOUCH_FINISH_EOS);
    assert_int_equal(got.n_text, 1);
    vouch_grammar_close(grammar);
    vouch_error err;
    options.max_tokens = 8;
    assert_int_equal(vouch_session_check(target, &options, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "min_tokens"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_registry_knows_each_drafter),
        cmocka_unit_test(auto_takes_what_is_given),
        cmocka_unit_test(rules_have_the_names_of_the_list),
        cmocka_unit_test(heads_make_trees_where_pace_chooses),
        cmocka_unit_test(a_pair_with_unequal_tables_is_refused),
        cmocka_unit_test(a_draft_model_may_be_shorter_or_larger),
        cmocka_unit_test(options_out_of_range_are_named),
        cmocka_unit_test(answers_have_their_fewest_tokens),
        cmocka_unit_test(the_smallest_context_holds_one_answer),
        cmocka_unit_test(a_session_describes_itself),
        cmocka_unit_test(a_timed_pass_has_limits),
        cmocka_unit_test(logits_outside_the_sequence_are_refused),
    };
    return cmocka_run_group_tests_name("session options", tests, configs_open, configs_close);
}
