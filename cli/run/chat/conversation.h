/* SPDX-License-Identifier: MIT */
/*
 * The messages of a conversation, and the part of them that the model sees.
 *
 *   items     system | user assistant user assistant | user assistant user
 *             n_system  n_dropped: outside the context  the model sees the rest
 *
 * A dropped message stays in the list, so that a saved conversation is complete.
 */
#ifndef VOUCH_CLI_CONVERSATION_H
#define VOUCH_CLI_CONVERSATION_H

#include <stdbool.h>

#include "vouch.h"

typedef struct cli_conversation {
    vouch_message *items; /* [n]; contents are owned, roles are constants */
    size_t n, capacity;
    size_t n_system;  /* 1 where items[0] is the system message, else 0 */
    size_t n_dropped; /* messages after the system message that the model no longer sees */
} cli_conversation;

/* False: not enough memory, and nothing has changed. */
bool cli_conversation_add(cli_conversation *c, const char *role, const char *content);
/* NULL removes the system message. */
bool cli_conversation_set_system(cli_conversation *c, const char *content);
/* Keeps the first n messages. */
void cli_conversation_cut(cli_conversation *c, size_t n);
void cli_conversation_free(cli_conversation *c);

/* The messages that the model sees: `window` has room for c->n of them. Returns their number. */
size_t cli_conversation_window(const cli_conversation *c, vouch_message *window);
/* Drops the oldest turn: the first message of the window and those before the next question. False: only one question
 * is left. */
bool cli_conversation_drop(cli_conversation *c);

/* Writes all messages as [{"role": "user", "content": "..."}, ...]. Replaces a file only if it holds a conversation.
 * Errors: IO, MEMORY, ARGUMENT (the file holds something else). */
vouch_status cli_conversation_save(const cli_conversation *c, const char *path, vouch_error *err);
/* Replaces the messages with those of a file, which may also hold {"messages": [...]}. On failure the messages stay.
 * Errors: IO, MEMORY, FORMAT (names the file and the field). */
vouch_status cli_conversation_load(cli_conversation *c, const char *path, vouch_error *err);

#endif
