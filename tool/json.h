/* SPDX-License-Identifier: MIT */
/* Values of JSON reports. Each function returns a new reference, or NULL when memory is short. */
#ifndef VOUCH_TOOL_JSON_H
#define VOUCH_TOOL_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

json_t *tool_json_real(double x); /* null unless finite */
json_t *tool_json_float(float x); /* the shortest decimal: 0.8, not 0.800000012 */
json_t *tool_json_counts(const int64_t *counts, size_t n);
json_t *tool_json_reals(const double *values, size_t n);
/* Jansson's integers end at 2^63 - 1: a larger seed becomes a string of its digits. */
json_t *tool_json_seed(uint64_t seed);
/* A string from any bytes: invalid UTF-8 becomes U+FFFD. */
json_t *tool_json_text(const char *text);

/* An object from a list of entries, whose values it takes. */
typedef struct tool_json_entry {
    const char *key;
    json_t *value;
} tool_json_entry;
json_t *tool_json_object(const tool_json_entry *entries, size_t n);

#endif
