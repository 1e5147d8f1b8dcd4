/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THINK      "<think>"
#define THINK_END  "</think>"
#define CALL       "<tool_call>"
#define CALL_END   "</tool_call>"
#define LIST       "[TOOL_CALLS]"
#define ARGS       "[ARGS]"
#define PYTHON     "<|python_tag|>"
#define CALL_ID    "[CALL_ID]"
#define CHANNEL    "<|channel|>"
#define MESSAGE    "<|message|>"
#define START      "<|start|>"
#define END        "<|end|>"
#define CALLED     "<|call|>"
#define RETURN     "<|return|>"
#define CONSTRAIN  "<|constrain|>"
#define RECIPIENT  "to=functions."

/* -------------------------------------------------------------------- calls */

/* Adds a call. `arguments` is an object, or a string that already holds one. */
static bool add_call(server_reader *r, const char *name, const json_t *arguments)
{
    char *text = json_is_string(arguments) ? NULL : json_dumps(arguments, JSON_COMPACT);
    const char *known = json_is_string(arguments) ? json_string_value(arguments) : text;
    bool good = false;
    if (name && *name && known && (json_is_object(arguments) || json_is_string(arguments))) {
        if (r->only_one && r->n_calls > 0) {
            free(text);
            return true;
        }
        json_t *call = json_pack("{s:s, s:s}", "name", name, "arguments", known);
        if (!r->calls) r->calls = json_array();
        good = call && json_array_append_new(r->calls, call) == 0;
        r->n_calls += good;
    }
    free(text);
    return good;
}

/* {"name": "f", "arguments": {...}}; Llama calls them parameters. */
static bool read_json_call(server_reader *r, const json_t *call)
{
    const json_t *arguments = json_object_get(call, "arguments");
    if (!arguments) arguments = json_object_get(call, "parameters");
    return arguments && add_call(r, json_string_value(json_object_get(call, "name")), arguments);
}

/* Removes all calls but the first `before`. */
static void drop_calls(server_reader *r, size_t before)
{
    for (; json_array_size(r->calls) > before; r->n_calls--) json_array_remove(r->calls, json_array_size(r->calls) - 1);
}

/* One call, or an array of calls, up to white space at the end. On failure no call is added. */
static bool read_json(server_reader *r, const char *text, size_t n)
{
    json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const size_t before = json_array_size(r->calls), n_calls = json_is_array(value) ? json_array_size(value) : 1;
    bool good = value && n_calls > 0;
    for (size_t i = 0; i < n_calls && good; i++)
        good = read_json_call(r, json_is_array(value) ? json_array_get(value, i) : value);
    if (!good) drop_calls(r, before);
    json_decref(value);
    return good;
}

/* text[*at, n) up to the mark, which *at then stands behind. False: it doesn't come. */
static bool read_to(const char *text, size_t n, size_t *at, const char *mark, const char **part, size_t *n_part)
{
    const char *found = memmem(text + *at, n - *at, mark, strlen(mark));
    if (!found) return false;
    *part = text + *at;
    *n_part = (size_t)(found - *part);
    *at += *n_part + strlen(mark);
    return true;
}

/* The schema of a function's parameter; NULL: the tools don't say. */
static const json_t *parameter_schema(const server_reader *r, const char *function, const char *parameter)
{
    const json_t *tool;
    size_t i;
    json_array_foreach(r->tools, i, tool)
    {
        const json_t *of = json_object_get(tool, "function");
        const char *name = json_string_value(json_object_get(of, "name"));
        if (name && strcmp(name, function) == 0)
            return json_object_get(json_object_get(json_object_get(of, "parameters"), "properties"), parameter);
    }
    return NULL;
}

/* A parameter's value is the text without its first and last line end. Unless the tool asks for a string, it is JSON
 * where it can be read as JSON, or a word of Python, which templates of Qwen3-Coder write. */
static json_t *parameter_value(const char *text, size_t n, const json_t *schema)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    if (n > 0 && text[0] == '\n') text++, n--;
    if (n > 0 && text[n - 1] == '\n') n--;
    if (type && strcmp(type, "string") == 0) return server_json_bytes(text, n);
    if (schema && n == 4 && memcmp(text, "True", n) == 0) return json_true();
    if (schema && n == 5 && memcmp(text, "False", n) == 0) return json_false();
    if (schema && n == 4 && memcmp(text, "None", n) == 0) return json_null();
    json_t *value = json_loadb(n ? text : "", n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    return value ? value : server_json_bytes(text, n);
}

