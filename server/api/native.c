/* SPDX-License-Identifier: MIT */
#include "api/native.h"

#include <stdlib.h>
#include <string.h>

#include "api/answer.h"
#include "call/arguments.h"
#include "tool/sampling.h"
#include "api/usage.h"

/* ------------------------------------------------------------ texts and tokens */

/* llama.cpp has a `content`, vLLM a `prompt`. */
typedef struct text_request {
    const char *model;
    json_t *content, *prompt, *tokens;
    bool add_special, add_special_tokens, parse_special, with_pieces, return_token_strs;
} text_request;

#define AT(member) offsetof(text_request, member)
#define TOKENIZE   SERVER_TOKENIZE
#define DETOKENIZE SERVER_DETOKENIZE

static const server_field text_fields[] = {
    {"model", TOKENIZE | DETOKENIZE, SERVER_FIELD_STRING, AT(model), NULL},
    {"content", TOKENIZE, SERVER_FIELD_VALUE, AT(content), NULL},
    {"add_special", TOKENIZE, SERVER_FIELD_BOOL, AT(add_special), NULL},
    {"prompt", TOKENIZE, SERVER_FIELD_VALUE, AT(prompt), NULL},
    {"add_special_tokens", TOKENIZE, SERVER_FIELD_BOOL, AT(add_special_tokens), NULL},
    {"return_token_strs", TOKENIZE, SERVER_FIELD_BOOL, AT(return_token_strs), NULL},
    {"parse_special", TOKENIZE, SERVER_FIELD_BOOL, AT(parse_special), NULL},
    {"with_pieces", TOKENIZE, SERVER_FIELD_BOOL, AT(with_pieces), NULL},
    {"tokens", DETOKENIZE, SERVER_FIELD_VALUE, AT(tokens), NULL},
};
const server_field_table server_text_fields = {text_fields, sizeof text_fields / sizeof *text_fields};

/* Reads the request and returns its model. NULL: the request is bad, and the reply says why. */
static const server_model *read_text_request(server_exchange *x, unsigned where, text_request *r)
{
    server_fault fault;
    *r = (text_request){.parse_special = true, .add_special_tokens = true};
    server_model *m = NULL;
    if (server_fields_read(x->json, "", &server_text_fields, where, r, &fault))
        m = server_find_model(x->server, json_object_get(x->json, "model"), &fault);
    if (!m) server_reply_fault(x, &fault);
    return m;
}

static void fail_field(server_exchange *x, const char *param, const char *expected)
{
    server_fault fault;
    server_fail_field(&fault, param, "expected %s", expected);
    server_reply_fault(x, &fault);
}

/* Adds the members that vLLM's answer has beside the tokens. */
static void add_counts(json_t *reply, const server_model *m, const int32_t *tokens, size_t n, bool with_strings)
{
    json_t *strings = with_strings ? json_array() : json_null();
    for (size_t i = 0; with_strings && i < n; i++)
        json_array_append_new(strings, server_token_text(m->options->model, tokens[i]));
    json_object_set_new(reply, "count", json_integer((json_int_t)n));
    json_object_set_new(reply, "max_model_len", json_integer(m->options->session.n_ctx));
    json_object_set_new(reply, "token_strs", strings);
}

