/* SPDX-License-Identifier: MIT */
/*
 * Pads a small model with zeros to the shape of a large one. The new model computes what the old one does, at the cost
 * of the large one: real text and real acceptance of guesses meet a big model's passes.
 *
 *   width         zeros after each vector of the stream. A norm divides by the new width, so its weights get a factor
 *                 sqrt(old / new), and its epsilon old / new.
 *   heads         a head's queries, keys and values get zeros at their ends; RoPE rotates the old part alone. The
 *                 queries get a factor for the wider heads. Added heads have zeros in W_o. Where a KV head serves fewer
 *                 queries than before, it is there several times.
 *   feed-forward  zeros in the added rows of gate and up, and in the columns of down
 *   layers        added ones have zeros only: the stream passes them unchanged
 *
 * The vocabulary stays. The architecture must be llama or qwen2, whose norms all have the stream's width.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/file.h"
#include "tool/term.h"
#include "base/memory.h"
#include "format/gguf.h"
#include "kernels/quantize.h"
#include "support/arguments.h"
#include "support/shapes.h"
#include "bits/values.h"

typedef struct options {
    bool help;
    const char *model, *shape, *type, *head, *out;
    int32_t n_layers;
} options;

#define AT(member) .offset = offsetof(options, member)

static const tool_flag flags[] = {
    {"model", NULL, 'm', TOOL_FLAG_FILE, AT(model), "FILE", NULL, 1, "Model", "the small model", NULL, NULL},
    {"shape", NULL, 's', TOOL_FLAG_FILE, AT(shape), "NAME", NULL, 1, "Model", BENCH_SHAPE_NAMES, NULL, NULL},
    {"type", NULL, 't', TOOL_FLAG_FILE, AT(type), "TYPE", NULL, 1, "Model", "type of the matrices, such as Q4_K", NULL,
     NULL},
    {"head", NULL, 0, TOOL_FLAG_FILE, AT(head), "TYPE", NULL, 1, "Model",
     "type of token embedding and output matrix (default: Q6_K, or the type of the matrices if that is wider)", NULL,
     NULL},
    {"layers", NULL, 'l', TOOL_FLAG_INT, AT(n_layers), "N", "[1, 1024]", 1, "Model", "layers (default: the shape's)",
     NULL, NULL},
    {"out", NULL, 'o', TOOL_FLAG_FILE, AT(out), "FILE", NULL, 1, "Output", "the file to write", NULL, NULL},
    BENCH_HELP,
};

static const bench_command command = {
    "inflate", "inflate --model FILE --shape NAME --type TYPE --out FILE [--head TYPE] [--layers N]\n",
    "  inflate -m SmolLM2-135M-Instruct.Q4_1.gguf --shape qwen3-4b --type Q4_K --out /tmp/4b.gguf\n", flags,
    sizeof flags / sizeof flags[0]};

/* ---------------------------------------------------------------- mappings */

typedef struct widths {
    int64_t n_embd, n_ff, n_heads, n_kv_heads, head_dim, n_layers;
} widths;

typedef struct model {
    vouch_gguf *from;
    char arch[16];
    double norm_eps;
    int64_t n_rotated; /* values of a head that RoPE rotates */
    widths old, new;
    int64_t copies; /* of each KV head */
    vouch_type type, head;
    vouch_gguf_writer *writer;
    struct tensor *tensors;
    size_t n_tensors, n_used; /* new ones; old ones that are in them */
    int64_t total, written;   /* bytes */
    tool_progress progress;
} model;

/* What the rows or columns of a matrix are. */
typedef enum axis { SAME, STREAM, HIDDEN, QUERIES, KEYS } axis;

static int64_t axis_length(const widths *w, axis a, int64_t same)
{
    return a == STREAM    ? w->n_embd
           : a == HIDDEN  ? w->n_ff
           : a == QUERIES ? w->n_heads * w->head_dim
           : a == KEYS    ? w->n_kv_heads * w->head_dim
                          : same;
}

