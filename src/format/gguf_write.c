/* SPDX-License-Identifier: MIT */
/*
 * Writes GGUF version 3. An added key is encoded at once. An added tensor is only recorded, because its offset depends
 * on the alignment, which a later key may set.
 *
 *   writer ── kv        key, type, value | key, type, value | ...       as in the file
 *          ── keys      each key's range in kv, to find duplicates
 *          ── tensors   name, dims, type, pointer to the caller's data or function that makes it
 *
 *   file:  [ magic, version, counts | kv | tensor infos | pad ][ data | pad ][ data | pad ] ...
 *            `header`, built in memory                            from the caller's memory
 *
 * To write a regular file, the writer writes a temporary file beside it, syncs and renames it. So the name always
 * stands for all old bytes or all new bytes. The writer writes directly to a device or pipe.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/gguf_private.h"
#include "os/os.h"

/* A growing array of bytes. */
typedef struct buffer {
    unsigned char *data;
    size_t used, capacity;
} buffer;

/* A key's range in `kv`. An offset, because `kv` moves when it grows. */
typedef struct key_range {
    size_t offset, size;
} key_range;

/* A tensor to write. `name` is the first member, because the index points to it. */
typedef struct writer_tensor {
    vouch_text name; /* owned by the writer */
    uint32_t n_dims;
    int64_t dim[VOUCH_GGUF_MAX_DIMS];
    uint32_t type;
    const void *data;         /* the caller's; NULL if `fill` makes the data */
    vouch_gguf_fill_fn *fill; /* NULL if `data` has the data */
    void *user;
    size_t bytes;
} writer_tensor;

struct vouch_gguf_writer {
    buffer kv, keys, tensors; /* elements: bytes, key_range, writer_tensor */
    size_t n_kv, n_tensors;
    size_t alignment;
    vouch_error error; /* the first failed add; code 0: none failed */
};

/* ----------------------------------------------------------------- buffers */

