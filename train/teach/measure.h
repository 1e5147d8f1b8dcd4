/* SPDX-License-Identifier: MIT */
/*
 * How often the target confirms a head's guesses, on greedy answers. Two rates count chains of guesses:
 *
 *   anywhere   a chain after each token of the answer, as papers on heads do
 *   cycles     the chains of decoding, which are simulated: each cycle begins after the tokens of the one before, and
 *              keeps the guesses up to the first wrong one and the target's own token
 *
 * Cycles begin at hard positions more often than elsewhere, so their rates are lower at the first guesses.
 *
 * Guess g of a chain that begins at row i is right if generation g of row i + g is (head.h): while all guesses before
 * were right, the path of guesses is the answer itself.
 */
#ifndef VOUCH_TRAIN_MEASURE_H
#define VOUCH_TRAIN_MEASURE_H

#include "train/lessons/batch.h"

/* Guesses by depth: those after accepted guesses only, and the accepted ones of these. */
typedef struct train_rates {
    int64_t reached[TRAIN_GENERATIONS], accepted[TRAIN_GENERATIONS];
} train_rates;

typedef struct train_score {
    train_rates anywhere, cycles;
    int64_t n_cycles, n_tokens; /* of the cycles */
    int64_t n_guessable;        /* of the anywhere.reached[0] tokens, those in the head's vocabulary */
} train_score;

/* Adds the batch's sequences. hits[g] [rows]: whether generation g of a row is right. */
void train_score_add(train_score *score, const uint8_t *const *hits, int32_t n_generations, const train_batch *batch);

/* A head that can be run on answers. drafts, cosines and sines as in batch.h. */
typedef struct train_taught {
    const train_head *head;
    const train_head_shape *shape;
    const int32_t *drafts;
    const float *cosines, *sines;
} train_taught;

/* The scores of the answers to prompts of each kind. */
typedef struct train_kinds {
    const train_prompt *prompts; /* [n_prompts] by the number of the answer */
    size_t n_prompts;
    train_score scores[TRAIN_MOST_KINDS];
} train_kinds;

/* Scores the greedy answers order[from, to), at most max_tokens tokens of them. kinds NULL: not by kind. Errors:
 * MEMORY, IO, FORMAT. */
vouch_status train_measure(train_score *score, train_kinds *kinds, const train_taught *taught,
                           const train_lessons_set *set, int32_t from, int32_t to, int64_t max_tokens,
                           vouch_error *err);

#endif
