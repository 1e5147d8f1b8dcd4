/* SPDX-License-Identifier: MIT */
/*
 * Pace chooses what to draft: which drafters, how many guesses, or none (law L4). It is the stage "choose" of the
 * cycle (cycle.h). It owns the estimates, and it learns them and the cost curve t(n) from every cycle.
 *
 * Pace maximises the tokens per second that it expects:
 *
 *     yield = (1 + sum of the guesses' chances) / (t(guesses + 1) + seconds of the paid drafter)    plain: 1 / t(1)
 *
 * Where n other sequences share the pass, each of them adds a row and a token: n + 1 replaces the first 1, and
 * t(n + guesses + 1) replaces t(guesses + 1). So a guess has to pay for the time that it costs all sequences.
 *
 *   free drafters   estimate the chances of their guesses themselves (compose.h). They are asked in every cycle,
 *                   because that costs microseconds. Their draft is the offer.
 *   paid drafter    takes time for each guess, or for each level of a tree (a draft model, a head, a caller's own).
 *                   Pace measures that time and the acceptance rate at each depth, and compares every depth with the
 *                   offer. Where a depth wins, the paid guesses and the free ones make one tree.
 *
 * Paid drafters of several sequences share the pass of each level, and so its time. So pace counts a part of the time
 * that a level takes alone: t(m) / (m t(1)), where m sequences share it and t is the draft model's cost curve. And it
 * chooses the depth that pays best if all m draft that deep. If each chose by itself, it would take the rows of the
 * others for plain ones.
 *
 * Pace decides how many guesses the paid drafter draws before the first is drawn (drafter.h, D3).
 *
 * A budget guards against wrong estimates. Its unit is a token: one plain step of a sequence. Each cycle with the paid
 * drafter adds the accepted guesses, less those that would have been accepted of the offer: the committed tokens show
 * how many. So luck of the offer doesn't count. It subtracts the tokens that cycles with the offer would have given in
 * the additional time. Time that the paid drafter took beside n others costs the tokens of n + 1 sequences. All guesses
 * of a pass bear equal parts of the time that it takes longer than a plain pass, so the parts of all sequences add up
 * to that time. Every cycle adds 0.75 % of its own time. Pace makes no draft that it expects to cost more than the
 * budget. So paid drafters can slow an answer by about 0.75 % and MOST_BUDGET steps at most, whatever they guess and
 * however many sequences there are. While no depth seems to pay, the budget also pays for trials of one guess; there
 * are no trials where even a fully accepted draft couldn't pay.
 *
 * Free drafters take tens of microseconds per token. Many sequences take as many times more, while a longer pass makes
 * their guesses gain less. So pace adds up gain and time over ROUND cycles. Where the sum is a loss, the free drafters
 * rest: they are neither asked nor shown rows for a while, twice as long as the last time. A rest changes no byte of
 * greedy text, nor of text by match and coupled. Beside a paid drafter they don't rest.
 *
 * A plain step now and then keeps the estimate of t(1) fresh, even while every guess is accepted.
 */
#ifndef VOUCH_DECODE_PACE_H
#define VOUCH_DECODE_PACE_H

#include "model/cost.h"
#include "draft/drafter.h"

enum { VOUCH_PACE_DEPTHS = 6 }; /* depths whose acceptance is counted apart; the last stands for all deeper ones */

