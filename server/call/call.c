/* SPDX-License-Identifier: MIT */
/* The steps of a reader through one call: its head with the name, its arguments, its tail. */
#include "call/reader.h"

#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tool/memory.h"

enum { MOST_NAME = 256 }; /* bytes of names, ids and keys */

/* A part of the text. */
typedef struct part {
    const char *text;
    size_t n;
} part;

/* The parts of a call's head. */
typedef struct head {
    part name, id;
    server_text name_text; /* holds the name of an object, in which escapes are resolved */
    server_text arguments; /* of an object that had them before the name */
    bool is_complete, is_text;
} head;

static bool is_among(char byte, const char *bytes)
{
    return byte && strchr(bytes, byte);
}

static size_t skip_white(const char *text, size_t n, size_t at)
{
    while (at < n && is_among(text[at], " \t\r\n")) at++;
    return at;
}

static bool is_part(part p, const char *word)
{
    return p.n == strlen(word) && memcmp(p.text, word, p.n) == 0;
}

/* -------------------------------------------------------------------- tools */

static const json_t *tool_named(const server_reader *r, part name)
{
    const json_t *tool;
    size_t i;
    json_array_foreach(r->tools, i, tool) {
        const json_t *function = json_object_get(tool, "function");
        const char *known = json_string_value(json_object_get(function, "name"));
        if (known && is_part(name, known)) return function;
    }
    return NULL;
}

/* --------------------------------------------------------------------- head */

/* The byte at which a name, an id or a number ends that stands before part i of the item; 0: an argument's bracket. */
static char terminator(const server_form *f, int32_t i)
{
    if (i >= f->n_parts || f->parts[i].slot != SERVER_SLOT_TEXT) return '\0';
    const char *text = f->parts[i].text + strspn(f->parts[i].text, " \t\r\n");
    return *text;
}

/* Reads a word that ends before the byte `end`, white space, a quote or a bracket of arguments. */
static server_match read_word(const char *text, size_t n, size_t *at, char end, part *out)
{
    size_t i = *at;
    while (i < n && text[i] != end && !is_among(text[i], " \t\r\n\"({")) i++;
    if (i - *at > MOST_NAME || (i < n && i == *at)) return SERVER_NO;
    if (i == n) return SERVER_MORE;
    *out = (part){text + *at, i - *at};
    *at = i;
    return SERVER_MATCH;
}

/* Reads the name of a tool, which may have any bytes, and after which part i of the item must follow. NO: there is
 * none, and the name is read as a word. */
static server_match read_tool_name(const server_reader *r, int32_t i, const char *text, size_t n, size_t *at, part *out)
{
    const server_form *f = r->form;
    const json_t *tool;
    size_t t, used;
    bool may_come = false;
    json_array_foreach(r->tools, t, tool) {
        const char *name = json_string_value(json_object_get(json_object_get(tool, "function"), "name"));
        const size_t n_name = name ? strlen(name) : 0, left = n - *at;
        if (n_name == 0 || memcmp(text + *at, name, n_name < left ? n_name : left) != 0) continue;
        server_match next = SERVER_MORE;
        if (left > n_name && i < f->n_parts && f->parts[i].slot == SERVER_SLOT_TEXT)
            next = server_match_mark(f->parts[i].text, text + *at + n_name, left - n_name, &used);
        else if (left > n_name) next = is_among(text[*at + n_name], " \t\r\n({<") ? SERVER_MATCH : SERVER_NO;
        may_come |= next == SERVER_MORE;
        if (next != SERVER_MATCH) continue;
        *out = (part){text + *at, n_name};
        *at += n_name;
        return SERVER_MATCH;
    }
    return may_come ? SERVER_MORE : SERVER_NO;
}

