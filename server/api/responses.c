/* SPDX-License-Identifier: MIT */
/*
 * /v1/responses of the OpenAI API. The request becomes one of the chat API, in place: items become messages, calls and
 * results. The answer becomes items again. A stream opens each item, fills it and closes it:
 *
 *   response.created, response.in_progress,
 *   (response.output_item.added, ..., response.output_item.done) ...,
 *   response.completed, response.incomplete, or error and response.failed
 */
#include "api/responses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/answer.h"
#include "call/arguments.h"
#include "tool/json.h"
#include "api/usage.h"

/* ------------------------------------------------------------------ the request */

/* The conversation as the items are read. Thoughts wait for the assistant's message after them. */
typedef struct conversation {
    json_t *messages, *thoughts; /* thoughts NULL: none wait */
} conversation;

/* Gives the thoughts that wait to an answer, after those that it has. */
static void give_thoughts(conversation *c, json_t *message)
{
    const char *had = server_word(message, "reasoning_content");
    if (c->thoughts)
        json_object_set_new(message, "reasoning_content",
                            json_sprintf("%s%s%s", had, *had ? "\n\n" : "", json_string_value(c->thoughts)));
    json_decref(c->thoughts);
    c->thoughts = NULL;
}

/* Takes the content. Returns the message, which the conversation owns. */
static json_t *add_message(conversation *c, const char *role, json_t *content)
{
    json_t *message = json_pack("{s:s, s:o}", "role", role, "content", content);
    if (strcmp(role, "assistant") == 0) give_thoughts(c, message);
    json_decref(c->thoughts); /* those before another's message have no answer */
    c->thoughts = NULL;
    json_array_append_new(c->messages, message);
    return message;
}

/* Adds a call, with the thoughts before it, to the last message if that is the assistant's, as models expect parallel
 * calls; else to a new one. */
static bool add_call(conversation *c, const json_t *item, const char *path, server_fault *fault)
{
    json_t *last = json_array_get(c->messages, json_array_size(c->messages) - 1);
    if (!*server_word(item, "name")) return server_fail_field(fault, path, "name: expected the name of a function");
    if (strcmp(server_word(last, "role"), "assistant") != 0) last = add_message(c, "assistant", json_string(""));
    give_thoughts(c, last);
    json_t *calls = json_object_get(last, "tool_calls");
    if (!calls) json_object_set_new(last, "tool_calls", calls = json_array());
    return json_array_append_new(calls, json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", server_word(item, "call_id"),
                                                  "type", "function", "function", "name", server_word(item, "name"),
                                                  "arguments", server_word(item, "arguments"))) == 0;
}

/* The text at a key of an item, a string or parts. A new reference; NULL with a fault. */
static json_t *item_text(const json_t *item, const char *key, const char *path, server_fault *fault)
{
    char inner[64];
    snprintf(inner, sizeof inner, "%.48s.%s", path, key);
    return server_json_texts(json_object_get(item, key), inner, fault);
}

static bool add_item(conversation *c, const json_t *item, const char *path, server_fault *fault)
{
    static const char *const roles[] = {"user", "assistant", "system", "developer"};
    const char *type = server_word(item, "type"), *role = server_word(item, "role");
    const bool is_call = strcmp(type, "function_call") == 0, is_result = strcmp(type, "function_call_output") == 0;
    if (!json_is_object(item))
        return server_fail_field(fault, path, "expected an object, got %s", server_json_kind(item));
    if (strcmp(type, "item_reference") == 0 || (!*type && !*role && json_object_get(item, "id")))
        return server_fail_field(fault, path,
                                 "an item_reference names an item of an earlier response, and the server "
                                 "keeps none; send the item itself");
    if ((is_call || is_result) && !*server_word(item, "call_id"))
        return server_fail_field(fault, path, "call_id: expected the id of a call");
    if (is_call) return add_call(c, item, path, fault);
    const char *key = is_result ? "output" : "content";
    if (strcmp(type, "reasoning") != 0 && !is_result && *type && strcmp(type, "message") != 0)
        return server_fail_field(fault, path,
                                 "type '%.40s' is not supported; expected message, function_call, "
                                 "function_call_output or reasoning",
                                 type);
    json_t *text = item_text(item, key, path, fault);
    if (!text) return false;
    if (strcmp(type, "reasoning") == 0) {
        json_decref(c->thoughts);
        c->thoughts = text;
        if (json_string_length(text) > 0) return true;
        json_decref(text);
        c->thoughts = NULL;
        return true;
    }
    if (is_result) {
        json_object_set_new(add_message(c, "tool", text), "tool_call_id", json_string(server_word(item, "call_id")));
        return true;
    }
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(role, roles[i]) == 0) return add_message(c, role, text) != NULL;
    json_decref(text);
    return server_fail_field(fault, path, "role '%.40s': expected user, assistant, system or developer", role);
}

