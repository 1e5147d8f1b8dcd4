/* SPDX-License-Identifier: MIT */
/*
 * Checks of a command line (options.c): flags that contradict each other, files that are read or written twice, what a
 * command needs. Each check prints a complaint about the first mistake and returns false.
 *
 *   option_files.c      files that are read and written
 *   option_drafters.c   drafters, and flags that belong to some of them
 *   option_asking.c     prompts, answers and sampling
 */
#ifndef VOUCH_CLI_OPTION_CHECKS_H
#define VOUCH_CLI_OPTION_CHECKS_H

#include "options/option_table.h"

/* The text of each flag that was given, by its number in cli_option_table; NULL: not given. */
typedef const char *cli_given[CLI_MOST_FLAGS];

static inline const tool_flag *cli_flag_at(size_t i)
{
    return &cli_option_table()->flags[i];
}

/* The row of a flag that was given, or NULL. */
const tool_flag *cli_given_find(cli_given given, const char *name);

/* Whether --json is the only flag beside this one, which takes no model; otherwise prints a complaint. */
bool cli_given_stands_alone(cli_given given, const char *name);

/* Drafters that a flag belongs to: it gives what they need, or sets how they draft. A set of VOUCH_DRAFTER_ bits. */
unsigned cli_drafters_taking(const char *name);
/* Whether the command has a draft memory: a conversation, batch and serve have one, unless its size is 0. */
bool cli_remembers(const cli_options *options);
/* Drafters whose model, file, grammar or memory the command line gives. */
unsigned cli_drafters_given(const cli_options *options, cli_given given);

bool cli_check_files(cli_options *options, cli_given given);
/* Resolves "auto" in speculation.drafters, and checks that the models and files of all drafters are there. */
bool cli_check_drafters(cli_options *options);
/* `/set spec TEXT`: false with a complaint where a drafter needs a file that was not given at the start. */
bool cli_check_set_spec(const cli_options *options, const char *text);
/* Refuses flags that the drafters in use would ignore. */
bool cli_check_effects(cli_options *options, cli_given given);
/* Both of them, for a command with a single --spec. */
bool cli_check_speculation(cli_options *options, cli_given given);
/* Flags about prompts, answers and sampling; hands what they say to the library's options. */
bool cli_check_asking(cli_options *options, cli_given given);
/* The checks of one command, which stand beside it: flags that contradict each other, flags that are missing. */
typedef bool cli_command_check(cli_options *options, cli_given given);

/* Draws a seed of 32 bits, short enough to be typed again. */
uint64_t cli_seed_draw(void);

#endif
