/* SPDX-License-Identifier: MIT */
/* Methods of strings, lists and dicts, and the global functions (render.h). Names and meanings are Python's. */
#include <string.h>
#include <time.h>
#include <utf8proc.h>

#include "text/jinja/render.h"
#include "text/unicode.h"

typedef jinja_arguments args;

/* ------------------------------- string operations that filters.c uses, too */

static bool is_white(jinja_string s, size_t i, size_t *n)
{
    const unsigned char c = (unsigned char)s.bytes[i];
    *n = 1;
    if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
    utf8proc_int32_t code;
    const utf8proc_ssize_t read =
        utf8proc_iterate((const utf8proc_uint8_t *)s.bytes + i, (utf8proc_ssize_t)(s.n - i), &code);
    if (read <= 0) return false;
    *n = (size_t)read;
    const utf8proc_category_t category = utf8proc_category(code);
    return code == 0x85 || category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP;
}

/* Is the character at byte i in `what`, or white space if `what` is absent? *n: its bytes. */
static bool strips(jinja_run *run, jinja_string s, size_t i, jinja_string what, size_t *n)
{
    const bool white = is_white(s, i, n);
    if (!what.bytes) return white;
    if (!vouch_jinja_weigh(run, what.n)) return false;
    return vouch_jinja_find(what, 0, vouch_jinja_cut(s, i, i + *n)) < what.n;
}

jinja_string vouch_jinja_strip(jinja_run *run, jinja_string s, jinja_string what, bool left, bool right)
{
    size_t begin = 0, end = s.n, n;
    while (left && begin < end && strips(run, s, begin, what, &n)) begin += n;
    while (right && end > begin) {
        size_t last = end - 1;
        while (last > begin && ((unsigned char)s.bytes[last] & 0xc0) == 0x80) last--;
        if (!strips(run, s, last, what, &n)) break;
        end = last;
    }
    return vouch_jinja_cut(s, begin, end);
}

static int32_t change_character(int32_t code, jinja_case how, bool begins_word)
{
    const bool upper = how == JINJA_UPPER || (how != JINJA_LOWER && begins_word);
    return upper ? utf8proc_toupper(code) : utf8proc_tolower(code);
}

jinja_string vouch_jinja_change_case(jinja_run *run, jinja_string s, jinja_case how)
{
    jinja_builder changed = {0};
    bool begins_word = true;
    for (size_t i = 0; i < s.n && !run->failed;) {
        utf8proc_int32_t code = -1;
        const utf8proc_ssize_t read =
            utf8proc_iterate((const utf8proc_uint8_t *)s.bytes + i, (utf8proc_ssize_t)(s.n - i), &code);
        const size_t n = read > 0 ? (size_t)read : 1;
        utf8proc_uint8_t bytes[4];
        jinja_string character = vouch_jinja_cut(s, i, i + n);
        if (read > 0) {
            character.n = (size_t)utf8proc_encode_char(change_character(code, how, begins_word), bytes);
            character = (jinja_string){.bytes = (char *)bytes, .n = character.n, .mark = vouch_jinja_mark(s, i)};
        }
        vouch_jinja_add(run, &changed, character);
        const utf8proc_category_t category = read > 0 ? utf8proc_category(code) : UTF8PROC_CATEGORY_CN;
        const bool is_letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
        begins_word = how == JINJA_TITLE && !is_letter;
        i += n;
    }
    return vouch_jinja_built(&changed);
}

