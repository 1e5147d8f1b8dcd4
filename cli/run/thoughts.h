/* SPDX-License-Identifier: MIT */
/*
 * Leaves thoughts out of an answer that is written as it comes. The chat template shows the marks around them, such as
 * <think> and </think>:
 *
 *   text of a step ──► SHOWN ──<think>──► HIDDEN ──</think>──► SKIPPING white space ──► SHOWN
 *
 * The end of a step's text may be the beginning of a mark; it is kept until the next step tells. Texts lack control
 * tokens, so those of the marks are put into them and taken out again.
 */
#ifndef VOUCH_CLI_THOUGHTS_H
#define VOUCH_CLI_THOUGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "vouch.h"

typedef enum cli_thoughts_state { CLI_THOUGHTS_SHOWN, CLI_THOUGHTS_HIDDEN, CLI_THOUGHTS_SKIPPING } cli_thoughts_state;

enum { CLI_THOUGHTS_CONTROLS = 8 };

typedef struct cli_thoughts {
    cli_thoughts_state state;
    const char *begin, *end;                 /* the marks */
    int32_t controls[CLI_THOUGHTS_CONTROLS]; /* [n_controls] control tokens of the marks */
    int32_t n_controls;
    size_t n_text, n_token_bytes; /* of the steps so far: their texts, and their tokens but for control tokens */
    char *text;                   /* [n] not yet written or dropped; owned */
    size_t n, capacity;
    char *out;       /* the result of the last call; owned */
    size_t n_hidden; /* bytes dropped so far, markers included */
} cli_thoughts;

/* Before an answer to prompt[n], which may have begun the thoughts. The model must outlive the thoughts. */
cli_thoughts cli_thoughts_of(const vouch_model *model, const int32_t *prompt, size_t n);
/* Adds a step's text and returns the part to write: *n_out bytes, valid until the next call. NULL: not enough
 * memory. */
const char *cli_thoughts_step(cli_thoughts *thoughts, const vouch_model *model, const vouch_step *step, size_t *n_out);
/* Adds text and returns the part to write: *n_out bytes, valid until the next call. is_end: no more text comes, so
 * nothing is kept. NULL: not enough memory. */
const char *cli_thoughts_take(cli_thoughts *thoughts, const char *text, size_t n, bool is_end, size_t *n_out);
void cli_thoughts_free(cli_thoughts *thoughts);

#endif
