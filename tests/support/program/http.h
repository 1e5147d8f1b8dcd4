/* SPDX-License-Identifier: MIT */
/* `vouch serve` as a child process, and a plain HTTP client on sockets. Any thread may send requests. Only those
 * that start and stop the server fail the test. */
#ifndef VOUCH_TESTS_HTTP_H
#define VOUCH_TESTS_HTTP_H

#include <jansson.h>

#include "support/program/command.h"

typedef struct http_server {
    pid_t child;
    int port;
    char out[256], err[256]; /* paths of its output */
} http_server;

/* Starts `vouch serve --port 0 ARGUMENTS` and waits until it listens; the arguments end with NULL. */
http_server http_server_start(const char *const *arguments);
/* The two steps of it, where the server may fail. false: it ended, and http_server_stop gives its exit status. */
http_server http_server_begin(const char *const *arguments);
bool http_server_listens(http_server *server);
/* Returns the signal that asks a server to end: SIGTERM, or SIGINT with Wine, which ends a program at once on SIGTERM.
 */
int http_end_signal(void);
/* Sends the signal (SIGTERM: http_end_signal) and returns the exit status as in `result`. */
int http_server_stop(http_server *server, int signal);

typedef struct http_reply {
    int status; /* 0: the connection ended before a whole answer came */
    char *head; /* the lines before the body */
    char *body; /* [n] with a NUL after it; chunks are joined */
    size_t n;
} http_reply;

/* A connection, or -1. */
int http_connect(int port);
/* The same; the system keeps about n_buffer unread bytes. A buffer made smaller later delays TCP by seconds. */
int http_connect_small(int port, int n_buffer);
/* Sends all bytes; false: the connection has ended. */
bool http_send(int fd, const char *bytes, size_t n);
/* Reads to the end of the connection. */
http_reply http_read(int fd);
/* One request on a connection of its own. headers: lines that end with \r\n, or "". body: NULL for none. */
http_reply http_request(int port, const char *method, const char *path, const char *headers, const char *body);
/* POST without headers. */
http_reply http_post(int port, const char *path, const char *body);
void http_reply_free(http_reply *reply);

/* The body as JSON, the caller's; frees the reply. Fails the test if it is none. */
json_t *http_json(http_reply *reply);
/* The member of a JSON value at a path such as "choices.0.text"; NULL: there is none. */
json_t *http_at(json_t *value, const char *path);
/* The text at a path; "(nothing)": there is none. */
const char *http_text_at(json_t *value, const char *path);
/* The value of a metric whose line begins so; -1: it isn't there. */
double http_metric(const http_server *of, const char *name);
void http_wait_for_metric(const http_server *of, const char *name, double value);

/* The JSON values of the data lines of a stream, without [DONE]; *is_done: whether that came last. */
json_t *http_events(const http_reply *reply, bool *is_done);

#endif
