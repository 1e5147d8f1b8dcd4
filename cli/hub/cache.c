/* SPDX-License-Identifier: MIT */
#include "hub/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "tool/file.h"
#include "tool/term.h"

static vouch_status cache_fail(vouch_error *err, const char *path, int reason)
{
    err->code = VOUCH_E_IO;
    snprintf(err->message, sizeof err->message, "%.400s: %s", path, strerror(reason));
    return err->code;
}

/* "models--OWNER--NAME" after root and a middle. */
static bool folder_write(char to[VOUCH_OS_PATH_SIZE], const char *root, const char *middle, const char *repository)
{
    const char *slash = strchr(repository, '/');
    const int n = snprintf(to, VOUCH_OS_PATH_SIZE, "%s%s/models--%.*s--%s", root, middle, (int)(slash - repository),
                           repository, slash + 1);
    return n > 0 && n < VOUCH_OS_PATH_SIZE - HUB_NAME_SIZE;
}

vouch_status hub_cache_open(hub_cache *cache, const char *root, const char *repository, vouch_error *err)
{
    if (folder_write(cache->folder, root, "", repository) && folder_write(cache->locks, root, "/.locks", repository))
        return VOUCH_OK;
    err->code = VOUCH_E_ARGUMENT;
    snprintf(err->message, sizeof err->message, "%.300s: the path of the cache is too long", root);
    return err->code;
}

bool hub_cache_repository(const char *name, char repository[HUB_NAME_SIZE])
{
    const char *mark = strncmp(name, "models--", 8) == 0 ? strstr(name + 8, "--") : NULL;
    if (!mark || strlen(name) >= HUB_NAME_SIZE) return false;
    snprintf(repository, HUB_NAME_SIZE, "%.*s/%s", (int)(mark - name - 8), name + 8, mark + 2);
    return true;
}

static bool is_commit(const char *text)
{
    return strlen(text) == 40 && strspn(text, "0123456789abcdef") == 40;
}

static void path_write(char to[VOUCH_OS_PATH_SIZE], const char *folder, const char *middle, const char *name,
                       const char *end)
{
    const int n = snprintf(to, VOUCH_OS_PATH_SIZE, "%s%s%s%s%s%s", folder, *middle ? "/" : "", middle, *name ? "/" : "",
                           name, end);
    if (n >= VOUCH_OS_PATH_SIZE) *to = '\0';
}

bool hub_cache_commit(const hub_cache *cache, const char *revision, char commit[HUB_NAME_SIZE])
{
    char path[VOUCH_OS_PATH_SIZE];
    char *bytes = NULL;
    size_t n;
    vouch_error ignored;
    snprintf(commit, HUB_NAME_SIZE, "%s", revision);
    if (is_commit(revision)) return true;
    path_write(path, cache->folder, "refs", revision, "");
    if (tool_file_read(path, &bytes, &n, &ignored)) return false;
    snprintf(commit, HUB_NAME_SIZE, "%.40s", bytes);
    free(bytes);
    return is_commit(commit);
}

typedef struct dated_commit {
    hub_commit commit;
    bool is_first;
    int64_t time; /* of the last change of the snapshot's folder, in nanoseconds */
} dated_commit;

static int dated_compare(const void *first, const void *second)
{
    const dated_commit *a = first, *b = second;
    if (a->is_first != b->is_first) return a->is_first ? -1 : 1;
    if (a->time != b->time) return a->time > b->time ? -1 : 1;
    return strcmp(a->commit, b->commit);
}

