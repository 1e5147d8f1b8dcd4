/* SPDX-License-Identifier: MIT */
/* What Linux and macOS share (os.h). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/posix.h"

/* -------------------------------------------------------------------- memory */

size_t vouch_os_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void *pages_map(size_t bytes, int flags)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void *vouch_os_pages_take(size_t bytes)
{
    return pages_map(bytes, 0);
}

void *vouch_os_pages_reserve(size_t bytes)
{
    return pages_map(bytes, MAP_NORESERVE);
}

bool vouch_os_pages_commit(void *pages, size_t bytes)
{
    (void)pages, (void)bytes; /* a page takes memory when it is written */
    return true;
}

void vouch_os_pages_free(void *pages, size_t bytes)
{
    munmap(pages, bytes);
}

void *vouch_os_aligned_take(size_t alignment, size_t bytes)
{
    void *block = NULL;
    const int reason = posix_memalign(&block, alignment, bytes);
    if (reason) errno = reason;
    return reason ? NULL : block;
}

void vouch_os_aligned_free(void *block)
{
    free(block);
}

/* --------------------------------------------------------------------- files */

int vouch_os_open(const char *path, unsigned how, unsigned mode)
{
    const unsigned both = VOUCH_OS_READ | VOUCH_OS_WRITE;
    int flags = O_CLOEXEC | O_NOCTTY;
    flags |= (how & both) == both ? O_RDWR : how & VOUCH_OS_WRITE ? O_WRONLY : O_RDONLY;
    if (how & VOUCH_OS_CREATE) flags |= O_CREAT;
    if (how & VOUCH_OS_NEW) flags |= O_EXCL;
    if (how & VOUCH_OS_EMPTY) flags |= O_TRUNC;
    if (how & VOUCH_OS_APPEND) flags |= O_APPEND;
    if (how & VOUCH_OS_NO_LINK) flags |= O_NOFOLLOW;
    if (how & VOUCH_OS_NO_WAIT) flags |= O_NONBLOCK;
    return open(path, flags, (mode_t)mode);
}

/* Copies what `stat` has found. Always true. */
static bool info_take(const struct stat *found, vouch_os_info *info)
{
    const mode_t mode = found->st_mode;
    *info = (vouch_os_info){.kind = S_ISREG(mode)    ? VOUCH_OS_FILE
                                    : S_ISDIR(mode)  ? VOUCH_OS_FOLDER
                                    : S_ISLNK(mode)  ? VOUCH_OS_LINK
                                    : S_ISFIFO(mode) ? VOUCH_OS_PIPE
                                                     : VOUCH_OS_OTHER,
                            .size = found->st_size,
                            .modified = vouch_os_modified(found),
                            .device = (uint64_t)found->st_dev,
                            .number = found->st_ino,
                            .n_links = (int64_t)found->st_nlink,
                            .mode = mode & 0777};
    return true;
}

bool vouch_os_info_of(const char *path, vouch_os_info *info)
{
    struct stat found;
    return stat(path, &found) == 0 && info_take(&found, info);
}

bool vouch_os_info_of_link(const char *path, vouch_os_info *info)
{
    struct stat found;
    return lstat(path, &found) == 0 && info_take(&found, info);
}

bool vouch_os_info_of_open(int descriptor, vouch_os_info *info)
{
    struct stat found;
    return fstat(descriptor, &found) == 0 && info_take(&found, info);
}

