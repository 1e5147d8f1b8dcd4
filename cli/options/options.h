/* SPDX-License-Identifier: MIT */
/*
 * The command line (option_table.h), parsed, checked and resolved once. Only a conversation changes it afterwards
 * (cli_option_change).
 */
#ifndef VOUCH_CLI_OPTIONS_H
#define VOUCH_CLI_OPTIONS_H

#include "options/option_checks.h"

typedef struct cli_command {
    const char *name;
    unsigned bit; /* CLI_RUN, ... */
    bool chat;    /* as if --chat were given */
    int (*run)(const cli_options *options);
    cli_command_check *check; /* of its flags, before --model is asked for; NULL: none */
    cli_command_check *needs; /* of what it can't do without, after that; NULL: nothing */
    const char *summary;      /* one line */
    const char *usage;        /* lines, each "vouch NAME ..." */
    const char *about;        /* paragraphs, or "" */
    const char *examples;     /* lines, each "vouch NAME ..." */
} cli_command;

/* Parses and checks the arguments after the command's name. Prints a complaint and returns false at the first mistake.
 * Call cli_options_free in both cases. */
bool cli_options_parse(cli_options *options, const cli_command *command, int argc, char **argv);
/* Name i of an option that a running conversation can change; NULL past the last. */
const char *cli_option_name(size_t i);
/* Has the option an effect beside the others? */
bool cli_option_applies(const cli_options *options, const char *name);
/* The option's value as text. */
const char *cli_option_text(const cli_options *options, const char *name, char text[TOOL_FLAG_VALUE]);
/* Sets an option by a name of cli_option_name, or by the alias or letter of its flag. Returns the option's name; NULL
 * where it printed a complaint and changed nothing. */
const char *cli_option_change(cli_options *options, const char *name, const char *value);
/* Does vouch bring a chat template of this name? */
bool cli_template_is_known(const char *name);
#define CLI_NAME(constant, name, summary) #name ","
enum { CLI_DRAFTERS_SIZE = sizeof(VOUCH_DRAFTER_LIST(CLI_NAME)) }; /* all drafters */
#undef CLI_NAME
/* "ngram,recycle": a set of VOUCH_DRAFTER_ bits in the words of --spec. */
const char *cli_spec_text(unsigned drafters, char text[CLI_DRAFTERS_SIZE]);
/* Context length that the measurements of `vouch bench` need. */
int32_t cli_bench_room(const cli_options *options);
void cli_options_free(cli_options *options);
enum { CLI_SPEC_SIZE = 96 };
/* The name of drafter i in --spec; writes to `text` what the drafter does and needs. NULL past the last drafter, and
 * for a command without --spec. */
const char *cli_spec_word(unsigned command, int i, char text[CLI_SPEC_SIZE]);
void cli_options_help(unsigned command, FILE *stream);

#endif
