/* SPDX-License-Identifier: MIT */
/*
 * Gemma 4's assistants: heads in files of their own (general.architecture gemma4-assistant, as llama.cpp writes them),
 * for the target whose width they state. Their layers have queries only.
 */
#include <string.h>

#include "model/head/head_kind.h"
#include "model/load/keys.h"

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

/* --------------------------------------------------------------- centroids */

static const char CENTROIDS[] = "masked_embd_centroids.weight", ORDER[] = "masked_embd_ordering";

/* Reads the order of tokens by centroids, and how many centroids count: a key that vouch adds for folders; 32 is
 * transformers' usual number. */
static vouch_status read_centroids(vouch_head_weights *head, const vouch_gguf *gguf, vouch_error *err)
{
    const vouch_gguf_tensor *matrix = vouch_gguf_find_tensor(gguf, CENTROIDS);
    const int32_t n_vocab = head->target->hparams.n_vocab;
    head->n_draft = n_vocab;
    if (!matrix) return VOUCH_OK;
    const int64_t n = matrix->dim[1];
    VOUCH_TRY(vouch_head_read_tokens(head, gguf, ORDER, n_vocab, err));
    if (!head->tokens || head->n_draft != n_vocab || n < 1 || n_vocab % n != 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tensor '%s' has %lld centroids, and '%s' %d tokens; expected all %d tokens of the "
                          "model, equally many for each centroid",
                          vouch_gguf_path(gguf), CENTROIDS, (long long)n, ORDER, head->tokens ? head->n_draft : 0,
                          n_vocab);
    head->centroids.n_each = (int32_t)(n_vocab / n);
    head->centroids.n_best = n < 32 ? (int32_t)n : 32;
    return vouch_key_int(gguf, ARCH, "centroid_top_k", false, 1, (int32_t)n, &head->centroids.n_best, err);
}

static vouch_status take_centroids(vouch_loader *loader, vouch_head_weights *head)
{
    if (head->centroids.n_each == 0) {
        vouch_loader_ignore_all(loader, "masked_embd_");
        return VOUCH_OK;
    }
    VOUCH_TRY(vouch_loader_matrix(loader, CENTROIDS, true, &head->centroids.matrix,
                                  head->n_draft / head->centroids.n_each, loader->hparams->n_embd));
    return vouch_loader_ignore(loader, ORDER);
}

/* ------------------------------------------------------------------- layers */

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
    return take_centroids(loader, o->head);
}

static vouch_status open_assistant(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_draft_target *target,
                                   vouch_pool *pool, vouch_error *err)
{
    const vouch_hparams *h = &target->weights->hparams;
    assistant_opening opening = {.head = head, .target = target->weights};
    const vouch_weights_plan plan = {.arch = &vouch_arch_gemma4_assistant, .take_ends = take_ends, .user = &opening};
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
    VOUCH_TRY(read_centroids(head, gguf, err));
    const vouch_packing packing = vouch_packing_beside(target->weights, pool);
    VOUCH_TRY(vouch_weights_open_plan(&head->body, gguf, &plan, &packing, err));
    head->embedding = &target->weights->embedding;
    return VOUCH_OK;
}

const vouch_head_kind vouch_head_kind_assistant = {.arch = ARCH, .open = open_assistant};
