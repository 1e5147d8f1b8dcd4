/* SPDX-License-Identifier: MIT */
/*
 * Commands of a conversation: lines that begin with a slash.
 *
 * In a terminal a line that begins with an unknown word after the slash is refused, with the nearest command. Other
 * texts with a slash in front are messages: /usr/bin/env, a comment in C, several lines. A second slash makes a message
 * of any line.
 *
 * On a pipe a program may send text that it does not know. So only the whole lines /help, /clear, /quit and /exit are
 * commands there, and none of them touches a file. Any other line is a message as it is. To send one of the four as a
 * message, a program writes two slashes.
 */
#ifndef VOUCH_CLI_COMMANDS_H
#define VOUCH_CLI_COMMANDS_H

#include "run/answer.h"
#include "run/chat/conversation.h"

typedef struct cli_chat_state {
    cli_engine *engine;
    cli_options *options; /* of the engine, which /set changes */
    cli_reply *reply;
    cli_conversation talk;
    bool is_person, is_over;
    int status; /* exit status of the failure that ends the conversation; CLI_DONE: none */
} cli_chat_state;

/* Runs the line if it is a command, and returns NULL. Otherwise returns the message: the line, without the first of two
 * slashes. */
const char *cli_command_run(cli_chat_state *chat, const char *line);
/* Word i that Tab may put at the end of `before` (cli_editor_words). */
const char *cli_command_word(const char *before, size_t i);

#endif
