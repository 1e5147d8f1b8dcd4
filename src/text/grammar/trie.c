/* SPDX-License-Identifier: MIT */
/* Builds the tree of a vocabulary's tokens (trie.h). */
#include "text/grammar/trie.h"

#include <stdlib.h>
#include <string.h>

#include "text/grammar/expression.h"
#include "text/internal.h"

int vouch_trie_group(int byte)
{
    static const char alone[] = "\t\n\r\"\\{}[]:,'-+./_*()<>=#0 ";
    if (byte >= 0x80) return 0;
    const char *at = byte > 0 ? strchr(alone, byte) : NULL;
    if (at) return 1 + (int)(at - alone);
    enum { LATER = sizeof alone };
    if (byte < 0x20 || byte == 0x7f) return LATER;
    if (byte >= '1' && byte <= '9') return LATER + 1;
    if (byte >= 'A' && byte <= 'Z') return byte <= 'F' ? LATER + 2 : LATER + 3;
    if (byte == 'e') return LATER + 4;
    if (byte >= 'a' && byte <= 'z') return byte <= 'f' ? LATER + 5 : LATER + 6;
    return LATER + 7;
}

/* A token to be sorted, with its spelling. */
typedef struct entry {
    const unsigned char *text;
    int32_t n, id; /* n: bytes of the spelling; a control token has two marks around its name, which count, too */
    bool is_control;
} entry;

static entry entry_of(const vouch_tokenizer *t, int32_t id)
{
    const vouch_text text = tokenizer_text(t, id);
    const bool is_control = vouch_trie_has_name(t, id);
    return (entry){.text = (const unsigned char *)text.data,
                   .n = (int32_t)text.size + 2 * is_control,
                   .id = id,
                   .is_control = is_control};
}

static uint8_t byte_at(const entry *e, int32_t i)
{
    if (!e->is_control) return e->text[i];
    return i == 0 ? VOUCH_TOKEN_BEGINS : i == e->n - 1 ? VOUCH_TOKEN_ENDS : e->text[i - 1];
}

static int32_t shared_bytes(const entry *a, const entry *b)
{
    int32_t n = 0;
    while (n < a->n && n < b->n && byte_at(a, n) == byte_at(b, n)) n++;
    return n;
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int32_t n = shared_bytes(x, y);
    if (n < x->n && n < y->n) return byte_at(x, n) - byte_at(y, n);
    return x->n != y->n ? (x->n > y->n) - (x->n < y->n) : (x->id > y->id) - (x->id < y->id);
}

bool vouch_trie_has_name(const vouch_tokenizer *tokenizer, int32_t token)
{
    const vouch_tokenizer *t = tokenizer;
    const size_t n = tokenizer_text(t, token).size;
    return t->kind[token] == TOKEN_CONTROL && !vouch_tokenizer_ends_answer(t, token) && n > 0 &&
           n <= VOUCH_TRIE_DEPTH - 2;
}

/* User-defined tokens are text. But where a tokenizer prefixes spaces, the token after them loses one (stream.c), so
 * the tree leaves them out. */
bool vouch_trie_has(const vouch_tokenizer *tokenizer, int32_t token)
{
    const vouch_tokenizer *t = tokenizer;
    const vouch_text text = tokenizer_text(t, token);
    if (vouch_trie_has_name(t, token)) return true;
    if (vouch_tokenizer_is_special(t, token) || text.size == 0 || text.size > VOUCH_TRIE_DEPTH) return false;
    if (memchr(text.data, VOUCH_TOKEN_BEGINS, text.size)) return false;
    if (memchr(text.data, VOUCH_TOKEN_ENDS, text.size)) return false;
    return !(t->space_prefix && t->kind[token] == TOKEN_USER_DEFINED);
}

static int32_t list_tokens(const vouch_tokenizer *t, int32_t n_vocab, entry *entries, int32_t *n_ends)
{
    int32_t n = 0;
    *n_ends = 0;
    for (int32_t id = 0; id < vouch_tokenizer_size(t) && id < n_vocab; id++) {
        *n_ends += vouch_tokenizer_ends_answer(t, id);
        if (vouch_trie_has(t, id)) entries[n++] = entry_of(t, id);
    }
    qsort(entries, (size_t)n, sizeof *entries, compare_entries);
    return n;
}

static int32_t count_nodes(const entry *entries, int32_t n)
{
    int32_t nodes = 0;
    for (int32_t i = 0; i < n; i++) nodes += entries[i].n - (i > 0 ? shared_bytes(&entries[i - 1], &entries[i]) : 0);
    return nodes;
}

/* Closes the open nodes from depth `depth` on: their subtrees end before node `next`. */
static void close_nodes(vouch_trie *trie, int32_t *open, int32_t *n_open, int32_t depth, int32_t next)
{
    while (*n_open > depth) {
        vouch_trie_node *node = &trie->nodes[open[--*n_open]];
        node->next = next;
        if (*n_open == 0) continue;
        vouch_trie_node *above = &trie->nodes[open[*n_open - 1]];
        above->below |= node->below;
        if (above->height <= node->height) above->height = (uint8_t)(node->height + 1);
    }
}

