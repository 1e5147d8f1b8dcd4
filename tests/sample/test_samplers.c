/* SPDX-License-Identifier: MIT */
/*
 * Typical, top-n-sigma, XTC and DRY: by hand, against a plain reference of the whole chain, and against llama.cpp with
 * its chain set to the same order (golden/samplers.cpp). test_exact and test_speculation judge drafts with them.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/samplers.h"
#include "sample/sample.h"
#include "support/test.h"
#include "support/model/tokenizers.h"

/* ----------------------------------------------- a sampler and its buffers */

typedef struct fixture {
    vouch_sampler sampler;
    vouch_breakers breakers;
    vouch_dist dist;
    float *logits; /* [n_vocab] */
    int32_t n_vocab;
    const vouch_tokenizer *tokenizer;
    vouch_arena arena;
} fixture;

enum { N_CTX = 512 };

static void fixture_layout(fixture *m, const vouch_sampling *sampling)
{
    vouch_sampler_layout(&m->sampler, sampling, m->n_vocab, N_CTX, vouch_kernels_find("ref"), &m->arena);
    vouch_breakers_layout(&m->breakers, sampling, m->tokenizer, m->n_vocab, &m->arena);
    m->sampler.breakers = &m->breakers;
    vouch_dist_layout(&m->dist, m->n_vocab, &m->arena);
    m->logits = vouch_arena_take(&m->arena, (size_t)m->n_vocab, sizeof(float));
}

static void fixture_open(fixture *m, int32_t n_vocab, const vouch_sampling *sampling, const vouch_tokenizer *tokenizer)
{
    vouch_error err;
    *m = (fixture){.n_vocab = n_vocab, .tokenizer = tokenizer};
    if (vouch_sampling_check(sampling, n_vocab, &err) != VOUCH_OK) fail_msg("%s", err.message);
    fixture_layout(m, sampling);
    assert_int_equal(vouch_arena_allocate(&m->arena, "a test", NULL), VOUCH_OK);
    fixture_layout(m, sampling);
}

static void fixture_close(fixture *m)
{
    vouch_arena_free(&m->arena);
}

/* Fills m->dist, and checks that nothing is left of the call (L3). */
static void fixture_run(fixture *m, const int32_t *history, size_t n_history)
{
    double total = 0;
    assert_int_equal(vouch_dist_from_logits(&m->dist, &m->sampler, m->logits, history, n_history), VOUCH_OK);
    for (int32_t x = 0; x < m->n_vocab; x++) assert_int_equal(m->sampler.count[x], 0);
    int32_t listed = 0;
    for (int32_t x = 0; x < m->n_vocab; x++) {
        total += m->dist.weight[x];
        if (m->dist.dense || !(m->dist.weight[x] > 0)) continue;
        assert_true(listed < m->dist.n_support && m->dist.support[listed] == x);
        listed++;
    }
    if (!m->dist.dense) assert_int_equal(listed, m->dist.n_support);
    assert_true(fabs(total - m->dist.total) <= 1e-12 * total);
}

/* No breakers: most tests have no tokenizer. */
static vouch_sampling sampling_plain(void)
{
    vouch_sampling s = vouch_sampling_default();
    s.temperature = 1;
    s.n_dry_sequence_breakers = 0;
    return s;
}

static void set_probabilities(fixture *m, const double *p)
{
    for (int32_t x = 0; x < m->n_vocab; x++) m->logits[x] = p[x] > 0 ? (float)log(p[x]) : -INFINITY;
}

/* A weight below the least normal float may be 0. */
static void check_probabilities(const fixture *m, const double *p)
{
    for (int32_t x = 0; x < m->n_vocab; x++)
        if (fabs(vouch_dist_p(&m->dist, x) - p[x]) > 1e-6 ||
            ((p[x] > 0) != (m->dist.weight[x] > 0) && !(p[x] > 0 && p[x] < FLT_MIN)))
            fail_msg("token %d: %g, expected %g", x, vouch_dist_p(&m->dist, x), p[x]);
}

