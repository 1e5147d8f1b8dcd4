/* SPDX-License-Identifier: MIT */
/* Turns a flat schema into an expression: a choice over the types that it allows (schema_parts.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/grammar/names.h"
#include "text/grammar/schema/schema_parts.h"
#include "vouch.h"

enum { LONGEST_TEXT = 10000, LONGEST_NAME = 500 };

#define LITERAL(text) vouch_expression_literal(b, text)

static bool failed(const vouch_schema *s)
{
    return s->builder->status != VOUCH_OK;
}

int32_t vouch_schema_count(vouch_schema *s, const json_t *flat, const char *name, int32_t other, int32_t most)
{
    const json_t *value = json_object_get(flat, name);
    if (!value) return other;
    const double exact = vouch_decimal_value(value);
    const int32_t count = exact > INT32_MAX ? INT32_MAX : (int32_t)exact;
    if (count > most && vouch_schema_let_pass(s, flat, name, "%s is %.0f; supported are at most %d", name, exact, most))
        return other < 0 ? other : most;
    return count;
}

/* ------------------------------------------------------------------ numbers */

typedef struct bounds {
    int64_t min, max;
    bool any;
    bool is_far; /* they leave integers of more than 18 digits alone */
} bounds;

/* Adds 1, or -1, to the number. */
static void step(vouch_whole *whole, bool is_up)
{
    size_t n = strlen(whole->digits), i = n;
    const bool grows = whole->is_negative != is_up;
    if (!grows && strcmp(whole->digits, "0") == 0) {
        *whole = (vouch_whole){.is_negative = !is_up, .digits = "1"};
        return;
    }
    while (i > 0 && whole->digits[i - 1] == (grows ? '9' : '0')) whole->digits[--i] = grows ? '0' : '9';
    if (i > 0) whole->digits[i - 1] = (char)(whole->digits[i - 1] + (grows ? 1 : -1));
    if (grows ? i == 0 : n > 1 && whole->digits[0] == '0') {
        memmove(whole->digits + grows, whole->digits + !grows, n + grows);
        if (grows) whole->digits[0] = '1';
    }
    if (strcmp(whole->digits, "0") == 0) whole->is_negative = false;
}

static int compare_wholes(const vouch_whole *x, const vouch_whole *y)
{
    if (x->is_negative != y->is_negative) return x->is_negative ? -1 : 1;
    const size_t n = strlen(x->digits), m = strlen(y->digits);
    const int order = n != m ? (n > m) - (n < m) : strcmp(x->digits, y->digits);
    return x->is_negative ? -order : order;
}

/* The least integer that minimum and exclusiveMinimum allow, or the largest one that the maxima allow. False: they
 * don't bind it. A bound of too many digits doesn't bind where it leaves some integers, and is an error where it leaves
 * none. */
static bool whole_bound(vouch_schema *s, const json_t *flat, bool is_min, vouch_whole *out)
{
    const char *const names[] = {is_min ? "minimum" : "maximum", is_min ? "exclusiveMinimum" : "exclusiveMaximum"};
    bool found = false;
    for (int i = 0; i < 2; i++) {
        const json_t *value = json_object_get(flat, names[i]);
        vouch_whole one = {0};
        char fraction[2];
        bool is_cut;
        if (!value) continue;
        if (!vouch_decimal_expand(value, one.digits, fraction, 1, &one.is_negative, &is_cut)) {
            if (one.is_negative != is_min)
                (void)vouch_schema_let_pass(s, flat, names[i], "a bound has at most %d digits", VOUCH_DECIMAL_DIGITS);
            continue;
        }
        const bool is_whole = !fraction[0] && !is_cut;
        if (strcmp(one.digits, "0") == 0 && is_whole) one.is_negative = false;
        if (!is_whole && one.is_negative != is_min) step(&one, is_min);
        else if (!is_whole && strcmp(one.digits, "0") == 0) one.is_negative = false;
        if (is_whole && i == 1) step(&one, is_min);
        const int order = found ? compare_wholes(&one, out) : 0;
        if (!found || (is_min ? order > 0 : order < 0)) *out = one;
        found = true;
    }
    return found;
}