jinja_string vouch_jinja_replace(jinja_run *run, jinja_string s, jinja_string old, jinja_string new, int64_t count)
{
    jinja_builder changed = {0};
    size_t at = 0;
    for (; count != 0 && !run->failed; count--) {
        size_t found = vouch_jinja_find(s, at, old);
        if (old.n == 0) { /* between any two characters */
            vouch_jinja_add(run, &changed, new);
            if (at >= s.n) break;
            found = at + vouch_jinja_offset(vouch_jinja_cut(s, at, s.n), 1);
            vouch_jinja_add(run, &changed, vouch_jinja_cut(s, at, found));
            at = found;
            continue;
        }
        if (found >= s.n) break;
        vouch_jinja_step(run, 1);
        vouch_jinja_add(run, &changed, vouch_jinja_cut(s, at, found));
        vouch_jinja_add(run, &changed, new);
        at = found + old.n;
    }
    vouch_jinja_add(run, &changed, vouch_jinja_cut(s, at, s.n));
    return vouch_jinja_built(&changed);
}

/* -------------------------------------------------------------- methods of strings */

static jinja_string separator_of(jinja_run *run, const args *a)
{
    const jinja_value *given = vouch_jinja_argument(a, 0, "sep");
    if (!given || given->kind == JINJA_NONE) return (jinja_string){0};
    const jinja_string sep = vouch_jinja_string_argument(run, a, 0, "sep", NULL);
    if (sep.n == 0) vouch_jinja_fail(run, "split: the separator is empty");
    return sep;
}

/* At most maxsplit cuts; < 0: any number. Without a separator it cuts at white space, and no piece is empty. */
static jinja_value str_split(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_string s = self->string, sep = separator_of(run, a);
    int64_t most = vouch_jinja_int_argument(run, a, 1, "maxsplit", -1);
    jinja_value all = vouch_jinja_list_new(run, JINJA_LIST);
    size_t at = 0, n;
    while (!run->failed) {
        while (!sep.bytes && at < s.n && is_white(s, at, &n)) at += n;
        if (!sep.bytes && at >= s.n) break;
        size_t end = sep.bytes ? vouch_jinja_find(s, at, sep) : at;
        while (!sep.bytes && end < s.n && !is_white(s, end, &n)) end += n;
        if (most-- == 0) {
            const jinja_string rest = vouch_jinja_cut(s, at, s.n);
            vouch_jinja_list_push(run, all.list,
                                  jinja_text(sep.bytes ? rest : vouch_jinja_strip(run, rest, sep, false, true)));
            break;
        }
        vouch_jinja_list_push(run, all.list, jinja_text(vouch_jinja_cut(s, at, end)));
        if (sep.bytes && end >= s.n) break;
        at = end + sep.n;
    }
    return all;
}

/* Finds pieces from the end, then reverses their order. */
static jinja_value str_rsplit(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_string s = self->string, sep = separator_of(run, a);
    int64_t most = vouch_jinja_int_argument(run, a, 1, "maxsplit", -1);
    if (!sep.bytes || most < 0) return str_split(run, self, a);
    const jinja_value found = vouch_jinja_list_new(run, JINJA_LIST), all = vouch_jinja_list_new(run, JINJA_LIST);
    size_t end = s.n;
    for (size_t i = s.n >= sep.n ? s.n - sep.n + 1 : 0; i-- > 0 && most > 0 && !run->failed;) {
        vouch_jinja_step(run, 1);
        if (i + sep.n > end || memcmp(s.bytes + i, sep.bytes, sep.n) != 0) continue;
        vouch_jinja_list_push(run, found.list, jinja_text(vouch_jinja_cut(s, i + sep.n, end)));
        end = i;
        most--;
    }
    vouch_jinja_list_push(run, found.list, jinja_text(vouch_jinja_cut(s, 0, end)));
    for (size_t i = run->failed ? 0 : found.list->n; i-- > 0;)
        vouch_jinja_list_push(run, all.list, found.list->items[i]);
    return all;
}