static bool buffer_reserve(buffer *b, size_t more)
{
    size_t needed;
    if (__builtin_add_overflow(b->used, more, &needed)) return false;
    if (needed <= b->capacity) return true;
    const size_t capacity = needed > SIZE_MAX / 2 ? needed : needed * 2 < 256 ? 256 : needed * 2;
    unsigned char *data = realloc(b->data, capacity);
    if (!data) return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

static bool buffer_put(buffer *b, const void *data, size_t size)
{
    if (!buffer_reserve(b, size)) return false;
    if (size) memcpy(b->data + b->used, data, size);
    b->used += size;
    return true;
}

static bool buffer_put_u32(buffer *b, uint32_t value)
{
    return buffer_put(b, &value, sizeof value);
}

static bool buffer_put_u64(buffer *b, uint64_t value)
{
    return buffer_put(b, &value, sizeof value);
}

static bool buffer_put_text(buffer *b, vouch_text text)
{
    return buffer_put_u64(b, text.size) && buffer_put(b, text.data, text.size);
}

/* -------------------------------------------------------------------- adds */

vouch_status vouch_gguf_writer_open(vouch_gguf_writer **out, vouch_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a GGUF writer");
    (*out)->alignment = VOUCH_GGUF_ALIGNMENT_DEFAULT;
    return VOUCH_OK;
}

static const writer_tensor *writer_tensors(const vouch_gguf_writer *w)
{
    return (const writer_tensor *)(const void *)w->tensors.data;
}

void vouch_gguf_writer_close(vouch_gguf_writer *w)
{
    if (!w) return;
    for (size_t i = 0; i < w->n_tensors; i++) free((char *)(uintptr_t)writer_tensors(w)[i].name.data);
    free(w->tensors.data);
    free(w->keys.data);
    free(w->kv.data);
    free(w);
}

bool vouch_gguf_writer_has(const vouch_gguf_writer *w, const char *key)
{
    const key_range *ranges = (const key_range *)(const void *)w->keys.data;
    const size_t size = strlen(key);
    for (size_t i = 0; i < w->n_kv; i++)
        if (ranges[i].size == size && memcmp(w->kv.data + ranges[i].offset, key, size) == 0) return true;
    return false;
}

static void writer_no_memory(vouch_gguf_writer *w, const char *name)
{
    vouch_fail(&w->error, VOUCH_E_MEMORY, "GGUF: not enough memory to add '%s'", name);
}

/* Checks a key or name by the reader's rules. */
static bool name_check(vouch_gguf_writer *w, const char *what, const char *name, size_t most)
{
    const vouch_text text = {name, name ? strlen(name) : 0};
    if (text.size >= 1 && text.size <= most && vouch_gguf_find_control(text) == text.size) return true;
    vouch_fail(&w->error, VOUCH_E_ARGUMENT,
               "GGUF: %s '%.80s' has %zu bytes; it must have 1 to %zu bytes and no control characters", what,
               name ? name : "", text.size, most);
    return false;
}

/* Writes a key and its type. False if this or an earlier add failed. */
static bool kv_begin(vouch_gguf_writer *w, const char *key, vouch_gguf_type type)
{
    if (w->error.code != VOUCH_OK || !name_check(w, "key", key, VOUCH_GGUF_KEY_MAX)) return false;
    if (strcmp(key, VOUCH_GGUF_ALIGNMENT_KEY) == 0 && type != VOUCH_GGUF_U32) {
        vouch_fail(&w->error, VOUCH_E_ARGUMENT, "GGUF: key '%s' has type %s; it must be a u32", key,
                   vouch_gguf_type_name((uint32_t)type) ? vouch_gguf_type_name((uint32_t)type) : "?");
        return false;
    }
    const vouch_text text = {key, strlen(key)};
    const key_range range = {w->kv.used + sizeof(uint64_t), text.size};
    if (buffer_put(&w->keys, &range, sizeof range) && buffer_put_text(&w->kv, text) &&
        buffer_put_u32(&w->kv, (uint32_t)type)) {
        w->n_kv++;
        return true;
    }
    writer_no_memory(w, key);
    return false;
}

static bool bools_check(vouch_gguf_writer *w, const char *key, const unsigned char *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] <= 1) continue;
        vouch_fail(&w->error, VOUCH_E_ARGUMENT, "GGUF: key '%s' has a bool of %u; it must be 0 or 1", key, values[i]);
        return false;
    }
    return true;
}

void vouch_gguf_add_value(vouch_gguf_writer *w, const char *key, vouch_gguf_type type, const void *value)
{
    const size_t size = vouch_gguf_type_size((uint32_t)type);
    if (!kv_begin(w, key, type)) return;
    if (size == 0) {
        vouch_fail(&w->error, VOUCH_E_ARGUMENT, "GGUF: key '%s' has type %d; expected a scalar type", key, (int)type);
        return;
    }
    if (type == VOUCH_GGUF_BOOL && !bools_check(w, key, value, 1)) return;
    if (strcmp(key, VOUCH_GGUF_ALIGNMENT_KEY) == 0) {
        uint32_t alignment;
        memcpy(&alignment, value, sizeof alignment);
        if (!vouch_gguf_alignment_ok(alignment)) {
            vouch_fail(&w->error, VOUCH_E_ARGUMENT,
                       "GGUF: key '%s' is %" PRIu32 "; it must be a power of two from %d to %d", key, alignment,
                       VOUCH_GGUF_ALIGNMENT_MIN, VOUCH_GGUF_ALIGNMENT_MAX);
            return;
        }
        w->alignment = alignment;
    }
    if (!buffer_put(&w->kv, value, size)) writer_no_memory(w, key);
}

void vouch_gguf_add_u32(vouch_gguf_writer *w, const char *key, uint32_t value)
{
    vouch_gguf_add_value(w, key, VOUCH_GGUF_U32, &value);
}

void vouch_gguf_add_f32(vouch_gguf_writer *w, const char *key, float value)
{
    vouch_gguf_add_value(w, key, VOUCH_GGUF_F32, &value);
}

