/* SPDX-License-Identifier: MIT */
#include "hub/fetch.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "hub/cache.h"
#include "hub/digest.h"
#include "hub/files.h"
#include "hub/siblings.h"
#include "hub/stores.h"
#include "hub/transfer.h"
#include "tool/file.h"
#include "tool/term.h"

void hub_size_write(char text[16], int64_t bytes)
{
    if (bytes >= 1000000000) snprintf(text, 16, "%.1f GB", (double)bytes * 1e-9);
    else if (bytes >= 1000000) snprintf(text, 16, "%.0f MB", (double)bytes * 1e-6);
    else snprintf(text, 16, "%d kB", (int)((bytes + 999) / 1000));
}

/* Of a file; -1: there is none. */
static int64_t bytes_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? (int64_t)info.st_size : -1;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
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

/* May another address lead to a file of the same path? Queries aren't part of it, the file system takes "//" for "/",
 * and three ends are those of files beside a file (partial). */
static bool is_ambiguous(const char *rest, size_t n)
{
    const char *twice = strstr(rest, "//");
    return rest[n] == '?' || (twice && twice < rest + n) || has_end(rest, n, ".incomplete") ||
           has_end(rest, n, ".origin") || has_end(rest, n, ".lock");
}

/* The path of an address below the folder for such files. No two addresses have the same one:
 *
 *   https://HOST/a/m.gguf    HOST/a/m.gguf
 *   http://HOST/a/m.gguf     http#/HOST/a/m.gguf
 *   https://HOST/m.gguf?v=2  HOST/m#DIGEST.gguf
 *   https://HOST/dl?f=5      HOST/dl#DIGEST.gguf
 *
 * DIGEST begins the SHA-256 of the address without scheme and fragment. A '#' is in no path of an address. */
static vouch_status address_path(const hub_places *places, const char *address, char path[PATH_MAX], vouch_error *err)
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
    const int length =
        snprintf(path, PATH_MAX, "%s/files/%s%.*s%.17s%s", places->own, scheme, (int)n_stem, rest, mark, end);
    return length < PATH_MAX - 32 ? VOUCH_OK : address_fail(err, address, "the address is too long");
}

/* The files beside one that comes from an address: its bytes so far, which file of the server they are of (origin.h),
 * and the lock that the process that fetches it holds. */
typedef struct partial {
    char bytes[PATH_MAX + 16], origin[PATH_MAX + 16], lock[PATH_MAX + 16];
} partial;

static partial partial_of(const char path[PATH_MAX])
{
    partial p;
    snprintf(p.bytes, sizeof p.bytes, "%s.incomplete", path);
    snprintf(p.origin, sizeof p.origin, "%s.origin", path);
    snprintf(p.lock, sizeof p.lock, "%s.lock", path);
    return p;
}

static void partial_remove(const partial *p)
{
    unlink(p->origin);
    unlink(p->bytes);
    unlink(p->lock);
}

/* ------------------------------------------------------------------- what is here */

/* Are all files there that the index of a split folder names? A folder without index has one file. */
static bool folder_is_whole(const char *folder)
{
    char path[PATH_MAX];
    struct stat info;
    if (snprintf(path, sizeof path, "%s/model.safetensors.index.json", folder) >= PATH_MAX) return false;
    json_t *root = json_load_file(path, 0, NULL);
    const char *tensor;
    json_t *file;
    bool ok = true;
    json_object_foreach(json_object_get(root, "weight_map"), tensor, file) {
        const char *name = json_string_value(file);
        ok = ok && name && snprintf(path, sizeof path, "%s/%s", folder, name) < PATH_MAX && stat(path, &info) == 0;
    }
    json_decref(root);
    return ok;
}

/* The path of an entry (hub_files_choose) below a snapshot: of config.json its folder. */
static bool entry_path(const hub_cache *cache, const char *commit, const char *entry, char path[PATH_MAX])
{
    const bool is_split = strcmp(entry, "config.json") == 0;
    hub_cache_snapshot(cache, commit, is_split ? "" : entry, path);
    return *path && (!is_split || folder_is_whole(path));
}

