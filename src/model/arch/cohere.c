/* SPDX-License-Identifier: MIT */
/* Command R (Cohere): LayerNorm without biases, parallel branches, scaled logits; Command R+ normalises heads. Command
 * R7B and A (arXiv 2504.00698): windows in three layers of four; only these layers rotate. With experts: RMSNorm
 * in some files; dense layers rotate, too; the result is the mean of the experts' and the shared network's. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

static vouch_status read_command_r(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norm = VOUCH_NORM_LAYER;
    h->is_parallel = true;
    h->head_norms = VOUCH_OPTIONAL;
    h->head_norm = VOUCH_HEAD_LAYER;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    return vouch_dense_read_scale(gguf, h, "logit_scale", &h->logit_scale, err);
}

static vouch_status read_cohere2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_command_r(gguf, h, err));
    h->head_norms = VOUCH_ABSENT;
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, 4, VOUCH_LAST, err));
    vouch_dense_rotate(h, VOUCH_ROTARY_OF_MODEL, VOUCH_ROTARY_OF_NONE);
    return VOUCH_OK;
}

static vouch_status read_cohere2moe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    int32_t n_dense = 0;
    h->norm = vouch_gguf_has(gguf, "cohere2moe.attention.layer_norm_rms_epsilon") ? VOUCH_NORM_RMS : VOUCH_NORM_LAYER;
    h->is_parallel = true;
    h->experts.gating = VOUCH_GATING_SIGMOID;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "logit_scale", &h->logit_scale, err));
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, 4, VOUCH_FIRST, err));
    vouch_dense_rotate(h, VOUCH_ROTARY_OF_MODEL, VOUCH_ROTARY_OF_NONE);
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "leading_dense_block_count", true, 0, h->n_layers, &n_dense, err));
    for (int32_t i = 0; i < n_dense; i++) h->layers[i].rotary = VOUCH_ROTARY_OF_MODEL;
    for (int32_t i = 0; i < h->n_nextn; i++) h->layers[h->n_layers + i].rotary = VOUCH_ROTARY_OF_MODEL;
    return VOUCH_OK;
}

static vouch_status take_cohere2moe(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    if (layer->experts.shared.n_ff > 0) layer->feed.scale = 0.5f;
    return VOUCH_OK;
}

const vouch_arch vouch_arch_command_r = {
    .name = "command-r", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_command_r, .take = vouch_dense_take};
const vouch_arch vouch_arch_cohere2 = {.name = "cohere2",
                                       .rotary = VOUCH_ROTARY_ADJACENT,
                                       .has_feed_scales = true,
                                       .read = read_cohere2,
                                       .take = vouch_dense_take};
const vouch_arch vouch_arch_cohere2moe = {.name = "cohere2moe",
                                          .rotary = VOUCH_ROTARY_ADJACENT,
                                          .has_feed_scales = true,
                                          .read = read_cohere2moe,
                                          .take = take_cohere2moe};
