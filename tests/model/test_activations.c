/* SPDX-License-Identifier: MIT */
/* The activations of feed-forward networks against their formulas in double precision, and their bits against plain C's
 * for every instruction set. */
#include <math.h>
#include <string.h>

#include "model/stage/rows.h"
#include "support/test.h"

enum { N = 4001 };

static double expected(const vouch_feed_forward *ffn, double z, double up)
{
    switch (ffn->activation) {
    case VOUCH_SILU: return z / (1 + exp(-z)) * up;
    case VOUCH_GELU: return z / 2 * (1 + tanh(sqrt(2 / M_PI) * (z + 0.044715 * z * z * z))) * up;
    case VOUCH_GELU_EXACT: return z / 2 * (1 + erf(z / sqrt(2))) * up;
    case VOUCH_RELU: return fmax(z, 0) * up;
    case VOUCH_RELU_SQUARED: return fmax(z, 0) * fmax(z, 0) * up;
    case VOUCH_SWIGLU_OPENAI: return z / (1 + exp(-1.702 * z)) * (up + 1);
    case VOUCH_XIELU: {
        const double low = fmin(z, (double)ffn->xielu.most), slope = ffn->xielu.slope;
        const double bent = z > 0 ? ffn->xielu.positive * z * z : ffn->xielu.negative * (expm1(low) - z);
        return (bent + slope * z) * up;
    }
    case VOUCH_SITU: {
        const double gate = ffn->situ.gate, cap = ffn->situ.up;
        return gate * tanh(z / gate) / (1 + exp(-z)) * (cap > 0 ? cap * tanh(up / cap) : up);
    }
    }
    return NAN;
}

static void activations_are_their_formulas(void **state)
{
    (void)state;
    static float gate[N], up[N], first[N];
    vouch_feed_forward ffn = {.n_ff = N, .xielu = {.positive = 0.9f, .negative = 1.3f, .slope = 0.5f, .most = -1e-6f}};
    ffn.situ = (vouch_situ){.gate = 4, .up = 0.7f};
    const vouch_kernels *kernels;
    for (int f = VOUCH_SILU; f <= VOUCH_SITU; f++)
        for (size_t k = 0; (kernels = vouch_kernels_get(k)) != NULL; k++) {
            ffn.activation = (vouch_activation)f;
            for (int i = 0; i < N; i++) {
                gate[i] = (float)(i - N / 2) * 0.005f;
                up[i] = (float)(i % 7 - 3) * 0.4f;
            }
            vouch_row_activate(kernels, &ffn, gate, up, N);
            for (int i = 0; i < N; i++) {
                const double z = (float)(i - N / 2) * 0.005f, u = (float)(i % 7 - 3) * 0.4f, y = expected(&ffn, z, u);
                if (!(fabs(gate[i] - y) <= 2e-6 * (fabs(y) + fabs(z) + 1)))
                    fail_msg("activation %d, %s, z %g: %.9g, expected %.9g", f, kernels->name, z, (double)gate[i], y);
            }
            if (k == 0) memcpy(first, gate, sizeof first);
            else assert_memory_equal(first, gate, sizeof first);
        }
}

/* vouch_row_cut subtracts mean + 1.5 standard deviations and raises negative results to 0. The variance divides by n;
 * the test would see one that divides by n - 1. */
static void a_cut_leaves_what_exceeds_it(void **state)
{
    (void)state;
    enum { FEW = 37 };
    float x[FEW], before[FEW];
    double mean = 0, square = 0, most = 0, wrong = 0;
    for (int i = 0; i < FEW; i++) mean += (double)(before[i] = x[i] = sinf((float)(i * i))) / FEW;
    for (int i = 0; i < FEW; i++) square += ((double)before[i] - mean) * ((double)before[i] - mean);
    vouch_row_cut(x, 1.5f, FEW);
    for (int i = 0; i < FEW; i++) {
        const double of_all = fmax((double)before[i] - mean - 1.5 * sqrt(square / FEW), 0);
        const double of_sample = fmax((double)before[i] - mean - 1.5 * sqrt(square / (FEW - 1)), 0);
        most = fmax(most, fabs((double)x[i] - of_all));
        wrong = fmax(wrong, fabs((double)x[i] - of_sample));
    }
    assert_true(most < 1e-6);
    assert_true(wrong > 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(activations_are_their_formulas),
                                       cmocka_unit_test(a_cut_leaves_what_exceeds_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
