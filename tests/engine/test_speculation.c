/* SPDX-License-Identifier: MIT */
/*
 * Laws L2 and L3 through the C API, on tiny models. With every drafter and draft length, greedy text equals plain
 * decoding byte for byte. After every step the caches and drafters are in the state that plain decoding leaves.
 */
#include <math.h>
#include <string.h>

#include "draft/bridge.h"
#include "draft/compose.h"
#include "draft/paid/model.h"
#include "draft/free/ngram.h"
#include "draft/free/recycle.h"
#include "draft/free/suffix.h"
#include "engine/file/model.h"
#include "engine/session.h"
#include "support/decode/answer.h"
#include "support/decode/draft.h"
#include "support/sanitized.h"
#include "support/model/sequence.h"
#include "support/model/tiny_vocab.h"

enum { PROMPT = 24, LENGTH = 48 };

/* A target and its draft models: a copy, one with little noise, one with much. The last target has only 24 tokens
 * and no tokenizer, so that n-grams and bad draft models also guess right now and then. */
typedef struct family {
    vouch_model *target, *same, *near, *far;
    vouch_draft_memory *memory; /* of the target */
    int32_t n_vocab;
} family;
enum { N_FAMILIES = 3 };
static family families[N_FAMILIES];

static const vouch_kv_type kv_types[] = {VOUCH_KV_F16, VOUCH_KV_Q8_0, VOUCH_KV_Q4_0, VOUCH_KV_F32};

static int families_open(void **state)
{
    (void)state;
    static const tiny_model_options targets[N_FAMILIES] = {
        {.seed = 1, .head_dim = 32},
        {.seed = 2, .arch = "qwen3", .type = VOUCH_TYPE_Q8_0, .tied = true, .n_vocab = 391, .head_dim = 32},
        {.seed = 3, .type = VOUCH_TYPE_Q4_1, .n_vocab = 24, .n_embd = 32, .n_heads = 2, .head_dim = 32},
    };
    for (int i = 0; i < N_FAMILIES; i++) {
        tiny_model_options options = targets[i];
        families[i].target = tiny_model_open(&options);
        families[i].same = tiny_model_open(&options);
        if (vouch_draft_memory_open(&families[i].memory, families[i].target, NULL, 1 << 16, NULL)) return -1;
        families[i].n_vocab = vouch_model_get_info(families[i].target)->n_vocab;
        options.noise = 0.03f;
        families[i].near = tiny_model_open(&options);
        options.noise = 1;
        options.n_layers = 1;
        families[i].far = tiny_model_open(&options);
    }
    return 0;
}

static int families_close(void **state)
{
    (void)state;
    for (int i = 0; i < N_FAMILIES; i++) {
        vouch_draft_memory_close(families[i].memory);
        vouch_model_close(families[i].target);
        vouch_model_close(families[i].same);
        vouch_model_close(families[i].near);
        vouch_model_close(families[i].far);
    }
    return 0;
}

static vouch_session_options options_plain(void)
{
    vouch_session_options options = vouch_session_options_default();
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    options.n_ctx = PROMPT + 2 * LENGTH;
    options.n_threads = 1;
    options.max_tokens = LENGTH;
    options.ignore_eos = true;
    return options;
}

/* ------------------------------------------------------------------ law L2 */

/* Drafters: n-grams, draft models by increasing noise, and test drafters by how often they are right. */
typedef enum who { NGRAM, SAME, NEAR, FAR, RIGHT, HALF_RIGHT, WRONG, JUNK, N_DRAFTERS } who;

/* The free drafters. */
static const unsigned sources[] = {VOUCH_DRAFTER_NGRAM, VOUCH_DRAFTER_SUFFIX, VOUCH_DRAFTER_RECYCLE,
                                   VOUCH_DRAFTER_PREDICTION, VOUCH_DRAFTER_HISTORY};
enum { N_SOURCES = sizeof sources / sizeof *sources };

/* Sets options->speculation for the drafter. */
static void drafter_choose(vouch_session_options *options, who which, const family *f, oracle *o)
{
    vouch_speculation *spec = &options->speculation;
    static const uint32_t error_percent[N_DRAFTERS] = {[HALF_RIGHT] = 30, [WRONG] = 100};
    spec->draft_model = which == SAME ? f->same : which == NEAR ? f->near : which == FAR ? f->far : NULL;
    spec->drafters = which == NGRAM      ? VOUCH_DRAFTER_NGRAM
                     : spec->draft_model ? VOUCH_DRAFTER_MODEL
                                         : VOUCH_DRAFTER_CUSTOM;
    if (spec->n_draft == 0) spec->n_draft = 4; /* otherwise pace would choose by measured time */
    o->error_percent = error_percent[which];
    o->n_vocab = f->n_vocab;
    if (spec->drafters == VOUCH_DRAFTER_CUSTOM)
        spec->custom = which == JUNK ? junk_drafter(&o->random) : oracle_drafter(o);
}

/* Compares an answer of every drafter at each draft length in `depths` with the plain answer. Adds up accepted and
 * drafted guesses. */
static void check_drafters(const family *f, vouch_session_options options, const int32_t *prompt, int32_t n_prompt,
                           const int32_t *depths, int n_depths, int64_t accepted[N_DRAFTERS],
                           int64_t drafted[N_DRAFTERS])
{
    static answer plain, other;
    int32_t sequence[ANSWER_MAX + PROMPT];
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    answer_run(&plain, f->target, &options, prompt, n_prompt);
    memcpy(sequence, prompt, (size_t)n_prompt * sizeof *prompt);
    memcpy(sequence + n_prompt, plain.tokens, (size_t)plain.n * sizeof *prompt);
    oracle o = {.tokens = sequence, .n = n_prompt + plain.n, .random = {9}};
    for (who which = 0; which < N_DRAFTERS; which++)
        for (int d = 0; d < n_depths; d++) {
            drafter_choose(&options, which, f, &o);
            options.speculation.n_draft = depths[d];
            options.n_threads = 1 + (d + (int)which) % 3;
            answer_run(&other, f->target, &options, prompt, n_prompt);
            assert_true(answer_equal(&plain, &other));
            accepted[which] += other.stats.accepted;
            drafted[which] += other.stats.drafted;
            if (which == SAME || which == RIGHT) assert_int_equal(other.stats.accepted, other.stats.drafted);
            if (which == WRONG) assert_int_equal(other.stats.accepted, 0);
        }
}

static void sweep_greedy(const int32_t *depths, int n_depths, int n_prompts)
{
    int64_t accepted[N_DRAFTERS] = {0}, drafted[N_DRAFTERS] = {0};
    for (int i = 0; i < N_FAMILIES; i++)
        for (int p = 0; p < n_prompts; p++) {
            static const int32_t chunks[] = {256, 1, 7, 3};
            vouch_session_options options = options_plain();
            int32_t prompt[PROMPT];
            const int32_t n_prompt = p == 0 ? PROMPT : p == 1 ? 1 : 5 * p;
            answer_prompt(prompt, n_prompt, families[i].n_vocab, (uint64_t)p, p == 0);
            options.prefill_chunk = chunks[(i + p) % 4];
            options.kv_type = kv_types[(i + p) % 4];
            check_drafters(&families[i], options, prompt, n_prompt, depths, n_depths, accepted, drafted);
        }
    /* Shows that the drafters differed in quality. */
    assert_true(accepted[SAME] > accepted[NEAR] && accepted[NEAR] > accepted[FAR] && accepted[FAR] > 0);
    assert_true(accepted[NGRAM] > 0 && accepted[HALF_RIGHT] > accepted[WRONG] && drafted[JUNK] > 0);
}

