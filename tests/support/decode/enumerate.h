/* SPDX-License-Identifier: MIT */
/*
 * Exactness by enumeration. The real cycle runs with random choices replaced by branches: every verdict, every token
 * that a draw can give and every guess of the drafter, each with its probability. Visiting all branches gives the joint
 * distribution of the emitted tokens without sampling error. It must equal the product of the target's conditional
 * distributions within 1e-12. For well-known mistakes it must differ.
 */
#ifndef VOUCH_TESTS_ENUMERATE_H
#define VOUCH_TESTS_ENUMERATE_H

#include "support/decode/toy.h"

/* The mistake that a run makes. */
typedef enum wrong {
    RIGHT,
    FULL_Q_FOR_ARGMAX,       /* judges a guess by argmax as if it were drawn from the softmax */
    RESIDUAL_IS_P,           /* draws from p after a rejection */
    RESIDUAL_NOT_NORMALISED, /* draws with u in [0, 1) though the residual sums to less; the last token gets the rest */
    BONUS_FROM_Q,            /* draws the bonus token from q */
    DROP_LOW_Q,              /* drops a sampled guess whose q is low */
    GUESSES_OUTSIDE_Q,       /* draws guesses that the trimmed vocabulary lacks */
    Q_OF_OTHER_TEMPERATURE,  /* reports a q of another temperature than the one it draws from */
    PENALTIES_WITHOUT_DRAFT, /* computes p of a row with penalties and DRY that don't see the guesses before it */
    XTC_OF_CYCLE,            /* computes p of all rows of a cycle with the XTC draw of the first */
    XTC_OF_DRAFT,            /* gives q an XTC draw of its own: exact, but fewer guesses are accepted */
    /* Mistakes with trees. */
    WITH_REPLACEMENT,      /* draws guesses for one position independently, so they can repeat */
    BEST_FIRST,            /* sorts the guesses for one position by q after drawing them */
    LIMITS_NOT_SHARED,     /* compares a second guess with a new u instead of the u of its position */
    RESIDUAL_OF_ONE,       /* subtracts only the first rejected guess from the residual */
    RESIDUAL_OF_TOKEN,     /* block: uses the residual of token-wise rejection */
    REUSED_GUESSES,        /* drafts the previous guess again for the same position; q is constant */
    DRAWN_AGAIN,           /* match, point masses: draws a new token after a rejection */
    NOISE_OF_TOKEN_BEFORE, /* coupled: races with the random numbers of the previous position */
    /* Mistakes with point masses beside sampled guesses. */
    POINTS_FIRST,    /* judges them before the sampled guess */
    POINTS_AS_DRAWN, /* judges them as if they were drawn from the same q */
    POINTS_BY_P,     /* accepts each with probability p, ignoring earlier rejections */
    /* Mistakes of rules that judge guesses together. */
    PARENT_KEEPS_W,            /* leaves the chance of a guess as it was when a guess after it is rejected */
    CHOICE_AS_DRAWN,           /* multipath: judges the chosen guess as if it were drawn from q */
    PATHS_OF_ONE,              /* multipath: reports that one path takes each guess */
    PATHS_WITHOUT_REPLACEMENT, /* multipath: draws different guesses for the paths of one parent */
    /* Mistakes with a grammar. */
    MASK_WITHOUT_DRAFT, /* masks p of a row without regard to the guesses before it */
    DROP_FORBIDDEN,     /* draws a guess from q without a mask, and drops it where the grammar forbids it */
} wrong;

/* The limit that ends a run after n_emitted tokens: */
typedef enum ending {
    BY_COMMIT,  /* the commit function returns LENGTH */
    BY_CONTEXT, /* the context is full */
    BY_ROOM,    /* the caller allows the step no more tokens */
    BY_FAILURE, /* the target fails after `eos`; otherwise as BY_COMMIT */
} ending;

typedef struct setup {
    int32_t n_vocab, k, n_emitted;
    int32_t branches; /* guesses for each position of a tree of depth k; 0: a chain */
    int32_t paths;    /* independent paths of k guesses; 0: none */
    bool crooked;     /* how many guesses follow a guess of a tree depends on all guesses before them */
    int32_t points;   /* point masses beside each sampled guess, if the rule judges trees; one more follows the chain.
                         They depend on all sampled guesses. In a tree and beside paths, one after each guess, too.
                         0: no point masses */
    vouch_sampling sampling;
    bool greedy_draft;
    double lenience;
    ending ending;
    int32_t eos; /* BY_FAILURE: the target gives no logits after it; -1: none */
    wrong wrong;
    vouch_accept accept;
    int32_t n_trimmed;   /* the drafter can't guess the tokens 1 to n_trimmed; 0: it can guess all */
    const char *grammar; /* over the tokens a, b, ab, c and the end (4) of 5; NULL: none */
    int32_t budget;      /* tokens of thoughts between a and b, which c and b close; the prompt has opened them. Counted
                            from 1; 0: no budget */
    bool own;            /* compare with the distribution that lenience defines, without a bonus token */
} setup;

enum { MAX_VOCAB = 5 };

/* Returns the largest difference between the joint distribution of a run's tokens and the expected one. *over, which
 * may be NULL, receives how many token probabilities exceed p / lenience. */
double enumerate_worst(const setup *s, int *over);

/* `accepted`: expected number of accepted guesses in the first cycle. `by_theory`: the number by the block verification
 * paper, the sum over i of E[w(i)] with w(i) = min(1, w(i-1) p / q), computed from p and q alone. */
typedef struct expectation {
    double accepted, by_theory;
} expectation;
expectation enumerate_accepted(const setup *s);

/* The joint probability that q's draw at a position is x and p's draw there is y. Two ways to couple the draws: both
 * run a race of the tokens with the same noise (coupled), or both cumulate to the same uniform number (match). p and q
 * [n] each sum to 1. */
double coupling_of_races(const double *p, const double *q, int32_t n, int32_t x, int32_t y);
double coupling_of_numbers(const double *p, const double *q, int32_t n, int32_t x, int32_t y);

#endif