hub_commit *hub_cache_commits(const hub_cache *cache, const char *revision, size_t *n)
{
    char folder[VOUCH_OS_PATH_SIZE], first[HUB_NAME_SIZE], path[VOUCH_OS_PATH_SIZE];
    char **names;
    vouch_os_info info;
    const bool has_first = hub_cache_commit(cache, revision, first);
    path_write(folder, cache->folder, "snapshots", "", "");
    *n = 0;
    const ptrdiff_t n_entries = vouch_os_folder_list(folder, &names);
    if (n_entries < 0) return NULL;
    dated_commit *dated = calloc((size_t)n_entries + 1, sizeof *dated);
    hub_commit *commits = calloc((size_t)n_entries + 1, sizeof *commits);
    for (ptrdiff_t i = 0; i < n_entries; i++) {
        const char *name = names[i];
        hub_cache_snapshot(cache, name, "", path);
        if (dated && commits && is_commit(name) && vouch_os_info_of(path, &info) && info.kind == VOUCH_OS_FOLDER) {
            dated_commit *d = &dated[(*n)++];
            *d = (dated_commit){.is_first = has_first && strcmp(name, first) == 0, .time = info.modified};
            memcpy(d->commit, name, sizeof d->commit); /* a commit has 40 digits */
        }
    }
    vouch_os_names_free(names, n_entries);
    if (*n > 0) qsort(dated, *n, sizeof *dated, dated_compare);
    for (size_t i = 0; i < *n; i++) memcpy(commits[i], dated[i].commit, sizeof commits[i]);
    free(dated);
    return commits;
}

/* What the visits of a walk work on. Each uses some of it. */
typedef struct walk {
    const hub_cache *cache;
    const char *digest, *commit;
    char *revision;
    hub_removal *removal;
    vouch_status status;
    vouch_error *err;
} walk;

/* True ends the walk. */
typedef bool walk_visit(walk *w, const char *path, const vouch_os_info *info);

typedef enum walked { WALK_FAILED = -1, WALK_WHOLE, WALK_ENDED } walked;

/* Visits all that is in a folder, and then the folder itself. It doesn't follow links. If an entry has been removed
 * meanwhile, that is no failure. After WALK_FAILED, errno tells why, and `path` is the entry's path. */
static walked walk_below(walk *w, char path[VOUCH_OS_PATH_SIZE], walk_visit *visit)
{
    const size_t n_path = strlen(path);
    vouch_os_info info;
    char **names = NULL;
    walked result = WALK_WHOLE;
    if (!vouch_os_info_of_link(path, &info)) return errno == ENOENT ? WALK_WHOLE : WALK_FAILED;
    const ptrdiff_t n = info.kind == VOUCH_OS_FOLDER ? vouch_os_folder_list(path, &names) : 0;
    if (n < 0) return errno == ENOENT ? WALK_WHOLE : WALK_FAILED;
    for (ptrdiff_t i = 0; i < n && result == WALK_WHOLE; i++) {
        const size_t room = VOUCH_OS_PATH_SIZE - n_path;
        if ((size_t)snprintf(path + n_path, room, "/%s", names[i]) < room) {
            result = walk_below(w, path, visit);
        } else {
            errno = ENAMETOOLONG;
            result = WALK_FAILED;
        }
        if (result != WALK_FAILED) path[n_path] = '\0';
    }
    vouch_os_names_free(names, n);
    if (result == WALK_WHOLE && visit(w, path, &info)) result = WALK_ENDED;
    return result;
}

static bool ref_matches(walk *w, const char *path, const vouch_os_info *info)
{
    char commit[HUB_NAME_SIZE];
    if (info->kind != VOUCH_OS_FILE) return false;
    const char *revision = path + strlen(w->cache->folder) + strlen("/refs/");
    if (!hub_cache_commit(w->cache, revision, commit) || strcmp(commit, w->commit) != 0) return false;
    return snprintf(w->revision, HUB_NAME_SIZE, "%s", revision) < HUB_NAME_SIZE;
}

bool hub_cache_ref_of(const hub_cache *cache, const char *commit, char revision[HUB_NAME_SIZE])
{
    char path[VOUCH_OS_PATH_SIZE], known[HUB_NAME_SIZE];
    snprintf(revision, HUB_NAME_SIZE, "main");
    if (hub_cache_commit(cache, revision, known) && strcmp(known, commit) == 0) return true;
    path_write(path, cache->folder, "refs", "", "");
    walk w = {.cache = cache, .commit = commit, .revision = revision};
    return walk_below(&w, path, ref_matches) == WALK_ENDED;
}

