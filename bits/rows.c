/* SPDX-License-Identifier: MIT */
/* Operations of one row, such as norms and softmax, and the kernels of recurrent layers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/angle.h"
#include "bits/operation.h"

enum { MOST = 600, MOST_KEYS = 64, MOST_VALUES = 100, MOST_BLOCKS = 64, WIDTH = 4, N_STATE = 12, N_ROWS = 2 };

/* The number of a shape's variant, which is part of the seed. */
static int variant(const bits_shape *s)
{
    return s->choice[0] + 2 * s->choice[1];
}

static bits_random random_of(const bits_shape *s)
{
    return (bits_random){(uint64_t)s->size[0] * 16 + (uint64_t)variant(s)};
}

/* a, b [n]: other numbers for each shape. b NULL: none. */
static void fill(const bits_shape *s, float *a, float *b, int64_t n, float size)
{
    bits_random random = random_of(s);
    bits_fill(&random, a, n, -size, size);
    if (b) bits_fill(&random, b, n, -size, size);
}

/* -------------------------------------------------------------------- norms */

static void rmsnorm_fill(bits_work *work, const bits_shape *s)
{
    fill(s, work->inputs, work->more, s->size[0], 8);
    work->scalars[0] = 1e-5f;
}

static void rmsnorm_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    bits_add_input(f, "x", work->inputs, s->size[0]);
    bits_add_input(f, "weight", work->more, s->size[0]);
    bits_add_input(f, "eps", work->scalars, 1);
    bits_add_result(f, "y", BITS_FLOAT, 0, s->size[0]);
    bits_add_result(f, "factor", BITS_FLOAT, s->size[0], 1);
}

static int64_t rmsnorm_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const int64_t n = ((const bits_shape *)arg)->size[0];
    float squares[MOST / VOUCH_TILE + 1];
    kernels->norm_part(out, squares, work->inputs, work->more, n);
    out[n] = kernels->norm_factor(squares, n, work->scalars[0]);
    kernels->scale(out, out[n], n);
    return n + 1;
}

static void l2_norm_fill(bits_work *work, const bits_shape *s)
{
    fill(s, work->inputs, NULL, s->size[0], 2);
    work->scalars[0] = s->choice[0] ? 100 : 1e-6f;
}

static void l2_norm_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    bits_add_input(f, "x", work->inputs, s->size[0]);
    bits_add_input(f, "eps", work->scalars, 1);
    bits_add_result(f, "y", BITS_FLOAT, 0, s->size[0]);
}

static int64_t l2_norm_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const int64_t n = ((const bits_shape *)arg)->size[0];
    memcpy(out, work->inputs, (size_t)n * sizeof *out);
    kernels->l2_norm(out, n, work->scalars[0]);
    return n;
}

/* ---------------------------------------------------------------- rotations */

/* Elements that are rotated: pairs. */
static int64_t even(const bits_shape *s)
{
    return s->size[0] & ~1;
}

/* x lies after the cosines. */
static void rope_fill(bits_work *work, const bits_shape *s)
{
    const bits_shape pairs = {.size = {even(s)}, .choice = {s->choice[0]}},
                     other = {.size = {even(s)}, .choice = {s->choice[0], 1}};
    fill(&pairs, work->inputs, work->more, even(s), 1);
    fill(&other, work->inputs + MOST, NULL, even(s), 3);
}

static void rope_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    bits_add_input(f, "x", work->inputs + MOST, even(s));
    bits_add_input(f, "cos", work->inputs, even(s));
    bits_add_input(f, "sin", work->more, even(s));
    bits_add_result(f, "y", BITS_FLOAT, 0, even(s));
}

static int64_t rope_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const bits_shape *s = arg;
    memcpy(out, work->inputs + MOST, (size_t)even(s) * sizeof *out);
    kernels->rope(out, work->inputs, work->more, even(s), s->choice[0]);
    return even(s);
}

static void angles_fill(bits_work *work, const bits_shape *s)
{
    work->scalars[0] = (float)(10000 + 700 * s->size[0]);
}

static void angles_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    const int64_t n = s->size[0] / 2;
    bits_add_input(f, "base", work->scalars, 1);
    bits_add_result(f, "frequencies", BITS_DOUBLE, 0, n);
    bits_add_result(f, "cos", BITS_FLOAT, 2 * n, n);
    bits_add_result(f, "sin", BITS_FLOAT, 3 * n, n);
}

