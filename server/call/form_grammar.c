/* SPDX-License-Identifier: MIT */
/* A form as GBNF: an answer that is bound to a grammar may begin with thoughts, and a forced call is written as the
 * model's chat template writes calls. */
#include <stdlib.h>
#include <string.h>

#include "call/arguments.h"
#include "call/form.h"

/* The rules of a tool: the one that is being written, and those that it needs, which come after it. */
typedef struct rules {
    const server_form *form;
    server_text *out;
    server_text more;
    int tool;                 /* its number */
    const json_t *document;   /* the tool's parameters; NULL: it has none */
    const json_t *parameters; /* the same, or the part of them to which they refer */
    const char *path;         /* of that part in the document, such as #/$defs/NAME */
    json_t *properties;       /* of the parameters, and additional ones that are required */
    json_t *required;         /* an object: its keys are the names of those that a call must have */
} rules;

/* ------------------------------------------------------------------ texts */

static void put_quoted(server_text *out, const char *text, size_t n)
{
    if (n == 0) return;
    server_text_put(out, "\"");
    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\') server_text_format(out, "\\%c", byte);
        else if (byte < ' ') server_text_format(out, "\\x%02x", byte);
        else server_text_add(out, &text[i], 1);
    }
    server_text_put(out, "\" ");
}

/* The name of a control token that text[n] begins with, the longest; NULL: none. */
static const char *control_at(const server_form *form, const char *text)
{
    const char *longest = NULL;
    for (size_t i = 0; i < form->n_controls; i++) {
        const char *name = form->controls[i];
        if (strncmp(text, name, strlen(name)) == 0 && (!longest || strlen(name) > strlen(longest))) longest = name;
    }
    return longest;
}

/* Adds a text in which names of control tokens stand for these tokens. */
static void put_marks(server_text *out, const server_form *form, const char *text)
{
    size_t n = 0;
    while (text[n]) {
        const char *name = control_at(form, text + n);
        if (!name) {
            n++;
            continue;
        }
        put_quoted(out, text, n);
        server_text_put(out, "%token ");
        put_quoted(out, name, strlen(name));
        text += n + strlen(name);
        n = 0;
    }
    put_quoted(out, text, n);
}

static bool has_control(const server_form *form, const char *text)
{
    while (*text && !control_at(form, text)) text++;
    return *text != '\0';
}

/* Adds any text up to the mark, and the mark. */
static void put_until(server_text *out, const server_form *form, const char *mark)
{
    server_text_put(out, has_control(form, mark) ? ".* " : "%until ");
    put_marks(out, form, mark);
}

static size_t white_length(const char *text)
{
    return strspn(text, " \n\t\r");
}

/* Adds marks whose white space at the beginning may be left out. */
static void put_marks_after_white(server_text *out, const server_form *form, const char *text)
{
    const size_t n = white_length(text);
    if (n > 0) {
        server_text_put(out, "(");
        put_quoted(out, text, n);
        server_text_put(out, ")? ");
    }
    put_marks(out, form, text + n);
}

static void put_schema(server_text *out, json_t *schema)
{
    server_text_put(out, "%json ");
    server_schemas_put(out, json_incref(schema));
    server_text_put(out, " ");
}

/* ----------------------------------------------------------------- thoughts */

/* The white space after thoughts is bounded, so that a model can't spend its tokens on it. */
void server_form_put_root(server_text *out, const server_form *form, server_thoughts thoughts)
{
    server_text_put(out, "root ::= ");
    if (thoughts == SERVER_THOUGHTS_ALLOWED) {
        server_text_put(out, "(");
        put_marks(out, form, form->think);
    }
    if (thoughts == SERVER_THOUGHTS_OPEN || thoughts == SERVER_THOUGHTS_ALLOWED) {
        put_until(out, form, form->think_end);
        server_text_put(out, "[ \\n]{0,4}");
        server_text_put(out, thoughts == SERVER_THOUGHTS_ALLOWED ? ")? " : " ");
    }
    if (thoughts == SERVER_THOUGHTS_CHANNEL) {
        server_text_put(out, "(");
        put_marks(out, form, "<|channel|>analysis<|message|>");
        put_until(out, form, "<|end|>");
        put_marks(out, form, "<|start|>assistant");
        server_text_put(out, ")* ");
    }
    server_text_put(out, "rest\n");
}