static jinja_value str_splitlines(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_string s = self->string;
    const jinja_value *given = vouch_jinja_argument(a, 0, "keepends");
    const bool keeps = given && vouch_jinja_truth(given);
    jinja_value all = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t at = 0, end; at < s.n && !run->failed;) {
        for (end = at; end < s.n && s.bytes[end] != '\n' && s.bytes[end] != '\r';) end++;
        size_t next = end < s.n ? end + 1 : end;
        if (next < s.n && s.bytes[end] == '\r' && s.bytes[next] == '\n') next++;
        vouch_jinja_list_push(run, all.list, jinja_text(vouch_jinja_cut(s, at, keeps ? next : end)));
        at = next;
    }
    return all;
}

static jinja_value strip_with(jinja_run *run, const jinja_value *self, const args *a, bool left, bool right)
{
    const jinja_value *given = vouch_jinja_argument(a, 0, NULL);
    jinja_string what = {0};
    if (given && given->kind != JINJA_NONE) what = vouch_jinja_string_argument(run, a, 0, "chars", NULL);
    return jinja_text(vouch_jinja_strip(run, self->string, what, left, right));
}

static jinja_value str_strip(jinja_run *run, const jinja_value *self, const args *a)
{
    return strip_with(run, self, a, true, true);
}

static jinja_value str_lstrip(jinja_run *run, const jinja_value *self, const args *a)
{
    return strip_with(run, self, a, true, false);
}

static jinja_value str_rstrip(jinja_run *run, const jinja_value *self, const args *a)
{
    return strip_with(run, self, a, false, true);
}

static bool affix_is(jinja_string s, jinja_string affix, bool at_end)
{
    if (affix.n > s.n) return false;
    const size_t begin = at_end ? s.n - affix.n : 0;
    return vouch_jinja_same(vouch_jinja_cut(s, begin, begin + affix.n), affix);
}

/* Whether the string begins or ends with the given affix, or with one of a tuple of affixes. */
static jinja_value has_affix(jinja_run *run, const jinja_value *self, const args *a, bool at_end)
{
    const jinja_value *given = vouch_jinja_argument(a, 0, NULL);
    if (given && given->kind == JINJA_TUPLE) {
        for (size_t i = 0; i < given->list->n && vouch_jinja_step(run, 1); i++)
            if (given->list->items[i].kind == JINJA_STRING &&
                affix_is(self->string, given->list->items[i].string, at_end))
                return jinja_bool(true);
        return jinja_bool(false);
    }
    if (!given) return vouch_jinja_fail(run, "%s needs a string", at_end ? "endswith" : "startswith");
    return jinja_bool(affix_is(self->string, vouch_jinja_string_argument(run, a, 0, "affix", ""), at_end));
}

static jinja_value str_startswith(jinja_run *run, const jinja_value *self, const args *a)
{
    return has_affix(run, self, a, false);
}

static jinja_value str_endswith(jinja_run *run, const jinja_value *self, const args *a)
{
    return has_affix(run, self, a, true);
}

static jinja_value str_removeprefix(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_string s = self->string, affix = vouch_jinja_string_argument(run, a, 0, "prefix", "");
    return jinja_text(affix_is(s, affix, false) ? vouch_jinja_cut(s, affix.n, s.n) : s);
}

static jinja_value str_removesuffix(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_string s = self->string, affix = vouch_jinja_string_argument(run, a, 0, "suffix", "");
    return jinja_text(affix_is(s, affix, true) ? vouch_jinja_cut(s, 0, s.n - affix.n) : s);
}

static jinja_value str_replace(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_string old = vouch_jinja_string_argument(run, a, 0, "old", ""),
                       new = vouch_jinja_string_argument(run, a, 1, "new", "");
    return jinja_text(vouch_jinja_replace(run, self->string, old, new,
                                          vouch_jinja_int_argument(run, a, 2, "count", -1)));
}

static jinja_value str_upper(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return jinja_text(vouch_jinja_change_case(run, self->string, JINJA_UPPER));
}

static jinja_value str_lower(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return jinja_text(vouch_jinja_change_case(run, self->string, JINJA_LOWER));
}