static bool convert_input(json_t *document, server_fault *fault)
{
    json_t *input = json_object_get(document, "input"), *instructions = json_object_get(document, "instructions"),
           *item;
    conversation c = {.messages = json_array()};
    size_t i;
    bool good = true;
    if (!json_is_string(input) && json_array_size(input) == 0)
        good = server_fail_field(fault, "input", "expected a string or an array of items");
    if (good && instructions && !json_is_string(instructions) && !json_is_null(instructions))
        good = server_fail_field(fault, "instructions", "expected a string, got %s", server_json_kind(instructions));
    if (json_is_string(instructions)) add_message(&c, "system", json_incref(instructions));
    if (json_is_string(input)) add_message(&c, "user", json_incref(input));
    json_array_foreach(input, i, item) {
        char path[32];
        snprintf(path, sizeof path, "input[%zu]", i);
        good = good && add_item(&c, item, path, fault);
    }
    json_decref(c.thoughts);
    json_object_del(document, "input");
    json_object_set_new(document, "messages", c.messages);
    return good;
}

static bool schema_of(const json_t *tool, const char *path, json_t **schema, server_fault *fault)
{
    *schema = json_object_get(tool, "parameters");
    if (strcmp(server_word(tool, "type"), "function") == 0) return true;
    return server_fail_field(fault, path, "type '%.40s' is not supported; expected function",
                             server_word(tool, "type"));
}

/* Reads the member of `text` that counts. */
static bool read_format(const json_t *document, json_t **format, server_fault *fault)
{
    static const server_field text[] = {{"format", 1, SERVER_FIELD_VALUE, 0, NULL},
                                        {"verbosity", 1, SERVER_FIELD_IGNORED, 0, NULL}};
    static const server_field_table table = {text, sizeof text / sizeof *text};
    json_t *value = json_object_get(document, "text");
    return !value || json_is_null(value) || server_fields_read(value, "text", &table, 1, format, fault);
}

/* Turns x->json into a request of the chat API. text, reasoning, include and others stay for the answer. */
static bool convert(server_exchange *x, server_fault *fault)
{
    json_t *document = x->json;
    if (!json_is_object(document)) return server_fail_field(fault, "body", "expected an object");
    json_t *format = NULL;
    if (!read_format(document, &format, fault)) return false;
    if (format) json_object_set(document, "response_format", format);
    return convert_input(document, fault) && server_convert_tools(document, schema_of, fault);
}

/* ------------------------------------------------------------------- the answer */

typedef enum item_kind { ITEM_NONE, ITEM_REASONING, ITEM_MESSAGE, ITEM_CALL } item_kind;

/* The state of a stream: the open item and what it holds, and the items that are done. */
typedef struct items {
    item_kind open;
    int32_t n_events;
    char id[64];             /* of the open item */
    json_t *done, *logprobs; /* logprobs: of the open item's tokens */
    server_text text;
} items;

