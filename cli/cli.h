/* SPDX-License-Identifier: MIT */
/*
 * The command. Each of these is one word after `vouch`, takes options that have been parsed and checked,
 * and returns an exit status; it has complained about a failure.
 *
 *   main.c       finds the command; info, tokenize, perplexity: the small ones
 *   run/         one prompt, or a conversation; what happened
 *   bench/       passes, and answers compared
 *   check/       the laws, tried
 *   analyze/     how well two models fit
 *   common/      options, models, prompts, reports, the outside: what all of them use
 *
 * A room includes itself and common/, and sees the library through vouch.h only.
 */
#ifndef VOUCH_CLI_CLI_H
#define VOUCH_CLI_CLI_H

#include "common/prompt.h"

int cli_run(const cli_options *options);
int cli_info(const cli_options *options);
int cli_tokenize(const cli_options *options);
int cli_perplexity(const cli_options *options);
int cli_bench(const cli_options *options);
int cli_check_run(const cli_options *options);
int cli_analyze(const cli_options *options);

#endif
