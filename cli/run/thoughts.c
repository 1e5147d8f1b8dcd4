/* SPDX-License-Identifier: MIT */
#include "run/thoughts.h"

#include <stdlib.h>
#include <string.h>

#define BEGIN "<think>"
#define END   "</think>"

/* The number of bytes at the end of text[n] that may be the beginning of the marker. */
static size_t partial_length(const char *text, size_t n, const char *marker)
{
    size_t length = strlen(marker) - 1 < n ? strlen(marker) - 1 : n;
    while (length > 0 && memcmp(text + n - length, marker, length) != 0) length--;
    return length;
}

/* Handles text[n] until the state ends. Returns the number of bytes handled, of which the first *shown are written. */
static size_t state_run(cli_thoughts *t, const char *text, size_t n, bool is_end, size_t *shown)
{
    *shown = 0;
    if (t->state == CLI_THOUGHTS_SKIPPING) {
        size_t white = 0;
        while (white < n && (text[white] == '\n' || text[white] == ' ')) white++;
        if (white < n) t->state = CLI_THOUGHTS_SHOWN;
        return white;
    }
    const bool is_shown = t->state == CLI_THOUGHTS_SHOWN;
    const char *marker = is_shown ? BEGIN : END, *found = memmem(text, n, marker, strlen(marker));
    const size_t before = found ? (size_t)(found - text) : n - (is_end ? 0 : partial_length(text, n, marker));
    if (is_shown) *shown = before;
    if (!found) return before;
    t->state = is_shown ? CLI_THOUGHTS_HIDDEN : CLI_THOUGHTS_SKIPPING;
    return before + strlen(marker);
}

const char *cli_thoughts_take(cli_thoughts *t, const char *text, size_t n, bool is_end, size_t *n_out)
{
    if (t->n + n + 1 > t->capacity) {
        const size_t capacity = 2 * (t->n + n + 1);
        char *larger = realloc(t->text, capacity), *out = realloc(t->out, capacity);
        if (larger) t->text = larger;
        if (out) t->out = out;
        if (!larger || !out) return NULL;
        t->capacity = capacity;
    }
    if (n) memcpy(t->text + t->n, text, n);
    t->n += n;
    size_t at = 0, used = 0;
    for (bool moved = true; moved && at < t->n;) {
        const cli_thoughts_state before = t->state;
        size_t shown;
        const size_t handled = state_run(t, t->text + at, t->n - at, is_end, &shown);
        memcpy(t->out + used, t->text + at, shown);
        used += shown;
        t->n_hidden += handled - shown;
        at += handled;
        moved = handled > 0 || t->state != before;
    }
    memmove(t->text, t->text + at, t->n - at);
    t->n -= at;
    *n_out = used;
    return t->out;
}

void cli_thoughts_free(cli_thoughts *t)
{
    free(t->text);
    free(t->out);
}
