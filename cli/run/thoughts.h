/* SPDX-License-Identifier: MIT */
/*
 * Leaves thoughts, <think> to </think>, out of an answer that is written as it comes:
 *
 *   text of a step ──► SHOWN ──<think>──► HIDDEN ──</think>──► SKIPPING white space ──► SHOWN
 *
 * The end of a step's text may be the beginning of a marker; it is kept until the next step tells.
 */
#ifndef VOUCH_CLI_THOUGHTS_H
#define VOUCH_CLI_THOUGHTS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cli_thoughts_state { CLI_THOUGHTS_SHOWN, CLI_THOUGHTS_HIDDEN, CLI_THOUGHTS_SKIPPING } cli_thoughts_state;

typedef struct cli_thoughts {
    cli_thoughts_state state;
    char *text; /* [n] not yet written or dropped; owned */
    size_t n, capacity;
    char *out;       /* the result of the last call; owned */
    size_t n_hidden; /* bytes dropped so far, markers included */
} cli_thoughts;

/* Adds text and returns the part to write: *n_out bytes, valid until the next call. is_end: no more text comes, so
 * nothing is kept. NULL: not enough memory. */
const char *cli_thoughts_take(cli_thoughts *thoughts, const char *text, size_t n, bool is_end, size_t *n_out);
void cli_thoughts_free(cli_thoughts *thoughts);

#endif