/* The same on every table: angles come from no kernel. */
static int64_t angles_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const bits_shape *s = arg;
    const int64_t n = s->size[0] / 2;
    (void)kernels;
    for (int64_t i = 0; i < n; i++) {
        const double frequency = vouch_power((double)work->scalars[0], -2.0 * (double)i / (double)s->size[0]);
        double sine, cosine;
        vouch_sine_cosine((double)s->size[1] * frequency, &sine, &cosine);
        memcpy(out + 2 * i, &frequency, sizeof frequency);
        out[2 * n + i] = (float)cosine;
        out[3 * n + i] = (float)sine;
    }
    return 4 * n;
}

/* -------------------------------------------------------------- exponentials */

static void swiglu_fill(bits_work *work, const bits_shape *s)
{
    fill(s, work->inputs, work->more, s->size[0], 30);
}

static void swiglu_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    bits_add_input(f, "gate", work->inputs, s->size[0]);
    bits_add_input(f, "up", work->more, s->size[0]);
    bits_add_result(f, "y", BITS_FLOAT, 0, s->size[0]);
}

static int64_t swiglu_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const int64_t n = ((const bits_shape *)arg)->size[0];
    memcpy(out, work->inputs, (size_t)n * sizeof *out);
    kernels->swiglu(out, work->more, n);
    return n;
}

static void softplus_fill(bits_work *work, const bits_shape *s)
{
    fill(s, work->inputs, NULL, s->size[0], 90);
}

static void softplus_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    bits_add_input(f, "x", work->inputs, s->size[0]);
    bits_add_result(f, "y", BITS_FLOAT, 0, s->size[0]);
}

static int64_t softplus_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const int64_t n = ((const bits_shape *)arg)->size[0];
    memcpy(out, work->inputs, (size_t)n * sizeof *out);
    kernels->softplus(out, n);
    return n;
}

/* From one group of 16 to the next; the second variant has other numbers between groups. */
static int64_t chunk_of(const bits_shape *s)
{
    return s->choice[0] ? 19 : VOUCH_TILE;
}

/* Whole groups, of which the last is read beyond the row. */
static int64_t padded(const bits_shape *s)
{
    return (s->size[0] + VOUCH_TILE - 1) / VOUCH_TILE * chunk_of(s);
}

static void softmax_fill(bits_work *work, const bits_shape *s)
{
    const bits_shape whole = {.size = {padded(s)}, .choice = {s->choice[0]}};
    fill(&whole, work->inputs, NULL, padded(s), 20);
}

static void softmax_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    bits_add_input(f, "x", work->inputs, s->size[0]);
    bits_add_result(f, "y", BITS_FLOAT, 0, s->size[0]);
    bits_add_result(f, "sum", BITS_FLOAT, padded(s), 1);
}

static int64_t softmax_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const bits_shape *s = arg;
    memcpy(out, work->inputs, (size_t)padded(s) * sizeof *out);
    out[padded(s)] = kernels->softmax(out, chunk_of(s), s->size[0]);
    return padded(s) + 1;
}

static void exp_fill(bits_work *work, const bits_shape *s)
{
    fill(s, work->inputs, NULL, s->size[0], 40);
    work->scalars[0] = 1.3f;
}

static void exp_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    bits_add_input(f, "x", work->inputs, s->size[0]);
    bits_add_input(f, "scale", work->scalars, 1);
    bits_add_result(f, "y", BITS_FLOAT, 0, s->size[0]);
    bits_add_result(f, "largest", BITS_WHOLE, s->size[0], 1);
    bits_add_result(f, "sum", BITS_DOUBLE, s->size[0] + 1, 1);
}

/* No numbers where the largest isn't finite. */
static int64_t exp_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const int64_t n = ((const bits_shape *)arg)->size[0];
    float max = 0;
    int32_t index = 0;
    if (!kernels->find_max(work->inputs, n, &max, &index)) return 0;
    const double sum = kernels->exp_weights(out, work->inputs, n, max, work->scalars[0]);
    out[n] = (float)index;
    memcpy(out + n + 1, &sum, sizeof sum);
    return n + 3;
}

/* --------------------------------------------------------------- quantising */

