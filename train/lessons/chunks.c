/* SPDX-License-Identifier: MIT */
#include "train/lessons/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/filemap.h"
#include "base/hash.h"
#include "os/os.h"

static const char MAGIC[8] = "vouchchk";

typedef struct chunk_head {
    uint64_t bytes, hash;
} chunk_head;

struct train_chunks {
    int fd;
    char *path;
    const char *what;
    uint64_t header_hash;
    off_t *ends;    /* [n + 2] of the magic, of the header, of chunk 0, 1, ... after the header */
    size_t n, room; /* n: chunks after the header */
};

static vouch_status io_fail(const train_chunks *c, const char *doing, vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_IO, "%s: can't %s the %s: %s", vouch_path_tail(c->path), doing, c->what,
                      strerror(errno));
}

/* Reads n bytes at an offset. False with errno where it can't; 0 at the end of the file. */
static bool read_at(int fd, void *bytes, size_t n, off_t at)
{
    char *to = bytes;
    while (n > 0) {
        const ptrdiff_t got = vouch_os_file_read_at(fd, to, n, at);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = 0;
        if (got <= 0) return false;
        to += got;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const void *bytes, size_t n)
{
    const char *from = bytes;
    while (n > 0) {
        const ssize_t put = vouch_os_write(fd, from, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        from += put;
        n -= (size_t)put;
    }
    return true;
}

/* Appends an end to the list. */
static vouch_status add_end(train_chunks *c, size_t count, off_t end, vouch_error *err)
{
    if (count == c->room) {
        const size_t room = c->room ? 2 * c->room : 256;
        off_t *ends = realloc(c->ends, room * sizeof *ends);
        if (!ends) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the list of %zu chunks", room);
        c->ends = ends;
        c->room = room;
    }
    c->ends[count] = end;
    return VOUCH_OK;
}

/* Where chunk i after the header begins. */
static off_t begin_of(const train_chunks *c, size_t i)
{
    return c->ends[i + 1];
}

/* Finds the complete chunks, and cuts off a torn one (K1). */
static vouch_status scan(train_chunks *c, off_t size, vouch_error *err)
{
    size_t count = 0;
    off_t at = sizeof MAGIC;
    chunk_head head;
    VOUCH_TRY(add_end(c, count++, at, err));
    while (size - at >= (off_t)sizeof head) {
        if (!read_at(c->fd, &head, sizeof head, at)) return io_fail(c, "read", err);
        if (head.bytes > (uint64_t)(size - at) - sizeof head) break;
        at += (off_t)(sizeof head + head.bytes);
        VOUCH_TRY(add_end(c, count++, at, err));
    }
    if (count < 2)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: the header of the %s is cut short; delete the file",
                          vouch_path_tail(c->path), c->what);
    c->n = count - 2;
    if (at < size && ftruncate(c->fd, at)) return io_fail(c, "cut the torn end of", err);
    return lseek(c->fd, at, SEEK_SET) < 0 ? io_fail(c, "append to", err) : VOUCH_OK;
}

static vouch_status payload_check(const train_chunks *c, const chunk_head *head, const void *payload, size_t i,
                                  vouch_error *err)
{
    if (vouch_hash_bytes(VOUCH_HASH_START, payload, head->bytes) == head->hash) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: chunk %zu of the %s is damaged (its checksum differs); delete the file",
                      vouch_path_tail(c->path), i, c->what);
}

/* Fails where the file has another header. */
static vouch_status header_check(const train_chunks *c, const void *header, size_t n, vouch_error *err)
{
    chunk_head head;
    if (!read_at(c->fd, &head, sizeof head, c->ends[0])) return io_fail(c, "read", err);
    char *own = head.bytes == n ? malloc(n) : NULL;
    vouch_status status = VOUCH_OK;
    if (head.bytes == n && !own) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a header");
    if (own && !read_at(c->fd, own, n, c->ends[0] + (off_t)sizeof head)) status = io_fail(c, "read", err);
    else if (!own || memcmp(own, header, n) != 0)
        status = vouch_fail(err, VOUCH_E_MISMATCH,
                            "%s holds %s of another target or of other settings; delete it or name another file",
                            vouch_path_tail(c->path), c->what);
    free(own);
    return status;
}

static vouch_status open_old(train_chunks *c, off_t size, const void *header, size_t n_header, vouch_error *err)
{
    char magic[sizeof MAGIC];
    if (size < (off_t)sizeof magic || !read_at(c->fd, magic, sizeof magic, 0) ||
        memcmp(magic, MAGIC, sizeof magic) != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s is no file of %s that vouch distill has written; name another file",
                          vouch_path_tail(c->path), c->what);
    VOUCH_TRY(scan(c, size, err));
    return header_check(c, header, n_header, err);
}

