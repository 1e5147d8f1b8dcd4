/* SPDX-License-Identifier: MIT */
/*
 * The sampler turns logits into a distribution. These tests compare it, on random and extreme logits, with a simple
 * reference that sorts all tokens and computes in double. They also check the invariants that the judge relies on.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/sample.h"
#include "support/test.h"

/* ----------------------------------------------- a sampler and its buffers */

enum { N_CTX = 512 }; /* of the longest history */

typedef struct fixture {
    vouch_sampler sampler;
    vouch_dist dist;
    float *logits, *before; /* [n_vocab] */
    int32_t n_vocab;
    vouch_arena arena;
} fixture;

static void fixture_layout(fixture *m, const vouch_sampling *sampling, const vouch_kernels *kernels)
{
    vouch_sampler_layout(&m->sampler, sampling, m->n_vocab, N_CTX, kernels, &m->arena);
    vouch_dist_layout(&m->dist, m->n_vocab, &m->arena);
    m->logits = vouch_arena_take(&m->arena, (size_t)m->n_vocab, sizeof(float));
    m->before = vouch_arena_take(&m->arena, (size_t)m->n_vocab, sizeof(float));
}

static void fixture_open(fixture *m, int32_t n_vocab, const vouch_sampling *sampling, const vouch_kernels *kernels)
{
    *m = (fixture){.n_vocab = n_vocab};
    assert_int_equal(vouch_sampling_check(sampling, n_vocab, NULL), VOUCH_OK);
    fixture_layout(m, sampling, kernels);
    assert_int_equal(vouch_arena_allocate(&m->arena, "a test", NULL), VOUCH_OK);
    fixture_layout(m, sampling, kernels);
}

/* Turns m->logits into m->dist and checks that the logits stay unchanged. */
static vouch_status fixture_run(fixture *m, const int32_t *history, size_t n_history)
{
    memcpy(m->before, m->logits, (size_t)m->n_vocab * sizeof(float));
    const vouch_status status = vouch_dist_from_logits(&m->dist, &m->sampler, m->logits, history, n_history);
    for (int32_t x = 0; x < m->n_vocab; x++) assert_int_equal(m->sampler.count[x], 0); /* no counts are left */
    assert_memory_equal(m->before, m->logits, (size_t)m->n_vocab * sizeof(float));
    return status;
}

/* Invariants of every distribution. */
static void check_invariants(const vouch_dist *dist)
{
    double total = 0;
    int32_t n_positive = 0, next = 0;
    for (int32_t x = 0; x < dist->n_vocab; x++) {
        assert_true(dist->weight[x] >= 0 && dist->weight[x] <= 1);
        total += dist->weight[x];
        n_positive += dist->weight[x] > 0;
        if (dist->dense) continue;
        const bool listed = next < dist->n_support && dist->support[next] == x; /* ids ascend without duplicates */
        next += listed;
        assert_int_equal(listed, dist->weight[x] > 0);
    }
    assert_true(dist->total > 0 && fabs(total - dist->total) <= 1e-12 * total);
    assert_int_equal(dist->n_support, dist->dense ? dist->n_vocab : n_positive);
}

/* ------------------------------------------------------------ the reference */

