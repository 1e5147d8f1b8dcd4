/* SPDX-License-Identifier: MIT */
/*
 * Opens a GGUF file: one pass over its header that trusts no field.
 *
 *   bytes ▼                         at ▼                loaded ▼                            end ▼
 *   [ checked, copied into the tables  | in memory, unread     | not yet loaded                 ]
 *
 * Invariants of the parser:
 *   1. bytes <= at <= end. Only parser_need moves `at`, and it compares each size with the bytes left.
 *   2. The parser reads each number once, into a local variable, so it uses the number that it checked. The sizes in an
 *      array of strings are the only exception: vouch_gguf_next_text reads them again. base/filemap.h covers the
 *      case of a file that is overwritten in place.
 *   3. The parser multiplies two of the file's numbers only when one of them is known to be small. It allocates memory
 *      for a count only when the file has the bytes for the count.
 *   4. Duplicates and overlaps are found by sorting, never by comparing all pairs.
 *
 * Accepted on purpose: gaps between tensors and bytes after the last tensor (mostly padding); any order of the tensors'
 * data; a file without tensors that ends without padding; keys and names that are not valid UTF-8 (no reader looks for
 * them, and messages print '?').
 *
 * The format: github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/gguf_private.h"
#include "format/recipe.h"

enum {
    KV_BYTES_MIN = 8 + 1 + 4 + 1,             /* length, a key of one byte, type, a byte of value */
    TENSOR_BYTES_MIN = 8 + 1 + 4 + 8 + 4 + 8, /* length, name, n_dims, one dim, type, offset */
    LOAD_STEP = 4 << 20                       /* bytes of the header loaded at a time */
};

typedef struct parser {
    vouch_gguf *gguf;
    const unsigned char *at, *loaded, *end;
    /* The current item, for messages: "tensor 3", with its name once the name is known to be printable. */
    const char *item;
    size_t index;
    vouch_text name;
    vouch_error *err;
} parser;

