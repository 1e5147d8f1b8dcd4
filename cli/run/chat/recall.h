/* SPDX-License-Identifier: MIT */
/*
 * Earlier messages, for the arrow keys. The file $XDG_STATE_HOME/vouch/messages, or ~/.local/state/vouch/messages,
 * keeps them for later conversations: one JSON text a line, mode 0600. Sending a message appends it to the file, so two
 * conversations at the same time both keep theirs. Opening a file of more than 2,000 messages leaves the newest 1,000.
 * Without a usable file, messages are remembered until the conversation ends. A link to /dev/null keeps none.
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
