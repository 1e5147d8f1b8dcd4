/* SPDX-License-Identifier: MIT */
/* Functions of one row, such as norms and softmax, and the kernels of recurrent layers. */
#include <stdio.h>
#include <string.h>

#include "bits/compare.h"

enum { MOST = 600, MOST_KEYS = 64, MOST_VALUES = 100, WIDTH = 4, N_STATE = 12, N_KINDS = 8 };

/* The arguments of a run: the length of the row, and which variant of the function runs. */
typedef struct row {
    int64_t n;
    int kind;
} row;

/* a, b [n]: other numbers for each length and kind. */
static void fill(const row *r, float *a, float *b, float size)
{
    bits_random random = {(uint64_t)r->n * 16 + (uint64_t)r->kind};
    bits_fill(&random, a, r->n, -size, size);
    if (b) bits_fill(&random, b, r->n, -size, size);
}

static int64_t rmsnorm_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    float squares[MOST / VOUCH_TILE + 1];
    fill(r, work->inputs, work->more, 8);
    kernels->norm_part(out, squares, work->inputs, work->more, r->n);
    out[r->n] = kernels->norm_factor(squares, r->n, 1e-5f);
    kernels->scale(out, out[r->n], r->n);
    return r->n + 1;
}

static int64_t l2_norm_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    (void)work;
    fill(r, out, NULL, 2);
    kernels->l2_norm(out, r->n, r->kind ? 100 : 1e-6f);
    return r->n;
}

static int64_t rope_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    const row even = {r->n & ~1, r->kind};
    fill(&even, work->inputs, work->more, 1);
    fill(&(row){even.n, even.kind + 2}, out, NULL, 3);
    kernels->rope(out, work->inputs, work->more, even.n, even.kind);
    return even.n;
}

static int64_t swiglu_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    fill(r, out, work->inputs, 30);
    kernels->swiglu(out, work->inputs, r->n);
    return r->n;
}

static int64_t softplus_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    (void)work;
    fill(r, out, NULL, 90);
    kernels->softplus(out, r->n);
    return r->n;
}

/* Whole groups of 16, of which the last is read beyond the row. */
static int64_t softmax_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    const int64_t chunk = r->kind ? 19 : VOUCH_TILE, n = (r->n + VOUCH_TILE - 1) / VOUCH_TILE * chunk;
    (void)work;
    fill(&(row){n, r->kind}, out, NULL, 20);
    out[n] = kernels->softmax(out, chunk, r->n);
    return n + 1;
}

/* The double sum as two numbers. */
static int64_t exp_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    float max = 0;
    int32_t index = 0;
    fill(r, work->inputs, NULL, 40);
    if (!kernels->find_max(work->inputs, r->n, &max, &index)) return 0;
    const double sum = kernels->exp_weights(out, work->inputs, r->n, max, 1.3f);
    out[r->n] = (float)index;
    memcpy(out + r->n + 1, &sum, sizeof sum);
    return r->n + 3;
}

/* ---------------------------------------------------------------- recurrent */

static int64_t conv_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    const float *inputs[WIDTH];
    float *weights = work->more, *bias = work->more + WIDTH * r->n;
    fill(&(row){WIDTH * r->n, r->kind}, work->inputs, weights, 1);
    fill(r, bias, NULL, 1);
    for (int i = 0; i < WIDTH; i++) inputs[i] = work->inputs + i * r->n;
    const vouch_conv conv = {r->n, WIDTH, weights, r->kind & 1 ? bias : NULL, r->kind >> 1};
    kernels->conv(out, &conv, inputs, r->n / 3, r->n);
    kernels->conv(out, &conv, inputs, 0, r->n / 3);
    return r->n;
}

/* Two rows of a head: its state [MOST_KEYS, n], then what the rows give. Bit 0 of the kind: a decay for each key. Then:
 * no delta rule, the delta rule, RWKV-6, RWKV-7. */
