/* SPDX-License-Identifier: MIT */
/*
 * Bytes as people and JSON may see them. Text from a model, a file or a command line can hold
 * anything: terminal escapes, halves of characters, text that runs backwards. The generated text
 * goes to standard output as it is; everywhere else bytes pass through here.
 */
#ifndef VOUCH_TOOL_TEXT_H
#define VOUCH_TOOL_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length in bytes of the well-formed UTF-8 character at the start of s[0, n), its code point in *code. 0: there is
 * none. */
size_t tool_utf8_length(const char *s, size_t n, uint32_t *code);

/* Writes s[0, n) with control characters, direction marks and stray bytes as \n, \u{202e}, \xff.
 * At most `columns` columns are used (0: no limit), longer text ends in "...". Returns the columns used. */
size_t tool_put_escaped(FILE *stream, const char *s, size_t n, size_t columns);

/* Prints x such as "12.3 %", or "-" where x is not finite, right-aligned in `width` columns. */
void tool_put_number(FILE *out, int width, int decimals, const char *unit, double x);

/* Copies s[0, n) with U+FFFD in place of each stray byte: *n_out bytes, which the caller frees. NULL: memory is
 * short. */
char *tool_utf8_repair(const char *s, size_t n, size_t *n_out);

/* Changes needed to turn a into b: inserted, deleted, replaced and swapped letters. A capital letter is its small one.
 * 48 if a word is longer than that. */
size_t tool_edit_distance(const char *a, const char *b);

#endif
