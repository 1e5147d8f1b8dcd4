/* SPDX-License-Identifier: MIT */
/* The stages of distill.h that heads and students share. */
#ifndef VOUCH_TRAIN_PIPELINE_H
#define VOUCH_TRAIN_PIPELINE_H

#include "train/teach/measure.h"

enum { TRAIN_MEASURED_TOKENS = 8000 }; /* most tokens held back that a drafter is measured on */

typedef struct train_distiller {
    const train_options *options;
    const char *target, *out;
    train_states_header header;          /* of the states: the target's facts, and the taps; a student has none */
    train_states_header measured_header; /* the same of the states of measured prompts' answers */
    vouch_pool *pool;
    vouch_weights *weights;
    train_chunks *answers, *states, *measured_answers, *measured_states;
    train_lessons_set lessons, measured;
    float *embedding; /* [n_vocab, n_embd] the target's, each row divided by its root mean square */
    float *output;    /* [n_vocab, n_embd] the target's */
} train_distiller;

/* A line worth keeping, for options->note. */
void train_note(const train_distiller *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* OUT.answers, OUT.states, ... */
const char *train_path_beside(const train_distiller *d, const char *what, char path[4096]);

/* Stages, in this order. */
vouch_status train_answers_stage(train_distiller *d, vouch_error *err);
vouch_status train_weights_open(train_distiller *d, vouch_error *err);
vouch_status train_states_stage(train_distiller *d, vouch_error *err);
/* Makes the states of these answers in a file, and opens them as lessons. Fills *header, which the lessons go on
 * reading. The caller closes *states and *lessons, also on failure. */
vouch_status train_lessons_make(const train_distiller *d, const char *path, const train_chunks *answers,
                                train_states_header *header, train_chunks **states, train_lessons_set *lessons,
                                vouch_error *err);
/* The tokens of the vocabulary, the most frequent in the answers first. The caller frees *tokens [n_vocab]. */
vouch_status train_tokens_rank(const train_distiller *d, int32_t **tokens, vouch_error *err);
/* Opens d->embedding and d->output, as heads read them. Errors: MEMORY, UNSUPPORTED (the output norm isn't RMSNorm). */
vouch_status train_ends_open(train_distiller *d, vouch_error *err);
train_figures train_figures_of(const train_score *score);

/* All stages of a student (student_pipeline.c). */
vouch_status train_student_distill(train_distiller *d, train_result *result, vouch_error *err);

#endif
