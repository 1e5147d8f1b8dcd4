/* SPDX-License-Identifier: MIT */
/*
 * /v1/chat/completions, /v1/completions and /v1/models of the OpenAI API. Both kinds of completions have one format:
 * chunks of a stream carry a `delta` (chat) or `text`, and a body carries `message` or `text`.
 */
#include "openai.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/json.h"
#include "usage.h"

typedef struct answer_choice {
    server_text text;
    json_t *trace;
    size_t n_given, n_token_bytes; /* text given so far; bytes of the tokens so far */
    int64_t n_cycles;
} answer_choice;

typedef struct answer {
    server_request request;
    char id[64];
    int64_t created;
    int32_t n_choices;
    answer_choice *choices; /* [n_choices] */
} answer;

static bool is_chat(const answer *a)
{
    return a->request.where == SERVER_CHAT;
}

static void answer_free(void *state)
{
    answer *a = state;
    for (int32_t i = 0; i < a->n_choices; i++) {
        server_text_free(&a->choices[i].text);
        json_decref(a->choices[i].trace);
    }
    free(a->choices);
    free(a);
}

static const char *finish_word(vouch_finish finish)
{
    return finish == VOUCH_FINISH_LENGTH || finish == VOUCH_FINISH_CONTEXT ? "length" : "stop";
}

/* -------------------------------------------------------------------- chunks */

/* What all chunks and bodies begin with. Takes `choices`. */
static json_t *envelope(const answer *a, const char *object, json_t *choices)
{
    const cli_json_entry entries[] = {
        {"id", json_string(a->id)},
        {"object", json_string(object)},
        {"created", json_integer(a->created)},
        {"model", cli_json_text(a->request.model->options->name)},
        {"system_fingerprint", json_string("vouch-" VOUCH_VERSION)},
        {"choices", choices},
    };
    return cli_json_object(entries, sizeof entries / sizeof *entries);
}

static const char *chunk_object(const answer *a)
{
    return is_chat(a) ? "chat.completion.chunk" : "text_completion";
}

/* Sends a chunk of one choice. Takes `delta` (chat) or the text, and `trace`, which may be NULL. */
static void send_chunk(server_exchange *x, int32_t index, json_t *content, const char *finish, json_t *trace)
{
    const answer *a = x->state;
    const cli_json_entry entries[] = {
        {"index", json_integer(index)},
        {is_chat(a) ? "delta" : "text", content},
        {"logprobs", json_null()},
        {"finish_reason", finish ? json_string(finish) : json_null()},
    };
    json_t *choice = cli_json_object(entries, 4), *choices = json_array();
    if (trace) json_object_set_new(choice, "vouch", trace);
    json_array_append_new(choices, choice);
    json_t *chunk = envelope(a, chunk_object(a), choices);
    if (a->request.include_usage) json_object_set_new(chunk, "usage", json_null());
    server_sse(x, NULL, chunk);
}

static void send_text(server_exchange *x, int32_t index, const char *text, size_t n, json_t *trace)
{
    json_t *content = server_json_bytes(text, n);
    if (is_chat(x->state)) {
        const cli_json_entry delta[] = {{"content", content}};
        content = cli_json_object(delta, 1);
    }
    send_chunk(x, index, content, NULL, trace);
}

static void stream_begin(server_exchange *x)
{
    const answer *a = x->state;
    for (int32_t i = 0; is_chat(a) && i < a->n_choices; i++) {
        const cli_json_entry delta[] = {{"role", json_string("assistant")}, {"content", json_string("")}};
        send_chunk(x, i, cli_json_object(delta, 2), NULL, NULL);
    }
}

/* The first byte of a character at or before text[at]. */
static size_t character_begin(const char *text, size_t at, size_t n)
{
    while (at > 0 && at < n && (text[at] & 0xc0) == 0x80) at--;
    return at;
}

/* The end, in the text of a step, of the part that belongs to token i. The step's text may begin with bytes of earlier
 * tokens, and lack the last ones, because the library keeps halves of characters and beginnings of stop texts back. */
static size_t part_end(const answer *a, answer_choice *choice, const server_event *event, int32_t i, size_t from)
{
    const vouch_model *model = a->request.model->options->model;
    const int32_t token = server_event_tokens(event)[i];
    size_t n_bytes = 0;
    if (!vouch_token_is_special(model, token)) vouch_token_bytes(model, token, &n_bytes);
    choice->n_token_bytes += n_bytes;
    if (i == event->n_tokens - 1) return event->n_text;
    const size_t end = choice->n_token_bytes > choice->n_given ? choice->n_token_bytes - choice->n_given : 0;
    const size_t whole = character_begin(server_event_text(event), end < event->n_text ? end : event->n_text,
                                         event->n_text);
    return whole > from ? whole : from;
}

