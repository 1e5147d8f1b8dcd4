/* SPDX-License-Identifier: MIT */
/*
 * Reads a form off a chat template. Five conversations are rendered: a question, the question with an open answer, and
 * the question with an answer that says something, calls once, calls twice. Names, keys, values and ids are made up, so
 * each is found where the template wrote it:
 *
 *   open       ...<|im_start|>assistant\n
 *   one        ...<|im_start|>assistant\n<tool_call>\n{"name": "probe_one", "arguments": {...}}\n</tool_call><|im_end|>
 *              └──── common: the turn ───┘└─ before ─┘└───────────────── item ───────────────┘└─ after ─┘└ as in ┐
 *   said       ...<|im_start|>assistant\nsaid_text<|im_end|>                                              └ said ──┘
 *   two        ... item, between, item, after
 *
 * Some templates take tools and show no call. For these there are examples, which are read in the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "call/form.h"
#include "os/os.h"
#include "tool/memory.h"

#define QUESTION "probe_question"
#define SAID     "@said_text"
#define WHITE    " \n\t\r"

static const char *const names[] = {"probe_one", "probe_two"}, *const ids[] = {"idone0001", "idtwo0002"};
/* The quote and the backslash of the second call tell how a template escapes strings. */
#define VALUE_C "value_c'\\"
static const char *const arguments[] = {"{\"key_a\": \"value_a\", \"key_b\": 41}", "{\"key_c\": \"value_c'\\\\\"}"};

/* A part of a text that outlives it. */
typedef struct span {
    const char *text;
    size_t n;
} span;

static span span_of(const char *text)
{
    return (span){text, strlen(text)};
}

static span from(span s, size_t at)
{
    return (span){s.text + at, s.n - at};
}

static span up_to(span s, size_t n)
{
    return (span){s.text, n};
}

static span trimmed(span s)
{
    while (s.n > 0 && strchr(WHITE, s.text[0])) s = from(s, 1);
    while (s.n > 0 && strchr(WHITE, s.text[s.n - 1])) s.n--;
    return s;
}

static const char *find(span s, const char *what)
{
    return s.n ? memmem(s.text, s.n, what, strlen(what)) : NULL;
}

/* The last one; NULL: none. */
static const char *find_last(span s, const char *what)
{
    const char *last = NULL;
    for (const char *at = find(s, what); at; at = find(from(s, (size_t)(at - s.text) + 1), what)) last = at;
    return last;
}

static size_t offset(span s, const char *at)
{
    return (size_t)(at - s.text);
}

static bool same(span a, span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.text, b.text, a.n) == 0);
}

static bool begins(span s, span with)
{
    return s.n >= with.n && same(up_to(s, with.n), with);
}

static size_t common_beginning(span a, span b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && a.text[n] == b.text[n]) n++;
    return n;
}

static size_t common_end(span a, span b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && a.text[a.n - 1 - n] == b.text[b.n - 1 - n]) n++;
    return n;
}

/* Moves a border at n that lies within <...> or [...] to its beginning. */
static size_t before_mark(span s, size_t n)
{
    for (size_t i = n; i > 0; i--) {
        if (strchr(">]", s.text[i - 1])) break;
        if (strchr("<[", s.text[i - 1])) return i - 1;
    }
    return n;
}

/* s without the end of a mark that it begins with. */
static span whole_marks(span s)
{
    const char *close = s.n ? memchr(s.text, '>', s.n) : NULL, *open = s.n ? memchr(s.text, '<', s.n) : NULL;
    return close && (!open || close < open) ? from(s, offset(s, close) + 1) : s;
}

/* Takes a copy. False: no memory. */
static bool keep(char **out, span s)
{
    free(*out);
    *out = strndup(s.n ? s.text : "", s.n);
    return *out != NULL;
}

/* ------------------------------------------------------------- conversations */

static json_t *call_of(int i)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", ids[i], "type", "function", "function", "name", names[i],
                     "arguments", arguments[i]);
}

