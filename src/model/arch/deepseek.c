/* SPDX-License-Identifier: MIT */
/* DeepSeekMoE (Dai et al., arXiv 2401.06066), and the families that follow it: the first layers are dense, the others
 * have experts and a shared network. dots.llm1 (2506.05767), Ling (2503.05139), Ling 2.0 (2510.22115), GLM-4.5
 * (2508.06471) and Hunyuan 3 normalise heads, and their routers are biased. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/mixture.h"

static vouch_status read_with_head_norms(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    return vouch_mixture_read(gguf, h, err);
}

/* The norm before the feed-forward has another name. RoPE sections matter for pictures only, so they are ignored. */
static vouch_status read_glm4moe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_OPTIONAL;
    h->feed_norm = "post_attention_norm";
    h->experts.gating = VOUCH_GATING_SIGMOID;
    return vouch_mixture_read(gguf, h, err);
}

static vouch_status read_hy_v3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->experts.gating = VOUCH_GATING_SIGMOID;
    return read_with_head_norms(gguf, h, err);
}

/* The router's selection bias has another name. */
static vouch_status take_hy_v3(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    if (layer->experts.n_experts == 0) return VOUCH_OK;
    VOUCH_TRY(vouch_mixture_ignore_dense(loader, index));
    return vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "exp_probs_b", NULL), false,
                               &layer->experts.selection_bias, layer->experts.n_experts);
}

#define DEEPSEEK(id, pairs, read_it)                                                                                  \
    const vouch_arch vouch_arch_##id = {                                                                             \
        .name = #id, .rotary = VOUCH_ROTARY_##pairs, .read = read_it, .take = vouch_mixture_take}

DEEPSEEK(deepseek, ADJACENT, vouch_mixture_read);
DEEPSEEK(dots1, HALF_SPLIT, read_with_head_norms);
DEEPSEEK(bailingmoe, ADJACENT, vouch_mixture_read);
DEEPSEEK(bailingmoe2, HALF_SPLIT, read_with_head_norms);
DEEPSEEK(glm4moe, HALF_SPLIT, read_glm4moe);

const vouch_arch vouch_arch_hy_v3 = {.name = "hy_v3",
                                     .rotary = VOUCH_ROTARY_HALF_SPLIT,
                                     .has_feed_scales = true,
                                     .read = read_hy_v3,
                                     .take = take_hy_v3};