/* One event for each token. */
static void stream_step(server_exchange *x, const server_event *event)
{
    answer *a = x->state;
    answer_choice *choice = &a->choices[event->choice];
    size_t from = 0;
    for (int32_t i = 0; i < event->n_tokens; i++) {
        const size_t end = part_end(a, choice, event, i, from);
        json_t *trace = NULL;
        if (a->request.trace) {
            trace = json_array();
            json_array_append_new(trace,
                                  server_trace_json(a->request.model->options->model, event, i, choice->n_cycles));
        }
        if (end > from || trace) send_text(x, event->choice, server_event_text(event) + from, end - from, trace);
        from = end;
    }
    choice->n_given += event->n_text;
    choice->n_cycles++;
}

static void stream_choice_end(server_exchange *x, const server_event *event)
{
    const server_choice *choice = &x->job->choices[event->choice];
    if (choice->error.code == VOUCH_OK) {
        json_t *nothing = is_chat(x->state) ? json_object() : json_string("");
        send_chunk(x, event->choice, nothing, finish_word(choice->finish), NULL);
        return;
    }
    server_fault fault;
    server_fail_library(&fault, "", &choice->error);
    server_sse(x, NULL, server_error_json(x, &fault));
}

static void keep_step(server_exchange *x, const server_event *event)
{
    answer *a = x->state;
    answer_choice *choice = &a->choices[event->choice];
    server_text_add(&choice->text, server_event_text(event), event->n_text);
    for (int32_t i = 0; a->request.trace && i < event->n_tokens; i++) {
        if (!choice->trace) choice->trace = json_array();
        json_array_append_new(choice->trace,
                              server_trace_json(a->request.model->options->model, event, i, choice->n_cycles));
    }
    choice->n_cycles++;
}

static void answer_event(server_exchange *x, const server_event *event)
{
    if (event->kind == SERVER_EVENT_STEP) {
        if (x->is_stream) stream_step(x, event);
        else keep_step(x, event);
    } else if (x->is_stream) {
        stream_choice_end(x, event);
    }
}

static void stream_end(server_exchange *x)
{
    const answer *a = x->state;
    if (a->request.include_usage) {
        const server_usage usage = server_usage_of(x->job, a->request.n);
        json_t *chunk = envelope(a, chunk_object(a), json_array());
        json_object_set_new(chunk, "usage", server_usage_json(&usage));
        json_object_set_new(chunk, "metrics", server_metrics_json(&usage));
        server_sse(x, NULL, chunk);
    }
    server_text_put(&x->out, "data: [DONE]\n\n");
}

/* ---------------------------------------------------------------------- bodies */

static json_t *choice_json(const answer *a, const server_job *job, int32_t i)
{
    const answer_choice *choice = &a->choices[i];
    json_t *content = server_json_bytes(choice->text.bytes, choice->text.n);
    if (is_chat(a)) {
        const cli_json_entry message[] = {
            {"role", json_string("assistant")}, {"content", content}, {"refusal", json_null()}};
        content = cli_json_object(message, 3);
    }
    const cli_json_entry entries[] = {
        {"index", json_integer(i)},
        {is_chat(a) ? "message" : "text", content},
        {"logprobs", json_null()},
        {"finish_reason", json_string(finish_word(job->choices[i].finish))},
    };
    json_t *object = cli_json_object(entries, 4);
    if (a->request.trace) json_object_set(object, "vouch", choice->trace ? choice->trace : json_array());
    return object;
}

static json_t *answer_body(server_exchange *x)
{
    const answer *a = x->state;
    json_t *choices = json_array();
    for (int32_t i = 0; i < a->n_choices; i++) json_array_append_new(choices, choice_json(a, x->job, i));
    const server_usage usage = server_usage_of(x->job, a->request.n);
    json_t *body = envelope(a, is_chat(a) ? "chat.completion" : "text_completion", choices);
    json_object_set_new(body, "usage", server_usage_json(&usage));
    json_object_set_new(body, "metrics", server_metrics_json(&usage));
    return body;
}

