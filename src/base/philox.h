/* SPDX-License-Identifier: MIT */
/*
 * Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random
 * Numbers: As Easy as 1, 2, 3", SC 2011).
 *
 * A number is a pure function of (seed, position, purpose). There is no state to roll back: a
 * rejected guess consumes nothing (law L3).
 */
#ifndef VOUCH_BASE_PHILOX_H
#define VOUCH_BASE_PHILOX_H

#include <stdint.h>

/* What a number is for. Each use at a position has its own. */
typedef enum vouch_purpose {
    VOUCH_PURPOSE_EMIT,   /* draws the token that is emitted: plain, residual or bonus */
    VOUCH_PURPOSE_ACCEPT, /* the judge's coin */
    VOUCH_PURPOSE_DRAFT,  /* the drafter's draw */
    VOUCH_PURPOSE_EARLY,  /* a race of all tokens: the noise of those that come early, */
    VOUCH_PURPOSE_LATE    /* and of each of the others */
} vouch_purpose;

void vouch_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Uniform in [0, 1), a multiple of 2^-53. */
double vouch_uniform(uint64_t seed, int64_t position, vouch_purpose purpose);
/* One of as many as are wanted; number 0 is that of vouch_uniform. */
double vouch_uniform_of(uint64_t seed, int64_t position, vouch_purpose purpose, int32_t number);

#endif
