/* SPDX-License-Identifier: MIT */
/*
 * The metadata and tensors of an open file. The reader (gguf_read.c) has checked every size and type, so no access here
 * can leave the file. The functions here check only whether a value has the type and range that the caller needs.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/gguf_private.h"
#include "format/recipe.h"

bool vouch_text_is(vouch_text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

/* ------------------------------------------------------------------- types */

static const struct {
    const char *name;
    size_t size;
} types[VOUCH_GGUF_TYPE_COUNT] = {
    [VOUCH_GGUF_U8] = {"u8", 1},       [VOUCH_GGUF_I8] = {"i8", 1},     [VOUCH_GGUF_U16] = {"u16", 2},
    [VOUCH_GGUF_I16] = {"i16", 2},     [VOUCH_GGUF_U32] = {"u32", 4},   [VOUCH_GGUF_I32] = {"i32", 4},
    [VOUCH_GGUF_F32] = {"f32", 4},     [VOUCH_GGUF_BOOL] = {"bool", 1}, [VOUCH_GGUF_U64] = {"u64", 8},
    [VOUCH_GGUF_I64] = {"i64", 8},     [VOUCH_GGUF_F64] = {"f64", 8},   [VOUCH_GGUF_STRING] = {"string", 0},
    [VOUCH_GGUF_ARRAY] = {"array", 0},
};

const char *vouch_gguf_type_name(uint32_t type)
{
    return type < VOUCH_GGUF_TYPE_COUNT ? types[type].name : NULL;
}

size_t vouch_gguf_type_size(uint32_t type)
{
    return type < VOUCH_GGUF_TYPE_COUNT ? types[type].size : 0;
}

static bool type_is_integer(vouch_gguf_type type)
{
    switch (type) {
    case VOUCH_GGUF_U8:
    case VOUCH_GGUF_I8:
    case VOUCH_GGUF_U16:
    case VOUCH_GGUF_I16:
    case VOUCH_GGUF_U32:
    case VOUCH_GGUF_I32:
    case VOUCH_GGUF_U64:
    case VOUCH_GGUF_I64: return true;
    default: return false;
    }
}

static bool type_is_float(vouch_gguf_type type)
{
    return type == VOUCH_GGUF_F32 || type == VOUCH_GGUF_F64;
}

bool vouch_gguf_alignment_ok(uint64_t alignment)
{
    return alignment >= VOUCH_GGUF_ALIGNMENT_MIN && alignment <= VOUCH_GGUF_ALIGNMENT_MAX &&
           (alignment & (alignment - 1)) == 0;
}

size_t vouch_gguf_find_control(vouch_text text)
{
    size_t i = 0;
    while (i < text.size && (unsigned char)text.data[i] >= 0x20 && text.data[i] != 0x7f) i++;
    return i;
}

bool vouch_gguf_count_values(uint32_t n_dims, const int64_t *dim, int64_t *count)
{
    *count = 1;
    for (uint32_t i = 0; i < n_dims; i++)
        if (dim[i] <= 0 || __builtin_mul_overflow(*count, dim[i], count)) return false;
    return true;
}

/* ------------------------------------------------------- the file, tensors */

const char *vouch_gguf_path(const vouch_gguf *gguf)
{
    return gguf->path;
}

const char *vouch_gguf_origin(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor)
{
    return gguf->made ? gguf->made->origins[tensor - gguf->tensors] : NULL;
}

/* Members of config.json whose names have one of `words` concern tensors and keys whose names have one of `parts`. */
static const struct {
    const char *parts, *words;
} topics[] = {
    {" ", "layer hidden_size n_embd"},
    {"embd output lm_head", "vocab position"},
    {"attn attention", "head kv query decoder_arch"},
    {"ffn mlp feed_forward expert exps", "ff inner intermediate expert moe mlp block"},
    {"ssm conv mamba mixer linear_attn", "conv mamba linear state group expand num_heads head_dim"},
};
enum { N_TOPICS = sizeof topics / sizeof *topics };

/* Whether the first n bytes of the text have one of the words, which spaces part; a list " " is the word itself. */
static bool has_any(const char *text, size_t n, const char *words)
{
    for (const char *word = words; *word;) {
        const size_t length = strcspn(word, " ") ? strcspn(word, " ") : 1;
        for (size_t i = 0; i < n && text[i]; i++)
            if (strncmp(text + i, word, length) == 0 && length <= n - i) return true;
        word += length;
        word += *word == ' ';
    }
    return false;
}

