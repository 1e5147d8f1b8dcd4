/* SPDX-License-Identifier: MIT */
/* The messages of a conversation in FILE.json, beside the session that --session keeps in FILE. Both do nothing without
 * the flag, print their own complaint and return an exit status. */
#ifndef VOUCH_CLI_SAVED_H
#define VOUCH_CLI_SAVED_H

#include "model/engine.h"
#include "run/chat/conversation.h"

/* Goes on with the file, if it is there. */
int cli_saved_load_messages(const cli_engine *engine, cli_conversation *talk);
int cli_saved_keep_messages(const cli_engine *engine, const cli_conversation *talk);

#endif
