/* SPDX-License-Identifier: MIT */
/*
 * A family is a list of keys and of tensors. A matrix [n_out, n_in] has blocks of the family's type with standard
 * deviation gain / sqrt(n_in), which gives outputs of about `gain`; a vector has values around its mean. The gains give
 * attention that prefers few positions, and logits whose largest one depends on the whole context.
 */
#include "bits/tiny.h"

#include <assert.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "bits/compare.h"
#include "bits/values.h"

enum { E = 64, HEADS = 4, KV_HEADS = 2, D = 32, Q = HEADS * D, K = KV_HEADS * D, FF = 96, LAYERS = 4 };
enum { EXPERTS = 6, FF_EXPERT = 32, CONV = 3, INNER = 2 * E, STATE = 12, RANK = 8, LONGEST = 64, MOST_TENSORS = 96 };
enum { WIDE = 256 }; /* the width of the family whose types have blocks of 256 */

/* Layers that have a tensor, or the file. */
typedef enum place { FILE_ONCE, EACH_LAYER, EVEN_LAYERS, ODD_LAYERS } place;

typedef struct tensor {
    const char *name;
    place place;
    int64_t n_in, n_out, n_stack; /* n_out 0: a vector; n_stack 0: two dimensions */
    float gain;                   /* of a matrix; half the range of a vector's values */
    float mean;                   /* of a vector; values are F32 */
} tensor;

typedef struct number {
    const char *key;
    float value;
    bool is_float;
} number;

typedef struct family {
    const char *name, *arch;
    vouch_type type;
    vouch_kv_type kv_type;
    int32_t n_layers, n_embd, n_heads, n_kv_heads, n_ff;
    const tensor *tensors; /* up to one without a name */
    const number *numbers; /* likewise */
} family;

#define NORM(name, place, n) {name, place, n, 0, 0, 0.1f, 1}
#define ENDS(width)                                        \
    {"token_embd.weight", FILE_ONCE, width, BITS_VOCAB, 0, 2, 0}, \
        {"output.weight", FILE_ONCE, width, BITS_VOCAB, 0, 4, 0}, NORM("output_norm.weight", FILE_ONCE, width)
#define ATTENTION(place, width, n_q, n_k)                                                               \
    {"attn_q.weight", place, width, n_q, 0, 1.7f, 0}, {"attn_k.weight", place, width, n_k, 0, 1.7f, 0}, \
        {"attn_v.weight", place, width, n_k, 0, 1, 0}
#define DENSE(width, ff)                                       \
    {"ffn_gate.weight", EACH_LAYER, width, ff, 0, 1.5f, 0},    \
        {"ffn_up.weight", EACH_LAYER, width, ff, 0, 1.5f, 0}, \
        {"ffn_down.weight", EACH_LAYER, ff, width, 0, 1.5f, 0}
#define HEAD_NORM(name, place) {name, place, D, 0, 0, 0.1f, 1.7f}
#define HEAD_NORMS(place) HEAD_NORM("attn_q_norm.weight", place), HEAD_NORM("attn_k_norm.weight", place)

#define LLAMA(width, ff, n_q, n_k)                                                                 \
    {                                                                                               \
        ENDS(width), NORM("attn_norm.weight", EACH_LAYER, width),                                   \
            NORM("ffn_norm.weight", EACH_LAYER, width), ATTENTION(EACH_LAYER, width, n_q, n_k),     \
            {"attn_output.weight", EACH_LAYER, n_q, width, 0, 2.5f, 0}, DENSE(width, ff), {0}      \
    }

static const tensor wide_llama[] = LLAMA(WIDE, WIDE, WIDE, 2 * D);
static const tensor small_llama[] = LLAMA(E, FF, Q, K);
static const number no_numbers[] = {{0}};

static const tensor experts[] = {ENDS(E),
                                 NORM("attn_norm.weight", EACH_LAYER, E),
                                 NORM("ffn_norm.weight", EACH_LAYER, E),
                                 ATTENTION(EACH_LAYER, E, Q, K),
                                 HEAD_NORMS(EACH_LAYER),
                                 {"attn_output.weight", EACH_LAYER, Q, E, 0, 2.5f, 0},
                                 {"ffn_gate_inp.weight", EACH_LAYER, E, EXPERTS, 0, 2, 0},
                                 {"ffn_gate_exps.weight", EACH_LAYER, E, FF_EXPERT, EXPERTS, 1.5f, 0},
                                 {"ffn_up_exps.weight", EACH_LAYER, E, FF_EXPERT, EXPERTS, 1.5f, 0},
                                 {"ffn_down_exps.weight", EACH_LAYER, FF_EXPERT, E, EXPERTS, 2, 0},
                                 {0}};
static const number expert_numbers[] = {{"expert_count", EXPERTS, false},
                                        {"expert_used_count", 3, false},
                                        {"expert_feed_forward_length", FF_EXPERT, false},
                                        {0}};