vouch_status hub_cache_make_folder(const char *path, vouch_error *err)
{
    char folder[VOUCH_OS_PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!vouch_os_folder_make(folder, 0777) && errno != EEXIST) return cache_fail(err, folder, errno);
        *slash = '/';
    }
    return VOUCH_OK;
}

vouch_status hub_cache_set_commit(const hub_cache *cache, const char *revision, const char *commit, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE], known[HUB_NAME_SIZE];
    if (hub_cache_commit(cache, revision, known) && strcmp(known, commit) == 0) return VOUCH_OK;
    path_write(path, cache->folder, "refs", revision, "");
    const vouch_status status = hub_cache_make_folder(path, err);
    return status ? status : tool_file_write(path, commit, strlen(commit), err);
}

void hub_cache_snapshot(const hub_cache *cache, const char *commit, const char *file, char path[VOUCH_OS_PATH_SIZE])
{
    char middle[HUB_NAME_SIZE + 16];
    snprintf(middle, sizeof middle, "snapshots/%s", commit);
    path_write(path, cache->folder, middle, file, "");
}

void hub_cache_blob(const hub_cache *cache, const char *digest, const char *end, char path[VOUCH_OS_PATH_SIZE])
{
    path_write(path, cache->folder, "blobs", digest, end);
}

void hub_cache_lock_path(const hub_cache *cache, const char *digest, char path[VOUCH_OS_PATH_SIZE])
{
    if (snprintf(path, VOUCH_OS_PATH_SIZE, "%s/%s.lock", cache->locks, digest) >= VOUCH_OS_PATH_SIZE) *path = '\0';
}

int hub_lock(const char *path, const char *what)
{
    vouch_error ignored;
    vouch_os_info info;
    if (hub_cache_make_folder(path, &ignored)) return HUB_NO_LOCK;
    for (bool is_told = false;;) {
        const int fd = vouch_os_open(path, VOUCH_OS_READ | VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NO_LINK, 0664);
        if (fd < 0) return HUB_NO_LOCK;
        const vouch_os_lock lock = vouch_os_file_lock(fd, false);
        if (lock == VOUCH_OS_LOCK_FAILED || (lock == VOUCH_OS_LOCK_BUSY && !what)) {
            close(fd);
            return lock == VOUCH_OS_LOCK_BUSY ? HUB_BUSY : HUB_NO_LOCK;
        }
        if (lock == VOUCH_OS_LOCK_BUSY) {
            if (!is_told) tool_note("another process fetches %s; waiting for it", what);
            is_told = true;
            (void)vouch_os_file_lock(fd, true);
        }
        if (!vouch_os_info_of_open(fd, &info) || info.n_links > 0) return fd;
        close(fd); /* its holder removed it, so a third process may hold another file of this name */
    }
}

vouch_status hub_cache_link(const hub_cache *cache, const char *commit, const char *file, const char *digest,
                            vouch_error *err)
{
    char link[VOUCH_OS_PATH_SIZE], blob[VOUCH_OS_PATH_SIZE], to[VOUCH_OS_PATH_SIZE] = "../../";
    size_t n = strlen(to);
    hub_cache_snapshot(cache, commit, file, link);
    hub_cache_blob(cache, digest, "", blob);
    for (const char *at = strchr(file, '/'); at && n + 3 < sizeof to; at = strchr(at + 1, '/'), n += 3)
        memcpy(to + n, "../", 4);
    snprintf(to + n, sizeof to - n, "blobs/%s", digest);
    const vouch_status status = hub_cache_make_folder(link, err);
    if (status || vouch_os_exists(link)) return status;
    vouch_os_remove(link);        /* a link that leads nowhere */
    vouch_os_link_make(to, link); /* another process may be first; Wine says that it has made links, and makes none */
    if (vouch_os_exists(link)) return VOUCH_OK;
    return vouch_os_file_replace(blob, link) ? VOUCH_OK : cache_fail(err, link, errno);
}

/* --------------------------------------------------------------------- removing */

