/* SPDX-License-Identifier: MIT */
/* Command R (Cohere): LayerNorm without biases, parallel branches, scaled logits; Command R+ normalises heads. Command
 * R7B and A (arXiv 2504.00698): windows in three layers of four, which alone rotate. */
#include "model/arch.h"
#include "model/dense.h"
#include "model/keys.h"

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
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, 4, err));
    vouch_dense_rotate(h, VOUCH_ROTARY_OF_MODEL, VOUCH_ROTARY_OF_NONE);
    return VOUCH_OK;
}

const vouch_arch vouch_arch_command_r = {
    .name = "command-r", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_command_r, .take = vouch_dense_take};
const vouch_arch vouch_arch_cohere2 = {.name = "cohere2",
                                       .rotary = VOUCH_ROTARY_ADJACENT,
                                       .has_feed_scales = true,
                                       .read = read_cohere2,
                                       .take = vouch_dense_take};
