/* SPDX-License-Identifier: MIT */
/*
 * How large the weights are. RMSNorm gives a matrix [n_out, n_in] inputs of size 1. Weights of standard deviation gain
 * / sqrt(n_in) then give outputs of standard deviation `gain`. Queries and keys of gain 1.7 give attention scores of
 * about 3, enough to prefer few positions. A layer adds about 1.5 to the residual stream; the embedding starts it at
 * 0.2.
 *
 * The file has the same bits on every machine: random numbers come from sums of integers, and sqrt() rounds correctly
 * everywhere.
 */
#include "support/model/tiny_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/model/tiny_family.h"
#include "support/model/tiny_vocab.h"
#include "bits/values.h"

enum { MAX_TENSORS = 1024 };
enum { CONV_WIDTH = 3 };
static const float embedding_gain = 0.2f, logits_gain = 4.0f, query_gain = 1.7f;

const char *tiny_model_family(int32_t i)
{
    const tiny_family *family = tiny_family_at(i);
    return family ? family->name : NULL;
}

typedef struct tiny_writer {
    tiny_model_options o; /* with the defaults filled in */
    const tiny_family *family;
    vouch_gguf_writer *gguf;
    uint64_t state, noise_state;
    void *data[MAX_TENSORS];
    int n_data, n_matrices;
} tiny_writer;

static void die(const char *message)
{
    fprintf(stderr, "tiny_model: %s\n", message);
    abort();
}

static void *allocate(int64_t n, size_t size)
{
    void *block = calloc((size_t)n, size);
    if (!block) die("no memory");
    return block;
}

/* Nearly normal with mean 0 and variance 1: the sum of four uniform 16-bit numbers from splitmix64. */
static float draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z ^= z >> 31;
    const int32_t sum = (int32_t)((z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48));
    return (float)(sum - 2 * 0xffff) * 0x1.bb67aep-16f; /* sqrt(3) / 2^16 */
}

/* ------------------------------------------------------------- quantisation */

static void put_half(unsigned char *out, float value)
{
    const uint16_t half = vouch_float_to_half(value);
    memcpy(out, &half, sizeof half);
}

static float clamp(float value, float low, float high)
{
    return value < low ? low : value > high ? high : value;
}

/* Scale d = max |x| / 127. */
static void pack_q8_0(const float *x, unsigned char *out)
{
    float most = 0;
    for (int i = 0; i < 32; i++) most = fmaxf(most, fabsf(x[i]));
    const float d = most / 127, inverse = d > 0 ? 1 / d : 0;
    put_half(out, d);
    for (int i = 0; i < 32; i++) out[2 + i] = (unsigned char)(int8_t)roundf(x[i] * inverse);
}

/* Scale d such that the value of largest magnitude becomes -8. */
static void pack_q4_0(const float *x, unsigned char *out)
{
    float far = 0;
    for (int i = 0; i < 32; i++)
        if (fabsf(x[i]) > fabsf(far)) far = x[i];
    const float d = far / -8, inverse = d != 0 ? 1 / d : 0;
    put_half(out, d);
    for (int i = 0; i < 16; i++) {
        const int low = (int)clamp(floorf(x[i] * inverse + 8.5f), 0, 15);
        const int high = (int)clamp(floorf(x[i + 16] * inverse + 8.5f), 0, 15);
        out[2 + i] = (unsigned char)(low | high << 4);
    }
}

/* Offset: the smallest value. Scale: 1/15 of the range. */
static void pack_q4_1(const float *x, unsigned char *out)
{
    float least = x[0], most = x[0];
    for (int i = 1; i < 32; i++) {
        least = fminf(least, x[i]);
        most = fmaxf(most, x[i]);
    }
    const float d = (most - least) / 15, inverse = d > 0 ? 1 / d : 0;
    put_half(out, d);
    put_half(out + 2, least);
    for (int i = 0; i < 16; i++) {
        const int low = (int)clamp(floorf((x[i] - least) * inverse + 0.5f), 0, 15);
        const int high = (int)clamp(floorf((x[i + 16] - least) * inverse + 0.5f), 0, 15);
        out[4 + i] = (unsigned char)(low | high << 4);
    }
}

static void put_bfloat(unsigned char *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    memcpy(out, &(uint16_t){(uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)}, 2);
}

/* A random block with the standard deviation of the n values. The values also seed it, so other values give another
 * block. */
static void pack_random(vouch_type type, const float *x, int32_t n, unsigned char *out)
{
    double squares = 0;
    uint64_t seed = 0;
    for (int32_t i = 0; i < n; i++) squares += (double)x[i] * (double)x[i];
    memcpy(&seed, &squares, sizeof seed);
    bits_fill_blocks((int32_t)type, (float)sqrt(squares / n), seed, 0, 1, out);
}

void tiny_model_pack(vouch_type type, const float *values, int64_t n, unsigned char *out)
{
    const vouch_type_info *info = vouch_type_get_info(type);
    if (!info || n % info->block_length != 0) die("bad type or row");
    for (int64_t i = 0; i < n; i += info->block_length, out += info->block_bytes) {
        const float *x = values + i;
        switch (type) {
        case VOUCH_TYPE_Q8_0: pack_q8_0(x, out); break;
        case VOUCH_TYPE_Q4_0: pack_q4_0(x, out); break;
        case VOUCH_TYPE_Q4_1: pack_q4_1(x, out); break;
        case VOUCH_TYPE_F16: put_half(out, *x); break;
        case VOUCH_TYPE_BF16: put_bfloat(out, *x); break;
        case VOUCH_TYPE_F32: memcpy(out, x, sizeof *x); break;
        default: pack_random(type, x, info->block_length, out);
        }
    }
}

/* ------------------------------------------------------------------ tensors */

static bool is_omitted(const tiny_writer *w, const char *name)
{
    if (w->o.nextn_alone && strncmp(name, "blk.", 4) == 0 && strtol(name + 4, NULL, 10) < w->o.n_layers) return true;
    return w->o.omit && strcmp(w->o.omit, name) == 0;
}

/* n 0: two dimensions. */
static void add_tensor(tiny_writer *w, const char *name, vouch_type type, int64_t n_in, int64_t n_out, int64_t n_stack,
                       const float *values)
{
    const vouch_type_info *info = vouch_type_get_info(type);
    const int64_t dim[3] = {n_in, n_out, n_stack}, n = n_in * n_out * (n_stack ? n_stack : 1);
    if (w->n_data == MAX_TENSORS) die("too many tensors");
    unsigned char *data = w->data[w->n_data++] = allocate(n / info->block_length, (size_t)info->block_bytes);
    tiny_model_pack(type, values, n, data);
    if (!is_omitted(w, name)) vouch_gguf_add_tensor(w->gguf, name, type, n_stack ? 3 : n_out > 1 ? 2 : 1, dim, data);
}

/* The type of a matrix with rows of n_in values: F16 where they aren't whole blocks of `type`. */
static vouch_type type_of_rows(vouch_type type, int64_t n_in)
{
    return n_in % vouch_type_get_info(type)->block_length == 0 ? type : VOUCH_TYPE_F16;
}

/* Adds n matrices as one tensor; n 0: one matrix. The weights before noise and rounding depend on the seed alone, not
 * on noise or type. */
static void add_matrices(tiny_writer *w, const char *name, int64_t n, int64_t n_out, int64_t n_in, float deviation)
{
    const vouch_type type = w->n_matrices++ % 2 ? w->o.other : w->o.type;
    const int64_t n_values = n_out * n_in * (n ? n : 1);
    float *values = allocate(n_values, sizeof *values);
    for (int64_t i = 0; i < n_values; i++) values[i] = deviation * draw(&w->state);
    for (int64_t i = 0; w->o.noise != 0 && i < n_values; i++)
        values[i] += deviation * w->o.noise * draw(&w->noise_state);
    if (w->o.poison && strcmp(name, "token_embd.weight") == 0) values[w->o.poison * n_in] = NAN;
    add_tensor(w, name, type_of_rows(type, n_in), n_in, n_out, n, values);
    free(values);
}

