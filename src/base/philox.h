/* SPDX-License-Identifier: MIT */
/*
 * Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random
 * Numbers: As Easy as 1, 2, 3", SC 2011).
 *
 * A number is a pure function of (seed, position, purpose). No generator state needs rollback: a rejected guess
 * consumes no random numbers (law L3).
 */
#ifndef VOUCH_BASE_PHILOX_H
#define VOUCH_BASE_PHILOX_H

#include <stdint.h>

/* The use of a random number. Each use at a position has numbers of its own. */
typedef enum vouch_purpose {
    VOUCH_PURPOSE_EMIT,   /* draws the emitted token: plain, residual or bonus */
    VOUCH_PURPOSE_ACCEPT, /* decides whether the judge accepts a guess */
    VOUCH_PURPOSE_DRAFT,  /* draws a guess */
    VOUCH_PURPOSE_EARLY,  /* exponential race (sample/race.c): finds the tokens with noise below EARLY */
    VOUCH_PURPOSE_LATE,   /* exponential race: the noise of any other token */
    VOUCH_PURPOSE_SEED,   /* derives the seed of an answer */
    VOUCH_PURPOSE_XTC     /* decides whether XTC applies at a position */
} vouch_purpose;

void vouch_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Uniform in [0, 1), a multiple of 2^-53. */
double vouch_uniform(uint64_t seed, int64_t position, vouch_purpose purpose);
/* As vouch_uniform, but one of many numbers for this position and purpose. Number 0 is vouch_uniform's. */
double vouch_uniform_of(uint64_t seed, int64_t position, vouch_purpose purpose, int32_t number);

/* The seed of answer `number` of a session with this seed. Answer 0 has the session's own. */
uint64_t vouch_seed_of_answer(uint64_t seed, int64_t number);

#endif
