/* SPDX-License-Identifier: MIT */
/* Opens and closes heads of all kinds. */
#include "model/head/head_kind.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/load/keys.h"

static const vouch_head_kind *const kinds[] = {&vouch_head_kind_native, &vouch_head_kind_eagle,
                                               &vouch_head_kind_eagle3, &vouch_head_kind_assistant,
                                               &vouch_head_kind_dflash, &vouch_head_kind_medusa};

/* ------------------------------------------------------------- parts of kinds */

vouch_status vouch_head_check_size(const vouch_gguf *gguf, const char *arch, const char *key, bool required,
                                   int32_t size, vouch_error *err)
{
    int32_t stated = size;
    VOUCH_TRY(vouch_key_int(gguf, arch, key, required, 1, INT_MAX, &stated, err));
    if (stated == size) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MISMATCH, "%s: %s.%s is %d, but the model has %d: this head is for another model",
                      vouch_gguf_path(gguf), arch, key, stated, size);
}

static vouch_status add_taps(vouch_head_weights *head, const vouch_gguf *gguf, const char *name, vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf);
    const int32_t n_layers = head->target->hparams.n_layers;
    vouch_gguf_array layers;
    VOUCH_TRY(vouch_gguf_get_array(gguf, name, true, &layers, err));
    if ((layers.type != VOUCH_GGUF_I32 && layers.type != VOUCH_GGUF_U32) || layers.count < 1 ||
        layers.count > VOUCH_HEAD_TAPS)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s must be 1 to %d layers, an array of integers", path, name,
                          VOUCH_HEAD_TAPS);
    for (size_t i = 0; i < layers.count; i++) {
        const int64_t layer = vouch_gguf_array_int(&layers, i);
        if (layer < 1 || layer > n_layers)
            return vouch_fail(err, VOUCH_E_MISMATCH,
                              "%s: %s[%zu] is %lld, but the model's are 1 to %d: this head is for another model", path,
                              name, i, (long long)layer, n_layers);
        head->taps[head->n_taps++] = (int32_t)layer - 1;
    }
    return VOUCH_OK;
}

vouch_status vouch_head_read_taps(vouch_head_weights *head, const vouch_gguf *gguf, const char *name, vouch_error *err)
{
    if (head->n_taps == 0) VOUCH_TRY(add_taps(head, gguf, name, err));
    for (int32_t i = 0; i < head->n_taps; i++)
        if (head->taps[i] < (i == 0 ? 0 : head->taps[i - 1] + 1))
            return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                              "%s: %s[%d] is %d in a model of %d layers: layers must ascend from 1 on",
                              vouch_gguf_path(gguf), name, i, head->taps[i] + 1, head->target->hparams.n_layers);
    head->n_features = head->n_taps * head->target->hparams.n_embd;
    return VOUCH_OK;
}

static int64_t id_at(const vouch_gguf_tensor *tensor, size_t i)
{
    int64_t wide;
    int32_t narrow;
    if (tensor->type == VOUCH_TYPE_I64) {
        memcpy(&wide, (const char *)tensor->data + i * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, (const char *)tensor->data + i * sizeof narrow, sizeof narrow);
    return narrow;
}

static vouch_status check_tokens(const vouch_head_weights *head, const vouch_gguf_tensor *tensor, const char *path,
                                 const char *name, int32_t n_vocab, vouch_error *err)
{
    bool *taken = calloc((size_t)n_vocab, sizeof *taken);
    if (!taken) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the tokens of a head");
    vouch_status status = VOUCH_OK;
    for (int32_t i = 0; i < head->n_draft && status == VOUCH_OK; i++) {
        const int64_t id = id_at(tensor, (size_t)i);
        if (id < 0 || id >= n_vocab || taken[id])
            status = vouch_fail(err, VOUCH_E_FORMAT, "%s: %s[%d] is %lld, expected 0 to %d, each at most once", path,
                                name, i, (long long)id, n_vocab - 1);
        else taken[id] = true;
        head->tokens[i] = (int32_t)id;
    }
    free(taken);
    return status;
}

vouch_status vouch_head_read_tokens(vouch_head_weights *head, const vouch_gguf *gguf, const char *name, int32_t n_vocab,
                                    vouch_error *err)
{
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, name);
    const char *path = vouch_gguf_path(gguf);
    head->n_draft = n_vocab;
    if (!tensor) return VOUCH_OK;
    if (tensor->type != VOUCH_TYPE_I32 && tensor->type != VOUCH_TYPE_I64)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor '%s' has type %s, must be I32 or I64", path, name,
                          vouch_type_gguf_name(tensor->type));
    if (tensor->n_dims != 1 || tensor->dim[0] > n_vocab)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor '%s' must have one dimension of at most %d ids", path, name,
                          n_vocab);
    head->n_draft = (int32_t)tensor->dim[0];
    head->tokens = calloc((size_t)head->n_draft, sizeof *head->tokens);
    if (!head->tokens) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the tokens of a head");
    VOUCH_TRY(vouch_gguf_load(gguf, tensor, 0, tensor->bytes, err));
    return check_tokens(head, tensor, path, name, n_vocab, err);
}

