/* SPDX-License-Identifier: MIT */
/* A family of known parts, for tests/house/test_newcomers.sh: Llama under another name. */
#include "model/load/arch.h"
#include "model/load/dense.h"

const vouch_arch vouch_arch_llemu = {
    .name = "llemu", .rotary = VOUCH_ROTARY_ADJACENT, .read = vouch_dense_read, .take = vouch_dense_take};
