/* SPDX-License-Identifier: MIT */
/*
 * The judge decides which guesses are accepted and which token follows them. How it decides is a rule. Each rule is one
 * file in this folder and one line of VOUCH_ACCEPT_LIST (vouch.h).
 *
 *   rejection  accept with min(1, p / (l q)), else a token of the residual     chains, trees     rejection.c
 *   match      draw the target's own token, accept the guess that equals it    chains, trees     match.c
 *   block      the longest prefix of the draft, by one random number           chains            block.c
 *   coupled    match, with draws by a race that draft and target share         chains, trees     match.c
 *   traversal  block for trees, from the leaves to the root                    chains, trees     traversal.c
 *   multipath  block for the best of independent paths                         chains, paths     multipath.c
 *
 * All are exact: the tokens have the joint distribution that the target alone gives them (law L2). A rule sees no
 * tensors and no random generator. Rows of p come from a function, and chance comes from `vouch_dice`, so that a test
 * can walk all branches instead of sampling them.
 *
 * Where p of a row can't be computed, plain decoding would still have emitted the tokens before it. So the judgement is
 * then the guesses accepted before that row, without a final token. The failure comes with row 0 of the next cycle.
 */
#ifndef VOUCH_DECODE_JUDGE_H
#define VOUCH_DECODE_JUDGE_H

#include "draft/drafter.h"

/* The random decisions at a position of the sequence. A session uses vouch_dice_philox; tests enumerate instead. */
typedef struct vouch_dice {
    /* True iff the position's random number is below `limit`. Earlier calls have shown that it isn't below `before`.
     * Writes the number to *u. */
    bool (*accept)(void *self, int64_t position, double before, double limit, double *u);
    /* A token drawn from the rest of p after rejections. */
    int32_t (*draw)(void *self, int64_t position, const vouch_residual *left);
    void *self;
} vouch_dice;

/* The random numbers of a seed, and the function that draws the target's tokens with them. */
typedef struct vouch_seeded_draw {
    uint64_t seed;
    vouch_draw_fn *draw;
} vouch_seeded_draw;

/* Dice over the numbers of *seeded, which must outlive them. Its seed may change between answers. */
vouch_dice vouch_dice_philox(const vouch_seeded_draw *seeded);

/* p of a row: row 0 follows the sequence, row i + 1 follows guess i. `depth` accepted guesses are before it. Valid
 * until the next call. A rule may ask for rows in any order, and again; a row that fails does so each time. */
typedef vouch_status vouch_row_fn(void *self, int32_t row, int32_t depth, const vouch_dist **p);

/* A draft to judge. */
typedef struct vouch_trial {
    const vouch_draft *draft;
    vouch_row_fn *row_p;
    void *row_self;
    const vouch_dice *dice;
    int64_t position; /* of the first guess in the sequence */
    double lenience;
    bool want_overlap;
} vouch_trial;

typedef struct vouch_judgement {
    int32_t n_accepted;
    int32_t path[VOUCH_MAX_DRAFT];   /* [n_accepted] the numbers of these guesses */
    int32_t final_token;             /* none where origin is ACCEPTED */
    vouch_origin origin;             /* PLAIN, RESIDUAL, BONUS; ACCEPTED: the row after the accepted guesses failed */
    double overlap[VOUCH_MAX_DRAFT]; /* of each reached guess, if wanted: sum_x min(p, q) for the first of siblings,
                                        the chance of acceptance for a further one */
} vouch_judgement;

/* Fills *out and guesses [draft->n]. The caller has set all guesses to NOT_REACHED and n_accepted to 0. */
typedef vouch_status vouch_judge_fn(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial);

typedef struct vouch_rule {
    const char *name;
    vouch_judge_fn *judge;
    vouch_draw_fn *draw;       /* draws the target's tokens */
    vouch_draw_fn *draw_guess; /* draws the guesses of a draft model or head */
    bool trees;                /* judges trees, too */
    bool paths;                /* a tree of drawn guesses must be one of independent paths (vouch_draft.paths) */
    bool lenient;              /* takes a lenience below 1 */
    bool seed_reproduces;      /* its draws are those of plain decoding with this rule, whatever is drafted */
    bool ignores_q;            /* so a guess counts the same whether it was drawn or is the likeliest */
} vouch_rule;

/* NULL: there is no such rule. */
const vouch_rule *vouch_rule_get(vouch_accept accept);
/* The rule that VOUCH_ACCEPT_AUTO stands for. `drawn`: guesses are drawn from q. */
vouch_accept vouch_rule_auto(double lenience, bool drawn);

/* guesses [draft->n] receives the verdicts. Errors: as row_p for row 0. */
vouch_status vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_rule *rule, const vouch_trial *trial);

#endif