static void add_matrix(tiny_writer *w, const char *name, int64_t n_out, int64_t n_in, float deviation)
{
    add_matrices(w, name, 0, n_out, n_in, deviation);
}

/* Adds vectors [n_out, n_in] of F32. */
static void add_vectors(tiny_writer *w, const char *name, int64_t n_out, int64_t n_in, float mean, float deviation)
{
    float *values = allocate(n_out * n_in, sizeof *values);
    for (int64_t i = 0; i < n_out * n_in; i++) values[i] = mean + deviation * draw(&w->state);
    add_tensor(w, name, VOUCH_TYPE_F32, n_in, n_out, 0, values);
    free(values);
}

/* Adds the weights of a convolution, [n_channels, 1, width]. */
static void add_convolution(tiny_writer *w, const char *name, int64_t n_channels, int64_t width)
{
    float *values = allocate(n_channels * width, sizeof *values);
    for (int64_t i = 0; i < n_channels * width; i++) values[i] = 0.6f * draw(&w->state);
    add_tensor(w, name, VOUCH_TYPE_F32, width, 1, n_channels, values);
    free(values);
}

/* Adds the weights of a norm, close to `mean`. */
static void add_norm(tiny_writer *w, const char *name, int64_t n, float mean)
{
    add_vectors(w, name, 1, n, mean, 0.1f * mean);
}

static void add_bias(tiny_writer *w, const char *name, int64_t n)
{
    add_vectors(w, name, 1, n, 0, 0.2f);
}

/* Frequency divisors like Llama 3's: 1 for the high frequencies, then growing to 8. */
static void add_rope_freqs(tiny_writer *w)
{
    const int64_t n = w->o.head_dim / 2;
    float *values = allocate(n, sizeof *values);
    for (int64_t i = 0; i < n; i++) values[i] = i < n / 2 ? 1 : 1 + 7 * (float)(i - n / 2) / (float)(n - n / 2);
    if (w->o.last_rope_freq != 0) values[n - 1] = w->o.last_rope_freq;
    add_tensor(w, "rope_freqs.weight", VOUCH_TYPE_F32, n, 1, 0, values);
    free(values);
}

/* Whether this is a head's block that is dense, as wide as the first layer's network, with fused queries, keys and
 * values. */
static bool is_plain_nextn(const tiny_writer *w, int32_t index)
{
    return w->family->plain_nextn && index >= w->o.n_layers;
}

/* value: the heads, KV heads or hidden width of a layer. Every second layer of an uneven family has half of it. */
static int32_t in_layer(const tiny_writer *w, int32_t index, int32_t value)
{
    const bool is_whole = is_plain_nextn(w, index) && value == w->o.n_ff;
    return w->family->is_uneven && index % 2 && !is_whole ? value / 2 : value;
}

static bool has_attention(const tiny_writer *w, int32_t index)
{
    const tiny_parts parts = w->family->parts;
    if (index >= w->o.n_layers) return true;
    return parts == EVERYTHING || (parts == MIXER_OR_ATTENTION && index % 2) || (parts == BY_TURNS && index % 3 == 1);
}

static bool has_feed(const tiny_writer *w, int32_t index)
{
    return w->family->parts != MIXER_ONLY && (w->family->parts != BY_TURNS || index % 3 == 2);
}

static bool has_mixer(const tiny_writer *w, int32_t index)
{
    const tiny_parts parts = w->family->parts;
    if ((!w->family->mamba && !w->family->mixer) || index >= w->o.n_layers) return false;
    return parts == BY_TURNS ? index % 3 == 0 : parts != MIXER_OR_ATTENTION || index % 2 == 0;
}

static int32_t value_dim_of(const tiny_writer *w)
{
    return w->family->narrow_values ? w->o.head_dim / 2 : w->o.head_dim;
}

typedef struct named_matrix {
    const char *name;
    int64_t n_out, n_in;
    float deviation;
} named_matrix;

/* How often each layer of a stack takes its turn. */
static int32_t turns_of(const tiny_model_options *o)
{
    return o->n_layers % 4 == 0 ? 2 : 1;
}

static void add_layer_matrices(tiny_writer *w, int32_t index, int64_t n, const named_matrix *all, size_t count)
{
    char name[64];
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "blk.%d.%s.weight", index, all[i].name);
        add_matrices(w, name, n, all[i].n_out, all[i].n_in, all[i].deviation);
    }
}

/* "blk.LAYER.TENSOR.KIND"; valid until the next call. */
static const char *layer_name(int32_t layer, const char *tensor, const char *kind)
{
    static char name[64];
    snprintf(name, sizeof name, "blk.%d.%s.%s", layer, tensor, kind);
    return name;
}

enum { N_NARROW = 32 };

/* The router prefers some experts clearly: its scores have a standard deviation of 2. */
enum { N_ADJUGATE = 64 }; /* of an adjugate's gated values */

static void add_experts(tiny_writer *w, int32_t index)
{
    const tiny_model_options *o = &w->o;
    const int64_t n_embd = o->n_embd, n_ff = o->n_ff_expert, n_shared = o->n_ff_shared;
    const int64_t n_in = w->family->narrow ? N_NARROW : n_embd;
    const float by_embd = 1 / sqrtf((float)o->n_embd), by_in = 1 / sqrtf((float)n_in), by_ff = 1 / sqrtf((float)n_ff);
    const named_matrix router = {"ffn_gate_inp", o->n_experts, n_embd, 2 * by_embd};
    const named_matrix around[] = {{"ffn_routed_down", n_in, n_embd, by_embd},
                                   {"ffn_routed_up", n_embd, n_in, 1.5f * by_in}};
    const named_matrix fused[] = {{"ffn_gate_up_exps", 2 * n_ff, n_in, 1.5f * by_in},
                                  {"ffn_down_exps", n_in, n_ff, 2 * by_ff}};
    const named_matrix split[] = {{"ffn_gate_exps", n_ff, n_in, 1.5f * by_in},
                                  {"ffn_up_exps", n_ff, n_in, 1.5f * by_in},
                                  {"ffn_down_exps", n_in, n_ff, 2 * by_ff}};
    const named_matrix shared[] = {{"ffn_gate_shexp", n_shared, n_embd, 1.5f * by_embd},
                                   {"ffn_up_shexp", n_shared, n_embd, 1.5f * by_embd},
                                   {"ffn_down_shexp", n_embd, n_shared, 1.5f / sqrtf((float)n_shared)},
                                   {"ffn_gate_inp_shexp", 1, n_embd, by_embd}};
    const named_matrix small[] = {{"ffn_gate_chexps", N_ADJUGATE, n_embd, 1.5f * by_embd},
                                  {"ffn_up_chexps", N_ADJUGATE, n_embd, 1.5f * by_embd},
                                  {"ffn_down_chexps", n_embd, N_ADJUGATE, 2 / sqrtf(N_ADJUGATE)}};
    add_layer_matrices(w, index, 0, &router, 1);
    if (w->family->narrow) {
        add_layer_matrices(w, index, 0, around, 2);
        add_norm(w, layer_name(index, "ffn_routed_norm", "weight"), n_in, 1);
    }
    const int first = w->family->no_gate; /* the gates are the first */
    if (o->fused) add_layer_matrices(w, index, o->n_experts, fused, 2);
    else add_layer_matrices(w, index, o->n_experts, split + first, (size_t)(3 - first));
    if (w->family->adjugates) add_layer_matrices(w, index, o->n_experts / 2, small, 3);
    if (n_shared) add_layer_matrices(w, index, 0, shared + first, (size_t)((o->shared_gate ? 4 : 3) - first));
    if (o->selection_bias) add_norm(w, layer_name(index, "exp_probs_b", "bias"), o->n_experts, 1);
    if (w->family->router_norm) add_norm(w, layer_name(index, "ffn_gate_inp", "scale"), n_embd, 8);
    if (!w->family->expert_bias) return;
    add_bias(w, layer_name(index, "ffn_gate_inp", "bias"), o->n_experts);
    add_vectors(w, layer_name(index, "ffn_gate_exps", "bias"), o->n_experts, n_ff, 0, 0.2f);
    add_vectors(w, layer_name(index, "ffn_up_exps", "bias"), o->n_experts, n_ff, 0, 0.2f);
    add_vectors(w, layer_name(index, "ffn_down_exps", "bias"), o->n_experts, n_embd, 0, 0.2f);
}