static const server_format answer_format = {stream_begin, answer_event, stream_end, answer_body, answer_free};

/* -------------------------------------------------------------------- requests */

static answer *answer_new(server_exchange *x, const server_request *request, int32_t n_choices)
{
    answer *a = calloc(1, sizeof *a);
    if (a) a->choices = calloc((size_t)n_choices, sizeof *a->choices);
    if (!a || !a->choices) {
        free(a);
        return NULL;
    }
    a->request = *request;
    a->n_choices = n_choices;
    a->created = (int64_t)time(NULL);
    server_make_id(x->server, is_chat(a) ? "chatcmpl-" : "cmpl-", a->id);
    return a;
}

/* With echo, a text begins with its prompt. */
static void echo_prompts(answer *a, const server_job *job)
{
    const vouch_model *model = a->request.model->options->model;
    for (int32_t i = 0; i < a->n_choices; i++)
        for (size_t t = 0; t < job->choices[i].n_tokens; t++) {
            const int32_t token = job->choices[i].tokens[t];
            size_t n = 0;
            const char *bytes = vouch_token_bytes(model, token, &n);
            const bool is_bos = t == 0 && token == vouch_model_get_info(model)->token_bos;
            if (bytes && !is_bos) server_text_add(&a->choices[i].text, bytes, n);
        }
}

static void stream_echo(server_exchange *x)
{
    answer *a = x->state;
    stream_begin(x);
    for (int32_t i = 0; i < a->n_choices; i++)
        if (a->choices[i].text.n > 0) send_text(x, i, a->choices[i].text.bytes, a->choices[i].text.n, NULL);
}

static const server_format echo_format = {stream_echo, answer_event, stream_end, answer_body, answer_free};

static void complete(server_exchange *x, unsigned where)
{
    server_request request;
    server_fault fault;
    server_job *job = NULL;
    if (server_request_read(&request, x, where, &fault))
        job = where == SERVER_CHAT ? server_prompt_chat(&request, &fault) : server_prompt_texts(&request, &fault);
    answer *a = job ? answer_new(x, &request, job->n_choices) : NULL;
    if (job && !a) {
        server_job_release(job);
        job = NULL;
        server_fail(&fault, 503, "out_of_memory", "", "not enough memory for the answer");
    }
    if (!job) {
        server_reply_fault(x, &fault);
        return;
    }
    if (request.echo) echo_prompts(a, job);
    server_begin(x, request.model, job, request.stream, request.echo ? &echo_format : &answer_format, a);
}

void server_chat_completions(server_exchange *x)
{
    complete(x, SERVER_CHAT);
}

void server_completions(server_exchange *x)
{
    complete(x, SERVER_COMPLETIONS);
}

/* --------------------------------------------------------------------- models */

static json_t *model_json(const server *s, const server_model *m)
{
    const vouch_model_info *info = vouch_model_get_info(m->options->model);
    const cli_json_entry meta[] = {
        {"architecture", cli_json_text(info->architecture)},
        {"n_params", json_integer(info->n_parameters)},
        {"n_vocab", json_integer(info->n_vocab)},
        {"n_ctx", json_integer(m->options->session.n_ctx)},
        {"n_ctx_train", json_integer(info->n_ctx_train)},
        {"n_embd", json_integer(info->n_embd)},
        {"size", json_integer(info->file_bytes)},
        {"weight_types", cli_json_text(info->weight_types)},
        {"cpu", cli_json_text(info->cpu)},
        {"chat_template", cli_json_text(info->chat_template)},
        {"thinks", json_boolean(info->chat_template_thinks)},
        {"draft_model", m->options->draft ? cli_json_text(vouch_model_get_info(m->options->draft)->name) : json_null()},
    };
    const cli_json_entry entries[] = {
        {"id", cli_json_text(m->options->name)},
        {"object", json_string("model")},
        {"created", json_integer(s->started_at)},
        {"owned_by", json_string("vouch")},
        {"meta", cli_json_object(meta, sizeof meta / sizeof *meta)},
    };
    return cli_json_object(entries, sizeof entries / sizeof *entries);
}

void server_list_models(server_exchange *x)
{
    json_t *data = json_array();
    for (size_t i = 0; i < x->server->options->n_models; i++)
        json_array_append_new(data, model_json(x->server, &x->server->models[i]));
    const cli_json_entry entries[] = {{"object", json_string("list")}, {"data", data}};
    server_reply_json(x, 200, cli_json_object(entries, 2));
}
