/* SPDX-License-Identifier: MIT */
/*
 * The judge, its draws and its random numbers. Other engines test these cases or got them wrong. Each is one call of
 * vouch_reject or vouch_judge.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/judge.h"
#include "support/test.h"

static float *new_rows(int32_t n_rows, int32_t n_vocab)
{
    float *rows = calloc((size_t)n_rows * (size_t)n_vocab, sizeof *rows);
    assert_non_null(rows);
    return rows;
}

/* Random rows that look like softmax output, with some zeros. */
static float *random_rows(test_random *random, int32_t n_rows, int32_t n_vocab)
{
    float *rows = new_rows(n_rows, n_vocab);
    for (int64_t i = 0; i < (int64_t)n_rows * n_vocab; i++)
        rows[i] = test_below(random, 5) ? expf(2 * test_normal(random)) : 0;
    for (int32_t r = 0; r < n_rows; r++) rows[(size_t)r * n_vocab] = 1;
    return rows;
}

/* Draws the token that replaces one rejected guess. */
static int32_t draw_residual(const vouch_dist *p, const vouch_dist *q, int32_t guess, double lenience, double u)
{
    vouch_residual left;
    vouch_residual_begin(&left, p, q, lenience);
    vouch_residual_reject(&left, guess);
    return vouch_residual_draw(&left, u);
}

/* One-hot rows: a greedy target. */
static float *point_rows(const int32_t *tokens, int32_t n_rows, int32_t n_vocab)
{
    float *rows = new_rows(n_rows, n_vocab);
    for (int32_t r = 0; r < n_rows; r++) rows[(size_t)r * n_vocab + tokens[r]] = 1;
    return rows;
}

/* ----------------------------------------------------------- random numbers */

/* Known answers from Random123, the implementation by the generator's authors. */
static void test_philox_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t out[4];
        vouch_philox4x32(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void test_uniform_is_a_pure_function_with_the_right_range(void **state)
{
    (void)state;
    double sum = 0;
    const int n = 20000;
    for (int i = 0; i < n; i++) {
        const double u = vouch_uniform(7, i, VOUCH_PURPOSE_EMIT);
        assert_true(u >= 0 && u < 1 && u * 0x1p53 == floor(u * 0x1p53));
        assert_true(u == vouch_uniform(7, i, VOUCH_PURPOSE_EMIT));
        assert_true(u != vouch_uniform(7, i, VOUCH_PURPOSE_ACCEPT));
        assert_true(u != vouch_uniform(7, i, VOUCH_PURPOSE_DRAFT));
        assert_true(u != vouch_uniform(8, i, VOUCH_PURPOSE_EMIT));
        assert_true(u != vouch_uniform(7 + (1ull << 32), i, VOUCH_PURPOSE_EMIT));
        assert_true(u != vouch_uniform(7, i + (1ll << 32), VOUCH_PURPOSE_EMIT));
        sum += u;
    }
    assert_true(fabs(sum / n - 0.5) < 5 / sqrt(12.0 * n));
}

static void test_numbers_of_a_position_differ(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_true(vouch_uniform_of(7, i, VOUCH_PURPOSE_DRAFT, 0) == vouch_uniform(7, i, VOUCH_PURPOSE_DRAFT));
        assert_true(vouch_uniform_of(7, i, VOUCH_PURPOSE_DRAFT, 1) != vouch_uniform_of(7, i, VOUCH_PURPOSE_DRAFT, 2));
        /* Two drafts use different numbers for the same position. The second draft starts one token later. */
        assert_true(vouch_uniform_of(7, i, VOUCH_PURPOSE_DRAFT, 2) != vouch_uniform_of(7, i, VOUCH_PURPOSE_DRAFT, 3));
    }
}

/* ------------------------------------------------------------------- a race */

static double plain_exponential(uint64_t seed, int64_t position, vouch_purpose purpose, int32_t number, int half)
{
    const uint32_t counter[4] = {(uint32_t)position, (uint32_t)(position >> 32), purpose, (uint32_t)number};
    uint32_t out[4];
    vouch_philox4x32(counter, (uint32_t[]){(uint32_t)seed, (uint32_t)(seed >> 32)}, out);
    const uint64_t bits = (uint64_t)out[2 * half] << 32 | out[2 * half + 1];
    return -log1p(-(double)(bits >> 11 | 1) * 0x1p-53);
}

/* noise [n]: the exponential variable of every token, computed for all tokens without the race's shortcuts. */
static void plain_noise(uint64_t seed, int64_t position, int32_t n, double *noise)
{
    for (int32_t x = 0; x < n; x++) noise[x] = 1 / 256.0 + plain_exponential(seed, position, VOUCH_PURPOSE_LATE, x, 0);
    double at = 0;
    for (int32_t i = 0;; i++) {
        at += plain_exponential(seed, position, VOUCH_PURPOSE_EARLY, i / 2, i % 2);
        const int32_t x = (int32_t)(at * 256);
        if (x >= n) return;
        if (at - x / 256.0 < noise[x]) noise[x] = at - x / 256.0;
    }
}