/* The tools of the made-up calls, as clients describe tools. */
static json_t *tools_json(void)
{
    static const char text[] =
        "[{\"type\": \"function\", \"function\": {\"name\": \"probe_one\", \"description\": \"one\", \"parameters\": "
        "{\"type\": \"object\", \"properties\": {\"key_a\": {\"type\": \"string\", \"description\": \"a\"}, \"key_b\": "
        "{\"type\": \"integer\", \"description\": \"b\"}}, \"required\": [\"key_a\", \"key_b\"], "
        "\"additionalProperties\": false}}}, {\"type\": \"function\", \"function\": {\"name\": \"probe_two\", "
        "\"description\": \"two\", \"parameters\": {\"type\": \"object\", \"properties\": {\"key_c\": {\"type\": "
        "\"string\", \"description\": \"c\"}}, \"required\": [\"key_c\"], \"additionalProperties\": false}}}]";
    return json_loads(text, 0, NULL);
}

/* Renders the question and the answer, which it takes (NULL: none). An empty text: the template refuses. */
static void render(const vouch_model *model, json_t *answer, bool opens, server_text *out)
{
    json_t *messages = json_pack("[{s:s, s:s}]", "role", "user", "content", QUESTION);
    if (answer) json_array_append_new(messages, answer);
    json_t *conversation =
        json_pack("{s:o, s:o, s:b}", "messages", messages, "tools", tools_json(), "add_generation_prompt", opens);
    char *json = conversation ? json_dumps(conversation, JSON_COMPACT) : NULL;
    size_t n = 0;
    vouch_status status = json ? vouch_render_chat(model, json, strlen(json), NULL, 0, &n, NULL) : VOUCH_OK;
    if (status == VOUCH_E_BUFFER) {
        char *room = server_text_grow(out, n);
        if (room) status = vouch_render_chat(model, json, strlen(json), room, n, &n, NULL);
        if (status) out->n = 0;
    }
    if (status == VOUCH_E_MEMORY) tool_memory_refuse();
    free(json);
    json_decref(conversation);
}

enum { BASE, OPEN, SAYS, ONE, TWO, N_TEXTS };

static void render_all(const vouch_model *model, server_text texts[N_TEXTS])
{
    render(model, NULL, false, &texts[BASE]);
    render(model, NULL, true, &texts[OPEN]);
    render(model, json_pack("{s:s, s:s}", "role", "assistant", "content", SAID), false, &texts[SAYS]);
    render(model, json_pack("{s:s, s:n, s:[o]}", "role", "assistant", "content", "tool_calls", call_of(0)), false,
           &texts[ONE]);
    render(model,
           json_pack("{s:s, s:n, s:[o, o]}", "role", "assistant", "content", "tool_calls", call_of(0), call_of(1)),
           false, &texts[TWO]);
}

/* The text that the template adds for the answer. */
static span turn_of(const server_text texts[N_TEXTS], int which)
{
    const span base = {texts[BASE].bytes, texts[BASE].n}, text = {texts[which].bytes, texts[which].n};
    return from(text, before_mark(text, common_beginning(base, text)));
}

/* The turn without what opens it. */
static span answer_of(const server_text texts[N_TEXTS], int which)
{
    const span turn = turn_of(texts, which), open = turn_of(texts, OPEN);
    const size_t n = common_beginning(turn, open);
    return from(turn, n == open.n ? n : before_mark(turn, n));
}

/* ------------------------------------------------------------------ thoughts */

/* A model whose template writes no thoughts may still write some between the usual marks. */
static bool read_thoughts(server_form *f, const vouch_model_info *info)
{
    const bool writes = *info->thoughts_begin != '\0';
    f->thinks = writes || info->chat_template_thinks;
    return keep(&f->think, span_of(writes ? info->thoughts_begin : "<think>")) &&
           keep(&f->think_end, span_of(writes ? info->thoughts_end : "</think>"));
}

/* s after the thoughts that it begins with. */
static span after_thoughts(const server_form *f, span s)
{
    const char *end = *f->think_end ? find(s, f->think_end) : NULL;
    return end ? from(s, offset(s, end) + strlen(f->think_end)) : s;
}

/* ------------------------------------------------------------------ content */

/* The text that ends every turn: the end of `after` that a plain answer has, too. */
static span end_of_turn(span after, span plain)
{
    return whole_marks(from(after, after.n - common_end(after, plain)));
}

/* Reads the marks that the template writes around content. `called` is an answer with a call, which ends the turn in
 * the same way. */
static bool read_content(server_form *f, span says, span called)
{
    const char *said = find(says, SAID);
    if (!said) return true;
    const span before = after_thoughts(f, up_to(says, offset(says, said))),
               rest = from(says, offset(says, said) + strlen(SAID));
    const span mark = trimmed(before);
    if (mark.n == 0 || mark.text[0] == '{') return true;
    if (!keep(&f->content, (span){mark.text, before.n - offset(before, mark.text)})) return false;
    return keep(&f->content_end, trimmed(up_to(rest, rest.n - end_of_turn(called, rest).n)));
}

