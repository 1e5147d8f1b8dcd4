/* SPDX-License-Identifier: MIT */
/*
 * The tables of an open model, shared by the reader (gguf_read.c, gguf_split.c) and the getters (gguf_access.c).
 *
 *   vouch_gguf ── files[n_files]      one, or the parts of a split model; none if the caller holds the bytes
 *              ── kv[n_kv]            in the file's order; a scalar is an array of one element
 *              ── tensors[n_tensors]  in the files' order
 *              ── kv_index, tensor_index: their names, sorted (text_index.h)
 *
 * A Hugging Face folder opens as the same struct: its files are safetensors, its keys lie in memory, and some tensors
 * are made when they are loaded (hf_folder.h, recipe.h).
 *
 * The tables point into the files' bytes and copy none. Together they take at most 4 bytes per byte of the files'
 * headers, because a key has at least 14 bytes there and a tensor at least 33.
 */
#ifndef VOUCH_FORMAT_GGUF_PRIVATE_H
#define VOUCH_FORMAT_GGUF_PRIVATE_H

#include <stdatomic.h>

#include "base/filemap.h"
#include "base/memory.h"
#include "format/gguf.h"
#include "format/text_index.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "GGUF files are read in place, which needs a little-endian machine"
#endif

#define VOUCH_GGUF_MAGIC         "GGUF"
#define VOUCH_GGUF_ALIGNMENT_KEY "general.alignment"

enum {
    VOUCH_GGUF_VERSION = 3, /* the version that the writer makes; version 2 differs only in big-endian files */
    VOUCH_GGUF_ALIGNMENT_DEFAULT = 32,
    VOUCH_GGUF_ALIGNMENT_MIN = 8, /* so that mapped f32 and f64 are aligned for their C types */
    VOUCH_GGUF_ALIGNMENT_MAX = 1 << 24,
    VOUCH_GGUF_KEY_MAX = 65535, /* the format's limit for the bytes of a key */
    VOUCH_GGUF_NAME_MAX = 64,   /* the format's limit for the bytes of a tensor's name */
    VOUCH_GGUF_MAX_DIMS = 4
};

typedef struct vouch_gguf_kv {
    vouch_text key; /* the first member, because kv_index points to it */
    vouch_gguf_type type;
    atomic_bool was_read;   /* the key has been asked for */
    vouch_gguf_array value; /* value.type: the type of the elements; count 1 if `type` isn't ARRAY */
} vouch_gguf_kv;

typedef struct vouch_gguf_file {
    char *path; /* the tail of the path, for messages (base/filemap.h) */
    vouch_filemap map;
} vouch_gguf_file;

struct vouch_gguf {
    char *path;                 /* the tail of the first file's path, for messages */
    const unsigned char *bytes; /* the first file, whole */
    size_t size;
    vouch_gguf_file *files;
    size_t n_files;
    size_t n_kv, n_tensors;
    size_t alignment;
    vouch_gguf_kv *kv;
    vouch_gguf_tensor *tensors;
    const vouch_text **kv_index, **tensor_index;
    char **unknown;          /* points to vouch_gguf_unknown's text, or NULL: none */
    struct vouch_made *made; /* tensors that are made at load (recipe.h); NULL: none */
};

#define VOUCH_GGUF_NO_FILE UINT32_MAX /* the value of tensor.file for data that lie in memory */

/* Opens one file, even a part of a split model. `flaw` NULL: as vouch_gguf_open; else as vouch_gguf_open_header. */
vouch_status vouch_gguf_open_one(vouch_gguf **out, const char *path, vouch_error *flaw, vouch_error *err);
/* Builds tensor_index. Error: FORMAT, if a name occurs twice. */
vouch_status vouch_gguf_index_tensors(vouch_gguf *gguf, vouch_error *err);
/* If `gguf`, opened from `path`, is the first part of a split model: opens the other parts and adds their tensors.
 * After an error gguf is as before. Errors: IO, FORMAT, UNSUPPORTED (another part than the first), MEMORY. */
vouch_status vouch_gguf_join_parts(vouch_gguf *gguf, const char *path, vouch_error *err);

/* Bytes of a scalar of this type; 0 for strings, arrays and unknown types. */
size_t vouch_gguf_type_size(uint32_t type);
/* Whether a file may have this alignment. */
bool vouch_gguf_alignment_ok(uint64_t alignment);
/* The index of the first control character (including NUL) of a key or name; the text's size if it has none. */
size_t vouch_gguf_find_control(vouch_text text);
/* *count = the number of values in a tensor of these dimensions. False if a dimension isn't positive, or if the product
 * is 2^63 or more. */
bool vouch_gguf_count_values(uint32_t n_dims, const int64_t *dim, int64_t *count);

#endif