/* ------------------------------------------------------------------ by hand */

typedef struct hand {
    double parameter;
    double before[5], after[5];
} hand;

/* 1, 2, 3 and 3 bits; the entropy is 1.75. So 2 bits are nearest, then 1, then 3. */
static const hand typical_hands[] = {
    {0.2, {0.5, 0.25, 0.125, 0.125, 0}, {0, 1, 0, 0, 0}},
    {0.6, {0.5, 0.25, 0.125, 0.125, 0}, {2 / 3.0, 1 / 3.0, 0, 0, 0}},
    {0.8, {0.5, 0.25, 0.125, 0.125, 0}, {4 / 7.0, 2 / 7.0, 1 / 7.0, 0, 0}}, /* the lower id of equals */
    {0.9, {0.5, 0.25, 0.125, 0.125, 0}, {0.5, 0.25, 0.125, 0.125, 0}},
    {0.5, {0.2, 0.2, 0.2, 0.2, 0.2}, {1 / 3.0, 1 / 3.0, 1 / 3.0, 0, 0}},
    {0.01, {0, 0, 1, 0, 0}, {0, 0, 1, 0, 0}},
};

static const hand xtc_hands[] = {
    {0.2, {0.5, 0.25, 0.125, 0.125, 0}, {0, 0.5, 0.25, 0.25, 0}},
    {0.125, {0.5, 0.25, 0.125, 0.125, 0}, {0, 0, 0, 1, 0}},            /* of equals the higher id ranks last */
    {0.3, {0.5, 0.25, 0.125, 0.125, 0}, {0.5, 0.25, 0.125, 0.125, 0}}, /* one token reaches it */
    {0, {0.1, 0.2, 0.3, 0.4, 0}, {1, 0, 0, 0, 0}},
    {0.5, {0.5, 0.5, 0, 0, 0}, {0, 1, 0, 0, 0}},
    {0.51, {0.5, 0.5, 0, 0, 0}, {0.5, 0.5, 0, 0, 0}}, /* off */
    {0.1, {0, 0, 0, 1, 0}, {0, 0, 0, 1, 0}},
};

static void check_hand(const hand *h, bool is_xtc, int32_t top_k)
{
    fixture m;
    vouch_sampling s = sampling_plain();
    s.top_k = top_k;
    if (is_xtc) s.xtc_probability = 1;
    *(is_xtc ? &s.xtc_threshold : &s.typical_p) = (float)h->parameter;
    fixture_open(&m, 5, &s, NULL);
    set_probabilities(&m, h->before);
    m.sampler.xtc_applies = vouch_xtc_applies(&s, 1, 2);
    fixture_run(&m, NULL, 0);
    check_probabilities(&m, h->after);
    fixture_close(&m);
}

static void typical_and_xtc_by_hand(void **state)
{
    (void)state;
    for (int32_t top_k = 0; top_k <= 4; top_k += 4) { /* XTC on a dense distribution, and on a list of tokens */
        for (size_t i = 0; i < sizeof typical_hands / sizeof *typical_hands; i++)
            if (top_k == 0 || typical_hands[i].before[4] == 0) check_hand(&typical_hands[i], false, top_k);
        for (size_t i = 0; i < sizeof xtc_hands / sizeof *xtc_hands; i++) check_hand(&xtc_hands[i], true, top_k);
    }
}

/* Mean 2 and deviation sqrt 2; the banned token doesn't count. */
static void sigma_by_hand(void **state)
{
    (void)state;
    static const struct {
        float n, temperature;
        int32_t n_kept;
    } hands[] = {{1, 1, 1}, {1.4f, 1, 1}, {1.42f, 1, 3}, {2.8f, 1, 3}, {2.83f, 1, 4}, {1.42f, 50, 3}, {1.42f, 0.1f, 3}};
    static const float logits[] = {4, 2, 0, 2, -INFINITY};
    for (size_t i = 0; i < sizeof hands / sizeof *hands; i++) {
        fixture m;
        vouch_sampling s = sampling_plain();
        s.top_n_sigma = hands[i].n;
        s.temperature = hands[i].temperature;
        fixture_open(&m, 5, &s, NULL);
        memcpy(m.logits, logits, sizeof logits);
        fixture_run(&m, NULL, 0);
        assert_int_equal(m.dist.n_support, hands[i].n_kept);
        fixture_close(&m);
    }
}

