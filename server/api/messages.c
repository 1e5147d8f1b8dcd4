/* SPDX-License-Identifier: MIT */
/*
 * /v1/messages of the Anthropic API. The request becomes one of the chat API, in place: blocks become content, calls,
 * results and thoughts. The answer becomes blocks again; a stream opens and closes them:
 *
 *   message_start, (content_block_start, content_block_delta ..., content_block_stop) ..., message_delta, message_stop
 */
#include "api/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/answer.h"
#include "call/arguments.h"
#include "os/os.h"
#include "tool/json.h"
#include "api/usage.h"

/* ------------------------------------------------------------------ the request */

static bool is_type(const json_t *object, const char *type)
{
    return strcmp(server_word(object, "type"), type) == 0;
}

/* {"id", "name", "input"} as a call of the chat API. The input has become a text (arguments.h). */
static json_t *call_of(const json_t *block)
{
    const char *input = server_word(block, "input");
    return json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", server_word(block, "id"), "type", "function", "function", "name",
                     server_word(block, "name"), "arguments", *input ? input : "{}");
}

/* Appends the string that a block has at a key. */
static bool add_string(server_text *out, const json_t *block, const char *key, const char *path, server_fault *fault)
{
    const json_t *string = json_object_get(block, key);
    if (!json_is_string(string)) return server_fail_field(fault, path, "%s: expected a string", key);
    server_text_put(out, json_string_value(string));
    return true;
}

/* Appends what the blocks of a message say: results of tools as messages of their own, then one message. */
static bool add_blocks(json_t *out, const char *role, const json_t *blocks, const char *path, server_fault *fault)
{
    server_text text = {0}, thoughts = {0};
    json_t *calls = json_array(), *block;
    size_t i;
    bool good = true, has_text = false;
    json_array_foreach(blocks, i, block) {
        char inner[96];
        snprintf(inner, sizeof inner, "%s.content[%zu]", path, i);
        if (is_type(block, "text")) {
            has_text = true;
            good = good && add_string(&text, block, "text", inner, fault);
        } else if (is_type(block, "thinking")) {
            good = good && add_string(&thoughts, block, "thinking", inner, fault);
        } else if (is_type(block, "tool_use")) {
            if (good && (!*server_word(block, "id") || !*server_word(block, "name")))
                good = server_fail_field(fault, inner, "expected the id and the name of the call");
            json_array_append_new(calls, call_of(block));
        } else if (is_type(block, "tool_result")) {
            if (good && !*server_word(block, "tool_use_id"))
                good = server_fail_field(fault, inner, "tool_use_id: expected the id of the call that this answers");
            if (!good) break;
            char at[112];
            snprintf(at, sizeof at, "%s.content", inner);
            json_t *result = server_json_texts(json_object_get(block, "content"), at, fault);
            good = good && result;
            if (result)
                json_array_append_new(out, json_pack("{s:s, s:s, s:o}", "role", "tool", "tool_call_id",
                                                     server_word(block, "tool_use_id"), "content", result));
        } else if (good && !is_type(block, "redacted_thinking")) {
            good = server_check_part(block, inner, fault) &&
                   server_fail_field(fault, inner,
                                     "type '%.40s' is not supported; expected text, thinking, tool_use "
                                     "or tool_result",
                                     server_word(block, "type"));
        }
    }
    if (good && (has_text || json_array_size(calls) > 0)) {
        json_t *message = json_pack("{s:s, s:o}", "role", role, "content", server_json_bytes(text.bytes, text.n));
        if (thoughts.n)
            json_object_set_new(message, "reasoning_content", server_json_bytes(thoughts.bytes, thoughts.n));
        if (json_array_size(calls) > 0) json_object_set(message, "tool_calls", calls);
        json_array_append_new(out, message);
    }
    json_decref(calls);
    server_text_free(&text);
    server_text_free(&thoughts);
    return good;
}

