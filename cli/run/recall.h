/* SPDX-License-Identifier: MIT */
/*
 * Messages sent before, which the arrow keys bring back. They are kept in $XDG_STATE_HOME/vouch/messages, or
 * ~/.local/state/vouch/messages, readable by its owner only: a JSON text a line. Each message is added to the file
 * when it is sent, so that conversations at the same time don't undo each other's. Opening shortens a long file.
 * Where the file can't be read or written, messages are remembered until the conversation ends.
 */
#ifndef VOUCH_CLI_RECALL_H
#define VOUCH_CLI_RECALL_H

#include <stddef.h>

typedef struct cli_recall {
    char **items; /* [n] oldest first; owned */
    size_t n, capacity;
    char *path; /* NULL: not kept */
} cli_recall;

void cli_recall_open(cli_recall *recall);
/* A message equal to the latest one and an empty one are not added. One of more than 64 KB is not kept in the file. */
void cli_recall_add(cli_recall *recall, const char *text, size_t n);
void cli_recall_close(cli_recall *recall);

#endif
