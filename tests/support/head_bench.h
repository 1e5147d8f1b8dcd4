/* SPDX-License-Identifier: MIT */
/* Runs a head beside its target as the scripts in tests/golden do, and compares its draft with their numbers: 5 guesses
 * behind 12 tokens, and after a rejection of all of them 5 behind 15. Token i is 7 + 31 i modulo the vocabulary's size.
 */
#ifndef VOUCH_TESTS_HEAD_BENCH_H
#define VOUCH_TESTS_HEAD_BENCH_H

#include "engine/model.h"
#include "golden/head_row.h"

/* Fails the test where a logit differs by more than 2e-4 standard deviations of its row, or the likeliest token does.
 * `name` is for the message. */
void head_bench_compare(const char *name, const vouch_model *model, const vouch_head_weights *head,
                        const head_row rows[HEAD_ROUNDS * HEAD_DRAFT]);

#endif
