/* SPDX-License-Identifier: MIT */
/*
 * Windows 10 and later, with MinGW's headers (os.h). The program's manifest sets the code page to UTF-8, so the
 * functions of the C library (fopen, stat) accept UTF-8 names. The functions of this file call the wide-character
 * interface, which also accepts long paths.
 */
#include "os/windows.h"

#include <bcrypt.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <psapi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -------------------------------------------------------------------- errors */

static int reason_of(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH: return ENOENT;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT: return ENOMEM;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return ENOSPC;
    case ERROR_DIRECTORY: return ENOTDIR;
    case ERROR_DIR_NOT_EMPTY: return ENOTEMPTY;
    case ERROR_INVALID_HANDLE: return EBADF;
    case ERROR_WRITE_PROTECT: return EROFS;
    case ERROR_PRIVILEGE_NOT_HELD: return EPERM;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_CANT_RESOLVE_FILENAME: return ELOOP;
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_USER_MAPPED_FILE: return EBUSY;
    case ERROR_ACCESS_DENIED: return EACCES;
    default: return EIO;
    }
}

/* Sets errno to the reason of the last failure. Returns false. */
static bool fails(void)
{
    errno = reason_of(GetLastError());
    return false;
}

/* --------------------------------------------------------------------- names */

enum { LONGEST = 32768, LONG_FROM = 240 }; /* characters of a path; from LONG_FROM on only \\?\ lets it pass */

/* A path as the wide interface takes it; the caller frees it. NULL: errno tells why. */
static wchar_t *wide(const char *path)
{
    static const wchar_t prefix[] = L"\\\\?\\";
    wchar_t *given = malloc(LONGEST * sizeof *given), *whole = malloc((LONGEST + 8) * sizeof *whole);
    if (!given || !whole) errno = ENOMEM;
    else if (!*path || !MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, given, LONGEST)) errno = ENOENT;
    else {
        const DWORD n = GetFullPathNameW(given, LONGEST, whole, NULL);
        const bool is_long = n >= LONG_FROM && n < LONGEST && whole[0] != L'\\';
        if (is_long) {
            memmove(whole + 4, whole, (n + 1) * sizeof *whole);
            memcpy(whole, prefix, 4 * sizeof *whole);
        }
        free(given);
        if (n > 0 && n < LONGEST) return whole;
        errno = ENOENT;
        given = NULL;
    }
    free(given);
    free(whole);
    return NULL;
}

/* A name in UTF-8, with / between folders; the caller frees it. */
static char *narrow(const wchar_t *name)
{
    const int n = WideCharToMultiByte(CP_UTF8, 0, name, -1, NULL, 0, NULL, NULL);
    char *text = n > 0 ? malloc((size_t)n) : NULL;
    if (!text) {
        errno = ENOMEM;
        return NULL;
    }
    WideCharToMultiByte(CP_UTF8, 0, name, -1, text, n, NULL, NULL);
    vouch_os_path_tidy(text);
    return text;
}

HANDLE vouch_os_handle_of(int descriptor)
{
    return (HANDLE)_get_osfhandle(descriptor);
}

/* ---------------------------------------------------------------- processors */

int32_t vouch_os_processors(void)
{
    DWORD_PTR mine, all;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) || mine == 0) {
        const DWORD n = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); /* threads in several groups have no one mask */
        return n > 0 ? (int32_t)n : 1;
    }
    return __builtin_popcountll(mine);
}

int vouch_os_processor_here(void)
{
    return (int)GetCurrentProcessorNumber();
}

const char *vouch_os_name(void)
{
    return "Windows";
}

void vouch_os_processor_name(char *name, size_t size)
{
    DWORD n = (DWORD)size;
    *name = '\0';
    RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", "ProcessorNameString",
                 RRF_RT_REG_SZ, NULL, name, &n);
    for (size_t end = strlen(name); end > 0 && name[end - 1] == ' ';) name[--end] = '\0';
}