/* Counts and times of one cycle. Pace learns from them. */
typedef struct vouch_outcome {
    int32_t n_guesses;
    int32_t n_accepted;  /* by the judge; an answer may end before all of them are committed */
    int32_t offer_accepted; /* guesses of the offer that the committed tokens confirm */
    double expected;     /* tokens of the cycle as the free drafters estimated them; 0: they had no estimate */
    bool asked_paid;
    int32_t paid_levels; /* levels of the paid drafter's own draft */
    int32_t levels;      /* levels of the whole draft */
    double draft_seconds; /* choose and draft together; of these: */
    double free_seconds;
    double paid_seconds;  /* the paid drafter's part of the passes, and staging */
    double grow_seconds;  /* it chooses guesses from their results */
    double pass_seconds;
    double judge_seconds; /* everything after the pass */
    double tell_seconds;  /* of judge_seconds: the drafters see the rows and roll back */
    int32_t n_rows;       /* rows of the pass for all sequences, without the rows of prompts */
    double prompt_seconds; /* expected time of the pass's rows of prompts */
    bool teaches;         /* t(n) is to be learned from this pass */
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

typedef struct vouch_pace {
    vouch_cost *cost;                 /* learned from every pass */
    vouch_pace_mean judge_seconds;    /* of everything after the pass, for each committed token */
    vouch_pace_mean free_seconds;     /* of all free drafters, for each cycle */
    vouch_pace_mean guess_seconds;    /* of one paid guess, or of one level of a paid tree, alone */
    vouch_pace_mean catch_up_seconds; /* of one token that the paid drafter catches up with */
    bool has_paid;
    double paid_share;                /* time of a paid guess / time of a plain pass, before the first measurement */
    bool paid_at_once;                /* a paid draft of any depth takes the time of one guess */
    double tried[VOUCH_PACE_DEPTHS], accepted[VOUCH_PACE_DEPTHS]; /* paid guesses by depth; old counts fade */
    double acceptance[VOUCH_PACE_DEPTHS]; /* estimated from these counts and the prior */
    vouch_pace_mean rows;             /* guesses of a draft for each of its paid levels */
    vouch_pace_mean beyond;           /* guesses accepted behind the last paid level */
    vouch_pace_mean usual;            /* yield of the cycles with guesses, relative to plain decoding */
    int32_t since_plain;              /* cycles since the last one without guesses */
    int32_t n_plain;                  /* cycles without guesses since the last one with guesses */
    int32_t n_cycles;                 /* of this answer */
    double budget;                    /* tokens */
    int32_t n_threads;                /* that may draft for several sequences at once */
    int32_t n_round;                  /* cycles of the present round, in which the free drafters were asked */
    double gain;                      /* sum over these cycles: their speed relative to plain decoding, less 1 */
    int32_t rest, n_rest;             /* cycles of the last rest; those of it still to come */
    /* The running cycle. */
    vouch_shape most;                 /* its limits */
    int32_t n_behind;                 /* tokens that the paid drafter has to catch up with */
    int32_t n_sharing;                /* sequences that share the paid levels */
    double part;                      /* of a level's time that falls to this sequence, relative to a level alone */
    int32_t paid_depth;               /* chosen; 0: the paid drafter isn't asked */
    double pass_seconds;              /* of a plain pass, with the rows of the other sequences; 0: not known yet */
    double costs[VOUCH_MAX_DRAFT + 2]; /* of a pass of n rows, in such plain passes */
    double paid_costs[VOUCH_MAX_DRAFT + 2]; /* `costs` with the paid drafter's time added */
    double offer_cost;                /* of a pass with the offer, in such plain passes */
    double yield;                     /* of the offer, relative to plain decoding; after the cycle, of its draft */
    double without;                   /* the larger of `yield` and 1, which is the yield of plain decoding */
} vouch_pace;

typedef struct vouch_pace_options {
    bool has_paid;        /* there is a paid drafter */
    double paid_share;    /* time of a paid guess / time of a plain pass, before the first measurement */
    bool paid_at_once;    /* a paid draft of any depth takes the time of one guess, as that of a head of blocks does */
    vouch_cost *cost;     /* the target's; outlives pace. Sessions of one engine share it */
    int32_t n_threads;    /* that may draft for several sequences at once; 0: one */
} vouch_pace_options;

void vouch_pace_init(vouch_pace *pace, const vouch_pace_options *options);
/* An answer begins: its first pass finds every cache cold, so pace doesn't learn from it. */
void vouch_pace_begin_answer(vouch_pace *pace);
/* False: no cycle can ask the paid drafter, so it need not follow the prompt. */
bool vouch_pace_may_ask_paid(const vouch_pace *pace);

/* True in a cycle in which the free drafters rest, and until the next one begins. */
bool vouch_pace_rests(const vouch_pace *pace);
/* Begins a cycle with a draft within `most`; the paid drafter has n_behind tokens to catch up with. Returns the limits
 * of the offer, the free drafters' draft; depth 0: this cycle is a plain step. Valid until the next cycle begins. */
vouch_shape vouch_pace_begin(vouch_pace *pace, const vouch_shape *most, int32_t n_behind);
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