/* Reads the parts of an item from `first` to its arguments, or to its end. */
static server_match read_parts(const server_reader *r, int32_t first, const char *text, size_t n, size_t *at, head *h)
{
    const server_form *f = r->form;
    for (int32_t i = first; i < f->n_parts && f->parts[i].slot != SERVER_SLOT_ARGUMENTS; i++) {
        const server_slot slot = f->parts[i].slot;
        part word, *out = slot == SERVER_SLOT_NAME ? &h->name : slot == SERVER_SLOT_ID ? &h->id : &word;
        size_t used = 0;
        server_match match;
        if (slot == SERVER_SLOT_TEXT) {
            match = server_match_mark(f->parts[i].text, text + *at, n - *at, &used);
            *at += match == SERVER_MATCH ? used : 0;
        } else {
            match = slot == SERVER_SLOT_NAME ? read_tool_name(r, i + 1, text, n, at, out) : SERVER_NO;
            if (match == SERVER_NO) match = read_word(text, n, at, terminator(f, i + 1), out);
        }
        if (match != SERVER_MATCH) return match;
    }
    return SERVER_MATCH;
}

/* Whether arguments in the form's notation begin at text[at]. */
static server_match arguments_begin(const server_form *f, const char *text, size_t n, size_t *at)
{
    size_t used;
    if (f->notation == SERVER_NOTATION_PARAMETERS) {
        const server_match begin = server_match_mark(f->begin, text + *at, n - *at, &used),
                           close = server_match_mark(f->close, text + *at, n - *at, &used);
        if (begin == SERVER_MATCH || close == SERVER_MATCH) return SERVER_MATCH;
        return begin == SERVER_MORE || close == SERVER_MORE ? SERVER_MORE : SERVER_NO;
    }
    *at = skip_white(text, n, *at);
    if (*at == n) return SERVER_MORE;
    return is_among(text[*at], f->notation == SERVER_NOTATION_PYTHON ? "({" : "{\"") ? SERVER_MATCH : SERVER_NO;
}

/* Reads a value, and writes it as JSON. */
static server_match read_value(const char *text, size_t n, size_t *at, server_text *json)
{
    server_literal literal;
    size_t used = 0;
    server_literal_begin(&literal, "", false, 0);
    *at = skip_white(text, n, *at);
    const server_match match = server_literal_push(&literal, text + *at, n - *at, &used, json);
    server_literal_free(&literal);
    *at += used;
    return match;
}

/* Reads "key": of an object. MATCH with no byte in `key`: the object ends. */
static server_match read_key(const char *text, size_t n, size_t *at, server_text *key)
{
    *at = skip_white(text, n, *at);
    if (*at < n && text[*at] == ',') *at = skip_white(text, n, *at + 1);
    key->n = 0;
    if (*at == n) return SERVER_MORE;
    if (text[*at] == '}') return SERVER_MATCH;
    if (text[*at] != '"') return SERVER_NO;
    const server_match match = read_value(text, n, at, key);
    if (match != SERVER_MATCH) return match;
    *at = skip_white(text, n, *at);
    if (*at == n) return SERVER_MORE;
    return text[(*at)++] == ':' ? SERVER_MATCH : SERVER_NO;
}

