/* SPDX-License-Identifier: MIT */
/* Binds the answers of a job to a grammar: of response_format, of a GBNF text, or of tools that have to be called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/arguments.h"
#include "request/request.h"

static bool is_strict_tool(const json_t *tool)
{
    return json_is_true(json_object_get(json_object_get(tool, "function"), "strict"));
}

/* How the request's schemas are read. `strict`, of a format or of a tool that may be called, refuses keywords that
 * can't be bound. */
static int schema_flags(const server_request *r, const json_t *tools)
{
    const json_t *format = r->response_format, *tool;
    bool is_strict = json_is_true(json_object_get(format, "strict")) ||
                     json_is_true(json_object_get(json_object_get(format, "json_schema"), "strict"));
    size_t i;
    json_array_foreach(tools, i, tool) is_strict |= is_strict_tool(tool);
    return (r->open_objects ? 0 : VOUCH_GRAMMAR_CLOSED) | (is_strict ? 0 : VOUCH_GRAMMAR_LENIENT);
}

static bool open_grammar(server_job *job, int kind, const char *text, const char *param, server_fault *fault)
{
    vouch_error err;
    if (vouch_grammar_open(&job->grammar, kind, text, text ? strlen(text) : 0, &err)) {
        server_fail_library(fault, param, &err);
        return false;
    }
    job->options.grammar = job->grammar;
    return true;
}

typedef enum format_part { FORMAT, FORMAT_TYPE, FORMAT_SCHEMA } format_part;

/* The path of a part of response_format, as the client's API has it. */
static const char *format_path(const server_request *r, format_part part)
{
    static const char *const chat[] = {"response_format", "response_format.type", "response_format.json_schema.schema"},
                             *const messages[] = {"output_config.format", "output_config.format.type",
                                                  "output_config.format.schema"},
                             *const responses[] = {"text.format", "text.format.type", "text.format.schema"};
    return (r->where == SERVER_MESSAGES ? messages : r->where == SERVER_RESPONSES ? responses : chat)[part];
}

/* The schema of the answer, or NULL. {"type": "json_schema", "json_schema": {"schema": ...}}; responses have the schema
 * beside the type, and so has llama.cpp with the type json_object. A new reference. */
static bool find_schema(const server_request *r, json_t **schema, const char **param, server_fault *fault)
{
    json_t *format = r->response_format, *flat = json_object_get(format, "schema");
    const char *type = server_word(format, "type");
    json_t *found = r->json_schema;
    if (json_is_null(flat)) flat = NULL;
    *schema = NULL;
    *param = r->schema_param;
    if (format && !json_is_object(format))
        return server_fail_field(fault, format_path(r, FORMAT), "expected an object, got %s", server_json_kind(format));
    if (found || !format || strcmp(type, "text") == 0) {
        *schema = json_incref(found);
    } else if (!flat && strcmp(type, "json_object") == 0) {
        *schema = json_pack("{s:s}", "type", "object");
        *param = format_path(r, FORMAT);
    } else if (flat || strcmp(type, "json_schema") == 0) {
        *schema = json_incref(flat ? flat : json_object_get(json_object_get(format, "json_schema"), "schema"));
        *param = flat && r->where == SERVER_CHAT ? "response_format.schema" : format_path(r, FORMAT_SCHEMA);
        found = *schema;
        if (!found) return server_fail_field(fault, *param, "expected a JSON Schema");
    } else {
        return server_fail_field(fault, format_path(r, FORMAT_TYPE),
                                 "'%.60s': expected text, json_object or json_schema", type);
    }
    if (!found || json_is_object(found) || json_is_boolean(found)) return true;
    json_decref(*schema);
    return server_fail_field(fault, *param, "expected a JSON Schema");
}

/* Whether the parameters of a tool refer to a part of themselves, if to any, and whether `required`, if it is there, is
 * an array of names. The forms read both (form.h). */
static bool check_required(const server_request *r, const json_t *tool, size_t i, server_fault *fault)
{
    const char *path = NULL;
    const json_t *document = json_object_get(json_object_get(tool, "function"), "parameters"), *name;
    const json_t *parameters = server_schema_referred(document, document, &path);
    const json_t *required = json_object_get(parameters, "required");
    bool good = !required || json_is_null(required) || json_is_array(required);
    char param[64];
    size_t n;
    if (path && !json_is_object(parameters))
        return server_fail_field(fault, server_tool_path(r, i, param),
                                 "$ref: '%.60s' is no schema of this document; "
                                 "expected #/$defs/NAME",
                                 path);
    json_array_foreach(required, n, name) good &= json_is_string(name);
    return good || server_fail_field(fault, server_tool_path(r, i, param), "required: expected an array of names");
}

