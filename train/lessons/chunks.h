/* SPDX-License-Identifier: MIT */
/*
 * A file that grows by whole chunks, so that hours of work survive a kill at any moment:
 *
 *   "vouchchk" | chunk 0: the header | chunk 1 | chunk 2 | ...
 *
 *   chunk   u64 bytes of the payload | u64 FNV-1a of the payload | payload
 *
 *   K1  Each chunk before the last append is complete. A process that dies during an append leaves a torn chunk at the
 *       end; opening cuts it off.
 *   K2  An append that fails, because the disk is full, takes its own bytes away again.
 *   K3  One process at a time has the file open (flock).
 *
 * Numbers have this machine's byte order. A file with another header, of another target or of other settings, is
 * refused.
 */
#ifndef VOUCH_TRAIN_CHUNKS_H
#define VOUCH_TRAIN_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct train_chunks train_chunks;

/* A piece of a payload. */
typedef struct train_piece {
    const void *bytes;
    size_t n;
} train_piece;

enum { TRAIN_MOST_PIECES = 8 };

/* Opens the file for appending, or creates it with this header of n_header bytes. `what` names its content in messages:
 * "answers", "states". Errors: IO (also where another process has it open), MEMORY, FORMAT (no such file, or damaged),
 * MISMATCH (another header). */
vouch_status train_chunks_open(train_chunks **out, const char *path, const char *what, const void *header,
                               size_t n_header, vouch_error *err);
void train_chunks_close(train_chunks *chunks); /* NULL is allowed */

/* A hash of the header: files of the same settings have the same. */
uint64_t train_chunks_header_hash(const train_chunks *chunks);
/* Complete chunks after the header. */
size_t train_chunks_n(const train_chunks *chunks);
/* Bytes of the payload of chunk i. */
size_t train_chunks_size(const train_chunks *chunks, size_t i);
/* Reads bytes [offset, offset + n) of the payload of chunk i, without its checksum. Errors: IO. */
vouch_status train_chunks_peek(const train_chunks *chunks, size_t i, size_t offset, void *bytes, size_t n,
                               vouch_error *err);
/* Reads the payload of chunk i and checks it. Errors: IO, FORMAT (names the chunk). */
vouch_status train_chunks_read(const train_chunks *chunks, size_t i, void *payload, vouch_error *err);
/* Appends a chunk of these pieces, at most TRAIN_MOST_PIECES. Errors: IO (the system's reason), MEMORY. */
vouch_status train_chunks_append(train_chunks *chunks, const train_piece *pieces, int n, vouch_error *err);
/* Makes the system write everything to the disk. Errors: IO. */
vouch_status train_chunks_sync(train_chunks *chunks, vouch_error *err);

#endif
