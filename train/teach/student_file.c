/* SPDX-License-Identifier: MIT */
#include "train/teach/student_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/open/open.h"
#include "train/teach/writing.h"

/* -------------------------------------------------------------------- checks */

static bool is_text(vouch_text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

/* A tensor that a student has, too. Layers have nine. */
static bool is_known(vouch_text name)
{
    static const char *const ends[] = {"token_embd.weight", "output_norm.weight", "output.weight", "rope_freqs.weight"};
    static const char *const parts[] = {"attn_norm", "attn_q",   "attn_k", "attn_v",  "attn_output",
                                        "ffn_norm",  "ffn_gate", "ffn_up", "ffn_down"};
    char text[65], part[65];
    int layer = 0, end = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (is_text(name, ends[i])) return true;
    snprintf(text, sizeof text, "%.*s", (int)name.size, name.data);
    if (sscanf(text, "blk.%d.%64[a-z_].weight%n", &layer, part, &end) != 2 || text[end]) return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(part, parts[i]) == 0) return true;
    return false;
}

static vouch_status file_check(const vouch_gguf *gguf, const vouch_hparams *h, vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf);
    if (strcmp(h->arch, "llama") != 0 || h->experts.n_experts > 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: general.architecture is '%s'%s: a draft model is taught from layers of a dense 'llama' "
                          "only; name another one with `student_model`",
                          path, h->arch, h->experts.n_experts > 0 ? " with experts" : "");
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        const vouch_text name = vouch_gguf_get_tensor(gguf, i)->name;
        if (!is_known(name))
            return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                              "%s: tensor '%.*s' is no part of a plain llama model, so no draft model can be taught "
                              "from its layers",
                              path, (int)name.size, name.data);
    }
    for (size_t i = 0; i < vouch_gguf_n_kv(gguf); i++) {
        vouch_gguf_type type;
        const vouch_text key = vouch_gguf_key(gguf, i, &type);
        if (type == VOUCH_GGUF_ARRAY && key.size > 6 && memcmp(key.data, "llama.", 6) == 0)
            return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                              "%s: %.*s differs from layer to layer; a draft model is taught from layers of one shape",
                              path, (int)key.size, key.data);
    }
    return VOUCH_OK;
}

/* Reads the layers' shape, and checks that the network of student.h computes what the model does. */
static vouch_status shape_take(train_student *s, const vouch_weights *w, const char *path, vouch_error *err)
{
    const vouch_hparams *h = &w->hparams;
    const vouch_attention *a = &w->layers[0].attention;
    const vouch_rotary *rotary = &w->rotaries[a->rotary];
    const double usual = 1 / sqrt((double)a->head_dim);
    if (a->head_dim != a->value_dim || rotary->kind != VOUCH_ROTARY_ADJACENT || rotary->n_rot != a->head_dim ||
        rotary->magnitude != 1 || rotary->long_frequencies || a->window != 0 || a->softcap != 0 ||
        fabs((double)a->scale / usual - 1) > 1e-6 || (h->embedding_scale != 0 && h->embedding_scale != 1) ||
        (h->logit_scale != 0 && h->logit_scale != 1))
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: its attention isn't plain llama's (scaled angles of YaRN, part of a head rotated, a "
                          "window, or another scale), so no draft model can be taught from its layers",
                          path);
    s->n_vocab = h->n_vocab;
    s->shape.layer = (train_layer_shape){h->n_embd, h->n_ff, {a->n_heads, a->n_kv_heads, a->head_dim}, h->norm_eps};
    return VOUCH_OK;
}

/* -------------------------------------------------------------------- opening */

static void matrix_copy(real *to, const vouch_matrix *from)
{
    for (int64_t i = 0; i < from->n_out; i++) vouch_matrix_get_row(from, i, to + i * from->n_in);
}

static void layer_copy(const train_layer *to, const vouch_layer *from, int64_t n_embd)
{
    memcpy(to->attn_norm, from->mix.norm.weight, (size_t)n_embd * sizeof(real));
    memcpy(to->ffn_norm, from->feed.norm.weight, (size_t)n_embd * sizeof(real));
    matrix_copy(to->q, &from->attention.q);
    matrix_copy(to->k, &from->attention.k);
    matrix_copy(to->v, &from->attention.v);
    matrix_copy(to->o, &from->attention.o);
    matrix_copy(to->gate, &from->ffn.gate);
    matrix_copy(to->up, &from->ffn.up);
    matrix_copy(to->down, &from->ffn.down);
}

static vouch_status weights_copy(train_student *s, const vouch_weights *w, const int32_t *layers, vouch_error *err)
{
    const size_t n_embd = (size_t)s->shape.layer.n_embd, half = (size_t)s->shape.layer.heads.head_dim / 2;
    const bool is_tied = w->output == &w->embedding;
    s->block = malloc((size_t)train_student_size(&s->shape) * sizeof *s->block);
    s->embedding = malloc((size_t)s->n_vocab * n_embd * sizeof *s->embedding);
    s->output = is_tied ? s->embedding : malloc((size_t)s->n_vocab * n_embd * sizeof *s->output);
    s->frequencies = malloc(half * sizeof *s->frequencies);
    if (!s->block || !s->embedding || !s->output || !s->frequencies)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a draft model in F32");
    memcpy(s->block, w->output_norm.weight, n_embd * sizeof *s->block);
    memcpy(s->frequencies, w->rotaries[w->layers[0].attention.rotary].frequencies, half * sizeof *s->frequencies);
    matrix_copy(s->embedding, &w->embedding);
    if (!is_tied) matrix_copy(s->output, w->output);
    for (int32_t l = 0; l < s->shape.n_layers; l++) {
        const train_layer layer = train_student_layer(&s->shape, s->block, l);
        layer_copy(&layer, &w->layers[layers ? layers[l] : l], s->shape.layer.n_embd);
    }
    return VOUCH_OK;
}

