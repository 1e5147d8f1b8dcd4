/* SPDX-License-Identifier: MIT */
#include "format/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filemap.h"
#include "os/os.h"

/* ------------------------------------------------------------------- files */

/* Numbers that Python writes and JSON lacks. transformers writes them as objects, too: {"__float__": "Infinity"}. */
static const char *const odd_numbers[] = {"-Infinity", "Infinity", "NaN"};
enum { N_ODD = sizeof odd_numbers / sizeof odd_numbers[0] };
#define ODD_KEY "__float__"

/* The odd number that the n bytes begin with; NULL: none. */
static const char *find_odd(const char *text, size_t n)
{
    for (size_t i = 0; i < N_ODD; i++)
        if (n >= strlen(odd_numbers[i]) && memcmp(text, odd_numbers[i], strlen(odd_numbers[i])) == 0)
            return odd_numbers[i];
    return NULL;
}

/* Copies the text with an object in place of each odd number that isn't in a string. `out` NULL: only counts. Returns
 * the copy's size. */
static size_t spell_out(const char *text, size_t size, char *out)
{
    size_t n = 0;
    bool is_string = false;
    for (size_t i = 0; i < size;) {
        const char *odd = is_string ? NULL : find_odd(text + i, size - i);
        const size_t taken = odd ? strlen(odd) : is_string && text[i] == '\\' && i + 1 < size ? 2 : 1;
        if (text[i] == '"') is_string = !is_string;
        if (!odd && out) memcpy(out + n, text + i, taken);
        if (odd && out) sprintf(out + n, "{\"" ODD_KEY "\":\"%s\"}", odd);
        n += taken + (odd ? sizeof "{\"" ODD_KEY "\":\"\"}" - 1 : 0);
        i += taken;
    }
    return n;
}

/* Loads a text; json_loadb's flags. Where JSON's own grammar fails, tries again with odd numbers spelled out. */
static json_t *load(const char *text, size_t size, size_t flags, json_error_t *flaw)
{
    json_t *root = json_loadb(text, size, flags, flaw);
    const size_t longer = root ? 0 : spell_out(text, size, NULL);
    if (root || longer == size || json_error_code(flaw) != json_error_invalid_syntax) return root;
    char *copy = malloc(longer + 1);
    if (!copy) return NULL;
    spell_out(text, size, copy);
    json_error_t other; /* has another column */
    root = json_loadb(copy, longer, flags, &other);
    if (!root && json_error_code(&other) != json_error_invalid_syntax) *flaw = other;
    free(copy);
    return root;
}

bool vouch_json_to_number(const json_t *value, double *number)
{
    const char *text = json_is_object(value) ? json_string_value(json_object_get(value, ODD_KEY)) : NULL;
    const char *odd = text ? find_odd(text, strlen(text)) : NULL;
    *number = odd ? (*odd == 'N' ? NAN : *odd == '-' ? -INFINITY : INFINITY) : json_number_value(value);
    return odd || json_is_number(value);
}

/* `path` is for messages. */
static vouch_status parse(json_t **root, const char *path, const vouch_filemap *map, vouch_error *err)
{
    json_error_t flaw;
    if (map->size > VOUCH_JSON_LARGEST)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: has %zu bytes; a JSON file of a model has at most %d", path,
                          map->size, VOUCH_JSON_LARGEST);
    VOUCH_TRY(vouch_filemap_load(map, path, 0, map->size, err));
    const size_t mark = map->size >= 3 && memcmp(map->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a byte-order mark */
    const char *text = (const char *)map->data + mark;
    const size_t n = map->size - mark;
    *root = load(text, n, JSON_ALLOW_NUL, &flaw);
    /* Many tokenizer_config.json have a model_max_length of 1e30, written as an integer. */
    if (!*root && json_error_code(&flaw) == json_error_numeric_overflow)
        *root = load(text, n, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &flaw);
    if (!*root && json_error_code(&flaw) == json_error_out_of_memory)
        return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory to read it", path);
    if (!*root)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: line %d, column %d: %s", path, flaw.line, flaw.column, flaw.text);
    if (json_is_object(*root)) return vouch_filemap_recheck(map, path, err);
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: line 1, column 1: expected a JSON object", path);
}

vouch_status vouch_json_load(json_t **root, const char *path, vouch_error *err)
{
    vouch_filemap map;
    *root = NULL;
    VOUCH_TRY(vouch_filemap_open(&map, path, err));
    const vouch_status status = parse(root, vouch_path_tail(path), &map, err);
    vouch_filemap_close(&map);
    if (status == VOUCH_OK) return VOUCH_OK;
    json_decref(*root);
    *root = NULL;
    return status;
}

vouch_status vouch_json_open(vouch_json *json, const char *folder, const char *name, bool required, vouch_error *err)
{
    *json = (vouch_json){0};
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path) return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", name);
    snprintf(path, size, "%s/%s", folder, name);
    vouch_status status = VOUCH_OK;
    if (!required && !vouch_os_exists(path)) goto done;
    json->path = strdup(vouch_path_tail(path));
    if (!json->path) status = vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", name);
    if (status == VOUCH_OK) status = vouch_json_load(&json->root, path, err);
    if (status != VOUCH_OK) vouch_json_close(json);
