/* SPDX-License-Identifier: MIT */
/* Qwen (arXiv 2309.16609). Qwen2 and Qwen2.5 (2412.15115): biases of queries, keys and values; with experts, a gate of
 * the shared network. Qwen3 (2505.09388): each head of queries and keys is normalised before its rotation; Mellum 2
 * (JetBrains) and Maple, with experts, have windows. The families for pictures rotate sections of a head by three
 * positions, which are equal for text. */
#include "base/common.h"
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

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
    h->has_output_bias = true;
    return vouch_dense_read(gguf, h, err);
}

static vouch_status read_qwen3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    return vouch_dense_read(gguf, h, err);
}

static vouch_status read_qwen3moe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    h->experts.normalised = true;
    return vouch_mixture_read(gguf, h, err);
}

static vouch_status read_mellum(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_qwen3moe(gguf, h, err));
    return vouch_dense_read_window_angles(gguf, h, 4, h->rope_base, err);
}

/* GroveMoE (Wu et al., arXiv 2508.07785), as the model's own code computes it. In llama.cpp the adjugates read the
 * experts' result instead of their input. */
static vouch_status read_grovemoe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_expert_hparams *e = &h->experts;
    double scale = 0;
    VOUCH_TRY(read_qwen3moe(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "experts_per_group", true, 1, VOUCH_MAX_EXPERTS, &e->adjugate_group, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "expert_group_scale", true, 0, 1e3, &scale, err));
    if (e->n_experts % e->adjugate_group != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.expert_count %d is no multiple of experts_per_group %d",
                          vouch_gguf_path(gguf), h->arch, e->n_experts, e->adjugate_group);
    e->adjugate_scale = (float)scale;
    return VOUCH_OK;
}

/* Rerankers have cls.output, which logits don't depend on. */
static vouch_status take_qwen3(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    if (index == 0) VOUCH_TRY(vouch_loader_ignore(loader, "cls.output.weight"));
    return vouch_dense_take(loader, index, layer);
}

/* Ignores a bias of the logits, as llama.cpp does. */
static vouch_status take_qwen2vl(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    if (index == 0) VOUCH_TRY(vouch_loader_ignore(loader, "output.bias"));
    return vouch_dense_take(loader, index, layer);
}

/* Only layers with a window rotate; SwiGLU may be clamped. */
static vouch_status read_maple(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    double limits[VOUCH_MOST_LAYERS] = {0};
    VOUCH_TRY(read_qwen3moe(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_window_angles(gguf, h, 1, h->rope_base, err));
    vouch_dense_rotate(h, VOUCH_ROTARY_OF_WINDOW, VOUCH_ROTARY_OF_NONE);
    h->rope_scaling_window = h->rope_scaling;
    VOUCH_TRY(vouch_key_floats(gguf, h->arch, "swiglu_clamp_exp", 0, 1e9, h->n_layers, limits, err));
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].limit = (float)limits[i];
    return VOUCH_OK;
}

#define QWEN(id, read_it, take_it, scales)                                                                           \
    const vouch_arch vouch_arch_##id = {.name = #id,                                                                 \
                                        .rotary = VOUCH_ROTARY_HALF_SPLIT,                                           \
                                        .has_feed_scales = scales,                                                   \
                                        .read = read_it,                                                             \
                                        .take = take_it}

QWEN(qwen, read_qwen, vouch_dense_take, false);
QWEN(qwen2, read_qwen2, vouch_dense_take, false);
QWEN(qwen2vl, vouch_dense_read, take_qwen2vl, false);
QWEN(qwen2moe, vouch_mixture_read, vouch_mixture_take, false);
QWEN(qwen3, read_qwen3, take_qwen3, true);
QWEN(qwen3vl, read_qwen3, take_qwen3, false);
QWEN(qwen3moe, read_qwen3moe, vouch_mixture_take, true);
QWEN(grovemoe, read_grovemoe, vouch_mixture_take, false);
QWEN(qwen3vlmoe, read_qwen3moe, vouch_mixture_take, false);
QWEN(mellum, read_mellum, vouch_mixture_take, true);
QWEN(maple, read_maple, vouch_mixture_take, false);