/* ------------------------------------------------------------------ items */

/* False: no memory, or too many parts. */
static bool add_part(server_form *f, server_slot slot, span text)
{
    if (slot == SERVER_SLOT_TEXT && text.n == 0) return true;
    if (f->n_parts == SERVER_MOST_PARTS) return false;
    server_part *part = &f->parts[f->n_parts++];
    part->slot = slot;
    return slot != SERVER_SLOT_TEXT || keep(&part->text, text);
}

/* A slot of an item, found in a text: [at, at + n). */
typedef struct found {
    server_slot slot;
    size_t at, n;
} found;

/* One item of a text, with its slots in the order of the text. */
typedef struct item {
    size_t at, n;
    found slots[3];
    int n_slots;
} item;

static void add_slot(item *all, server_slot slot, size_t at, size_t n)
{
    int i = all->n_slots++;
    for (; i > 0 && all->slots[i - 1].at > at; i--) all->slots[i] = all->slots[i - 1];
    all->slots[i] = (found){slot, at, n};
}

/* The arguments of call i as `value` holds them: an object, or its text. */
static bool holds_arguments(json_t *value, int i)
{
    json_t *wanted = json_loads(arguments[i], 0, NULL), *read = NULL;
    if (json_is_string(value)) value = read = json_loads(json_string_value(value), 0, NULL);
    const bool is_right = wanted && json_equal(wanted, value);
    json_decref(read);
    json_decref(wanted);
    return is_right;
}

/* Reads the keys of an object that is call i. False: it is none. */
static bool read_keys(server_form *f, json_t *object, int i)
{
    const char *key;
    json_t *value;
    bool has_name = false, has_arguments = false, good = true;
    json_object_foreach(object, key, value) {
        const char *text = json_string_value(value);
        if (strcmp(key, names[i]) == 0 && holds_arguments(value, i)) {
            has_name = has_arguments = true;
            good = keep(&f->name_key, span_of("")) && keep(&f->arguments_key, span_of(""));
        } else if (text && strcmp(text, names[i]) == 0) {
            has_name = true;
            good = good && keep(&f->name_key, span_of(key));
        } else if (text && strcmp(text, ids[i]) == 0) {
            good = good && keep(&f->id_key, span_of(key));
        } else if (holds_arguments(value, i)) {
            has_arguments = true;
            good = good && keep(&f->arguments_key, span_of(key));
        } else {
            good = good && keep(&f->other_key, span_of(key));
        }
    }
    return good && has_name && has_arguments;
}

/* The end of the JSON value that begins at s[at]; 0: none does. *value: the value, to be dropped. */
static size_t json_end(span s, size_t at, json_t **value)
{
    json_error_t error;
    *value = json_loadb(s.text + at, s.n - at, JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &error);
    return *value ? at + (size_t)error.position : 0;
}

/* The slots of an object: its name, its id, its arguments. */
static bool find_object_slots(span s, int i, item *out)
{
    const span whole = up_to(s, out->at + out->n);
    const span inner = from(whole, out->at);
    const char *key = find(inner, i == 0 ? "key_a" : "key_c"), *name = find(inner, names[i]), *id = find(inner, ids[i]);
    if (!key || !name) return false;
    size_t at = offset(whole, key);
    while (at > out->at && s.text[at] != '{') at--;
    json_t *value;
    size_t end = json_end(whole, at, &value);
    if (!end && at > 0 && s.text[at - 1] == '"') end = json_end(whole, --at, &value);
    json_decref(value);
    if (!end) return false;
    add_slot(out, SERVER_SLOT_NAME, offset(whole, name), strlen(names[i]));
    add_slot(out, SERVER_SLOT_ARGUMENTS, at, end - at);
    if (id) add_slot(out, SERVER_SLOT_ID, offset(whole, id), strlen(ids[i]));
    return true;
}

/* The first object of s after `at` that is call i. */
static bool find_object(server_form *f, span s, size_t at, int i, item *out)
{
    for (; at < s.n; at++) {
        json_t *value;
        if (s.text[at] != '{') continue;
        const size_t end = json_end(s, at, &value);
        const bool is_call = end && json_is_object(value) && read_keys(f, value, i);
        json_decref(value);
        *out = (item){.at = at, .n = end - at};
        if (is_call) return find_object_slots(s, i, out);
    }
    return false;
}

