/* SPDX-License-Identifier: MIT */
#include "hub/fetch.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "hub/cache.h"
#include "hub/bytes/digest.h"
#include "hub/files.h"
#include "hub/here.h"
#include "hub/siblings.h"
#include "hub/stores.h"
#include "hub/transfer.h"
#include "os/os.h"
#include "tool/file.h"
#include "tool/term.h"

/* Of a file; -1: there is none. */
static int64_t bytes_of(const char *path)
{
    vouch_os_info info;
    return vouch_os_info_of(path, &info) && info.kind == VOUCH_OS_FILE ? info.size : -1;
}

static bool is_folder(const char *path)
{
    vouch_os_info info;
    return vouch_os_info_of(path, &info) && info.kind == VOUCH_OS_FOLDER;
}

/* ------------------------------------------------------------- files of addresses */

static vouch_status address_fail(vouch_error *err, const char *address, const char *reason)
{
    err->code = VOUCH_E_ARGUMENT;
    snprintf(err->message, sizeof err->message, "%.300s: %s", address, reason);
    return err->code;
}

/* Is a step of the path "." or ".."? */
static bool has_dots(const char *path, size_t n)
{
    for (size_t at = 0, length; at < n; at += length + 1) {
        length = strcspn(path + at, "/?#");
        if ((length == 1 && path[at] == '.') || (length == 2 && strncmp(path + at, "..", 2) == 0)) return true;
    }
    return false;
}

static bool has_end(const char *text, size_t n, const char *end)
{
    const size_t n_end = strlen(end);
    return n > n_end && strncasecmp(text + n - n_end, end, n_end) == 0;
}