/* The tools that an answer may call: the one that tool_choice names, or all. A new reference; NULL with a fault. */
static json_t *find_tools(const server_request *r, server_fault *fault)
{
    const char *name = server_chosen_tool(r);
    json_t *found = json_array(), *tool;
    bool good = true;
    size_t i;
    json_array_foreach(r->tools, i, tool) {
        const char *known = server_word(json_object_get(tool, "function"), "name");
        if (*name && strcmp(known, name) != 0) continue;
        good = good && check_required(r, tool, i, fault);
        json_array_append(found, tool);
    }
    if (good && json_array_size(found) > 0) return found;
    json_decref(found);
    if (!good) return NULL;
    server_fail_field(fault, "tool_choice", "no tool has the name '%.60s'", name);
    return NULL;
}

/* Where the schema of a tool's parameters, of a strict tool if only_strict, is to blame for a failure, names it. */
static void blame_tool(const server_request *r, int flags, bool only_strict, server_fault *fault)
{
    const json_t *tool;
    size_t i;
    json_array_foreach(r->tools, i, tool) {
        if (only_strict && !is_strict_tool(tool)) continue;
        json_t *schema = json_copy(json_object_get(json_object_get(tool, "function"), "parameters"));
        if (json_is_object(schema)) json_object_set_new(schema, "type", json_string("object")); /* as put_arguments() */
        server_text text = {0};
        char param[64];
        if (schema) server_schemas_put(&text, schema);
        vouch_grammar *grammar = NULL;
        vouch_error err;
        const bool is_wrong =
            text.n && vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA | flags, text.bytes, text.n, &err);
        if (is_wrong) server_fail_library(fault, server_tool_path(r, i, param), &err);
        vouch_grammar_close(grammar);
        server_text_free(&text);
        if (is_wrong) return;
    }
}

/* The answer is thoughts, and then a text of the schema, or calls where `tools` isn't NULL; one of both may be NULL. */
static bool open_form(const server_request *r, server_job *job, server_thoughts thoughts, json_t *schema,
                      const json_t *tools, const char *param, server_fault *fault)
{
    const server_form *form = r->model->form;
    const bool several = r->several_calls && !*server_chosen_tool(r);
    server_text text = {0};
    server_form_put_root(&text, form, thoughts);
    server_text_put(&text, schema && tools ? "rest ::= answer | calls\n"
                           : schema        ? "rest ::= answer\n"
                                           : "rest ::= calls\n");
    if (schema) server_form_put_answer(&text, form, schema);
    if (tools) server_form_put_calls(&text, form, tools, several);
    server_text_add(&text, "", 1);
    if (text.failed) {
        server_text_free(&text);
        return server_fail_memory(fault);
    }
    const int flags = schema_flags(r, tools);
    const bool good = open_grammar(job, VOUCH_GRAMMAR_GBNF | flags, text.bytes, param, fault);
    server_text_free(&text);
    if (!good && tools) blame_tool(r, flags, false, fault);
    return good;
}

/* An answer that is free to call no tool isn't bound. A strict tool is refused all the same where it couldn't bind. */
static bool check_strict(const server_request *r, server_fault *fault)
{
    fault->status = 0;
    blame_tool(r, schema_flags(r, NULL) & ~VOUCH_GRAMMAR_LENIENT, true, fault);
    return fault->status == 0;
}

bool server_request_bind(const server_request *r, server_job *job, server_thoughts thoughts, server_fault *fault)
{
    const bool is_text = strcmp(server_word(r->response_format, "type"), "text") == 0;
    const bool has_grammar = r->grammar != NULL;
    const int n = (r->response_format && !is_text) + has_grammar + (r->json_schema != NULL);
    json_t *schema, *tools = NULL;
    const char *param;
    if (n > 1 || (has_grammar && r->must_call))
        return server_fail_field(fault, r->must_call ? "tool_choice" : format_path(r, FORMAT),
                                 "an answer can be bound once: give one of response_format, grammar and json_schema, "
                                 "and no grammar beside a tool_choice that forces a call");
    if (has_grammar)
        return open_grammar(job, r->grammar_kind | schema_flags(r, NULL), r->grammar, r->grammar_param, fault);
    if (!find_schema(r, &schema, &param, fault)) return false;
    bool good = true;
    if (r->must_call) { /* a format binds a text, and there is none */
        json_decref(schema);
        schema = NULL;
    }
    if (r->tools && (schema || r->must_call)) good = (tools = find_tools(r, fault)) != NULL;
    if (good && (schema || tools)) good = open_form(r, job, thoughts, schema, tools, schema ? param : "tools", fault);
    else if (good) good = check_strict(r, fault);
    json_decref(tools);
    json_decref(schema);
    return good;
}