/* The window of the drawing in dry.c. */
static void dry_by_hand(void **state)
{
    (void)state;
    enum { A, B, C, Y, OTHER, N };
    static const int32_t history[] = {OTHER, A, B, C, C, B, C, Y, A, B, C};
    static const struct {
        int32_t allowed, last_n;
        size_t n_history;
        float loss[N];
    } hands[] = {
        {2, 10, 11, {[C] = 0.5f * 3, [Y] = 0.5f}},
        {1, 10, 11, {[C] = 0.5f * 9, [Y] = 0.5f * 3, [B] = 0.5f}},
        {3, INT32_MAX, 11, {[C] = 0.5f}},
        {4, 10, 11, {0}},
        {2, 9, 11, {[C] = 0.5f, [Y] = 0.5f}}, /* the window begins with the b of the first a b c */
        {2, 0, 11, {0}},
        {0, 2, 11, {[C] = 0.5f}}, /* b c: c follows the empty match with the end */
        {1, 10, 3, {0}},
        {1, 10, 0, {0}},
        {1, 10, 5, {[C] = 0.5f}}, /* o a b c c: c follows c */
    };
    for (size_t i = 0; i < sizeof hands / sizeof *hands; i++) {
        fixture m;
        vouch_sampling s = sampling_plain();
        s.dry_multiplier = 0.5f;
        s.dry_base = 3;
        s.dry_allowed_length = hands[i].allowed;
        s.dry_penalty_last_n = hands[i].last_n;
        fixture_open(&m, N, &s, NULL);
        fixture_run(&m, history, hands[i].n_history);
        for (int32_t x = 0; x < N && hands[i].last_n > 0; x++)
            if (m.sampler.logits[x] != -hands[i].loss[x])
                fail_msg("case %zu, token %d: loses %g, expected %g", i, x, -m.sampler.logits[x], hands[i].loss[x]);
        fixture_close(&m);
    }
}

/* A long repetition doesn't overflow: the token keeps a finite logit, and a banned one stays banned. */
static void dry_stays_finite(void **state)
{
    (void)state;
    fixture m;
    vouch_sampling s = sampling_plain();
    int32_t history[N_CTX];
    for (int i = 0; i < N_CTX; i++) history[i] = i % 2;
    s.dry_multiplier = FLT_MAX;
    s.dry_base = FLT_MAX;
    s.dry_penalty_last_n = INT32_MAX;
    fixture_open(&m, 3, &s, NULL);
    m.logits[1] = -INFINITY;
    fixture_run(&m, history, N_CTX);
    assert_true(m.sampler.logits[0] == -FLT_MAX && m.sampler.logits[1] == -INFINITY);
    assert_int_equal(m.dist.n_vocab, 3);
    assert_true(m.dist.weight[2] == 1 && m.dist.weight[0] == 0);
    fixture_close(&m);
}

/* ------------------------------------------------------------------ breakers */