void server_form_put_answer(server_text *out, const server_form *form, json_t *schema)
{
    server_text_put(out, "answer ::= ");
    if (form->is_harmony) {
        put_marks(out, form, "<|channel|>final");
        server_text_put(out, "(\" \"? ");
        put_marks(out, form, "<|constrain|>json");
        server_text_put(out, ")? ");
        put_marks(out, form, "<|message|>");
    } else if (*form->content) {
        put_marks_after_white(out, form, form->content);
    }
    put_schema(out, schema);
    if (!form->is_harmony && *form->content_end) put_marks(out, form, form->content_end);
    server_text_put(out, "\n");
}

/* ------------------------------------------------------------------ schemas */

static const char *name_of(const json_t *tool)
{
    return json_string_value(json_object_get(json_object_get(tool, "function"), "name"));
}

static json_t *parameters_of(const json_t *tool)
{
    json_t *parameters = json_object_get(json_object_get(tool, "function"), "parameters");
    return json_is_object(parameters) ? parameters : NULL;
}

static bool is_type(const json_t *schema, const char *type)
{
    const char *word = json_string_value(json_object_get(schema, "type"));
    return word && strcmp(word, type) == 0;
}

/* Finds the tool's parameters. */
static void begin_tool(rules *r, const json_t *tool)
{
    r->document = parameters_of(tool);
    r->path = "#";
    r->parameters = server_schema_referred(r->document, r->document, &r->path);
    const json_t *schema = r->parameters;
    json_t *name, *additional = json_object_get(schema, "additionalProperties");
    size_t i;
    if (json_is_null(additional)) additional = NULL;
    r->properties = json_object();
    r->required = json_object();
    r->out->failed |= !r->properties || !r->required;
    json_object_update(r->properties, json_object_get(schema, "properties"));
    json_array_foreach(json_object_get(schema, "required"), i, name) {
        const char *key = json_string_value(name);
        r->out->failed |= json_object_set_new(r->required, key, json_true()) != 0;
        if (!json_object_get(r->properties, key))
            r->out->failed |= json_object_set(r->properties, key, additional ? additional : json_true()) != 0;
    }
}

static bool is_required(const rules *r, const char *key)
{
    return json_object_get(r->required, key) != NULL;
}

/* Whether a call may have no such parameter. */
static bool is_forbidden(const rules *r, const char *key, const json_t *schema)
{
    return json_is_false(schema) && !is_required(r, key);
}

/* A list of the texts that enum, const, or each schema of anyOf or oneOf has; NULL: there are others. A new reference.
 */
static json_t *listed_texts(const json_t *schema)
{
    json_t *constant = json_object_get(schema, "const"), *list = json_object_get(schema, "enum"), *one;
    json_t *options = json_object_get(schema, json_object_get(schema, "anyOf") ? "anyOf" : "oneOf");
    size_t i;
    if (server_schema_text(constant)) return json_pack("[O]", constant);
    json_array_foreach(list, i, one)
        if (!server_schema_text(one)) return NULL;
    if (json_array_size(list) > 0) return json_incref(list);
    json_t *all = json_array_size(options) > 0 ? json_array() : NULL;
    json_array_foreach(options, i, one) {
        json_t *texts = listed_texts(one);
        const bool good = texts && json_array_extend(all, texts) == 0;
        json_decref(texts);
        if (good) continue;
        json_decref(all);
        return NULL;
    }
    return all;
}

/* A value of a parameter, whose schema stands in the tool's %schema. */
static void put_json(rules *r, const char *key, const json_t *schema)
{
    const bool is_listed = json_object_get(json_object_get(r->parameters, "properties"), key);
    server_text reference = {0}, *out = r->out;
    if (json_is_true(schema)) {
        server_text_put(out, "%json true ");
        return;
    }
    server_text_put(&reference, r->path);
    server_text_put(&reference, is_listed ? "/properties/" : "/additionalProperties");
    for (; is_listed && *key; key++) {
        const char *escape = *key == '~' ? "~0" : *key == '/' ? "~1" : *key == '%' ? "%25" : NULL;
        if (escape) server_text_put(&reference, escape);
        else server_text_add(&reference, key, 1);
    }
    server_text_put(out, "%json ");
    put_quoted(out, reference.bytes, reference.n);
    out->failed |= reference.failed;
    server_text_free(&reference);
}

/* ---------------------------------------------------------------- arguments */

static void put_texts(server_text *out, json_t *texts)
{
    json_t *text;
    size_t i;
    server_text_put(out, "(");
    json_array_foreach(texts, i, text) {
        if (i > 0) server_text_put(out, "| ");
        if (json_string_length(text) > 0) put_quoted(out, json_string_value(text), json_string_length(text));
        else server_text_put(out, "\"\" ");
    }
    server_text_put(out, ") ");
}

