/* SPDX-License-Identifier: MIT */
/*
 * Messages typed in a terminal, with libedit.
 *
 * Enter sends. Alt-Enter, or a backslash before Enter, begins another line of the same message. A paste comes in
 * brackets (ESC [ 200 ~ ... ESC [ 201 ~) and is part of one message, whatever it holds. A long one stands in the line
 * as "[paste 1: 3,120 lines, 200 KB]" and is put in its place when the message is sent.
 *
 * The keys edit characters as people see them (grapheme clusters): a flag or a letter with its marks goes at once.
 * libedit draws code points of no width not at all, so some emoji show as their parts while they are typed.
 *
 * From open to close the terminal passes keys as they come, without echo: what is typed or pasted during an answer is
 * there for the next message. Ctrl-C and Ctrl-Z keep their signals except while a message is typed, when Ctrl-C is a
 * key like others.
 */
#ifndef VOUCH_CLI_EDITOR_H
#define VOUCH_CLI_EDITOR_H

#include <stddef.h>

typedef struct cli_editor cli_editor;

/* Word i that may stand where the text before the cursor, `before`, ends; NULL past the last. */
typedef const char *cli_editor_words(const char *before, size_t i);

typedef enum cli_editor_end {
    CLI_EDITOR_MESSAGE,
    CLI_EDITOR_CANCELLED, /* Ctrl-C */
    CLI_EDITOR_OVER,      /* Ctrl-D, or the terminal is gone */
    CLI_EDITOR_MEMORY     /* too little of it for the message */
} cli_editor_end;

/* Standard input and standard error are terminals. NULL where the terminal can't be driven, memory is short, or the
 * command was built without libedit. */
cli_editor *cli_editor_open(cli_editor_words *complete);
/* *text, *n bytes and a NUL, is the caller's to free(); written for MESSAGE only. */
cli_editor_end cli_editor_read(cli_editor *editor, char **text, size_t *n);
/* The terminal is as it was before. NULL is allowed. */
void cli_editor_close(cli_editor *editor);

#endif