/* <function=f> <parameter=x> 3 </parameter> ... </function> */
static bool read_xml(server_reader *r, const char *text, size_t n)
{
    const char *part, *name;
    size_t at = 0, n_part, n_name;
    char word[256];
    if (!read_to(text, n, &at, "<function=", &part, &n_part) || !read_to(text, n, &at, ">", &name, &n_name) ||
        n_name >= sizeof word)
        return false;
    snprintf(word, sizeof word, "%.*s", (int)n_name, name);
    json_t *arguments = json_object();
    const char *parameter;
    size_t n_parameter;
    bool good = true;
    while (good && read_to(text, n, &at, "<parameter=", &part, &n_part)) {
        char key[256];
        good = read_to(text, n, &at, ">", &parameter, &n_parameter) && n_parameter < sizeof key &&
               read_to(text, n, &at, "</parameter>", &part, &n_part);
        if (!good) break;
        snprintf(key, sizeof key, "%.*s", (int)n_parameter, parameter);
        good = json_object_set_new(arguments, key, parameter_value(part, n_part, parameter_schema(r, word, key))) == 0;
    }
    good = good && read_to(text, n, &at, "</function>", &part, &n_part) && add_call(r, word, arguments);
    json_decref(arguments);
    return good;
}

/* One call in Mistral's newer form: before ARGS a name, or name[CALL_ID]id, and behind it its arguments. */
static bool read_named(server_reader *r, const char *name, size_t n_name, const char *text, size_t n)
{
    char word[256];
    const char *id = memmem(name, n_name, CALL_ID, strlen(CALL_ID));
    if (id) n_name = (size_t)(id - name);
    while (n_name > 0 && strchr(" \n", name[n_name - 1])) n_name--;
    while (n_name > 0 && strchr(" \n", *name)) name++, n_name--;
    if (n_name >= sizeof word) return false;
    snprintf(word, sizeof word, "%.*s", (int)n_name, name);
    json_t *arguments = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const bool good = arguments && add_call(r, word, arguments);
    json_decref(arguments);
    return good;
}

/* Calls in Mistral's newer form, f[ARGS]{...} or f[CALL_ID]id[ARGS]{...}, with LIST between them, or else in JSON. */
static bool read_list(server_reader *r, const char *text, size_t n)
{
    for (;;) {
        const char *name;
        size_t at = 0, n_name;
        if (!read_to(text, n, &at, ARGS, &name, &n_name)) return read_json(r, text, n);
        const char *next = memmem(text + at, n - at, LIST, strlen(LIST));
        const size_t end = next ? (size_t)(next - text) : n;
        if (!read_named(r, name, n_name, text + at, end - at)) return false;
        if (!next) return true;
        text += end + strlen(LIST);
        n -= end + strlen(LIST);
    }
}

/* -------------------------------------------------------------------- reading */

void server_reader_begin(server_reader *reader, const json_t *tools, bool thinks)
{
    *reader = (server_reader){.tools = tools,
                              .state = thinks ? SERVER_READER_THOUGHTS : SERVER_READER_BEGIN};
}

/* The number of bytes at the end of text[n] that may begin the mark. */
static size_t partial_length(const char *text, size_t n, const char *mark)
{
    size_t length = strlen(mark) - 1 < n ? strlen(mark) - 1 : n;
    while (length > 0 && memcmp(text + n - length, mark, length) != 0) length--;
    return length;
}

/* Takes the text before the first of the marks into `out`, which may be NULL. Returns the mark behind which the text
 * now begins; NULL: none has come, and the text that can't begin one is taken. */
static const char *take_to_mark(server_reader *r, const char *const *marks, bool is_end, server_text *out)
{
    const char *found = NULL;
    size_t before = r->text.n, keep = 0;
    for (; *marks; marks++) {
        const char *at = r->text.n ? memmem(r->text.bytes, r->text.n, *marks, strlen(*marks)) : NULL;
        const size_t partial = partial_length(r->text.bytes, r->text.n, *marks);
        if (partial > keep) keep = partial;
        if (!at || (size_t)(at - r->text.bytes) >= before) continue;
        before = (size_t)(at - r->text.bytes);
        found = *marks;
    }
    if (!found && !is_end) before -= keep;
    if (out) server_text_add(out, r->text.bytes, before);
    const size_t past = before + (found ? strlen(found) : 0);
    if (past > 0) memmove(r->text.bytes, r->text.bytes + past, r->text.n - past);
    r->text.n -= past;
    return found;
}

static void skip_white(server_reader *r)
{
    size_t n = 0;
    while (n < r->text.n && strchr(" \t\r\n", r->text.bytes[n])) n++;
    if (n > 0) memmove(r->text.bytes, r->text.bytes + n, r->text.n - n);
    r->text.n -= n;
}

static bool begins_with(const server_text *text, const char *mark)
{
    return text->n >= strlen(mark) && memcmp(text->bytes, mark, strlen(mark)) == 0;
}