typedef struct ranked {
    float logit; /* after bias and penalties, rounded to float as in the library */
    double weight;
    int32_t id;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->logit != y->logit ? (x->logit < y->logit ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static ranked *reference(const fixture *m, const int32_t *history, size_t n_history)
{
    const vouch_sampling *s = &m->sampler.params;
    ranked *r = calloc((size_t)m->n_vocab, sizeof *r);
    assert_non_null(r);
    for (int32_t x = 0; x < m->n_vocab; x++) r[x] = (ranked){m->logits[x], 0, x};
    for (size_t i = 0; i < s->n_bias; i++) r[s->bias[i].token].logit += s->bias[i].bias;
    const size_t window = (size_t)s->penalty_window < n_history ? (size_t)s->penalty_window : n_history;
    for (int32_t x = 0; x < m->n_vocab && window > 0; x++) {
        int32_t count = 0;
        for (size_t i = n_history - window; i < n_history; i++) count += history[i] == x;
        if (count == 0) continue;
        const double logit = r[x].logit;
        const double changed = (logit > 0 ? logit / s->repeat_penalty : logit * s->repeat_penalty) -
                               (double)s->frequency_penalty * count - s->presence_penalty;
        r[x].logit = (float)changed;
        if (isinf(r[x].logit) && isfinite(changed)) r[x].logit = copysignf(FLT_MAX, r[x].logit);
    }
    qsort(r, (size_t)m->n_vocab, sizeof *r, compare_ranked);
    for (int32_t i = 0; i < m->n_vocab; i++) r[i].weight = exp(((double)r[i].logit - r[0].logit) / s->temperature);
    return r;
}

/* Tolerances for float weights: the relative error of a weight (exp() and the rounding of its argument), and the size
 * below which a weight may become zero. */
static const double OFF = 4e-6, TINY = 2e-38;

/* The support must be the first tokens of the reference's ranking, ending where top-k, top-p or min-p cut it, within
 * the rounding of a weight. The weights must match the reference. */
static void check_against_reference(const fixture *m, const int32_t *history, size_t n_history)
{
    const vouch_sampling *s = &m->sampler.params;
    const vouch_dist *dist = &m->dist;
    check_invariants(dist);
    ranked *r = reference(m, history, n_history);
    int32_t n = 0, most = s->top_k > 0 && s->top_k < m->n_vocab ? s->top_k : m->n_vocab;
    while (n < m->n_vocab && dist->weight[r[n].id] > 0) n++;
    for (int32_t i = n; i < m->n_vocab; i++) assert_true(dist->weight[r[i].id] == 0);
    assert_true(n >= 1 && n <= most);

    double total = 0, kept = 0;
    for (int32_t i = 0; i < most; i++) total += r[i].weight;
    for (int32_t i = 0; i < n; i++) kept += r[i].weight;
    const double enough = s->top_p * total, slack = OFF * total;
    if (s->top_p < 1 && n > 1) assert_true(kept - r[n - 1].weight < enough + slack);
    if (s->min_p > 0) assert_true(r[n - 1].weight >= s->min_p * (1 - OFF) || n == 1);
    if (n < most) /* top-p, min-p or underflow cut the ranking here */
        assert_true((s->top_p < 1 && kept >= enough - slack) || r[n].weight < s->min_p * (1 + OFF) ||
                    r[n].weight < TINY);
    for (int32_t i = 0; i < n; i++)
        assert_true(fabs(vouch_dist_p(dist, r[i].id) - r[i].weight / kept) <= 3e-5 * r[i].weight / kept + TINY);
    free(r);
}

/* --------------------------------------------------------------------- data */

static const int32_t vocabs[] = {1, 2, 100, 512, 8193, 10000, 151936};
enum { N_VOCABS = sizeof vocabs / sizeof vocabs[0] };

enum { NORMAL, SHARP, FLAT, TIES, FEW_FINITE, HUGE_RANGE, SIGNED_ZEROS, N_KINDS };

static float make_logit(test_random *random, int kind)
{
    switch (kind) {
    case NORMAL: return 2.5f * test_normal(random);
    case SHARP: return 12 * test_normal(random);
    case FLAT: return 1e-4f * test_normal(random);
    case TIES: return (float)((int)test_below(random, 5) - 2);
    case FEW_FINITE: return test_below(random, 20) ? -INFINITY : test_normal(random);
    case HUGE_RANGE: return test_uniform(random, -1, 1) * (test_below(random, 2) ? FLT_MAX : 1e-30f);
    default: return test_below(random, 2) ? 0.0f : -0.0f;
    }
}

static void fill_logits(fixture *m, test_random *random, int kind)
{
    for (int32_t x = 0; x < m->n_vocab; x++) m->logits[x] = make_logit(random, kind);
    if (kind == FEW_FINITE) m->logits[m->n_vocab / 2] = 0.5f;
}

static vouch_sampling random_sampling(test_random *random, int32_t n_vocab)
{
    static const float temperatures[] = {1, 0.3f, 0.8f, 1.7f, 1e-3f, 50};
    static const int32_t top_ks[] = {0, 0, 1, 5, 40, 99, 1000, INT32_MAX};
    static const float top_ps[] = {1, 1, 0.95f, 0.5f, 0.9f, 0.99f, 1e-6f, 0.99999f};
    static const float min_ps[] = {0, 0, 0, 0.05f, 0.5f, 0.999f, 1e-4f};
    vouch_sampling s = vouch_sampling_default();
    s.temperature = temperatures[test_below(random, 6)];
    s.top_k = top_ks[test_below(random, 8)];
    s.top_p = top_ps[test_below(random, 8)];
    s.min_p = min_ps[test_below(random, 7)];
    if (test_below(random, 8) == 0) s.top_k = n_vocab;
    if (test_below(random, 2)) {
        s.repeat_penalty = test_uniform(random, 0.5f, 2);
        s.frequency_penalty = test_uniform(random, -0.5f, 1);
        s.presence_penalty = test_uniform(random, -0.5f, 1);
        s.penalty_window = (int32_t)test_below(random, 60);
    }
    return s;
}

/* ------------------------------------------------------------------- tests */

static void check_random_case(test_random *random, int32_t n_vocab, int kind)
{
    vouch_sampling s = random_sampling(random, n_vocab);
    vouch_logit_bias bias[3];
    for (int i = 0; i < 3; i++)
        bias[i] = (vouch_logit_bias){(int32_t)test_below(random, (uint32_t)n_vocab), test_normal(random)};
    bias[2].bias = -INFINITY;
    s.bias = bias;
    s.n_bias = test_below(random, n_vocab > 1 ? 4 : 3); /* at least one token stays allowed */
    int32_t history[50];
    for (int i = 0; i < 50; i++) /* half of the ids are below 20, so that some repeat */
        history[i] = (int32_t)test_below(random, n_vocab > 20 && i % 2 ? 20 : (uint32_t)n_vocab);
    const size_t n_history = test_below(random, 51);
    fixture m;
    fixture_open(&m, n_vocab, &s, vouch_kernels_find("ref"));
    fill_logits(&m, random, kind);
    const vouch_status status = fixture_run(&m, history, n_history);
    if (status == VOUCH_OK) {
        check_against_reference(&m, history, n_history);
    } else { /* only where the reference has no finite logit either */
        assert_int_equal(status, VOUCH_E_NUMERIC);
        ranked *r = reference(&m, history, n_history);
        assert_false(isfinite(r[0].logit));
        free(r);
    }
    vouch_arena_free(&m.arena);
}

static void test_processors_equal_a_plain_reference(void **state)
{
    (void)state;
    test_skip_slow();
    test_random random = {1};
    for (int v = 0; v < N_VOCABS; v++) {
        const int32_t n_vocab = vocabs[v];
        const int n_rounds = n_vocab > 100000 ? (test_is_quick() ? 14 : 70) : n_vocab > 1000 ? 140 : 2100;
        for (int round = 0; round < n_rounds; round++) check_random_case(&random, n_vocab, round % N_KINDS);
    }
}

static void test_ties_keep_the_lower_id(void **state)
{
    (void)state;
    vouch_sampling s = vouch_sampling_default();
    s.temperature = 1;
    for (int round = 0; round < 4; round++) {
        const bool by_top_k = round < 2, last_is_best = round % 2;
        s.top_k = by_top_k ? 300 : 0;
        s.top_p = by_top_k ? 1 : 0.0999f;
        fixture m;
        fixture_open(&m, 3000, &s, vouch_kernels_find("ref"));
        for (int32_t x = 0; x < 3000; x++) m.logits[x] = last_is_best && x == 2999 ? 1e-3f : x % 2 ? 0.0f : -0.0f;
        assert_int_equal(fixture_run(&m, NULL, 0), VOUCH_OK);
        check_invariants(&m.dist);
        assert_int_equal(m.dist.n_support, 300);
        for (int32_t i = 0; i < 299; i++) assert_int_equal(m.dist.support[i], i);
        assert_int_equal(m.dist.support[299], last_is_best ? 2999 : 299);
        vouch_arena_free(&m.arena);
    }
}

/* At a high temperature all float weights round to the same value. Top-k still ranks by logit. */
static void test_filters_rank_by_logit_at_any_temperature(void **state)
{
    (void)state;
    vouch_sampling s = vouch_sampling_default();
    s.temperature = 1e6f;
    s.top_k = 3;
    fixture m;
    fixture_open(&m, 500, &s, vouch_kernels_find("ref"));
    m.logits[400] = 3e-3f;
    m.logits[77] = 2e-3f;
    m.logits[250] = 1e-3f;
    assert_int_equal(fixture_run(&m, NULL, 0), VOUCH_OK);
    assert_int_equal(m.dist.n_support, 3);
    assert_int_equal(m.dist.support[0], 77);
    assert_int_equal(m.dist.support[1], 250);
    assert_int_equal(m.dist.support[2], 400);
    vouch_arena_free(&m.arena);
}

static void test_penalties_by_hand(void **state)
{
    (void)state;
    vouch_sampling s = vouch_sampling_default();
    s.temperature = 1;
    s.repeat_penalty = 2;
    s.frequency_penalty = 0.25f;
    s.presence_penalty = 0.5f;
    s.penalty_window = 4;
    fixture m;
    fixture_open(&m, 5, &s, vouch_kernels_find("ref"));
    const float logits[] = {2, 2, -1, 0, 2},
                expected[] = {2, 2 / 2.0f - 2 * 0.25f - 0.5f, -2 - 0.25f - 0.5f, -0.25f - 0.5f, 2};
    memcpy(m.logits, logits, sizeof logits);
    const int32_t history[] = {0, 4, 1, 3, 1, 2}; /* the window holds the last four: 1 3 1 2 */
    assert_int_equal(fixture_run(&m, history, 6), VOUCH_OK);
    assert_memory_equal(m.sampler.logits, expected, sizeof expected);
    assert_int_equal(fixture_run(&m, history + 5, 1), VOUCH_OK); /* a history shorter than the window */
    assert_true(m.sampler.logits[2] == -2.75f && m.sampler.logits[1] == 2);
    vouch_arena_free(&m.arena);
}

static void test_greedy_is_a_point_on_the_first_largest(void **state)
{
    (void)state;
    test_random random = {2};
    vouch_sampling s = vouch_sampling_default();
    assert_true(s.temperature == 0);
    const vouch_logit_bias bias[] = {{3, -INFINITY}, {50, 2}};
    const int32_t history[] = {7, 7, 8};
    s.bias = bias;
    s.n_bias = 2;
    s.frequency_penalty = 1;
    vouch_sampling k1 = s;
    k1.top_k = 1;
    k1.temperature = 0.7f;
    fixture greedy, top1;
    fixture_open(&greedy, 1000, &s, vouch_kernels_find("ref"));
    fixture_open(&top1, 1000, &k1, vouch_kernels_find("ref"));
    for (int round = 0; round < 300; round++) {
        fill_logits(&greedy, &random, round % FEW_FINITE);
        memcpy(top1.logits, greedy.logits, 1000 * sizeof(float));
        assert_int_equal(fixture_run(&greedy, history, 3), VOUCH_OK);
        assert_int_equal(fixture_run(&top1, history, 3), VOUCH_OK);
        check_invariants(&greedy.dist);
        ranked *r = reference(&greedy, history, 3);
        assert_int_equal(greedy.dist.n_support, 1);
        assert_int_equal(greedy.dist.support[0], r[0].id);
        assert_true(vouch_dist_p(&greedy.dist, r[0].id) == 1);
        assert_int_equal(top1.dist.n_support, 1);
        assert_int_equal(top1.dist.support[0], r[0].id);
        free(r);
    }
    vouch_arena_free(&greedy.arena);
    vouch_arena_free(&top1.arena);
}

static void test_nan_logits_are_refused(void **state)
{
    (void)state;
    static const float bad[] = {NAN, -NAN, INFINITY};
    for (int greedy = 0; greedy < 2; greedy++) {
        vouch_sampling s = vouch_sampling_default();
        s.temperature = greedy ? 0 : 1;
        s.top_k = 4;
        s.repeat_penalty = 1.3f;
        fixture m;
        fixture_open(&m, 100, &s, vouch_kernels_find("ref"));
        const int32_t history[] = {0, 99, 50};
        assert_int_equal(fixture_run(&m, history, 3), VOUCH_OK);
        for (int b = 0; b < 3; b++)
            for (int32_t at = 0; at < 100; at += at == 50 ? 49 : 25)
                for (int rest = 0; rest < 2; rest++) {
                    for (int32_t x = 0; x < 100; x++) m.logits[x] = rest ? -INFINITY : (float)x;
                    m.logits[at] = bad[b];
                    assert_int_equal(fixture_run(&m, history, 3), VOUCH_E_NUMERIC);
                    check_invariants(&m.dist); /* an error leaves the last distribution in place */
                    assert_int_equal(m.dist.n_support, greedy ? 1 : 4);
                }
        for (int32_t x = 0; x < 100; x++) m.logits[x] = -INFINITY;
        assert_int_equal(fixture_run(&m, history, 3), VOUCH_E_NUMERIC);
        for (int32_t x = 0; x < 100; x++) m.logits[x] = x == 61 ? -FLT_MAX : -INFINITY;
        assert_int_equal(fixture_run(&m, history, 3), VOUCH_OK); /* one finite logit is enough, however low */
        assert_int_equal(m.dist.support[0], 61);
        vouch_arena_free(&m.arena);
    }
}

static void test_a_bias_of_minus_infinity_bans(void **state)
{
    (void)state;
    enum { N = 6 };
    vouch_logit_bias bans[N];
    for (int32_t x = 0; x < N; x++) bans[x] = (vouch_logit_bias){x, -INFINITY};
    for (int greedy = 0; greedy < 2; greedy++)
        for (size_t n = 0; n < N; n++) {
            vouch_sampling s = vouch_sampling_default();
            s.temperature = greedy ? 0 : 1;
            s.bias = bans;
            s.n_bias = n;
            s.repeat_penalty = FLT_MIN; /* no penalty lifts a ban */
            fixture m;
            fixture_open(&m, N, &s, vouch_kernels_find("ref"));
            for (int32_t x = 0; x < N; x++) m.logits[x] = -(float)x;
            const int32_t history[] = {0, 0, 1};
            assert_int_equal(fixture_run(&m, history, 3), VOUCH_OK);
            for (int32_t x = 0; x < (int32_t)n; x++) assert_true(m.dist.weight[x] == 0);
            vouch_arena_free(&m.arena);
        }
}

static void test_a_token_must_be_left(void **state)
{
    (void)state;
    vouch_logit_bias bias[] = {{0, -INFINITY}, {1, -INFINITY}, {1, -INFINITY}, {2, -FLT_MAX}, {2, 3}};
    vouch_sampling s = vouch_sampling_default();
    vouch_error err;
    s.bias = bias;
    s.n_bias = 5;
    assert_int_equal(vouch_sampling_check(&s, 3, &err), VOUCH_OK);
    bias[4].bias = -INFINITY;
    assert_int_equal(vouch_sampling_check(&s, 4, &err), VOUCH_OK);
    assert_int_equal(vouch_sampling_check(&s, 3, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "bias bans every token"));
}

/* Biases and penalties that are each in range can add up to more than a float holds. The token then ranks first or
 * last; it is no error. */
static void test_sums_beyond_the_float_range(void **state)
{
    (void)state;
    for (int greedy = 0; greedy < 2; greedy++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const vouch_logit_bias bias[] = {{7, (float)sign * FLT_MAX}, {7, (float)sign * FLT_MAX}};
            vouch_sampling s = vouch_sampling_default();
            s.temperature = greedy ? 0 : 1;
            s.bias = bias;
            s.n_bias = 2;
            s.frequency_penalty = s.presence_penalty = (float)-sign * FLT_MAX;
            fixture m;
            fixture_open(&m, 8, &s, vouch_kernels_find("ref"));
            for (int32_t x = 0; x < 8; x++) m.logits[x] = (float)x;
            assert_int_equal(fixture_run(&m, (const int32_t[]){7, 7}, 2), VOUCH_OK);
            assert_int_equal(vouch_dist_draw(&m.dist, 1 - 0x1p-53), sign > 0 ? 7 : 6);
            vouch_arena_free(&m.arena);
        }
}

/* Extreme parameters give a valid distribution. */
static void test_extreme_parameters(void **state)
{
    (void)state;
    test_random random = {3};
    static const float temperatures[] = {1e-45f, 1e-38f, 1e-30f, 1, 1e6f, FLT_MAX};
    static const float repeats[] = {1e-45f, 1e-30f, 1, 1e30f, FLT_MAX};
    static const float frequencies[] = {-FLT_MAX, 0, FLT_MAX};
    for (int t = 0; t < 6; t++)
        for (int r = 0; r < 5; r++)
            for (int f = 0; f < 3; f++)
                for (int filters = 0; filters < 4; filters++)
                    for (int kind = 0; kind < N_KINDS; kind++) {
                        vouch_sampling s = vouch_sampling_default();
                        s.temperature = temperatures[t];
                        s.repeat_penalty = repeats[r];
                        s.frequency_penalty = frequencies[f];
                        s.penalty_window = INT32_MAX;
                        s.top_k = filters == 1 ? INT32_MAX : filters == 2 ? 1 : 0;
                        s.top_p = filters == 3 ? FLT_MIN : 1;
                        s.min_p = filters == 3 ? 0x1.fffffep-1f : 0;
                        fixture m;
                        fixture_open(&m, 300, &s, vouch_kernels_find("ref"));
                        fill_logits(&m, &random, kind);
                        const int32_t history[] = {1, 2, 2, 299};
                        assert_int_equal(fixture_run(&m, history, 4), VOUCH_OK);
                        check_invariants(&m.dist);
                        const int32_t x = vouch_dist_draw(&m.dist, 1 - 0x1p-53);
                        assert_true(x >= 0 && x < 300 && m.dist.weight[x] > 0);
                        vouch_arena_free(&m.arena);
                    }
}

/* The engine reuses one distribution for every row: nothing of the previous row may stay in it. */
static void test_reuse_leaves_nothing_behind(void **state)
{
    (void)state;
    test_random random = {4};
    fixture m;
    vouch_sampling s = vouch_sampling_default();
    fixture_open(&m, 700, &s, vouch_kernels_find("ref"));
    for (int round = 0; round < 300; round++) {
        m.sampler.params.temperature = test_below(&random, 3) ? 1 : 0;
        m.sampler.params.top_k = test_below(&random, 2) ? 0 : 20;
        m.sampler.params.top_p = test_below(&random, 2) ? 1 : 0.8f;
        fill_logits(&m, &random, NORMAL);
        assert_int_equal(fixture_run(&m, NULL, 0), VOUCH_OK);
        check_invariants(&m.dist);
        if (test_below(&random, 3) == 0) {
            const int32_t token = (int32_t)test_below(&random, 700);
            vouch_dist_set_point(&m.dist, token);
            check_invariants(&m.dist);
            assert_true(vouch_dist_p(&m.dist, token) == 1 && vouch_dist_draw(&m.dist, 0.3) == token);
        }
    }
    vouch_arena_free(&m.arena);
}

/* Law L1 for distributions: every instruction set gives the same bits. */
static void test_same_bits_on_every_instruction_set(void **state)
{
    (void)state;
    test_random random = {5};
    for (int v = 0; v < N_VOCABS - 1; v++)
        for (int round = 0; round < 20; round++) {
            const int32_t n_vocab = vocabs[v];
            const vouch_sampling s = random_sampling(&random, n_vocab);
            fixture plain, other;
            fixture_open(&plain, n_vocab, &s, vouch_kernels_find("ref"));
            fill_logits(&plain, &random, round % HUGE_RANGE);
            float *logits = malloc((size_t)n_vocab * sizeof *logits);
            assert_non_null(logits);
            memcpy(logits, plain.logits, (size_t)n_vocab * sizeof *logits);
            assert_int_equal(fixture_run(&plain, NULL, 0), VOUCH_OK);
            for (size_t i = 0; vouch_kernels_get(i); i++) {
                fixture_open(&other, n_vocab, &s, vouch_kernels_get(i));
                memcpy(other.logits, logits, (size_t)n_vocab * sizeof *logits);
                assert_int_equal(fixture_run(&other, NULL, 0), VOUCH_OK);
                assert_int_equal(other.dist.n_support, plain.dist.n_support);
                assert_memory_equal(other.dist.weight, plain.dist.weight, (size_t)n_vocab * sizeof(float));
                assert_memory_equal(&other.dist.total, &plain.dist.total, sizeof(double));
                vouch_arena_free(&other.arena);
            }
            free(logits);
            vouch_arena_free(&plain.arena);
        }
}

/* As u grows from 0 to 1, the drawn token ascends. Each token takes a range of u as long as its probability. */
static void test_draws_follow_the_weights(void **state)
{
    (void)state;
    test_random random = {6};
    for (int filtered = 0; filtered < 2; filtered++)
        for (int32_t n_vocab = 1; n_vocab < 1200; n_vocab += 111) {
            vouch_sampling s = vouch_sampling_default();
            s.temperature = 1;
            s.top_k = filtered ? 60 : 0;
            fixture m;
            fixture_open(&m, n_vocab, &s, vouch_kernels_find("ref"));
            fill_logits(&m, &random, n_vocab > 1 ? FEW_FINITE + filtered * (NORMAL - FEW_FINITE) : NORMAL);
            assert_int_equal(fixture_run(&m, NULL, 0), VOUCH_OK);
            double below = 0;
            int32_t n_seen = 0;
            for (int32_t x = 0; x < n_vocab; x++) {
                const double p = vouch_dist_p(&m.dist, x), inside = 1e-13;
                if (p > 4 * inside) {
                    assert_int_equal(vouch_dist_draw(&m.dist, below + inside), x);
                    assert_int_equal(vouch_dist_draw(&m.dist, below + p - inside), x);
                    n_seen++;
                }
                below += p;
            }
            assert_true(fabs(below - 1) < 1e-12 && n_seen >= 1);
            vouch_arena_free(&m.arena);
        }
}

/* With weights whose sums are exact, so are the boundaries: top-p stops as soon as it reaches its mass, and a draw
 * with u on a boundary takes the token that begins there. */
static void test_exact_sums_give_exact_boundaries(void **state)
{
    (void)state;
    vouch_sampling s = vouch_sampling_default();
    s.temperature = 1;
    fixture m;
    fixture_open(&m, 1024, &s, vouch_kernels_find("ref"));
    for (int32_t n = 1; n <= 1024; n *= 2) {
        m.sampler.params.top_p = (float)n / 1024;
        memset(m.logits, 0, 1024 * sizeof(float));
        assert_int_equal(fixture_run(&m, NULL, 0), VOUCH_OK);
        assert_int_equal(m.dist.n_support, n);
        assert_int_equal(m.dist.dense, n == 1024);
        for (int32_t x = 0; x < n; x++) assert_int_equal(vouch_dist_draw(&m.dist, (double)x / n), x);
    }
    vouch_arena_free(&m.arena);
}

/* The last tokens have weight 0. A draw with u near 1 must still return a token of positive weight (the bug of
 * GHSA-8wr5-jm2h-8r4f). */
static void test_draws_at_the_edges(void **state)
{
    (void)state;
    static const double us[] = {0, 0x1p-1074, 0.5, 1 - 0x1p-53};
    for (int v = 0; v < N_VOCABS; v++)
        for (int32_t first = 0; first < vocabs[v]; first += 1 + vocabs[v] / 3)
            for (int32_t tail = 0; tail < 40; tail += 13) {
                vouch_sampling s = vouch_sampling_default();
                s.temperature = 1;
                fixture m;
                fixture_open(&m, vocabs[v], &s, vouch_kernels_find("ref"));
                const int32_t end = vocabs[v] - tail > first ? vocabs[v] - tail : first + 1;
                for (int32_t x = 0; x < vocabs[v]; x++)
                    m.logits[x] = x >= first && x < end ? (float)(x % 3) : -INFINITY;
                assert_int_equal(fixture_run(&m, NULL, 0), VOUCH_OK);
                for (int i = 0; i < 4; i++) {
                    const int32_t x = vouch_dist_draw(&m.dist, us[i]);
                    assert_in_range(x, first, end - 1);
                }
                assert_int_equal(vouch_dist_draw(&m.dist, 0), first);
                assert_int_equal(vouch_dist_draw(&m.dist, 1 - 0x1p-53), end - 1);
                vouch_arena_free(&m.arena);
            }
}

static void test_parameters_out_of_range_are_named(void **state)
{
    (void)state;
    vouch_sampling s = vouch_sampling_default();
    vouch_error err;
    assert_int_equal(vouch_sampling_check(&s, 10, &err), VOUCH_OK);
#define REFUSED(field, value)                                                                                \
    do {                                                                                                     \
        s = vouch_sampling_default();                                                                        \
        s.field = (value);                                                                                   \
        memset(&err, 0, sizeof err);                                                                         \
        assert_int_equal(vouch_sampling_check(&s, 10, &err), VOUCH_E_ARGUMENT);                              \
        assert_int_equal(err.code, VOUCH_E_ARGUMENT);                                                        \
        assert_non_null(strstr(err.message, #field));                                                        \
        assert_int_equal(vouch_sampling_check(&s, 10, NULL), VOUCH_E_ARGUMENT);                              \
    } while (0)
    REFUSED(temperature, -1e-9f);
    REFUSED(temperature, NAN);
    REFUSED(temperature, INFINITY);
    REFUSED(top_k, -1);
    REFUSED(top_p, 0);
    REFUSED(top_p, -1);
    REFUSED(top_p, 1.0001f);
    REFUSED(top_p, NAN);
    REFUSED(min_p, 1);
    REFUSED(min_p, -0.1f);
    REFUSED(min_p, NAN);
    REFUSED(repeat_penalty, 0);
    REFUSED(repeat_penalty, -1);
    REFUSED(repeat_penalty, NAN);
    REFUSED(repeat_penalty, INFINITY);
    REFUSED(frequency_penalty, NAN);
    REFUSED(frequency_penalty, -INFINITY);
    REFUSED(presence_penalty, NAN);
    REFUSED(presence_penalty, INFINITY);
    REFUSED(penalty_window, -1);
    REFUSED(n_bias, 1);
#undef REFUSED
    static const vouch_logit_bias bad[] = {{-1, 0}, {10, 0}, {INT32_MAX, 0}, {3, NAN}, {3, INFINITY}};
    for (int i = 0; i < 5; i++) {
        s = vouch_sampling_default();
        s.bias = &bad[i];
        s.n_bias = 1;
        assert_int_equal(vouch_sampling_check(&s, 10, &err), VOUCH_E_ARGUMENT);
        assert_non_null(strstr(err.message, "bias of token"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processors_equal_a_plain_reference),
        cmocka_unit_test(test_ties_keep_the_lower_id),
        cmocka_unit_test(test_filters_rank_by_logit_at_any_temperature),
        cmocka_unit_test(test_penalties_by_hand),
        cmocka_unit_test(test_greedy_is_a_point_on_the_first_largest),
        cmocka_unit_test(test_nan_logits_are_refused),
        cmocka_unit_test(test_a_bias_of_minus_infinity_bans),
        cmocka_unit_test(test_a_token_must_be_left),
        cmocka_unit_test(test_sums_beyond_the_float_range),
        cmocka_unit_test(test_extreme_parameters),
        cmocka_unit_test(test_reuse_leaves_nothing_behind),
        cmocka_unit_test(test_same_bits_on_every_instruction_set),
        cmocka_unit_test(test_draws_follow_the_weights),
        cmocka_unit_test(test_exact_sums_give_exact_boundaries),
        cmocka_unit_test(test_draws_at_the_edges),
        cmocka_unit_test(test_parameters_out_of_range_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
