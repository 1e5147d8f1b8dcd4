/* SPDX-License-Identifier: MIT */
#include "tool/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "tool/memory.h"

/* Most bytes of a file. A longer one is a mistake, such as /dev/zero. */
static const size_t LARGEST = (size_t)1 << 30;

static vouch_status file_fail(vouch_error *err, const char *path, const char *reason)
{
    err->code = VOUCH_E_IO;
    snprintf(err->message, sizeof err->message, "%.400s: %s", path, reason);
    return err->code;
}

static vouch_status read_all(int fd, const char *name, char **bytes, size_t *n, vouch_error *err)
{
    size_t capacity = 1 << 16, used = 0;
    char *buffer = malloc(capacity);
    vouch_status status = VOUCH_OK;
    while (buffer && !status) {
        const ssize_t got = vouch_os_read(fd, buffer + used, capacity - used - 1);
        if (got == 0) break;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            status = file_fail(err, name, strerror(errno));
        } else if ((used += (size_t)got) > LARGEST) {
            status = file_fail(err, name, "larger than 1 GiB");
        } else if (used + 1 == capacity) {
            char *larger = realloc(buffer, capacity * 2);
            if (!larger) free(buffer);
            buffer = larger;
            capacity *= 2;
        }
    }
    if (!buffer) {
        file_fail(err, name, "not enough memory to read it");
        return err->code = VOUCH_E_MEMORY;
    }
    if (status) {
        free(buffer);
        return status;
    }
    buffer[used] = 0;
    *bytes = buffer;
    *n = used;
    return VOUCH_OK;
}

vouch_status tool_file_read(const char *path, char **bytes, size_t *n, vouch_error *err)
{
    if (strcmp(path, "-") == 0) return read_all(STDIN_FILENO, "standard input", bytes, n, err);
    const int fd = vouch_os_open(path, VOUCH_OS_READ, 0);
    if (fd < 0) return file_fail(err, path, strerror(errno));
    const vouch_status status = read_all(fd, path, bytes, n, err);
    close(fd);
    return status;
}

/* The number of the open descriptor that the path names, as /dev/fd/3 does; -1: it names none. */
static int descriptor_of(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"}, *const folders[] = {
                                                                                         "/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i < 3; i++)
        if (strcmp(path, names[i]) == 0) return i;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t n = strlen(folders[i]), digits = strlen(path) > n ? strspn(path + n, "0123456789") : 0;
        if (strncmp(path, folders[i], n) == 0 && digits > 0 && digits < 9 && !path[n + digits]) return atoi(path + n);
    }
    return -1;
}

/* A device, a pipe, or the name of an open descriptor: vouch writes to it and doesn't replace it. */
static bool is_stream(const char *path)
{
    vouch_os_info info;
    if (descriptor_of(path) >= 0) return true;
    return vouch_os_info_of(path, &info) && info.kind != VOUCH_OS_FILE && info.kind != VOUCH_OS_FOLDER;
}

/* Splits a path as dirname and basename do, which on Windows take no UTF-8. name may be NULL. */
static void path_split(const char *path, char folder[VOUCH_OS_PATH_SIZE], char name[VOUCH_OS_PATH_SIZE])
{
    size_t end = strlen(path), at;
    while (end > 1 && path[end - 1] == '/') end--;
    for (at = end; at > 0 && path[at - 1] != '/';) at--;
    if (name) snprintf(name, VOUCH_OS_PATH_SIZE, "%.*s", (int)(end - at), path + at);
    while (at > 1 && path[at - 1] == '/' && path[at - 2] != ':') at--; /* C:/ keeps its slash */
    snprintf(folder, VOUCH_OS_PATH_SIZE, "%.*s", at > 0 ? (int)at : 1, at > 0 ? path : ".");
}

/* Follows links to the file that `path` means, which need not exist yet. False: errno says why there can be none. */
static bool path_resolve(const char *path, char resolved[VOUCH_OS_PATH_SIZE])
{
    enum { MOST_LINKS = 40 };
    char link[VOUCH_OS_PATH_SIZE], folder[VOUCH_OS_PATH_SIZE];
    char *whole = vouch_os_path_resolve(path);
    const bool exists = whole != NULL;
    if (!exists && errno != ENOENT) return false;
    const bool fits = snprintf(resolved, VOUCH_OS_PATH_SIZE, "%s", exists ? whole : path) < VOUCH_OS_PATH_SIZE;
    free(whole);
    if (!fits) errno = ENAMETOOLONG;
    if (exists || !fits) return fits;
    for (int i = 0; i < MOST_LINKS; i++) {
        if (vouch_os_link_read(resolved, link, sizeof link) < 0) return true; /* not a link */
        path_split(*link == '/' ? "/" : resolved, folder, NULL);
        if (snprintf(resolved, VOUCH_OS_PATH_SIZE, "%s/%s", folder, link) < VOUCH_OS_PATH_SIZE) continue;
        errno = ENAMETOOLONG;
        return false;
    }
    errno = ELOOP;
    return false;
}

/* Identifies a file, which need not exist yet. Two paths name the same file if their identities are equal. */
typedef struct identity {
    uint64_t device, number;       /* of the file, or of the folder it will be in */
    char name[VOUCH_OS_PATH_SIZE]; /* the file's name in that folder; empty if the file exists */
} identity;

/* False: the path names something other than a regular file, or a path at which no file can be created. */
static bool file_identify(const char *path, identity *out)
{
    char resolved[VOUCH_OS_PATH_SIZE], folder[VOUCH_OS_PATH_SIZE];
    vouch_os_info info;
    if (!path_resolve(path, resolved)) return false;
    const bool exists = vouch_os_info_of(resolved, &info);
    if (exists && info.kind != VOUCH_OS_FILE) return false;
    path_split(resolved, folder, out->name);
    if (exists) *out->name = '\0';
    else if (!vouch_os_info_of(folder, &info)) return false;
    out->device = info.device;
    out->number = info.number;
    return true;
}

