/* SPDX-License-Identifier: MIT */
/* The parts that rules share. Each rule is one file, which ends with the definition of vouch_rule_NAME. */
#ifndef VOUCH_DECODE_RULES_H
#define VOUCH_DECODE_RULES_H

#include "decode/judge.h"

/* The chance min(1, r / (l q)) that the token is accepted. r is the residual. Where q is 0, the guess wasn't drawn from
 * q, and the chance is the limit of the formula: 1, or 0 for a token that the target can't emit. */
static inline double vouch_chance(const vouch_residual *left, int32_t token)
{
    const double p = vouch_residual_p(left, token), limit = left->lenience * vouch_residual_q(left, token);
    return p == 0 ? 0 : p < limit ? p / limit : 1;
}

/* The guesses with one parent, while a rule judges them. */
typedef struct vouch_siblings {
    const vouch_trial *trial;
    vouch_guess *guesses;
    double *overlap;
    int32_t parent; /* -1: the sequence */
    int64_t position;
    vouch_residual left; /* the rest of p after rejections */
    double before;       /* chance that one of the guesses judged so far is accepted */
    int32_t token;       /* emitted where none is accepted */
} vouch_siblings;

/* Judges the siblings from `first` on (-1: there are none). Returns the accepted one, or -1 after setting `token`. */
typedef int32_t vouch_siblings_fn(vouch_siblings *these, int32_t first);

/* Draws the target's own token and looks for it among the siblings that aren't rejected yet (match.c). */
vouch_siblings_fn vouch_match_siblings;

/* Walks from the last accepted guess to its accepted child, and so on. */
vouch_status vouch_judge_siblings(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial,
                                  vouch_siblings_fn *judge);

/* A guess, or the sequence, while its chance is divided among the drawn guesses after it (joint.c). */
typedef struct vouch_fork {
    const vouch_draft *draft;
    int32_t parent;      /* -1: the sequence */
    double w;            /* chance that is left for the parent after the children judged so far */
    vouch_residual left; /* the rest of p after them */
    vouch_choice choice; /* room for `left` */
} vouch_fork;

/* The child that is judged after guess i (-1: the first one); -1: none. The first child is drawn. A child that isn't
 * drawn from q as siblings are sets left.choice. */
typedef int32_t vouch_fork_fn(vouch_fork *fork, int32_t i);

/* Every drawn child, in the order of their numbers. */
vouch_fork_fn vouch_traverse;

/* Judges the drawn guesses together, from the leaves to the root. */
vouch_status vouch_judge_jointly(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial,
                                 vouch_fork_fn *next);

#endif
