/* SPDX-License-Identifier: MIT */
/*
 * A draft memory and its files. FOLDER/DIGEST-SCOPE.answers has the answers of one model and one scope, a record
 * each. Numbers are little endian:
 *
 *    0  "VOUCHANS"
 *    8  u32  number of tokens
 *   12  u64  hash: FNV-1a of the file's name, the number of tokens and the tokens
 *   20  i32  tokens
 *
 * Records are only appended. A process that is killed leaves a torn record at most, and the next one appends after it.
 * A reader that finds no whole record looks for the next mark. At open such places are removed: the whole records go to
 * a new file, which replaces the old one. Where a file has grown beyond twice what the memory holds, the newest half
 * stays. Who writes or removes files holds the lock on FOLDER/draft-memory.lock.
 */
#include "engine/file/draft_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/hash.h"
#include "draft/source.h"
#include "engine/file/kept.h"

enum {
    HEAD = 20,
    NAME = 48, /* bytes of a file's name, with a NUL */
    LEAST_BYTES = 64 << 10,
    DEFAULT_BYTES = 64 << 20,
};

static const char magic[] = "VOUCHANS", suffix[] = ".answers", lock_name[] = "draft-memory.lock";

/* ------------------------------------------------------------------- records */

static uint64_t record_hash(const char *name, const unsigned char *record, size_t n_tokens)
{
    uint64_t hash = vouch_hash_bytes(VOUCH_HASH_START, name, strlen(name));
    hash = vouch_hash_bytes(hash, record + 8, 4);
    return vouch_hash_bytes(hash, record + HEAD, 4 * n_tokens);
}

/* The size of the whole record that begins here; 0: there is none. Takes the bytes that were hashed in vain out of
 * *budget, so that a file of wrong records doesn't take time without limit. */
static size_t record_size(const char *name, const unsigned char *record, size_t n_bytes, size_t *budget)
{
    if (n_bytes < HEAD || memcmp(record, magic, 8) != 0) return 0;
    const uint64_t n_tokens = vouch_kept_get(record + 8, 4);
    const size_t size = HEAD + 4 * (size_t)n_tokens;
    if (n_tokens > (n_bytes - HEAD) / 4 || size > *budget) return 0;
    if (vouch_kept_get(record + 12, 8) == record_hash(name, record, n_tokens)) return size;
    *budget -= size;
    return 0;
}

static bool record_make(vouch_bytes *out, const char *name, const int32_t *tokens, int32_t n_tokens)
{
    *out = (vouch_bytes){.n = HEAD + 4 * (size_t)n_tokens};
    out->at = malloc(out->n);
    if (!out->at) return false;
    memcpy(out->at, magic, 8);
    vouch_kept_put(out->at + 8, (uint32_t)n_tokens, 4);
    for (int32_t i = 0; i < n_tokens; i++) vouch_kept_put(out->at + HEAD + 4 * (size_t)i, (uint32_t)tokens[i], 4);
    vouch_kept_put(out->at + 12, record_hash(name, out->at, (size_t)n_tokens), 8);
    return true;
}

/* Moves the whole records to the front, the newest `most` bytes of them. Returns the number of damaged places. */
static int64_t records_tidy(const char *name, vouch_bytes *b, size_t most)
{
    int64_t n_damaged = 0;
    bool was_whole = true;
    size_t past = 0, dropped = 0, budget = 4 * b->n;
    for (size_t at = 0; at < b->n;) {
        const size_t n = record_size(name, b->at + at, b->n - at, &budget);
        if (n > 0) memmove(b->at + past, b->at + at, n);
        else n_damaged += was_whole;
        was_whole = n > 0;
        past += n;
        if (n > 0) at += n;
        else {
            const unsigned char *mark = memmem(b->at + at + 1, b->n - at - 1, magic, 8);
            at = mark ? (size_t)(mark - b->at) : b->n;
        }
    }
    while (past - dropped > most) dropped += HEAD + 4 * (size_t)vouch_kept_get(b->at + dropped + 8, 4);
    memmove(b->at, b->at + dropped, past - dropped);
    b->n = past - dropped;
    return n_damaged;
}

/* --------------------------------------------------------------------- files */

vouch_status vouch_draft_memory_remove(const char *folder, bool only_count, size_t *n_files, int64_t *n_bytes,
                                       vouch_error *err)
{
    return vouch_kept_remove_all(folder, lock_name, suffix, only_count, n_files, n_bytes, err);
}

/* ------------------------------------------------------------------- opening */

static void name_write(char name[NAME], const vouch_model *model, uint64_t scope)
{
    snprintf(name, NAME, "%s-%016llx%s", model->digest, (unsigned long long)scope, suffix);
}