static void greedy_text_is_the_same_with_every_drafter(void **state)
{
    (void)state;
    const int32_t depths[] = {1, 3, 4, 16};
    sweep_greedy(depths, 4, test_is_quick() ? 1 : 2);
}

static void greedy_text_is_the_same_at_every_depth(void **state)
{
    (void)state;
    test_skip_slow();
    const int32_t depths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 33, 64};
    sweep_greedy(depths, 18, TEST_SANITIZED ? 1 : 2);
}

/* Generates one greedy answer twice with free drafters that know part of it: the first answer is in the draft memory,
 * and the prediction is half right. Returns the number of accepted guesses. */
static int64_t check_sources(const family *f, const vouch_session_options *given, const int32_t *prompt,
                             const answer *plain)
{
    static answer got;
    vouch_session_options own = *given, *options = &own;
    own.speculation.draft_memory = f->memory;
    vouch_session *session = answer_open(f->target, options);
    const unsigned drafters = options->speculation.drafters;
    int64_t accepted = 0;
    if (drafters & VOUCH_DRAFTER_PREDICTION && vouch_model_get_info(f->target)->n_vocab >= TINY_MERGES)
        assert_int_equal(vouch_session_predict(session, plain->text, plain->n_text / 2, NULL), VOUCH_OK);
    for (int round = 0; round < 2; round++) {
        vouch_session_set_seed(session, options->sampling.seed);
        answer_continue(&got, session, prompt, PROMPT);
        assert_true(answer_equal(plain, &got));
        accepted = got.stats.accepted;
    }
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        assert_true(got.stats.accepted_by[i] <= got.stats.drafted_by[i]);
        assert_true(got.stats.drafted_by[i] == 0 || drafters >> i & 1);
    }
    vouch_session_close(session);
    return accepted;
}

static void sweep_sources(unsigned drafters, const int32_t *sizes, int n_sizes, int64_t *accepted)
{
    static answer plain;
    int32_t prompt[PROMPT];
    for (int i = 0; i < N_FAMILIES; i++) {
        vouch_session_options options = options_plain();
        answer_prompt(prompt, PROMPT, families[i].n_vocab, 1, true);
        answer_run(&plain, families[i].target, &options, prompt, PROMPT);
        for (int k = 0; k < n_sizes; k++)
            for (int32_t branches = 1; branches <= 4; branches += 3) {
                options.speculation = (vouch_speculation){.drafters = drafters,
                                                          .n_draft = sizes[k],
                                                          .tree_branches = branches,
                                                          .tree_depth = branches == 1 ? 0 : 1 + sizes[k] / 2,
                                                          .ngram_min = 1,
                                                          .ngram_max = 3,
                                                          .lenience = 1,
                                                          .draft_memory = families[i].memory};
                options.n_threads = 1 + k % 3;
                *accepted += check_sources(&families[i], &options, prompt, &plain);
            }
    }
}