void tool_file_drop_mark(char *bytes, size_t *n)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (*n < 3 || memcmp(bytes, mark, 3) != 0) return;
    memmove(bytes, bytes + 3, *n - 3 + 1); /* with the NUL after the text */
    *n -= 3;
}

bool tool_file_is_utf16(const char *bytes, size_t n)
{
    return n >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0);
}

bool tool_file_is_same(const char *a, const char *b)
{
    identity left, right;
    return !is_stream(a) && file_identify(a, &left) && file_identify(b, &right) && left.device == right.device &&
           left.number == right.number && strcmp(left.name, right.name) == 0;
}

vouch_status tool_file_check(const char *path, vouch_error *err)
{
    char resolved[VOUCH_OS_PATH_SIZE], folder[VOUCH_OS_PATH_SIZE];
    vouch_os_info info;
    const int descriptor = descriptor_of(path);
    if (descriptor >= 0) return vouch_os_file_writable(descriptor) ? VOUCH_OK : file_fail(err, path, strerror(EBADF));
    if (is_stream(path)) return vouch_os_may_write(path) ? VOUCH_OK : file_fail(err, path, strerror(errno));
    if (!path_resolve(path, resolved)) return file_fail(err, path, strerror(errno));
    const bool exists = vouch_os_info_of(resolved, &info);
    if ((exists && info.kind == VOUCH_OS_FOLDER) || (*path && path[strlen(path) - 1] == '/'))
        return file_fail(err, path, strerror(EISDIR));
    path_split(resolved, folder, NULL);
    return vouch_os_may_write(exists ? resolved : folder) ? VOUCH_OK : file_fail(err, path, strerror(errno));
}

vouch_status tool_file_check_new(const char *path, vouch_error *err)
{
    vouch_os_info info;
    if (vouch_os_info_of(path, &info) && info.kind == VOUCH_OS_FILE)
        return file_fail(err, path, "exists already; name another file, or replace it with --force");
    return tool_file_check(path, err);
}

/* Writes all bytes and closes fd. Returns 0, or errno; a full disk shows here at the latest. */
static int write_all(int fd, const char *bytes, size_t n)
{
    int reason = 0;
    while (n > 0 && !reason) {
        const ssize_t done = vouch_os_write(fd, bytes, n);
        if (done >= 0) {
            bytes += done;
            n -= (size_t)done;
        } else if (errno != EINTR) {
            reason = errno;
        }
    }
    if (close(fd) != 0 && !reason) reason = errno;
    return reason;
}

/* The permissions of the file that is replaced, or of a new file. */
static unsigned file_mode(const char *path)
{
    vouch_os_info info;
    return vouch_os_info_of(path, &info) ? info.mode : vouch_os_new_mode();
}

/* Writes the file beside its name, then renames it. Returns 0, or errno; then the old content is still there. */
static int write_beside(const char *resolved, const char *bytes, size_t n)
{
    char folder[VOUCH_OS_PATH_SIZE], beside[VOUCH_OS_PATH_SIZE + 16];
    path_split(resolved, folder, NULL);
    snprintf(beside, sizeof beside, "%s/.vouch-XXXXXX", folder); /* a short name, which always fits */
    const int fd = vouch_os_file_temporary(beside);
    if (fd < 0) return errno;
    int reason = vouch_os_file_set_mode(fd, file_mode(resolved)) ? 0 : errno;
    const int written = write_all(fd, bytes, n);
    if (!reason) reason = written;
    if (!reason && !vouch_os_file_replace(beside, resolved)) reason = errno;
    if (reason) vouch_os_remove(beside);
    return reason;
}

/* Can't this file be replaced, though it may be writable? It is mounted by itself, or nothing new fits beside it. */
static bool is_fixed(int reason)
{
    return reason == EBUSY || reason == EACCES || reason == EPERM || reason == EROFS || reason == EXDEV;
}

vouch_status tool_file_write(const char *path, const char *bytes, size_t n, vouch_error *err)
{
    if (is_stream(path)) {
        /* dup shares the offset, so that whoever writes to this descriptor next writes after these bytes. */
        const int descriptor = descriptor_of(path);
        fflush(stdout);
        const int fd = descriptor < 0 ? vouch_os_open(path, VOUCH_OS_WRITE | VOUCH_OS_APPEND, 0) : dup(descriptor);
        const int reason = fd < 0 ? errno : write_all(fd, bytes, n);
        return reason ? file_fail(err, path, strerror(reason)) : VOUCH_OK;
    }
    char resolved[VOUCH_OS_PATH_SIZE];
    if (!path_resolve(path, resolved)) return file_fail(err, path, strerror(errno));
    int reason = write_beside(resolved, bytes, n);
    if (is_fixed(reason)) {
        const int fd = vouch_os_open(resolved, VOUCH_OS_WRITE | VOUCH_OS_EMPTY, 0);
        if (fd >= 0) reason = write_all(fd, bytes, n);
    }
    return reason ? file_fail(err, path, strerror(reason)) : VOUCH_OK;
}

vouch_status tool_file_write_json(const char *path, const json_t *value, vouch_error *err)
{
    char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    if (!text || tool_memory_is_short()) {
        free(text);
        file_fail(err, path, "not enough memory");
        return err->code = VOUCH_E_MEMORY;
    }
    const size_t n = strlen(text);
    text[n] = '\n'; /* replaces the NUL: n + 1 bytes are written */
    const vouch_status status = tool_file_write(path, text, n + 1, err);
    free(text);
    return status;
}
