/* SPDX-License-Identifier: MIT */
/* Filters and tests (render.h). Names, arguments and results are jinja2's; tojson is transformers'. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/jinja/render.h"

typedef jinja_arguments args;
typedef jinja_value filter_function(jinja_run *run, const jinja_value *x, const args *a);

static bool flag_of(const args *a, size_t i, const char *name, bool otherwise)
{
    const jinja_value *x = vouch_jinja_argument(a, i, name);
    return x ? vouch_jinja_truth(x) : otherwise;
}

/* -------------------------------------------------------------------------- text */

static jinja_value filter_string(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    return jinja_text(vouch_jinja_str(run, x));
}

static jinja_value filter_upper(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    return jinja_text(vouch_jinja_change_case(run, vouch_jinja_str(run, x), JINJA_UPPER));
}

static jinja_value filter_lower(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    return jinja_text(vouch_jinja_change_case(run, vouch_jinja_str(run, x), JINJA_LOWER));
}

/* A word begins after white space, - ( { [ or <, as jinja2 has it. */
static jinja_value filter_title(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    const jinja_string s = vouch_jinja_str(run, x);
    jinja_builder text = {0};
    for (size_t at = 0, end; at < s.n && !run->failed; at = end) {
        for (end = at; end < s.n && !strchr(" \t\n\r\f\v-({[<", s.bytes[end]);) end++;
        vouch_jinja_add(run, &text, vouch_jinja_change_case(run, vouch_jinja_cut(s, at, end), JINJA_CAPITALIZE));
        if (end < s.n) {
            vouch_jinja_add(run, &text, vouch_jinja_cut(s, end, end + 1));
            end++;
        }
    }
    return jinja_text(vouch_jinja_built(&text));
}

static jinja_value filter_capitalize(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    return jinja_text(vouch_jinja_change_case(run, vouch_jinja_str(run, x), JINJA_CAPITALIZE));
}

static jinja_value filter_trim(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_value *given = vouch_jinja_argument(a, 0, "chars");
    jinja_string what = {0};
    if (given && given->kind != JINJA_NONE) what = vouch_jinja_string_argument(run, a, 0, "chars", NULL);
    return jinja_text(vouch_jinja_strip(run, vouch_jinja_str(run, x), what, true, true));
}

static jinja_value filter_replace(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_value *old = vouch_jinja_argument(a, 0, "old"), *new = vouch_jinja_argument(a, 1, "new");
    const jinja_value *count = vouch_jinja_argument(a, 2, "count");
    if (!old || !new) return vouch_jinja_fail(run, "replace needs two texts: the old and the new");
    const int64_t n = count && count->kind == JINJA_INT ? count->integer : -1;
    const jinja_string s = vouch_jinja_str(run, x), from = vouch_jinja_str(run, old);
    return jinja_text(vouch_jinja_replace(run, s, from, vouch_jinja_str(run, new), n));
}

/* Puts the indent before every line except the first and empty ones. `first` and `blank` indent these lines, too. */
static jinja_value filter_indent(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_string s = vouch_jinja_str(run, x);
    const jinja_value *width = vouch_jinja_argument(a, 0, "width");
    const bool first = flag_of(a, 1, "first", false), blank = flag_of(a, 2, "blank", false);
    jinja_builder space = {0}, text = {0};
    if (width && width->kind == JINJA_STRING) vouch_jinja_add(run, &space, width->string);
    else
        for (int64_t i = vouch_jinja_int_argument(run, a, 0, "width", 4); i > 0 && !run->failed; i--)
            vouch_jinja_add_text(run, &space, " ");
    for (size_t at = 0; at <= s.n && !run->failed;) {
        size_t end = vouch_jinja_find(s, at, vouch_jinja_literal("\n"));
        if (at == 0 ? first : blank || end > at) vouch_jinja_add(run, &text, vouch_jinja_built(&space));
        if (end < s.n) end++;
        else if (at == s.n) break;
        vouch_jinja_add(run, &text, vouch_jinja_cut(s, at, end));
        at = end;
        if (at == s.n && s.bytes[s.n - 1] != '\n') break;
    }
    return jinja_text(vouch_jinja_built(&text));
}

