/* SPDX-License-Identifier: MIT */
#include "tool/text.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t tool_utf8_length(const char *s, size_t n, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (n == 0) return 0;
    const unsigned char first = (unsigned char)s[0];
    const size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > n) return 0;
    uint32_t c = length == 1 ? first : first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        const unsigned char next = (unsigned char)s[i];
        if (next >> 6 != 2) return 0;
        c = c << 6 | (next & 0x3f);
    }
    if (c < smallest[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    *code = c;
    return length;
}

void tool_put_number(FILE *out, int width, int decimals, const char *unit, double x)
{
    char text[32] = "-";
    if (isfinite(x)) snprintf(text, sizeof text, "%.*f%s", decimals, x, unit);
    fprintf(out, "%*s", width, text);
}

/* Characters that move the cursor or the direction of writing, or that can't be seen. */
static bool is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x2069) || c == 0xfeff;
}

/* Columns of a terminal: 2 for East Asian wide characters and emoji. */
static size_t character_width(uint32_t c)
{
    static const uint32_t wide[][2] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                       {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i][0] && c <= wide[i][1]) return 2;
    return 1;
}

enum { ESCAPED = 16 };

/* Writes the first character of s to `out`, escaped if it is hidden. Returns its bytes in s; *columns: its width in
 * `out`. */
static size_t escape_one(const char *s, size_t n, char out[ESCAPED], size_t *columns)
{
    uint32_t c = 0;
    const size_t length = tool_utf8_length(s, n, &c);
    if (length == 0) snprintf(out, ESCAPED, "\\x%02x", (unsigned)(unsigned char)s[0]);
    else if (c == '\n') strcpy(out, "\\n");
    else if (c == '\t') strcpy(out, "\\t");
    else if (c == '\r') strcpy(out, "\\r");
    else if (c == '\\') strcpy(out, "\\\\");
    else if (is_hidden(c)) snprintf(out, ESCAPED, c < 0x80 ? "\\x%02x" : "\\u{%x}", (unsigned)c);
    else {
        memcpy(out, s, length);
        out[length] = 0;
        *columns = character_width(c);
        return length;
    }
    *columns = strlen(out);
    return length ? length : 1;
}

size_t tool_put_escaped(FILE *stream, const char *s, size_t n, size_t columns)
{
    char out[ESCAPED];
    size_t total = 0, width;
    if (columns > 0)
        for (size_t i = 0; i < n && total <= columns; total += width) i += escape_one(s + i, n - i, out, &width);
    const bool cut = columns > 0 && total > columns;
    const size_t limit = cut ? columns - (columns < 3 ? columns : 3) : SIZE_MAX;
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        i += escape_one(s + i, n - i, out, &width);
        if (used + width > limit) break;
        fputs(out, stream);
        used += width;
    }
    if (cut) used += (size_t)fprintf(stream, "...");
    return used;
}

char *tool_utf8_repair(const char *s, size_t n, size_t *n_out)
{
    char *out = n <= SIZE_MAX / 3 - 1 ? malloc(n * 3 + 1) : NULL;
    if (!out) return NULL;
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        uint32_t code;
        const size_t length = tool_utf8_length(s + i, n - i, &code);
        memcpy(out + used, length ? s + i : "\xef\xbf\xbd", length ? length : 3);
        used += length ? length : 3;
        i += length ? length : 1;
    }
    out[used] = 0;
    *n_out = used;
    return out;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t tool_edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 48 };
    const size_t n_a = strlen(a), n_b = strlen(b);
    size_t rows[3][LONGEST + 1]; /* the table's rows for the first i, i - 1 and i - 2 letters of a */
    if (n_a > LONGEST || n_b > LONGEST) return LONGEST;
    for (size_t j = 0; j <= n_b; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            const size_t replaced = before[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            const size_t shorter = (before[j] < row[j - 1] ? before[j] : row[j - 1]) + 1;
            row[j] = replaced < shorter ? replaced : shorter;
            const bool is_swapped =
                i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
            if (is_swapped && two[j - 2] + 1 < row[j]) row[j] = two[j - 2] + 1;
        }
    }
    return rows[n_a % 3][n_b];
}
