/* SPDX-License-Identifier: MIT */
/*
 * A regular file, mapped for reading.
 *
 * A map costs no copy and no memory but the pages that are in use: readers bring them in piece by piece and
 * give them back (vouch_filemap_release), so that weights never lie in memory twice. Its price is that an
 * error of the disk, or another process cutting the file short, arrives as SIGBUS in the middle of whatever
 * loop reads the page, and a library must not handle signals. So readers bring pages in with
 * vouch_filemap_load just before they use them, where both are an ordinary error, and call
 * vouch_filemap_recheck when they are done, which notices a file that was written to meanwhile.
 *
 * What remains: a file that is cut short between a load and the end of its use still kills the process,
 * and one that is overwritten in place is read half old, half new until the recheck says so. Only a copy
 * of the file would rule that out.
 */
#ifndef VOUCH_BASE_FILEMAP_H
#define VOUCH_BASE_FILEMAP_H

#include <stddef.h>
#include <time.h>

#include "base/status.h"

/* A path as messages name it. The end of a very long one says more than its beginning, and leaves room for
 * the rest of the message: at most the last VOUCH_PATH_SHOWN bytes. */
enum { VOUCH_PATH_SHOWN = 200 };
const char *vouch_path_tail(const char *path);

typedef struct vouch_filemap {
    const unsigned char *data; /* page-aligned; NULL while closed */
    size_t size;               /* > 0 while open */
    int fd;
    struct timespec modified; /* when it was opened */
} vouch_filemap;

/* Errors: IO (missing, unreadable, a directory or anything else that is no regular file), FORMAT (empty),
 * UNSUPPORTED (larger than the address space), MEMORY. On failure *map is closed. Never blocks on a pipe. */
vouch_status vouch_filemap_open(vouch_filemap *map, const char *path, vouch_error *err);
/* A closed or zeroed map is allowed. */
void vouch_filemap_close(vouch_filemap *map);

/* Brings size bytes at offset, which lie inside the map, into memory, or says why that fails: IO, when they
 * can't be read or the file has shrunk or changed. `path` is for the message, which shows its tail. */
vouch_status vouch_filemap_load(const vouch_filemap *map, const char *path, size_t offset, size_t size,
                                vouch_error *err);
/* Gives back the whole pages among size bytes at offset, which lie inside the map. They stay in the system's
 * cache; before they are read again they need a new load. */
void vouch_filemap_release(const vouch_filemap *map, size_t offset, size_t size);
/* IO when the file's size or time of modification is no longer what it was at open. */
vouch_status vouch_filemap_recheck(const vouch_filemap *map, const char *path, vouch_error *err);

#endif
