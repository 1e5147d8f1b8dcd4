/* SPDX-License-Identifier: MIT */
#include "engine/file/kept.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char fresh[] = ".new"; /* follows the name of a file that isn't whole yet */

void vouch_kept_put(unsigned char *at, uint64_t x, int n)
{
    for (int i = 0; i < n; i++) at[i] = (unsigned char)(x >> 8 * i);
}

uint64_t vouch_kept_get(const unsigned char *at, int n)
{
    uint64_t x = 0;
    for (int i = 0; i < n; i++) x |= (uint64_t)at[i] << 8 * i;
    return x;
}

vouch_status vouch_kept_fail(vouch_error *err, const char *path)
{
    return vouch_fail(err, errno == ENOMEM ? VOUCH_E_MEMORY : VOUCH_E_IO, "%s: %s", path, strerror(errno));
}

vouch_status vouch_kept_path(char path[VOUCH_OS_PATH_SIZE], const char *folder, const char *name, const char *end,
                             vouch_error *err)
{
    if (snprintf(path, VOUCH_OS_PATH_SIZE, "%s/%s%s", folder, name, end) < VOUCH_OS_PATH_SIZE) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_IO, "%.200s...: the path is too long", folder);
}

vouch_status vouch_kept_folder(const char *folder, vouch_error *err)
{
    return vouch_os_folder_make(folder, 0700) || errno == EEXIST ? VOUCH_OK : vouch_kept_fail(err, folder);
}

vouch_status vouch_kept_lock(const char *folder, const char *name, bool waits, int *fd, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    *fd = -1;
    VOUCH_TRY(vouch_kept_path(path, folder, name, "", err));
    const int opened = vouch_os_open(path, VOUCH_OS_READ | VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NO_LINK, 0600);
    if (opened < 0) return vouch_kept_fail(err, path);
    const vouch_os_lock lock = vouch_os_file_lock(opened, waits);
    if (lock == VOUCH_OS_LOCKED) {
        *fd = opened;
        return VOUCH_OK;
    }
    const int code = errno;
    close(opened);
    errno = code;
    return lock == VOUCH_OS_LOCK_BUSY ? VOUCH_OK : vouch_kept_fail(err, path);
}

bool vouch_kept_put_all(int fd, const vouch_bytes *b)
{
    for (size_t at = 0; at < b->n;) {
        const size_t left = b->n - at;
        const ptrdiff_t n = vouch_os_write(fd, b->at + at, left < INT32_MAX ? left : INT32_MAX);
        if (n <= 0 && errno != EINTR) return false;
        if (n > 0) at += (size_t)n;
    }
    return true;
}

vouch_status vouch_kept_write(const char *path, unsigned how, const vouch_bytes *b, bool syncs, int64_t *size,
                              vouch_error *err)
{
    const int fd = vouch_os_open(path, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NO_LINK | how, 0600);
    vouch_os_info info = {0};
    bool is_good =
        fd >= 0 && vouch_kept_put_all(fd, b) && (!syncs || vouch_os_file_sync(fd)) && vouch_os_info_of_open(fd, &info);
    const int code = errno;
    if (fd >= 0 && close(fd) != 0) is_good = false;
    else errno = code;
    *size = info.size;
    return is_good ? VOUCH_OK : vouch_kept_fail(err, path);
}

bool vouch_kept_fill(int fd, void *bytes, size_t n, size_t *n_read)
{
    for (*n_read = 0; *n_read < n;) {
        const size_t left = n - *n_read;
        const ptrdiff_t got = vouch_os_read(fd, (char *)bytes + *n_read, left < INT32_MAX ? left : INT32_MAX);
        if (got == 0) return true;
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) *n_read += (size_t)got;
    }
    return true;
}

vouch_status vouch_kept_read(const char *path, vouch_bytes *out, vouch_error *err)
{
    const int fd = vouch_os_open(path, VOUCH_OS_READ | VOUCH_OS_NO_LINK | VOUCH_OS_NO_WAIT, 0);
    vouch_os_info info = {0};
    *out = (vouch_bytes){0};
    bool is_good = fd >= 0 && vouch_os_info_of_open(fd, &info);
    if (is_good && info.kind == VOUCH_OS_FILE)
        is_good = (out->at = malloc((size_t)info.size + 1)) && vouch_kept_fill(fd, out->at, (size_t)info.size, &out->n);
    const int code = errno;
    if (fd >= 0) close(fd);
    errno = code;
    if (is_good) return VOUCH_OK;
    const vouch_status status = vouch_kept_fail(err, path);
    free(out->at);
    *out = (vouch_bytes){0};
    return status;
}

vouch_status vouch_kept_replace(const char *folder, const char *name, const vouch_bytes *b, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE], from[VOUCH_OS_PATH_SIZE];
    int64_t size;
    VOUCH_TRY(vouch_kept_path(path, folder, name, "", err));
    VOUCH_TRY(vouch_kept_path(from, folder, name, fresh, err));
    VOUCH_TRY(vouch_kept_write(from, VOUCH_OS_EMPTY, b, true, &size, err));
    return vouch_os_file_replace(from, path) ? VOUCH_OK : vouch_kept_fail(err, path);
}

bool vouch_kept_ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), n_end = strlen(end);
    return n >= n_end && strcmp(name + n - n_end, end) == 0;
}

vouch_status vouch_kept_remove(const char *folder, const char *begin, const char *end, bool only_count, size_t *n_files,
                               int64_t *n_bytes, vouch_error *err)
{
    char **names, path[VOUCH_OS_PATH_SIZE];
    vouch_status status = VOUCH_OK;
    *n_files = 0;
    *n_bytes = 0;
    const ptrdiff_t n = vouch_os_folder_list(folder, &names);
    if (n < 0) return vouch_kept_fail(err, folder);
    for (ptrdiff_t i = 0; i < n && status == VOUCH_OK; i++) {
        vouch_os_info info;
        const size_t n_name = strlen(names[i]);
        const bool is_rest = vouch_kept_ends_in(names[i], fresh); /* what a killed process has left */
        if (is_rest) names[i][n_name - (sizeof fresh - 1)] = '\0';
        const bool is_wanted = strncmp(names[i], begin, strlen(begin)) == 0 && vouch_kept_ends_in(names[i], end);
        if (is_rest) names[i][n_name - (sizeof fresh - 1)] = fresh[0];
        if (!is_wanted) continue;
        status = vouch_kept_path(path, folder, names[i], "", err);
        if (status != VOUCH_OK || !vouch_os_info_of_link(path, &info) || info.kind == VOUCH_OS_FOLDER) continue;
        if (!only_count && !vouch_os_remove(path) && errno != ENOENT) status = vouch_kept_fail(err, path);
        *n_files += !is_rest;
        *n_bytes += info.size;
    }
    vouch_os_names_free(names, n);
    return status;
}

vouch_status vouch_kept_remove_all(const char *folder, const char *lock, const char *end, bool only_count,
                                   size_t *n_files, int64_t *n_bytes, vouch_error *err)
{
    int fd;
    *n_files = 0;
    *n_bytes = 0;
    if (only_count) return vouch_kept_remove(folder, "", end, true, n_files, n_bytes, err);
    if (!vouch_os_exists(folder)) return vouch_kept_fail(err, folder);
    VOUCH_TRY(vouch_kept_lock(folder, lock, true, &fd, err));
    const vouch_status status = vouch_kept_remove(folder, "", end, false, n_files, n_bytes, err);
    close(fd);
    return status;
}