jinja_string vouch_jinja_escape(jinja_run *run, jinja_string s)
{
    static const struct {
        const char *from, *to;
    } entities[] = {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&#34;"}};
    for (size_t i = 0; i < sizeof entities / sizeof *entities && !s.is_safe; i++)
        s = vouch_jinja_replace(run, s, vouch_jinja_literal(entities[i].from), vouch_jinja_literal(entities[i].to), -1);
    s.is_safe = true;
    return s;
}

static jinja_value filter_escape(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    return jinja_text(vouch_jinja_escape(run, vouch_jinja_str(run, x)));
}

static jinja_value filter_safe(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    jinja_string s = vouch_jinja_str(run, x);
    s.is_safe = true;
    return jinja_text(s);
}

static jinja_value filter_tojson(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_value *indent = vouch_jinja_argument(a, 1, "indent"),
                      *separators = vouch_jinja_argument(a, 2, "separators");
    jinja_json how = {
        .indent = -1, .ascii = flag_of(a, 0, "ensure_ascii", false), .sort = flag_of(a, 3, "sort_keys", false)};
    if (indent && indent->kind == JINJA_INT) how.indent = indent->integer < 0 ? 0 : indent->integer;
    if (separators && (separators->kind == JINJA_TUPLE || separators->kind == JINJA_LIST) && separators->list->n == 2) {
        how.item_separator = vouch_jinja_str(run, &separators->list->items[0]);
        how.key_separator = vouch_jinja_str(run, &separators->list->items[1]);
    }
    jinja_builder text = {0};
    vouch_jinja_to_json(run, &text, x, &how);
    return jinja_text(vouch_jinja_built(&text));
}

/* Supports %s, %d, %i, %r and %% of printf's formats. */
static jinja_value filter_format(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_string s = vouch_jinja_str(run, x);
    jinja_builder text = {0};
    size_t next = 0;
    for (size_t i = 0; i < s.n && !run->failed; i++) {
        const char kind = s.bytes[i] == '%' && i + 1 < s.n ? s.bytes[i + 1] : 0;
        if (!kind) {
            vouch_jinja_add(run, &text, vouch_jinja_cut(s, i, i + 1));
            continue;
        }
        i++;
        if (kind == '%') {
            vouch_jinja_add(run, &text, vouch_jinja_cut(s, i, i + 1));
            continue;
        }
        const jinja_value *value = vouch_jinja_argument(a, next++, NULL);
        if (!value || !strchr("sdir", kind))
            return vouch_jinja_fail(run, value ? "format: %%%c is not supported" : "format: no value for %%%c", kind);
        if (kind == 'r') vouch_jinja_repr(run, &text, value);
        else vouch_jinja_add(run, &text, vouch_jinja_str(run, value));
    }
    return jinja_text(vouch_jinja_built(&text));
}

static jinja_value filter_wordcount(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    const jinja_string s = vouch_jinja_str(run, x);
    int64_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        const bool is_space = strchr(" \t\n\r\f\v", s.bytes[i]) != NULL;
        n += !is_space && (i == 0 || strchr(" \t\n\r\f\v", s.bytes[i - 1]) != NULL);
    }
    return jinja_int(n);
}

static jinja_value filter_urlencode(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    static const char hex[] = "0123456789ABCDEF";
    const jinja_string s = vouch_jinja_str(run, x);
    jinja_builder text = {0};
    for (size_t i = 0; i < s.n && !run->failed; i++) {
        const unsigned char c = (unsigned char)s.bytes[i];
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.-~/", c));
        const char escaped[3] = {'%', hex[c >> 4], hex[c & 15]};
        if (plain) vouch_jinja_add(run, &text, vouch_jinja_cut(s, i, i + 1));
        else vouch_jinja_add(run, &text, (jinja_string){.bytes = escaped, .n = 3, .mark = vouch_jinja_mark(s, i)});
    }
    return jinja_text(vouch_jinja_built(&text));
}

