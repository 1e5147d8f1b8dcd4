/* SPDX-License-Identifier: MIT */
/*
 * /v1/responses of the OpenAI API. The request becomes one of the chat API, in place: items become messages, calls and
 * results. The answer becomes items again. A stream opens each item, fills it and closes it:
 *
 *   response.created, response.in_progress,
 *   (response.output_item.added, ..., response.output_item.done) ...,
 *   response.completed or response.incomplete
 */
#include "responses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "common/json.h"
#include "usage.h"

/* ------------------------------------------------------------------ the request */

/* Adds a call to the last message if that is the assistant's, as models expect parallel calls; else to a new one. */
static bool add_call(json_t *out, const json_t *item)
{
    json_t *last = json_array_get(out, json_array_size(out) - 1);
    json_t *call = json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", server_word(item, "call_id"), "type", "function",
                             "function", "name", server_word(item, "name"), "arguments",
                             server_word(item, "arguments"));
    if (json_array_size(out) == 0 || strcmp(server_word(last, "role"), "assistant") != 0) {
        last = json_pack("{s:s, s:s}", "role", "assistant", "content", "");
        json_array_append_new(out, last);
    }
    json_t *calls = json_object_get(last, "tool_calls");
    if (!calls) json_object_set_new(last, "tool_calls", calls = json_array());
    return call && json_array_append_new(calls, call) == 0;
}

static bool add_item(json_t *out, const json_t *item, const char *path, server_fault *fault)
{
    const char *type = server_word(item, "type"), *role = server_word(item, "role");
    const bool is_call = strcmp(type, "function_call") == 0, is_result = strcmp(type, "function_call_output") == 0;
    json_t *text;
    if (!json_is_object(item))
        return server_fail_field(fault, path, "expected an object, got %s", server_json_kind(item));
    if ((is_call || is_result) && !*server_word(item, "call_id"))
        return server_fail_field(fault, path, "call_id: expected the id of a call");
    if (is_call && !*server_word(item, "name"))
        return server_fail_field(fault, path, "name: expected the name of a function");
    if (is_call) return add_call(out, item);
    if (strcmp(type, "reasoning") == 0) return true;
    if (is_result) {
        text = server_json_texts(json_object_get(item, "output"), path, fault);
        return text && json_array_append_new(out, json_pack("{s:s, s:s, s:o}", "role", "tool", "tool_call_id",
                                                            server_word(item, "call_id"), "content", text)) == 0;
    }
    if (*type && strcmp(type, "message") != 0)
        return server_fail_field(fault, path, "type '%.40s' is not supported; expected message, function_call, "
                                 "function_call_output or reasoning", type);
    text = server_json_texts(json_object_get(item, "content"), path, fault);
    return text && json_array_append_new(out, json_pack("{s:s, s:o}", "role", role, "content", text)) == 0;
}

static bool convert_input(json_t *document, server_fault *fault)
{
    const json_t *input = json_object_get(document, "input"), *instructions = json_object_get(document, "instructions");
    json_t *out = json_array(), *item;
    size_t i;
    bool good = true;
    if (!json_is_string(input) && !json_is_array(input))
        good = server_fail_field(fault, "input", "expected a string or an array of items");
    if (good && instructions && !json_is_string(instructions) && !json_is_null(instructions))
        good = server_fail_field(fault, "instructions", "expected a string, got %s", server_json_kind(instructions));
    if (json_is_string(instructions))
        json_array_append_new(out, json_pack("{s:s, s:O}", "role", "system", "content", instructions));
    if (json_is_string(input)) json_array_append_new(out, json_pack("{s:s, s:O}", "role", "user", "content", input));
    json_array_foreach(input, i, item)
    {
        char path[32];
        snprintf(path, sizeof path, "input[%zu]", i);
        good = good && add_item(out, item, path, fault);
    }
    json_object_del(document, "input");
    json_object_set_new(document, "messages", out);
    return good;
}

static bool schema_of(const json_t *tool, const char *path, json_t **schema, server_fault *fault)
{
    *schema = json_object_get(tool, "parameters");
    if (strcmp(server_word(tool, "type"), "function") == 0) return true;
    return server_fail_field(fault, path, "type '%.40s' is not supported; expected function",
                             server_word(tool, "type"));
}

