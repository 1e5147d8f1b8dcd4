/* SPDX-License-Identifier: MIT */
#include "train/head_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/gguf.h"
#include "kernels/quantize.h"

#define KEY(name) "vouch-head." name

enum { MOST_TENSORS = 16 + 9 * TRAIN_HEAD_LAYERS };

/* The writer keeps pointers to tensors, so their bytes live until the file is written. */
typedef struct writing {
    vouch_gguf_writer *writer;
    void *bytes[MOST_TENSORS];
    int n;
    bool is_short; /* of memory */
} writing;

static const struct {
    const char *name;
    vouch_type type;
} types[] = {{"Q8_0", VOUCH_TYPE_Q8_0}, {"Q4_0", VOUCH_TYPE_Q4_0}, {"F16", VOUCH_TYPE_F16}, {"F32", VOUCH_TYPE_F32}};

static vouch_type type_of(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) return types[i].type;
    return VOUCH_TYPE_COUNT;
}

bool train_head_type_known(const char *type)
{
    return type_of(type) != VOUCH_TYPE_COUNT;
}

/* Adds values [rows, width]; rows 0: a vector. A matrix whose rows aren't whole blocks becomes F16. */
static void add(writing *w, const char *name, const real *values, int64_t rows, int64_t width, vouch_type type)
{
    const vouch_type_info *info = vouch_type_get_info(type);
    if (width % info->block_length != 0) info = vouch_type_get_info(type = VOUCH_TYPE_F16);
    const int64_t n = (rows > 0 ? rows : 1) * width, dims[] = {width, rows};
    float *x = malloc((size_t)n * sizeof *x);
    void *bytes = malloc((size_t)(n / info->block_length * info->block_bytes));
    if (x && bytes) {
        const float most = type == VOUCH_TYPE_F32 ? INFINITY : vouch_quantize_max(type);
        for (int64_t i = 0; i < n; i++) x[i] = fminf(fmaxf((float)values[i], -most), most);
        if (type == VOUCH_TYPE_F32) memcpy(bytes, x, (size_t)n * sizeof *x);
        else vouch_quantize_values(type, x, n, bytes);
        vouch_gguf_add_tensor(w->writer, name, type, rows > 0 ? 2 : 1, dims, bytes);
    } else {
        w->is_short = true;
    }
    free(x);
    w->bytes[w->n++] = bytes;
}

/* [token | feature], row by row. */
static void add_join(writing *w, const train_head *head, int64_t width, vouch_type type)
{
    const size_t row = (size_t)width * sizeof(real);
    real *join = malloc(2 * (size_t)width * row);
    if (!join) {
        w->is_short = true;
        return;
    }
    for (int64_t i = 0; i < width; i++) {
        memcpy(join + 2 * i * width, head->token + i * width, row);
        memcpy(join + (2 * i + 1) * width, head->feature + i * width, row);
    }
    add(w, "join.weight", join, width, 2 * width, type);
    add(w, "join.bias", head->token_bias, 0, width, VOUCH_TYPE_F32);
    free(join);
}

static void add_layer(writing *w, const train_layer *layer, const train_layer_shape *s, int32_t l, vouch_type type)
{
    const int64_t q = s->heads.n_heads * s->heads.head_dim, kv = s->heads.n_kv_heads * s->heads.head_dim;
    const struct {
        const char *name;
        const real *values;
        int64_t rows, width;
    } all[] = {{"attn_norm", layer->attn_norm, 0, s->n_embd}, {"attn_q", layer->q, q, s->n_embd},
               {"attn_k", layer->k, kv, s->n_embd},           {"attn_v", layer->v, kv, s->n_embd},
               {"attn_output", layer->o, s->n_embd, q},       {"ffn_norm", layer->ffn_norm, 0, s->n_embd},
               {"ffn_gate", layer->gate, s->n_ff, s->n_embd}, {"ffn_up", layer->up, s->n_ff, s->n_embd},
               {"ffn_down", layer->down, s->n_embd, s->n_ff}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%d.%s.weight", (int)l, all[i].name);
        add(w, name, all[i].values, all[i].rows, all[i].width, all[i].rows > 0 ? type : VOUCH_TYPE_F32);
    }
}