/* ------------------------------------------------------------------------ numbers */

static jinja_value filter_int(jinja_run *run, const jinja_value *x, const args *a)
{
    const int64_t otherwise = vouch_jinja_int_argument(run, a, 0, "default", 0);
    if (x->kind == JINJA_INT || x->kind == JINJA_BOOL) return jinja_int(vouch_jinja_integer(x));
    double number = NAN;
    if (x->kind == JINJA_FLOAT) number = x->number;
    char text[64] = "", *end = text;
    if (x->kind == JINJA_STRING) {
        const jinja_string s = vouch_jinja_strip(run, x->string, (jinja_string){0}, true, true);
        if (s.n > 0 && s.n < sizeof text) {
            memcpy(text, s.bytes, s.n);
            number = strtod(text, &end);
            if (end != text + s.n) number = NAN;
        }
    }
    return jinja_int(fabs(number) < 9e18 ? (int64_t)number : otherwise);
}

static jinja_value filter_float(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)run;
    const jinja_value *given = vouch_jinja_argument(a, 0, "default");
    const double otherwise = given && vouch_jinja_is_number(given) ? vouch_jinja_number(given) : 0;
    if (vouch_jinja_is_number(x)) return jinja_float(vouch_jinja_number(x));
    char text[64] = "", *end = text;
    if (x->kind != JINJA_STRING || x->string.n == 0 || x->string.n >= sizeof text) return jinja_float(otherwise);
    memcpy(text, x->string.bytes, x->string.n);
    const double number = strtod(text, &end);
    return jinja_float(end == text + x->string.n ? number : otherwise);
}

static jinja_value filter_abs(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    if (x->kind == JINJA_FLOAT) return jinja_float(fabs(x->number));
    if (!vouch_jinja_is_number(x) || vouch_jinja_integer(x) == INT64_MIN)
        return vouch_jinja_fail(run, "abs needs a number, not %s", vouch_jinja_kind_name(x->kind));
    return jinja_int(llabs(vouch_jinja_integer(x)));
}

/* Rounds to the nearest number, and a half to the even one, as Python does. */
static jinja_value filter_round(jinja_run *run, const jinja_value *x, const args *a)
{
    if (!vouch_jinja_is_number(x))
        return vouch_jinja_fail(run, "round needs a number, not %s", vouch_jinja_kind_name(x->kind));
    const int64_t digits = vouch_jinja_int_argument(run, a, 0, "precision", 0);
    const jinja_string method = vouch_jinja_string_argument(run, a, 1, "method", "common");
    const double scale = pow(10, (double)digits), value = vouch_jinja_number(x) * scale;
    const double rounded = vouch_jinja_is(method, "ceil")    ? ceil(value)
                           : vouch_jinja_is(method, "floor") ? floor(value)
                                                             : nearbyint(value);
    return jinja_float(rounded / scale);
}

/* -------------------------------------------------------------------- collections */

static jinja_value filter_length(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    return jinja_int(vouch_jinja_length(run, x));
}

static jinja_value filter_list(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    const jinja_list *all = vouch_jinja_iterate(run, x);
    jinja_value copy = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t i = 0; all && i < all->n && !run->failed; i++) vouch_jinja_list_push(run, copy.list, all->items[i]);
    return copy;
}

static jinja_value filter_first(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    const jinja_list *all = vouch_jinja_iterate(run, x);
    return all && all->n ? all->items[0] : jinja_undefined();
}

static jinja_value filter_last(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    const jinja_list *all = vouch_jinja_iterate(run, x);
    return all && all->n ? all->items[all->n - 1] : jinja_undefined();
}