/* Besides ordinary blocks: zeros, numbers too small to be quantised, and halves, whose quants are ties. */
static void quantize_fill(bits_work *work, const bits_shape *s)
{
    float *x = work->inputs;
    fill(s, x, NULL, s->size[0] * VOUCH_BLOCK, 3);
    for (int64_t i = 0; i < s->size[0] * VOUCH_BLOCK; i++) {
        const int64_t form = i / VOUCH_BLOCK % 4;
        if (form == 1) x[i] = i % VOUCH_BLOCK == 0 ? -127 : floorf(x[i] * 20) + 0.5f;
        if (form == 2) x[i] = 0;
        if (form == 3) x[i] *= 1e-31f;
    }
}

static void quantize_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    const int64_t n = s->size[0] * VOUCH_BLOCK;
    bits_add_input(f, "x", work->inputs, n);
    bits_add_result(f, "q", BITS_WHOLE, 0, n);
    bits_add_result(f, "d", BITS_FLOAT, n, s->size[0]);
    bits_add_result(f, "s", BITS_FLOAT, n + s->size[0], s->size[0]);
}

static int64_t quantize_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const int64_t n_blocks = ((const bits_shape *)arg)->size[0], n = n_blocks * VOUCH_BLOCK;
    vouch_acts acts = work->acts;
    acts.n_rows = 1, acts.n_in = n, acts.group_rows = kernels->group_rows;
    acts.needs = (vouch_needs)1 << VOUCH_SUM;
    kernels->quantize(&acts, work->inputs, n, 0, 1, 0, n);
    for (int64_t i = 0; i < n; i++) out[i] = acts.q[i];
    for (int64_t i = 0; i < n_blocks; i++) out[n + i] = acts.d[i], out[n + n_blocks + i] = acts.sums[VOUCH_SUM][i].s;
    return n + 2 * n_blocks;
}

/* ---------------------------------------------------------------- recurrent */

/* The biases lie after the weights. */
static void conv_fill(bits_work *work, const bits_shape *s)
{
    const int64_t n = s->size[0];
    const bits_shape whole = {.size = {WIDTH * n}, .choice = {s->choice[0], s->choice[1]}};
    fill(&whole, work->inputs, work->more, WIDTH * n, 1);
    fill(s, work->more + WIDTH * n, NULL, n, 1);
}

static void conv_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    const int64_t n = s->size[0];
    bits_add_input(f, "x", work->inputs, WIDTH * n);
    bits_add_input(f, "weights", work->more, WIDTH * n);
    if (s->choice[0]) bits_add_input(f, "bias", work->more + WIDTH * n, n);
    bits_add_result(f, "y", BITS_FLOAT, 0, n);
}

static int64_t conv_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const bits_shape *s = arg;
    const int64_t n = s->size[0];
    const float *inputs[WIDTH];
    for (int i = 0; i < WIDTH; i++) inputs[i] = work->inputs + i * n;
    const vouch_conv conv = {n, WIDTH, work->more, s->choice[0] ? work->more + WIDTH * n : NULL, s->choice[1]};
    kernels->conv(out, &conv, inputs, n / 3, n);
    kernels->conv(out, &conv, inputs, 0, n / 3);
    return n;
}

/* Rules of a scan; the first choice is a decay for each key. */
enum { PLAIN_RULE, DELTA_RULE, RWKV6_RULE, RWKV7_RULE, N_RULES };

/* Places of a scan's inputs, each for two rows. The state lies in work->more. */
typedef struct scan_places {
    int64_t n_keys, n_decays;
    float *q, *k, *erase, *write, *decay, *v;
} scan_places;

static scan_places scan_place(const bits_work *work, const bits_shape *s)
{
    enum { PART = N_ROWS * MOST_KEYS };
    float *x = work->inputs;
    return (scan_places){
        s->size[1], s->choice[0] ? s->size[1] : 1, x, x + PART, x + 2 * PART, x + 3 * PART, x + 4 * PART, x + 5 * PART};
}

