/* SPDX-License-Identifier: MIT */
/*
 * Law L1 for the kernels of recurrent layers. Every kernel table that this machine can run gives the same bits as the
 * plain C table (the reference) for odd sizes and for every way to divide channels among threads. The reference itself
 * is compared with the papers' formulas in double precision.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "kernels/tables.h"
#include "support/test.h"

enum { MOST_KEYS = 130, MOST_VALUES = 150, MOST_CHANNELS = 150, MOST_STATE = 20, MOST_WIDTH = 6, GUARD = 77 };

static void fill(test_random *random, float *x, int64_t n, float low, float high)
{
    for (int64_t i = 0; i < n; i++) x[i] = test_uniform(random, low, high);
}

/* ------------------------------------------------------------ single heads */

/* A head, its inputs of one row, and the row's result. */
typedef struct head {
    vouch_scan row;
    float q[MOST_KEYS], k[MOST_KEYS], decay[MOST_KEYS], v[MOST_VALUES];
    float erase[MOST_KEYS], write[MOST_KEYS];
    float state[MOST_KEYS * MOST_VALUES + 1], y[MOST_VALUES + 1];
} head;

static head one, two;

/* Points the row at the head's own inputs. */
static void point_row(head *h)
{
    h->row.q = h->q, h->row.k = h->k, h->row.decay = h->decay, h->row.v = h->v;
    if (h->row.erase) h->row.erase = h->erase, h->row.write = h->write;
}

static void next_row(test_random *random, head *h)
{
    fill(random, h->q, h->row.n_keys, -1, 1);
    fill(random, h->k, h->row.n_keys, -1, 1);
    fill(random, h->decay, h->row.n_keys, 0.5f, 1);
    fill(random, h->v, h->row.n_values, -1, 1);
    h->row.rate = test_uniform(random, 0, 1);
    h->row.skip = test_uniform(random, -1, 1);
    if (h->row.erase) {
        fill(random, h->erase, h->row.n_keys, -0.2f, 0.2f);
        fill(random, h->write, h->row.n_keys, -0.2f, 0.2f);
    }
    point_row(h);
}

/* Bit 0: a decay for each key. Then: no delta rule, the delta rule, RWKV-6, RWKV-7. */
enum { N_KINDS = 8 };

static void make_head(test_random *random, head *h, int64_t n_keys, int64_t n_values, int kind)
{
    memset(h, 0, sizeof *h);
    h->row = (vouch_scan){.n_keys = n_keys,
                          .n_values = n_values,
                          .decay_step = kind & 1,
                          .has_delta = kind >> 1 == 1,
                          .reads_before = kind >> 1 == 2,
                          .erase = kind >> 1 == 3 ? h->erase : NULL};
    fill(random, h->state, n_keys * n_values, -1, 1);
    h->state[n_keys * n_values] = h->y[n_values] = GUARD;
}

static void copy_head(head *to, const head *from)
{
    *to = *from;
    point_row(to);
}

static const int64_t key_counts[] = {1, 2, 7, 16, 64, 128, 129};
enum { N_KEY_COUNTS = sizeof key_counts / sizeof key_counts[0] };