/* Each token's noise has the exponential distribution and is independent of its neighbour's. */
static void test_noise_of_a_race(void **state)
{
    (void)state;
    enum { N = 40, RUNS = 20000 };
    static const double levels[] = {0.001, 1 / 256.0, 0.01, 0.1, 0.7, 2};
    int64_t below[6] = {0}, both[6] = {0};
    for (int run = 0; run < RUNS; run++) {
        double noise[N];
        plain_noise(5, run, N, noise);
        for (int l = 0; l < 6; l++)
            for (int x = 0; x < N; x++) {
                below[l] += noise[x] < levels[l];
                both[l] += noise[x] < levels[l] && noise[(x + 1) % N] < levels[l];
            }
    }
    for (int l = 0; l < 6; l++) {
        const double p = 1 - exp(-levels[l]), n = (double)N * RUNS;
        assert_true(fabs((double)below[l] - n * p) < 5 * sqrt(n * p));
        assert_true(fabs((double)both[l] - n * p * p) < 8 * sqrt(n * p * p) + 8);
    }
}

static int32_t plain_race(const vouch_residual *left, uint64_t seed, int64_t position, double *margin)
{
    static double noise[10000];
    double first = INFINITY, second = INFINITY;
    int32_t winner = -1;
    plain_noise(seed, position, left->p->n_vocab, noise);
    for (int32_t x = 0; x < left->p->n_vocab; x++) {
        const double mass = vouch_residual_mass(left, x), arrival = noise[x] / mass;
        if (!(mass > 0) || arrival >= second) continue;
        second = arrival < first ? first : arrival;
        if (arrival >= first) continue;
        first = arrival;
        winner = x;
    }
    *margin = (second - first) / first;
    return winner;
}

static void test_race_equals_a_plain_loop(void **state)
{
    (void)state;
    test_random random = {31};
    static const int32_t vocabs[] = {1, 2, 5, 100, 8193};
    for (int v = 0; v < 5; v++)
        for (int round = 0; round < 60; round++) {
            const int32_t n = vocabs[v];
            float *p = random_rows(&random, 1, n);
            int32_t *support = calloc((size_t)n, sizeof *support), n_support = 0;
            assert_non_null(support);
            vouch_dist dist = {.n_vocab = n, .n_support = n, .dense = true, .weight = p, .support = support};
            for (int32_t x = 0; x < n; x++) {
                dist.total += p[x];
                if (p[x] > 0) support[n_support++] = x;
            }
            for (int narrow = 0; narrow < 2; narrow++) {
                dist.dense = !narrow;
                dist.n_support = narrow ? n_support : n;
                vouch_residual left;
                double margin;
                vouch_residual_begin(&left, &dist, NULL, 1);
                for (int taken = 0; taken < 3 && left.total > 0; taken++) { /* each round removes the winner */
                    const int64_t position = round + ((int64_t)taken << 33);
                    const int32_t winner = plain_race(&left, 77, position, &margin);
                    if (margin > 1e-9) assert_int_equal(vouch_draw_race(&left, 77, position, taken), winner);
                    vouch_residual_reject(&left, winner);
                }
            }
            free(support);
            free(p);
        }
}

/* Races with extremely small weights, and with an empty residual. */
static void test_race_of_extremes(void **state)
{
    (void)state;
    float p[] = {0, 1e-30f, 1, 0, 1e-38f};
    const vouch_dist dist = {.n_vocab = 5, .n_support = 5, .dense = true, .weight = p, .total = 1};
    for (int64_t position = 0; position < 1000; position++) {
        vouch_residual left;
        vouch_residual_begin(&left, &dist, NULL, 1);
        assert_int_equal(vouch_draw_race(&left, 1, position, 0), 2);
        vouch_residual_reject(&left, 2);
        assert_int_equal(vouch_draw_race(&left, 1, position, 0), 1);
        vouch_residual_begin(&left, &dist, &dist, 1);
        vouch_residual_reject(&left, 0); /* the residual p - p is empty */
        assert_int_equal(vouch_draw_race(&left, 1, position, 0), 2);
    }
}

/* ------------------------------------------------------------------- greedy */

static void check_greedy(const int32_t *guesses, int32_t k, const int32_t *target, int32_t n_accepted)
{
    const int32_t n_vocab = 9;
    float *p = point_rows(target, k + 1, n_vocab);
    for (uint64_t seed = 0; seed < 60; seed++) {
        const vouch_rejection in = {.k = k,
                                    .n_vocab = n_vocab,
                                    .guesses = guesses,
                                    .p = p,
                                    .accept = (vouch_accept)(seed % VOUCH_ACCEPTS),
                                    .lenience = 1,
                                    .seed = seed};
        int32_t accepted, final;
        vouch_guess verdicts[VOUCH_MAX_DRAFT];
        assert_int_equal(vouch_reject(&in, &accepted, &final, verdicts, NULL), VOUCH_OK);
        assert_int_equal(accepted, n_accepted);
        assert_int_equal(final, target[n_accepted]);
        for (int32_t i = 0; i < k; i++)
            assert_int_equal(verdicts[i].verdict, i < n_accepted    ? VOUCH_ACCEPTED
                                                  : i == n_accepted ? VOUCH_REJECTED
                                                                    : VOUCH_NOT_REACHED);
    }
    free(p);
}