/* The content of an item. Takes the text's value, and the log probabilities, an array; NULL: an empty one. */
static json_t *part_json(item_kind kind, json_t *text, json_t *logprobs)
{
    if (kind == ITEM_REASONING) return json_pack("{s:s, s:o}", "type", "reasoning_text", "text", text);
    return json_pack("{s:s, s:o, s:[], s:o}", "type", "output_text", "text", text, "annotations", "logprobs",
                     logprobs ? logprobs : json_array());
}

/* Takes the part; NULL: the item is empty yet. */
static json_t *item_json(item_kind kind, const char *id, const char *status, json_t *part)
{
    json_t *content = part ? json_pack("[o]", part) : json_array();
    if (kind == ITEM_REASONING)
        return json_pack("{s:s, s:s, s:[], s:o}", "id", id, "type", "reasoning", "summary", "content", content);
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "id", id, "type", "message", "status", status, "role", "assistant",
                     "content", content);
}

/* The text as a whole item. Takes the text's value and the log probabilities. */
static json_t *whole_item(item_kind kind, const char *id, const char *status, json_t *text, json_t *logprobs)
{
    return item_json(kind, id, status, part_json(kind, text, logprobs));
}

/* Takes the arguments. */
static json_t *call_item(server_exchange *x, const char *id, server_call *call, json_t *arguments, const char *status)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "id", id, "type", "function_call", "status", status, "call_id",
                     server_call_id(x, call, "call_"), "name", call->name, "arguments", arguments);
}

static json_t *usage_json(const server_exchange *x)
{
    const server_usage u = server_usage_of(x->job, 1);
    return json_pack("{s:I, s:{s:I, s:i}, s:I, s:{s:I}, s:I}", "input_tokens", (json_int_t)u.prompt_tokens,
                     "input_tokens_details", "cached_tokens", (json_int_t)u.cached_tokens, "cache_write_tokens", 0,
                     "output_tokens", (json_int_t)u.completion_tokens, "output_tokens_details", "reasoning_tokens",
                     (json_int_t)u.thought_tokens, "total_tokens",
                     (json_int_t)u.prompt_tokens + (json_int_t)u.completion_tokens);
}

/* The tools as the request had them; the document has those of the chat API. */
static json_t *tools_json(const json_t *document)
{
    json_t *tools = json_array(), *tool;
    size_t i;
    json_array_foreach(json_object_get(document, "tools"), i, tool) {
        json_t *flat = server_schemas_plain(json_object_get(tool, "function"));
        json_object_set_new(flat, "type", json_string("function"));
        if (!json_object_get(flat, "strict")) json_object_set_new(flat, "strict", json_false());
        json_array_append_new(tools, flat);
    }
    return tools;
}

/* A field of the request, as it was given; otherwise `otherwise`, which it takes. */
static json_t *given(const server_answer *a, const char *name, json_t *otherwise)
{
    json_t *value = json_object_get(a->request.document, name);
    if (!value || json_is_null(value)) return otherwise;
    json_decref(otherwise);
    return json_incref(value);
}

static bool is_cut(const server_exchange *x)
{
    const vouch_finish finish = x->job->choices[0].finish;
    return finish == VOUCH_FINISH_LENGTH || finish == VOUCH_FINISH_CONTEXT;
}

/* The text's settings, with a format. */
static json_t *text_json(const server_answer *a)
{
    json_t *text = given(a, "text", NULL), *copy = text ? server_schemas_plain(text) : json_object();
    json_t *format = json_object_get(copy, "format");
    json_decref(text);
    if (!format || json_is_null(format)) json_object_set_new(copy, "format", json_pack("{s:s}", "type", "text"));
    return copy;
}

