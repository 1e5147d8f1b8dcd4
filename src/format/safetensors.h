/* SPDX-License-Identifier: MIT */
/*
 * safetensors files (github.com/huggingface/safetensors):
 *
 *   u64 n | n bytes of JSON: {"NAME": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [begin, end]}, ...} | data
 *
 * Offsets count from the end of the header. The tensors cover the data without gaps and without overlaps.
 */
#ifndef VOUCH_FORMAT_SAFETENSORS_H
#define VOUCH_FORMAT_SAFETENSORS_H

#include <jansson.h>

#include "base/filemap.h"

enum { VOUCH_SAFETENSORS_MAX_DIMS = 8 };

typedef struct vouch_safetensor {
    const char *name;                          /* lives as long as the file is open */
    const char *dtype;                         /* "F32", "BF16", ...: a type of the format */
    uint32_t n_dims;                           /* 0: a scalar */
    int64_t shape[VOUCH_SAFETENSORS_MAX_DIMS]; /* the last dimension is contiguous; >= 0 */
    size_t offset, bytes;                      /* in the file */
} vouch_safetensor;

typedef struct vouch_safetensors {
    vouch_filemap map;
    json_t *header;
    vouch_safetensor *tensors; /* [n], in the order of their data */
    size_t n;
} vouch_safetensors;

/* Maps the file and checks the whole header. Errors, whose messages begin with the path: IO, FORMAT, UNSUPPORTED,
 * MEMORY. On failure *file is closed. */
vouch_status vouch_safetensors_open(vouch_safetensors *file, const char *path, vouch_error *err);
void vouch_safetensors_close(vouch_safetensors *file); /* a closed or zeroed one is allowed */

#endif
