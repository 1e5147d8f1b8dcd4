/* SPDX-License-Identifier: MIT */
/* Strings of bytes with marks (value.h). Positions in a template count characters; here they are bytes. */
#include <string.h>

#include "os/os.h"
#include "text/jinja/value.h"
#include "text/unicode.h"

jinja_string vouch_jinja_literal(const char *text)
{
    return (jinja_string){.bytes = text, .n = strlen(text)};
}

static bool builder_reserve(jinja_run *run, jinja_builder *to, size_t more)
{
    if (to->capacity - to->n >= more) return true;
    size_t capacity = to->capacity < 64 ? 64 : to->capacity;
    while (capacity - to->n < more && capacity <= SIZE_MAX / 4) capacity *= 2;
    char *bytes = vouch_jinja_take(run, capacity, 1);
    uint8_t *marks = vouch_jinja_take(run, capacity, 1);
    if (!bytes || !marks) return false;
    if (to->n) {
        memcpy(bytes, to->bytes, to->n);
        memcpy(marks, to->marks, to->n);
    }
    to->bytes = bytes;
    to->marks = marks;
    to->capacity = capacity;
    return true;
}

void vouch_jinja_add(jinja_run *run, jinja_builder *to, jinja_string s)
{
    if (!vouch_jinja_weigh(run, s.n) || s.n == 0 || !builder_reserve(run, to, s.n)) return;
    memcpy(to->bytes + to->n, s.bytes, s.n);
    if (s.marks) memcpy(to->marks + to->n, s.marks, s.n);
    else memset(to->marks + to->n, s.mark, s.n);
    to->n += s.n;
}

void vouch_jinja_add_text(jinja_run *run, jinja_builder *to, const char *text)
{
    vouch_jinja_add(run, to, vouch_jinja_literal(text));
}

jinja_string vouch_jinja_built(const jinja_builder *from)
{
    return (jinja_string){.bytes = from->n ? from->bytes : "", .n = from->n, .marks = from->n ? from->marks : NULL};
}

jinja_string vouch_jinja_cut(jinja_string s, size_t begin, size_t end)
{
    if (begin > s.n) begin = s.n;
    if (end > s.n) end = s.n;
    if (end < begin) end = begin;
    return (jinja_string){
        .bytes = s.bytes + begin, .n = end - begin, .marks = s.marks ? s.marks + begin : NULL, .mark = s.mark};
}

jinja_string vouch_jinja_concat(jinja_run *run, jinja_string a, jinja_string b)
{
    jinja_builder joined = {0};
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    if (!builder_reserve(run, &joined, a.n + b.n)) return vouch_jinja_literal("");
    vouch_jinja_add(run, &joined, a);
    vouch_jinja_add(run, &joined, b);
    return vouch_jinja_built(&joined);
}

size_t vouch_jinja_find(jinja_string s, size_t from, jinja_string what)
{
    if (from > s.n) return s.n;
    if (what.n == 0) return from;
    const char *at = memmem(s.bytes + from, s.n - from, what.bytes, what.n);
    return at ? (size_t)(at - s.bytes) : s.n;
}

bool vouch_jinja_same(jinja_string a, jinja_string b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.bytes, b.bytes, a.n) == 0);
}

bool vouch_jinja_is(jinja_string s, const char *text)
{
    return vouch_jinja_same(s, vouch_jinja_literal(text));
}

/* Bytes of the character at byte i; a byte that isn't UTF-8 counts as one character. */
static size_t character_bytes(jinja_string s, size_t i)
{
    if ((unsigned char)s.bytes[i] < 0x80) return 1;
    const size_t n = vouch_utf8_length(s.bytes + i, s.n - i);
    return n ? n : 1;
}

size_t vouch_jinja_characters(jinja_string s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i += character_bytes(s, i)) n++;
    return n;
}

size_t vouch_jinja_offset(jinja_string s, size_t i)
{
    size_t at = 0;
    while (i-- > 0 && at < s.n) at += character_bytes(s, at);
    return at;
}