/* The value at a path in x, such as a.b.c or a.0. */
static jinja_value path_of(jinja_run *run, jinja_value x, jinja_string path)
{
    for (size_t at = 0, end; at <= path.n && !run->failed; at = end + 1) {
        end = vouch_jinja_find(path, at, vouch_jinja_literal("."));
        const jinja_value key = jinja_text(vouch_jinja_cut(path, at, end));
        if (x.kind == JINJA_UNDEFINED) return x;
        x = vouch_jinja_item(run, &x, &key);
    }
    return x;
}

static jinja_value attribute_or_self(jinja_run *run, const args *a, size_t i, const jinja_value *x)
{
    const jinja_value *attribute = vouch_jinja_argument(a, i, "attribute");
    if (!attribute || attribute->kind == JINJA_NONE) return *x;
    return attribute->kind == JINJA_STRING ? path_of(run, *x, attribute->string) : vouch_jinja_item(run, x, attribute);
}

static jinja_value filter_join(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_list *all = vouch_jinja_iterate(run, x);
    const jinja_value *given = vouch_jinja_argument(a, 0, "d");
    const jinja_string between = given ? vouch_jinja_str(run, given) : vouch_jinja_literal("");
    jinja_builder joined = {0};
    for (size_t i = 0; all && i < all->n && !run->failed; i++) {
        const jinja_value item = attribute_or_self(run, a, 1, &all->items[i]);
        if (i) vouch_jinja_add(run, &joined, between);
        vouch_jinja_add(run, &joined, vouch_jinja_str(run, &item));
    }
    return jinja_text(vouch_jinja_built(&joined));
}

static jinja_value filter_items(jinja_run *run, const jinja_value *x, const args *a)
{
    if (x->kind == JINJA_UNDEFINED) return vouch_jinja_list_new(run, JINJA_LIST);
    if (x->kind != JINJA_DICT)
        return vouch_jinja_fail(run, "items needs a dict, not %s", vouch_jinja_kind_name(x->kind));
    const jinja_value method = vouch_jinja_method(run, x, vouch_jinja_literal("items"));
    return vouch_jinja_call(run, &method, a);
}

static jinja_value filter_reverse(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)a;
    const jinja_list *all = vouch_jinja_iterate(run, x);
    jinja_value turned = vouch_jinja_list_new(run, JINJA_GENERATOR);
    for (size_t i = all ? all->n : 0; i-- > 0 && !run->failed;) vouch_jinja_list_push(run, turned.list, all->items[i]);
    if (x->kind != JINJA_STRING || run->failed) return turned;
    const args none = {0};
    return filter_join(run, &turned, &none);
}

/* The key that sorting compares: strings in lower case, unless case_sensitive. */
static jinja_value sort_key(jinja_run *run, const jinja_value *x, bool sensitive)
{
    return x->kind == JINJA_STRING && !sensitive ? jinja_text(vouch_jinja_change_case(run, x->string, JINJA_LOWER))
                                                 : *x;
}

/* Stable merge of order[first, past) by keys. */
static void merge_sort(jinja_run *run, const jinja_value *keys, bool reverse, size_t *order, size_t *room, size_t first,
                       size_t past)
{
    if (past - first < 2 || run->failed) return;
    const size_t middle = first + (past - first) / 2;
    merge_sort(run, keys, reverse, order, room, first, middle);
    merge_sort(run, keys, reverse, order, room, middle, past);
    for (size_t i = first, j = middle, k = first; k < past && !run->failed; k++) {
        bool left = j == past;
        if (i < middle && j < past) {
            const int by = vouch_jinja_compare(run, &keys[order[i]], &keys[order[j]]);
            left = reverse ? by >= 0 : by <= 0;
        }
        room[k] = left ? order[i++] : order[j++];
    }
    memcpy(order + first, room + first, (past - first) * sizeof *order);
}

