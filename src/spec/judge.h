/* SPDX-License-Identifier: MIT */
/*
 * The judge: speculative rejection sampling (Leviathan et al., arXiv 2211.17192, Algorithm 1;
 * Chen et al., arXiv 2302.01318). From left to right, guess x of position i is accepted with
 *
 *     min(1, p_i(x) / (l q_i(x)))            l = lenience, 1: lossless
 *
 * The first rejection emits one token of norm(max(0, p_i - l q_i)) and ends it; when every guess holds,
 * the bonus token is drawn from p of the row after the last. A guess without q came from a point mass:
 * it is accepted with p(x), and the residual is p without x.
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
    /* True with the given probability; *u is what was drawn (uniform; true iff u < probability). */
    bool (*accept)(void *self, int64_t position, double probability, double *u);
    /* A token of p, or of norm(max(0, p - lenience q)) after the rejection of `guess` (q NULL: point mass). */
    int32_t (*draw)(void *self, int64_t position, const vouch_dist *p);
    int32_t (*draw_residual)(void *self, int64_t position, const vouch_dist *p, const vouch_dist *q,
                             int32_t guess, double lenience);
    void *self;
} vouch_dice;

/* Dice over vouch_uniform; *seed must outlive them. */
vouch_dice vouch_dice_philox(const uint64_t *seed);

/* p of row i: what follows the sequence and the first i guesses. Valid until the next call. */
typedef vouch_status vouch_row_fn(void *self, int32_t row, const vouch_dist **p);

typedef struct vouch_judgement {
    int32_t n_accepted;
    int32_t final_token; /* none where origin is ACCEPTED */
    vouch_origin origin; /* PLAIN, RESIDUAL, BONUS; ACCEPTED: the row after the accepted guesses failed */
    double overlap[VOUCH_MAX_DRAFT]; /* of each reached guess: sum_x min(p, q), where asked for */
} vouch_judgement;

/* position: of the first guess in the sequence. guesses [draft->n] receives the verdicts.
 * Errors: those of row_p, of row 0 only: at later rows the accepted guesses are the judgement. */
vouch_status vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_draft *draft,
                         vouch_row_fn *row_p, void *row_self, const vouch_dice *dice,
                         int64_t position, double lenience, bool want_overlap);

#endif
