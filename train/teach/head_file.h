/* SPDX-License-Identifier: MIT */
/*
 * Writes a head as a GGUF file, "general.architecture" = "vouch-head". Keys, with the prefix "vouch-head.":
 *
 *   target.digest, target.embedding_length, target.block_count, target.vocab_size   the model it was taught for
 *   taps                  layers whose states it reads
 *   embedding_length, block_count, and the keys of a llama layer
 *   recipe                how it was taught, JSON
 *
 * Tensors: taps.mean, taps.inv_scale, fc, join, leave, blk.N.*, output_norm, d2t. The output matrix is the target's, or
 * its rows d2t. A linear head has the target's output norm, too.
 */
#ifndef VOUCH_TRAIN_HEAD_FILE_H
#define VOUCH_TRAIN_HEAD_FILE_H

#include "train/network/head.h"
#include "train/lessons/lessons.h"

typedef struct train_head_file {
    const train_lessons_set *set;
    const train_head_shape *shape;
    const train_head *head;
    const int32_t *guesses; /* [n_draft] tokens that it guesses, ascending; NULL: all */
    double rope_base;
    const char *name, *recipe;
    const char *type; /* of large matrices (train_type_of) */
} train_head_file;

/* Writes the file completely or not at all. Errors: IO, MEMORY. */
vouch_status train_head_write(const train_head_file *file, const char *path, vouch_error *err);

#endif
