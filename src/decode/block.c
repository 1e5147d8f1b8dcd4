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
 * norm(max(0, w(i) p(i+1) - q(i+1))), or from p(k+1) after all k guesses. No rule that sees one chain accepts more on
 * average. joint.c has the code and the proof, for trees.
 */
#include "decode/rules.h"

static vouch_status judge_block(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_jointly(out, guesses, trial, vouch_traverse);
}

const vouch_rule vouch_rule_block = {
    .name = "block", .judge = judge_block, .draw = vouch_draw_position, .draw_guess = vouch_draw_guess};