/* The norm of a branch's input, as the family has it. */
static void add_layer_norm(tiny_writer *w, int32_t index, const char *tensor)
{
    if (w->family->bare_norms) return;
    add_norm(w, layer_name(index, tensor, "weight"), w->o.n_embd, 1);
    if (w->family->layer_norm || w->family->norm_bias) add_bias(w, layer_name(index, tensor, "bias"), w->o.n_embd);
}

static void add_short_convolution(tiny_writer *w, int32_t index)
{
    const int64_t n = w->o.n_embd;
    const named_matrix matrices[] = {{"shortconv.in_proj", 3 * n, n, 1.7f / sqrtf((float)n)},
                                     {"shortconv.out_proj", n, n, 2 / sqrtf((float)n)}};
    add_layer_matrices(w, index, 0, matrices, 2);
    add_vectors(w, layer_name(index, "shortconv.conv", "weight"), n, CONV_WIDTH, 0, 0.6f);
}

/* A gated delta net with as many heads as attention has. The decay of a head is 0.5 to 0.9 per token. */
static void add_delta_net(tiny_writer *w, int32_t index)
{
    const tiny_model_options *o = &w->o;
    const int64_t n_embd = o->n_embd, n_heads = o->n_heads, n_values = n_heads * o->head_dim,
                  n_channels = n_values + 2 * (int64_t)o->n_kv_heads * o->head_dim;
    const float by_embd = 1 / sqrtf((float)o->n_embd);
    const bool is_fused = w->family->mixer == DELTA_NET_FUSED;
    const named_matrix fused = {"ssm_ba", 2 * n_heads, n_embd, by_embd};
    const named_matrix matrices[] = {{"attn_qkv", n_channels, n_embd, query_gain * by_embd},
                                     {"attn_gate", n_values, n_embd, 1.5f * by_embd},
                                     {"ssm_out", n_embd, n_values, 2.5f / sqrtf((float)n_values)},
                                     {"ssm_beta", n_heads, n_embd, by_embd},
                                     {"ssm_alpha", n_heads, n_embd, by_embd}};
    add_layer_matrices(w, index, 0, matrices, is_fused ? 3 : 5);
    if (is_fused) add_layer_matrices(w, index, 0, &fused, 1);
    add_vectors(w, layer_name(index, "ssm_conv1d", "weight"), n_channels, CONV_WIDTH, 0, 0.6f);
    add_vectors(w, layer_name(index, "ssm_dt", "bias"), 1, n_heads, 0, 0.5f);
    char name[32];
    snprintf(name, sizeof name, "blk.%d.ssm_a", index);
    add_vectors(w, name, 1, n_heads, -0.4f, 0.1f);
    add_norm(w, layer_name(index, "ssm_norm", "weight"), o->head_dim, 1);
}

/* A gated delta net with a decay for each key; both low ranks are the head's width. */
static void add_key_delta_net(tiny_writer *w, int32_t index)
{
    const tiny_model_options *o = &w->o;
    const int64_t n_embd = o->n_embd, n_low = o->head_dim, n = o->n_heads * n_low;
    const float by_embd = 1 / sqrtf((float)n_embd), by_low = 1 / sqrtf((float)n_low);
    const bool is_low = w->family->mixer != KEY_DELTA_NET, is_mixed = w->family->mixer == KEY_DELTA_NET_MIXED;
    const named_matrix matrices[] = {
        {"attn_q", n, n_embd, query_gain * by_embd},
        {"attn_k", n, n_embd, query_gain * by_embd},
        {"attn_v", n, n_embd, query_gain * by_embd},
        {"ssm_beta", o->n_heads, n_embd, by_embd},
        {"attn_output", n_embd, n, 2.5f / sqrtf((float)n)},
        {"ssm_f_a", is_low ? n_low : n, n_embd, by_embd},
        {is_mixed ? "ssm_g" : "ssm_g_a", is_low && !is_mixed ? n_low : n, n_embd, 1.5f * by_embd},
        {"ssm_f_b", n, n_low, by_low},
        {"ssm_g_b", n, n_low, by_low}};
    static const char *const convolutions[] = {"ssm_conv1d_q", "ssm_conv1d_k", "ssm_conv1d_v"};
    add_layer_matrices(w, index, 0, matrices, is_mixed ? 8 : is_low ? 9 : 7);
    for (int i = 0; i < 3; i++) add_convolution(w, layer_name(index, convolutions[i], "weight"), n, CONV_WIDTH);
    add_vectors(w, layer_name(index, "ssm_dt", "bias"), 1, n, 0, 0.5f);
    char name[32];
    snprintf(name, sizeof name, "blk.%d.ssm_a", index);
    if (is_mixed) add_vectors(w, name, 1, o->n_heads, -1, 0.1f);
    else add_vectors(w, name, o->n_heads, 1, is_low ? -0.4f : 1, 0.1f);
    add_norm(w, layer_name(index, "ssm_norm", "weight"), n_low, 1);
}

/* Width of a layer's heads. */
static int32_t head_dim_of(const tiny_writer *w, int32_t index)
{
    return w->family->own_inputs && !w->family->versions && index % 2 ? 2 * w->o.head_dim : w->o.head_dim;
}

static bool shares_keys(const tiny_writer *w, int32_t index)
{
    return w->family->own_inputs && index >= w->o.n_layers - 2;
}

enum { INPUT_DIM = 16, N_VERSIONS = 4, LAUREL_RANK = 16 };

/* The layer's share in the versions of the stream, and the path beside its mixer. */
static void add_versions(tiny_writer *w, int32_t index)
{
    const int64_t n = w->o.n_embd;
    const float by_embd = 1 / sqrtf((float)n);
    add_matrix(w, layer_name(index, "laurel_l", "weight"), LAUREL_RANK, n, by_embd);
    add_matrix(w, layer_name(index, "laurel_r", "weight"), n, LAUREL_RANK, 1 / sqrtf(LAUREL_RANK));
    add_norm(w, layer_name(index, "laurel_post_norm", "weight"), n, 1);
    add_matrix(w, layer_name(index, "altup_router", "weight"), N_VERSIONS, n, sqrtf((float)n));
    add_norm(w, layer_name(index, "altup_router_norm", "weight"), n, 1);
    add_vectors(w, layer_name(index, "altup_predict_coef", "weight"), N_VERSIONS * N_VERSIONS, N_VERSIONS, 0, 0.3f);
    add_vectors(w, layer_name(index, "altup_correct_coef", "weight"), N_VERSIONS, N_VERSIONS, 0, 0.3f);
    add_norm(w, layer_name(index, "altup_correct_scale", "weight"), n, 1);
}

/* The weights of hyper-connections: PREFIX_fn, PREFIX_base and PREFIX_scale. */
static void add_connections(tiny_writer *w, const char *prefix, int64_t n_out, int64_t n_scales)
{
    const int64_t n_in = (int64_t)w->family->streams * w->o.n_embd;
    char name[64];
    snprintf(name, sizeof name, "%s_fn.weight", prefix);
    add_matrix(w, name, n_out, n_in, 1 / sqrtf((float)n_in));
    snprintf(name, sizeof name, "%s_base.weight", prefix);
    add_vectors(w, name, 1, n_out, 0, 0.5f);
    snprintf(name, sizeof name, "%s_scale.weight", prefix);
    add_vectors(w, name, 1, n_scales, 0.7f, 0.2f);
}

static void add_streams(tiny_writer *w, int32_t index)
{
    const int64_t n = w->family->streams, n_out = 2 * n + (w->family->balanced ? n * n : 0);
    char prefix[32];
    snprintf(prefix, sizeof prefix, "blk.%d.hc_attn", index);
    add_connections(w, prefix, n_out, w->family->balanced ? 3 : 2);
    snprintf(prefix, sizeof prefix, "blk.%d.hc_ffn", index);
    add_connections(w, prefix, n_out, w->family->balanced ? 3 : 2);
}

