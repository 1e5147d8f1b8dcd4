/* SPDX-License-Identifier: MIT */
/*
 * Long texts that stand in a line as a short name, until the line is sent:
 *
 *   shown   summarise [paste 1: 3,120 lines, 200 KB] in one sentence
 *   sent    summarise the whole text in one sentence
 *
 * A name that was edited is text like any other.
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

/* Is the text too long to be shown in the line? */
bool cli_paste_is_long(const char *text, size_t n);
/* Takes `text`, which was malloc()ed, and names it; NULL where memory is short, and then the text is freed. */
const char *cli_paste_add(cli_pastes *pastes, char *text, size_t n);
/* The line with texts for names, *n_out bytes and a NUL, the caller's to free(); NULL where memory is short. */
char *cli_paste_expand(const cli_pastes *pastes, const char *line, size_t n, size_t *n_out);
void cli_paste_free(cli_pastes *pastes);

#endif
