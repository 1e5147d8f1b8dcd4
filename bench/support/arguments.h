/* SPDX-License-Identifier: MIT */
/* The command line of a benchmark. The parser, its messages and the help are those of the vouch command
 * (tool/flags.h). */
#ifndef VOUCH_BENCH_ARGUMENTS_H
#define VOUCH_BENCH_ARGUMENTS_H

#include "tool/flags.h"

typedef struct bench_command {
    const char *name, *usage, *examples; /* examples may be NULL */
    const tool_flag *flags;              /* they include BENCH_HELP */
    size_t n_flags;
} bench_command;

/* The table's row for --help. The caller's struct begins with a bool for it. */
#define BENCH_HELP                                                                                           \
    {                                                                                                        \
        "help", NULL, 'h', TOOL_FLAG_SWITCH, 0, NULL, NULL, 1, "Help", "this text", NULL, NULL                \
    }

/* Fills `values`, which the caller has set to the defaults. Exits with status 2 after an error message, and with status
 * 0 after the help. */
void bench_arguments_parse(const bench_command *command, int argc, char **argv, void *values);

#endif