/* The loss of the byte `followed` after a text, where DRY has this breaker (NULL: none). */
static float loss_after(const char *text, const char *breaker, const char *followed)
{
    fixture m;
    vouch_tokenizer *tokenizer = tiny_tokenizer("smollm", TINY_MERGES); /* bytes alone */
    vouch_sampling s = sampling_plain();
    const ids tokens = encode(tokenizer, text, strlen(text), 0);
    s.dry_multiplier = 1;
    s.dry_base = 2;
    s.dry_allowed_length = 1;
    s.dry_penalty_last_n = INT32_MAX;
    s.dry_sequence_breakers = &breaker;
    s.n_dry_sequence_breakers = breaker != NULL;
    fixture_open(&m, TINY_MERGES, &s, tokenizer);
    fixture_run(&m, tokens.at, tokens.n);
    const float loss = -m.sampler.logits[TINY_BYTES + (unsigned char)followed[0]];
    fixture_close(&m);
    free(tokens.at);
    vouch_tokenizer_close(tokenizer);
    return loss;
}

static void breakers_end_repetitions(void **state)
{
    (void)state;
    static const struct {
        const char *text, *breaker, *followed;
        float loss;
    } cases[] = {
        {"1abcdx 2abcd", NULL, "x", 8},       {"1abcdx 2abcd", "b", "x", 2},   /* c d lie after the last breaker */
        {"1abcdx 2abcd", "ab", "x", 2},                                        /* over two tokens */
        {"1abcdx 2abcd", "2ab", "x", 2},      {"1abcdx 2abcd", "bcd", "x", 0}, /* nothing lies after it */
        {"1abcdx 2abcd", "cd2", "x", 8},                                       /* not in the text */
        {"1abcdx 2abcd", "x", "x", 0},                                         /* a breaker itself loses nothing */
        {"1abcdx 2abcd", "x 2abcdx", "x", 8}, {"1abcdx 2abcd", "1", "x", 8},   /* before the repetition */
        {"cdx 2abcd", "abc", "x", 1},                                          /* d alone */
        {"bcdx 2abcd", "2bbabc", "x", 4},                                      /* "abc" ends like it, and no more */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float loss = loss_after(cases[i].text, cases[i].breaker, cases[i].followed);
        if (loss != cases[i].loss) fail_msg("case %zu: loses %g, expected %g", i, loss, cases[i].loss);
    }
}

/* ------------------------------------------------------ XTC's random numbers */

static void xtc_draws_by_seed_and_position(void **state)
{
    (void)state;
    vouch_sampling s = sampling_plain();
    enum { N = 20000 };
    assert_false(vouch_xtc_applies(&s, 1, 1)); /* off */
    s.xtc_probability = 0.3f;
    int n = 0, n_together = 0, n_low = 0;
    for (int64_t position = 0; position < N; position++) {
        const bool applies = vouch_xtc_applies(&s, 5, position);
        assert_true(applies == vouch_xtc_applies(&s, 5, position));
        n += applies;
        n_together += applies && vouch_xtc_applies(&s, 6, position);
        /* Its number is not the one that draws the token or decides about a guess. */
        n_low += applies && vouch_uniform(5, position, VOUCH_PURPOSE_EMIT) < 0.3;
        assert_true(vouch_uniform(5, position, VOUCH_PURPOSE_XTC) != vouch_uniform(5, position, VOUCH_PURPOSE_EMIT));
        assert_true(vouch_uniform(5, position, VOUCH_PURPOSE_XTC) != vouch_uniform(5, position, VOUCH_PURPOSE_ACCEPT));
    }
    assert_true(fabs(n / (double)N - 0.3) < 0.015);
    assert_true(fabs(n_together / (double)N - 0.09) < 0.01);
    assert_true(fabs(n_low / (double)N - 0.09) < 0.01);
    s.xtc_probability = 1;
    for (int64_t position = 0; position < 100; position++) assert_true(vouch_xtc_applies(&s, 5, position));
    s.xtc_threshold = 0.6f;
    assert_false(vouch_xtc_applies(&s, 5, 0));
}

/* ------------------------------------------------------------ the reference */

typedef struct ranked {
    double logit, z, weight, distance; /* z: log of the weight */
    int32_t id;
} ranked;

