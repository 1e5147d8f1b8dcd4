/* SPDX-License-Identifier: MIT */
/*
 * What a target says behind two tokens, counted in its own answers (`vouch distill --table`). The recycling drafter
 * (recycle.h) takes a row of this table where it has not met a context itself. A GGUF file of the architecture
 * `vouch-table`:
 *
 *   contexts [n][2] I32   the last token, and the token before it or -1; ascending
 *   tokens   [n][8] I32   the most frequent next tokens, the most frequent first; -1: no more
 *   shares   [n][8] F16   how often each came, relative to all that came there
 */
#ifndef VOUCH_MODEL_TABLE_H
#define VOUCH_MODEL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "format/gguf.h"

enum { VOUCH_TABLE_TOKENS = 8 };

typedef struct vouch_table_context {
    int32_t last, before; /* before -1: any token */
} vouch_table_context;

typedef struct vouch_table_rows {
    int32_t n;
    vouch_table_context *contexts; /* [n] */
    int32_t *tokens;               /* [n][VOUCH_TABLE_TOKENS] */
    uint16_t *shares;              /* [n][VOUCH_TABLE_TOKENS] in 1 / UINT16_MAX */
} vouch_table_rows;

/* The model that a table is for. */
typedef struct vouch_table_target {
    const char *digest; /* vouch_gguf_digest in hexadecimal digits */
    int32_t n_vocab;
    bool may_differ;    /* accepts a table of another file with as many tokens */
} vouch_table_target;

/* Reads a table. On success *out is the caller's, to be closed. Errors: FORMAT, MISMATCH (another target; names both),
 * MEMORY, IO. */
vouch_status vouch_table_rows_open(vouch_table_rows **out, const vouch_gguf *gguf, const vouch_table_target *target,
                                    vouch_error *err);
void vouch_table_rows_close(vouch_table_rows *table); /* NULL is allowed */
/* The number of the context's row; -1: the table lacks it. O(log n). */
int32_t vouch_table_rows_find(const vouch_table_rows *table, int32_t last, int32_t before);

#endif
