/* SPDX-License-Identifier: MIT */
/* The two stages of attention: all threads run each, with a barrier at its end. */
#ifndef VOUCH_MODEL_ATTENTION_H
#define VOUCH_MODEL_ATTENTION_H

#include "model/stage/workspace.h"

/* q, k, v = W norm(x). Keys are normalised and rotated. Keys and values go into their rows' pages. */
void vouch_attention_project(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);
/* Queries are normalised and rotated. Returns c->mixed_acts, the input of W_o: softmax(scale * q k) v
 * [n_rows, n_heads * value_dim]. */
vouch_acts vouch_attention_mix(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);

#endif
