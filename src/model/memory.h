/* SPDX-License-Identifier: MIT */
/*
 * A memory is what a model remembers of one sequence: the keys and values of its tokens. Memories take their room
 * from a store of pages (pages.h), which several sequences share:
 *
 *   pages      [ 0 , 1 , 5 ]        of the store, in the order of the slots
 *
 *   slots      0 ........ n_tokens ......... n_tokens + n_rows
 *              the sequence, by position     the tree of provisional rows
 *
 * A pass (pass.h) adds provisional rows. Row i follows row parents[i] < i, or with parent -1 the sequence's last token.
 * Further passes may add to the tree. vouch_memory_keep_path makes a path of it part of the sequence and drops the
 * rest.
 *
 *   C1  Slots [0, n_tokens) hold exactly the keys and values of the sequence's tokens. No later pass sees anything
 *       of the slots beyond n_tokens + n_rows (law L3).
 *   C2  Keys and values of a row depend on the tokens of its path alone, not on pages or neighbours (law L1).
 *   C3  A slot is written only in a page with one owner: reserve copies a shared page first.
 *
 * A recurrent layer's state will stand in vouch_memory beside the list of pages. Such a layer can't go back to any
 * token, so vouch_memory_rewind says how far it went.
 */
#ifndef VOUCH_MODEL_MEMORY_H
#define VOUCH_MODEL_MEMORY_H

#include "model/pages.h"

/* The pass reads it; others use the functions. */
typedef struct vouch_memory {
    vouch_pages *store;
    int32_t n_ctx, max_rows;
    int32_t n_tokens;
    int32_t *pages;  /* [n_pages] in the order of their slots; room for n_ctx slots */
    int32_t n_pages;
    /* The tree of provisional rows. */
    int32_t n_rows;
    int32_t n_chain; /* its first rows each follow the row before them */
    int32_t *parents, *depths; /* [max_rows] a row's position is n_tokens + its depth */
    vouch_arena arena;
} vouch_memory;

/* An empty sequence of at most n_ctx tokens, with at most max_rows provisional rows at a time. It owns no page yet.
 * Errors: MEMORY. */
vouch_status vouch_memory_open(vouch_memory **out, vouch_pages *pages, int32_t n_ctx, int32_t max_rows,
                               vouch_error *err);
/* Gives its pages back. NULL is allowed. */
void vouch_memory_close(vouch_memory *memory);
size_t vouch_memory_bytes(const vouch_memory *memory);

int32_t vouch_memory_n_tokens(const vouch_memory *memory);
int32_t vouch_memory_n_rows(const vouch_memory *memory);

/* Makes room for n rows more, n_rows + n <= max_rows and n_tokens + n_rows + n <= n_ctx. False where the store has too
 * few pages left: then nothing has changed. */
bool vouch_memory_reserve(vouch_memory *memory, int32_t n);
/* The provisional rows path[0] < path[1] < ..., a path from a root, become tokens. The other rows are dropped; with
 * n = 0 all are. */
void vouch_memory_keep_path(vouch_memory *memory, const int32_t *path, int32_t n);
/* The same where the first n provisional rows are a chain. */
void vouch_memory_keep_rows(vouch_memory *memory, int32_t n);
/* Drops all provisional rows and all tokens but the first n. Returns how many tokens are left: attention alone always
 * reaches n, or has fewer already. */
int32_t vouch_memory_rewind(vouch_memory *memory, int32_t n);
/* The memory becomes the first n tokens of another one of its store: it shares whole pages and copies the rest. False
 * where no page is left for the rest: then the memory is empty. */
bool vouch_memory_share(vouch_memory *memory, const vouch_memory *from, int32_t n);
/* A number that differs when any byte of the tokens' keys and values does (for tests of L3). */
uint64_t vouch_memory_digest(const vouch_memory *memory);

/* For the pass. Adds a provisional row, for which there is room, and returns its number. */
int32_t vouch_memory_add_row(vouch_memory *memory, int32_t parent);

/* The key and value of a slot become those of another one. */
void vouch_memory_move_slot(vouch_memory *memory, int32_t to, int32_t from);

#endif
