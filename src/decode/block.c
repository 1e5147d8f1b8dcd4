/* SPDX-License-Identifier: MIT */
/*
 * Block verification (Sun et al., arXiv 2403.10444, Algorithm 2), for chains. It decides for all guesses together how
 * many it accepts, and on average accepts more than a rule that judges each by itself. Let x(i) be the i-th guess, and
 * p(i) and q(i) the rows that it comes from:
 *
 *     w(0) = 1,  w(i) = min(1, w(i-1) p(i)(x(i)) / q(i)(x(i)))     the chance that at least i guesses are accepted
 *     r(i) = sum over x of max(0, w(i) p(i+1)(x) - q(i+1)(x))      mass of the tokens that follow exactly i guesses
 *     h(i) = r(i) / (r(i) + 1 - w(i)),  h(k) = w(k)                the chance of i guesses, given that no more are
 *
 * The rule tries the longest prefix first and accepts i guesses with h(i). The next token is drawn from
 * norm(max(0, w(i) p(i+1) - q(i+1))), or from p(k+1) after all k guesses. This is rejection with w p / q instead of
 * p / q, that is, with a lenience of 1 / w(i), which is 1 or more: the smaller w(i), the more of q the residual loses.
 *
 * One random number u decides, as among siblings (rejection.c): exactly i guesses are accepted iff u is below
 *
 *     A(i) = 1 - (1 - h(k)) ... (1 - h(i))
 *
 * and not below A(i + 1). So guess i is accepted iff u < A(i), and A grows towards the first guess.
 *
 * Unlike the other rules, this one looks at guesses after the first rejected one, and they influence how many are
 * accepted. So rejected guesses must not be drafted again: a drafter that draws from q uses new random numbers when it
 * drafts the same position again (vouch_draw_guess). The judge uses the u of the draft's first position; no other draft
 * begins there.
 *
 * All of this holds for guesses drawn from q, which come first. Point masses after them gain nothing from being judged
 * together. Where all drawn guesses are accepted, the rule draws the target's own token at each further position and
 * looks for it (match.c). The result is the same, because w of a point mass is w(i-1) p.
 *
 * The draft ends at a row without p. Whether such a row comes depends on the guesses before it only, so the rule stays
 * exact.
 */
#include <assert.h>

#include "decode/rules.h"

/* A smaller w counts as 0, because 1 / w must stay finite. */
static const double NEVER = 1e-200;

/* w and h of the first n guesses, all drawn from q. No drawn guess after them can be accepted. */
typedef struct outlook {
    int32_t n;
    double w[VOUCH_MAX_DRAFT + 1], h[VOUCH_MAX_DRAFT + 1]; /* [0, n] */
    const vouch_dist *p;                                   /* of `row`, the last row that was asked for */
    int32_t row;
    vouch_status end; /* not OK: row n failed, so guess n could not be judged */
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
        const double rest = w * left.total; /* r(i) */
        ahead->h[i] = w < 1 ? rest / (rest + 1 - w) : 1;
        if (ahead->w[i + 1] >= NEVER) continue;
        ahead->n = i + 1;
        ahead->h[i + 1] = 0;
        return;
    }
}

/* Draws u, writes the verdicts of the first n guesses and returns how many are accepted. */
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
    int32_t n_drawn = 0;
    outlook ahead;
    while (n_drawn < draft->n && draft->q && draft->q[n_drawn]) n_drawn++;
    look_ahead(&ahead, trial, n_drawn, out, guesses);
    if (ahead.end != VOUCH_OK && ahead.n == 0) return ahead.end;
    const int32_t n_accepted = count_accepted(trial, guesses, ahead.n, ahead.h);
    for (int32_t i = 0; i < n_accepted; i++) out->path[i] = i;
    out->n_accepted = n_accepted;
    out->origin = VOUCH_ORIGIN_ACCEPTED;
    if (ahead.end != VOUCH_OK && n_accepted == ahead.n) return VOUCH_OK;
    if (n_accepted == n_drawn) return vouch_judge_siblings(out, guesses, trial, vouch_match_siblings);

    vouch_status again = VOUCH_OK;
    if (n_accepted != ahead.row) again = trial->row_p(trial->row_self, n_accepted, n_accepted, &ahead.p);
    assert(again == VOUCH_OK); /* the row was read before */
    (void)again;
    vouch_residual left;
    vouch_residual_begin(&left, ahead.p, draft->q[n_accepted], 1 / ahead.w[n_accepted]);
    vouch_residual_reject(&left, guesses[n_accepted].token);
    out->final_token = trial->dice->draw(trial->dice->self, trial->position + n_accepted, &left);
    out->origin = VOUCH_ORIGIN_RESIDUAL;
    return VOUCH_OK;
}

const vouch_rule vouch_rule_block = {
    .name = "block", .judge = judge_block, .draw = vouch_draw_position, .draw_guess = vouch_draw_guess};
