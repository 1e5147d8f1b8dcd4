/* SPDX-License-Identifier: MIT */
#include "support/noisy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/filemap.h"
#include "base/philox.h"
#include "format/gguf.h"
#include "support/bench.h"

static void noise_add(void *bytes, size_t size, const char *name, double amount)
{
    vouch_gguf *gguf;
    vouch_error err;
    bench_check(vouch_gguf_open_bytes(&gguf, bytes, size, name, &err), &err);
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        const vouch_gguf_tensor *tensor = vouch_gguf_get_tensor(gguf, i);
        if (tensor->type != VOUCH_TYPE_F32 || tensor->n_dims != 1) continue;
        float *values = (float *)(uintptr_t)tensor->data; /* inside `bytes`, which are writable */
        for (int64_t j = 0; j < tensor->dim[0]; j++) {
            const double noise = 2 * vouch_uniform(i, j, VOUCH_PURPOSE_DRAFT) - 1;
            values[j] *= (float)(1 + amount * noise);
        }
    }
    vouch_gguf_close(gguf);
}

const char *bench_noisy_copy(const char *path, double amount)
{
    static char copy_path[64];
    vouch_filemap original;
    vouch_error err;
    bench_check(vouch_filemap_open(&original, path, &err), &err);
    const int fd = memfd_create("noisy", MFD_CLOEXEC);
    void *copy = fd >= 0 && ftruncate(fd, (off_t)original.size) == 0
                     ? mmap(NULL, original.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                     : MAP_FAILED;
    if (copy == MAP_FAILED)
        bench_check(vouch_fail(&err, VOUCH_E_MEMORY, "%s: can't copy: %s", path, strerror(errno)), &err);
    memcpy(copy, original.data, original.size);
    noise_add(copy, original.size, path, amount);
    munmap(copy, original.size);
    vouch_filemap_close(&original);
    snprintf(copy_path, sizeof copy_path, "/proc/self/fd/%d", fd);
    return copy_path;
}
