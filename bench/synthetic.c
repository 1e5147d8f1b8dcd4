/* SPDX-License-Identifier: MIT */
/*
 * Writes a GGUF file with random weights in the shapes and types of a known model. Speed doesn't depend on the values
 * of weights, so the file serves for measurements without the real weights. Its vocabulary has the real size, with
 * tokens that mean nothing. Any engine that supports the architecture can read the file.
 *
 * The head (output matrix; with tied embeddings also the token embedding) has the type that quantisers choose: Q8_0
 * beside MXFP4, Q6_K beside other types of fewer than eight bits. Matrices whose rows are not whole blocks get the next
 * type with small blocks. Norms are F32 and 1; routers are F32. The matrices keep the magnitude of activations, so a
 * pass is finite.
 *
 * The program makes weights while it writes them and never holds the model in memory.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/file.h"
#include "tool/term.h"
#include "format/gguf.h"
#include "support/arguments.h"
#include "support/shapes.h"
#include "bits/values.h"

typedef struct options {
    bool help;
    const char *shape, *type, *head, *out;
    int32_t n_layers;
    uint64_t seed;
} options;

#define AT(member) .offset = offsetof(options, member)

static const tool_flag flags[] = {
    {"shape", NULL, 's', TOOL_FLAG_FILE, AT(shape), "NAME", NULL, 1, "Model", BENCH_SHAPE_NAMES, NULL, NULL},
    {"type", NULL, 't', TOOL_FLAG_FILE, AT(type), "TYPE", NULL, 1, "Model", "type of the matrices, such as Q8_0", NULL,
     NULL},
    {"head", NULL, 0, TOOL_FLAG_FILE, AT(head), "TYPE", NULL, 1, "Model",
     "type of the output matrix (default: as quantisers)", NULL, NULL},
    {"layers", NULL, 'l', TOOL_FLAG_INT, AT(n_layers), "N", "[1, 1024]", 1, "Model", "layers (default: the model's)",
     NULL, NULL},
    {"seed", NULL, 0, TOOL_FLAG_SEED, AT(seed), "N", "[0, 2^64)", 1, "Model", "seed of the random weights", NULL, NULL},
    {"out", NULL, 'o', TOOL_FLAG_FILE, AT(out), "FILE", NULL, 1, "Output", "the file to write", NULL, NULL},
    BENCH_HELP,
};

static const bench_command command = {
    "synthetic", "synthetic --shape NAME --type TYPE --out FILE [--head TYPE] [--layers N] [--seed S]\n",
    "  synthetic --shape qwen3-0.6b --type Q4_K --out /tmp/q.gguf\n"
    "  synthetic --shape llama-8b --type Q4_0 --layers 4 --head Q8_0 --out /tmp/l.gguf\n",
    flags, sizeof flags / sizeof flags[0]};

/* ----------------------------------------------------------------- weights */

typedef struct model {
    const bench_shape *shape;
    int32_t type, head, n_layers;
    uint64_t seed;
    vouch_gguf_writer *writer;
    struct tensor *tensors; /* room for all tensors */
    size_t n_tensors;
    int64_t total, written; /* bytes of the matrices */
    tool_progress progress;
} model;

typedef struct tensor {
    model *model;
    int32_t type;
    float deviation;
    uint64_t seed;
} tensor;

static vouch_status tensor_fill(void *user, size_t offset, void *bytes, size_t size, vouch_error *err)
{
    (void)err;
    const tensor *t = user;
    model *m = t->model;
    const size_t block = (size_t)vouch_type_get_info((uint32_t)t->type)->block_bytes;
    bits_fill_blocks(t->type, t->deviation, t->seed, (int64_t)(offset / block), (int64_t)(size / block), bytes);
    m->written += (int64_t)size;
    tool_progress_report(&m->progress, (double)m->written / (double)m->total);
    return VOUCH_OK;
}

/* n_stack 0: two dimensions. */
static void matrices_add(model *m, const char *name, int32_t type, int64_t n_stack, int64_t n_out, int64_t n_in)
{
    tensor *t = &m->tensors[m->n_tensors++];
    const int64_t dim[3] = {n_in, n_out, n_stack};
    const vouch_type_info *info = vouch_type_get_info((uint32_t)type);
    *t = (tensor){m, type, 1 / sqrtf((float)n_in), (m->seed << 16) + m->n_tensors};
    m->total += n_in / info->block_length * info->block_bytes * n_out * (n_stack ? n_stack : 1);
    vouch_gguf_add_filled(m->writer, name, (vouch_type)type, n_stack ? 3 : 2, dim, tensor_fill, t);
}

