/* SPDX-License-Identifier: MIT */
/* UTF-8 as the Unicode standard defines it (no overlong forms, no surrogates, nothing above U+10FFFF),
 * and Normalization Form C. */
#ifndef VOUCH_TEXT_UNICODE_H
#define VOUCH_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Bytes of the well-formed character at the beginning of s[n]; 0 where there is none. */
size_t vouch_utf8_length(const char *s, size_t n);
/* The code point of the well-formed character of `length` bytes at s. */
int32_t vouch_utf8_decode(const char *s, size_t length);
/* Bytes of the longest well-formed beginning of s[n]. */
size_t vouch_utf8_valid_prefix(const char *s, size_t n);
/* True when s[n] is the beginning of some well-formed longer character. */
bool vouch_utf8_is_partial(const char *s, size_t n);

/* NFC makes a text in UTF-8 at most this many times as long. */
enum { VOUCH_NFC_GROWTH = 3 };

/* Brings well-formed text[n] into NFC. *normal is NULL where the text is in NFC already. Otherwise it has *n_normal
 * bytes and is the caller's to free(). Time is linear, also for a long run of combining marks. Errors: MEMORY. */
vouch_status vouch_nfc(const char *text, size_t n, char **normal, size_t *n_normal, vouch_error *err);

#endif
