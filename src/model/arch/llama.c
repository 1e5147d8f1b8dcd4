/* SPDX-License-Identifier: MIT */
/* Llama 2 and 3, SmolLM2, and what else is converted to the same tensors (Touvron et al., arXiv 2302.13971); with
 * experts, Mixtral (Jiang et al., arXiv 2401.04088). */
#include "model/arch.h"
#include "model/dense.h"
#include "model/mixture.h"

static vouch_status read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const vouch_mixture mixture = {.is_optional = true, .normalises = true, .has_scales = true};
    return vouch_mixture_read(gguf, &mixture, h, err);
}

static vouch_status take(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    return vouch_mixture_take(loader, index, layer);
}

const vouch_arch vouch_arch_llama = {
    .name = "llama", .rotary = VOUCH_ROTARY_ADJACENT, .read = read, .take = take};