static void greedy_text_is_the_same_with_every_source(void **state)
{
    (void)state;
    const int32_t few[] = {3, 8}, many[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    for (int i = 0; i < N_SOURCES; i++) {
        int64_t accepted = 0;
        if (test_is_quick() || TEST_SANITIZED) sweep_sources(sources[i], few, 2, &accepted);
        else sweep_sources(sources[i], many, 16, &accepted);
        assert_true(accepted > 0);
    }
}

static void greedy_text_is_the_same_with_every_two_sources(void **state)
{
    (void)state;
    const int32_t size[] = {7, 16, 1};
    for (int i = 0; i < N_SOURCES; i++)
        for (int j = 0; j < i; j++) {
            int64_t accepted = 0;
            if (test_is_quick() && (i + j) % 2 == 0) continue; /* every second pair */
            sweep_sources(sources[i] | sources[j], size, test_is_quick() ? 1 : 3, &accepted);
            assert_true(accepted > 0);
        }
}

/* A draft model and free drafters share one tree. Some guesses come from the model, some from others, some from
 * both. */
static void greedy_text_is_the_same_with_a_model_among_sources(void **state)
{
    (void)state;
    static answer plain, got;
    const bool quick = test_is_quick() || TEST_SANITIZED;
    int64_t by_model = 0, by_others = 0, all = 0;
    int32_t prompt[PROMPT];
    for (int i = 0; i < N_FAMILIES; i++)
        for (int j = 0; j < N_SOURCES; j++)
            for (int32_t k = quick ? 7 + i % 2 : 1; k <= 16; k += quick ? 16 : 1) {
                vouch_session_options options = options_plain();
                answer_prompt(prompt, PROMPT, families[i].n_vocab, 1, true);
                answer_run(&plain, families[i].target, &options, prompt, PROMPT);
                options.speculation =
                    (vouch_speculation){.drafters = VOUCH_DRAFTER_MODEL | sources[j],
                                        .draft_model = (j + k) % 2 ? families[i].near : families[i].far,
                                        .n_draft = k,
                                        .tree_branches = k % 4,
                                        .ngram_min = 1,
                                        .ngram_max = 3,
                                        .lenience = 1,
                                        .draft_memory = families[i].memory};
                check_sources(&families[i], &options, prompt, &plain);
                answer_run(&got, families[i].target, &options, prompt, PROMPT);
                by_model += got.stats.drafted_by[1];
                for (int bit = 2; bit < VOUCH_DRAFTERS; bit++) by_others += got.stats.drafted_by[bit];
                all += got.stats.drafted;
                options.speculation.n_draft = 0;
                options.speculation.tree_branches = 0; /* pace chooses */
                answer_run(&got, families[i].target, &options, prompt, PROMPT);
                assert_true(answer_equal(&plain, &got));
            }
    assert_true(by_model > 0 && by_others > 0 && by_model < all && by_model + by_others > all);
}

/* digests [n + 1]: the memory's digest after 0, 1, 2, ... tokens, each run in its own pass. */
static void digests_of(const vouch_model *model, vouch_kv_type kv_type, const int32_t *tokens, int32_t n,
                       uint64_t *digests)
{
    vouch_pool *pool;
    vouch_sequence s;
    const vouch_sequence_options options = {.n_ctx = n, .max_rows = 1, .max_logits = 1, .kv_type = kv_type};
    assert_int_equal(vouch_pool_open(&pool, 1, NULL), VOUCH_OK);
    assert_int_equal(vouch_sequence_open(&s, model->weights, pool, &options, NULL), VOUCH_OK);
    for (int32_t i = 0; i <= n; i++) {
        digests[i] = vouch_memory_digest(s.memory);
        if (i < n) vouch_pass_chain(s.pass, s.memory, &tokens[i], 1, 0);
    }
    vouch_sequence_close(&s);
    vouch_pool_close(pool);
}

/* Trees of a draft model: after a cycle the draft model's cache holds the committed tokens and no guesses. Returns the
 * number of accepted guesses. */
static int64_t check_draft_tree(const family *f, const vouch_session_options *options, const int32_t *prompt)
{
    static uint64_t target[PROMPT + LENGTH + 1], draft[PROMPT + LENGTH + 1];
    static answer plain;
    size_t before = PROMPT, after = 0;
    vouch_session_options without = *options;
    without.speculation.drafters = VOUCH_DRAFTER_NONE;
    answer_run(&plain, f->target, &without, prompt, PROMPT);
    vouch_session *session = answer_open(f->target, options);
    assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
    int64_t n_branches = 0;
    int32_t tokens[PROMPT + LENGTH];
    memcpy(tokens, prompt, sizeof(int32_t) * PROMPT);
    memcpy(tokens + PROMPT, plain.tokens, sizeof(int32_t) * LENGTH);
    digests_of(f->target, options->kv_type, tokens, PROMPT + LENGTH, target);
    digests_of(options->speculation.draft_model, options->kv_type, tokens, PROMPT + LENGTH, draft);
    for (vouch_step step = {0}; step.finish == VOUCH_FINISH_NONE; before = after) {
        vouch_drafters *d = vouch_session_get_drafters(session);
        assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
        const int32_t *got = vouch_session_tokens(session, &after);
        assert_memory_equal(got, tokens, after * sizeof *got);
        assert_true(vouch_memory_digest(vouch_session_target(session)) == target[after - 1]);
        if (step.n_guesses > 0)
            assert_true(d->paid.ops->digest(d->paid.self) == draft[before < after ? before : after - 1]);
        int32_t n_children[VOUCH_MAX_DRAFT + 1] = {0};
        for (int32_t g = 0; g < step.n_guesses; g++) {
            n_branches += step.guesses[g].parent != g - 1;
            assert_true(++n_children[step.guesses[g].parent + 1] <= options->speculation.tree_branches);
            assert_true(step.guesses[g].depth < options->speculation.tree_depth);
        }
        assert_in_range(step.n_guesses, 0, options->speculation.n_draft);
    }
    vouch_session_close(session);
    return n_branches;
}

static void greedy_text_is_the_same_with_draft_trees(void **state)
{
    (void)state;
    const bool quick = test_is_quick() || TEST_SANITIZED;
    int64_t n_branches = 0;
    for (int i = 0; i < N_FAMILIES; i++)
        for (int32_t k = quick ? 6 : 1; k <= 16; k += quick ? 10 : 1)
            for (int32_t branches = 2; branches <= 9; branches += 1 + branches % 3) {
                vouch_session_options options = options_plain();
                const vouch_model *const drafts[] = {families[i].near, families[i].same, families[i].far};
                options.speculation = (vouch_speculation){.drafters = VOUCH_DRAFTER_MODEL,
                                                          .draft_model = drafts[(branches + k) % 3],
                                                          .n_draft = k,
                                                          .tree_branches = branches,
                                                          .tree_depth = 1 + k / 2,
                                                          .lenience = 1,
                                                          .ngram_min = 2,
                                                          .ngram_max = 4};
                options.kv_type = kv_types[(i + branches) % 4];
                options.sampling.penalty_window = k;
                options.sampling.repeat_penalty = 1.2f;
                int32_t prompt[PROMPT];
                answer_prompt(prompt, PROMPT, families[i].n_vocab, (uint64_t)k, true);
                n_branches += check_draft_tree(&families[i], &options, prompt);
            }
    assert_true(n_branches > 0);
}

/* Pace chooses the number of guesses. */
static void greedy_text_is_the_same_with_paced_draft_trees(void **state)
{
    (void)state;
    static answer plain, got;
    int32_t prompt[PROMPT];
    for (int i = 0; i < N_FAMILIES; i++)
        for (int32_t branches = 2; branches <= 9; branches += 3) {
            vouch_session_options options = options_plain();
            answer_prompt(prompt, PROMPT, families[i].n_vocab, 7, true);
            answer_run(&plain, families[i].target, &options, prompt, PROMPT);
            options.speculation.drafters = VOUCH_DRAFTER_MODEL;
            options.speculation.draft_model = families[i].near;
            options.speculation.tree_branches = branches;
            answer_run(&got, families[i].target, &options, prompt, PROMPT);
            assert_true(answer_equal(&plain, &got));
            assert_true(got.stats.predicted_tokens > 0);
        }
}

/* A draft model with another token table is refused, or lossless if the caller allows it. Its cache then holds the
 * committed text in its own tokens. */
static void greedy_text_is_the_same_over_a_bridge(void **state)
{
    (void)state;
    enum { MOST = 8 * (PROMPT + LENGTH), N_HEAD = 120 };
    static answer plain, got;
    static uint64_t digests[MOST + 1];
    const vouch_model *target = families[0].target;
    int64_t drafted = 0;
    for (uint64_t seed = 2; seed < 5; seed++) {
        vouch_model *draft = tiny_model_open(&(tiny_model_options){
            .n_vocab = 280 + 60 * (int32_t)seed, .vocab_seed = seed, .n_layers = 1});
        vouch_session *session = NULL;
        vouch_bridge *b;
        vouch_error err;
        int32_t prompt[PROMPT], spelled[MOST], offsets[PROMPT + LENGTH + 1] = {0}, tokens[PROMPT + LENGTH];
        answer_prompt(prompt, PROMPT, families[0].n_vocab, seed, true);
        vouch_session_options options = options_plain();
        answer_run(&plain, target, &options, prompt, PROMPT);
        memcpy(tokens, prompt, sizeof prompt);
        memcpy(tokens + PROMPT, plain.tokens, sizeof *tokens * LENGTH);
        assert_int_equal(vouch_bridge_open(&b, target->tokenizer, families[0].n_vocab, draft->tokenizer,
                                           vouch_model_get_info(draft)->n_vocab, NULL),
                         VOUCH_OK);
        for (int32_t i = 0; i < PROMPT + LENGTH; i++) {
            offsets[i + 1] = offsets[i];
            for (int32_t j = b->first[tokens[i]]; j < b->first[tokens[i] + 1]; j++)
                spelled[offsets[i + 1]++] = b->pieces[j];
        }
        vouch_bridge_close(b);
        digests_of(draft, VOUCH_KV_F16, spelled, offsets[PROMPT + LENGTH], digests);
        options.speculation.drafters = VOUCH_DRAFTER_MODEL;
        options.speculation.draft_model = draft;
        options.prefill_chunk = 3;
        assert_int_equal(vouch_session_open(&session, target, &options, &err), VOUCH_E_MISMATCH);
        options.speculation.allow_vocab_mismatch = true;
        int32_t head[N_HEAD];
        for (int32_t i = 0; i < N_HEAD; i++) head[i] = TINY_BYTES + 2 * i;
        options.speculation.draft_vocab = head;
        for (int32_t k = 1; k <= 16; k += test_is_quick() ? 6 : 1) {
            options.speculation.n_draft = k;
            options.speculation.tree_branches = 1 + k % 3;
            options.speculation.tree_depth = 1 + k / 2;
            options.speculation.n_draft_vocab = k % 2 ? 0 : N_HEAD;
            session = answer_open(target, &options);
            vouch_drafters *d = vouch_session_get_drafters(session);
            assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
            for (vouch_step step = {0}; step.finish == VOUCH_FINISH_NONE;) {
                size_t n;
                assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
                vouch_session_tokens(session, &n);
                const uint64_t digest = d->paid.ops->digest(d->paid.self);
                bool is_known = step.n_guesses == 0;
                for (size_t i = PROMPT; i < n; i++) is_known |= digest == digests[offsets[i]];
                assert_true(is_known);
            }
            answer_continue(&got, session, prompt, PROMPT);
            assert_true(answer_equal(&plain, &got));
            drafted += got.stats.drafted;
            vouch_session_close(session);
        }
        vouch_model_close(draft);
    }
    assert_true(drafted > 0);
}

/* The samplers beside top-k, top-p and min-p. */
enum { TYPICAL, SIGMA, XTC, DRY, ALL_SAMPLERS, N_SAMPLERS };

static void set_sampler(vouch_sampling *s, int i, int32_t n_vocab)
{
    const bool all = i == ALL_SAMPLERS;
    if (i == TYPICAL || all) s->typical_p = 0.8f;
    if (i == SIGMA || all) s->top_n_sigma = 2;
    if (i == XTC || all) s->xtc_probability = 0.6f;
    if (i == XTC || all) s->xtc_threshold = 0.02f;
    if (i != DRY && !all) return;
    s->dry_multiplier = 4;
    s->dry_allowed_length = 0;
    s->dry_penalty_last_n = all ? 30 : INT32_MAX;
    if (n_vocab < TINY_MERGES) s->n_dry_sequence_breakers = 0; /* no tokenizer */
}

/* Penalties, DRY and bias treat accepted guesses like tokens of plain decoding. */
static void penalties_and_bias_see_the_same_history(void **state)
{
    (void)state;
    const vouch_logit_bias bias[] = {{3, 4.0f}, {7, 6.0f}, {9, -1e30f}, {11, -__builtin_inff()}, {3, 1.0f}};
    const int32_t depths[] = {2, 9};
    int64_t accepted[N_DRAFTERS] = {0}, drafted[N_DRAFTERS] = {0};
    static answer with, without;
    for (int i = 0; i < N_FAMILIES; i++)
        for (int32_t window = 1; window <= 27; window += 26) {
            vouch_session_options options = options_plain();
            int32_t prompt[PROMPT];
            answer_prompt(prompt, PROMPT, families[i].n_vocab, 5, true);
            answer_run(&without, families[i].target, &options, prompt, PROMPT);
            options.sampling.repeat_penalty = 1.4f;
            options.sampling.frequency_penalty = 0.7f;
            options.sampling.presence_penalty = 0.9f;
            options.sampling.penalty_window = window;
            options.sampling.bias = bias;
            options.sampling.n_bias = 5;
            answer_run(&with, families[i].target, &options, prompt, PROMPT);
            assert_false(answer_equal(&with, &without));
            for (int32_t j = 0; j < with.n; j++) assert_int_not_equal(with.tokens[j], 11);
            check_drafters(&families[i], options, prompt, PROMPT, depths, 2, accepted, drafted);
            options = options_plain();
            set_sampler(&options.sampling, ALL_SAMPLERS, families[i].n_vocab);
            answer_run(&with, families[i].target, &options, prompt, PROMPT);
            assert_false(answer_equal(&with, &without)); /* by DRY: the others leave greedy text as it is */
            check_drafters(&families[i], options, prompt, PROMPT, depths, 2, accepted, drafted);
        }
    assert_true(accepted[NEAR] > 0 && accepted[NGRAM] > 0);
}

/* ---------------------------------------------------------------- sampling */

static vouch_session_options options_sampled(uint64_t seed)
{
    vouch_session_options options = options_plain();
    options.sampling.temperature = 0.9f;
    options.sampling.top_k = 40;
    options.sampling.top_p = 0.95f;
    options.sampling.seed = seed;
    return options;
}

/* A seed reproduces an answer for any number of threads, prefill chunk and instruction set. */
static void a_seed_reproduces_an_answer(void **state)
{
    (void)state;
    static answer first, again;
    for (int i = 0; i < N_FAMILIES; i++)
        for (int draft = 0; draft < 3; draft++) {
            vouch_session_options options = options_sampled(41);
            oracle o;
            int32_t prompt[PROMPT];
            answer_prompt(prompt, PROMPT, families[i].n_vocab, 2, true);
            if (draft) drafter_choose(&options, draft == 1 ? NEAR : NGRAM, &families[i], &o);
            answer_run(&first, families[i].target, &options, prompt, PROMPT);
            options.n_threads = 3;
            options.prefill_chunk = 5;
            options.expected_acceptance = true;
            answer_run(&again, families[i].target, &options, prompt, PROMPT);
            assert_true(answer_equal(&first, &again));
            assert_int_equal(first.stats.accepted, again.stats.accepted);
            options.sampling.seed++;
            answer_run(&again, families[i].target, &options, prompt, PROMPT);
            assert_false(answer_equal(&first, &again));
        }
}

/* ------------------------------------------------------------------- rules */

enum {
    ALL_SOURCES = VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE | VOUCH_DRAFTER_PREDICTION |
                  VOUCH_DRAFTER_HISTORY
};

/* Checks one answer under a rule with every drafter, and with all free drafters together, as trees if the rule judges
 * trees. Returns the number of accepted guesses. */
static int64_t check_rule(const family *f, vouch_session_options options, vouch_accept accept)
{
    static answer plain;
    int64_t accepted[N_DRAFTERS] = {0}, drafted[N_DRAFTERS] = {0};
    int32_t prompt[PROMPT];
    const int32_t depths[] = {5, 11};
    answer_prompt(prompt, PROMPT, f->n_vocab, 3, true);
    options.speculation.accept = accept;
    check_drafters(f, options, prompt, PROMPT, depths, test_is_quick() ? 1 : 2, accepted, drafted);
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    answer_run(&plain, f->target, &options, prompt, PROMPT);
    options.speculation.drafters = ALL_SOURCES;
    options.speculation.tree_branches = accept == VOUCH_ACCEPT_BLOCK ? 1 : 4;
    accepted[NEAR] += check_sources(f, &options, prompt, &plain);
    options.speculation.drafters |= VOUCH_DRAFTER_MODEL;
    options.speculation.draft_model = f->near;
    return check_sources(f, &options, prompt, &plain) + accepted[NEAR];
}

static void greedy_text_is_the_same_under_each_rule(void **state)
{
    (void)state;
    for (int i = 0; i < N_FAMILIES; i++)
        for (int accept = 0; accept < VOUCH_ACCEPTS; accept++)
            assert_true(check_rule(&families[i], options_plain(), (vouch_accept)accept) > 0);
}

/* Under match and coupled, sampled text also equals that of a session without drafts, for each sampling parameter. */
static void sampled_text_is_the_same_whatever_drafts(void **state)
{
    (void)state;
    enum { PLAIN, TOP_K, TOP_P, MIN_P, PENALTIES, BIAS, ALL, EACH_SAMPLER, N_CONFIGS = EACH_SAMPLER + N_SAMPLERS };
    const vouch_logit_bias bias[] = {{3, 4.0f}, {11, -__builtin_inff()}};
    for (int config = test_is_quick() ? ALL : PLAIN; config < N_CONFIGS; config++)
        for (int i = config % 2; i < N_FAMILIES; i += 2) {
            vouch_session_options options = options_plain();
            vouch_sampling *s = &options.sampling;
            s->temperature = 0.8f;
            s->seed = 5 + (uint64_t)config;
            if (config == TOP_K || config == ALL) s->top_k = 30;
            if (config == TOP_P || config == ALL) s->top_p = 0.9f;
            if (config == MIN_P || config == ALL) s->min_p = 0.02f;
            if (config == PENALTIES || config == ALL) s->repeat_penalty = 1.3f;
            if (config == PENALTIES || config == ALL) s->frequency_penalty = 0.4f;
            if (config == BIAS || config == ALL) s->bias = bias;
            if (config == BIAS || config == ALL) s->n_bias = 2;
            set_sampler(s, config == ALL ? ALL_SAMPLERS : config - EACH_SAMPLER, families[i].n_vocab);
            check_rule(&families[i], options, VOUCH_ACCEPT_MATCH);
            check_rule(&families[i], options, VOUCH_ACCEPT_COUPLED);
        }
}

/* A draft model that equals the target has q = p, so all of its guesses are accepted: XTC's draw is the same for both,
 * and DRY sees the same history. Each sampler changes the text. */
static void a_copy_of_the_target_is_always_accepted(void **state)
{
    (void)state;
    static answer plain, got;
    for (int sampler = TYPICAL; sampler < N_SAMPLERS; sampler++) {
        int n_changed = 0;
        for (int way = 0; way < 4 * VOUCH_ACCEPTS; way++) {
            const family *f = &families[(way + sampler) % N_FAMILIES];
            vouch_session_options options = options_plain();
            int32_t prompt[PROMPT];
            answer_prompt(prompt, PROMPT, f->n_vocab, (uint64_t)way, true);
            options.sampling.temperature = 0.9f;
            options.sampling.seed = (uint64_t)way;
            options.speculation.accept = (vouch_accept)(way / 4);
            answer_run(&plain, f->target, &options, prompt, PROMPT);
            set_sampler(&options.sampling, sampler, f->n_vocab);
            options.speculation.drafters = VOUCH_DRAFTER_MODEL;
            options.speculation.draft_model = f->same;
            options.speculation.n_draft = 5;
            const bool is_tree = way % 2 && options.speculation.accept != VOUCH_ACCEPT_BLOCK;
            if (is_tree) options.speculation.tree_branches = 2;
            options.speculation.draft_sampling = way % 4 < 2 ? VOUCH_DRAFT_SAMPLE : VOUCH_DRAFT_GREEDY;
            answer_run(&got, f->target, &options, prompt, PROMPT);
            if (options.speculation.accept == VOUCH_ACCEPT_MATCH) n_changed += !answer_equal(&got, &plain);
            assert_true(got.stats.accepted > 0);
            if (way % 4 < 2 && !is_tree) assert_int_equal(got.stats.accepted, got.stats.drafted);
        }
        assert_true(n_changed > 0);
    }
}

/* Without drafts, all rules but coupled give the same text. With drafts, rejection and block give another text, so the
 * test above can fail. Coupled, where target and draft model share the noise of a race, accepts more than match, where
 * they share one number. */
static void rules_differ_where_they_should(void **state)
{
    (void)state;
    static answer plain[VOUCH_ACCEPTS], drafted[VOUCH_ACCEPTS];
    int64_t accepted[VOUCH_ACCEPTS] = {0};
    oracle o;
    for (int i = 0; i < 8; i++) {
        const family *f = &families[i % 2];
        int32_t prompt[PROMPT];
        answer_prompt(prompt, PROMPT, f->n_vocab, (uint64_t)i, true);
        for (int accept = 0; accept < VOUCH_ACCEPTS; accept++) {
            vouch_session_options options = options_sampled(30 + (uint64_t)i);
            options.speculation.accept = (vouch_accept)accept;
            answer_run(&plain[accept], f->target, &options, prompt, PROMPT);
            drafter_choose(&options, NEAR, f, &o);
            answer_run(&drafted[accept], f->target, &options, prompt, PROMPT);
            accepted[accept] += drafted[accept].stats.accepted;
            assert_int_equal(answer_equal(&plain[accept], &plain[0]), accept != VOUCH_ACCEPT_COUPLED);
            assert_int_equal(answer_equal(&plain[accept], &drafted[accept]),
                             accept == VOUCH_ACCEPT_MATCH || accept == VOUCH_ACCEPT_COUPLED);
        }
    }
    assert_true(accepted[VOUCH_ACCEPT_COUPLED] > accepted[VOUCH_ACCEPT_MATCH]);
}

/* Lenience may change between steps, and the statistics count lenient cycles. A rule without lenience refuses it. */
static void lenience_changes_between_steps(void **state)
{
    (void)state;
    static answer plain, got;
    vouch_session_options options = options_sampled(8);
    vouch_error err;
    oracle o;
    int32_t prompt[PROMPT];
    answer_prompt(prompt, PROMPT, families[0].n_vocab, 6, false);
    options.speculation.accept = VOUCH_ACCEPT_REJECTION;
    drafter_choose(&options, NEAR, &families[0], &o);
    answer_run(&plain, families[0].target, &options, prompt, PROMPT);
    assert_int_equal(plain.stats.lenient_cycles, 0);
    vouch_session *session = answer_open(families[0].target, &options);
    assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
    vouch_step step = {0};
    for (int i = 0; step.finish == VOUCH_FINISH_NONE; i++) {
        const double lenience = i % 2 ? 0.25 : 1;
        const int64_t before = vouch_session_stats(session)->lenient_cycles;
        assert_int_equal(vouch_session_set_lenience(session, lenience, &err), VOUCH_OK);
        assert_int_equal(vouch_session_set_lenience(session, i % 3 ? 0 : NAN, &err), VOUCH_E_ARGUMENT);
        assert_non_null(strstr(err.message, "lenience is "));
        assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
        assert_true(step.lenience == lenience && step.accept == VOUCH_ACCEPT_REJECTION);
        for (int32_t g = 0; g < step.n_guesses && step.guesses[g].verdict != VOUCH_NOT_REACHED; g++) {
            const double chance = step.guesses[g].p / (lenience * step.guesses[g].q);
            assert_true(step.guesses[g].accept == (chance < 1 ? chance : 1));
        }
        assert_int_equal(vouch_session_stats(session)->lenient_cycles - before, i % 2 && step.n_guesses > 0);
    }
    assert_int_equal(vouch_session_set_lenience(session, 1, NULL), VOUCH_OK);
    vouch_session_set_seed(session, options.sampling.seed);
    answer_continue(&got, session, prompt, PROMPT);
    assert_true(answer_equal(&got, &plain)); /* with lenience 1 again, the answer is lossless */
    vouch_session_close(session);
    for (int accept = VOUCH_ACCEPT_MATCH; accept < VOUCH_ACCEPTS; accept++) {
        options.speculation.accept = (vouch_accept)accept;
        session = answer_open(families[0].target, &options);
        assert_int_equal(vouch_session_set_lenience(session, 0.5, &err), VOUCH_E_ARGUMENT);
        assert_non_null(strstr(err.message, vouch_accept_name(accept)));
        assert_int_equal(vouch_session_set_lenience(session, 1, &err), VOUCH_OK);
        vouch_session_close(session);
    }
}

/* A draft model equal to the target has p = q, and every guess is accepted, sampled or greedy. More noise lowers the
 * acceptance rate. */
static void acceptance_falls_with_noise(void **state)
{
    (void)state;
    static answer got;
    const tiny_model_options target = {.seed = 8};
    const float noises[] = {0, 0.02f, 0.1f, 1};
    vouch_model *model = tiny_model_open(&target);
    for (int sampled = 0; sampled < 2; sampled++) {
        double previous = 2;
        for (int i = 0; i < 4; i++) {
            tiny_model_options noisy = target;
            noisy.noise = noises[i];
            vouch_model *draft = tiny_model_open(&noisy);
            vouch_session_options options = sampled ? options_sampled(3) : options_plain();
            options.n_ctx = options.max_tokens = 400;
            options.expected_acceptance = true;
            options.speculation.drafters = VOUCH_DRAFTER_MODEL;
            options.speculation.draft_model = draft;
            options.speculation.n_draft = 5;
            int32_t prompt[4] = {9, 10, 11, 12};
            answer_run(&got, model, &options, prompt, 4);
            const double rate = (double)got.stats.accepted / (double)got.stats.drafted;
            const double expected = got.stats.expected_acceptance_sum / (double)got.stats.judged;
            const double reached = (double)got.stats.accepted / (double)got.stats.judged;
            if (i == 0) {
                assert_int_equal(got.stats.accepted, got.stats.drafted);
                assert_true(expected > 1 - 1e-9 && expected < 1 + 1e-9);
            }
            if (sampled) assert_true(reached > expected - 0.15 && reached < expected + 0.15);
            assert_true(rate < previous && (i < 3 || rate < 0.05));
            previous = rate;
            vouch_model_close(draft);
        }
    }
    vouch_model_close(model);
}

/* Lenience raises the acceptance rate. */
static void lenience_accepts_more(void **state)
{
    (void)state;
    static answer exact, lenient;
    vouch_session_options options = options_sampled(5);
    oracle o;
    int32_t prompt[PROMPT];
    int64_t more = 0;
    for (int i = 0; i < N_FAMILIES; i++) {
        answer_prompt(prompt, PROMPT, families[i].n_vocab, 6, false);
        drafter_choose(&options, NEAR, &families[i], &o);
        options.speculation.lenience = 1;
        answer_run(&exact, families[i].target, &options, prompt, PROMPT);
        options.speculation.lenience = 0.2;
        answer_run(&lenient, families[i].target, &options, prompt, PROMPT);
        more += lenient.stats.accepted * 1000 / lenient.stats.judged - exact.stats.accepted * 1000 / exact.stats.judged;
    }
    assert_true(more > 0);
}

/* A greedy draft of a sampled answer: guesses are point masses. */
static void greedy_drafts_of_a_sampled_answer(void **state)
{
    (void)state;
    static answer first, again;
    vouch_session_options options = options_sampled(15);
    oracle o;
    int32_t prompt[PROMPT];
    answer_prompt(prompt, PROMPT, families[0].n_vocab, 6, false);
    drafter_choose(&options, SAME, &families[0], &o);
    answer_run(&first, families[0].target, &options, prompt, PROMPT);
    assert_int_equal(first.stats.accepted, first.stats.drafted);
    options.speculation.draft_sampling = VOUCH_DRAFT_GREEDY;
    answer_run(&again, families[0].target, &options, prompt, PROMPT);
    assert_true(again.stats.accepted > 0 && again.stats.accepted < again.stats.drafted);
}

/* ------------------------------------------------------------------ law L3 */

/* Token counts around a step, and the digests of both caches after it. */
typedef struct snapshot {
    int32_t n_before, n_after;
    uint64_t target, draft;
} snapshot;

static int take_snapshots(vouch_session *session, snapshot *shots)
{
    vouch_step step = {0};
    int n = 0;
    while (step.finish == VOUCH_FINISH_NONE) {
        size_t before, after;
        vouch_session_tokens(session, &before);
        assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
        vouch_session_tokens(session, &after);
        vouch_drafters *d = vouch_session_get_drafters(session);
        const vouch_drafter_ref *part = d->paid.ops ? &d->paid : &d->free;
        shots[n++] = (snapshot){.n_before = (int32_t)before,
                                .n_after = (int32_t)after,
                                .target = vouch_memory_digest(vouch_session_target(session)),
                                .draft = part->ops && part->ops->digest ? part->ops->digest(part->self) : 0};
    }
    return n;
}

/* After a step the target's cache holds all tokens but the last. After a full acceptance the draft model's cache
 * lacks one more, because its last guess was never fed to it. Near the end of the context it may lack more. */
static void check_snapshots(const family *f, const vouch_session_options *options, who which)
{
    static snapshot shots[LENGTH];
    static uint64_t target[PROMPT + LENGTH + 1], draft[PROMPT + LENGTH + 1];
    int32_t prompt[PROMPT];
    answer_prompt(prompt, PROMPT, f->n_vocab, 77, true);
    vouch_session *session = answer_open(f->target, options);
    assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
    const int n = take_snapshots(session, shots);
    size_t n_tokens;
    const int32_t *tokens = vouch_session_tokens(session, &n_tokens);
    digests_of(f->target, options->kv_type, tokens, (int32_t)n_tokens, target);
    const bool is_model = which >= SAME && which <= FAR;
    if (is_model) digests_of(options->speculation.draft_model, options->kv_type, tokens, (int32_t)n_tokens, draft);
    for (int i = 0; i < n; i++) {
        const snapshot *shot = &shots[i];
        assert_true(shot->target == target[shot->n_after - 1]);
        if (i == n - 1) continue; /* the last cycle may have no room for a guess */
        if (is_model) assert_true(shot->draft == draft[shot->n_after - 1] || shot->draft == draft[shot->n_after - 2]);
    }
    assert_false(target[n_tokens - 1] == target[n_tokens - 2]);
    vouch_session_close(session);
}

static void caches_are_those_of_plain_decoding(void **state)
{
    (void)state;
    for (int i = 0; i < N_FAMILIES; i++)
        for (who which = 0; which < N_DRAFTERS; which++)
            for (int way = 0; way < 2 * VOUCH_ACCEPTS; way++) {
                const int sampled = way % 2;
                vouch_session_options options = sampled ? options_sampled(6) : options_plain();
                options.speculation.accept = (vouch_accept)(way / 2);
                int32_t nothing[1] = {0};
                oracle o = {.tokens = nothing, .n = 1, .random = {4}};
                drafter_choose(&options, which, &families[i], &o);
                options.speculation.n_draft = 1 + 3 * (i + sampled);
                options.kv_type = kv_types[(i + (int)which + way) % 4];
                options.sampling.repeat_penalty = 1.1f;
                set_sampler(&options.sampling, ALL_SAMPLERS, families[i].n_vocab);
                check_snapshots(&families[i], &options, which);
            }
}

/* Opens a session with an earlier answer in a memory of its own, a prediction if it takes one, and a prompt. */
static vouch_session *open_with_past(const vouch_model *model, const vouch_session_options *given,
                                     vouch_draft_memory **memory, const int32_t *prompt)
{
    static const char text[] = "now and again and again and now";
    static answer past;
    vouch_session_options own = *given, *options = &own;
    assert_int_equal(vouch_draft_memory_open(memory, model, NULL, 1 << 16, NULL), VOUCH_OK);
    own.speculation.draft_memory = *memory;
    vouch_session *session = answer_open(model, options);
    if (options->speculation.drafters & VOUCH_DRAFTER_PREDICTION && vouch_model_get_info(model)->n_vocab >= TINY_MERGES)
        assert_int_equal(vouch_session_predict(session, text, sizeof text - 1, NULL), VOUCH_OK);
    answer_continue(&past, session, prompt, PROMPT / 2);
    assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
    return session;
}

/* digests [n + 1]: the drafters' digest after each token of an answer without drafts. */
static void plain_digests_of(const vouch_model *model, const vouch_session_options *options, const int32_t *tokens,
                             int32_t n, uint64_t *digests)
{
    static float logits[LENGTH * 400];
    const size_t n_vocab = (size_t)vouch_model_get_info(model)->n_vocab;
    vouch_draft_memory *memory;
    vouch_session *session = open_with_past(model, options, &memory, tokens);
    vouch_drafters *d = vouch_session_get_drafters(session);
    vouch_session_options plain = *options;
    plain.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_session *looking = answer_open(model, &plain);
    assert_int_equal(vouch_session_prompt(looking, tokens, (size_t)n, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_logits(looking, PROMPT - 1, n - PROMPT, logits, NULL), VOUCH_OK);
    for (int32_t i = PROMPT; i < n; i++) {
        const vouch_seen row = {.n_tokens = i, .logits = logits + (size_t)(i - PROMPT) * n_vocab};
        vouch_drafters_see(d, tokens, &row);
        vouch_drafters_rewind(d, i); /* as a cycle does that commits token i */
        vouch_drafters_observe(d, tokens, i + 1);
        digests[i + 1] = vouch_drafters_digest(d);
        assert_true(digests[i + 1] != digests[i]);
    }
    vouch_session_close(looking);
    vouch_session_close(session);
    vouch_draft_memory_close(memory);
}

/* The digest of the draft model's cache, as the next draft finds it. 0 without a draft model. */
static uint64_t draft_digest(const vouch_drafters *drafters, const int32_t *tokens, size_t n)
{
    const vouch_drafter_ref *paid = &drafters->paid;
    if (!paid->ops) return 0;
    draft_follow(paid, tokens, (int32_t)n);
    return paid->ops->digest(paid->self);
}

/* After each step, both caches and the drafters are in the state that plain decoding of the same tokens leaves. Returns
 * the number of guesses that begin a new branch of a tree. */
static int check_drafter_state(const vouch_model *model, const vouch_session_options *options, const int32_t *prompt)
{
    static uint64_t cache[PROMPT + LENGTH + 1], draft[PROMPT + LENGTH + 1], drafter[PROMPT + LENGTH + 1];
    static struct {
        size_t n;
        uint64_t cache, draft, drafter;
    } shots[LENGTH];
    vouch_draft_memory *memory;
    vouch_session *session = open_with_past(model, options, &memory, prompt);
    vouch_drafters *d = vouch_session_get_drafters(session);
    int n_branches = 0, n = 0;
    size_t n_tokens;
    const int32_t *tokens = NULL;
    for (vouch_step step = {0}; step.finish == VOUCH_FINISH_NONE; n++) {
        assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
        tokens = vouch_session_tokens(session, &shots[n].n);
        vouch_drafters_observe(d, tokens, (int32_t)shots[n].n); /* as at the start of the next cycle */
        shots[n].cache = vouch_memory_digest(vouch_session_target(session));
        shots[n].draft = draft_digest(d, tokens, shots[n].n);
        shots[n].drafter = vouch_drafters_digest(d);
        for (int32_t g = 0; g < step.n_guesses; g++) n_branches += step.guesses[g].parent != g - 1;
    }
    vouch_session_tokens(session, &n_tokens);
    digests_of(model, options->kv_type, tokens, (int32_t)n_tokens, cache);
    const bool drafts = options->speculation.drafters & VOUCH_DRAFTER_MODEL;
    if (drafts) digests_of(options->speculation.draft_model, options->kv_type, tokens, (int32_t)n_tokens, draft);
    plain_digests_of(model, options, tokens, (int32_t)n_tokens, drafter);
    for (int i = 0; i < n; i++) {
        assert_true(shots[i].cache == cache[shots[i].n - 1]);
        assert_true(shots[i].draft == (drafts ? draft[shots[i].n - 1] : 0));
        assert_true(shots[i].drafter == drafter[shots[i].n]);
    }
    vouch_session_close(session);
    vouch_draft_memory_close(memory);
    return n_branches;
}

/* Law L3 under each rule, with all free drafters. */
static void drafters_equal_plain_decoding_under_each_rule(void **state)
{
    (void)state;
    for (int accept = 0; accept < VOUCH_ACCEPTS; accept++)
        for (int i = 0; i < 2 * N_FAMILIES; i++) {
            vouch_session_options options = i % 2 ? options_sampled(6) : options_plain();
            options.kv_type = kv_types[(accept + i) % 4];
            options.speculation.accept = (vouch_accept)accept;
            options.speculation.drafters = ALL_SOURCES;
            options.speculation.n_draft = 5 + 2 * i;
            options.speculation.tree_branches = accept == VOUCH_ACCEPT_BLOCK ? 0 : 1 + i % 4;
            int32_t prompt[PROMPT];
            answer_prompt(prompt, PROMPT, families[i / 2].n_vocab, 77, true);
            const int n_branches = check_drafter_state(families[i / 2].target, &options, prompt);
            if (accept == VOUCH_ACCEPT_BLOCK) assert_int_equal(n_branches, 0);
        }
}

/* Law L3 for caches, free drafters and the statistics learned about them: each free drafter, every pair, and all;
 * chains and trees; with and without a draft model. */
static void drafters_equal_plain_decoding(void **state)
{
    (void)state;
    const bool quick = test_is_quick() || TEST_SANITIZED;
    int n_branches = 0;
    for (int a = 0; a < N_SOURCES; a++)
        for (int b = a; b <= N_SOURCES; b++)
            for (int32_t k = quick ? 5 : 1; k <= 16; k += quick ? 11 : 1) {
                const int i = (a + b + k) % N_FAMILIES;
                vouch_session_options options = (a + k) % 2 ? options_sampled(6) : options_plain();
                options.speculation.drafters = b == N_SOURCES ? (unsigned)ALL_SOURCES : sources[a] | sources[b];
                options.speculation.n_draft = k;
                options.speculation.tree_branches = 1 + (b + k) % 4;
                if ((a + b + k) % 2) options.speculation.drafters |= VOUCH_DRAFTER_MODEL;
                options.speculation.draft_model = families[i].near;
                int32_t prompt[PROMPT];
                answer_prompt(prompt, PROMPT, families[i].n_vocab, 77, true);
                n_branches += check_drafter_state(families[i].target, &options, prompt);
            }
    assert_true(n_branches > 0);
}

/* Only four tokens are allowed, so that the judge often accepts a free guess beside the draft model's. The draft
 * model's cache must then hold the free guess. */
static void a_draft_models_cache_follows_other_accepted_guesses(void **state)
{
    (void)state;
    enum { LEFT = 4 };
    vouch_logit_bias bans[400];
    for (int i = 0; i < N_FAMILIES; i++)
        for (uint64_t seed = 0; seed < 8; seed++) {
            vouch_session_options options = options_plain();
            options.sampling.temperature = 1;
            options.sampling.seed = seed;
            options.sampling.bias = bans;
            for (int32_t t = 0; t < families[i].n_vocab - LEFT; t++)
                bans[options.sampling.n_bias++] = (vouch_logit_bias){.token = t, .bias = -INFINITY};
            options.speculation.drafters =
                VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE;
            options.speculation.draft_model = families[i].near;
            options.speculation.n_draft = 8;
            int32_t prompt[PROMPT];
            answer_prompt(prompt, PROMPT, families[i].n_vocab, seed, true);
            check_drafter_state(families[i].target, &options, prompt);
        }
}

/* The digest differs for sequences that differ in one token or in order. */
static void digests_tell_tokens_apart(void **state)
{
    (void)state;
    const int32_t a[] = {1, 2, 3, 4}, b[] = {1, 2, 4, 3}, c[] = {1, 2, 3, 5};
    uint64_t of_a[5], of_b[5], of_c[5];
    digests_of(families[0].target, VOUCH_KV_F16, a, 4, of_a);
    digests_of(families[0].target, VOUCH_KV_F16, b, 4, of_b);
    digests_of(families[0].target, VOUCH_KV_F16, c, 4, of_c);
    assert_true(of_a[2] == of_b[2] && of_a[3] == of_c[3]);
    assert_false(of_a[3] == of_b[3] || of_a[4] == of_b[4] || of_a[4] == of_c[4]);
}

/* Reading logits and timing passes between steps changes neither text nor cache. */
static void reading_logits_leaves_no_trace(void **state)
{
    (void)state;
    static answer plain, watched;
    static float logits[(PROMPT + LENGTH) * 400], rows[5 * 400];
    for (int i = 0; i < 2; i++)
        for (who which = 0; which <= NEAR; which++) {
            vouch_session_options options = options_sampled(7);
            oracle o;
            int32_t prompt[PROMPT];
            test_random random = {(uint64_t)i};
            answer_prompt(prompt, PROMPT, families[i].n_vocab, 8, true);
            drafter_choose(&options, which, &families[i], &o);
            answer_run(&plain, families[i].target, &options, prompt, PROMPT);
            vouch_session *session = answer_open(families[i].target, &options);
            assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
            memset(&watched, 0, sizeof watched);
            vouch_step step = {0};
            while (step.finish == VOUCH_FINISH_NONE) {
                const uint64_t before = vouch_memory_digest(vouch_session_target(session));
                const vouch_stats stats = *vouch_session_stats(session);
                double seconds;
                size_t n;
                vouch_session_tokens(session, &n);
                const int32_t first = (int32_t)test_below(&random, (uint32_t)n), count = (int32_t)n - first;
                assert_int_equal(vouch_session_logits(session, first, count < 5 ? count : 5, rows, NULL), VOUCH_OK);
                assert_int_equal(vouch_session_logits(session, first, count, logits, NULL), VOUCH_OK);
                assert_memory_equal(logits, rows, (size_t)(count < 5 ? count : 5) * (size_t)families[i].n_vocab * 4);
                assert_int_equal(vouch_session_logits(session, first / 2, 1, rows, NULL), VOUCH_OK);
                assert_int_equal(vouch_session_time_pass(session, 1 + count % 9, 2, &seconds, NULL), VOUCH_OK);
                assert_true(seconds > 0 && seconds < 100);
                assert_true(before == vouch_memory_digest(vouch_session_target(session)));
                assert_memory_equal(&stats, vouch_session_stats(session), sizeof stats);
                assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
                memcpy(watched.tokens + watched.n, step.tokens, (size_t)step.n_tokens * sizeof *step.tokens);
                watched.n += step.n_tokens;
            }
            assert_int_equal(watched.n, plain.n);
            assert_memory_equal(watched.tokens, plain.tokens, (size_t)plain.n * sizeof *plain.tokens);
            vouch_session_close(session);
        }
}

/* A drafter without guesses, which keeps the hidden states that it is given. */
enum { N_EMBD = 64, MOST_STATES = PROMPT + LENGTH };

typedef struct keeper {
    int32_t n, n_given;                   /* positions it has; states it was given */
    float states[MOST_STATES][2][N_EMBD]; /* after the first layer and after the last one */
} keeper;

static vouch_draft keeper_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    (void)self, (void)tokens, (void)n_tokens, (void)shape;
    return (vouch_draft){0};
}

static int32_t keeper_taps(const void *self, const int32_t **layers)
{
    static int32_t ends[2];
    (void)self;
    ends[1] = vouch_model_get_info(families[0].target)->n_layers - 1;
    assert_true(ends[1] > 0);
    *layers = ends;
    return 2;
}

static void keeper_hidden(void *self, const int32_t *tokens, int32_t position, const float *const *states)
{
    keeper *k = self;
    (void)tokens;
    assert_int_equal(position, k->n);
    assert_in_range(position, 0, MOST_STATES - 1);
    for (int i = 0; i < 2; i++) memcpy(k->states[k->n][i], states[i], sizeof k->states[0][i]);
    k->n++;
    k->n_given++;
}

static void keeper_rewind(void *self, int32_t n_tokens)
{
    keeper *k = self;
    if (n_tokens < k->n) k->n = n_tokens;
}

static void keeper_close(void *self)
{
    (void)self;
}

/* Two answers. The second prompt is the beginning of the first one, and a look at logits stands between them. */
static void keeper_run(keeper *k, const vouch_session_options *options, const int32_t *prompt, answer *out)
{
    static const vouch_drafter_ops ops = {.name = "keeper",
                                          .bit = VOUCH_DRAFTER_CUSTOM,
                                          .propose = keeper_propose,
                                          .taps = keeper_taps,
                                          .hidden = keeper_hidden,
                                          .rewind = keeper_rewind,
                                          .close = keeper_close};
    static float logits[4 * 400];
    size_t n;
    vouch_session *session = answer_open(families[0].target, options);
    vouch_session_get_drafters(session)->paid = (vouch_drafter_ref){&ops, k};
    assert_int_equal(vouch_pass_open_tap(session->engine->pass, 0, NULL), VOUCH_OK);
    k->n = k->n_given = 0;
    answer_continue(out, session, prompt, PROMPT);
    vouch_session_tokens(session, &n);
    assert_int_equal(k->n, n - 1);
    assert_int_equal(k->n_given, n - 1);
    const int32_t given = k->n_given;
    assert_int_equal(vouch_session_logits(session, 3, 4, logits, NULL), VOUCH_OK); /* the target runs tokens again */
    answer_continue(out, session, prompt, PROMPT / 2);
    vouch_session_tokens(session, &n);
    assert_int_equal(k->n, n - 1);
    assert_int_equal(k->n_given - given, (int32_t)n - PROMPT / 2); /* reused positions weren't given again */
    vouch_session_close(session);
}

/* The states of committed positions, prompts included, are the same bits with speculation on and off. */
static void hidden_states_are_those_of_plain_decoding(void **state)
{
    (void)state;
    static keeper plain, guessed;
    static answer without, with;
    int32_t prompt[PROMPT];
    assert_int_equal(vouch_model_get_info(families[0].target)->n_embd, N_EMBD);
    answer_prompt(prompt, PROMPT, families[0].n_vocab, 12, true);
    for (int i = 0; i < 8; i++) {
        vouch_session_options options = i % 2 ? options_sampled(6) : options_plain();
        options.prefill_chunk = 1 + 3 * i;
        options.speculation.accept = VOUCH_ACCEPT_MATCH;
        options.speculation.drafters = VOUCH_DRAFTER_NONE;
        keeper_run(&plain, &options, prompt, &without);
        options.speculation.drafters = VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE;
        options.speculation.n_draft = 3 + i;
        options.speculation.tree_branches = 1 + i % 3;
        options.prefill_chunk = 1 + i;
        keeper_run(&guessed, &options, prompt, &with);
        assert_true(answer_equal(&without, &with) && with.stats.drafted > 0);
        assert_int_equal(plain.n, guessed.n);
        assert_memory_equal(plain.states, guessed.states, sizeof plain.states[0] * (size_t)plain.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_states_are_those_of_plain_decoding),
        cmocka_unit_test(greedy_text_is_the_same_with_every_drafter),
        cmocka_unit_test(greedy_text_is_the_same_at_every_depth),
        cmocka_unit_test(greedy_text_is_the_same_with_every_source),
        cmocka_unit_test(greedy_text_is_the_same_with_every_two_sources),
        cmocka_unit_test(greedy_text_is_the_same_with_a_model_among_sources),
        cmocka_unit_test(greedy_text_is_the_same_with_draft_trees),
        cmocka_unit_test(greedy_text_is_the_same_with_paced_draft_trees),
        cmocka_unit_test(greedy_text_is_the_same_over_a_bridge),
        cmocka_unit_test(penalties_and_bias_see_the_same_history),
        cmocka_unit_test(a_seed_reproduces_an_answer),
        cmocka_unit_test(greedy_text_is_the_same_under_each_rule),
        cmocka_unit_test(sampled_text_is_the_same_whatever_drafts),
        cmocka_unit_test(a_copy_of_the_target_is_always_accepted),
        cmocka_unit_test(rules_differ_where_they_should),
        cmocka_unit_test(lenience_changes_between_steps),
        cmocka_unit_test(acceptance_falls_with_noise),
        cmocka_unit_test(lenience_accepts_more),
        cmocka_unit_test(greedy_drafts_of_a_sampled_answer),
        cmocka_unit_test(caches_are_those_of_plain_decoding),
        cmocka_unit_test(drafters_equal_plain_decoding),
        cmocka_unit_test(a_draft_models_cache_follows_other_accepted_guesses),
        cmocka_unit_test(drafters_equal_plain_decoding_under_each_rule),
        cmocka_unit_test(digests_tell_tokens_apart),
        cmocka_unit_test(reading_logits_leaves_no_trace),
    };
    return cmocka_run_group_tests_name("speculation", tests, families_open, families_close);
}
