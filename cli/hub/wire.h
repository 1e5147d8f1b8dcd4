/* SPDX-License-Identifier: MIT */
/* What all requests of the command by libcurl have in common. */
#ifndef VOUCH_CLI_HUB_WIRE_H
#define VOUCH_CLI_HUB_WIRE_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "vouch.h"

/* A handle, for curl_easy_cleanup. Errors: MEMORY. */
vouch_status hub_wire_open(CURL **out, vouch_error *err);
/* Clears the handle's options and sets those of every request: address, HTTP alone, redirects aren't followed, no
 * signals, vouch's name, `timeout` seconds for a connection, certificates ("": the system's). */
void hub_wire_begin(CURL *curl, const char *address, long timeout, const char *certificates);

/* The body of an answer. The caller frees the bytes, which have a NUL after them. */
typedef struct hub_body {
    char *bytes; /* [n]; NULL: nothing has come */
    size_t n, capacity;
} hub_body;
/* Appends n bytes. False: not enough memory. */
bool hub_body_add(hub_body *body, const char *bytes, size_t n);

#endif
