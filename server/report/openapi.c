/* SPDX-License-Identifier: MIT */
/*
 * The OpenAPI document. It is written from the tables that the server itself reads: the paths from its routes, the
 * fields of a request, their types and ranges from the table of fields. The form of arrays and objects,
 * which the tables don't have, is below.
 */
#include "report/openapi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request/request.h"

#define OPENAI  (SERVER_CHAT | SERVER_COMPLETIONS)
#define CHATS   (SERVER_CHAT | SERVER_MESSAGES | SERVER_RESPONSES)
#define NATIVE  (SERVER_NATIVE | SERVER_INFILL)
#define ALL     (OPENAI | CHATS | NATIVE)
#define STRING  "{\"type\": \"string\"}"
#define STRINGS "{\"type\": \"array\", \"items\": " STRING "}"
#define IDS     "{\"type\": \"array\", \"items\": {\"type\": \"integer\", \"minimum\": 0}}"
#define RULE(constant, name) ", \"" #name "\""
#define PARTS(types)                                                                                                  \
    "{\"anyOf\": [" STRING ", {\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"type\"], "     \
    "\"properties\": {\"type\": {\"enum\": [" types "]}, \"text\": " STRING "}}}]}"
#define PARTS_OR_NULL "{\"anyOf\": [" PARTS("\"text\"") ", {\"type\": \"null\"}]}"
#define TURNS(roles, content)                                                                                         \
    "{\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"object\", \"required\": [\"role\"], "             \
    "\"properties\": {\"role\": {\"enum\": [" roles "]}, \"content\": " content "}}}"
#define CONVERSATION                                                                                                  \
    TURNS("\"system\", \"developer\", \"user\", \"assistant\", \"tool\"", PARTS_OR_NULL)
#define BLOCKS "\"text\", \"thinking\", \"redacted_thinking\", \"tool_use\", \"tool_result\""