static vouch_status parser_fail(const parser *p, vouch_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static vouch_status parser_fail(const parser *p, vouch_status code, const char *format, ...)
{
    char detail[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    const char *path = p->gguf->path;
    if (!p->item) return vouch_fail(p->err, code, "%s: %s", path, detail);
    if (!p->name.data) return vouch_fail(p->err, code, "%s: %s %zu: %s", path, p->item, p->index, detail);
    return vouch_fail(p->err, code, "%s: %s '%.*s': %s", path, p->item, p->name.size > 80 ? 80 : (int)p->name.size,
                      p->name.data, detail);
}

static size_t parser_left(const parser *p)
{
    return (size_t)(p->end - p->at);
}

/* Takes the next `size` bytes; *start points to them. */
static vouch_status parser_need(parser *p, size_t size, const char *what, const unsigned char **start)
{
    if (size > parser_left(p))
        return parser_fail(p, VOUCH_E_FORMAT,
                           "the file ends inside the %s (%zu bytes at byte %zu of %zu); is the download complete?",
                           what, size, (size_t)(p->at - p->gguf->bytes), p->gguf->size);
    *start = p->at;
    p->at += size;
    if (p->at <= p->loaded || !p->gguf->files) return VOUCH_OK;
    const size_t begin = (size_t)(p->loaded - p->gguf->bytes);
    const size_t used = (size_t)(p->at - p->gguf->bytes);
    const size_t until = p->gguf->size - used > LOAD_STEP ? used + LOAD_STEP : p->gguf->size;
    VOUCH_TRY(vouch_filemap_load(&p->gguf->files->map, p->gguf->path, begin, until - begin, p->err));
    p->loaded = p->gguf->bytes + until;
    return VOUCH_OK;
}

static vouch_status parser_u32(parser *p, const char *what, uint32_t *value)
{
    const unsigned char *start;
    VOUCH_TRY(parser_need(p, sizeof *value, what, &start));
    memcpy(value, start, sizeof *value);
    return VOUCH_OK;
}

static vouch_status parser_u64(parser *p, const char *what, uint64_t *value)
{
    const unsigned char *start;
    VOUCH_TRY(parser_need(p, sizeof *value, what, &start));
    memcpy(value, start, sizeof *value);
    return VOUCH_OK;
}

static vouch_status parser_text(parser *p, const char *what, vouch_text *text)
{
    uint64_t size;
    const unsigned char *start;
    VOUCH_TRY(parser_u64(p, what, &size));
    if (size > parser_left(p))
        return parser_fail(p, VOUCH_E_FORMAT,
                           "the %s claims %" PRIu64 " bytes, but the file has only %zu more; is it damaged?", what,
                           size, parser_left(p));
    VOUCH_TRY(parser_need(p, (size_t)size, what, &start));
    *text = (vouch_text){(const char *)start, (size_t)size};
    return VOUCH_OK;
}

/* Reads a key or a tensor's name. From here on, messages name the item by this name. */
static vouch_status parser_name(parser *p, const char *what, size_t most, vouch_text *name)
{
    VOUCH_TRY(parser_text(p, what, name));
    if (name->size == 0 || name->size > most)
        return parser_fail(p, VOUCH_E_FORMAT, "the %s has %zu bytes; it must have 1 to %zu", what, name->size, most);
    const size_t control = vouch_gguf_find_control(*name);
    if (control < name->size)
        return parser_fail(p, VOUCH_E_FORMAT, "the %s has the control character 0x%02x at byte %zu", what,
                           (unsigned char)name->data[control], control);
    p->name = *name;
    return VOUCH_OK;
}

/* ------------------------------------------------------------------ header */

/* Recognises files that users often take for GGUF, by their first four bytes. */
static const char *guess_file(const unsigned char *start)
{
    static const struct {
        char magic[5];
        const char *what;
    } known[] = {
        {"tjgg", "an old GGML file; convert the original model to GGUF"},
        {"fmgg", "an old GGML file; convert the original model to GGUF"},
        {"lmgg", "an old GGML file; convert the original model to GGUF"},
        {"vers", "probably a Git LFS pointer; download the file that it points to"},
        {"<!DO", "probably a web page; use the file's direct download link"},
        {"<htm", "probably a web page; use the file's direct download link"},
        {"PK\3\4", "a zip or PyTorch file; convert the model to GGUF, a head to safetensors (docs/heads.md)"},
        {"\x80\2", "a PyTorch file; convert the model to GGUF, a head to safetensors (docs/heads.md)"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (memcmp(start, known[i].magic, strlen(known[i].magic)) == 0) return known[i].what;
    return NULL;
}

static vouch_status parse_magic(parser *p)
{
    const unsigned char *start;
    VOUCH_TRY(parser_need(p, 4, "magic", &start));
    if (memcmp(start, VOUCH_GGUF_MAGIC, 4) == 0) return VOUCH_OK;
    const char *guess = guess_file(start);
    if (guess) return parser_fail(p, VOUCH_E_FORMAT, "is no GGUF file but %s", guess);
    return parser_fail(p, VOUCH_E_FORMAT, "is no GGUF file: it begins with %02x %02x %02x %02x, not \"GGUF\"", start[0],
                       start[1], start[2], start[3]);
}

static vouch_status parse_version(parser *p)
{
    uint32_t version;
    VOUCH_TRY(parser_u32(p, "version", &version));
    if (version == 2 || version == 3) return VOUCH_OK;
    const uint32_t swapped = __builtin_bswap32(version);
    if (swapped >= 1 && swapped <= 0xffff)
        return parser_fail(p, VOUCH_E_UNSUPPORTED,
                           "is a big-endian GGUF file (version 0x%08" PRIx32
                           "); vouch reads little-endian files: convert it with gguf-convert-endian",
                           version);
    return parser_fail(p, VOUCH_E_UNSUPPORTED, "GGUF version %" PRIu32 " is not supported; vouch reads 2 and 3%s",
                       version, version == 1 ? "; convert the original model again" : "");
}

/* Reads the two counts, checks that the file has enough bytes for them, and allocates the tables. */
static vouch_status parse_counts(parser *p)
{
    uint64_t n_tensors, n_kv;
    VOUCH_TRY(parser_u64(p, "number of tensors", &n_tensors));
    VOUCH_TRY(parser_u64(p, "number of metadata keys", &n_kv));
    const size_t left = parser_left(p);
    if (n_kv > left / KV_BYTES_MIN)
        return parser_fail(p, VOUCH_E_FORMAT, "claims %" PRIu64 " metadata keys in %zu bytes; is the file damaged?",
                           n_kv, left);
    if (n_tensors > (left - n_kv * KV_BYTES_MIN) / TENSOR_BYTES_MIN)
        return parser_fail(p, VOUCH_E_FORMAT,
                           "claims %" PRIu64 " tensors and %" PRIu64
                           " metadata keys in %zu bytes; is the file damaged?",
                           n_tensors, n_kv, left);

    vouch_gguf *g = p->gguf;
    g->n_kv = (size_t)n_kv;
    g->n_tensors = (size_t)n_tensors;
    /* The counts may still be false. calloc's untouched pages cost nothing. */
    g->kv = calloc(g->n_kv + 1, sizeof *g->kv);
    g->kv_index = calloc(g->n_kv + 1, sizeof *g->kv_index);
    g->tensors = calloc(g->n_tensors + 1, sizeof *g->tensors);
    g->tensor_index = calloc(g->n_tensors + 1, sizeof *g->tensor_index);
    if (!g->kv || !g->kv_index || !g->tensors || !g->tensor_index)
        return parser_fail(p, VOUCH_E_MEMORY, "not enough memory for %zu metadata keys and %zu tensors", g->n_kv,
                           g->n_tensors);
    return VOUCH_OK;
}

/* ---------------------------------------------------------------- metadata */

/* Reads value->count elements of value->type, a scalar type or STRING. */
static vouch_status parse_elements(parser *p, vouch_gguf_array *value)
{
    value->data = p->at;
    if (value->type == VOUCH_GGUF_STRING) {
        vouch_text text;
        for (size_t i = 0; i < value->count; i++) VOUCH_TRY(parser_text(p, "string", &text));
        return VOUCH_OK;
    }
    const unsigned char *start;
    /* The product can't overflow: the count is at most the bytes left, divided by the element's size. */
    VOUCH_TRY(parser_need(p, value->count * vouch_gguf_type_size(value->type), "value", &start));
    if (value->type != VOUCH_GGUF_BOOL) return VOUCH_OK;
    for (size_t i = 0; i < value->count; i++)
        if (start[i] > 1) return parser_fail(p, VOUCH_E_FORMAT, "a bool is %u; it must be 0 or 1", start[i]);
    return VOUCH_OK;
}

static vouch_status parse_array(parser *p, vouch_gguf_array *value)
{
    uint32_t type;
    uint64_t count;
    VOUCH_TRY(parser_u32(p, "array's type", &type));
    VOUCH_TRY(parser_u64(p, "array's length", &count));
    if (type == VOUCH_GGUF_ARRAY)
        return parser_fail(p, VOUCH_E_UNSUPPORTED, "is an array of arrays; vouch reads arrays of numbers or strings");
    if (type >= VOUCH_GGUF_TYPE_COUNT)
        return parser_fail(p, VOUCH_E_FORMAT, "is an array of type %" PRIu32 "; types are 0 to %d", type,
                           VOUCH_GGUF_TYPE_COUNT - 1);
    const size_t least = type == VOUCH_GGUF_STRING ? sizeof(uint64_t) : vouch_gguf_type_size(type);
    if (count > parser_left(p) / least)
        return parser_fail(p, VOUCH_E_FORMAT,
                           "claims to be an array of %" PRIu64 " %ss, but the file has only %zu more bytes", count,
                           vouch_gguf_type_name(type), parser_left(p));
    value->type = (vouch_gguf_type)type;
    value->count = (size_t)count;
    return parse_elements(p, value);
}

static vouch_status parse_kv(parser *p, vouch_gguf_kv *kv)
{
    uint32_t type;
    VOUCH_TRY(parser_name(p, "key", VOUCH_GGUF_KEY_MAX, &kv->key));
    VOUCH_TRY(parser_u32(p, "type", &type));
    if (type >= VOUCH_GGUF_TYPE_COUNT)
        return parser_fail(p, VOUCH_E_FORMAT, "has type %" PRIu32 "; types are 0 to %d", type,
                           VOUCH_GGUF_TYPE_COUNT - 1);
    kv->type = (vouch_gguf_type)type;
    if (kv->type == VOUCH_GGUF_ARRAY) return parse_array(p, &kv->value);
    kv->value.type = kv->type;
    kv->value.count = 1;
    return parse_elements(p, &kv->value);
}

static vouch_status parse_metadata(parser *p)
{
    vouch_gguf *g = p->gguf;
    p->item = "metadata key";
    for (p->index = 0; p->index < g->n_kv; p->index++) {
        p->name = (vouch_text){0};
        VOUCH_TRY(parse_kv(p, &g->kv[p->index]));
    }
    vouch_text_index_build(g->kv_index, g->kv, g->n_kv, sizeof *g->kv);
    const vouch_text *twice = vouch_text_index_duplicate(g->kv_index, g->n_kv);
    if (twice) {
        p->name = *twice;
        return parser_fail(p, VOUCH_E_FORMAT, "occurs more than once");
    }
    p->item = NULL;
    return VOUCH_OK;
}

static vouch_status check_alignment(parser *p)
{
    vouch_gguf *g = p->gguf;
    const char *const key = VOUCH_GGUF_ALIGNMENT_KEY;
    const vouch_gguf_kv *kv = (const vouch_gguf_kv *)(const void *)vouch_text_index_find(g->kv_index, g->n_kv, key);
    g->alignment = VOUCH_GGUF_ALIGNMENT_DEFAULT;
    if (!kv) return VOUCH_OK;
    if (kv->type != VOUCH_GGUF_U32)
        return parser_fail(p, VOUCH_E_FORMAT, "metadata key '%s' is of type %s; it must be a u32", key,
                           vouch_gguf_type_name(kv->type));
    const int64_t alignment = vouch_gguf_array_int(&kv->value, 0);
    if (!vouch_gguf_alignment_ok((uint64_t)alignment))
        return parser_fail(p, VOUCH_E_FORMAT,
                           "metadata key '%s' is %" PRId64 "; it must be a power of two from %d to %d", key, alignment,
                           VOUCH_GGUF_ALIGNMENT_MIN, VOUCH_GGUF_ALIGNMENT_MAX);
    g->alignment = (size_t)alignment;
    return VOUCH_OK;
}

/* ----------------------------------------------------------------- tensors */

/* "64 x 128" */
static void format_dims(const vouch_gguf_tensor *tensor, char text[96])
{
    int used = 0;
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        used += snprintf(text + used, 96 - (size_t)used, "%s%" PRId64, i ? " x " : "", tensor->dim[i]);
}

static vouch_status parse_dims(parser *p, vouch_gguf_tensor *tensor)
{
    VOUCH_TRY(parser_u32(p, "number of dimensions", &tensor->n_dims));
    if (tensor->n_dims < 1 || tensor->n_dims > VOUCH_GGUF_MAX_DIMS)
        return parser_fail(p, VOUCH_E_FORMAT, "has %" PRIu32 " dimensions; it must have 1 to %d", tensor->n_dims,
                           VOUCH_GGUF_MAX_DIMS);
    for (uint32_t i = 0; i < VOUCH_GGUF_MAX_DIMS; i++) {
        uint64_t dim = 1;
        if (i < tensor->n_dims) VOUCH_TRY(parser_u64(p, "dimensions", &dim));
        if (dim == 0 || dim > INT64_MAX)
            return parser_fail(p, VOUCH_E_FORMAT, "dimension %" PRIu32 " is %" PRId64 "; it must be positive", i,
                               (int64_t)dim);
        tensor->dim[i] = (int64_t)dim;
    }
    return VOUCH_OK;
}

/* Sets tensor->bytes; leaves it 0 for a type that isn't supported. */
static vouch_status check_size(parser *p, vouch_gguf_tensor *tensor)
{
    const vouch_type_info *info = vouch_type_get_stored(tensor->type);
    char dims[96];
    int64_t n_values;
    format_dims(tensor, dims);
    if (!vouch_type_gguf_name(tensor->type))
        return parser_fail(p, VOUCH_E_UNSUPPORTED, "has type %" PRIu32 ", which this version of vouch does not know",
                           tensor->type);
    if (!vouch_gguf_count_values(tensor->n_dims, tensor->dim, &n_values))
        return parser_fail(p, VOUCH_E_FORMAT, "has %s values; their number must be below 2^63", dims);
    if (!info) return VOUCH_OK;
    if (tensor->dim[0] % info->block_length != 0)
        return parser_fail(p, VOUCH_E_FORMAT, "dimension 0 of %s must be a multiple of %d for type %s", dims,
                           info->block_length, info->name);
    if (__builtin_mul_overflow(n_values / info->block_length, info->block_bytes, &tensor->bytes))
        return parser_fail(p, VOUCH_E_FORMAT, "has %s values of type %s, more than this machine can address", dims,
                           info->name);
    return VOUCH_OK;
}

/* Reads everything except the offset. The offset can be checked only when the end of the header is known, so
 * tensor->data points to the offset's bytes in the file for now. */
static vouch_status parse_tensor(parser *p, vouch_gguf_tensor *tensor)
{
    const unsigned char *offset_at;
    VOUCH_TRY(parser_name(p, "name", VOUCH_GGUF_NAME_MAX, &tensor->name));
    VOUCH_TRY(parse_dims(p, tensor));
    VOUCH_TRY(parser_u32(p, "type", &tensor->type));
    VOUCH_TRY(check_size(p, tensor));
    VOUCH_TRY(parser_need(p, sizeof(uint64_t), "offset", &offset_at));
    tensor->data = offset_at;
    return VOUCH_OK;
}

vouch_status vouch_gguf_index_tensors(vouch_gguf *g, vouch_error *err)
{
    vouch_text_index_build(g->tensor_index, g->tensors, g->n_tensors, sizeof *g->tensors);
    const vouch_text *twice = vouch_text_index_duplicate(g->tensor_index, g->n_tensors);
    if (!twice) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor '%.*s': occurs more than once", g->path, (int)twice->size,
                      twice->data);
}

static vouch_status parse_tensors(parser *p)
{
    vouch_gguf *g = p->gguf;
    p->item = "tensor";
    for (p->index = 0; p->index < g->n_tensors; p->index++) {
        p->name = (vouch_text){0};
        VOUCH_TRY(parse_tensor(p, &g->tensors[p->index]));
    }
    return vouch_gguf_index_tensors(g, p->err);
}

/* Turns a tensor's offset into tensor->data. The file's tensor data are data [data_size]. */
static vouch_status place_tensor(parser *p, vouch_gguf_tensor *tensor, const unsigned char *data, size_t data_size)
{
    uint64_t offset;
    memcpy(&offset, tensor->data, sizeof offset);
    tensor->data = NULL;
    p->name = tensor->name;
    if (offset % p->gguf->alignment != 0)
        return parser_fail(p, VOUCH_E_FORMAT, "offset %" PRIu64 " is not a multiple of the alignment, %zu", offset,
                           p->gguf->alignment);
    if (offset > data_size || tensor->bytes > data_size - offset)
        return parser_fail(p, VOUCH_E_FORMAT,
                           "its %zu bytes at offset %" PRIu64
                           " go beyond the file's %zu bytes of tensor data; is the download complete?",
                           tensor->bytes, offset, data_size);
    if (tensor->bytes) tensor->data = data + offset;
    return VOUCH_OK;
}

/* Orders tensors by the address of their data; tensors without data come first. */
static int address_compare(const void *a, const void *b)
{
    const vouch_gguf_tensor *first = *(const vouch_gguf_tensor *const *)a;
    const vouch_gguf_tensor *second = *(const vouch_gguf_tensor *const *)b;
    const uintptr_t x = (uintptr_t)first->data, y = (uintptr_t)second->data;
    return x < y ? -1 : x > y;
}

static vouch_status check_overlap(parser *p)
{
    const vouch_gguf *g = p->gguf;
    const vouch_gguf_tensor **sorted = calloc(g->n_tensors + 1, sizeof *sorted);
    if (!sorted)
        return vouch_fail(p->err, VOUCH_E_MEMORY, "%s: not enough memory for %zu tensors", g->path, g->n_tensors);
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; i < g->n_tensors; i++) sorted[i] = &g->tensors[i];
    qsort(sorted, g->n_tensors, sizeof *sorted, address_compare);
    for (size_t i = 1; status == VOUCH_OK && i < g->n_tensors; i++) {
        const vouch_gguf_tensor *before = sorted[i - 1], *tensor = sorted[i];
        if (!before->data || (uintptr_t)before->data + before->bytes <= (uintptr_t)tensor->data) continue;
        p->name = tensor->name;
        status = parser_fail(p, VOUCH_E_FORMAT, "its data overlaps the data of tensor '%.*s'", (int)before->name.size,
                             before->name.data);
    }
    free(sorted);
    return status;
}

static vouch_status place_tensors(parser *p)
{
    const vouch_gguf *g = p->gguf;
    const size_t header = (size_t)(p->at - g->bytes);
    const size_t padding = (g->alignment - header % g->alignment) % g->alignment;
    const size_t data_size = padding < parser_left(p) ? parser_left(p) - padding : 0;
    const unsigned char *const data = g->bytes + (g->size - data_size);
    for (p->index = 0; p->index < g->n_tensors; p->index++)
        VOUCH_TRY(place_tensor(p, &g->tensors[p->index], data, data_size));
    return check_overlap(p);
}

/* -------------------------------------------------------------------- open */

/* Keeps the keys and tensors before the first flaw, and no tensor's data. */
static void parse_leniently(parser *p, vouch_error *flaw)
{
    vouch_gguf *g = p->gguf;
    p->err = flaw;
    vouch_status status = parse_metadata(p);
    if (status != VOUCH_OK) {
        g->n_kv = p->index;
        g->n_tensors = 0;
        vouch_text_index_build(g->kv_index, g->kv, g->n_kv, sizeof *g->kv);
        return;
    }
    p->index = 0;
    status = check_alignment(p);
    if (status == VOUCH_OK) status = parse_tensors(p);
    if (status != VOUCH_OK) {
        g->n_tensors = p->index;
        vouch_text_index_build(g->tensor_index, g->tensors, g->n_tensors, sizeof *g->tensors);
    } else {
        (void)place_tensors(p);
    }
    for (size_t i = 0; i < g->n_tensors; i++)
        if (flaw->code != VOUCH_OK) g->tensors[i].data = NULL;
}

/* flaw NULL: the first flaw is an error. Otherwise *flaw receives the first flaw after the counts. */
static vouch_status parse_file(vouch_gguf *gguf, vouch_error *flaw, vouch_error *err)
{
    parser p = {.gguf = gguf, .at = gguf->bytes, .loaded = gguf->bytes, .err = err};
    p.end = gguf->bytes + gguf->size;
    VOUCH_TRY(parse_magic(&p));
    VOUCH_TRY(parse_version(&p));
    VOUCH_TRY(parse_counts(&p));
    if (flaw) {
        *flaw = (vouch_error){VOUCH_OK, ""};
        parse_leniently(&p, flaw);
        return VOUCH_OK;
    }
    VOUCH_TRY(parse_metadata(&p));
    VOUCH_TRY(check_alignment(&p));
    VOUCH_TRY(parse_tensors(&p));
    return place_tensors(&p);
}

static vouch_status gguf_create(vouch_gguf **out, const char *path, vouch_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", vouch_path_tail(path));
    (*out)->path = strdup(vouch_path_tail(path));
    (*out)->unknown = calloc(1, sizeof *(*out)->unknown);
    if ((*out)->path && (*out)->unknown) return VOUCH_OK;
    vouch_gguf_close(*out);
    *out = NULL;
    return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", vouch_path_tail(path));
}

vouch_status vouch_gguf_open_bytes(vouch_gguf **out, const void *bytes, size_t size, const char *name, vouch_error *err)
{
    vouch_status status = gguf_create(out, name, err);
    if (status != VOUCH_OK) return status;
    (*out)->bytes = bytes;
    (*out)->size = size;
    status = parse_file(*out, NULL, err);
    if (status == VOUCH_OK) status = vouch_gguf_join_parts(*out, NULL, err);
    if (status != VOUCH_OK) {
        vouch_gguf_close(*out);
        *out = NULL;
    }
    return status;
}

static vouch_status map_file(vouch_gguf *g, const char *path, vouch_error *err)
{
    vouch_filemap map;
    VOUCH_TRY(vouch_filemap_open(&map, path, err));
    g->files = calloc(1, sizeof *g->files);
    char *name = strdup(g->path);
    if (!g->files || !name) {
        vouch_filemap_close(&map);
        free(name);
        return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", g->path);
    }
    *g->files = (vouch_gguf_file){name, map};
    g->n_files = 1;
    g->bytes = map.data;
    g->size = map.size;
    return VOUCH_OK;
}

vouch_status vouch_gguf_open_one(vouch_gguf **out, const char *path, vouch_error *flaw, vouch_error *err)
{
    VOUCH_TRY(gguf_create(out, path, err));
    vouch_status status = map_file(*out, path, err);
    if (status == VOUCH_OK) status = parse_file(*out, flaw, err);
    if (status != VOUCH_OK) {
        vouch_gguf_close(*out);
        *out = NULL;
    }
    return status;
}

vouch_status vouch_gguf_open(vouch_gguf **out, const char *path, vouch_error *err)
{
    VOUCH_TRY(vouch_gguf_open_one(out, path, NULL, err));
    const vouch_status status = vouch_gguf_join_parts(*out, path, err);
    if (status != VOUCH_OK) {
        vouch_gguf_close(*out);
        *out = NULL;
    }
    return status;
}

vouch_status vouch_gguf_open_header(vouch_gguf **out, const char *path, vouch_error *flaw, vouch_error *err)
{
    VOUCH_TRY(vouch_gguf_open_one(out, path, flaw, err));
    if (flaw->code == VOUCH_OK) (void)vouch_gguf_join_parts(*out, path, flaw);
    return VOUCH_OK;
}

void vouch_gguf_close(vouch_gguf *gguf)
{
    if (!gguf) return;
    for (size_t i = 0; i < gguf->n_files; i++) {
        vouch_filemap_close(&gguf->files[i].map);
        free(gguf->files[i].path);
    }
    free(gguf->files);
    vouch_made_free(gguf->made);
    free(gguf->tensor_index);
    free(gguf->kv_index);
    if (gguf->unknown) free(*gguf->unknown);
    free(gguf->unknown);
    free(gguf->tensors);
    free(gguf->kv);
    free(gguf->path);
    free(gguf);
}
