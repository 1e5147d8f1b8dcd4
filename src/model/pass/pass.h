/* SPDX-License-Identifier: MIT */
/*
 * A pass is one run of a model over n rows. The rows may belong to several sequences, and each sequence may have a
 * chain, a branch of a tree or a chunk of its prompt among them:
 *
 *   memory   A  A  A  A  A │ B │ C  C  C  C          a run: all rows of one memory
 *   kept     k  .  .  .  . │ k │ k  k  k  k          becomes a token: the first rows of a run
 *   parent      -1  0 -1  2│   │                     of others: numbers among the provisional rows of the memory
 *   wants    l  l  l  l  l │ l │ .  .  .  l          logits, or a hidden state
 *            ▼  ▼  ▼  ▼  ▼   ▼            ▼
 *   logits   0  1  2  3  4   5            6          in the order of the rows that asked
 *
 * A row that is kept sees the tokens before it, itself included. Another row sees all tokens, also tokens of this
 * pass, and its ancestors among the memory's provisional rows. A row's position is the number of tokens
 * and ancestors before it.
 *
 * A head that guesses a block at once has rows that see each other in both directions (sees_all).
 *
 * A head may have layers without keys and values, which read those of the target (layer.h, lender). Such rows name the
 * target's memory as their lender. They see all of its tokens, stand at the position after them, and change nothing
 * there.
 *
 *   P1  A row's logits, hidden state, keys and values depend only on the tokens that it sees (law L1), not on the other
 *       rows, their sequences, the number of threads or the pages of its memory.
 *   P2  A pass changes its rows' memories by adding tokens and provisional rows, and nothing else.
 *
 * The pass owns its workspace. It knows of a memory only where the rows' keys and values lie.
 */
#ifndef VOUCH_MODEL_PASS_H
#define VOUCH_MODEL_PASS_H

#include "model/stage/workspace.h"

typedef struct vouch_pass vouch_pass;

typedef vouch_workspace_options vouch_pass_options;

typedef struct vouch_row {
    vouch_memory *memory;
    int32_t token;
    const float *input;  /* [n_embd] takes the place of the token's embedding, until the pass has run; NULL: none */
    const float *second; /* [n_embd] second input, of models whose attention reads pairs (layer.h), until the pass has
                            run; NULL: none */
    const vouch_memory *lender; /* another model's memory, with a token at least, whose keys and values the row's layers
                                   read; the same for all rows of `memory`. NULL: none */
    int32_t parent;             /* the provisional row it follows; -1: the last token of the sequence */
    bool kept;                  /* becomes a token; the memory has no provisional rows then, and `parent` is not read */
    bool sees_all; /* sees the rows after it in this pass, too; then all rows of its memory do, and are a chain */
    bool logits;   /* this row gets logits */
    bool hidden;   /* this row's hidden states are read after the pass */
} vouch_row;

/* The weights and the pool must outlive it. Errors: MEMORY (with the size). */
vouch_status vouch_pass_open(vouch_pass **out, const vouch_weights *weights, vouch_pool *pool,
                             const vouch_pass_options *options, vouch_error *err);
void vouch_pass_close(vouch_pass *pass); /* NULL is allowed */
size_t vouch_pass_bytes(const vouch_pass *pass);

/* Runs n rows, 1 to max_rows, for which their memories have reserved room. They become tokens or provisional rows.
 * Can't fail: the caller keeps ids, parents and sizes valid, and asserts check them. */
void vouch_pass_run(vouch_pass *pass, const vouch_row *rows, int32_t n);

/* The next two functions run rows of one sequence whose store has room. The last n_logits rows get logits. All rows ask
 * for their hidden states, which costs nothing: the stream holds them. */
/* Runs and keeps n tokens that follow the sequence's last one. Drops provisional rows first. */
void vouch_pass_chain(vouch_pass *pass, vouch_memory *memory, const int32_t *tokens, int32_t n, int32_t n_logits);
/* Runs n provisional rows and appends them to the memory's. parents NULL: each follows the row before it. */
void vouch_pass_tree(vouch_pass *pass, vouch_memory *memory, const int32_t *tokens, const int32_t *parents, int32_t n,
                     int32_t n_logits);

/* Logits [n_vocab], or [rows of the given head], of the i-th row that asked. The caller may change them. Valid until
 * the next pass. */
float *vouch_pass_logits(vouch_pass *pass, int32_t i);
/* Hidden state [n_embd] of the i-th row that asked: the residual stream after the last layer, before the output norm;
 * with attention over depth (vouch_depth), the part of it since the last kept stream. Valid until the next pass. */
const float *vouch_pass_hidden(const vouch_pass *pass, int32_t i);
/* Opens a tap: from now on passes copy the stream after this layer, in the rows that ask, for heads that read several
 * layers. The last layer's stream needs no copy. Opening a tap twice has no effect. Errors: MEMORY. */
vouch_status vouch_pass_open_tap(vouch_pass *pass, int32_t layer, vouch_error *err);
/* The stream of the i-th row that asked, after a layer whose tap is open. */
const float *vouch_pass_tap(const vouch_pass *pass, int32_t layer, int32_t i);

#endif
