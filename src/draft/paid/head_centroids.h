/* SPDX-License-Identifier: MIT */
/*
 * Logits of few likely tokens, which centroids find (Gemma 4's assistants; model/head/head_weights.h):
 *
 *   scores = W_centroids s            of each centroid
 *   logits = W_output s               of the tokens of the best centroids; other tokens have no chance
 *
 * So a row reads a small part of the output matrix, which is most of such a head.
 */
#ifndef VOUCH_DRAFT_HEAD_CENTROIDS_H
#define VOUCH_DRAFT_HEAD_CENTROIDS_H

#include "model/head/head_weights.h"
#include "model/stage/projection.h"

typedef struct vouch_centroids {
    const vouch_head_weights *head;
    vouch_projection scores, output;
    float *score;     /* [centroids] of the row that is being computed */
    int32_t *best;    /* [max_rows][n_best] the best first */
    int32_t *n_found; /* [max_rows] entries of `best` that are set */
    float *values;    /* [max_rows][n_draft] logits of the tokens of `best` */
    float *logits;    /* [n_vocab of the target] */
    int32_t shown;    /* the row whose logits are there; -1: none */
} vouch_centroids;

void vouch_centroids_open(vouch_centroids *c, const vouch_head_weights *head, vouch_pool *pool);
void vouch_centroids_layout(vouch_centroids *c, int32_t max_rows, vouch_arena *arena);
/* Sets the first values, once the arena has its memory (vouch_centroids_layout only counts it). */
void vouch_centroids_clear(vouch_centroids *c);
/* Computes the logits of n rows from s [n][width], which is after the output norm. */
void vouch_centroids_run(vouch_centroids *c, const float *s, int32_t n);
/* [n_vocab] the logits of row i, until the next call. */
const float *vouch_centroids_logits(vouch_centroids *c, int32_t i);

#endif