static const tensor windows[] = {ENDS(E),
                                 NORM("attn_norm.weight", EACH_LAYER, E),
                                 NORM("ffn_norm.weight", EACH_LAYER, E),
                                 NORM("post_attention_norm.weight", EACH_LAYER, E),
                                 NORM("post_ffw_norm.weight", EACH_LAYER, E),
                                 ATTENTION(EACH_LAYER, E, Q, K),
                                 {"attn_output.weight", EACH_LAYER, Q, E, 0, 2.5f, 0},
                                 DENSE(E, FF),
                                 {0}};
static const number window_numbers[] = {{"attention.sliding_window", 5, false},
                                        {"attn_logit_softcapping", 5, true},
                                        {"final_logit_softcapping", 9, true},
                                        {0}};

static const tensor deltas[] = {ENDS(E),
                                NORM("attn_norm.weight", EACH_LAYER, E),
                                NORM("post_attention_norm.weight", EACH_LAYER, E),
                                ATTENTION(ODD_LAYERS, E, (2 * Q), K),
                                HEAD_NORMS(ODD_LAYERS),
                                {"attn_output.weight", ODD_LAYERS, Q, E, 0, 2.5f, 0},
                                {"attn_qkv.weight", EVEN_LAYERS, E, Q + 2 * K, 0, 1.7f, 0},
                                {"attn_gate.weight", EVEN_LAYERS, E, Q, 0, 1.5f, 0},
                                {"ssm_out.weight", EVEN_LAYERS, Q, E, 0, 2.5f, 0},
                                {"ssm_beta.weight", EVEN_LAYERS, E, HEADS, 0, 1, 0},
                                {"ssm_alpha.weight", EVEN_LAYERS, E, HEADS, 0, 1, 0},
                                {"ssm_conv1d.weight", EVEN_LAYERS, CONV, Q + 2 * K, -1, 1, 0},
                                {"ssm_dt.bias", EVEN_LAYERS, HEADS, 0, 0, 0.5f, 0},
                                {"ssm_a", EVEN_LAYERS, HEADS, 0, 0, 0.1f, -0.4f},
                                NORM("ssm_norm.weight", EVEN_LAYERS, D),
                                DENSE(E, FF),
                                {0}};
static const number delta_numbers[] = {{"ssm.conv_kernel", CONV, false},
                                       {"ssm.state_size", D, false},
                                       {"ssm.group_count", KV_HEADS, false},
                                       {"ssm.time_step_rank", HEADS, false},
                                       {"ssm.inner_size", Q, false},
                                       {"full_attention_interval", 2, false},
                                       {0}};

static const tensor mamba[] = {ENDS(E),
                               NORM("attn_norm.weight", EACH_LAYER, E),
                               {"ssm_in.weight", EACH_LAYER, E, 2 * INNER, 0, 1, 0},
                               {"ssm_out.weight", EACH_LAYER, INNER, E, 0, 4, 0},
                               {"ssm_x.weight", EACH_LAYER, INNER, RANK + 2 * STATE, 0, 1.5f, 0},
                               {"ssm_dt.weight", EACH_LAYER, RANK, INNER, 0, 1, 0},
                               {"ssm_dt.bias", EACH_LAYER, INNER, 0, 0, 0.5f, -1},
                               {"ssm_conv1d.weight", EACH_LAYER, CONV, INNER, -1, 1, 0},
                               {"ssm_conv1d.bias", EACH_LAYER, INNER, 0, 0, 0.2f, 0},
                               {"ssm_a", EACH_LAYER, STATE, INNER, -1, 0.3f, -1},
                               {"ssm_d", EACH_LAYER, INNER, 0, 0, 0.3f, 1},
                               {0}};
static const number mamba_numbers[] = {{"ssm.conv_kernel", CONV, false}, {"ssm.inner_size", INNER, false},
                                       {"ssm.state_size", STATE, false}, {"ssm.time_step_rank", RANK, false},
                                       {"ssm.group_count", 0, false},    {0}};