/* The form of a field of these requests, as JSON Schema. */
static const struct form {
    unsigned where;
    const char *name;
    bool is_required;
    const char *schema; /* NULL: clients don't send the field */
} forms[] = {
    {SERVER_CHAT | SERVER_TEMPLATE, "messages", true, CONVERSATION},
    {SERVER_MESSAGES, "messages", true, TURNS("\"user\", \"assistant\", \"system\"", PARTS(BLOCKS))},
    {SERVER_MESSAGES, "continue_final_message", false, NULL},
    {SERVER_RESPONSES, "messages", false, NULL},
    {SERVER_RESPONSES | SERVER_MESSAGES, "response_format", false, NULL},
    {SERVER_MESSAGES, "output_config", false, "{\"type\": \"object\"}"},
    {SERVER_MESSAGES, "system", false, PARTS("\"text\"")},
    {SERVER_CHAT | SERVER_MESSAGES, "thinking", false, "{\"type\": \"object\"}"},
    {SERVER_RESPONSES, "include", false, STRINGS},
    {SERVER_RESPONSES, "input", true, "{\"type\": [\"string\", \"array\"]}"},
    {SERVER_RESPONSES, "instructions", false, STRING},
    {SERVER_RESPONSES, "text", false, "{\"type\": \"object\"}"},
    {SERVER_CHAT | SERVER_RESPONSES, "reasoning", false, "{\"type\": \"object\"}"},
    {SERVER_COMPLETIONS, "prompt", true,
     "{\"anyOf\": [" STRING ", " STRINGS ", " IDS ", "
     "{\"type\": \"array\", \"items\": " IDS "}]}"},
    {SERVER_INFILL, "prompt", false, STRING},
    {SERVER_INFILL, "input_prefix", true, STRING},
    {SERVER_INFILL, "input_suffix", true, STRING},
    {SERVER_INFILL, "input_extra", false,
     "{\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": "
     "[\"text\"], \"properties\": {\"text\": " STRING ", \"filename\": " STRING "}}}"},
    {SERVER_NATIVE, "prompt", true, "{\"type\": [\"string\", \"array\", \"object\"]}"},
    {OPENAI | NATIVE, "stop", false,
     "{\"anyOf\": [" STRING ", {\"type\": \"array\", \"items\": " STRING ", \"maxItems\": 16}]}"},
    {SERVER_MESSAGES, "stop_sequences", false, STRINGS},
    {ALL, "seed", false, "{\"type\": \"integer\"}"},
    {ALL, "logit_bias", false, "{\"type\": [\"object\", \"array\"]}"},
    {ALL, "dry_sequence_breakers", false, "{\"type\": \"array\", \"items\": " STRING ", \"maxItems\": 16}"},
    {ALL, "samplers", false, STRINGS},
    {OPENAI, "stream_options", false,
     "{\"type\": \"object\", \"properties\": {\"include_usage\": "
     "{\"type\": \"boolean\"}}}"},
    {SERVER_CHAT, "prediction", false,
     "{\"type\": \"object\", \"required\": [\"type\", \"content\"], \"properties\": "
     "{\"type\": {\"const\": \"content\"}, \"content\": " PARTS("\"text\"") "}}"},
    {SERVER_COMPLETIONS, "logprobs", false, "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 20}"},
    {CHATS | SERVER_TEMPLATE, "tools", false, "{\"type\": \"array\", \"items\": {\"type\": \"object\"}}"},
    {SERVER_CHAT | SERVER_RESPONSES, "tool_choice", false,
     "{\"anyOf\": [{\"enum\": [\"auto\", \"none\", \"required\"]}, {\"type\": \"object\"}]}"},
    {SERVER_MESSAGES, "tool_choice", false, "{\"type\": \"object\"}"},
    {OPENAI, "response_format", false,
     "{\"type\": \"object\", \"required\": [\"type\"], \"properties\": {\"type\": "
     "{\"enum\": [\"text\", \"json_object\", \"json_schema\"]}}}"},
    {OPENAI, "structured_outputs", false, "{\"type\": \"object\"}"},
    {OPENAI, "guided_json", false, "{\"type\": [\"object\", \"string\", \"boolean\"]}"},
    {OPENAI, "guided_choice", false, STRINGS},
    {SERVER_CHAT, "functions", false, "{\"type\": \"array\", \"items\": {\"type\": \"object\"}}"},
    {SERVER_CHAT, "function_call", false, "{\"type\": [\"string\", \"object\"]}"},
    {OPENAI | NATIVE, "json_schema", false, "{\"type\": [\"object\", \"boolean\"]}"},
    {SERVER_CHAT | SERVER_TEMPLATE, "documents", false, "{\"type\": \"array\"}"},
    {SERVER_TEMPLATE, "model", false, STRING},
    {SERVER_TEMPLATE, "add_generation_prompt", false, "{\"type\": \"boolean\"}"},
    {SERVER_TEMPLATE, "continue_final_message", false, "{\"type\": \"boolean\"}"},
    {SERVER_TEMPLATE, "reasoning_effort", false, STRING},
    {CHATS | SERVER_TEMPLATE, "chat_template_kwargs", false, "{\"type\": \"object\"}"},
    {SERVER_TOKENIZE, "content", false, STRING},
    {SERVER_TOKENIZE, "prompt", false, STRING},
    {SERVER_DETOKENIZE, "tokens", true, IDS},
    {ALL, "speculative", false, "{\"$ref\": \"#/components/schemas/Speculative\"}"},
    {SERVER_ADMIN, "model", false, STRING},
    {SERVER_ADMIN | SERVER_SPECULATIVE, "drafters", false, "{\"anyOf\": [" STRING ", " STRINGS "]}"},
    {SERVER_ADMIN | SERVER_SPECULATIVE, "accept", false, "{\"enum\": [\"auto\"" VOUCH_ACCEPT_LIST(RULE) "]}"},
    {SERVER_ADMIN | SERVER_SPECULATIVE, "draft_sampling", false, "{\"enum\": [\"auto\", \"sample\", \"greedy\"]}"},
};
enum { N_FORMS = sizeof forms / sizeof *forms };