unsigned vouch_os_arm_features(void)
{
    enum { DOTPROD = 43, I8MM = 66 }; /* PF_ARM_V82_DP_... and PF_ARM_V82_I8MM_INSTRUCTIONS_AVAILABLE */
    return (IsProcessorFeaturePresent(DOTPROD) ? VOUCH_OS_ARM_DOTPROD : 0u) |
           (IsProcessorFeaturePresent(I8MM) ? VOUCH_OS_ARM_I8MM : 0u);
}

/* -------------------------------------------------------------------- memory */

size_t vouch_os_page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

static void *pages_allocate(void *pages, size_t bytes, DWORD how)
{
    void *allocated = VirtualAlloc(pages, bytes, how, PAGE_READWRITE);
    if (!allocated) fails();
    return allocated;
}

void *vouch_os_pages_take(size_t bytes)
{
    return pages_allocate(NULL, bytes, MEM_RESERVE | MEM_COMMIT);
}

void *vouch_os_pages_reserve(size_t bytes)
{
    return pages_allocate(NULL, bytes, MEM_RESERVE);
}

bool vouch_os_pages_commit(void *pages, size_t bytes)
{
    return bytes == 0 || pages_allocate(pages, bytes, MEM_COMMIT);
}

void vouch_os_pages_free(void *pages, size_t bytes)
{
    (void)bytes;
    VirtualFree(pages, 0, MEM_RELEASE);
}

void vouch_os_pages_join(void *pages, size_t bytes)
{
    (void)pages, (void)bytes; /* large pages need a privilege that users lack */
}

void vouch_os_pages_drop(void *pages, size_t bytes)
{
    VirtualFree(pages, bytes, MEM_DECOMMIT);
}

void *vouch_os_aligned_take(size_t alignment, size_t bytes)
{
    return _aligned_malloc(bytes, alignment);
}

void vouch_os_aligned_free(void *block)
{
    _aligned_free(block);
}

int64_t vouch_os_memory_peak(void)
{
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    const bool is_known = GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters);
    return is_known ? (int64_t)counters.PeakWorkingSetSize : 0;
}

int64_t vouch_os_memory_left(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? (int64_t)status.ullAvailPhys : -1;
}

/* --------------------------------------------------------------------- files */

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* Tells whether the file has a reparse point, and sets *is_link to whether that is a link. Other programs use reparse
 * points, too, for example for files that are downloaded only when they are read. */
static bool is_reparse_point(HANDLE handle, bool *is_link)
{
    FILE_ATTRIBUTE_TAG_INFO found;
    const bool is_one = GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &found, sizeof found) &&
                        found.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT;
    *is_link = is_one && (found.ReparseTag == IO_REPARSE_TAG_SYMLINK || found.ReparseTag == IO_REPARSE_TAG_MOUNT_POINT);
    return is_one;
}

/* Closes the handle and sets errno. */
static int refuse(HANDLE handle, int reason)
{
    CloseHandle(handle);
    errno = reason;
    return -1;
}

static bool is_folder(const wchar_t *name)
{
    const DWORD found = GetFileAttributesW(name);
    return found != INVALID_FILE_ATTRIBUTES && found & FILE_ATTRIBUTE_DIRECTORY;
}

/* INVALID_HANDLE_VALUE: errno tells why. */
static HANDLE file_open(const wchar_t *name, unsigned how)
{
    const bool writes = how & VOUCH_OS_WRITE;
    DWORD access = how & VOUCH_OS_READ || !writes ? GENERIC_READ : 0, flags = writes ? 0 : FILE_FLAG_BACKUP_SEMANTICS;
    if (writes) access |= how & VOUCH_OS_APPEND ? FILE_APPEND_DATA | SYNCHRONIZE : GENERIC_WRITE;
    const DWORD disposition = how & VOUCH_OS_NEW ? CREATE_NEW : how & VOUCH_OS_CREATE ? OPEN_ALWAYS : OPEN_EXISTING;
    const DWORD own = how & VOUCH_OS_NO_LINK ? FILE_FLAG_OPEN_REPARSE_POINT : 0;
    HANDLE handle = CreateFileW(name, access, SHARE_ALL, NULL, disposition, FILE_ATTRIBUTE_NORMAL | flags | own, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        fails();
        if (writes && is_folder(name)) errno = how & VOUCH_OS_NEW ? EEXIST : EISDIR;
        return handle;
    }
    bool is_link;
    if (!own || !is_reparse_point(handle, &is_link)) return handle;
    HANDLE content = is_link ? INVALID_HANDLE_VALUE : ReOpenFile(handle, access, SHARE_ALL, flags);
    if (content == INVALID_HANDLE_VALUE) fails();
    if (is_link) errno = ELOOP;
    CloseHandle(handle);
    return content;
}