/* The old index of a new one; -1: zeros. */
static int64_t axis_old(const model *m, axis a, int64_t i)
{
    const widths *old = &m->old, *new = &m->new;
    if (a == SAME) return i;
    if (a == STREAM || a == HIDDEN) return i < axis_length(old, a, 0) ? i : -1;
    const int64_t group = new->n_heads / new->n_kv_heads, old_group = old->n_heads / old->n_kv_heads;
    const int64_t head = i / new->head_dim, at = i % new->head_dim, kv = a == KEYS ? head : head / group;
    if (at >= old->head_dim || kv >= old->n_kv_heads * m->copies) return -1;
    if (a == KEYS) return kv / m->copies * old->head_dim + at;
    const int64_t query = kv % m->copies * group + head % group; /* in the old KV head's group */
    return query < old_group ? (kv / m->copies * old_group + query) * old->head_dim + at : -1;
}

/* ----------------------------------------------------------------- tensors */

typedef enum factor { NONE, OF_NORM, OF_QUERY } factor;

/* The tensors of a model. An optional tensor is added where the old model has it. */
static const struct kind {
    const char *name; /* after "blk.N." where it is of a layer */
    bool of_layer, is_matrix;
    axis rows, columns;
    factor factor;
} kinds[] = {
    {"token_embd.weight", false, true, SAME, STREAM, NONE},
    {"output.weight", false, true, SAME, STREAM, NONE},
    {"output_norm.weight", false, false, SAME, STREAM, OF_NORM},
    {"rope_freqs.weight", false, false, SAME, SAME, NONE},
    {"attn_norm.weight", true, false, SAME, STREAM, OF_NORM},
    {"ffn_norm.weight", true, false, SAME, STREAM, OF_NORM},
    {"attn_q.weight", true, true, QUERIES, STREAM, OF_QUERY},
    {"attn_q.bias", true, false, SAME, QUERIES, OF_QUERY},
    {"attn_k.weight", true, true, KEYS, STREAM, NONE},
    {"attn_k.bias", true, false, SAME, KEYS, NONE},
    {"attn_v.weight", true, true, KEYS, STREAM, NONE},
    {"attn_v.bias", true, false, SAME, KEYS, NONE},
    {"attn_output.weight", true, true, STREAM, QUERIES, NONE},
    {"ffn_gate.weight", true, true, HIDDEN, STREAM, NONE},
    {"ffn_up.weight", true, true, HIDDEN, STREAM, NONE},
    {"ffn_down.weight", true, true, STREAM, HIDDEN, NONE},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct tensor {
    model *m;
    const struct kind *kind;
    const vouch_gguf_tensor *old; /* NULL: zeros */
    vouch_type type;
    int64_t n_rows, n_in;
    float *row; /* [n_in] the values of row `at` */
    int64_t at; /* -1: none */
} tensor;

/* Computes a new row. `line` has room for an old one. */
static vouch_status row_make(tensor *t, int64_t index, float *line, vouch_error *err)
{
    const model *m = t->m;
    const int64_t old = t->old ? axis_old(m, t->kind->rows, index) : -1;
    const float scale = t->kind->factor == OF_NORM    ? sqrtf((float)m->old.n_embd / (float)m->new.n_embd)
                        : t->kind->factor == OF_QUERY ? sqrtf((float)m->new.head_dim / (float)m->old.head_dim)
                                                      : 1;
    t->at = index;
    memset(t->row, 0, (size_t)t->n_in * sizeof *t->row);
    if (old < 0) return VOUCH_OK;
    const size_t bytes = t->old->bytes / (size_t)(t->kind->is_matrix ? t->old->dim[1] : 1);
    VOUCH_TRY(vouch_gguf_load(m->from, t->old, (size_t)old * bytes, bytes, err));
    vouch_dequantize_values((vouch_type)t->old->type, (const char *)t->old->data + (size_t)old * bytes, t->old->dim[0],
                            line);
    for (int64_t i = 0; i < t->n_in; i++) {
        const int64_t from = axis_old(m, t->kind->columns, i);
        if (from >= 0) t->row[i] = line[from] * scale;
    }
    return VOUCH_OK;
}

static vouch_status tensor_fill(void *user, size_t offset, void *bytes, size_t size, vouch_error *err)
{
    tensor *t = user;
    const vouch_type_info *info = vouch_type_get_info(t->type);
    const size_t block = (size_t)info->block_bytes, row = (size_t)(t->n_in / info->block_length) * block;
    float *line = malloc(sizeof *line * (size_t)(t->old ? t->old->dim[0] : 1));
    vouch_status status = line ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a row");
    for (size_t done = 0, part; status == VOUCH_OK && done < size; done += part) {
        const size_t at = offset + done, in_row = at % row;
        part = row - in_row < size - done ? row - in_row : size - done;
        if (t->at != (int64_t)(at / row)) status = row_make(t, (int64_t)(at / row), line, err);
        if (status != VOUCH_OK) break;
        vouch_quantize_values(t->type, t->row + in_row / block * (size_t)info->block_length,
                              (int64_t)(part / block) * info->block_length, (char *)bytes + done);
    }
    free(line);
    t->m->written += (int64_t)size;
    tool_progress_report(&t->m->progress, (double)t->m->written / (double)t->m->total);
    return status;
}

static void name_write(const struct kind *kind, int64_t layer, char name[64])
{
    if (kind->of_layer) snprintf(name, 64, "blk.%lld.%s", (long long)layer, kind->name);
    else snprintf(name, 64, "%s", kind->name);
}

/* Adds a tensor of layer `layer`, or of the model. */
static vouch_status tensor_add(model *m, const struct kind *kind, int64_t layer, vouch_error *err)
{
    char name[64], like[64];
    const int64_t old_layer = layer < m->old.n_layers ? layer : 0;
    name_write(kind, old_layer, like);
    name_write(kind, layer, name);
    const vouch_gguf_tensor *old = vouch_gguf_find_tensor(m->from, like);
    if (!old) return VOUCH_OK;
    const int64_t n_in = axis_length(&m->old, kind->columns, old->dim[0]);
    const int64_t n_rows = kind->is_matrix ? axis_length(&m->old, kind->rows, old->dim[1]) : 1;
    if (!vouch_type_get_info(old->type) || old->dim[0] != n_in || old->dim[1] != n_rows)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: tensor '%s' is [%lld, %lld] of type %u; expected [%lld, %lld]",
                          vouch_gguf_path(m->from), like, (long long)old->dim[1], (long long)old->dim[0],
                          (unsigned)old->type, (long long)n_rows, (long long)n_in);
    m->n_used += layer == old_layer;
    tensor *t = &m->tensors[m->n_tensors++];
    *t = (tensor){.m = m, .kind = kind, .old = layer == old_layer ? old : NULL, .at = -1, .type = VOUCH_TYPE_F32};
    t->n_in = axis_length(&m->new, kind->columns, old->dim[0]);
    t->n_rows = kind->is_matrix ? axis_length(&m->new, kind->rows, old->dim[1]) : 1;
    if (kind->is_matrix)
        t->type = (vouch_type)bits_type_for_row((int32_t)(kind->of_layer ? m->type : m->head), t->n_in);
    t->row = calloc((size_t)t->n_in, sizeof *t->row);
    if (!t->row) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a row of %s", name);
    const vouch_type_info *info = vouch_type_get_info(t->type);
    const int64_t dim[2] = {t->n_in, t->n_rows};
    m->total += t->n_in / info->block_length * info->block_bytes * t->n_rows;
    vouch_gguf_add_filled(m->writer, name, t->type, kind->is_matrix ? 2 : 1, dim, tensor_fill, t);
    return VOUCH_OK;
}