void vouch_gguf_add_bool(vouch_gguf_writer *w, const char *key, bool value)
{
    vouch_gguf_add_value(w, key, VOUCH_GGUF_BOOL, &value);
}

void vouch_gguf_add_text(vouch_gguf_writer *w, const char *key, const char *value)
{
    if (!kv_begin(w, key, VOUCH_GGUF_STRING)) return;
    if (!value) vouch_fail(&w->error, VOUCH_E_ARGUMENT, "GGUF: key '%s' has no value: the string is NULL", key);
    else if (!buffer_put_text(&w->kv, (vouch_text){value, strlen(value)})) writer_no_memory(w, key);
}

void vouch_gguf_add_array(vouch_gguf_writer *w, const char *key, vouch_gguf_type element, const void *values,
                          size_t count)
{
    const size_t size = vouch_gguf_type_size((uint32_t)element);
    size_t bytes;
    if (!kv_begin(w, key, VOUCH_GGUF_ARRAY)) return;
    if (size == 0 || !vouch_mul_size(count, size, &bytes)) {
        vouch_fail(&w->error, VOUCH_E_ARGUMENT,
                   "GGUF: key '%s' has %zu elements of type %d; expected a scalar type and less than 2^64 bytes", key,
                   count, (int)element);
        return;
    }
    if (element == VOUCH_GGUF_BOOL && !bools_check(w, key, values, count)) return;
    if (!buffer_put_u32(&w->kv, (uint32_t)element) || !buffer_put_u64(&w->kv, count) ||
        !buffer_put(&w->kv, values, bytes))
        writer_no_memory(w, key);
}

void vouch_gguf_add_texts(vouch_gguf_writer *w, const char *key, const vouch_text *values, size_t count)
{
    if (!kv_begin(w, key, VOUCH_GGUF_ARRAY)) return;
    bool ok = buffer_put_u32(&w->kv, VOUCH_GGUF_STRING) && buffer_put_u64(&w->kv, count);
    for (size_t i = 0; ok && i < count; i++) ok = buffer_put_text(&w->kv, values[i]);
    if (!ok) writer_no_memory(w, key);
}

/* The bytes that a file has for a value. */
static size_t value_bytes(const vouch_gguf_array *value)
{
    const unsigned char *end = value->data;
    if (value->type != VOUCH_GGUF_STRING) return value->count * vouch_gguf_type_size((uint32_t)value->type);
    for (size_t i = 0; i < value->count; i++) (void)vouch_gguf_next_text(&end);
    return (size_t)(end - value->data);
}

void vouch_gguf_add_key(vouch_gguf_writer *w, const vouch_gguf *from, size_t index)
{
    const vouch_gguf_kv *kv = &from->kv[index];
    char *key = strndup(kv->key.data, kv->key.size);
    if (!key) {
        writer_no_memory(w, "a key");
    } else if (vouch_gguf_type_size((uint32_t)kv->type)) {
        vouch_gguf_add_value(w, key, kv->type, kv->value.data);
    } else if (kv_begin(w, key, kv->type)) {
        const bool is_array = kv->type == VOUCH_GGUF_ARRAY;
        if ((is_array &&
             !(buffer_put_u32(&w->kv, (uint32_t)kv->value.type) && buffer_put_u64(&w->kv, kv->value.count))) ||
            !buffer_put(&w->kv, kv->value.data, value_bytes(&kv->value)))
            writer_no_memory(w, key);
    }
    free(key);
}

