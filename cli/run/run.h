/* SPDX-License-Identifier: MIT */
/* The functions that `vouch run` calls to hold a conversation. */
#ifndef VOUCH_CLI_RUN_H
#define VOUCH_CLI_RUN_H

#include "run/answer.h"

/* Holds a conversation until the input ends. The session is open. /set changes the options, which are the engine's.
 * Returns an exit status. */
int cli_chat(cli_engine *engine, cli_options *options, cli_reply *reply);

#endif