static int64_t clamp(const vouch_whole *whole)
{
    const bool is_long = strlen(whole->digits) > VOUCH_JSON_DIGITS;
    const int64_t value = is_long ? VOUCH_JSON_MOST : strtoll(whole->digits, NULL, 10);
    return whole->is_negative ? -value : value;
}

/* The integers that the bounds allow, as far as they have at most 18 digits. */
static bounds bounds_of(vouch_schema *s, const json_t *flat)
{
    vouch_whole min, max;
    const bool has_min = whole_bound(s, flat, true, &min), has_max = whole_bound(s, flat, false, &max);
    const bool is_far = (has_min && !min.is_negative && strlen(min.digits) > VOUCH_JSON_DIGITS) ||
                        (has_max && max.is_negative && strlen(max.digits) > VOUCH_JSON_DIGITS);
    return (bounds){has_min ? clamp(&min) : -VOUCH_JSON_MOST, has_max ? clamp(&max) : VOUCH_JSON_MOST,
                    has_min || has_max, is_far};
}

static vouch_expression whole_in(vouch_schema *s, const json_t *flat)
{
    vouch_whole min, max;
    const bool has_min = whole_bound(s, flat, true, &min), has_max = whole_bound(s, flat, false, &max);
    if (has_min && has_max && compare_wholes(&min, &max) > 0) return vouch_expression_nothing(s->builder);
    return vouch_json_whole(&s->writer, has_min ? &min : NULL, has_max ? &max : NULL);
}

/* The larger of two minima, or the smaller of two maxima; of equal ones the exclusive one. NULL: there is none. */
static const json_t *given_bound(const json_t *flat, bool is_min, bool *is_open)
{
    const json_t *bound = json_object_get(flat, is_min ? "minimum" : "maximum"),
                 *open = json_object_get(flat, is_min ? "exclusiveMinimum" : "exclusiveMaximum");
    const int order = bound && open ? vouch_decimal_compare(open, bound) : 0;
    *is_open = !bound || (open && (is_min ? order >= 0 : order <= 0));
    return *is_open ? open : bound;
}

/* Reads a bound. False: numbers up to it would have too many digits to have a fraction. A bound of many digits away
 * from 0 binds no number that is written. */
static bool read_bound(const json_t *value, bool is_min, vouch_bound *out)
{
    char whole[VOUCH_DECIMAL_DIGITS + 2];
    bool is_cut = false;
    const bool fits =
        vouch_decimal_expand(value, whole, out->fraction, VOUCH_JSON_FRACTION, &out->is_negative, &is_cut);
    const bool is_inner = out->is_negative != is_min; /* numbers are on the side away from 0 */
    if (fits && strlen(whole) < VOUCH_JSON_DIGITS) {
        out->whole = strtoll(whole, NULL, 10);
        if (is_cut) out->is_open = is_inner;
        return true;
    }
    out->whole = VOUCH_JSON_MOST;
    out->fraction[0] = '\0';
    out->is_open = false;
    return !is_inner;
}

/* A number in the range, of some types. */
static vouch_expression number_in(vouch_schema *s, const json_t *flat, bounds range, int types)
{
    vouch_bound low = {0}, high = {0};
    if (!(types & VOUCH_TYPE_INTEGER)) {
        if (!range.any) return vouch_json_fraction(&s->writer);
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat, NULL, "numbers that are no integers can't have bounds");
    }
    if (!(types & VOUCH_TYPE_NUMBER)) return whole_in(s, flat);
    const json_t *min = given_bound(flat, true, &low.is_open), *max = given_bound(flat, false, &high.is_open);
    if (!min && !max) return vouch_json_number(&s->writer);
    const int order = min && max ? vouch_decimal_compare(min, max) : -1;
    if (failed(s) || order > 0 || (order == 0 && (low.is_open || high.is_open)))
        return vouch_expression_nothing(s->builder);
    if ((min && !read_bound(min, true, &low)) || (max && !read_bound(max, false, &high))) return whole_in(s, flat);
    return vouch_json_number_in(&s->writer, min ? &low : NULL, max ? &high : NULL);
}