static jinja_value str_title(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return jinja_text(vouch_jinja_change_case(run, self->string, JINJA_TITLE));
}

static jinja_value str_capitalize(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return jinja_text(vouch_jinja_change_case(run, self->string, JINJA_CAPITALIZE));
}

/* The number of characters before the first (last) occurrence; -1: there is none. */
static int64_t position_of(jinja_string s, jinja_string what, bool is_last)
{
    size_t at = vouch_jinja_find(s, 0, what);
    if (what.n > 0 && at >= s.n) return -1;
    for (size_t next = at; is_last && (next = vouch_jinja_find(s, next + 1, what)) < s.n;) at = next;
    return (int64_t)vouch_jinja_characters(vouch_jinja_cut(s, 0, at));
}

static jinja_value str_find(jinja_run *run, const jinja_value *self, const args *a)
{
    return jinja_int(position_of(self->string, vouch_jinja_string_argument(run, a, 0, "sub", ""), false));
}

static jinja_value str_rfind(jinja_run *run, const jinja_value *self, const args *a)
{
    return jinja_int(position_of(self->string, vouch_jinja_string_argument(run, a, 0, "sub", ""), true));
}

static jinja_value str_index(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_value at = str_find(run, self, a);
    return at.integer < 0 ? vouch_jinja_fail(run, "index: substring not found") : at;
}

static jinja_value str_count(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_string s = self->string, what = vouch_jinja_string_argument(run, a, 0, "sub", "");
    if (what.n == 0) return jinja_int((int64_t)vouch_jinja_characters(s) + 1);
    int64_t n = 0;
    for (size_t at = 0; (at = vouch_jinja_find(s, at, what)) < s.n; at += what.n) n++;
    return jinja_int(n);
}

static jinja_value str_join(jinja_run *run, const jinja_value *self, const args *a)
{
    jinja_builder joined = {0};
    const jinja_value *given = vouch_jinja_argument(a, 0, NULL);
    const jinja_list *all = given ? vouch_jinja_iterate(run, given) : NULL;
    for (size_t i = 0; all && i < all->n && !run->failed; i++) {
        if (all->items[i].kind != JINJA_STRING)
            return vouch_jinja_fail(run, "join: item %zu is %s, not a string", i,
                                    vouch_jinja_kind_name(all->items[i].kind));
        if (i) vouch_jinja_add(run, &joined, self->string);
        vouch_jinja_add(run, &joined, all->items[i].string);
    }
    return jinja_text(vouch_jinja_built(&joined));
}

/* Replaces {}, {0} and {name}. Format specifications such as {:5} are not supported. */
static jinja_value str_format(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_string s = self->string;
    jinja_builder text = {0};
    size_t next = 0;
    for (size_t i = 0; i < s.n && !run->failed; i++) {
        const char c = s.bytes[i];
        if ((c == '{' || c == '}') && i + 1 < s.n && s.bytes[i + 1] == c) {
            vouch_jinja_add(run, &text, vouch_jinja_cut(s, i, i + 1));
            i++;
            continue;
        }
        if (c != '{') {
            vouch_jinja_add(run, &text, vouch_jinja_cut(s, i, i + 1));
            continue;
        }
        const size_t end = vouch_jinja_find(s, i, vouch_jinja_literal("}"));
        const jinja_string field = vouch_jinja_cut(s, i + 1, end);
        const jinja_value *x = NULL;
        if (field.n == 0) x = vouch_jinja_argument(a, next++, NULL);
        else if (field.n == 1 && field.bytes[0] >= '0' && field.bytes[0] <= '9')
            x = vouch_jinja_argument(a, (size_t)(field.bytes[0] - '0'), NULL);
        for (size_t j = 0; !x && j < a->n_named; j++)
            if (vouch_jinja_same(a->names[j], field)) x = &a->named[j];
        if (end >= s.n || !x)
            return vouch_jinja_fail(run, "format: no value for {%.*s}", (int)(field.n < 40 ? field.n : 40),
                                    field.bytes);
        vouch_jinja_add(run, &text, vouch_jinja_str(run, x));
        i = end;
    }
    return jinja_text(vouch_jinja_built(&text));
}

