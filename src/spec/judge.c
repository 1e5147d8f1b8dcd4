/* SPDX-License-Identifier: MIT */
/*
 * The judge (judge.h says the rule). Why it is exact, for one position: token x is emitted
 *
 *     as an accepted guess    q(x) min(1, p(x) / q(x))               = min(p(x), q(x))
 *     as a residual           (1 - sum min(p, q)) r(x),
 *                             r(x) = max(0, p(x) - q(x)) / (1 - sum min(p, q))
 *                                                                      together p(x)
 *
 * whatever q is, if it is what the guess was drawn from. A guess by argmax was drawn from a point mass:
 * q(x) = 1. Every number below is computed from the same weights that were drawn from.
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

vouch_status vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_draft *draft,
                         vouch_row_fn *row_p, void *row_self, const vouch_dice *dice, int64_t position,
                         double lenience, bool want_overlap)
{
    *out = (vouch_judgement){.origin = draft->n > 0 ? VOUCH_ORIGIN_BONUS : VOUCH_ORIGIN_PLAIN};
    for (int32_t i = 0; i < draft->n; i++) {
        const int32_t token = draft->tokens[i];
        const double q = draft->q ? vouch_dist_p(draft->q[i], token) : 1;
        guesses[i] = (vouch_guess){.token = token, .verdict = VOUCH_NOT_REACHED, .q = q};
    }
    const vouch_dist *p;
    vouch_status status;
    for (int32_t i = 0; i < draft->n; i++) {
        status = row_p(row_self, i, &p);
        if (status != VOUCH_OK) return stop_at(out, status);
        const vouch_dist *q = draft->q ? draft->q[i] : NULL;
        vouch_guess *guess = &guesses[i];
        guess->p = vouch_dist_p(p, guess->token);
        guess->accept = acceptance(guess->p, guess->q, lenience);
        if (want_overlap) out->overlap[i] = vouch_dist_overlap(p, q, guess->token);
        if (!dice->accept(dice->self, position + i, guess->accept, &guess->u)) {
            guess->verdict = VOUCH_REJECTED;
            out->origin = VOUCH_ORIGIN_RESIDUAL;
            out->final_token = dice->draw_residual(dice->self, position + i, p, q, guess->token, lenience);
            return VOUCH_OK;
        }
        guess->verdict = VOUCH_ACCEPTED;
        out->n_accepted++;
    }
    status = row_p(row_self, draft->n, &p);
    if (status != VOUCH_OK) return stop_at(out, status);
    out->final_token = dice->draw(dice->self, position + draft->n, p);
    return VOUCH_OK;
}

/* -------------------------------------------------------------------- dice */

static uint64_t seed_of(const void *self)
{
    return *(const uint64_t *)self;
}

static bool philox_accept(void *self, int64_t position, double probability, double *u)
{
    *u = vouch_uniform(seed_of(self), position, VOUCH_PURPOSE_ACCEPT);
    return *u < probability;
}

static int32_t philox_draw(void *self, int64_t position, const vouch_dist *p)
{
    return vouch_dist_draw(p, vouch_uniform(seed_of(self), position, VOUCH_PURPOSE_EMIT));
}

static int32_t philox_draw_residual(void *self, int64_t position, const vouch_dist *p, const vouch_dist *q,
                                    int32_t guess, double lenience)
{
    const double u = vouch_uniform(seed_of(self), position, VOUCH_PURPOSE_EMIT);
    return vouch_dist_draw_residual(p, q, guess, lenience, u);
}

vouch_dice vouch_dice_philox(const uint64_t *seed)
{
    return (vouch_dice){.accept = philox_accept,
                        .draw = philox_draw,
                        .draw_residual = philox_draw_residual,
                        .self = (void *)(uintptr_t)seed}; /* only read */
}
