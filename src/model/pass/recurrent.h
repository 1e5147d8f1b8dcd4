/* SPDX-License-Identifier: MIT */
/* A recurrent mixer in a pass (recurrent.c). */
#ifndef VOUCH_MODEL_RECURRENT_H
#define VOUCH_MODEL_RECURRENT_H

#include "model/stage/workspace.h"

/* Updates the states of the pass's memories by its tokens, and keeps the inputs of its provisional rows. Returns the
 * mixer's result [n_rows, n_inner], as the input of W_out. All threads call it. */
vouch_acts vouch_recurrent_mix(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);
/* Stores the inputs of all rows in their memories; each thread stores some of their columns. No barrier follows,
 * because only the next pass reads them. */
void vouch_recurrent_keep(vouch_workspace *c, vouch_pool *team, const thread_space *my, int32_t layer);

#endif