static vouch_status tensors_add(model *m, vouch_error *err)
{
    for (size_t k = 0; k < N_KINDS; k++)
        if (!kinds[k].of_layer) VOUCH_TRY(tensor_add(m, &kinds[k], 0, err));
    for (int64_t l = 0; l < m->new.n_layers; l++)
        for (size_t k = 0; k < N_KINDS; k++)
            if (kinds[k].of_layer) VOUCH_TRY(tensor_add(m, &kinds[k], l, err));
    if (m->n_used == vouch_gguf_n_tensors(m->from)) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %zu of its %zu tensors aren't those of a dense model",
                      vouch_gguf_path(m->from), vouch_gguf_n_tensors(m->from) - m->n_used,
                      vouch_gguf_n_tensors(m->from));
}

/* -------------------------------------------------------------------- keys */

static const char *key_of(const model *m, const char *name, char key[96])
{
    snprintf(key, 96, "%s.%s", m->arch, name);
    return key;
}

/* Copies all keys but those of the shape, which get their new values. */
static void keys_add(model *m)
{
    const struct {
        const char *name;
        int64_t value;
    } shape[] = {{"block_count", m->new.n_layers},
                 {"embedding_length", m->new.n_embd},
                 {"feed_forward_length", m->new.n_ff},
                 {"attention.head_count", m->new.n_heads},
                 {"attention.head_count_kv", m->new.n_kv_heads},
                 {"attention.key_length", m->new.head_dim},
                 {"attention.value_length", m->new.head_dim},
                 {"rope.dimension_count", m->n_rotated}};
    char key[96];
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++)
        vouch_gguf_add_u32(m->writer, key_of(m, shape[i].name, key), (uint32_t)shape[i].value);
    vouch_gguf_add_f32(m->writer, key_of(m, "attention.layer_norm_rms_epsilon", key),
                       (float)(m->norm_eps * (double)m->old.n_embd / (double)m->new.n_embd));
    for (size_t i = 0; i < vouch_gguf_n_kv(m->from); i++) {
        const vouch_text name = vouch_gguf_key(m->from, i, NULL);
        snprintf(key, sizeof key, "%.*s", (int)(name.size < 95 ? name.size : 95), name.data);
        if (strncmp(key, "split.", 6) != 0 && !vouch_gguf_writer_has(m->writer, key))
            vouch_gguf_add_key(m->writer, m->from, i);
    }
}

