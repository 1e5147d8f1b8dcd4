/* SPDX-License-Identifier: MIT */
/*
 * Pace: who drafts, how much, and when nobody (law L4).
 *
 * It is a drafter made of at most two:
 *
 *   grown   says for itself what its guesses are worth, given t(n) (compose.h): asked each time, which costs
 *           microseconds
 *   chain   costs time for each guess, or each level of a tree of them (a draft model, a caller's own drafter): what
 *           it takes is measured here, and how often a draft with it holds at each depth; so is the best depth found
 *
 * It drafts what gives more tokens for a second:
 *
 *     yield = (1 + sum of the chances) / (t(guesses + 1) + seconds of the chain)      of plain: 1 / t(1)
 *
 * of the grown guesses alone or with so many of the chain, which then are part of the same tree: the grown ones branch
 * off from them and go on behind them. How many there will be is decided before the first of them is drawn, by nothing
 * that depends on them; so they may be (drafter.h, D3).
 *
 * What guards against estimates that are wrong, or were right until now, is a budget for the chain, in plain steps:
 * a cycle pays in what it won against the draft without it, at least against plain decoding, and a hundredth of its
 * time for trying; it takes out what it lost. No draft is made that is expected to cost more than is left. So, however
 * it guesses, a chain loses about a hundredth and BUDGET steps, as far as the draft without it is worth what it says.
 * From the same budget come trials while the chain doesn't seem to pay: one guess at a time, and none where it could
 * not pay if every guess held.
 *
 * A plain step now and then keeps t(1) honest, even while every guess holds.
 *
 * Where the depth of the chain is given, nothing is decided: each draft has so many of its guesses in it.
 */
#ifndef VOUCH_DECODE_PACE_H
#define VOUCH_DECODE_PACE_H

#include "draft/cost.h"
#include "draft/drafter.h"

/* What a cycle was, for pace. */
typedef struct vouch_lap {
    int32_t n_guesses;
    int32_t n_accepted; /* as judged, an answer's end aside */
    double pass_seconds, judge_seconds; /* of the target's pass; of all else behind it */
} vouch_lap;

typedef struct vouch_forecast {
    double tokens, seconds; /* of the cycle that was proposed last, as expected; seconds 0: nothing is known yet */
} vouch_forecast;

typedef struct vouch_pace vouch_pace;

typedef struct vouch_pace_options {
    vouch_drafter_ref grown, chain; /* ops NULL: none; taken over, on failure, too */
    int32_t chain_depth;   /* guesses of the chain, always; 0: as many as pay */
    double chain_share;    /* what a guess of the chain may take, in plain passes, until it is measured */
    double (*now)(void);   /* seconds; a test brings its own clock */
} vouch_pace_options;

/* Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_pace_open(vouch_drafter_ref *out, const vouch_pace_options *options, vouch_error *err);
/* The pace behind a drafter; NULL: it is another. */
vouch_pace *vouch_pace_of(vouch_drafter_ref drafter);
/* The part that composes, and the other one. */
vouch_drafter_ref vouch_pace_grown(const vouch_pace *pace);
vouch_drafter_ref vouch_pace_chain(const vouch_pace *pace);
/* After each cycle. */
void vouch_pace_learn(vouch_pace *pace, const vouch_lap *lap);
vouch_forecast vouch_pace_forecast(const vouch_pace *pace);
/* Seconds of a plain step, as things are; 0: not known yet. */
double vouch_pace_plain_seconds(const vouch_pace *pace);

#endif
