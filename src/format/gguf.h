/* SPDX-License-Identifier: MIT */
/*
 * GGUF files, versions 2 and 3: read through a memory map, every field checked before use;
 * and written.
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
    VOUCH_GGUF_U8, VOUCH_GGUF_I8, VOUCH_GGUF_U16, VOUCH_GGUF_I16, VOUCH_GGUF_U32, VOUCH_GGUF_I32,
    VOUCH_GGUF_F32, VOUCH_GGUF_BOOL, VOUCH_GGUF_STRING, VOUCH_GGUF_ARRAY, VOUCH_GGUF_U64,
    VOUCH_GGUF_I64, VOUCH_GGUF_F64, VOUCH_GGUF_TYPE_COUNT
} vouch_gguf_type;

/* Bytes inside the map: not NUL-terminated, may hold anything. */
typedef struct vouch_text {
    const char *data;
    size_t size;
} vouch_text;

/* "u8", "string", "array", ...; NULL for a type that is none. */
const char *vouch_gguf_type_name(uint32_t type);

typedef struct vouch_gguf_tensor {
    vouch_text name;   /* 1 to 64 bytes, no control characters */
    uint32_t n_dims;   /* 1 to 4 */
    int64_t dim[4];    /* dim[0] is the contiguous one; missing ones are 1; all > 0 */
    uint32_t type;     /* any GGUF id; check with vouch_type_get_info */
    const void *data;  /* inside the map, `bytes` of it; NULL where the type isn't supported */
    size_t bytes;      /* 0 where the type isn't supported */
} vouch_gguf_tensor;

typedef struct vouch_gguf vouch_gguf;

/* Maps and checks the whole header; messages begin with the path. Only the size of tensors of
 * unsupported types is left unchecked (their reader names type and tensor). A file may have no
 * tensors at all (vocabulary only). Keys and names are unique; tensors lie inside the file, aligned
 * (to 8 bytes at least) and disjoint. Memory: at most 4 bytes for each byte of the header; time:
 * O(n log n) in the header's size.
 * Errors: IO, FORMAT, UNSUPPORTED, MEMORY. On failure *out is NULL. */
vouch_status vouch_gguf_open(vouch_gguf **out, const char *path, vouch_error *err);
/* The same over bytes of the caller's, which must outlive *out and be aligned as tensor data should
 * be (malloc's are). `name` stands for the path. For tests and fuzzing. */
vouch_status vouch_gguf_open_bytes(vouch_gguf **out, const void *bytes, size_t size,
                                   const char *name, vouch_error *err);
void vouch_gguf_close(vouch_gguf *gguf); /* NULL is allowed */

/* Call before the first use of `size` bytes at `offset` of a tensor's data: brings them into memory, so that a bad
 * disk, or a file cut short since it was opened, is an IO error here and not a SIGBUS later (base/filemap.h). */
vouch_status vouch_gguf_load(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor, size_t offset, size_t size,
                             vouch_error *err);
/* Call after their last use: gives their memory back. No other tensor's data, and nothing of the header. */
void vouch_gguf_release(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor, size_t offset, size_t size);
/* Call after the last use of all: IO when the file has changed since it was opened. */
vouch_status vouch_gguf_recheck(const vouch_gguf *gguf, vouch_error *err);

/* For messages: of a very long path the tail (vouch_path_tail). */
const char *vouch_gguf_path(const vouch_gguf *gguf);
size_t vouch_gguf_file_bytes(const vouch_gguf *gguf);
size_t vouch_gguf_n_tensors(const vouch_gguf *gguf);
const vouch_gguf_tensor *vouch_gguf_get_tensor(const vouch_gguf *gguf, size_t index);
/* NULL where absent. O(log n). */
const vouch_gguf_tensor *vouch_gguf_find_tensor(const vouch_gguf *gguf, const char *name);

/* Metadata. An absent key leaves *value as it was (so set the default first) and is OK, unless
 * `required`, when it is a FORMAT error that names the key. A present one of another type is a
 * FORMAT error that names key and type. Any integer type that holds the value serves for int;
 * F32 and F64 serve for float, which must be finite. */
vouch_status vouch_gguf_get_int(const vouch_gguf *gguf, const char *key, bool required,
                                int64_t min, int64_t max, int64_t *value, vouch_error *err);
vouch_status vouch_gguf_get_float(const vouch_gguf *gguf, const char *key, bool required,
                                  double *value, vouch_error *err);
