/* SPDX-License-Identifier: MIT */
/* Qwen2 and Qwen2.5, dense (arXiv 2412.15115): biases of queries, keys and values. Qwen3, dense and with
 * experts (arXiv 2505.09388): each head of queries and keys is normalised before its rotation. */
#include "model/arch.h"
#include "model/dense.h"
#include "model/mixture.h"

static vouch_status read_qwen2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_head_bias = true;
    return vouch_dense_read(gguf, h, err);
}

static vouch_status read_qwen3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    return vouch_dense_read(gguf, h, err);
}

static vouch_status read_qwen3moe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const vouch_mixture mixture = {.divides_width = true, .normalises = true, .has_scales = true};
    h->head_norms = VOUCH_REQUIRED;
    return vouch_mixture_read(gguf, &mixture, h, err);
}

static vouch_status take_qwen3moe(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    return vouch_mixture_take(loader, index, layer);
}

/* Logits don't depend on a reranker's weights. */
static vouch_status take_qwen3(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    if (index == 0) VOUCH_TRY(vouch_loader_ignore(loader, "cls.output.weight"));
    return vouch_dense_take(loader, index, layer);
}

const vouch_arch vouch_arch_qwen2 = {
    .name = "qwen2", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_qwen2, .take = vouch_dense_take};
const vouch_arch vouch_arch_qwen3 = {.name = "qwen3",
                                     .rotary = VOUCH_ROTARY_HALF_SPLIT,
                                     .has_feed_scales = true,
                                     .read = read_qwen3,
                                     .take = take_qwen3};
const vouch_arch vouch_arch_qwen3moe = {.name = "qwen3moe",
                                        .rotary = VOUCH_ROTARY_HALF_SPLIT,
                                        .has_feed_scales = true,
                                        .read = read_qwen3moe,
                                        .take = take_qwen3moe};
