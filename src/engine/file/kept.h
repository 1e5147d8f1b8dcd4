/* SPDX-License-Identifier: MIT */
/*
 * What the files of a draft memory (draft_memory.c), a prompt cache (prompt_cache.c) and a saved session
 * (engine/session_file.c) have in common. Only their user can read them. A draft memory and a prompt cache have a
 * folder of files. A process holds a lock on one file of the folder while it writes or removes others. The system
 * releases this lock when the process dies.
 */
#ifndef VOUCH_ENGINE_KEPT_H
#define VOUCH_ENGINE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "os/os.h"

typedef struct vouch_bytes {
    unsigned char *at;
    size_t n;
} vouch_bytes;

/* Little-endian numbers of n bytes. */
void vouch_kept_put(unsigned char *at, uint64_t x, int n);
uint64_t vouch_kept_get(const unsigned char *at, int n);

/* Tells what errno says of a file: MEMORY or IO. */
vouch_status vouch_kept_fail(vouch_error *err, const char *path);
/* FOLDER/NAME and an ending. Errors: IO (too long). */
vouch_status vouch_kept_path(char path[VOUCH_OS_PATH_SIZE], const char *folder, const char *name, const char *end,
                             vouch_error *err);
bool vouch_kept_ends_in(const char *name, const char *end);

/* Makes the folder where it is missing. Errors: IO. */
vouch_status vouch_kept_folder(const char *folder, vouch_error *err);
/* Takes the lock FOLDER/NAME: *fd is open, and close lets go. Where another descriptor has it and `waits` is false, *fd
 * is -1. Errors: IO. */
vouch_status vouch_kept_lock(const char *folder, const char *name, bool waits, int *fd, vouch_error *err);

/* Opens, writes and closes a file; `how` is of vouch_os_open. *size is its size afterwards. Errors: IO, MEMORY. */
vouch_status vouch_kept_write(const char *path, unsigned how, const vouch_bytes *b, bool syncs, int64_t *size,
                              vouch_error *err);
/* Reads a whole file. out->at is the caller's to free; NULL: it is no regular file. Errors: IO, MEMORY. */
vouch_status vouch_kept_read(const char *path, vouch_bytes *out, vouch_error *err);
/* Replaces the file FOLDER/NAME by one with these bytes: writes FOLDER/NAME.new and renames it. Errors: IO. */
vouch_status vouch_kept_replace(const char *folder, const char *name, const vouch_bytes *b, vouch_error *err);
/* Writes all bytes. False: errno tells why. */
bool vouch_kept_put_all(int fd, const vouch_bytes *b);
/* Reads up to n bytes; fewer only at the end of the file. False: errno tells why. */
bool vouch_kept_fill(int fd, void *bytes, size_t n, size_t *n_read);

/* Counts or removes the files whose names begin and end so, and what killed processes have left of them. Who removes
 * holds the lock. Errors: IO. */
vouch_status vouch_kept_remove(const char *folder, const char *begin, const char *end, bool only_count, size_t *n_files,
                               int64_t *n_bytes, vouch_error *err);
/* The same for all files that end so; it takes the lock FOLDER/LOCK itself. */
vouch_status vouch_kept_remove_all(const char *folder, const char *lock, const char *end, bool only_count,
                                   size_t *n_files, int64_t *n_bytes, vouch_error *err);

#endif