void vouch_gguf_add_sizes(const vouch_gguf *gguf, vouch_error *err)
{
    const char *entry = err && gguf->made ? gguf->made->sizes : NULL;
    const char *joint = "; config.json: ";
    bool concerns[N_TOPICS];
    if (!entry) return;
    for (size_t i = 0; i < N_TOPICS; i++) concerns[i] = has_any(err->message, SIZE_MAX, topics[i].parts);
    while (*entry) {
        const char *after = strstr(entry, ", ");
        const size_t n = after ? (size_t)(after - entry) : strlen(entry), name = strcspn(entry, " ");
        const size_t used = strlen(err->message), room = sizeof err->message - used;
        bool is_shown = false;
        for (size_t i = 0; i < N_TOPICS; i++) is_shown |= concerns[i] && has_any(entry, name, topics[i].words);
        if (is_shown && n + strlen(joint) < room) {
            snprintf(err->message + used, room, "%s%.*s", joint, (int)n, entry);
            joint = ", ";
        }
        entry += n + (after ? 2 : 0);
    }
}

size_t vouch_gguf_file_bytes(const vouch_gguf *gguf)
{
    size_t size = gguf->n_files ? 0 : gguf->size;
    for (size_t i = 0; i < gguf->n_files; i++) size += gguf->files[i].map.size;
    return size;
}

size_t vouch_gguf_n_tensors(const vouch_gguf *gguf)
{
    return gguf->n_tensors;
}

const vouch_gguf_tensor *vouch_gguf_get_tensor(const vouch_gguf *gguf, size_t index)
{
    assert(index < gguf->n_tensors);
    return &gguf->tensors[index];
}

const vouch_gguf_tensor *vouch_gguf_find_tensor(const vouch_gguf *gguf, const char *name)
{
    return (const vouch_gguf_tensor *)(const void *)vouch_text_index_find(gguf->tensor_index, gguf->n_tensors, name);
}

/* The mapped file that has the tensor's data. NULL: the data lie in memory, or the tensor has none. */
static const vouch_gguf_file *tensor_file(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor)
{
    return tensor->file < gguf->n_files && tensor->data ? &gguf->files[tensor->file] : NULL;
}

/* The recipe that makes the tensor's data. NULL: the data lie in a file or in memory as they are. */
static const vouch_recipe *tensor_recipe(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor)
{
    if (!gguf->made || tensor->file != VOUCH_GGUF_NO_FILE) return NULL;
    const vouch_recipe *recipe = &gguf->made->recipes[tensor - gguf->tensors];
    return recipe->views ? recipe : NULL;
}

static size_t tensor_offset(const vouch_gguf_file *file, const vouch_gguf_tensor *tensor)
{
    return (size_t)((const unsigned char *)tensor->data - file->map.data);
}

vouch_status vouch_gguf_load(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor, size_t offset, size_t size,
                             vouch_error *err)
{
    assert(offset <= tensor->bytes && size <= tensor->bytes - offset);
    const vouch_gguf_file *file = tensor_file(gguf, tensor);
    const vouch_recipe *recipe = tensor_recipe(gguf, tensor);
    if (recipe) return vouch_recipe_make(recipe, tensor, offset, size, gguf->files, err);
    if (!file) return VOUCH_OK;
    return vouch_filemap_load(&file->map, file->path, tensor_offset(file, tensor) + offset, size, err);
}

void vouch_gguf_release(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor, size_t offset, size_t size)
{
    const vouch_gguf_file *file = tensor_file(gguf, tensor);
    if (file) vouch_filemap_release(&file->map, tensor_offset(file, tensor) + offset, size);
    else if (tensor_recipe(gguf, tensor)) vouch_recipe_release(tensor, offset, size);
}

vouch_status vouch_gguf_recheck(const vouch_gguf *gguf, vouch_error *err)
{
    for (size_t i = 0; i < gguf->n_files; i++)
        VOUCH_TRY(vouch_filemap_recheck(&gguf->files[i].map, gguf->files[i].path, err));
    return VOUCH_OK;
}

/* ---------------------------------------------------------------- elements */