/* The end of a name that says what its file holds; "": none. */
static const char *end_of(const char *text, size_t n)
{
    static const char *const ends[] = {".gguf", ".safetensors", ".json"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (has_end(text, n, ends[i])) return ends[i];
    return "";
}

/* Does Windows refuse this character in a file's name? It drops a '.' at the end of a name, so that counts, too. */
static bool is_refused(const char *path, size_t at)
{
    const char c = path[at];
    return (unsigned char)c <= ' ' || strchr("<>:\"|*\\", c) || (c == '.' && strchr("/?#", path[at + 1]));
}

/* May another address lead to a file of the same path? Queries aren't part of it, the file system takes "//" for "/",
 * three ends are those of files beside a file (partial), and each refused character becomes '#'. A ':' in the host
 * is not ambiguous: no other character of a host may become '#'. It is at the host's end, because "http:" would lead to
 * http#/, where the addresses without TLS are. */
static bool is_ambiguous(const char *rest, size_t n)
{
    const char *twice = strstr(rest, "//");
    const size_t n_host = strcspn(rest, "/");
    for (size_t i = 0; i < n; i++)
        if (is_refused(rest, i) && (rest[i] != ':' || i + 1 >= n_host)) return true;
    return rest[n] == '?' || (twice && twice < rest + n) || has_end(rest, n, ".incomplete") ||
           has_end(rest, n, ".origin") || has_end(rest, n, ".lock");
}

/* The path of an address below the folder for such files. No two addresses have the same one:
 *
 *   https://HOST/a/m.gguf      HOST/a/m.gguf
 *   https://HOST:80/a/m.gguf   HOST#80/a/m.gguf
 *   http://HOST/a/m.gguf       http#/HOST/a/m.gguf
 *   https://HOST/m.gguf?v=2    HOST/m#DIGEST.gguf
 *   https://HOST/dl?f=5        HOST/dl#DIGEST.gguf
 *   https://HOST/a:b/m.gguf    HOST/a#b/m#DIGEST.gguf
 *
 * DIGEST begins the SHA-256 of the address without scheme and fragment. A '#' is in no path of an address. */
static vouch_status address_path(const hub_places *places, const char *address, char path[VOUCH_OS_PATH_SIZE],
                                 vouch_error *err)
{
    const char *rest = strstr(address, "://") + 3, *scheme = (address[4] | 32) == 's' ? "" : "http#/";
    const size_t n = strcspn(rest, "?#"), n_all = strcspn(rest, "#");
    if (n == 0 || *rest == '/' || rest[n - 1] == '/' || !memchr(rest, '/', n))
        return address_fail(err, address, "expected the address of a file, https://HOST/FILE.gguf");
    if (has_dots(rest, n))
        return address_fail(err, address,
                            "'.' and '..' lead to no file of their own; write the address of the file without them");
    const char *end = end_of(rest, n);
    size_t n_stem = n - strlen(end);
    char mark[HUB_DIGEST_SIZE + 1] = "";
    if (is_ambiguous(rest, n)) {
        hub_digest digest = hub_digest_sha256();
        hub_digest_add(&digest, rest, n_all);
        mark[0] = '#';
        hub_digest_end(&digest, mark + 1);
        if (!*end) end = end_of(rest, n_all);
        if (!*end) end = ".gguf";
    } else {
        n_stem = n;
        end = "";
    }
    const int n_folder = snprintf(path, VOUCH_OS_PATH_SIZE, "%s/files/%s", places->own, scheme);
    const size_t n_left = n_folder < VOUCH_OS_PATH_SIZE ? (size_t)(VOUCH_OS_PATH_SIZE - n_folder) : 0;
    if (n_stem + 64 > n_left) return address_fail(err, address, "the address is too long");
    snprintf(path + n_folder, n_left, "%.*s%.17s%s", (int)n_stem, rest, mark, end);
    for (size_t i = 0; i < n_stem; i++)
        if (is_refused(rest, i)) path[(size_t)n_folder + i] = '#';
    return VOUCH_OK;
}

/* The files beside one that comes from an address: its bytes so far, which file of the server they are of (origin.h),
 * and the lock that the process that fetches it holds. */
typedef struct partial {
    char bytes[VOUCH_OS_PATH_SIZE + 16], origin[VOUCH_OS_PATH_SIZE + 16], lock[VOUCH_OS_PATH_SIZE + 16];
} partial;

static partial partial_of(const char path[VOUCH_OS_PATH_SIZE])
{
    partial p;
    snprintf(p.bytes, sizeof p.bytes, "%s.incomplete", path);
    snprintf(p.origin, sizeof p.origin, "%s.origin", path);
    snprintf(p.lock, sizeof p.lock, "%s.lock", path);
    return p;
}

static void partial_remove(const partial *p)
{
    vouch_os_remove(p->origin);
    vouch_os_remove(p->bytes);
    vouch_os_remove(p->lock);
}

/* ------------------------------------------------------------------- what is here */

/* The path below the folder of fetched addresses; NULL: it lies elsewhere. */
static const char *after_files(const hub_places *places, const char *path)
{
    char folder[VOUCH_OS_PATH_SIZE + 8];
    const int n = snprintf(folder, sizeof folder, "%s/files/", places->own);
    return strncmp(path, folder, (size_t)n) == 0 && !strstr(path, "/../") ? path + n : NULL;
}

typedef struct named_walk {
    const hub_places *places;
    hub_found *found;
    void *user;
} named_walk;

/* Hands on a model with the address that it was fetched from as its name. A path with a digest doesn't say the address,
 * and stays. */
static void found_with_address(void *user, const char *name, const char *path)
{
    const named_walk *walk = user;
    const char *rest = strcmp(name, path) == 0 ? after_files(walk->places, path) : NULL;
    char address[VOUCH_OS_PATH_SIZE + 16], meant[VOUCH_OS_PATH_SIZE];
    vouch_error ignored;
    const size_t n_mark = rest && strncmp(rest, "http#/", 6) == 0 ? 6 : 0;
    snprintf(address, sizeof address, "%s://%s", n_mark ? "http" : "https", rest ? rest + n_mark : "");
    for (char *c = strchr(address, ':') + 3; *c && *c != '/'; c++)
        if (*c == '#') *c = ':';
    const bool is_address = rest && !address_path(walk->places, address, meant, &ignored) && strcmp(meant, path) == 0;
    walk->found(walk->user, is_address ? address : name, path);
}

void hub_walk(const hub_places *places, hub_found *found, void *user)
{
    char **names;
    vouch_error ignored;
    char repository[HUB_NAME_SIZE];
    hub_cache cache;
    const ptrdiff_t n = vouch_os_folder_list(places->cache, &names);
    for (ptrdiff_t i = 0; i < n; i++) {
        if (hub_cache_repository(names[i], repository) && !hub_cache_open(&cache, places->cache, repository, &ignored))
            hub_here_walk(&cache, repository, found, user);
    }
    vouch_os_names_free(names, n);
    named_walk walk = {places, found, user};
    hub_stores_walk(places, found_with_address, &walk);
}

#define NOT_HERE "not here; `vouch list` prints what is"

static vouch_status remove_fail(vouch_error *err, const char *word, const char *reason)
{
    err->code = VOUCH_E_ARGUMENT;
    snprintf(err->message, sizeof err->message, "%.200s: %s", word, reason);
    return err->code;
}

/* Removes a fetched file of an address, or the bytes that are here of it. word: for messages. */
static vouch_status fetched_remove(const char path[VOUCH_OS_PATH_SIZE], const char *word, int64_t *freed,
                                   vouch_error *err)
{
    const partial p = partial_of(path);
    const int64_t n_whole = bytes_of(path), n_partial = bytes_of(p.bytes);
    vouch_os_info info;
    if (!vouch_os_info_of_link(path, &info) && n_partial < 0) return remove_fail(err, word, NOT_HERE);
    const int held = hub_lock(p.lock, NULL);
    if (held == HUB_BUSY) {
        remove_fail(err, word, "another process fetches it; type `vouch rm` again when that has ended");
        return err->code = VOUCH_E_IO;
    }
    vouch_status status = VOUCH_OK;
    const char *const files[] = {path, p.bytes};
    for (size_t i = 0; !status && i < sizeof files / sizeof *files; i++)
        if (!vouch_os_remove(files[i]) && errno != ENOENT) {
            err->code = status = VOUCH_E_IO;
            snprintf(err->message, sizeof err->message, "%.400s: %s", files[i], strerror(errno));
        }
    if (!status) {
        partial_remove(&p);
        *freed = (n_whole > 0 ? n_whole : 0) + (n_partial > 0 ? n_partial : 0);
    } else vouch_os_remove(p.lock);
    if (held >= 0) close(held);
    return status;
}

vouch_status hub_remove(const hub_places *places, const char *word, int64_t *freed, vouch_error *err)
{
    hub_name name;
    hub_cache cache;
    vouch_status status = hub_name_parse(&name, word, places->endpoint, err);
    if (status) return status;
    if (name.kind == HUB_OLLAMA) return remove_fail(err, word, "it is Ollama's; type `ollama rm`");
    char path[VOUCH_OS_PATH_SIZE];
    if (name.kind == HUB_ADDRESS) {
        status = address_path(places, word, path, err);
        return status ? status : fetched_remove(path, word, freed, err);
    }
    if (name.kind == HUB_PATH && after_files(places, word) &&
        snprintf(path, sizeof path, "%s", word) < VOUCH_OS_PATH_SIZE - 32)
        return fetched_remove(path, word, freed, err);
    if (name.kind != HUB_REPOSITORY)
        return remove_fail(err, word, "no name of a fetched model; `vouch list` prints them");
    status = hub_cache_open(&cache, places->cache, name.repository, err);
    if (status) return status;
    if (!vouch_os_exists(cache.folder)) return remove_fail(err, word, NOT_HERE);
    hub_removal removal = {0, 0};
    status = hub_here_remove(&cache, &name, word, &removal, err);
    *freed = removal.freed;
    if (!status && removal.n_busy > 0) tool_note("another process fetches a file of %s, which stays", name.repository);
    return status;
}

/* ----------------------------------------------------------------------- fetching */

typedef struct job {
    const hub_places *places;
    const hub_name *name;
    hub_client *client;
    hub_cache cache;
    hub_files files;
} job;

/* Is the file here? Its blob, or where the system has no links the file of the snapshot itself. */
static bool is_here(const job *j, const hub_file *f)
{
    char path[VOUCH_OS_PATH_SIZE];
    hub_cache_blob(&j->cache, f->digest, "", path);
    if (bytes_of(path) >= 0) return true;
    hub_cache_snapshot(&j->cache, j->files.commit, f->path, path);
    return vouch_os_exists(path);
}

/* Bytes still to come of the chosen files. */
static vouch_status job_check_space(const job *j, vouch_error *err)
{
    int64_t bytes = 0;
    char path[VOUCH_OS_PATH_SIZE], size[16];
    for (size_t i = 0; i < j->files.n; i++) {
        const hub_file *f = &j->files.items[i];
        if (!f->is_chosen || is_here(j, f)) continue;
        hub_cache_blob(&j->cache, f->digest, ".incomplete", path);
        const int64_t here = bytes_of(path);
        bytes += f->size - (here > 0 && here <= f->size ? here : 0);
    }
    hub_size_write(size, bytes);
    if (bytes > 0) tool_note("fetching %s, %s, to %s", j->name->repository, size, j->places->cache);
    return hub_space_check(j->cache.folder, bytes, j->name->repository, "HF_HUB_CACHE", err);
}

/* Writes ENDPOINT/OWNER/NAME/resolve/COMMIT/PATH, escaped where an address needs it. */
static bool address_write(char *to, size_t size, const job *j, const char *path)
{
    size_t n =
        (size_t)snprintf(to, size, "%s/%s/resolve/%s/", j->places->endpoint, j->name->repository, j->files.commit);
    for (; *path && n + 4 < size; path++) {
        const bool is_plain =
            (*path >= '0' && *path <= '9') || ((*path | 32) >= 'a' && (*path | 32) <= 'z') || strchr("/-_.~", *path);
        n += (size_t)snprintf(to + n, size - n, is_plain ? "%c" : "%%%02X", (unsigned char)*path);
    }
    return !*path;
}

/* Brings one file to its place. */
static vouch_status file_bring(const job *j, const hub_file *f, vouch_error *err)
{
    char blob[VOUCH_OS_PATH_SIZE], incomplete[VOUCH_OS_PATH_SIZE], lock[VOUCH_OS_PATH_SIZE], address[2048],
        what[HUB_NAME_SIZE + 1100];
    snprintf(what, sizeof what, "%s/%s", j->name->repository, f->path);
    hub_cache_blob(&j->cache, f->digest, "", blob);
    hub_cache_blob(&j->cache, f->digest, ".incomplete", incomplete);
    hub_cache_lock_path(&j->cache, f->digest, lock);
    vouch_status status = hub_cache_make_folder(blob, err);
    if (status) return status;
    if (!address_write(address, sizeof address, j, f->path)) {
        err->code = VOUCH_E_ARGUMENT;
        snprintf(err->message, sizeof err->message, "%.400s: the path is too long", what);
        return err->code;
    }
    const int held = is_here(j, f) ? -1 : hub_lock(lock, what);
    if (!is_here(j, f)) {
        const hub_download d = {
            .address = address, .what = what, .path = incomplete, .size = f->size, .digest = f->digest};
        status = hub_download_run(j->client, &d, err);
        if (!status && !vouch_os_file_replace(incomplete, blob)) {
            err->code = status = VOUCH_E_IO;
            snprintf(err->message, sizeof err->message, "%.400s: %s", blob, strerror(errno));
        }
    } else vouch_os_remove(incomplete); /* of a run that was ended between rename and here, or of another program */
    if (status && bytes_of(incomplete) == 0) vouch_os_remove(incomplete);
    if (!status) status = hub_cache_link(&j->cache, j->files.commit, f->path, f->digest, err);
    if (held >= 0) close(held);
    return status;
}

static vouch_status job_list(job *j, vouch_error *err)
{
    char address[2048];
    char *text;
    size_t n;
    snprintf(address, sizeof address, "%s/api/models/%s/revision/%s?blobs=true", j->places->endpoint,
             j->name->repository, j->name->revision);
    vouch_status status = hub_get(j->client, address, j->name->repository, &text, &n, err);
    if (status) return status;
    status = hub_files_parse(&j->files, text, n, j->name->repository, err);
    free(text);
    return status;
}

/* Brings the chosen files that the snapshot lacks, and once more those that `vouch rm` of another process has removed
 * meanwhile. */
static vouch_status job_bring(const job *j, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; !status && i < 2 * j->files.n; i++) {
        const hub_file *f = &j->files.items[i % j->files.n];
        hub_cache_snapshot(&j->cache, j->files.commit, f->path, path);
        if (f->is_chosen && (i < j->files.n || !vouch_os_exists(path))) status = file_bring(j, f, err);
    }
    return status;
}

