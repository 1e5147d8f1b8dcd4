/* SPDX-License-Identifier: MIT */
/* The rules, and what they are made of. */
#ifndef VOUCH_SPEC_RULES_H
#define VOUCH_SPEC_RULES_H

#include "spec/judge.h"

vouch_judge_fn vouch_judge_rejection, vouch_judge_match, vouch_judge_block;

/* The chance min(1, p / (l q)) of a token among what is left of p. Where q is 0, a guess that q can't have made, the
 * limit of the rule; a token that the target can't emit is never accepted. */
static inline double vouch_chance(const vouch_residual *left, int32_t token)
{
    const double p = vouch_residual_p(left, token), limit = left->lenience * vouch_residual_q(left, token);
    return p == 0 ? 0 : p < limit ? p / limit : 1;
}

/* Judges the guesses of one place, behind `parent`, of which `first` is the first (-1: there are none). Returns the
 * accepted one, or -1 and the token that takes the place. `left` is p. */
typedef int32_t vouch_place_fn(const vouch_trial *trial, vouch_guess *guesses, double *overlap, vouch_residual *left,
                               int32_t parent, int32_t first, int64_t position, int32_t *token);

/* For rules that decide place by place: from the sequence's end along the accepted guesses. */
vouch_status vouch_judge_places(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial,
                                vouch_place_fn *place);

#endif
