/* SPDX-License-Identifier: MIT */
/*
 * Traversal verification (Weng et al., arXiv 2505.12398): judges a tree of guesses together, from the leaves to the
 * root. joint.c has the code and the proof. For siblings x, y that were drawn from q without replacement:
 *
 *                 ┌ x ┬ c         order: c, d, x, y. w(x) = min(1, w p(x) / q(x)) is divided between c, d and x. If all
 *     sequence ───┤   └ d         three fail, the sequence has the state (w', r'), and y is judged with
 *                 └ y             w(y) = min(1, w' r'(y) / q'(y)), where q' = norm(q without x)
 *
 * On a chain the rule decides as block verification does. On a tree with a single level of guesses it decides as
 * rejection does, because w of the sequence is 1. Deeper trees accept more on average than rejection does: a guess
 * whose p is above its q makes up for a guess before it whose p is below.
 */
#include "decode/rules.h"

static vouch_status judge_traversal(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_jointly(out, guesses, trial, vouch_traverse);
}

const vouch_rule vouch_rule_traversal = {.name = "traversal",
                                         .judge = judge_traversal,
                                         .draw = vouch_draw_position,
                                         .draw_guess = vouch_draw_guess,
                                         .trees = true};
