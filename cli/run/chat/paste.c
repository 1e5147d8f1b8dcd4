/* SPDX-License-Identifier: MIT */
#include "run/chat/paste.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN_BYTES = 800, MOST_SHOWN_LINES = 6 };

static size_t count_lines(const char *text, size_t n)
{
    size_t lines = n > 0 && text[n - 1] != '\n';
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    return lines;
}

bool cli_paste_is_long(const char *text, size_t n)
{
    return n > MOST_SHOWN_BYTES || count_lines(text, n) > MOST_SHOWN_LINES;
}

/* 3120 as "3,120". */
static const char *thousands(size_t x, char text[32])
{
    char digits[24];
    const size_t n = (size_t)snprintf(digits, sizeof digits, "%zu", x);
    char *at = text;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) *at++ = ',';
        *at++ = digits[i];
    }
    *at = 0;
    return text;
}

const char *cli_paste_add(cli_pastes *pastes, char *text, size_t n)
{
    cli_paste *larger = realloc(pastes->items, (pastes->n + 1) * sizeof *larger);
    if (!larger) {
        free(text);
        return NULL;
    }
    char lines[32], size[32];
    const size_t n_lines = count_lines(text, n);
    pastes->items = larger;
    cli_paste *paste = &larger[pastes->n++];
    *paste = (cli_paste){.text = text, .n = n};
    thousands(n < 1000 ? n : n / 1000, size);
    snprintf(paste->name, sizeof paste->name, "[paste %zu: %s line%s, %s %s]", pastes->n, thousands(n_lines, lines),
             n_lines == 1 ? "" : "s", size, n < 1000 ? "bytes" : "KB");
    return paste->name;
}

static const cli_paste *paste_at(const cli_pastes *pastes, const char *line, size_t n)
{
    for (size_t i = 0; i < pastes->n; i++) {
        const size_t length = strlen(pastes->items[i].name);
        if (length <= n && memcmp(line, pastes->items[i].name, length) == 0) return &pastes->items[i];
    }
    return NULL;
}

char *cli_paste_expand(const cli_pastes *pastes, const char *line, size_t n, size_t *n_out)
{
    char *out = NULL;
    for (int filling = 0; filling < 2; filling++) {
        size_t used = 0;
        for (size_t i = 0; i < n;) {
            const cli_paste *paste = line[i] == '[' ? paste_at(pastes, line + i, n - i) : NULL;
            const char *from = paste ? paste->text : line + i;
            const size_t length = paste ? paste->n : 1;
            if (filling) memcpy(out + used, from, length);
            used += length;
            i += paste ? strlen(paste->name) : 1;
        }
        if (!filling) out = malloc(used + 1);
        if (!out) return NULL;
        out[used] = 0;
        *n_out = used;
    }
    return out;
}

void cli_paste_free(cli_pastes *pastes)
{
    for (size_t i = 0; i < pastes->n; i++) free(pastes->items[i].text);
    free(pastes->items);
    *pastes = (cli_pastes){0};
}