static vouch_status open_new(train_chunks *c, const void *header, size_t n_header, vouch_error *err)
{
    const chunk_head head = {n_header, c->header_hash};
    VOUCH_TRY(add_end(c, 0, sizeof MAGIC, err));
    VOUCH_TRY(add_end(c, 1, (off_t)(sizeof MAGIC + sizeof head + n_header), err));
    if (!write_all(c->fd, MAGIC, sizeof MAGIC) || !write_all(c->fd, &head, sizeof head) ||
        !write_all(c->fd, header, n_header)) {
        io_fail(c, "write", err);
        unlink(c->path);
        return VOUCH_E_IO;
    }
    return VOUCH_OK;
}

vouch_status train_chunks_open(train_chunks **out, const char *path, const char *what, const void *header,
                               size_t n_header, vouch_error *err)
{
    vouch_os_info info;
    vouch_status status = VOUCH_OK;
    train_chunks *c = calloc(1, sizeof *c);
    *out = NULL;
    if (c)
        *c = (train_chunks){.fd = -1,
                            .path = strdup(path),
                            .what = what,
                            .header_hash = vouch_hash_bytes(VOUCH_HASH_START, header, n_header)};
    if (!c || !c->path) {
        train_chunks_close(c);
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a file");
    }
    c->fd = vouch_os_open(path, VOUCH_OS_READ | VOUCH_OS_WRITE | VOUCH_OS_CREATE, 0666);
    if (c->fd < 0 || !vouch_os_info_of_open(c->fd, &info)) status = io_fail(c, "open", err);
    else if (info.kind != VOUCH_OS_FILE)
        status = vouch_fail(err, VOUCH_E_IO, "%s is no regular file", vouch_path_tail(path));
    else if (vouch_os_file_lock(c->fd, false) != VOUCH_OS_LOCKED)
        status = vouch_fail(err, VOUCH_E_IO, "%s: another process has the %s open", vouch_path_tail(path), what);
    else if (info.size == 0) status = open_new(c, header, n_header, err);
    else status = open_old(c, info.size, header, n_header, err);
    if (status) train_chunks_close(c);
    else *out = c;
    return status;
}

void train_chunks_close(train_chunks *chunks)
{
    if (!chunks) return;
    if (chunks->fd >= 0) close(chunks->fd);
    free(chunks->ends);
    free(chunks->path);
    free(chunks);
}

uint64_t train_chunks_header_hash(const train_chunks *chunks)
{
    return chunks->header_hash;
}

size_t train_chunks_n(const train_chunks *chunks)
{
    return chunks->n;
}

size_t train_chunks_size(const train_chunks *chunks, size_t i)
{
    return (size_t)(chunks->ends[i + 2] - begin_of(chunks, i)) - sizeof(chunk_head);
}

vouch_status train_chunks_peek(const train_chunks *chunks, size_t i, size_t offset, void *bytes, size_t n,
                               vouch_error *err)
{
    const off_t at = begin_of(chunks, i) + (off_t)(sizeof(chunk_head) + offset);
    return read_at(chunks->fd, bytes, n, at) ? VOUCH_OK : io_fail(chunks, "read", err);
}

vouch_status train_chunks_read(const train_chunks *chunks, size_t i, void *payload, vouch_error *err)
{
    chunk_head head;
    if (!read_at(chunks->fd, &head, sizeof head, begin_of(chunks, i))) return io_fail(chunks, "read", err);
    VOUCH_TRY(train_chunks_peek(chunks, i, 0, payload, train_chunks_size(chunks, i), err));
    return payload_check(chunks, &head, payload, i + 1, err);
}

vouch_status train_chunks_append(train_chunks *chunks, const train_piece *pieces, int n, vouch_error *err)
{
    const off_t begin = begin_of(chunks, chunks->n);
    chunk_head head = {0, VOUCH_HASH_START};
    for (int i = 0; i < n; i++) {
        head.bytes += pieces[i].n;
        head.hash = vouch_hash_bytes(head.hash, pieces[i].bytes, pieces[i].n);
    }
    VOUCH_TRY(add_end(chunks, chunks->n + 2, begin + (off_t)(sizeof head + head.bytes), err));
    bool ok = write_all(chunks->fd, &head, sizeof head);
    for (int i = 0; i < n && ok; i++) ok = write_all(chunks->fd, pieces[i].bytes, pieces[i].n);
    if (ok) {
        chunks->n++;
        return VOUCH_OK;
    }
    const vouch_status status = io_fail(chunks, "write", err);
    if (ftruncate(chunks->fd, begin) == 0) lseek(chunks->fd, begin, SEEK_SET); /* else the next opening cuts it (K1) */
    return status;
}

vouch_status train_chunks_sync(train_chunks *chunks, vouch_error *err)
{
    return !vouch_os_file_sync(chunks->fd) ? io_fail(chunks, "write", err) : VOUCH_OK;
}