static bool convert_messages(json_t *document, server_fault *fault)
{
    json_t *out = json_array(), *message, *system = json_object_get(document, "system");
    const json_t *given = json_object_get(document, "messages");
    size_t i;
    bool good = true;
    if (!json_is_array(given)) good = server_fail_field(fault, "messages", "expected an array of messages");
    if (good && system && !json_is_null(system)) {
        json_t *text = server_json_texts(system, "system", fault);
        good = text && json_array_append_new(out, json_pack("{s:s, s:o}", "role", "system", "content", text)) == 0;
    }
    json_array_foreach(given, i, message) {
        char path[32];
        json_t *content = json_object_get(message, "content");
        const char *role = server_word(message, "role");
        snprintf(path, sizeof path, "messages[%zu]", i);
        if (!good) break;
        if (strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0 && strcmp(role, "system") != 0)
            good = server_fail(fault, 400, "invalid_value", path, "%s.role: expected user or assistant", path);
        else if (json_is_string(content))
            json_array_append_new(out, json_pack("{s:s, s:O}", "role", role, "content", content));
        else if (json_is_array(content)) good = add_blocks(out, role, content, path, fault);
        else good = server_fail(fault, 400, "invalid_value", path, "%s.content: expected a string or blocks", path);
    }
    /* The Anthropic API continues an answer that comes last. */
    const json_t *last = json_array_get(out, json_array_size(out) - 1);
    const char *said = server_word(last, "content");
    if (strcmp(server_word(last, "role"), "assistant") == 0 && !json_object_get(last, "tool_calls") &&
        said[strspn(said, " \t\r\n")])
        json_object_set_new(document, "continue_final_message", json_true());
    json_object_del(document, "system");
    json_object_set_new(document, "messages", out);
    return good;
}

/* A tool is {"name", "description", "input_schema"}. Those of other types run on Anthropic's servers. */
static bool schema_of(const json_t *tool, const char *path, json_t **schema, server_fault *fault)
{
    const char *type = server_word(tool, "type");
    *schema = json_object_get(tool, "input_schema");
    if (*type && strcmp(type, "custom") != 0)
        return server_fail_field(fault, path, "type '%.60s' is not supported; expected custom, or no type", type);
    if (!*server_word(tool, "name")) return server_fail_field(fault, path, "expected a tool with a name");
    return !*schema || json_is_null(*schema) || json_is_object(*schema) ||
           server_fail_field(fault, path, "input_schema: expected an object, got %s", server_json_kind(*schema));
}

/* {"format": {"type": "json_schema", "schema": {...}}} becomes response_format, which has the same form. */
static bool convert_output(json_t *document, server_fault *fault)
{
    static const server_field fields[] = {{"format", 1, SERVER_FIELD_VALUE, 0, NULL},
                                          {"effort", 1, SERVER_FIELD_IGNORED, 0, NULL},
                                          {"task_budget", 1, SERVER_FIELD_IGNORED, 0, NULL}};
    static const server_field_table table = {fields, sizeof fields / sizeof *fields};
    json_t *config = json_object_get(document, "output_config"), *format = NULL;
    if (!config || json_is_null(config)) return true;
    if (!server_fields_read(config, "output_config", &table, 1, &format, fault)) return false;
    if (format && strcmp(server_word(format, "type"), "json_schema") != 0)
        return server_fail_field(fault, "output_config.format.type", "'%.60s': expected json_schema",
                                 server_word(format, "type"));
    if (format && !json_is_object(json_object_get(format, "schema")))
        return server_fail_field(fault, "output_config.format.schema", "expected a JSON Schema");
    return !format || json_object_set(document, "response_format", format) == 0 || server_fail_memory(fault);
}

/* Turns x->json into a request of the chat API. */
static bool convert(server_exchange *x, server_fault *fault)
{
    json_t *document = x->json;
    if (!json_is_object(document)) return server_fail_field(fault, "body", "expected an object");
    json_t *choice = json_object_get(document, "tool_choice");
    const json_t *thread = json_object_get(document, "thread");
    if (thread && !json_is_null(thread)) /* with this code, tool_runner of the anthropic package goes on without it */
        return server_fail(fault, 400, "thread_unsupported_request", "thread",
                           "thread: the server keeps no conversations; leave it out and send all messages");
    const char *type = json_is_object(choice) ? server_word(choice, "type") : "";
    if (json_is_true(json_object_get(choice, "disable_parallel_tool_use")))
        json_object_set_new(document, "parallel_tool_calls", json_false());
    if (strcmp(type, "auto") == 0 || strcmp(type, "none") == 0)
        json_object_set_new(document, "tool_choice", json_string(type));
    return convert_output(document, fault) && convert_messages(document, fault) &&
           server_convert_tools(document, schema_of, fault);
}

/* ------------------------------------------------------------------- the answer */

typedef enum block_kind { BLOCK_NONE, BLOCK_THOUGHTS, BLOCK_TEXT, BLOCK_CALL } block_kind;

/* The state of a stream: its open block. */
typedef struct blocks {
    block_kind open;
    int32_t n; /* blocks so far, the open one included */
} blocks;

