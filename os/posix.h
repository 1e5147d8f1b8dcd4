/* SPDX-License-Identifier: MIT */
/* What posix.c asks of the system's own file. */
#ifndef VOUCH_OS_POSIX_H
#define VOUCH_OS_POSIX_H

#include <sys/stat.h>

#include "os/os.h"

/* Copies what `stat` has found. Always true. */
bool vouch_os_info_take(const struct stat *found, vouch_os_info *info);
/* Bytes that the other end of a connection has not received yet; -1: not known. */
int vouch_os_socket_unread(int descriptor);

#endif
