/* SPDX-License-Identifier: MIT */
/*
 * Three guards against wrong estimates (pace.h).
 *
 * Plain steps   A plain step now and then measures t(1), even while every guess is accepted.
 *
 * Rest          Free drafters take tens of microseconds per token. Many sequences take as many times more, while a
 *               longer pass makes their guesses gain less. So pace adds up their gain over ROUND cycles. Where the sum
 *               is a loss, the free drafters rest: they are neither asked nor shown rows for a while, twice as long as
 *               the last time. A rest changes no byte of greedy text, nor of text by match and coupled. Beside a paid
 *               drafter they don't rest.
 *
 * Budget        Tokens that paid drafts may lose; one token is one plain step of a sequence. After each cycle with a
 *               paid draft
 *
 *                   budget += accepted guesses - guesses of the offer that would have been accepted
 *                             - tokens that the offer would have given in the additional time
 *
 *               The committed tokens show how many guesses of the offer would have been accepted, so its luck doesn't
 *               count. The additional time counts for all sequences of the pass. All guesses of a pass bear equal parts
 *               of the time that it takes longer than a plain pass. Every cycle adds 0.75 % of its own time. Pace makes
 *               no draft that can lose more than the budget. So paid drafters slow an answer by at most about 0.75 %
 *               and MOST_BUDGET steps, whatever they guess and however many sequences there are. While no depth seems
 *               to pay, the budget also pays for trials of one guess; there are no trials where even a fully accepted
 *               draft couldn't pay.
 */
#include "base/common.h"
#include "decode/pace/parts.h"

enum {
    FIRST_PLAIN = 2,  /* plain steps before the first draft */
    PLAIN_EVERY = 64, /* cycles with guesses between two plain steps */
    PLAIN_OFTEN = 8,  /* the same where drafts are usually worth less than SMALL_GAIN */
    TRY_EVERY = 8,    /* plain steps between two trials of a paid drafter whose expected gain is negative */
    ROUND = 8,        /* cycles whose gain decides whether the free drafters rest */
    LEAST_REST = 8,   /* cycles of their first rest */
    MOST_REST = 64,   /* cycles of a rest; beside fewer than 7 other sequences at most LEAST_REST for each sequence */
};

static const double SMALL_GAIN = 1.2;
/* The budget in tokens: its first value, its limit, and its income in the time of a plain step. */
static const double BUDGET = 2, MOST_BUDGET = 6, INCOME = 0.0075;

void vouch_pace_guards_init(vouch_pace_guards *guards)
{
    *guards = (vouch_pace_guards){.budget = BUDGET};
}

/* --------------------------------------------------------------- plain steps */

/* The less drafts gain, the more often pace needs t(1). */
bool vouch_pace_wants_plain(const vouch_pace *p)
{
    const int32_t every = p->seen.usual.value < SMALL_GAIN ? PLAIN_OFTEN : PLAIN_EVERY;
    return p->guards.n_cycles == 0 || p->seen.cost->n_passes < FIRST_PLAIN || p->guards.since_plain >= every;
}

void vouch_pace_count(vouch_pace_guards *guards, int32_t n_guesses)
{
    guards->n_cycles++;
    guards->since_plain = n_guesses > 0 ? guards->since_plain + 1 : 0;
    guards->n_plain = n_guesses > 0 ? 0 : guards->n_plain + 1;
}

/* ---------------------------------------------------------------------- rest */

bool vouch_pace_rests(const vouch_pace *pace)
{
    return pace->guards.n_rest > 0;
}

void vouch_pace_learn_rest(vouch_pace *p, const vouch_outcome *o, double tokens)
{
    vouch_pace_guards *g = &p->guards;
    const double drafting = (o->free_seconds + o->tell_seconds) / vouch_pace_side_by_side(p);
    g->gain += vouch_pace_worth(p, tokens, p->costs[o->n_guesses + 1] + drafting / p->pass_seconds) - 1;
    if (++g->n_round < ROUND) return;
    const bool loses = g->gain < 0;
    /* Alone, drafting costs little, and a long rest may miss text that repeats. */
    const int32_t most = vouch_min(LEAST_REST * (vouch_pace_others(p) + 1), MOST_REST);
    const int32_t longer = g->rest > 0 ? vouch_min(2 * g->rest, most) : LEAST_REST;
    g->rest = g->n_rest = loses ? longer : 0;
    g->n_round = 0;
    g->gain = 0;
}

/* -------------------------------------------------------------------- budget */

/* All sequences of the pass lose that time. */
double vouch_pace_risk(const vouch_pace *p, double cost)
{
    return (p->most.price.others + 1) * (cost - p->offer_cost) * p->without;
}

/* The seconds of this cycle: of its pass the time of a plain pass, and of the time beyond that the part of this
 * sequence's guesses. Rows of prompts don't count. */
static double own_seconds(const vouch_pace *p, const vouch_outcome *o)
{
    const vouch_cost *t = p->seen.cost;
    const int32_t n_plain = vouch_pace_others(p) + 1, n_guesses = o->n_rows - n_plain;
    const double plain = vouch_cost_of(t, n_plain) * vouch_cost_seconds(t);
    const double part = n_guesses > 0 ? (double)o->n_guesses / n_guesses : 1;
    return o->draft_seconds + plain + part * (o->pass_seconds - o->prompt_seconds - plain) + o->judge_seconds;
}

void vouch_pace_learn_budget(vouch_pace *p, const vouch_outcome *o)
{
    double *budget = &p->guards.budget;
    const double steps = own_seconds(p, o) / vouch_pace_plain_seconds(p);
    *budget += INCOME * steps;
    if (o->asked_paid) *budget += o->n_accepted - o->offer_accepted - vouch_pace_risk(p, steps);
    if (*budget > MOST_BUDGET) *budget = MOST_BUDGET;
}

/* True if some depth would pay, were all its guesses accepted. */
static bool could_pay(const vouch_pace *p)
{
    for (int32_t n = 1; n <= p->most.depth; n++)
        if (vouch_pace_worth_together(p, n + 1, n + 1, vouch_paid_sum(vouch_pace_paid_time(p, n))) > 1) return true;
    return false;
}

bool vouch_pace_may_try(const vouch_pace *p)
{
    const double loss = vouch_pace_risk(p, p->costs[2] + vouch_paid_sum(vouch_pace_paid_time(p, 1)));
    return p->guards.n_plain >= TRY_EVERY && p->guards.budget > 1 + loss && could_pay(p);
}