static void test_greedy_cases(void **state)
{
    (void)state;
    check_greedy((int32_t[]){1, 2, 3}, 3, (int32_t[]){1, 2, 3, 4}, 3); /* perfect match and bonus */
    check_greedy((int32_t[]){1, 2, 3}, 3, (int32_t[]){1, 5, 3, 4}, 1); /* early mismatch */
    check_greedy((int32_t[]){7, 2, 3}, 3, (int32_t[]){1, 2, 3, 4}, 0); /* mismatch at the first guess */
    check_greedy((int32_t[]){1, 2, 8}, 3, (int32_t[]){1, 2, 3, 4}, 2); /* mismatch at the last guess */
    check_greedy((int32_t[]){1, 6, 7}, 3, (int32_t[]){1, 2, 3, 4}, 1); /* several mismatches */
    check_greedy((int32_t[]){8}, 1, (int32_t[]){8, 0}, 1);             /* single guess */
    check_greedy((int32_t[]){0}, 1, (int32_t[]){8, 0}, 0);
    check_greedy(NULL, 0, (int32_t[]){5}, 0); /* empty draft: only the plain token */
}

/* ------------------------------------------------------------------ sampled */

static void test_deterministic_when_seeded(void **state)
{
    (void)state;
    test_random random = {3};
    const int32_t n_vocab = 100;
    for (int32_t k = 1; k <= 5; k += 2) {
        float *p = random_rows(&random, k + 1, n_vocab), *q = random_rows(&random, k, n_vocab);
        int32_t guesses[5];
        for (int32_t i = 0; i < k; i++) guesses[i] = (int32_t)test_below(&random, (uint32_t)n_vocab);
        int32_t accepted[40], final[40];
        int changes = 0;
        for (int round = 0; round < 20; round++)
            for (int s = 0; s < 40; s++) { /* repeats each call after calls with other seeds */
                const vouch_rejection in = {.k = k,
                                            .n_vocab = n_vocab,
                                            .guesses = guesses,
                                            .p = p,
                                            .q = q,
                                            .accept = (vouch_accept)(s / 10),
                                            .lenience = 1,
                                            .seed = (uint64_t)s,
                                            .first_position = 11};
                int32_t a, f;
                assert_int_equal(vouch_reject(&in, &a, &f, NULL, NULL), VOUCH_OK);
                if (round > 0) {
                    assert_int_equal(a, accepted[s]);
                    assert_int_equal(f, final[s]);
                }
                accepted[s] = a;
                final[s] = f;
                changes += s > 0 && (a != accepted[s - 1] || f != final[s - 1]);
            }
        assert_true(changes > 20); /* other seeds give other results */
        free(p);
        free(q);
    }
}

/* Recomputes the rule from the numbers in the verdicts. */
static void test_verdicts_satisfy_the_rule(void **state)
{
    (void)state;
    test_random random = {4};
    const int32_t n_vocab = 64, k = 6;
    int seen[3] = {0};
    for (int round = 0; round < 500; round++) {
        float *p = random_rows(&random, k + 1, n_vocab), *q = round % 2 ? random_rows(&random, k, n_vocab) : NULL;
        int32_t guesses[6], accepted, final;
        vouch_guess v[6];
        for (int32_t i = 0; i < k; i++) guesses[i] = (int32_t)test_below(&random, 4);
        const double lenience = round % 3 ? 1 : 0.5;
        const vouch_rejection in = {.k = k,
                                    .n_vocab = n_vocab,
                                    .guesses = guesses,
                                    .p = p,
                                    .q = q,
                                    .lenience = lenience,
                                    .seed = (uint64_t)round,
                                    .first_position = 100};
        assert_int_equal(vouch_reject(&in, &accepted, &final, v, NULL), VOUCH_OK);
        for (int32_t i = 0; i < k; i++) {
            seen[v[i].verdict]++;
            assert_int_equal(v[i].token, guesses[i]);
            double p_total = 0, q_total = 0;
            for (int32_t x = 0; x < n_vocab; x++) {
                p_total += p[i * n_vocab + x];
                q_total += q ? q[i * n_vocab + x] : 0;
            }
            assert_true(v[i].q == (q ? q[i * n_vocab + guesses[i]] / q_total : 1));
            if (i > accepted) {
                assert_int_equal(v[i].verdict, VOUCH_NOT_REACHED);
                assert_true(v[i].p == 0 && v[i].accept == 0 && v[i].u == 0);
                continue;
            }
            assert_true(v[i].p == p[i * n_vocab + guesses[i]] / p_total);
            const double ratio = v[i].p / (lenience * v[i].q);
            assert_true(v[i].accept == (v[i].p == 0 ? 0 : ratio < 1 ? ratio : 1));
            assert_int_equal(v[i].verdict == VOUCH_ACCEPTED, i < accepted);
            assert_true(q ? v[i].u == vouch_uniform(in.seed, 100 + i, VOUCH_PURPOSE_ACCEPT) : isnan(v[i].u));
            if (q) assert_int_equal(v[i].verdict, v[i].u < v[i].accept ? VOUCH_ACCEPTED : VOUCH_REJECTED);
        }
        free(p);
        free(q);
    }
    assert_true(seen[VOUCH_ACCEPTED] > 100 && seen[VOUCH_REJECTED] > 100 && seen[VOUCH_NOT_REACHED] > 100);
}

/* Block verification compares one number u with the acceptance probability of every prefix; these probabilities fall
 * along the draft. */