/* Whether the string isn't empty and all its characters are of this class. */
static jinja_value all_are(const jinja_value *self, bool (*is)(utf8proc_category_t category))
{
    const jinja_string s = self->string;
    for (size_t i = 0; i < s.n;) {
        utf8proc_int32_t code;
        const utf8proc_ssize_t n =
            utf8proc_iterate((const utf8proc_uint8_t *)s.bytes + i, (utf8proc_ssize_t)(s.n - i), &code);
        if (n <= 0 || !is(utf8proc_category(code))) return jinja_bool(false);
        i += (size_t)n;
    }
    return jinja_bool(s.n > 0);
}

static bool is_digit(utf8proc_category_t c)
{
    return c == UTF8PROC_CATEGORY_ND;
}

static bool is_alpha(utf8proc_category_t c)
{
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

static bool is_alnum(utf8proc_category_t c)
{
    return is_alpha(c) || (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO);
}

static jinja_value str_isdigit(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)run;
    (void)a;
    return all_are(self, is_digit);
}

static jinja_value str_isalpha(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)run;
    (void)a;
    return all_are(self, is_alpha);
}

static jinja_value str_isalnum(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)run;
    (void)a;
    return all_are(self, is_alnum);
}

static jinja_value str_isspace(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return jinja_bool(self->string.n > 0 && vouch_jinja_strip(run, self->string, (jinja_string){0}, true, true).n == 0);
}

static jinja_value same_case(jinja_run *run, const jinja_value *self, jinja_case how)
{
    const jinja_string other =
        vouch_jinja_change_case(run, self->string, how == JINJA_UPPER ? JINJA_LOWER : JINJA_UPPER);
    return jinja_bool(vouch_jinja_same(vouch_jinja_change_case(run, self->string, how), self->string) &&
                      !vouch_jinja_same(other, self->string));
}

static jinja_value str_isupper(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return same_case(run, self, JINJA_UPPER);
}

static jinja_value str_islower(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return same_case(run, self, JINJA_LOWER);
}

/* ----------------------------------------------------------- methods of collections */

static jinja_value list_append(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_value *x = vouch_jinja_argument(a, 0, NULL);
    if (!x) return vouch_jinja_fail(run, "append needs a value");
    vouch_jinja_list_push(run, self->list, *x);
    return jinja_none();
}

static jinja_value list_pop(jinja_run *run, const jinja_value *self, const args *a)
{
    jinja_list *list = self->list;
    const int64_t n = (int64_t)list->n, given = vouch_jinja_int_argument(run, a, 0, "index", -1);
    const int64_t i = given < 0 ? given + n : given;
    if (i < 0 || i >= n)
        return vouch_jinja_fail(run, "pop: a list of %lld has no item %lld", (long long)n, (long long)given);
    const jinja_value x = list->items[i];
    vouch_jinja_weigh(run, (size_t)(n - i) * sizeof x);
    memmove(list->items + i, list->items + i + 1, (size_t)(n - i - 1) * sizeof x);
    list->n--;
    return x;
}

static jinja_value list_index(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_value *x = vouch_jinja_argument(a, 0, NULL);
    for (size_t i = 0; x && i < self->list->n; i++)
        if (vouch_jinja_equal(run, &self->list->items[i], x)) return jinja_int((int64_t)i);
    return vouch_jinja_fail(run, "index: the value is not in the list");
}

static jinja_value list_count(jinja_run *run, const jinja_value *self, const args *a)
{
    int64_t n = 0;
    const jinja_value *x = vouch_jinja_argument(a, 0, NULL);
    for (size_t i = 0; x && i < self->list->n; i++) n += vouch_jinja_equal(run, &self->list->items[i], x);
    return jinja_int(n);
}

