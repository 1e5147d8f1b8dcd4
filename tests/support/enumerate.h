/* SPDX-License-Identifier: MIT */
/*
 * Exactness by enumeration. The real cycle runs with dice that don't fall but branch: every accept and
 * reject, every token that a draw can give, every guess of the drafter, each with its probability. The
 * walk over all of it gives the joint distribution of the emitted tokens without any statistics; it has to
 * equal the product of the target's own conditionals to 1e-12.
 *
 * The same walk over well-known wrong ways has to fail.
 */
#ifndef VOUCH_TESTS_ENUMERATE_H
#define VOUCH_TESTS_ENUMERATE_H

#include "support/toy.h"

/* How a run is broken. */
typedef enum wrong {
    RIGHT,
    FULL_Q_FOR_ARGMAX,       /* a guess by argmax, judged as if drawn from the softmax */
    RESIDUAL_IS_P,           /* a rejection draws from p itself */
    RESIDUAL_NOT_NORMALISED, /* u runs past the end of the residual: its last token takes the rest */
    BONUS_FROM_Q,
    DROP_LOW_Q,             /* a guess is drawn, and dropped for its low q */
    Q_OF_OTHER_TEMPERATURE, /* the q reported isn't the q drawn from */
    PENALTIES_WITHOUT_DRAFT, /* p of a later row doesn't count the guesses before it */
    /* Of trees. */
    WITH_REPLACEMENT,    /* guesses for one place are drawn as if each were the only one */
    BEST_FIRST,          /* guesses for one place are put in the order of their q after they were drawn */
    LIMITS_NOT_SHARED,   /* a further guess gets the whole of the limit, as if no u had been drawn */
    RESIDUAL_OF_ONE,     /* the residual leaves out what the first rejected guess took, and forgets the others */
    RESIDUAL_OF_TOKEN,   /* block: the residual of a guess that is judged by itself */
    REUSED_GUESSES,      /* a place that is drafted again gets the guess it had; q is the same everywhere */
    DRAWN_AGAIN,         /* match, and point masses: where the guess isn't the token drawn, another one is drawn */
    NOISE_OF_TOKEN_BEFORE, /* coupled: a race with the noise of the position before */
    /* Of point masses beside drawn guesses. */
    POINTS_FIRST,    /* they are judged before the drawn one */
    POINTS_AS_DRAWN, /* they are judged as if they had been drawn from the same q */
    POINTS_BY_P,     /* each is accepted with p, whatever was rejected before it */
} wrong;

/* How a run comes to its end after n_emitted tokens. */
typedef enum ending { BY_COMMIT, BY_CONTEXT, BY_ROOM, BY_FAILURE } ending;

typedef struct setup {
    int32_t n_vocab, k, n_emitted;
    int32_t branches; /* for each place of a tree of depth k; 0: a chain */
    int32_t points;   /* beside each guess of the chain, where the rule judges trees, and one behind it: point masses,
                         which depend on all that was drawn; 0: none, and none behind it */
    vouch_sampling sampling;
    bool greedy_draft;
    double lenience;
    ending ending;
    int32_t eos; /* BY_FAILURE: the target gives no logits after it; -1: none */
    wrong wrong;
    vouch_accept accept;
    bool own; /* the distribution to have is that of lenience, without a bonus token */
} setup;

enum { MAX_VOCAB = 5 };

/* The largest difference between the joint distribution of a run's tokens and the one it should have. *over, which may
 * be NULL: how often a token came more than p / lenience. */
double enumerate_worst(const setup *s, int *over);

/* What is expected of the first cycle: guesses accepted; and what block verification says that should be, the sum over
 * i of E[w(i)], w(i) = min(1, w(i-1) p / q), from the rows of p and q alone. */
typedef struct expectation {
    double accepted, by_theory;
} expectation;
expectation enumerate_accepted(const setup *s);

/* The probability that draws from q and p at one position are x and y: by a race with shared noise, and by one number
 * for both. p and q [n] sum to 1. */
double coupling_of_races(const double *p, const double *q, int32_t n, int32_t x, int32_t y);
double coupling_of_numbers(const double *p, const double *q, int32_t n, int32_t x, int32_t y);

#endif