/* *lacks_draft: nothing in the repository drafts for the model. */
static vouch_status repository_fetch(const hub_places *places, const hub_name *name, char path[VOUCH_OS_PATH_SIZE],
                                     bool *lacks_draft, vouch_error *err)
{
    size_t entry = 0;
    job j = {.places = places, .name = name};
    vouch_status status = hub_client_open(&j.client, places, err);
    if (!status) status = hub_cache_open(&j.cache, places->cache, name->repository, err);
    if (!status) status = job_list(&j, err);
    if (!status) status = hub_files_choose(&j.files, name, &entry, err);
    if (!status && *lacks_draft) *lacks_draft = !hub_files_choose_drafter(&j.files);
    if (!status) status = job_check_space(&j, err);
    if (!status) status = job_bring(&j, err);
    /* Last, so that an update that ends before leaves the files that were here under their name. */
    if (!status) status = hub_cache_set_commit(&j.cache, name->revision, j.files.commit, err);
    if (!status) hub_here_entry_path(&j.cache, j.files.commit, j.files.items[entry].path, path);
    hub_files_free(&j.files);
    hub_client_close(j.client);
    return status;
}

/* The format that a fetched file must have, by the end of its name: GGUF where the name has no known end. */
static hub_content content_of(const char *path)
{
    const char *end = end_of(path, strlen(path));
    return strcmp(end, ".safetensors") == 0 ? HUB_SAFETENSORS : strcmp(end, ".json") == 0 ? HUB_JSON : HUB_GGUF;
}

