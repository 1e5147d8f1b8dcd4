/* SPDX-License-Identifier: MIT */
#include "train/teach/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/filemap.h"
#include "base/hash.h"
#include "os/os.h"

static const char MAGIC[8] = "vouchckp";

typedef struct file_head {
    char magic[8];
    uint64_t bytes, hash;
} file_head;

static file_head head_of(const train_checkpoint *header, const train_array *arrays, int n)
{
    file_head head = {.bytes = sizeof *header, .hash = vouch_hash_bytes(VOUCH_HASH_START, header, sizeof *header)};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    for (int i = 0; i < n; i++) {
        head.bytes += arrays[i].n;
        head.hash = vouch_hash_bytes(head.hash, arrays[i].bytes, arrays[i].n);
    }
    return head;
}

static vouch_status io_fail(const char *path, const char *doing, vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_IO, "%s: can't %s the checkpoint: %s", vouch_path_tail(path), doing,
                      strerror(errno));
}

static bool write_file(FILE *file, const file_head *head, const train_checkpoint *header, const train_array *arrays,
                       int n)
{
    bool ok = fwrite(head, sizeof *head, 1, file) == 1 && fwrite(header, sizeof *header, 1, file) == 1;
    for (int i = 0; i < n && ok; i++) ok = fwrite(arrays[i].bytes, 1, arrays[i].n, file) == arrays[i].n;
    ok = ok && fflush(file) == 0 && vouch_os_file_sync(fileno(file));
    return fclose(file) == 0 && ok;
}

vouch_status train_checkpoint_write(const char *path, const train_checkpoint *header, const train_array *arrays, int n,
                                    vouch_error *err)
{
    char temporary[4200];
    const file_head head = head_of(header, arrays, n);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "wb");
    if (!file) return io_fail(temporary, "write", err);
    if (write_file(file, &head, header, arrays, n) && rename(temporary, path) == 0) return VOUCH_OK;
    io_fail(temporary, "write", err);
    unlink(temporary);
    return VOUCH_E_IO;
}

static vouch_status read_file(FILE *file, const char *path, train_checkpoint *header, const train_array *arrays, int n,
                              vouch_error *err)
{
    file_head head;
    train_checkpoint stored;
    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.magic, MAGIC, sizeof MAGIC) != 0 ||
        fread(&stored, sizeof stored, 1, file) != 1)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s is no checkpoint, or cut short; delete it to begin again",
                          vouch_path_tail(path));
    if (stored.settings != header->settings)
        return vouch_fail(err, VOUCH_E_MISMATCH,
                          "%s was written with other training data or options; delete it to start over",
                          vouch_path_tail(path));
    bool ok = true;
    for (int i = 0; i < n && ok; i++) ok = fread(arrays[i].bytes, 1, arrays[i].n, file) == arrays[i].n;
    const file_head own = head_of(&stored, arrays, n);
    if (!ok || own.bytes != head.bytes || own.hash != head.hash)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s is cut short or damaged; delete it to begin again",
                          vouch_path_tail(path));
    *header = stored;
    return VOUCH_OK;
}

vouch_status train_checkpoint_read(const char *path, train_checkpoint *header, const train_array *arrays, int n,
                                   bool *found, vouch_error *err)
{
    FILE *file = fopen(path, "rb");
    *found = file != NULL;
    if (!file) return errno == ENOENT ? VOUCH_OK : io_fail(path, "read", err);
    const vouch_status status = read_file(file, path, header, arrays, n, err);
    fclose(file);
    return status;
}
