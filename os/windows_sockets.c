/* SPDX-License-Identifier: MIT */
/* Sockets of Windows (sockets.h). */
#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>

#include <ws2tcpip.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/sockets.h"

enum { MOST_WAITING = 512 }; /* connections that are not accepted yet */

/* Writes the words of Windows for an error, without the end of the line. */
static void explain(int reason, vouch_os_listening *got)
{
    wchar_t words[200] = L"";
    const DWORD n = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, (DWORD)reason, 0,
                                   words, (DWORD)(sizeof words / sizeof *words), NULL);
    if (n == 0 || !WideCharToMultiByte(CP_UTF8, 0, words, -1, got->error, sizeof got->error, NULL, NULL))
        snprintf(got->error, sizeof got->error, "error %d of Windows", reason);
    got->error[strcspn(got->error, "\r\n")] = '\0';
    if (reason == WSAEADDRINUSE)
        snprintf(got->error, sizeof got->error, "the address is in use; choose another port, or 0 for a free one");
}

/* Binds a new socket to the address. INVALID_SOCKET: WSAGetLastError tells why. Without EXCLUSIVEADDRUSE another
 * program could take the port, too. */
static SOCKET listen_on(const struct addrinfo *address)
{
    const BOOL yes = TRUE;
    u_long does_not_block = 1;
    const SOCKET s = WSASocketW(address->ai_family, SOCK_STREAM, IPPROTO_TCP, NULL, 0,
                                WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (s == INVALID_SOCKET) return s;
    setsockopt(s, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (const char *)&yes, sizeof yes);
    if (ioctlsocket(s, FIONBIO, &does_not_block) == 0 && bind(s, address->ai_addr, (int)address->ai_addrlen) == 0 &&
        listen(s, MOST_WAITING) == 0)
        return s;
    const int reason = WSAGetLastError();
    closesocket(s);
    WSASetLastError(reason);
    return INVALID_SOCKET;
}

bool vouch_os_listen(const char *host, int32_t port, vouch_os_listening *got)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found = NULL;
    struct sockaddr_storage bound;
    int n_bound = sizeof bound;
    char number[16], address[INET6_ADDRSTRLEN] = "";
    WSADATA data;
    *got = (vouch_os_listening){.socket = -1};
    snprintf(number, sizeof number, "%d", port);
    int failed = WSAStartup(MAKEWORD(2, 2), &data);
    if (!failed) failed = getaddrinfo(host, number, &hints, &found);
    if (failed) {
        explain(failed, got);
        return false;
    }
    const SOCKET s = listen_on(found);
    freeaddrinfo(found);
    if (s == INVALID_SOCKET) {
        explain(WSAGetLastError(), got);
        return false;
    }
    got->socket = (vouch_os_socket)s;
    if (getsockname(s, (struct sockaddr *)&bound, &n_bound) == 0 &&
        getnameinfo((struct sockaddr *)&bound, n_bound, address, sizeof address, number, sizeof number,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        got->port = (int32_t)strtol(number, NULL, 10);
    got->is_loopback = strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
    return true;
}

void vouch_os_socket_close(vouch_os_socket socket)
{
    closesocket((SOCKET)socket);
}

void vouch_os_socket_shut(vouch_os_socket socket)
{
    shutdown((SOCKET)socket, SD_BOTH);
}

bool vouch_os_socket_gone(vouch_os_socket socket)
{
    WSAPOLLFD asked = {.fd = (SOCKET)socket};
    return WSAPoll(&asked, 1, 0) > 0 && (asked.revents & (POLLHUP | POLLERR)) != 0;
}

/* Windows doesn't tell what the other end has received. */
ptrdiff_t vouch_os_socket_push(vouch_os_socket socket, const vouch_os_part *parts, size_t n_parts)
{
    (void)socket;
    (void)parts;
    (void)n_parts;
    return -1;
}
