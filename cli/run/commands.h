/* SPDX-License-Identifier: MIT */
/*
 * Commands of a conversation: lines that begin with a slash.
 *
 * A person's line with an unknown command is refused. A message that begins with a slash is typed with two.
 *
 * On a pipe a program sends text that it may not know, so that only the whole lines /help, /clear, /quit and /exit are
 * commands there, none of which touches a file; any other line is a message as it is. A second slash sends one of the
 * four as a message.
 */
#ifndef VOUCH_CLI_COMMANDS_H
#define VOUCH_CLI_COMMANDS_H

#include "run/answer.h"
#include "run/conversation.h"

typedef struct cli_chat_state {
    cli_engine *engine;
    cli_options *options; /* of the engine, which /set changes */
    cli_reply *reply;
    cli_conversation talk;
    bool is_person, is_over;
    int status; /* an exit status: of a failure that ends the conversation */
} cli_chat_state;

/* Runs the line if it is a command. Otherwise the message that it means: the line, or the line without its first
 * slash; NULL after a command. */
const char *cli_command_run(cli_chat_state *chat, const char *line);
/* For the Tab key: words that may stand at the end of `before`, as cli_editor_words. */
const char *cli_command_word(const char *before, size_t i);

#endif