/* Whether it is the name of a file of this model; then *scope is what it names. */
static bool name_read(const char *name, const vouch_model *model, uint64_t *scope)
{
    char expected[NAME];
    const size_t n = strlen(model->digest) + 1;
    if (strlen(name) < n + 16) return false;
    *scope = strtoull(name + n, NULL, 16);
    name_write(expected, model, *scope);
    return strcmp(name, expected) == 0;
}

static void answers_take(vouch_draft_memory *m, uint64_t scope, const vouch_bytes *b)
{
    for (size_t at = 0; at < b->n;) {
        const size_t n = vouch_kept_get(b->at + at + 8, 4);
        int32_t *tokens = (int32_t *)(void *)(b->at + at); /* decoded in place, over the head: aligned to 4 bytes */
        bool is_good = n > 0;
        for (size_t i = 0; i < n; i++) {
            tokens[i] = (int32_t)(uint32_t)vouch_kept_get(b->at + at + HEAD + 4 * i, 4);
            is_good &= tokens[i] >= 0 && tokens[i] < m->model->info.n_vocab;
        }
        if (is_good) vouch_answers_add(m->answers, scope, tokens, (int32_t)n);
        m->info.n_kept += is_good;
        at += HEAD + 4 * n;
    }
}

static vouch_status file_take(vouch_draft_memory *m, const char *name, uint64_t scope, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    vouch_bytes b;
    VOUCH_TRY(vouch_kept_path(path, m->folder, name, "", err));
    VOUCH_TRY(vouch_kept_read(path, &b, err));
    if (!b.at) return VOUCH_OK; /* no regular file */
    const int64_t n_damaged = records_tidy(name, &b, SIZE_MAX);
    m->info.n_damaged += n_damaged;
    const vouch_status status = n_damaged > 0 ? vouch_kept_replace(m->folder, name, &b, err) : VOUCH_OK;
    if (status == VOUCH_OK) answers_take(m, scope, &b);
    free(b.at);
    return status;
}

static vouch_status folder_take(vouch_draft_memory *m, vouch_error *err)
{
    char **names;
    int fd;
    VOUCH_TRY(vouch_kept_folder(m->folder, err));
    VOUCH_TRY(vouch_kept_lock(m->folder, lock_name, true, &fd, err));
    vouch_status status = VOUCH_OK;
    const ptrdiff_t n = vouch_os_folder_list(m->folder, &names);
    if (n < 0) status = vouch_kept_fail(err, m->folder);
    for (ptrdiff_t i = 0; i < n && status == VOUCH_OK; i++) {
        uint64_t scope;
        if (name_read(names[i], m->model, &scope)) status = file_take(m, names[i], scope, err);
    }
    if (n >= 0) vouch_os_names_free(names, n);
    close(fd);
    m->kept = vouch_answers_end(m->answers);
    return status;
}

vouch_status vouch_draft_memory_open(vouch_draft_memory **out, const vouch_model *model, const char *folder,
                                     size_t n_bytes, vouch_error *err)
{
    *out = NULL;
    if (n_bytes == 0) n_bytes = DEFAULT_BYTES;
    if (n_bytes < LEAST_BYTES || n_bytes >> 40 > 0)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "draft memory: n_bytes is %zu, must be %d to 2^40", n_bytes,
                          LEAST_BYTES);
    if (!*model->digest) return vouch_fail(err, VOUCH_E_ARGUMENT, "a tokenizer without its model has no draft memory");
    vouch_draft_memory *m = calloc(1, sizeof *m);
    if (!m) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a draft memory");
    pthread_mutex_init(&m->lock, NULL);
    m->model = model;
    vouch_status status = vouch_answers_open(&m->answers, n_bytes, err);
    if (status == VOUCH_OK) m->most = 2 * sizeof(int32_t) * (size_t)vouch_answers_capacity(m->answers);
    if (status == VOUCH_OK && folder && !(m->folder = strdup(folder)))
        status = vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a draft memory");
    if (status == VOUCH_OK && folder) status = folder_take(m, err);
    if (status == VOUCH_OK) *out = m;
    else vouch_draft_memory_close(m);
    return status;
}

/* ------------------------------------------------------------------- keeping */

/* Appends an answer to its file. *size is the file's size afterwards. */
static vouch_status answer_append(const vouch_draft_memory *m, const char *name, const int32_t *tokens,
                                  int32_t n_tokens, int64_t *size, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    vouch_bytes b;
    VOUCH_TRY(vouch_kept_path(path, m->folder, name, "", err));
    if (!record_make(&b, name, tokens, n_tokens))
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for an answer of %d tokens", n_tokens);
    const vouch_status status = vouch_kept_write(path, VOUCH_OS_APPEND, &b, false, size, err);
    free(b.at);
    return status;
}

