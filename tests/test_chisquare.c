/* SPDX-License-Identifier: MIT */
/*
 * The real sampler, a million times: logits through the processors, guesses drawn by the draft's numbers,
 * judged with Philox dice. Pearson's chi-square compares what was emitted with the target's distribution;
 * the same test with a wrong rule has to fail.
 */
#include <math.h>
#include <string.h>

#include "spec/judge.h"
#include "support/test.h"
#include "support/toy.h"

enum { N = 512, K = 2, N_RUNS = 1000000, ENOUGH = 20000 };

static const double LEAST_P_VALUE = 1e-6;

/* ------------------------------------------------------------- chi-square */

/* Upper regularised incomplete gamma function Q(a, x): its series for small x, otherwise the continued
 * fraction, by Lentz's method. */
static double gamma_q(double a, double x)
{
    const double front = exp(a * log(x) - x - lgamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int n = 1; n < 10000 && term > sum * 1e-15; n++) sum += term *= x / (a + n);
        return 1 - front * sum;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int n = 1; n < 10000; n++) {
        const double an = -n * (n - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return front * h;
}

/* The p-value of the counts under the distribution; tokens expected less than 10 times share a class. */
static double p_value(const int64_t *count, int64_t n, const double *p)
{
    double chi2 = 0, rare_expected = 0, rare_seen = 0;
    int classes = 0;
    for (int x = 0; x < N; x++) {
        const double expected = p[x] * (double)n;
        if (p[x] == 0) assert_int_equal(count[x], 0);
        if (expected < 10) {
            rare_expected += expected;
            rare_seen += (double)count[x];
            continue;
        }
        const double seen = (double)count[x];
        chi2 += (seen - expected) * (seen - expected) / expected;
        classes++;
    }
    if (rare_expected > 0) {
        chi2 += (rare_seen - rare_expected) * (rare_seen - rare_expected) / rare_expected;
        classes++;
    }
    assert_true(classes > 30);
    return gamma_q((classes - 1) / 2.0, chi2 / 2);
}

/* Tables of the chi-square distribution: 5 % and 0.1 % points. */
static void test_p_value_is_right(void **state)
{
    (void)state;
    assert_true(fabs(gamma_q(0.5, 3.841459 / 2) - 0.05) < 1e-6);
    assert_true(fabs(gamma_q(5, 18.307038 / 2) - 0.05) < 1e-6);
    assert_true(fabs(gamma_q(50, 124.342113 / 2) - 0.05) < 1e-6);
    assert_true(fabs(gamma_q(50, 149.449253 / 2) - 0.001) < 1e-7);
    assert_true(fabs(gamma_q(50, 77.929465 / 2) - 0.95) < 1e-6);
}

/* --------------------------------------------------------------- the models */

/* K + 1 rows of the target and of a draft unlike it, processed alike. */
typedef struct models {
    vouch_sampler sampler;
    vouch_dist p[K + 1], q[K];
    const vouch_dist *q_rows[K];
    int32_t best[K]; /* argmax of q */
    vouch_arena arena;
} models;

static void models_layout(models *m, const vouch_sampling *sampling)
{
    vouch_sampler_layout(&m->sampler, sampling, N, vouch_kernels_find("ref"), &m->arena);
    for (int i = 0; i <= K; i++) vouch_dist_layout(&m->p[i], N, &m->arena);
    for (int i = 0; i < K; i++) vouch_dist_layout(&m->q[i], N, &m->arena);
}

static void models_open(models *m, bool filtered)
{
    vouch_sampling s = vouch_sampling_default();
    s.temperature = 0.8f;
    if (filtered) {
        s.top_k = 200;
        s.top_p = 0.97f;
        s.min_p = 1e-3f;
    }
    memset(m, 0, sizeof *m);
    models_layout(m, &s);
    assert_int_equal(vouch_arena_allocate(&m->arena, "rows", NULL), VOUCH_OK);
    models_layout(m, &s);
    test_random random = {filtered ? 21 : 20};
    for (int i = 0; i <= K; i++) {
        float target[N], draft[N];
        for (int x = 0; x < N; x++) {
            target[x] = 1.2f * test_normal(&random);
            draft[x] = 0.7f * target[x] + 0.7f * test_normal(&random);
        }
        assert_int_equal(vouch_dist_from_logits(&m->p[i], &m->sampler, target, NULL, 0), VOUCH_OK);
        if (i == K) break;
        assert_int_equal(vouch_dist_from_logits(&m->q[i], &m->sampler, draft, NULL, 0), VOUCH_OK);
        m->q_rows[i] = &m->q[i];
        m->best[i] = toy_argmax(&m->q[i]);
    }
}

static vouch_status row_p(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    (void)depth;
    *p = &((const models *)self)->p[row];
    return VOUCH_OK;
}

typedef enum draft_kind { SAMPLED, GREEDY, GREEDY_WITH_FULL_Q, SAMPLED_WITHOUT_Q } draft_kind;

/* The p-values of the first emitted token, of the second where the first guess held, and of the third; 1
 * where too few were seen to say. */
static void emit(models *m, draft_kind kind, int64_t n_runs, double out[K + 1])
{
    static int64_t count[K + 1][N];
    memset(count, 0, sizeof count);
    int64_t n[K + 1] = {0};
    const uint64_t seed = 12345;
    const vouch_dice dice = vouch_dice_philox(&seed);
    for (int64_t run = 0; run < n_runs; run++) {
        const int64_t position = run * (K + 1);
        int32_t guesses[K];
        for (int i = 0; i < K; i++)
            guesses[i] =
                kind == GREEDY || kind == GREEDY_WITH_FULL_Q
                    ? m->best[i]
                    : vouch_dist_draw(&m->q[i], vouch_uniform(seed, position + i, VOUCH_PURPOSE_DRAFT));
        const bool with_q = kind == SAMPLED || kind == GREEDY_WITH_FULL_Q;
        const vouch_draft draft = {.n = K, .tokens = guesses, .q = with_q ? m->q_rows : NULL};
        vouch_guess verdicts[K];
        vouch_judgement j;
        assert_int_equal(vouch_judge(&j, verdicts, &draft, row_p, m, &dice, position, 1, false), VOUCH_OK);
        for (int i = 0; i <= j.n_accepted; i++) {
            const int32_t token = i < j.n_accepted ? guesses[i] : j.final_token;
            assert_in_range(token, 0, N - 1);
            count[i][token]++;
            n[i]++;
        }
    }
    assert_int_equal(n[0], n_runs);
    if (kind == SAMPLED) assert_true(n[K] > ENOUGH);
    for (int i = 0; i <= K; i++) {
        double p[N];
        for (int x = 0; x < N; x++) p[x] = vouch_dist_p(&m->p[i], x);
        out[i] = n[i] > ENOUGH ? p_value(count[i], n[i], p) : 1;
    }
}

static void check_emitted(draft_kind kind, bool filtered, int64_t n_runs)
{
    static models m;
    double value[K + 1];
    models_open(&m, filtered);
    emit(&m, kind, n_runs, value);
    vouch_arena_free(&m.arena);
    for (int i = 0; i <= K; i++)
        if (!(value[i] > LEAST_P_VALUE)) fail_msg("token %d: p-value %g", i, value[i]);
}

static void test_sampled_draft(void **state)
{
    (void)state;
    test_skip_slow();
    check_emitted(SAMPLED, false, N_RUNS);
}

static void test_sampled_draft_with_filters(void **state)
{
    (void)state;
    test_skip_slow();
    check_emitted(SAMPLED, true, N_RUNS);
}

static void test_greedy_draft(void **state)
{
    (void)state;
    test_skip_slow();
    check_emitted(GREEDY, false, N_RUNS);
}

/* A sampled guess called a point mass: exact as well, for accepting with p(x) is right for any x. */
static void test_any_guess_is_exact_as_a_point_mass(void **state)
{
    (void)state;
    test_skip_slow();
    check_emitted(SAMPLED_WITHOUT_Q, true, N_RUNS / 4);
}

static void test_wrong_rule_fails(void **state)
{
    (void)state;
    test_skip_slow();
    static models m;
    double value[K + 1];
    models_open(&m, false);
    emit(&m, GREEDY_WITH_FULL_Q, N_RUNS / 4, value);
    vouch_arena_free(&m.arena);
    assert_true(value[0] < LEAST_P_VALUE);
}

/* The same through the public function, which takes plain rows. */
static void test_public_function(void **state)
{
    (void)state;
    test_skip_slow();
    static models m;
    static float p[(K + 1) * N], q[K * N];
    static int64_t count[N];
    models_open(&m, false);
    for (int i = 0; i <= K; i++) memcpy(p + i * N, m.p[i].weight, N * sizeof *p);
    for (int i = 0; i < K; i++) memcpy(q + i * N, m.q[i].weight, N * sizeof *q);
    memset(count, 0, sizeof count);
    for (int64_t run = 0; run < N_RUNS; run++) {
        int32_t guesses[K], accepted, final;
        for (int i = 0; i < K; i++)
            guesses[i] = vouch_dist_draw(&m.q[i], vouch_uniform(9, run * 3 + i, VOUCH_PURPOSE_DRAFT));
        const vouch_rejection in = {.k = K,
                                    .n_vocab = N,
                                    .guesses = guesses,
                                    .p = p,
                                    .q = q,
                                    .lenience = 1,
                                    .seed = 9,
                                    .first_position = run * 3};
        assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
        count[accepted > 0 ? guesses[0] : final]++;
    }
    double expected[N];
    for (int x = 0; x < N; x++) expected[x] = vouch_dist_p(&m.p[0], x);
    const double value = p_value(count, N_RUNS, expected);
    vouch_arena_free(&m.arena);
    if (!(value > LEAST_P_VALUE)) fail_msg("p-value %g", value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_p_value_is_right),
        cmocka_unit_test(test_sampled_draft),
        cmocka_unit_test(test_sampled_draft_with_filters),
        cmocka_unit_test(test_greedy_draft),
        cmocka_unit_test(test_any_guess_is_exact_as_a_point_mass),
        cmocka_unit_test(test_wrong_rule_fails),
        cmocka_unit_test(test_public_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
