/* SPDX-License-Identifier: MIT */
#include "form.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------- thoughts */

static bool ends_with(const server_text *text, const char *end)
{
    const size_t n = strlen(end);
    return text->n >= n && memcmp(text->bytes + text->n - n, end, n) == 0;
}

server_thoughts server_thoughts_of(const vouch_model *model, const int32_t *prompt, size_t n)
{
    enum { LAST = 16 }; /* tokens that are read from the end of the prompt: "</think>" may be several */
    server_text end = {0};
    for (size_t i = n > LAST ? n - LAST : 0; i < n; i++) {
        size_t n_bytes = 0;
        const char *bytes = vouch_token_bytes(model, prompt[i], &n_bytes);
        if (bytes) server_text_add(&end, bytes, n_bytes);
    }
    while (end.n > 0 && strchr(" \n", end.bytes[end.n - 1])) end.n--;
    server_thoughts found = SERVER_THOUGHTS_NONE;
    if (ends_with(&end, "<think>")) found = SERVER_THOUGHTS_OPEN;
    else if (ends_with(&end, "<|start|>assistant")) found = SERVER_THOUGHTS_CHANNEL;
    else if (!ends_with(&end, "</think>") && vouch_model_get_info(model)->chat_template_thinks)
        found = SERVER_THOUGHTS_ALLOWED;
    server_text_free(&end);
    return found;
}

/* --------------------------------------------------------------------- GBNF */

/* Adds a text in quotes. */
static void put_quoted(server_text *out, const char *text)
{
    server_text_put(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') server_text_format(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ') server_text_format(out, "\\x%02x", (unsigned)*text);
        else server_text_add(out, text, 1);
    }
    server_text_put(out, "\" ");
}

static bool is_control(const vouch_model *model, const char *name)
{
    int32_t token;
    size_t n = 0;
    return vouch_tokenize(model, name, strlen(name), VOUCH_TOKENIZE_SPECIAL, &token, 1, &n, NULL) == VOUCH_OK &&
           n == 1 && vouch_token_is_special(model, token);
}

/* Adds a mark, which is a control token in some vocabularies and text in others. */
static void put_mark(server_text *out, const vouch_model *model, const char *mark)
{
    if (is_control(model, mark)) server_text_put(out, "%token ");
    put_quoted(out, mark);
}

/* Adds any text up to the mark. */
static void put_until(server_text *out, const vouch_model *model, const char *mark)
{
    server_text_put(out, is_control(model, mark) ? ".* %token " : "%until ");
    put_quoted(out, mark);
}

static void put_schema(server_text *out, json_t *schema)
{
    server_text_put(out, "%json ");
    server_text_json(out, json_incref(schema));
    server_text_put(out, " ");
}

/* The white space behind thoughts is bounded, so that a model can't spend its tokens on it. */
void server_form_put_root(server_text *out, const vouch_model *model, server_thoughts thoughts)
{
    server_text_put(out, "root ::= ");
    if (thoughts == SERVER_THOUGHTS_ALLOWED) {
        server_text_put(out, "(");
        put_mark(out, model, "<think>");
    }
    if (thoughts == SERVER_THOUGHTS_OPEN || thoughts == SERVER_THOUGHTS_ALLOWED) {
        put_until(out, model, "</think>");
        server_text_put(out, "[ \\n]{0,4}");
        server_text_put(out, thoughts == SERVER_THOUGHTS_ALLOWED ? ")? " : " ");
    }
    if (thoughts == SERVER_THOUGHTS_CHANNEL)
        server_text_put(out, "(\"<|channel|>analysis<|message|>\" %until \"<|end|>\" \"<|start|>assistant\")* ");
    server_text_put(out, "rest\n");
}

void server_form_put_answer(server_text *out, server_thoughts thoughts, json_t *schema)
{
    server_text_put(out, "answer ::= ");
    if (thoughts == SERVER_THOUGHTS_CHANNEL)
        server_text_put(out, "\"<|channel|>final\" (\" \"? \"<|constrain|>json\")? \"<|message|>\" ");
    put_schema(out, schema);
    server_text_put(out, "\n");
}

/* -------------------------------------------------------------------- calls */