void server_tokenize(server_exchange *x)
{
    text_request r;
    vouch_error err;
    size_t n = 0;
    const server_model *m = read_text_request(x, TOKENIZE, &r);
    if (!m) return;
    const vouch_model *model = m->options->model;
    const json_t *given = r.prompt ? r.prompt : r.content;
    const char *param = r.prompt ? "prompt" : "content";
    if (!json_is_string(given)) {
        fail_field(x, param, "a string");
        return;
    }
    const char *text = json_string_value(given);
    const size_t n_text = json_string_length(given);
    const bool has_bos = r.prompt ? r.add_special_tokens : r.add_special;
    const unsigned flags = (has_bos ? VOUCH_TOKENIZE_BOS : 0) | (r.parse_special ? VOUCH_TOKENIZE_SPECIAL : 0);
    vouch_status status = vouch_tokenize(model, text, n_text, flags, NULL, 0, &n, &err);
    int32_t *tokens = calloc(n + 1, sizeof *tokens);
    if (!tokens) return;
    if (status == VOUCH_OK || status == VOUCH_E_BUFFER)
        status = vouch_tokenize(model, text, n_text, flags, tokens, n + 1, &n, &err);
    if (status) {
        server_fault fault;
        server_fail_library(&fault, param, &err);
        server_reply_fault(x, &fault);
    } else {
        json_t *array = json_array(), *reply = json_pack("{s:o}", "tokens", array);
        for (size_t i = 0; i < n; i++)
            json_array_append_new(array, r.with_pieces ? json_pack("{s:i, s:o}", "id", tokens[i], "piece",
                                                                   server_token_text(model, tokens[i]))
                                                       : json_integer(tokens[i]));
        if (r.prompt) add_counts(reply, m, tokens, n, r.return_token_strs);
        server_reply_json(x, 200, reply);
    }
    free(tokens);
}

void server_detokenize(server_exchange *x)
{
    text_request r;
    const server_model *m = read_text_request(x, DETOKENIZE, &r);
    server_text text = {0};
    server_fault fault;
    if (!m) return;
    const vouch_model *model = m->options->model;
    bool good = json_is_array(r.tokens);
    if (!good) server_fail_field(&fault, "tokens", "expected an array of ids of tokens");
    for (size_t i = 0; good && i < json_array_size(r.tokens); i++) {
        const json_t *id = json_array_get(r.tokens, i);
        const json_int_t token = json_integer_value(id);
        size_t n = 0;
        const char *bytes = json_is_integer(id) && token >= 0 && token <= INT32_MAX
                                ? vouch_token_bytes(model, (int32_t)token, &n)
                                : NULL;
        good = bytes != NULL;
        if (good) server_text_add(&text, bytes, n);
        else server_fail_token(&fault, "tokens", i, id, vouch_model_get_info(model)->n_vocab);
    }
    if (good) {
        const tool_json_entry entries[] = {{"content", server_json_bytes(text.bytes, text.n)},
                                           {"prompt", server_json_bytes(text.bytes, text.n)}};
        server_reply_json(x, 200, tool_json_object(entries, 2));
    } else {
        server_reply_fault(x, &fault);
    }
    server_text_free(&text);
}

void server_apply_template(server_exchange *x)
{
    server_fault fault;
    vouch_error err = {0};
    size_t n = 0;
    server_model *m = server_find_model(x->server, json_object_get(x->json, "model"), &fault);
    if (!m || !server_complete_conversation(x->json, &fault)) {
        server_reply_fault(x, &fault);
        return;
    }
    json_object_del(x->json, "model");
    if (json_object_get(x->json, "tools"))
        json_object_set_new(x->json, "tools", server_schemas_plain(json_object_get(x->json, "tools")));
    char *json = json_dumps(x->json, JSON_COMPACT), *text = NULL;
    if (!json) return;
    vouch_status status = vouch_render_chat(m->options->model, json, strlen(json), NULL, 0, &n, &err);
    if ((status == VOUCH_OK || status == VOUCH_E_BUFFER) && (text = malloc(n + 1)))
        status = vouch_render_chat(m->options->model, json, strlen(json), text, n, &n, &err);
    if (status) {
        server_fail_library(&fault, "messages", &err);
        server_reply_fault(x, &fault);
    } else if (text) {
        const tool_json_entry entries[] = {{"prompt", server_json_bytes(text, n)}};
        server_reply_json(x, 200, tool_json_object(entries, 1));
    }
    free(json);
    free(text);
}

/* ------------------------------------------------------------- /completion */

