/* SPDX-License-Identifier: MIT */
#include "train/teach/writing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/quantize.h"

static const struct {
    const char *name;
    vouch_type type;
} types[] = {{"Q8_0", VOUCH_TYPE_Q8_0},
             {"Q4_1", VOUCH_TYPE_Q4_1},
             {"Q4_0", VOUCH_TYPE_Q4_0},
             {"F16", VOUCH_TYPE_F16},
             {"F32", VOUCH_TYPE_F32}};

vouch_type train_type_of(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) return types[i].type;
    return VOUCH_TYPE_COUNT;
}

vouch_status train_writing_open(train_writing *writing, vouch_error *err)
{
    *writing = (train_writing){0};
    return vouch_gguf_writer_open(&writing->gguf, err);
}

/* Keeps bytes until the end. */
static bool keep(train_writing *w, void *bytes)
{
    void **all = realloc(w->bytes, (w->n + 1) * sizeof *all);
    if (!all) return false;
    w->bytes = all;
    w->bytes[w->n++] = bytes;
    return true;
}

void train_writing_add(train_writing *w, const char *name, const real *values, int64_t rows, int64_t width,
                       vouch_type type)
{
    const vouch_type_info *info = vouch_type_get_info(type);
    if (width % info->block_length != 0) info = vouch_type_get_info(type = VOUCH_TYPE_F16);
    const int64_t n = (rows > 0 ? rows : 1) * width, dims[] = {width, rows};
    float *x = malloc((size_t)n * sizeof *x);
    void *bytes = malloc((size_t)(n / info->block_length * info->block_bytes));
    if (x && bytes && keep(w, bytes)) {
        const float most = type == VOUCH_TYPE_F32 ? INFINITY : vouch_quantize_max(type);
        for (int64_t i = 0; i < n; i++) x[i] = fminf(fmaxf((float)values[i], -most), most);
        if (type == VOUCH_TYPE_F32) memcpy(bytes, x, (size_t)n * sizeof *x);
        else vouch_quantize_values(type, x, n, bytes);
        vouch_gguf_add_tensor(w->gguf, name, type, rows > 0 ? 2 : 1, dims, bytes);
    } else {
        free(bytes);
        w->is_short = true;
    }
    free(x);
}

void train_writing_add_layer(train_writing *w, const train_layer *layer, const train_layer_shape *s, int32_t index,
                             vouch_type type)
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
        snprintf(name, sizeof name, "blk.%d.%s.weight", (int)index, all[i].name);
        train_writing_add(w, name, all[i].values, all[i].rows, all[i].width, all[i].rows > 0 ? type : VOUCH_TYPE_F32);
    }
}

void train_writing_drop(train_writing *w)
{
    for (size_t i = 0; i < w->n; i++) free(w->bytes[i]);
    free(w->bytes);
    vouch_gguf_writer_close(w->gguf);
}

vouch_status train_writing_end(train_writing *w, const char *path, vouch_error *err)
{
    const vouch_status status = w->is_short ? vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to write %s", path)
                                            : vouch_gguf_write(w->gguf, path, err);
    train_writing_drop(w);
    return status;
}
