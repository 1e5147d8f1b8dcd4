/* SPDX-License-Identifier: MIT */
/*
 * What a command works with: models and a session, opened as the options say, with progress on a
 * terminal and a complaint on failure.
 */
#ifndef VOUCH_CLI_ENGINE_H
#define VOUCH_CLI_ENGINE_H

#include "common/options.h"

/* Exit statuses, the same for every command. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_WRONG_USAGE = 2 };

/* Of two steps that were both taken, whatever became of the first. */
static inline int cli_first_failure(int first, int second)
{
    return first ? first : second;
}

typedef struct cli_engine {
    const cli_options *options;
    vouch_model *model, *draft; /* draft: NULL unless one was given */
    int32_t *draft_head;        /* [n_draft_head] of --draft-head */
    size_t n_draft_head;
    vouch_session *session;     /* NULL until cli_engine_start */
    double load_seconds;
} cli_engine;

/* Opens the target and, where one is given, the draft model, which has to fit. Returns an exit status; a failure has
 * been complained about, and cli_engine_close is due in any case. */
int cli_engine_open(cli_engine *engine, const cli_options *options);
/* The target alone, without its weights. */
int cli_engine_open_text(cli_engine *engine, const cli_options *options);
/* The draft model and its head. */
void cli_engine_speculate(const cli_engine *engine, vouch_speculation *speculation);
/* Opens the session. Bad values that only the model could tell are wrong usage. */
int cli_engine_start(cli_engine *engine, const vouch_session_options *session);
void cli_engine_close(cli_engine *engine);

/* As the library's. CANCELLED, too, where Ctrl-C cancels and has come. */
vouch_status cli_session_prompt(vouch_session *session, const int32_t *tokens, size_t n_tokens, vouch_error *err);
vouch_status cli_session_step(vouch_session *session, vouch_step *step, vouch_error *err);

/* Complains, of CANCELLED as "interrupted"; CLI_FAILED. The second names the flag that led there, unless it is NULL. */
int cli_engine_fail(const vouch_error *err);
int cli_flag_fail(const char *flag, const vouch_error *err);

#endif
