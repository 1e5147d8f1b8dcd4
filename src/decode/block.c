/* SPDX-License-Identifier: MIT */
/*
 * Block verification (Sun et al., arXiv 2403.10444, Algorithm 2), for chains: how many guesses hold is decided for all
 * of them together, and in expectation more do than when each is judged by itself. With x(i) the i-th guess, p(i) and
 * q(i) the rows it comes from,
 *
 *     w(0) = 1,  w(i) = min(1, w(i-1) p(i)(x(i)) / q(i)(x(i)))     the chance that at least i guesses hold
 *     r(i) = sum over x of max(0, w(i) p(i+1)(x) - q(i+1)(x))      that exactly i do, and which token then follows
 *     h(i) = r(i) / (r(i) + 1 - w(i)),  h(k) = w(k)                that i do, given that no more do
 *
 * The longest beginning is tried first: i guesses hold with h(i). Behind them comes a token of norm(max(0, w(i) p(i+1)
 * - q(i+1))), or of p(k+1) behind all. With w p / q for p / q this is rejection at the lenience 1 / w(i): the less
 * likely the guesses before, the smaller the share of q that the residual has already got.
 *
 * One random number u decides, as among the guesses for one place of a tree: exactly i hold iff u is below
 *
 *     A(i) = 1 - (1 - h(k)) ... (1 - h(i))
 *
 * and not below A(i + 1). So guess i holds iff u < A(i), and A grows towards the first guess.
 *
 * Unlike under the other rules, guesses behind the first that doesn't hold have been looked at, and bear on how many
 * hold. They must not come again: whoever draws from q uses new random numbers for the same place in the next draft
 * (vouch_draw_guess). The judge's u is that of the draft's first position, where no other draft begins.
 *
 * So it goes for guesses drawn from q, which come first. Point masses behind them gain nothing from being judged
 * together: where all that were drawn hold, the target's own token is drawn at each further place and looked for
 * (match.c, and rejection.c says why). The result is the same: w of a point mass is w(i-1) p.
 *
 * A row without p is the end of the draft: whether it comes depends on the guesses before it only, and 1 - w is exact
 * for any such rule of stopping.
 */
#include <assert.h>

#include "decode/rules.h"

/* Below it a chance is none: its inverse must stay finite. */
static const double NEVER = 1e-200;

/* h(i), once the guess has been taken out of what is left of p. */
static double chance_of_exactly(const vouch_residual *left, double w)
{
    const double rest = w * left->total;
    return w < 1 ? rest / (rest + 1 - w) : 1;
}

static int32_t count_drawn(const vouch_draft *draft)
{
    int32_t n = 0;
    while (n < draft->n && draft->q && draft->q[n]) n++;
    return n;
}

/* What the rows say about the first n guesses, all drawn from q; no more of these can hold. */
typedef struct outlook {
    int32_t n;
    double w[VOUCH_MAX_DRAFT + 1], h[VOUCH_MAX_DRAFT + 1]; /* [0, n] */
    const vouch_dist *p; /* of the last row that was asked for */
    int32_t row;
    vouch_status end; /* of the row of guess n, where it failed */
} outlook;

static void look_ahead(outlook *ahead, const vouch_trial *trial, int32_t n_drawn, vouch_judgement *out,
                       vouch_guess *guesses)
{
    const vouch_draft *draft = trial->draft;
    *ahead = (outlook){.w = {1}, .row = -1};
    for (int32_t i = 0;; i++) {
        const double w = ahead->w[i];
        ahead->n = i;
        ahead->h[i] = w;
        if (i == n_drawn) return;
        ahead->end = trial->row_p(trial->row_self, i, i, &ahead->p);
        ahead->row = i;
        if (ahead->end != VOUCH_OK) return;

        vouch_guess *guess = &guesses[i];
        vouch_residual left;
        vouch_residual_begin(&left, ahead->p, draft->q[i], 1 / w);
        ahead->w[i + 1] = vouch_chance(&left, guess->token);
        guess->p = vouch_dist_p(left.p, guess->token);
        if (trial->want_overlap) out->overlap[i] = vouch_dist_overlap(left.p, left.q, guess->token);
        vouch_residual_reject(&left, guess->token);
        ahead->h[i] = chance_of_exactly(&left, w);
        if (ahead->w[i + 1] >= NEVER) continue;
        ahead->n = i + 1;
        ahead->h[i + 1] = 0;
        return;
    }
}

/* How many of the first n guesses hold. */
static int32_t count_accepted(const vouch_trial *trial, vouch_guess *guesses, int32_t n, const double *h)
{
    const vouch_dice *dice = trial->dice;
    double limit = 0, u = 0;
    int32_t n_accepted = n;
    for (int32_t i = n; i > 0; i--) guesses[i - 1].accept = limit += (1 - limit) * h[i];
    for (limit = 0; n_accepted > 0; n_accepted--) {
        const vouch_guess *guess = &guesses[n_accepted - 1];
        if (dice->accept(dice->self, trial->position, limit, guess->accept, &u)) break;
        limit = guess->accept;
    }
    for (int32_t i = 0; i < n; i++) {
        guesses[i].u = u;
        if (i <= n_accepted) guesses[i].verdict = i < n_accepted ? VOUCH_ACCEPTED : VOUCH_REJECTED;
        else guesses[i].p = guesses[i].accept = guesses[i].u = 0;
    }
    return n_accepted;
}

static vouch_status judge_block(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    const vouch_draft *draft = trial->draft;
    assert(!draft->parents);
    const int32_t n_drawn = count_drawn(draft);
    outlook ahead;
    look_ahead(&ahead, trial, n_drawn, out, guesses);
    if (ahead.end != VOUCH_OK && ahead.n == 0) return ahead.end;
    const int32_t held = count_accepted(trial, guesses, ahead.n, ahead.h);
    for (int32_t i = 0; i < held; i++) out->path[i] = i;
    out->n_accepted = held;
    out->origin = VOUCH_ORIGIN_ACCEPTED;
    if (ahead.end != VOUCH_OK && held == ahead.n) return VOUCH_OK;
    if (held == n_drawn) return vouch_judge_places(out, guesses, trial, vouch_place_match);

    vouch_status again = VOUCH_OK;
    if (held != ahead.row) again = trial->row_p(trial->row_self, held, held, &ahead.p);
    assert(again == VOUCH_OK); /* as it was before */
    (void)again;
    vouch_residual left;
    vouch_residual_begin(&left, ahead.p, draft->q[held], 1 / ahead.w[held]);
    vouch_residual_reject(&left, guesses[held].token);
    out->final_token = trial->dice->draw(trial->dice->self, trial->position + held, &left);
    out->origin = VOUCH_ORIGIN_RESIDUAL;
    return VOUCH_OK;
}

const vouch_rule vouch_rule_block = {
    .name = "block", .judge = judge_block, .draw = vouch_draw_position, .draw_guess = vouch_draw_guess};