int64_t vouch_gguf_array_int(const vouch_gguf_array *array, size_t i)
{
    assert(i < array->count && (type_is_integer(array->type) || array->type == VOUCH_GGUF_BOOL));
    const size_t size = vouch_gguf_type_size((uint32_t)array->type);
    uint64_t element = 0; /* little-endian: the element fills the low bytes */
    memcpy(&element, array->data + i * size, size);
    switch (array->type) {
    case VOUCH_GGUF_I8: return (int8_t)element;
    case VOUCH_GGUF_I16: return (int16_t)element;
    case VOUCH_GGUF_I32: return (int32_t)element;
    case VOUCH_GGUF_U64: return element > INT64_MAX ? INT64_MAX : (int64_t)element;
    default: return (int64_t)element;
    }
}

double vouch_gguf_array_float(const vouch_gguf_array *array, size_t i)
{
    assert(i < array->count && type_is_float(array->type));
    float single;
    double value;
    if (array->type == VOUCH_GGUF_F32) {
        memcpy(&single, array->data + i * sizeof single, sizeof single);
        return (double)single;
    }
    memcpy(&value, array->data + i * sizeof value, sizeof value);
    return value;
}

vouch_text vouch_gguf_next_text(const unsigned char **cursor)
{
    uint64_t size;
    memcpy(&size, *cursor, sizeof size);
    const vouch_text text = {(const char *)*cursor + sizeof size, (size_t)size};
    *cursor += sizeof size + text.size;
    return text;
}

/* ---------------------------------------------------------------- metadata */

size_t vouch_gguf_n_kv(const vouch_gguf *gguf)
{
    return gguf->n_kv;
}

vouch_text vouch_gguf_key(const vouch_gguf *gguf, size_t index, vouch_gguf_type *type)
{
    assert(index < gguf->n_kv);
    if (type) *type = gguf->kv[index].type;
    return gguf->kv[index].key;
}

const char *vouch_gguf_unknown(const vouch_gguf *gguf)
{
    return *gguf->unknown ? *gguf->unknown : "";
}

vouch_status vouch_gguf_add_unknown(const vouch_gguf *gguf, vouch_text name, const char *value, vouch_error *err)
{
    if (vouch_gguf_note(gguf->unknown, name, value)) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", gguf->path);
}

/* Whether the entry, which ends the list, stands before its end, too. */
static bool has_entry(const char *list, const char *entry)
{
    const size_t n = strlen(entry);
    for (const char *at = list; (at = strstr(at, entry)) < entry; at++)
        if ((at == list || at[-1] == ' ') && strncmp(at + n, ", ", 2) == 0) return true;
    return false;
}

bool vouch_gguf_note(char **list, vouch_text name, const char *value)
{
    enum { LONGEST = 8192 };
    static const char more[] = ", ...";
    const size_t n_more = sizeof more - 1, used = *list ? strlen(*list) : 0;
    if (used >= LONGEST && strcmp(*list + used - n_more, more) == 0) return true;
    const size_t size = used + name.size + strlen(value) + 8;
    char *longer = realloc(*list, size);
    if (!longer) return false;
    *list = longer;
    if (used >= LONGEST) {
        memcpy(longer + used, more, n_more + 1);
        return true;
    }
    snprintf(longer + used, size - used, "%s%.*s is %s", used ? ", " : "", (int)name.size, name.data, value);
    if (used && has_entry(longer, longer + used + 2)) longer[used] = '\0';
    return true;
}

void vouch_gguf_value(const vouch_gguf *gguf, size_t index, vouch_gguf_type *type, vouch_gguf_array *value)
{
    assert(index < gguf->n_kv);
    *type = gguf->kv[index].type;
    *value = gguf->kv[index].value;
}

bool vouch_gguf_was_read(const vouch_gguf *gguf, size_t index)
{
    assert(index < gguf->n_kv);
    return atomic_load_explicit(&gguf->kv[index].was_read, memory_order_relaxed);
}

static const vouch_gguf_kv *kv_find(const vouch_gguf *gguf, const char *key)
{
    const vouch_text *found = vouch_text_index_find(gguf->kv_index, gguf->n_kv, key);
    if (!found) return NULL;
    vouch_gguf_kv *kv = &gguf->kv[(const vouch_gguf_kv *)(const void *)found - gguf->kv];
    atomic_store_explicit(&kv->was_read, true, memory_order_relaxed);
    return kv;
}

bool vouch_gguf_has(const vouch_gguf *gguf, const char *key)
{
    return kv_find(gguf, key) != NULL;
}