/* The members of `text` and `reasoning` that count. */
typedef struct settings {
    json_t *format, *effort;
} settings;

static bool read_settings(json_t *document, settings *s, server_fault *fault)
{
    static const server_field text[] = {{"format", 1, SERVER_FIELD_VALUE, offsetof(settings, format), NULL},
                                        {"verbosity", 1, SERVER_FIELD_IGNORED, 0, NULL}};
    static const server_field reasoning[] = {{"effort", 1, SERVER_FIELD_VALUE, offsetof(settings, effort), NULL},
                                             {"summary", 1, SERVER_FIELD_IGNORED, 0, NULL},
                                             {"generate_summary", 1, SERVER_FIELD_IGNORED, 0, NULL}};
    static const server_field_table tables[] = {{text, sizeof text / sizeof *text},
                                                {reasoning, sizeof reasoning / sizeof *reasoning}};
    static const char *const names[] = {"text", "reasoning"};
    for (int i = 0; i < 2; i++) {
        json_t *value = json_object_get(document, names[i]);
        if (value && !json_is_null(value) && !server_fields_read(value, names[i], &tables[i], 1, s, fault))
            return false;
    }
    if (!s->effort || json_is_string(s->effort)) return true;
    return server_fail_field(fault, "reasoning.effort", "expected a string, got %s", server_json_kind(s->effort));
}

/* Turns x->json into a request of the chat API. */
static bool convert(server_exchange *x, server_fault *fault)
{
    json_t *document = x->json;
    if (!json_is_object(document)) return server_fail_field(fault, "body", "expected an object");
    settings s = {0};
    if (!read_settings(document, &s, fault)) return false;
    if (s.format) json_object_set(document, "response_format", s.format);
    if (s.effort) json_object_set(document, "reasoning_effort", s.effort);
    json_object_del(document, "text");
    json_object_del(document, "reasoning");
    return convert_input(document, fault) && server_convert_tools(document, schema_of, fault);
}

/* ------------------------------------------------------------------- the answer */

typedef enum item_kind { ITEM_NONE, ITEM_REASONING, ITEM_MESSAGE } item_kind;

/* The state of a stream: the open item and what it holds, and the items that are done. */
typedef struct items {
    item_kind open;
    int32_t n_events;
    char id[64]; /* of the open item */
    json_t *done;
    server_text text;
} items;

/* Takes the text's value. */
static json_t *message_item(const char *id, json_t *text)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:[{s:s, s:o, s:[], s:[]}]}", "id", id, "type", "message", "status",
                     "completed", "role", "assistant", "content", "type", "output_text", "text", text, "annotations",
                     "logprobs");
}

static json_t *reasoning_item(const char *id, json_t *text)
{
    return json_pack("{s:s, s:s, s:[], s:[{s:s, s:o}]}", "id", id, "type", "reasoning", "summary", "content", "type",
                     "reasoning_text", "text", text);
}

static json_t *call_item(server_exchange *x, const json_t *call)
{
    char id[64], call_id[64];
    server_make_id(x->server, "fc_", id);
    server_make_id(x->server, "call_", call_id);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "id", id, "type", "function_call", "status", "completed",
                     "call_id", call_id, "name", server_word(call, "name"), "arguments",
                     server_word(call, "arguments"));
}

static json_t *usage_json(const server_exchange *x)
{
    const server_answer *a = x->state;
    const server_usage u = server_usage_of(x->job, 1);
    return json_pack("{s:I, s:{s:I}, s:I, s:{s:I}, s:I}", "input_tokens", (json_int_t)u.prompt_tokens,
                     "input_tokens_details", "cached_tokens", (json_int_t)u.cached_tokens, "output_tokens",
                     (json_int_t)u.completion_tokens, "output_tokens_details", "reasoning_tokens",
                     (json_int_t)a->said[0].n_thoughts, "total_tokens",
                     (json_int_t)(u.prompt_tokens + u.completion_tokens));
}

