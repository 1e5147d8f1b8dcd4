/* SPDX-License-Identifier: MIT */
#include "format/recipe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

/* ------------------------------------------------------------------- region */

static size_t whole_pages(size_t bytes)
{
    const size_t page = vouch_os_page_size();
    return (bytes + page - 1) / page * page;
}

vouch_status vouch_made_reserve(vouch_made *made, vouch_gguf_tensor *tensors, const char *path, vouch_error *err)
{
    size_t size = 0;
    for (size_t i = 0; i < made->n; i++)
        if (made->recipes[i].views) size += whole_pages(tensors[i].bytes);
    if (size == 0) return VOUCH_OK;
    void *region = vouch_os_pages_reserve(size);
    if (!region) return vouch_fail(err, VOUCH_E_MEMORY, "%s: can't reserve %zu bytes: %s", path, size, strerror(errno));
    made->region = region;
    made->region_size = size;
    for (size_t i = 0, at = 0; i < made->n; i++) {
        if (!made->recipes[i].views) continue;
        tensors[i].data = made->region + at;
        at += whole_pages(tensors[i].bytes);
    }
    return VOUCH_OK;
}

void vouch_made_free(vouch_made *made)
{
    if (!made) return;
    if (made->region) vouch_os_pages_free(made->region, made->region_size);
    for (size_t i = 0; i < made->n; i++) {
        free(made->recipes[i].views);
        free(made->origins[i]);
    }
    free(made->recipes);
    free(made->constants);
    free(made->steps);
    free(made->names);
    free(made->origins);
    free(made->sizes);
    free(made->keys);
    free(made);
}

void vouch_recipe_release(const vouch_gguf_tensor *tensor, size_t offset, size_t size)
{
    const size_t page = vouch_os_page_size(), begin = whole_pages(offset);
    /* The rest of the last page belongs to nobody else. */
    const size_t end = offset + size == tensor->bytes ? whole_pages(offset + size) : (offset + size) / page * page;
    if (begin < end) vouch_os_pages_drop((unsigned char *)(uintptr_t)tensor->data + begin, end - begin);
}

/* --------------------------------------------------------------------- rows */

static float value_at(vouch_type type, const unsigned char *bytes)
{
    uint16_t half;
    float single;
    if (type == VOUCH_TYPE_F32) {
        memcpy(&single, bytes, sizeof single);
        return single;
    }
    memcpy(&half, bytes, sizeof half);
    return type == VOUCH_TYPE_F16 ? vouch_half_to_float(half) : vouch_bfloat_to_float(half);
}

/* Bytes of a value in the file's tensor. */
static size_t value_size(const vouch_recipe *r)
{
    return r->type == VOUCH_TYPE_MXFP4 ? 16 : (size_t)vouch_type_get_info((uint32_t)r->type)->block_bytes;
}

/* A block of GGUF: the scale, then bytes whose lower halves are elements 0 to 15 and whose upper halves are the others.
 * In the file the bytes hold adjacent elements, the lower half first. */
static void make_mxfp4(unsigned char *out, unsigned char scale, const unsigned char *pairs)
{
    out[0] = scale;
    for (int i = 0; i < 16; i++) {
        const unsigned low = pairs[i / 2] >> (i % 2 * 4) & 15u, high = pairs[8 + i / 2] >> (i % 2 * 4) & 15u;
        out[1 + i] = (unsigned char)(low | high << 4);
    }
}

/* Where row `row` of a view begins, in values. */
static int64_t row_first(const vouch_view *v, int64_t row)
{
    const int64_t k = row % v->n[2], j = row / v->n[2] % v->n[1], i = row / v->n[2] / v->n[1];
    return v->first + i * v->stride[0] + j * v->stride[1] + k * v->stride[2];
}