static void matrix_add(model *m, const char *name, int32_t type, int64_t n_out, int64_t n_in)
{
    matrices_add(m, name, type, 0, n_out, n_in);
}

/* Fills a vector with the float that `user` points to. */
static vouch_status vector_fill(void *user, size_t offset, void *bytes, size_t size, vouch_error *err)
{
    (void)offset, (void)err;
    for (size_t i = 0; i < size; i += sizeof(float)) memcpy((char *)bytes + i, user, sizeof(float));
    return VOUCH_OK;
}

static void vector_add(model *m, const char *name, int64_t n, int64_t n_stack)
{
    static float zero = 0, one = 1;
    const int64_t dim[2] = {n, n_stack};
    vouch_gguf_add_filled(m->writer, name, VOUCH_TYPE_F32, n_stack ? 2 : 1, dim, vector_fill,
                          strstr(name, "norm") ? &one : &zero);
}

/* Routers are F32. In a model with experts MXFP4 is their type, and other matrices are Q8_0, as in gpt-oss. */
static int32_t matrix_type(const model *m, const bench_matrix *one)
{
    if (strcmp(one->name, "ffn_gate_inp") == 0) return VOUCH_TYPE_F32;
    if (m->type == VOUCH_TYPE_MXFP4 && m->shape->n_experts > 0 && !one->n_stack) return VOUCH_TYPE_Q8_0;
    return bits_type_for_row(m->type, one->n_in);
}

static void layer_add(model *m, int32_t index)
{
    bench_matrix matrices[BENCH_LAYER_MATRICES];
    bench_vector vectors[BENCH_LAYER_VECTORS];
    char name[64];
    const int n_matrices = bench_layer_matrices(m->shape, index, matrices);
    const int n_vectors = bench_layer_vectors(m->shape, index, vectors);
    for (int i = 0; i < n_matrices; i++) {
        const bench_matrix *one = &matrices[i];
        snprintf(name, sizeof name, "blk.%d.%s.weight", index, one->name);
        matrices_add(m, name, matrix_type(m, one), one->n_stack, one->n_out, one->n_in);
    }
    for (int i = 0; i < n_vectors; i++) {
        snprintf(name, sizeof name, "blk.%d.%s", index, vectors[i].name);
        vector_add(m, name, vectors[i].n, vectors[i].n_stack);
    }
}

static void weights_add(model *m)
{
    const bench_shape *s = m->shape;
    const int32_t body = matrix_type(m, &(bench_matrix){"token_embd", s->n_vocab, s->n_embd, 0});
    matrix_add(m, "token_embd.weight", s->tied ? m->head : body, s->n_vocab, s->n_embd);
    for (int32_t i = 0; i < m->n_layers; i++) layer_add(m, i);
    vector_add(m, "output_norm.weight", s->n_embd, 0);
    if (!s->tied) matrix_add(m, "output.weight", m->head, s->n_vocab, s->n_embd);
}

/* -------------------------------------------------------------- vocabulary */

/*
 *   0 ... 255     the bytes, in GPT-2's alphabet
 *   256 ...       "aa", "ab", ... "zz", "aaa", ...: each merges the word without its last letter with that letter
 *   the last 3    <|endoftext|>, <|im_start|>, <|im_end|>
 */
enum { BYTES = 256, LETTERS = 26, SPECIALS = 3, ROOM = 16 };

/* A byte's character in GPT-2's alphabet. The 68 bytes that aren't printable are U+0100 to U+0143. */
static size_t letter_put(int byte, char *out)
{
    const int c = byte <= 0x20                   ? 0x100 + byte
                  : byte >= 0x7f && byte <= 0xa0 ? 0x121 + byte - 0x7f
                  : byte == 0xad                 ? 0x143
                                                 : byte;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    out[0] = (char)(0xc0 | c >> 6);
    out[1] = (char)(0x80 | (c & 0x3f));
    return 2;
}

/* Writes word i of "a", "b", ... "z", "aa", "ab", ... and returns its length. */
static size_t word_put(int32_t i, char *out)
{
    size_t n = 0;
    if (i >= LETTERS) n = word_put(i / LETTERS - 1, out);
    out[n] = (char)('a' + i % LETTERS);
    return n + 1;
}

typedef struct vocabulary {
    char (*texts)[ROOM], (*merge_texts)[ROOM];
    vouch_text *tokens, *merges;
    int32_t *kinds;
} vocabulary;

