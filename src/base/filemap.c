/* SPDX-License-Identifier: MIT */
#include "base/filemap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *vouch_path_tail(const char *path)
{
    const size_t size = strlen(path);
    return size > VOUCH_PATH_SHOWN ? path + size - VOUCH_PATH_SHOWN : path;
}

static vouch_status file_check(const struct stat *info, const char *path, vouch_error *err)
{
    if (S_ISDIR(info->st_mode)) return vouch_fail(err, VOUCH_E_IO, "%s: is a directory, not a file", path);
    if (!S_ISREG(info->st_mode)) return vouch_fail(err, VOUCH_E_IO, "%s: is not a regular file", path);
    if (info->st_size == 0) return vouch_fail(err, VOUCH_E_FORMAT, "%s: the file is empty", path);
    if ((off_t)(size_t)info->st_size != info->st_size)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: the file has %lld bytes, more than this machine can address",
                          path, (long long)info->st_size);
    return VOUCH_OK;
}

vouch_status vouch_filemap_open(vouch_filemap *map, const char *path, vouch_error *err)
{
    const char *const name = vouch_path_tail(path);
    *map = (vouch_filemap){0};
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return vouch_fail(err, VOUCH_E_IO, "%s: can't open: %s", name, strerror(errno));

    struct stat info;
    vouch_status status;
    if (fstat(fd, &info) != 0) {
        status = vouch_fail(err, VOUCH_E_IO, "%s: can't examine: %s", name, strerror(errno));
        goto done;
    }
    status = file_check(&info, name, err);
    if (status != VOUCH_OK) goto done;

    const size_t size = (size_t)info.st_size;
    void *const data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        status = vouch_fail(err, errno == ENOMEM ? VOUCH_E_MEMORY : VOUCH_E_IO, "%s: can't map %zu bytes: %s", name,
                            size, strerror(errno));
        goto done;
    }
    *map = (vouch_filemap){.data = data, .size = size, .fd = fd, .modified = info.st_mtim};

done:
    if (status != VOUCH_OK) close(fd);
    return status;
}

void vouch_filemap_close(vouch_filemap *map)
{
    if (map->data) {
        munmap((void *)(uintptr_t)map->data, map->size);
        close(map->fd);
    }
    *map = (vouch_filemap){0};
}

vouch_status vouch_filemap_recheck(const vouch_filemap *map, const char *path, vouch_error *err)
{
    struct stat info;
    path = vouch_path_tail(path);
    if (fstat(map->fd, &info) != 0) return vouch_fail(err, VOUCH_E_IO, "%s: can't examine: %s", path, strerror(errno));
    if ((size_t)info.st_size != map->size)
        return vouch_fail(err, VOUCH_E_IO, "%s: the file went from %zu to %lld bytes while vouch read it", path,
                          map->size, (long long)info.st_size);
    if (info.st_mtim.tv_sec != map->modified.tv_sec || info.st_mtim.tv_nsec != map->modified.tv_nsec)
        return vouch_fail(err, VOUCH_E_IO, "%s: another program wrote to the file while vouch read it", path);
    return VOUCH_OK;
}

vouch_status vouch_filemap_load(const vouch_filemap *map, const char *path, size_t offset, size_t size,
                                vouch_error *err)
{
    path = vouch_path_tail(path);
    VOUCH_TRY(vouch_filemap_recheck(map, path, err));
#ifdef MADV_POPULATE_READ
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t begin = offset / page * page;
    int result;
    do {
        result = madvise((void *)(uintptr_t)(map->data + begin), offset - begin + size, MADV_POPULATE_READ);
    } while (result != 0 && errno == EINTR);
    /* EINVAL: Linux before 5.14 can't load pages on request; only the recheck above guards the file there. */
    if (result != 0 && errno != EINVAL)
        return vouch_fail(err, VOUCH_E_IO, "%s: can't read %zu bytes at byte %zu: %s", path, size, offset,
                          errno == EFAULT ? "the disk failed or the file shrank" : strerror(errno));
#else
    (void)offset, (void)size;
#endif
    return VOUCH_OK;
}

void vouch_filemap_release(const vouch_filemap *map, size_t offset, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t begin = (offset + page - 1) / page * page, end = (offset + size) / page * page;
    if (begin < end) (void)madvise((void *)(uintptr_t)(map->data + begin), end - begin, MADV_DONTNEED);
}
