/* SPDX-License-Identifier: MIT */
/*
 * What the reader and the getters share.
 *
 *   vouch_gguf ── kv[n_kv]            in the file's order; a scalar is an array of one
 *              ── tensors[n_tensors]  in the file's order
 *              ── kv_index, tensor_index: their names, sorted (text_index.h)
 *
 * All of them point into the file's bytes and copy none. Together they take at most 4 bytes for each byte of
 * the file's header, because a key takes 14 bytes there at least, and a tensor 33.
 */
#ifndef VOUCH_FORMAT_GGUF_PRIVATE_H
#define VOUCH_FORMAT_GGUF_PRIVATE_H

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
    VOUCH_GGUF_VERSION = 3, /* what is written; 2 differs in big-endian files only */
    VOUCH_GGUF_ALIGNMENT_DEFAULT = 32,
    VOUCH_GGUF_ALIGNMENT_MIN = 8, /* so that a mapped f32 or f64 is aligned for its type */
    VOUCH_GGUF_ALIGNMENT_MAX = 1 << 24,
    VOUCH_GGUF_KEY_MAX = 65535, /* bytes of a key, as the format says */
    VOUCH_GGUF_NAME_MAX = 64,   /* bytes of a tensor's name, as the format says */
    VOUCH_GGUF_MAX_DIMS = 4
};

typedef struct vouch_gguf_kv {
    vouch_text key; /* first: the index points here */
    vouch_gguf_type type;
    vouch_gguf_array value; /* its type is the element's; count 1 where `type` isn't ARRAY */
} vouch_gguf_kv;

struct vouch_gguf {
    char *path;                 /* its tail, for messages (base/filemap.h) */
    const unsigned char *bytes; /* the whole file */
    size_t size;
    vouch_filemap map; /* closed where the bytes are the caller's */
    size_t n_kv, n_tensors;
    size_t alignment;
    vouch_gguf_kv *kv;
    vouch_gguf_tensor *tensors;
    const vouch_text **kv_index, **tensor_index;
};

/* Bytes of a scalar of this type; 0 for strings, arrays and unknown types. */
size_t vouch_gguf_type_size(uint32_t type);
/* Whether `alignment` may be a file's. */
bool vouch_gguf_alignment_ok(uint64_t alignment);
/* The position of the first control character (NUL among them) of a key or name; its size where it has none.
 */
size_t vouch_gguf_find_control(vouch_text text);
/* Values in a tensor of these dimensions; false where they are not all positive or the product is 2^63 or
 * more. */
bool vouch_gguf_count_values(uint32_t n_dims, const int64_t *dim, int64_t *count);

#endif