/* A parameter's value and the mark after it. A string has no quotes; its length and pattern aren't bound. */
static void put_parameter(rules *r, const char *key, const json_t *schema)
{
    const server_form *f = r->form;
    const json_t *own = server_schema_referred(r->document, schema, NULL);
    const bool is_string = server_schema_is_text(own);
    json_t *texts = is_string ? listed_texts(own) : NULL;
    put_marks(r->out, f, f->begin);
    put_quoted(r->out, key, strlen(key));
    put_marks(r->out, f, is_string ? f->is : f->is_other);
    if (is_string && !texts) {
        put_until(r->out, f, f->end);
        return;
    }
    if (texts) put_texts(r->out, texts);
    else put_json(r, key, schema);
    put_marks(r->out, f, f->end);
    json_decref(texts);
}

/* The parameters in the order of the properties. */
static void put_parameters(rules *r)
{
    const char *key;
    json_t *schema;
    json_object_foreach(r->properties, key, schema) {
        if (is_forbidden(r, key, schema)) continue;
        server_text_put(r->out, "(");
        put_parameter(r, key, schema);
        server_text_put(r->out, is_required(r, key) ? ") " : ")? ");
    }
}

/* A value of an argument in Python or the bare notation. Values within values are JSON, which both notations read. */
static void put_value(rules *r, const char *key, const json_t *schema)
{
    const server_form *f = r->form;
    json_t *texts = is_type(schema, "string") || !json_object_get(schema, "type") ? listed_texts(schema) : NULL;
    const bool is_string = texts || is_type(schema, "string");
    if (f->notation == SERVER_NOTATION_BARE && is_string) {
        put_marks(r->out, f, f->quote);
        if (texts) put_texts(r->out, texts);
        if (texts) put_marks(r->out, f, f->quote);
        else put_until(r->out, f, f->quote);
    } else if (f->raw && is_string) {
        put_quoted(r->out, &f->raw, 1);
        if (texts) put_texts(r->out, texts);
        else server_text_format(r->out, "[^%c\\x00-\\x1f]* ", f->raw);
        put_quoted(r->out, &f->raw, 1);
    } else if (f->notation == SERVER_NOTATION_PYTHON && is_type(schema, "boolean")) {
        server_text_put(r->out, "(\"True\" | \"False\") ");
    } else {
        put_json(r, key, schema);
    }
    json_decref(texts);
}

/* A key that is no word has quotes. */
static void put_key(server_text *out, const char *key)
{
    server_text text = {0};
    bool is_word = *key && !strchr("0123456789", *key);
    for (const char *c = key; *c; c++)
        is_word =
            is_word && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_');
    if (!is_word) server_text_put(&text, "\"");
    server_put_escaped(&text, key, strlen(key));
    if (!is_word) server_text_put(&text, "\"");
    put_quoted(out, text.bytes, text.n);
    out->failed |= text.failed;
    server_text_free(&text);
}

/* key=value, key=value: each required, in the order of the properties. For property i there are two rules, `a` where
 * nothing stands before it and `b` where something does. Of tool 7:
 *
 *   a7-0 ::= key0 "=" value0 b7-1 | a7-1         the alternative only where property 0 may be left out
 *   b7-0 ::= (", " key0 "=" value0)? b7-1 */
static void put_keywords(rules *r)
{
    const char *const is = r->form->notation == SERVER_NOTATION_PYTHON ? "=" : ":", *const comma =
                                                                                        r->form->notation ==
                                                                                                SERVER_NOTATION_PYTHON
                                                                                            ? ", "
                                                                                            : ",";
    server_text *out = r->out;
    int i = 0;
    const char *key;
    json_t *schema;
    server_text_format(out, "a%d-0 ", r->tool);
    r->out = &r->more;
    json_object_foreach(r->properties, key, schema) {
        if (is_forbidden(r, key, schema)) continue;
        const bool must = is_required(r, key);
        for (int is_later = 0; is_later < 2; is_later++) {
            server_text_format(&r->more, "%c%d-%d ::= (", is_later ? 'b' : 'a', r->tool, i);
            if (is_later) put_quoted(&r->more, comma, strlen(comma));
            put_key(&r->more, key);
            put_quoted(&r->more, is, 1);
            put_value(r, key, schema);
            server_text_format(&r->more, must || !is_later ? ") b%d-%d" : ")? b%d-%d", r->tool, i + 1);
            if (!must && !is_later) server_text_format(&r->more, " | a%d-%d", r->tool, i + 1);
            server_text_put(&r->more, "\n");
        }
        i++;
    }
    server_text_format(&r->more, "a%d-%d ::= \"\"\nb%d-%d ::= \"\"\n", r->tool, i, r->tool, i);
    r->out = out;
}

