/* SPDX-License-Identifier: MIT */
/*
 * Split models: several GGUF files, NAME-00001-of-00003.gguf and so on. The first has the keys that matter; every part
 * has its number, from 0 on (split.no), the number of parts (split.count), and the tensors that its header lists.
 *
 *   first:  files    [ part 1 | part 2 | part 3 ]        opened, then moved here
 *           tensors  [ of 1   | of 2   | of 3   ]        tensor.file is the index in files
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/gguf_private.h"
#include "os/os.h"

/* The keys split.* of a file. A file merged from parts has a count of 0 or 1. */
typedef struct split {
    int64_t number, count, n_tensors;
} split;

static vouch_status split_read(const vouch_gguf *gguf, split *s, vouch_error *err)
{
    *s = (split){0, 0, -1};
    VOUCH_TRY(vouch_gguf_get_int(gguf, "split.count", false, 0, UINT16_MAX, &s->count, err));
    VOUCH_TRY(vouch_gguf_get_int(gguf, "split.no", false, 0, s->count > 1 ? s->count - 1 : 0, &s->number, err));
    return vouch_gguf_get_int(gguf, "split.tensors.count", false, 0, INT32_MAX, &s->n_tensors, err);
}

enum { SUFFIX = 20 }; /* strlen("-00001-of-00003.gguf") */

/* Writes the name of a part over the end of `path`, which has SUFFIX bytes at least. */
static void name_part(char *path, int64_t number, int64_t count)
{
    char suffix[40];
    snprintf(suffix, sizeof suffix, "-%05d-of-%05d.gguf", (int)number + 1, (int)count);
    memcpy(path + strlen(path) - SUFFIX, suffix, SUFFIX);
}

/* *name becomes a copy of `path`, which must end as the name of this part does. The caller frees it. */
static vouch_status copy_name(const vouch_gguf *first, const char *path, const split *s, char **name, vouch_error *err)
{
    const size_t size = strlen(path);
    *name = strdup(path);
    if (!*name) return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", first->path);
    if (size > SUFFIX) name_part(*name, s->number, s->count);
    if (size > SUFFIX && strcmp(*name, path) == 0) return VOUCH_OK;
    free(*name);
    return vouch_fail(err, VOUCH_E_FORMAT,
                      "%s: is part %" PRId64 " of a model in %" PRId64
                      " files, so its name must end in -%05d-of-%05d.gguf; rename all parts in this way",
                      first->path, s->number + 1, s->count, (int)s->number + 1, (int)s->count);
}

/* Opens part `number` of the model that `first` begins. */
static vouch_status open_part(vouch_gguf **part, const vouch_gguf *first, const char *path, int64_t number,
                              const split *s, vouch_error *err)
{
    split own;
    if (!vouch_os_exists(path))
        return vouch_fail(err, VOUCH_E_IO, "%s: is missing; the model consists of %" PRId64 " files beside %s",
                          vouch_path_tail(path), s->count, first->path);
    VOUCH_TRY(vouch_gguf_open_one(part, path, NULL, err));
    VOUCH_TRY(split_read(*part, &own, err));
    if (own.number == number && own.count == s->count) return VOUCH_OK;
    if (own.count <= 1)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: is a whole model, expected part %" PRId64 " of %" PRId64,
                          (*part)->path, number + 1, s->count);
    return vouch_fail(err, VOUCH_E_FORMAT,
                      "%s: is part %" PRId64 " of %" PRId64 " (split.no, split.count), expected part %" PRId64
                      " of %" PRId64 "; is it from another model?",
                      (*part)->path, own.number + 1, own.count, number + 1, s->count);
}

/* Replaces the files and tensors of `first` by those of all parts, and leaves the parts without files. */
static vouch_status join(vouch_gguf *first, vouch_gguf *const *parts, const split *s, vouch_error *err)
{
    const size_t count = (size_t)s->count;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) n += parts[i]->n_tensors;
    if (s->n_tensors >= 0 && n != (size_t)s->n_tensors)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: the %zu parts have %zu tensors, but split.tensors.count is %" PRId64
                          "; are they from one model?",
                          first->path, count, n, s->n_tensors);
    vouch_gguf joined = {.path = first->path, .n_tensors = 0};
    joined.files = calloc(count, sizeof *joined.files);
    joined.tensors = calloc(n + 1, sizeof *joined.tensors);
    joined.tensor_index = calloc(n + 1, sizeof *joined.tensor_index);
    vouch_status status = VOUCH_OK;
    if (!joined.files || !joined.tensors || !joined.tensor_index)
        status = vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory for %zu tensors", first->path, n);
    for (size_t i = 0; status == VOUCH_OK && i < count; i++)
        for (size_t t = 0; t < parts[i]->n_tensors; t++) {
            joined.tensors[joined.n_tensors] = parts[i]->tensors[t];
            joined.tensors[joined.n_tensors++].file = (uint32_t)i;
        }
    if (status == VOUCH_OK) status = vouch_gguf_index_tensors(&joined, err);
    if (status != VOUCH_OK) {
        free(joined.files);
        free(joined.tensors);
        free(joined.tensor_index);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        joined.files[i] = *parts[i]->files;
        parts[i]->n_files = 0;
    }
    free(first->files);
    free(first->tensors);
    free(first->tensor_index);
    first->files = joined.files;
    first->n_files = count;
    first->tensors = joined.tensors;
    first->n_tensors = n;
    first->tensor_index = joined.tensor_index;
    return VOUCH_OK;
}

vouch_status vouch_gguf_join_parts(vouch_gguf *first, const char *path, vouch_error *err)
{
    split s;
    char *name;
    VOUCH_TRY(split_read(first, &s, err));
    if (s.count <= 1) return VOUCH_OK;
    if (!first->files)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: is part %" PRId64 " of a model in %" PRId64 " files",
                          first->path, s.number + 1, s.count);
    VOUCH_TRY(copy_name(first, path, &s, &name, err));
    vouch_gguf **parts = NULL;
    vouch_status status = VOUCH_OK;
    if (s.number != 0) {
        name_part(name, 0, s.count);
        status = vouch_fail(err, VOUCH_E_UNSUPPORTED,
                            "%s: is part %" PRId64 " of a model in %" PRId64 " files; give the first: %s", first->path,
                            s.number + 1, s.count, vouch_path_tail(name));
        goto done;
    }
    parts = calloc((size_t)s.count, sizeof *parts);
    if (!parts) {
        status = vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory for %" PRId64 " files", first->path, s.count);
        goto done;
    }
    parts[0] = first;
    for (int64_t i = 1; i < s.count && status == VOUCH_OK; i++) {
        name_part(name, i, s.count);
        status = open_part(&parts[i], first, name, i, &s, err);
    }
    if (status == VOUCH_OK) status = join(first, parts, &s, err);
done:
    for (int64_t i = 1; parts && i < s.count; i++) vouch_gguf_close(parts[i]);
    free(parts);
    free(name);
    return status;
}