static void test_verdicts_of_block_verification(void **state)
{
    (void)state;
    test_random random = {14};
    const int32_t n_vocab = 64, k = 6;
    int seen[3] = {0};
    for (int round = 0; round < 500; round++) {
        float *p = random_rows(&random, k + 1, n_vocab), *q = round % 2 ? random_rows(&random, k, n_vocab) : NULL;
        int32_t guesses[6], accepted, final;
        vouch_guess v[6];
        for (int32_t i = 0; i < k; i++) guesses[i] = (int32_t)test_below(&random, 4);
        const vouch_rejection in = {.k = k,
                                    .n_vocab = n_vocab,
                                    .guesses = guesses,
                                    .p = p,
                                    .q = q,
                                    .accept = VOUCH_ACCEPT_BLOCK,
                                    .lenience = 1,
                                    .seed = (uint64_t)round,
                                    .first_position = 100};
        assert_int_equal(vouch_reject(&in, &accepted, &final, v, NULL), VOUCH_OK);
        for (int32_t i = 0; i < k; i++) {
            seen[v[i].verdict]++;
            assert_int_equal(v[i].verdict, i < accepted    ? VOUCH_ACCEPTED
                                           : i == accepted ? VOUCH_REJECTED
                                                           : VOUCH_NOT_REACHED);
            if (i > accepted) {
                assert_true(v[i].p == 0 && v[i].accept == 0 && v[i].u == 0);
                continue;
            }
            assert_true(q ? v[i].u == vouch_uniform(in.seed, 100, VOUCH_PURPOSE_ACCEPT) : isnan(v[i].u));
            if (q) assert_int_equal(i < accepted, v[i].u < v[i].accept);
            if (q) assert_true(i == 0 || v[i].accept <= v[i - 1].accept);
        }
        free(p);
        free(q);
    }
    assert_true(seen[VOUCH_ACCEPTED] > 100 && seen[VOUCH_REJECTED] > 100 && seen[VOUCH_NOT_REACHED] > 100);
}

/* The residual's draw as a simple loop: adds up max(0, p - q) until the sum exceeds u times the total. */
static int32_t plain_draw(const float *p, const float *q, int32_t guess, int32_t n_vocab, double u)
{
    double p_total = 0, q_total = 0, total = 0, sum = 0;
    double *mass = calloc((size_t)n_vocab, sizeof *mass);
    assert_non_null(mass);
    for (int32_t x = 0; x < n_vocab; x++) {
        p_total += p[x];
        q_total += q ? q[x] : 0;
    }
    for (int32_t x = 0; x < n_vocab; x++) {
        mass[x] = p[x] / p_total - (q ? q[x] / q_total : 0);
        if (x == guess || mass[x] < 0) mass[x] = 0;
        total += mass[x];
    }
    int32_t drawn = -1;
    for (int32_t x = 0; x < n_vocab && !(sum > u * total); x++) {
        sum += mass[x];
        if (mass[x] > 0) drawn = x;
    }
    free(mass);
    return drawn;
}

static void test_recovered_token_equals_a_plain_loop(void **state)
{
    (void)state;
    test_random random = {5};
    static const int32_t vocabs[] = {100, 8192, 10000};
    int rejected = 0;
    for (int v = 0; v < 3; v++)
        for (int32_t k = 1; k <= 3; k += 2)
            for (int with_q = 0; with_q < 2; with_q++)
                for (uint64_t seed = 0; seed < 20; seed++) {
                    const int32_t n = vocabs[v];
                    float *p = random_rows(&random, k + 1, n), *q = with_q ? random_rows(&random, k, n) : NULL;
                    int32_t guesses[3], accepted, final;
                    for (int32_t i = 0; i < k; i++) guesses[i] = (int32_t)test_below(&random, (uint32_t)n);
                    const vouch_rejection in = {.k = k,
                                                .n_vocab = n,
                                                .guesses = guesses,
                                                .p = p,
                                                .q = q,
                                                .lenience = 1,
                                                .seed = seed,
                                                .first_position = 5};
                    assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
                    const bool residual = accepted < k;
                    rejected += residual;
                    const double u = vouch_uniform(seed, 5 + accepted, VOUCH_PURPOSE_EMIT);
                    assert_int_equal(final, plain_draw(p + (size_t)accepted * n,
                                                       residual && q ? q + (size_t)accepted * n : NULL,
                                                       residual && q ? guesses[accepted] : -1, n, u));
                    free(p);
                    free(q);
                }
    assert_true(rejected > 100);
}

/* Deterministic guesses don't change the output: at each position the judge emits the token that plain decoding
 * draws. So a guess may even come from an earlier answer that used the same random numbers. */
static void test_point_masses_leave_the_output_alone(void **state)
{
    (void)state;
    enum { K = 4, N = 6 };
    static const vouch_accept rules[] = {VOUCH_ACCEPT_REJECTION, VOUCH_ACCEPT_BLOCK, VOUCH_ACCEPT_MATCH};
    test_random random = {12};
    int n_accepted[2] = {0};
    for (uint64_t seed = 0; seed < 3000; seed++) {
        float *p = random_rows(&random, K + 1, N);
        int32_t guesses[K], plain[K + 1], accepted, final;
        for (int32_t i = 0; i <= K; i++) {
            const double u = vouch_uniform(seed, 7 + i, VOUCH_PURPOSE_EMIT);
            plain[i] = plain_draw(p + (size_t)i * N, NULL, -1, N, u);
        }
        for (int32_t i = 0; i < K; i++) guesses[i] = seed % 2 ? plain[i] : (int32_t)test_below(&random, N);
        const vouch_rejection in = {.k = K,
                                    .n_vocab = N,
                                    .guesses = guesses,
                                    .p = p,
                                    .accept = rules[seed / 2 % 3],
                                    .lenience = 1,
                                    .seed = seed,
                                    .first_position = 7};
        assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
        assert_memory_equal(guesses, plain, (size_t)accepted * sizeof *plain);
        assert_int_equal(final, plain[accepted]);
        if (seed % 2) assert_int_equal(accepted, K);
        n_accepted[seed % 2] += accepted;
        free(p);
    }
    assert_true(n_accepted[0] > 100 && n_accepted[0] < n_accepted[1] / 2);
}

