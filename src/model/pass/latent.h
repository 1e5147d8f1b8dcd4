/* SPDX-License-Identifier: MIT */
/* The stages of latent attention (layer.h) before and after the attention itself. All threads run each, with a barrier
 * at its end. */
#ifndef VOUCH_MODEL_LATENT_H
#define VOUCH_MODEL_LATENT_H

#include "model/stage/workspace.h"

/* Whether each element of a head's result has a gate. Such gates come after W_uv; a head's one gate comes before. */
static inline bool vouch_latent_has_wide_gates(const vouch_attention *a)
{
    return a->latent.rank > 0 && a->gate.n_out > a->n_heads;
}

/* The rows' vectors [c | r] go into their pages. c->q = the absorbed queries [n_rows, n_heads * (rank + n_rot)]. */
void vouch_latent_project(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);
/* Multiplies the sums of c in c->mixed [n_rows, n_heads * rank] by W_uv. Returns the input of W_o
 * [n_rows, n_heads * value_dim]. */
vouch_acts vouch_latent_expand(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);

#endif
