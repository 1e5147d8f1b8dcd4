/* SPDX-License-Identifier: MIT */
/* The command line of a measuring program, by the command's own table of flags, messages and help. */
#ifndef VOUCH_BENCH_ARGUMENTS_H
#define VOUCH_BENCH_ARGUMENTS_H

#include "common/flags.h"

typedef struct bench_command {
    const char *name, *usage, *examples; /* examples may be NULL */
    const cli_flag *flags; /* one of them is the switch "help" */
    size_t n_flags;
} bench_command;

/* The row for it; the caller's struct begins with a bool for the switch. */
#define BENCH_HELP                                                                                           \
    {                                                                                                        \
        "help", NULL, 'h', CLI_FLAG_SWITCH, 0, NULL, NULL, 1, "Help", "this text", NULL, NULL                \
    }

/* Fills `values`, which holds the defaults. Does not return after a complaint (exit status 2) or the help
 * (0). */
void bench_arguments_parse(const bench_command *command, int argc, char **argv, void *values);

#endif