static void scan_fill(bits_work *work, const bits_shape *s)
{
    const scan_places p = scan_place(work, s);
    bits_random random = random_of(s);
    bits_fill(&random, work->more, p.n_keys * s->size[0], -1, 1);
    for (int64_t row = 0; row < N_ROWS; row++) {
        float decays[MOST_KEYS];
        float *const parts[] = {p.q, p.k, p.erase, p.write};
        for (int i = 0; i < 4; i++) bits_fill(&random, parts[i] + row * p.n_keys, p.n_keys, -0.3f, 0.3f);
        bits_fill(&random, decays, p.n_keys, 0.5f, 1);
        memcpy(p.decay + row * p.n_decays, decays, (size_t)p.n_decays * sizeof *decays);
        bits_fill(&random, p.v + row * s->size[0], s->size[0], -1, 1);
    }
    work->scalars[0] = 0.75f, work->scalars[1] = 0.5f;
}

static void scan_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    const scan_places p = scan_place(work, s);
    const int64_t n_state = p.n_keys * s->size[0];
    bits_add_input(f, "state", work->more, n_state);
    bits_add_input(f, "q", p.q, N_ROWS * p.n_keys);
    bits_add_input(f, "k", p.k, N_ROWS * p.n_keys);
    bits_add_input(f, "v", p.v, N_ROWS * s->size[0]);
    bits_add_input(f, "decay", p.decay, N_ROWS * p.n_decays);
    if (s->choice[1] == RWKV7_RULE) {
        bits_add_input(f, "erase", p.erase, N_ROWS * p.n_keys);
        bits_add_input(f, "write", p.write, N_ROWS * p.n_keys);
    }
    bits_add_input(f, "rate", work->scalars, 1);
    bits_add_input(f, "skip", work->scalars + 1, 1);
    bits_add_result(f, "state", BITS_FLOAT, 0, n_state);
    bits_add_result(f, "y", BITS_FLOAT, n_state, N_ROWS * s->size[0]);
}

/* The head's state [n_keys, n] after two rows, then what the rows give. */
static int64_t scan_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const bits_shape *s = arg;
    const scan_places p = scan_place(work, s);
    const int64_t n = s->size[0], n_state = p.n_keys * n;
    const bool erases = s->choice[1] == RWKV7_RULE;
    memcpy(out, work->more, (size_t)n_state * sizeof *out);
    for (int64_t row = 0; row < N_ROWS; row++) {
        const vouch_scan scan = {.n_keys = p.n_keys,
                                 .n_values = n,
                                 .q = p.q + row * p.n_keys,
                                 .k = p.k + row * p.n_keys,
                                 .v = p.v + row * n,
                                 .decay = p.decay + row * p.n_decays,
                                 .decay_step = s->choice[0],
                                 .rate = work->scalars[0],
                                 .skip = work->scalars[1],
                                 .has_delta = s->choice[1] == DELTA_RULE,
                                 .reads_before = s->choice[1] == RWKV6_RULE,
                                 .erase = erases ? p.erase + row * p.n_keys : NULL,
                                 .write = erases ? p.write + row * p.n_keys : NULL};
        kernels->scan(out + n_state + row * n, out, &scan);
    }
    return n_state + N_ROWS * n;
}

static int64_t channels_state(const bits_shape *s)
{
    return (s->size[0] + VOUCH_TILE - 1) / VOUCH_TILE * N_STATE * VOUCH_TILE;
}

/* work->inputs: dt, x, skip, then b and c. work->more: a, then the state. Lanes from n on stay zero. */
static void channels_fill(bits_work *work, const bits_shape *s)
{
    const int64_t n_state = channels_state(s);
    float *a = work->more, *state = work->more + n_state;
    bits_random random = {(uint64_t)s->size[0]};
    bits_fill(&random, state, n_state, -1, 1);
    bits_fill(&random, a, n_state, -20, 0);
    for (int64_t i = 0; i < n_state; i++)
        if (i / (N_STATE * VOUCH_TILE) * VOUCH_TILE + i % VOUCH_TILE >= s->size[0]) state[i] = a[i] = 0;
    bits_fill(&random, work->inputs, 4 * MOST_VALUES, 0, 1);
}

static void channels_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    const int64_t n_state = channels_state(s);
    float *x = work->inputs;
    bits_add_input(f, "state", work->more + n_state, n_state);
    bits_add_input(f, "a", work->more, n_state);
    bits_add_input(f, "dt", x, s->size[0]);
    bits_add_input(f, "x", x + MOST_VALUES, s->size[0]);
    bits_add_input(f, "skip", x + 2 * MOST_VALUES, s->size[0]);
    bits_add_input(f, "b", x + 3 * MOST_VALUES, N_STATE);
    bits_add_input(f, "c", x + 3 * MOST_VALUES + N_STATE, N_STATE);
    bits_add_result(f, "state", BITS_FLOAT, 0, n_state);
    bits_add_result(f, "y", BITS_FLOAT, n_state, s->size[0]);
}

