/* SPDX-License-Identifier: MIT */
/*
 * Tensors that no file stores in the needed form, because rows have another order, experts lie in tensors of their own,
 * or the file stores weights of norms less 1. A recipe says how their values follow from the files' values.
 * vouch_gguf_load makes the bytes that its caller asks for, in reserved memory, and vouch_gguf_release gives the memory
 * back. So a made tensor costs no more memory than a mapped one.
 *
 *   tensor   row 0 | row 1 | ...            view 0              view 1
 *            └──────┴────── row (i, j, k) = values at `first` + i stride[0] + j stride[1] + k stride[2] of a file's
 *                                           tensor, `step` apart
 */
#ifndef VOUCH_FORMAT_RECIPE_H
#define VOUCH_FORMAT_RECIPE_H

#include "format/gguf_private.h"

/* n[0] * n[1] * n[2] rows of a file's tensor, which become rows of the made one. first, stride and step count
 * values. */
typedef struct vouch_view {
    const unsigned char *data; /* the file's tensor */
    uint32_t file;
    const unsigned char *scales; /* MXFP4 only: one byte for each block of 16 bytes. Such a block counts as one value */
    uint32_t scales_file;
    int64_t first, n[3], stride[3], step;
} vouch_view;

typedef struct vouch_recipe {
    vouch_type type;   /* of the views' values: F32, F16, BF16, or MXFP4 */
    bool is_widened;   /* the tensor is F32 */
    float add;         /* added to each value of a widened tensor */
    bool is_decay;     /* each value x of a widened tensor becomes -exp(x) */
    int64_t n_columns; /* values of a row; MXFP4: blocks of a row */
    size_t n_views;
    vouch_view *views; /* their rows, one view after the other; NULL: the tensor has no recipe */
} vouch_recipe;

/* Everything that a model owns besides its files. */
typedef struct vouch_made {
    vouch_recipe *recipes; /* [n_tensors of the model] */
    size_t n;
    void *keys;            /* the bytes of the metadata */
    char *names;           /* the tensors' names */
    char **origins;        /* [n] names in the files; NULL: the tensor is in no file */
    char *sizes;           /* "NAME is VALUE, ..." of config.json, for vouch_gguf_add_sizes; NULL: unknown */
    float *constants;      /* tensors whose values the metadata give */
    int64_t *steps;        /* a tensor of integers; NULL: none */
    unsigned char *region; /* reserved for made tensors, each on pages of its own */
    size_t region_size;
} vouch_made;

/* Reserves the region and points each tensor that has a recipe into it. Error: MEMORY. */
vouch_status vouch_made_reserve(vouch_made *made, vouch_gguf_tensor *tensors, const char *path, vouch_error *err);
void vouch_made_free(vouch_made *made); /* NULL is allowed */

/* Makes the bytes [offset, offset + size) of a tensor at tensor->data: whole values. Errors: IO, MEMORY. */
vouch_status vouch_recipe_make(const vouch_recipe *recipe, const vouch_gguf_tensor *tensor, size_t offset, size_t size,
                               const vouch_gguf_file *files, vouch_error *err);
/* Gives back the memory of the whole pages among these bytes; they need another vouch_recipe_make. */
void vouch_recipe_release(const vouch_gguf_tensor *tensor, size_t offset, size_t size);

#endif
