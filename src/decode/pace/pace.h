/* SPDX-License-Identifier: MIT */
/*
 * Pace chooses what to draft: which drafters, how many guesses, or none (law L4).
 *
 *      estimates                    choice                       guards
 *     ┌─────────────────────┐      ┌──────────────────────┐     ┌────────────────────────┐
 *     │ t(n), seconds of a  ├─────►│ worth of each draft, ◄─────┤ plain steps, rest,     │
 *     │ paid guess, accept- │      │ the largest wins     │     │ budget, trials         │
 *     │ ance at each depth  │      └──────────┬───────────┘     └───────────▲────────────┘
 *     └─────────▲───────────┘                 │ the cycle (cycle.h)         │
 *               │                  ┌──────────▼───────────┐                 │
 *               └──────────────────┤ learning: its times  ├─────────────────┘
 *                                  │ and its tokens       │
 *                                  └──────────────────────┘
 *
 *   estimates.c   what the cycles so far have shown
 *   choose.c      the draft that is worth most (base/cost.h) by these estimates
 *   guards.c      what bounds the loss where the estimates are wrong
 *   learn.c       what a cycle teaches
 *
 * All worths and costs here are relative to plain decoding: a plain cycle costs 1 and is worth 1.
 *
 * Free drafters estimate the chances of their guesses themselves (compose.h). They take microseconds, so they are asked
 * in every cycle. Their draft is the offer. The paid drafter (draft model, head, a caller's own) takes time for each
 * guess, or for each level of a tree. Pace compares each depth of a paid draft with the offer. Where a depth wins, paid
 * and free guesses make one tree. The depth is chosen before the first guess is drawn (drafter.h, D3).
 *
 * For example, passes of 1, 2, 3, 4 and 5 rows cost 1, 1.02, 1.05, 1.09 and 1.14. A paid guess takes 0.1 of a plain
 * pass, and its acceptance is 0.8 at every depth. The free drafters offer one guess with the chance 0.3:
 *
 *     offer      (1 + 0.3) / 1.02                             1.27
 *     depth 1    (1 + 0.8) / (1.02 + 0.1)                     1.61
 *     depth 2    (1 + 0.8 + 0.64) / (1.05 + 0.2)              1.95
 *     depth 3    (1 + 0.8 + 0.64 + 0.51) / (1.09 + 0.3)       2.12
 *     depth 4    (1 + 0.8 + 0.64 + 0.51 + 0.41) / (1.14 + 0.4)  2.18   chosen
 *
 * If all four guesses turn out wrong, the cycle has taken 1.54 - 1.02 plain passes longer than with the offer, which
 * would have given 0.52 * 1.27 = 0.66 tokens. The budget, at most 6 tokens, has to allow that.
 *
 * Where n other sequences share the pass, each adds a row and a token: n + 1 replaces the first 1, and
 * t(n + guesses + 1) replaces t(guesses + 1). So a guess has to pay for the time that it costs all sequences. Paid
 * drafters of m sequences share the pass of each level, so each bears a part of the level's time: t(m) / (m t(1)), t
 * being the draft model's curve. Each sequence chooses the depth that pays best if all m draft that deep. If each chose
 * by itself, it would take the rows of the others for plain ones.
 */
#ifndef VOUCH_DECODE_PACE_H
#define VOUCH_DECODE_PACE_H

#include "base/cost.h"
#include "draft/drafter.h"

enum { VOUCH_PACE_DEPTHS = 6 }; /* depths whose acceptance is counted apart; the last stands for all deeper ones */

/* Counts and times of one cycle. Pace learns from them. */
typedef struct vouch_outcome {
    int32_t n_guesses;
    int32_t n_accepted;     /* by the judge; an answer may end before all of them are committed */
    int32_t offer_accepted; /* guesses of the offer that the committed tokens confirm */
    double expected;        /* tokens of the cycle as the free drafters estimated them; 0: they had no estimate */
    bool asked_paid;
    int32_t paid_levels;  /* levels of the paid drafter's own draft */
    int32_t levels;       /* levels of the whole draft */
    double draft_seconds; /* choose and draft together; of these: */
    double free_seconds;
    double paid_seconds; /* the paid drafter's part of the passes, and staging */
    double grow_seconds; /* it chooses guesses from their results */
    double pass_seconds;
    double judge_seconds;  /* everything after the pass */
    double tell_seconds;   /* of judge_seconds: the drafters see the rows and roll back */
    int32_t n_rows;        /* rows of the pass for all sequences, without the rows of prompts */
    double prompt_seconds; /* expected time of the pass's rows of prompts */
} vouch_outcome;

/* Tokens and seconds of a cycle as pace expected them. seconds 0: pace knew no costs yet. */
typedef struct vouch_forecast {
    double tokens, seconds;
} vouch_forecast;

/* The mean of all measurements at first; later the new ones weigh more. */
typedef struct vouch_pace_mean {
    double value;
    int32_t n;
} vouch_pace_mean;