/* The response as JSON. Takes `output`. is_over: it has the final status and the usage. */
static json_t *response_json(const server_exchange *x, json_t *output, bool is_over)
{
    const server_answer *a = x->state;
    const vouch_sampling *s = &a->request.session.sampling;
    const bool cut = is_over && is_cut(x);
    const tool_json_entry entries[] = {
        {"id", json_string(a->id)},
        {"object", json_string("response")},
        {"created_at", json_integer(a->created)},
        {"completed_at", is_over && !cut ? json_integer((json_int_t)time(NULL)) : json_null()},
        {"status", json_string(!is_over ? "in_progress"
                               : cut    ? "incomplete"
                                        : "completed")},
        {"background", json_false()},
        {"error", json_null()},
        {"incomplete_details", cut ? json_pack("{s:s}", "reason", "max_output_tokens") : json_null()},
        {"instructions", given(a, "instructions", json_null())},
        {"max_output_tokens", a->request.max_tokens > 0 ? json_integer(a->request.max_tokens) : json_null()},
        {"max_tool_calls", given(a, "max_tool_calls", json_null())},
        {"model", tool_json_text(a->request.model->options->name)},
        {"output", output},
        {"parallel_tool_calls", json_boolean(a->request.several_calls)},
        {"previous_response_id", json_null()},
        {"prompt_cache_key", given(a, "prompt_cache_key", json_null())},
        {"reasoning", given(a, "reasoning", json_pack("{s:n, s:n}", "effort", "summary"))},
        {"safety_identifier", given(a, "safety_identifier", json_null())},
        {"service_tier", json_string("default")},
        {"store", json_false()},
        {"temperature", tool_json_float(s->temperature)},
        {"text", text_json(a)},
        {"tool_choice", given(a, "tool_choice", json_string("auto"))},
        {"tools", tools_json(a->request.document)},
        {"top_logprobs", json_integer(a->request.top_logprobs)},
        {"top_p", tool_json_float(s->top_p)},
        {"truncation", json_string("disabled")},
        {"metadata", given(a, "metadata", json_object())},
        {"usage", is_over ? usage_json(x) : json_null()},
        {"user", given(a, "user", json_null())},
    };
    json_t *response = tool_json_object(entries, sizeof entries / sizeof *entries);
    const server_usage usage = server_usage_of(x->job, 1);
    if (is_over) json_object_set_new(response, "timings", server_usage_timings(&usage));
    return response;
}

static void body(server_exchange *x, server_text *json)
{
    server_answer *a = x->state;
    server_said *said = &a->said[0];
    server_reader *r = &said->reader;
    json_t *output = json_array();
    char id[64];
    server_make_id(x->server, "rs_", id);
    if (r->thoughts.n)
        json_array_append_new(output, whole_item(ITEM_REASONING, id, "",
                                                 server_json_bytes(r->thoughts.bytes, r->thoughts.n), NULL));
    server_make_id(x->server, "msg_", id);
    if (r->content.n || r->n_calls == 0) {
        json_array_append_new(output,
                              whole_item(ITEM_MESSAGE, id, is_cut(x) && r->n_calls == 0 ? "incomplete" : "completed",
                                         server_json_bytes(r->content.bytes, r->content.n), said->logprobs));
        said->logprobs = NULL;
    }
    for (size_t i = 0; i < r->n_calls; i++) {
        server_call *call = &r->calls[i];
        server_make_id(x->server, "fc_", id);
        json_t *arguments = server_json_bytes(call->arguments.bytes, call->arguments.n);
        json_array_append_new(output, call_item(x, id, call, arguments, call->is_over ? "completed" : "incomplete"));
    }
    server_text_json(json, response_json(x, output, true));
}

/* ---------------------------------------------------------------------- streams */

static items *items_of(const server_exchange *x)
{
    return ((server_answer *)x->state)->more;
}

/* Sends an event, whose members it takes, with its type and number. */
static void send_event(server_exchange *x, const char *type, json_t *event)
{
    json_object_set_new(event, "type", json_string(type));
    json_object_set_new(event, "sequence_number", json_integer(items_of(x)->n_events++));
    server_sse(x, type, event);
}

/* The members that events about the open item share. */
static json_t *place_json(const server_exchange *x)
{
    const items *it = items_of(x);
    return json_pack("{s:s, s:I, s:i}", "item_id", it->id, "output_index", (json_int_t)json_array_size(it->done),
                     "content_index", 0);
}