static void test_scan_equals_reference(void **state)
{
    (void)state;
    test_random random = {1};
    const vouch_kernels *kernels;
    for (size_t i = 1; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (int64_t n_values = 1; n_values < MOST_VALUES; n_values += n_values < 36 ? 1 : 23)
            for (int kind = 0; kind < N_KINDS; kind++) {
                make_head(&random, &one, key_counts[(n_values + kind) % N_KEY_COUNTS], n_values, kind);
                for (int row = 0; row < 3; row++) {
                    next_row(&random, &one);
                    copy_head(&two, &one);
                    vouch_kernels_ref.scan(one.y, one.state, &one.row);
                    kernels->scan(two.y, two.state, &two.row);
                    assert_memory_equal(one.y, two.y, sizeof one.y);
                    assert_memory_equal(one.state, two.state, sizeof one.state);
                }
            }
}

/* Whether the reference's results of one row are close to those of the formula in double precision. `decay_after` takes
 * the decay after the delta rule, which is wrong. */
static bool scan_is_right(const head *before, const head *after, bool decay_after)
{
    const vouch_scan *r = &before->row;
    bool is_right = true;
    for (int64_t j = 0; j < r->n_values; j++) {
        double known = 0, erased = 0, out = (double)r->skip * (double)r->v[j];
        for (int64_t i = 0; i < r->n_keys; i++) {
            const double decay = decay_after ? 1 : (double)r->decay[i * r->decay_step];
            known += (double)before->state[i * r->n_values + j] * decay * (double)r->k[i];
        }
        for (int64_t i = 0; i < r->n_keys && r->erase; i++)
            erased += (double)before->state[i * r->n_values + j] * (double)r->erase[i];
        const double d = (double)r->rate * ((double)r->v[j] - (r->has_delta ? known : 0));
        for (int64_t i = 0; i < r->n_keys; i++) {
            const double old = (double)before->state[i * r->n_values + j];
            const double s = old * (double)r->decay[i * r->decay_step] + (double)r->k[i] * d +
                             (r->erase ? (double)r->write[i] * erased : 0);
            is_right = is_right && fabs(s - (double)after->state[i * r->n_values + j]) < 1e-5;
            out += (r->reads_before ? old : s) * (double)r->q[i];
        }
        is_right = is_right && fabs(out - (double)after->y[j]) < 1e-4;
    }
    return is_right;
}

static void test_scan_is_right(void **state)
{
    (void)state;
    test_random random = {2};
    for (int kind = 0; kind < N_KINDS; kind++)
        for (int64_t n_values = 1; n_values < MOST_VALUES; n_values += 37) {
            make_head(&random, &one, 64, n_values, kind);
            next_row(&random, &one);
            copy_head(&two, &one);
            vouch_kernels_ref.scan(two.y, two.state, &two.row);
            assert_true(scan_is_right(&one, &two, false));
            assert_true(scan_is_right(&one, &two, true) == !one.row.has_delta);
        }
}

/* After one row with rate 1 and the delta rule, the state holds v under the key k, if |k| = 1. */
static void test_delta_rule_stores_the_value(void **state)
{
    (void)state;
    test_random random = {3};
    const vouch_kernels *kernels;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
        make_head(&random, &one, 128, 128, 3);
        next_row(&random, &one);
        kernels->l2_norm(one.k, 128, 1e-6f);
        memcpy(one.q, one.k, sizeof one.q);
        one.row.rate = 1, one.row.skip = 0;
        kernels->scan(one.y, one.state, &one.row);
        for (int64_t j = 0; j < 128; j++) assert_true(fabsf(one.y[j] - one.v[j]) < 1e-5f);
    }
}

/* The comparisons above can fail: adding the keys in descending order gives other bits. */
static void test_other_order_differs(void **state)
{
    (void)state;
    test_random random = {4};
    make_head(&random, &one, 128, 128, 0);
    next_row(&random, &one);
    vouch_kernels_ref.scan(one.y, one.state, &one.row);
    int differing = 0;
    for (int64_t j = 0; j < 128; j++) {
        float sum = one.row.skip * one.v[j];
        for (int64_t i = 127; i >= 0; i--) sum = fmaf(one.state[i * 128 + j], one.q[i], sum);
        differing += sum != one.y[j];
    }
    assert_true(differing > 0);
}

/* ---------------------------------------------------------------- channels */

typedef struct channels {
    float a[(MOST_CHANNELS + 16) * MOST_STATE], state[(MOST_CHANNELS + 16) * MOST_STATE];
    float dt[MOST_CHANNELS], x[MOST_CHANNELS], skip[MOST_CHANNELS], b[MOST_STATE], c[MOST_STATE];
    float y[MOST_CHANNELS + 1];
    vouch_channel_scan row;
} channels;

static channels left, right;

static void point_channels(channels *s)
{
    s->row.a = s->a, s->row.dt = s->dt, s->row.x = s->x, s->row.skip = s->skip, s->row.b = s->b, s->row.c = s->c;
}

