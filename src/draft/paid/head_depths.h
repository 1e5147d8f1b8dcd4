/* SPDX-License-Identifier: MIT */
/*
 * The logits of heads whose guesses don't change what follows them: all guesses of one depth have the same logits, and
 * those are computed once for each draft. Heads that guess in one pass are such ones (head_block.c adds a bias), and
 * Medusa's (head_medusa.c).
 *
 *   begin   a draft begins: row 0 predicts the guess of depth 0
 *   ask     notes the depths of the guesses that were fed
 *   keep    the logits of all depths have come
 *   logits  of the depth after a row
 */
#ifndef VOUCH_DRAFT_HEAD_DEPTHS_H
#define VOUCH_DRAFT_HEAD_DEPTHS_H

#include "model/head/head_weights.h"
#include "model/pass/pass.h"
#include "model/stage/projection.h"

typedef struct vouch_depths {
    int32_t n_depths; /* 0: the head isn't such a one */
    int64_t n_draft;  /* tokens that the head may guess */
    float *values;    /* [n_depths][n_draft] logits */
    float *nothing;   /* [n_draft] not a number: the draft ends before this depth */
    int32_t n_asked;  /* rows of the last request */
    int32_t asked[VOUCH_MAX_DRAFT], depths[VOUCH_MAX_DRAFT]; /* depth of the guess after each row; of each guess */
} vouch_depths;

/* The caller has set n_depths and n_draft. */
void vouch_depths_layout(vouch_depths *d, vouch_arena *arena);
/* Sets the first values, once the arena has its memory (vouch_depths_layout only counts it). */
void vouch_depths_open(vouch_depths *d);
void vouch_depths_begin(vouch_depths *d);
/* Notes that row i predicts the guess after guess n_fed + i. `parents` as in a guesser's feed. */
void vouch_depths_ask(vouch_depths *d, int32_t n_fed, const int32_t *parents, int32_t n);
/* [n_draft] the logits of a depth. */
float *vouch_depths_values(const vouch_depths *d, int32_t depth);
/* Copies the logits of all depths from a pass: its rows with logits from number `first` on. The pass may run again, for
 * other sequences, before anybody reads them. */
void vouch_depths_keep(vouch_depths *d, vouch_pass *pass, int32_t first);
/* [n_draft] the logits of row i. */
const float *vouch_depths_logits(const vouch_depths *d, int32_t i);

#endif
