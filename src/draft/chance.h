/* SPDX-License-Identifier: MIT */
/*
 * The chance that a candidate is right, from the opinions of the sources.
 *
 * With one source: the share of right candidates in its class. Tries and hits are counted while running; the prior of
 * the source counts as PRIOR_TRIES tries, and old counts fade. With several sources: their log-odds are mixed with
 * weights that are learned while running (logistic mixing, as in Mahoney's PAQ; Mattern, arXiv 1302.2820):
 *
 *     chance = squash(bias + sum of weight[s] stretch(chance of s's class)),    stretch(p) = ln(p / (1 - p))
 *
 * Most candidates are wrong, so most stretches are far below 0, and their sum counts this low base rate once for each
 * source. The bias corrects that. For n independent sources the exact weights are 1, and the exact bias is
 * -(n - 1) stretch(share of right candidates). So where each source gives more than that share, the mix gives more than
 * each of them.
 *
 * Each set of sources with an opinion has its own weights and bias. A source also has an opinion where it names other
 * tokens at the prefix, but not this one. That case is a separate class.
 *
 * All arithmetic is additions, multiplications, divisions, a table, and vouch_ln, which consists of the same. So every
 * machine gets the same chances. That matters because the draft decides which random numbers a sampled answer uses.
 */
#ifndef VOUCH_DRAFT_CHANCE_H
#define VOUCH_DRAFT_CHANCE_H

#include "draft/source.h"

enum {
    VOUCH_MAX_SOURCES = VOUCH_DRAFTERS - 3, /* at least as many as there are free drafters */
    VOUCH_CHANCE_TABLE = 97,
    VOUCH_SILENT = -1, /* no opinion: the source names no candidate at the prefix */
};

typedef struct vouch_tally {
    double tries, hits;
    double chance, stretch; /* computed from tries, hits and prior */
} vouch_tally;

typedef struct vouch_chances {
    int32_t n_sources;
    const vouch_source_ops *ops[VOUCH_MAX_SOURCES];
    vouch_tally tallies[VOUCH_MAX_SOURCES][VOUCH_MAX_CLASSES + 1];
    double weights[1 << VOUCH_MAX_SOURCES][VOUCH_MAX_SOURCES];
    double bias[1 << VOUCH_MAX_SOURCES]; /* of each set; a set of one source doesn't use it */
    double squash[VOUCH_CHANCE_TABLE];
} vouch_chances;

/* The class of one candidate with each source, or VOUCH_SILENT. Class n_classes: the source names others only. */
typedef struct vouch_opinion {
    int8_t kind[VOUCH_MAX_SOURCES];
} vouch_opinion;

void vouch_chances_init(vouch_chances *chances, const vouch_source *sources, int32_t n_sources);
double vouch_chance_of(const vouch_chances *chances, const vouch_opinion *opinion);
/* Counts a candidate that was right or wrong. */
void vouch_chances_learn(vouch_chances *chances, const vouch_opinion *opinion, bool is_right);
/* Hash of all counts and weights (for tests of law L3). */
uint64_t vouch_chances_digest(const vouch_chances *chances);

#endif
