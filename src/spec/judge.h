/* SPDX-License-Identifier: MIT */
/*
 * The judge: speculative rejection sampling (Leviathan et al., arXiv 2211.17192, Algorithm 1;
 * Chen et al., arXiv 2302.01318), and its form for trees, recursively without replacement (Jeon et al.,
 * arXiv 2402.14160; Chen et al., "Sequoia", arXiv 2402.12374). It walks from the sequence's end to a leaf. Of
 * the guesses for one place, in the order in which they were drawn, x is accepted with
 *
 *     a = min(1, r(x) / (l q(x)))            l = lenience, 1: lossless
 *
 * where r is p at first, and after a rejection norm(max(0, r - l q)), and q loses the rejected guess. So a
 * chain's guess has min(1, p / (l q)). Where none holds, one token of what is left of p ends the walk; behind a
 * leaf it is the bonus token, drawn from p.
 *
 * A guess without q came from a point mass: the first is accepted with p(x), and r is p without it. Guesses
 * x, y, z for one place then are accepted with p(x), p(y), p(z), as if the target's own token had been drawn
 * and found among them.
 *
 * One random number u decides all guesses for a place: the i-th is accepted iff u is below the limit
 *
 *     A(i) = 1 - (1 - a(1)) ... (1 - a(i))
 *
 * and not below A(i - 1); given the rejections before, u is uniform above A(i - 1).
 *
 * Where p of a row can't be had, plain decoding would still have emitted the tokens before it. So do
 * the accepted guesses: they are the whole judgement then, without a final token, and the failure comes
 * with row 0 of the next cycle.
 *
 * It sees no tensors and no random generator: rows of p come from a function, called only for rows
 * that are reached, and chance from `vouch_dice`, so that a test can walk all branches instead of
 * sampling them.
 */
#ifndef VOUCH_SPEC_JUDGE_H
#define VOUCH_SPEC_JUDGE_H

#include "draft/drafter.h"

/* Chance at a position of the sequence. Production: vouch_dice_philox. */
typedef struct vouch_dice {
    /* Of the position's u, which is known to be `before` at least: true iff u < limit; *u is what was drawn. */
    bool (*accept)(void *self, int64_t position, double before, double limit, double *u);
    /* A token of what is left of p; of p itself where nothing was rejected. */
    int32_t (*draw)(void *self, int64_t position, const vouch_residual *left);
    void *self;
} vouch_dice;

/* Dice over vouch_uniform; *seed must outlive them. */
vouch_dice vouch_dice_philox(const uint64_t *seed);

/* p of a row: 0 is what follows the sequence, i + 1 what follows guess i, at this depth: depth accepted guesses
 * before it. Valid until the next call. */
typedef vouch_status vouch_row_fn(void *self, int32_t row, int32_t depth, const vouch_dist **p);

typedef struct vouch_judgement {
    int32_t n_accepted;
    int32_t path[VOUCH_MAX_DRAFT]; /* [n_accepted] the numbers of these guesses */
    int32_t final_token; /* none where origin is ACCEPTED */
    vouch_origin origin; /* PLAIN, RESIDUAL, BONUS; ACCEPTED: the row after the accepted guesses failed */
    double overlap[VOUCH_MAX_DRAFT]; /* of each reached guess: its chance, sum_x min(p, q), where asked for */
} vouch_judgement;

/* position: of the first guess in the sequence. guesses [draft->n] receives the verdicts.
 * Errors: those of row_p, of row 0 only: at later rows the accepted guesses are the judgement. */
vouch_status vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_draft *draft,
                         vouch_row_fn *row_p, void *row_self, const vouch_dice *dice,
                         int64_t position, double lenience, bool want_overlap);

#endif