static size_t *sorted(jinja_run *run, const jinja_value *keys, size_t n, bool reverse)
{
    size_t *order = vouch_jinja_take(run, n + 1, sizeof *order), *room = vouch_jinja_take(run, n + 1, sizeof *room);
    if (!order || !room) return NULL;
    for (size_t i = 0; i < n; i++) order[i] = i;
    merge_sort(run, keys, reverse, order, room, 0, n);
    return run->failed ? NULL : order;
}

static jinja_value filter_sort(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_list *all = vouch_jinja_iterate(run, x);
    if (!all) return jinja_undefined();
    jinja_value *keys = vouch_jinja_take(run, all->n + 1, sizeof *keys);
    for (size_t i = 0; keys && i < all->n && !run->failed; i++) {
        const jinja_value key = attribute_or_self(run, a, 2, &all->items[i]);
        keys[i] = sort_key(run, &key, flag_of(a, 1, "case_sensitive", false));
    }
    const size_t *order = sorted(run, keys, all->n, flag_of(a, 0, "reverse", false));
    jinja_value result = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t i = 0; order && i < all->n && !run->failed; i++)
        vouch_jinja_list_push(run, result.list, all->items[order[i]]);
    return result;
}

/* Pairs of key and value, sorted by key or by value. */
static jinja_value filter_dictsort(jinja_run *run, const jinja_value *x, const args *a)
{
    if (x->kind != JINJA_DICT)
        return vouch_jinja_fail(run, "dictsort needs a dict, not %s", vouch_jinja_kind_name(x->kind));
    const bool by_value = vouch_jinja_is(vouch_jinja_string_argument(run, a, 1, "by", "key"), "value");
    const args none = {0};
    const jinja_value pairs = filter_items(run, x, &none);
    jinja_value *keys = vouch_jinja_take(run, x->dict->n + 1, sizeof *keys);
    for (size_t i = 0; keys && i < x->dict->n && !run->failed; i++)
        keys[i] =
            sort_key(run, by_value ? &x->dict->values[i] : &x->dict->keys[i], flag_of(a, 0, "case_sensitive", false));
    const size_t *order = sorted(run, keys, x->dict->n, flag_of(a, 2, "reverse", false));
    jinja_value result = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t i = 0; order && i < x->dict->n && !run->failed; i++)
        vouch_jinja_list_push(run, result.list, pairs.list->items[order[i]]);
    return result;
}

static jinja_value filter_unique(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_list *all = vouch_jinja_iterate(run, x);
    jinja_value result = vouch_jinja_list_new(run, JINJA_GENERATOR), seen = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t i = 0; all && i < all->n && !run->failed; i++) {
        const jinja_value key = sort_key(run, &all->items[i], flag_of(a, 0, "case_sensitive", false));
        if (vouch_jinja_contains(run, &seen, &key)) continue;
        vouch_jinja_list_push(run, seen.list, key);
        vouch_jinja_list_push(run, result.list, all->items[i]);
    }
    return result;
}

typedef enum extreme { LEAST, MOST } extreme;

static jinja_value extreme_of(jinja_run *run, const jinja_value *x, const args *a, extreme which)
{
    const jinja_list *all = vouch_jinja_iterate(run, x);
    jinja_value best = jinja_undefined(), best_key = best;
    for (size_t i = 0; all && i < all->n && !run->failed; i++) {
        const jinja_value given = attribute_or_self(run, a, 1, &all->items[i]);
        const jinja_value key = sort_key(run, &given, flag_of(a, 0, "case_sensitive", false));
        const int by = i == 0 ? 0 : vouch_jinja_compare(run, &key, &best_key);
        if (i > 0 && (which == MOST ? by <= 0 : by >= 0)) continue;
        best = all->items[i];
        best_key = key;
    }
    return best;
}

static jinja_value filter_min(jinja_run *run, const jinja_value *x, const args *a)
{
    return extreme_of(run, x, a, LEAST);
}

static jinja_value filter_max(jinja_run *run, const jinja_value *x, const args *a)
{
    return extreme_of(run, x, a, MOST);
}

