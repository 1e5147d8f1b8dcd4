/* SPDX-License-Identifier: MIT */
/*
 * All that differs between systems. The library and the programs stand on it, and it includes nothing of them.
 *
 * sockets.h has what a server needs besides.
 *
 *   common.c     what all systems share
 *   posix.c      what Linux and macOS share
 *   linux.c      what only Linux has or does in its own way
 *   macos.c      what only macOS has or does in its own way
 *   windows.c    Windows, with the headers of MinGW, which has POSIX threads; windows_process.c handles its terminal,
 *                Ctrl-C and services, and windows_math.c replaces functions of its C library
 *
 * The Makefile takes the files of the system that it builds for. So no other file asks which system it is. What all
 * systems have under the same name, such as close, lseek and pthread_mutex_lock, is used as it is. Paths are
 * UTF-8 with / between names on each system: vouch_os_path_tidy sees to those that a user writes.
 *
 * Functions that can fail return NULL, false or -1 and set errno, unless their comment says otherwise.
 */
#ifndef VOUCH_OS_OS_H
#define VOUCH_OS_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The name of the system: "Linux", "macOS", "Windows". */
const char *vouch_os_name(void);

/* ---------------------------------------------------------------- processors */

/* How many processors this process may use, at least 1: the size of its affinity mask, or the time quota of its
 * container in whole processors, if the quota is smaller. On a Mac with two kinds, its performance cores. */
int32_t vouch_os_processors(void);
/* The number of the processor that this thread runs on at this moment; -1: the system can't tell. */
int vouch_os_processor_here(void);
/* The processor's name as its maker writes it, or the name of its architecture; "" if neither is known. */
void vouch_os_processor_name(char *name, size_t size);
/* Optional instructions of Arm processors. */
typedef enum vouch_os_arm { VOUCH_OS_ARM_DOTPROD = 1, VOUCH_OS_ARM_I8MM = 2 } vouch_os_arm;
unsigned vouch_os_arm_features(void); /* bits of vouch_os_arm; 0 elsewhere */

/* -------------------------------------------------------------------- memory */

size_t vouch_os_page_size(void); /* bytes */
/* Whole pages that read as zero and take memory when they are first written. */
void *vouch_os_pages_take(size_t bytes);
/* Addresses of whole pages, also of more than the machine has. Pages can be used after vouch_os_pages_commit. */
void *vouch_os_pages_reserve(size_t bytes);
/* Makes those reserved pages usable that contain these bytes. A page that was usable already keeps its content; a new
 * one reads as zero. False: memory is short. */
bool vouch_os_pages_commit(void *pages, size_t bytes);
/* Gives the memory of whole reserved pages back, until the next commit. */
void vouch_os_pages_drop(void *pages, size_t bytes);
void vouch_os_pages_free(void *pages, size_t bytes); /* those taken or reserved together */
/* Asks for huge pages, where the system has any: only speed depends on them. */
void vouch_os_pages_join(void *pages, size_t bytes);
/* Memory at a multiple of `alignment`, a power of two. Only vouch_os_aligned_free frees it. */
void *vouch_os_aligned_take(size_t alignment, size_t bytes);
void vouch_os_aligned_free(void *block);
/* Most bytes that this process has held at once; 0: not known. */
int64_t vouch_os_memory_peak(void);
/* Bytes that programs can still take without pushing others out; -1: not known. */
int64_t vouch_os_memory_left(void);

/* --------------------------------------------------------------------- files */

enum {
    VOUCH_OS_NAME_SIZE = 1024, /* bytes of the longest name in a folder, with a NUL */
    VOUCH_OS_PATH_SIZE = 4096  /* bytes of the longest path, with a NUL */
};
typedef enum vouch_os_open_how {
    VOUCH_OS_READ = 1,
    VOUCH_OS_WRITE = 2,
    VOUCH_OS_CREATE = 4,   /* where there is no file of the name */
    VOUCH_OS_NEW = 8,      /* with CREATE: fails with EEXIST where there is one */
    VOUCH_OS_EMPTY = 16,   /* truncates the file to 0 bytes */
    VOUCH_OS_APPEND = 32,  /* writes go to the end */
    VOUCH_OS_NO_LINK = 64, /* fails with ELOOP where the name is a symbolic link */
    VOUCH_OS_NO_WAIT = 128 /* opening a pipe doesn't wait for its other end */
} vouch_os_open_how;
/* A descriptor for vouch_os_read, vouch_os_write, lseek and close. No program that this one starts gets it; bytes pass
 * unchanged. mode: permissions of a new file, less the process's mask. */