static void vocabulary_fill(const vocabulary *v, int32_t n)
{
    static const char *const specials[SPECIALS] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    for (int32_t i = 0; i < n; i++) {
        const bool special = i >= n - SPECIALS;
        char *text = v->texts[i];
        v->kinds[i] = special ? 3 : 1;
        v->tokens[i] = special     ? (vouch_text){specials[i - n + SPECIALS], strlen(specials[i - n + SPECIALS])}
                       : i < BYTES ? (vouch_text){text, letter_put(i, text)}
                                   : (vouch_text){text, word_put(i - BYTES + LETTERS, text)};
        if (special || i < BYTES) continue;
        const size_t last = v->tokens[i].size - 1;
        char *merge = v->merge_texts[i - BYTES];
        memcpy(merge, text, last);
        merge[last] = ' ';
        merge[last + 1] = text[last];
        v->merges[i - BYTES] = (vouch_text){merge, last + 2};
    }
}

static bool vocabulary_add(vouch_gguf_writer *w, const bench_shape *s)
{
    const size_t n = (size_t)s->n_vocab;
    vocabulary v = {calloc(n, ROOM), calloc(n, ROOM), calloc(n, sizeof *v.tokens), calloc(n, sizeof *v.merges),
                    calloc(n, sizeof *v.kinds)};
    const bool ok = v.texts && v.merge_texts && v.tokens && v.merges && v.kinds;
    if (ok) {
        vocabulary_fill(&v, s->n_vocab);
        vouch_gguf_add_text(w, "tokenizer.ggml.model", "gpt2");
        vouch_gguf_add_text(w, "tokenizer.ggml.pre", s->pre);
        vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", v.tokens, n);
        vouch_gguf_add_array(w, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, v.kinds, n);
        vouch_gguf_add_texts(w, "tokenizer.ggml.merges", v.merges, n - BYTES - SPECIALS);
        vouch_gguf_add_u32(w, "tokenizer.ggml.bos_token_id", (uint32_t)n - 3);
        vouch_gguf_add_u32(w, "tokenizer.ggml.eos_token_id", (uint32_t)n - 1);
        vouch_gguf_add_bool(w, "tokenizer.ggml.add_bos_token", false);
    }
    free(v.texts), free(v.merge_texts), free(v.tokens), free(v.merges), free(v.kinds);
    return ok;
}

/* -------------------------------------------------------------------- file */

static void delta_keys_add(const model *m)
{
    const bench_shape *s = m->shape;
    const struct {
        const char *key;
        int32_t value;
    } ints[] = {{"full_attention_interval", s->delta.every}, {"ssm.conv_kernel", BENCH_DELTA_CONV},
                {"ssm.state_size", s->delta.width},          {"ssm.group_count", s->delta.n_keys},
                {"ssm.time_step_rank", s->delta.n_values},   {"ssm.inner_size", s->delta.n_values * s->delta.width}};
    const int32_t sections[4] = {11, 11, 10, 0}; /* RoPE sections: pairs of the rotated quarter of a head */
    char name[96];
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++) {
        snprintf(name, sizeof name, "%s.%s", s->arch, ints[i].key);
        vouch_gguf_add_u32(m->writer, name, (uint32_t)ints[i].value);
    }
    snprintf(name, sizeof name, "%s.rope.dimension_sections", s->arch);
    vouch_gguf_add_array(m->writer, name, VOUCH_GGUF_I32, sections, 4);
}

