/* SPDX-License-Identifier: MIT */
#include "base/filemap.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"

const char *vouch_path_tail(const char *path)
{
    const size_t size = strlen(path);
    return size > VOUCH_PATH_SHOWN ? path + size - VOUCH_PATH_SHOWN : path;
}

static vouch_status file_check(const vouch_os_info *info, const char *path, vouch_error *err)
{
    if (info->kind == VOUCH_OS_FOLDER) return vouch_fail(err, VOUCH_E_IO, "%s: is a directory, not a file", path);
    if (info->kind != VOUCH_OS_FILE) return vouch_fail(err, VOUCH_E_IO, "%s: is not a regular file", path);
    if (info->size == 0) return vouch_fail(err, VOUCH_E_FORMAT, "%s: the file is empty", path);
    if ((int64_t)(size_t)info->size != info->size)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: the file has %lld bytes, more than this machine can address",
                          path, (long long)info->size);
    return VOUCH_OK;
}

vouch_status vouch_filemap_open(vouch_filemap *map, const char *path, vouch_error *err)
{
    const char *const name = vouch_path_tail(path);
    *map = (vouch_filemap){0};
    const int fd = vouch_os_open(path, VOUCH_OS_READ | VOUCH_OS_NO_WAIT, 0);
    if (fd < 0) return vouch_fail(err, VOUCH_E_IO, "%s: can't open: %s", name, strerror(errno));

    vouch_os_info info;
    vouch_status status;
    if (!vouch_os_info_of_open(fd, &info)) {
        status = vouch_fail(err, VOUCH_E_IO, "%s: can't examine: %s", name, strerror(errno));
        goto done;
    }
    status = file_check(&info, name, err);
    if (status != VOUCH_OK) goto done;

    const size_t size = (size_t)info.size;
    const unsigned char *const data = vouch_os_file_map(fd, size);
    if (!data) {
        status = vouch_fail(err, errno == ENOMEM ? VOUCH_E_MEMORY : VOUCH_E_IO, "%s: can't map %zu bytes: %s", name,
                            size, strerror(errno));
        goto done;
    }
    *map = (vouch_filemap){.data = data, .size = size, .fd = fd, .modified = info.modified};

done:
    if (status != VOUCH_OK) close(fd);
    return status;
}

void vouch_filemap_close(vouch_filemap *map)
{
    if (map->data) {
        vouch_os_file_unmap(map->data, map->size);
        close(map->fd);
    }
    *map = (vouch_filemap){0};
}

vouch_status vouch_filemap_recheck(const vouch_filemap *map, const char *path, vouch_error *err)
{
    vouch_os_info info;
    path = vouch_path_tail(path);
    if (!vouch_os_info_of_open(map->fd, &info))
        return vouch_fail(err, VOUCH_E_IO, "%s: can't examine: %s", path, strerror(errno));
    if ((size_t)info.size != map->size)
        return vouch_fail(err, VOUCH_E_IO, "%s: the file went from %zu to %lld bytes while vouch read it", path,
                          map->size, (long long)info.size);
    if (info.modified != map->modified)
        return vouch_fail(err, VOUCH_E_IO, "%s: another program wrote to the file while vouch read it", path);
    return VOUCH_OK;
}

vouch_status vouch_filemap_load(const vouch_filemap *map, const char *path, size_t offset, size_t size,
                                vouch_error *err)
{
    path = vouch_path_tail(path);
    VOUCH_TRY(vouch_filemap_recheck(map, path, err));
    const size_t begin = offset / vouch_os_page_size() * vouch_os_page_size();
    if (!vouch_os_file_load(map->data + begin, offset - begin + size))
        return vouch_fail(err, VOUCH_E_IO, "%s: can't read %zu bytes at byte %zu: %s", path, size, offset,
                          errno == EFAULT ? "the disk failed or the file shrank" : strerror(errno));
    return VOUCH_OK;
}

void vouch_filemap_release(const vouch_filemap *map, size_t offset, size_t size)
{
    const size_t page = vouch_os_page_size();
    const size_t begin = (offset + page - 1) / page * page, end = (offset + size) / page * page;
    if (begin < end) vouch_os_file_drop(map->data + begin, end - begin);
}
