/* SPDX-License-Identifier: MIT */
/* Qwen (arXiv 2309.16609). Qwen2 and Qwen2.5, dense (2412.15115): biases of queries, keys and values. Qwen3, dense and
 * with experts (2505.09388): each head of queries and keys is normalised before its rotation. The families for pictures
 * rotate sections of a head by three positions, which are equal for text. */
#include "base/common.h"
#include "model/arch.h"
#include "model/dense.h"
#include "model/mixture.h"

/* The file states the width of gate and up together. */
static vouch_status read_qwen(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].n_ff = vouch_max(h->layers[i].n_ff / 2, 1);
    h->n_ff = vouch_max(h->n_ff / 2, 1);
    return VOUCH_OK;
}

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

/* A bias of the logits doesn't count, as in llama.cpp. */
static vouch_status take_qwen2vl(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    if (index == 0) VOUCH_TRY(vouch_loader_ignore(loader, "output.bias"));
    return vouch_dense_take(loader, index, layer);
}

const vouch_arch vouch_arch_qwen = {
    .name = "qwen", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_qwen, .take = vouch_dense_take};
const vouch_arch vouch_arch_qwen2vl = {
    .name = "qwen2vl", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = vouch_dense_read, .take = take_qwen2vl};
const vouch_arch vouch_arch_qwen3vl = {
    .name = "qwen3vl", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_qwen3, .take = take_qwen3};
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