static void add_own_inputs(tiny_writer *w, int32_t index)
{
    const int64_t n_embd = w->o.n_embd;
    static const float scale = 0.9f;
    add_matrix(w, layer_name(index, "inp_gate", "weight"), INPUT_DIM, n_embd, 1 / sqrtf((float)n_embd));
    add_matrix(w, layer_name(index, "proj", "weight"), n_embd, INPUT_DIM, 1 / sqrtf(INPUT_DIM));
    add_norm(w, layer_name(index, "post_norm", "weight"), n_embd, 1);
    if (w->family->versions) return;
    add_tensor(w, layer_name(index, "layer_output_scale", "weight"), VOUCH_TYPE_F32, 1, 1, 0, &scale);
}

static void add_head_norms(tiny_writer *w, int32_t index)
{
    const int32_t head_dim = head_dim_of(w, index), n_norms = shares_keys(w, index) ? 1 : 2;
    const float gain = w->family->own_inputs ? 0.6f : query_gain; /* scores of Gemma 4 have no scale */
    const tiny_model_options *o = &w->o;
    const int32_t n_heads[] = {in_layer(w, index, o->n_heads), in_layer(w, index, o->n_kv_heads)};
    const char *const tensors[] = {"attn_q_norm", "attn_k_norm"};
    for (int i = 0; i < n_norms; i++) {
        const char *name = layer_name(index, tensors[i], "weight");
        if (w->family->heads == EACH_HEAD) add_norm(w, name, head_dim, gain);
        if (w->family->heads == ALL_HEADS) add_norm(w, name, (int64_t)n_heads[i] * o->head_dim, query_gain);
        if (w->family->heads == GAINS && i == 0) add_vectors(w, name, n_heads[0], 1, query_gain, 0.3f);
        if (w->family->heads == OWN_WEIGHTS)
            add_vectors(w, name, n_heads[i], o->head_dim, query_gain, 0.1f * query_gain);
    }
}

/* Sizes of Mamba mixers. */
enum { MAMBA_STATE = 12, MAMBA_WIDTH = 4, MAMBA_GROUPS = 2 };

static int32_t mamba_inner(const tiny_writer *w)
{
    return 2 * w->o.n_embd;
}

static int32_t mamba_heads(const tiny_writer *w)
{
    return w->family->mamba == 3 ? mamba_inner(w) / 16 : 8;
}

/* Inputs of W_step. */
static int32_t mamba_rank(const tiny_writer *w)
{
    return w->family->mamba == 3 ? 64 : w->o.n_embd / 16;
}

static void add_mamba(tiny_writer *w, int32_t index)
{
    const bool is_second = w->family->mamba == 2, has_heads = w->family->mamba > 1;
    const int64_t n = mamba_inner(w), rank = mamba_rank(w), n_rates = has_heads ? mamba_heads(w) : n;
    const int64_t n_channels = is_second ? n + 2 * MAMBA_GROUPS * MAMBA_STATE : n;
    const float by_embd = 1 / sqrtf((float)w->o.n_embd), by_inner = 1 / sqrtf((float)n);
    const named_matrix ends[] = {{"ssm_in", is_second ? n + n_channels + n_rates : 2 * n, w->o.n_embd, by_embd},
                                 {"ssm_out", w->o.n_embd, n, 4 * by_inner}};
    const named_matrix select[] = {{"ssm_x", rank + 2 * MAMBA_STATE, n, 1.5f * by_inner},
                                   {"ssm_dt", n_rates, rank, 1 / sqrtf((float)rank)}};
    add_layer_matrices(w, index, 0, ends, 2);
    if (!is_second) add_layer_matrices(w, index, 0, select, 2);
    add_vectors(w, layer_name(index, "ssm_conv1d", "weight"), n_channels, MAMBA_WIDTH, 0, 0.7f);
    add_bias(w, layer_name(index, "ssm_conv1d", "bias"), n_channels);
    add_vectors(w, layer_name(index, "ssm_dt", "bias"), 1, n_rates, -1, 0.5f);
    char name[64];
    snprintf(name, sizeof name, "blk.%d.ssm_a", index);
    if (has_heads) add_vectors(w, name, is_second ? n_rates : 1, is_second ? 1 : n_rates, -1, 0.3f);
    else add_vectors(w, name, n_rates, MAMBA_STATE, -1, 0.3f);
    snprintf(name, sizeof name, "blk.%d.ssm_d", index);
    add_vectors(w, name, is_second ? n_rates : 1, is_second ? 1 : n_rates, 1, 0.3f);
    if (is_second) add_vectors(w, layer_name(index, "ssm_norm", "weight"), MAMBA_GROUPS, n / MAMBA_GROUPS, 1, 0.1f);
    if (!w->family->part_norms) return;
    add_norm(w, layer_name(index, "ssm_dt_norm", "weight"), rank, 1);
    add_norm(w, layer_name(index, "ssm_b_norm", "weight"), MAMBA_STATE, 1);
    add_norm(w, layer_name(index, "ssm_c_norm", "weight"), MAMBA_STATE, 1);
}

static void add_norms(tiny_writer *w, int32_t index)
{
    const tiny_family *f = w->family;
    if (!f->no_norms_before) {
        add_layer_norm(w, index, "attn_norm");
        if (f->second_norm) add_layer_norm(w, index, "attn_norm_2");
        if (!f->no_feed_norm && has_feed(w, index)) add_layer_norm(w, index, f->feed_norm ? f->feed_norm : "ffn_norm");
    }
    if (f->norms_after) {
        add_norm(w, layer_name(index, "post_attention_norm", "weight"), w->o.n_embd, 1);
        add_norm(w, layer_name(index, "post_ffw_norm", "weight"), w->o.n_embd, 1);
    }
    for (int i = 0; i < 3 && f->extra_norms[i]; i++) add_layer_norm(w, index, f->extra_norms[i]);
    if (f->sinks) add_bias(w, layer_name(index, "attn_sinks", "weight"), in_layer(w, index, w->o.n_heads));
    if (has_attention(w, index)) add_head_norms(w, index);
}

enum { LOW_RANK = 32 };

/* Widths of latent attention. */
typedef struct latent_widths {
    int32_t rank, n_plain, n_rotated, value_dim;
} latent_widths;

static const latent_widths common_widths = {32, 32, 32, 24}, bare_widths = {32, 32, 0, 24},
                           window_widths = {64, 16, 32, 40};

static const latent_widths *latent_of(const tiny_writer *w, int32_t index)
{
    if (w->family->balanced) return &bare_widths;
    return w->family->window_latent && index % w->family->window_period > 0 ? &window_widths : &common_widths;
}

/* Adds W_uk and W_uv of all heads: in one tensor, or in two, of which the first has W_uk transposed. */
static void add_up(tiny_writer *w, int32_t index)
{
    const latent_widths *m = latent_of(w, index);
    const int64_t n = in_layer(w, index, w->o.n_heads), rank = m->rank, n_plain = m->n_plain, n_v = m->value_dim;
    const vouch_type keys_type = type_of_rows(w->o.type, n_plain), values_type = type_of_rows(w->o.type, rank);
    const int64_t both = n_plain + n_v;
    float *all = allocate(n * both * rank, sizeof *all), *keys = allocate(n * n_plain * rank, sizeof *keys),
          *values = allocate(n * n_v * rank, sizeof *values);
    for (int64_t i = 0; i < n * both * rank; i++) all[i] = 1 / sqrtf((float)rank) * draw(&w->state);
    for (int64_t h = 0; h < n; h++)
        for (int64_t o = 0; o < both; o++)
            for (int64_t r = 0; r < rank; r++) {
                const float value = all[(h * both + o) * rank + r] *= o < n_plain ? query_gain : 1;
                if (o < n_plain) keys[(h * rank + r) * n_plain + o] = value;
                else values[(h * n_v + o - n_plain) * rank + r] = value;
            }
    if (w->family->latent == TOGETHER || w->o.up_together) {
        add_tensor(w, layer_name(index, "attn_kv_b", "weight"), values_type, rank, n * both, 0, all);
    } else {
        add_tensor(w, layer_name(index, "attn_k_b", "weight"), keys_type, n_plain, rank, n, keys);
        add_tensor(w, layer_name(index, "attn_v_b", "weight"), values_type, rank, n_v, n, values);
    }
    free(all), free(keys), free(values);
}

