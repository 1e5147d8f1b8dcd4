/* SPDX-License-Identifier: MIT */
#include "support/arguments.h"

#include <stdlib.h>

enum { MOST_FLAGS = 32 };

void bench_arguments_parse(const bench_command *command, int argc, char **argv, void *values)
{
    const tool_flag_table table = {command->flags, command->n_flags, &command->name, 1, NULL};
    const char *given[MOST_FLAGS] = {NULL};
    if (command->n_flags > MOST_FLAGS) abort();
    if (!tool_flags_parse(&table, 1, argc - 1, argv + 1, values, given)) {
        fprintf(stderr, "`%s --help` explains the flags\n", command->name);
        exit(2);
    }
    if (!*(const bool *)values) return;
    printf("usage: %s", command->usage);
    tool_flags_help(&table, 1, values, stdout);
    if (command->examples) printf("\nExamples\n%s", command->examples);
    exit(0);
}
