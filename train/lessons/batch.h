/* SPDX-License-Identifier: MIT */
/*
 * Answers as the rows of a batch (head.h). A row t reads the taps at t and the token at t + 1. It predicts the token at
 * t + 2, whose distribution the states have at t + 1.
 */
#ifndef VOUCH_TRAIN_BATCH_H
#define VOUCH_TRAIN_BATCH_H

#include "train/network/head.h"
#include "train/lessons/lessons.h"

typedef struct train_space {
    train_batch batch;
    int64_t max_rows;
    float *features;
    int32_t *tokens, *positions, *ends, *ids, *labels;
    float *p;
    uint8_t *counts;
} train_space;

/* Room for batches of max_rows rows. */
void train_space_take(train_space *space, vouch_arena *arena, int64_t n_features, int64_t max_rows);
/* Empties the batch. Angles [positions][head_dim / 2] may be NULL for heads without layers. */
void train_space_clear(train_space *space, const float *cosines, const float *sines);
/* Adds the last rows of an answer, at most max_length of them, if they fit. False where they don't; an answer without
 * rows counts as added. drafts [n_vocab]: the draft id of a token, or -1; NULL: the token's own. */
bool train_space_add(train_space *space, const train_lessons_set *set, const train_sequence *sequence,
                     const int32_t *drafts, int64_t max_length);

#endif