static void add_latent(tiny_writer *w, int32_t index)
{
    const tiny_model_options *o = &w->o;
    const float by_embd = 1 / sqrtf((float)o->n_embd);
    const latent_widths *m = latent_of(w, index);
    const int64_t n_q = (int64_t)in_layer(w, index, o->n_heads) * (m->n_plain + m->n_rotated), rank = m->rank;
    if (w->family->low) {
        add_matrix(w, layer_name(index, "attn_q_a", "weight"), LOW_RANK, o->n_embd, by_embd);
        add_norm(w, layer_name(index, "attn_q_a_norm", "weight"), LOW_RANK, 1);
        add_matrix(w, layer_name(index, "attn_q_b", "weight"), n_q, LOW_RANK, query_gain / sqrtf(LOW_RANK));
    } else {
        add_matrix(w, layer_name(index, "attn_q", "weight"), n_q, o->n_embd, query_gain * by_embd);
    }
    add_matrix(w, layer_name(index, "attn_kv_a_mqa", "weight"), rank + m->n_rotated, o->n_embd, query_gain * by_embd);
    add_norm(w, layer_name(index, "attn_kv_a_norm", "weight"), rank, 1);
    if (w->family->window_latent) add_norm(w, layer_name(index, "attn_k_norm", "weight"), m->n_rotated, query_gain);
    add_up(w, index);
}

enum { N_ADAPTERS = 3, ADAPTER_RANK = 32 };

/* Adds the adapters of a matrix. Those of number 0 are zero in every second layer. */
static void add_adapters(tiny_writer *w, int32_t index, const char *tensor, int64_t n_out, int64_t n_in)
{
    static const char *const kinds[] = {"lora_a", "lora_b"};
    const int64_t outs[] = {ADAPTER_RANK, n_out}, ins[] = {n_in, ADAPTER_RANK};
    for (int k = 0; k < 2; k++) {
        const int64_t each = outs[k] * ins[k], n = (N_ADAPTERS + 1) * each, first = index % 2 ? each : 0;
        float *values = allocate(n, sizeof *values);
        for (int64_t i = first; i < n; i++) values[i] = draw(&w->state) / sqrtf((float)ins[k]);
        add_tensor(w, layer_name(index, tensor, kinds[k]), type_of_rows(w->o.type, ins[k]), ins[k], outs[k],
                   N_ADAPTERS + 1, values);
        free(values);
    }
}

static void add_lightning(tiny_writer *w, int32_t index)
{
    const int64_t n_embd = w->o.n_embd, n = (int64_t)w->o.n_heads * w->o.head_dim;
    const float by_embd = 1 / sqrtf((float)n_embd);
    const named_matrix matrices[] = {{"attn_qkv", 3 * n, n_embd, query_gain * by_embd},
                                     {"attn_gate", n, n_embd, 2 * by_embd},
                                     {"attn_output", n_embd, n, 2.5f / sqrtf((float)n)}};
    add_layer_matrices(w, index, 0, matrices, 3);
    add_norm(w, layer_name(index, "attn_norm_2", "weight"), n, 1);
}

enum { WKV_RANK = 32 };

/* Whether the layers have channel mixes instead of feed-forward networks. Those of the families with LayerNorm do. */
static bool has_channel_mix(const tiny_writer *w)
{
    return w->family->mixer >= WKV6 && w->family->layer_norm;
}

/* The shares of the row before in the mixer's n inputs, in one tensor of four dimensions. */
static void add_shares(tiny_writer *w, int32_t index, int64_t n)
{
    const char *name = layer_name(index, "time_mix_lerp_fused", "weight");
    const int64_t dim[4] = {w->o.n_embd, 1, 1, n};
    float *values = w->data[w->n_data++] = allocate(n * dim[0], sizeof *values);
    for (int64_t i = 0; i < n * dim[0]; i++) values[i] = 0.5f + 0.3f * draw(&w->state);
    if (!is_omitted(w, name)) vouch_gguf_add_tensor(w->gguf, name, VOUCH_TYPE_F32, 4, dim, values);
}

/* A token's weight in the state fades by 0.87 a token, give or take. */
static void add_wkv6(tiny_writer *w, int32_t index)
{
    const int64_t n = w->o.n_embd;
    const float by_embd = 1 / sqrtf((float)n), by_rank = 1 / sqrtf(WKV_RANK);
    const named_matrix matrices[] = {{"time_mix_w1", 5 * WKV_RANK, n, by_embd},
                                     {"time_mix_decay_w1", WKV_RANK, n, by_embd},
                                     {"time_mix_decay_w2", n, WKV_RANK, by_rank},
                                     {"time_mix_gate", n, n, 1.5f * by_embd}};
    const named_matrix second = {"time_mix_w2", n, WKV_RANK, 0.3f * by_rank};
    add_layer_matrices(w, index, 0, matrices, 4);
    add_layer_matrices(w, index, 5, &second, 1);
    add_vectors(w, layer_name(index, "time_mix_lerp_x", "weight"), 1, n, 0.5f, 0.3f);
    add_shares(w, index, 5);
    add_vectors(w, layer_name(index, "time_mix_decay", "weight"), 1, n, -2, 1);
    if (has_channel_mix(w)) {
        add_vectors(w, layer_name(index, "time_mix_first", "weight"), w->o.n_heads, n / w->o.n_heads, 0, 0.5f);
        return;
    }
    add_bias(w, layer_name(index, "time_mix_receptance", "bias"), n);
    add_bias(w, layer_name(index, "time_mix_key", "bias"), n * w->o.n_kv_heads / w->o.n_heads);
    add_bias(w, layer_name(index, "time_mix_value", "bias"), n * w->o.n_kv_heads / w->o.n_heads);
}

static void add_wkv7(tiny_writer *w, int32_t index)
{
    const int64_t n = w->o.n_embd;
    const float by_embd = 1 / sqrtf((float)n), by_rank = 1 / sqrtf(WKV_RANK);
    static const char *const biases[] = {"time_mix_w0", "time_mix_a0", "time_mix_v0"};
    const named_matrix matrices[] = {{"time_mix_w1", WKV_RANK, n, by_embd}, {"time_mix_w2", n, WKV_RANK, by_rank},
                                     {"time_mix_a1", WKV_RANK, n, by_embd}, {"time_mix_a2", n, WKV_RANK, by_rank},
                                     {"time_mix_v1", WKV_RANK, n, by_embd}, {"time_mix_v2", n, WKV_RANK, by_rank},
                                     {"time_mix_g1", WKV_RANK, n, by_embd}, {"time_mix_g2", n, WKV_RANK, 4 * by_rank}};
    const bool is_bare = w->family->mixer == WKV7_BARE;
    add_layer_matrices(w, index, 0, matrices, is_bare ? 6 : 8);
    add_shares(w, index, is_bare ? 5 : 6);
    for (int i = 0; i < 3; i++) add_vectors(w, layer_name(index, biases[i], "weight"), 1, n, 0, 0.5f);
    add_vectors(w, layer_name(index, "time_mix_k_k", "weight"), 1, n, 0.8f, 0.3f);
    add_vectors(w, layer_name(index, "time_mix_k_a", "weight"), 1, n, 1, 0.2f);
    add_vectors(w, layer_name(index, "time_mix_r_k", "weight"), 1, n, 0, 0.3f);
}

