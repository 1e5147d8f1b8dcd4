/* SPDX-License-Identifier: MIT */
/* This machine and this build, as `vouch info --machine` and `vouch check --system` show them. */
#ifndef VOUCH_CLI_MACHINE_H
#define VOUCH_CLI_MACHINE_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/json.h"

/* A line for each fact: version, system, processor; with is_whole also memory, kernels and optional parts. */
void cli_machine_put(FILE *out, bool is_whole);
/* All of them as an object: a new reference, or NULL when memory is short. */
json_t *cli_machine_json(void);

#endif