done:
    free(path);
    return status;
}

void vouch_json_close(vouch_json *json)
{
    json_decref(json->root);
    free(json->path);
    *json = (vouch_json){0};
}

/* ----------------------------------------------------------------- members */

/* Cuts the first alternative off *names into `name`. False: none is left. */
static bool next_name(const char **names, char name[64])
{
    if (!**names) return false;
    const size_t n = strcspn(*names, "|");
    snprintf(name, 64, "%.*s", (int)n, *names);
    *names += n + ((*names)[n] == '|');
    return true;
}

/* The first alternative that is there and not null, with its name; NULL: none. */
static const json_t *find_named(const json_t *object, const char *names, char name[64])
{
    while (next_name(&names, name)) {
        const json_t *value = json_object_get(object, name);
        if (value && !json_is_null(value)) return value;
    }
    return NULL;
}

/* An alternative with another number; NULL: none. */
static const json_t *find_other(const json_t *object, const char *names, const json_t *value)
{
    char name[64];
    while (next_name(&names, name)) {
        const json_t *other = json_object_get(object, name);
        if (json_is_number(other) && json_number_value(other) != json_number_value(value)) return other;
    }
    return NULL;
}

const json_t *vouch_json_find(const json_t *object, const char *names)
{
    char name[64];
    return find_named(object, names, name);
}

const char *vouch_json_name(const json_t *object, const char *names, char name[64])
{
    find_named(object, names, name);
    return name;
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a float";
    case JSON_TRUE:
    case JSON_FALSE: return "true or false";
    default: return "null";
    }
}

/* An error if the member is absent though required. Else *value is the member, or NULL. */
static vouch_status find(const vouch_json *json, const json_t *object, const char *names, bool required,
                         const json_t **value, char name[64], vouch_error *err)
{
    *value = find_named(object, names, name);
    if (*value || !required) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: %.*s is missing", json->path, (int)strcspn(names, "|"), names);
}

static vouch_status wrong_type(const vouch_json *json, const char *name, const json_t *value, const char *expected,
                               vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is %s, expected %s", json->path, name, type_name(value), expected);
}

vouch_status vouch_json_int(const vouch_json *json, const json_t *object, const char *names, bool required, int64_t min,
                            int64_t max, int64_t *value, vouch_error *err)
{
    const json_t *found;
    char name[64];
    VOUCH_TRY(find(json, object, names, required, &found, name, err));
    if (!found) return VOUCH_OK;
    const json_t *other = find_other(object, names, found);
    if (other)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s has two values under its names %s", json->path, name, names);
    const double wide = json_number_value(found);
    const bool is_whole = json_is_real(found) && wide == floor(wide) && fabs(wide) < 0x1p53;
    if (!json_is_integer(found) && !is_whole) return wrong_type(json, name, found, "an integer", err);
    const int64_t number = is_whole ? (int64_t)wide : json_integer_value(found);
    if (number < min || number > max)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is %" PRId64 ", expected %" PRId64 " to %" PRId64, json->path,
                          name, number, min, max);
    *value = number;
    return VOUCH_OK;
}

vouch_status vouch_json_float(const vouch_json *json, const json_t *object, const char *names, bool required,
                              double min, double max, double *value, vouch_error *err)
{
    const json_t *found;
    char name[64];
    VOUCH_TRY(find(json, object, names, required, &found, name, err));
    if (!found) return VOUCH_OK;
    double number;
    if (!vouch_json_to_number(found, &number)) return wrong_type(json, name, found, "a number", err);
    if (!(number >= min && number <= max))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is %g, expected %g to %g", json->path, name, number, min, max);
    *value = number;
    return VOUCH_OK;
}

vouch_status vouch_json_bool(const vouch_json *json, const json_t *object, const char *names, bool *value,
                             vouch_error *err)
{
    const json_t *found;
    char name[64];
    VOUCH_TRY(find(json, object, names, false, &found, name, err));
    if (!found) return VOUCH_OK;
    if (!json_is_boolean(found)) return wrong_type(json, name, found, "true or false", err);
    *value = json_is_true(found);
    return VOUCH_OK;
}

vouch_status vouch_json_text(const vouch_json *json, const json_t *object, const char *names, bool required,
                             const char **value, vouch_error *err)
{
    const json_t *found;
    char name[64];
    VOUCH_TRY(find(json, object, names, required, &found, name, err));
    if (!found) return VOUCH_OK;
    if (!json_is_string(found)) return wrong_type(json, name, found, "a string", err);
    *value = json_string_value(found);
    return VOUCH_OK;
}

vouch_status vouch_json_nested(const vouch_json *json, const json_t *object, const char *names, json_type type,
                               const json_t **value, vouch_error *err)
{
    const json_t *found;
    char name[64];
    VOUCH_TRY(find(json, object, names, false, &found, name, err));
    if (!found) return VOUCH_OK;
    if (json_typeof(found) != type)
        return wrong_type(json, name, found, type == JSON_ARRAY ? "an array" : "an object", err);
    *value = found;
    return VOUCH_OK;
}