const unsigned char *vouch_os_file_map(int descriptor, size_t size)
{
    void *const bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

void vouch_os_file_unmap(const unsigned char *bytes, size_t size)
{
    munmap((void *)(uintptr_t)bytes, size);
}

void vouch_os_file_drop(const unsigned char *pages, size_t size)
{
    (void)madvise((void *)(uintptr_t)pages, size, MADV_DONTNEED);
}

vouch_os_lock vouch_os_file_lock(int descriptor, bool waits)
{
    int result;
    do result = flock(descriptor, LOCK_EX | (waits ? 0 : LOCK_NB));
    while (result != 0 && errno == EINTR);
    return result == 0 ? VOUCH_OS_LOCKED : errno == EWOULDBLOCK ? VOUCH_OS_LOCK_BUSY : VOUCH_OS_LOCK_FAILED;
}

bool vouch_os_file_touch(const char *path)
{
    struct timespec now[2]; /* finer than the system's own moment, so that one touch is after another */
    clock_gettime(CLOCK_REALTIME, &now[0]);
    now[1] = now[0];
    return utimensat(AT_FDCWD, path, now, 0) == 0;
}

bool vouch_os_file_replace(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

bool vouch_os_remove(const char *path)
{
    return unlink(path) == 0;
}

bool vouch_os_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool vouch_os_may_write(const char *path)
{
    vouch_os_info info;
    const bool is_folder = vouch_os_info_of(path, &info) && info.kind == VOUCH_OS_FOLDER;
    return access(path, is_folder ? W_OK | X_OK : W_OK) == 0;
}

bool vouch_os_file_set_mode(int descriptor, unsigned mode)
{
    return fchmod(descriptor, (mode_t)mode) == 0;
}

int vouch_os_file_temporary(char *name)
{
    return mkstemp(name);
}

/* macOS refuses more bytes than INT_MAX. */
static size_t most_of(size_t n)
{
    return n < INT_MAX ? n : INT_MAX;
}

ptrdiff_t vouch_os_read(int descriptor, void *bytes, size_t n)
{
    return read(descriptor, bytes, most_of(n));
}

ptrdiff_t vouch_os_write(int descriptor, const void *bytes, size_t n)
{
    return write(descriptor, bytes, most_of(n));
}

ptrdiff_t vouch_os_file_read_at(int descriptor, void *bytes, size_t n, int64_t offset)
{
    return pread(descriptor, bytes, most_of(n), offset);
}

bool vouch_os_file_writable(int descriptor)
{
    const int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

unsigned vouch_os_new_mode(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

bool vouch_os_folder_make(const char *path, unsigned mode)
{
    return mkdir(path, (mode_t)mode) == 0;
}

bool vouch_os_folder_remove(const char *path)
{
    return rmdir(path) == 0;
}

static int is_name(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int name_compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

ptrdiff_t vouch_os_folder_list(const char *path, char ***names)
{
    struct dirent **entries;
    *names = NULL;
    const int n = scandir(path, &entries, is_name, name_compare);
    if (n < 0) return -1;
    char **list = calloc((size_t)n + 1, sizeof *list);
    bool is_whole = list != NULL;
    for (int i = 0; i < n; i++) {
        if (list) list[i] = strdup(entries[i]->d_name);
        is_whole = is_whole && list[i];
        free(entries[i]);
    }
    free(entries);
    if (is_whole) *names = list;
    else vouch_os_names_free(list, n);
    if (!is_whole) errno = ENOMEM;
    return is_whole ? n : -1;
}

char *vouch_os_path_resolve(const char *path)
{
    return realpath(path, NULL);
}

bool vouch_os_link_make(const char *to, const char *path)
{
    return symlink(to, path) == 0;
}

ptrdiff_t vouch_os_link_read(const char *path, char *to, size_t size)
{
    const ptrdiff_t n = readlink(path, to, size - 1);
    if (n >= 0) to[n] = '\0';
    return n;
}

const char *vouch_os_home(void)
{
    const char *home = getenv("HOME");
    if (home && *home) return home;
    const struct passwd *user = getpwuid(getuid());
    return user ? user->pw_dir : NULL;
}

void vouch_os_path_tidy(char *path)
{
    (void)path;
}

bool vouch_os_stream_put(vouch_os_stream *stream, const char *bytes, size_t n)
{
    if (n >= stream->room - stream->n) {
        const size_t room = 2 * (stream->n + n) + 1;
        char *larger = realloc(stream->bytes, room);
        if (!larger) return false;
        stream->bytes = larger;
        stream->room = room;
    }
    memcpy(stream->bytes + stream->n, bytes, n);
    stream->n += n;
    stream->bytes[stream->n] = '\0';
    return true;
}

/* Not open_memstream: glibc's forgets that memory was short, and the text lacks its middle. */
FILE *vouch_os_stream_open(vouch_os_stream *stream)
{
    *stream = (vouch_os_stream){.bytes = calloc(1, 1), .room = 1};
    stream->file = stream->bytes ? vouch_os_stream_file(stream) : NULL;
    if (!stream->file) free(stream->bytes);
    return stream->file;
}

bool vouch_os_stream_close(vouch_os_stream *stream, char **bytes, size_t *n)
{
    const bool has_failed = ferror(stream->file) != 0;
    const bool is_whole = fclose(stream->file) == 0 && !has_failed;
    if (!is_whole) free(stream->bytes);
    *bytes = is_whole ? stream->bytes : NULL;
    *n = is_whole ? stream->n : 0;
    return is_whole;
}

/* ------------------------------------------------------------------- threads */

bool vouch_os_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t others, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    vouch_os_thread_prepare(&attributes);
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&others, own[i]);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    const bool is_started = pthread_create(thread, &attributes, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return is_started;
}

/* ------------------------------------------------------- terminal and process */

/* A closed standard output becomes one that can't be written to. */
void vouch_os_start(void)
{
    int descriptor;
    do descriptor = open("/dev/null", O_RDONLY);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0) close(descriptor);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

_Noreturn void vouch_os_exit(int status)
{
    _exit(status);
}

bool vouch_os_terminal_draws(int descriptor)
{
    const char *terminal = getenv("TERM");
    return isatty(descriptor) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

int vouch_os_terminal_columns(int descriptor)
{
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool vouch_os_input_wait(int milliseconds)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, milliseconds) != 0;
}

/* When the reader of a pipe has gone, poll reports POLLERR on Linux and POLLHUP on macOS. */
bool vouch_os_output_gone(void)
{
    struct pollfd reader = {STDOUT_FILENO, POLLOUT, 0};
    return poll(&reader, 1, 0) == 1 && (reader.revents & (POLLERR | POLLHUP));
}

void vouch_os_on_interrupt(void (*handler)(int), bool reads)
{
    struct sigaction old, action = {.sa_handler = handler, .sa_flags = reads ? 0 : SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(SIGINT, &action, NULL);
}

void vouch_os_interrupt_hold(void)
{
}

void vouch_os_interrupt_resume(void)
{
}

void vouch_os_service_start(void)
{
}

static sigset_t end_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

void vouch_os_end_collect(void)
{
    const sigset_t set = end_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* macOS has no sigtimedwait. */
bool vouch_os_end_wait(int milliseconds)
{
    const sigset_t set = end_signals();
    sigset_t pending;
    int number;
    if (milliseconds >= 0) {
        poll(NULL, 0, milliseconds);
        sigpending(&pending);
        if (!sigismember(&pending, SIGINT) && !sigismember(&pending, SIGTERM)) return false;
    }
    return sigwait(&set, &number) == 0;
}

void vouch_os_on_lost_page(void (*handler)(int))
{
    signal(SIGBUS, handler);
}

int64_t vouch_os_stack_limit(void)
{
    struct rlimit limit;
    const bool is_known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < INT64_MAX;
    return is_known ? (int64_t)limit.rlim_cur : INT64_MAX;
}

/* ------------------------------------------- functions that some systems lack */

bool vouch_os_matches(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, FNM_CASEFOLD) == 0;
}
