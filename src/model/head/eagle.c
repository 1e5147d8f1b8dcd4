/* SPDX-License-Identifier: MIT */
/*
 * Heads of EAGLE-1 and EAGLE-2 (Li et al., arXiv 2401.15077, 2406.16858), which folders hold (format/hf/hf_head.h):
 *
 *   x      = W_fc [embedding[x[t + 1]] | f(t)] + bias      f(t): the target's state after its output norm
 *   s(t+1) = layers(x)                                     the first layer has no norm before its attention
 *   logits = W_output s                                    the target's matrix as a rule
 */
#include "model/load/dense.h"
#include "model/head/head_kind.h"

static const char ARCH[] = "eagle";

static vouch_status read_layers(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    h->layers[0].has_no_mix_norm = true;
    return VOUCH_OK;
}

static const vouch_arch arch_eagle = {
    .name = ARCH, .rotary = VOUCH_ROTARY_ADJACENT, .read = read_layers, .take = vouch_dense_take};

static vouch_status take_ends(vouch_weights *w, vouch_loader *loader, void *user)
{
    vouch_head_weights *head = user;
    const vouch_weights *target = head->target;
    const int64_t n_embd = w->hparams.n_embd, n_vocab = target->hparams.n_vocab;
    w->hparams.n_vocab = target->hparams.n_vocab;
    w->hparams.logit_scale = target->hparams.logit_scale;
    w->hparams.logit_softcap = target->hparams.logit_softcap;
    w->embedding_norm.kind = w->output_norm.kind = VOUCH_NORM_NONE;
    w->output = target->output;
    w->output_bias = target->output_bias;
    VOUCH_TRY(vouch_loader_matrix(loader, "fc.weight", true, &head->join, n_embd, 2 * n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, "fc.bias", false, &head->join_bias, n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, "token_embd.weight", false, &w->embedding, n_vocab, n_embd));
    return vouch_loader_matrix(loader, "output.weight", false, &w->own_output, n_vocab, n_embd);
}

static vouch_status open_eagle(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_draft_target *target,
                               vouch_pool *pool, vouch_error *err)
{
    const vouch_hparams *h = &target->weights->hparams;
    const vouch_weights_plan plan = {.arch = &arch_eagle, .take_ends = take_ends, .user = head};
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "embedding_length", true, h->n_embd, err));
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "vocab_size", false, h->n_vocab, err));
    head->taps[head->n_taps++] = h->n_layers - 1;
    head->n_features = h->n_embd;
    head->n_draft = h->n_vocab;
    head->is_normed = true;
    head->embedding_scale = 0;
    head->token_norm.kind = head->state_norm.kind = VOUCH_NORM_NONE;
    const vouch_packing packing = vouch_packing_beside(target->weights, pool);
    VOUCH_TRY(vouch_weights_open_plan(&head->body, gguf, &plan, &packing, err));
    head->embedding = head->body->embedding.n_out > 0 ? &head->body->embedding : &target->weights->embedding;
    return VOUCH_OK;
}

const vouch_head_kind vouch_head_kind_eagle = {.arch = ARCH, .open = open_eagle};