/* Sets the tensor's type, dimensions and bytes. If they break a rule, sets the error and returns false. */
static bool tensor_check(vouch_gguf_writer *w, const char *name, vouch_type type, uint32_t n_dims, const int64_t *dim,
                         writer_tensor *tensor)
{
    const vouch_type_info *info = vouch_type_get_stored((uint32_t)type);
    int64_t n_values;
    if (!info) {
        vouch_fail(&w->error, VOUCH_E_ARGUMENT, "GGUF: tensor '%s' has type %d, which is not supported", name,
                   (int)type);
        return false;
    }
    if (n_dims < 1 || n_dims > VOUCH_GGUF_MAX_DIMS) {
        vouch_fail(&w->error, VOUCH_E_ARGUMENT, "GGUF: tensor '%s' has %" PRIu32 " dimensions; it must have 1 to %d",
                   name, n_dims, VOUCH_GGUF_MAX_DIMS);
        return false;
    }
    if (!vouch_gguf_count_values(n_dims, dim, &n_values) || dim[0] % info->block_length != 0 ||
        __builtin_mul_overflow(n_values / info->block_length, info->block_bytes, &tensor->bytes)) {
        vouch_fail(&w->error, VOUCH_E_ARGUMENT,
                   "GGUF: tensor '%s' can't have these dimensions: all must be positive, the first a multiple of "
                   "%d for type %s, and their product below 2^63",
                   name, info->block_length, info->name);
        return false;
    }
    tensor->type = (uint32_t)type;
    tensor->n_dims = n_dims;
    memcpy(tensor->dim, dim, n_dims * sizeof *dim);
    return true;
}

/* Adds a tensor. The caller has set data, or fill and user; this function sets the other members. */
static void tensor_add(vouch_gguf_writer *w, const char *name, vouch_type type, uint32_t n_dims, const int64_t *dim,
                       writer_tensor tensor)
{
    if (w->error.code != VOUCH_OK || !name_check(w, "tensor name", name, VOUCH_GGUF_NAME_MAX) ||
        !tensor_check(w, name, type, n_dims, dim, &tensor))
        return;
    if (!tensor.data && !tensor.fill) {
        vouch_fail(&w->error, VOUCH_E_ARGUMENT, "GGUF: tensor '%s' has no data; give data or a fill function", name);
        return;
    }
    char *copy = strdup(name);
    tensor.name = (vouch_text){copy, strlen(name)};
    if (!copy || !buffer_put(&w->tensors, &tensor, sizeof tensor)) {
        free(copy);
        writer_no_memory(w, name);
        return;
    }
    w->n_tensors++;
}

void vouch_gguf_add_tensor(vouch_gguf_writer *w, const char *name, vouch_type type, uint32_t n_dims, const int64_t *dim,
                           const void *data)
{
    tensor_add(w, name, type, n_dims, dim, (writer_tensor){.data = data});
}

void vouch_gguf_add_filled(vouch_gguf_writer *w, const char *name, vouch_type type, uint32_t n_dims, const int64_t *dim,
                           vouch_gguf_fill_fn *fill, void *user)
{
    tensor_add(w, name, type, n_dims, dim, (writer_tensor){.fill = fill, .user = user});
}

/* ------------------------------------------------------------------ header */

static size_t padding_of(size_t size, size_t alignment)
{
    return (alignment - size % alignment) % alignment;
}

static bool buffer_pad(buffer *b, size_t alignment)
{
    const size_t padding = padding_of(b->used, alignment);
    if (!buffer_reserve(b, padding)) return false;
    if (padding) memset(b->data + b->used, 0, padding);
    b->used += padding;
    return true;
}

/* Error: ARGUMENT, if two of the n names at `entries` are equal. */
static vouch_status names_check(const char *what, const void *entries, size_t n, size_t stride, vouch_error *err)
{
    const vouch_text **index = calloc(n + 1, sizeof *index);
    if (!index) return vouch_fail(err, VOUCH_E_MEMORY, "GGUF: not enough memory for %zu names", n);
    vouch_text_index_build(index, entries, n, stride);
    const vouch_text *twice = vouch_text_index_duplicate(index, n);
    free(index);
    if (!twice) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_ARGUMENT, "GGUF: %s '%.*s' was added twice", what,
                      twice->size > 80 ? 80 : (int)twice->size, twice->data);
}

