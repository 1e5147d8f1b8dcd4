/* SPDX-License-Identifier: MIT */
#include "format/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The values of general.file_type. */
enum {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q8_0 = 7,
    Q5_0 = 8,
    Q5_1 = 9,
    Q2_K = 10,
    Q3_K_S = 11,
    Q3_K_M = 12,
    Q3_K_L = 13,
    Q4_K_S = 14,
    Q4_K_M = 15,
    Q5_K_S = 16,
    Q5_K_M = 17,
    Q6_K = 18,
    IQ4_NL = 25,
    IQ4_XS = 30,
    BF16 = 32,
    TQ1_0 = 36,
    TQ2_0 = 37,
    MXFP4_MOE = 38
};

static const vouch_mix mixes[] = {
    {"TQ1_0", TQ1_0, VOUCH_TYPE_TQ1_0},    {"TQ2_0", TQ2_0, VOUCH_TYPE_TQ2_0},
    {"Q2_K", Q2_K, VOUCH_TYPE_Q2_K},       {"Q3_K_S", Q3_K_S, VOUCH_TYPE_Q3_K},
    {"Q3_K_M", Q3_K_M, VOUCH_TYPE_Q3_K},   {"Q3_K_L", Q3_K_L, VOUCH_TYPE_Q3_K},
    {"IQ4_XS", IQ4_XS, VOUCH_TYPE_IQ4_XS}, {"MXFP4_MOE", MXFP4_MOE, VOUCH_TYPE_MXFP4},
    {"IQ4_NL", IQ4_NL, VOUCH_TYPE_IQ4_NL}, {"Q4_0", Q4_0, VOUCH_TYPE_Q4_0},
    {"Q4_K_S", Q4_K_S, VOUCH_TYPE_Q4_K},   {"Q4_K_M", Q4_K_M, VOUCH_TYPE_Q4_K},
    {"Q4_1", Q4_1, VOUCH_TYPE_Q4_1},       {"Q5_0", Q5_0, VOUCH_TYPE_Q5_0},
    {"Q5_K_S", Q5_K_S, VOUCH_TYPE_Q5_K},   {"Q5_K_M", Q5_K_M, VOUCH_TYPE_Q5_K},
    {"Q5_1", Q5_1, VOUCH_TYPE_Q5_1},       {"Q6_K", Q6_K, VOUCH_TYPE_Q6_K},
    {"Q8_0", Q8_0, VOUCH_TYPE_Q8_0},       {"F16", F16, VOUCH_TYPE_F16},
    {"BF16", BF16, VOUCH_TYPE_BF16},       {"F32", F32, VOUCH_TYPE_F32},
};
enum { N_MIXES = sizeof mixes / sizeof mixes[0] };

const vouch_mix *vouch_mix_at(size_t i)
{
    return i < N_MIXES ? &mixes[i] : NULL;
}

const vouch_mix *vouch_mix_find(const char *name)
{
    char medium[16];
    snprintf(medium, sizeof medium, "%.8s_M", name); /* "Q4_K" is short for "Q4_K_M" */
    for (size_t i = 0; i < N_MIXES; i++)
        if (strcasecmp(mixes[i].name, name) == 0 || strcasecmp(mixes[i].name, medium) == 0) return &mixes[i];
    return NULL;
}

/* ------------------------------------------------- tensors that are quantised */

/* Tensors that stay as they are, by a part of the name: they are small, or quantisation does much harm. */
static const char *const kept[] = {
    "_norm.weight", "ffn_gate_inp.weight", "ffn_gate_tid2eid.weight", "altup", "laurel", "per_layer_model_proj",
    "ssm_conv1d", "shortconv.conv.weight", "indexer.k_proj.weight", "indexer.q_proj.weight", "attn_rel_b.weight",
    /* RWKV */
    "time_mix_first.weight", "time_mix_w0.weight", "time_mix_w1.weight", "time_mix_w2.weight", "time_mix_v0.weight",
    "time_mix_v1.weight", "time_mix_v2.weight", "time_mix_a0.weight", "time_mix_a1.weight", "time_mix_a2.weight",
    "time_mix_g1.weight", "time_mix_g2.weight", "time_mix_decay_w1.weight", "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    /* pictures and sound */
    ".position_embd", "sam.pos_embd", "sam.neck.", "sam.net_", ".rel_pos", ".patch_embd", ".patch_merger",
    "a.rvq.codebook", "mm.a.code_embd"};

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), n_end = strlen(end);
    return n >= n_end && strcmp(name + n - n_end, end) == 0;
}