/* A folder can be opened for reading, as on other systems: its info tells what it is. */
int vouch_os_open(const char *path, unsigned how, unsigned mode)
{
    (void)mode; /* permissions come from the folder */
    wchar_t *name = wide(path);
    HANDLE handle = name ? file_open(name, how) : INVALID_HANDLE_VALUE;
    free(name);
    if (handle == INVALID_HANDLE_VALUE) return -1;
    if (how & VOUCH_OS_EMPTY && GetFileType(handle) == FILE_TYPE_DISK && !SetEndOfFile(handle))
        return refuse(handle, reason_of(GetLastError()));
    const int descriptor =
        _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT | (how & VOUCH_OS_APPEND ? _O_APPEND : 0));
    return descriptor < 0 ? refuse(handle, EMFILE) : descriptor;
}

static bool info_take(HANDLE handle, vouch_os_info *info)
{
    static const int64_t UNIX_EPOCH = INT64_C(116444736000000000); /* in 100 nanoseconds since 1601 */
    const DWORD type = GetFileType(handle);
    BY_HANDLE_FILE_INFORMATION found;
    FILE_STANDARD_INFO standard;
    *info =
        (vouch_os_info){.kind = type == FILE_TYPE_PIPE ? VOUCH_OS_PIPE : VOUCH_OS_OTHER, .n_links = 1, .mode = 0666};
    if (type != FILE_TYPE_DISK) return type != FILE_TYPE_UNKNOWN || GetLastError() == NO_ERROR || fails();
    if (!GetFileInformationByHandle(handle, &found)) { /* Wine knows no more of a file that a Unix program passes on */
        LARGE_INTEGER size;
        if (!GetFileSizeEx(handle, &size)) return fails();
        info->kind = VOUCH_OS_FILE;
        info->size = size.QuadPart;
        return true;
    }
    const DWORD attributes = found.dwFileAttributes;
    const int64_t ticks =
        (int64_t)found.ftLastWriteTime.dwHighDateTime << 32 | (int64_t)found.ftLastWriteTime.dwLowDateTime;
    const bool is_going =
        GetFileInformationByHandleEx(handle, FileStandardInfo, &standard, sizeof standard) && standard.DeletePending;
    bool is_link;
    is_reparse_point(handle, &is_link);
    info->kind = is_link ? VOUCH_OS_LINK : attributes & FILE_ATTRIBUTE_DIRECTORY ? VOUCH_OS_FOLDER : VOUCH_OS_FILE;
    info->size = (int64_t)found.nFileSizeHigh << 32 | (int64_t)found.nFileSizeLow;
    info->modified = (ticks - UNIX_EPOCH) * 100;
    info->device = found.dwVolumeSerialNumber;
    info->number = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
    info->n_links = is_going ? 0 : (int64_t)found.nNumberOfLinks;
    if (attributes & FILE_ATTRIBUTE_READONLY) info->mode = 0444;
    return true;
}

static bool path_info(const char *path, DWORD flags, vouch_os_info *info)
{
    wchar_t *name = wide(path);
    if (!name) return false;
    HANDLE handle = CreateFileW(name, FILE_READ_ATTRIBUTES, SHARE_ALL, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    const bool is_open = handle != INVALID_HANDLE_VALUE || fails();
    free(name);
    const bool is_known = is_open && info_take(handle, info);
    if (is_open) CloseHandle(handle);
    return is_known;
}

bool vouch_os_info_of(const char *path, vouch_os_info *info)
{
    return path_info(path, 0, info);
}

bool vouch_os_info_of_link(const char *path, vouch_os_info *info)
{
    return path_info(path, FILE_FLAG_OPEN_REPARSE_POINT, info);
}

bool vouch_os_info_of_open(int descriptor, vouch_os_info *info)
{
    return info_take(vouch_os_handle_of(descriptor), info);
}

const unsigned char *vouch_os_file_map(int descriptor, size_t size)
{
    HANDLE mapping = CreateFileMappingW(vouch_os_handle_of(descriptor), NULL, PAGE_READONLY, 0, 0, NULL);
    const unsigned char *bytes = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size) : NULL;
    if (!bytes) fails();
    if (mapping) CloseHandle(mapping); /* the view keeps it alive */
    return bytes;
}

