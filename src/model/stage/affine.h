/* SPDX-License-Identifier: MIT */
/* What comes after a product (layer.h, vouch_affine): adapters, of which each row has one, scale and bias. */
#ifndef VOUCH_MODEL_AFFINE_H
#define VOUCH_MODEL_AFFINE_H

#include "model/stage/workspace.h"

/* Lists the adapters that some row of the pass has. One thread calls it, once the scales of all rows are set. */
void vouch_adapters_list(vouch_workspace *c);
/* A x of n matrices with the same input, for vouch_stage_affine; nothing where they have no adapters. All threads call
 * it. factors: of the rows of `in`; NULL: none. */
void vouch_lora_reduce(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_affine *const *matrices,
                       int n, const vouch_acts *in, const float *factors);
/* Applies adapters, scale and bias to the tiles [begin, end) of y [n_rows, n_out], in all rows. */
void vouch_stage_affine(const vouch_workspace *c, const thread_space *my, const vouch_affine *affine, float *y,
                        int64_t n_out, int64_t begin, int64_t end);

#endif