/* Is this a matrix, or a stack of matrices, that a mix may quantise? */
static bool is_quantised(const vouch_gguf_tensor *t, const char *name)
{
    if (t->dim[1] * t->dim[2] * t->dim[3] == 1 || !ends_with(name, "weight")) return false;
    if (strcmp(name, "position_embd.weight") == 0 || strcmp(name, "token_types.weight") == 0) return false;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (strstr(name, kept[i])) return false;
    return true;
}

typedef enum role { EMBEDDING, OUTPUT, QUERIES, KEYS, VALUES, MIXED, UP, GATE, DOWN, OTHER } role;

/* The first part that the name contains tells the tensor's role. MIXED is the attention's output matrix. The fused
 * matrix of queries, keys and values counts as VALUES. */
static role role_of(const char *name)
{
    static const struct {
        const char *part;
        role role;
    } parts[] = {{"attn_qkv.weight", VALUES},
                 {"attn_kv_b.weight", VALUES},
                 {"attn_v.weight", VALUES},
                 {"attn_k.weight", KEYS},
                 {"attn_q.weight", QUERIES},
                 {"attn_output.weight", MIXED},
                 {"ffn_up", UP},
                 {"ffn_gate", GATE},
                 {"ffn_down", DOWN}};
    if (strcmp(name, "output.weight") == 0) return OUTPUT;
    if (strcmp(name, "token_embd.weight") == 0 || strcmp(name, "per_layer_token_embd.weight") == 0) return EMBEDDING;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(name, parts[i].part)) return parts[i].role;
    return OTHER;
}

/* ------------------------------------------------------------------- the model */

/* The facts that rules depend on. */
typedef struct facts {
    int64_t n_layers, n_experts;
    int64_t heads_per_kv; /* of the first layer; 0: it has no attention */
    bool is_falcon, is_70b;
    bool tied;        /* the file has no output matrix: the embedding serves as one */
    int64_t n_values; /* tensors of the role VALUES */
} facts;

/* Reads an integer, or the first element of an array of them, under "ARCHITECTURE.key". Without the key *value
 * stays. */
static vouch_status fact_read(const vouch_gguf *gguf, vouch_text arch, const char *key, int64_t *value,
                              vouch_error *err)
{
    char name[128];
    vouch_gguf_array array;
    snprintf(name, sizeof name, "%.*s.%s", arch.size < 64 ? (int)arch.size : 64, arch.data, key);
    if (vouch_gguf_get_array(gguf, name, false, &array, NULL) != VOUCH_OK)
        return vouch_gguf_get_int(gguf, name, false, 0, INT32_MAX, value, err);
    if (array.count == 0) return VOUCH_OK;
    if (array.type == VOUCH_GGUF_STRING || array.type == VOUCH_GGUF_F32 || array.type == VOUCH_GGUF_F64)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: metadata key '%s' is an array of %ss; vouch needs integers",
                          vouch_gguf_path(gguf), name, vouch_gguf_type_name(array.type));
    *value = vouch_gguf_array_int(&array, 0);
    return VOUCH_OK;
}

