/* SPDX-License-Identifier: MIT */
/* Qwen3, dense and with experts (arXiv 2505.09388): each head of queries and keys is normalised before its rotation. */
#include "model/arch.h"
#include "model/dense.h"
#include "model/mixture.h"

static vouch_status read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const vouch_mixture mixture = {.divides_width = true, .normalises = true, .has_scales = true};
    return vouch_mixture_read(gguf, &mixture, h, err);
}

static vouch_status take(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    vouch_attention *a = &layer->attention;
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_q_norm"), true, &a->q_norm,
                                  a->head_dim));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_k_norm"), true, &a->k_norm,
                                  a->head_dim));
    return vouch_mixture_take(loader, index, layer);
}

const vouch_arch vouch_arch_qwen3 = {
    .name = "qwen3", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = vouch_dense_read, .take = take};
const vouch_arch vouch_arch_qwen3moe = {
    .name = "qwen3moe", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read, .take = take};