/* Whether the mark begins with this text and goes on behind it. */
static bool may_become(const server_text *text, const char *mark)
{
    return text->n < strlen(mark) && memcmp(text->bytes, mark, text->n) == 0;
}

/* The first letters tell whether the answer begins with thoughts, a call or a header. White space before them is
 * content where none of these follows. */
static bool step_begin(server_reader *r, bool is_end)
{
    size_t white = 0;
    while (white < r->text.n && strchr(" \t\r\n", r->text.bytes[white])) white++;
    if (white == r->text.n) {
        if (is_end) r->state = SERVER_READER_CONTENT;
        return is_end;
    }
    const server_text rest = {.bytes = r->text.bytes + white, .n = r->text.n - white};
    if (!is_end && (may_become(&rest, THINK) || may_become(&rest, CHANNEL) || may_become(&rest, START) ||
                    (r->tools && may_become(&rest, RECIPIENT))))
        return false;
    if (begins_with(&rest, THINK)) {
        take_to_mark(r, (const char *const[]){THINK, NULL}, true, NULL);
        r->state = SERVER_READER_THOUGHTS;
    } else if (begins_with(&rest, CHANNEL) || begins_with(&rest, START) ||
               (r->tools && begins_with(&rest, RECIPIENT))) {
        r->is_harmony = true;
        r->state = SERVER_READER_HEADER;
    } else {
        r->state = r->tools && begins_with(&rest, "{") ? SERVER_READER_LAST_CALL : SERVER_READER_CONTENT;
    }
    return true;
}

static bool step_thoughts(server_reader *r, bool is_end)
{
    if (!take_to_mark(r, (const char *const[]){THINK_END, NULL}, is_end, &r->thoughts)) return false;
    r->state = SERVER_READER_GAP;
    return true;
}

/* Behind thoughts, a call may be the whole rest of the answer, as at its begin. */
static bool step_gap(server_reader *r)
{
    skip_white(r);
    if (r->text.n == 0) return false;
    r->state = r->tools && begins_with(&r->text, "{") ? SERVER_READER_LAST_CALL : SERVER_READER_CONTENT;
    server_text_free(&r->header);
    return true;
}

static bool step_content(server_reader *r, bool is_end)
{
    static const char *const tools[] = {CALL, LIST, PYTHON, NULL}, *const none[] = {NULL};
    const char *mark = take_to_mark(r, r->tools ? tools : none, is_end, &r->content);
    if (!mark) return false;
    r->state = strcmp(mark, CALL) == 0 ? SERVER_READER_CALL : SERVER_READER_LAST_CALL;
    server_text_free(&r->header);
    server_text_put(&r->header, mark);
    return true;
}

static bool step_call(server_reader *r, bool is_end)
{
    const char *end = r->text.n ? memmem(r->text.bytes, r->text.n, CALL_END, strlen(CALL_END)) : NULL;
    if (!end && !is_end) return false;
    const size_t n = end ? (size_t)(end - r->text.bytes) : r->text.n, past = n + (end ? strlen(CALL_END) : 0);
    const bool good = n > 0 && (read_json(r, r->text.bytes, n) || read_xml(r, r->text.bytes, n));
    if (!good) {
        server_text_put(&r->content, CALL);
        server_text_add(&r->content, r->text.bytes, past);
    }
    if (past > 0) memmove(r->text.bytes, r->text.bytes + past, r->text.n - past);
    r->text.n -= past;
    r->state = good ? SERVER_READER_GAP : SERVER_READER_CONTENT;
    return true;
}

/* Takes the rest of the answer, when it has come, as calls or as content. */
static void finish_last_call(server_reader *r)
{
    const size_t n_before = json_array_size(r->calls);
    if (r->text.n > 0 && read_list(r, r->text.bytes, r->text.n)) {
        r->text.n = 0;
        return;
    }
    drop_calls(r, n_before);
    server_text_add(&r->content, r->header.bytes, r->header.n);
    server_text_add(&r->content, r->text.bytes, r->text.n);
    r->text.n = 0;
}

/* ------------------------------------------------------------------ gpt-oss */

/* A message's header is
 *
 *     <|start|>assistant<|channel|>NAME to=functions.f <|constrain|>json
 *
 * where the prompt may have the beginning already, and the recipient may stand in front of the channel. It says whether
 * thoughts, a call or content follow. */