/* The response as JSON. Takes `output`. is_over: it has the final status and the usage. */
static json_t *response_json(const server_exchange *x, json_t *output, bool is_over)
{
    const server_answer *a = x->state;
    const vouch_sampling *s = &a->request.session.sampling;
    const vouch_finish finish = x->job->choices[0].finish;
    json_t *given = json_object_get(a->request.document, "tool_choice");
    const bool has_choice = given && !json_is_null(given);
    json_t *instructions = json_object_get(a->request.document, "instructions");
    json_t *choice = has_choice ? json_incref(given) : json_string(a->request.tools ? "auto" : "none");
    const bool is_cut = is_over && (finish == VOUCH_FINISH_LENGTH || finish == VOUCH_FINISH_CONTEXT);
    const cli_json_entry entries[] = {
        {"id", json_string(a->id)},
        {"object", json_string("response")},
        {"created_at", json_integer(a->created)},
        {"status", json_string(!is_over ? "in_progress" : is_cut ? "incomplete" : "completed")},
        {"error", json_null()},
        {"incomplete_details", is_cut ? json_pack("{s:s}", "reason", "max_output_tokens") : json_null()},
        {"instructions", instructions ? json_incref(instructions) : json_null()},
        {"max_output_tokens", a->request.max_tokens > 0 ? json_integer(a->request.max_tokens) : json_null()},
        {"model", cli_json_text(a->request.model->options->name)},
        {"output", output},
        {"parallel_tool_calls", json_boolean(a->request.several_calls)},
        {"previous_response_id", json_null()},
        {"store", json_false()},
        {"temperature", cli_json_float(s->temperature)},
        {"top_p", cli_json_float(s->top_p)},
        {"tool_choice", choice},
        {"tools", a->request.tools ? json_copy(a->request.tools) : json_array()},
        {"truncation", json_string("disabled")},
        {"metadata", json_object()},
        {"usage", is_over ? usage_json(x) : json_null()},
    };
    return cli_json_object(entries, sizeof entries / sizeof *entries);
}

