/* SPDX-License-Identifier: MIT */
/* Sockets of Linux and macOS (sockets.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/common_sockets.h"
#include "os/posix.h"

/* Binds a new socket to the address. -1: errno tells why. */
static int listen_on(const struct addrinfo *address)
{
    const int one = 1, fd = socket(address->ai_family, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, VOUCH_OS_MOST_WAITING) == 0) return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

bool vouch_os_address_find(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found,
                           vouch_os_listening *got)
{
    const int failed = getaddrinfo(host, port, hints, found);
    if (failed) snprintf(got->error, sizeof got->error, "%s", gai_strerror(failed));
    return !failed;
}

bool vouch_os_address_listen(const struct addrinfo *address, vouch_os_listening *got)
{
    got->socket = listen_on(address);
    if (got->socket >= 0) return true;
    snprintf(got->error, sizeof got->error, "%s%s", strerror(errno),
             errno == EADDRINUSE ? "; choose another port, or 0 for a free one" : "");
    return false;
}

void vouch_os_socket_close(vouch_os_socket socket)
{
    close((int)socket);
}

void vouch_os_socket_shut(vouch_os_socket socket)
{
    shutdown((int)socket, SHUT_RDWR);
}

ptrdiff_t vouch_os_socket_push(vouch_os_socket socket, const vouch_os_part *parts, size_t n_parts)
{
    struct iovec vectors[VOUCH_OS_MOST_PARTS];
    if (n_parts > VOUCH_OS_MOST_PARTS || vouch_os_socket_unread((int)socket) != 0) return -1;
    for (size_t i = 0; i < n_parts; i++) vectors[i] = (struct iovec){(void *)(uintptr_t)parts[i].bytes, parts[i].n};
    const struct msghdr message = {.msg_iov = vectors, .msg_iovlen = (int)n_parts};
    return sendmsg((int)socket, &message, MSG_DONTWAIT);
}