/* Whether the value at s[at], in the form's notation, is the arguments of call i. *end: where it ends. */
static bool is_literal(const char *quote, bool is_python, char raw, span s, size_t at, int i, size_t *end)
{
    server_literal literal;
    server_text json = {0};
    size_t used = 0;
    server_literal_begin(&literal, quote, is_python, raw);
    const bool is_whole = server_literal_push(&literal, s.text + at, s.n - at, &used, &json) == SERVER_MATCH;
    json_t *value = is_whole ? json_loadb(json.bytes, json.n, 0, NULL) : NULL;
    *end = at + used;
    const bool is_right = value && holds_arguments(value, i);
    json_decref(value);
    server_text_free(&json);
    server_literal_free(&literal);
    return is_right;
}

/* The arguments of call i, each between marks: begin KEY is VALUE end. The first call has two, which tells the marks
 * apart. */
static bool find_parameters(server_form *f, span s, size_t name_end, int i, size_t *at, size_t *end)
{
    const span rest = from(s, name_end);
    const char *key = find(rest, i == 0 ? "key_a" : "key_c"), *value = find(rest, i == 0 ? "value_a" : "value_c");
    if (!key || !value || value < key || (i > 0 && !*f->begin)) return false;
    if (i == 0) {
        const char *key_b = find(rest, "key_b"), *value_b = find(rest, "41");
        if (!key_b || !value_b || key_b < value || value_b < key_b) return false;
        const span gap = up_to(rest, offset(rest, key)),
                   middle = {value + strlen("value_a"), (size_t)(key_b - value) - strlen("value_a")};
        const size_t n_begin = whole_marks(from(gap, gap.n - common_end(gap, middle))).n;
        const span is = {key + strlen("key_a"), (size_t)(value - key) - strlen("key_a")},
                   is_other = {key_b + strlen("key_b"), (size_t)(value_b - key_b) - strlen("key_b")};
        const span ends = up_to(middle, middle.n - n_begin), later = from(rest, offset(rest, value_b) + strlen("41"));
        if (trimmed(from(middle, ends.n)).n == 0 || trimmed(is).n == 0 || trimmed(is_other).n == 0 ||
            trimmed(ends).n == 0 || !begins(later, ends))
            return false;
        if (!keep(&f->begin, from(middle, ends.n)) || !keep(&f->is, is) || !keep(&f->is_other, is_other) ||
            !keep(&f->end, ends))
            return false;
        value = value_b;
    }
    *at = offset(s, key) - strlen(f->begin);
    *end = offset(s, value) + strlen(i == 0 ? "41" : VALUE_C) + strlen(f->end);
    return *at >= name_end && *end <= s.n;
}

/* The arguments of call i after its name, and their notation. */
static bool find_arguments(server_form *f, span s, size_t name_end, int i, size_t *at, size_t *end)
{
    const span rest = from(s, name_end);
    const char *key = find(rest, i == 0 ? "key_a" : "key_c"), *value = find(rest, i == 0 ? "value_a" : "value_c");
    if (!key || !value || value < key) return false;
    size_t open = offset(s, key);
    while (open > name_end && !strchr("{(", s.text[open])) open--;
    *at = open;
    f->notation = SERVER_NOTATION_JSON;
    if (s.text[open] == '{' && is_literal("", false, 0, s, open, i, end)) {
        if (key[-1] == '"') return true;      /* the bracket stands before the key */
        f->notation = SERVER_NOTATION_PYTHON; /* {key: 'value'} */
        return true;
    }
    if (open + 1 == offset(s, key) && s.text[open] == '{') {
        const span mark = {key + strlen("key_a:"), (size_t)(value - key) - strlen("key_a:")};
        f->notation = SERVER_NOTATION_BARE;
        return mark.n > 0 && mark.n < 32 && keep(&f->quote, mark) && is_literal(f->quote, true, 0, s, open, i, end);
    }
    f->notation = SERVER_NOTATION_PYTHON;
    f->raw = 0;
    if (s.text[open] == '(' && is_literal("", true, 0, s, open, i, end)) return true;
    f->raw = value[-1];
    if (s.text[open] == '(' && is_literal("", true, f->raw, s, open, i, end)) return true;
    f->raw = 0;
    f->notation = SERVER_NOTATION_PARAMETERS;
    return find_parameters(f, s, name_end, i, at, end);
}

