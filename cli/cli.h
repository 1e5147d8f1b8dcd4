/* SPDX-License-Identifier: MIT */
/*
 * The command `vouch`. The first word names one of the functions below. Each takes options that main.c has parsed and
 * checked, prints its own complaint when it fails, and returns an exit status.
 *
 *   main.c       finds the command; info, tokenize, perplexity, logits and quantize are small enough to stand beside it
 *   manual.c     writes manual page and shell completions from the tables that help comes from
 *   run/         answers one prompt or holds a conversation, and prints statistics
 *   batch/       answers many prompts in shared passes
 *   serve.c      answers over HTTP; the server itself is a room of its own (server/)
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

typedef struct cli_command {
    const char *name;
    unsigned bit; /* CLI_RUN, ... */
    bool chat;    /* as if --chat were given */
    int (*run)(const cli_options *options);
    const char *summary;  /* one line */
    const char *usage;    /* lines, each "vouch NAME ..." */
    const char *about;    /* paragraphs, or "" */
    const char *examples; /* lines, each "vouch NAME ..." */
} cli_command;

/* Write the manual page (roff), or the completion for "bash", "zsh" or "fish". False: the shell is another. */
void cli_manual_write(const cli_command *commands, size_t n, FILE *stream);
bool cli_completion_write(const cli_command *commands, size_t n, const char *shell, FILE *stream);

int cli_run(const cli_options *options);
int cli_info(const cli_options *options);
int cli_tokenize(const cli_options *options);
int cli_perplexity(const cli_options *options);
int cli_logits(const cli_options *options);
int cli_quantize(const cli_options *options);
int cli_convert(const cli_options *options);
int cli_distill(const cli_options *options);
int cli_batch(const cli_options *options);
int cli_serve(const cli_options *options);
int cli_bench(const cli_options *options);
int cli_check_run(const cli_options *options);
int cli_analyze(const cli_options *options);

#endif
