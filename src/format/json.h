/* SPDX-License-Identifier: MIT */
/* JSON files of a model folder: loading with limits, and members by name. Every message begins with the file's path. */
#ifndef VOUCH_FORMAT_JSON_H
#define VOUCH_FORMAT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Bytes. tokenizer.json of a vocabulary of 262,144 tokens has 33 MB. */
enum { VOUCH_JSON_LARGEST = 256 << 20 };

/* Loads the object that a file holds. Infinity, -Infinity and NaN are read as Python reads them. Where an integer has
 * more than 64 bits, all integers become floats. Strings may have NUL. The caller releases *root. Errors: IO, FORMAT
 * (with line and column), MEMORY. */
vouch_status vouch_json_load(json_t **root, const char *path, vouch_error *err);

typedef struct vouch_json {
    json_t *root; /* an object; NULL while closed */
    char *path;   /* the tail, for messages */
} vouch_json;

/* Loads FOLDER/NAME. If the file is missing and not required, json->root is NULL. Errors: those of vouch_json_load. On
 * failure *json is closed. */
vouch_status vouch_json_open(vouch_json *json, const char *folder, const char *name, bool required, vouch_error *err);
void vouch_json_close(vouch_json *json); /* a closed or zeroed one is allowed */

/*
 * Members of `object`, an object of json. `names` are alternatives, such as "num_hidden_layers|n_layer": the first that
 * is there counts; null means absent. If all are absent, *value stays as it is; with `required` that is a FORMAT error.
 * So is a member of another type, or a value outside [min, max]. A whole float counts as an integer.
 */
vouch_status vouch_json_int(const vouch_json *json, const json_t *object, const char *names, bool required, int64_t min,
                            int64_t max, int64_t *value, vouch_error *err);
vouch_status vouch_json_float(const vouch_json *json, const json_t *object, const char *names, bool required,
                              double min, double max, double *value, vouch_error *err);
vouch_status vouch_json_bool(const vouch_json *json, const json_t *object, const char *names, bool *value,
                             vouch_error *err);
/* *value lives as long as json. */
vouch_status vouch_json_text(const vouch_json *json, const json_t *object, const char *names, bool required,
                             const char **value, vouch_error *err);
/* *value is an array or an object, as `type` says. */
vouch_status vouch_json_nested(const vouch_json *json, const json_t *object, const char *names, json_type type,
                               const json_t **value, vouch_error *err);
/* The value as a number, which may be infinite or no number; false: it is neither a number nor one of those. */
bool vouch_json_to_number(const json_t *value, double *number);
/* The first alternative that is there and not null; NULL: none. */
const json_t *vouch_json_find(const json_t *object, const char *names);
/* Its name, in `name`; the last alternative if there is none. */
const char *vouch_json_name(const json_t *object, const char *names, char name[64]);

#endif