static vouch_status keys_check(const vouch_gguf_writer *w, vouch_error *err)
{
    const key_range *ranges = (const key_range *)(const void *)w->keys.data;
    vouch_text *keys = calloc(w->n_kv + 1, sizeof *keys);
    if (!keys) return vouch_fail(err, VOUCH_E_MEMORY, "GGUF: not enough memory for %zu keys", w->n_kv);
    for (size_t i = 0; i < w->n_kv; i++)
        keys[i] = (vouch_text){(const char *)w->kv.data + ranges[i].offset, ranges[i].size};
    const vouch_status status = names_check("key", keys, w->n_kv, sizeof *keys, err);
    free(keys);
    return status;
}

/* Builds the file up to the tensors' data, with padding. *total is the size of the whole file. */
static vouch_status header_build(const vouch_gguf_writer *w, buffer *header, size_t *total, vouch_error *err)
{
    if (w->error.code != VOUCH_OK) return vouch_fail(err, w->error.code, "%s", w->error.message);
    VOUCH_TRY(keys_check(w, err));
    VOUCH_TRY(names_check("tensor", w->tensors.data, w->n_tensors, sizeof(writer_tensor), err));

    bool ok = buffer_put(header, VOUCH_GGUF_MAGIC, 4) && buffer_put_u32(header, VOUCH_GGUF_VERSION) &&
              buffer_put_u64(header, w->n_tensors) && buffer_put_u64(header, w->n_kv) &&
              buffer_put(header, w->kv.data, w->kv.used);
    size_t offset = 0;
    for (size_t i = 0; ok && i < w->n_tensors; i++) {
        const writer_tensor *tensor = &writer_tensors(w)[i];
        ok = buffer_put_text(header, tensor->name) && buffer_put_u32(header, tensor->n_dims) &&
             buffer_put(header, tensor->dim, tensor->n_dims * sizeof *tensor->dim) &&
             buffer_put_u32(header, tensor->type) && buffer_put_u64(header, offset) &&
             !__builtin_add_overflow(offset, tensor->bytes, &offset) &&
             !__builtin_add_overflow(offset, padding_of(offset, w->alignment), &offset);
    }
    ok = ok && buffer_pad(header, w->alignment) && !__builtin_add_overflow(header->used, offset, total);
    return ok ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "GGUF: not enough memory for the header");
}

/* ------------------------------------------------------------------- output */

/* The destination of bytes: memory, or a file if `memory` is NULL. */
typedef struct sink {
    unsigned char *memory;
    int fd;
    const char *path; /* for messages */
} sink;