void vouch_os_file_unmap(const unsigned char *bytes, size_t size)
{
    (void)size;
    UnmapViewOfFile(bytes);
}

bool vouch_os_file_load(const unsigned char *pages, size_t size)
{
    (void)pages, (void)size;
    return true;
}

/* VirtualUnlock takes pages that aren't locked out of the working set. */
void vouch_os_file_drop(const unsigned char *pages, size_t size)
{
    VirtualUnlock((void *)(uintptr_t)pages, size);
}

/* Locks a byte far beyond the end of any file: unlike locks elsewhere, one on its content would keep others from
 * reading it. */
vouch_os_lock vouch_os_file_lock(int descriptor, bool waits)
{
    OVERLAPPED at = {.OffsetHigh = 0x40000000};
    const DWORD flags = LOCKFILE_EXCLUSIVE_LOCK | (waits ? 0 : LOCKFILE_FAIL_IMMEDIATELY);
    if (LockFileEx(vouch_os_handle_of(descriptor), flags, 0, 1, 0, &at)) return VOUCH_OS_LOCKED;
    const DWORD error = GetLastError();
    fails();
    return error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING ? VOUCH_OS_LOCK_BUSY : VOUCH_OS_LOCK_FAILED;
}

bool vouch_os_file_sync(int descriptor)
{
    return FlushFileBuffers(vouch_os_handle_of(descriptor)) || fails();
}

bool vouch_os_file_touch(const char *path)
{
    wchar_t *name = wide(path);
    const DWORD shares = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    const HANDLE file =
        name ? CreateFileW(name, FILE_WRITE_ATTRIBUTES, shares, NULL, OPEN_EXISTING, 0, NULL) : INVALID_HANDLE_VALUE;
    FILETIME now;
    GetSystemTimePreciseAsFileTime(&now);
    const bool is_done =
        file != INVALID_HANDLE_VALUE ? SetFileTime(file, NULL, NULL, &now) || fails() : name && fails();
    if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
    free(name);
    return is_done;
}

bool vouch_os_file_replace(const char *from, const char *to)
{
    wchar_t *old = wide(from), *new = wide(to);
    const bool is_done = old && new && (MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING) || fails());
    free(old);
    free(new);
    return is_done;
}

bool vouch_os_remove(const char *path)
{
    wchar_t *name = wide(path);
    const DWORD found = name ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
    const bool is_folder = found != INVALID_FILE_ATTRIBUTES && found & FILE_ATTRIBUTE_DIRECTORY;
    const bool is_link = is_folder && found & FILE_ATTRIBUTE_REPARSE_POINT; /* one to a folder */
    const bool is_done = name && ((is_link ? RemoveDirectoryW(name) : DeleteFileW(name)) || fails());
    free(name);
    if (!is_done && is_folder && !is_link) errno = EISDIR;
    return is_done;
}

bool vouch_os_exists(const char *path)
{
    vouch_os_info info;
    return vouch_os_info_of(path, &info);
}

bool vouch_os_may_write(const char *path)
{
    vouch_os_info info;
    if (!vouch_os_info_of(path, &info)) return false;
    if (info.kind != VOUCH_OS_FILE || info.mode & 0200) return true;
    errno = EACCES;
    return false;
}

bool vouch_os_file_set_mode(int descriptor, unsigned mode)
{
    (void)descriptor, (void)mode;
    return true;
}

int vouch_os_file_temporary(char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    enum { MARKS = 6, TRIES = 100 };
    unsigned char random[MARKS];
    char *marks = name + strlen(name) - MARKS;
    int descriptor = -1;
    for (int i = 0; descriptor < 0 && i < TRIES; i++) {
        if (!vouch_os_random(random, sizeof random)) return -1;
        for (int j = 0; j < MARKS; j++) marks[j] = letters[random[j] % 32];
        descriptor = vouch_os_open(name, VOUCH_OS_READ | VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NEW, 0600);
        if (descriptor < 0 && errno != EEXIST) return -1;
    }
    return descriptor;
}

