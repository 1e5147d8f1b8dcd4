/* SPDX-License-Identifier: MIT */
/*
 * The command. Each of these is one word after `vouch`, takes options that have been parsed and checked,
 * and returns an exit status; it has complained about a failure.
 *
 *   main    finds the command          options, flags   the command line, from one table
 *   run     one prompt                 engine, prompt   models, session, tokens
 *   chat    a conversation             answer, paint    the loop over steps, its text
 *   info, tokenize, perplexity         stats, trace     what happened
 *   bench, check, analyze              figures, costs   what follows from it
 *                                      probe            what models are tried with
 *                                      sheet, plot, json   reports
 *                                      sources          files that drafters learn from
 *                                      term, file, text the outside
 *
 * All of it sees the library through vouch.h only.
 */
#ifndef VOUCH_CLI_CLI_H
#define VOUCH_CLI_CLI_H

#include "answer.h"

int cli_run(const cli_options *options);
int cli_info(const cli_options *options);
int cli_tokenize(const cli_options *options);
int cli_perplexity(const cli_options *options);
int cli_bench(const cli_options *options);
int cli_check_run(const cli_options *options);
int cli_analyze(const cli_options *options);

/* The conversation of `run`, with a session already open. */
int cli_chat(cli_engine *engine, cli_reply *reply);

#endif
