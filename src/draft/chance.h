/* SPDX-License-Identifier: MIT */
/*
 * How likely a candidate is to hold, from who named it.
 *
 * One source: its class has held so many times of so many, counted while running, with the source's prior worth a
 * few tries; old counts fade. Several sources: what each says, as log-odds, is mixed with weights that are learned
 * while running (logistic mixing, as in Mahoney's PAQ; Mattern, arXiv 1302.2820):
 *
 *     chance = squash(sum of weight[s] stretch(chance of s's class)),    stretch(p) = ln(p / (1 - p))
 *
 * with weights for each set of sources that have something to say. A source that named other tokens for the place
 * but not this one says something, too: that is a class of its own.
 *
 * Everything is computed with additions, multiplications, divisions, a table and vouch_ln, which is made of such, so
 * that it is the same on every machine: what is drafted decides which random numbers a sampled answer is made from.
 */
#ifndef VOUCH_DRAFT_CHANCE_H
#define VOUCH_DRAFT_CHANCE_H

#include "draft/source.h"

enum {
    VOUCH_MAX_SOURCES = VOUCH_DRAFTERS - 3, /* all drafters but none, the draft model and the caller's own */
    VOUCH_CHANCE_TABLE = 97,
    VOUCH_SILENT = -1, /* the source has no candidate for the place; the class n_classes: others, but not this one */
};

typedef struct vouch_tally {
    double tries, hits;
    double chance, stretch; /* that follow */
} vouch_tally;

typedef struct vouch_chances {
    int32_t n_sources;
    const vouch_source_ops *ops[VOUCH_MAX_SOURCES];
    vouch_tally tallies[VOUCH_MAX_SOURCES][VOUCH_MAX_CLASSES + 1];
    double weights[1 << VOUCH_MAX_SOURCES][VOUCH_MAX_SOURCES];
    double squash[VOUCH_CHANCE_TABLE];
} vouch_chances;

/* What the sources say of one candidate: classes, or VOUCH_SILENT. */
typedef struct vouch_opinion {
    int8_t kind[VOUCH_MAX_SOURCES];
} vouch_opinion;

void vouch_chances_init(vouch_chances *chances, const vouch_source *sources, int32_t n_sources);
double vouch_chance_of(const vouch_chances *chances, const vouch_opinion *opinion);
/* The candidate held, or it didn't. */
void vouch_chances_learn(vouch_chances *chances, const vouch_opinion *opinion, bool held);
/* A number that differs when any count or weight does (for tests of law L3). */
uint64_t vouch_chances_digest(const vouch_chances *chances);

#endif