server_call_form server_call_form_of(const vouch_model *model)
{
    static const char conversation[] =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}, {\"role\": \"assistant\", \"content\": \"\", "
        "\"tool_calls\": [{\"id\": \"call12345\", \"type\": \"function\", \"function\": {\"name\": \"probe\", "
        "\"arguments\": \"{\\\"key\\\": 1}\"}}]}], \"add_generation_prompt\": false, \"tools\": [{\"type\": "
        "\"function\", \"function\": {\"name\": \"probe\", \"description\": \"\", \"parameters\": {\"type\": "
        "\"object\", \"properties\": {\"key\": {\"type\": \"integer\"}}}}}]}";
    static const struct {
        const char *mark;
        server_call_form form;
    } marks[] = {
        {"<parameter=key>", SERVER_CALL_XML},
        {"to=functions.probe", SERVER_CALL_CHANNEL},
        {"[TOOL_CALLS]probe", SERVER_CALL_ARGS},
        {"[TOOL_CALLS]", SERVER_CALL_LIST},
        {"<tool_call>\n{\"name\": \"probe\"", SERVER_CALL_TAGS},
        {"{\"name\": \"probe\", \"parameters\": {\"key\": 1}}", SERVER_CALL_PARAMETERS},
    };
    server_call_form form = SERVER_CALL_JSON;
    server_text text = {0};
    size_t n = 0;
    const vouch_status status = vouch_render_chat(model, conversation, sizeof conversation - 1, NULL, 0, &n, NULL);
    char *room = status == VOUCH_E_BUFFER ? server_text_grow(&text, n) : NULL;
    if (room && vouch_render_chat(model, conversation, sizeof conversation - 1, room, n, &n, NULL) == VOUCH_OK)
        for (size_t i = 0; i < sizeof marks / sizeof *marks && form == SERVER_CALL_JSON; i++)
            if (memmem(text.bytes, text.n, marks[i].mark, strlen(marks[i].mark))) form = marks[i].form;
    server_text_free(&text);
    return form;
}

static const char *name_of(const json_t *tool)
{
    return json_string_value(json_object_get(json_object_get(tool, "function"), "name"));
}

static json_t *parameters_of(const json_t *tool)
{
    return json_object_get(json_object_get(tool, "function"), "parameters");
}

static void put_arguments(server_text *out, const json_t *tool)
{
    json_t *schema = parameters_of(tool);
    if (schema) put_schema(out, schema);
    else server_text_put(out, "%json {\"type\": \"object\"} ");
}

/* {"name": "f", "arguments": {...}} */
static void put_object(server_text *out, const json_t *tool, server_call_form form)
{
    server_text before = {0};
    server_text_put(&before, "{\"name\": ");
    server_text_json(&before, json_string(name_of(tool)));
    server_text_put(&before, form == SERVER_CALL_PARAMETERS ? ", \"parameters\": " : ", \"arguments\": ");
    server_text_add(&before, "", 1);
    if (before.failed) out->failed = true;
    else put_quoted(out, before.bytes);
    server_text_free(&before);
    put_arguments(out, tool);
    server_text_put(out, "\"}\" ");
}

/* A list of texts without quotes, of enum or const; NULL: the schema has none. */
static json_t *listed_texts(const json_t *schema)
{
    json_t *constant = json_object_get(schema, "const"), *list = json_object_get(schema, "enum"), *text;
    size_t i;
    if (json_is_string(constant)) return json_pack("[O]", constant);
    json_array_foreach(list, i, text)
        if (!json_is_string(text)) return NULL;
    return json_array_size(list) > 0 ? json_incref(list) : NULL;
}