/* Writes columns [begin, end) of the row that begins at `from`. */
static void make_row(const vouch_recipe *r, const vouch_view *v, int64_t from, int64_t begin, int64_t end,
                     unsigned char *out)
{
    const size_t size = value_size(r);
    const unsigned char *at = v->data + (size_t)(from + begin * v->step) * size;
    if (v->scales) {
        for (int64_t i = begin; i < end; i++, at += (size_t)v->step * size, out += 17)
            make_mxfp4(out, v->scales[from + i * v->step], at);
        return;
    }
    if (!r->is_widened && v->step == 1) {
        memcpy(out, at, (size_t)(end - begin) * size);
        return;
    }
    for (int64_t i = begin; i < end; i++, at += (size_t)v->step * size) {
        if (r->is_widened) {
            const float x = value_at(r->type, at) + r->add, value = r->is_decay ? (float)-exp((double)x) : x;
            memcpy(out, &value, sizeof value);
            out += sizeof value;
        } else {
            memcpy(out, at, size);
            out += size;
        }
    }
}

/* Bytes of a file. */
typedef struct span {
    const vouch_gguf_file *file;
    size_t offset, size;
} span;

/* The bytes from the first to the last of rows [begin, end), in values of `bytes` bytes from `data` on. */
static span span_of(const vouch_recipe *r, const vouch_view *v, int64_t begin, int64_t end, const unsigned char *data,
                    int64_t bytes, const vouch_gguf_file *file)
{
    int64_t low = INT64_MAX, high = 0;
    for (int64_t row = begin; row < end; row++) {
        const int64_t first = row_first(v, row), last = first + (r->n_columns - 1) * v->step;
        if (first < low) low = first;
        if (last > high) high = last;
    }
    return (span){file, (size_t)(data - file->map.data) + (size_t)(low * bytes), (size_t)((high - low + 1) * bytes)};
}

/* Loads or releases the file's bytes of rows [begin, end). */
static vouch_status hold_rows(const vouch_recipe *r, const vouch_view *v, int64_t begin, int64_t end,
                              const vouch_gguf_file *files, bool is_load, vouch_error *err)
{
    span spans[2] = {span_of(r, v, begin, end, v->data, (int64_t)value_size(r), &files[v->file])};
    if (v->scales) spans[1] = span_of(r, v, begin, end, v->scales, 1, &files[v->scales_file]);
    for (int i = 0; i < (v->scales ? 2 : 1); i++) {
        const vouch_filemap *map = &spans[i].file->map;
        if (is_load) VOUCH_TRY(vouch_filemap_load(map, spans[i].file->path, spans[i].offset, spans[i].size, err));
        else vouch_filemap_release(map, spans[i].offset, spans[i].size);
    }
    return VOUCH_OK;
}

vouch_status vouch_recipe_make(const vouch_recipe *r, const vouch_gguf_tensor *tensor, size_t offset, size_t size,
                               const vouch_gguf_file *files, vouch_error *err)
{
    const size_t width = r->is_widened ? sizeof(float) : (size_t)vouch_type_get_info((uint32_t)r->type)->block_bytes;
    unsigned char *out = (unsigned char *)(uintptr_t)tensor->data + offset;
    const int64_t first = (int64_t)(offset / width), end = first + (int64_t)(size / width); /* values of the tensor */
    int64_t base = 0; /* rows of the views before */
    if (!vouch_os_pages_commit(out, size))
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to convert %zu bytes of a tensor: %s", size,
                          strerror(errno));
    for (size_t i = 0; i < r->n_views; i++) {
        const vouch_view *v = &r->views[i];
        const int64_t n_rows = v->n[0] * v->n[1] * v->n[2];
        const int64_t row_begin = first / r->n_columns - base, row_end = (end - 1) / r->n_columns + 1 - base;
        const int64_t from = row_begin > 0 ? row_begin : 0, to = row_end < n_rows ? row_end : n_rows;
        base += n_rows;
        if (from >= to || size == 0) continue;
        VOUCH_TRY(hold_rows(r, v, from, to, files, true, err));
        for (int64_t row = from; row < to; row++) {
            const int64_t start = (base - n_rows + row) * r->n_columns; /* the row's first value in the tensor */
            const int64_t column = first > start ? first - start : 0;
            const int64_t stop = end - start < r->n_columns ? end - start : r->n_columns;
            make_row(r, v, row_first(v, row), column, stop, out);
            out += (size_t)(stop - column) * width;
        }
        VOUCH_TRY(hold_rows(r, v, from, to, files, false, err));
    }
    return VOUCH_OK;
}
