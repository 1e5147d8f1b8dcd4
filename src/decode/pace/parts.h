/* SPDX-License-Identifier: MIT */
/* What the files of pace ask each other (pace.h has the picture). */
#ifndef VOUCH_DECODE_PACE_PARTS_H
#define VOUCH_DECODE_PACE_PARTS_H

#include "decode/pace/pace.h"

/* Tokens that the other sequences of the pass give, and rows that they take. */
static inline int32_t vouch_pace_others(const vouch_pace *p)
{
    return (int32_t)p->most.price.others;
}

/* The worth of a cycle of this sequence, relative to plain decoding of all sequences of the pass. */
static inline double vouch_pace_worth(const vouch_pace *p, double tokens, double cost)
{
    const double others = p->most.price.others;
    return vouch_worth(others, tokens, (others + 1) * cost);
}

/* ----------------------------------------------------------------- estimates */

/* Time of a paid draft, in plain passes. */
typedef struct vouch_paid_time {
    double guesses, catch_up; /* catch_up: the paid drafter runs the tokens that it lacks */
} vouch_paid_time;

static inline double vouch_paid_sum(vouch_paid_time time)
{
    return time.guesses + time.catch_up;
}

/* How many times of one guess a paid draft of this depth takes. */
int32_t vouch_pace_steps(const vouch_pace *p, int32_t depth);
/* The time of a paid draft of this depth. */
vouch_paid_time vouch_pace_paid_time(const vouch_pace *p, int32_t depth);
/* Expected tokens of a cycle with a paid draft of this depth. */
double vouch_pace_tokens(const vouch_pace *p, int32_t depth);
/* Expected rows of its pass, with at most `most` guesses. */
int32_t vouch_pace_rows(const vouch_pace *p, int32_t depth, int32_t most);
/* Sequences that share a pass draft at the same time, on so many threads. */
int32_t vouch_pace_side_by_side(const vouch_pace *p);
void vouch_pace_mean_add(vouch_pace_mean *mean, double x);
void vouch_pace_learn_seconds(vouch_pace *p, const vouch_outcome *o);
/* `levels`: of the paid draft that the judge has seen. */
void vouch_pace_learn_acceptance(vouch_pace *p, const vouch_outcome *o, int32_t levels);
void vouch_pace_estimates_init(vouch_pace_estimates *seen, const vouch_cost *cost);

/* -------------------------------------------------------------------- choice */

/* The worth of a paid draft where all sequences that share the paid levels draft as this one does: each with n_rows
 * rows, and in `drafting` plain passes. */
double vouch_pace_worth_together(const vouch_pace *p, double tokens, int32_t n_rows, double drafting);

/* -------------------------------------------------------------------- guards */

/* Is this cycle to be a plain step, whatever the estimates say? */
bool vouch_pace_wants_plain(const vouch_pace *p);
/* Tokens that a cycle loses if the paid guesses add nothing to the offer, where it takes as long as `cost` plain
 * passes. */
double vouch_pace_risk(const vouch_pace *p, double cost);
/* True if the budget allows a trial of one paid guess now. */
bool vouch_pace_may_try(const vouch_pace *p);
void vouch_pace_guards_init(vouch_pace_guards *guards);
/* A cycle has ended with so many guesses. */
void vouch_pace_count(vouch_pace_guards *guards, int32_t n_guesses);
/* A cycle in which the free drafters were asked has ended; it expected so many tokens. */
void vouch_pace_learn_rest(vouch_pace *p, const vouch_outcome *o, double tokens);
void vouch_pace_learn_budget(vouch_pace *p, const vouch_outcome *o);

#endif
