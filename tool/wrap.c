/* SPDX-License-Identifier: MIT */
#include "tool/wrap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tool/text.h"

enum { NARROWEST = 20 }; /* in narrower terminals the words stay as they are */

int tool_terminal_width(int descriptor)
{
    const int columns = vouch_os_terminal_draws(descriptor) ? vouch_os_terminal_columns(descriptor) : 0;
    return columns < NARROWEST ? 0 : columns;
}

/* Columns of a character: 0 for marks that combine, 2 for East Asian letters and emoji. */
static int columns_of(uint32_t code)
{
    static const uint32_t none[][2] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
    static const uint32_t wide[][2] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                       {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (code >= none[i][0] && code <= none[i][1]) return 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (code >= wide[i][0] && code <= wide[i][1]) return 2;
    return 1;
}

void tool_put_words(FILE *stream, const char *text, int width)
{
    int column = 0;
    while (*text) {
        const size_t n_spaces = strspn(text, " "), n = strcspn(text + n_spaces, " \n");
        const char *word = text + n_spaces;
        int columns = 0;
        for (size_t i = 0; i < n; i++) columns += (word[i] & 0xc0) != 0x80;
        const bool breaks = width > 0 && column > 0 && n > 0 && column + (int)n_spaces + columns > width;
        if (breaks) fputc('\n', stream);
        else fprintf(stream, "%*s", (int)n_spaces, "");
        fwrite(word, 1, n, stream);
        column = (breaks ? 0 : column + (int)n_spaces) + columns;
        text = word + n;
        if (*text != '\n') continue;
        fputc('\n', stream);
        column = 0;
        text++;
    }
}

static bool put(tool_wrap *w, const char *bytes, size_t n)
{
    if (w->n_out + n > w->capacity) {
        const size_t capacity = (w->n_out + n) * 2;
        char *larger = realloc(w->out, capacity);
        if (!larger) return false;
        w->out = larger;
        w->capacity = capacity;
    }
    if (n > 0) memcpy(w->out + w->n_out, bytes, n);
    w->n_out += n;
    return true;
}

/* Begins another line, and takes the word so far there, unless it fills its line or is too long to be kept. From the
 * last column the cursor goes one column further left, onto the space before the word. */
static bool line_break(tool_wrap *w, int width, int columns)
{
    char back[24];
    const bool moves = w->word_columns > 0 && w->word_columns < w->column && w->n_word < sizeof w->word &&
                       w->word_columns + columns <= width;
    if (moves) snprintf(back, sizeof back, "\033[%dD\033[K\n", w->word_columns);
    else strcpy(back, "\n");
    if (!put(w, back, strlen(back))) return false;
    w->column = moves ? w->word_columns : 0;
    if (!moves) w->n_word = 0, w->word_columns = 0;
    return put(w, w->word, moves ? w->n_word : 0);
}

static void word_end(tool_wrap *w)
{
    w->n_word = 0;
    w->word_columns = 0;
}

const char *tool_wrap_take(tool_wrap *w, const char *text, size_t n, int width, size_t *n_out)
{
    w->n_out = 0;
    for (size_t at = 0, length; at < n; at += length) {
        uint32_t code;
        length = tool_utf8_length(text + at, n - at, &code);
        if (length == 0) length = 1, code = '?';
        const int columns = code == '\t' ? 8 - w->column % 8 : code < 0x20 ? 0 : columns_of(code);
        const bool is_space = code == ' ' || code == '\t';
        if (is_space) word_end(w);
        if (w->column + columns > width) {
            if (!line_break(w, width, columns)) return NULL;
            if (is_space) continue; /* the line end stands for it */
        }
        if (!put(w, text + at, length)) return NULL;
        w->column = code == '\n' || code == '\r' ? 0 : w->column + columns;
        if (is_space || code < 0x20) {
            word_end(w);
            continue;
        }
        if (w->n_word + length <= sizeof w->word) memcpy(w->word + w->n_word, text + at, length);
        w->n_word = w->n_word + length <= sizeof w->word ? w->n_word + length : sizeof w->word;
        w->word_columns += columns;
    }
    *n_out = w->n_out;
    return w->n_out > 0 ? w->out : "";
}

void tool_wrap_free(tool_wrap *wrap)
{
    free(wrap->out);
}