ptrdiff_t vouch_os_read(int descriptor, void *bytes, size_t n)
{
    const int got = _read(descriptor, bytes, n < INT_MAX ? (unsigned)n : INT_MAX);
    vouch_os_info info;
    if (got < 0 && vouch_os_info_of_open(descriptor, &info) && info.kind == VOUCH_OS_FOLDER) errno = EISDIR;
    return got;
}

ptrdiff_t vouch_os_write(int descriptor, const void *bytes, size_t n)
{
    return _write(descriptor, bytes, n < INT_MAX ? (unsigned)n : INT_MAX);
}

ptrdiff_t vouch_os_file_read_at(int descriptor, void *bytes, size_t n, int64_t offset)
{
    const int64_t before = _lseeki64(descriptor, 0, SEEK_CUR);
    if (before < 0 || _lseeki64(descriptor, offset, SEEK_SET) < 0) return -1;
    const ptrdiff_t got = vouch_os_read(descriptor, bytes, n);
    return _lseeki64(descriptor, before, SEEK_SET) < 0 ? -1 : got;
}

bool vouch_os_file_writable(int descriptor)
{
    return descriptor != STDIN_FILENO && _get_osfhandle(descriptor) != -1;
}

unsigned vouch_os_new_mode(void)
{
    return 0666;
}

bool vouch_os_folder_make(const char *path, unsigned mode)
{
    (void)mode;
    wchar_t *name = wide(path);
    const bool is_done = name && (CreateDirectoryW(name, NULL) || fails());
    if (name && !is_done && is_folder(name)) errno = EEXIST; /* for the root of a drive access is denied */
    free(name);
    return is_done;
}

bool vouch_os_folder_remove(const char *path)
{
    wchar_t *name = wide(path);
    const bool is_done = name && (RemoveDirectoryW(name) || fails());
    free(name);
    return is_done;
}

static int name_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds a name to the list, which it moves where it is full. False: memory is short. */
static bool name_add(char ***names, ptrdiff_t *n, ptrdiff_t *room, const wchar_t *name)
{
    if (*n == *room) {
        char **larger = realloc(*names, (size_t)(*room * 2 + 16) * sizeof *larger);
        if (!larger) return false;
        *names = larger;
        *room = *room * 2 + 16;
    }
    (*names)[*n] = narrow(name);
    return (*names)[*n] && ++*n;
}

/* Appends the names from the first entry on. False: errno tells why. */
static bool names_find(HANDLE find, WIN32_FIND_DATAW *entry, char ***names, ptrdiff_t *n)
{
    ptrdiff_t room = 0;
    do {
        const wchar_t *name = entry->cFileName;
        if (wcscmp(name, L".") == 0 || wcscmp(name, L"..") == 0) continue;
        if (name_add(names, n, &room, name)) continue;
        errno = ENOMEM;
        return false;
    } while (FindNextFileW(find, entry));
    return GetLastError() == ERROR_NO_MORE_FILES || fails();
}

ptrdiff_t vouch_os_folder_list(const char *path, char ***names)
{
    WIN32_FIND_DATAW entry;
    ptrdiff_t n = 0;
    *names = NULL;
    char *pattern = malloc(strlen(path) + 3);
    if (!pattern) return -1;
    sprintf(pattern, "%s/*", path);
    wchar_t *all = wide(pattern);
    free(pattern);
    HANDLE find = all ? FindFirstFileW(all, &entry) : INVALID_HANDLE_VALUE;
    free(all);
    if (find == INVALID_HANDLE_VALUE) {
        if (all) fails();
        return -1;
    }
    const bool is_whole = names_find(find, &entry, names, &n);
    const int reason = errno;
    FindClose(find);
    if (!is_whole) {
        vouch_os_names_free(*names, n);
        *names = NULL;
        errno = reason;
        return -1;
    }
    if (n > 0) qsort(*names, (size_t)n, sizeof **names, name_compare);
    return n;
}

