/* SPDX-License-Identifier: MIT */
/* The draft that is worth most by the estimates, within the guards (pace.h). */
#include "base/common.h"
#include "decode/pace/parts.h"

/* The catch-up cost of a paid draft counts for one of so many cycles, because later cycles profit from it. Otherwise a
 * drafter that isn't asked would lack more with each token, until pace could never ask it. */
static const double CATCH_UP_CYCLES = 16;

double vouch_pace_worth_together(const vouch_pace *p, double tokens, int32_t n_rows, double drafting)
{
    const vouch_cost *t = p->seen.cost;
    const int32_t n = p->n_sharing, n_plain = vouch_pace_others(p) + 1;
    const int32_t n_all = vouch_min(n_plain + n * (n_rows - 1), VOUCH_COST_ROWS);
    const double cost = vouch_cost_of(t, n_all) / vouch_cost_of(t, n_plain) + n * drafting;
    return vouch_worth(n_plain, n * (tokens - 1), n_plain * cost);
}

vouch_shape vouch_pace_begin(vouch_pace *pace, const vouch_shape *most, int32_t n_lacking)
{
    vouch_pace *p = pace;
    const vouch_cost *t = p->seen.cost;
    if (p->guards.n_rest > 0) p->guards.n_rest--;
    p->n_lacking = n_lacking;
    p->most = *most;
    const int32_t others = vouch_pace_others(p);
    p->most.n = vouch_min(most->n, 2 * t->most_rows - 1 - others); /* t(n) is unreliable far beyond */
    const bool is_plain = vouch_pace_rests(p) || vouch_pace_wants_plain(p);
    p->most.depth = is_plain ? 0 : vouch_min(most->depth, p->most.n);
    p->most.price.cost = p->costs;
    const double plain = vouch_cost_of(t, others + 1);
    p->pass_seconds = plain * vouch_cost_seconds(t);
    for (int32_t n = 1; n <= most->n + 1; n++) p->costs[n] = vouch_cost_of(t, others + n) / plain;
    return p->most;
}

/* The depth that is worth more than the offer and most of all, among those that can't lose more than the budget.
 * 0: there is none. The budget pays for a trial of one guess where nothing seems to pay. */
static int32_t choose_depth(const vouch_pace *p, const vouch_draft *offer, double offer_tokens)
{
    if (!p->has_paid || p->most.depth < 1 || p->guards.budget <= 0) return 0;
    double most = vouch_pace_worth_together(p, offer_tokens, offer->n + 1, 0);
    int32_t best = 0;
    for (int32_t n = 1; n <= p->most.depth; n++) {
        const int32_t n_rows = vouch_pace_rows(p, n, p->most.n);
        const vouch_paid_time time = vouch_pace_paid_time(p, n);
        const double drafting = time.guesses + time.catch_up / CATCH_UP_CYCLES;
        const double worth = vouch_pace_worth_together(p, vouch_pace_tokens(p, n), n_rows, drafting);
        if (vouch_pace_risk(p, p->costs[n_rows] + drafting + time.catch_up) > p->guards.budget) break;
        if (worth > most) most = worth, best = n;
    }
    const bool is_trial = best == 0 && p->worth <= 1 && vouch_pace_may_try(p);
    return is_trial ? 1 : best;
}

void vouch_pace_choose(vouch_pace *pace, const vouch_draft *offer, int32_t n, double part, vouch_shape *paid,
                       vouch_shape *both)
{
    vouch_pace *p = pace;
    const double tokens = offer->n > 0 ? offer->expected[offer->n] : 1;
    p->n_sharing = vouch_max(vouch_min(n, vouch_pace_others(p) + 1), 1);
    p->part = part;
    p->offer_cost = p->costs[offer->n + 1];
    p->worth = vouch_pace_worth(p, tokens, p->offer_cost);
    p->without = p->worth > 1 ? p->worth : 1;
    p->paid_depth = choose_depth(p, offer, tokens);
    *paid = *both = p->most;
    paid->depth = p->paid_depth;
    if (p->paid_depth == 0) return;
    const double cost = vouch_paid_sum(vouch_pace_paid_time(p, p->paid_depth));
    for (int32_t i = 1; i <= p->most.n + 1; i++) p->paid_costs[i] = p->costs[i] + cost;
    paid->price.cost = both->price.cost = p->paid_costs;
}