/* A multiple without bounds has at most 9 digits, so that its grammar stays small. */
static vouch_expression multiple_of(vouch_schema *s, const json_t *flat, bounds range, int types)
{
    enum { MOST = 999999999 };
    const double of = vouch_decimal_value(json_object_get(flat, "multipleOf"));
    if (!(of >= 1 && of <= VOUCH_JSON_DIVISOR && of == floor(of))) {
        if (!(of > 0)) vouch_schema_fail(s, VOUCH_E_ARGUMENT, flat, "multipleOf", "expected a number above 0");
        else if (vouch_schema_let_pass(s, flat, "multipleOf", "expected an integer from 1 to %d", VOUCH_JSON_DIVISOR))
            return number_in(s, flat, range, types);
        return 0;
    }
    if (range.is_far) {
        (void)vouch_schema_let_pass(s, flat, "multipleOf",
                                    "supported are multiples of at most %d digits, which the "
                                    "bounds exclude",
                                    VOUCH_JSON_DIGITS);
        return number_in(s, flat, range, types);
    }
    if (range.min == -VOUCH_JSON_MOST) range.min = range.max < -MOST ? range.max - MOST : -MOST;
    if (range.max == VOUCH_JSON_MOST) range.max = range.min > MOST ? range.min + MOST : MOST;
    if (range.min < -VOUCH_JSON_MOST) range.min = -VOUCH_JSON_MOST;
    if (range.max > VOUCH_JSON_MOST) range.max = VOUCH_JSON_MOST;
    return vouch_json_multiple(&s->writer, range.min, range.max, (int32_t)of);
}

static vouch_expression number_of(vouch_schema *s, const json_t *flat, int types)
{
    const bounds range = bounds_of(s, flat);
    if (json_object_get(flat, "multipleOf") && types & VOUCH_TYPE_INTEGER) return multiple_of(s, flat, range, types);
    return number_in(s, flat, range, types);
}

/* ------------------------------------------------------------------ strings */