static vouch_status address_fetch(const hub_places *places, const char *address, char path[VOUCH_OS_PATH_SIZE],
                                  vouch_error *err)
{
    vouch_status status = address_path(places, address, path, err);
    if (status) return status;
    if (is_folder(path))
        return address_fail(err, address, "files of addresses below this one are here; `vouch rm` them first");
    const partial p = partial_of(path);
    if (bytes_of(path) >= 0) {
        partial_remove(&p); /* of a run that was ended between rename and here */
        return VOUCH_OK;
    }
    hub_client *client;
    status = hub_client_open(&client, places, err);
    if (status) return status;
    status = hub_cache_make_folder(path, err);
    const int held = status ? HUB_NO_LOCK : hub_lock(p.lock, address);
    if (!status && bytes_of(path) < 0) {
        const hub_download d = {.address = address,
                                .what = address,
                                .path = p.bytes,
                                .size = -1,
                                .origin = p.origin,
                                .content = content_of(path)};
        tool_note("fetching %s to %s", address, path);
        status = hub_download_run(client, &d, err);
        if (!status && !vouch_os_file_replace(p.bytes, path)) {
            err->code = status = VOUCH_E_IO;
            snprintf(err->message, sizeof err->message, "%.400s: %s", path, strerror(errno));
        }
    }
    if (!status || bytes_of(p.bytes) <= 0) partial_remove(&p);
    else vouch_os_remove(p.lock);
    if (held >= 0) close(held);
    hub_client_close(client);
    return status;
}

