/* SPDX-License-Identifier: MIT */
#include "support/mutate.h"

#include <stdlib.h>
#include <string.h>

#include "os/os.h"

enum { ROOM = 64 /* bytes that all insertions together may add */, REACH = 40 /* bytes after a word */ };

static void places_find(mutator *m, const char *word)
{
    const size_t length = strlen(word);
    const uint8_t *at = m->good, *end = m->good + m->size;
    while ((at = memmem(at, (size_t)(end - at), word, length))) {
        at += length;
        m->places = realloc(m->places, (m->n_places + 1) * sizeof *m->places);
        if (!m->places) abort();
        m->places[m->n_places++] = (size_t)(at - m->good);
    }
}

void mutator_open(mutator *m, const uint8_t *good, size_t size, const char *const *words, uint64_t seed)
{
    *m = (mutator){.good = good, .size = size, .random = {seed}};
    m->bytes = malloc(size + ROOM);
    if (!m->bytes || size == 0) abort();
    for (; *words; words++) places_find(m, *words);
}

void mutator_close(mutator *m)
{
    free(m->bytes);
    free(m->places);
}

/* Two of three places are after a word, the others anywhere. */
static size_t place_choose(mutator *m)
{
    size_t at = test_below(&m->random, (uint32_t)m->n);
    if (m->n_places && test_below(&m->random, 3))
        at = m->places[test_below(&m->random, (uint32_t)m->n_places)] + test_below(&m->random, REACH);
    return at < m->n ? at : m->n - 1;
}

static uint64_t number_choose(mutator *m)
{
    static const uint64_t numbers[] = {0,          1,          2,          3,          7,          8,
                                       31,         32,         33,         64,         127,        128,
                                       255,        256,        0x7fff,     0xffff,     0x7fffffff, 0x80000000,
                                       0xffffffff, 1ull << 32, 1ull << 40, 1ull << 61, 1ull << 62, INT64_MAX,
                                       1ull << 63, UINT64_MAX, 0x7f800000, 0x7fc00000, 0x7c007c00, 0x80000001};
    if (test_below(&m->random, 4) == 0) return m->size + test_below(&m->random, 65) - 32;
    return numbers[test_below(&m->random, sizeof numbers / sizeof *numbers)];
}

static void bytes_set(mutator *m, size_t at, const void *value, size_t n)
{
    memcpy(m->bytes + at, value, n < m->n - at ? n : m->n - at);
}

/* Overwrites a field of 1, 2, 4 or 8 bytes with a dangerous number, or changes its value by at most 4. */
static void number_change(mutator *m, size_t at)
{
    const size_t width = (size_t)1 << test_below(&m->random, 4);
    uint64_t value = 0;
    if (test_below(&m->random, 3)) {
        value = number_choose(m);
    } else {
        memcpy(&value, m->bytes + at, width < m->n - at ? width : m->n - at);
        value += test_below(&m->random, 9) - 4u;
    }
    bytes_set(m, at, &value, width);
}

static void block_move(mutator *m, size_t at)
{
    const size_t from = place_choose(m);
    size_t n = 1 + test_below(&m->random, 48);
    if (n > m->n - from) n = m->n - from;
    if (n > m->n - at) n = m->n - at;
    memmove(m->bytes + at, m->bytes + from, n);
}

static void bytes_insert(mutator *m, size_t at)
{
    const size_t n = 1 + test_below(&m->random, ROOM / 4);
    memmove(m->bytes + at + n, m->bytes + at, m->n - at);
    memset(m->bytes + at, (int)test_below(&m->random, 256), n);
    m->n += n;
}

static void bytes_delete(mutator *m, size_t at)
{
    size_t n = 1 + test_below(&m->random, ROOM / 4);
    if (n > m->n - at) n = m->n - at;
    if (n == m->n) return;
    memmove(m->bytes + at, m->bytes + at + n, m->n - at - n);
    m->n -= n;
}

void mutator_next(mutator *m)
{
    memcpy(m->bytes, m->good, m->size);
    m->n = m->size;
    for (uint32_t changes = 1 + test_below(&m->random, 4); changes > 0; changes--) {
        const size_t at = place_choose(m);
        switch (test_below(&m->random, 10)) {
        case 0: m->bytes[at] ^= (uint8_t)(1u << test_below(&m->random, 8)); break;
        case 1: m->bytes[at] = (uint8_t)test_below(&m->random, 256); break;
        case 2: block_move(m, at); break;
        case 3: bytes_insert(m, at); break;
        case 4: bytes_delete(m, at); break;
        default: number_change(m, at); break;
        }
    }
}

void mutator_truncate(mutator *m, size_t n)
{
    memcpy(m->bytes, m->good, n);
    m->n = n;
}