static json_t *usage_json(const server_exchange *x)
{
    const server_usage usage = server_usage_of(x->job, 1);
    return json_pack("{s:I, s:I, s:I, s:I}", "input_tokens", (json_int_t)(usage.prompt_tokens - usage.cached_tokens),
                     "cache_creation_input_tokens", (json_int_t)0, "cache_read_input_tokens",
                     (json_int_t)usage.cached_tokens, "output_tokens", (json_int_t)usage.completion_tokens);
}

static json_t *timings_json(const server_exchange *x)
{
    const server_usage usage = server_usage_of(x->job, 1);
    return server_usage_timings(&usage);
}

static const char *stop_reason(const server_exchange *x)
{
    const server_answer *a = x->state;
    const char *word = server_finish_word(a, x->job, 0);
    if (strcmp(word, "length") == 0) return "max_tokens";
    if (strcmp(word, "tool_calls") == 0) return "tool_use";
    return x->job->choices[0].finish == VOUCH_FINISH_STOP ? "stop_sequence" : "end_turn";
}

/* Takes the content. */
static json_t *message_json(const server_exchange *x, json_t *content, const char *reason)
{
    const server_answer *a = x->state;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s?, s:o, s:o}", "id", a->id, "type", "message", "role", "assistant",
                     "model", tool_json_text(a->request.model->options->name), "content", content, "stop_reason",
                     reason, "stop_sequence", reason ? server_stop_json(x->job, 0) : json_null(), "usage",
                     usage_json(x));
}

/* The input is empty: a stream and body() fill it. */
static json_t *call_block(server_exchange *x, server_call *call)
{
    return json_pack("{s:s, s:s, s:s, s:{}}", "type", "tool_use", "id", server_call_id(x, call, "toolu_"), "name",
                     call->name, "input");
}

static json_t *whole_message(server_exchange *x)
{
    server_answer *a = x->state;
    server_reader *r = &a->said[0].reader;
    json_t *content = json_array();
    if (r->thoughts.n)
        json_array_append_new(content, json_pack("{s:s, s:o, s:s}", "type", "thinking", "thinking",
                                                 server_json_bytes(r->thoughts.bytes, r->thoughts.n), "signature", ""));
    if (r->content.n)
        json_array_append_new(content, json_pack("{s:s, s:o}", "type", "text", "text",
                                                 server_json_bytes(r->content.bytes, r->content.n)));
    for (size_t i = 0; i < r->n_calls; i++) json_array_append_new(content, call_block(x, &r->calls[i]));
    json_t *message = message_json(x, content, stop_reason(x));
    json_object_set_new(message, "timings", timings_json(x));
    return message;
}

/* The body with the calls' arguments as the model wrote them. Within strings quotes have a backslash, so an empty input
 * is one of a call. Arguments that are cut are no object, and their input stays empty. */
static void body(server_exchange *x, server_text *out)
{
    static const char empty[] = "\"input\":{}";
    const server_reader *r = &((server_answer *)x->state)->said[0].reader;
    server_text json = {0};
    server_text_json(&json, whole_message(x));
    size_t from = 0;
    for (size_t i = 0; i < r->n_calls && !json.failed; i++) {
        const server_text *arguments = &r->calls[i].arguments;
        const char *at = memmem(json.bytes + from, json.n - from, empty, strlen(empty));
        if (!at) break;
        const size_t end = (size_t)(at - json.bytes) + strlen(empty), n = end - from;
        const bool is_object = arguments->n > 0 && server_is_object(arguments->bytes, arguments->n);
        server_text_add(out, json.bytes + from, is_object ? n - 2 : n);
        if (is_object) server_text_add(out, arguments->bytes, arguments->n);
        from = end;
    }
    if (!json.failed) server_text_add(out, json.bytes + from, json.n - from);
    out->failed |= json.failed;
    server_text_free(&json);
}

/* ---------------------------------------------------------------------- streams */

static void block_close(server_exchange *x)
{
    blocks *b = ((server_answer *)x->state)->more;
    if (b->open != BLOCK_NONE)
        server_sse(x, "content_block_stop", json_pack("{s:s, s:i}", "type", "content_block_stop", "index", b->n - 1));
    b->open = BLOCK_NONE;
}

/* Takes the block. */
static void block_open(server_exchange *x, block_kind kind, json_t *block)
{
    blocks *b = ((server_answer *)x->state)->more;
    block_close(x);
    b->open = kind;
    server_sse(x, "content_block_start",
               json_pack("{s:s, s:i, s:o}", "type", "content_block_start", "index", b->n++, "content_block", block));
}

/* Takes the delta. */
static void block_delta(server_exchange *x, json_t *delta)
{
    const blocks *b = ((server_answer *)x->state)->more;
    server_sse(x, "content_block_delta",
               json_pack("{s:s, s:i, s:o}", "type", "content_block_delta", "index", b->n - 1, "delta", delta));
}

