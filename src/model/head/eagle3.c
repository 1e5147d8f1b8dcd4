/* SPDX-License-Identifier: MIT */
/*
 * Heads of EAGLE-3 (Li et al., arXiv 2503.01840), in files as llama.cpp writes and reads them: architecture `eagle3`.
 *
 *   f(t)   = W_fc norm(taps(t))            without a norm, with one over all taps, or with one for each
 *   z      = [attn_norm(embedding[x[t + 1]]) | attn_norm_2(f)]       what the first layer's attention reads
 *   s(t+1) = layers                        from f, or from attn_norm_2(f) (norm_before_residual); after output_norm
 *                                          with norm_output, a key that vouch adds for folders of EAGLE-3.1
 *   logits = W_output output_norm(s)
 *
 * P-EAGLE's heads (arXiv 2602.01469) have mask_hidden, which is read in place of taps(t) by rows of masks.
 *
 * target_layers counts streams before layers: number i is the stream after layer i - 1, whose tap is i - 1.
 */
#include <stdio.h>

#include "model/load/dense.h"
#include "model/head/head_kind.h"
#include "model/load/keys.h"

static const char ARCH[] = "eagle3", MASK[] = "mask_hidden.weight";

/* The layers are Llama's, but for the first one's input and norms of queries and keys. */
static vouch_status read_layers(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_OPTIONAL; /* DeepSpec's heads have them, as Qwen3 does */
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    h->layers[0].has_no_mix_norm = h->layers[0].reads_pairs = true;
    return VOUCH_OK;
}

static const vouch_arch arch_eagle3 = {
    .name = ARCH, .rotary = VOUCH_ROTARY_ADJACENT, .read = read_layers, .take = vouch_dense_take};

/* --------------------------------------------------------------------- taps */

/* Chooses the taps where the file names none, as the paper's code does. */
static void choose_taps(vouch_head_weights *head, int32_t n_layers)
{
    const int32_t usual[] = {2, n_layers / 2, n_layers - 3};
    for (int i = 0; i < 3; i++) head->taps[head->n_taps++] = usual[i] - 1;
}

static vouch_status read_taps(vouch_head_weights *head, const vouch_gguf *gguf, vouch_error *err)
{
    if (!vouch_gguf_has(gguf, "eagle3.target_layers")) choose_taps(head, head->target->hparams.n_layers);
    return vouch_head_read_taps(head, gguf, "eagle3.target_layers", err);
}

/* Reads how many guesses a pass gives, and the token of the rows of masks. Keys that vouch adds for folders. */
static vouch_status read_masks(vouch_head_weights *head, const vouch_gguf *gguf, vouch_error *err)
{
    vouch_head_masks *masks = &head->masks;
    const int32_t n_vocab = head->target->hparams.n_vocab;
    int64_t token = 0;
    if (!vouch_gguf_find_tensor(gguf, MASK) && !vouch_gguf_has(gguf, "eagle3.parallel_depths")) return VOUCH_OK;
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "parallel_depths", true, 1, VOUCH_MAX_DRAFT, &masks->n_rows, err));
    VOUCH_TRY(vouch_gguf_get_int(gguf, "tokenizer.ggml.mask_token_id", true, 0, INT32_MAX, &token, err));
    masks->token = (int32_t)token;
    if (token < n_vocab) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MISMATCH,
                      "%s: tokenizer.ggml.mask_token_id is %lld, but the model has %d tokens: this head is for another "
                      "model",
                      vouch_gguf_path(gguf), (long long)token, n_vocab);
}

/* ------------------------------------------------------------------- tensors */

/* Takes the norms of W_fc's input: enc.output_norm over all taps, or fc_norm over each. */
static vouch_status take_taps_norm(vouch_loader *loader, vouch_head_weights *head)
{
    const int32_t n_embd = head->target->hparams.n_embd;
    head->taps_norm_width = head->n_features;
    VOUCH_TRY(vouch_loader_vector(loader, "enc.output_norm.weight", false, &head->taps_norm, head->n_features));
    if (!vouch_gguf_find_tensor(loader->gguf, "fc_norm.weight")) return VOUCH_OK;
    head->taps_norm_width = n_embd;
    return vouch_loader_vectors(loader, "fc_norm.weight", true, &head->taps_norm, head->n_taps, n_embd);
}

