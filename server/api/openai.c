/* SPDX-License-Identifier: MIT */
/*
 * /v1/chat/completions and /v1/completions of the OpenAI API. Both kinds of completions have one format:
 * chunks of a stream carry a `delta` (chat) or `text`, and a body carries `message` or `text`.
 */
#include "api/openai.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/answer.h"
#include "os/os.h"
#include "tool/json.h"
#include "api/usage.h"

static bool is_chat(const server_answer *a)
{
    return a->request.where == SERVER_CHAT;
}

/* -------------------------------------------------------------------- chunks */

/* The members with which all chunks and bodies begin. Takes `choices`. */
static json_t *envelope(const server_answer *a, const char *object, json_t *choices)
{
    const tool_json_entry entries[] = {
        {"id", json_string(a->id)},
        {"object", json_string(object)},
        {"created", json_integer(a->created)},
        {"model", tool_json_text(a->request.model->options->name)},
        {"system_fingerprint", json_string("vouch-" VOUCH_VERSION)},
        {"choices", choices},
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

static const char *chunk_object(const server_answer *a)
{
    return is_chat(a) ? "chat.completion.chunk" : "text_completion";
}

/* {"content": [...]} of chat. Takes the array; NULL: null. */
static json_t *chat_logprobs(json_t *tokens)
{
    if (!tokens) return json_null();
    const tool_json_entry entries[] = {{"content", tokens}, {"refusal", json_null()}};
    return tool_json_object(entries, 2);
}

/* The log probabilities of the likeliest tokens by their text, and of the token itself if it isn't among them. Of
 * tokens with the same text, such as halves of characters, the token itself counts, and else the likeliest. */
static json_t *top_json(const json_t *token)
{
    json_t *top = json_object(), *value = json_object_get(token, "logprob"), *t;
    size_t i;
    if (json_is_null(value)) { /* the first token of a prompt */
        json_decref(top);
        return json_null();
    }
    json_array_foreach(json_object_get(token, "top_logprobs"), i, t)
        if (!json_object_get(top, server_word(t, "token")))
            json_object_set(top, server_word(t, "token"), json_object_get(t, "logprob"));
    json_object_set(top, server_word(token, "token"), value);
    return top;
}

/* The parallel arrays of completions. Takes the array; NULL: null. */
static json_t *text_logprobs(json_t *tokens)
{
    json_t *texts = json_array(), *values = json_array(), *tops = json_array(), *offsets = json_array(), *token;
    size_t i;
    if (!tokens) {
        json_decref(texts), json_decref(values), json_decref(tops), json_decref(offsets);
        return json_null();
    }
    json_array_foreach(tokens, i, token) {
        json_array_append(texts, json_object_get(token, "token"));
        json_array_append(values, json_object_get(token, "logprob"));
        json_array_append_new(tops, top_json(token));
        json_array_append(offsets, json_object_get(token, "offset"));
    }
    json_decref(tokens);
    const tool_json_entry entries[] = {
        {"tokens", texts}, {"token_logprobs", values}, {"top_logprobs", tops}, {"text_offset", offsets}};
    return tool_json_object(entries, 4);
}

/* Takes the log probabilities that the choice has gathered, in the form of its API. */
static json_t *logprobs_json(server_answer *a, int32_t i)
{
    json_t *tokens = a->said[i].logprobs;
    a->said[i].logprobs = NULL;
    return is_chat(a) ? chat_logprobs(tokens) : text_logprobs(tokens);
}

/* Sends a chunk of one choice. Takes `content`, the delta (chat) or the text, and the choice's log probabilities and
 * trace. The last chunk has `timings`; where usage follows, the chunk of the usage has them. */
static void send_chunk(server_exchange *x, int32_t index, json_t *content, const char *finish)
{
    server_answer *a = x->state;
    server_said *said = &a->said[index];
    const tool_json_entry entries[] = {
        {"index", json_integer(index)},
        {is_chat(a) ? "delta" : "text", content},
        {"logprobs", logprobs_json(a, index)},
        {"finish_reason", finish ? json_string(finish) : json_null()},
    };
    json_t *choice = tool_json_object(entries, 4), *choices = json_array();
    if (finish) json_object_set_new(choice, "stop_reason", server_stop_json(x->job, index));
    if (said->trace) json_object_set_new(choice, "vouch", said->trace);
    said->trace = NULL;
    json_array_append_new(choices, choice);
    json_t *chunk = envelope(a, chunk_object(a), choices);
    if (a->request.include_usage) json_object_set_new(chunk, "usage", json_null());
    const bool tells = a->request.timings_per_token && said->progress.n_generated > 0;
    if (tells || (finish && !a->request.include_usage))
        json_object_set_new(chunk, "timings", server_timings_json(&said->progress));
    server_sse(x, NULL, chunk);
}

/* The chunk with an empty text: chunks that carry nothing but text differ in their text alone. */
static void make_frame(server_exchange *x, int32_t index)
{
    server_answer *a = x->state;
    server_said *said = &a->said[index];
    const char *text = is_chat(a) ? "\"delta\":{\"content\":\"\"}" : "\"text\":\"\"";
    const size_t from = x->out.n;
    json_t *empty = json_string("");
    send_chunk(x, index, is_chat(a) ? json_pack("{s:o}", "content", empty) : empty, NULL);
    if (x->out.failed) return;
    server_text_add(&said->frame, x->out.bytes + from, x->out.n - from);
    x->out.n = from;
    /* No string of JSON has a quote without a backslash, so the text is found nowhere else. */
    const char *at = said->frame.failed ? NULL : memmem(said->frame.bytes, said->frame.n, text, strlen(text));
    if (at) said->frame_text = (size_t)(at - said->frame.bytes) + strlen(text) - (is_chat(a) ? 3 : 2);
    else x->out.failed = true;
}

/* Sends the text as a chunk. Takes it. */
static void send_text(server_exchange *x, int32_t index, server_text *text)
{
    enum { N_EMPTY = 2 }; /* the quotes of the frame's empty text */
    server_answer *a = x->state;
    server_said *said = &a->said[index];
    if (said->frame.n == 0) make_frame(x, index);
    if (x->out.failed) return;
    server_text_add(&x->out, said->frame.bytes, said->frame_text);
    server_text_string(&x->out, text->bytes, text->n);
    const size_t after = said->frame_text + N_EMPTY;
    server_text_add(&x->out, said->frame.bytes + after, said->frame.n - after);
    text->n = 0;
}

/* A call as it is given out first: with its id, its name and these arguments. */
static json_t *call_json(server_exchange *x, server_call *call, const char *arguments, size_t n)
{
    const char *id = server_call_id(x, call, "call_");
    return json_pack("{s:s, s:s, s:{s:s, s:o}}", "id", id, "type", "function", "function", "name", call->name,
                     "arguments", server_json_bytes(arguments, n));
}

/* The parts of the calls that have come since the last time: a call's beginning, and pieces of its arguments. */
static json_t *call_deltas(server_exchange *x, server_said *said)
{
    json_t *deltas = json_array();
    while (said->n_calls < said->reader.n_calls) {
        server_call *call = &said->reader.calls[said->n_calls];
        const bool is_new = !*call->given_id;
        size_t n;
        const char *piece = server_call_piece(call, &n);
        json_t *delta = is_new ? call_json(x, call, piece, n) : NULL;
        if (!is_new && n > 0) delta = json_pack("{s:{s:o}}", "function", "arguments", server_json_bytes(piece, n));
        if (delta) json_object_set_new(delta, "index", json_integer((json_int_t)said->n_calls));
        if (delta) json_array_append_new(deltas, delta);
        if (!server_call_is_given(said, call)) break;
        said->n_calls++;
    }
    return deltas;
}

static json_t *whole_calls(server_exchange *x, server_reader *reader)
{
    json_t *calls = json_array();
    for (size_t i = 0; i < reader->n_calls; i++) {
        server_call *call = &reader->calls[i];
        json_array_append_new(calls, call_json(x, call, call->arguments.bytes, call->arguments.n));
    }
    return calls;
}

/* Adds calls to a message or a delta, and takes them: one as function_call for clients that know no tools. */
static void set_calls(const server_answer *a, json_t *object, json_t *calls)
{
    if (!a->request.is_legacy) {
        json_object_set_new(object, "tool_calls", calls);
        return;
    }
    json_object_set(object, "function_call", json_object_get(json_array_get(calls, 0), "function"));
    json_decref(calls);
}

/* The reason in the words of the API. */
static const char *finish_word(const server_answer *a, const server_job *job, int32_t choice)
{
    const char *word = server_finish_word(a, job, choice);
    return a->request.is_legacy && strcmp(word, "tool_calls") == 0 ? "function_call" : word;
}

/* Takes the text. */
static void set_text(json_t *object, const char *name, server_text *text)
{
    json_object_set_new(object, name, server_json_bytes(text->bytes, text->n));
    text->n = 0;
}

/* Sends what the choice has said, if anything. */
static void give(server_exchange *x, int32_t index)
{
    server_answer *a = x->state;
    server_said *said = &a->said[index];
    server_reader *reader = &said->reader;
    json_t *calls = server_has_calls(said) ? call_deltas(x, said) : NULL;
    if (calls && json_array_size(calls) == 0) {
        json_decref(calls);
        calls = NULL;
    }
    const bool is_content = reader->thoughts.n == 0 && !calls;
    const bool is_empty = is_content && reader->content.n == 0;
    if (is_content && !said->trace && !said->logprobs) {
        if (is_empty) return;
        if (!a->request.timings_per_token) {
            send_text(x, index, &reader->content);
            return;
        }
    }
    if (!is_chat(a)) {
        json_t *text = server_json_bytes(reader->content.bytes, reader->content.n);
        reader->content.n = 0;
        send_chunk(x, index, text, NULL);
        return;
    }
    json_t *delta = json_object();
    if (reader->thoughts.n > 0) set_text(delta, "reasoning_content", &reader->thoughts);
    if (reader->content.n > 0 || is_empty) set_text(delta, "content", &reader->content);
    if (calls) set_calls(a, delta, calls);
    send_chunk(x, index, delta, NULL);
}

static void stream_begin(server_exchange *x)
{
    const server_answer *a = x->state;
    for (int32_t i = 0; i < a->n_choices; i++) {
        if (!is_chat(a)) {
            give(x, i); /* an echo */
            continue;
        }
        const tool_json_entry delta[] = {{"role", json_string("assistant")}, {"content", json_string("")}};
        send_chunk(x, i, tool_json_object(delta, 2), NULL);
    }
}

static void stream_event(server_exchange *x, const server_event *event)
{
    server_answer *a = x->state;
    server_answer_stream(x, event, give);
    if (event->kind != SERVER_EVENT_END) return;
    const server_choice *choice = &x->job->choices[event->choice];
    if (choice->error.code == VOUCH_OK) {
        json_t *nothing = is_chat(a) ? json_object() : json_string("");
        send_chunk(x, event->choice, nothing, finish_word(a, x->job, event->choice));
        return;
    }
    server_fault fault;
    server_fail_library(&fault, "", &choice->error);
    server_sse_fault(x, &fault);
}

static void stream_end(server_exchange *x)
{
    const server_answer *a = x->state;
    if (a->request.include_usage) {
        const server_usage usage = server_usage_of(x->job, a->request.n);
        json_t *chunk = envelope(a, chunk_object(a), json_array());
        json_object_set_new(chunk, "usage", server_usage_json(&usage));
        json_object_set_new(chunk, "metrics", server_metrics_json(&usage));
        json_object_set_new(chunk, "timings", server_usage_timings(&usage));
        server_sse(x, NULL, chunk);
    }
    server_text_put(&x->out, "data: [DONE]\n\n");
}

/* ---------------------------------------------------------------------- bodies */

static json_t *message_json(server_exchange *x, int32_t i)
{
    server_answer *a = x->state;
    server_reader *reader = &a->said[i].reader;
    json_t *message = json_object();
    json_object_set_new(message, "role", json_string("assistant"));
    if (reader->content.n > 0 || reader->n_calls == 0) set_text(message, "content", &reader->content);
    else json_object_set_new(message, "content", json_null());
    json_object_set_new(message, "refusal", json_null());
    if (reader->thoughts.n > 0) set_text(message, "reasoning_content", &reader->thoughts);
    if (reader->n_calls > 0) set_calls(a, message, whole_calls(x, reader));
    return message;
}

static json_t *choice_json(server_exchange *x, int32_t i)
{
    server_answer *a = x->state;
    server_said *said = &a->said[i];
    const char *finish = finish_word(a, x->job, i);
    const server_text *text = &said->reader.content;
    const tool_json_entry entries[] = {
        {"index", json_integer(i)},
        {is_chat(a) ? "message" : "text", is_chat(a) ? message_json(x, i) : server_json_bytes(text->bytes, text->n)},
        {"logprobs", logprobs_json(a, i)},
        {"finish_reason", json_string(finish)},
        {"stop_reason", server_stop_json(x->job, i)}, /* as vLLM has it */
    };
    json_t *object = tool_json_object(entries, sizeof entries / sizeof *entries);
    if (a->request.trace) json_object_set_new(object, "vouch", said->trace ? said->trace : json_array());
    said->trace = NULL;
    return object;
}

static void answer_body(server_exchange *x, server_text *json)
{
    const server_answer *a = x->state;
    json_t *choices = json_array();
    for (int32_t i = 0; i < a->n_choices; i++) json_array_append_new(choices, choice_json(x, i));
    const server_usage usage = server_usage_of(x->job, a->request.n);
    json_t *body = envelope(a, is_chat(a) ? "chat.completion" : "text_completion", choices);
    json_object_set_new(body, "usage", server_usage_json(&usage));
    json_object_set_new(body, "metrics", server_metrics_json(&usage));
    json_object_set_new(body, "timings", server_usage_timings(&usage));
    server_text_json(json, body);
}

static const server_format stream_format = {stream_begin, stream_event,       stream_end, server_sse_fault,
                                            NULL,         server_answer_free, NULL};
static const server_format body_format = {NULL, server_answer_keep, NULL, NULL, answer_body, server_answer_free, NULL};

/* ------------------------------------------------------------------------ echo */

/* The bytes of a token of the prompt that belong to the text: all but those of BOS. */
static const char *echo_bytes(const vouch_model *model, const server_choice *choice, size_t t, size_t *n)
{
    const char *bytes = vouch_token_bytes(model, choice->tokens[t], n);
    const bool is_bos = t == 0 && choice->tokens[t] == vouch_model_get_info(model)->token_bos;
    if (!bytes || is_bos) *n = 0;
    return bytes ? bytes : "";
}

/* With `echo`, the prompt's text goes before the answer's. */
static void echo_text(server_answer *a, const server_choice *choice, int32_t i)
{
    server_said *said = &a->said[i];
    for (size_t t = 0; t < choice->n_tokens; t++) {
        size_t n = 0;
        const char *bytes = echo_bytes(a->request.model->options->model, choice, t, &n);
        server_text_add(&said->reader.content, bytes, n);
        server_text_offset(&said->n_characters, bytes, n);
    }
}

/* With `echo`, the log probabilities of the prompt's tokens; null for the first, which follows nothing. */
static void echo_logprobs(server_answer *a, const server_choice *choice, int32_t i)
{
    const vouch_model *model = a->request.model->options->model;
    const int32_t width = 1 + a->request.session.top_logprobs;
    json_t *tokens = json_array();
    int64_t n_characters = 0;
    for (size_t t = 0; t < choice->n_tokens; t++) {
        const vouch_logprob first = {choice->tokens[0], 0};
        const vouch_logprob *row = t > 0 ? choice->prompt_logprobs + (t - 1) * (size_t)width : &first;
        json_t *token = server_logprob_json(model, row, t > 0 ? width : 1, false);
        size_t n = 0;
        const char *bytes = echo_bytes(model, choice, t, &n);
        if (t == 0) json_object_set_new(token, "logprob", json_null());
        json_object_set_new(token, "offset", json_integer(server_text_offset(&n_characters, bytes, n)));
        json_array_append_new(tokens, token);
    }
    if (a->said[i].logprobs) json_array_extend(tokens, a->said[i].logprobs);
    json_decref(a->said[i].logprobs);
    a->said[i].logprobs = tokens;
}

static void echo_event(server_exchange *x, const server_event *event)
{
    server_answer *a = x->state;
    const server_choice *choice = &x->job->choices[event->choice];
    server_answer_keep(x, event);
    if (event->kind == SERVER_EVENT_END && choice->prompt_logprobs && !choice->error.code)
        echo_logprobs(a, choice, event->choice);
}

static const server_format echo_format = {NULL, echo_event, NULL, NULL, answer_body, server_answer_free, NULL};

/* -------------------------------------------------------------------- requests */

static void complete(server_exchange *x, unsigned where)
{
    server_request request;
    server_fault fault = {0};
    server_job *job = NULL;
    if (server_request_read(&request, x, where, &fault))
        job = where == SERVER_CHAT ? server_prompt_chat(&request, &fault) : server_prompt_texts(&request, &fault);
    if (!job) {
        server_reply_fault(x, &fault);
        return;
    }
    server_answer *a = server_answer_new(x, &request, job, where == SERVER_CHAT ? "chatcmpl-" : "cmpl-", 0);
    if (!a) return;
    for (int32_t i = 0; i < job->n_choices && request.echo; i++) echo_text(a, &job->choices[i], i);
    server_begin(x, request.model, job, request.stream,
                 request.stream ? &stream_format
                 : request.echo ? &echo_format
                                : &body_format,
                 a);
}

void server_chat_completions(server_exchange *x)
{
    complete(x, SERVER_CHAT);
}

void server_completions(server_exchange *x)
{
    complete(x, SERVER_COMPLETIONS);
}

void server_count_chat_tokens(server_exchange *x)
{
    server_request request;
    server_fault fault = {0};
    size_t n;
    if (server_request_read(&request, x, SERVER_CHAT, &fault) && server_count_prompt(&request, &n, &fault))
        server_reply_json(x, 200, json_pack("{s:I}", "input_tokens", (json_int_t)n));
    else server_reply_fault(x, &fault);
}
