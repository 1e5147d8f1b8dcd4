/* SPDX-License-Identifier: MIT */
/*
 * Damaged copies of a good file, the same for the same seed. Bytes changed anywhere die at the magic or
 * change a weight; so most changes strike where a file says something: within a few bytes after a word that
 * the caller names (a key, a tensor's name), with the numbers that break readers.
 */
#ifndef VOUCH_TESTS_MUTATE_H
#define VOUCH_TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#include "support/test.h"

typedef struct mutator {
    const uint8_t *good; /* [size], the caller's */
    size_t size;
    uint8_t *bytes; /* [n] the damaged copy */
    size_t n;
    size_t *places; /* [n_places] ends of the words in the good file */
    size_t n_places;
    test_random random;
} mutator;

/* `words` ends with NULL. Aborts when memory is short. */
void mutator_open(mutator *m, const uint8_t *good, size_t size, const char *const *words, uint64_t seed);
void mutator_close(mutator *m);
/* The next damaged copy: one to four changes. */
void mutator_next(mutator *m);
/* The first n bytes of the good file. */
void mutator_truncate(mutator *m, size_t n);

#endif
