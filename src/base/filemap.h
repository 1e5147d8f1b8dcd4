/* SPDX-License-Identifier: MIT */
/*
 * A regular file, mapped for reading.
 *
 * A map needs no copy, and memory only for pages in use. Readers load pages piece by piece and release them
 * afterwards (vouch_filemap_release), so weights never occupy memory twice.
 *
 * The price: a disk error, or another process that truncates the file, arrives as SIGBUS inside the loop that reads
 * the page, and a library must not handle signals. So readers call vouch_filemap_load just before they use pages;
 * there, both cases are ordinary errors. Readers call vouch_filemap_recheck at the end; the recheck notices a
 * file that changed meanwhile.
 *
 * Two dangers remain. Truncating the file between a load and the end of its use still kills the process. Overwriting
 * the file in place mixes old and new bytes until the recheck reports an error. Only a copy of the file would prevent
 * both.
 */
#ifndef VOUCH_BASE_FILEMAP_H
#define VOUCH_BASE_FILEMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The last VOUCH_PATH_SHOWN bytes of a path, for messages. The end of a very long path says more than its beginning,
 * and the rest of the message needs room. */
enum { VOUCH_PATH_SHOWN = 200 };
const char *vouch_path_tail(const char *path);

typedef struct vouch_filemap {
    const unsigned char *data; /* page-aligned; NULL while closed */
    size_t size;               /* > 0 while open */
    int fd;
    int64_t modified; /* the file's modification time at open, in nanoseconds since 1970 */
} vouch_filemap;

/* Errors: IO (missing, unreadable, or not a regular file), FORMAT (empty), UNSUPPORTED (larger than the address space),
 * MEMORY. On failure *map is closed. Never blocks on a pipe. */
vouch_status vouch_filemap_open(vouch_filemap *map, const char *path, vouch_error *err);
/* Accepts a closed or zeroed map. */
void vouch_filemap_close(vouch_filemap *map);

/* Loads `size` bytes at `offset` into memory; the bytes lie inside the map. Error: IO, when the disk fails or the file
 * has changed. The message shows the tail of `path`. */
vouch_status vouch_filemap_load(const vouch_filemap *map, const char *path, size_t offset, size_t size,
                                vouch_error *err);
/* Releases the whole pages among `size` bytes at `offset`; the bytes lie inside the map. The system's file cache keeps
 * the pages. Reading them again needs a new load. */
void vouch_filemap_release(const vouch_filemap *map, size_t offset, size_t size);
/* Error: IO, when the file's size or modification time has changed since open. */
vouch_status vouch_filemap_recheck(const vouch_filemap *map, const char *path, vouch_error *err);

#endif
