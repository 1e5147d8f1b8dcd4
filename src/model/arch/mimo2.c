/* SPDX-License-Identifier: MIT */
/* MiMo-V2 (Xiaomi): layers with a window have other KV heads and angles than the others, and may have sinks; values are
 * narrower than keys. Step 3.5 (StepFun) has such layers, too, but no sinks. Its attention heads have gates, and its
 * layers without a window rotate half as many pairs as those with one. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

static vouch_status read_mimo2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->sinks = VOUCH_OPTIONAL;
    h->experts.gating = VOUCH_GATING_SIGMOID;
    h->experts.normalised = true;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attention.value_scale", &h->value_scale, err));
    return vouch_dense_read_window_angles(gguf, h, 1, 10000, err);
}

/* Ignores biases and scales of queries, keys and values, as llama.cpp does. */
static vouch_status take_mimo2(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    vouch_affine *const after[] = {&layer->attention.q_after, &layer->attention.k_after, &layer->attention.v_after};
    for (int i = 0; i < 3; i++) after[i]->bias = after[i]->scale = NULL;
    if (layer->experts.n_experts > 0) VOUCH_TRY(vouch_mixture_ignore_dense(loader, index));
    if (loader->hparams->value_scale != 0) layer->mix.scale = loader->hparams->value_scale;
    return VOUCH_OK;
}

static vouch_status read_step35(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_OPTIONAL;
    h->experts.gating = VOUCH_GATING_SIGMOID;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_mixture_read_limits(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_window_angles(gguf, h, 1, 10000, err));
    h->n_rot_window = h->n_rot_factors = h->n_rot;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "rope.dimension_count_swa", false, 2, h->head_dim, &h->n_rot_window, err));
    h->n_rot /= 2;
    if (h->n_rot % 2 != 0 || h->n_rot_window % 2 != 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: step35.rope.dimension_count %d must be a multiple of 4, and dimension_count_swa %d even",
                          vouch_gguf_path(gguf), h->n_rot_factors, h->n_rot_window);
    return VOUCH_OK;
}

static vouch_status take_step35(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    return vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_gate"), false, &layer->attention.gate,
                               layer->attention.n_heads, loader->hparams->n_embd);
}

const vouch_arch vouch_arch_step35 = {
    .name = "step35", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_step35, .take = take_step35};
const vouch_arch vouch_arch_mimo2 = {
    .name = "mimo2", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_mimo2, .take = take_mimo2};