static bool entry_remove(walk *w, const char *path, const vouch_os_info *info)
{
    const bool is_folder = info->kind == VOUCH_OS_FOLDER;
    if (is_folder ? !vouch_os_folder_remove(path) : !vouch_os_remove(path)) w->status = cache_fail(w->err, path, errno);
    else if (info->kind == VOUCH_OS_FILE) w->removal->freed += info->size;
    return w->status != VOUCH_OK;
}

/* Removes a file or folder with all that is in it. */
static vouch_status tree_remove(char path[VOUCH_OS_PATH_SIZE], hub_removal *removal, vouch_error *err)
{
    walk w = {.removal = removal, .err = err};
    return walk_below(&w, path, entry_remove) == WALK_FAILED ? cache_fail(err, path, errno) : w.status;
}

/* Writes the digest of the blob that a link leads to. False: it is no link. */
static bool link_digest(const char *path, char digest[HUB_NAME_SIZE])
{
    char to[VOUCH_OS_PATH_SIZE];
    if (vouch_os_link_read(path, to, sizeof to) < 0) return false;
    const char *slash = strrchr(to, '/');
    return snprintf(digest, HUB_NAME_SIZE, "%s", slash ? slash + 1 : to) < HUB_NAME_SIZE;
}

static bool link_matches(walk *w, const char *path, const vouch_os_info *info)
{
    char digest[HUB_NAME_SIZE];
    return info->kind == VOUCH_OS_LINK && link_digest(path, digest) && strcmp(digest, w->digest) == 0;
}

/* True also where a folder can't be read, since a link may be in it. */
static bool is_linked(const hub_cache *cache, const char *digest)
{
    char snapshots[VOUCH_OS_PATH_SIZE];
    path_write(snapshots, cache->folder, "snapshots", "", "");
    walk w = {.digest = digest};
    return walk_below(&w, snapshots, link_matches) != WALK_WHOLE;
}

/* Removes the blob or incomplete blob of this name, unless a snapshot links to it or a process brings it. */
static vouch_status blob_remove(const hub_cache *cache, const char *name, hub_removal *removal, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE], lock[VOUCH_OS_PATH_SIZE], digest[HUB_NAME_SIZE];
    vouch_os_info info;
    vouch_status status = VOUCH_OK;
    snprintf(digest, sizeof digest, "%.*s", (int)strcspn(name, "."), name);
    hub_cache_blob(cache, name, "", path);
    if (!vouch_os_info_of_link(path, &info)) return VOUCH_OK;
    hub_cache_lock_path(cache, digest, lock);
    const int held = hub_lock(lock, NULL);
    if (held == HUB_BUSY) {
        removal->n_busy++;
        return VOUCH_OK;
    }
    if (!is_linked(cache, name)) {
        if (vouch_os_remove(path)) removal->freed += info.size;
        else if (errno != ENOENT) status = cache_fail(err, path, errno);
    }
    if (held >= 0) close(held);
    return status;
}

/* Removes one file of a snapshot, and its blob. */
static vouch_status file_remove(const hub_cache *cache, const char *path, hub_removal *removal, vouch_error *err)
{
    char digest[HUB_NAME_SIZE];
    vouch_os_info info;
    const bool is_link = link_digest(path, digest);
    const int64_t size = !is_link && vouch_os_info_of_link(path, &info) ? info.size : 0;
    if (!vouch_os_remove(path)) return cache_fail(err, path, errno);
    removal->freed += size;
    return is_link ? blob_remove(cache, digest, removal, err) : VOUCH_OK;
}

static bool folder_remove(walk *w, const char *path, const vouch_os_info *info)
{
    (void)w;
    if (info->kind == VOUCH_OS_FOLDER) vouch_os_folder_remove(path); /* fails where something is in it */
    return false;
}

/* Removes lock files that nobody holds. */
static void locks_remove(const hub_cache *cache)
{
    char path[VOUCH_OS_PATH_SIZE];
    char **names;
    const ptrdiff_t n = vouch_os_folder_list(cache->locks, &names);
    for (ptrdiff_t i = 0; i < n; i++) {
        const bool fits = snprintf(path, sizeof path, "%s/%s", cache->locks, names[i]) < VOUCH_OS_PATH_SIZE;
        const int held = fits && *names[i] != '.' ? hub_lock(path, NULL) : HUB_NO_LOCK;
        if (held >= 0) {
            vouch_os_remove(path);
            close(held);
        }
    }
    vouch_os_names_free(names, n);
    vouch_os_folder_remove(cache->locks);
}