static void put_arguments(rules *r, const json_t *tool)
{
    switch (r->form->notation) {
    case SERVER_NOTATION_PARAMETERS: put_parameters(r); break;
    case SERVER_NOTATION_PYTHON:
    case SERVER_NOTATION_BARE:
        server_text_put(r->out, r->form->notation == SERVER_NOTATION_PYTHON ? "\"(\" " : "\"{\" ");
        put_keywords(r);
        server_text_put(r->out, r->form->notation == SERVER_NOTATION_PYTHON ? "\")\" " : "\"}\" ");
        break;
    default: {
        /* Arguments are an object, whatever else the type allows. */
        json_t *schema = parameters_of(tool), *object = schema ? json_copy(schema) : json_object();
        json_object_set_new(object, "type", json_string("object"));
        put_schema(r->out, object);
        json_decref(object);
    }
    }
}

/* -------------------------------------------------------------------- calls */

static void put_name(server_text *out, const server_form *form, const json_t *tool)
{
    server_text name = {0};
    if (form->is_object) server_put_escaped(&name, name_of(tool), strlen(name_of(tool)));
    else server_text_put(&name, name_of(tool));
    out->failed |= name.failed;
    put_quoted(out, name.bytes, name.n);
    server_text_free(&name);
}

static void put_item(rules *r, const json_t *tool)
{
    const server_form *f = r->form;
    for (int32_t i = 0; i < f->n_parts; i++) switch (f->parts[i].slot) {
        case SERVER_SLOT_TEXT: put_marks(r->out, f, f->parts[i].text); break;
        case SERVER_SLOT_NAME: put_name(r->out, f, tool); break;
        case SERVER_SLOT_ID: server_text_put(r->out, "[a-zA-Z0-9]{9} "); break;
        case SERVER_SLOT_INDEX: server_text_put(r->out, "[0-9]{1,3} "); break;
        case SERVER_SLOT_ARGUMENTS: put_arguments(r, tool); break;
        }
}

/* Header and body of a message of gpt-oss, as its models write them. */
static void put_message(rules *r, const json_t *tool)
{
    put_name(r->out, r->form, tool);
    server_text_put(r->out, "\" \" ");
    put_marks(r->out, r->form, "<|constrain|>json<|message|>");
    put_arguments(r, tool);
}

/* Adds the rules of tool i: `toolI`, and those that it needs. The parameters of a call that is no JSON object are
 * schemas within the tool's. */
static void put_tool(server_text *out, const server_form *form, const json_t *tool, int i)
{
    rules r = {.form = form, .out = out, .tool = i};
    begin_tool(&r, tool);
    if (form->notation != SERVER_NOTATION_JSON && r.document) {
        server_text_put(out, "%schema ");
        server_schemas_put(out, json_incref(parameters_of(tool)));
        server_text_put(out, "\n");
    }
    server_text_format(out, "tool%d ::= ", i);
    if (form->is_harmony) put_message(&r, tool);
    else put_item(&r, tool);
    server_text_put(out, "\n");
    server_text_add(out, r.more.bytes, r.more.n);
    out->failed |= r.more.failed;
    server_text_free(&r.more);
    json_decref(r.properties);
    json_decref(r.required);
}

void server_form_put_calls(server_text *out, const server_form *form, const json_t *tools, bool several)
{
    const json_t *tool;
    size_t i;
    server_text_put(out, "calls ::= ");
    if (form->is_harmony) {
        put_marks(out, form, "<|channel|>commentary to=functions.");
        server_text_put(out, "item\n");
    } else {
        put_marks_after_white(out, form, form->before);
        server_text_put(out, "item ");
        if (several && form->several) {
            server_text_put(out, "(");
            put_marks(out, form, form->between);
            server_text_put(out, "item)* ");
        }
        put_marks(out, form, form->after);
        if (several && form->several && *form->after_several) {
            server_text_put(out, "(");
            put_marks(out, form, form->after_several);
            server_text_put(out, ")? ");
        }
        server_text_put(out, "\n");
    }
    server_text_put(out, "item ::= ");
    for (i = 0; i < json_array_size(tools); i++) server_text_format(out, i > 0 ? "| tool%d " : "tool%d ", (int)i);
    server_text_put(out, "\n");
    json_array_foreach(tools, i, tool) put_tool(out, form, tool, (int)i);
}