static int64_t scan_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    const int64_t n_state = MOST_KEYS * r->n;
    const int form = r->kind >> 1;
    float *x = work->inputs;
    bits_random random = {(uint64_t)r->n * 16 + (uint64_t)r->kind};
    bits_fill(&random, out, n_state, -1, 1);
    for (int i = 0; i < 2; i++) {
        bits_fill(&random, x, 4 * MOST_KEYS, -0.3f, 0.3f);
        bits_fill(&random, x + 4 * MOST_KEYS, MOST_KEYS, 0.5f, 1);
        bits_fill(&random, x + 5 * MOST_KEYS, r->n, -1, 1);
        const vouch_scan scan = {.n_keys = MOST_KEYS,
                                 .n_values = r->n,
                                 .q = x,
                                 .k = x + MOST_KEYS,
                                 .v = x + 5 * MOST_KEYS,
                                 .decay = x + 4 * MOST_KEYS,
                                 .decay_step = r->kind & 1,
                                 .rate = 0.75f,
                                 .skip = 0.5f,
                                 .has_delta = form == 1,
                                 .reads_before = form == 2,
                                 .erase = form == 3 ? x + 2 * MOST_KEYS : NULL,
                                 .write = form == 3 ? x + 3 * MOST_KEYS : NULL};
        kernels->scan(out + n_state + i * r->n, out, &scan);
    }
    return n_state + 2 * r->n;
}

/* Lanes from n on stay zero. */
static int64_t channels_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const row *r = arg;
    const int64_t n_tiles = (r->n + VOUCH_TILE - 1) / VOUCH_TILE, n_state = n_tiles * N_STATE * VOUCH_TILE;
    float *x = work->inputs, *a = work->more;
    bits_random random = {(uint64_t)r->n};
    bits_fill(&random, out, n_state, -1, 1);
    bits_fill(&random, a, n_state, -20, 0);
    for (int64_t i = 0; i < n_state; i++)
        if (i / (N_STATE * VOUCH_TILE) * VOUCH_TILE + i % VOUCH_TILE >= r->n) out[i] = a[i] = 0;
    bits_fill(&random, x, 4 * MOST_VALUES, 0, 1);
    const vouch_channel_scan scan = {.n_channels = r->n,
                                     .n_state = N_STATE,
                                     .a = a,
                                     .dt = x,
                                     .x = x + MOST_VALUES,
                                     .skip = x + 2 * MOST_VALUES,
                                     .b = x + 3 * MOST_VALUES,
                                     .c = x + 3 * MOST_VALUES + N_STATE};
    kernels->scan_channels(out + n_state, out, &scan, 0, r->n);
    return n_state + r->n;
}

/* -------------------------------------------------------------------- names */

static const struct {
    const char *name;
    bits_run *run;
    int64_t most; /* largest length */
    int n_kinds;
} functions[] = {
    {"rmsnorm", rmsnorm_run, MOST, 1},
    {"l2 norm", l2_norm_run, MOST, 2},
    {"rope", rope_run, MOST, 2},
    {"swiglu", swiglu_run, MOST, 1},
    {"softplus", softplus_run, MOST, 1},
    {"softmax", softmax_run, MOST, 2},
    {"exp weights", exp_run, MOST, 1},
    {"convolution", conv_run, MOST, 4},
    {"scan", scan_run, MOST_VALUES, N_KINDS},
    {"channel scan", channels_run, MOST_VALUES, 1},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

int32_t bits_row_names(void)
{
    return N_FUNCTIONS;
}

vouch_status bits_check_rows(bits_work *work, vouch_error *err)
{
    char shape[48];
    for (int i = 0; i < N_FUNCTIONS; i++) {
        VOUCH_TRY(bits_begin(work, functions[i].name, err));
        for (row r = {2, 0}; r.n <= functions[i].most; r.n += r.n < 36 ? 1 : 31)
            for (r.kind = 0; r.kind < functions[i].n_kinds; r.kind++) {
                snprintf(shape, sizeof shape, "a row of %lld, form %d", (long long)r.n, r.kind);
                bits_compare(work, functions[i].run, &r, shape);
            }
        bits_end(work);
    }
    return VOUCH_OK;
}
