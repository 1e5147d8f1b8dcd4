/* SPDX-License-Identifier: MIT */
/*
 * What another drafter guesses, a draft model or a caller's own, as one more opinion in a composition (compose.h).
 *
 *     sequence ──┬ guess 0 ┬ guess 2      the guide: its place 0 is the sequence's end, place i + 1 that behind guess i
 *       place 0  │ place 1 └ guess 3
 *                └ guess 1                a composition's place lies on the guide while its path is one of guesses
 *
 * How likely a candidate at such a place is to hold follows from what the sources say of it, as one chance, and from
 * what the guide does: how likely it thinks its guess is, or how deep the guess is where it doesn't say. Both are put
 * into classes that are counted and mixed as those of sources are (chance.h), but apart from them: only places where
 * the guide was asked tell anything, so this is measured, like costs and unlike all that sources learn, and no
 * function of the tokens alone.
 */
#ifndef VOUCH_DRAFT_GUIDE_H
#define VOUCH_DRAFT_GUIDE_H

#include "draft/chance.h"

typedef struct vouch_guide {
    int32_t n_tokens; /* that it stands behind */
    int32_t n;        /* guesses; 0: there is none */
    bool drawn;       /* they carry q: each has to be in the tree (drafter.h, D3) */
    int32_t tokens[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT];
    const vouch_dist *q[VOUCH_MAX_DRAFT];
    unsigned drafters[VOUCH_MAX_DRAFT];
    int8_t kinds[VOUCH_MAX_DRAFT];
    vouch_chances chances;
} vouch_guide;

void vouch_guide_init(vouch_guide *guide);
/* What it guesses behind n_tokens, with its drafters; NULL: nothing. */
void vouch_guide_set(vouch_guide *guide, const vouch_draft *draft, int32_t n_tokens);
/* The place at which tokens[0, n) end, if the guide guesses behind it; -1: none. */
int32_t vouch_guide_place(const vouch_guide *guide, const int32_t *tokens, int32_t n);
/* The next guess at this place after guess i; -1: none. */
int32_t vouch_guide_next(const vouch_guide *guide, int32_t place, int32_t i);
/* The chance of a candidate at a place of the guide: `guess` is what it is there, -1: not named; `chance` is that by
 * the sources, negative where none of them names it. *opinion is to learn from. */
double vouch_guide_chance(const vouch_guide *guide, int32_t guess, double chance, vouch_opinion *opinion);

#endif