static int compare_texts(const void *a, const void *b)
{
    const vouch_text *x = a, *y = b;
    const int order = memcmp(x->data, y->data, x->size < y->size ? x->size : y->size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

/* A string of any length, or of min 1, that none of the schema's excluded values is. */
static vouch_expression string_except(vouch_schema *s, const json_t *flat, int32_t min)
{
    const json_t *excluded = json_object_get(flat, VOUCH_EXCLUDED);
    vouch_text *texts = calloc(json_array_size(excluded) + 1, sizeof *texts);
    if (!texts) return vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    int32_t n = 0;
    if (min == 1) texts[n++] = (vouch_text){"", 0};
    for (size_t i = 0; i < json_array_size(excluded); i++) {
        const json_t *value = json_array_get(excluded, i);
        if (vouch_decimal_is_text(value))
            texts[n++] = (vouch_text){json_string_value(value), json_string_length(value)};
    }
    qsort(texts, (size_t)n, sizeof *texts, compare_texts);
    const vouch_expression string = vouch_json_string_except(&s->writer, texts, n);
    free(texts);
    return string;
}

static int32_t count_characters(const json_t *string)
{
    int32_t n = 0;
    const char *text = json_string_value(string), *escape = text;
    for (size_t i = 0; i < json_string_length(string); i++) n += (text[i] & 0xc0) != 0x80;
    while (escape && (escape = strstr(escape, VOUCH_DECIMAL_ESCAPE)) != NULL) escape++, n -= 5;
    return n;
}

/* Whether the schema excludes a string of min to max characters. */
static bool excludes_strings(const json_t *flat, int32_t min, int32_t max)
{
    const json_t *excluded = json_object_get(flat, VOUCH_EXCLUDED);
    for (size_t i = 0; i < json_array_size(excluded); i++) {
        const json_t *value = json_array_get(excluded, i);
        const int32_t n = count_characters(value);
        if (vouch_decimal_is_text(value) && n >= min && (max < 0 || n <= max)) return true;
    }
    return false;
}

static vouch_expression string_of(vouch_schema *s, const json_t *flat)
{
    const int32_t min = vouch_schema_count(s, flat, "minLength", 0, LONGEST_TEXT);
    const int32_t max = vouch_schema_count(s, flat, "maxLength", -1, LONGEST_TEXT);
    const json_t *pattern = json_object_get(flat, "pattern");
    const char *format = json_string_value(json_object_get(flat, "format"));
    if (format && vouch_json_format_is_unbound(format)) format = NULL;
    const char *known = format ? vouch_json_format(format) : NULL;
    if (format && !known)
        (void)vouch_schema_let_pass(s, flat, "format", "\"%.40s\" is not supported; expected one of %s", format,
                                    vouch_json_formats);
    else if (format && pattern && vouch_schema_let_pass(s, flat, "format", "it can't be joined with a pattern"))
        known = NULL;
    if (failed(s) || (max >= 0 && max < min)) return vouch_expression_nothing(s->builder);
    if (excludes_strings(flat, min, max)) {
        if (!pattern && !known && min <= 1 && max < 0) return string_except(s, flat, min);
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat,
                          pattern ? "pattern"
                          : known ? "format"
                                  : NULL,
                          "a string with a pattern, a format, minLength above 1 or maxLength can't exclude values");
    }
    const char *text = pattern ? json_string_value(pattern) : known;
    vouch_error flaw;
    if (text && strstr(text, VOUCH_DECIMAL_ESCAPE) &&
        vouch_schema_let_pass(s, flat, "pattern", "a pattern can't have U+0000 or half a pair of surrogates"))
        text = NULL;
    if (!text) return vouch_json_string(&s->writer, min, max);
    const size_t n = pattern ? json_string_length(pattern) : strlen(known);
    vouch_expression string = vouch_json_pattern(&s->writer, text, n, min, max, &flaw);
    if (flaw.code == VOUCH_OK || failed(s)) return string;
    /* Its lengths may be what can't be joined with it. */
    const char *const lengths = max >= 0 ? "maxLength" : min > 0 ? "minLength" : NULL;
    vouch_error other = {0};
    if (lengths) string = vouch_json_pattern(&s->writer, text, n, 0, -1, &other);
    if (!vouch_schema_let_pass(s, flat, pattern ? "pattern" : "format", "%s", flaw.message)) return 0;
    return lengths && other.code == VOUCH_OK ? string : vouch_json_string(&s->writer, min, max);
}

/* ------------------------------------------------------------------ objects */

/* The properties in order: those that the schema names, then those that only `required` names. */
typedef struct property {
    vouch_text name;
    const json_t *schema;
    bool is_required;
} property;

typedef struct object {
    property *list; /* [n] */
    int32_t n;
    const json_t *rest;            /* of all other properties */
    const json_t *names, *pattern; /* propertyNames and patternProperties; NULL: not there, or let pass */
} object;

/* An object whose keys are the required names, so that long lists take no square of time. NULL: no memory. */
static json_t *required_names(const json_t *flat)
{
    const json_t *required = json_object_get(flat, "required"), *name;
    json_t *names = json_object();
    size_t i;
    bool stored = names != NULL;
    json_array_foreach(required, i, name)
        stored = stored && json_object_set_new(names, json_string_value(name), json_true()) == 0;
    if (stored) return names;
    json_decref(names);
    return NULL;
}

/* Reads the keywords that restrict names of other properties. */
static void read_names(vouch_schema *s, const json_t *flat, object *o)
{
    const json_t *names = json_object_get(flat, "propertyNames"),
                 *patterns = json_object_get(flat, "patternProperties");
    if (json_object_size(patterns) == 0) patterns = NULL;
    const bool is_much = patterns && (o->n > 0 || names || json_object_size(patterns) > 1);
    if (is_much && vouch_schema_let_pass(s, flat, "patternProperties",
                                         "supported is one pattern, and no propertyNames "
                                         "or other properties beside it"))
        patterns = NULL;
    if (names && !json_is_true(names) && o->n > 0 &&
        vouch_schema_let_pass(s, flat, "propertyNames", "supported where the schema has no other properties"))
        names = NULL;
    o->names = names;
    o->pattern = patterns;
}

/* Lists the properties. Under VOUCH_GRAMMAR_CLOSED there are no others where the document lists some and doesn't say
 * that there are others. */
static void list_properties(vouch_schema *s, const json_t *flat, object *o)
{
    const json_t *properties = json_object_get(flat, "properties");
    const json_t *rest = json_object_get(flat, "additionalProperties");
    const char *name;
    json_t *schema, *required = vouch_schema_keep(s, required_names(flat)); /* keeps the names of the list, too */
    *o = (object){.rest = rest ? rest : json_true()};
    o->list = calloc(json_object_size(properties) + json_object_size(required) + 1, sizeof *o->list);
    if (!o->list) vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    if (failed(s)) return;
    json_object_foreach((json_t *)(uintptr_t)properties, name, schema) {
        const property one = {{name, strlen(name)}, schema, json_object_get(required, name) != NULL};
        o->list[o->n++] = one;
    }
    json_object_foreach(required, name, schema)
        if (!json_object_get(properties, name))
            o->list[o->n++] = (property){.name = {name, strlen(name)}, .schema = o->rest, .is_required = true};
    for (int32_t i = 0; i < o->n; i++)
        if (o->list[i].name.size > LONGEST_NAME)
            vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat, "properties", "a property's name has more than %d bytes",
                              LONGEST_NAME);
    read_names(s, flat, o);
    if (s->builder->flags & VOUCH_GRAMMAR_CLOSED && json_object_get(flat, VOUCH_LISTS) && !rest &&
        !json_object_get(flat, "patternProperties"))
        o->rest = json_false();
}