int vouch_os_open(const char *path, unsigned how, unsigned mode);
/* Like read and write, which may take part of the bytes: at most INT_MAX. Signal handlers may call them. */
ptrdiff_t vouch_os_read(int descriptor, void *bytes, size_t n);
ptrdiff_t vouch_os_write(int descriptor, const void *bytes, size_t n);

typedef enum vouch_os_kind {
    VOUCH_OS_FILE,
    VOUCH_OS_FOLDER,
    VOUCH_OS_LINK,
    VOUCH_OS_PIPE,
    VOUCH_OS_OTHER
} vouch_os_kind;
typedef struct vouch_os_info {
    vouch_os_kind kind;
    int64_t size;            /* bytes */
    int64_t modified;        /* nanoseconds since 1970 */
    uint64_t device, number; /* together they tell a file from all others */
    int64_t n_links;         /* names that it has; 0: it has been removed */
    unsigned mode;           /* permissions, 0 to 0777 */
} vouch_os_info;
bool vouch_os_info_of(const char *path, vouch_os_info *info);      /* of the file that a link leads to */
bool vouch_os_info_of_link(const char *path, vouch_os_info *info); /* of the link itself */
bool vouch_os_info_of_open(int descriptor, vouch_os_info *info);

/* Maps the first `size` bytes of a file for reading; size > 0. */
const unsigned char *vouch_os_file_map(int descriptor, size_t size);
void vouch_os_file_unmap(const unsigned char *bytes, size_t size);
/* Loads mapped pages now, so that a failing disk is an error here and no fault later. True also where the system can't
 * load pages on request. */
bool vouch_os_file_load(const unsigned char *pages, size_t size);
/* Gives the memory of whole mapped pages back. Reading them loads them again. */
void vouch_os_file_drop(const unsigned char *pages, size_t size);

typedef enum vouch_os_lock { VOUCH_OS_LOCKED, VOUCH_OS_LOCK_BUSY, VOUCH_OS_LOCK_FAILED } vouch_os_lock;
/* Locks a whole file for this descriptor until it is closed: another one of the same process has to wait, too. BUSY
 * only where it doesn't wait. */
vouch_os_lock vouch_os_file_lock(int descriptor, bool waits);
bool vouch_os_file_sync(int descriptor); /* on the disk when it returns */
/* Renames `from` to `to` at once: `to` is the old file or the new one. Windows may refuse it while a program has `to`
 * open or mapped. */
bool vouch_os_file_replace(const char *from, const char *to);
bool vouch_os_file_touch(const char *path); /* it was modified now */
bool vouch_os_remove(const char *path);     /* a file, or a link itself; no folder */
bool vouch_os_exists(const char *path);     /* follows links */
/* Whether this process may write the file, or create files in the folder. Windows tells of read-only files alone. */
bool vouch_os_may_write(const char *path);
bool vouch_os_file_set_mode(int descriptor, unsigned mode); /* Windows keeps the mode, and the result is true */
/* Opens a new file for writing. The last six characters of `name` are XXXXXX, which it replaces. */
int vouch_os_file_temporary(char *name);
/* Like pread. On Windows the descriptor's own offset moves until it returns, so no other thread may use it then. */
ptrdiff_t vouch_os_file_read_at(int descriptor, void *bytes, size_t n, int64_t offset);
/* Whether the descriptor is open for writing. Windows can't tell: there all are but standard input and closed ones. */
bool vouch_os_file_writable(int descriptor);
/* The mode of a new file: 0666 less the process's mask. */
unsigned vouch_os_new_mode(void);

/* mode: permissions less the process's mask; on Windows they come from the folder around it. */
bool vouch_os_folder_make(const char *path, unsigned mode);
bool vouch_os_folder_remove(const char *path); /* an empty one */
/* The names in a folder, sorted by their bytes, without . and .. The caller frees them with vouch_os_names_free. -1:
 * errno tells why. */
ptrdiff_t vouch_os_folder_list(const char *path, char ***names);
void vouch_os_names_free(char **names, ptrdiff_t n);
/* The path without links and dots; the caller frees it. NULL: errno tells why. */
char *vouch_os_path_resolve(const char *path);
/* Makes a symbolic link at `path`. It leads to the file `to`; a relative `to` starts at the link's folder. On Windows
 * it fails with EPERM unless the user has developer mode or the privilege for links. */
bool vouch_os_link_make(const char *to, const char *path);
/* Reads the target of a symbolic link and adds a NUL; Windows gives the path of the file at the end of all links. -1:
 * the path is not a symbolic link, or on Windows one that leads nowhere. */
ptrdiff_t vouch_os_link_read(const char *path, char *to, size_t size);
/* Bytes that are free on the disk of a folder; -1: errno tells why. */
int64_t vouch_os_disk_left(const char *folder);
/* The folder of this user, which lives as long as the process; NULL: not known. */
const char *vouch_os_home(void);
/* Puts / in place of the system's own mark between names, in a path that a user wrote. */
void vouch_os_path_tidy(char *path);