static bool step_header(server_reader *r, bool is_end)
{
    if (!take_to_mark(r, (const char *const[]){MESSAGE, NULL}, is_end, &r->header)) return false;
    const server_text *h = &r->header;
    const char *channel = h->n ? memmem(h->bytes, h->n, CHANNEL, strlen(CHANNEL)) : NULL;
    const size_t at = channel ? (size_t)(channel - h->bytes) + strlen(CHANNEL) : 0;
    const server_text name = {.bytes = h->bytes + at, .n = h->n - at};
    const bool is_call = r->tools && h->n && memmem(h->bytes, h->n, RECIPIENT, strlen(RECIPIENT));
    r->state = is_call                           ? SERVER_READER_MESSAGE
               : begins_with(&name, "analysis") ? SERVER_READER_THOUGHTS
                                                 : SERVER_READER_CONTENT;
    return true;
}

/* Takes the text of a message that calls, as a call or as content. */
static void finish_message(server_reader *r)
{
    const char *name = r->header.n ? memmem(r->header.bytes, r->header.n, RECIPIENT, strlen(RECIPIENT)) : NULL;
    char word[256] = "";
    json_t *arguments = r->body.n ? json_loadb(r->body.bytes, r->body.n, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (name) {
        name += strlen(RECIPIENT);
        const size_t most = r->header.n - (size_t)(name - r->header.bytes);
        size_t n = 0;
        while (n < most && !strchr(" <", name[n])) n++;
        snprintf(word, sizeof word, "%.*s", (int)n, name);
    }
    if (!arguments || !add_call(r, word, arguments)) server_text_add(&r->content, r->body.bytes, r->body.n);
    json_decref(arguments);
    r->body.n = 0;
}

/* A message ends at a control token. The next header begins there. */
static bool step_message(server_reader *r, bool is_end)
{
    static const char *const marks[] = {END, CALLED, RETURN, START, CHANNEL, NULL};
    const bool is_call = r->state == SERVER_READER_MESSAGE;
    server_text *out = is_call ? &r->body : r->state == SERVER_READER_THOUGHTS ? &r->thoughts : &r->content;
    const char *mark = take_to_mark(r, marks, is_end, out);
    if (!mark && !is_end) return false;
    if (is_call) finish_message(r);
    server_text_free(&r->header);
    if (mark && (strcmp(mark, START) == 0 || strcmp(mark, CHANNEL) == 0)) server_text_put(&r->header, mark);
    r->state = SERVER_READER_HEADER;
    return mark != NULL;
}

/* ------------------------------------------------------------------ the machine */

/* One step of the machine; false: it needs more text. */
static bool step(server_reader *r, bool is_end)
{
    switch (r->state) {
    case SERVER_READER_BEGIN: return step_begin(r, is_end);
    case SERVER_READER_THOUGHTS: return r->is_harmony ? step_message(r, is_end) : step_thoughts(r, is_end);
    case SERVER_READER_CONTENT: return r->is_harmony ? step_message(r, is_end) : step_content(r, is_end);
    case SERVER_READER_CALL: return step_call(r, is_end);
    case SERVER_READER_GAP: return step_gap(r);
    case SERVER_READER_HEADER: return step_header(r, is_end);
    case SERVER_READER_MESSAGE: return step_message(r, is_end);
    default: return false; /* to the end of the answer */
    }
}

void server_reader_push(server_reader *reader, const char *text, size_t n)
{
    server_text_add(&reader->text, text, n);
    while (step(reader, false)) continue;
}

static bool is_among(const server_text *name, const char *const *marks)
{
    while (*marks && !(strlen(*marks) == name->n && begins_with(name, *marks))) marks++;
    return *marks != NULL;
}

/* Vocabularies differ in which marks are control tokens. They are read as if they were text. */
void server_reader_special(server_reader *reader, const char *name, size_t n)
{
    static const char *const thoughts[] = {THINK, THINK_END, CHANNEL, NULL};
    static const char *const tools[] = {LIST, ARGS, CALL_ID, PYTHON, CALL, CALL_END, NULL};
    static const char *const harmony[] = {CHANNEL, MESSAGE, START, END, CALLED, RETURN, CONSTRAIN, NULL};
    const server_text mark = {.bytes = (char *)(size_t)name, .n = n};
    const bool may_think = reader->state == SERVER_READER_BEGIN || reader->state == SERVER_READER_THOUGHTS;
    if ((may_think && is_among(&mark, thoughts)) || (reader->is_harmony && is_among(&mark, harmony)) ||
        (reader->tools && is_among(&mark, tools)))
        server_reader_push(reader, name, n);
}

void server_reader_end(server_reader *reader)
{
    while (step(reader, true)) continue;
    if (reader->state == SERVER_READER_LAST_CALL) finish_last_call(reader);
}

void server_reader_free(server_reader *reader)
{
    server_text_free(&reader->text);
    server_text_free(&reader->header);
    server_text_free(&reader->body);
    server_text_free(&reader->content);
    server_text_free(&reader->thoughts);
    json_decref(reader->calls);
    *reader = (server_reader){0};
}