/* Name and arguments of call i, one after the other, with an id before, between or after them. */
static bool find_sequence(server_form *f, span s, size_t from_at, int i, item *out)
{
    const char *key = find(from(s, from_at), i == 0 ? "key_a" : "key_c");
    const char *name = key ? find_last((span){s.text + from_at, (size_t)(key - s.text) - from_at}, names[i]) : NULL;
    size_t at, end;
    if (!name || !find_arguments(f, s, offset(s, name) + strlen(names[i]), i, &at, &end)) return false;
    *out = (item){0};
    add_slot(out, SERVER_SLOT_NAME, offset(s, name), strlen(names[i]));
    add_slot(out, SERVER_SLOT_ARGUMENTS, at, end - at);
    const char *id = find(from(s, from_at), ids[i]);
    if (id) add_slot(out, SERVER_SLOT_ID, offset(s, id), strlen(ids[i]));
    const found *last = &out->slots[out->n_slots - 1];
    out->at = out->slots[0].at;
    out->n = last->at + last->n - out->at;
    return true;
}

/* Call i in s, at or after `at`. */
static bool find_item(server_form *f, span s, size_t at, int i, item *out)
{
    return f->is_object ? find_object(f, s, at, i, out) : find_sequence(f, s, at, i, out);
}

/* Adds a text of the item. A number that counts the calls is 0 in the first and 1 in the second. */
static bool add_text(server_form *f, span one, span two)
{
    const size_t n = common_beginning(one, two);
    const bool counts = one.n == two.n && n < one.n && one.text[n] == '0' && two.text[n] == '1' &&
                        same(from(one, n + 1), from(two, n + 1));
    if (!counts) return add_part(f, SERVER_SLOT_TEXT, one);
    return add_part(f, SERVER_SLOT_TEXT, up_to(one, n)) && add_part(f, SERVER_SLOT_INDEX, (span){"", 0}) &&
           add_part(f, SERVER_SLOT_TEXT, from(one, n + 1));
}

/* The parts of the first item. `second` stands in `two`; n_slots 0: it isn't known. */
static bool add_parts(server_form *f, span one, const item *first, span two, const item *second)
{
    const bool has_second = second->n_slots == first->n_slots;
    size_t at = first->at, at_two = second->at;
    for (int i = 0; i <= first->n_slots; i++) {
        const size_t end = i < first->n_slots ? first->slots[i].at : first->at + first->n;
        const size_t end_two = !has_second ? 0 : i < second->n_slots ? second->slots[i].at : second->at + second->n;
        const span text = {one.text + at, end - at};
        if (!add_text(f, text, has_second && end_two >= at_two ? (span){two.text + at_two, end_two - at_two} : text))
            return false;
        if (i == first->n_slots) break;
        if (!add_part(f, first->slots[i].slot, (span){"", 0})) return false;
        at = end + first->slots[i].n;
        if (has_second) at_two = end_two + second->slots[i].n;
    }
    return true;
}

/* ------------------------------------------------------------------ calls */

/* The beginning of `before` that tells a call from other text; empty: nothing does. */
static span solid_beginning(span before)
{
    before = trimmed(before);
    if (before.n == 0 || strchr("{\"", before.text[0])) return (span){"", 0};
    if (before.text[0] == '<') {
        const char *end = memchr(before.text, '>', before.n);
        return end ? up_to(before, offset(before, end) + 1) : before;
    }
    if (before.text[0] == '[') {
        const char *end = memchr(before.text, ']', before.n);
        return end ? up_to(before, offset(before, end) + 1) : (span){"", 0};
    }
    size_t n = 0;
    while (n < before.n && !strchr(WHITE "[{(<", before.text[n])) n++;
    return up_to(before, n);
}

static bool add_mark(server_form *f, span mark)
{
    if (mark.n == 0 || f->n_marks == SERVER_MOST_MARKS) return true;
    for (int32_t i = 0; i < f->n_marks; i++)
        if (same(mark, span_of(f->marks[i]))) return true;
    return keep(&f->marks[f->n_marks++], mark);
}

/* Reads the calls of an answer `one` with one call and `two` with two. `says` is a plain answer. False: there are none,
 * or no memory. */
