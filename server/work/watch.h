/* SPDX-License-Identifier: MIT */
/*
 * Watches what libmicrohttpd doesn't, in one thread:
 *
 *   - the sockets of requests that wait for a model. A connection is suspended meanwhile, and libmicrohttpd wouldn't
 *     notice that its client has gone
 *   - the time of the next ping of a stream, and connections that libmicrohttpd forgot
 *   - the deadline of each connection. libmicrohttpd's own timeout begins anew with each byte, so a client that sends a
 *     byte every few seconds would stay for ever
 */
#ifndef VOUCH_SERVER_WATCH_H
#define VOUCH_SERVER_WATCH_H

#include <stdbool.h>

#include "os/sockets.h"

typedef struct server_watch server_watch;

/* A watched socket, which its owner's struct contains. Both functions are called in the watching thread. */
typedef struct server_watched {
    vouch_os_socket socket;
    void (*gone)(void *user); /* the client has closed or reset the connection; called once */
    void (*tick)(void *user); /* every 50 ms */
    void *user;
    bool is_watched, was_gone; /* set by the watch */
    struct server_watched *next, *before;
} server_watched;

/* NULL: memory is short, or the system gives no more threads. */
server_watch *server_watch_open(void);
void server_watch_close(server_watch *watch); /* NULL is allowed; nothing is watched any more */

void server_watch_add(server_watch *watch, server_watched *watched);
/* When it returns, no function of `watched` runs or will run. Does nothing where `watched` isn't watched. */
void server_watch_remove(server_watch *watch, server_watched *watched);

/* A connection's deadline, which any thread may move. */
typedef struct server_deadline server_deadline;

/* The watch shuts the socket down after `seconds`, and libmicrohttpd then ends the connection. NULL: memory is
 * short. */
server_deadline *server_deadline_open(server_watch *watch, vouch_os_socket socket, double seconds);
void server_deadline_set(server_deadline *deadline, double seconds); /* from now; INFINITY: none */
void server_deadline_extend(server_deadline *deadline, double seconds);
/* Call it before the socket is closed. NULL is allowed. */
void server_deadline_close(server_watch *watch, server_deadline *deadline);

#endif