static void add_channel_mix(tiny_writer *w, int32_t index)
{
    const int64_t n = w->o.n_embd, n_ff = w->o.n_ff;
    const float by_embd = 1 / sqrtf((float)n);
    const named_matrix matrices[] = {{"channel_mix_key", n_ff, n, by_embd},
                                     {"channel_mix_value", n, n_ff, 1.5f / sqrtf((float)n_ff)},
                                     {"channel_mix_receptance", n, n, by_embd}};
    const bool is_sixth = w->family->mixer == WKV6;
    add_layer_matrices(w, index, 0, matrices, is_sixth ? 3 : 2);
    add_vectors(w, layer_name(index, "channel_mix_lerp_k", "weight"), 1, n, 0.5f, 0.3f);
    if (is_sixth) add_vectors(w, layer_name(index, "channel_mix_lerp_r", "weight"), 1, n, 0.5f, 0.3f);
}

/* A mixer of RWKV with as many heads as attention would have. */
static void add_wkv(tiny_writer *w, int32_t index)
{
    const int64_t n = w->o.n_embd;
    const int64_t n_kv = w->family->mixer == WKV6 && !has_channel_mix(w) ? n * w->o.n_kv_heads / w->o.n_heads : n;
    const float by_embd = 1 / sqrtf((float)n);
    const named_matrix matrices[] = {{"time_mix_receptance", n, n, by_embd},
                                     {"time_mix_key", n_kv, n, by_embd},
                                     {"time_mix_value", n_kv, n, by_embd},
                                     {"time_mix_output", n, n, 2 * by_embd}};
    add_layer_matrices(w, index, 0, matrices, 4);
    if (w->family->mixer == WKV6) add_wkv6(w, index);
    else add_wkv7(w, index);
    if (has_channel_mix(w)) add_channel_mix(w, index);
    if (w->family->mixer == WKV7_BARE || (w->family->mixer == WKV6 && !has_channel_mix(w))) return;
    add_norm(w, layer_name(index, "time_mix_ln", "weight"), n, 1);
    add_bias(w, layer_name(index, "time_mix_ln", "bias"), n);
}

static void add_mixer(tiny_writer *w, int32_t index)
{
    switch (w->family->mixer) {
    case NO_MIXER: add_mamba(w, index); break;
    case SHORT_CONVOLUTION: add_short_convolution(w, index); break;
    case KEY_DELTA_NET:
    case KEY_DELTA_NET_LOW:
    case KEY_DELTA_NET_MIXED: add_key_delta_net(w, index); break;
    case LIGHTNING: add_lightning(w, index); break;
    case WKV6:
    case WKV7:
    case WKV7_BARE: add_wkv(w, index); break;
    default: add_delta_net(w, index);
    }
}

static void add_layer(tiny_writer *w, int32_t index)
{
    const tiny_model_options *o = &w->o;
    const tiny_family *f = w->family;
    const int64_t n_heads = in_layer(w, index, o->n_heads), n_kv_heads = in_layer(w, index, o->n_kv_heads);
    const int64_t head_dim = head_dim_of(w, index), value_dim = f->own_inputs ? head_dim : value_dim_of(w);
    const int64_t n_embd = o->n_embd, n_ff = in_layer(w, index, o->n_ff), n_q = n_heads * head_dim,
                  n_k = n_kv_heads * head_dim, n_v = n_kv_heads * value_dim,
                  n_mixed = n_heads * (f->latent ? latent_of(w, index)->value_dim : value_dim);
    const float by_embd = 1 / sqrtf((float)o->n_embd);
    const bool plain = is_plain_nextn(w, index), fused = f->fused_qkv || plain;
    const bool sparse = o->n_experts && index >= o->n_dense && has_feed(w, index) && !plain;
    const bool no_dense = (sparse && !f->both) || !has_feed(w, index) || has_channel_mix(w),
               no_heads = !has_attention(w, index);
    const bool no_own = no_heads || f->latent; /* no matrices of queries, keys and values */
    const bool no_keys = fused || no_own || shares_keys(w, index);
    if (f->latent && !no_heads) add_latent(w, index);
    if (f->own_inputs) add_own_inputs(w, index);
    if (f->versions) add_versions(w, index);
    if (f->streams) add_streams(w, index);
    if (f->depth) {
        add_vectors(w, layer_name(index, "attn_res_score", "weight"), 1, n_embd, 0, 2 * by_embd);
        add_vectors(w, layer_name(index, "ffn_res_score", "weight"), 1, n_embd, 0, 2 * by_embd);
    }
    if (f->adds_first) add_vectors(w, layer_name(index, "layer_output_scale", "weight"), 1, 1, 0.5f, 0.1f);
    const struct {
        const char *name;
        int64_t n_out, n_in;
        float deviation;
        bool is_absent;
    } matrices[] = {{"attn_qkv", n_q + n_k + n_v, n_embd, query_gain * by_embd, !fused || no_heads},
                    {"attn_q", f->gates ? 2 * n_q : n_q, n_embd, query_gain * by_embd, fused || no_own},
                    {"attn_k", n_k, n_embd, query_gain * by_embd, no_keys},
                    {"attn_v", n_v, n_embd, by_embd, no_keys},
                    {"attn_gate", f->own_gates ? n_mixed : n_heads, n_embd, 2 * by_embd,
                     (!f->own_gates && !f->head_gates) || no_heads},
                    {"attn_output", n_embd, n_mixed, 2.5f / sqrtf((float)n_mixed), no_heads},
                    {"ffn_gate", n_ff, n_embd, 1.5f * by_embd, no_dense || f->no_gate || f->fused_gate},
                    {"ffn_up", f->fused_gate ? 2 * n_ff : n_ff, n_embd, 1.5f * by_embd, no_dense},
                    {"ffn_down", n_embd, n_ff, 1.5f / sqrtf((float)n_ff), no_dense}};
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
        if (matrices[i].is_absent) continue;
        add_matrix(w, layer_name(index, matrices[i].name, "weight"), matrices[i].n_out, matrices[i].n_in,
                   matrices[i].deviation);
        if (f->bias) add_bias(w, layer_name(index, matrices[i].name, "bias"), matrices[i].n_out);
        if (f->adapters && i > 0) add_adapters(w, index, matrices[i].name, matrices[i].n_out, matrices[i].n_in);
    }
    for (size_t i = 1; f->adapters && i <= 3; i++) /* the parts of attn_qkv */
        add_adapters(w, index, matrices[i].name, matrices[i].n_out, matrices[i].n_in);
    if (sparse) add_experts(w, index);
    if (has_mixer(w, index)) add_mixer(w, index);
    if (f->inner_norms) {
        add_norm(w, layer_name(index, "attn_sub_norm", "weight"), n_mixed, 1);
        add_norm(w, layer_name(index, "ffn_sub_norm", "weight"), n_ff, 1);
    }
    add_norms(w, index);
}

/* Adds a head of the file's own (MTP), block n after the layers. */
static void add_nextn(tiny_writer *w, int32_t n)
{
    const float by_embd = 1 / sqrtf((float)w->o.n_embd);
    add_layer(w, n);
    add_matrix(w, layer_name(n, "nextn.eh_proj", "weight"), w->o.n_embd, 2 * (int64_t)w->o.n_embd, by_embd);
    add_norm(w, layer_name(n, "nextn.enorm", "weight"), w->o.n_embd, 1);
    add_norm(w, layer_name(n, "nextn.hnorm", "weight"), w->o.n_embd, 1);
    if (!w->o.nextn_own) return;
    add_norm(w, layer_name(n, "nextn.shared_head_norm", "weight"), w->o.n_embd, 1);
    add_matrix(w, layer_name(n, "nextn.embed_tokens", "weight"), w->o.n_vocab, w->o.n_embd, embedding_gain);
    add_matrix(w, layer_name(n, "nextn.shared_head_head", "weight"), w->o.n_vocab, w->o.n_embd, logits_gain * by_embd);
}

