/* SPDX-License-Identifier: MIT */
/* What common_sockets.c asks of the system's own file. */
#ifndef VOUCH_OS_COMMON_SOCKETS_H
#define VOUCH_OS_COMMON_SOCKETS_H

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>

#include <ws2tcpip.h>
typedef SOCKET vouch_os_native_socket;
#else
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
typedef int vouch_os_native_socket;
#endif

#include "os/sockets.h"

enum { VOUCH_OS_MOST_WAITING = 512 }; /* connections that are not accepted yet */

/* Like getaddrinfo. False: got->error tells why. */
bool vouch_os_address_find(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found,
                           vouch_os_listening *got);
/* Opens a socket that listens on the address, and sets got->socket to it. False: got->error tells why. */
bool vouch_os_address_listen(const struct addrinfo *address, vouch_os_listening *got);

#endif
