/* SPDX-License-Identifier: MIT */
/* Writes a table of next tokens with two contexts and three tokens, good or bad. */
#ifndef VOUCH_TESTS_TINY_TABLE_H
#define VOUCH_TESTS_TINY_TABLE_H

#include "model/head/draft_table.h"

typedef struct tiny_table {
    const char *digest; /* NULL: the target's */
    const char *omit;   /* a tensor to leave out; NULL: none */
    int32_t contexts[2][VOUCH_TABLE_ORDERS], starts[3], tokens[3];
    uint16_t share; /* of each token, in F16 */
} tiny_table;

/* Fails the test if it can't. */
void tiny_table_write(const char *path, const vouch_model *target, const tiny_table *table);

#endif
