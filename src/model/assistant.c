/* SPDX-License-Identifier: MIT */
/*
 * Gemma 4's assistants: heads in files of their own (general.architecture gemma4-assistant, as llama.cpp writes them),
 * for the target whose width they state. Their layers have queries only.
 */
#include <string.h>

#include "model/head_kind.h"

static const char ARCH[] = "gemma4-assistant";

typedef struct assistant_opening {
    vouch_head_weights *head;
    const vouch_weights *target;
} assistant_opening;

/* The target's last layer with a window, or without one; -1: none. */
static int32_t last_layer(const vouch_hparams *target, bool has_window)
{
    int32_t layer = target->n_layers - 1;
    while (layer >= 0 && (target->layers[layer].has_window != has_window || target->layers[layer].n_heads == 0))
        layer--;
    return layer;
}

/* Each layer reads the keys and values of the target's last layer of its kind. */
static vouch_status find_lenders(vouch_hparams *h, const vouch_weights *target, vouch_loader *loader)
{
    for (int32_t i = 0; i < h->n_layers; i++) {
        const bool has_window = h->layers[i].has_window;
        const int32_t layer = last_layer(&target->hparams, has_window);
        const vouch_attention *a = layer < 0 ? NULL : &target->layers[layer].attention;
        const int32_t head_dim = h->layers[i].head_dim > 0 ? h->layers[i].head_dim : h->head_dim;
        if (!a || a->latent.rank > 0 || a->head_dim != head_dim || a->value_dim != head_dim ||
            h->layers[i].n_heads % a->n_kv_heads != 0 || (has_window && h->window < 2))
            return vouch_fail(loader->err, VOUCH_E_MISMATCH,
                              "%s: layer %d has %d heads of width %d %s a window, which the model's last layer of this "
                              "kind doesn't fit: this head is for another model",
                              vouch_gguf_path(loader->gguf), i, h->layers[i].n_heads, head_dim,
                              has_window ? "and" : "without");
        h->layers[i].lender = layer - a->shared_back + 1;
        h->layers[i].n_kv_heads = a->n_kv_heads;
    }
    return VOUCH_OK;
}

static vouch_status take_ends(vouch_weights *w, vouch_loader *loader, void *user)
{
    const assistant_opening *o = user;
    const int64_t n_embd = w->hparams.n_embd, n_target = o->target->hparams.n_embd;
    w->hparams.n_vocab = o->target->hparams.n_vocab;
    w->embedding_norm.kind = VOUCH_NORM_NONE;
    w->output_norm.kind = VOUCH_NORM_RMS;
    VOUCH_TRY(find_lenders(&w->hparams, o->target, loader));
    VOUCH_TRY(vouch_loader_matrix(loader, "token_embd.weight", true, &w->embedding, w->hparams.n_vocab, n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, "output_norm.weight", true, &w->output_norm.weight, n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, "nextn.pre_projection.weight", true, &o->head->join, n_embd, 2 * n_target));
    VOUCH_TRY(vouch_loader_matrix(loader, "nextn.post_projection.weight", true, &o->head->leave, n_target, n_embd));
    vouch_loader_ignore_all(loader, "masked_embd_"); /* tensors that find few likely tokens; vouch scores all tokens */
    return VOUCH_OK;
}

static vouch_status open_assistant(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_head_target *target,
                                   vouch_pool *pool, vouch_error *err)
{
    const vouch_hparams *h = &target->weights->hparams;
    assistant_opening opening = {.head = head, .target = target->weights};
    const vouch_weights_plan plan = {
        .arch = &vouch_arch_gemma4_assistant, .take_ends = take_ends, .user = &opening};
    if (strcmp(h->arch, "gemma4") != 0)
        return vouch_fail(err, VOUCH_E_MISMATCH,
                          "%s: general.architecture is '%s', but the model is of '%s': this head is for another model",
                          vouch_gguf_path(gguf), ARCH, h->arch);
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "embedding_length_out", true, h->n_embd, err));
    head->token_norm.kind = head->state_norm.kind = VOUCH_NORM_NONE;
    head->is_normed = head->borrows_keys = true;
    head->n_taps = 1;
    head->taps[0] = h->n_layers - 1;
    head->n_features = h->n_embd;
    head->n_draft = h->n_vocab;
    VOUCH_TRY(vouch_weights_open_plan(&head->body, gguf, &plan, target->weights->kernels, pool, NULL, NULL, err));
    head->embedding = &target->weights->embedding;
    return VOUCH_OK;
}

const vouch_head_kind vouch_head_kind_assistant = {.arch = ARCH, .open = open_assistant};
