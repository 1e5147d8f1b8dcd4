/* SPDX-License-Identifier: MIT */
/* Requests to a server, several at once. A reply is bounded in bytes and in time; redirects are reported, not followed.
 */
#ifndef VOUCH_CLI_CHECK_CLIENT_H
#define VOUCH_CLI_CHECK_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "vouch.h"

enum { ASK_MOST_REPLY = 8 << 20, ASK_WHY_SIZE = 256, ASK_MOST_AT_ONCE = 16 };

typedef struct ask_client ask_client;

typedef struct ask_request {
    const char *address; /* "http://host:8080/v1/models" */
    const char *body;    /* JSON; NULL: GET */
} ask_request;

typedef struct ask_reply {
    long status; /* of HTTP; 0: none came */
    char *body;  /* [n] with a NUL after it, never NULL after success of ask_client_ask */
    size_t n;
    char why[ASK_WHY_SIZE]; /* why there is no whole reply; "": there is one, of whichever status */
    bool is_gone;           /* no connection, or no whole reply in time: asking more is of no use */
} ask_reply;

/* key: sent as a bearer token; NULL or "": none. seconds: for a whole reply. tick(user) is called at least ten times a
 * second while a reply is awaited; false ends the wait. Errors: MEMORY, ARGUMENT (SSL_CERT_FILE), UNSUPPORTED (a build
 * without libcurl). */
typedef bool ask_tick(void *user);
vouch_status ask_client_open(ask_client **out, const char *key, double seconds, ask_tick *tick, void *user,
                             vouch_error *err);
void ask_client_close(ask_client *client); /* NULL is allowed */

/* Sends n <= ASK_MOST_AT_ONCE requests at once and waits for all replies, which the caller frees. A failed request is
 * no error: its reply says why. Errors: MEMORY, CANCELLED. */
vouch_status ask_client_ask(ask_client *client, const ask_request *requests, ask_reply *replies, size_t n,
                            vouch_error *err);
void ask_replies_free(ask_reply *replies, size_t n);

#endif
