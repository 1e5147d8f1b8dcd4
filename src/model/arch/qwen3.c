/* SPDX-License-Identifier: MIT */
/* Qwen3, dense (arXiv 2505.09388): each head of queries and keys is normalised before its rotation. */
#include "model/arch.h"
#include "model/dense.h"

static vouch_status take(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    vouch_attention *a = &layer->attention;
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_q_norm"), true, &a->q_norm,
                                  a->head_dim));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_k_norm"), true, &a->k_norm, a->head_dim);
}

const vouch_arch vouch_arch_qwen3 = {
    .name = "qwen3", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = vouch_dense_read, .take = take};
