/* SPDX-License-Identifier: MIT */
/* Sockets of Windows (sockets.h). */
#include <stdio.h>
#include <string.h>

#include "os/common_sockets.h"

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
        listen(s, VOUCH_OS_MOST_WAITING) == 0)
        return s;
    const int reason = WSAGetLastError();
    closesocket(s);
    WSASetLastError(reason);
    return INVALID_SOCKET;
}

bool vouch_os_address_find(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found,
                           vouch_os_listening *got)
{
    WSADATA data;
    int failed = WSAStartup(MAKEWORD(2, 2), &data);
    if (!failed) failed = getaddrinfo(host, port, hints, found);
    if (failed) explain(failed, got);
    return !failed;
}

bool vouch_os_address_listen(const struct addrinfo *address, vouch_os_listening *got)
{
    const SOCKET s = listen_on(address);
    if (s == INVALID_SOCKET) explain(WSAGetLastError(), got);
    else got->socket = (vouch_os_socket)s;
    return s != INVALID_SOCKET;
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
