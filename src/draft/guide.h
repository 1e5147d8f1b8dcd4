/* SPDX-License-Identifier: MIT */
/*
 * The guide: the guesses of a paid drafter (a draft model, say), as one more opinion in a composition
 * (compose.h).
 *
 *     sequence ──┬ guess 0 ┬ guess 2      prefix 0 of the guide is the sequence, prefix i + 1 ends at guess i
 *      prefix 0  │prefix 1 └ guess 3
 *                └ guess 1                the composition's prefix has a number here if its whole path is guessed here
 *
 * At such a prefix, two opinions give the chance of a candidate: the chance by the sources, and the guide's. The
 * guide's opinion is its own estimate for the guess, or, without one, the depth of the guess. Both are sorted into
 * classes, counted and mixed as opinions of sources are (chance.h), in counts of their own. Those counts grow only in
 * cycles for which the guide was asked. So they are a measurement, as the costs are, and not a function of the tokens
 * alone.
 */
#ifndef VOUCH_DRAFT_GUIDE_H
#define VOUCH_DRAFT_GUIDE_H

#include "draft/chance.h"

typedef struct vouch_guide {
    int32_t n_tokens; /* length of the sequence that it continues */
    int32_t n;        /* guesses; 0: there is no guide */
    bool drawn;       /* the guesses were drawn from q: each has to be in the tree (drafter.h, D3) */
    int32_t tokens[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT];
    const vouch_dist *q[VOUCH_MAX_DRAFT];
    bool has_paths; /* of independent paths */
    int32_t paths[VOUCH_MAX_DRAFT];
    unsigned drafters[VOUCH_MAX_DRAFT];
    int8_t kinds[VOUCH_MAX_DRAFT]; /* classes */
    vouch_chances chances;
} vouch_guide;

void vouch_guide_init(vouch_guide *guide);
/* Copies the draft, which continues n_tokens tokens; NULL: no guide. */
void vouch_guide_set(vouch_guide *guide, const vouch_draft *draft, int32_t n_tokens);
/* The number of the prefix tokens[0, n); -1 where the guide guesses nothing for the next token. */
int32_t vouch_guide_prefix(const vouch_guide *guide, const int32_t *tokens, int32_t n);
/* The next guess at this prefix after guess i (-1: the first one); -1: none. */
int32_t vouch_guide_next(const vouch_guide *guide, int32_t prefix, int32_t i);
/* The chance of a candidate at a prefix of the guide. `guess`: its number in the guide; -1: the guide doesn't guess it.
 * `chance`: by the sources; negative: no source names it. *opinion is for vouch_chances_learn. */
double vouch_guide_chance(const vouch_guide *guide, int32_t guess, double chance, vouch_opinion *opinion);

#endif