/* ------------------------------------------------------------------- limits */

static const double LAST_U = 1 - 0x1p-53;

/* GHSA-8wr5-jm2h-8r4f: when the last block or vector, or the whole residual, had no probability, another engine
 * returned an id outside the vocabulary. */
static void test_ids_stay_inside_the_vocabulary(void **state)
{
    (void)state;
    static const int32_t vocabs[] = {1, 2, 7, 100, 255, 256, 257, 8193, 10000, 151936};
    for (size_t v = 0; v < sizeof vocabs / sizeof vocabs[0]; v++) {
        const int32_t n = vocabs[v];
        test_random random = {v};
        float *p = random_rows(&random, 1, n), *q = random_rows(&random, 1, n);
        static const int32_t tails[] = {0, 1, 7, 8, 15, 16, 255, 256, 300};
        for (size_t t = 0; t < sizeof tails / sizeof tails[0]; t++) {
            const int32_t used = n > tails[t] ? n - tails[t] : 1;
            memset(p + used, 0, (size_t)(n - used) * sizeof *p);
            double p_total = 0, q_total = 0;
            for (int32_t x = 0; x < n; x++) p_total += p[x], q_total += q[x];
            /* totals with the rounding error of another order of addition */
            for (int off = -1; off <= 1; off++) {
                const vouch_dist dp = {
                    .n_vocab = n, .n_support = n, .dense = true, .weight = p, .total = p_total * (1 + off * 1e-15)};
                const vouch_dist dq = {.n_vocab = n, .n_support = n, .dense = true, .weight = q, .total = q_total};
                static const double us[] = {0, 1e-300, 0.5, 1 - 0x1p-52, 1 - 0x1p-53};
                for (int i = 0; i < 5; i++) {
                    int32_t x = vouch_dist_draw(&dp, us[i]);
                    assert_true(x >= 0 && x < used && p[x] > 0);
                    x = draw_residual(&dp, &dq, 0, 1, us[i]);
                    assert_true(x >= 0 && x < used && p[x] > 0);
                    x = draw_residual(&dp, NULL, used - 1, 1, us[i]);
                    assert_true(x >= 0 && x < used && p[x] > 0);
                    x = draw_residual(&dp, &dp, 0, 1, us[i]); /* an empty residual */
                    assert_int_equal(x, vouch_dist_draw(&dp, us[i]));
                }
            }
        }
        free(p);
        free(q);
    }
}

static void test_all_residual_mass_in_one_token(void **state)
{
    (void)state;
    const int32_t n = 1000;
    for (int32_t only = 0; only < n; only += 111) {
        float *p = new_rows(1, n), *q = new_rows(1, n);
        for (int32_t x = 0; x < n; x++) p[x] = 1, q[x] = x == only ? 0.5f : 1;
        /* Only the token `only` has p > q, because 1 / n < 1 / (n - 0.5). */
        const vouch_dist dp = {.n_vocab = n, .n_support = n, .dense = true, .weight = p, .total = n};
        const vouch_dist dq = {.n_vocab = n, .n_support = n, .dense = true, .weight = q, .total = n - 0.5};
        for (int i = 0; i <= 10; i++) {
            const double u = i == 10 ? LAST_U : i / 10.0;
            assert_int_equal(draw_residual(&dp, &dq, (only + 1) % n, 1, u), only);
        }
        free(p);
        free(q);
    }
}

/* A guess has nearly all the mass. Cancellation must not lose the tiny residual beside it. */
static void test_residual_of_a_nearly_certain_guess(void **state)
{
    (void)state;
    const int32_t n = 600;
    float *p = new_rows(1, n);
    p[300] = 1;
    p[17] = 3e-20f;
    p[599] = 1e-20f;
    const vouch_dist dp = {.n_vocab = n, .n_support = n, .dense = true, .weight = p, .total = 1 + 4e-20};
    assert_int_equal(draw_residual(&dp, NULL, 300, 1, 0), 17);
    assert_int_equal(draw_residual(&dp, NULL, 300, 1, 0.74), 17);
    assert_int_equal(draw_residual(&dp, NULL, 300, 1, 0.76), 599);
    assert_int_equal(draw_residual(&dp, NULL, 300, 1, LAST_U), 599);
    free(p);
}

static void test_equal_p_and_q_always_accept(void **state)
{
    (void)state;
    test_random random = {6};
    const int32_t n = 777, k = 4;
    float *p = random_rows(&random, k + 1, n);
    for (uint64_t seed = 0; seed < 200; seed++) {
        int32_t guesses[4], accepted, final;
        for (int32_t i = 0; i < k; i++) do
                guesses[i] = (int32_t)test_below(&random, (uint32_t)n);
            while (p[(size_t)i * n + guesses[i]] == 0);
        vouch_rejection in = {.k = k, .n_vocab = n, .guesses = guesses, .p = p, .q = p, .lenience = 1, .seed = seed};
        assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
        assert_int_equal(accepted, k);
        in.accept = VOUCH_ACCEPT_BLOCK;
        assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
        assert_int_equal(accepted, k);
    }
    free(p);
}

