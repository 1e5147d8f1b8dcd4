/* SPDX-License-Identifier: MIT */
/* What posix.c asks of the system's own file. */
#ifndef VOUCH_OS_POSIX_H
#define VOUCH_OS_POSIX_H

#include <pthread.h>
#include <sys/stat.h>

#include "os/os.h"

/* When the file was changed last, in nanoseconds since 1970. */
int64_t vouch_os_modified(const struct stat *found);
/* Adds what a new thread needs beside the defaults. */
void vouch_os_thread_prepare(pthread_attr_t *attributes);
/* Bytes that the other end of a connection has not received yet; -1: not known. */
int vouch_os_socket_unread(int descriptor);

/* Appends the bytes to a stream in memory, and puts a NUL after them. Returns false if memory is short. */
bool vouch_os_stream_put(vouch_os_stream *stream, const char *bytes, size_t n);
/* Opens a file whose writes are calls of vouch_os_stream_put. NULL: memory is short. */
FILE *vouch_os_stream_file(vouch_os_stream *stream);

#endif
