/* SPDX-License-Identifier: MIT */
/*
 * Makes damaged copies of a valid file; a seed reproduces them. Changes at random places would mostly hit weights,
 * where any value is valid. So two of three changes fall within 40 bytes after a word that the caller names, such as a
 * key or a tensor's name. A third of all changes write a number that tends to break readers.
 */
#ifndef VOUCH_TESTS_MUTATE_H
#define VOUCH_TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#include "support/test.h"

typedef struct mutator {
    const uint8_t *good; /* [size] the valid file, owned by the caller */
    size_t size;
    uint8_t *bytes; /* [n] the damaged copy */
    size_t n;
    size_t *places; /* [n_places] offsets in the valid file after the words */
    size_t n_places;
    test_random random;
} mutator;

/* `words` ends with NULL. Aborts if memory runs out. */
void mutator_open(mutator *m, const uint8_t *good, size_t size, const char *const *words, uint64_t seed);
void mutator_close(mutator *m);
/* Makes the next damaged copy, with one to four changes. */
void mutator_next(mutator *m);
/* Makes a copy of the first n bytes of the valid file. */
void mutator_truncate(mutator *m, size_t n);

#endif
