/* SPDX-License-Identifier: MIT */
/*
 * One answer: the prompt is read, steps follow until the model, a limit or Ctrl-C ends it. Text leaves
 * for standard output as it comes; every step may also be traced.
 */
#ifndef VOUCH_CLI_ANSWER_H
#define VOUCH_CLI_ANSWER_H

#include <jansson.h>

#include "common/prompt.h"

typedef struct cli_reply {
    vouch_finish finish; /* NONE where it was interrupted or failed */
    bool interrupted;
    int64_t cycles; /* counted on by each answer */
    json_t *trace;  /* array to which each cycle is added, or NULL */
    char *text;     /* [n_text] and a NUL: what was written, of the latest answer */
    size_t n_text, capacity;
} cli_reply;

/* Zeroed, ready for the first answer; a trace only where the options ask for both of trace and JSON. */
cli_reply cli_reply_new(const cli_options *options);
void cli_reply_free(cli_reply *reply);

/* Ctrl-C is no failure: `interrupted` is set. Errors: those of vouch_session_prompt and _step, IO where
 * standard output fails, MEMORY. */
vouch_status cli_answer(cli_engine *engine, const cli_tokens *prompt, cli_reply *reply, vouch_error *err);

/* "eos", "stop", "length", "context", "interrupted". */
const char *cli_reply_finish(const cli_reply *reply);

#endif