/* A guess with q = 0, which q can't have drawn: accepted if p > 0 (the limit of p / q), rejected if p = 0. */
static void test_guess_without_q_or_p(void **state)
{
    (void)state;
    const float p[] = {0.5f, 0.5f, 0, 0.25f, 0.25f, 0.5f}, q[] = {0, 0.5f, 0.5f};
    for (uint64_t seed = 0; seed < 100; seed++) {
        int32_t accepted, final;
        vouch_rejection in = {.k = 1,
                              .n_vocab = 3,
                              .guesses = (int32_t[]){0},
                              .p = p,
                              .q = q,
                              .accept = seed % 2 ? VOUCH_ACCEPT_BLOCK : VOUCH_ACCEPT_REJECTION,
                              .lenience = 1,
                              .seed = seed};
        assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
        assert_int_equal(accepted, 1);
        in.guesses = (int32_t[]){2};
        assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
        assert_int_equal(accepted, 0);
        assert_int_equal(final, 0); /* the residual: p - q = (0.5, 0, 0) */
        in.q = (const float[]){0.5f, 0.5f, 0};
        assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
        assert_int_equal(accepted, 0); /* p = q = 0, and an empty residual: draws from p */
        assert_in_range(final, 0, 1);
    }
}

/* --------------------------------------------------------------- membership */

static void check_membership(vouch_sampling sampling)
{
    enum { N = 100, K = 3 };
    test_random random = {(uint64_t)sampling.top_k + (uint64_t)(sampling.top_p * 1000)};
    vouch_sampler sampler;
    vouch_dist p[K + 1], q[K];
    vouch_arena arena = {0};
    for (int pass = 0; pass < 2; pass++) {
        vouch_sampler_layout(&sampler, &sampling, N, 0, vouch_kernels_find("ref"), &arena);
        for (int i = 0; i <= K; i++) vouch_dist_layout(&p[i], N, &arena);
        for (int i = 0; i < K; i++) vouch_dist_layout(&q[i], N, &arena);
        if (pass == 0) assert_int_equal(vouch_arena_allocate(&arena, "rows", NULL), VOUCH_OK);
    }
    for (int round = 0; round < 200; round++) {
        float logits[N], p_rows[(K + 1) * N], q_rows[K * N];
        int32_t guesses[K], accepted, final;
        for (int i = 0; i <= K; i++) {
            for (int x = 0; x < N; x++) logits[x] = 2 * test_normal(&random);
            assert_int_equal(vouch_dist_from_logits(&p[i], &sampler, logits, NULL, 0), VOUCH_OK);
            memcpy(p_rows + i * N, p[i].weight, sizeof logits);
            if (i == K) break;
            for (int x = 0; x < N; x++) logits[x] = 2 * test_normal(&random);
            assert_int_equal(vouch_dist_from_logits(&q[i], &sampler, logits, NULL, 0), VOUCH_OK);
            memcpy(q_rows + i * N, q[i].weight, sizeof logits);
            guesses[i] = vouch_dist_draw(&q[i], vouch_uniform((uint64_t)round, i, VOUCH_PURPOSE_DRAFT));
        }
        const vouch_rejection in = {.k = K,
                                    .n_vocab = N,
                                    .guesses = guesses,
                                    .p = p_rows,
                                    .q = q_rows,
                                    .accept = (vouch_accept)(round % VOUCH_ACCEPTS),
                                    .lenience = 1,
                                    .seed = (uint64_t)round};
        assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
        for (int i = 0; i < accepted; i++) assert_true(p[i].weight[guesses[i]] > 0);
        assert_true(p[accepted].weight[final] > 0);
    }
    vouch_arena_free(&arena);
}

static void test_every_token_is_in_the_filtered_set(void **state)
{
    (void)state;
    vouch_sampling s = vouch_sampling_default();
    s.temperature = 1;
    for (int i = 0; i < 3; i++) {
        s.top_k = (const int32_t[]){1, 5, 99}[i];
        s.top_p = 1;
        check_membership(s);
        s.top_k = 0;
        s.top_p = (const float[]){0.5f, 0.9f, 0.99f}[i];
        check_membership(s);
    }
}

/* --------------------------------------------------------- rows and failures */

typedef struct rows {
    vouch_dist p[4];
    int asked[4], fail_at;
} rows;

static vouch_status row_of(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    rows *r = self;
    assert_int_equal(row, depth);
    r->asked[row]++;
    *p = &r->p[row];
    return row == r->fail_at ? VOUCH_E_NUMERIC : VOUCH_OK;
}