static jinja_value dict_get(jinja_run *run, const jinja_value *self, const args *a)
{
    const jinja_value *key = vouch_jinja_argument(a, 0, "key"), *otherwise = vouch_jinja_argument(a, 1, "default");
    if (!key) return vouch_jinja_fail(run, "get needs a key");
    const jinja_value *found = vouch_jinja_dict_get(run, self->dict, key);
    return found ? *found : otherwise ? *otherwise : jinja_none();
}

typedef enum part { KEYS, VALUES, ITEMS } part;

static jinja_value dict_parts(jinja_run *run, const jinja_value *self, part which)
{
    jinja_value all = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t i = 0; i < self->dict->n && !run->failed; i++) {
        jinja_value x = which == KEYS ? self->dict->keys[i] : self->dict->values[i];
        if (which == ITEMS) {
            x = vouch_jinja_list_new(run, JINJA_TUPLE);
            vouch_jinja_list_push(run, x.list, self->dict->keys[i]);
            vouch_jinja_list_push(run, x.list, self->dict->values[i]);
        }
        vouch_jinja_list_push(run, all.list, x);
    }
    return all;
}

static jinja_value dict_keys(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return dict_parts(run, self, KEYS);
}

static jinja_value dict_values(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return dict_parts(run, self, VALUES);
}

static jinja_value dict_items(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    return dict_parts(run, self, ITEMS);
}

static void dict_add(jinja_run *run, jinja_dict *to, const args *a)
{
    const jinja_value *from = vouch_jinja_argument(a, 0, NULL);
    for (size_t i = 0; from && from->kind == JINJA_DICT && i < from->dict->n && !run->failed; i++)
        vouch_jinja_dict_set(run, to, from->dict->keys[i], from->dict->values[i]);
    for (size_t i = 0; i < a->n_named && !run->failed; i++)
        vouch_jinja_dict_set(run, to, jinja_text(a->names[i]), a->named[i]);
}

static jinja_value dict_update(jinja_run *run, const jinja_value *self, const args *a)
{
    dict_add(run, self->dict, a);
    return jinja_none();
}

static jinja_value dict_copy(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)a;
    const jinja_value copy = vouch_jinja_dict_new(run, JINJA_DICT);
    const args all = {.n = 1, .values = self};
    if (!run->failed) dict_add(run, copy.dict, &all);
    return copy;
}

/* ------------------------------------------------------------------------ look-up */

typedef struct method {
    const char *name;
    jinja_function *call;
} method;

static const method string_methods[] = {{"split", str_split},
                                        {"strip", str_strip},
                                        {"lstrip", str_lstrip},
                                        {"rstrip", str_rstrip},
                                        {"startswith", str_startswith},
                                        {"endswith", str_endswith},
                                        {"replace", str_replace},
                                        {"format", str_format},
                                        {"join", str_join},
                                        {"upper", str_upper},
                                        {"lower", str_lower},
                                        {"title", str_title},
                                        {"capitalize", str_capitalize},
                                        {"find", str_find},
                                        {"rfind", str_rfind},
                                        {"index", str_index},
                                        {"count", str_count},
                                        {"rsplit", str_rsplit},
                                        {"splitlines", str_splitlines},
                                        {"removeprefix", str_removeprefix},
                                        {"removesuffix", str_removesuffix},
                                        {"isdigit", str_isdigit},
                                        {"isnumeric", str_isdigit},
                                        {"isalpha", str_isalpha},
                                        {"isalnum", str_isalnum},
                                        {"isspace", str_isspace},
                                        {"isupper", str_isupper},
                                        {"islower", str_islower},
                                        {NULL, NULL}};
static const method list_methods[] = {
    {"append", list_append}, {"pop", list_pop}, {"index", list_index}, {"count", list_count}, {NULL, NULL}};
