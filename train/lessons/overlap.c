/* SPDX-License-Identifier: MIT */
/* A table of the hashes of all runs of 8 words, and of whole texts that have fewer. */
#include "train/lessons/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { RUN = 8 };

struct train_overlap {
    uint64_t *table; /* [size] hashes; 0: empty */
    size_t size;     /* a power of two, at least twice the number of hashes */
};

/* The words of a text, one hash at a time. */
typedef struct words {
    const char *at, *end;
} words;

static bool is_word(unsigned char c)
{
    return c >= 128 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool words_next(words *w, uint64_t *hash)
{
    while (w->at < w->end && !is_word((unsigned char)*w->at)) w->at++;
    if (w->at == w->end) return false;
    *hash = VOUCH_HASH_START;
    for (; w->at < w->end && is_word((unsigned char)*w->at); w->at++) {
        const char small = *w->at >= 'A' && *w->at <= 'Z' ? (char)(*w->at + 32) : *w->at;
        *hash = vouch_hash_bytes(*hash, &small, 1);
    }
    return true;
}

/* Walks over the runs of 8 words in a text. A text of fewer words is one run. */
typedef struct runs {
    words words;
    uint64_t last[RUN];
    size_t n;
    bool is_over;
} runs;

static runs runs_of(const char *text, size_t n)
{
    return (runs){.words = {text, text + n}};
}

static uint64_t runs_hash(const runs *r)
{
    const size_t n = r->n < RUN ? r->n : RUN;
    uint64_t hash = vouch_hash_word(VOUCH_HASH_START, n);
    for (size_t i = r->n - n; i < r->n; i++) hash = vouch_hash_word(hash, r->last[i % RUN]);
    return hash ? hash : 1;
}

static bool runs_next(runs *r, uint64_t *hash)
{
    uint64_t word;
    while (!r->is_over) {
        if (!words_next(&r->words, &word)) {
            r->is_over = true;
            if (r->n == 0 || r->n >= RUN) return false;
            *hash = runs_hash(r);
            return true;
        }
        r->last[r->n++ % RUN] = word;
        if (r->n < RUN) continue;
        *hash = runs_hash(r);
        return true;
    }
    return false;
}

static size_t slot_of(const train_overlap *overlap, uint64_t hash)
{
    size_t at = (size_t)hash & (overlap->size - 1);
    while (overlap->table[at] && overlap->table[at] != hash) at = (at + 1) & (overlap->size - 1);
    return at;
}

vouch_status train_overlap_open(train_overlap **out, const char *const *texts, size_t n, vouch_error *err)
{
    size_t count = 0, size = 16;
    uint64_t hash;
    *out = NULL;
    for (size_t i = 0; i < n; i++)
        for (runs r = runs_of(texts[i], strlen(texts[i])); runs_next(&r, &hash);) count++;
    while (size < 2 * count) size *= 2;
    train_overlap *overlap = calloc(1, sizeof *overlap);
    if (overlap) *overlap = (train_overlap){calloc(size, sizeof *overlap->table), size};
    if (!overlap || !overlap->table) {
        free(overlap);
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the excluded prompts");
    }
    for (size_t i = 0; i < n; i++)
        for (runs r = runs_of(texts[i], strlen(texts[i])); runs_next(&r, &hash);)
            overlap->table[slot_of(overlap, hash)] = hash;
    *out = overlap;
    return VOUCH_OK;
}

void train_overlap_close(train_overlap *overlap)
{
    if (overlap) free(overlap->table);
    free(overlap);
}

bool train_overlap_has(const train_overlap *overlap, const char *text, size_t n)
{
    uint64_t hash;
    for (runs r = runs_of(text, n); runs_next(&r, &hash);)
        if (overlap->table[slot_of(overlap, hash)] == hash) return true;
    return false;
}
