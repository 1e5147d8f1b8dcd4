/* SPDX-License-Identifier: MIT */
/*
 * A prompt cache: a folder of records (record.h), of whole pages and of the recurrent states at their ends.
 *
 * FOLDER/HASH-PAGES.prompt has one record. A file gets its name when it is whole. Who writes files, or removes those
 * that weren't used for longest, holds the lock on FOLDER/prompt-cache.lock. Who reads needs none, and removes a
 * damaged file. A file's time of modification is the time of its last use. Where the files are larger than they may be,
 * the least recently used ones go, and of those of the same moment the ones that end later in their prompts, because
 * without the beginning they are of no use.
 */
#include "engine/file/prompt_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/hash.h"
#include "engine/file/kept.h"

enum { NAME = 48 }; /* bytes of a file's name, with a NUL */

static const int64_t default_bytes = INT64_C(8) << 30, least_bytes = 1000000;
static const char suffix[] = ".prompt", fresh_name[] = "record.prompt.new", lock_name[] = "prompt-cache.lock";

struct vouch_prompt_cache {
    char *folder;
    pthread_mutex_t lock; /* of what follows */
    vouch_prompt_cache_info info;
    vouch_error failure; /* code OK: none since the last look */
};

/* --------------------------------------------------------------------- files */

static void name_write(char name[NAME], const vouch_record_model *model, const vouch_record_id *id)
{
    const uint64_t hash = vouch_hash_word(vouch_hash_word(id->hash, vouch_record_model_hash(model)), id->is_state);
    snprintf(name, NAME, "%016" PRIx64 "-%d%s", hash, id->n_tokens / (int32_t)model->page_size, suffix);
}

static void fail(vouch_prompt_cache *c, const vouch_error *err)
{
    pthread_mutex_lock(&c->lock);
    if (c->failure.code == VOUCH_OK) c->failure = *err;
    pthread_mutex_unlock(&c->lock);
}

/* A file of the folder, as the search for the least useful ones sees it. */
typedef struct found {
    char *name;
    int64_t size, used;
    int32_t n_pages;
} found;

static int by_use(const void *a, const void *b, void *context)
{
    const found *x = a, *y = b;
    (void)context;
    if (x->used != y->used) return x->used < y->used ? -1 : 1;
    return (x->n_pages < y->n_pages) - (x->n_pages > y->n_pages);
}

/* Lists the records of the folder, with their size together. */
static vouch_status folder_look(const vouch_prompt_cache *c, char **names, ptrdiff_t n, found *files,
                                ptrdiff_t *n_files, int64_t *n_bytes, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    *n_files = 0;
    *n_bytes = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        vouch_os_info info;
        const char *dash = strchr(names[i], '-');
        if (!dash || !vouch_kept_ends_in(names[i], suffix)) continue;
        VOUCH_TRY(vouch_kept_path(path, c->folder, names[i], "", err));
        if (!vouch_os_info_of_link(path, &info) || info.kind != VOUCH_OS_FILE) continue;
        files[(*n_files)++] = (found){
            .name = names[i], .size = info.size, .used = info.modified, .n_pages = (int32_t)strtol(dash + 1, NULL, 10)};
        *n_bytes += info.size;
    }
    return VOUCH_OK;
}

/* Counts the records, and removes the least useful ones where they are larger than they may be: then a tenth of the
 * room becomes free. The folder is locked. */