char *vouch_os_path_resolve(const char *path)
{
    wchar_t *name = wide(path), *found = malloc(LONGEST * sizeof *found);
    HANDLE handle = !name || !found ? INVALID_HANDLE_VALUE
                                    : CreateFileW(name, FILE_READ_ATTRIBUTES, SHARE_ALL, NULL, OPEN_EXISTING,
                                                  FILE_FLAG_BACKUP_SEMANTICS, NULL);
    char *resolved = NULL;
    if (handle != INVALID_HANDLE_VALUE) {
        const DWORD n = GetFinalPathNameByHandleW(handle, found, LONGEST, 0);
        const bool has_prefix = n > 6 && wcsncmp(found, L"\\\\?\\", 4) == 0 && found[5] == L':';
        if (n > 0 && n < LONGEST) resolved = narrow(has_prefix ? found + 4 : found);
        else fails();
        CloseHandle(handle);
    } else if (name && found) {
        fails();
    }
    free(name);
    free(found);
    return resolved;
}

bool vouch_os_link_make(const char *to, const char *path)
{
    enum { ALLOW_UNPRIVILEGED_CREATE = 2 }; /* for users without privileges, in developer mode */
    wchar_t *name = wide(path), *target = malloc(LONGEST * sizeof *target);
    bool is_done = false;
    if (!target) errno = ENOMEM;
    else if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, to, -1, target, LONGEST)) errno = ENOENT;
    else if (name) {
        for (wchar_t *at = target; *at; at++)
            if (*at == L'/') *at = L'\\';
        is_done = CreateSymbolicLinkW(name, target, ALLOW_UNPRIVILEGED_CREATE) || fails();
    }
    free(name);
    free(target);
    return is_done;
}

/* Gives the final target of a chain of links: Windows has no simple function for the text of one link. */
ptrdiff_t vouch_os_link_read(const char *path, char *to, size_t size)
{
    vouch_os_info info;
    if (!vouch_os_info_of_link(path, &info)) return -1;
    char *resolved = info.kind == VOUCH_OS_LINK ? vouch_os_path_resolve(path) : NULL;
    if (!resolved) {
        if (info.kind != VOUCH_OS_LINK) errno = EINVAL;
        return -1;
    }
    const int n = snprintf(to, size, "%s", resolved);
    free(resolved);
    return n < (int)size ? n : (ptrdiff_t)size - 1;
}

int64_t vouch_os_disk_left(const char *folder)
{
    ULARGE_INTEGER left;
    wchar_t *name = wide(folder);
    const bool is_known = name && (GetDiskFreeSpaceExW(name, &left, NULL, NULL) || fails());
    free(name);
    return is_known ? (int64_t)left.QuadPart : -1;
}

/* HOME is a variable of other systems, which some shells set. */
const char *vouch_os_home(void)
{
    static char *home;
    const wchar_t *folder = home ? NULL : _wgetenv(L"USERPROFILE");
    if (folder && *folder) home = narrow(folder);
    return home;
}

void vouch_os_path_tidy(char *path)
{
    for (; *path; path++)
        if (*path == '\\') *path = '/';
}

/* A file in the user's folder for such files, which goes when it is closed. tmpfile would make one in the root of the
 * drive, where users may not write. */
FILE *vouch_os_stream_open(vouch_os_stream *stream)
{
    wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
    *stream = (vouch_os_stream){0};
    if (!GetTempPathW(MAX_PATH + 1, folder) || !GetTempFileNameW(folder, L"vouch", 0, name)) return fails(), NULL;
    HANDLE handle = CreateFileW(name, GENERIC_READ | GENERIC_WRITE | DELETE, SHARE_ALL, NULL, OPEN_EXISTING,
                                FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (handle == INVALID_HANDLE_VALUE) return fails(), NULL;
    const int descriptor = _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT);
    if (descriptor < 0) return refuse(handle, EMFILE), NULL;
    stream->file = _fdopen(descriptor, "w+b");
    if (!stream->file) _close(descriptor);
    return stream->file;
}

