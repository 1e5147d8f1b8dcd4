/* SPDX-License-Identifier: MIT */
/* Binds the answers of a job to a grammar: of response_format, of a GBNF text, or of a tool that has to be called. */
#include <stdlib.h>
#include <string.h>

#include "request.h"

static bool open_grammar(server_job *job, vouch_grammar_kind kind, const char *text, const char *param,
                         server_fault *fault)
{
    vouch_error err;
    if (vouch_grammar_open(&job->grammar, kind, text, text ? strlen(text) : 0, &err)) {
        server_fail_library(fault, param, &err);
        return false;
    }
    job->options.grammar = job->grammar;
    return true;
}

static bool open_schema(server_job *job, const json_t *schema, const char *param, server_fault *fault)
{
    if (!json_is_object(schema) && !json_is_boolean(schema))
        return server_fail_field(fault, param, "expected a JSON Schema");
    char *text = json_dumps(schema, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!text) return server_fail(fault, 503, "out_of_memory", "", "not enough memory for the schema");
    const bool good = open_grammar(job, VOUCH_GRAMMAR_JSON_SCHEMA, text, param, fault);
    free(text);
    return good;
}

/* {"type": "json_schema", "json_schema": {"schema": ...}}; responses have the schema beside the type, and so has
 * llama.cpp with the type json_object. */
static bool bind_format(const server_request *r, server_job *job, server_fault *fault)
{
    const json_t *format = r->response_format, *flat = json_object_get(format, "schema");
    const json_t *outer = json_object_get(format, "json_schema");
    const char *type = server_word(format, "type");
    if (strcmp(type, "text") == 0) return true;
    if (flat) return open_schema(job, flat, "response_format.schema", fault);
    if (strcmp(type, "json_object") == 0) return open_grammar(job, VOUCH_GRAMMAR_JSON, NULL, "response_format", fault);
    if (strcmp(type, "json_schema") == 0)
        return open_schema(job, json_object_get(outer, "schema"), "response_format.json_schema.schema", fault);
    return server_fail_field(fault, "response_format.type", "'%.60s': expected text, json_object or json_schema", type);
}

/* The schema of a call: {"name": "f", "arguments": {...}}. */
static json_t *call_schema(const json_t *tool)
{
    const json_t *function = json_object_get(tool, "function"), *parameters = json_object_get(function, "parameters");
    json_t *arguments = parameters ? json_deep_copy(parameters) : json_pack("{s:s}", "type", "object");
    return json_pack("{s:s, s:{s:{s:s}, s:o}, s:[s, s], s:b}", "type", "object", "properties", "name", "const",
                     server_word(function, "name"), "arguments", arguments, "required", "name", "arguments",
                     "additionalProperties", 0);
}

/* With "required" the answer is a call of any tool, with a name a call of that tool. A call as a whole answer is the
 * form of Llama 3.1, which the reader knows. */
static bool bind_call(const server_request *r, server_job *job, server_fault *fault)
{
    const json_t *function = json_object_get(r->tool_choice, "function");
    const char *name = server_word(function ? function : r->tool_choice, "name");
    json_t *calls = json_array(), *tool;
    size_t i;
    json_array_foreach(r->tools, i, tool)
        if (!*name || strcmp(server_word(json_object_get(tool, "function"), "name"), name) == 0)
            json_array_append_new(calls, call_schema(tool));
    const size_t n = json_array_size(calls);
    json_t *schema = n == 1 ? json_incref(json_array_get(calls, 0)) : json_pack("{s:O}", "anyOf", calls);
    const bool good = n > 0 ? open_schema(job, schema, "tools", fault)
                            : server_fail_field(fault, "tool_choice", "no tool has the name '%.60s'", name);
    json_decref(schema);
    json_decref(calls);
    return good;
}

bool server_request_bind(const server_request *r, server_job *job, server_fault *fault)
{
    const int n = (r->response_format != NULL && strcmp(server_word(r->response_format, "type"), "text") != 0) +
                  (r->grammar && *r->grammar) + (r->json_schema != NULL) + r->must_call;
    if (n > 1)
        return server_fail_field(fault, r->must_call ? "tool_choice" : "response_format",
                                 "an answer can be bound once: give one of response_format, grammar, json_schema and a "
                                 "tool_choice that forces a call");
    if (r->must_call) return bind_call(r, job, fault);
    if (r->grammar && *r->grammar) return open_grammar(job, VOUCH_GRAMMAR_GBNF, r->grammar, "grammar", fault);
    if (r->json_schema) return open_schema(job, r->json_schema, "json_schema", fault);
    return !r->response_format || bind_format(r, job, fault);
}