static vouch_status folder_tidy(vouch_prompt_cache *c, vouch_error *err)
{
    char **names, path[VOUCH_OS_PATH_SIZE];
    const ptrdiff_t n = vouch_os_folder_list(c->folder, &names);
    if (n < 0) return vouch_kept_fail(err, c->folder);
    ptrdiff_t n_files = 0, i = 0;
    int64_t n_bytes = 0;
    found *files = calloc((size_t)n + 1, sizeof *files);
    vouch_status status = files ? folder_look(c, names, n, files, &n_files, &n_bytes, err)
                                : vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", c->folder);
    if (files) vouch_os_sort(files, (size_t)n_files, sizeof *files, by_use, NULL);
    const int64_t most = n_bytes > c->info.n_most ? c->info.n_most / 10 * 9 : c->info.n_most;
    for (; status == VOUCH_OK && n_bytes > most; i++) {
        status = vouch_kept_path(path, c->folder, files[i].name, "", err);
        if (status == VOUCH_OK && !vouch_os_remove(path) && errno != ENOENT) status = vouch_kept_fail(err, path);
        n_bytes -= files[i].size;
    }
    pthread_mutex_lock(&c->lock);
    c->info.n_bytes = n_bytes;
    c->info.n_records = n_files - i;
    pthread_mutex_unlock(&c->lock);
    free(files);
    vouch_os_names_free(names, n);
    return status;
}

static vouch_status record_path(char path[VOUCH_OS_PATH_SIZE], const vouch_prompt_cache *c,
                                const vouch_record_model *model, const vouch_record_id *id, vouch_error *err)
{
    char name[NAME];
    name_write(name, model, id);
    return vouch_kept_path(path, c->folder, name, "", err);
}

bool vouch_prompt_cache_has(const vouch_prompt_cache *cache, const vouch_record_model *model, const vouch_record_id *id)
{
    char path[VOUCH_OS_PATH_SIZE];
    return record_path(path, cache, model, id, NULL) == VOUCH_OK && vouch_os_exists(path);
}

bool vouch_prompt_cache_touch(const vouch_prompt_cache *cache, const vouch_record_model *model,
                              const vouch_record_id *id)
{
    char path[VOUCH_OS_PATH_SIZE];
    return record_path(path, cache, model, id, NULL) == VOUCH_OK && vouch_os_file_touch(path);
}

const unsigned char *vouch_prompt_cache_read(vouch_prompt_cache *cache, const vouch_record_model *model,
                                             const vouch_record_id *id, const int32_t *tokens, unsigned char *room,
                                             size_t n_payload)
{
    vouch_prompt_cache *c = cache;
    char path[VOUCH_OS_PATH_SIZE];
    const size_t n = vouch_record_size(id->n_tokens, n_payload);
    size_t n_read = 0;
    vouch_os_info info = {0};
    if (record_path(path, c, model, id, NULL)) return NULL;
    const int fd = vouch_os_open(path, VOUCH_OS_READ | VOUCH_OS_NO_LINK | VOUCH_OS_NO_WAIT, 0);
    if (fd < 0) return NULL;
    const bool is_file = vouch_os_info_of_open(fd, &info) && info.kind == VOUCH_OS_FILE;
    const bool is_good = is_file && (uint64_t)info.size == n && vouch_kept_fill(fd, room, n, &n_read) && n_read == n &&
                         vouch_record_is_good(room, n, model, id, tokens, n_payload);
    close(fd);
    if (!is_good && is_file) (void)vouch_os_remove(path);
    if (is_good) (void)vouch_os_file_touch(path);
    pthread_mutex_lock(&c->lock);
    c->info.n_read += is_good;
    c->info.n_damaged += !is_good;
    pthread_mutex_unlock(&c->lock);
    return is_good ? room + vouch_record_head(id->n_tokens) : NULL;
}

/* The folder is locked. */
static vouch_status record_write(const vouch_prompt_cache *c, const char *path, const vouch_bytes *record,
                                 vouch_error *err)
{
    char fresh[VOUCH_OS_PATH_SIZE];
    int64_t size;
    VOUCH_TRY(vouch_kept_path(fresh, c->folder, fresh_name, "", err));
    VOUCH_TRY(vouch_kept_write(fresh, VOUCH_OS_EMPTY, record, false, &size, err));
    return vouch_os_file_replace(fresh, path) ? VOUCH_OK : vouch_kept_fail(err, path);
}

