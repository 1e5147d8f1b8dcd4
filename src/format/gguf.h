/* SPDX-License-Identifier: MIT */
/*
 * GGUF files, versions 2 and 3. The reader uses a memory map and checks every field before use. The writer makes
 * version 3. A split model is several GGUF files (gguf_split.c), which the reader joins: the keys of the first file,
 * and the tensors of all.
 *
 *   "GGUF" u32 version | u64 n_tensors | u64 n_kv | n_kv x (key, type, value)
 *   | n_tensors x (name, u32 n_dims, u64 dim[n_dims], u32 type, u64 offset)
 *   | padding to the alignment | tensor data, each at its offset, aligned
 */
#ifndef VOUCH_FORMAT_GGUF_H
#define VOUCH_FORMAT_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/tensor_type.h"

typedef enum vouch_gguf_type {
    VOUCH_GGUF_U8,
    VOUCH_GGUF_I8,
    VOUCH_GGUF_U16,
    VOUCH_GGUF_I16,
    VOUCH_GGUF_U32,
    VOUCH_GGUF_I32,
    VOUCH_GGUF_F32,
    VOUCH_GGUF_BOOL,
    VOUCH_GGUF_STRING,
    VOUCH_GGUF_ARRAY,
    VOUCH_GGUF_U64,
    VOUCH_GGUF_I64,
    VOUCH_GGUF_F64,
    VOUCH_GGUF_TYPE_COUNT
} vouch_gguf_type;

/* Bytes inside the map. They are not NUL-terminated and may have any value. */
typedef struct vouch_text {
    const char *data;
    size_t size;
} vouch_text;

bool vouch_text_is(vouch_text text, const char *word);

/* "u8", "string", "array", ...; NULL for an undefined type. */
const char *vouch_gguf_type_name(uint32_t type);

typedef struct vouch_gguf_tensor {
    vouch_text name;  /* 1 to 64 bytes, no control characters */
    uint32_t n_dims;  /* 1 to 4 */
    int64_t dim[4];   /* dim[0] is contiguous; dimensions from n_dims on are 1; all > 0 */
    uint32_t type;    /* any GGUF id; vouch_type_get_info tells whether it is supported */
    const void *data; /* [bytes], inside the map; NULL if the type isn't supported */
    size_t bytes;     /* 0 if the type isn't supported */
    uint32_t file;    /* index of the model's file that has the data */
} vouch_gguf_tensor;

typedef struct vouch_gguf vouch_gguf;

/* Maps the file and checks the whole header. The first part of a split model opens all parts; another part is refused.
 * Afterwards keys and names are unique; tensors lie inside the file, don't
 * overlap, and are aligned (to 8 bytes at least). The size of tensors of unsupported types remains unchecked: whoever
 * reads such a tensor reports its type and name. A file may have no tensors (vocabulary only). Messages begin with the
 * path. Memory: at most 4 bytes per byte of the header. Time: O(n log n) in the header's size.
 * Errors: IO, FORMAT, UNSUPPORTED, MEMORY. On failure *out is NULL. */
vouch_status vouch_gguf_open(vouch_gguf **out, const char *path, vouch_error *err);
/* Opens a file to read its header only, even a file that vouch_gguf_open refuses: a split model that misses a part, a
 * truncated file, an unknown tensor type. *flaw receives the error of vouch_gguf_open; without a flaw its code is
 * VOUCH_OK. After a flaw *out has only the keys and tensors before it. No tensor has data. Errors: those of
 * vouch_gguf_open, if the header's counts can't be read. */
vouch_status vouch_gguf_open_header(vouch_gguf **out, const char *path, vouch_error *flaw, vouch_error *err);
/* Opens a file that the caller holds in memory; a part of a split model is refused. The bytes must outlive *out and be
 * aligned like tensor data (malloc's are). `name` replaces the path in messages. For tests and fuzzing. */
vouch_status vouch_gguf_open_bytes(vouch_gguf **out, const void *bytes, size_t size, const char *name,
                                   vouch_error *err);
