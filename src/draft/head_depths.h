/* SPDX-License-Identifier: MIT */
/*
 * Medusa's heads (model/head_weights.h, depths): each depth of a draft has a network of its own, and all of them read
 * the same f. A guess doesn't change what follows it, so the logits of a depth are computed once for each draft.
 *
 *   h      = f, then for each block  h += silu(W_block h + bias)
 *   logits = W_output h
 */
#ifndef VOUCH_DRAFT_HEAD_DEPTHS_H
#define VOUCH_DRAFT_HEAD_DEPTHS_H

#include "model/head_weights.h"
#include "model/projection.h"

typedef struct vouch_depths {
    const vouch_head_weights *head;
    vouch_projection block, output; /* each `w` points to the matrix of the depth that is being computed */
    float *hidden;        /* [width] h */
    float *added;         /* [width] */
    float *logits;        /* [n_depths][n_vocab] */
    float *nothing;       /* [n_vocab] not a number: the draft ends before this depth */
    const float *feature; /* [width] f of the draft */
    bool is_computed[VOUCH_HEAD_DEPTHS];
    int32_t n_asked;      /* rows of the last request */
    int32_t asked[VOUCH_MAX_DRAFT], depths[VOUCH_MAX_DRAFT]; /* depth of the guess behind each row; of each guess */
} vouch_depths;

void vouch_depths_layout(vouch_depths *d, vouch_arena *arena);
/* To be called after the arena has its memory. */
void vouch_depths_open(vouch_depths *d);
/* Begins a draft: row 0 predicts the guess of depth 0. f [width] stays until the draft ends. */
void vouch_depths_begin(vouch_depths *d, const float *feature);
/* Notes that row i predicts the guess behind guess n_fed + i. `parents` as in a guesser's feed. */
void vouch_depths_ask(vouch_depths *d, int32_t n_fed, const int32_t *parents, int32_t n);
/* Computes the logits of the depths that are asked for. Returns its seconds. */
double vouch_depths_run(vouch_depths *d);
/* [n_vocab] the logits of row i. */
const float *vouch_depths_logits(const vouch_depths *d, int32_t i);

#endif