/* A name that is not in the list. */
static vouch_expression other_name(vouch_schema *s, const object *o)
{
    vouch_builder *b = s->builder;
    vouch_text *names = calloc((size_t)o->n + 1, sizeof *names);
    if (!names) return vouch_builder_fail(b, VOUCH_E_MEMORY, "not enough memory for the schema");
    for (int32_t i = 0; i < o->n; i++) names[i] = o->list[i].name;
    qsort(names, (size_t)o->n, sizeof *names, compare_texts);
    const vouch_expression name = vouch_json_string_except(&s->writer, names, o->n);
    free(names);
    return name;
}

/* A name that `propertyNames` allows. */
static vouch_expression bound_name(vouch_schema *s, const json_t *names)
{
    json_t *string = vouch_schema_keep(s, json_pack("{s:[O, {s:s}]}", "allOf", names, "type", "string"));
    s->writer.is_name = true;
    const vouch_expression name = failed(s) ? 0 : vouch_schema_value(s, string);
    s->writer.is_name = false;
    return name;
}

/* A name that the pattern of patternProperties matches; *schema is that of its value. */
static vouch_expression matching_name(vouch_schema *s, const json_t *flat, const json_t *patterns,
                                      const json_t **schema)
{
    void *only = json_object_iter((json_t *)(uintptr_t)patterns);
    vouch_error flaw;
    *schema = json_object_iter_value(only);
    const vouch_expression name =
        vouch_json_pattern(&s->writer, json_object_iter_key(only), json_object_iter_key_len(only), 0, -1, &flaw);
    if (flaw.code == VOUCH_OK) return name;
    if (!vouch_schema_let_pass(s, flat, "patternProperties", "%s", flaw.message)) return 0;
    *schema = json_true();
    return vouch_json_string_except(&s->writer, NULL, 0);
}

/* A property that the schema doesn't name, which begins with *name. With patternProperties only names that match the
 * pattern are written. */
static vouch_expression other_property(vouch_schema *s, const json_t *flat, const object *o, vouch_expression *name)
{
    vouch_builder *b = s->builder;
    const json_t *schema = o->rest;
    if (failed(s)) return 0;
    const vouch_expression text = o->pattern ? matching_name(s, flat, o->pattern, &schema)
                                  : o->names ? bound_name(s, o->names)
                                             : other_name(s, o);
    *name = vouch_expression_name(b, text, o->pattern || o->names);
    return vouch_expression_shared(b, vouch_expression_join(b, 4, *name, LITERAL(":"), vouch_json_space(&s->writer),
                                                            vouch_schema_value(s, schema)));
}