vouch_status vouch_gguf_get_bool(const vouch_gguf *gguf, const char *key, bool required,
                                 bool *value, vouch_error *err);
vouch_status vouch_gguf_get_text(const vouch_gguf *gguf, const char *key, bool required,
                                 vouch_text *value, vouch_error *err);
bool vouch_gguf_has(const vouch_gguf *gguf, const char *key);

/* An array of scalars or strings. Absent: *count is 0 (or an error where required). */
typedef struct vouch_gguf_array {
    vouch_gguf_type type;
    size_t count;
    const unsigned char *data; /* first element, unaligned */
} vouch_gguf_array;
vouch_status vouch_gguf_get_array(const vouch_gguf *gguf, const char *key, bool required,
                                  vouch_gguf_array *value, vouch_error *err);
/* Walks an array of strings: *cursor starts as array->data; call at most array->count times. */
vouch_text vouch_gguf_next_text(const unsigned char **cursor);
/* Element i of an integer or bool array, widened; a u64 above INT64_MAX gives INT64_MAX. */
int64_t vouch_gguf_array_int(const vouch_gguf_array *array, size_t i);
/* Element i of an F32 or F64 array. */
double vouch_gguf_array_float(const vouch_gguf_array *array, size_t i);

/* To walk the keys in the file's order. `type` may be NULL. */
size_t vouch_gguf_n_kv(const vouch_gguf *gguf);
vouch_text vouch_gguf_key(const vouch_gguf *gguf, size_t index, vouch_gguf_type *type);

/*
 * Writing: add keys and tensors in any order, then write. The writer keeps pointers to tensor data
 * and copies everything else. The first failing add is remembered and returned by the write, so
 * adds need no check. The file appears under its name only when complete (written beside it and
 * renamed), so an error leaves nothing half-written. What is written is version 3 and passes all of
 * the reader's checks; the key general.alignment (u32) sets the alignment of the tensors.
 */
typedef struct vouch_gguf_writer vouch_gguf_writer;

vouch_status vouch_gguf_writer_open(vouch_gguf_writer **out, vouch_error *err);
void vouch_gguf_writer_close(vouch_gguf_writer *writer); /* NULL is allowed */
void vouch_gguf_add_u32(vouch_gguf_writer *writer, const char *key, uint32_t value);
void vouch_gguf_add_f32(vouch_gguf_writer *writer, const char *key, float value);
void vouch_gguf_add_bool(vouch_gguf_writer *writer, const char *key, bool value);
void vouch_gguf_add_text(vouch_gguf_writer *writer, const char *key, const char *value);
/* type: any scalar type; *value is in the machine's own representation. */
void vouch_gguf_add_value(vouch_gguf_writer *writer, const char *key, vouch_gguf_type type,
                          const void *value);
/* element: any scalar type; `values` is `count` of them in the machine's own representation. */
void vouch_gguf_add_array(vouch_gguf_writer *writer, const char *key, vouch_gguf_type element,
                          const void *values, size_t count);
void vouch_gguf_add_texts(vouch_gguf_writer *writer, const char *key, const vouch_text *values,
                          size_t count);
/* `data` is in the file's layout for the type; dim[0] must be a multiple of the block length. */
void vouch_gguf_add_tensor(vouch_gguf_writer *writer, const char *name, vouch_type type,
                           uint32_t n_dims, const int64_t *dim, const void *data);
/* The same with data that is made while it is written, so that a file may be larger than memory: `fill` gives the
 * bytes [offset, offset + size) of the tensor, whole blocks. It is called in ascending order, for every write anew;
 * `user` must live until then. */
typedef void vouch_gguf_fill_fn(void *user, size_t offset, void *bytes, size_t size);
void vouch_gguf_add_filled(vouch_gguf_writer *writer, const char *name, vouch_type type, uint32_t n_dims,
                           const int64_t *dim, vouch_gguf_fill_fn *fill, void *user);
/* Errors: IO (with the reason; a full disk too), MEMORY, ARGUMENT (the first bad add). */
vouch_status vouch_gguf_write(vouch_gguf_writer *writer, const char *path, vouch_error *err);
/* The same into memory: *bytes is the caller's to free(). */
vouch_status vouch_gguf_write_bytes(vouch_gguf_writer *writer, void **bytes, size_t *size,
                                    vouch_error *err);

#endif
