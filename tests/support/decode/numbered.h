/* SPDX-License-Identifier: MIT */
/* Answers that their numbers make, so that a test can tell whether a draft memory has anything else. */
#ifndef VOUCH_TESTS_NUMBERED_H
#define VOUCH_TESTS_NUMBERED_H

#include "vouch.h"

/* Adds answer `number`, of at most 100 tokens below 400. */
void numbered_add(vouch_draft_memory *memory, uint64_t scope, int32_t number);
/* How many of the answers below `most` the memory has. Fails the test where it has anything else. */
int32_t numbered_count(const vouch_draft_memory *memory, int32_t most);

#endif
