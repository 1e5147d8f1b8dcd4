/* SPDX-License-Identifier: MIT */
/* A head that states a wrong q for its guesses, so that tests of law L2 can show that they would fail. */
#ifndef VOUCH_TESTS_WRONG_HEAD_H
#define VOUCH_TESTS_WRONG_HEAD_H

#include "draft/drafter.h"
#include "model/head/head_weights.h"

typedef enum head_mistake {
    HEAD_IS_RIGHT,
    HEAD_DROPS_LOW_Q,      /* draws a guess, and drops it where its q is low */
    HEAD_Q_OF_OTHER_DEPTH, /* states the q of the guess before, which has another depth of the block */
    HEAD_Q_WITHOUT_BIAS,   /* draws with the Markov bias of the token before, and states q without it */
} head_mistake;

/* Makes the drafter of a head wrong: chains of at most 8 guesses, n_vocab at most 64. One drafter at a time. */
void wrong_head_make(vouch_drafter_ref *drafter, const vouch_head_weights *head, head_mistake mistake);

#endif