static void keys_add(const model *m, const char *type)
{
    const bench_shape *s = m->shape;
    const struct {
        const char *key;
        int32_t value;
    } ints[] = {{"block_count", m->n_layers},
                {"context_length", s->n_ctx},
                {"embedding_length", s->n_embd},
                {"feed_forward_length", s->n_ff},
                {"attention.head_count", s->n_heads},
                {"attention.head_count_kv", s->n_kv_heads},
                {"attention.key_length", s->head_dim},
                {"attention.value_length", s->head_dim},
                {"rope.dimension_count", s->head_dim / (s->delta.every ? 4 : 1)},
                {"vocab_size", s->n_vocab},
                {"expert_count", s->n_experts},
                {"expert_used_count", s->n_used},
                {"expert_feed_forward_length", s->n_ff}};
    const size_t n_ints = sizeof ints / sizeof ints[0] - (s->n_experts ? 0 : 3);
    char text[96];
    vouch_gguf_add_text(m->writer, "general.architecture", s->arch);
    snprintf(text, sizeof text, "synthetic %s %s", s->name, type);
    vouch_gguf_add_text(m->writer, "general.name", text);
    vouch_gguf_add_u32(m->writer, "general.quantization_version", 2);
    for (size_t i = 0; i < n_ints; i++) {
        snprintf(text, sizeof text, "%s.%s", s->arch, ints[i].key);
        vouch_gguf_add_u32(m->writer, text, (uint32_t)ints[i].value);
    }
    snprintf(text, sizeof text, "%s.rope.freq_base", s->arch);
    vouch_gguf_add_f32(m->writer, text, s->rope_base);
    snprintf(text, sizeof text, "%s.attention.layer_norm_rms_epsilon", s->arch);
    vouch_gguf_add_f32(m->writer, text, s->norm_eps);
    if (s->window) {
        snprintf(text, sizeof text, "%s.attention.sliding_window", s->arch);
        vouch_gguf_add_u32(m->writer, text, (uint32_t)s->window);
    }
    if (s->delta.every) delta_keys_add(m);
    if (!s->rope_scaling) return;
    snprintf(text, sizeof text, "%s.rope.scaling.type", s->arch);
    vouch_gguf_add_text(m->writer, text, s->rope_scaling);
    snprintf(text, sizeof text, "%s.rope.scaling.factor", s->arch);
    vouch_gguf_add_f32(m->writer, text, s->rope_factor);
    snprintf(text, sizeof text, "%s.rope.scaling.original_context_length", s->arch);
    vouch_gguf_add_u32(m->writer, text, (uint32_t)((float)s->n_ctx / s->rope_factor));
}

/* The type with this name. Complains and returns -1 if there is none. */
static int32_t type_find(const char *flag, const char *name)
{
    const int32_t type = bits_type_find(name);
    if (type < 0) tool_complain("%s '%s': expected one of %s", flag, name, bits_type_names());
    return type;
}

static bool model_resolve(model *m, const options *o)
{
    if (!o->shape || !o->type || !o->out) {
        tool_complain("--%s is missing", !o->shape ? "shape NAME" : !o->type ? "type TYPE" : "out FILE");
        return false;
    }
    for (size_t i = 0; (m->shape = bench_shape_at(i)) && strcmp(m->shape->name, o->shape) != 0;) i++;
    if (!m->shape) {
        tool_complain("--shape '%s': expected one of " BENCH_SHAPE_NAMES, o->shape);
        return false;
    }
    m->n_layers = o->n_layers ? o->n_layers : m->shape->n_layers;
    m->seed = o->seed;
    m->type = type_find("--type", o->type);
    if (m->type < 0) return false;
    const vouch_type_info *info = vouch_type_get_info((uint32_t)m->type);
    const bool wide = info->block_bytes >= info->block_length; /* at least eight bits per value */
    const char *head = o->head ? o->head : wide ? o->type : strcmp(o->type, "MXFP4") == 0 ? "Q8_0" : "Q6_K";
    m->head = type_find("--head", head);
    if (m->head < 0) return false;
    m->head = bits_type_for_row(m->head, m->shape->n_embd);
    if (m->head >= 0 && bits_type_for_row(m->type, m->shape->n_embd) >= 0) return true;
    tool_complain("--type %s: rows of %d values are not whole blocks of it; choose a type with smaller blocks", o->type,
                  m->shape->n_embd);
    return false;
}

static vouch_status model_write(model *m, const options *o, vouch_error *err)
{
    vouch_status status = vouch_gguf_writer_open(&m->writer, err);
    if (status) return status;
    m->tensors = calloc((size_t)m->n_layers * BENCH_LAYER_MATRICES + 2, sizeof *m->tensors);
    keys_add(m, o->type);
    if (m->tensors && vocabulary_add(m->writer, m->shape)) {
        weights_add(m);
        status = vouch_gguf_write(m->writer, o->out, err);
        tool_progress_end(&m->progress);
    } else {
        status = vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the vocabulary");
    }
    vouch_gguf_writer_close(m->writer);
    free(m->tensors);
    return status;
}

int main(int argc, char **argv)
{
    options o = {0};
    vouch_error err;
    bench_arguments_parse(&command, argc, argv, &o);
    model m = {.progress = {.label = "writing the model"}};
    if (!model_resolve(&m, &o)) return 2;
    if (tool_file_check(o.out, &err) || model_write(&m, &o, &err)) {
        tool_complain("%s", err.message);
        return 1;
    }
    printf("%s: %s, %s, %d layers, %.0f MB of matrices\n", o.out, m.shape->name, o.type, m.n_layers,
           (double)m.total * 1e-6);
    return 0;
}
