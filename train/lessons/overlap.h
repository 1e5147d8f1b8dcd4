/* SPDX-License-Identifier: MIT */
/*
 * Keeps prompts that a head will be measured on out of its lessons. Two texts overlap if they share 8 words in a row,
 * or if they have fewer words and are equal. A word is a run of letters, digits and bytes above 127;
 * capitals count as small letters.
 */
#ifndef VOUCH_TRAIN_OVERLAP_H
#define VOUCH_TRAIN_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct train_overlap train_overlap;

/* The texts [n] that others must not overlap. Errors: MEMORY. */
vouch_status train_overlap_open(train_overlap **out, const char *const *texts, size_t n, vouch_error *err);
void train_overlap_close(train_overlap *overlap); /* NULL is allowed */
bool train_overlap_has(const train_overlap *overlap, const char *text, size_t n);

#endif