static void test_rows_are_asked_for_only_when_reached(void **state)
{
    (void)state;
    float *p = point_rows((int32_t[]){1, 2, 3, 4}, 4, 9);
    for (int32_t wrong_at = 0; wrong_at <= 3; wrong_at++)
        for (int32_t fail_at = -1; fail_at <= 3; fail_at++) {
            rows r = {.fail_at = fail_at};
            for (int i = 0; i < 4; i++)
                r.p[i] =
                    (vouch_dist){.n_vocab = 9, .n_support = 9, .dense = true, .weight = p + (size_t)i * 9, .total = 1};
            int32_t guesses[3] = {1, 2, 3};
            if (wrong_at < 3) guesses[wrong_at] = 8;
            const vouch_seeded_draw seeded = {1, vouch_draw_position};
            const vouch_dice dice = vouch_dice_philox(&seeded);
            const vouch_draft draft = {.n = 3, .tokens = guesses};
            vouch_guess verdicts[3];
            vouch_judgement j;
            const vouch_trial trial = {
                .draft = &draft, .row_p = row_of, .row_self = &r, .dice = &dice, .lenience = 1, .want_overlap = true};
            const vouch_status status = vouch_judge(&j, verdicts, vouch_rule_get(VOUCH_ACCEPT_REJECTION), &trial);
            const bool fails = fail_at >= 0 && fail_at <= wrong_at;
            assert_int_equal(status, fails && fail_at == 0 ? VOUCH_E_NUMERIC : VOUCH_OK);
            const int last = fails ? fail_at : wrong_at;
            for (int i = 0; i < 4; i++) assert_int_equal(r.asked[i], i <= last);
            for (int i = 0; i < 3; i++)
                assert_int_equal(verdicts[i].verdict, i < last                  ? VOUCH_ACCEPTED
                                                      : i == wrong_at && !fails ? VOUCH_REJECTED
                                                                                : VOUCH_NOT_REACHED);
            if (fails) { /* guesses accepted before the failure stay accepted */
                assert_int_equal(j.n_accepted, fail_at);
                assert_int_equal(j.origin, VOUCH_ORIGIN_ACCEPTED);
                continue;
            }
            assert_int_equal(j.n_accepted, wrong_at);
            assert_int_equal(j.origin, wrong_at < 3 ? VOUCH_ORIGIN_RESIDUAL : VOUCH_ORIGIN_BONUS);
            for (int i = 0; i < 3; i++) assert_true(j.overlap[i] == (i < wrong_at)); /* 1 or 0 for point masses */
        }
    free(p);
}

static void test_overlap_is_the_sum_of_minima(void **state)
{
    (void)state;
    test_random random = {8};
    for (int32_t n = 1; n < 700; n += 37) {
        float *p = random_rows(&random, 1, n), *q = random_rows(&random, 1, n);
        double p_total = 0, q_total = 0, expected = 0;
        for (int32_t x = 0; x < n; x++) p_total += p[x], q_total += q[x];
        for (int32_t x = 0; x < n; x++) expected += fmin(p[x] / p_total, q[x] / q_total);
        const vouch_dist dp = {.n_vocab = n, .n_support = n, .dense = true, .weight = p, .total = p_total};
        const vouch_dist dq = {.n_vocab = n, .n_support = n, .dense = true, .weight = q, .total = q_total};
        assert_true(fabs(vouch_dist_overlap(&dp, &dq, 0) - expected) < 1e-12);
        assert_true(vouch_dist_overlap(&dp, NULL, 0) == p[0] / p_total);
        assert_true(fabs(vouch_dist_overlap(&dp, &dp, 0) - 1) < 1e-12);
        /* The same distribution as a list of its support. */
        int32_t support[700], n_support = 0;
        for (int32_t x = 0; x < n; x++)
            if (p[x] > 0) support[n_support++] = x;
        vouch_dist narrow = dp;
        narrow.dense = false;
        narrow.support = support;
        narrow.n_support = n_support;
        assert_true(fabs(vouch_dist_overlap(&narrow, &dq, 0) - expected) < 1e-12);
        assert_true(fabs(vouch_dist_overlap(&dq, &narrow, 0) - expected) < 1e-12);
        free(p);
        free(q);
    }
}

