/* SPDX-License-Identifier: MIT */
/*
 * Hash functions. Bytes: FNV-1a, for tables of texts and for files. 64-bit words: for tables of ids and for digests of
 * state, which the tests of law L3 compare. An attacker can construct collisions, so a table that a file fills must
 * bound its probes.
 */
#ifndef VOUCH_BASE_HASH_H
#define VOUCH_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VOUCH_HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues FNV-1a from `hash`. */
static inline uint64_t vouch_hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++) hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t vouch_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Hashes an array of 8-byte words. Each nonzero word enters with its byte offset. Zero words are skipped, because large
 * tables consist mostly of zeros. */
static inline uint64_t vouch_hash_words(uint64_t hash, const void *words, size_t n_bytes)
{
    const char *at = words;
    for (size_t i = 0; i < n_bytes; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        if (word) hash = vouch_hash_word(vouch_hash_word(hash, i), word);
    }
    return hash;
}

#endif
