/* SPDX-License-Identifier: MIT */
/*
 * The judge (judge.h says the rule). Why it is exact, for one place and one guess: token x is emitted
 *
 *     as an accepted guess    q(x) min(1, p(x) / q(x))               = min(p(x), q(x))
 *     as a residual           (1 - sum min(p, q)) r(x),
 *                             r(x) = max(0, p(x) - q(x)) / (1 - sum min(p, q))
 *                                                                      together p(x)
 *
 * whatever q is, if it is what the guess was drawn from. A further guess for the place is the same again with r
 * in the place of p: it is judged only where r is what is still to be emitted. A guess by argmax was drawn from
 * a point mass: q(x) = 1. Every number below is computed from the same weights that were drawn from.
 *
 * A row without p ends the judgement before its token, as it would end plain decoding there: it depends on
 * nothing but the tokens before it, and each of these has the probability that it has without drafts.
 */
#include "spec/judge.h"

/* min(1, p / (l q)). Where q is 0, a guess that q can't have made, the limit of the rule; a token that
 * the target can't emit is never accepted. */
static double acceptance(double p, double q, double lenience)
{
    if (p == 0) return 0;
    const double limit = lenience * q;
    return p < limit ? p / limit : 1;
}

/* p of the row after the accepted guesses failed: they are what there is, if there are any. */
static vouch_status stop_at(vouch_judgement *out, vouch_status failure)
{
    out->origin = VOUCH_ORIGIN_ACCEPTED;
    return out->n_accepted > 0 ? VOUCH_OK : failure;
}

/* The next guess behind `parent` after guess i; -1: none. */
static int32_t next_child(const vouch_draft *draft, int32_t parent, int32_t i)
{
    while (++i < draft->n)
        if (vouch_draft_parent(draft, i) == parent) return i;
    return -1;
}

/* Judges the guesses behind `parent`, of which `first` is the first. Returns the accepted one, or -1 and what is
 * left of p. */
static int32_t judge_place(vouch_residual *left, double *overlap, bool want_overlap, vouch_guess *guesses,
                           const vouch_draft *draft, int32_t parent, int32_t first, const vouch_dice *dice,
                           int64_t position)
{
    double before = 0;
    for (int32_t i = first; i >= 0; i = next_child(draft, parent, i)) {
        vouch_guess *guess = &guesses[i];
        const double a =
            acceptance(vouch_residual_p(left, guess->token), vouch_residual_q(left, guess->token), left->lenience);
        guess->p = vouch_dist_p(left->p, guess->token);
        guess->accept = before + (1 - before) * a;
        if (want_overlap) overlap[i] = left->n == 0 ? vouch_dist_overlap(left->p, left->q, guess->token) : a;
        if (dice->accept(dice->self, position, before, guess->accept, &guess->u)) {
            guess->verdict = VOUCH_ACCEPTED;
            return i;
        }
        guess->verdict = VOUCH_REJECTED;
        before = guess->accept;
        vouch_residual_reject(left, guess->token);
    }
    return -1;
}

vouch_status vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_draft *draft,
                         vouch_row_fn *row_p, void *row_self, const vouch_dice *dice, int64_t position,
                         double lenience, bool want_overlap)
{
    out->n_accepted = 0;
    for (int32_t i = 0; i < draft->n; i++) {
        const int32_t token = draft->tokens[i];
        guesses[i] = (vouch_guess){.token = token,
                                   .parent = vouch_draft_parent(draft, i),
                                   .drafters = draft->drafters ? draft->drafters[i] : 0,
                                   .verdict = VOUCH_NOT_REACHED,
                                   .q = draft->q ? vouch_dist_p(draft->q[i], token) : 1};
        out->overlap[i] = 0;
    }
    for (int32_t parent = -1;;) {
        const vouch_dist *p;
        const vouch_status status = row_p(row_self, parent + 1, out->n_accepted, &p);
        if (status != VOUCH_OK) return stop_at(out, status);
        const int32_t first = next_child(draft, parent, parent);
        const int64_t here = position + out->n_accepted;
        vouch_residual left;
        vouch_residual_begin(&left, p, first >= 0 && draft->q ? draft->q[first] : NULL, lenience);
        parent = judge_place(&left, out->overlap, want_overlap, guesses, draft, parent, first, dice, here);
        if (parent < 0) {
            out->origin = first >= 0 ? VOUCH_ORIGIN_RESIDUAL : draft->n > 0 ? VOUCH_ORIGIN_BONUS : VOUCH_ORIGIN_PLAIN;
            out->final_token = dice->draw(dice->self, here, &left);
            return VOUCH_OK;
        }
        out->path[out->n_accepted++] = parent;
    }
}

/* -------------------------------------------------------------------- dice */

static uint64_t seed_of(const void *self)
{
    return *(const uint64_t *)self;
}

static bool philox_accept(void *self, int64_t position, double before, double limit, double *u)
{
    (void)before;
    *u = vouch_uniform(seed_of(self), position, VOUCH_PURPOSE_ACCEPT);
    return *u < limit;
}

static int32_t philox_draw(void *self, int64_t position, const vouch_residual *left)
{
    return vouch_residual_draw(left, vouch_uniform(seed_of(self), position, VOUCH_PURPOSE_EMIT));
}

vouch_dice vouch_dice_philox(const uint64_t *seed)
{
    return (vouch_dice){.accept = philox_accept,
                        .draw = philox_draw,
                        .self = (void *)(uintptr_t)seed}; /* only read */
}
