/* SPDX-License-Identifier: MIT */
/* Between `vouch run` and its conversation. */
#ifndef VOUCH_CLI_RUN_H
#define VOUCH_CLI_RUN_H

#include "run/answer.h"

/* Turns until the input ends, with a session already open. Returns an exit status. */
int cli_chat(cli_engine *engine, cli_reply *reply);

#endif
