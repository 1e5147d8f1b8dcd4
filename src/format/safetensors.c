/* SPDX-License-Identifier: MIT */
#include "format/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_LARGEST = 16 << 20, /* bytes; jansson needs up to 30 times as many */
    LENGTH_BYTES = 8
};

static const struct {
    const char *name;
    int bits;
} dtypes[] = {
    {"F32", 32},    {"F16", 16},    {"BF16", 16}, {"F64", 64}, {"I64", 64},    {"I32", 32},    {"I16", 16},
    {"I8", 8},      {"U64", 64},    {"U32", 32},  {"U16", 16}, {"U8", 8},      {"BOOL", 8},    {"F8_E4M3", 8},
    {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"C64", 64},  {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6},
};
enum { N_DTYPES = sizeof dtypes / sizeof dtypes[0] };

/* ------------------------------------------------------------------ header */

static vouch_status read_header(vouch_safetensors *file, const char *path, size_t *data_size, vouch_error *err)
{
    uint64_t length;
    json_error_t flaw;
    const size_t size = file->map.size;
    if (size < LENGTH_BYTES)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: has %zu bytes, too few for a safetensors file", path, size);
    VOUCH_TRY(vouch_filemap_load(&file->map, path, 0, LENGTH_BYTES, err));
    memcpy(&length, file->map.data, sizeof length);
    if (length > size - LENGTH_BYTES || length > HEADER_LARGEST)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: is no safetensors file, or damaged: its header would have %" PRIu64
                          " bytes, expected at most %zu",
                          path, length, size - LENGTH_BYTES < HEADER_LARGEST ? size - LENGTH_BYTES : HEADER_LARGEST);
    VOUCH_TRY(vouch_filemap_load(&file->map, path, LENGTH_BYTES, (size_t)length, err));
    const char *text = (const char *)file->map.data + LENGTH_BYTES;
    if (length == 0 || text[0] != '{')
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: is no safetensors file: its header doesn't begin with '{'", path);
    file->header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &flaw);
    if (!file->header && json_error_code(&flaw) == json_error_out_of_memory)
        return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory for the header", path);
    if (!file->header)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: header, byte %d: %s", path, flaw.position, flaw.text);
    *data_size = size - LENGTH_BYTES - (size_t)length;
    return VOUCH_OK;
}

/* ----------------------------------------------------------------- tensors */

static vouch_status tensor_fail(const char *path, const char *name, const char *problem, vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor '%.100s': %s", path, name, problem);
}

static int dtype_find(const char *name)
{
    for (int i = 0; i < N_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0) return i;
    return -1;
}

/* Fills dtype and shape. *bits is the size of the data. */
static vouch_status read_shape(vouch_safetensor *t, const json_t *entry, const char *path, int64_t *bits,
                               vouch_error *err)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape");
    if (!dtype) return tensor_fail(path, t->name, "dtype is missing, or no string", err);
    const int type = dtype_find(dtype);
    if (type < 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: tensor '%.100s': unknown dtype '%.20s'", path, t->name, dtype);
    t->dtype = dtypes[type].name;
    *bits = dtypes[type].bits;
    if (!json_is_array(shape)) return tensor_fail(path, t->name, "shape is missing, or no array", err);
    if (json_array_size(shape) > VOUCH_SAFETENSORS_MAX_DIMS)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: tensor '%.100s': %zu dimensions, expected at most %d", path,
                          t->name, json_array_size(shape), VOUCH_SAFETENSORS_MAX_DIMS);
    t->n_dims = (uint32_t)json_array_size(shape);
    bool is_empty = false, is_huge = false;
    for (uint32_t i = 0; i < t->n_dims; i++) {
        const json_t *dim = json_array_get(shape, i);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return tensor_fail(path, t->name, "a dimension is no integer from 0 on", err);
        t->shape[i] = json_integer_value(dim);
        if (t->shape[i] == 0) is_empty = true;
        else if (__builtin_mul_overflow(*bits, t->shape[i], bits)) is_huge = true;
    }
    if (is_empty) *bits = 0;
    else if (is_huge) return tensor_fail(path, t->name, "the product of its dimensions is too large", err);
    return VOUCH_OK;
}

static vouch_status read_tensor(vouch_safetensor *t, const json_t *entry, const char *path, size_t data_size,
                                vouch_error *err)
{
    int64_t bits = 0;
    if (!json_is_object(entry)) return tensor_fail(path, t->name, "its entry is no object", err);
    VOUCH_TRY(read_shape(t, entry, path, &bits, err));
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return tensor_fail(path, t->name, "data_offsets is no pair of integers", err);
    const int64_t begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin || (uint64_t)end > data_size)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tensor '%.100s': data_offsets %" PRId64 " to %" PRId64
                          " lie outside the file's %zu bytes of data; is the download complete?",
                          path, t->name, begin, end, data_size);
    if (bits % 8 != 0 || end - begin != bits / 8)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tensor '%.100s': data_offsets span %" PRId64 " bytes, but shape and dtype need %" PRId64,
                          path, t->name, end - begin, bits / 8);
    t->offset = (size_t)begin;
    t->bytes = (size_t)(end - begin);
    return VOUCH_OK;
}

static int offset_compare(const void *a, const void *b)
{
    const vouch_safetensor *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Sorts the tensors by their data, which must follow each other without gaps from 0 to data_size. */
static vouch_status check_cover(vouch_safetensors *file, const char *path, size_t data_size, vouch_error *err)
{
    size_t at = 0;
    if (file->n) qsort(file->tensors, file->n, sizeof *file->tensors, offset_compare);
    for (size_t i = 0; i < file->n; i++) {
        const vouch_safetensor *t = &file->tensors[i];
        if (t->offset != at)
            return tensor_fail(path, t->name,
                               t->offset < at ? "its data overlap those of another tensor" : "a gap precedes its data",
                               err);
        at += t->bytes;
    }
    if (at == data_size) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: %zu bytes follow the last tensor", path, data_size - at);
}

static vouch_status read_tensors(vouch_safetensors *file, const char *path, size_t data_size, vouch_error *err)
{
    const char *name;
    json_t *entry;
    file->tensors = calloc(json_object_size(file->header) + 1, sizeof *file->tensors);
    if (!file->tensors) return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory for its tensors", path);
    json_object_foreach(file->header, name, entry) {
        if (strcmp(name, "__metadata__") == 0) continue;
        vouch_safetensor *t = &file->tensors[file->n++];
        t->name = name;
        VOUCH_TRY(read_tensor(t, entry, path, data_size, err));
    }
    VOUCH_TRY(check_cover(file, path, data_size, err));
    for (size_t i = 0; i < file->n; i++) file->tensors[i].offset += file->map.size - data_size;
    return VOUCH_OK;
}

vouch_status vouch_safetensors_open(vouch_safetensors *file, const char *path, vouch_error *err)
{
    size_t data_size = 0;
    *file = (vouch_safetensors){0};
    VOUCH_TRY(vouch_filemap_open(&file->map, path, err));
    path = vouch_path_tail(path);
    vouch_status status = read_header(file, path, &data_size, err);
    if (status == VOUCH_OK) status = read_tensors(file, path, data_size, err);
    if (status != VOUCH_OK) vouch_safetensors_close(file);
    return status;
}

void vouch_safetensors_close(vouch_safetensors *file)
{
    vouch_filemap_close(&file->map);
    json_decref(file->header);
    free(file->tensors);
    *file = (vouch_safetensors){0};
}