/* The value of a parameter, and the mark behind it. A string has no quotes; its length and pattern aren't bound. */
static void put_value(server_text *out, json_t *schema, const json_t *parameters)
{
    static const char end[] = "\"\\n</parameter>\\n\" ";
    const bool is_string = strcmp(json_is_string(json_object_get(schema, "type"))
                                      ? json_string_value(json_object_get(schema, "type")) : "", "string") == 0;
    json_t *texts = is_string ? listed_texts(schema) : NULL, *text;
    size_t i;
    if (is_string && !texts) {
        server_text_format(out, "%%until %s", end);
        return;
    }
    json_array_foreach(texts, i, text)
    {
        server_text_put(out, i > 0 ? "| " : "(");
        put_quoted(out, json_string_value(text));
    }
    if (texts) {
        server_text_put(out, ") ");
    } else {
        json_t *whole = json_is_object(schema) ? json_copy(schema) : json_object();
        static const char *const names[] = {"$defs", "definitions"}; /* the schema's references lead there */
        for (int n = 0; n < 2; n++)
            if (json_object_get(parameters, names[n]))
                json_object_set(whole, names[n], json_object_get(parameters, names[n]));
        put_schema(out, whole);
        json_decref(whole);
    }
    server_text_put(out, end);
    json_decref(texts);
}

/* f> <parameter=x> 3 </parameter> ... in the order of the properties. */
static void put_xml(server_text *out, const json_t *tool)
{
    const json_t *parameters = parameters_of(tool);
    json_t *required = json_object_get(parameters, "required"), *schema, *name;
    const char *key;
    size_t i;
    put_quoted(out, name_of(tool));
    server_text_put(out, "\">\\n\" ");
    json_object_foreach(json_object_get(parameters, "properties"), key, schema)
    {
        bool is_required = false;
        json_array_foreach(required, i, name) is_required |= strcmp(json_string_value(name), key) == 0;
        server_text_put(out, "(\"<parameter=\" ");
        put_quoted(out, key);
        server_text_put(out, "\">\\n\" ");
        put_value(out, schema, parameters);
        server_text_put(out, is_required ? ") " : ")? ");
    }
}

/* One call of a tool, without the marks around it. */
static void put_call(server_text *out, const vouch_model *model, const json_t *tool, server_call_form form)
{
    if (form == SERVER_CALL_XML) {
        put_xml(out, tool);
        return;
    }
    if (form != SERVER_CALL_ARGS && form != SERVER_CALL_CHANNEL) {
        put_object(out, tool, form);
        return;
    }
    put_quoted(out, name_of(tool));
    if (form == SERVER_CALL_ARGS) put_mark(out, model, "[ARGS]");
    else server_text_put(out, "\" <|constrain|>json<|message|>\" ");
    put_arguments(out, tool);
}

/* The marks around calls: in front of the first one, around each, and between two. */
static void put_frame(server_text *out, const vouch_model *model, server_call_form form, bool several)
{
    server_text_put(out, "calls ::= ");
    switch (form) {
    case SERVER_CALL_TAGS:
    case SERVER_CALL_XML:
        server_text_put(out, several ? "tagged (\"\\n\" tagged)*\n" : "tagged\n");
        server_text_put(out, "tagged ::= ");
        put_mark(out, model, "<tool_call>");
        server_text_put(out, form == SERVER_CALL_XML ? "\"\\n<function=\" call \"</function>\\n\" "
                                                     : "\"\\n\" call \"\\n\" ");
        put_mark(out, model, "</tool_call>");
        break;
    case SERVER_CALL_LIST:
        put_mark(out, model, "[TOOL_CALLS]");
        server_text_put(out, several ? "\"[\" call (\", \" call)* \"]\"" : "\"[\" call \"]\"");
        break;
    case SERVER_CALL_ARGS:
        server_text_put(out, several ? "marked+\nmarked ::= " : "marked\nmarked ::= ");
        put_mark(out, model, "[TOOL_CALLS]");
        server_text_put(out, "call");
        break;
    case SERVER_CALL_CHANNEL: server_text_put(out, "\"<|channel|>commentary to=functions.\" call"); break;
    default: server_text_put(out, "call");
    }
    server_text_put(out, "\n");
}

void server_form_put_calls(server_text *out, const vouch_model *model, const json_t *tools, bool several)
{
    const server_call_form form = server_call_form_of(model);
    const json_t *tool;
    size_t i;
    put_frame(out, model, form, several);
    server_text_put(out, "call ::= ");
    json_array_foreach(tools, i, tool)
    {
        if (i > 0) server_text_put(out, "| ");
        put_call(out, model, tool, form);
    }
    server_text_put(out, "\n");
}
