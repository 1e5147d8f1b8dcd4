/* SPDX-License-Identifier: MIT */
/* The controller of drafting (pace.h states its rule). */
#include "decode/pace.h"

#include <stdbool.h>

#include "base/common.h"

enum {
    FIRST_PLAIN = 2,  /* plain steps before the first draft */
    PLAIN_EVERY = 64, /* cycles with guesses between two plain steps */
    PLAIN_OFTEN = 8,  /* the same where drafting usually gives less than SMALL_GAIN times plain speed */
    TRY_EVERY = 8,    /* plain steps between two trials of a paid drafter whose expected gain is negative */
    ROUND = 8,        /* cycles whose gain decides whether the free drafters rest */
    LEAST_REST = 8,   /* cycles of their first rest */
    MOST_REST = 64,   /* cycles of a rest; beside fewer than 7 other sequences at most LEAST_REST for each sequence */
    DEPTHS = VOUCH_PACE_DEPTHS,
};

static const double SMALL_GAIN = 1.2;
/* Least weight of a new measurement in a mean. */
static const double RATE = 0.1;
/* Prior: 0.65 for the first guess; a deeper one inherits the rate of the depth before it. Worth two observations.
 * Counts fade by 0.95 a cycle, also in cycles without the paid drafter: a depth that is no longer tried returns to its
 * prior. */
static const double PRIOR = 0.65, PRIOR_TRIES = 2, FADE = 0.95;
/* Catch-up cost is spread over this many cycles. */
static const double CATCH_UP_CYCLES = 16;
/* Time to catch up with one token / time of a paid guess, before the first measurement. Below 1, because many such
 * tokens share a pass. */
static const double CATCH_UP_SHARE = 0.25;
/* The budget in tokens: its first value, its limit, and its income in the time of a plain step. */
static const double BUDGET = 2, MOST_BUDGET = 6, INCOME = 0.0075;

static void mean_add(vouch_pace_mean *m, double x)
{
    const double rate = 1.0 / ++m->n;
    m->value += (rate > RATE ? rate : RATE) * (x - m->value);
}

/* ----------------------------------------------------------------- estimates */

/* Time of one paid guess, in plain passes. */
static double guess_cost(const vouch_pace *p)
{
    const bool is_known = p->guess_seconds.n > 0 && p->pass_seconds > 0;
    return p->part * (is_known ? p->guess_seconds.value / p->pass_seconds : p->paid_share);
}

/* How many times of one guess a paid draft of this depth takes. */
static int32_t paid_steps(const vouch_pace *p, int32_t depth)
{
    return p->paid_at_once ? 1 : depth;
}

/* Time in which the paid drafter catches up, in plain passes. */
static double catch_up_cost(const vouch_pace *p)
{
    const double each = p->catch_up_seconds.n > 0 && p->pass_seconds > 0 ? p->catch_up_seconds.value / p->pass_seconds
                                                                         : CATCH_UP_SHARE * guess_cost(p);
    return p->n_behind * each;
}

/* Time of a paid draft of this depth, in plain passes. */
static double paid_cost(const vouch_pace *p, int32_t depth)
{
    return paid_steps(p, depth) * guess_cost(p) + catch_up_cost(p);
}

static double acceptance_at(const vouch_pace *p, int32_t depth)
{
    return p->acceptance[vouch_min(depth, DEPTHS - 1)];
}

static void update_acceptance(vouch_pace *p)
{
    double prior = PRIOR;
    for (int d = 0; d < DEPTHS; d++)
        prior = p->acceptance[d] = (p->accepted[d] + PRIOR_TRIES * prior) / (p->tried[d] + PRIOR_TRIES);
}

/* Tokens per second, relative to plain decoding, of a cycle that takes as long as `cost` plain passes. */
static double yield_of(const vouch_pace *p, double tokens, double cost)
{
    return (p->most.others + tokens) / ((p->most.others + 1) * cost);
}

/* The same where all sequences that share the paid levels draft as this one does: each with n_rows rows, and in
 * `drafting` plain passes. A sequence that counted only its own guesses would take the rows of the others for plain
 * ones. */