static const family families[] = {
    {"llama Q4_K", "llama", VOUCH_TYPE_Q4_K, VOUCH_KV_F16, LAYERS, WIDE, WIDE / D, 2, WIDE, wide_llama, no_numbers},
    {"llama Q4_1", "llama", VOUCH_TYPE_Q4_1, VOUCH_KV_F16, 2, E, HEADS, KV_HEADS, FF, small_llama, no_numbers},
    {"qwen3moe Q8_0", "qwen3moe", VOUCH_TYPE_Q8_0, VOUCH_KV_Q8_0, LAYERS, E, HEADS, KV_HEADS, FF, experts,
     expert_numbers},
    {"gemma2 BF16", "gemma2", VOUCH_TYPE_BF16, VOUCH_KV_F32, LAYERS, E, HEADS, KV_HEADS, FF, windows, window_numbers},
    {"qwen35 Q4_0", "qwen35", VOUCH_TYPE_Q4_0, VOUCH_KV_F16, LAYERS, E, HEADS, KV_HEADS, FF, deltas, delta_numbers},
    {"mamba F32", "mamba", VOUCH_TYPE_F32, VOUCH_KV_F16, LAYERS, E, 0, 0, 0, mamba, mamba_numbers},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

const char *bits_tiny_name(int32_t i, vouch_kv_type *kv_type)
{
    if (i >= N_FAMILIES) return NULL;
    *kv_type = families[i].kv_type;
    return families[i].name;
}

int32_t bits_tiny_find(const char *name)
{
    int32_t i = 0;
    while (i < N_FAMILIES && strcmp(families[i].name, name) != 0) i++;
    assert(i < N_FAMILIES);
    return i;
}

/* ------------------------------------------------------------------ tensors */

/* One tensor of the file: where its values come from. */
typedef struct filling {
    const tensor *tensor;
    vouch_type type;
    uint64_t seed;
} filling;

typedef struct maker {
    const family *family;
    vouch_gguf_writer *writer;
    filling fillings[MOST_TENSORS];
    int n;
} maker;

static bool is_vector(const tensor *t)
{
    return t->n_out == 0 || t->n_stack < 0;
}

static vouch_status fill(void *user, size_t offset, void *bytes, size_t size, vouch_error *err)
{
    const filling *f = user;
    const tensor *t = f->tensor;
    const size_t block = (size_t)vouch_type_get_info(f->type)->block_bytes;
    const int64_t first = (int64_t)(offset / block), n = (int64_t)(size / block);
    float *x = bytes;
    (void)err;
    if (!is_vector(t)) bits_fill_blocks((int32_t)f->type, t->gain / sqrtf((float)t->n_in), f->seed, first, n, bytes);
    for (int64_t i = 0; i < n && is_vector(t); i++) {
        bits_random random = {f->seed + (uint64_t)(first + i)};
        x[i] = t->mean + t->gain * bits_uniform(&random, -1, 1);
    }
    return VOUCH_OK;
}

/* layer -1: the file's. */
static void tensor_add(maker *m, const tensor *t, int32_t layer)
{
    char name[LONGEST];
    filling *f = &m->fillings[m->n++];
    const bool is_small = t->n_in % vouch_type_get_info(m->family->type)->block_length != 0;
    const bool is_router = strncmp(t->name, "ffn_gate_inp.", 13) == 0;
    const int64_t dim[3] = {t->n_in, t->n_out, t->n_stack};
    if (layer < 0) snprintf(name, sizeof name, "%s", t->name);
    else snprintf(name, sizeof name, "blk.%d.%s", layer, t->name);
    const vouch_type type = is_vector(t) || is_router ? VOUCH_TYPE_F32 : is_small ? VOUCH_TYPE_F16 : m->family->type;
    *f = (filling){t, type, vouch_hash_bytes(VOUCH_HASH_START, name, strlen(name))};
    vouch_gguf_add_filled(m->writer, name, type, t->n_out == 0 ? 1 : t->n_stack > 0 ? 3 : 2, dim, fill, f);
}

static void tensors_add(maker *m)
{
    for (const tensor *t = m->family->tensors; t->name; t++) {
        if (t->place == FILE_ONCE) tensor_add(m, t, -1);
        for (int32_t i = 0; i < m->family->n_layers && t->place != FILE_ONCE; i++)
            if (t->place == EACH_LAYER || (t->place == ODD_LAYERS) == (i % 2 == 1)) tensor_add(m, t, i);
    }
}

/* --------------------------------------------------------------------- keys */

static void number_add(maker *m, const char *key, float value, bool is_float)
{
    char name[LONGEST];
    snprintf(name, sizeof name, "%s.%s", m->family->arch, key);
    if (is_float) vouch_gguf_add_f32(m->writer, name, value);
    else vouch_gguf_add_u32(m->writer, name, (uint32_t)value);
}

static void keys_add(maker *m)
{
    const family *f = m->family;
    vouch_gguf_add_text(m->writer, "general.architecture", f->arch);
    number_add(m, "block_count", (float)f->n_layers, false);
    number_add(m, "context_length", 128, false);
    number_add(m, "vocab_size", BITS_VOCAB, false);
    number_add(m, "embedding_length", (float)f->n_embd, false);
    number_add(m, "feed_forward_length", (float)f->n_ff, false);
    number_add(m, "attention.head_count", (float)f->n_heads, false);
    number_add(m, "attention.head_count_kv", (float)f->n_kv_heads, false);
    number_add(m, "attention.layer_norm_rms_epsilon", 1e-5f, true);
    if (f->n_heads) {
        number_add(m, "attention.key_length", D, false);
        number_add(m, "attention.value_length", D, false);
        number_add(m, "rope.freq_base", 10000, true);
    }
    for (const number *n = f->numbers; n->key; n++) number_add(m, n->key, n->value, n->is_float);
}

vouch_status bits_tiny_make(int32_t i, void **bytes, size_t *size, vouch_error *err)
{
    maker m = {.family = &families[i]};
    VOUCH_TRY(vouch_gguf_writer_open(&m.writer, err));
    keys_add(&m);
    tensors_add(&m);
    const vouch_status status = vouch_gguf_write_bytes(m.writer, bytes, size, err);
    vouch_gguf_writer_close(m.writer);
    return status;
}