/* ------------------------------------------------------------------- opening */

vouch_status vouch_head_refuse(const vouch_gguf *gguf, vouch_error *err)
{
    vouch_text arch;
    if (vouch_head_is_beside(gguf))
        return vouch_fail(
            err, VOUCH_E_UNSUPPORTED,
            "%s: the file has the layers that guess for a model, and not the model: open the model, and give "
            "it this file as its head",
            vouch_gguf_path(gguf));
    if (vouch_gguf_get_text(gguf, "general.architecture", true, &arch, NULL) != VOUCH_OK) return VOUCH_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (vouch_text_is(arch, kinds[i]->arch))
            return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                              "%s: general.architecture '%s' is a head, which guesses for a model: open the model, and "
                              "give it this file as its head",
                              vouch_gguf_path(gguf), kinds[i]->arch);
    return VOUCH_OK;
}

/* Opens a head's file of any kind. */
static vouch_status open_kind(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_draft_target *target,
                              vouch_pool *pool, vouch_error *err)
{
    char known[128];
    vouch_text arch;
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", true, &arch, err));
    int used = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (vouch_text_is(arch, kinds[i]->arch)) return kinds[i]->open(head, gguf, target, pool, err);
        used += snprintf(known + used, sizeof known - (size_t)used, "%s'%s'", i ? ", " : "", kinds[i]->arch);
    }
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: general.architecture is '%.*s': expected a head, one of %s",
                      vouch_gguf_path(gguf), (int)(arch.size < 64 ? arch.size : 64), arch.data, known);
}

/* Copies the target's output rows of the tokens that the head may guess. */
static vouch_status pick_output(vouch_head_weights *head, vouch_error *err)
{
    vouch_weights *w = head->body;
    vouch_matrix rows;
    float *bias = NULL;
    if (!head->tokens || w->own_output.n_out > 0) return VOUCH_OK;
    if (!vouch_matrix_shape(&rows, w->output->type, head->n_draft, w->output->n_in))
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %d output rows of a head", head->n_draft);
    for (int twice = 0; twice < 2; twice++) {
        if (twice) VOUCH_TRY(vouch_arena_allocate(&head->rows, "the output rows of a head", err));
        rows.data = vouch_arena_take(&head->rows, vouch_matrix_bytes(&rows), 1);
        if (w->output_bias) bias = vouch_arena_take(&head->rows, (size_t)head->n_draft, sizeof *bias);
    }
    vouch_matrix_pick(&rows, w->output, head->tokens);
    for (int32_t i = 0; bias && i < head->n_draft; i++) bias[i] = w->output_bias[head->tokens[i]];
    w->own_output = rows;
    w->output = &w->own_output;
    w->output_bias = bias;
    return VOUCH_OK;
}

vouch_status vouch_head_weights_open(vouch_head_weights **out, const vouch_gguf *gguf, const vouch_draft_target *target,
                                     vouch_pool *pool, vouch_error *err)
{
    *out = NULL;
    if (vouch_head_is_beside(gguf)) return vouch_head_weights_open_beside(out, gguf, target->weights, pool, err);
    vouch_head_weights *head = calloc(1, sizeof *head);
    if (!head) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a head");
    head->target = target->weights;
    head->embedding_scale = target->weights->hparams.embedding_scale;
    vouch_status status = open_kind(head, gguf, target, pool, err);
    if (status == VOUCH_OK) status = pick_output(head, err);
    if (status == VOUCH_OK) *out = head;
    else vouch_head_weights_close(head);
    return status;
}

void vouch_head_weights_close(vouch_head_weights *head)
{
    if (!head) return;
    vouch_head_weights_close(head->deeper);
    if (head->block.writer) free(head->block.writer->layers);
    free(head->block.writer);
    vouch_weights_close(head->body);
    vouch_arena_free(&head->rows);
    free(head->tokens);
    free(head->depths);
    free(head);
}

size_t vouch_head_weights_bytes(const vouch_head_weights *head)
{
    return sizeof *head + head->body->arena.size + head->rows.size + (size_t)head->n_depths * sizeof *head->depths +
           (head->tokens ? (size_t)head->n_draft * sizeof *head->tokens : 0) +
           (head->deeper ? vouch_head_weights_bytes(head->deeper) : 0);
}
