/* SPDX-License-Identifier: MIT */
/* Grok-1 and Grok-2 (xAI): GELU, norms after the branches, softcaps and scales; Grok-2 has a dense network beside the
 * experts, and the sum of both is divided by sqrt(2). DBRX (Databricks, 2024): LayerNorm, clamped queries, keys and
 * values. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/mixture.h"

/* Begins with the scales and caps of Grok-1, which its first files don't state. */
static vouch_status read_grok(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->activation = VOUCH_GELU;
    h->experts.normalised = true;
    h->embedding_scale = 78.38367176906169f;
    h->attention_scale = 0.08838834764831845f;
    h->attention_softcap = 30;
    h->logit_scale = 0.5773502691896257f;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "embedding_scale", &h->embedding_scale, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attention.output_scale", &h->attention_scale, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attn_logit_softcapping", &h->attention_softcap, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "logit_scale", &h->logit_scale, err));
    return vouch_dense_read_scale(gguf, h, "final_logit_softcapping", &h->logit_softcap, err);
}

static vouch_status take_dense_part(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const float half_root = 0.70710678118654752f;
    vouch_layer dense = {0};
    VOUCH_TRY(vouch_dense_take_feed_forward(loader, index, &dense));
    layer->experts.shared = dense.ffn;
    layer->experts.shared_scale = half_root;
    layer->experts.scale *= half_root;
    return VOUCH_OK;
}

static vouch_status take_grok(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const int64_t n = loader->hparams->n_embd;
    const char *after = vouch_loader_has(loader, index, "layer_output_norm") ? "layer_output_norm" : "post_ffw_norm";
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_output_norm"), true,
                                  &layer->mix.norm_after, n));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, after), true, &layer->feed.norm_after, n));
    return vouch_loader_has(loader, index, "ffn_up") ? take_dense_part(loader, index, layer) : VOUCH_OK;
}

static vouch_status read_dbrx(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norm = VOUCH_NORM_LAYER;
    h->feed_norm = "attn_output_norm";
    h->experts.normalised = true;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    return vouch_dense_read_scale(gguf, h, "attention.clamp_kqv", &h->clamp, err);
}

const vouch_arch vouch_arch_grok = {
    .name = "grok", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_grok, .take = take_grok};
const vouch_arch vouch_arch_dbrx = {
    .name = "dbrx", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_dbrx, .take = vouch_mixture_take};
