/* SPDX-License-Identifier: MIT */
/* The rules, and what they are made of. */
#ifndef VOUCH_DECODE_RULES_H
#define VOUCH_DECODE_RULES_H

#include "decode/judge.h"

/* The chance min(1, p / (l q)) of a token among what is left of p. Where q is 0, a guess that q can't have made, the
 * limit of the rule; a token that the target can't emit is never accepted. */
static inline double vouch_chance(const vouch_residual *left, int32_t token)
{
    const double p = vouch_residual_p(left, token), limit = left->lenience * vouch_residual_q(left, token);
    return p == 0 ? 0 : p < limit ? p / limit : 1;
}

/* One place of a draft, where its guesses are judged. */
typedef struct vouch_site {
    const vouch_trial *trial;
    vouch_guess *guesses;
    double *overlap;
    int32_t parent;        /* the guesses are its children; -1: they begin the draft */
    int64_t position;
    vouch_residual left;   /* p, less what was rejected */
    double before;         /* the chance of the guesses that have been judged */
    int32_t token;         /* takes the place where none holds */
} vouch_site;

/* Judges the guesses from `first` (-1: there are none) on. Returns the accepted one, or -1 and the token. */
typedef int32_t vouch_place_fn(vouch_site *site, int32_t first);

/* The target's own token is drawn and looked for among the guesses (match.c). */
vouch_place_fn vouch_place_match;

/* Decides place by place, from the end of what has been accepted. */
vouch_status vouch_judge_places(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial,
                                vouch_place_fn *place);

#endif