static const char *event_of(const items *it, bool is_delta)
{
    if (it->open == ITEM_REASONING) return is_delta ? "response.reasoning_text.delta" : "response.reasoning_text.done";
    return is_delta ? "response.output_text.delta" : "response.output_text.done";
}

/* Sends the item as done, which it takes. */
static void item_done(server_exchange *x, json_t *item)
{
    items *it = items_of(x);
    send_event(x, "response.output_item.done",
               json_pack("{s:I, s:O}", "output_index", (json_int_t)json_array_size(it->done), "item", item));
    json_array_append_new(it->done, item);
}

/* Closes the open item, if any. */
static void item_close(server_exchange *x, const char *status)
{
    items *it = items_of(x);
    if (it->open == ITEM_NONE) return;
    json_t *text = server_json_bytes(it->text.bytes, it->text.n), *logprobs = it->logprobs, *event = place_json(x);
    json_object_set(event, "text", text);
    if (it->open == ITEM_MESSAGE) json_object_set(event, "logprobs", logprobs);
    send_event(x, event_of(it, false), event);
    json_t *part = part_json(it->open, text, logprobs);
    event = place_json(x);
    json_object_set(event, "part", part);
    send_event(x, "response.content_part.done", event);
    item_done(x, item_json(it->open, it->id, status, part));
    it->open = ITEM_NONE;
    it->logprobs = NULL;
    it->text.n = 0;
}

static void item_open(server_exchange *x, item_kind kind)
{
    items *it = items_of(x);
    item_close(x, "completed");
    it->open = kind;
    it->logprobs = kind == ITEM_MESSAGE ? json_array() : NULL;
    server_make_id(x->server, kind == ITEM_MESSAGE ? "msg_" : "rs_", it->id);
    send_event(x, "response.output_item.added",
               json_pack("{s:I, s:o}", "output_index", (json_int_t)json_array_size(it->done), "item",
                         item_json(kind, it->id, "in_progress", NULL)));
    json_t *event = place_json(x);
    json_object_set_new(event, "part", part_json(kind, json_string(""), NULL));
    send_event(x, "response.content_part.added", event);
}

/* Sends text of an item of this kind, and takes it and the log probabilities of its tokens. */
static void item_add(server_exchange *x, item_kind kind, server_text *text, json_t **logprobs)
{
    items *it = items_of(x);
    if (text->n == 0) return;
    if (it->open != kind) item_open(x, kind);
    json_t *event = place_json(x);
    json_object_set_new(event, "delta", server_json_bytes(text->bytes, text->n));
    if (kind == ITEM_MESSAGE) {
        json_t *new = *logprobs ? *logprobs : json_array();
        *logprobs = NULL;
        json_array_extend(it->logprobs, new);
        json_object_set_new(event, "logprobs", new);
    }
    send_event(x, event_of(it, true), event);
    server_text_add(&it->text, text->bytes, text->n);
    text->n = 0;
}

/* Gives what has come of a call. Returns whether it is given whole. */
static bool give_call(server_exchange *x, const server_said *said, server_call *call)
{
    items *it = items_of(x);
    const json_int_t index = (json_int_t)json_array_size(it->done);
    if (!*call->given_id) {
        item_close(x, "completed");
        it->open = ITEM_CALL;
        server_make_id(x->server, "fc_", it->id);
        send_event(x, "response.output_item.added",
                   json_pack("{s:I, s:o}", "output_index", index, "item",
                             call_item(x, it->id, call, json_string(""), "in_progress")));
    }
    size_t n;
    const char *piece = server_call_piece(call, &n);
    if (n > 0)
        send_event(x, "response.function_call_arguments.delta",
                   json_pack("{s:s, s:I, s:o}", "item_id", it->id, "output_index", index, "delta",
                             server_json_bytes(piece, n)));
    if (!server_call_is_given(said, call)) return false;
    json_t *arguments = server_json_bytes(call->arguments.bytes, call->arguments.n);
    send_event(x, "response.function_call_arguments.done",
               json_pack("{s:s, s:I, s:s, s:O}", "item_id", it->id, "output_index", index, "name", call->name,
                         "arguments", arguments));
    item_done(x, call_item(x, it->id, call, arguments, call->is_over ? "completed" : "incomplete"));
    it->open = ITEM_NONE;
    return true;
}