/* The path of a name among the fetched files; touches no network. False: it isn't here. */
static bool find_here(const hub_places *places, const hub_name *name, char path[PATH_MAX])
{
    hub_cache cache;
    hub_files files;
    vouch_error ignored;
    char commit[HUB_NAME_SIZE];
    size_t entry = 0;
    if (hub_cache_open(&cache, places->cache, name->repository, &ignored)) return false;
    if (!hub_cache_commit(&cache, name->revision, commit)) return false;
    hub_cache_snapshot(&cache, commit, "", path);
    if (hub_files_read(&files, path, &ignored)) return false;
    const bool ok =
        !hub_files_choose(&files, name, &entry, &ignored) && entry_path(&cache, commit, files.items[entry].path, path);
    hub_files_free(&files);
    return ok;
}

/* The type that a file's name ends in: "Q4_K_M"; NULL: none that is known. */
static const char *type_of(const char *path)
{
    for (size_t i = 0; hub_type(i); i++)
        if (hub_is_of_type(path, hub_type(i))) return hub_type(i);
    return NULL;
}

/* The models of one repository's snapshot. */
static void repository_walk(const hub_cache *cache, const char *repository, hub_found *found, void *user)
{
    char commit[HUB_NAME_SIZE], path[PATH_MAX], name[PATH_MAX];
    hub_files files;
    vouch_error ignored;
    size_t entry = 0;
    if (!hub_cache_commit(cache, "main", commit)) return;
    hub_cache_snapshot(cache, commit, "", path);
    if (hub_files_read(&files, path, &ignored)) return;
    for (size_t i = 0; i < files.n; i++) {
        const char *type = type_of(files.items[i].path);
        if (!hub_is_first_part(files.items[i].path)) continue;
        snprintf(name, sizeof name, "%s:%s", repository, type ? type : files.items[i].path);
        hub_cache_snapshot(cache, commit, files.items[i].path, path);
        found(user, name, path);
    }
    const hub_name folder = {HUB_REPOSITORY, "", "", "safetensors"};
    if (!hub_files_choose(&files, &folder, &entry, &ignored) && entry_path(cache, commit, "config.json", path))
        found(user, repository, path);
    hub_files_free(&files);
}

