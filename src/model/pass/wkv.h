/* SPDX-License-Identifier: MIT */
/* RWKV's own stages of a pass (wkv.c). All threads call them; each ends with a barrier. */
#ifndef VOUCH_MODEL_WKV_H
#define VOUCH_MODEL_WKV_H

#include "model/stage/workspace.h"

/* Computes what the scan of the layer's mixer reads of each row: q, k, v, decays and the rest, and the gate in
 * c->inner. */
void vouch_wkv_prepare(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);
/* A row of the mixer has been scanned: y [n_values] is a head's result. Overwrites the head's gate in c->inner with the
 * gated result. */
void vouch_wkv_finish(const vouch_workspace *c, const vouch_recurrent *r, int64_t row, int32_t head, float *y);
/* The input [n_rows, n_embd] of the layer's channel mix; *gate becomes the input of its gate. Then the caller keeps
 * the inputs of the rows (vouch_recurrent_keep), as the mixer itself does in layers without a channel mix. */
vouch_acts vouch_wkv_receive_feed(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer,
                                  vouch_acts *gate);

#endif