static const struct form *find_form(const server_route *route, const char *name)
{
    for (int i = 0; i < N_FORMS; i++)
        if (forms[i].where & route->where && strcmp(forms[i].name, name) == 0) return &forms[i];
    return NULL;
}

/* The schema of numbers of this type in a range such as "(0, 1]"; NULL: any number. */
static json_t *number_schema(const char *type, const char *range)
{
    json_t *schema = json_pack("{s:s}", "type", type);
    if (!range) return schema;
    char *end;
    const double low = strtod(range + 1, &end), high = strtod(end + 1, &end);
    json_object_set_new(schema, *range == '[' ? "minimum" : "exclusiveMinimum", json_real(low));
    json_object_set_new(schema, *end == ']' ? "maximum" : "exclusiveMaximum", json_real(high));
    return schema;
}

/* The schema of a field that has no form. */
static json_t *field_schema(const server_field *field)
{
    switch (field->kind) {
    case SERVER_FIELD_BOOL: return json_pack("{s:s}", "type", "boolean");
    case SERVER_FIELD_INT: return number_schema("integer", field->range);
    case SERVER_FIELD_FLOAT:
    case SERVER_FIELD_DOUBLE: return number_schema("number", field->range);
    case SERVER_FIELD_STRING: return json_pack("{s:s}", "type", "string");
    case SERVER_FIELD_IGNORED: return json_pack("{s:s}", "description", "Read, and changes nothing.");
    case SERVER_FIELD_NEUTRAL:
        return json_pack("{s:s}", "description", "Not supported: only a value that leaves it off is accepted.");
    case SERVER_FIELD_VALUE: break;
    }
    return json_object();
}

/* null counts as an absent field. Takes the schema. */
static json_t *or_null(json_t *schema)
{
    if (json_object_size(schema) == 0 || json_object_get(schema, "description")) return schema; /* any value */
    return json_pack("{s:[o, {s:s}]}", "anyOf", schema, "type", "null");
}

static json_t *object_schema(const server_route *route)
{
    json_t *properties = json_object(), *required = json_array();
    const server_field_table *table = route->fields;
    for (size_t i = 0; table && i < table->n; i++) {
        const server_field *field = &table->fields[i];
        if (field->where & route->where && !find_form(route, field->name))
            json_object_set_new(properties, field->name, or_null(field_schema(field)));
    }
    for (int i = 0; i < N_FORMS; i++) {
        if (!(forms[i].where & route->where) || !forms[i].schema) continue;
        json_t *schema = json_loads(forms[i].schema, 0, NULL);
        json_object_set_new(properties, forms[i].name, forms[i].is_required ? schema : or_null(schema));
        if (forms[i].is_required) json_array_append_new(required, json_string(forms[i].name));
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required", required,
                     "additionalProperties", table == NULL);
}

static json_t *responses(const server_route *route)
{
    static const struct {
        const char *status, *description;
        unsigned needs; /* flags of the route */
        bool needs_body;
    } faults[] = {
        {"400", "A field is wrong; `param` names it.", 0, true},
        {"401", "The key is missing or wrong.", 0, false},
        {"403", "The page of another site asks, or for another host.", 0, false},
        {"404", "No model has this name.", 0, true},
        {"413", "The body is too long.", 0, true},
        {"429", "Too many answers wait; try again later.", SERVER_ROUTE_ANSWERS, true},
        {"500", "The server failed.", SERVER_ROUTE_ANSWERS, true},
        {"501", "The server doesn't do this.", SERVER_ROUTE_REFUSED, false},
        {"503", "The server is ending, or short of memory.", 0, false},
    };
    const bool has_body = strcmp(route->method, "POST") == 0, names = strchr(route->path, '{');
    static const char *const errors[] = {[SERVER_DIALECT_OPENAI] = "#/components/schemas/Error",
                                         [SERVER_DIALECT_ANTHROPIC] = "#/components/schemas/AnthropicError",
                                         [SERVER_DIALECT_OLLAMA] = "#/components/schemas/OllamaError"};
    const server_dialect dialect = server_dialect_of(route->path);
    json_t *all = json_object(), *types = json_pack("{s:{}}", route->type);
    const char *stream = dialect == SERVER_DIALECT_OLLAMA ? "application/x-ndjson" : "text/event-stream";
    if (route->flags & SERVER_ROUTE_ANSWERS) json_object_set_new(types, stream, json_object());
    json_object_set_new(all, "200", json_pack("{s:s, s:o}", "description", "The answer.", "content", types));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const bool is_named = names && strcmp(faults[i].status, "404") == 0;
        if ((faults[i].needs_body && !has_body && !is_named) || faults[i].needs & ~route->flags) continue;
        json_object_set_new(all, faults[i].status,
                            json_pack("{s:s, s:{s:{s:{s:s}}}}", "description", faults[i].description, "content",
                                      "application/json", "schema", "$ref", errors[dialect]));
    }
    return all;
}