/* Reads minProperties and maxProperties. False: no number of properties meets them. */
static bool read_counts(vouch_schema *s, const json_t *flat, const object *o, bool has_others, int32_t *min,
                        int32_t *max)
{
    int32_t n_required = 0;
    for (int32_t i = 0; i < o->n; i++) n_required += o->list[i].is_required;
    *min = vouch_schema_count(s, flat, "minProperties", 0, INT32_MAX);
    *max = vouch_schema_count(s, flat, "maxProperties", -1, INT32_MAX);
    if ((*max >= 0 && (*max < n_required || *max < *min)) || (!has_others && *min > o->n)) return false;
    const bool is_free = o->n == 0 && has_others;
    const int32_t most = is_free ? o->pattern || o->names ? 1 : VOUCH_NAMES : n_required;
    if (*min > most && vouch_schema_let_pass(s, flat, "minProperties",
                                             "supported are as many as are required, and where the schema "
                                             "names none, %d; 1 where it restricts names",
                                             VOUCH_NAMES))
        *min = most;
    if (*max >= 0 && !is_free && (has_others || *max < o->n) &&
        vouch_schema_let_pass(s, flat, "maxProperties",
                              "supported without `properties`, or where `properties` lists all allowed ones"))
        *max = -1;
    return true;
}

static vouch_expression named_property(vouch_schema *s, const property *p)
{
    vouch_builder *b = s->builder;
    return vouch_expression_shared(
        b, vouch_expression_join(b, 4, vouch_json_string_of(&s->writer, p->name.data, p->name.size), LITERAL(":"),
                                 vouch_json_space(&s->writer), vouch_schema_value(s, p->schema)));
}

/*
 * From the last property backwards, two expressions for the properties from i on:
 *
 *     first[i]   none has been written: property i, then later[i + 1]; or, where i is optional, first[i + 1]
 *     later[i]   some have been: a comma, property i, then later[i + 1]; or, where i is optional, later[i + 1]
 */
static vouch_expression object_of(vouch_schema *s, const json_t *flat)
{
    vouch_builder *b = s->builder;
    vouch_json_writer *w = &s->writer;
    object o;
    list_properties(s, flat, &o);
    vouch_expression later = vouch_expression_empty(b), first = later;
    int32_t min = 0, max = -1;
    const bool has_others = o.pattern || !json_is_false(o.rest);
    if (!failed(s) && !read_counts(s, flat, &o, has_others, &min, &max)) {
        free(o.list);
        return vouch_expression_nothing(b);
    }
    if (!failed(s) && has_others && max != 0) {
        vouch_expression name = 0;
        const vouch_expression other = other_property(s, flat, &o, &name);
        const int32_t least = o.n == 0 && min > 1 ? min - 1 : 0;
        later = vouch_expression_shared(b, vouch_json_more_names(w, name, other, least, max < 0 ? -1 : max - 1));
        first = vouch_expression_join(b, 2, other, later);
        if (o.n > 0 || min == 0) first = vouch_expression_optional(b, first);
    }
    for (int32_t i = o.n - 1; i >= 0 && !failed(s); i--) {
        const property *p = &o.list[i];
        if (json_is_false(p->schema) && !p->is_required) continue;
        const vouch_expression one = named_property(s, p);
        const vouch_expression begins = vouch_expression_join(b, 2, one, later);
        const vouch_expression goes_on = vouch_expression_join(b, 2, vouch_json_more(w, one, 1, 1), later);
        first = p->is_required ? begins : vouch_expression_either(b, 2, begins, first);
        later = p->is_required ? goes_on : vouch_expression_either(b, 2, goes_on, later);
        first = vouch_expression_shared(b, first);
        later = vouch_expression_shared(b, later);
    }
    free(o.list);
    if (has_others && max != 0 && !failed(s)) first = vouch_expression_object(b, first);
    return vouch_expression_join(b, 5, LITERAL("{"), vouch_json_space(w), first, vouch_json_space(w), LITERAL("}"));
}

/* -------------------------------------------------------------------- values */

