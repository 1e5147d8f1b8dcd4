/* SPDX-License-Identifier: MIT */
/* Lines that break between words where a terminal would break them inside one. */
#ifndef VOUCH_TOOL_WRAP_H
#define VOUCH_TOOL_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal that the descriptor is; 0: no terminal, or one that can't move its cursor ("dumb"). */
int tool_terminal_width(int descriptor);

/* Writes the text with a line end in place of a space where the next word would exceed `width` columns; 0: as it is. */
void tool_put_words(FILE *stream, const char *text, int width);

/* Text that comes in pieces, which may end inside a word. A word that turns out to be too long for its line is wiped
 * off and written again on the next one, so no piece waits for the next. {0} before the first piece. */
typedef struct tool_wrap {
    int column, word_columns; /* of the cursor; of the word so far */
    char word[256];           /* [n_word] */
    size_t n_word;
    char *out; /* owned */
    size_t n_out, capacity;
} tool_wrap;

/* The bytes to write for text[0, n), whole characters; valid until the next call. NULL: memory is short. */
const char *tool_wrap_take(tool_wrap *wrap, const char *text, size_t n, int width, size_t *n_out);
void tool_wrap_free(tool_wrap *wrap);

#endif
