/* SPDX-License-Identifier: MIT */
/*
 * Hashes: of bytes, for tables of texts and for files (FNV-1a); of words, for tables of ids and for digests of state,
 * which tests of law L3 compare. Who looks for collisions will find some: a table that a file fills bounds its probes.
 */
#ifndef VOUCH_BASE_HASH_H
#define VOUCH_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VOUCH_HASH_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a, on from `hash`. */
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

/* Of n_bytes that are whole words of 8, by their places: those that are 0, of which large tables are full, are passed
 * over. */
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