void vouch_gguf_close(vouch_gguf *gguf); /* NULL is allowed */

/* Loads `size` bytes at `offset` of a tensor's data into memory. Call it before their first use: a bad disk, or a file
 * truncated since open, then gives an IO error here and not a SIGBUS later (base/filemap.h). */
vouch_status vouch_gguf_load(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor, size_t offset, size_t size,
                             vouch_error *err);
/* Releases the memory of these bytes after their last use. Other tensors and the header keep theirs. */
void vouch_gguf_release(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor, size_t offset, size_t size);
/* Call after the last use of the model. Error: IO, if a file has changed since open. */
vouch_status vouch_gguf_recheck(const vouch_gguf *gguf, vouch_error *err);

/* The path for messages: the tail of a very long one (vouch_path_tail). */
const char *vouch_gguf_path(const vouch_gguf *gguf);
/* The name that a folder's file has for a tensor, which GGUF calls otherwise; NULL: the model is no folder, or the
 * tensor is made of config.json. */
const char *vouch_gguf_origin(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor);
/* If the model is a folder, appends to err's message the members of config.json that concern a tensor or key which the
 * message names. NULL is allowed. */
void vouch_gguf_add_sizes(const vouch_gguf *gguf, vouch_error *err);
/* Bytes of all files. */
size_t vouch_gguf_file_bytes(const vouch_gguf *gguf);
size_t vouch_gguf_n_tensors(const vouch_gguf *gguf);
const vouch_gguf_tensor *vouch_gguf_get_tensor(const vouch_gguf *gguf, size_t index);
/* NULL if the file has no such tensor. O(log n). */
const vouch_gguf_tensor *vouch_gguf_find_tensor(const vouch_gguf *gguf, const char *name);

/* Metadata. An absent key leaves *value unchanged (so set the default first) and returns OK; with `required` it is a
 * FORMAT error. A key of the wrong type, or a value outside [min, max], is a FORMAT error. The messages name the key.
 * An int may have any integer type. A float may be F32 or F64 and must be finite. */
vouch_status vouch_gguf_get_int(const vouch_gguf *gguf, const char *key, bool required, int64_t min, int64_t max,
                                int64_t *value, vouch_error *err);
vouch_status vouch_gguf_get_float(const vouch_gguf *gguf, const char *key, bool required, double *value,
                                  vouch_error *err);
vouch_status vouch_gguf_get_bool(const vouch_gguf *gguf, const char *key, bool required, bool *value, vouch_error *err);
vouch_status vouch_gguf_get_text(const vouch_gguf *gguf, const char *key, bool required, vouch_text *value,
                                 vouch_error *err);
bool vouch_gguf_has(const vouch_gguf *gguf, const char *key);

/* An array of scalars or strings. If the key is absent, count is 0, or with `required` the call fails. */
typedef struct vouch_gguf_array {
    vouch_gguf_type type;
    size_t count;
    const unsigned char *data; /* the first element, at any address */
} vouch_gguf_array;
vouch_status vouch_gguf_get_array(const vouch_gguf *gguf, const char *key, bool required, vouch_gguf_array *value,
                                  vouch_error *err);
/* Returns the next string of an array of strings. *cursor starts as array->data; at most array->count calls. */
vouch_text vouch_gguf_next_text(const unsigned char **cursor);
/* Element i of an integer or bool array; a u64 above INT64_MAX gives INT64_MAX. */
int64_t vouch_gguf_array_int(const vouch_gguf_array *array, size_t i);
/* Element i of an F32 or F64 array. */
double vouch_gguf_array_float(const vouch_gguf_array *array, size_t i);

/* Keys or members that vouch doesn't know, and ignores: "NAME is VALUE, ..."; "" if there are none. */
const char *vouch_gguf_unknown(const vouch_gguf *gguf);
/* Adds one, unless it is there already. Not thread-safe. Error: MEMORY. */
vouch_status vouch_gguf_add_unknown(const vouch_gguf *gguf, vouch_text name, const char *value, vouch_error *err);
/* Adds "NAME is VALUE" to such a list, allocated memory; *list NULL: it is empty. Of more than 8,192 bytes it ends with
 * "...". False: no memory. */
