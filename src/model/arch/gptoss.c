/* SPDX-License-Identifier: MIT */
/* gpt-oss (arXiv 2508.10925): every second layer has a window, and every softmax a sink; the experts and their router
 * have biases, and SwiGLU is clamped. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/mixture.h"

static vouch_status read_gptoss(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->sinks = VOUCH_REQUIRED;
    h->feed_norm = "post_attention_norm";
    h->activation = VOUCH_SWIGLU_OPENAI;
    h->experts.gating = VOUCH_GATING_CHOSEN;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_window_angles(gguf, h, 2, h->rope_base, err));
    h->rope_scaling_window = h->rope_scaling;
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].limit = 7;
    return VOUCH_OK;
}

const vouch_arch vouch_arch_gptoss = {
    .name = "gpt-oss", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_gptoss, .take = vouch_mixture_take};
