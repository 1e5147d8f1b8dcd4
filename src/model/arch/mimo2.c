/* SPDX-License-Identifier: MIT */
/* MiMo-V2 (Xiaomi): layers with a window have other KV heads and angles than the others, and may have
 * sinks; values are narrower than keys. */
#include "model/load/arch.h"
#include "model/load/dense.h"
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
    layer->attention.q_after = layer->attention.k_after = layer->attention.v_after = (vouch_affine){0};
    if (layer->experts.n_experts > 0) vouch_mixture_ignore_dense(loader, index);
    if (loader->hparams->value_scale != 0) layer->mix.scale = loader->hparams->value_scale;
    return VOUCH_OK;
}

const vouch_arch vouch_arch_mimo2 = {
    .name = "mimo2", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_mimo2, .take = take_mimo2};