bool vouch_os_stream_close(vouch_os_stream *stream, char **bytes, size_t *n)
{
    const bool is_written = fflush(stream->file) == 0 && !ferror(stream->file);
    const int64_t size = is_written ? _ftelli64(stream->file) : -1;
    *bytes = size >= 0 ? malloc((size_t)size + 1) : NULL;
    *n = 0;
    if (*bytes) {
        rewind(stream->file);
        *n = fread(*bytes, 1, (size_t)size, stream->file);
        (*bytes)[*n] = '\0';
    }
    fclose(stream->file);
    if (*bytes && *n == (size_t)size) return true;
    free(*bytes);
    *bytes = NULL;
    *n = 0;
    return false;
}

/* ------------------------------------------------------------------- threads */

void vouch_os_wait(_Atomic unsigned *word, unsigned old)
{
    WaitOnAddress((volatile void *)(uintptr_t)word, &old, sizeof old, INFINITE);
}

void vouch_os_wake(_Atomic unsigned *word)
{
    WakeByAddressAll((void *)(uintptr_t)word);
}

/* Windows sends no signals to threads. */
bool vouch_os_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    return pthread_create(thread, NULL, run, arg) == 0;
}

void vouch_os_thread_stand_back(void)
{
    (void)SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_LOWEST);
}

/* -------------------------------------------------------------------- random */

bool vouch_os_random(void *bytes, size_t n)
{
    return BCryptGenRandom(NULL, bytes, (ULONG)n, BCRYPT_USE_SYSTEM_PREFERRED_RNG) >= 0;
}

/* ------------------------------------------- functions that some systems lack */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* Where a text stops to match, the last star takes one more character. */
bool vouch_os_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *taken = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            taken = text;
        } else if (*pattern && (*pattern == '?' || lower(*pattern) == lower(*text))) {
            pattern++, text++;
        } else if (star) {
            pattern = star + 1;
            text = ++taken;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

void *memmem(const void *bytes, size_t n, const void *part, size_t n_part)
{
    const char *at = bytes, *first = part;
    if (n_part == 0) return (void *)(uintptr_t)bytes;
    for (const char *end = at + n; (size_t)(end - at) >= n_part; at++) {
        at = memchr(at, *first, (size_t)(end - at) - n_part + 1);
        if (!at) return NULL;
        if (memcmp(at, part, n_part) == 0) return (void *)(uintptr_t)at;
    }
    return NULL;
}

char *strndup(const char *text, size_t n)
{
    const size_t size = strnlen(text, n);
    char *copy = malloc(size + 1);
    if (!copy) return NULL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *strcasestr(const char *text, const char *part)
{
    for (const size_t n = strlen(part);; text++) {
        if (_strnicmp(text, part, n) == 0) return (char *)(uintptr_t)text;
        if (!*text) return NULL;
    }
}

/* The next bytes of a file, at most 4: a byte, or a character of the console in UTF-8. 0: the end. */
static size_t getline_read(FILE *file, bool is_console, char bytes[4])
{
    if (!is_console) {
        const int c = getc(file);
        bytes[0] = (char)c;
        return c == EOF ? 0 : 1;
    }
    wchar_t units[2];
    int n = 0;
    do {
        const wint_t unit = vouch_os_console_read();
        if (unit == WEOF) return 0;
        units[n++] = unit;
    } while (n < 2 && IS_HIGH_SURROGATE(units[0]));
    return (size_t)WideCharToMultiByte(CP_UTF8, 0, units, n, bytes, 4, NULL, NULL);
}

ptrdiff_t getline(char **line, size_t *room, FILE *file)
{
    const bool is_console = file == stdin && vouch_os_console_is_input();
    char bytes[4];
    size_t n = 0;
    for (size_t k; (k = getline_read(file, is_console, bytes)) > 0;) {
        if (n + sizeof bytes + 1 > *room) {
            const size_t larger = *room * 2 + 128;
            char *moved = realloc(*line, larger);
            if (!moved) return -1;
            *line = moved;
            *room = larger;
        }
        memcpy(*line + n, bytes, k);
        n += k;
        if (bytes[0] == '\n') break;
    }
    if (n == 0) return -1;
    (*line)[n] = '\0';
    return (ptrdiff_t)n;
}
