/* SPDX-License-Identifier: MIT */
/*
 * Where the messages of a conversation come from.
 *
 *   a person's terminal   the line editor (editor.h): any length, several lines, pastes, earlier messages
 *   a dumb terminal       lines as the terminal's driver gives them, at most 4,095 bytes
 *   a pipe or a file      lines of any length
 */
#ifndef VOUCH_CLI_INPUT_H
#define VOUCH_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "run/editor.h"

typedef enum cli_input_end {
    CLI_INPUT_MESSAGE,   /* there is one */
    CLI_INPUT_CANCELLED, /* Ctrl-C: what was typed is gone */
    CLI_INPUT_REFUSED,   /* a complaint says why this message can't be taken */
    CLI_INPUT_OVER,      /* the end of the input, Ctrl-D */
    CLI_INPUT_FAILED     /* a complaint says why */
} cli_input_end;

typedef struct cli_input {
    cli_editor *editor; /* NULL: lines are read */
    bool is_person;     /* somebody reads the prompt and the notes */
    char *text;         /* [n] and a NUL: the latest message, without its line end */
    size_t n, capacity;
} cli_input;

/* `complete`: the words for the Tab key, see editor.h. */
void cli_input_open(cli_input *input, cli_editor_words *complete);
cli_input_end cli_input_read(cli_input *input);
void cli_input_close(cli_input *input);

#endif