void vouch_prompt_cache_write(vouch_prompt_cache *cache, const vouch_record_model *model, const vouch_record_id *id,
                              unsigned char *room, size_t n_payload)
{
    vouch_prompt_cache *c = cache;
    char path[VOUCH_OS_PATH_SIZE];
    vouch_error err = {0};
    int fd = -1;
    const vouch_bytes record = {room, vouch_record_size(id->n_tokens, n_payload)};
    vouch_record_finish(room, model, id, n_payload);
    vouch_status status = record_path(path, c, model, id, &err);
    if (!status && (int64_t)record.n > c->info.n_most)
        status = vouch_fail(&err, VOUCH_E_ARGUMENT,
                            "a page of this model has %zu bytes in a file, and the folder may hold "
                            "%" PRId64 ": allow more",
                            record.n, c->info.n_most);
    if (!status) status = vouch_kept_lock(c->folder, lock_name, true, &fd, &err);
    if (!status) status = record_write(c, path, &record, &err);
    pthread_mutex_lock(&c->lock);
    c->info.n_written += !status;
    c->info.n_records += !status;
    c->info.n_bytes += status ? 0 : (int64_t)record.n;
    const bool is_full = c->info.n_bytes > c->info.n_most;
    pthread_mutex_unlock(&c->lock);
    if (!status && is_full) status = folder_tidy(c, &err);
    if (fd >= 0) close(fd);
    if (status) fail(c, &err);
}

/* ------------------------------------------------------------------- the API */

vouch_status vouch_prompt_cache_open(vouch_prompt_cache **out, const char *folder, int64_t n_bytes, vouch_error *err)
{
    *out = NULL;
    if (n_bytes == 0) n_bytes = default_bytes;
    if (n_bytes < least_bytes)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "prompt cache: n_bytes is %" PRId64 ", must be at least %" PRId64,
                          n_bytes, least_bytes);
    VOUCH_TRY(vouch_kept_folder(folder, err));
    vouch_prompt_cache *c = calloc(1, sizeof *c);
    char *copy = strdup(folder);
    if (!c || !copy) {
        free(c);
        free(copy);
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a prompt cache");
    }
    c->folder = copy;
    c->info.n_most = n_bytes;
    pthread_mutex_init(&c->lock, NULL);
    int fd = -1;
    vouch_status status = vouch_kept_lock(folder, lock_name, true, &fd, err);
    if (!status) status = folder_tidy(c, err);
    if (fd >= 0) close(fd);
    if (!status) *out = c;
    else vouch_prompt_cache_close(c);
    return status;
}

void vouch_prompt_cache_close(vouch_prompt_cache *cache)
{
    if (!cache) return;
    pthread_mutex_destroy(&cache->lock);
    free(cache->folder);
    free(cache);
}

vouch_prompt_cache_info vouch_prompt_cache_get_info(vouch_prompt_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    const vouch_prompt_cache_info info = cache->info;
    pthread_mutex_unlock(&cache->lock);
    return info;
}

vouch_status vouch_prompt_cache_check(vouch_prompt_cache *cache, vouch_error *err)
{
    pthread_mutex_lock(&cache->lock);
    const vouch_error failure = cache->failure;
    cache->failure = (vouch_error){0};
    pthread_mutex_unlock(&cache->lock);
    if (failure.code && err) *err = failure;
    return failure.code;
}

vouch_status vouch_prompt_cache_remove(const char *folder, bool only_count, size_t *n_files, int64_t *n_bytes,
                                       vouch_error *err)
{
    return vouch_kept_remove_all(folder, lock_name, suffix, only_count, n_files, n_bytes, err);
}

vouch_status vouch_prompt_cache_clear(vouch_prompt_cache *cache, vouch_error *err)
{
    size_t n_files;
    int64_t n_bytes;
    int fd;
    VOUCH_TRY(vouch_kept_lock(cache->folder, lock_name, true, &fd, err));
    vouch_status status = vouch_kept_remove(cache->folder, "", suffix, false, &n_files, &n_bytes, err);
    if (!status) status = folder_tidy(cache, err);
    close(fd);
    return status;
}
