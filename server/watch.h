/* SPDX-License-Identifier: MIT */
/*
 * Watches the sockets of requests that wait for a model. libmicrohttpd doesn't look at a connection while it is
 * suspended, so it wouldn't notice that a client has gone. One thread waits for all sockets, and for the time of the
 * next ping.
 */
#ifndef VOUCH_SERVER_WATCH_H
#define VOUCH_SERVER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct server_watch server_watch;

/* A watched socket, a part of its owner. Both functions are called in the watching thread. */
typedef struct server_watched {
    int fd;
    void (*gone)(void *user); /* the client has closed or reset the connection; called once */
    void (*tick)(void *user); /* every so many seconds */
    void *user;
    uint64_t serial; /* the watch's; 0: not watched */
    double due;
    struct server_watched *next, *before;
} server_watched;

/* NULL: the system gives no more descriptors or threads. */
server_watch *server_watch_open(double tick_seconds);
void server_watch_close(server_watch *watch); /* NULL is allowed; nothing is watched any more */

void server_watch_add(server_watch *watch, server_watched *watched);
/* When it returns, no function of the watched runs, and none will. Harmless where it isn't watched. */
void server_watch_remove(server_watch *watch, server_watched *watched);

#endif
