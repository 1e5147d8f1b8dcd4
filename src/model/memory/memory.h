/* SPDX-License-Identifier: MIT */
/*
 * A memory holds a model's state for one sequence: the keys and values of the tokens, and the states of the recurrent
 * layers (states.h). Keys and values lie in a store of pages (pages.h), which several sequences share:
 *
 *   pages      [ 0 , 1 , 5 ]        of the store, in the order of the slots
 *
 *   slots      0 ........ n_tokens ......... n_tokens + n_rows
 *              the sequence, by position     the tree of provisional rows
 *
 * A pass (pass.h) adds tokens, or provisional rows, or both. Row i follows row parents[i] < i, or with parent -1 the
 * sequence's last token. Further passes may add to the tree. vouch_memory_keep_path makes a path of it part of the
 * sequence and drops the rest.
 *
 *   C1  Slots [0, n_tokens) hold exactly the keys and values of the sequence's tokens. No later pass sees anything
 *       of the slots beyond n_tokens + n_rows (law L3). For states see states.h.
 *   C2  Keys and values of a row depend on the tokens of its path alone, not on pages or neighbours (law L1).
 *   C3  A slot is written only in a page with one owner: reserve copies a shared page first.
 */
#ifndef VOUCH_MODEL_MEMORY_H
#define VOUCH_MODEL_MEMORY_H

#include "model/memory/pages.h"
#include "model/memory/states.h"

/* The pass reads the members; others use the functions. */
typedef struct vouch_memory {
    vouch_pages *store;
    int32_t n_ctx, max_rows;
    int32_t n_tokens;
    int32_t *pages; /* [n_pages] in the order of their slots; room for n_ctx slots */
    int32_t n_pages;
    /* The tree of provisional rows. */
    int32_t n_rows;
    int32_t n_chain;           /* its first rows each follow the row before them */
    int32_t *parents, *depths; /* [max_rows] a row's position is n_tokens + its depth */
    vouch_states states;
    const float *scales; /* [adapters of the weights] that all rows have for them (layer.h, vouch_lora), set by the
                            owner while there are no tokens; NULL: the sequence has no adapter */
    vouch_arena arena;
} vouch_memory;

/* An empty sequence of at most n_ctx tokens, with at most max_rows provisional rows at a time. It owns no page yet.
 * A recurrent layer needs room for the inputs of max_rows rows. Errors: MEMORY. */
vouch_status vouch_memory_open(vouch_memory **out, vouch_pages *pages, int32_t n_ctx, int32_t max_rows,
                               vouch_error *err);
/* Gives its pages back. NULL is allowed. */
void vouch_memory_close(vouch_memory *memory);
size_t vouch_memory_bytes(const vouch_memory *memory);

int32_t vouch_memory_n_tokens(const vouch_memory *memory);
int32_t vouch_memory_n_rows(const vouch_memory *memory);
/* Whether some layer is recurrent. */
bool vouch_memory_is_recurrent(const vouch_memory *memory);

/* Makes room for n tokens or rows more, n_tokens + n_rows + n <= n_ctx. False where the store has too few pages left:
 * then nothing has changed. */
bool vouch_memory_reserve(vouch_memory *memory, int32_t n);
/* The provisional rows path[0] < path[1] < ..., a path from a root, become tokens. The other rows are dropped; with
 * n = 0 all are. */
void vouch_memory_keep_path(vouch_memory *memory, const int32_t *path, int32_t n);
/* The first n provisional rows, which are a chain, become tokens. The other rows are dropped. */
void vouch_memory_keep_rows(vouch_memory *memory, int32_t n);
/* Drops all provisional rows and all tokens but the first n. Returns how many tokens are left: at most n, and fewer
 * where there were fewer, or where a recurrent layer can't go back to n (states.h). The caller runs the missing tokens
 * again. */
int32_t vouch_memory_rewind(vouch_memory *memory, int32_t n);
/* Remembers the states of recurrent layers at the last token. vouch_memory_rewind can go back there until the next
 * checkpoint. The memory must have no provisional rows. */
void vouch_memory_checkpoint(vouch_memory *memory);
/* The memory becomes the first tokens of another one of its store: it shares whole pages and copies the rest. Returns
 * their number: n, or fewer where a recurrent layer of `from` can't go back to n, or 0 where no page is left for the
 * rest. */
int32_t vouch_memory_share(vouch_memory *memory, const vouch_memory *from, int32_t n);
/* The memory becomes the tokens whose keys and values fill these n pages of its store. states: the copy of
 * vouch_states_save at their end; NULL where no layer is recurrent. */
void vouch_memory_adopt(vouch_memory *memory, const int32_t *pages, int32_t n, const float *states);
/* A number that differs when any byte of the tokens' keys, values and states does (for tests of L3). */
uint64_t vouch_memory_digest(const vouch_memory *memory);
/* The digest that the memory would have after vouch_memory_keep_rows(n). Changes nothing. */
uint64_t vouch_memory_digest_kept(const vouch_memory *memory, int32_t n);

/* For the pass. Adds a provisional row, for which there is room, and returns its number. n_rows < max_rows. */
int32_t vouch_memory_add_row(vouch_memory *memory, int32_t parent);
/* Adds a token, for which there is room. The memory must have no provisional rows. */
void vouch_memory_add_token(vouch_memory *memory);

/* Copies the keys and values of slot `from` to slot `to`. */
void vouch_memory_move_slot(vouch_memory *memory, int32_t to, int32_t from);

#endif