/* Removes the folders of a snapshot where nothing is left in them, and then the refs that name it. */
static void snapshot_tidy(const hub_cache *cache, const char *commit)
{
    static const char *const folders[] = {"blobs", "refs", ""};
    char path[VOUCH_OS_PATH_SIZE], revision[HUB_NAME_SIZE];
    hub_cache_snapshot(cache, commit, "", path);
    walk_below(&(walk){0}, path, folder_remove);
    if (vouch_os_exists(path)) return;
    while (hub_cache_ref_of(cache, commit, revision)) {
        path_write(path, cache->folder, "refs", revision, "");
        if (!vouch_os_remove(path)) break;
    }
    path_write(path, cache->folder, "snapshots", "", "");
    if (!vouch_os_folder_remove(path)) return;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        path_write(path, cache->folder, folders[i], "", "");
        vouch_os_folder_remove(path);
    }
    locks_remove(cache);
}

vouch_status hub_cache_remove_files(const hub_cache *cache, const char *commit, const char *const *files, size_t n,
                                    hub_removal *removal, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; !status && i < n; i++) {
        hub_cache_snapshot(cache, commit, files[i], path);
        status = file_remove(cache, path, removal, err);
    }
    if (!status) snapshot_tidy(cache, commit);
    return status;
}

static bool snapshot_file_remove(walk *w, const char *path, const vouch_os_info *info)
{
    if (info->kind != VOUCH_OS_FOLDER) w->status = file_remove(w->cache, path, w->removal, w->err);
    return w->status != VOUCH_OK;
}

vouch_status hub_cache_remove_snapshot(const hub_cache *cache, const char *commit, hub_removal *removal,
                                       vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    hub_cache_snapshot(cache, commit, "", path);
    walk w = {.cache = cache, .removal = removal, .err = err};
    if (walk_below(&w, path, snapshot_file_remove) == WALK_FAILED) return cache_fail(err, path, errno);
    if (!w.status) snapshot_tidy(cache, commit);
    return w.status;
}

/* Removes each blob that no process brings, or where `blobs` is false each other entry of the repository's folder. */
static vouch_status entries_remove(const hub_cache *cache, bool blobs, hub_removal *removal, vouch_error *err)
{
    char folder[VOUCH_OS_PATH_SIZE], path[VOUCH_OS_PATH_SIZE];
    char **names;
    vouch_status status = VOUCH_OK;
    path_write(folder, cache->folder, blobs ? "blobs" : "", "", "");
    const ptrdiff_t n = vouch_os_folder_list(folder, &names);
    if (n < 0) return errno == ENOENT ? VOUCH_OK : cache_fail(err, folder, errno);
    for (ptrdiff_t i = 0; i < n; i++) {
        const char *name = names[i];
        path_write(path, cache->folder, name, "", "");
        if (!status && blobs) status = blob_remove(cache, name, removal, err);
        else if (!status && strcmp(name, "blobs") != 0) status = tree_remove(path, removal, err);
    }
    vouch_os_names_free(names, n);
    return status;
}

vouch_status hub_cache_remove(const hub_cache *cache, hub_removal *removal, vouch_error *err)
{
    char blobs[VOUCH_OS_PATH_SIZE];
    vouch_status status = entries_remove(cache, false, removal, err);
    if (!status) status = entries_remove(cache, true, removal, err);
    if (status || removal->n_busy > 0) return status;
    path_write(blobs, cache->folder, "blobs", "", "");
    vouch_os_folder_remove(blobs);
    if (!vouch_os_folder_remove(cache->folder) && errno != ENOENT) return cache_fail(err, cache->folder, errno);
    locks_remove(cache);
    return VOUCH_OK;
}
