/* SPDX-License-Identifier: MIT */
/* Reference numbers of one row of a head: some of its logits, at equal distances among the tokens that it may guess. */
#ifndef VOUCH_TESTS_HEAD_ROW_H
#define VOUCH_TESTS_HEAD_ROW_H

#include <stdint.h>

/* Guesses of a draft; logits of a row; drafts of a head, each after the rejection of the draft before. */
enum { HEAD_DRAFT = 5, HEAD_KEPT = 16, HEAD_ROUNDS = 2 };

typedef struct head_row {
    int32_t best;
    float deviation; /* of all logits */
    float logits[HEAD_KEPT];
} head_row;

#endif