/* ----------------------------------------------------------------- opening */

static vouch_status int_read(const model *m, const char *name, bool required, int64_t *value, vouch_error *err)
{
    char key[96];
    return vouch_gguf_get_int(m->from, key_of(m, name, key), required, 1, INT32_MAX, value, err);
}

static vouch_status old_read(model *m, vouch_error *err)
{
    widths *w = &m->old;
    vouch_text arch = {"", 0};
    char key[96];
    VOUCH_TRY(vouch_gguf_get_text(m->from, "general.architecture", true, &arch, err));
    if (!vouch_text_is(arch, "llama") && !vouch_text_is(arch, "qwen2"))
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: the architecture is %.*s; expected llama or qwen2",
                          vouch_gguf_path(m->from), (int)arch.size, arch.data);
    snprintf(m->arch, sizeof m->arch, "%.*s", (int)arch.size, arch.data);
    VOUCH_TRY(int_read(m, "block_count", true, &w->n_layers, err));
    VOUCH_TRY(int_read(m, "embedding_length", true, &w->n_embd, err));
    VOUCH_TRY(int_read(m, "feed_forward_length", true, &w->n_ff, err));
    VOUCH_TRY(int_read(m, "attention.head_count", true, &w->n_heads, err));
    w->n_kv_heads = w->n_heads;
    VOUCH_TRY(int_read(m, "attention.head_count_kv", false, &w->n_kv_heads, err));
    w->head_dim = w->n_embd / w->n_heads;
    VOUCH_TRY(int_read(m, "attention.key_length", false, &w->head_dim, err));
    m->n_rotated = w->head_dim;
    VOUCH_TRY(int_read(m, "rope.dimension_count", false, &m->n_rotated, err));
    return vouch_gguf_get_float(m->from, key_of(m, "attention.layer_norm_rms_epsilon", key), true, &m->norm_eps, err);
}