static vouch_status sink_put(sink *s, const void *data, size_t size, vouch_error *err)
{
    if (s->memory) {
        memcpy(s->memory, data, size);
        s->memory += size;
        return VOUCH_OK;
    }
    const char *from = data;
    while (size > 0) {
        const ptrdiff_t written = vouch_os_write(s->fd, from, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            return vouch_fail(err, VOUCH_E_IO, "%s: can't write: %s", s->path,
                              written < 0 ? strerror(errno) : "the system took 0 bytes");
        from += written;
        size -= (size_t)written;
    }
    return VOUCH_OK;
}

static vouch_status sink_pad(sink *s, size_t size, vouch_error *err)
{
    static const unsigned char zeros[4096];
    while (size > 0) {
        const size_t part = size < sizeof zeros ? size : sizeof zeros;
        VOUCH_TRY(sink_put(s, zeros, part, err));
        size -= part;
    }
    return VOUCH_OK;
}

/* Writes a tensor whose data `fill` makes: all at once to memory, or piece by piece to a file. */
static vouch_status sink_fill(sink *s, const writer_tensor *tensor, vouch_error *err)
{
    enum { PIECE = 1 << 20, VALUES = 256 };
    if (s->memory) {
        s->memory += tensor->bytes;
        return tensor->fill(tensor->user, 0, s->memory - tensor->bytes, tensor->bytes, err);
    }
    const vouch_type_info *info = vouch_type_get_stored(tensor->type);
    const size_t step = VALUES / (size_t)info->block_length * (size_t)info->block_bytes, most = PIECE / step * step;
    unsigned char *piece = malloc(most);
    if (!piece) return vouch_fail(err, VOUCH_E_MEMORY, "GGUF: not enough memory to write %zu bytes at a time", most);
    vouch_status status = VOUCH_OK;
    for (size_t done = 0; done < tensor->bytes && status == VOUCH_OK;) {
        const size_t size = tensor->bytes - done < most ? tensor->bytes - done : most;
        status = tensor->fill(tensor->user, done, piece, size, err);
        if (status == VOUCH_OK) status = sink_put(s, piece, size, err);
        done += size;
    }
    free(piece);
    return status;
}

static vouch_status writer_put(const vouch_gguf_writer *w, const buffer *header, sink *s, vouch_error *err)
{
    VOUCH_TRY(sink_put(s, header->data, header->used, err));
    for (size_t i = 0; i < w->n_tensors; i++) {
        const writer_tensor *tensor = &writer_tensors(w)[i];
        if (tensor->fill) VOUCH_TRY(sink_fill(s, tensor, err));
        else VOUCH_TRY(sink_put(s, tensor->data, tensor->bytes, err));
        VOUCH_TRY(sink_pad(s, padding_of(tensor->bytes, w->alignment), err));
    }
    return VOUCH_OK;
}

vouch_status vouch_gguf_write_bytes(vouch_gguf_writer *w, void **bytes, size_t *size, vouch_error *err)
{
    buffer header = {0};
    *bytes = NULL;
    *size = 0;
    size_t total;
    vouch_status status = header_build(w, &header, &total, err);
    if (status != VOUCH_OK) goto done;
    sink s = {.memory = malloc(total), .fd = -1};
    if (!s.memory) {
        status = vouch_fail(err, VOUCH_E_MEMORY, "GGUF: not enough memory for %zu bytes", total);
        goto done;
    }
    *bytes = s.memory;
    *size = total;
    status = writer_put(w, &header, &s, err);
    if (status != VOUCH_OK) {
        free(*bytes);
        *bytes = NULL;
    }
done:
    free(header.data);
    return status;
}

/* --------------------------------------------------------------------- files */

/*
 * A writer holds a lock on its temporary file, NAME.PID-N.part, as long as it lives. A file that nobody has locked was
 * left by a writer that was killed; the next writer of NAME removes it. Between creating and locking its own file a
 * writer may lose it to another one, and then takes a new one.
 */

/* Is `name` "BASE.PID-N.part"? */
static bool is_temporary(const char *name, const char *base)
{
    const size_t n = strlen(base);
    int end = 0;
    if (strncmp(name, base, n) != 0) return false;
    return sscanf(name + n, ".%*9[0-9]-%*3[0-9].part%n", &end) == 0 && end > 0 && !name[n + (size_t)end];
}

/* Removes the files that killed writers of `path` left. A file that can't be removed stays. */
static void temporaries_remove(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(base - path)) : strdup("."), **names = NULL;
    const ptrdiff_t n = folder ? vouch_os_folder_list(folder, &names) : 0;
    char *const name = malloc((size_t)(base - path) + VOUCH_OS_NAME_SIZE);
    for (ptrdiff_t i = 0; name && i < n; i++) {
        if (!is_temporary(names[i], base) || strlen(names[i]) >= VOUCH_OS_NAME_SIZE) continue;
        sprintf(name, "%.*s%s", (int)(base - path), path, names[i]);
        const int fd = vouch_os_open(name, VOUCH_OS_WRITE | VOUCH_OS_NO_LINK | VOUCH_OS_NO_WAIT, 0);
        if (fd < 0) continue;
        const bool is_left = vouch_os_file_lock(fd, false) == VOUCH_OS_LOCKED;
        if (is_left) vouch_os_remove(name);
        close(fd);
    }
    vouch_os_names_free(names, n);
    free(name);
    free(folder);
}

/* Locks the new file. False: another writer has removed it meanwhile. Where the system has no locks, the file stays. */
static bool temporary_keep(int fd)
{
    vouch_os_info info;
    if (vouch_os_file_lock(fd, true) != VOUCH_OS_LOCKED) return true;
    return vouch_os_info_of_open(fd, &info) && info.n_links > 0;
}

