/* SPDX-License-Identifier: MIT */
/*
 * The models and the session of a command, opened as the options say. Loading shows its progress; a failure prints a
 * complaint.
 */
#ifndef VOUCH_CLI_ENGINE_H
#define VOUCH_CLI_ENGINE_H

#include "options/options.h"

/* Exit statuses, the same for every command. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_WRONG_USAGE = 2 };

/* The status of two steps that both run, even where the first fails. */
static inline int cli_first_failure(int first, int second)
{
    return first ? first : second;
}

typedef struct cli_engine {
    const cli_options *options;
    vouch_model *model, *draft;              /* draft: NULL unless one was given */
    vouch_draft_file *files[VOUCH_DRAFTERS]; /* by drafter's number; likewise */
    bool is_paired;                          /* vouch found a drafter by itself (pairing.h) */
    int32_t *draft_vocab;                    /* [n_draft_vocab] ids in the file of --draft-vocab */
    size_t n_draft_vocab;
    vouch_grammar *grammar;     /* of --json, --json-schema, --regex or --grammar-file; NULL: none */
    char *grammar_text;         /* what it was made from */
    int grammar_kind;           /* its notation, and how its schemas are read */
    vouch_draft_memory *memory; /* NULL: the command has none */
    vouch_prompt_cache *cache;  /* of --prompt-cache; NULL: none. A server has one for all its engines */
    vouch_session *session;     /* NULL until cli_engine_start */
    double load_seconds;
} cli_engine;

/* Opens the target and, where they are given, the draft model, head or table that fits it. Prints its own
 * complaint; returns an exit status. Call cli_engine_close in any case. */
int cli_engine_open(cli_engine *engine, const cli_options *options);
/* As cli_engine_open, for the target alone and without its weights. */
int cli_engine_open_text(cli_engine *engine, const cli_options *options);
/* Opens its draft memory, if the command has one; cli_engine_open does so, too. Prints its own complaint; returns an
 * exit status. */
int cli_engine_open_memory(cli_engine *engine, const cli_options *options);
/* Sets the draft model with its vocabulary, the head and the table. */
void cli_engine_speculate(const cli_engine *engine, vouch_speculation *speculation);
/* Opens the session. A value that the model doesn't allow is wrong usage. */
int cli_engine_start(cli_engine *engine, const vouch_session_options *session);
/* Notes, once, that plain C computes because this build lacks vector kernels for this processor, unless --cpu asks for
 * it. For commands that run a model; cli_engine_open calls it. */
void cli_engine_note_plain(const cli_options *options);
/* Notes where --think has no effect, because the chat template doesn't ask. */
void cli_engine_check_think(const cli_engine *engine);
/* Opens the cache of --prompt-cache, if there is any. Prints its own complaint; returns an exit status. */
int cli_prompt_cache_open(vouch_prompt_cache **cache, const cli_options *options);
/* Complains, once, where records could not be written. */
void cli_prompt_cache_check(vouch_prompt_cache *cache);
/* Keeps the answers that are over, where --draft-memory says so. Prints its own complaint; returns an exit status. */
int cli_engine_keep(const cli_engine *engine);
/* --pooling, or what the model's file names. */
vouch_pooling cli_engine_pooling(const cli_engine *engine);
/* Tokens that the session's context holds. */
int32_t cli_engine_context(const cli_engine *engine);
void cli_engine_close(cli_engine *engine);

/* "eos", "stop", "length", "context"; of an answer that has not ended: "interrupted". */
const char *cli_finish_name(vouch_finish finish);

/* As vouch_session_prompt and vouch_session_step, but Ctrl-C cancels them (CANCELLED). */
vouch_status cli_session_prompt(vouch_session *session, const int32_t *tokens, size_t n_tokens, vouch_error *err);
vouch_status cli_session_step(vouch_session *session, vouch_step *step, vouch_error *err);

/* Print the error as a complaint and return CLI_FAILED; CANCELLED prints "interrupted". cli_flag_fail puts the flag in
 * front, unless it is NULL. */
int cli_engine_fail(const vouch_error *err);
int cli_flag_fail(const char *flag, const vouch_error *err);
/* The same before the command has begun: what a flag gives is refused. Returns CLI_WRONG_USAGE, and CLI_FAILED only
 * where memory is short or a signal came. */
int cli_flag_refuse(const char *flag, const vouch_error *err);

#endif