/* Sets *kv to NULL if the key is absent and not required. */
static vouch_status kv_get(const vouch_gguf *gguf, const char *key, bool required, const vouch_gguf_kv **kv,
                           vouch_error *err)
{
    *kv = kv_find(gguf, key);
    if (!*kv && required) return vouch_fail(err, VOUCH_E_FORMAT, "%s: metadata key '%s' is missing", gguf->path, key);
    return VOUCH_OK;
}

static vouch_status kv_wrong_type(const vouch_gguf *gguf, const vouch_gguf_kv *kv, const char *needed, vouch_error *err)
{
    const bool is_array = kv->type == VOUCH_GGUF_ARRAY;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: metadata key '%.*s' is %s%s; vouch needs %s", gguf->path,
                      (int)kv->key.size, kv->key.data, is_array ? "an array of " : "of type ",
                      vouch_gguf_type_name(kv->value.type), needed);
}

vouch_status vouch_gguf_get_int(const vouch_gguf *gguf, const char *key, bool required, int64_t min, int64_t max,
                                int64_t *value, vouch_error *err)
{
    const vouch_gguf_kv *kv;
    VOUCH_TRY(kv_get(gguf, key, required, &kv, err));
    if (!kv) return VOUCH_OK;
    if (!type_is_integer(kv->type)) return kv_wrong_type(gguf, kv, "an integer", err);
    const int64_t found = vouch_gguf_array_int(&kv->value, 0);
    uint64_t raw = 0;
    if (kv->type == VOUCH_GGUF_U64) memcpy(&raw, kv->value.data, sizeof raw);
    if (raw > INT64_MAX)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: metadata key '%s' is %" PRIu64 "; it must be %" PRId64 " to %" PRId64, gguf->path, key,
                          raw, min, max);
    if (found < min || found > max)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: metadata key '%s' is %" PRId64 "; it must be %" PRId64 " to %" PRId64, gguf->path, key,
                          found, min, max);
    *value = found;
    return VOUCH_OK;
}

vouch_status vouch_gguf_get_float(const vouch_gguf *gguf, const char *key, bool required, double *value,
                                  vouch_error *err)
{
    const vouch_gguf_kv *kv;
    VOUCH_TRY(kv_get(gguf, key, required, &kv, err));
    if (!kv) return VOUCH_OK;
    if (!type_is_float(kv->type)) return kv_wrong_type(gguf, kv, "a float", err);
    const double found = vouch_gguf_array_float(&kv->value, 0);
    if (!isfinite(found))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: metadata key '%s' is %g; it must be finite", gguf->path, key,
                          found);
    *value = found;
    return VOUCH_OK;
}

vouch_status vouch_gguf_get_bool(const vouch_gguf *gguf, const char *key, bool required, bool *value, vouch_error *err)
{
    const vouch_gguf_kv *kv;
    VOUCH_TRY(kv_get(gguf, key, required, &kv, err));
    if (!kv) return VOUCH_OK;
    if (kv->type != VOUCH_GGUF_BOOL) return kv_wrong_type(gguf, kv, "a bool", err);
    *value = kv->value.data[0] != 0;
    return VOUCH_OK;
}

vouch_status vouch_gguf_get_text(const vouch_gguf *gguf, const char *key, bool required, vouch_text *value,
                                 vouch_error *err)
{
    const vouch_gguf_kv *kv;
    VOUCH_TRY(kv_get(gguf, key, required, &kv, err));
    if (!kv) return VOUCH_OK;
    if (kv->type != VOUCH_GGUF_STRING) return kv_wrong_type(gguf, kv, "a string", err);
    const unsigned char *cursor = kv->value.data;
    *value = vouch_gguf_next_text(&cursor);
    return VOUCH_OK;
}

vouch_status vouch_gguf_get_array(const vouch_gguf *gguf, const char *key, bool required, vouch_gguf_array *value,
                                  vouch_error *err)
{
    const vouch_gguf_kv *kv;
    *value = (vouch_gguf_array){0};
    VOUCH_TRY(kv_get(gguf, key, required, &kv, err));
    if (!kv) return VOUCH_OK;
    if (kv->type != VOUCH_GGUF_ARRAY) return kv_wrong_type(gguf, kv, "an array", err);
    *value = kv->value;
    return VOUCH_OK;
}