/* The output matrix may be the target's. Its norm is always the head's own. */
static vouch_status take_output(vouch_weights *w, vouch_loader *loader, const vouch_head_weights *head)
{
    const vouch_hparams *h = &w->hparams;
    VOUCH_TRY(vouch_loader_vector(loader, "output_norm.weight", true, &w->output_norm.weight, h->n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, "output.weight", false, &w->own_output, head->n_draft, h->n_embd));
    if (w->own_output.n_out > 0) return VOUCH_OK;
    if (head->tokens)
        return vouch_fail(loader->err, VOUCH_E_FORMAT,
                          "%s: tensor 'output.weight' is missing, which a head with d2t needs",
                          vouch_gguf_path(loader->gguf));
    w->output = head->target->output;
    return VOUCH_OK;
}

static vouch_status take_ends(vouch_weights *w, vouch_loader *loader, void *user)
{
    vouch_head_weights *head = user;
    const vouch_hparams *h = &w->hparams;
    const int32_t target_width = head->target->hparams.n_embd;
    w->hparams.n_vocab = head->target->hparams.n_vocab;
    w->embedding_norm.kind = VOUCH_NORM_NONE;
    VOUCH_TRY(take_taps_norm(loader, head));
    VOUCH_TRY(vouch_loader_matrix(loader, "fc.weight", true, &head->fc, h->n_embd, head->n_features));
    VOUCH_TRY(vouch_loader_vector(loader, "fc.bias", false, &head->fc_bias, h->n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, "blk.0.attn_norm.weight", true, &head->token_norm.weight, h->n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, "blk.0.attn_norm_2.weight", true, &head->state_norm.weight, h->n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, "token_embd.weight", false, &w->embedding, h->n_vocab, h->n_embd));
    VOUCH_TRY(vouch_loader_ignore(loader, "d2t"));
    if (head->masks.n_rows > 0)
        VOUCH_TRY(vouch_loader_vector(loader, MASK, true, &head->masks.states, head->n_features));
    VOUCH_TRY(take_output(w, loader, head));
    if (h->n_embd == target_width || (w->embedding.n_out > 0 && w->own_output.n_out > 0)) return VOUCH_OK;
    return vouch_fail(loader->err, VOUCH_E_MISMATCH,
                      "%s: eagle3.embedding_length is %d, but the model has %d: a head of another width needs "
                      "token_embd.weight and output.weight of its own",
                      vouch_gguf_path(loader->gguf), h->n_embd, target_width);
}

/* ------------------------------------------------------------------- opening */

static vouch_status open_eagle3(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_draft_target *target,
                                vouch_pool *pool, vouch_error *err)
{
    const vouch_weights *t = target->weights;
    const vouch_weights_plan plan = {.arch = &arch_eagle3, .take_ends = take_ends, .user = head};
    bool norms_first = false;
    VOUCH_TRY(vouch_key_bool(gguf, ARCH, "norm_output", &head->is_normed, err));
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "target_hidden_size", false, t->hparams.n_embd, err));
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "vocab_size", false, t->hparams.n_vocab, err));
    VOUCH_TRY(vouch_key_bool(gguf, ARCH, "norm_before_residual", &norms_first, err));
    VOUCH_TRY(read_taps(head, gguf, err));
    VOUCH_TRY(read_masks(head, gguf, err));
    VOUCH_TRY(vouch_head_read_tokens(head, gguf, "d2t", t->hparams.n_vocab, err));
    const vouch_packing packing = vouch_packing_beside(t, pool);
    VOUCH_TRY(vouch_weights_open_plan(&head->body, gguf, &plan, &packing, err));
    head->embedding = head->body->embedding.n_out > 0 ? &head->body->embedding : &t->embedding;
    head->has_pairs = true;
    if (norms_first) return VOUCH_OK;
    head->body->layers[0].mix.norm = head->state_norm; /* this norm belongs to attention's input, not to the stream */
    head->state_norm = (vouch_norm){.kind = VOUCH_NORM_NONE};
    return VOUCH_OK;
}

const vouch_head_kind vouch_head_kind_eagle3 = {.arch = ARCH, .open = open_eagle3};