static const method dict_methods[] = {
    {"get", dict_get},       {"items", dict_items}, {"keys", dict_keys}, {"values", dict_values},
    {"update", dict_update}, {"copy", dict_copy},   {NULL, NULL}};

jinja_value vouch_jinja_method(jinja_run *run, const jinja_value *x, jinja_string name)
{
    const method *all = x->kind == JINJA_STRING                           ? string_methods
                        : x->kind == JINJA_LIST || x->kind == JINJA_TUPLE ? list_methods
                        : x->kind == JINJA_DICT                           ? dict_methods
                                                                          : NULL;
    for (; all && all->name; all++) {
        if (!vouch_jinja_is(name, all->name)) continue;
        jinja_value *self = vouch_jinja_take(run, 1, sizeof *self);
        if (!self) break;
        *self = *x;
        return (jinja_value){.kind = JINJA_FUNCTION, .function = {.call = all->call, .self = self}};
    }
    return jinja_undefined();
}

/* ------------------------------------------------------------------ global functions */

static jinja_value global_range(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)self;
    const int64_t first = vouch_jinja_int_argument(run, a, 0, NULL, 0),
                  second = vouch_jinja_int_argument(run, a, 1, NULL, 0);
    const int64_t step = vouch_jinja_int_argument(run, a, 2, NULL, 1);
    if (a->n == 0 || step == 0) return vouch_jinja_fail(run, a->n ? "range: the step is 0" : "range needs an end");
    const int64_t from = a->n > 1 ? first : 0, to = a->n > 1 ? second : first;
    jinja_value all = vouch_jinja_list_new(run, JINJA_LIST);
    for (int64_t i = from; !run->failed && (step > 0 ? i < to : i > to);) {
        vouch_jinja_list_push(run, all.list, jinja_int(i));
        if (__builtin_add_overflow(i, step, &i)) break;
    }
    return all;
}

static jinja_value global_dict(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)self;
    const jinja_value dict = vouch_jinja_dict_new(run, JINJA_DICT);
    if (!run->failed) dict_add(run, dict.dict, a);
    return dict;
}

static jinja_value global_namespace(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)self;
    const jinja_value space = vouch_jinja_dict_new(run, JINJA_NAMESPACE);
    if (!run->failed) dict_add(run, space.dict, a);
    return space;
}

static jinja_value global_raise(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)self;
    const jinja_string why = vouch_jinja_string_argument(run, a, 0, "message", "");
    return vouch_jinja_fail(run,
                            "it refuses this conversation: \"%.*s\": change the messages, or give another template",
                            (int)(why.n < 200 ? why.n : 200), why.bytes);
}

static jinja_value global_strftime_now(jinja_run *run, const jinja_value *self, const args *a)
{
    (void)self;
    char format[64] = "", *text = vouch_jinja_take(run, 1, 256);
    const jinja_string given = vouch_jinja_string_argument(run, a, 0, "format", "");
    const time_t now = (time_t)run->now;
    struct tm parts;
    if (given.n >= sizeof format) return vouch_jinja_fail(run, "strftime_now: the format is too long");
    memcpy(format, given.bytes, given.n);
    if (!text || !localtime_r(&now, &parts)) return jinja_undefined();
    strftime(text, 256, format, &parts); /* a longer result is left empty */
    return jinja_text(vouch_jinja_literal(text));
}

jinja_value vouch_jinja_global(jinja_string name)
{
    static const method globals[] = {{"namespace", global_namespace}, {"raise_exception", global_raise},
                                     {"range", global_range},         {"strftime_now", global_strftime_now},
                                     {"dict", global_dict},           {NULL, NULL}};
    for (const method *m = globals; m->name; m++)
        if (vouch_jinja_is(name, m->name)) return (jinja_value){.kind = JINJA_FUNCTION, .function = {.call = m->call}};
    return jinja_undefined();
}