static json_t *body(server_exchange *x)
{
    server_answer *a = x->state;
    server_reader *r = &a->said[0].reader;
    json_t *output = json_array(), *call;
    char id[64];
    size_t i;
    server_make_id(x->server, "rs_", id);
    if (r->thoughts.n)
        json_array_append_new(output, reasoning_item(id, server_json_bytes(r->thoughts.bytes, r->thoughts.n)));
    server_make_id(x->server, "msg_", id);
    if (r->content.n || !r->calls)
        json_array_append_new(output, message_item(id, server_json_bytes(r->content.bytes, r->content.n)));
    json_array_foreach(r->calls, i, call) json_array_append_new(output, call_item(x, call));
    return response_json(x, output, true);
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

static json_t *part_json(json_t *text)
{
    return json_pack("{s:s, s:o, s:[], s:[]}", "type", "output_text", "text", text, "annotations", "logprobs");
}

/* Sends the item as done, which it takes. */
static void item_done(server_exchange *x, json_t *item)
{
    items *it = items_of(x);
    send_event(x, "response.output_item.done",
         json_pack("{s:I, s:O}", "output_index", (json_int_t)json_array_size(it->done), "item", item));
    json_array_append_new(it->done, item);
}

static void item_close(server_exchange *x)
{
    items *it = items_of(x);
    if (it->open == ITEM_NONE) return;
    json_t *text = server_json_bytes(it->text.bytes, it->text.n), *event = place_json(x);
    json_object_set(event, "text", text);
    send_event(x, event_of(it, false), event);
    if (it->open == ITEM_MESSAGE) {
        event = place_json(x);
        json_object_set_new(event, "part", part_json(json_incref(text)));
        send_event(x, "response.content_part.done", event);
        item_done(x, message_item(it->id, text));
    } else {
        item_done(x, reasoning_item(it->id, text));
    }
    it->open = ITEM_NONE;
    it->text.n = 0;
}

static void item_open(server_exchange *x, item_kind kind)
{
    items *it = items_of(x);
    item_close(x);
    it->open = kind;
    server_make_id(x->server, kind == ITEM_MESSAGE ? "msg_" : "rs_", it->id);
    json_t *item = kind == ITEM_MESSAGE
                       ? json_pack("{s:s, s:s, s:s, s:s, s:[]}", "id", it->id, "type", "message", "status",
                                   "in_progress", "role", "assistant", "content")
                       : json_pack("{s:s, s:s, s:[], s:[]}", "id", it->id, "type", "reasoning", "summary", "content");
    send_event(x, "response.output_item.added",
         json_pack("{s:I, s:o}", "output_index", (json_int_t)json_array_size(it->done), "item", item));
    if (kind == ITEM_REASONING) return;
    json_t *event = place_json(x);
    json_object_set_new(event, "part", part_json(json_string("")));
    send_event(x, "response.content_part.added", event);
}

/* Sends text of an item of this kind, and takes it. */
static void item_add(server_exchange *x, item_kind kind, server_text *text)
{
    items *it = items_of(x);
    if (text->n == 0) return;
    if (it->open != kind) item_open(x, kind);
    json_t *event = place_json(x);
    json_object_set_new(event, "delta", server_json_bytes(text->bytes, text->n));
    if (kind == ITEM_MESSAGE) json_object_set_new(event, "logprobs", json_array());
    send_event(x, event_of(it, true), event);
    server_text_add(&it->text, text->bytes, text->n);
    text->n = 0;
}

static void give_call(server_exchange *x, const json_t *call)
{
    json_t *item = call_item(x, call), *added = json_copy(item);
    const json_int_t index = (json_int_t)json_array_size(items_of(x)->done);
    json_object_set_new(added, "arguments", json_string(""));
    json_object_set_new(added, "status", json_string("in_progress"));
    send_event(x, "response.output_item.added", json_pack("{s:I, s:o}", "output_index", index, "item", added));
    send_event(x, "response.function_call_arguments.delta",
         json_pack("{s:s, s:I, s:s}", "item_id", server_word(item, "id"), "output_index", index, "delta",
                   server_word(item, "arguments")));
    send_event(x, "response.function_call_arguments.done",
         json_pack("{s:s, s:I, s:s}", "item_id", server_word(item, "id"), "output_index", index, "arguments",
                   server_word(item, "arguments")));
    item_done(x, item);
}

static void give(server_exchange *x, int32_t choice)
{
    server_answer *a = x->state;
    server_said *said = &a->said[choice];
    json_t *call;
    size_t i;
    item_add(x, ITEM_REASONING, &said->reader.thoughts);
    item_add(x, ITEM_MESSAGE, &said->reader.content);
    if (said->reader.calls) item_close(x);
    json_array_foreach(said->reader.calls, i, call) give_call(x, call);
    said->n_calls += (int32_t)json_array_size(said->reader.calls);
    json_decref(said->reader.calls);
    said->reader.calls = NULL;
}

static void stream_begin(server_exchange *x)
{
    send_event(x, "response.created", json_pack("{s:o}", "response", response_json(x, json_array(), false)));
    send_event(x, "response.in_progress", json_pack("{s:o}", "response", response_json(x, json_array(), false)));
}

static void stream_event(server_exchange *x, const server_event *event)
{
    const server_choice *choice = &x->job->choices[0];
    server_answer_stream(x, event, give);
    if (event->kind != SERVER_EVENT_END) return;
    item_close(x);
    if (choice->error.code == VOUCH_OK) {
        json_t *response = response_json(x, json_incref(items_of(x)->done), true);
        const bool is_whole = strcmp(server_word(response, "status"), "completed") == 0;
        send_event(x, is_whole ? "response.completed" : "response.incomplete",
                   json_pack("{s:o}", "response", response));
        return;
    }
    server_fault fault;
    server_fail_library(&fault, "", &choice->error);
    send_event(x, "error", server_fault_json(&fault));
}

static void state_free(void *state)
{
    server_answer *a = state;
    items *it = a->more;
    json_decref(it->done);
    server_text_free(&it->text);
    server_answer_free(a);
}

static const server_format stream_format = {stream_begin, stream_event, NULL, NULL, state_free};
static const server_format body_format = {NULL, server_answer_keep, NULL, body, state_free};

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