vouch_status train_student_open(train_student *student, const char *path, const vouch_weights *weights,
                                const int32_t *layers, int32_t n_layers, vouch_error *err)
{
    const int32_t n = weights->hparams.n_layers;
    vouch_gguf *gguf;
    *student = (train_student){.shape = {.n_layers = n_layers > 0 ? n_layers : n}};
    for (int32_t l = 0; l < n_layers; l++)
        if (layers[l] < 0 || layers[l] >= n || (l > 0 && layers[l] <= layers[l - 1]))
            return vouch_fail(err, VOUCH_E_ARGUMENT, "`student_layers` has %d: expected ascending layers, 0 to %d",
                              (int)layers[l], (int)n - 1);
    VOUCH_TRY(vouch_format_open(&gguf, path, err));
    vouch_status status = file_check(gguf, &weights->hparams, err);
    vouch_gguf_close(gguf);
    if (!status) status = shape_take(student, weights, path, err);
    if (!status) status = weights_copy(student, weights, n_layers > 0 ? layers : NULL, err);
    return status;
}

void train_student_close(train_student *student)
{
    if (student->output != student->embedding) free(student->output);
    free(student->embedding);
    free(student->frequencies);
    free(student->block);
    train_lora_close(&student->lora);
}

void train_student_angles(const train_student *student, real *cosines, real *sines, int64_t n_positions)
{
    const int64_t half = student->shape.layer.heads.head_dim / 2;
    for (int64_t p = 0; p < n_positions; p++)
        for (int64_t i = 0; i < half; i++) {
            cosines[p * half + i] = (real)cos((double)p * student->frequencies[i]);
            sines[p * half + i] = (real)sin((double)p * student->frequencies[i]);
        }
}

/* -------------------------------------------------------------------- writing */

static void keys_add(vouch_gguf_writer *w, const vouch_gguf *from, const train_student *s, const char *digest,
                     const char *recipe)
{
    static const char *const replaced[] = {"llama.block_count",    "general.file_type", "vouch.distill.target",
                                           "vouch.distill.recipe", "split.no",          "split.count",
                                           "split.tensors.count"};
    for (size_t i = 0; i < vouch_gguf_n_kv(from); i++) {
        bool is_replaced = false;
        for (size_t k = 0; k < sizeof replaced / sizeof *replaced; k++)
            is_replaced |= is_text(vouch_gguf_key(from, i, NULL), replaced[k]);
        if (!is_replaced) vouch_gguf_add_key(w, from, i);
    }
    vouch_gguf_add_u32(w, "llama.block_count", (uint32_t)s->shape.n_layers);
    vouch_gguf_add_text(w, "vouch.distill.target", digest);
    vouch_gguf_add_text(w, "vouch.distill.recipe", recipe);
}

/* The tensors that don't learn are copied byte for byte. */
static vouch_status tensors_copy(vouch_gguf_writer *w, const vouch_gguf *from, vouch_error *err)
{
    static const char *const names[] = {"token_embd.weight", "output.weight", "rope_freqs.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const vouch_gguf_tensor *t = vouch_gguf_find_tensor(from, names[i]);
        if (!t) continue;
        VOUCH_TRY(vouch_gguf_load(from, t, 0, t->bytes, err));
        vouch_gguf_add_tensor(w, names[i], (vouch_type)t->type, t->n_dims, t->dim, t->data);
    }
    return VOUCH_OK;
}

static vouch_status file_write(const train_student *s, const vouch_gguf *from, const char *out, vouch_type type,
                               const char *digest, const char *recipe, vouch_error *err)
{
    train_writing w;
    VOUCH_TRY(train_writing_open(&w, err));
    keys_add(w.gguf, from, s, digest, recipe);
    const vouch_status copied = tensors_copy(w.gguf, from, err);
    train_writing_add(&w, "output_norm.weight", s->block, 0, s->shape.layer.n_embd, VOUCH_TYPE_F32);
    for (int32_t l = 0; l < s->shape.n_layers && !copied; l++) {
        const train_layer layer = train_student_layer(&s->shape, s->block, l);
        train_writing_add_layer(&w, &layer, &s->shape.layer, l, type);
    }
    if (copied) {
        train_writing_drop(&w);
        return copied;
    }
    return train_writing_end(&w, out, err);
}

vouch_status train_student_write(const train_student *student, const char *path, const char *out, vouch_type type,
                                 const char *digest, const char *recipe, vouch_error *err)
{
    vouch_gguf *gguf;
    VOUCH_TRY(vouch_format_open(&gguf, path, err));
    const vouch_status status = file_write(student, gguf, out, type, digest, recipe, err);
    vouch_gguf_close(gguf);
    return status;
}
