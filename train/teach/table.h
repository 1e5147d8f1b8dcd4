/* SPDX-License-Identifier: MIT */
/* A table of what the target says after its last tokens (model/head/draft_table.h), counted in its answers. */
#ifndef VOUCH_TRAIN_TABLE_H
#define VOUCH_TRAIN_TABLE_H

#include "train/lessons/chunks.h"

typedef struct train_table_file {
    const train_chunks *answers; /* answers.h */
    const char *digest;          /* of the target */
    int32_t n_vocab;             /* of the target */
    double sampled;              /* for the recipe: share of the answers that were sampled */
    uint64_t seed;               /* of the answers, for the recipe, too */
} train_table_file;

/* Counts what followed the contexts that came at least twice, and writes the table. *n_contexts and *n_tokens receive
 * the rows of the table and the tokens counted. Errors: MEMORY, IO, FORMAT (answers). */
vouch_status train_table_write(const train_table_file *file, const char *path, int64_t *n_contexts, int64_t *n_tokens,
                               vouch_error *err);

#endif