static double yield_together(const vouch_pace *p, double tokens, int32_t n_rows, double drafting)
{
    const int32_t n = p->n_sharing, n_plain = (int32_t)p->most.others + 1;
    const int32_t n_all = vouch_min(n_plain + n * (n_rows - 1), VOUCH_COST_ROWS);
    const double cost = vouch_cost_of(p->cost, n_all) / vouch_cost_of(p->cost, n_plain) + n * drafting;
    return (n_plain + n * (tokens - 1)) / (n_plain * cost);
}

/* Tokens that a cycle loses if the paid guesses add nothing to the offer, where it takes as long as `cost` plain
 * passes. All sequences of the pass lose that time. */
static double tokens_at_risk(const vouch_pace *p, double cost)
{
    return (p->most.others + 1) * (cost - p->offer_cost) * p->without;
}

/* Expected tokens of a cycle with a paid draft of this depth. */
static double tokens_of(const vouch_pace *p, int32_t depth)
{
    double path = 1, tokens = 1 + p->beyond.value;
    for (int32_t n = 0; n < depth; n++) tokens += path *= acceptance_at(p, n);
    return tokens;
}

/* Expected rows of a pass with a paid draft of this depth and at most `most` guesses. */
static int32_t rows_of(const vouch_pace *p, int32_t depth, int32_t most)
{
    const double n = p->rows.n > 0 ? depth * p->rows.value : depth;
    return 1 + vouch_min(most, (int32_t)(n + 0.5));
}

/* The depth with the highest yield above `least`, relative to plain decoding, among the depths that can't lose more
 * than the budget; 0: there is none. The catch-up cost counts in part only, because later cycles profit from it:
 * otherwise a drafter that isn't asked would fall further behind with each token, until pace could never ask it. */
static int32_t best_depth(const vouch_pace *p, double least)
{
    const double catch_up = catch_up_cost(p);
    int32_t best = 0;
    for (int32_t n = 1; n <= p->most.depth; n++) {
        const int32_t n_rows = rows_of(p, n, p->most.n);
        const double drafting = paid_steps(p, n) * guess_cost(p) + catch_up / CATCH_UP_CYCLES;
        const double yield = yield_together(p, tokens_of(p, n), n_rows, drafting);
        if (tokens_at_risk(p, p->costs[n_rows] + drafting + catch_up) > p->budget) break;
        if (yield <= least) continue;
        least = yield;
        best = n;
    }
    return best;
}

/* True if some depth would pay, were all its guesses accepted. */
static bool paid_could_pay(const vouch_pace *p)
{
    for (int32_t n = 1; n <= p->most.depth; n++)
        if (yield_together(p, n + 1, n + 1, paid_cost(p, n)) > 1) return true;
    return false;
}

/* True if the budget allows a trial of one paid guess now. */
static bool may_try(const vouch_pace *p)
{
    const double loss = tokens_at_risk(p, p->costs[2] + paid_cost(p, 1));
    return p->n_plain >= TRY_EVERY && p->budget > 1 + loss && paid_could_pay(p);
}

/* ------------------------------------------------------------------ choosing */

bool vouch_pace_rests(const vouch_pace *pace)
{
    return pace->n_rest > 0;
}

/* A plain step measures t(1). The less drafting gains, the more often pace needs that measurement. */
static bool wants_plain(const vouch_pace *p)
{
    return p->n_cycles == 0 || p->cost->n_passes < FIRST_PLAIN ||
           p->since_plain >= (p->usual.value < SMALL_GAIN ? PLAIN_OFTEN : PLAIN_EVERY);
}

vouch_shape vouch_pace_begin(vouch_pace *pace, const vouch_shape *most, int32_t n_behind)
{
    vouch_pace *p = pace;
    if (p->n_rest > 0) p->n_rest--;
    p->n_behind = n_behind;
    p->most = *most;
    const int32_t others = (int32_t)most->others;
    p->most.n = vouch_min(most->n, 2 * p->cost->most_rows - 1 - others); /* t(n) is unreliable far beyond */
    p->most.depth = p->n_rest > 0 || wants_plain(p) ? 0 : vouch_min(most->depth, p->most.n);
    p->most.cost = p->costs;
    const double plain = vouch_cost_of(p->cost, others + 1);
    p->pass_seconds = plain * vouch_cost_seconds(p->cost);
    for (int32_t n = 1; n <= most->n + 1; n++) p->costs[n] = vouch_cost_of(p->cost, others + n) / plain;
    return p->most;
}