/* Checks that the new shape has room for the old one. */
static vouch_status new_set(model *m, const bench_shape *s, int32_t n_layers, vouch_error *err)
{
    const widths *old = &m->old;
    m->new = (widths){s->n_embd, s->n_ff, s->n_heads, s->n_kv_heads, s->head_dim, n_layers ? n_layers : s->n_layers};
    const int64_t group = m->new.n_heads / m->new.n_kv_heads, old_group = old->n_heads / old->n_kv_heads;
    m->copies = (old_group + group - 1) / group;
    const struct {
        const char *what;
        int64_t old, new;
    } sizes[] = {{"layers", old->n_layers, m->new.n_layers},
                 {"values in the stream", old->n_embd, m->new.n_embd},
                 {"values in the feed-forward network", old->n_ff, m->new.n_ff},
                 {"KV heads", old->n_kv_heads * m->copies, m->new.n_kv_heads},
                 {"values in a head", old->head_dim, m->new.head_dim}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].old > sizes[i].new)
            return vouch_fail(
                err, VOUCH_E_ARGUMENT,
                "the model needs %lld %s; the new shape has %lld: choose another --shape or more --layers",
                (long long)sizes[i].old, sizes[i].what, (long long)sizes[i].new);
    return VOUCH_OK;
}

static bool type_find(const char *flag, const char *name, vouch_type *type)
{
    const int32_t found = bits_type_find(name);
    *type = (vouch_type)found;
    if (found >= 0 && vouch_type_can_quantize(*type)) return true;
    tool_complain("--%s '%s': expected a type that vouch can write, such as Q4_K, Q8_0 or F16", flag, name);
    return false;
}

static vouch_status model_write(model *m, const bench_shape *shape, const options *o, vouch_error *err)
{
    VOUCH_TRY(vouch_gguf_open(&m->from, o->model, err));
    VOUCH_TRY(old_read(m, err));
    VOUCH_TRY(new_set(m, shape, o->n_layers, err));
    VOUCH_TRY(vouch_gguf_writer_open(&m->writer, err));
    m->tensors = calloc((size_t)(m->new.n_layers + 1) * N_KINDS, sizeof *m->tensors);
    if (!m->tensors) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the list of tensors");
    keys_add(m);
    VOUCH_TRY(tensors_add(m, err));
    const vouch_status status = vouch_gguf_write(m->writer, o->out, err);
    tool_progress_end(&m->progress);
    return status;
}

int main(int argc, char **argv)
{
    options o = {0};
    vouch_error err;
    const bench_shape *shape;
    model m = {.progress = {.label = "writing the model"}};
    bench_arguments_parse(&command, argc, argv, &o);
    if (!o.model || !o.shape || !o.type || !o.out) {
        tool_complain("--%s is missing", !o.model   ? "model FILE"
                                         : !o.shape ? "shape NAME"
                                         : !o.type  ? "type TYPE"
                                                    : "out FILE");
        return 2;
    }
    for (size_t i = 0; (shape = bench_shape_at(i)) && strcmp(shape->name, o.shape) != 0;) i++;
    if (!shape) {
        tool_complain("--shape '%s': expected one of " BENCH_SHAPE_NAMES, o.shape);
        return 2;
    }
    if (shape->n_experts > 0 || shape->delta.every > 0) {
        tool_complain("--shape %s: it has experts or delta nets; choose a dense one, such as qwen3-4b", o.shape);
        return 2;
    }
    if (!type_find("type", o.type, &m.type)) return 2;
    const vouch_type_info *info = vouch_type_get_info(m.type);
    const bool is_wide = info->block_bytes >= info->block_length;
    if (!type_find("head", o.head ? o.head : is_wide ? o.type : "Q6_K", &m.head)) return 2;
    const bool ok = !tool_file_check(o.out, &err) && !model_write(&m, shape, &o, &err);
    if (!ok) tool_complain("%s", err.message);
    else
        printf("%s: %s, %s, %lld layers, %.0f MB\n", o.out, shape->name, o.type, (long long)m.new.n_layers,
               (double)m.total * 1e-6);
    for (size_t i = 0; i < m.n_tensors; i++) free(m.tensors[i].row);
    free(m.tensors);
    vouch_gguf_writer_close(m.writer);
    vouch_gguf_close(m.from);
    return ok ? 0 : 1;
}
