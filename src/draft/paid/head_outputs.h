/* SPDX-License-Identifier: MIT */
/* The outputs of a head's rows, which the rows of guesses read in place of the target's states:
 *
 *   number    0                     1 ... n_fed
 *   row       of the last token     of the guesses that were fed
 */
#ifndef VOUCH_DRAFT_HEAD_OUTPUTS_H
#define VOUCH_DRAFT_HEAD_OUTPUTS_H

#include "draft/paid/head_inputs.h"
#include "model/stage/projection.h"

typedef struct vouch_head_outputs {
    vouch_projection leave; /* w NULL: none */
    float *values;          /* [k + 1][state width] s, or W_leave s */
} vouch_head_outputs;

void vouch_head_outputs_open(vouch_head_outputs *out, const vouch_head_weights *head, vouch_pool *pool);
/* k: most guesses of a draft; max_rows: of a pass. */
void vouch_head_outputs_layout(vouch_head_outputs *out, const vouch_head_weights *head, int32_t k, int32_t max_rows,
                               vouch_arena *arena);
/* Makes f of the rows of n guesses from the outputs of the rows that they follow. n_fed, parents: as in guesser.h. */
void vouch_head_outputs_feed(const vouch_head_outputs *out, vouch_head_inputs *in, int32_t n_fed,
                             const int32_t *parents, int32_t n);
/* Keeps the outputs of n rows that have run, from number `first` on. first_hidden: where the pass has their hidden
 * states. Returns s [n][width], until the next call. */
const float *vouch_head_outputs_keep(vouch_head_outputs *out, vouch_head_inputs *in, vouch_pass *pass,
                                     int32_t first_hidden, int32_t first, int32_t n);

#endif
