/* SPDX-License-Identifier: MIT */
/* Values of JSON reports. Each is a new reference, or NULL when memory is short. */
#ifndef VOUCH_CLI_JSON_H
#define VOUCH_CLI_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

json_t *cli_json_real(double x); /* null unless finite */
json_t *cli_json_float(float x); /* 0.8 as that, not as the float beside it */
json_t *cli_json_counts(const int64_t *counts, size_t n);
json_t *cli_json_reals(const double *values, size_t n);
/* Integers of JSON end at 2^63 - 1 here: a seed beyond is a text of its digits. */
json_t *cli_json_seed(uint64_t seed);
/* A text of unknown bytes, made well-formed. */
json_t *cli_json_text(const char *text);

/* An entry of an object that is built from a list. */
typedef struct cli_json_entry {
    const char *key;
    json_t *value; /* taken */
} cli_json_entry;
json_t *cli_json_object(const cli_json_entry *entries, size_t n);

#endif