/* The part of a path that stands between braces. */
static json_t *parameters(const char *path)
{
    const char *from = strchr(path, '{') + 1;
    return json_pack("[{s:s%, s:s, s:b, s:{s:s}}]", "name", from, strcspn(from, "}"), "in", "path", "required", 1,
                     "schema", "type", "string");
}

static json_t *operation(const server_route *route)
{
    json_t *object = json_pack("{s:s, s:o}", "summary", route->about, "responses", responses(route));
    if (strcmp(route->method, "POST") == 0)
        json_object_set_new(object, "requestBody",
                            json_pack("{s:b, s:{s:{s:o}}}", "required", 1, "content", "application/json", "schema",
                                      object_schema(route)));
    if (strchr(route->path, '{')) json_object_set_new(object, "parameters", parameters(route->path));
    if (route->flags & SERVER_ROUTE_PUBLIC) json_object_set_new(object, "security", json_array());
    return object;
}

static json_t *paths(void)
{
    json_t *all = json_object();
    for (size_t i = 0; i < server_n_routes; i++) {
        const server_route *route = &server_routes[i];
        json_t *path = json_object_get(all, route->path);
        if (!path) json_object_set_new(all, route->path, path = json_object());
        const char *const method = strcmp(route->method, "POST") == 0  ? "post"
                                   : strcmp(route->method, "GET") == 0 ? "get"
                                                                       : "delete";
        json_object_set_new(path, method, operation(route));
    }
    return all;
}

static const char components[] =
    "{\"securitySchemes\": {\"key\": {\"type\": \"http\", \"scheme\": \"bearer\"}}, \"schemas\": {"
    "\"Error\": {\"type\": \"object\", \"required\": [\"error\"], \"properties\": {\"error\": {\"type\": \"object\", "
    "\"required\": [\"message\", \"type\", \"param\", \"code\"], \"properties\": {\"message\": " STRING ", "
    "\"type\": " STRING ", "
    "\"param\": {\"type\": [\"string\", \"null\"]}, \"code\": {\"type\": [\"string\", \"null\"]}}}}}, "
    "\"OllamaError\": {\"type\": \"object\", \"required\": [\"error\"], \"properties\": {\"error\": " STRING "}}, "
    "\"AnthropicError\": {\"type\": \"object\", \"required\": [\"type\", \"error\"], \"properties\": {\"type\": "
    "{\"const\": \"error\"}, \"error\": {\"type\": \"object\", \"required\": [\"type\", \"message\"]}}}}}";

void server_show_openapi(server_exchange *x)
{
    const server_route inner = {.fields = &server_speculation_fields, .where = SERVER_SPECULATIVE};
    json_t *parts = json_loads(components, 0, NULL);
    json_object_set_new(json_object_get(parts, "schemas"), "Speculative", object_schema(&inner));
    /* Without a key, every request is let in. */
    json_t *security = x->server->options->n_keys > 0 ? json_pack("[{s:[]}]", "key") : json_array();
    server_reply_json(x, 200,
                      json_pack("{s:s, s:{s:s, s:s}, s:o, s:o, s:o}", "openapi", "3.1.0", "info", "title", "vouch",
                                "version", VOUCH_VERSION, "paths", paths(), "components", parts, "security", security));
}
