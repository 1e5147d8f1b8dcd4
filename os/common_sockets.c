/* SPDX-License-Identifier: MIT */
/* What all systems share of sockets (sockets.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/common_sockets.h"

bool vouch_os_listen(const char *host, int32_t port, vouch_os_listening *got)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found = NULL;
    struct sockaddr_storage bound;
    socklen_t n_bound = sizeof bound;
    char number[16], address[INET6_ADDRSTRLEN] = "";
    *got = (vouch_os_listening){.socket = -1};
    snprintf(number, sizeof number, "%d", port);
    if (!vouch_os_address_find(host, number, &hints, &found, got)) return false;
    const bool listens = vouch_os_address_listen(found, got);
    freeaddrinfo(found);
    if (!listens) return false;
    if (getsockname((vouch_os_native_socket)got->socket, (struct sockaddr *)&bound, &n_bound) == 0 &&
        getnameinfo((struct sockaddr *)&bound, n_bound, address, sizeof address, number, sizeof number,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        got->port = (int32_t)strtol(number, NULL, 10);
    got->is_loopback = strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
    return true;
}