static void make_channels(test_random *random, channels *s, int64_t n_channels, int64_t n_state)
{
    memset(s, 0, sizeof *s);
    s->row.n_channels = n_channels, s->row.n_state = n_state;
    for (int64_t c = 0; c < n_channels; c++)
        for (int64_t i = 0; i < n_state; i++) {
            const int64_t at = (c / 16 * n_state + i) * 16 + c % 16;
            s->a[at] = -test_uniform(random, 0, 20);
            s->state[at] = test_uniform(random, -1, 1);
        }
    fill(random, s->dt, n_channels, 0, 1);
    fill(random, s->x, n_channels, -1, 1);
    fill(random, s->skip, n_channels, -1, 1);
    fill(random, s->b, n_state, -1, 1);
    fill(random, s->c, n_state, -1, 1);
    s->y[n_channels] = GUARD;
    point_channels(s);
}

static void test_scan_channels_equals_reference(void **state)
{
    (void)state;
    test_random random = {5};
    const vouch_kernels *kernels;
    for (size_t i = 1; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (int64_t n = 1; n < MOST_CHANNELS; n += n < 70 ? 1 : 11) {
            make_channels(&random, &left, n, 1 + n % MOST_STATE);
            right = left;
            point_channels(&right);
            const int64_t middle = n / 2 / 16 * 16;
            for (int row = 0; row < 2; row++) {
                vouch_kernels_ref.scan_channels(left.y, left.state, &left.row, 0, n);
                kernels->scan_channels(right.y, right.state, &right.row, middle, n);
                kernels->scan_channels(right.y, right.state, &right.row, 0, middle);
                assert_memory_equal(left.y, right.y, sizeof left.y);
                assert_memory_equal(left.state, right.state, sizeof left.state);
            }
        }
}

static void test_scan_channels_is_right(void **state)
{
    (void)state;
    test_random random = {6};
    enum { N = 37, N_STATE = 16 };
    make_channels(&random, &left, N, N_STATE);
    right = left;
    point_channels(&right);
    vouch_kernels_ref.scan_channels(right.y, right.state, &right.row, 0, N);
    for (int64_t c = 0; c < N; c++) {
        double out = (double)left.skip[c] * (double)left.x[c];
        for (int64_t i = 0; i < N_STATE; i++) {
            const int64_t at = (c / 16 * N_STATE + i) * 16 + c % 16;
            const double s = (double)left.state[at] * exp((double)left.dt[c] * (double)left.a[at]) +
                             (double)left.dt[c] * (double)left.x[c] * (double)left.b[i];
            assert_true(fabs(s - (double)right.state[at]) < 1e-6);
            out += s * (double)left.c[i];
        }
        assert_true(fabs(out - (double)right.y[c]) < 1e-5);
    }
}

/* ------------------------------------------------------------- convolution */

static float inputs[MOST_WIDTH][MOST_CHANNELS], weights[MOST_WIDTH * MOST_CHANNELS], bias[MOST_CHANNELS];
static const float *const rows[] = {inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], inputs[5]};

static vouch_conv make_conv(test_random *random, int64_t n_channels, int64_t width, int kind)
{
    fill(random, inputs[0], MOST_WIDTH * MOST_CHANNELS, -2, 2);
    fill(random, weights, width * n_channels, -1, 1);
    fill(random, bias, n_channels, -1, 1);
    return (vouch_conv){n_channels, width, weights, kind & 1 ? bias : NULL, kind >> 1};
}

static void test_conv(void **state)
{
    (void)state;
    test_random random = {7};
    const vouch_kernels *kernels;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (int64_t n = 1; n < MOST_CHANNELS; n += n < 40 ? 1 : 13)
            for (int kind = 0; kind < 4; kind++) {
                const vouch_conv conv = make_conv(&random, n, 1 + n % MOST_WIDTH, kind);
                float expected[MOST_CHANNELS + 1], actual[MOST_CHANNELS + 1];
                expected[n] = actual[n] = GUARD;
                vouch_kernels_ref.conv(expected, &conv, rows, 0, n);
                kernels->conv(actual, &conv, rows, n / 3, n);
                kernels->conv(actual, &conv, rows, 0, n / 3);
                assert_memory_equal(expected, actual, (size_t)(n + 1) * sizeof(float));
                for (int64_t c = 0; c < n; c++) {
                    double sum = kind & 1 ? (double)bias[c] : 0;
                    for (int64_t j = 0; j < conv.width; j++) sum += (double)weights[j * n + c] * (double)inputs[j][c];
                    const double y = kind >> 1 ? sum / (1 + exp(-sum)) : sum;
                    assert_true(fabs(y - (double)actual[c]) < 2e-6);
                }
            }
}

