/* SPDX-License-Identifier: MIT */
/*
 * Requests to the hub and to the servers that it sends one to.
 *
 *   redirects   followed by hand, at most 8, never from https to http. The token goes to the hub's own host and port
 *   failures    a cut, a 429 or a 5xx is tried again, after a wait that the server names or that doubles; 5 failures
 *               without 1 MiB of progress between them end it
 *   files       continued where they end on disk, through Range; a server without ranges sends all anew. Where no
 *               digest is known, only if the server's file is the same as before (origin.h), in a later run as in a
 *               retry: the part carries the validator of the first answer
 *   digests     of all bytes, also of those from earlier runs. Wrong bytes are fetched once more, from the beginning
 *
 * Every error is one sentence that names what was asked for, where, and the cause.
 */
#ifndef VOUCH_CLI_HUB_TRANSFER_H
#define VOUCH_CLI_HUB_TRANSFER_H

#include <stdint.h>

#include "hub/places.h"

typedef struct hub_client hub_client;

/* places must outlive the client. Errors: MEMORY, UNSUPPORTED (HF_HUB_OFFLINE, a build without libcurl). */
vouch_status hub_client_open(hub_client **out, const hub_places *places, vouch_error *err);
void hub_client_close(hub_client *client); /* NULL is allowed */

/* The body of an answer, at most 64 MiB, with a NUL after it; the caller's. what: for messages, such as
 * "Qwen/Qwen3-4B-GGUF". Errors: IO, ARGUMENT (there is no such thing, or a token is needed), MEMORY. */
vouch_status hub_get(hub_client *client, const char *address, const char *what, char **body, size_t *n_body,
                     vouch_error *err);

/* How a file has to begin: with "GGUF", with the header of safetensors, with a '{' or '['. */
typedef enum hub_content { HUB_ANY_BYTES, HUB_GGUF, HUB_SAFETENSORS, HUB_JSON } hub_content;

typedef struct hub_download {
    const char *address;
    const char *what;   /* for messages and progress, such as "Qwen3-4B-Q4_K_M.gguf" */
    const char *path;   /* the file to fill or to continue, best under a name that says that it isn't whole */
    int64_t size;       /* bytes; -1: the server says */
    const char *digest; /* 64 hexadecimal digits: SHA-256; 40: git's SHA-1; NULL: the server may say it */
    const char *origin; /* path of the record of which file of the server `path` has bytes of (origin.h), where digest
                           is NULL; else NULL. The caller removes it after success */
    hub_content content;
} hub_download;

/* Fills d->path, checks size and digest, and flushes it to the disk. Errors: as above; on IO the file stays, so that
 * the next run goes on. FORMAT: other content came. A path that is a link is never followed. */
vouch_status hub_download_run(hub_client *client, const hub_download *d, vouch_error *err);

#endif