static bool text_is(vouch_text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static vouch_status facts_read(const vouch_gguf *gguf, facts *f, vouch_error *err)
{
    vouch_text arch = {"", 0};
    int64_t n_heads = 0;
    *f = (facts){0};
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", false, &arch, err));
    VOUCH_TRY(fact_read(gguf, arch, "block_count", &f->n_layers, err));
    VOUCH_TRY(fact_read(gguf, arch, "expert_count", &f->n_experts, err));
    VOUCH_TRY(fact_read(gguf, arch, "attention.head_count", &n_heads, err));
    int64_t n_kv_heads = n_heads;
    VOUCH_TRY(fact_read(gguf, arch, "attention.head_count_kv", &n_kv_heads, err));
    f->heads_per_kv = n_kv_heads > 0 ? n_heads / n_kv_heads : 0;
    f->is_falcon = text_is(arch, "falcon");
    f->is_70b = f->n_layers == 80 && ((text_is(arch, "llama") && n_heads != n_kv_heads) || text_is(arch, "qwen2") ||
                                      text_is(arch, "deci") || text_is(arch, "olmo"));
    f->tied = true;
    return VOUCH_OK;
}

/* --------------------------------------------------------------------- rules */

/* A condition on the tensor of a rule. i: its index among the tensors of its role, or its layer for DOWN with experts.
 * n: the number of layers for DOWN, of tensors of the role VALUES for the others. */
typedef enum condition {
    ALWAYS,
    SHARED_HEADS, /* at least 4 query heads per key-value head */
    FIRST_2,      /* i < 2 */
    FIRST_4,
    FIRST_8TH, /* i < n / 8 */
    FIRST_16TH,
    MORE_BITS, /* the first eighth, the last eighth, and every third tensor between them */
    EIGHT_EXPERTS,
    NOT_8_EXPERTS
} condition;

typedef struct rule {
    uint32_t file_type;
    role role;
    condition condition;
    vouch_type type;
} rule;

/* The first rule that fits decides; without one the tensor gets the mix's type. */
static const rule rules[] = {
    {Q2_K, VALUES, SHARED_HEADS, VOUCH_TYPE_Q4_K},   {Q2_K, VALUES, ALWAYS, VOUCH_TYPE_Q3_K},
    {Q2_K, DOWN, ALWAYS, VOUCH_TYPE_Q3_K},           {Q2_K, MIXED, EIGHT_EXPERTS, VOUCH_TYPE_Q5_K},
    {Q2_K, MIXED, ALWAYS, VOUCH_TYPE_Q3_K},          {Q3_K_S, MIXED, EIGHT_EXPERTS, VOUCH_TYPE_Q5_K},
    {Q3_K_M, VALUES, FIRST_2, VOUCH_TYPE_Q5_K},      {Q3_K_M, VALUES, ALWAYS, VOUCH_TYPE_Q4_K},
    {Q3_K_M, DOWN, FIRST_16TH, VOUCH_TYPE_Q5_K},     {Q3_K_M, DOWN, ALWAYS, VOUCH_TYPE_Q4_K},
    {Q3_K_M, MIXED, EIGHT_EXPERTS, VOUCH_TYPE_Q5_K}, {Q3_K_M, MIXED, ALWAYS, VOUCH_TYPE_Q4_K},
    {Q3_K_L, VALUES, ALWAYS, VOUCH_TYPE_Q5_K},       {Q3_K_L, DOWN, ALWAYS, VOUCH_TYPE_Q5_K},
    {Q3_K_L, MIXED, NOT_8_EXPERTS, VOUCH_TYPE_Q5_K}, {Q4_K_S, VALUES, FIRST_4, VOUCH_TYPE_Q5_K},
    {Q4_K_S, DOWN, FIRST_8TH, VOUCH_TYPE_Q5_K},      {Q4_K_S, MIXED, EIGHT_EXPERTS, VOUCH_TYPE_Q5_K},
    {Q4_K_M, VALUES, MORE_BITS, VOUCH_TYPE_Q6_K},    {Q4_K_M, DOWN, MORE_BITS, VOUCH_TYPE_Q6_K},
    {Q4_K_M, MIXED, EIGHT_EXPERTS, VOUCH_TYPE_Q5_K}, {Q5_K_M, VALUES, MORE_BITS, VOUCH_TYPE_Q6_K},
    {Q5_K_M, DOWN, MORE_BITS, VOUCH_TYPE_Q6_K},      {IQ4_NL, VALUES, SHARED_HEADS, VOUCH_TYPE_Q5_K},
    {IQ4_NL, DOWN, FIRST_8TH, VOUCH_TYPE_Q5_K},      {IQ4_NL, MIXED, EIGHT_EXPERTS, VOUCH_TYPE_Q5_K},
    {IQ4_XS, VALUES, SHARED_HEADS, VOUCH_TYPE_Q5_K}, {IQ4_XS, DOWN, FIRST_8TH, VOUCH_TYPE_Q5_K},
    {IQ4_XS, MIXED, EIGHT_EXPERTS, VOUCH_TYPE_Q5_K},
};

/* The rules of falcon for ffn_down and the attention's output matrix, instead of the others. */
static const rule falcon_rules[] = {
    {Q2_K, DOWN, ALWAYS, VOUCH_TYPE_Q3_K},       {Q3_K_M, DOWN, FIRST_16TH, VOUCH_TYPE_Q5_K},
    {Q3_K_M, DOWN, MORE_BITS, VOUCH_TYPE_Q4_K},  {Q3_K_L, DOWN, ALWAYS, VOUCH_TYPE_Q4_K},
    {Q4_K_M, DOWN, FIRST_16TH, VOUCH_TYPE_Q6_K}, {Q4_K_M, DOWN, MORE_BITS, VOUCH_TYPE_Q5_K},
    {Q5_K_M, DOWN, MORE_BITS, VOUCH_TYPE_Q6_K},  {IQ4_NL, DOWN, FIRST_8TH, VOUCH_TYPE_Q5_K},
    {IQ4_XS, DOWN, FIRST_8TH, VOUCH_TYPE_Q5_K},  {Q3_K_L, MIXED, ALWAYS, VOUCH_TYPE_Q4_K},
};

static bool condition_holds(condition c, const facts *f, int64_t i, int64_t n)
{
    switch (c) {
    case ALWAYS: return true;
    case SHARED_HEADS: return f->heads_per_kv >= 4;
    case FIRST_2: return i < 2;
    case FIRST_4: return i < 4;
    case FIRST_8TH: return i < n / 8;
    case FIRST_16TH: return i < n / 16;
    case MORE_BITS: return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
    case EIGHT_EXPERTS: return f->n_experts == 8;
    case NOT_8_EXPERTS: return f->n_experts != 8;
    }
    return false;
}

static vouch_type rule_apply(const vouch_mix *mix, const facts *f, role r, int64_t i, int64_t n)
{
    const bool falcon = f->is_falcon && (r == DOWN || r == MIXED);
    const rule *from = falcon ? falcon_rules : rules;
    const size_t n_rules = falcon ? sizeof falcon_rules / sizeof falcon_rules[0] : sizeof rules / sizeof rules[0];
    for (size_t k = 0; k < n_rules; k++)
        if (from[k].file_type == mix->file_type && from[k].role == r && condition_holds(from[k].condition, f, i, n))
            return from[k].type;
    return mix->type;
}

static int32_t block_length(vouch_type type)
{
    return vouch_type_get_info(type)->block_length;
}

/* The type of the output matrix, and of an embedding that serves as one. */
static vouch_type head_type(const vouch_mix_options *o, const facts *f, int64_t n_in)
{
    if (o->output) return *o->output;
    if (f->is_falcon || n_in % block_length(o->mix->type) != 0 || o->mix->type == VOUCH_TYPE_Q8_0 ||
        o->mix->type == VOUCH_TYPE_MXFP4)
        return VOUCH_TYPE_Q8_0;
    return VOUCH_TYPE_Q6_K;
}

/* i: the index of the tensor among those of its role. layer: the number in its name; -1: none. */
static vouch_type mixed_type(const vouch_mix_options *o, const facts *f, const vouch_gguf_tensor *t, role r, int64_t i,
                             int64_t layer)
{
    const vouch_type main = o->mix->type;
    if (r == OUTPUT || (r == EMBEDDING && f->tied)) return head_type(o, f, t->dim[0]);
    if (main == VOUCH_TYPE_MXFP4) return t->dim[2] > 1 ? main : VOUCH_TYPE_Q8_0; /* a type for experts */
    if (r == EMBEDDING && (main == VOUCH_TYPE_TQ1_0 || main == VOUCH_TYPE_TQ2_0)) return VOUCH_TYPE_Q4_K;
    if (r == DOWN) return rule_apply(o->mix, f, r, f->n_experts > 1 ? layer : i, f->n_layers);
    vouch_type type = rule_apply(o->mix, f, r, i, f->n_values);
    if (r == VALUES && f->is_70b && (type == VOUCH_TYPE_Q3_K || type == VOUCH_TYPE_Q4_K)) type = VOUCH_TYPE_Q5_K;
    if ((r == VALUES || r == KEYS) && f->n_experts == 8) type = VOUCH_TYPE_Q8_0;
    return type;
}

/* The next type whose blocks divide rows of n_in values; F16 in the last resort. */
static vouch_type type_for_rows(vouch_type type, int64_t n_in)
{
    if (n_in % block_length(type) == 0) return type;
    switch (type) {
    case VOUCH_TYPE_IQ4_XS: type = VOUCH_TYPE_IQ4_NL; break;
    case VOUCH_TYPE_Q2_K:
    case VOUCH_TYPE_Q3_K:
    case VOUCH_TYPE_TQ1_0:
    case VOUCH_TYPE_TQ2_0: type = VOUCH_TYPE_Q4_0; break;
    case VOUCH_TYPE_Q4_K: type = VOUCH_TYPE_Q5_0; break;
    case VOUCH_TYPE_Q5_K: type = VOUCH_TYPE_Q5_1; break;
    case VOUCH_TYPE_Q6_K: type = VOUCH_TYPE_Q8_0; break;
    default: break;
    }
    return n_in % block_length(type) == 0 ? type : VOUCH_TYPE_F16;
}

/* ---------------------------------------------------------------- the tensors */

/* A tensor, its name and the layer in the name. Rules count tensors in ascending order of layers, then of names. */
typedef struct item {
    char name[65];
    const vouch_gguf_tensor *tensor;
    size_t index; /* in the file */
    int64_t layer;
} item;

static int item_compare(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->layer != y->layer) return x->layer < y->layer ? -1 : 1;
    return strcmp(x->name, y->name);
}