static jinja_value filter_sum(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_list *all = vouch_jinja_iterate(run, x);
    int64_t integers = 0;
    double sum = 0;
    bool is_float = false;
    for (size_t i = 0; all && i < all->n && !run->failed; i++) {
        const jinja_value item = attribute_or_self(run, a, 0, &all->items[i]);
        if (!vouch_jinja_is_number(&item))
            return vouch_jinja_fail(run, "sum: item %zu is %s", i, vouch_jinja_kind_name(item.kind));
        is_float |= item.kind == JINJA_FLOAT;
        sum += vouch_jinja_number(&item);
        if (item.kind != JINJA_FLOAT && __builtin_add_overflow(integers, vouch_jinja_integer(&item), &integers))
            return vouch_jinja_fail(run, "the sum is too large for 64 bits");
    }
    return is_float ? jinja_float(sum) : jinja_int(integers);
}

/* Items that pass the test, or whose attribute does (by_attribute). Without a test: true items. keep false: the other
 * items. */
static jinja_value select_items(jinja_run *run, const jinja_value *x, const args *a, bool by_attribute, bool keep)
{
    const jinja_list *all = vouch_jinja_truth(x) ? vouch_jinja_iterate(run, x) : NULL;
    const size_t first = by_attribute ? 1 : 0;
    const jinja_string path = by_attribute ? vouch_jinja_string_argument(run, a, 0, NULL, "") : (jinja_string){0};
    const jinja_string test = vouch_jinja_string_argument(run, a, first, NULL, NULL);
    const args rest = {.n = a->n > first ? a->n - first - 1 : 0,
                       .values = a->values + first + 1,
                       .n_named = a->n_named,
                       .names = a->names,
                       .named = a->named};
    jinja_value result = vouch_jinja_list_new(run, JINJA_GENERATOR);
    for (size_t i = 0; all && i < all->n && !run->failed; i++) {
        const jinja_value value = by_attribute ? path_of(run, all->items[i], path) : all->items[i];
        const bool passes = test.bytes ? vouch_jinja_test(run, test, &value, &rest) : vouch_jinja_truth(&value);
        if (passes == keep) vouch_jinja_list_push(run, result.list, all->items[i]);
    }
    return result;
}

static jinja_value filter_select(jinja_run *run, const jinja_value *x, const args *a)
{
    return select_items(run, x, a, false, true);
}

static jinja_value filter_reject(jinja_run *run, const jinja_value *x, const args *a)
{
    return select_items(run, x, a, false, false);
}

static jinja_value filter_selectattr(jinja_run *run, const jinja_value *x, const args *a)
{
    return select_items(run, x, a, true, true);
}

static jinja_value filter_rejectattr(jinja_run *run, const jinja_value *x, const args *a)
{
    return select_items(run, x, a, true, false);
}

/* map(attribute=path, default=x), or map(filter, arguments). */
static jinja_value filter_map(jinja_run *run, const jinja_value *x, const args *a)
{
    const jinja_list *all = vouch_jinja_truth(x) ? vouch_jinja_iterate(run, x) : NULL;
    const jinja_value *attribute = vouch_jinja_argument(a, SIZE_MAX, "attribute");
    const jinja_value *otherwise = vouch_jinja_argument(a, SIZE_MAX, "default");
    const jinja_string filter = attribute ? (jinja_string){0} : vouch_jinja_string_argument(run, a, 0, NULL, "");
    const args rest = {
        .n = a->n ? a->n - 1 : 0, .values = a->values + 1, .n_named = a->n_named, .names = a->names, .named = a->named};
    jinja_value result = vouch_jinja_list_new(run, JINJA_GENERATOR);
    for (size_t i = 0; all && i < all->n && !run->failed; i++) {
        jinja_value item;
        if (attribute) item = attribute_or_self(run, a, SIZE_MAX, &all->items[i]);
        else item = vouch_jinja_filter(run, filter, &all->items[i], &rest);
        if (item.kind == JINJA_UNDEFINED && otherwise) item = *otherwise;
        vouch_jinja_list_push(run, result.list, item);
    }
    return result;
}