/* Biases of tokens; null bans one. */
static json_t *biases_json(const server_answer *a, const vouch_session_options *o)
{
    const int32_t eos = vouch_model_get_info(a->request.model->options->model)->token_eos;
    json_t *array = json_array();
    for (size_t i = 0; i < o->sampling.n_bias; i++) {
        const vouch_logit_bias *bias = &o->sampling.bias[i];
        const tool_json_entry entries[] = {{"token", json_integer(bias->token)}, {"bias", tool_json_float(bias->bias)}};
        json_array_append_new(array, tool_json_object(entries, 2));
    }
    const tool_json_entry banned[] = {{"token", json_integer(eos)}, {"bias", json_null()}};
    json_t *end = tool_json_object(banned, 2);
    if (o->ignore_eos && eos >= 0) json_array_append(array, end);
    json_decref(end);
    return array;
}

/* The settings with which the answer was made. */
static json_t *settings_json(const server_answer *a, const server_job *job, const server_choice *choice)
{
    const vouch_session_options *o = &job->options;
    const tool_json_entry entries[] = {
        {"n_ctx", json_integer(o->n_ctx)},
        {"n_predict", json_integer(o->max_tokens ? o->max_tokens : -1)},
        {"seed", json_integer((json_int_t)choice->seed)},
        {"samplers", server_samplers_json()},
        {"ignore_eos", json_boolean(o->ignore_eos)},
        {"logit_bias", biases_json(a, o)},
        {"stream", json_boolean(a->request.stream)},
    };
    return tool_sampling_add(tool_json_object(entries, sizeof entries / sizeof *entries), &o->sampling);
}

static json_t *take_content(server_said *said)
{
    server_text *content = &said->reader.content;
    json_t *string = server_json_bytes(content->bytes, content->n);
    said->has_line_end |= content->n > 0 && memchr(content->bytes, '\n', content->n);
    content->n = 0;
    return string;
}

/* Moves the array into the object; NULL: nothing. */
static void move_array(json_t *object, const char *name, json_t **array)
{
    if (*array) json_object_set_new(object, name, *array);
    *array = NULL;
}

/* The prompt as the model read it, with the names of special tokens. */
static json_t *prompt_json(const server_answer *a, const server_choice *choice)
{
    server_text text = {0};
    for (size_t i = 0; i < choice->n_tokens; i++) {
        size_t n = 0;
        const char *bytes = vouch_token_bytes(a->request.model->options->model, choice->tokens[i], &n);
        if (bytes) server_text_add(&text, bytes, n);
    }
    json_t *string = server_json_bytes(text.bytes, text.n);
    server_text_free(&text);
    return string;
}

/* Moves the members at paths such as "timings/predicted_n" into an object with the paths as names, as llama.cpp has it.
 * Members that the answer lacks are left out. Without paths the answer stays whole. */
static json_t *choose_members(json_t *answer, const json_t *paths)
{
    const json_t *path;
    size_t i;
    if (json_array_size(paths) == 0) return answer;
    json_t *chosen = json_object();
    json_array_foreach(paths, i, path) {
        json_t *member = answer;
        for (const char *at = json_string_value(path); member && *at; at += *at == '/') {
            const size_t n = strcspn(at, "/");
            member = json_object_getn(member, at, n);
            at += n;
        }
        if (member && member != answer) json_object_set(chosen, json_string_value(path), member);
    }
    json_decref(answer);
    return chosen;
}

