/* SPDX-License-Identifier: MIT */
#include "hub/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/file.h"
#include "tool/term.h"

static vouch_status cache_fail(vouch_error *err, const char *path, int reason)
{
    err->code = VOUCH_E_IO;
    snprintf(err->message, sizeof err->message, "%.400s: %s", path, strerror(reason));
    return err->code;
}

/* "models--OWNER--NAME" after root and a middle. */
static bool folder_write(char to[PATH_MAX], const char *root, const char *middle, const char *repository)
{
    const char *slash = strchr(repository, '/');
    const int n =
        snprintf(to, PATH_MAX, "%s%s/models--%.*s--%s", root, middle, (int)(slash - repository), repository, slash + 1);
    return n > 0 && n < PATH_MAX - HUB_NAME_SIZE;
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

static void path_write(char to[PATH_MAX], const char *folder, const char *middle, const char *name, const char *end)
{
    if (snprintf(to, PATH_MAX, "%s/%s/%s%s", folder, middle, name, end) >= PATH_MAX) *to = '\0';
}

bool hub_cache_commit(const hub_cache *cache, const char *revision, char commit[HUB_NAME_SIZE])
{
    char path[PATH_MAX];
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

vouch_status hub_cache_make_folder(const char *path, vouch_error *err)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) return cache_fail(err, folder, errno);
        *slash = '/';
    }
    return VOUCH_OK;
}

vouch_status hub_cache_set_commit(const hub_cache *cache, const char *revision, const char *commit, vouch_error *err)
{
    char path[PATH_MAX], known[HUB_NAME_SIZE];
    if (hub_cache_commit(cache, revision, known) && strcmp(known, commit) == 0) return VOUCH_OK;
    path_write(path, cache->folder, "refs", revision, "");
    const vouch_status status = hub_cache_make_folder(path, err);
    return status ? status : tool_file_write(path, commit, strlen(commit), err);
}

void hub_cache_snapshot(const hub_cache *cache, const char *commit, const char *file, char path[PATH_MAX])
{
    char middle[HUB_NAME_SIZE + 16];
    snprintf(middle, sizeof middle, "snapshots/%s", commit);
    path_write(path, cache->folder, middle, file, "");
    const size_t n = strlen(path);
    if (!*file && n > 0) path[n - 1] = '\0'; /* the snapshot's folder */
}

void hub_cache_blob(const hub_cache *cache, const char *digest, const char *end, char path[PATH_MAX])
{
    path_write(path, cache->folder, "blobs", digest, end);
}

void hub_cache_lock_path(const hub_cache *cache, const char *digest, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s.lock", cache->locks, digest) >= PATH_MAX) *path = '\0';
}

int hub_lock(const char *path, const char *what)
{
    vouch_error ignored;
    struct stat info;
    if (hub_cache_make_folder(path, &ignored)) return -1;
    for (bool is_told = false;;) {
        const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0664);
        if (fd < 0) return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK) {
                close(fd);
                return -1;
            }
            if (!is_told) tool_note("another process fetches %s; waiting for it", what);
            is_told = true;
            while (flock(fd, LOCK_EX) != 0 && errno == EINTR) continue;
        }
        if (fstat(fd, &info) != 0 || info.st_nlink > 0) return fd;
        close(fd); /* its holder removed it, so a third process may hold another file of this name */
    }
}

vouch_status hub_cache_link(const hub_cache *cache, const char *commit, const char *file, const char *digest,
                            vouch_error *err)
{
    char link[PATH_MAX], blob[PATH_MAX], to[PATH_MAX] = "../../";
    size_t n = strlen(to);
    hub_cache_snapshot(cache, commit, file, link);
    hub_cache_blob(cache, digest, "", blob);
    for (const char *at = strchr(file, '/'); at && n + 3 < sizeof to; at = strchr(at + 1, '/'), n += 3)
        memcpy(to + n, "../", 4);
    snprintf(to + n, sizeof to - n, "blobs/%s", digest);
    const vouch_status status = hub_cache_make_folder(link, err);
    if (status || access(link, F_OK) == 0) return status;
    unlink(link); /* a link that leads nowhere */
    if (symlink(to, link) == 0 || errno == EEXIST) return VOUCH_OK;
    return rename(blob, link) == 0 ? VOUCH_OK : cache_fail(err, link, errno);
}

/* --------------------------------------------------------------------- removing */

static int entry_remove(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

static int64_t size_of(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode) ? (int64_t)info.st_size : 0;
}

/* Does a link below the snapshots lead to this blob? nftw hands over no pointer. */
static _Thread_local const char *sought;

static int link_matches(const char *path, const struct stat *info, int type, struct FTW *at)
{
    char to[PATH_MAX];
    (void)info;
    (void)at;
    const ssize_t n = type == FTW_SL || type == FTW_SLN ? readlink(path, to, sizeof to - 1) : -1;
    if (n < 0) return 0;
    to[n] = '\0';
    const char *name = strrchr(to, '/');
    return name && strcmp(name + 1, sought) == 0;
}

/* Removes blobs without links, and counts their bytes. */
static void blobs_sweep(const hub_cache *cache, int64_t *freed)
{
    char folder[PATH_MAX], snapshots[PATH_MAX], path[PATH_MAX];
    struct dirent **entries;
    path_write(folder, cache->folder, "blobs", "", "");
    path_write(snapshots, cache->folder, "snapshots", "", "");
    const int n = scandir(folder, &entries, NULL, NULL);
    for (int i = 0; i < n; i++) {
        sought = entries[i]->d_name;
        hub_cache_blob(cache, sought, "", path);
        if (*sought != '.' && nftw(snapshots, link_matches, 16, FTW_PHYS) == 0) {
            const int64_t size = size_of(path);
            if (unlink(path) == 0) *freed += size;
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

static int64_t folder_bytes;

static int entry_count(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)path;
    (void)at;
    if (type == FTW_F) folder_bytes += info->st_size;
    return 0;
}

vouch_status hub_cache_remove(const hub_cache *cache, const char *commit, const char *const *files, size_t n,
                              int64_t *freed, vouch_error *err)
{
    char path[PATH_MAX];
    *freed = 0;
    if (!files) {
        folder_bytes = 0;
        nftw(cache->folder, entry_count, 16, FTW_PHYS);
        if (nftw(cache->folder, entry_remove, 16, FTW_PHYS | FTW_DEPTH) != 0)
            return cache_fail(err, cache->folder, errno);
        nftw(cache->locks, entry_remove, 16, FTW_PHYS | FTW_DEPTH);
        *freed = folder_bytes;
        return VOUCH_OK;
    }
    for (size_t i = 0; i < n; i++) {
        hub_cache_snapshot(cache, commit, files[i], path);
        *freed += size_of(path); /* where it is no link */
        if (unlink(path) != 0) return cache_fail(err, path, errno);
    }
    blobs_sweep(cache, freed);
    return VOUCH_OK;
}
