/* SPDX-License-Identifier: MIT */
/*
 * The target's states of its answers: a file of chunks (chunks.h), one per answer, which can be taught from again and
 * again. Row t of an answer stands for its token x[t]:
 *
 *   taps [n, n_taps * n_embd] f16   the residual stream at t after each of the tapped layers
 *   ids  [n, TRAIN_TOP] i32         the likeliest tokens after t, likeliest first
 *   p    [n, TRAIN_TOP] f16         their probabilities at temperature 1
 *
 * A prompt's tokens teach no guess, so the rows in front of the prompt's last token have no likeliest tokens: id -1.
 *
 * A token takes 2 n_taps n_embd + 6 TRAIN_TOP bytes: 4.8 KB for four layers of 576.
 */
#ifndef VOUCH_TRAIN_STATES_H
#define VOUCH_TRAIN_STATES_H

#include "base/pool.h"
#include "model/load/weights.h"
#include "train/lessons/answers.h"

enum { TRAIN_TOP = 32 };

typedef struct train_states_header {
    char version[16];
    char digest[24];  /* of the target */
    uint64_t answers; /* hash of their file's header, so that states of other answers are refused */
    int32_t n_embd, n_layers, n_vocab, n_taps;
    int32_t taps[TRAIN_MOST_TAPS];
} train_states_header;

/* The first row whose likeliest tokens teach: the prompt's last token, after which the answer begins. */
static inline int32_t train_states_first(const train_answer *answer)
{
    return answer->n_prompt > 1 ? answer->n_prompt - 1 : 0;
}

/* One answer, in one block that free(tokens) gives back. */
typedef struct train_sequence {
    train_answer answer;
    int32_t *tokens, *ids;
    uint16_t *taps, *p;
} train_sequence;

/* Adds the states of all answers that the states' file lacks. *chunks is the file, open. Errors: as train_distill. */
vouch_status train_states_make(train_chunks **chunks, const char *path, const train_states_header *header,
                               const train_chunks *answers, const vouch_weights *weights, vouch_pool *pool,
                               const train_options *options, vouch_error *err);
/* Reads an answer's states. Errors: IO, FORMAT, MEMORY. */
vouch_status train_states_read(const train_chunks *chunks, size_t i, const train_states_header *header,
                               train_sequence *out, vouch_error *err);
/* Reads only the train_answer that the chunk begins with. Errors: IO. */
vouch_status train_states_peek(const train_chunks *chunks, size_t i, train_answer *out, vouch_error *err);

#endif
