/* SPDX-License-Identifier: MIT */
/*
 * A table of the pages that sequences have filled, found by their tokens. A prompt that begins with the tokens of
 * such pages takes the pages over instead of running these tokens.
 *
 *   page   7                 3                 9
 *          [ tokens 0..63 ]◄─[ 64..127 ]◄──────[ 128..191 ]     each knows its tokens and the page before it
 *                          ◄─[ 64..127, others ]                another sequence with the same first page
 *
 * A page is found by the hash of all tokens up to its end, in O(1), and taken only if its own tokens and the tokens of
 * all pages before it are equal. The table owns each page that it lists, so a page outlives its sequences. When the
 * store runs short of pages, the table forgets one: the least recently used page that no sequence owns and no listed
 * page follows. It looks at all pages for it, 32 bytes each, once for each page that a pass needs.
 */
#ifndef VOUCH_ENGINE_PREFIXES_H
#define VOUCH_ENGINE_PREFIXES_H

#include "model/memory/memory.h"

typedef struct vouch_prefix_page {
    uint64_t hash;    /* of all tokens up to its end */
    int64_t used;     /* clock of its last use; 0: the page is not listed */
    int32_t before;   /* the page before it; -1: none */
    int32_t n_behind; /* listed pages that follow it */
    int32_t next;     /* the next page in its bucket; -1: none */
} vouch_prefix_page;

typedef struct vouch_prefixes {
    vouch_pages *store;
    vouch_prefix_page *pages; /* [store->n_pages] */
    int32_t *buckets;         /* [store->n_pages] the first page whose hash has this remainder; -1: none */
    int32_t *tokens;          /* [store->n_pages][page_size] */
    int32_t *chain;           /* [store->n_pages] of the running search */
    int64_t clock;
    vouch_arena arena;
} vouch_prefixes;

/* Errors: MEMORY. */
vouch_status vouch_prefixes_open(vouch_prefixes *out, vouch_pages *store, vouch_error *err);
/* Forgets all pages. */
void vouch_prefixes_close(vouch_prefixes *prefixes);

/* Lists the whole pages of a sequence's tokens. The memory holds at least tokens[0, n). */
void vouch_prefixes_add(vouch_prefixes *prefixes, const vouch_memory *memory, const int32_t *tokens, int32_t n);
/* The memory takes over the longest listed beginning of tokens[0, n), where that is longer than its own equal
 * beginning. Returns the number of tokens that it holds then. */
int32_t vouch_prefixes_take(vouch_prefixes *prefixes, vouch_memory *memory, const int32_t *tokens, int32_t n);
/* Frees one listed page that no sequence uses. Returns false where there is none. */
bool vouch_prefixes_forget(vouch_prefixes *prefixes);

#endif