void hub_walk(const hub_places *places, hub_found *found, void *user)
{
    struct dirent **entries;
    vouch_error ignored;
    char repository[HUB_NAME_SIZE];
    hub_cache cache;
    const int n = scandir(places->cache, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (hub_cache_repository(entries[i]->d_name, repository) &&
            !hub_cache_open(&cache, places->cache, repository, &ignored))
            repository_walk(&cache, repository, found, user);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    hub_stores_walk(places, found, user);
}

static vouch_status remove_fail(vouch_error *err, const char *word, const char *reason)
{
    err->code = VOUCH_E_ARGUMENT;
    snprintf(err->message, sizeof err->message, "%.200s: %s", word, reason);
    return err->code;
}

/* Files of one snapshot. */
static vouch_status files_remove(const hub_cache *cache, const hub_name *name, const char *word, int64_t *freed,
                                 vouch_error *err)
{
    char commit[HUB_NAME_SIZE], path[PATH_MAX];
    hub_files files;
    size_t entry, n = 0;
    if (!hub_cache_commit(cache, name->revision, commit)) return remove_fail(err, word, "no such revision is here");
    hub_cache_snapshot(cache, commit, "", path);
    vouch_status status = hub_files_read(&files, path, err);
    if (status) return status;
    status = hub_files_choose(&files, name, &entry, err);
    const char **chosen = calloc(files.n + 1, sizeof *chosen);
    for (size_t i = 0; chosen && i < files.n; i++)
        if (files.items[i].is_chosen) chosen[n++] = files.items[i].path;
    if (!status)
        status = chosen ? hub_cache_remove(cache, commit, chosen, n, freed, err)
                        : remove_fail(err, word, "not enough memory");
    free(chosen);
    hub_files_free(&files);
    return status;
}

/* The file of an address, or what has come of it. */
static vouch_status address_remove(const hub_places *places, const char *address, int64_t *freed, vouch_error *err)
{
    char path[PATH_MAX];
    const vouch_status status = address_path(places, address, path, err);
    if (status) return status;
    const partial p = partial_of(path);
    const int64_t n_whole = bytes_of(path), n_partial = bytes_of(p.bytes);
    *freed = (n_whole > 0 ? n_whole : 0) + (n_partial > 0 ? n_partial : 0);
    const bool is_here = unlink(path) == 0 || n_partial >= 0;
    partial_remove(&p);
    return is_here ? VOUCH_OK : remove_fail(err, address, "not here; `vouch list` prints what is");
}

vouch_status hub_remove(const hub_places *places, const char *word, int64_t *freed, vouch_error *err)
{
    hub_name name;
    hub_cache cache;
    vouch_status status = hub_name_parse(&name, word, places->endpoint, err);
    if (status) return status;
    if (name.kind == HUB_OLLAMA) return remove_fail(err, word, "it is Ollama's; type `ollama rm`");
    if (name.kind == HUB_ADDRESS) return address_remove(places, word, freed, err);
    if (name.kind != HUB_REPOSITORY)
        return remove_fail(err, word, "no name of a fetched model; `vouch list` prints them");
    status = hub_cache_open(&cache, places->cache, name.repository, err);
    if (status) return status;
    if (access(cache.folder, F_OK) != 0) return remove_fail(err, word, "not here; `vouch list` prints what is");
    if (*name.part) return files_remove(&cache, &name, word, freed, err);
    return hub_cache_remove(&cache, NULL, NULL, 0, freed, err);
}

/* ----------------------------------------------------------------------- fetching */

typedef struct job {
    const hub_places *places;
    const hub_name *name;
    hub_client *client;
    hub_cache cache;
    hub_files files;
} job;

/* Room for `bytes` in the file system of a folder that exists or will. */
static vouch_status space_check(const char *folder, int64_t bytes, const char *what, vouch_error *err)
{
    char path[PATH_MAX];
    struct statvfs info;
    snprintf(path, sizeof path, "%s", folder);
    while (statvfs(path, &info) != 0) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path) return VOUCH_OK;
        *slash = '\0';
    }
    const double available = (double)info.f_bavail * (double)info.f_frsize;
    if (available >= (double)bytes) return VOUCH_OK;
    char needed[16], free_bytes[16];
    hub_size_write(needed, bytes);
    hub_size_write(free_bytes, (int64_t)available);
    err->code = VOUCH_E_IO;
    snprintf(
        err->message, sizeof err->message,
        "%.120s needs %s, and %.200s has %s left: make room there, or set HF_HUB_CACHE to a folder of another disk",
        what, needed, path, free_bytes);
    return err->code;
}