/* A stream into memory: write to it with stdio, then close it. *bytes has a NUL after its n bytes; the caller frees it.
 * The structure stays where it is between the calls. */
typedef struct vouch_os_stream {
    char *bytes;
    size_t n, room;
    FILE *file;
} vouch_os_stream;
FILE *vouch_os_stream_open(vouch_os_stream *stream);
/* False: memory was short, and there are no bytes. */
bool vouch_os_stream_close(vouch_os_stream *stream, char **bytes, size_t *n);

/* ------------------------------------------------------------------- threads */

/* Sleeps while *word is `old`. May return early. */
void vouch_os_wait(_Atomic unsigned *word, unsigned old);
/* Wakes all threads that sleep on the word. */
void vouch_os_wake(_Atomic unsigned *word);
/* Starts a thread that gets no signals but the faults that it causes itself. Its stack is as large as that of the main
 * thread, on macOS 8 MiB; there its quality-of-service class is user-initiated, or lower if this thread's is. False:
 * the system has no more threads. */
bool vouch_os_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);
/* From now on the calling thread leaves the processors to threads that compute, as far as the system can. */
void vouch_os_thread_stand_back(void);

/* ------------------------------------------------------- terminal and process */

/* Prepares the process; main calls it first. Opens descriptors 0 to 2 where they are closed, except on Windows, so that
 * no file gets one of these numbers later. A write to a pipe without a reader, or beyond the limit of a file's size,
 * fails instead of ending the process. A console shows UTF-8 and colours until the process ends. */
void vouch_os_start(void);
/* Ends the process without what `atexit` has registered. Signal handlers may call it. */
_Noreturn void vouch_os_exit(int status);
/* Whether the descriptor is a terminal that understands escape sequences, for colours and steps of the cursor. */
bool vouch_os_terminal_draws(int descriptor);
/* Columns of the terminal; 0: the descriptor is none, or its width isn't known. */
int vouch_os_terminal_columns(int descriptor);
/* Waits for standard input, a pipe, to have something to read, or to end. False: it hasn't after so many milliseconds.
 */
bool vouch_os_input_wait(int milliseconds);
/* Whether the reader of standard output has closed its end. Windows tells it only right after the write that failed, in
 * the same thread. */
bool vouch_os_output_gone(void);
/* Installs a handler for Ctrl-C, unless the parent process made this program ignore Ctrl-C. The handler may call only
 * async-signal-safe functions. reads: Ctrl-C also makes a blocked read return. */
void vouch_os_on_interrupt(void (*handler)(int), bool reads);
/* Between hold and resume no other thread is in that handler: on Windows, which runs it in a thread of its own.
 * Elsewhere the main thread runs it, and can't be in it when it calls them. */
void vouch_os_interrupt_hold(void);
void vouch_os_interrupt_resume(void);
/* Tells the service manager of Windows, where it has started this process, that the service starts; the first call of
 * vouch_os_end_wait tells that it runs. To be called before anything slow. Ending without a request is a failure. */
void vouch_os_service_start(void);
/* Requests to end the process (Ctrl-C, SIGTERM; on Windows also a closed console and the stop of a service) no longer
 * end it: vouch_os_end_wait takes them. Before any other thread starts. */
void vouch_os_end_collect(void);
/* Waits for a request to end. False: none has come after so many milliseconds; -1 waits without limit. */
bool vouch_os_end_wait(int milliseconds);
/* Installs a handler for reads of mapped pages that the system can't load, because another process has truncated the
 * file or the disk has failed (SIGBUS). Windows has no such handler. */
void vouch_os_on_lost_page(void (*handler)(int));
/* Bytes that the stack of the main thread may take; INT64_MAX: no limit, or not known. */
int64_t vouch_os_stack_limit(void);
/* Random bytes from the system. Never blocks. */
bool vouch_os_random(void *bytes, size_t n);

/* ------------------------------------------- functions that some systems lack */

/* Like qsort, with a context for the comparison. */
typedef int vouch_os_compare(const void *a, const void *b, void *context);
void vouch_os_sort(void *items, size_t n, size_t size, vouch_os_compare *compare, void *context);
/* Whether the text matches a pattern with * and ?. Ignores the case of ASCII letters. */
bool vouch_os_matches(const char *pattern, const char *text);
/* As in the C libraries of Linux and macOS. */
void *memmem(const void *bytes, size_t n, const void *part, size_t n_part);
char *strndup(const char *text, size_t n);
char *strcasestr(const char *text, const char *part);
ptrdiff_t getline(char **line, size_t *room, FILE *file);

#endif