typedef struct vouch_pace_estimates {
    const vouch_cost *cost;           /* t(n), which the engine learns from its passes */
    vouch_pace_mean judge_seconds;    /* of everything after the pass, for each committed token */
    vouch_pace_mean free_seconds;     /* of all free drafters, for each cycle */
    vouch_pace_mean guess_seconds;    /* of one paid guess, or of one level of a paid tree, alone */
    vouch_pace_mean catch_up_seconds; /* of one token that the paid drafter catches up with */
    double tried[VOUCH_PACE_DEPTHS], accepted[VOUCH_PACE_DEPTHS]; /* paid guesses by depth; old counts fade */
    double acceptance[VOUCH_PACE_DEPTHS];                         /* estimated from these counts and the prior */
    vouch_pace_mean rows;                                         /* guesses of a draft for each of its paid levels */
    vouch_pace_mean beyond;                                       /* guesses accepted after the last paid level */
    vouch_pace_mean usual;                                        /* worth of the cycles with guesses */
} vouch_pace_estimates;

typedef struct vouch_pace_guards {
    int32_t n_cycles;     /* of this answer */
    int32_t since_plain;  /* cycles since the last one without guesses */
    int32_t n_plain;      /* cycles without guesses since the last one with guesses */
    double budget;        /* tokens that paid drafts may lose */
    int32_t n_round;      /* cycles of the present round, in which the free drafters were asked */
    double gain;          /* sum over these cycles: their worth less 1 */
    int32_t rest, n_rest; /* cycles of the last rest; those of it still to come */
} vouch_pace_guards;

typedef struct vouch_pace {
    bool has_paid;
    double paid_share; /* cost of a paid guess before the first measurement */
    bool paid_at_once; /* a paid draft of any depth takes the time of one guess */
    int32_t n_threads; /* that may draft for several sequences at once */
    vouch_pace_estimates seen;
    vouch_pace_guards guards;
    /* The running cycle. */
    vouch_shape most;                  /* its limits */
    int32_t n_lacking;                 /* tokens that the paid drafter has to catch up with */
    int32_t n_sharing;                 /* sequences that share the paid levels */
    double part;                       /* of a level's time that falls to this sequence, relative to a level alone */
    int32_t paid_depth;                /* chosen; 0: the paid drafter isn't asked */
    double pass_seconds;               /* of a plain pass, with the rows of the other sequences; 0: not known yet */
    double costs[VOUCH_MAX_DRAFT + 2]; /* of a pass of n rows */
    double paid_costs[VOUCH_MAX_DRAFT + 2]; /* `costs` with the paid drafter's time added */
    double offer_cost;                      /* of a pass with the offer */
    double worth;                           /* of the offer; after the cycle, of its draft */
    double without;                         /* worth without the paid drafter: the offer's, or 1 where it loses */
} vouch_pace;

typedef struct vouch_pace_options {
    bool has_paid;     /* there is a paid drafter */
    double paid_share; /* time of a paid guess / time of a plain pass, before the first measurement */
    bool paid_at_once; /* a paid draft of any depth takes the time of one guess, as that of a head of blocks does */
    const vouch_cost *cost; /* the target's; outlives pace. Sessions of one engine share it */
    int32_t n_threads;      /* that may draft for several sequences at once; 0: one */
} vouch_pace_options;

void vouch_pace_init(vouch_pace *pace, const vouch_pace_options *options);
/* An answer begins: its first pass finds every cache cold, so pace doesn't learn from it. */
void vouch_pace_begin_answer(vouch_pace *pace);
/* False: no cycle can ask the paid drafter, so it need not follow the prompt. */
bool vouch_pace_may_ask_paid(const vouch_pace *pace);

/* True in a cycle in which the free drafters rest, and until the next one begins. */
bool vouch_pace_rests(const vouch_pace *pace);
/* Begins a cycle with a draft within `most`; the paid drafter has n_lacking tokens to catch up with. Returns the limits
 * of the offer, the free drafters' draft; depth 0: this cycle is a plain step. Valid until the next cycle begins. */
vouch_shape vouch_pace_begin(vouch_pace *pace, const vouch_shape *most, int32_t n_lacking);
/* Decides by the offer (n 0: none). n sequences share the paid levels; `part`: the time of a level that falls to this
 * one, relative to a level alone. May be called again with another n. *paid receives the limits of the paid drafter's
 * guesses, depth 0 where it isn't asked. *both receives the limits of the tree of paid and free guesses. */
void vouch_pace_choose(vouch_pace *pace, const vouch_draft *offer, int32_t n, double part, vouch_shape *paid,
                       vouch_shape *both);
/* Ends the cycle. Returns the forecast that pace had for it. */
vouch_forecast vouch_pace_learn(vouch_pace *pace, const vouch_outcome *outcome);

/* Seconds of a plain step at present; 0: not known yet. */
double vouch_pace_plain_seconds(const vouch_pace *pace);

#endif
