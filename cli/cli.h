/* SPDX-License-Identifier: MIT */
/*
 * The command `vouch`. The first word names one of the functions below. Each takes options that main.c has parsed and
 * checked, prints its own complaint when it fails, and returns an exit status.
 *
 *   main.c       finds the command; info, tokenize, perplexity, logits and quantize are small enough to stand beside it
 *   manual.c     writes manual page and shell completions from the tables that help comes from
 *   run/         answers one prompt or holds a conversation, and prints statistics
 *   batch/       answers many prompts in shared passes
 *   serve/       answers over HTTP; the server itself is a room of its own (server/)
 *   distill/     teaches a head; the work is done in train/
 *   bench/       measures passes, and answers with and without speculation
 *   check/       checks the laws
 *   analyze/     compares a draft model with its target
 *   common/      what several rooms use: options, models, prompts, reports, terminal, files
 *
 * A room includes its own files and common/. It sees the library through vouch.h only.
 */
#ifndef VOUCH_CLI_CLI_H
#define VOUCH_CLI_CLI_H

#include "model/prompt.h"
#include "options/options.h"

/* Write the manual page (roff), or the completion for "bash", "zsh" or "fish". False: the shell is another. */
void cli_manual_write(const cli_command *commands, size_t n, FILE *stream);
bool cli_completion_write(const cli_command *commands, size_t n, const char *shell, FILE *stream);

cli_command_check cli_run_check, cli_batch_check, cli_serve_check, cli_tokenize_check, cli_perplexity_check,
    cli_logits_check, cli_quantize_check, cli_distill_check, cli_info_check, cli_check_check, cli_bench_check,
    cli_analyze_check, cli_pull_needs, cli_rm_needs, cli_memory_needs;

/* Each returns an exit status, and prints its own complaint. */
#define CLI_COMMAND_RUN(constant, name) int cli_##name##_run(const cli_options *options);
CLI_COMMAND_LIST(CLI_COMMAND_RUN)
#undef CLI_COMMAND_RUN

#endif