/* The body, or the last event of a choice's stream. */
static json_t *final_json(const server_exchange *x, int32_t i)
{
    const server_answer *a = x->state;
    const server_choice *choice = &x->job->choices[i];
    server_said *said = &a->said[i];
    const server_usage usage = server_usage_of_choice(choice);
    json_t *content = take_content(said);
    const tool_json_entry entries[] = {
        {"index", json_integer(i)},
        {"content", content},
        {"tokens", json_array()},
        {"id_slot", json_integer(choice->slot)},
        {"stop", json_true()},
        {"model", tool_json_text(a->request.model->options->name)},
        {"prompt", prompt_json(a, choice)},
        {"stop_type", json_string(choice->finish == VOUCH_FINISH_EOS    ? "eos"
                                  : choice->finish == VOUCH_FINISH_STOP ? "word"
                                                                        : "limit")},
        {"stopping_word", choice->finish == VOUCH_FINISH_STOP ? server_stop_json(x->job, i) : json_string("")},
        {"truncated", json_boolean(choice->finish == VOUCH_FINISH_CONTEXT)},
        {"has_new_line", json_boolean(said->has_line_end)},
        {"generation_settings", settings_json(a, x->job, choice)},
        {"tokens_predicted", json_integer(usage.completion_tokens)},
        {"tokens_evaluated", json_integer(usage.prompt_tokens)},
        {"tokens_cached", json_integer(usage.cached_tokens)},
        {"timings", server_usage_timings(&usage)},
        {"metrics", server_metrics_json(&usage)},
    };
    json_t *object = tool_json_object(entries, sizeof entries / sizeof *entries);
    move_array(object, "tokens", &said->tokens);
    move_array(object, "completion_probabilities", &said->logprobs);
    return choose_members(object, a->request.response_fields);
}

static void give(server_exchange *x, int32_t i)
{
    server_answer *a = x->state;
    server_said *said = &a->said[i];
    if (said->reader.content.n == 0) return;
    const tool_json_entry entries[] = {
        {"index", json_integer(i)}, {"content", take_content(said)}, {"tokens", json_array()}, {"stop", json_false()}};
    json_t *object = tool_json_object(entries, 4);
    move_array(object, "tokens", &said->tokens);
    move_array(object, "completion_probabilities", &said->logprobs);
    if (a->request.timings_per_token) json_object_set_new(object, "timings", server_timings_json(&said->progress));
    server_sse(x, NULL, object);
}

static void native_event(server_exchange *x, const server_event *event)
{
    server_answer_stream(x, event, give);
    if (event->kind != SERVER_EVENT_END) return;
    const server_choice *choice = &x->job->choices[event->choice];
    server_fault fault;
    if (choice->error.code == VOUCH_OK) {
        server_sse(x, NULL, final_json(x, event->choice));
        return;
    }
    server_fail_library(&fault, "", &choice->error);
    server_sse_fault(x, &fault);
}

/* One prompt has an object, an array of prompts an array. */
static void native_body(server_exchange *x, server_text *json)
{
    const server_answer *a = x->state;
    if (a->n_choices > 1) server_text_put(json, "[");
    for (int32_t i = 0; i < a->n_choices; i++) {
        if (i > 0) server_text_put(json, ",");
        server_text_json(json, final_json(x, i));
    }
    if (a->n_choices > 1) server_text_put(json, "]");
}

static const server_format native_stream = {NULL, native_event, NULL, server_sse_fault, NULL, server_answer_free, NULL};
static const server_format native_whole = {NULL, server_answer_keep, NULL, NULL, native_body, server_answer_free, NULL};

static void complete(server_exchange *x, unsigned where)
{
    server_request request;
    server_fault fault = {0};
    server_job *job = NULL;
    if (server_request_read(&request, x, where, &fault)) job = server_prompt_texts(&request, &fault);
    request.return_tokens |= request.stream; /* as llama.cpp has it */
    if (!job) {
        server_reply_fault(x, &fault);
        return;
    }
    server_answer *a = server_answer_new(x, &request, job, "cmpl-", 0);
    if (a) server_begin(x, request.model, job, request.stream, request.stream ? &native_stream : &native_whole, a);
}

void server_native_completion(server_exchange *x)
{
    complete(x, SERVER_NATIVE);
}

void server_native_infill(server_exchange *x)
{
    const json_t *prompt = json_object_get(x->json, "prompt");
    if (json_is_object(x->json) && (!prompt || json_is_null(prompt)))
        json_object_set_new(x->json, "prompt", json_string(""));
    complete(x, SERVER_INFILL);
}
