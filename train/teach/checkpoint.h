/* SPDX-License-Identifier: MIT */
/*
 * A checkpoint: all that training needs to go on with the same bytes. The file is written under a temporary name and
 * renamed, so there is always a whole one.
 *
 *   "vouchckp" | u64 bytes | u64 FNV-1a of the rest | header | arrays, one after the other
 */
#ifndef VOUCH_TRAIN_CHECKPOINT_H
#define VOUCH_TRAIN_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct train_checkpoint {
    uint64_t settings;       /* hash of all that the training depends on */
    int64_t step, epoch, at; /* steps done; the next answer: its epoch, and its index in it */
} train_checkpoint;

typedef struct train_array {
    void *bytes;
    size_t n;
} train_array;

/* Errors: IO (the system's reason; an earlier checkpoint remains). */
vouch_status train_checkpoint_write(const char *path, const train_checkpoint *header, const train_array *arrays, int n,
                                    vouch_error *err);
/* Fills the header and the arrays. *found is false where there is no file; then nothing is filled. Errors: IO, FORMAT
 * (cut short or damaged), MISMATCH (header->settings differs from the file's). */
vouch_status train_checkpoint_read(const char *path, train_checkpoint *header, const train_array *arrays, int n,
                                   bool *found, vouch_error *err);

#endif