static int32_t choose_depth(const vouch_pace *p, double tokens, int32_t n_rows)
{
    if (!p->has_paid || p->most.depth < 1 || p->budget <= 0) return 0;
    const int32_t depth = best_depth(p, yield_together(p, tokens, n_rows, 0));
    return depth > 0 || p->yield > 1 || !may_try(p) ? depth : 1;
}

void vouch_pace_choose(vouch_pace *pace, const vouch_draft *offer, int32_t n, double part, vouch_shape *paid,
                       vouch_shape *both)
{
    vouch_pace *p = pace;
    const double tokens = offer->n > 0 ? offer->expected[offer->n] : 1;
    p->n_sharing = vouch_max(vouch_min(n, (int32_t)p->most.others + 1), 1);
    p->part = part;
    p->offer_cost = p->costs[offer->n + 1];
    p->yield = yield_of(p, tokens, p->offer_cost);
    p->without = p->yield > 1 ? p->yield : 1;
    p->paid_depth = choose_depth(p, tokens, offer->n + 1);
    *paid = *both = p->most;
    paid->depth = p->paid_depth;
    if (p->paid_depth == 0) return;
    const double cost = paid_cost(p, p->paid_depth);
    for (int32_t i = 1; i <= p->most.n + 1; i++) p->paid_costs[i] = p->costs[i] + cost;
    paid->cost = both->cost = p->paid_costs;
}

/* ------------------------------------------------------------------ learning */

/* The forecast for the cycle that has just ended, by the estimates from before it. */
static vouch_forecast forecast(const vouch_pace *p, const vouch_outcome *o, double tokens)
{
    if (!(p->pass_seconds > 0)) return (vouch_forecast){0};
    const double pass = vouch_cost_of(p->cost, o->n_rows) * vouch_cost_seconds(p->cost) + o->prompt_seconds;
    const double paid = o->asked_paid ? paid_cost(p, p->paid_depth) * p->pass_seconds : 0;
    const double others = p->free_seconds.value + p->judge_seconds.value * tokens;
    return (vouch_forecast){.tokens = tokens, .seconds = pass + paid + others};
}

/* Sequences that share a pass draft at the same time, on so many threads. */
static int32_t side_by_side(const vouch_pace *p)
{
    return vouch_max(vouch_min(p->n_threads, (int32_t)p->most.others + 1), 1);
}

/* Adds a cycle in which the free drafters were asked: the tokens that it expected, and the time of drafting. */
static void learn_gain(vouch_pace *p, const vouch_outcome *o, double tokens)
{
    const double drafting = (o->free_seconds + o->tell_seconds) / side_by_side(p);
    const double cost = p->costs[o->n_guesses + 1] + drafting / p->pass_seconds;
    p->gain += yield_of(p, tokens, cost) - 1;
    if (++p->n_round < ROUND) return;
    const bool loses = p->gain < 0;
    /* Alone, drafting costs little, and a long rest may miss text that repeats. */
    const int32_t most = vouch_min(LEAST_REST * ((int32_t)p->most.others + 1), MOST_REST);
    const int32_t longer = p->rest > 0 ? vouch_min(2 * p->rest, most) : LEAST_REST;
    p->rest = p->n_rest = loses ? longer : 0;
    p->n_round = 0;
    p->gain = 0;
}

static void learn_paid_seconds(vouch_pace *p, const vouch_outcome *o)
{
    const double seconds = o->paid_seconds + o->grow_seconds / side_by_side(p);
    const int32_t steps = paid_steps(p, o->paid_levels);
    const double beyond_guesses = seconds - p->part * p->guess_seconds.value * steps;
    const int32_t levels = steps > 0 ? steps : 1; /* finding none takes as long as one guess */
    const int32_t behind = p->n_behind > 1 ? p->n_behind : 0;
    if (behind > 0 && p->guess_seconds.n > 0)
        mean_add(&p->catch_up_seconds, beyond_guesses > 0 ? beyond_guesses / behind : 0);
    else mean_add(&p->guess_seconds, seconds / p->part / (levels + CATCH_UP_SHARE * behind));
}