static int by_logit(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->logit != y->logit ? (x->logit < y->logit ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static int by_distance(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->distance != y->distance ? (x->distance > y->distance ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static double mass_of(const ranked *r, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += r[i].weight;
    return sum;
}

/* How many of the first tokens have this mass. */
static int32_t count_until(const ranked *r, int32_t n, double mass)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        if ((sum += r[i].weight) >= mass) return i + 1;
    return n;
}

static void reference_dry(const vouch_sampling *s, double *logits, const int32_t *history, int32_t n)
{
    const int32_t window = n < s->dry_penalty_last_n ? n : s->dry_penalty_last_n;
    int32_t longest[SAMPLER_VOCAB];
    for (int32_t x = 0; x < SAMPLER_VOCAB; x++) longest[x] = -1;
    for (int32_t i = n - window + 1; i < n; i++) {
        int32_t length = 0;
        while (i - 1 - length >= n - window && history[i - 1 - length] == history[n - 1 - length]) length++;
        if (length >= s->dry_allowed_length && length > longest[history[i]]) longest[history[i]] = length;
    }
    for (int32_t x = 0; x < SAMPLER_VOCAB; x++)
        if (longest[x] >= 0) logits[x] -= s->dry_multiplier * pow(s->dry_base, longest[x] - s->dry_allowed_length);
}

/* Fills p [SAMPLER_VOCAB]. Without penalties and breakers. */
static void reference(const vouch_sampling *s, const float *given, const int32_t *history, int32_t n_history, double *p)
{
    static ranked r[SAMPLER_VOCAB];
    double logits[SAMPLER_VOCAB], mean = 0, variance = 0;
    int32_t n = 0;
    for (int32_t x = 0; x < SAMPLER_VOCAB; x++) logits[x] = given[x];
    if (s->dry_multiplier > 0) reference_dry(s, logits, history, n_history);
    for (int32_t x = 0; x < SAMPLER_VOCAB; x++) mean += logits[x] / SAMPLER_VOCAB;
    for (int32_t x = 0; x < SAMPLER_VOCAB; x++) variance += pow(logits[x] - mean, 2) / SAMPLER_VOCAB;
    for (int32_t x = 0; x < SAMPLER_VOCAB; x++) r[x] = (ranked){.logit = logits[x], .id = x};
    qsort(r, SAMPLER_VOCAB, sizeof *r, by_logit);
    const double most = r[0].logit, sigma = s->top_n_sigma > 0 ? s->top_n_sigma * sqrt(variance) : INFINITY;
    while (n < SAMPLER_VOCAB && r[n].logit >= most - sigma) n++;
    for (int32_t i = 0; i < n; i++) r[i].weight = exp(r[i].z = (r[i].logit - most) / s->temperature);
    if (s->top_k > 0 && n > s->top_k) n = s->top_k;
    if (s->typical_p < 1) {
        double sum = 0;
        for (int32_t i = 0; i < n; i++) sum += r[i].weight * r[i].z;
        for (int32_t i = 0; i < n; i++) r[i].distance = fabs(r[i].z - sum / mass_of(r, n));
        const double mass = s->typical_p * mass_of(r, n);
        qsort(r, (size_t)n, sizeof *r, by_distance);
        n = count_until(r, n, mass);
        qsort(r, (size_t)n, sizeof *r, by_logit);
    }
    if (s->top_p < 1) n = count_until(r, n, s->top_p * mass_of(r, n));
    while (n > 1 && r[n - 1].weight < s->min_p * r[0].weight) n--;
    const double total = mass_of(r, n);
    int32_t first = 0;
    if (s->xtc_probability > 0) /* the tests set 0 or 1 */
        while (first + 1 < n && r[first + 1].weight >= s->xtc_threshold * total) first++;
    memset(p, 0, SAMPLER_VOCAB * sizeof *p);
    for (int32_t i = first; i < n; i++) p[r[i].id] = r[i].weight / mass_of(r + first, n - first);
}

#define PICK(random, ...) \
    ((const float[]){__VA_ARGS__})[test_below(random, sizeof((const float[]){__VA_ARGS__}) / sizeof(float))]

static vouch_sampling random_sampling(test_random *random)
{
    vouch_sampling s = sampling_plain();
    s.temperature = PICK(random, 1, 0.3f, 0.8f, 1.7f, 20);
    s.top_k = (int32_t)PICK(random, 0, 0, 1, 5, 40, 300);
    s.top_p = PICK(random, 1, 1, 0.95f, 0.5f, 0.99f);
    s.min_p = PICK(random, 0, 0, 0.05f, 0.5f, 1e-3f);
    s.typical_p = PICK(random, 1, 0.95f, 0.7f, 0.3f, 1e-3f);
    s.top_n_sigma = PICK(random, 0, 0, 0.5f, 1, 2, 3.5f);
    s.xtc_probability = PICK(random, 0, 1);
    s.xtc_threshold = PICK(random, 0, 0.01f, 0.1f, 0.3f, 0.5f);
    s.dry_multiplier = PICK(random, 0, 0.5f, 2);
    s.dry_base = PICK(random, 1, 1.5f, 4);
    s.dry_allowed_length = (int32_t)test_below(random, 4);
    s.dry_penalty_last_n = (int32_t)PICK(random, 3, 20, 90);
    return s;
}

static void chain_equals_a_plain_reference(void **state)
{
    (void)state;
    test_random random = {11};
    for (int round = 0; round < (test_is_quick() ? 2000 : 20000); round++) {
        fixture m;
        double p[SAMPLER_VOCAB];
        int32_t history[SAMPLER_HISTORY];
        const vouch_sampling s = random_sampling(&random);
        sampler_case c = {.seed = test_next(&random), .scale = PICK(&random, 0.1f, 1, 2)};
        const size_t n = test_below(&random, SAMPLER_HISTORY + 1);
        fixture_open(&m, SAMPLER_VOCAB, &s, NULL);
        sampler_logits(&c, m.logits);
        sampler_history(&c, history);
        reference(&s, m.logits, history, (int32_t)n, p);
        m.sampler.xtc_applies = vouch_xtc_applies(&s, 1, 1);
        fixture_run(&m, history, n);
        check_probabilities(&m, p);
        fixture_close(&m);
    }
}

/* ----------------------------------------------------------------- llama.cpp */

static vouch_sampling sampling_of(const sampler_case *c)
{
    return (vouch_sampling){.temperature = c->temperature,
                            .top_k = c->top_k,
                            .top_p = c->top_p,
                            .min_p = c->min_p,
                            .typical_p = c->typical_p,
                            .top_n_sigma = c->top_n_sigma,
                            .xtc_probability = 1,
                            .xtc_threshold = c->xtc_threshold,
                            .dry_multiplier = c->dry_multiplier,
                            .dry_base = c->dry_base,
                            .dry_allowed_length = c->dry_allowed_length,
                            .dry_penalty_last_n = c->dry_last_n,
                            .dry_sequence_breakers = sampler_breakers,
                            .n_dry_sequence_breakers = (size_t)c->breakers,
                            .repeat_penalty = c->repeat_penalty,
                            .frequency_penalty = c->frequency_penalty,
                            .presence_penalty = c->presence_penalty,
                            .penalty_window = c->penalty_window};
}

static void support_and_probabilities_are_those_of_llama_cpp(void **state)
{
    (void)state;
    double worst = 0;
    vouch_tokenizer *tokenizer = tiny_tokenizer("smollm", SAMPLER_VOCAB);
    for (int i = 0; i < N_SAMPLER_CASES; i++) {
        fixture m;
        double p[SAMPLER_VOCAB] = {0};
        int32_t history[SAMPLER_HISTORY];
        const sampler_case *c = &sampler_cases[i];
        const vouch_sampling s = sampling_of(c);
        fixture_open(&m, SAMPLER_VOCAB, &s, tokenizer);
        sampler_logits(c, m.logits);
        sampler_history(c, history);
        m.sampler.xtc_applies = vouch_xtc_applies(&s, 1, 1);
        fixture_run(&m, history, SAMPLER_HISTORY);
        for (int j = 0; j < sampler_golden[i].n; j++) p[sampler_golden[i].values[j].id] = sampler_golden[i].values[j].p;
        for (int32_t x = 0; x < SAMPLER_VOCAB; x++) {
            const double off = fabs(p[x] - vouch_dist_p(&m.dist, x));
            if ((p[x] > 0) != (m.dist.weight[x] > 0) || off > 1e-6)
                fail_msg("case %d, token %d: %g, llama.cpp %g", i, x, vouch_dist_p(&m.dist, x), p[x]);
            worst = fmax(worst, off);
        }
        fixture_close(&m);
    }
    print_message("%d cases; largest difference of a probability %.1e\n", (int)N_SAMPLER_CASES, worst);
    vouch_tokenizer_close(tokenizer);
}

/* ------------------------------------------------------------------- ranges */

static void values_out_of_range_are_refused(void **state)
{
    (void)state;
    vouch_error err;
    vouch_sampling s = vouch_sampling_default();
    assert_int_equal(vouch_sampling_check(&s, 10, &err), VOUCH_OK);
#define REFUSED(field, value)                                                                                 \
    do {                                                                                                      \
        vouch_sampling wrong = vouch_sampling_default();                                                      \
        wrong.field = value;                                                                                  \
        assert_int_equal(vouch_sampling_check(&wrong, 10, &err), VOUCH_E_ARGUMENT);                           \
        assert_non_null(strstr(err.message, #field));                                                         \
    } while (0)
    REFUSED(typical_p, 0);
    REFUSED(typical_p, 1.01f);
    REFUSED(typical_p, NAN);
    REFUSED(top_n_sigma, -1);
    REFUSED(top_n_sigma, INFINITY);
    REFUSED(xtc_probability, -0.1f);
    REFUSED(xtc_probability, 1.1f);
    REFUSED(xtc_threshold, NAN);
    REFUSED(xtc_threshold, 2);
    REFUSED(dry_multiplier, -1);
    REFUSED(dry_multiplier, NAN);
    REFUSED(dry_base, 0.5f);
    REFUSED(dry_base, INFINITY);
    REFUSED(dry_allowed_length, -1);
    REFUSED(dry_penalty_last_n, -1);
    REFUSED(n_dry_sequence_breakers, VOUCH_MAX_BREAKERS + 1);
    REFUSED(dry_sequence_breakers, NULL);
#undef REFUSED
    static const char long_text[] = "0123456789012345678901234567890123456789012345678901234567890123456789";
    const char *const texts[] = {"", long_text, NULL};
    for (int i = 0; i < 3; i++) {
        s.dry_sequence_breakers = &texts[i];
        s.n_dry_sequence_breakers = 1;
        assert_int_equal(vouch_sampling_check(&s, 10, &err), VOUCH_E_ARGUMENT);
        assert_non_null(strstr(err.message, "dry_sequence_breakers[0]"));
    }
}

static int write_vocabulary(const char *path)
{
    size_t size;
    vouch_gguf_writer *writer = writer_open();
    vouch_gguf_add_text(writer, "general.architecture", "llama");
    tiny_vocab_add(writer, SAMPLER_VOCAB, 7);
    void *bytes = writer_finish(writer, &size);
    write_whole(path, bytes, size);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typical_and_xtc_by_hand),
        cmocka_unit_test(sigma_by_hand),
        cmocka_unit_test(dry_by_hand),
        cmocka_unit_test(dry_stays_finite),
        cmocka_unit_test(breakers_end_repetitions),
        cmocka_unit_test(xtc_draws_by_seed_and_position),
        cmocka_unit_test(chain_equals_a_plain_reference),
        cmocka_unit_test(support_and_probabilities_are_those_of_llama_cpp),
        cmocka_unit_test(values_out_of_range_are_refused),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_vocabulary(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