bool vouch_schema_within(vouch_schema *s, const json_t *flat, const json_t *value)
{
    static const char *const others[] = {
        "pattern",           "format",        "properties",    "required", "additionalProperties", "propertyNames",
        "patternProperties", "minProperties", "maxProperties", "items",    "prefixItems",          "uniqueItems",
        "contains"};
    const int type = vouch_schema_type_of(value);
    if (!(vouch_schema_types(flat) & vouch_schema_types_of(value))) return false;
    if (vouch_schema_lists(json_object_get(flat, VOUCH_EXCLUDED), value)) return false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const int of = i < 2 ? VOUCH_TYPE_STRING : i < 9 ? VOUCH_TYPE_OBJECT : VOUCH_TYPE_ARRAY;
        if (type != of || !json_object_get(flat, others[i])) continue;
        if (!vouch_schema_let_pass(s, flat, others[i], "it can't be combined with const or enum")) return false;
    }
    if (vouch_decimal_is(value)) {
        const json_t *min = json_object_get(flat, "minimum"), *max = json_object_get(flat, "maximum"),
                     *above = json_object_get(flat, "exclusiveMinimum"),
                     *below = json_object_get(flat, "exclusiveMaximum"), *of = json_object_get(flat, "multipleOf");
        if (of && !vouch_decimal_divides(of, value)) return false;
        return !(min && vouch_decimal_compare(value, min) < 0) && !(max && vouch_decimal_compare(value, max) > 0) &&
               !(above && vouch_decimal_compare(value, above) <= 0) &&
               !(below && vouch_decimal_compare(value, below) >= 0);
    }
    const size_t n = json_is_string(value) ? (size_t)count_characters(value) : json_array_size(value);
    if (type != VOUCH_TYPE_STRING && type != VOUCH_TYPE_ARRAY) return true;
    const json_t *min = json_object_get(flat, type == VOUCH_TYPE_STRING ? "minLength" : "minItems"),
                 *max = json_object_get(flat, type == VOUCH_TYPE_STRING ? "maxLength" : "maxItems");
    return !(min && (double)n < vouch_decimal_value(min)) && !(max && (double)n > vouch_decimal_value(max));
}

/* The values of enum and const that the other keywords allow. */
static vouch_expression listed_values(vouch_schema *s, const json_t *flat)
{
    vouch_builder *b = s->builder;
    const json_t *values = json_object_get(flat, "enum"), *constant = json_object_get(flat, "const");
    vouch_parts choices = {0};
    for (size_t i = 0; i < json_array_size(values) && !failed(s); i++) {
        const json_t *value = json_array_get(values, i);
        if (constant && !vouch_schema_equal(constant, value)) continue;
        if (vouch_schema_within(s, flat, value)) vouch_parts_add(b, &choices, vouch_json_constant(&s->writer, value));
    }
    if (!values && vouch_schema_within(s, flat, constant))
        vouch_parts_add(b, &choices, vouch_json_constant(&s->writer, constant));
    return vouch_expression_choice(b, &choices);
}

static vouch_expression typed_values(vouch_schema *s, const json_t *flat)
{
    vouch_builder *b = s->builder;
    const int types = vouch_schema_types(flat);
    vouch_parts choices = {0};
    if (json_object_get(flat, "enum") || json_object_get(flat, "const")) return listed_values(s, flat);
    if (json_object_size(flat) == 0) return vouch_json_any(&s->writer);
    if (types & VOUCH_TYPE_NULL) vouch_parts_add(b, &choices, LITERAL("null"));
    if (types & VOUCH_TYPE_BOOLEAN)
        vouch_parts_add(b, &choices, vouch_expression_either(b, 2, LITERAL("true"), LITERAL("false")));
    if (types & VOUCH_TYPE_STRING) vouch_parts_add(b, &choices, string_of(s, flat));
    if (types & (VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER)) vouch_parts_add(b, &choices, number_of(s, flat, types));
    if (types & VOUCH_TYPE_ARRAY) vouch_parts_add(b, &choices, vouch_schema_array(s, flat));
    if (types & VOUCH_TYPE_OBJECT) vouch_parts_add(b, &choices, object_of(s, flat));
    return vouch_expression_choice(b, &choices);
}

vouch_expression vouch_schema_flat_value(vouch_schema *s, const json_t *flat)
{
    const json_t *target = json_object_get(flat, "$ref");
    const int32_t position = s->position;
    if (target) return vouch_schema_value(s, target);
    s->position = ++s->n_positions;
    const vouch_expression value = typed_values(s, flat);
    s->position = position;
    return value;
}
