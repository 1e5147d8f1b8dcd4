/* SPDX-License-Identifier: MIT */
/*
 * Messages typed in a terminal, with libedit.
 *
 * Enter sends the message. Alt-Enter, or a backslash before Enter, begins another line of it. A terminal sends a paste
 * in brackets (ESC [ 200 ~ ... ESC [ 201 ~), so its line ends do not send the message. A long paste stands in the line
 * as "[paste 1: 3,120 lines, 200 KB]"; the message gets its text.
 *
 * Arrows, Backspace and Delete treat a grapheme cluster as one character: a letter with its marks, an emoji with its
 * joiners. Two limits of libedit: when it redraws a line it leaves out code points without width, so marks of Thai or
 * Hindi and joiners of emoji can be missing on the screen while they are in the message; and it shows only the last
 * rows of a message that is taller than the terminal.
 *
 * From open to close the terminal passes keys on at once and without echo. Keys and pastes that come during an answer
 * wait for the next message. Ctrl-C sends a signal during an answer; while a message is typed it is a key like others.
 */
#ifndef VOUCH_CLI_EDITOR_H
#define VOUCH_CLI_EDITOR_H

#include <stddef.h>

typedef struct cli_editor cli_editor;

/* Word i that Tab may complete at the end of `before`, the text left of the cursor; NULL past the last. */
typedef const char *cli_editor_words(const char *before, size_t i);

typedef enum cli_editor_end {
    CLI_EDITOR_MESSAGE,
    CLI_EDITOR_CANCELLED, /* Ctrl-C */
    CLI_EDITOR_OVER,      /* Ctrl-D, or the terminal is gone */
    CLI_EDITOR_MEMORY     /* not enough memory for the message */
} cli_editor_end;

/* Standard input and standard error must be terminals. NULL: TERM is unset or "dumb", memory is short, or the command
 * was built without libedit. */
cli_editor *cli_editor_open(cli_editor_words *complete);
/* Reads one message. Only for MESSAGE it sets *text, *n bytes and a NUL, which the caller frees. */
cli_editor_end cli_editor_read(cli_editor *editor, char **text, size_t *n);
/* Restores the terminal. NULL is allowed. */
void cli_editor_close(cli_editor *editor);

#endif
