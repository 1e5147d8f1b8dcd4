/* SPDX-License-Identifier: MIT */
/*
 * Lessons: the states of answers, standardised, some of them held back to measure with.
 *
 * A few elements of a hidden state are 12 to 17 times the others, and would drown them. So each tap's elements are
 * shifted and scaled to mean 0 and deviation 1 over a part of the lessons.
 */
#ifndef VOUCH_TRAIN_LESSONS_H
#define VOUCH_TRAIN_LESSONS_H

#include "train/lessons/states.h"

typedef struct train_lessons_set {
    const train_chunks *states;
    const train_states_header *header;
    const vouch_weights *weights; /* the target's: its norm's epsilon */
    int64_t n_features;           /* n_taps * n_embd */
    float *mean, *inv_scale;      /* [n_features] */
    int32_t *order;               /* [n] chunks by the number of their prompt, those held back last */
    int32_t n, n_taught;          /* answers; the first n_taught in `order` are taught, the others held back */
    int64_t n_rows, n_held;       /* tokens of the answers taught, and held back */
    int32_t longest;              /* tokens of the longest */
} train_lessons_set;

/* Reads which answers there are and computes mean and inv_scale. One answer in TRAIN_HELD is held back. Errors: MEMORY,
 * IO, FORMAT, ARGUMENT (too few answers). */
enum { TRAIN_HELD = 25, TRAIN_LEAST_ANSWERS = 4 };
vouch_status train_lessons_open(train_lessons_set *set, const train_chunks *states, const train_states_header *header,
                                const vouch_weights *weights, vouch_error *err);
void train_lessons_close(train_lessons_set *set);

/* The standardised taps of row t of a sequence: out [n_features]. */
void train_lessons_features(const train_lessons_set *set, const train_sequence *sequence, int64_t t, float *out);
/* The final hidden state of row t, divided by its root mean square: out [n_embd]. */
void train_lessons_final(const train_lessons_set *set, const train_sequence *sequence, int64_t t, float *out);
/* The first row of a sequence that the loss counts: its taps are those of the prompt's last token but one. A row t
 * reads taps at t and the token at t + 1, and predicts the token at t + 2. */
static inline int64_t train_lessons_first(const train_sequence *sequence)
{
    return sequence->answer.n_prompt > 2 ? sequence->answer.n_prompt - 2 : 0;
}

#endif