static bool read_calls(server_form *f, span one, span two, span says)
{
    item first = {0}, second = {0}, repeated;
    f->is_object = find_object(f, one, 0, 0, &first);
    if (!f->is_object && !find_sequence(f, one, 0, 0, &first)) return false;
    if (f->is_object) f->notation = SERVER_NOTATION_JSON;
    const span before = after_thoughts(f, up_to(one, first.at)), rest = from(one, first.at + first.n);
    const char *said = find(says, SAID);
    const span plain_end = said ? from(says, offset(says, said) + strlen(SAID)) : (span){"", 0};
    span after = up_to(rest, rest.n - end_of_turn(rest, plain_end).n);
    while (after.n > 0 && strchr(WHITE, after.text[after.n - 1])) after.n--;
    const server_notation notation = f->notation;
    f->several = find_item(f, two, 0, 0, &repeated) && repeated.at == first.at &&
                 find_item(f, two, repeated.at + repeated.n, 1, &second);
    f->notation = notation; /* of the first call, which tells all but `raw` */
    span between = {"", 0}, later = {"", 0};
    if (f->several) {
        between = (span){two.text + repeated.at + repeated.n, second.at - repeated.at - repeated.n};
        const span rest_two = from(two, second.at + second.n);
        f->several = begins(rest_two, after) && !find(between, QUESTION);
        const size_t n_later = rest_two.n - end_of_turn(rest_two, plain_end).n;
        if (f->several && n_later > after.n) later = trimmed(from(up_to(rest_two, n_later), after.n));
    }
    const char *close = after.n ? memchr(after.text, '>', after.n) : NULL;
    if (!f->several) between = (span){"", 0}, second = (item){0};
    return keep(&f->close, close ? up_to(after, offset(after, close) + 1) : after) && keep(&f->before, before) &&
           keep(&f->after, after) && keep(&f->after_several, later) && keep(&f->between, between) &&
           add_parts(f, one, &first, two, &second) && add_mark(f, solid_beginning(before));
}

/* How models call whose templates take tools and show no call. `sign` is in the prompt. The last one is for all
 * others. */
#define OBJECT(name, arguments) "{\"name\": \"" name "\", \"arguments\": " arguments "}"
#define ONE_A "{\"key_a\": \"value_a\", \"key_b\": 41}"
#define TWO_C "{\"key_c\": \"value_c'\\\\\"}"
static const struct {
    const char *sign, *one, *two;
} examples[] = {
    {"<|tool_list_start|>", "<|tool_call_start|>[probe_one(key_a=\"value_a\", key_b=41)]<|tool_call_end|>",
     "<|tool_call_start|>[probe_one(key_a=\"value_a\", key_b=41), probe_two(key_c=\"value_c'\\\\\")]<|tool_call_end|>"},
    {"<|/tool|>", "<|tool_call|>[" OBJECT("probe_one", ONE_A) "]<|/tool_call|>",
     "<|tool_call|>[" OBJECT("probe_one", ONE_A) ", " OBJECT("probe_two", TWO_C) "]<|/tool_call|>"},
    {"<|tool_call|>", "<|tool_call|>[" OBJECT("probe_one", ONE_A) "]",
     "<|tool_call|>[" OBJECT("probe_one", ONE_A) ", " OBJECT("probe_two", TWO_C) "]"},
    {"<tool_call>", "<tool_call>\n" OBJECT("probe_one", ONE_A) "\n</tool_call>",
     "<tool_call>\n" OBJECT("probe_one", ONE_A) "\n</tool_call>\n<tool_call>\n" OBJECT("probe_two",
                                                                                       TWO_C) "\n</tool_call>"},
    {"", OBJECT("probe_one", ONE_A), OBJECT("probe_one", ONE_A)},
};

static bool read_example(server_form *f, span prompt)
{
    size_t i = 0;
    while (*examples[i].sign && !find(prompt, examples[i].sign)) i++;
    f->n_parts = f->n_marks = 0;
    f->notation = SERVER_NOTATION_JSON;
    f->raw = 0;
    if (!read_calls(f, span_of(examples[i].one), span_of(examples[i].two), (span){"", 0})) return false;
    f->shows_calls = *examples[i].sign != '\0';
    return true;
}

/* gpt-oss. */
static bool is_channels(span one)
{
    return find(one, "<|channel|>") && find(one, "to=functions.");
}

/* Calls without a mark of their own may also come after one that many models know. */
static bool add_common_marks(server_form *f)
{
    if (f->n_marks > 0 || !f->is_object) return true;
    return add_mark(f, span_of("<|python_tag|>")) && add_mark(f, span_of("<tool_call>"));
}