/* Keeps the newest half of a file. */
static vouch_status file_halve(const vouch_draft_memory *m, const char *name, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    vouch_bytes b;
    VOUCH_TRY(vouch_kept_path(path, m->folder, name, "", err));
    VOUCH_TRY(vouch_kept_read(path, &b, err));
    records_tidy(name, &b, m->most / 2);
    const vouch_status status = vouch_kept_replace(m->folder, name, &b, err);
    free(b.at);
    return status;
}

/* The folder is locked. */
static vouch_status answers_keep(vouch_draft_memory *m, vouch_error *err)
{
    char name[NAME];
    uint64_t scope;
    int32_t *tokens, n_tokens;
    int64_t size = 0;
    for (int64_t position = m->kept; vouch_answers_next(m->answers, &position, &scope, &tokens, &n_tokens);) {
        if (!tokens) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to keep an answer");
        name_write(name, m->model, scope);
        const vouch_status status = answer_append(m, name, tokens, n_tokens, &size, err);
        free(tokens);
        if (status != VOUCH_OK) return status;
        m->kept = position;
        if (size > (int64_t)m->most) VOUCH_TRY(file_halve(m, name, err));
    }
    return VOUCH_OK;
}

/* With `waits` false it leaves the answers to a later call where a thread or another process is writing. */
static vouch_status keep(vouch_draft_memory *m, bool waits, vouch_error *err)
{
    int fd = -1;
    if (!m->folder) return VOUCH_OK;
    if (waits) pthread_mutex_lock(&m->lock);
    else if (pthread_mutex_trylock(&m->lock) != 0) return VOUCH_OK;
    vouch_status status = VOUCH_OK;
    if (m->kept < vouch_answers_end(m->answers)) status = vouch_kept_lock(m->folder, lock_name, waits, &fd, err);
    if (fd >= 0) {
        status = answers_keep(m, err);
        close(fd);
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

vouch_status vouch_draft_memory_keep(vouch_draft_memory *memory, vouch_error *err)
{
    return keep(memory, false, err);
}

vouch_status vouch_draft_memory_add(vouch_draft_memory *memory, uint64_t scope, const int32_t *tokens, size_t n_tokens,
                                    vouch_error *err)
{
    const int32_t n_vocab = memory->model->info.n_vocab;
    for (size_t i = 0; i < n_tokens; i++)
        if (tokens[i] < 0 || tokens[i] >= n_vocab)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "token %zu of the answer is %d, must be 0 to %d", i, tokens[i],
                              n_vocab - 1);
    if (n_tokens < VOUCH_ANSWERS_LEAST) return VOUCH_OK; /* nothing would ever match it */
    const size_t most = INT32_MAX;
    if (n_tokens > most) tokens += n_tokens - most;
    const int32_t n = (int32_t)(n_tokens < most ? n_tokens : most), n_tail = vouch_min(n, VOUCH_TAIL);
    vouch_answer_match matches[VOUCH_ANSWERS_MATCHES];
    const int32_t n_matches = vouch_answers_find(memory->answers, scope, tokens + n, n_tail, matches);
    if (n_matches == 0 || matches[0].length < n_tail) vouch_answers_add(memory->answers, scope, tokens, n);
    return VOUCH_OK;
}

vouch_status vouch_draft_memory_clear(vouch_draft_memory *memory, vouch_error *err)
{
    vouch_draft_memory *m = memory;
    char begin[NAME];
    size_t n_files;
    int64_t n_bytes;
    int fd = -1;
    vouch_status status = VOUCH_OK;
    snprintf(begin, sizeof begin, "%s-", m->model->digest);
    if (m->folder)
        status = vouch_kept_lock(m->folder, lock_name, true, &fd, err); /* first, so that no request waits for it */
    pthread_mutex_lock(&m->lock);
    m->kept = vouch_answers_clear(m->answers);
    if (fd >= 0) status = vouch_kept_remove(m->folder, begin, suffix, false, &n_files, &n_bytes, err);
    pthread_mutex_unlock(&m->lock);
    if (fd >= 0) close(fd);
    return status;
}

vouch_draft_memory_info vouch_draft_memory_get_info(const vouch_draft_memory *memory)
{
    vouch_draft_memory_info info = memory->info;
    info.n_bytes = vouch_answers_memory(memory->answers);
    info.n_tokens = vouch_answers_size(memory->answers);
    info.n_most = vouch_answers_capacity(memory->answers);
    return info;
}

void vouch_draft_memory_close(vouch_draft_memory *memory)
{
    if (!memory) return;
    if (memory->answers) keep(memory, true, NULL);
    vouch_answers_close(memory->answers);
    pthread_mutex_destroy(&memory->lock);
    free(memory->folder);
    free(memory);
}
