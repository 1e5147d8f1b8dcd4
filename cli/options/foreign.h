/* SPDX-License-Identifier: MIT */
/* Flags that people know from llama.cpp and other programs. Where a flag here means the same, the foreign name works;
 * otherwise the error says what to do instead. */
#ifndef VOUCH_CLI_FOREIGN_H
#define VOUCH_CLI_FOREIGN_H

#include "tool/flags.h"

extern const tool_foreign_flag cli_foreign_flags[]; /* the last has no name */

#endif
