/* SPDX-License-Identifier: MIT */
/*
 * Bytes as people and JSON may see them. Text from a model, a file or a command line can hold
 * anything: terminal escapes, halves of characters, text that runs backwards. The generated text
 * goes to standard output as it is; everywhere else bytes pass through here.
 */
#ifndef VOUCH_CLI_TEXT_H
#define VOUCH_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the well-formed UTF-8 character that s[0, n) begins with, its number in *code; or 0. */
size_t cli_utf8_length(const char *s, size_t n, uint32_t *code);

/* Writes s[0, n) with control characters, direction marks and stray bytes as \n, \u{202e}, \xff.
 * At most `columns` columns are used (0: no limit), longer text ends in "...". Returns the columns used. */
size_t cli_put_escaped(FILE *stream, const char *s, size_t n, size_t columns);

/* s[0, n) as well-formed UTF-8, U+FFFD for each stray byte: *n_out bytes, the caller's to free().
 * NULL when memory is short. */
char *cli_utf8_repair(const char *s, size_t n, size_t *n_out);

/* Changes needed to turn a into b: inserted, deleted, replaced and swapped letters. Large for long words. */
size_t cli_edit_distance(const char *a, const char *b);

#endif