static jinja_value filter_attr(jinja_run *run, const jinja_value *x, const args *a)
{
    return vouch_jinja_attribute(run, x, vouch_jinja_string_argument(run, a, 0, "name", ""));
}

static jinja_value filter_default(jinja_run *run, const jinja_value *x, const args *a)
{
    (void)run;
    const jinja_value *given = vouch_jinja_argument(a, 0, "default_value");
    const bool replaces = x->kind == JINJA_UNDEFINED || (flag_of(a, 1, "boolean", false) && !vouch_jinja_truth(x));
    return !replaces ? *x : given ? *given : jinja_text(vouch_jinja_literal(""));
}

jinja_value vouch_jinja_filter(jinja_run *run, jinja_string name, const jinja_value *x,
                               const jinja_arguments *arguments)
{
    /* clang-format off */
    static const struct {
        const char *name;
        filter_function *apply;
    } filters[] = {
        {"tojson", filter_tojson},     {"length", filter_length},   {"count", filter_length},
        {"trim", filter_trim},         {"string", filter_string},   {"safe", filter_safe},
        {"default", filter_default},   {"d", filter_default},       {"join", filter_join},
        {"items", filter_items},       {"upper", filter_upper},     {"lower", filter_lower},
        {"title", filter_title},       {"capitalize", filter_capitalize}, {"dictsort", filter_dictsort},
        {"list", filter_list},         {"replace", filter_replace}, {"selectattr", filter_selectattr},
        {"rejectattr", filter_rejectattr}, {"select", filter_select}, {"reject", filter_reject},
        {"map", filter_map},           {"indent", filter_indent},   {"first", filter_first},
        {"last", filter_last},         {"reverse", filter_reverse}, {"sort", filter_sort},
        {"unique", filter_unique},     {"min", filter_min},         {"max", filter_max},
        {"sum", filter_sum},           {"int", filter_int},         {"float", filter_float},
        {"abs", filter_abs},           {"round", filter_round},     {"attr", filter_attr},
        {"escape", filter_escape},     {"e", filter_escape},        {"format", filter_format},
        {"wordcount", filter_wordcount}, {"urlencode", filter_urlencode},
    };
    /* clang-format on */
    if (!vouch_jinja_weigh(run, x->kind == JINJA_STRING ? x->string.n : 0)) return jinja_undefined();
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (vouch_jinja_is(name, filters[i].name)) return filters[i].apply(run, x, arguments);
    return vouch_jinja_fail(run, "there is no filter '%.*s'", (int)(name.n < 40 ? name.n : 40), name.bytes);
}

/* -------------------------------------------------------------------------- tests */

/* Tests that look at the kind of a value: bits of jinja_kind. */
static bool test_kind(jinja_string name, const jinja_value *x, bool *passes)
{
    enum {
        NUMBERS = 1 << JINJA_INT | 1 << JINJA_FLOAT | 1 << JINJA_BOOL | 1 << JINJA_DIGITS,
        SEQUENCES = 1 << JINJA_STRING | 1 << JINJA_LIST | 1 << JINJA_TUPLE | 1 << JINJA_DICT,
        CALLABLES = 1 << JINJA_FUNCTION | 1 << JINJA_MACRO
    };
    static const struct {
        const char *name;
        unsigned kinds;
    } tests[] = {{"undefined", 1u << JINJA_UNDEFINED},
                 {"defined", ~(1u << JINJA_UNDEFINED)},
                 {"none", 1u << JINJA_NONE},
                 {"boolean", 1u << JINJA_BOOL},
                 {"integer", 1u << JINJA_INT},
                 {"float", 1u << JINJA_FLOAT},
                 {"number", NUMBERS},
                 {"string", 1u << JINJA_STRING},
                 {"mapping", 1u << JINJA_DICT},
                 {"sequence", SEQUENCES},
                 {"iterable", SEQUENCES | 1u << JINJA_UNDEFINED | 1u << JINJA_GENERATOR},
                 {"callable", CALLABLES}};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (vouch_jinja_is(name, tests[i].name)) {
            *passes = tests[i].kinds >> x->kind & 1;
            return true;
        }
    return false;
}

