/* SPDX-License-Identifier: MIT */
/* Between `vouch run` and its conversation. */
#ifndef VOUCH_CLI_RUN_H
#define VOUCH_CLI_RUN_H

#include "run/answer.h"

/* Holds a conversation until the input ends. The session is open. Returns an exit status. */
int cli_chat(cli_engine *engine, cli_reply *reply);

#endif
