/* SPDX-License-Identifier: MIT */
/*
 * Well-formed UTF-8 (Unicode 15, table 3-7) and normalisation (UAX 15).
 *
 * utf8proc has the tables of NFC: decompositions, combining classes, compositions. Between decomposing and composing,
 * combining marks are put into canonical order, and that is done here. The library's own ordering exchanges neighbours,
 * which takes quadratic time on a long run of marks that an attacker may send.
 */
#include "text/unicode.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"

/* The bytes that may follow lead[0]: total length (0: not a lead byte) and the range of the second. */
typedef struct lead_rule {
    uint8_t length, low, high;
} lead_rule;

static lead_rule lead_get_rule(unsigned char lead)
{
    if (lead < 0x80) return (lead_rule){1, 0, 0};
    if (lead < 0xc2) return (lead_rule){0, 0, 0};
    if (lead < 0xe0) return (lead_rule){2, 0x80, 0xbf};
    if (lead == 0xe0) return (lead_rule){3, 0xa0, 0xbf};
    if (lead == 0xed) return (lead_rule){3, 0x80, 0x9f};
    if (lead < 0xf0) return (lead_rule){3, 0x80, 0xbf};
    if (lead == 0xf0) return (lead_rule){4, 0x90, 0xbf};
    if (lead < 0xf4) return (lead_rule){4, 0x80, 0xbf};
    if (lead == 0xf4) return (lead_rule){4, 0x80, 0x8f};
    return (lead_rule){0, 0, 0};
}

/* How many bytes of s[n], from the first on, fit the rule of s[0]. */
static size_t rule_matched(lead_rule rule, const char *s, size_t n)
{
    size_t i = 1;
    for (; i < rule.length && i < n; i++) {
        const unsigned char byte = (unsigned char)s[i];
        const unsigned char low = i == 1 ? rule.low : 0x80, high = i == 1 ? rule.high : 0xbf;
        if (byte < low || byte > high) break;
    }
    return i;
}

size_t vouch_utf8_length(const char *s, size_t n)
{
    if (n == 0) return 0;
    const lead_rule rule = lead_get_rule((unsigned char)s[0]);
    return rule.length <= n && rule_matched(rule, s, n) == rule.length ? rule.length : 0;
}

size_t vouch_utf8_valid_prefix(const char *s, size_t n)
{
    size_t i = 0;
    for (size_t length; i < n; i += length) {
        length = (unsigned char)s[i] < 0x80 ? 1 : vouch_utf8_length(s + i, n - i);
        if (length == 0) break;
    }
    return i;
}

bool vouch_utf8_is_partial(const char *s, size_t n)
{
    if (n == 0) return false;
    const lead_rule rule = lead_get_rule((unsigned char)s[0]);
    return n < rule.length && rule_matched(rule, s, n) == n;
}

int32_t vouch_utf8_decode(const char *s, size_t length)
{
    static const unsigned char mask[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    int32_t point = (unsigned char)s[0] & mask[length];
    for (size_t i = 1; i < length; i++) point = point << 6 | ((unsigned char)s[i] & 0x3f);
    return point;
}

/* Canonical decomposition of text[n] into points (NULL: only counts). Returns the number of points. */
static size_t text_decompose(const char *text, size_t n, int32_t *points)
{
    enum { LONGEST = 32 }; /* no canonical decomposition has more than 4 */
    size_t count = 0;
    for (size_t i = 0, length; i < n; i += length) {
        length = vouch_utf8_length(text + i, n - i);
        int32_t piece[LONGEST];
        int boundary = UTF8PROC_BOUNDCLASS_START;
        const utf8proc_ssize_t made = utf8proc_decompose_char(vouch_utf8_decode(text + i, length), piece, LONGEST,
                                                              UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, &boundary);
        if (made < 0 || made > LONGEST) continue;
        if (points) memcpy(points + count, piece, (size_t)made * sizeof *piece);
        count += (size_t)made;
    }
    return count;
}

static uint8_t point_class(int32_t point)
{
    return (uint8_t)utf8proc_get_property(point)->combining_class;
}

/* Sorts a run of combining marks by class; equal classes keep their order. */
static void run_order(int32_t *run, size_t n, int32_t *scratch)
{
    enum { SHORT = 32 };
    if (n <= SHORT) {
        for (size_t i = 1; i < n; i++) {
            const int32_t point = run[i];
            size_t j = i;
            for (; j > 0 && point_class(run[j - 1]) > point_class(point); j--) run[j] = run[j - 1];
            run[j] = point;
        }
        return;
    }
    size_t start[257] = {0};
    for (size_t i = 0; i < n; i++) start[point_class(run[i]) + 1]++;
    for (size_t c = 1; c < 257; c++) start[c] += start[c - 1];
    for (size_t i = 0; i < n; i++) scratch[start[point_class(run[i])]++] = run[i];
    memcpy(run, scratch, n * sizeof *run);
}

static void points_order(int32_t *points, size_t n, int32_t *scratch)
{
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && point_class(points[end]) != 0) end++;
        if (end - i > 1) run_order(points + i, end - i, scratch);
        i = end > i ? end : i + 1;
    }
}

vouch_status vouch_nfc(const char *text, size_t n, char **normal, size_t *n_normal, vouch_error *err)
{
    *normal = NULL;
    *n_normal = 0;
    /* Below U+0300, whose first byte is 0xcc, every sequence is in NFC. */
    size_t first = 0;
    while (first < n && (unsigned char)text[first] < 0xcc) first++;
    if (first == n) return VOUCH_OK;

    const size_t count = text_decompose(text, n, NULL);
    size_t bytes;
    if (!vouch_mul_size(count, 2 * sizeof(int32_t), &bytes)) bytes = SIZE_MAX;
    int32_t *points = malloc(bytes ? bytes : 1);
    if (!points) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to normalise a text of %zu bytes", n);
    text_decompose(text, n, points);
    points_order(points, count, points + count);
    const utf8proc_ssize_t composed =
        utf8proc_normalize_utf32(points, (utf8proc_ssize_t)count, UTF8PROC_STABLE | UTF8PROC_COMPOSE);

    /* A character takes at most the 4 bytes of its code point, so the text overwrites only code points already read. */
    char *out = (char *)points;
    size_t used = 0;
    for (utf8proc_ssize_t i = 0; i < composed; i++) {
        utf8proc_uint8_t character[4];
        const int32_t point = points[i];
        const utf8proc_ssize_t length = utf8proc_encode_char(point, character);
        memcpy(out + used, character, (size_t)length);
        used += (size_t)length;
    }
    *normal = out;
    *n_normal = used;
    return VOUCH_OK;
}