/* The text that a JSON string stands for; false: it is none. */
static bool resolve(server_text *out, const server_text *json)
{
    json_t *string = json_loadb(json->n ? json->bytes : "", json->n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    const bool is_string = json_is_string(string);
    out->n = 0;
    if (is_string) server_text_add(out, json_string_value(string), json_string_length(string));
    json_decref(string);
    return is_string;
}

typedef enum member { OTHER, NAME, ARGUMENTS, ID, UNKNOWN } member;

/* The meaning of an object's key. Models also write the words that other forms have. */
static member member_of(const server_form *f, const server_text *key)
{
    const struct {
        const char *word;
        member is;
    } words[] = {{f->name_key, NAME},      {f->arguments_key, ARGUMENTS}, {f->id_key, ID}, {"name", NAME},
                 {"arguments", ARGUMENTS}, {"parameters", ARGUMENTS},     {"id", ID},      {"type", OTHER},
                 {f->other_key, OTHER}};
    const part inner = {key->bytes + 1, key->n - 2};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (*words[i].word && is_part(inner, words[i].word)) return words[i].is;
    return UNKNOWN;
}

/* The name is a key, and the arguments are its value: {"f": {"x": 1}}. */
static server_match read_keyed(const char *text, size_t n, size_t *at, head *h)
{
    server_text key = {0};
    server_match match = read_key(text, n, at, &key);
    if (match == SERVER_MATCH && (key.n == 0 || !resolve(&h->name_text, &key) || h->name_text.n == 0))
        match = SERVER_NO;
    server_text_free(&key);
    if (match != SERVER_MATCH) return match;
    h->name = (part){h->name_text.bytes, h->name_text.n};
    *at = skip_white(text, n, *at);
    return *at == n ? SERVER_MORE : text[*at] == '{' ? SERVER_MATCH : SERVER_NO;
}

/* Reads one member of an object. MATCH with h->is_text or the arguments' begin: see read_object. */
static server_match read_member(const server_form *f, const char *text, size_t n, size_t *at, head *h, bool *is_ready)
{
    server_text key = {0}, value = {0};
    server_match match = read_key(text, n, at, &key);
    if (match == SERVER_MATCH && key.n == 0) match = SERVER_NO; /* the object ends without a call */
    const member is = match == SERVER_MATCH ? member_of(f, &key) : UNKNOWN;
    if (match == SERVER_MATCH && is == UNKNOWN) match = SERVER_NO;
    *at = skip_white(text, n, *at);
    if (match == SERVER_MATCH && is == ARGUMENTS && h->name.n > 0) {
        *is_ready = *at < n;
        if (*at == n) match = SERVER_MORE;
    } else if (match == SERVER_MATCH) {
        match = read_value(text, n, at, &value);
        if (match == SERVER_MATCH && is == ARGUMENTS) {
            h->arguments.n = 0;
            server_text_add(&h->arguments, value.bytes, value.n);
        } else if (match == SERVER_MATCH && is == NAME) {
            if (!resolve(&h->name_text, &value) || h->name_text.n == 0) match = SERVER_NO;
            else h->name = (part){h->name_text.bytes, h->name_text.n};
        }
        *is_ready = match == SERVER_MATCH && h->name.n > 0 && h->arguments.n > 0;
        h->is_complete = *is_ready;
    }
    server_text_free(&key);
    server_text_free(&value);
    return match;
}

/* Reads an object up to the value of its arguments, or after it where the name comes later (is_complete). */
static server_match read_object(const server_form *f, const char *text, size_t n, size_t *at, head *h)
{
    bool is_ready = false;
    server_match match = SERVER_MATCH;
    *at = skip_white(text, n, *at);
    if (*at == n) return SERVER_MORE;
    if (text[(*at)++] != '{') return SERVER_NO;
    if (!*f->name_key) return read_keyed(text, n, at, h);
    while (match == SERVER_MATCH && !is_ready) match = read_member(f, text, n, at, h, &is_ready);
    return match;
}

/* Whether the form's own calls begin with nothing that tells them from other text. */
static bool has_no_mark(const server_form *f)
{
    return f->n_marks == 0 || !strstr(f->before, f->marks[0]);
}

/* Whether the running call began at a mark of the form, and not at one that other models write. */
static bool is_own_mark(const server_reader *r)
{
    return !*r->mark || strstr(r->form->before, r->mark);
}

/* Passes over what stands before an item. */
static server_match read_before(const server_reader *r, const char *text, size_t n, size_t *at)
{
    const server_form *f = r->form;
    size_t used = 0;
    if (r->is_next) return SERVER_MATCH;
    if (is_own_mark(r)) {
        const server_match match = server_match_mark(f->before, text, n, &used);
        *at = match == SERVER_MATCH ? used : 0;
        if (match != SERVER_NO || !f->is_object) return match;
    }
    *at = skip_white(text, n, strlen(r->mark) < n ? strlen(r->mark) : n);
    return *at == n ? SERVER_MORE : text[*at] == '{' ? SERVER_MATCH : SERVER_NO;
}

static server_match read_head(const server_reader *r, const char *text, size_t n, size_t *used, head *h)
{
    const server_form *f = r->form;
    *used = 0;
    server_match match = read_before(r, text, n, used);
    if (match != SERVER_MATCH) return match;
    if (f->is_object) {
        match = read_object(f, text, n, used, h);
        /* An object alone may be content. */
        const bool is_alone = !*r->mark && !r->is_next && !has_no_mark(f);
        return match == SERVER_MATCH && is_alone && !tool_named(r, h->name) ? SERVER_NO : match;
    }
    match = read_parts(r, 0, text, n, used, h);
    if (match == SERVER_MATCH) match = arguments_begin(f, text, n, used);
    /* Without a mark, only the name of a tool tells a call from other text. */
    return match == SERVER_MATCH && has_no_mark(f) && !tool_named(r, h->name) ? SERVER_NO : match;
}

static void head_free(head *h)
{
    server_text_free(&h->name_text);
    server_text_free(&h->arguments);
}

server_match server_call_begins(const server_reader *r, const char *text, size_t n)
{
    if (r->form->is_object && n > 0 && text[0] == '{') return SERVER_MATCH;
    if (!has_no_mark(r->form)) return SERVER_NO;
    server_reader at_begin = *r;
    head h = {0};
    size_t used;
    at_begin.is_next = false;
    at_begin.mark = "";
    const server_match match = read_head(&at_begin, text, n, &used, &h);
    head_free(&h);
    return match;
}

server_call *server_call_begin(server_reader *r, const char *name, size_t n_name, const char *id, size_t n_id)
{
    server_call call = {.name = strndup(name, n_name), .id = n_id > 0 ? strndup(id, n_id) : NULL};
    server_call *out = NULL;
    server_literal_free(&r->literal);
    server_literal_begin(&r->literal, r->form->quote, r->form->notation != SERVER_NOTATION_JSON, r->form->raw);
    r->in_value = false;
    const bool good = call.name && (call.id || n_id == 0);
    if (good && r->only_one && r->n_calls > 0) {
        free(r->dropped.name), free(r->dropped.id);
        server_text_free(&r->dropped.arguments);
        out = &r->dropped;
    } else if (good) {
        if (r->n_calls == r->n_room) {
            const size_t n_room = 2 * r->n_room + 4;
            server_call *more = realloc(r->calls, n_room * sizeof *more);
            if (more) r->calls = more, r->n_room = n_room;
        }
        if (r->n_calls < r->n_room) out = &r->calls[r->n_calls++];
    }
    if (out) {
        *out = call;
        return out;
    }
    free(call.name), free(call.id);
    tool_memory_refuse();
    return NULL;
}

server_match server_call_head(server_reader *r, const char *text, size_t n, size_t *used)
{
    head h = {0};
    server_match match = read_head(r, text, n, used, &h);
    if (match == SERVER_MATCH) {
        server_call *call = server_call_begin(r, h.name.text, h.name.n, h.id.text, h.id.n);
        if (!call) match = SERVER_NO;
        else if (h.is_complete) server_text_add(&call->arguments, h.arguments.bytes, h.arguments.n);
        if (call)
            call->is_text =
                h.is_complete ? h.arguments.n > 0 && h.arguments.bytes[0] == '"' : *used < n && text[*used] == '"';
        if (call && h.is_complete) server_call_over(call);
        if (call) r->state = h.is_complete ? SERVER_READER_TAIL : SERVER_READER_ARGUMENTS;
    }
    head_free(&h);
    return match;
}

/* ---------------------------------------------------------------- parameters */

/* The type of the value that the JSON text stands for. */
static const char *type_of(const server_text *json)
{
    switch (json->n ? json->bytes[0] : '\0') {
    case '{': return "object";
    case '[': return "array";
    case '"': return "string";
    case 't':
    case 'f': return "boolean";
    case 'n': return "null";
    default: return "number";
    }
}

/* Writes the text of a parameter as the value that the schema asks for: JSON or a word of Python where it can be read
 * so, else a string. */
static void put_parameter_value(server_text *out, const char *text, size_t n_text, const json_t *schema)
{
    server_text json = {0};
    server_literal literal;
    size_t n = n_text, at = skip_white(text, n, 0), used = 0;
    while (n > at && is_among(text[n - 1], " \t\r\n")) n--;
    server_literal_begin(&literal, "", true, 0);
    server_match match = server_literal_push(&literal, text + at, n - at, &used, &json);
    if (match == SERVER_MORE && literal.word.n > 0) /* a word or a number ends with the text */
        match = server_literal_push(&literal, " ,", 2, &(size_t){0}, &json);
    else if (used < n - at) match = SERVER_NO;
    server_literal_free(&literal);
    /* A word that is none of JSON has become a string. */
    const bool is_word = json.n > 0 && json.bytes[0] == '"' && text[at] != '"';
    if (match == SERVER_MATCH && !is_word && server_schema_allows(schema, type_of(&json))) {
        server_text_add(out, json.bytes, json.n);
    } else {
        server_text_put(out, "\"");
        server_put_escaped(out, text, n_text);
        server_text_put(out, "\"");
    }
    server_text_free(&json);
}

/* Reads the mark before a parameter, its key and the mark after the key. */
static server_match begin_parameter(server_reader *r, server_call *call, const char *text, size_t n, size_t *at)
{
    const server_form *f = r->form;
    size_t used = 0, key, i;
    const server_match begin = server_match_mark(f->begin, text, n, &key);
    if (begin != SERVER_MATCH) return begin;
    server_match is = SERVER_NO, other = SERVER_NO;
    for (i = key; i <= n && i - key <= MOST_NAME; i++) {
        is = server_match_mark(f->is, text + i, n - i, &used);
        if (is == SERVER_MATCH) break;
        size_t used_other = 0;
        other = server_match_mark(f->is_other, text + i, n - i, &used_other);
        if (is == SERVER_MORE && other == SERVER_MATCH) return SERVER_MORE; /* it may be either */
        if (other == SERVER_MATCH) used = used_other;
        if (is != SERVER_NO || other != SERVER_NO) break;
    }
    if (is != SERVER_MATCH && other != SERVER_MATCH) return i - key > MOST_NAME ? SERVER_NO : SERVER_MORE;
    const bool differ = strcmp(f->is, f->is_other) != 0;
    const json_t *function = tool_named(r, (part){call->name, strlen(call->name)});
    const json_t *document = json_object_get(function, "parameters");
    const json_t *properties = json_object_get(server_schema_referred(document, document, NULL), "properties");
    r->schema = server_schema_referred(document, json_object_getn(properties, text + key, i - key), NULL);
    r->is_string = differ ? is == SERVER_MATCH : server_schema_is_text(r->schema);
    if (differ && !r->is_string) r->schema = NULL;
    server_text_put(&call->arguments, call->arguments.n > 0 ? "," : "{");
    server_text_put(&call->arguments, "\"");
    server_put_escaped(&call->arguments, text + key, i - key);
    server_text_put(&call->arguments, r->is_string ? "\":\"" : "\":");
    r->in_value = true;
    r->n_known = 0;
    *at += i + used;
    return SERVER_MATCH;
}

/* The end of the value text[n]. MATCH: *value bytes are the value, *used bytes with the mark after it. MORE: the first
 * *value bytes are of the value. The mark counts only where another parameter or the end of the call follows. *from
 * bytes are known to have no end. */
static server_match find_end(const server_form *f, const char *text, size_t n, bool is_end, size_t *from, size_t *value,
                             size_t *used)
{
    const size_t white = strspn(f->end, " \t\r\n");
    const char *solid = f->end + white;
    const size_t n_solid = strlen(solid);
    size_t more;
    server_match match = SERVER_NO;
    *value = n;
    while (match == SERVER_NO && *from < n) {
        const char *at = memmem(text + *from, n - *from, solid, n_solid);
        if (!at) break;
        *value = (size_t)(at - text);
        *used = *value + n_solid;
        const server_match begin = server_match_mark(f->begin, text + *used, n - *used, &more),
                           close = server_match_mark(f->close, text + *used, n - *used, &more);
        match = begin == SERVER_MATCH || close == SERVER_MATCH || (is_end && *used == n) ? SERVER_MATCH
                : begin == SERVER_MORE || close == SERVER_MORE                           ? SERVER_MORE
                                                                                         : SERVER_NO;
        if (match == SERVER_NO) *from = *used;
    }
    if (match == SERVER_NO) { /* the end of the text may begin the mark */
        size_t partial = n_solid - 1 < n ? n_solid - 1 : n;
        while (partial > 0 && memcmp(text + n - partial, solid, partial) != 0) partial--;
        *value = n - partial;
    }
    *from = *value;
    for (size_t i = white; i > 0 && *value > 0 && text[*value - 1] == f->end[i - 1]; i--) --*value;
    return match == SERVER_MATCH ? SERVER_MATCH : SERVER_MORE;
}

/* Reads a value. A string is given as it comes. */
static server_match read_parameter_value(server_reader *r, server_call *call, const char *text, size_t n, bool is_end,
                                         size_t *at)
{
    size_t value, used = 0;
    const server_match match = find_end(r->form, text, n, is_end, &r->n_known, &value, &used);
    if (r->is_string) {
        server_put_escaped(&call->arguments, text, value);
        if (match == SERVER_MATCH) server_text_put(&call->arguments, "\"");
        else *at += value, r->n_known -= value;
    } else if (match == SERVER_MATCH) {
        put_parameter_value(&call->arguments, text, value, r->schema);
    }
    if (match != SERVER_MATCH) return SERVER_MORE;
    r->in_value = false;
    *at += used;
    return SERVER_MATCH;
}

static server_match read_parameters(server_reader *r, server_call *call, bool is_end, size_t *at)
{
    const server_form *f = r->form;
    server_match match = SERVER_MATCH;
    while (match == SERVER_MATCH) {
        const char *text = r->text.bytes + *at;
        const size_t n = r->text.n - *at;
        size_t used;
        if (r->in_value) {
            match = read_parameter_value(r, call, text, n, is_end, at);
            continue;
        }
        if (n == 0) return SERVER_MORE;
        const server_match close = server_match_mark(f->close, text, n, &used);
        if (close == SERVER_MATCH) break;
        match = begin_parameter(r, call, text, n, at);
        if (match == SERVER_NO && close == SERVER_MORE) match = SERVER_MORE;
    }
    if (match == SERVER_MORE) return SERVER_MORE;
    server_text_put(&call->arguments, call->arguments.n > 0 ? "}" : "{}");
    return match;
}

/* ---------------------------------------------------------------- arguments */

server_match server_call_arguments(server_reader *r, server_call *call, bool is_end, size_t *used)
{
    *used = 0;
    if (r->text.n == 0) return SERVER_MORE;
    if (r->form->notation == SERVER_NOTATION_PARAMETERS) return read_parameters(r, call, is_end, used);
    return server_literal_push(&r->literal, r->text.bytes, r->text.n, used, &call->arguments);
}

void server_call_over(server_call *call)
{
    if (call->is_text) {
        server_text text = {0};
        if (resolve(&text, &call->arguments)) {
            server_text_free(&call->arguments);
            call->arguments = text;
        } else {
            server_text_free(&text);
        }
    }
    const part given = {call->arguments.bytes, call->arguments.n};
    if (given.n == 0 || is_part(given, "null")) {
        call->arguments.n = 0;
        server_text_put(&call->arguments, "{}");
    }
    call->is_text = false;
    call->is_over = true;
}

/* Jansson reads a text alone that ends with a whole character, so what may be half of an escape is left out. */
void server_call_cut(server_call *call)
{
    enum { LONGEST = 12 }; /* bytes of \ud83d\ude00 */
    server_text text = {0};
    bool is_read = !call->is_text;
    for (size_t left = call->arguments.n; !is_read && left > 0 && left + LONGEST > call->arguments.n; left--) {
        server_text whole = {0};
        server_text_add(&whole, call->arguments.bytes, left);
        server_text_put(&whole, "\"");
        is_read = resolve(&text, &whole);
        server_text_free(&whole);
    }
    if (call->is_text) {
        server_text_free(&call->arguments);
        call->arguments = text;
    }
    call->is_text = false;
}

/* --------------------------------------------------------------------- tail */

static void set_id(server_reader *r, part id)
{
    server_call *call = r->only_one && r->dropped.name ? &r->dropped : &r->calls[r->n_calls - 1];
    if (call->id || id.n == 0) return;
    call->id = strndup(id.text, id.n);
    if (!call->id) tool_memory_refuse();
}

/* Reads the rest of an object, in which an id may stand. */
static server_match end_object(server_reader *r, const char *text, size_t n, size_t *at)
{
    server_text key = {0}, value = {0}, id = {0};
    server_match match;
    do {
        match = read_key(text, n, at, &key);
        if (match != SERVER_MATCH || key.n == 0) break;
        value.n = 0;
        match = read_value(text, n, at, &value);
        if (match == SERVER_MATCH && member_of(r->form, &key) == ID && resolve(&id, &value))
            set_id(r, (part){id.bytes, id.n});
    } while (match == SERVER_MATCH);
    if (match == SERVER_MATCH) ++*at;
    server_text_free(&key);
    server_text_free(&value);
    server_text_free(&id);
    return match;
}

/* Reads the rest of the item. NO: it isn't as the form has it. */
static server_match end_item(server_reader *r, const char *text, size_t n, size_t *at)
{
    const server_form *f = r->form;
    head h = {0};
    int32_t i = 0;
    if (f->is_object) return end_object(r, text, n, at);
    while (i < f->n_parts && f->parts[i].slot != SERVER_SLOT_ARGUMENTS) i++;
    const server_match match = read_parts(r, i + 1, text, n, at, &h);
    if (match == SERVER_MATCH) set_id(r, h.id);
    return match;
}

/* Whether what stands between two items is what stands around each, so that the next one is found by its mark. */
static bool repeats(const server_form *f)
{
    size_t used;
    const char *rest = f->between;
    if (!*f->between) return true;
    if (server_match_mark(f->after, rest, strlen(rest), &used) != SERVER_MATCH) return false;
    rest += used;
    return f->n_marks > 0 && server_match_mark(f->before, rest, strlen(rest), &used) == SERVER_MATCH &&
           !rest[used + strspn(rest + used, " \t\r\n")];
}

/* The mark after a call, which may have come in Hermes' marks although the form has none. */
static const char *end_mark(const server_reader *r)
{
    if (is_own_mark(r)) return r->form->after;
    return strcmp(r->mark, "<tool_call>") == 0 ? "</tool_call>" : "";
}

server_match server_call_tail(server_reader *r, const char *text, size_t n, size_t *used, bool *goes_on)
{
    const server_form *f = r->form;
    size_t at = 0, more = 0;
    const server_match item = end_item(r, text, n, &at);
    *used = item == SERVER_MATCH ? at : 0;
    if (item != SERVER_MATCH) return item == SERVER_MORE ? SERVER_MORE : SERVER_MATCH;
    size_t n_end = 0;
    const server_match end = server_match_mark(end_mark(r), text + at, n - at, &n_end);
    /* White space may be missing, so a `between` of white space tells nothing where the end may stand. */
    const bool is_end = *end_mark(r) && end != SERVER_NO && !f->between[strspn(f->between, " \t\r\n")];
    const server_match between =
        repeats(f) || is_end ? SERVER_NO : server_match_mark(f->between, text + at, n - at, &more);
    *goes_on = between == SERVER_MATCH;
    if (between == SERVER_NO) {
        if (end == SERVER_NO) return SERVER_MATCH;
        if (end == SERVER_MORE) return SERVER_MORE;
        at += n_end;
        more = 0;
        *used = at;
        if (*f->after_several && server_match_mark(f->after_several, text + at, n - at, &more) == SERVER_MORE)
            return SERVER_MORE;
    } else if (between == SERVER_MORE) {
        return SERVER_MORE;
    }
    *used += more;
    return SERVER_MATCH;
}