static void add_tensors(tiny_writer *w)
{
    const tiny_model_options *o = &w->o;
    const float by_embd = 1 / sqrtf((float)o->n_embd);
    add_matrix(w, "token_embd.weight", o->n_vocab, o->n_embd, o->embedding * embedding_gain);
    const int32_t n_turns = w->family->stacks ? turns_of(o) : 1;
    for (int32_t i = 0; i < o->n_layers / n_turns; i++) add_layer(w, i); /* later turns have the first one's layers */
    for (int32_t i = 0; i < o->nextn; i++) add_nextn(w, o->n_layers + i);
    const char *output_norm = w->family->output_norm ? w->family->output_norm : "output_norm.weight";
    if (!w->family->bare_norms)
        add_norm(w, output_norm, o->n_embd, o->tied ? logits_gain * by_embd / embedding_gain : 1);
    if (!o->tied) add_matrix(w, "output.weight", o->n_vocab, o->n_embd, logits_gain * by_embd);
    if (w->family->head_bias) add_bias(w, "output.bias", o->n_vocab);
    if (w->family->positions) add_matrix(w, "position_embd.weight", o->n_ctx, o->n_embd, embedding_gain);
    if (w->family->embedding_norm) add_norm(w, "token_embd_norm.weight", o->n_embd, embedding_gain);
    if (o->rope_freqs) add_rope_freqs(w);
    if (w->family->depth) add_vectors(w, "output_res_score.weight", 1, o->n_embd, 0, 2 * by_embd);
    if (w->family->stacks) add_vectors(w, "hrm.z_l_init", 1, o->n_embd, 0, 1);
    if (w->family->versions) {
        add_matrices(w, "altup_proj.weight", N_VERSIONS - 1, o->n_embd, o->n_embd, by_embd);
        add_matrices(w, "altup_unembd_proj.weight", N_VERSIONS - 1, o->n_embd, o->n_embd, by_embd);
    }
    if (w->family->streams && !w->family->balanced) add_connections(w, "output_hc", w->family->streams, 1);
    if (!w->family->own_inputs) return;
    add_matrix(w, "per_layer_token_embd.weight", o->n_vocab, (int64_t)o->n_layers * INPUT_DIM, embedding_gain);
    add_matrix(w, "per_layer_model_proj.weight", (int64_t)o->n_layers * INPUT_DIM, o->n_embd, 1);
    add_norm(w, "per_layer_proj_norm.weight", INPUT_DIM, 1);
}

/* --------------------------------------------------------------------- keys */

/* "ARCHITECTURE.key"; valid until the next call. */
static const char *arch_key(tiny_writer *w, const char *key)
{
    static char name[96];
    snprintf(name, sizeof name, "%s.%s", w->o.arch, key);
    return name;
}

static void add_int(tiny_writer *w, const char *key, int32_t value)
{
    const char *name = arch_key(w, key);
    if (!is_omitted(w, name)) vouch_gguf_add_u32(w->gguf, name, (uint32_t)value);
}

static void add_ints(tiny_writer *w, const char *key, const int32_t *values, int32_t n)
{
    const char *name = arch_key(w, key);
    if (!is_omitted(w, name)) vouch_gguf_add_array(w->gguf, name, VOUCH_GGUF_I32, values, (size_t)n);
}

/* A number for each layer, where the family's layers differ; 0 in layers that don't have this part. */
static void add_layer_int(tiny_writer *w, const char *key, int32_t value,
                          bool (*has_part)(const tiny_writer *w, int32_t index))
{
    int32_t values[64];
    const bool is_list = w->family->parts > MIXER_ONLY && w->family->mixer < DELTA_NET;
    if (!w->family->is_uneven && !is_list) {
        add_int(w, key, w->family->parts == MIXER_ONLY ? 0 : value);
        return;
    }
    const int32_t n = w->o.n_layers + w->o.nextn;
    for (int32_t i = 0; i < n; i++) values[i] = has_part(w, i) ? in_layer(w, i, value) : 0;
    add_ints(w, key, values, n);
}

static void add_float(tiny_writer *w, const char *key, float value)
{
    const char *name = arch_key(w, key);
    if (!is_omitted(w, name)) vouch_gguf_add_f32(w->gguf, name, value);
}

/* The layers with a window, as a list of 0 and 1. */
static void add_windows(tiny_writer *w)
{
    int32_t flags[64];
    const int32_t n = w->o.n_layers + w->o.nextn;
    for (int32_t i = 0; i < n; i++) flags[i] = i % w->family->window_period > 0;
    vouch_gguf_add_array(w->gguf, arch_key(w, "attention.sliding_window_pattern"), VOUCH_GGUF_I32, flags, (size_t)n);
}

static void add_wkv_keys(tiny_writer *w)
{
    add_int(w, "wkv.head_size", w->o.n_embd / w->o.n_heads);
    if (!has_channel_mix(w)) add_int(w, "token_shift_count", 1);
    if (w->family->mixer == WKV6) {
        if (has_channel_mix(w)) add_int(w, "rescale_every_n_layers", 2);
        add_int(w, "time_mix_extra_dim", WKV_RANK);
        add_int(w, "time_decay_extra_dim", WKV_RANK);
        return;
    }
    add_int(w, "attention.decay_lora_rank", WKV_RANK);
    add_int(w, "attention.iclr_lora_rank", WKV_RANK);
    add_int(w, "attention.value_residual_mix_lora_rank", WKV_RANK);
    add_int(w, "attention.gate_lora_rank", w->family->mixer == WKV7_BARE ? 0 : WKV_RANK);
}

static void add_mixer_keys(tiny_writer *w)
{
    const tiny_model_options *o = &w->o;
    if (w->family->mamba) {
        add_int(w, "ssm.conv_kernel", MAMBA_WIDTH);
        add_int(w, "ssm.inner_size", mamba_inner(w));
        add_int(w, "ssm.state_size", MAMBA_STATE);
        add_int(w, "ssm.time_step_rank", w->family->mamba > 1 ? mamba_heads(w) : mamba_rank(w));
        add_int(w, "ssm.group_count", w->family->mamba == 2 ? MAMBA_GROUPS : 0);
    }
    if (w->family->mixer == SHORT_CONVOLUTION) add_int(w, "shortconv.l_cache", CONV_WIDTH);
    if (w->family->mixer >= KEY_DELTA_NET && w->family->mixer <= KEY_DELTA_NET_MIXED) {
        add_int(w, "ssm.conv_kernel", CONV_WIDTH);
        add_int(w, "kda.head_dim", o->head_dim);
    }
    if (w->family->mixer >= WKV6) add_wkv_keys(w);
    else if (w->family->mixer >= DELTA_NET) add_int(w, "full_attention_interval", 2);
    if (w->family->mixer == DELTA_NET || w->family->mixer == DELTA_NET_FUSED) {
        add_int(w, "ssm.conv_kernel", CONV_WIDTH);
        add_int(w, "ssm.state_size", o->head_dim);
        add_int(w, "ssm.group_count", o->n_kv_heads);
        add_int(w, "ssm.time_step_rank", o->n_heads);
        add_int(w, "ssm.inner_size", o->n_heads * o->head_dim);
    }
}

static void add_latent_keys(tiny_writer *w)
{
    const latent_widths *m = w->family->balanced ? &bare_widths : &common_widths, *with_window = &window_widths;
    const bool together = w->family->latent == TOGETHER || w->o.up_together;
    add_int(w, "attention.kv_lora_rank", m->rank);
    add_int(w, "rope.dimension_count", m->n_rotated);
    if (w->family->low) add_int(w, "attention.q_lora_rank", LOW_RANK);
    add_int(w, "attention.key_length", together ? m->n_plain + m->n_rotated : m->rank + m->n_rotated);
    add_int(w, "attention.value_length", together ? m->value_dim : m->rank);
    if (!together) add_int(w, "attention.key_length_mla", m->n_plain + m->n_rotated);
    if (!together) add_int(w, "attention.value_length_mla", m->value_dim);
    if (!w->family->window_latent) return;
    add_int(w, "attention.kv_lora_rank_swa", with_window->rank);
    add_int(w, "attention.key_length_mla_swa", with_window->n_plain + with_window->n_rotated);
    add_int(w, "attention.value_length_mla_swa", with_window->value_dim);
    add_int(w, "attention.indexer.top_k", w->o.n_ctx);
}

