/* SPDX-License-Identifier: MIT */
/* Writes what has been taught as the tensors of a GGUF file. */
#ifndef VOUCH_TRAIN_WRITING_H
#define VOUCH_TRAIN_WRITING_H

#include "format/gguf.h"
#include "train/network/layer.h"

/* The writer keeps pointers to tensors, so their bytes live until the file is written. */
typedef struct train_writing {
    vouch_gguf_writer *gguf; /* for keys, and for tensors whose bytes the caller keeps */
    void **bytes;            /* [n] */
    size_t n;
    bool is_short; /* of memory */
} train_writing;

/* The types that taught matrices may have: Q8_0, Q4_1, Q4_0, F16 and F32; VOUCH_TYPE_COUNT for another name. */
vouch_type train_type_of(const char *name);

/* Errors: MEMORY. */
vouch_status train_writing_open(train_writing *writing, vouch_error *err);
/* Adds values [rows, width]; rows 0: a vector. A matrix whose rows aren't whole blocks becomes F16. */
void train_writing_add(train_writing *writing, const char *name, const real *values, int64_t rows, int64_t width,
                       vouch_type type);
/* Adds the tensors blk.INDEX.* of a layer: matrices in the type, norms in F32. */
void train_writing_add_layer(train_writing *writing, const train_layer *layer, const train_layer_shape *shape,
                             int32_t index, vouch_type type);
/* Writes the file completely or not at all, and closes the writing. Errors: IO, MEMORY. */
vouch_status train_writing_end(train_writing *writing, const char *path, vouch_error *err);
/* Closes it without a file. */
void train_writing_drop(train_writing *writing);

#endif
