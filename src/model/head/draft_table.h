/* SPDX-License-Identifier: MIT */
/*
 * Counts, from the target's own answers, which tokens followed the last one, two or three tokens. `vouch distill
 * --table` makes the file, and the drafter `table` (draft/free/table.c) guesses from it. It is a GGUF file of the
 * architecture `vouch-table`:
 *
 *   contexts [n][3] I32   the last token, the one before it or -1, and the one before that or -1; ascending
 *   starts   [n + 1] I32  row i has tokens and shares [starts[i], starts[i + 1]), 1 to 8 of them
 *   tokens   [m] I32      the likeliest next tokens of each row, the likeliest first, none twice
 *   shares   [m] F16      how likely each is, 0 to 1
 */
#ifndef VOUCH_MODEL_TABLE_H
#define VOUCH_MODEL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "format/gguf.h"
#include "model/head/draft_target.h"

enum { VOUCH_TABLE_ORDERS = 3, VOUCH_TABLE_TOKENS = 8 /* most in a row */ };

/* Tokens before a position, the last one first; -1 beyond the context's length. */
typedef struct vouch_table_context {
    int32_t before[VOUCH_TABLE_ORDERS];
} vouch_table_context;

typedef struct vouch_table_rows {
    int32_t n, n_tokens;
    vouch_table_context *contexts; /* [n] */
    int32_t *starts;               /* [n + 1] */
    int32_t *tokens;               /* [n_tokens] */
    uint16_t *shares;              /* [n_tokens] F16, as in the file */
} vouch_table_rows;

/* Reads a table. On success *out is the caller's, to be closed. Errors: FORMAT, MISMATCH (another target; names both),
 * MEMORY, IO. */
vouch_status vouch_table_rows_open(vouch_table_rows **out, const vouch_gguf *gguf, const vouch_draft_target *target,
                                   vouch_error *err);
/* Fails where the file holds a table, which can't be opened as a model. Error: UNSUPPORTED. */
vouch_status vouch_table_refuse(const vouch_gguf *gguf, vouch_error *err);
void vouch_table_rows_close(vouch_table_rows *table); /* NULL is allowed */
/* The context of the `length` tokens before `end`. */
vouch_table_context vouch_table_context_of(const int32_t *end, int32_t length);
/* Below 0, 0 or above 0: the order of contexts in a table. */
int vouch_table_compare(const vouch_table_context *a, const vouch_table_context *b);
/* The number of the context's row; -1: the table lacks it. O(log n). */
int32_t vouch_table_rows_find(const vouch_table_rows *table, const vouch_table_context *context);

#endif
