/* SPDX-License-Identifier: MIT */
/*
 * Encodes one word by byte pairs (Sennrich, Haddow, Birch, ACL 2016), byte-level as in GPT-2.
 *
 * The word begins as one symbol a byte. (encode.c has replaced bytes without a token. Where the vocabulary can't spell
 * the replacement, word_begin leaves them out.) Again and again, the two neighbours whose merge has the lowest rank
 * are merged, the leftmost first among equals, until no neighbours merge.
 *
 *   symbols   h  e  l  l  o     a doubly linked list in an array; a merge keeps its left symbol
 *   heap      rank << 32 | index of the left symbol, smallest first: rank, then index
 *
 * A rank names one pair of ids, so an entry of the heap is current exactly when the symbol at its index still has
 * that rank. Other entries are skipped when they come up. The heap starts with at most n - 1 entries. Each merge takes
 * one and adds at most two, so 2 n entries are enough, and the time is n log n, for a word of a million bytes, too.
 */
#include <stdlib.h>

#include "text/internal.h"

static vouch_status encoder_reserve(encoder *e, size_t n, vouch_error *err)
{
    if (n <= e->room) return VOUCH_OK;
    const size_t room = n < 128 ? 128 : n;
    free(e->symbols);
    free(e->heap);
    e->room = 0;
    e->symbols = calloc(room, sizeof *e->symbols);
    e->heap = calloc(room, 2 * sizeof *e->heap);
    if (!e->symbols || !e->heap)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to tokenize a word of %zu bytes", n);
    e->room = room;
    return VOUCH_OK;
}

static void heap_sift_down(uint64_t *heap, size_t n, size_t place)
{
    const uint64_t entry = heap[place];
    for (size_t child; (child = 2 * place + 1) < n; place = child) {
        if (child + 1 < n && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= entry) break;
        heap[place] = heap[child];
    }
    heap[place] = entry;
}

static void heap_push(uint64_t *heap, size_t *n, uint64_t entry)
{
    size_t place = (*n)++;
    for (size_t parent; place > 0 && heap[parent = (place - 1) / 2] > entry; place = parent)
        heap[place] = heap[parent];
    heap[place] = entry;
}

static uint64_t heap_pop(uint64_t *heap, size_t *n)
{
    const uint64_t top = heap[0];
    heap[0] = heap[--*n];
    if (*n > 0) heap_sift_down(heap, *n, 0);
    return top;
}

/* The rank of the symbol at index `place` with its right neighbour. */
static uint32_t symbol_rank(const encoder *e, int32_t place)
{
    const bpe_symbol *symbol = &e->symbols[place];
    int32_t result;
    return symbol->next < 0
               ? NO_RANK
               : vouch_merge_find(e->tokenizer, symbol->id, e->symbols[symbol->next].id, &result);
}

/* Makes one symbol of each byte that has a token. Returns their number. */
static int32_t word_begin(encoder *e, const char *word, size_t n_bytes)
{
    int32_t n = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        const int32_t id = e->tokenizer->byte_token[(unsigned char)word[i]];
        if (id < 0) continue;
        e->symbols[n] = (bpe_symbol){id, n - 1, n + 1, NO_RANK};
        n++;
    }
    if (n > 0) e->symbols[n - 1].next = -1;
    return n;
}

/* Builds the heap of the symbols' pairs. Returns its length. */
static size_t heap_begin(encoder *e, int32_t n)
{
    size_t n_heap = 0;
    for (int32_t i = 0; i < n; i++) {
        const uint32_t rank = e->symbols[i].rank = symbol_rank(e, i);
        if (rank != NO_RANK) e->heap[n_heap++] = (uint64_t)rank << 32 | (uint32_t)i;
    }
    for (size_t i = n_heap / 2; i-- > 0;) heap_sift_down(e->heap, n_heap, i);
    return n_heap;
}

static void pair_renew(encoder *e, size_t *n_heap, int32_t place)
{
    const uint32_t rank = e->symbols[place].rank = symbol_rank(e, place);
    if (rank != NO_RANK) heap_push(e->heap, n_heap, (uint64_t)rank << 32 | (uint32_t)place);
}

static void pair_merge(encoder *e, size_t *n_heap, int32_t place)
{
    bpe_symbol *left = &e->symbols[place], *right = &e->symbols[left->next];
    (void)vouch_merge_find(e->tokenizer, left->id, right->id, &left->id);
    left->next = right->next;
    right->rank = NO_RANK;
    if (left->next >= 0) e->symbols[left->next].previous = place;
    pair_renew(e, n_heap, place);
    if (left->previous >= 0) pair_renew(e, n_heap, left->previous);
}

vouch_status vouch_bpe_word(encoder *e, const char *word, size_t n, vouch_error *err)
{
    if (e->tokenizer->pre.rule->whole_words) {
        const int32_t whole = vouch_vocab_find(e->tokenizer, word, n);
        if (whole >= 0) {
            encoder_push(e, whole);
            return VOUCH_OK;
        }
    }
    VOUCH_TRY(encoder_reserve(e, n, err));
    const int32_t n_symbols = word_begin(e, word, n);
    size_t n_heap = heap_begin(e, n_symbols);
    while (n_heap > 0) {
        const uint64_t entry = heap_pop(e->heap, &n_heap);
        const int32_t place = (int32_t)(uint32_t)entry;
        if (e->symbols[place].rank == (uint32_t)(entry >> 32)) pair_merge(e, &n_heap, place);
    }
    for (int32_t i = n_symbols > 0 ? 0 : -1; i >= 0; i = e->symbols[i].next) encoder_push(e, e->symbols[i].id);
    return VOUCH_OK;
}