/* Fetches the small model that drafts for the family. */
static vouch_status sibling_fetch(const hub_places *places, const char *repository, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE], sibling[HUB_NAME_SIZE];
    if (hub_sibling_of(repository, sibling)) return hub_find(places, sibling, HUB_MODEL, HUB_NEWEST, path, err);
    tool_note("%s has no file that drafts for it, and no small model of its family is known", repository);
    return VOUCH_OK;
}

vouch_status hub_find(const hub_places *places, const char *word, hub_role role, hub_wish wish,
                      char path[VOUCH_OS_PATH_SIZE], vouch_error *err)
{
    hub_name name;
    bool lacks_draft = wish == HUB_WITH_DRAFT;
    vouch_status status = hub_name_parse(&name, word, places->endpoint, err);
    if (status) return status;
    name.role = role;
    switch (name.kind) {
    case HUB_PATH:
        if (vouch_os_exists(word) && snprintf(path, VOUCH_OS_PATH_SIZE, "%s", word) < VOUCH_OS_PATH_SIZE)
            return VOUCH_OK;
        err->code = VOUCH_E_ARGUMENT;
        snprintf(err->message, sizeof err->message, "'%.200s' is neither a file nor a name: " HUB_NAME_FORMS, word);
        return err->code;
    case HUB_OLLAMA: return hub_ollama_find(places, name.repository, name.part, path, err);
    case HUB_ADDRESS: return address_fetch(places, word, path, err);
    case HUB_REPOSITORY: break;
    }
    if (wish == HUB_ANY && hub_here_find(places, &name, true, path)) return VOUCH_OK;
    if (!places->is_offline) {
        status = repository_fetch(places, &name, path, &lacks_draft, err);
        /* A head of any name needs no hub, once it is here. */
        if (status && role != HUB_MODEL && hub_here_find(places, &name, false, path)) return VOUCH_OK;
        return status || !lacks_draft ? status : sibling_fetch(places, name.repository, err);
    }
    if (hub_here_find(places, &name, false, path)) return VOUCH_OK;
    err->code = VOUCH_E_UNSUPPORTED;
    snprintf(err->message, sizeof err->message,
             "%.200s isn't in %.150s, and HF_HUB_OFFLINE forbids to fetch it; unset it", word, places->cache);
    return err->code;
}
