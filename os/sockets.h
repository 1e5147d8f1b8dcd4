/* SPDX-License-Identifier: MIT */
/*
 * Sockets, as far as a server needs them. Only programs with a server link them, so the library needs no library for
 * sockets.
 *
 *   common_sockets.c    what all systems share
 *   posix_sockets.c     Linux and macOS
 *   windows_sockets.c   Windows
 */
#ifndef VOUCH_OS_SOCKETS_H
#define VOUCH_OS_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The system's own number of a socket; -1: none. */
typedef intptr_t vouch_os_socket;

typedef struct vouch_os_listening {
    vouch_os_socket socket;
    int32_t port;     /* the system's choice where 0 was asked for */
    bool is_loopback; /* only programs of this machine reach it */
    char error[200];  /* why there is no socket */
} vouch_os_listening;
/* Listens on the first address of the host, a name or an address, without blocking. False: `error` tells why. */
bool vouch_os_listen(const char *host, int32_t port, vouch_os_listening *got);
void vouch_os_socket_close(vouch_os_socket socket);
/* Ends the connection in both directions, so that whoever reads or writes it comes back. */
void vouch_os_socket_shut(vouch_os_socket socket);
/* Whether the other end has closed or reset the connection. */
bool vouch_os_socket_gone(vouch_os_socket socket);

typedef struct vouch_os_part {
    const void *bytes;
    size_t n;
} vouch_os_part;
enum { VOUCH_OS_MOST_PARTS = 4 };
/* Sends the parts one after the other without waiting, if the other end has received all that was sent before: then
 * Nagle's algorithm delays nothing. Returns how many bytes are sent. -1: none, also where the system can't tell what
 * has been received. */
ptrdiff_t vouch_os_socket_push(vouch_os_socket socket, const vouch_os_part *parts, size_t n_parts);

#endif