static void test_reject_refuses_bad_arguments(void **state)
{
    (void)state;
    const float p[] = {0.5f, 0.5f, 0.5f, 0.5f}, q[] = {0.5f, 0.5f};
    const int32_t guesses[] = {1};
    const vouch_rejection good = {.k = 1, .n_vocab = 2, .guesses = guesses, .p = p, .q = q, .lenience = 1};
    int32_t a = -7, f = -7;
    vouch_error err;
#define REFUSED(text, ...)                                                                                   \
    do {                                                                                                     \
        vouch_rejection in = good;                                                                           \
        __VA_ARGS__;                                                                                         \
        memset(&err, 0, sizeof err);                                                                         \
        assert_int_equal(vouch_reject(&in, &a, &f, NULL, &err), VOUCH_E_ARGUMENT);                           \
        assert_int_equal(err.code, VOUCH_E_ARGUMENT);                                                        \
        assert_non_null(strstr(err.message, text));                                                          \
        assert_int_equal(vouch_reject(&in, &a, &f, NULL, NULL), VOUCH_E_ARGUMENT);                           \
        assert_true(a == -7 && f == -7);                                                                     \
    } while (0)
    REFUSED("k is -1: expected 0 to 64", in.k = -1);
    REFUSED("k is 65: expected 0 to 64", in.k = VOUCH_MAX_DRAFT + 1);
    REFUSED("n_vocab is 0: expected at least 1", in.n_vocab = 0);
    REFUSED("p is NULL: expected 2 rows of 2 weights", in.p = NULL);
    REFUSED("guesses is NULL: expected 1 tokens, as k says", in.guesses = NULL);
    REFUSED("lenience is 0: expected above 0 and at most 1", in.lenience = 0);
    REFUSED("lenience is 1.5: expected above 0 and at most 1", in.lenience = 1.5);
    REFUSED("lenience is nan: expected above 0 and at most 1", in.lenience = NAN);
    REFUSED("accept is 6 (auto, which only a session resolves): expected the number of a rule",
            in.accept = VOUCH_ACCEPT_AUTO);
    REFUSED("accept is 7: expected the number of a rule, 0 (rejection) to 5 (multipath)", in.accept = (vouch_accept)7);
    REFUSED("accept is -1: expected the number of a rule", in.accept = (vouch_accept)-1);
    for (int accept = VOUCH_ACCEPT_MATCH; accept < VOUCH_ACCEPTS; accept++) {
        char message[80];
        snprintf(message, sizeof message, "lenience is 0.5: expected 1 with the rule %s;", vouch_accept_name(accept));
        REFUSED(message, in.accept = (vouch_accept)accept; in.lenience = 0.5);
    }
    REFUSED("guesses[0] is 2: expected 0 to 1, as n_vocab is 2", in.guesses = (int32_t[]){2});
    REFUSED("guesses[0] is -1: expected 0 to 1", in.guesses = (int32_t[]){-1});
    REFUSED("first_position is -1: expected 0 to 9223372036854775743", in.first_position = -1);
    REFUSED("first_position is 9223372036854775807: expected 0 to", in.first_position = INT64_MAX);
    REFUSED("p[1][0] is -1: expected a finite weight of at least 0", in.p = (float[]){1, 0, -1, 1});
    REFUSED("p[0][1] is nan: expected a finite weight", in.p = (float[]){1, NAN, 1, 1});
    REFUSED("q[0][0] is inf: expected a finite weight", in.q = (float[]){INFINITY, 1});
    REFUSED("p[1] is all zero: expected a weight above 0 among its 2", in.p = (float[]){1, 0, 0, 0});
    REFUSED("q[0] is all zero: expected a weight above 0", in.q = (float[]){0, 0});
#undef REFUSED
    assert_int_equal(vouch_reject(&good, &a, &f, NULL, NULL), VOUCH_OK);
    assert_in_range(f, 0, 1);
}

/* Rows need not sum to 1: rows times a power of two are the same distributions, bit for bit. */
static void test_rows_are_normalised(void **state)
{
    (void)state;
    enum { N = 50, K = 3 };
    test_random random = {11};
    float *p = random_rows(&random, K + 1, N), *q = random_rows(&random, K, N);
    float scaled_p[(K + 1) * N], scaled_q[K * N];
    for (int i = 0; i < (K + 1) * N; i++) scaled_p[i] = ldexpf(p[i], i / N + 3);
    for (int i = 0; i < K * N; i++) scaled_q[i] = ldexpf(q[i], -5 - i / N);
    for (uint64_t seed = 0; seed < 200; seed++) {
        int32_t guesses[K], accepted[2], final[2];
        vouch_guess verdicts[2][K];
        memset(verdicts, 0, sizeof verdicts);
        for (int i = 0; i < K; i++) guesses[i] = (int32_t)test_below(&random, N);
        vouch_rejection in = {.k = K, .n_vocab = N, .guesses = guesses, .p = p, .q = q, .lenience = 1, .seed = seed};
        assert_int_equal(vouch_reject(&in, &accepted[0], &final[0], verdicts[0], NULL), VOUCH_OK);
        in.p = scaled_p;
        in.q = scaled_q;
        assert_int_equal(vouch_reject(&in, &accepted[1], &final[1], verdicts[1], NULL), VOUCH_OK);
        assert_true(accepted[0] == accepted[1] && final[0] == final[1]);
        for (int i = 0; i < K; i++)
            assert_true(verdicts[0][i].p == verdicts[1][i].p && verdicts[0][i].q == verdicts[1][i].q);
    }
    free(p);
    free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox_known_answers),
        cmocka_unit_test(test_uniform_is_a_pure_function_with_the_right_range),
        cmocka_unit_test(test_numbers_of_a_position_differ),
        cmocka_unit_test(test_noise_of_a_race),
        cmocka_unit_test(test_race_equals_a_plain_loop),
        cmocka_unit_test(test_race_of_extremes),
        cmocka_unit_test(test_greedy_cases),
        cmocka_unit_test(test_deterministic_when_seeded),
        cmocka_unit_test(test_verdicts_satisfy_the_rule),
        cmocka_unit_test(test_verdicts_of_block_verification),
        cmocka_unit_test(test_recovered_token_equals_a_plain_loop),
        cmocka_unit_test(test_point_masses_leave_the_output_alone),
        cmocka_unit_test(test_ids_stay_inside_the_vocabulary),
        cmocka_unit_test(test_all_residual_mass_in_one_token),
        cmocka_unit_test(test_residual_of_a_nearly_certain_guess),
        cmocka_unit_test(test_equal_p_and_q_always_accept),
        cmocka_unit_test(test_guess_without_q_or_p),
        cmocka_unit_test(test_every_token_is_in_the_filtered_set),
        cmocka_unit_test(test_rows_are_asked_for_only_when_reached),
        cmocka_unit_test(test_overlap_is_the_sum_of_minima),
        cmocka_unit_test(test_reject_refuses_bad_arguments),
        cmocka_unit_test(test_rows_are_normalised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