static int64_t channels_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const bits_shape *s = arg;
    const int64_t n = s->size[0], n_state = channels_state(s);
    const float *x = work->inputs;
    const vouch_channel_scan scan = {.n_channels = n,
                                     .n_state = N_STATE,
                                     .a = work->more,
                                     .dt = x,
                                     .x = x + MOST_VALUES,
                                     .skip = x + 2 * MOST_VALUES,
                                     .b = x + 3 * MOST_VALUES,
                                     .c = x + 3 * MOST_VALUES + N_STATE};
    memcpy(out, work->more + n_state, (size_t)n_state * sizeof *out);
    kernels->scan_channels(out + n_state, out, &scan, 0, n);
    return n_state + n;
}

/* -------------------------------------------------------------------- names */

/* clang-format off */
#define ROW(name, id, ...) {name, id##_fill, id##_list, id##_run, __VA_ARGS__}
static const bits_operation operations[] = {
    ROW("rmsnorm", rmsnorm, .sizes = {{"n", 1, MOST, 1}}),
    ROW("l2 norm", l2_norm, .sizes = {{"n", 1, MOST, 1}}, .choices = {{NULL, 2}}),
    ROW("rope", rope, .sizes = {{"n", 2, MOST, 2}}, .choices = {{"half_split", 2}}),
    ROW("angles", angles, .is_above_zero = true, .sizes = {{"n", 2, MOST, 2}, {"position", 0, 100000, 1}}),
    ROW("swiglu", swiglu, .sizes = {{"n", 1, MOST, 1}}),
    ROW("softplus", softplus, .sizes = {{"n", 1, MOST, 1}}),
    ROW("softmax", softmax, .sizes = {{"n", 1, MOST, 1}}, .choices = {{NULL, 2}}),
    ROW("exp weights", exp, .sizes = {{"n", 1, MOST, 1}}),
    ROW("quantize", quantize, .sizes = {{"n_blocks", 1, MOST_BLOCKS, 1}}),
    ROW("convolution", conv, .sizes = {{"n", 1, MOST, 1}}, .choices = {{"has_bias", 2}, {"has_silu", 2}}),
    ROW("scan", scan, .sizes = {{"n_values", 1, MOST_VALUES, 1}, {"n_keys", 1, MOST_KEYS, 1}},
        .choices = {{"has_key_decays", 2}, {"rule", N_RULES}}),
    ROW("channel scan", channels, .sizes = {{"n", 1, MOST_VALUES, 1}}),
};
/* clang-format on */
enum { N_OPERATIONS = sizeof operations / sizeof *operations };

const bits_operation *bits_row_operation(int i)
{
    return i < N_OPERATIONS ? &operations[i] : NULL;
}

int32_t bits_row_names(void)
{
    return N_OPERATIONS;
}

static int n_variants(const bits_operation *op, int choice)
{
    return op->choices[choice].n > 0 ? op->choices[choice].n : 1;
}

/* Odd lengths of pairs count as the even ones below. The second size is the largest. */
static void variants_compare(bits_work *work, const bits_operation *op, int64_t n)
{
    bits_shape s = {.size = {n, op->sizes[1].most}};
    char shape[48];
    for (int i = 0; i < n_variants(op, 0) * n_variants(op, 1); i++) {
        s.choice[0] = i % n_variants(op, 0), s.choice[1] = i / n_variants(op, 0);
        snprintf(shape, sizeof shape, "a row of %lld, form %d", (long long)n, variant(&s));
        op->fill(work, &s);
        bits_compare(work, op->run, &s, shape);
    }
}

vouch_status bits_check_rows(bits_work *work, vouch_error *err)
{
    for (int i = 0; i < N_OPERATIONS; i++) {
        const bits_operation *op = &operations[i];
        VOUCH_TRY(bits_begin(work, op->name, err));
        for (int64_t n = 2; n <= op->sizes[0].most; n += n < 36 ? 1 : 31) variants_compare(work, op, n);
        bits_end(work);
    }
    return VOUCH_OK;
}
