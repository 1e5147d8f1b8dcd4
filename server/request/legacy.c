/* SPDX-License-Identifier: MIT */
/*
 * Chat as the OpenAI API had it before tools: `functions` and `function_call` in a request, `function_call` in messages
 * of the assistant, and messages with the role "function". They become tools, calls and their results, in place. The
 * answer has its form again (openai.c).
 */
#include <stdio.h>
#include <string.h>

#include "request/request.h"

/* Turns function_call of a request into tool_choice. */
static bool convert_choice(json_t *document, server_fault *fault)
{
    json_t *choice = json_object_get(document, "function_call");
    if (!choice || json_is_null(choice)) return true;
    if (json_is_object(choice) && *server_word(choice, "name"))
        return json_object_set_new(document, "tool_choice",
                                   json_pack("{s:s, s:{s:O}}", "type", "function", "function", "name",
                                             json_object_get(choice, "name"))) == 0;
    const char *word = json_is_string(choice) ? json_string_value(choice) : "";
    if (strcmp(word, "auto") != 0 && strcmp(word, "none") != 0)
        return server_fail_field(fault, "function_call", "expected auto, none, or an object that names a function");
    return json_object_set(document, "tool_choice", choice) == 0;
}

bool server_convert_functions(server_request *r, server_fault *fault)
{
    json_t *document = r->document, *function;
    const json_t *functions = json_object_get(document, "functions"), *tools = json_object_get(document, "tools");
    size_t i;
    if (!json_is_object(document) || !functions || json_is_null(functions)) return true;
    if (!json_is_array(functions))
        return server_fail_field(fault, "functions", "expected an array, got %s", server_json_kind(functions));
    if (tools && !json_is_null(tools))
        return server_fail_field(fault, "functions", "give either tools or functions, which tools replace");
    json_t *all = json_array();
    json_array_foreach(functions, i, function)
        json_array_append_new(all, json_pack("{s:s, s:O}", "type", "function", "function", function));
    json_object_set_new(document, "tools", all);
    json_object_set_new(document, "parallel_tool_calls", json_false()); /* an answer has room for one call */
    r->is_legacy = true;
    return convert_choice(document, fault);
}

void server_convert_legacy_message(json_t *message, size_t i, char id[10])
{
    json_t *call = json_object_get(message, "function_call");
    if (json_is_object(call) && !json_object_get(message, "tool_calls")) {
        snprintf(id, 10, "call%05zu", i % 100000); /* nine letters and digits, which every template takes */
        json_object_set_new(message, "tool_calls",
                            json_pack("[{s:s, s:s, s:O}]", "id", id, "type", "function", "function", call));
        json_object_del(message, "function_call");
        if (json_is_null(json_object_get(message, "content"))) json_object_del(message, "content");
    }
    if (strcmp(server_word(message, "role"), "function") != 0) return;
    json_object_set_new(message, "role", json_string("tool"));
    json_object_set_new(message, "tool_call_id", json_string(id));
}
