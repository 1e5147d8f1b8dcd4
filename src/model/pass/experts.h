/* SPDX-License-Identifier: MIT */
/* Mixtures of experts in a pass (experts.c). */
#ifndef VOUCH_MODEL_EXPERTS_H
#define VOUCH_MODEL_EXPERTS_H

#include "model/stage/workspace.h"

/* Chooses the rows' experts and computes their gated values: f(W_gate x) * W_up x. */
void vouch_experts_gate(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);
/* Computes the tiles [begin, end) of the mixture's result, in place of y [n_rows, n_embd] or added to it. */
void vouch_experts_mix(vouch_workspace *c, thread_space *my, int32_t layer, float *y, int64_t begin, int64_t end,
                       vouch_start start);

#endif