/* Bytes still to come of the chosen files. */
static vouch_status job_check_space(const job *j, vouch_error *err)
{
    int64_t bytes = 0;
    char path[PATH_MAX], size[16];
    for (size_t i = 0; i < j->files.n; i++) {
        const hub_file *f = &j->files.items[i];
        if (!f->is_chosen) continue;
        hub_cache_blob(&j->cache, f->digest, "", path);
        if (bytes_of(path) >= 0) continue;
        hub_cache_blob(&j->cache, f->digest, ".incomplete", path);
        const int64_t here = bytes_of(path);
        bytes += f->size - (here > 0 && here <= f->size ? here : 0);
    }
    hub_size_write(size, bytes);
    if (bytes > 0) tool_note("fetching %s, %s, to %s", j->name->repository, size, j->places->cache);
    return space_check(j->cache.folder, bytes, j->name->repository, err);
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
    char blob[PATH_MAX], incomplete[PATH_MAX], lock[PATH_MAX], address[2048], what[HUB_NAME_SIZE + 1100];
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
    const int held = bytes_of(blob) >= 0 ? -1 : hub_lock(lock, what);
    if (bytes_of(blob) < 0) {
        const hub_download d = {address, what, incomplete, f->size, f->digest, NULL};
        status = hub_download_run(j->client, &d, err);
        if (!status && rename(incomplete, blob) != 0) {
            err->code = status = VOUCH_E_IO;
            snprintf(err->message, sizeof err->message, "%.400s: %s", blob, strerror(errno));
        }
    } else unlink(incomplete); /* of a run that was ended between rename and here, or of another program */
    if (status && bytes_of(incomplete) == 0) unlink(incomplete);
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

/* *lacks_draft: nothing in the repository drafts for the model. */
static vouch_status repository_fetch(const hub_places *places, const hub_name *name, char path[PATH_MAX],
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
    if (!status) status = hub_cache_set_commit(&j.cache, name->revision, j.files.commit, err);
    for (size_t i = 0; !status && i < j.files.n; i++)
        if (j.files.items[i].is_chosen) status = file_bring(&j, &j.files.items[i], err);
    if (!status) entry_path(&j.cache, j.files.commit, j.files.items[entry].path, path);
    hub_files_free(&j.files);
    hub_client_close(j.client);
    return status;
}

static vouch_status address_fetch(const hub_places *places, const char *address, char path[PATH_MAX], vouch_error *err)
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
    const int held = status ? -1 : hub_lock(p.lock, address);
    if (!status && bytes_of(path) < 0) {
        const hub_download d = {address, address, p.bytes, -1, NULL, p.origin};
        tool_note("fetching %s to %s", address, path);
        status = hub_download_run(client, &d, err);
        if (!status && rename(p.bytes, path) != 0) {
            err->code = status = VOUCH_E_IO;
            snprintf(err->message, sizeof err->message, "%.400s: %s", path, strerror(errno));
        }
    }
    if (!status || bytes_of(p.bytes) <= 0) partial_remove(&p);
    else unlink(p.lock);
    if (held >= 0) close(held);
    hub_client_close(client);
    return status;
}

/* Fetches the small model that drafts for the family. */
static vouch_status sibling_fetch(const hub_places *places, const char *repository, vouch_error *err)
{
    char path[PATH_MAX], sibling[HUB_NAME_SIZE];
    if (hub_sibling_of(repository, sibling)) return hub_find(places, sibling, HUB_NEWEST, path, err);
    tool_note("%s has no file that drafts for it, and no small model of its family is known", repository);
    return VOUCH_OK;
}

vouch_status hub_find(const hub_places *places, const char *word, hub_wish wish, char path[PATH_MAX], vouch_error *err)
{
    hub_name name;
    bool lacks_draft = wish == HUB_WITH_DRAFT;
    vouch_status status = hub_name_parse(&name, word, places->endpoint, err);
    if (status) return status;
    switch (name.kind) {
    case HUB_PATH:
        if (access(word, F_OK) == 0 && snprintf(path, PATH_MAX, "%s", word) < PATH_MAX) return VOUCH_OK;
        err->code = VOUCH_E_ARGUMENT;
        snprintf(err->message, sizeof err->message, "'%.200s' is neither a file nor a name: " HUB_NAME_FORMS, word);
        return err->code;
    case HUB_OLLAMA: return hub_ollama_find(places, name.repository, name.part, path, err);
    case HUB_ADDRESS: return address_fetch(places, word, path, err);
    case HUB_REPOSITORY: break;
    }
    if (wish == HUB_ANY && find_here(places, &name, path)) return VOUCH_OK;
    if (!places->is_offline) {
        status = repository_fetch(places, &name, path, &lacks_draft, err);
        return status || !lacks_draft ? status : sibling_fetch(places, name.repository, err);
    }
    if (find_here(places, &name, path)) return VOUCH_OK;
    err->code = VOUCH_E_UNSUPPORTED;
    snprintf(err->message, sizeof err->message,
             "%.200s isn't in %.150s, and HF_HUB_OFFLINE forbids to fetch it; unset it", word, places->cache);
    return err->code;
}