static void fill(vouch_trie *trie, const entry *entries)
{
    int32_t open[VOUCH_TRIE_DEPTH], n_open = 0, n = 0;
    for (int32_t i = 0; i < trie->n_tokens; i++) {
        const entry *e = &entries[i];
        const int32_t shared = i > 0 ? shared_bytes(&entries[i - 1], e) : 0;
        close_nodes(trie, open, &n_open, shared, n);
        for (int32_t depth = shared; depth < e->n; depth++, n++) {
            const uint8_t byte = byte_at(e, depth);
            trie->nodes[n] = (vouch_trie_node){
                .below = UINT64_C(1) << vouch_trie_group(byte), .first = i, .byte = byte, .depth = (uint8_t)depth};
            if (depth == 0 && byte == ' ') trie->space = n;
            open[n_open++] = n;
        }
        trie->tokens[i] = e->id;
    }
    close_nodes(trie, open, &n_open, 0, n);
    trie->nodes[n] = (vouch_trie_node){.first = trie->n_tokens, .next = n};
}

static void layout(vouch_trie *trie)
{
    trie->nodes = vouch_arena_take(&trie->arena, (size_t)trie->n_nodes + 1, sizeof *trie->nodes);
    trie->tokens = vouch_arena_take(&trie->arena, (size_t)trie->n_tokens, sizeof *trie->tokens);
    trie->ends = vouch_arena_take(&trie->arena, (size_t)trie->n_ends, sizeof *trie->ends);
}

vouch_status vouch_trie_open(vouch_trie **out, const vouch_tokenizer *tokenizer, int32_t n_vocab, vouch_error *err)
{
    *out = NULL;
    const size_t size = (size_t)vouch_tokenizer_size(tokenizer);
    entry *entries = calloc(size + 1, sizeof *entries);
    vouch_trie *trie = calloc(1, sizeof *trie);
    vouch_status status =
        entries && trie ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a grammar");
    if (status == VOUCH_OK) {
        *trie = (vouch_trie){.tokenizer = tokenizer, .n_vocab = n_vocab, .space = -1};
        trie->n_tokens = list_tokens(tokenizer, n_vocab, entries, &trie->n_ends);
        trie->n_nodes = count_nodes(entries, trie->n_tokens);
        layout(trie);
        status = vouch_arena_allocate(&trie->arena, "the vocabulary's bytes", err);
    }
    if (status == VOUCH_OK) {
        layout(trie);
        fill(trie, entries);
        for (int32_t id = 0, n = 0; n < trie->n_ends; id++)
            if (vouch_tokenizer_ends_answer(tokenizer, id)) trie->ends[n++] = id;
        *out = trie;
    } else {
        free(trie);
    }
    free(entries);
    return status;
}

/* The node of `byte` among the siblings [from, past); -1: none. */
static int32_t find_sibling(const vouch_trie *trie, int32_t from, int32_t past, uint8_t byte)
{
    for (int32_t i = from; i < past; i = trie->nodes[i].next)
        if (trie->nodes[i].byte == byte) return i;
    return -1;
}

bool vouch_trie_knows_name(const vouch_trie *trie, const char *name, size_t n)
{
    int32_t from = 0, past = trie->n_nodes;
    for (size_t i = 0; i < n + 2; i++) {
        const int byte = i == 0 ? VOUCH_TOKEN_BEGINS : i == n + 1 ? VOUCH_TOKEN_ENDS : (unsigned char)name[i - 1];
        const int32_t node = find_sibling(trie, from, past, (uint8_t)byte);
        if (node < 0) return false;
        from = node + 1;
        past = trie->nodes[node].next;
    }
    return true;
}

int32_t vouch_trie_prefixes(const vouch_trie *trie, const char *text, int32_t n, int32_t *tokens, int32_t most)
{
    int32_t found[VOUCH_TRIE_DEPTH] = {0}, n_found = 0, from = 0, past = trie->n_nodes;
    for (int32_t i = 0; i < n && i < VOUCH_TRIE_DEPTH; i++) {
        const int32_t node = find_sibling(trie, from, past, (uint8_t)text[i]);
        if (node < 0) break;
        /* Of tokens with the same bytes the last one counts: byte tokens such as <0x41> come first in vocabularies. */
        const int32_t first = trie->nodes[node].first, after = trie->nodes[node + 1].first;
        if (after > first) found[n_found++] = trie->tokens[after - 1];
        from = node + 1;
        past = trie->nodes[node].next;
    }
    if (n_found < most) most = n_found;
    for (int32_t i = 0; i < most; i++) tokens[i] = found[n_found - 1 - i];
    return most;
}

void vouch_trie_close(vouch_trie *trie)
{
    if (!trie) return;
    vouch_arena_free(&trie->arena);
    free(trie);
}
