/* SPDX-License-Identifier: MIT */
/*
 * The judge: which guesses hold, and which token follows them. How it decides is a rule; each is one file here and
 * one line of the table in rules.c.
 *
 *   rejection  accept with min(1, p / (l q)), else a token of the residual     chains, trees     rejection.c
 *   match      draw the target's own token, accept what equals it              chains, trees     match.c
 *   block      the longest beginning of the draft, by one number               chains            block.c
 *   coupled    match, with draws by a race that draft and target share         chains, trees     match.c
 *
 * All are exact: the tokens have the joint distribution that the target alone gives them (law L2). A rule sees no
 * tensors and no random generator: rows of p come from a function, chance from `vouch_dice`, so that a test
 * can walk all branches instead of sampling them.
 *
 * Where p of a row can't be had, plain decoding would still have emitted the tokens before it. So do
 * the accepted guesses: they are the whole judgement then, without a final token, and the failure comes
 * with row 0 of the next cycle.
 */
#ifndef VOUCH_DECODE_JUDGE_H
#define VOUCH_DECODE_JUDGE_H

#include "draft/drafter.h"

/* Chance at a position of the sequence. Production: vouch_dice_philox. */
typedef struct vouch_dice {
    /* Of the position's u, which is known to be `before` at least: true iff u < limit; *u is what was drawn. */
    bool (*accept)(void *self, int64_t position, double before, double limit, double *u);
    /* A token of what is left of p; of p itself where nothing was rejected. */
    int32_t (*draw)(void *self, int64_t position, const vouch_residual *left);
    void *self;
} vouch_dice;

/* The random numbers of a seed, and the function that draws the target's tokens with them. */
typedef struct vouch_seeded_draw {
    uint64_t seed;
    vouch_draw_fn *draw;
} vouch_seeded_draw;

/* *seeded must outlive them; its seed may change between answers. */
vouch_dice vouch_dice_philox(const vouch_seeded_draw *seeded);

/* p of a row: 0 is what follows the sequence, i + 1 what follows guess i, at this depth: depth accepted guesses
 * before it. Valid until the next call; the rows before one on its path have been asked for, and may be again. */
typedef vouch_status vouch_row_fn(void *self, int32_t row, int32_t depth, const vouch_dist **p);

/* What is to be judged. */
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
    int32_t path[VOUCH_MAX_DRAFT]; /* [n_accepted] the numbers of these guesses */
    int32_t final_token; /* none where origin is ACCEPTED */
    vouch_origin origin; /* PLAIN, RESIDUAL, BONUS; ACCEPTED: the row after the accepted guesses failed */
    double overlap[VOUCH_MAX_DRAFT]; /* of each reached guess, where asked for: sum_x min(p, q), and of
                                         a further one for its place the chance that it holds */
} vouch_judgement;

/* Given guesses [draft->n] that are not reached and a judgement of none accepted, fills both. */
typedef vouch_status vouch_judge_fn(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial);

typedef struct vouch_rule {
    const char *name;
    vouch_judge_fn *judge;
    vouch_draw_fn *draw;       /* of the target's tokens */
    vouch_draw_fn *draw_guess; /* of a draft model's */
    bool trees;                /* judges trees, too */
    bool lenient;              /* knows a lenience other than 1 */
} vouch_rule;

/* NULL: there is no such rule. */
const vouch_rule *vouch_rule_get(vouch_accept accept);

/* guesses [draft->n] receives the verdicts.
 * Errors: those of row_p, of row 0 only: at later rows the accepted guesses are the judgement. */
vouch_status vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_rule *rule, const vouch_trial *trial);

#endif