static item item_of(const vouch_gguf *gguf, size_t index)
{
    item it = {.tensor = vouch_gguf_get_tensor(gguf, index), .index = index, .layer = -1};
    snprintf(it.name, sizeof it.name, "%.*s", (int)it.tensor->name.size, it.tensor->name.data);
    if (strncmp(it.name, "blk.", 4) == 0) it.layer = strtol(it.name + 4, NULL, 10);
    return it;
}

static vouch_type item_type(const vouch_mix_options *o, const facts *f, const item *it, role r, int64_t i,
                            size_t *n_fallback)
{
    const vouch_type standard = o->mix->type;
    if (o->embedding && r == EMBEDDING) return *o->embedding;
    if (o->output && r == OUTPUT) return *o->output;
    if (block_length(standard) == 1) return standard;
    const vouch_type wanted = o->pure ? standard : mixed_type(o, f, it->tensor, r, i, it->layer);
    const vouch_type type = type_for_rows(wanted, it->tensor->dim[0]);
    *n_fallback += type != wanted;
    return type;
}

vouch_status vouch_mix_assign(const vouch_gguf *gguf, const vouch_mix_options *o, uint32_t *types, size_t *n_fallback,
                              vouch_error *err)
{
    const size_t n = vouch_gguf_n_tensors(gguf);
    int64_t seen[OTHER + 1] = {0};
    facts f;
    *n_fallback = 0;
    VOUCH_TRY(facts_read(gguf, &f, err));
    item *items = calloc(n + 1, sizeof *items);
    if (!items) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %zu tensors", n);
    for (size_t i = 0; i < n; i++) {
        items[i] = item_of(gguf, i);
        const role r = role_of(items[i].name);
        if (r == OUTPUT) f.tied = false;
        if (r == VALUES) f.n_values++;
    }
    qsort(items, n, sizeof *items, item_compare);
    for (size_t i = 0; i < n; i++) {
        const item *it = &items[i];
        const role r = role_of(it->name);
        types[it->index] = it->tensor->type;
        if (is_quantised(it->tensor, it->name)) types[it->index] = item_type(o, &f, it, r, seen[r]++, n_fallback);
    }
    free(items);
    return VOUCH_OK;
}