/* Creates a new file beside `path`. *name is its name; the caller frees it. */
static vouch_status temporary_create(const char *path, unsigned mode, char **name, int *fd, vouch_error *err)
{
    const size_t room = strlen(path) + 48;
    *name = malloc(room);
    if (!*name) return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", vouch_path_tail(path));
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(*name, room, "%s.%ld-%d.part", path, (long)getpid(), attempt);
        *fd = vouch_os_open(*name, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NEW, mode);
        if (*fd >= 0 && temporary_keep(*fd)) return VOUCH_OK;
        if (*fd >= 0) close(*fd);
        else if (errno != EEXIST) break;
    }
    free(*name);
    *name = NULL;
    return vouch_fail(err, VOUCH_E_IO, "%s: can't create: %s", vouch_path_tail(path), strerror(errno));
}

/* Writes a regular or new file completely or not at all. */
static vouch_status file_replace(const vouch_gguf_writer *w, const buffer *header, const char *path, unsigned mode,
                                 vouch_error *err)
{
    char *name;
    sink s = {.path = vouch_path_tail(path)};
    temporaries_remove(path);
    VOUCH_TRY(temporary_create(path, mode, &name, &s.fd, err));
    vouch_status status = writer_put(w, header, &s, err);
    if (status == VOUCH_OK && !vouch_os_file_sync(s.fd))
        status = vouch_fail(err, VOUCH_E_IO, "%s: can't write: %s", vouch_path_tail(path), strerror(errno));
    if (close(s.fd) != 0 && status == VOUCH_OK)
        status = vouch_fail(err, VOUCH_E_IO, "%s: can't write: %s", vouch_path_tail(path), strerror(errno));
    if (status == VOUCH_OK && !vouch_os_file_replace(name, path))
        status = vouch_fail(err, VOUCH_E_IO, "%s: can't replace: %s", vouch_path_tail(path), strerror(errno));
    if (status != VOUCH_OK) vouch_os_remove(name);
    free(name);
    return status;
}

/* Writes to a device or a pipe, which a rename would replace. */
static vouch_status file_stream(const vouch_gguf_writer *w, const buffer *header, const char *path, vouch_error *err)
{
    sink s = {.path = vouch_path_tail(path), .fd = vouch_os_open(path, VOUCH_OS_WRITE, 0)};
    if (s.fd < 0) return vouch_fail(err, VOUCH_E_IO, "%s: can't open: %s", vouch_path_tail(path), strerror(errno));
    vouch_status status = writer_put(w, header, &s, err);
    if (close(s.fd) != 0 && status == VOUCH_OK)
        status = vouch_fail(err, VOUCH_E_IO, "%s: can't write: %s", vouch_path_tail(path), strerror(errno));
    return status;
}

vouch_status vouch_gguf_write(vouch_gguf_writer *w, const char *path, vouch_error *err)
{
    buffer header = {0};
    char *resolved = NULL;
    size_t total;
    vouch_os_info info;
    vouch_status status = header_build(w, &header, &total, err);
    if (status != VOUCH_OK) goto done;
    if (!vouch_os_info_of(path, &info)) {
        status = file_replace(w, &header, path, 0666, err);
    } else if (info.kind == VOUCH_OS_FOLDER) {
        status = vouch_fail(err, VOUCH_E_IO, "%s: is a directory", vouch_path_tail(path));
    } else if (info.kind != VOUCH_OS_FILE) {
        status = file_stream(w, &header, path, err);
    } else {
        resolved = vouch_os_path_resolve(path); /* keep a symbolic link and replace the file that it names */
        if (resolved) status = file_replace(w, &header, resolved, info.mode, err);
        else status = vouch_fail(err, VOUCH_E_IO, "%s: can't resolve: %s", vouch_path_tail(path), strerror(errno));
    }
done:
    free(resolved);
    free(header.data);
    return status;
}
