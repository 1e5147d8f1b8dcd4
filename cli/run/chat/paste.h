/* SPDX-License-Identifier: MIT */
/*
 * Long pastes. The line shows the name of a paste, and the message that is sent has its text:
 *
 *   shown   summarise [paste 1: 3,120 lines, 200 KB] in one sentence
 *   sent    summarise the whole text in one sentence
 *
 * After an edit inside a name, the name is sent as plain text.
 */
#ifndef VOUCH_CLI_PASTE_H
#define VOUCH_CLI_PASTE_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_PASTE_NAME = 64 };

typedef struct cli_paste {
    char name[CLI_PASTE_NAME];
    char *text; /* [n] and a NUL; owned */
    size_t n;
} cli_paste;

typedef struct cli_pastes {
    cli_paste *items;
    size_t n;
} cli_pastes;

/* Is the text too long to stand in the line itself? More than 800 bytes, or more than 6 lines. */
bool cli_paste_is_long(const char *text, size_t n);
/* Takes ownership of `text` (from malloc) and returns the name of the paste. NULL: not enough memory; text is freed. */
const char *cli_paste_add(cli_pastes *pastes, char *text, size_t n);
/* Returns the line with each name replaced by its text: *n_out bytes and a NUL, which the caller frees. NULL: not
 * enough memory. */
char *cli_paste_expand(const cli_pastes *pastes, const char *line, size_t n, size_t *n_out);
void cli_paste_free(cli_pastes *pastes);

#endif
