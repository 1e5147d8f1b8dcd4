/* SPDX-License-Identifier: MIT */
/* For tests that include a fuzz target. feed() gives it one input in a heap block of exactly its size, so that
 * sanitizers notice a read past the end. feed() first prints the number of the input: when the target crashes, that
 * is the last line of the output. */
#ifndef VOUCH_TESTS_REPLAY_H
#define VOUCH_TESTS_REPLAY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static inline void feed(const char *what, size_t number, const uint8_t *bytes, size_t n)
{
    fprintf(stderr, "%s %zu\n", what, number);
    uint8_t *copy = malloc(n + !n);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    assert_int_equal(LLVMFuzzerTestOneInput(copy, n), 0);
    free(copy);
}

#endif