static void learn_acceptance(vouch_pace *p, const vouch_outcome *o, int32_t levels)
{
    for (int d = 0; d < DEPTHS; d++) {
        p->tried[d] *= FADE;
        p->accepted[d] *= FADE;
    }
    for (int32_t i = 0; i < levels && i <= o->n_accepted; i++) {
        const int32_t d = vouch_min(i, DEPTHS - 1);
        p->tried[d] += 1;
        p->accepted[d] += i < o->n_accepted;
    }
    update_acceptance(p);
    if (levels == 0) return;
    mean_add(&p->rows, (double)o->n_guesses / levels);
    mean_add(&p->beyond, o->n_accepted > levels ? o->n_accepted - levels : 0);
}

/* The seconds of this cycle, of which the pass counts as a plain pass and this sequence's part of the time beyond that:
 * all guesses of the pass bear equal parts. Rows of prompts don't count. */
static double own_seconds(const vouch_pace *p, const vouch_outcome *o)
{
    const int32_t n_plain = (int32_t)p->most.others + 1, n_guesses = o->n_rows - n_plain;
    const double plain = vouch_cost_of(p->cost, n_plain) * vouch_cost_seconds(p->cost);
    const double part = n_guesses > 0 ? (double)o->n_guesses / n_guesses : 1;
    return o->draft_seconds + plain + part * (o->pass_seconds - o->prompt_seconds - plain) + o->judge_seconds;
}

static void learn_budget(vouch_pace *p, const vouch_outcome *o)
{
    const double steps = own_seconds(p, o) / vouch_pace_plain_seconds(p);
    p->budget += INCOME * steps;
    if (o->asked_paid) p->budget += o->n_accepted - o->offer_accepted - tokens_at_risk(p, steps);
    if (p->budget > MOST_BUDGET) p->budget = MOST_BUDGET;
}

vouch_forecast vouch_pace_learn(vouch_pace *pace, const vouch_outcome *outcome)
{
    vouch_pace *p = pace;
    const vouch_outcome *o = outcome;
    const int32_t levels = vouch_min(o->paid_levels, o->levels), n_tokens = o->n_accepted + 1;
    const double tokens = o->expected > 0 ? o->expected : levels > 0 ? tokens_of(p, levels) : 1;
    const vouch_forecast expected = forecast(p, o, tokens);
    if (levels > 0) p->yield = yield_of(p, tokens, p->paid_costs[o->n_guesses + 1]);
    if (o->n_guesses > 0) mean_add(&p->usual, p->yield);
    p->since_plain = o->n_guesses > 0 ? p->since_plain + 1 : 0;
    p->n_plain = o->n_guesses > 0 ? 0 : p->n_plain + 1;
    if (p->n_cycles++ == 0 || !(o->pass_seconds > 0)) return expected; /* a cold first pass, or no time */
    if (o->free_seconds > 0) mean_add(&p->free_seconds, o->free_seconds);
    if (o->asked_paid) learn_paid_seconds(p, o);
    if (o->teaches) vouch_cost_learn(p->cost, o->n_rows, o->pass_seconds);
    if (!p->has_paid && p->most.depth > 0 && p->pass_seconds > 0) learn_gain(p, o, tokens);
    mean_add(&p->judge_seconds, o->judge_seconds / n_tokens);
    learn_acceptance(p, o, levels);
    if (p->cost->n_passes == 0) return expected;
    learn_budget(p, o);
    return expected;
}

double vouch_pace_plain_seconds(const vouch_pace *pace)
{
    const double rows = vouch_cost_of(pace->cost, (int32_t)pace->most.others + 1);
    return pace->cost->n_passes > 0 ? rows * vouch_cost_seconds(pace->cost) + pace->judge_seconds.value : 0;
}

/* ------------------------------------------------------------------ beginning */

void vouch_pace_init(vouch_pace *pace, const vouch_pace_options *options)
{
    *pace = (vouch_pace){.cost = options->cost,
                         .has_paid = options->has_paid,
                         .paid_share = options->paid_share,
                         .paid_at_once = options->paid_at_once,
                         .budget = BUDGET,
                         .n_threads = options->n_threads,
                         .n_sharing = 1,
                         .part = 1};
    update_acceptance(pace);
}

void vouch_pace_begin_answer(vouch_pace *pace)
{
    pace->n_cycles = 0;
}

bool vouch_pace_may_ask_paid(const vouch_pace *pace)
{
    return guess_cost(pace) < 1;
}