bool vouch_gguf_note(char **list, vouch_text name, const char *value);
/* Whether key `index` has been asked for, since the file was opened. */
bool vouch_gguf_was_read(const vouch_gguf *gguf, size_t index);

/* The keys, in the file's order. `type` may be NULL. */
size_t vouch_gguf_n_kv(const vouch_gguf *gguf);
/* A key's value; that of a scalar or a string is an array of one. */
void vouch_gguf_value(const vouch_gguf *gguf, size_t index, vouch_gguf_type *type, vouch_gguf_array *value);
vouch_text vouch_gguf_key(const vouch_gguf *gguf, size_t index, vouch_gguf_type *type);

/*
 * Writing: add keys and tensors in any order, then write. The writer keeps pointers to tensor data and copies
 * everything else. The write reports the first failed add, so adds need no check. The writer writes a temporary file
 * beside the target and renames it when complete, so an error leaves no half-written file. The result is version 3 and
 * passes all of the reader's checks. The key general.alignment (u32) sets the alignment of the tensors.
 */
typedef struct vouch_gguf_writer vouch_gguf_writer;

vouch_status vouch_gguf_writer_open(vouch_gguf_writer **out, vouch_error *err);
void vouch_gguf_writer_close(vouch_gguf_writer *writer); /* NULL is allowed */
/* Whether a key has been added. O(keys). */
bool vouch_gguf_writer_has(const vouch_gguf_writer *writer, const char *key);
void vouch_gguf_add_u32(vouch_gguf_writer *writer, const char *key, uint32_t value);
void vouch_gguf_add_f32(vouch_gguf_writer *writer, const char *key, float value);
void vouch_gguf_add_bool(vouch_gguf_writer *writer, const char *key, bool value);
void vouch_gguf_add_text(vouch_gguf_writer *writer, const char *key, const char *value);
/* type: any scalar type. *value has the C type that matches, such as uint16_t for U16. */
void vouch_gguf_add_value(vouch_gguf_writer *writer, const char *key, vouch_gguf_type type, const void *value);
/* element: any scalar type. values [count] have the C type that matches. */
void vouch_gguf_add_array(vouch_gguf_writer *writer, const char *key, vouch_gguf_type element, const void *values,
                          size_t count);
void vouch_gguf_add_texts(vouch_gguf_writer *writer, const char *key, const vouch_text *values, size_t count);
/* Adds key `index` of an open file, with its type and value. */
void vouch_gguf_add_key(vouch_gguf_writer *writer, const vouch_gguf *from, size_t index);
/* `data` has the file's layout of the type. dim[0] must be a multiple of the type's block length. */
void vouch_gguf_add_tensor(vouch_gguf_writer *writer, const char *name, vouch_type type, uint32_t n_dims,
                           const int64_t *dim, const void *data);
/* Adds a tensor whose data `fill` makes during the write, so that a file may be larger than memory. `fill` writes the
 * bytes [offset, offset + size) of the tensor, in ascending order: blocks of a multiple of 256 values, or up to the
 * tensor's end. A status other than OK ends the write with it. Every write calls `fill` anew. `user` must outlive the
 * last write. */
typedef vouch_status vouch_gguf_fill_fn(void *user, size_t offset, void *bytes, size_t size, vouch_error *err);
void vouch_gguf_add_filled(vouch_gguf_writer *writer, const char *name, vouch_type type, uint32_t n_dims,
                           const int64_t *dim, vouch_gguf_fill_fn *fill, void *user);
/* Errors: IO (with the system's reason), MEMORY, ARGUMENT (the first failed add), those of `fill`. */
vouch_status vouch_gguf_write(vouch_gguf_writer *writer, const char *path, vouch_error *err);
/* Writes to memory. The caller frees *bytes with free(); on failure it is NULL. */
vouch_status vouch_gguf_write_bytes(vouch_gguf_writer *writer, void **bytes, size_t *size, vouch_error *err);

#endif