static bool test_number(jinja_run *run, jinja_string name, const jinja_value *x, const jinja_value *by)
{
    if (x->kind != JINJA_INT && x->kind != JINJA_BOOL) {
        vouch_jinja_fail(run, "%.*s needs an int, not %s", (int)name.n, name.bytes, vouch_jinja_kind_name(x->kind));
        return false;
    }
    const int64_t value = vouch_jinja_integer(x);
    if (vouch_jinja_is(name, "odd")) return value % 2 != 0;
    if (vouch_jinja_is(name, "even")) return value % 2 == 0;
    if (!by || by->kind != JINJA_INT || by->integer == 0 || (value == INT64_MIN && by->integer == -1)) {
        vouch_jinja_fail(run, "divisibleby needs an int other than 0");
        return false;
    }
    return value % by->integer == 0;
}

/* The operators have names: `x is eq 3`. */
static bool test_compare(jinja_run *run, jinja_string name, const jinja_value *x, const jinja_value *y, bool *passes)
{
    static const struct {
        const char *names[3];
        bool less, equal, greater;
    } tests[] = {{{"eq", "equalto", "=="}, false, true, false},    {{"ne", "!=", "!="}, true, false, true},
                 {{"lt", "lessthan", "<"}, true, false, false},    {{"le", "<=", "<="}, true, true, false},
                 {{"gt", "greaterthan", ">"}, false, false, true}, {{"ge", ">=", ">="}, false, true, true}};
    for (size_t i = 0; i < 6; i++)
        for (int j = 0; j < 3; j++) {
            if (!vouch_jinja_is(name, tests[i].names[j])) continue;
            if (!y) vouch_jinja_fail(run, "%.*s needs a value", (int)name.n, name.bytes);
            else if (i < 2) *passes = vouch_jinja_equal(run, x, y) == tests[i].equal;
            else {
                const int order = vouch_jinja_compare(run, x, y);
                *passes = order < 0 ? tests[i].less : order > 0 ? tests[i].greater : tests[i].equal;
            }
            return true;
        }
    return false;
}

bool vouch_jinja_test(jinja_run *run, jinja_string name, const jinja_value *x, const jinja_arguments *arguments)
{
    bool passes = false;
    const jinja_value *y = vouch_jinja_argument(arguments, 0, NULL);
    if (test_kind(name, x, &passes) || test_compare(run, name, x, y, &passes)) return passes;
    if (vouch_jinja_is(name, "true")) return x->kind == JINJA_BOOL && x->boolean;
    if (vouch_jinja_is(name, "false")) return x->kind == JINJA_BOOL && !x->boolean;
    if (vouch_jinja_is(name, "in") && y) return vouch_jinja_contains(run, y, x);
    if (vouch_jinja_is(name, "sameas") && y) return x->kind == y->kind && vouch_jinja_equal(run, x, y);
    if (vouch_jinja_is(name, "odd") || vouch_jinja_is(name, "even") || vouch_jinja_is(name, "divisibleby"))
        return test_number(run, name, x, y);
    const bool is_lower = vouch_jinja_is(name, "lower");
    if (is_lower || vouch_jinja_is(name, "upper")) {
        const jinja_string s = vouch_jinja_str(run, x);
        return vouch_jinja_same(vouch_jinja_change_case(run, s, is_lower ? JINJA_LOWER : JINJA_UPPER), s);
    }
    vouch_jinja_fail(run, "there is no test '%.*s'", (int)(name.n < 40 ? name.n : 40), name.bytes);
    return false;
}
