/* SPDX-License-Identifier: MIT */
/*
 * One answer: the session reads the prompt, then takes steps until the model, a limit or Ctrl-C ends the answer. Each
 * step writes its text to standard output at once, and its trace where the options ask for one.
 */
#ifndef VOUCH_CLI_ANSWER_H
#define VOUCH_CLI_ANSWER_H

#include <jansson.h>

#include "model/prompt.h"

typedef struct cli_reply {
    vouch_finish finish; /* NONE: the answer was interrupted or failed */
    bool interrupted;
    int64_t cycles;                    /* of all answers so far */
    double seconds, processor_seconds; /* of all steps so far: by the clock, and of a processor that ran this thread */
    json_t *trace;                     /* array of all cycles so far, or NULL */
    char *text;                        /* [n_text] and a NUL: the latest answer */
    size_t n_text, capacity;
    size_t n_hidden; /* bytes of thoughts that --think hide left out, of all answers */
} cli_reply;

/* A reply before the first answer. It keeps a trace where the options ask for both --trace and --stats-json. */
cli_reply cli_reply_new(const cli_options *options);
void cli_reply_free(cli_reply *reply);

/* Ctrl-C is no failure, but sets `interrupted`. Errors: those of vouch_session_prompt and vouch_session_step; IO where
 * writing to standard output fails; MEMORY. */
vouch_status cli_answer(cli_engine *engine, const cli_tokens *prompt, cli_reply *reply, vouch_error *err);

#endif
