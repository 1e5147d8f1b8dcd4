/* SPDX-License-Identifier: MIT */
#include "call/form.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ marks */

static bool is_white(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
}

/* White space of the mark may be missing, except between letters: "all\n" isn't the beginning of "allow". */
server_match server_match_mark(const char *mark, const char *text, size_t n, size_t *used)
{
    size_t m = 0, t = 0;
    while (mark[m]) {
        if (t == n) return SERVER_MORE;
        const bool is_needed = m > 0 && is_letter(mark[m - 1]) && is_letter(text[t]);
        if (mark[m] == text[t]) m++, t++;
        else if (is_white(mark[m]) && !is_needed) m++;
        else if (is_white(text[t])) t++;
        else return SERVER_NO;
    }
    *used = t;
    return SERVER_MATCH;
}

bool server_form_has_control(const server_form *f, const char *name, size_t n, bool for_calls)
{
    const char *const others[] = {f->think, f->think_end, f->content, f->content_end};
    for (size_t i = 0; i < f->n_controls; i++) {
        if (strlen(f->controls[i]) != n || memcmp(f->controls[i], name, n) != 0) continue;
        if (for_calls || f->is_harmony) return true;
        for (size_t o = 0; o < sizeof others / sizeof *others; o++)
            if (strstr(others[o], f->controls[i])) return true;
    }
    return false;
}

/* ------------------------------------------------------------------ thoughts */

static bool ends_with(const server_text *text, const char *end)
{
    const size_t n = strlen(end);
    return n > 0 && text->n >= n && memcmp(text->bytes + text->n - n, end, n) == 0;
}

server_thoughts server_thoughts_of(const server_form *form, const vouch_model *model, const int32_t *prompt, size_t n)
{
    enum { LAST = 48 }; /* tokens that are read from the end of the prompt: a mark may be several */
    server_text end = {0};
    for (size_t i = n > LAST ? n - LAST : 0; i < n; i++) {
        size_t n_bytes = 0;
        const char *bytes = vouch_token_bytes(model, prompt[i], &n_bytes);
        if (bytes) server_text_add(&end, bytes, n_bytes);
    }
    while (end.n > 0 && is_white(end.bytes[end.n - 1])) end.n--;
    server_thoughts found = SERVER_THOUGHTS_NONE;
    if (form->is_harmony) found = SERVER_THOUGHTS_CHANNEL;
    else if (ends_with(&end, form->think)) found = SERVER_THOUGHTS_OPEN;
    else if (!ends_with(&end, form->think_end) && form->thinks) found = SERVER_THOUGHTS_ALLOWED;
    server_text_free(&end);
    return found;
}
