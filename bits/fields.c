/* SPDX-License-Identifier: MIT */
#include "bits/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bits_add_input(bits_fields *fields, const char *name, float *at, int64_t n)
{
    fields->inputs[fields->n_inputs++] = (bits_field){name, BITS_FLOAT, n, at, 0};
}

void bits_add_result(bits_fields *fields, const char *name, bits_kind kind, int64_t first, int64_t n)
{
    fields->results[fields->n_results++] = (bits_field){name, kind, n, NULL, first};
}

enum { LONGEST = 17 }; /* characters of a word, with its blank */

static const struct {
    int digits; /* of a hexadecimal word; 0: decimal */
    size_t size;
    const char *about;
} kinds[] = {
    [BITS_FLOAT] = {8, 4, "8 hexadecimal digits"},
    [BITS_DOUBLE] = {16, 8, "16 hexadecimal digits"},
    [BITS_WHOLE] = {0, 4, "an integer from -16777216 to 16777216"},
    [BITS_BYTE] = {2, 1, "2 hexadecimal digits"},
};

/* Reads the n characters of a word. */
static bool hex_read(const char *word, size_t n, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        const char *digit = memchr("0123456789abcdef", word[i], 16);
        if (!digit) return false;
        *value = *value << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    return true;
}

/* A float has all integers up to 2^24. */
static bool whole_read(const char *word, size_t n, float *value)
{
    const size_t sign = *word == '-';
    if (n == sign || n - sign > 8 || strspn(word + sign, "0123456789") < n - sign) return false;
    const long number = strtol(word, NULL, 10);
    *value = (float)number;
    return number >= -(1 << 24) && number <= 1 << 24;
}

static bool word_read(bits_kind kind, const char *word, size_t n, void *to)
{
    uint64_t value;
    if (kind == BITS_WHOLE) return whole_read(word, n, to);
    if (n != (size_t)kinds[kind].digits || !hex_read(word, n, &value)) return false;
    if (kind == BITS_DOUBLE) memcpy(to, &value, sizeof value);
    else if (kind == BITS_FLOAT) memcpy(to, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
    else *(unsigned char *)to = (unsigned char)value;
    return true;
}

/* Bytes have no blanks between them. */
static size_t word_length(bits_kind kind, const char *text)
{
    const size_t n = strcspn(text, " ");
    return kind == BITS_BYTE && n > 2 ? 2 : n;
}

vouch_status bits_field_read(const vouch_json *json, const json_t *object, const bits_field *field, void *to,
                             vouch_error *err)
{
    const char *text = NULL;
    int64_t i = 0;
    VOUCH_TRY(vouch_json_text(json, object, field->name, true, &text, err));
    for (; *text && i < field->n; i++) {
        const size_t n = word_length(field->kind, text);
        if (!word_read(field->kind, text, n, (char *)to + (size_t)i * kinds[field->kind].size))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s[%" PRId64 "] is '%.*s', expected %s", json->path,
                              field->name, i, (int)(n < 20 ? n : 20), text, kinds[field->kind].about);
        text += n;
        if (field->kind != BITS_BYTE && *text && i + 1 < field->n) text++;
    }
    if (i == field->n && !*text) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s has %s %" PRId64 " elements, expected %" PRId64, json->path,
                      field->name, *text ? "more than" : "only", i, field->n);
}

static int word_write(bits_kind kind, const void *from, char *word)
{
    uint32_t bits;
    uint64_t wide;
    switch (kind) {
    case BITS_FLOAT: memcpy(&bits, from, sizeof bits); return snprintf(word, LONGEST + 1, "%08" PRIx32, bits);
    case BITS_DOUBLE: memcpy(&wide, from, sizeof wide); return snprintf(word, LONGEST + 1, "%016" PRIx64, wide);
    case BITS_WHOLE: return snprintf(word, LONGEST + 1, "%d", (int)*(const float *)from);
    default: return snprintf(word, LONGEST + 1, "%02x", *(const unsigned char *)from);
    }
}

json_t *bits_field_write(const bits_field *field, const void *from)
{
    json_malloc_t take; /* Jansson's, because whoever writes the object asks whether one of its allocations failed */
    json_free_t give;
    json_get_alloc_funcs(&take, &give);
    char *text = take((size_t)field->n * LONGEST + 2), *at = text;
    if (!text) return NULL;
    *at = 0;
    for (int64_t i = 0; i < field->n; i++) {
        if (i > 0 && field->kind != BITS_BYTE) *at++ = ' ';
        at += word_write(field->kind, (const char *)from + (size_t)i * kinds[field->kind].size, at);
    }
    json_t *string = json_stringn(text, (size_t)(at - text));
    give(text);
    return string;
}
