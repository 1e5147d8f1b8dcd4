/* SPDX-License-Identifier: MIT */
#include "tool/json.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"
#include "tool/text.h"

json_t *tool_json_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *tool_json_float(float x)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.7g", (double)x);
    return tool_json_real(strtod(digits, NULL));
}

/* Appends the value. On failure frees the array and returns NULL. */
static json_t *array_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0) return array;
    json_decref(array);
    return NULL;
}

json_t *tool_json_counts(const int64_t *counts, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < n; i++) array = array_append(array, json_integer(counts[i]));
    return array;
}

json_t *tool_json_reals(const double *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < n; i++) array = array_append(array, tool_json_real(values[i]));
    return array;
}

json_t *tool_json_seed(uint64_t seed)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_string(digits);
}

json_t *tool_json_text(const char *text)
{
    size_t n = 0;
    char *repaired = tool_utf8_repair(text, strlen(text), &n);
    if (!repaired) tool_memory_refuse();
    json_t *value = repaired ? json_stringn(repaired, n) : NULL;
    free(repaired);
    return value;
}

json_t *tool_json_object(const tool_json_entry *entries, size_t n)
{
    json_t *object = json_object();
    bool ok = object != NULL;
    for (size_t i = 0; i < n; i++)
        if (json_object_set_new(object, entries[i].key, entries[i].value) != 0) ok = false;
    if (ok) return object;
    json_decref(object);
    return NULL;
}
