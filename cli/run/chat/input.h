/* SPDX-License-Identifier: MIT */
/*
 * The source of a conversation's messages:
 *
 *   a terminal         the line editor (editor.h): any length, several lines, pastes, earlier messages
 *   a dumb terminal    one line a message, at most 4,094 bytes; a longer line is refused
 *   a pipe or a file   one line a message, of any length
 */
#ifndef VOUCH_CLI_INPUT_H
#define VOUCH_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "run/chat/editor.h"

typedef enum cli_input_end {
    CLI_INPUT_MESSAGE,   /* `text` holds it */
    CLI_INPUT_CANCELLED, /* Ctrl-C cleared the line */
    CLI_INPUT_REFUSED,   /* the message is lost; a complaint says why */
    CLI_INPUT_OVER,      /* the end of the input, Ctrl-D */
    CLI_INPUT_FAILED     /* a complaint says why */
} cli_input_end;

typedef struct cli_input {
    cli_editor *editor; /* NULL: getline reads the messages */
    bool is_person;     /* standard input and standard error are terminals */
    char *text;         /* [n] and a NUL: the latest message, without its line end */
    size_t n, capacity;
} cli_input;

/* `complete` gives the words for Tab (editor.h). */
void cli_input_open(cli_input *input, cli_editor_words *complete);
cli_input_end cli_input_read(cli_input *input);
void cli_input_close(cli_input *input);

#endif