static bool read_form(server_form *f, const vouch_model *model, const server_text texts[N_TEXTS])
{
    span one = answer_of(texts, ONE), two = answer_of(texts, TWO), says = answer_of(texts, SAYS);
    if (!read_thoughts(f, vouch_model_get_info(model))) return false;
    const size_t n = before_mark(one, common_beginning(one, says)); /* some templates open turns in another way */
    if (common_beginning(one, two) >= n) one = from(one, n), two = from(two, n), says = from(says, n);
    f->is_harmony = is_channels(one);
    f->shows_calls = read_calls(f, one, two, says);
    const span called = f->shows_calls ? one : (span){"", 0};
    if (!f->shows_calls && !read_example(f, (span){texts[OPEN].bytes, texts[OPEN].n})) return false;
    return f->is_harmony || (read_content(f, says, called) && add_common_marks(f));
}

/* ------------------------------------------------------------------ controls */

#define CHANNEL_MARKS "<|channel|><|message|><|start|><|end|><|call|><|return|><|constrain|>"

/* Keeps the names of control tokens that the form's texts hold. */
static bool find_controls(server_form *f, const vouch_model *model)
{
    server_text all = {0};
    const char *const texts[] = {f->think,         f->think_end,
                                 f->content,       f->content_end,
                                 f->before,        f->between,
                                 f->after,         f->quote,
                                 f->begin,         f->is,
                                 f->is_other,      f->end,
                                 f->after_several, f->is_harmony ? CHANNEL_MARKS : ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) server_text_add(&all, texts[i], strlen(texts[i]) + 1);
    for (int32_t i = 0; i < f->n_parts; i++)
        if (f->parts[i].slot == SERVER_SLOT_TEXT) server_text_add(&all, f->parts[i].text, strlen(f->parts[i].text) + 1);
    for (int32_t i = 0; i < f->n_marks; i++) server_text_add(&all, f->marks[i], strlen(f->marks[i]) + 1);
    bool good = !all.failed;
    for (int32_t token = 0; good && token < vouch_model_get_info(model)->n_vocab; token++) {
        size_t n = 0;
        if (!vouch_token_is_special(model, token)) continue;
        const char *name = vouch_token_bytes(model, token, &n);
        if (!name || n == 0 || !memmem(all.bytes, all.n, name, n)) continue;
        char **more = realloc(f->controls, (f->n_controls + 1) * sizeof *more);
        if (more) f->controls = more;
        good = more && (f->controls[f->n_controls] = strndup(name, n)) != NULL;
        f->n_controls += good;
    }
    server_text_free(&all);
    return good;
}

/* ------------------------------------------------------------------ open, close */

static char **const *strings_of(server_form *f, char **all[19])
{
    char **const members[] = {
        &f->think,    &f->think_end,     &f->content,       &f->content_end, &f->before, &f->between, &f->after,
        &f->name_key, &f->arguments_key, &f->id_key,        &f->quote,       &f->begin,  &f->is,      &f->is_other,
        &f->end,      &f->close,         &f->after_several, &f->other_key,   NULL};
    memcpy(all, members, sizeof members);
    return all;
}

server_form *server_form_open(const vouch_model *model)
{
    server_form *f = calloc(1, sizeof *f);
    server_text texts[N_TEXTS] = {{0}};
    char **all[19];
    bool good = f != NULL;
    if (!f) return NULL;
    tool_memory_forget();
    for (char **const *member = strings_of(f, all); *member; member++) good = keep(*member, (span){"", 0}) && good;
    if (good) {
        render_all(model, texts);
        good = read_form(f, model, texts) && find_controls(f, model);
    }
    for (int i = 0; i < N_TEXTS; i++) server_text_free(&texts[i]);
    if (good && !tool_memory_is_short()) return f;
    server_form_close(f);
    return NULL;
}

void server_form_close(server_form *f)
{
    char **all[19];
    if (!f) return;
    for (char **const *member = strings_of(f, all); *member; member++) free(**member);
    for (int32_t i = 0; i < SERVER_MOST_PARTS; i++) free(f->parts[i].text);
    for (int32_t i = 0; i < SERVER_MOST_MARKS; i++) free(f->marks[i]);
    for (size_t i = 0; i < f->n_controls; i++) free(f->controls[i]);
    free(f->controls);
    free(f);
}
