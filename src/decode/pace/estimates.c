/* SPDX-License-Identifier: MIT */
/* What pace knows from the cycles so far: seconds, acceptance, and what follows from them (pace.h). */
#include "base/common.h"
#include "decode/pace/parts.h"

enum { DEPTHS = VOUCH_PACE_DEPTHS };

/* Least weight of a new measurement in a mean. */
static const double RATE = 0.1;
/* Prior: 0.65 for the first guess; a deeper one inherits the rate of the depth before it. Worth two observations.
 * Counts fade by 0.95 a cycle, also in cycles without the paid drafter: a depth that is no longer tried returns to its
 * prior. */
static const double PRIOR = 0.65, PRIOR_TRIES = 2, FADE = 0.95;
/* Time to catch up with one token / time of a paid guess, before the first measurement. Below 1, because many such
 * tokens share a pass. */
static const double CATCH_UP_SHARE = 0.25;

int32_t vouch_pace_steps(const vouch_pace *p, int32_t depth)
{
    return p->paid_at_once ? 1 : depth;
}

vouch_paid_time vouch_pace_paid_time(const vouch_pace *p, int32_t depth)
{
    const vouch_pace_mean *guess = &p->seen.guess_seconds, *token = &p->seen.catch_up_seconds;
    const bool has_pass = p->pass_seconds > 0;
    const double each = p->part * (guess->n > 0 && has_pass ? guess->value / p->pass_seconds : p->paid_share);
    const double lacking = token->n > 0 && has_pass ? token->value / p->pass_seconds : CATCH_UP_SHARE * each;
    return (vouch_paid_time){.guesses = vouch_pace_steps(p, depth) * each, .catch_up = p->n_lacking * lacking};
}

double vouch_pace_tokens(const vouch_pace *p, int32_t depth)
{
    double path = 1, tokens = 1 + p->seen.beyond.value;
    for (int32_t n = 0; n < depth; n++) tokens += path *= p->seen.acceptance[vouch_min(n, DEPTHS - 1)];
    return tokens;
}

int32_t vouch_pace_rows(const vouch_pace *p, int32_t depth, int32_t most)
{
    const vouch_pace_mean *rows = &p->seen.rows;
    const double n = rows->n > 0 ? depth * rows->value : depth;
    return 1 + vouch_min(most, (int32_t)(n + 0.5));
}

int32_t vouch_pace_side_by_side(const vouch_pace *p)
{
    return vouch_max(vouch_min(p->n_threads, vouch_pace_others(p) + 1), 1);
}

double vouch_pace_plain_seconds(const vouch_pace *pace)
{
    const vouch_pace_estimates *seen = &pace->seen;
    const double rows = vouch_cost_of(seen->cost, vouch_pace_others(pace) + 1);
    return seen->cost->n_passes > 0 ? rows * vouch_cost_seconds(seen->cost) + seen->judge_seconds.value : 0;
}

bool vouch_pace_may_ask_paid(const vouch_pace *pace)
{
    return vouch_pace_paid_time(pace, 1).guesses < 1;
}

/* ------------------------------------------------------------------ learning */

void vouch_pace_mean_add(vouch_pace_mean *mean, double x)
{
    const double rate = 1.0 / ++mean->n;
    mean->value += (rate > RATE ? rate : RATE) * (x - mean->value);
}

/* A paid draft that had nothing to catch up with teaches the time of a guess. One that had also takes time for the
 * lacking tokens: once the time of a guess is known, the rest teaches the time of such a token. */
void vouch_pace_learn_seconds(vouch_pace *p, const vouch_outcome *o)
{
    vouch_pace_mean *guess = &p->seen.guess_seconds, *token = &p->seen.catch_up_seconds;
    const double seconds = o->paid_seconds + o->grow_seconds / vouch_pace_side_by_side(p);
    const int32_t steps = vouch_pace_steps(p, o->paid_levels);
    const int32_t lacking = p->n_lacking > 1 ? p->n_lacking : 0;
    if (lacking > 0 && guess->n > 0) {
        const double rest = seconds - p->part * guess->value * steps;
        vouch_pace_mean_add(token, rest > 0 ? rest / lacking : 0);
    } else {
        const int32_t n = steps > 0 ? steps : 1; /* finding none takes as long as one guess */
        vouch_pace_mean_add(guess, seconds / p->part / (n + CATCH_UP_SHARE * lacking));
    }
}

static void estimate_acceptance(vouch_pace_estimates *seen)
{
    double prior = PRIOR;
    for (int d = 0; d < DEPTHS; d++)
        prior = seen->acceptance[d] = (seen->accepted[d] + PRIOR_TRIES * prior) / (seen->tried[d] + PRIOR_TRIES);
}

void vouch_pace_learn_acceptance(vouch_pace *p, const vouch_outcome *o, int32_t levels)
{
    vouch_pace_estimates *seen = &p->seen;
    for (int d = 0; d < DEPTHS; d++) {
        seen->tried[d] *= FADE;
        seen->accepted[d] *= FADE;
    }
    for (int32_t i = 0; i < levels && i <= o->n_accepted; i++) {
        const int32_t d = vouch_min(i, DEPTHS - 1);
        seen->tried[d] += 1;
        seen->accepted[d] += i < o->n_accepted;
    }
    estimate_acceptance(seen);
    if (levels == 0) return;
    vouch_pace_mean_add(&seen->rows, (double)o->n_guesses / levels);
    vouch_pace_mean_add(&seen->beyond, o->n_accepted > levels ? o->n_accepted - levels : 0);
}

void vouch_pace_estimates_init(vouch_pace_estimates *seen, const vouch_cost *cost)
{
    *seen = (vouch_pace_estimates){.cost = cost};
    estimate_acceptance(seen);
}