/* ------------------------------------------------------- softplus, L2 norm */

static void test_softplus(void **state)
{
    (void)state;
    enum { N = 1001 };
    float x[N], expected[N], actual[N];
    const vouch_kernels *kernels;
    for (int i = 0; i < N; i++) x[i] = (float)(i - N / 2) * 0.17f; /* from -85 to 85 */
    x[0] = INFINITY, x[1] = -INFINITY, x[2] = 3e38f, x[3] = -3e38f, x[4] = -0.0f, x[5] = 1e-40f;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (int64_t n = 1; n <= N; n += n < 40 ? 1 : 120) {
            memcpy(expected, x, sizeof x), memcpy(actual, x, sizeof x);
            vouch_kernels_ref.softplus(expected, n);
            kernels->softplus(actual, n);
            assert_memory_equal(expected, actual, sizeof x);
        }
    for (int i = 6; i < N; i++) {
        const double y = log1p(exp((double)x[i]));
        assert_true(fabs((double)actual[i] / y - 1) < 4e-7);
    }
    assert_true(isinf(actual[0]) && actual[1] == 0 && actual[2] == 3e38f && actual[3] == 0);
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
        float nan = NAN;
        kernels->softplus(&nan, 1);
        assert_true(isnan(nan));
    }
}

static void test_l2_norm(void **state)
{
    (void)state;
    test_random random = {8};
    float x[300], expected[300], actual[300];
    const vouch_kernels *kernels;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (int64_t n = 1; n < 300; n += n < 70 ? 1 : 17) {
            fill(&random, x, 300, -2, 2);
            memcpy(expected, x, sizeof x), memcpy(actual, x, sizeof x);
            const float eps = n % 5 ? 1e-6f : 100;
            vouch_kernels_ref.l2_norm(expected, n, eps);
            kernels->l2_norm(actual, n, eps);
            assert_memory_equal(expected, actual, sizeof x);
            double sum = (double)eps;
            for (int64_t j = 0; j < n; j++) sum += (double)x[j] * (double)x[j];
            for (int64_t j = 0; j < n; j++) assert_true(fabs((double)x[j] / sqrt(sum) - (double)actual[j]) < 1e-6);
        }
}

/* --------------------------------------------- the same bits on all machines */

static void hash_floats(uint64_t *hash, const float *x, int64_t n)
{
    *hash = vouch_hash_bytes(*hash, x, (size_t)n * sizeof *x);
}

/* Law L1 across architectures: on x86 and Arm, the results of every table have this hash. */
static void test_same_everywhere(void **state)
{
    (void)state;
    const vouch_kernels *kernels;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
        uint64_t hash = VOUCH_HASH_START;
        test_random random = {9};
        for (int64_t n = 1; n < MOST_VALUES; n += 29)
            for (int kind = 0; kind < 4; kind++) {
                make_head(&random, &one, key_counts[n % N_KEY_COUNTS], n, kind);
                next_row(&random, &one);
                kernels->scan(one.y, one.state, &one.row);
                hash_floats(&hash, one.y, n);
                hash_floats(&hash, one.state, one.row.n_keys * n);
                make_channels(&random, &left, n, 16);
                kernels->scan_channels(left.y, left.state, &left.row, 0, n);
                hash_floats(&hash, left.y, n);
                hash_floats(&hash, left.state, (n + 15) / 16 * 256);
                const vouch_conv conv = make_conv(&random, n, 4, kind);
                kernels->conv(left.y, &conv, rows, 0, n);
                hash_floats(&hash, left.y, n);
                kernels->softplus(left.y, n);
                kernels->l2_norm(left.y, n, 1e-6f);
                hash_floats(&hash, left.y, n);
            }
        if (hash != 0x0801a0336421ec47) fail_msg("%s: hash 0x%016llx", kernels->name, (unsigned long long)hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan_equals_reference),
        cmocka_unit_test(test_scan_is_right),
        cmocka_unit_test(test_delta_rule_stores_the_value),
        cmocka_unit_test(test_other_order_differs),
        cmocka_unit_test(test_scan_channels_equals_reference),
        cmocka_unit_test(test_scan_channels_is_right),
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_softplus),
        cmocka_unit_test(test_l2_norm),
        cmocka_unit_test(test_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
