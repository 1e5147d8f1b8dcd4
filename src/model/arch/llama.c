/* SPDX-License-Identifier: MIT */
/* Llama 2 and 3, SmolLM2, and what else is converted to the same tensors (Touvron et al., arXiv 2302.13971). */
#include "model/arch.h"
#include "model/dense.h"

const vouch_arch vouch_arch_llama = {
    .name = "llama", .rotary = VOUCH_ROTARY_ADJACENT, .read = vouch_dense_read, .take = vouch_dense_take};