static void add_expert_keys(tiny_writer *w)
{
    const tiny_model_options *o = &w->o;
    add_int(w, "expert_count", o->n_experts);
    add_int(w, "expert_used_count", o->n_used);
    add_int(w, "expert_feed_forward_length", o->n_ff_expert);
    if (w->family->narrow) add_int(w, "expert_latent_length", N_NARROW);
    if (o->n_dense) add_int(w, "leading_dense_block_count", o->n_dense);
    if (w->family->gating) add_int(w, "expert_gating_func", w->family->gating);
    if (w->family->normalised) vouch_gguf_add_bool(w->gguf, arch_key(w, "expert_weights_norm"), true);
    if (w->family->adjugates) add_int(w, "experts_per_group", 2);
    if (w->family->grouped) {
        add_int(w, "expert_group_count", 3);
        add_int(w, "expert_group_used_count", 2);
    }
}

static void add_keys(tiny_writer *w, bool states_head_dim)
{
    const tiny_model_options *o = &w->o;
    if (!is_omitted(w, "general.architecture")) vouch_gguf_add_text(w->gguf, "general.architecture", o->arch);
    vouch_gguf_add_text(w->gguf, "general.name", "tiny");
    add_int(w, "block_count", o->n_layers + o->nextn);
    if (o->nextn) add_int(w, "nextn_predict_layers", o->nextn);
    add_int(w, "context_length", o->n_ctx);
    add_int(w, "embedding_length", o->n_embd);
    add_layer_int(w, "feed_forward_length", o->n_ff, has_feed);
    const bool has_equal_heads = w->family->mixer >= KEY_DELTA_NET && w->family->mixer <= KEY_DELTA_NET_MIXED;
    if (has_equal_heads) add_int(w, "attention.head_count", o->n_heads); /* of both kinds of layers */
    else add_layer_int(w, "attention.head_count", w->family->mixer >= WKV6 ? 0 : o->n_heads, has_attention);
    add_layer_int(w, "attention.head_count_kv", o->n_kv_heads, has_attention);
    add_mixer_keys(w);
    if (o->n_experts) add_expert_keys(w);
    const bool has_layer_eps = w->family->layer_norm || w->family->layer_eps;
    add_float(w, has_layer_eps ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon", 1e-5f);
    if (w->family->window) add_int(w, "attention.sliding_window", w->family->window);
    if (w->family->window_period) add_windows(w);
    if (w->family->stacks) {
        const int32_t n_turns = turns_of(o);
        add_int(w, "hrm.layers_per_stack", o->n_layers / (2 * n_turns));
        add_int(w, "hrm.h_cycles", n_turns);
        add_int(w, "hrm.l_cycles", 1);
    }
    if (w->family->streams) {
        add_int(w, "hyper_connection.count", w->family->streams);
        add_float(w, "hyper_connection.epsilon", 1e-3f);
        if (w->family->balanced) {
            add_int(w, "hyper_connection.sinkhorn_iterations", 3);
            add_int(w, "attention.indexer.top_k", o->n_ctx);
        }
    }
    if (w->family->depth) add_int(w, "attn_res.block_size", 2);
    if (w->family->adapters) {
        static const int32_t tokens[N_ADAPTERS] = {26, 61, 24}, substitutes[N_ADAPTERS] = {1, 2, 5};
        add_int(w, "adapters.count", N_ADAPTERS);
        add_int(w, "adapters.lora_rank", ADAPTER_RANK);
        add_ints(w, "adapters.token_ids_activate", tokens, N_ADAPTERS);
        add_ints(w, "adapters.token_ids_substitute", substitutes, N_ADAPTERS);
    }
    if (w->family->blocks) {
        add_int(w, "attention.indexer.top_k", 16);
        add_int(w, "attention.indexer.block_size", 8);
    }
    for (int i = 0; i < 5 && w->family->numbers[i].key; i++)
        add_float(w, w->family->numbers[i].key, w->family->numbers[i].value);
    if (w->family->flag) vouch_gguf_add_bool(w->gguf, arch_key(w, w->family->flag), true);
    add_float(w, "rope.freq_base", o->rope_base);
    if (w->family->own_inputs) {
        add_int(w, "attention.shared_kv_layers", 2);
        add_int(w, "embedding_length_per_layer_input", INPUT_DIM);
    }
    if (w->family->own_inputs && !w->family->versions) {
        bool windows[64];
        for (int32_t i = 0; i < o->n_layers; i++) windows[i] = i % 2 == 0;
        vouch_gguf_add_array(w->gguf, arch_key(w, "attention.sliding_window_pattern"), VOUCH_GGUF_BOOL, windows,
                             (size_t)o->n_layers);
        add_int(w, "attention.key_length", 2 * o->head_dim);
        add_int(w, "attention.value_length", 2 * o->head_dim);
        add_int(w, "attention.key_length_swa", o->head_dim);
        add_int(w, "attention.value_length_swa", o->head_dim);
        add_int(w, "rope.dimension_count_swa", o->head_dim);
    } else if (w->family->latent) {
        add_latent_keys(w);
    } else if (states_head_dim || w->family->own_inputs) {
        add_int(w, "attention.key_length", o->head_dim);
        add_int(w, "attention.value_length", value_dim_of(w));
    }
    if (o->rope_scale != 0) {
        vouch_gguf_add_text(w->gguf, arch_key(w, "rope.scaling.type"), "linear");
        add_float(w, "rope.scaling.factor", o->rope_scale);
    }
    tiny_vocab_add(w->gguf, o->n_vocab, o->vocab_seed);
}

static void resolve_experts(tiny_model_options *o, const tiny_family *f)
{
    if (!f->experts || o->n_experts) return;
    o->n_experts = 6;
    o->n_used = 3;
    o->n_ff_expert = 32;
    o->n_ff_shared = f->shared ? 32 : 0;
    o->n_dense = f->n_dense;
    o->shared_gate = f->shared_gate;
    o->selection_bias = f->selection_bias;
    o->fused = f->fused_experts;
}

static void resolve(tiny_model_options *o)
{
    if (!o->n_vocab) o->n_vocab = 400;
    if (!o->other) o->other = o->type;
    if (!o->n_embd) o->n_embd = 64;
    if (!o->n_layers) o->n_layers = 2;
    if (!o->n_heads) o->n_heads = 4;
    if (!o->n_kv_heads) o->n_kv_heads = o->n_heads % 2 ? o->n_heads : o->n_heads / 2;
    if (!o->head_dim) o->head_dim = o->n_embd / o->n_heads;
    if (!o->n_ff) o->n_ff = 96;
    if (!o->n_used) o->n_used = 1;
    if (!o->n_ff_expert) o->n_ff_expert = o->n_ff;
    if (!o->n_ctx) o->n_ctx = 512;
    if (o->embedding == 0) o->embedding = 1;
    if (o->rope_base == 0) o->rope_base = 10000;
}

void tiny_model_write(const char *path, const tiny_model_options *options)
{
    tiny_writer *w = allocate(1, sizeof *w);
    vouch_error err;
    w->o = *options;
    if (!w->o.arch) w->o.arch = "llama";
    w->family = tiny_family_at(0); /* an architecture that vouch doesn't know has llama's tensors */
    for (int32_t i = 0; tiny_family_at(i); i++)
        if (strcmp(tiny_family_at(i)->name, w->o.arch) == 0) w->family = tiny_family_at(i);
    if (w->family->stated) w->o.arch = w->family->stated;
    resolve_experts(&w->o, w->family);
    resolve(&w->o);
    w->state = options->seed * 0x2545f4914f6cdd1d + 1;
    w->noise_state = ~options->noise_seed * 0x2545f4914f6cdd1d;
    if (vouch_gguf_writer_open(&w->gguf, &err) != VOUCH_OK) die(err.message);
    if (options->add) options->add(w->gguf, options->user);
    add_keys(w, options->head_dim != 0);
    add_tensors(w);
    if (vouch_gguf_write(w->gguf, path, &err) != VOUCH_OK) die(err.message);
    vouch_gguf_writer_close(w->gguf);
    for (int i = 0; i < w->n_data; i++) free(w->data[i]);
    free(w);
}