static void add_keys(vouch_gguf_writer *w, const train_head_file *f)
{
    const train_states_header *h = f->set->header;
    const train_layer_shape *layer = &f->shape->layer;
    vouch_gguf_add_text(w, "general.architecture", "vouch-head");
    vouch_gguf_add_text(w, "general.type", "head");
    vouch_gguf_add_text(w, "general.name", f->name);
    vouch_gguf_add_text(w, KEY("target.digest"), h->digest);
    vouch_gguf_add_u32(w, KEY("target.embedding_length"), (uint32_t)h->n_embd);
    vouch_gguf_add_u32(w, KEY("target.block_count"), (uint32_t)h->n_layers);
    vouch_gguf_add_u32(w, KEY("target.vocab_size"), (uint32_t)h->n_vocab);
    vouch_gguf_add_array(w, KEY("taps"), VOUCH_GGUF_I32, h->taps, (size_t)h->n_taps);
    vouch_gguf_add_u32(w, KEY("embedding_length"), (uint32_t)f->shape->width);
    vouch_gguf_add_u32(w, KEY("block_count"), (uint32_t)f->shape->n_layers);
    vouch_gguf_add_f32(w, KEY("attention.layer_norm_rms_epsilon"), (float)f->shape->eps);
    if (f->shape->n_layers > 0) {
        vouch_gguf_add_u32(w, KEY("feed_forward_length"), (uint32_t)layer->n_ff);
        vouch_gguf_add_u32(w, KEY("attention.head_count"), (uint32_t)layer->heads.n_heads);
        vouch_gguf_add_u32(w, KEY("attention.head_count_kv"), (uint32_t)layer->heads.n_kv_heads);
        vouch_gguf_add_u32(w, KEY("attention.key_length"), (uint32_t)layer->heads.head_dim);
        vouch_gguf_add_f32(w, KEY("rope.freq_base"), (float)f->rope_base);
    }
    vouch_gguf_add_text(w, KEY("recipe"), f->recipe);
}

/* A linear head's fc and join multiply each other's errors (linear.h), so they have 16 bits at least. */
static void add_tensors(writing *w, const train_head_file *f)
{
    const train_head *h = f->head;
    const train_head_shape *s = f->shape;
    const vouch_type type = type_of(f->type);
    const vouch_type fine = s->n_layers > 0 || type == VOUCH_TYPE_F32 ? type : VOUCH_TYPE_F16;
    add(w, "taps.mean", f->set->mean, 0, s->n_features, VOUCH_TYPE_F32);
    add(w, "taps.inv_scale", f->set->inv_scale, 0, s->n_features, VOUCH_TYPE_F32);
    add(w, "fc.weight", h->fc, s->width, s->n_features, fine);
    if (h->fc_bias) add(w, "fc.bias", h->fc_bias, 0, s->width, VOUCH_TYPE_F32);
    add_join(w, h, s->width, fine);
    for (int32_t l = 0; l < s->n_layers; l++) add_layer(w, &h->layers[l], &s->layer, l, type);
    if (s->n_layers > 0) add(w, "output_norm.weight", h->output_norm, 0, s->width, VOUCH_TYPE_F32);
    if (f->guesses) vouch_gguf_add_tensor(w->writer, "d2t", VOUCH_TYPE_I32, 1, &s->n_draft, f->guesses);
}

vouch_status train_head_write(const train_head_file *file, const char *path, vouch_error *err)
{
    writing w = {0};
    VOUCH_TRY(vouch_gguf_writer_open(&w.writer, err));
    add_keys(w.writer, file);
    add_tensors(&w, file);
    const vouch_status status = w.is_short ? vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to write the head")
                                           : vouch_gguf_write(w.writer, path, err);
    for (int i = 0; i < w.n; i++) free(w.bytes[i]);
    vouch_gguf_writer_close(w.writer);
    return status;
}
