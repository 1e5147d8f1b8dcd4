/* SPDX-License-Identifier: MIT */
/*
 * Encodes one word by byte pairs (Sennrich, Haddow, Birch, ACL 2016).
 *
 * The word begins as one symbol a byte (GPT-2's byte-level BPE; encode.c has replaced bytes without a token) or one
 * symbol a character. Again and again, the two neighbours with the best pair are merged, the leftmost first among
 * equals, until no neighbours merge. Which pair is best:
 *
 *   BYTES, CHARACTERS   the pair of tokens with the lowest rank in the file's list of merges
 *   SCORES              the pair whose joined text is the token with the best score (Kudo, Richardson, EMNLP 2018)
 *
 *   symbols   h  e  l  l  o     a doubly linked list in an array; a merge keeps its left symbol
 *   heap      rank << 32 | index of the left symbol, smallest first: rank, then index
 *
 * An entry of the heap is current exactly when the symbol at its index still has that rank with its right neighbour.
 * Other entries are skipped when they come up. The heap starts with at most n - 1 entries. Each merge takes one and
 * adds at most two, so 2 n entries are enough, and the time is n log n, for a word of ten million bytes, too.
 *
 * A character without a token stays a symbol of its own, with id -1, until SCORES joins it or it is spelled in bytes.
 */
#include <stdlib.h>

#include "text/internal.h"
#include "text/unicode.h"

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
    for (size_t parent; place > 0 && heap[parent = (place - 1) / 2] > entry; place = parent) heap[place] = heap[parent];
    heap[place] = entry;
}

static uint64_t heap_pop(uint64_t *heap, size_t *n)
{
    const uint64_t top = heap[0];
    heap[0] = heap[--*n];
    if (*n > 0) heap_sift_down(heap, *n, 0);
    return top;
}

static size_t symbol_end(const encoder *e, const bpe_symbol *symbol)
{
    return symbol->next < 0 ? e->n_word : (size_t)e->symbols[symbol->next].start;
}

/* Returns the rank of the merge of the symbol with its right neighbour. *result gets the token that they become. */
static uint32_t symbol_rank(const encoder *e, const bpe_symbol *symbol, int32_t *result)
{
    if (symbol->next < 0) return NO_RANK;
    const vouch_tokenizer *t = e->tokenizer;
    const bpe_symbol *next = &e->symbols[symbol->next];
    if (t->pre.rule->scheme != SCHEME_SCORES) return vouch_merge_find(t, symbol->id, next->id, result);
    const size_t n = symbol_end(e, next) - (size_t)symbol->start;
    *result = n <= t->longest ? vouch_vocab_find(t, e->word + symbol->start, n) : -1;
    return *result < 0 ? NO_RANK : t->rank[*result];
}

/* Makes one symbol of each byte that has a token, or of each character. Returns their number. */
static int32_t word_begin(encoder *e)
{
    const vouch_tokenizer *t = e->tokenizer;
    const bool bytes = t->pre.rule->scheme == SCHEME_BYTES;
    int32_t n = 0;
    for (size_t i = 0, length; i < e->n_word; i += length) {
        length = bytes ? 1 : vouch_utf8_length(e->word + i, e->n_word - i);
        const int32_t id = bytes ? t->byte_token[(unsigned char)e->word[i]] : vouch_vocab_find(t, e->word + i, length);
        if (bytes && id < 0) continue;
        e->symbols[n] = (bpe_symbol){id, (int32_t)i, n - 1, n + 1, NO_RANK};
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
        int32_t result;
        const uint32_t rank = e->symbols[i].rank = symbol_rank(e, &e->symbols[i], &result);
        if (rank != NO_RANK) e->heap[n_heap++] = (uint64_t)rank << 32 | (uint32_t)i;
    }
    for (size_t i = n_heap / 2; i-- > 0;) heap_sift_down(e->heap, n_heap, i);
    return n_heap;
}

static void pair_renew(encoder *e, size_t *n_heap, int32_t place)
{
    int32_t result;
    const uint32_t rank = e->symbols[place].rank = symbol_rank(e, &e->symbols[place], &result);
    if (rank != NO_RANK) heap_push(e->heap, n_heap, (uint64_t)rank << 32 | (uint32_t)place);
}

static void pair_merge(encoder *e, size_t *n_heap, int32_t place)
{
    bpe_symbol *left = &e->symbols[place], *right = &e->symbols[left->next];
    (void)symbol_rank(e, left, &left->id);
    left->next = right->next;
    right->rank = NO_RANK;
    if (left->next >= 0) e->symbols[left->next].previous = place;
    pair_renew(e, n_heap, place);
    if (left->previous >= 0) pair_renew(e, n_heap, left->previous);
}

void vouch_bpe_spell(encoder *e, const char *bytes, size_t n)
{
    const vouch_tokenizer *t = e->tokenizer;
    bool spelled = true;
    for (size_t i = 0; i < n; i++) spelled = spelled && t->byte_token[(unsigned char)bytes[i]] >= 0;
    if (!spelled && t->unknown >= 0) {
        encoder_push(e, t->unknown);
        return;
    }
    const vouch_text text = spelled ? (vouch_text){bytes, n} : t->replacement;
    for (size_t i = 0; i < text.size; i++) encoder_push(e, t->byte_token[(unsigned char)text.data[i]]);
}

static bool is_whole(const pretokenizer_rule *rule, const char *word, size_t n)
{
    if (!rule->whole_lines) return rule->whole_words;
    for (size_t i = 0; i < n; i++)
        if (word[i] != '\n') return false;
    return true;
}

vouch_status vouch_bpe_word(encoder *e, const char *word, size_t n, vouch_error *err)
{
    if (is_whole(e->tokenizer->pre.rule, word, n)) {
        const int32_t whole = vouch_vocab_find(e->tokenizer, word, n);
        if (whole >= 0) {
            encoder_push(e, whole);
            return VOUCH_OK;
        }
    }
    VOUCH_TRY(encoder_reserve(e, n, err));
    e->word = word;
    e->n_word = n;
    const int32_t n_symbols = word_begin(e);
    size_t n_heap = heap_begin(e, n_symbols);
    while (n_heap > 0) {
        const uint64_t entry = heap_pop(e->heap, &n_heap);
        const int32_t place = (int32_t)(uint32_t)entry;
        if (e->symbols[place].rank == (uint32_t)(entry >> 32)) pair_merge(e, &n_heap, place);
    }
    for (int32_t i = n_symbols > 0 ? 0 : -1; i >= 0; i = e->symbols[i].next) {
        const bpe_symbol *symbol = &e->symbols[i];
        if (symbol->id >= 0) encoder_push(e, symbol->id);
        else vouch_bpe_spell(e, word + symbol->start, symbol_end(e, symbol) - (size_t)symbol->start);
    }
    return VOUCH_OK;
}