static void give_calls(server_exchange *x, server_said *said)
{
    while (server_has_calls(said) && give_call(x, said, &said->reader.calls[said->n_calls])) said->n_calls++;
}

static void give(server_exchange *x, int32_t choice)
{
    server_answer *a = x->state;
    server_said *said = &a->said[choice];
    if (server_has_open_call(said)) give_calls(x, said);
    item_add(x, ITEM_REASONING, &said->reader.thoughts, NULL);
    item_add(x, ITEM_MESSAGE, &said->reader.content, &said->logprobs);
    give_calls(x, said);
}

static void stream_begin(server_exchange *x)
{
    send_event(x, "response.created", json_pack("{s:o}", "response", response_json(x, json_array(), false)));
    send_event(x, "response.in_progress", json_pack("{s:o}", "response", response_json(x, json_array(), false)));
}

static void stream_fail(server_exchange *x, const server_fault *fault)
{
    json_t *response = response_json(x, json_incref(items_of(x)->done), false);
    send_event(x, "error", server_fault_json(fault));
    json_object_set_new(response, "status", json_string("failed"));
    json_object_set_new(response, "error",
                        json_pack("{s:s, s:o}", "code", "server_error", "message", tool_json_text(fault->message)));
    send_event(x, "response.failed", json_pack("{s:o}", "response", response));
}

static void stream_event(server_exchange *x, const server_event *event)
{
    const server_choice *choice = &x->job->choices[0];
    server_answer_stream(x, event, give);
    if (event->kind != SERVER_EVENT_END) return;
    item_close(x, is_cut(x) || choice->error.code ? "incomplete" : "completed");
    if (choice->error.code == VOUCH_OK) {
        json_t *response = response_json(x, json_incref(items_of(x)->done), true);
        send_event(x, is_cut(x) ? "response.incomplete" : "response.completed",
                   json_pack("{s:o}", "response", response));
        return;
    }
    server_fault fault;
    server_fail_library(&fault, "", &choice->error);
    stream_fail(x, &fault);
}

static void state_free(void *state)
{
    server_answer *a = state;
    items *it = a->more;
    json_decref(it->done);
    json_decref(it->logprobs);
    server_text_free(&it->text);
    server_answer_free(a);
}

static const server_format stream_format = {stream_begin, stream_event, NULL, stream_fail, NULL, state_free, NULL};
static const server_format body_format = {NULL, server_answer_keep, NULL, NULL, body, state_free, NULL};

void server_responses(server_exchange *x)
{
    server_request request;
    server_fault fault = {0};
    server_job *job = NULL;
    if (convert(x, &fault) && server_request_read(&request, x, SERVER_RESPONSES, &fault))
        job = server_prompt_chat(&request, &fault);
    if (!job) {
        server_reply_fault(x, &fault);
        return;
    }
    server_answer *a = server_answer_new(x, &request, job, "resp_", sizeof(items));
    if (!a) return;
    ((items *)a->more)->done = json_array();
    server_begin(x, request.model, job, request.stream, request.stream ? &stream_format : &body_format, a);
}

void server_count_response_tokens(server_exchange *x)
{
    server_request request;
    server_fault fault = {0};
    size_t n;
    if (convert(x, &fault) && server_request_read(&request, x, SERVER_RESPONSES, &fault) &&
        server_count_prompt(&request, &n, &fault))
        server_reply_json(x, 200,
                          json_pack("{s:s, s:I}", "object", "response.input_tokens", "input_tokens", (json_int_t)n));
    else server_reply_fault(x, &fault);
}