static void give_calls(server_exchange *x, server_said *said)
{
    for (; server_has_calls(said); said->n_calls++) {
        server_call *call = &said->reader.calls[said->n_calls];
        if (!*call->given_id) block_open(x, BLOCK_CALL, call_block(x, call));
        size_t n;
        const char *piece = server_call_piece(call, &n);
        if (n > 0)
            block_delta(x, json_pack("{s:s, s:o}", "type", "input_json_delta", "partial_json",
                                     server_json_bytes(piece, n)));
        if (!server_call_is_given(said, call)) return;
        block_close(x);
    }
}

static void give(server_exchange *x, int32_t choice)
{
    server_answer *a = x->state;
    blocks *b = a->more;
    server_said *said = &a->said[choice];
    server_reader *r = &said->reader;
    if (server_has_open_call(said)) give_calls(x, said);
    if (r->thoughts.n) {
        if (b->open != BLOCK_THOUGHTS)
            block_open(x, BLOCK_THOUGHTS,
                       json_pack("{s:s, s:s, s:s}", "type", "thinking", "thinking", "", "signature", ""));
        block_delta(x, json_pack("{s:s, s:o}", "type", "thinking_delta", "thinking",
                                 server_json_bytes(r->thoughts.bytes, r->thoughts.n)));
    }
    if (r->content.n) {
        if (b->open != BLOCK_TEXT) block_open(x, BLOCK_TEXT, json_pack("{s:s, s:s}", "type", "text", "text", ""));
        block_delta(x, json_pack("{s:s, s:o}", "type", "text_delta", "text",
                                 server_json_bytes(r->content.bytes, r->content.n)));
    }
    r->thoughts.n = r->content.n = 0;
    give_calls(x, said);
}

static void stream_begin(server_exchange *x)
{
    json_t *message = message_json(x, json_array(), NULL);
    json_t *usage = json_object_get(message, "usage");
    json_object_set_new(usage, "input_tokens", json_integer((json_int_t)x->job->choices[0].n_tokens));
    server_sse(x, "message_start", json_pack("{s:s, s:o}", "type", "message_start", "message", message));
}

static void stream_event(server_exchange *x, const server_event *event)
{
    server_answer_stream(x, event, give);
    if (event->kind != SERVER_EVENT_END) return;
    const server_choice *choice = &x->job->choices[0];
    block_close(x);
    if (choice->error.code == VOUCH_OK) {
        server_sse(x, "message_delta",
                   json_pack("{s:s, s:{s:s, s:o}, s:o, s:o}", "type", "message_delta", "delta", "stop_reason",
                             stop_reason(x), "stop_sequence", server_stop_json(x->job, 0), "usage", usage_json(x),
                             "timings", timings_json(x)));
        server_sse(x, "message_stop", json_pack("{s:s}", "type", "message_stop"));
        return;
    }
    server_fault fault;
    server_fail_library(&fault, "", &choice->error);
    server_sse_fault(x, &fault);
}

static const server_format stream_format = {stream_begin, stream_event,       NULL, server_sse_fault,
                                            NULL,         server_answer_free, NULL};
static const server_format body_format = {NULL, server_answer_keep, NULL, NULL, body, server_answer_free, NULL};

/* ------------------------------------------------------------------------ paths */

void server_messages(server_exchange *x)
{
    server_request request;
    server_fault fault = {0};
    server_job *job = NULL;
    if (convert(x, &fault) && server_request_read(&request, x, SERVER_MESSAGES, &fault)) {
        if (request.max_tokens > 0) job = server_prompt_chat(&request, &fault);
        else server_fail_field(&fault, "max_tokens", "expected the maximum number of tokens of the answer");
    }
    if (!job) {
        server_reply_fault(x, &fault);
        return;
    }
    server_answer *a = server_answer_new(x, &request, job, "msg_", sizeof(blocks));
    if (a) server_begin(x, request.model, job, request.stream, request.stream ? &stream_format : &body_format, a);
}

/* Reads the same request as /v1/messages, and answers with the number of its prompt's tokens. */
void server_count_tokens(server_exchange *x)
{
    server_request request;
    server_fault fault = {0};
    size_t n;
    if (convert(x, &fault) && server_request_read(&request, x, SERVER_MESSAGES, &fault) &&
        server_count_prompt(&request, &n, &fault))
        server_reply_json(x, 200, json_pack("{s:I}", "input_tokens", (json_int_t)n));
    else server_reply_fault(x, &fault);
}
