/* SPDX-License-Identifier: MIT */
#include "native.h"

#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "common/json.h"
#include "usage.h"

/* ------------------------------------------------------------ texts and tokens */

typedef struct text_request {
    const char *model;
    const json_t *content, *tokens;
    bool add_special, parse_special, with_pieces;
} text_request;

#define AT(member) offsetof(text_request, member)
enum { TOKENIZE = 1u << 0, DETOKENIZE = 1u << 1 };

static const server_field text_fields[] = {
    {"model", TOKENIZE | DETOKENIZE, SERVER_FIELD_STRING, AT(model), NULL},
    {"content", TOKENIZE, SERVER_FIELD_VALUE, AT(content), NULL},
    {"add_special", TOKENIZE, SERVER_FIELD_BOOL, AT(add_special), NULL},
    {"parse_special", TOKENIZE, SERVER_FIELD_BOOL, AT(parse_special), NULL},
    {"with_pieces", TOKENIZE, SERVER_FIELD_BOOL, AT(with_pieces), NULL},
    {"tokens", DETOKENIZE, SERVER_FIELD_VALUE, AT(tokens), NULL},
};

/* Reads the request; NULL after a reply. */
static const vouch_model *read_text_request(server_exchange *x, unsigned where, text_request *r)
{
    server_fault fault;
    *r = (text_request){.parse_special = true};
    server_model *m = NULL;
    if (server_fields_read(x->json, "", text_fields, sizeof text_fields / sizeof *text_fields, where, r, &fault))
        m = server_find_model(x->server, json_object_get(x->json, "model"), &fault);
    if (!m) server_reply_fault(x, &fault);
    return m ? m->options->model : NULL;
}

static void fail_field(server_exchange *x, const char *param, const char *expected)
{
    server_fault fault;
    server_fail_field(&fault, param, "expected %s", expected);
    server_reply_fault(x, &fault);
}

void server_tokenize(server_exchange *x)
{
    text_request r;
    vouch_error err;
    size_t n = 0;
    const vouch_model *model = read_text_request(x, TOKENIZE, &r);
    if (!model) return;
    if (!json_is_string(r.content)) {
        fail_field(x, "content", "a string");
        return;
    }
    const char *text = json_string_value(r.content);
    const size_t n_text = json_string_length(r.content);
    const unsigned flags =
        (r.add_special ? VOUCH_TOKENIZE_BOS : 0) | (r.parse_special ? VOUCH_TOKENIZE_SPECIAL : 0);
    vouch_status status = vouch_tokenize(model, text, n_text, flags, NULL, 0, &n, &err);
    int32_t *tokens = calloc(n + 1, sizeof *tokens);
    if (!tokens) return;
    if (status == VOUCH_OK || status == VOUCH_E_BUFFER)
        status = vouch_tokenize(model, text, n_text, flags, tokens, n + 1, &n, &err);
    if (status) {
        server_fault fault;
        server_fail_library(&fault, "content", &err);
        server_reply_fault(x, &fault);
    } else {
        json_t *array = json_array();
        for (size_t i = 0; i < n; i++) {
            const cli_json_entry piece[] = {{"id", json_integer(tokens[i])},
                                            {"piece", r.with_pieces ? server_token_text(model, tokens[i]) : NULL}};
            if (r.with_pieces) json_array_append_new(array, cli_json_object(piece, 2));
            else json_array_append_new(array, piece[0].value);
        }
        const cli_json_entry entries[] = {{"tokens", array}};
        server_reply_json(x, 200, cli_json_object(entries, 1));
    }
    free(tokens);
}

void server_detokenize(server_exchange *x)
{
    text_request r;
    const vouch_model *model = read_text_request(x, DETOKENIZE, &r);
    server_text text = {0};
    if (!model) return;
    bool good = json_is_array(r.tokens);
    for (size_t i = 0; good && i < json_array_size(r.tokens); i++) {
        const json_t *id = json_array_get(r.tokens, i);
        const json_int_t token = json_integer_value(id);
        size_t n = 0;
        const char *bytes = json_is_integer(id) && token >= 0 && token <= INT32_MAX
                                ? vouch_token_bytes(model, (int32_t)token, &n)
                                : NULL;
        good = bytes != NULL;
        if (good) server_text_add(&text, bytes, n);
    }
    if (good) {
        const cli_json_entry entries[] = {{"content", server_json_bytes(text.bytes, text.n)}};
        server_reply_json(x, 200, cli_json_object(entries, 1));
    } else {
        fail_field(x, "tokens", "an array of ids of tokens");
    }
    server_text_free(&text);
}

void server_apply_template(server_exchange *x)
{
    server_fault fault;
    vouch_error err = {0};
    size_t n = 0;
    server_model *m = server_find_model(x->server, json_object_get(x->json, "model"), &fault);
    if (!m) {
        server_reply_fault(x, &fault);
        return;
    }
    json_object_del(x->json, "model");
    char *json = json_dumps(x->json, JSON_COMPACT), *text = NULL;
    if (!json) return;
    vouch_status status = vouch_render_chat(m->options->model, json, strlen(json), NULL, 0, &n, &err);
    if ((status == VOUCH_OK || status == VOUCH_E_BUFFER) && (text = malloc(n + 1)))
        status = vouch_render_chat(m->options->model, json, strlen(json), text, n, &n, &err);
    if (status) {
        server_fail_library(&fault, "messages", &err);
        server_reply_fault(x, &fault);
    } else if (text) {
        const cli_json_entry entries[] = {{"prompt", server_json_bytes(text, n)}};
        server_reply_json(x, 200, cli_json_object(entries, 1));
    }
    free(json);
    free(text);
}

/* ------------------------------------------------------------- /completion */

static json_t *timings_json(const server_usage *u)
{
    const double n_prompt = (double)(u->prompt_tokens - u->cached_tokens), n = (double)u->completion_tokens;
    const cli_json_entry entries[] = {
        {"prompt_n", json_integer(u->prompt_tokens - u->cached_tokens)},
        {"prompt_ms", cli_json_real(u->prefill_seconds * 1e3)},
        {"prompt_per_second", cli_json_real(u->prefill_seconds > 0 ? n_prompt / u->prefill_seconds : 0)},
        {"predicted_n", json_integer(u->completion_tokens)},
        {"predicted_ms", cli_json_real(u->decode_seconds * 1e3)},
        {"predicted_per_second", cli_json_real(u->decode_seconds > 0 ? n / u->decode_seconds : 0)},
        {"draft_n", json_integer(u->stats.drafted)},
        {"draft_n_accepted", json_integer(u->stats.accepted)},
    };
    return cli_json_object(entries, sizeof entries / sizeof *entries);
}

/* What the body, or the last event of a stream, says. Takes `content`. */
static json_t *final_json(const server_exchange *x, json_t *content)
{
    const server_answer *a = x->state;
    const server_usage usage = server_usage_of(x->job, 1);
    const vouch_finish finish = x->job->choices[0].finish;
    const cli_json_entry entries[] = {
        {"index", json_integer(0)},
        {"content", content},
        {"tokens", json_array()},
        {"stop", json_true()},
        {"model", cli_json_text(a->request.model->options->name)},
        {"stop_type", json_string(finish == VOUCH_FINISH_EOS    ? "eos"
                                  : finish == VOUCH_FINISH_STOP ? "word"
                                                                : "limit")},
        {"truncated", json_false()},
        {"tokens_predicted", json_integer(usage.completion_tokens)},
        {"tokens_evaluated", json_integer(usage.prompt_tokens)},
        {"tokens_cached", json_integer(usage.cached_tokens)},
        {"timings", timings_json(&usage)},
        {"metrics", server_metrics_json(&usage)},
    };
    return cli_json_object(entries, sizeof entries / sizeof *entries);
}

static json_t *take_content(server_answer *a)
{
    server_text *content = &a->said[0].reader.content;
    json_t *string = server_json_bytes(content->bytes, content->n);
    content->n = 0;
    return string;
}

static void give(server_exchange *x, int32_t choice)
{
    server_answer *a = x->state;
    if (a->said[choice].reader.content.n == 0) return;
    const cli_json_entry entries[] = {{"index", json_integer(choice)},
                                      {"content", take_content(a)},
                                      {"stop", json_false()}};
    server_sse(x, NULL, cli_json_object(entries, 3));
}

static void native_event(server_exchange *x, const server_event *event)
{
    server_answer_stream(x, event, give);
    if (event->kind != SERVER_EVENT_END) return;
    const server_choice *choice = &x->job->choices[event->choice];
    server_fault fault;
    if (choice->error.code == VOUCH_OK) {
        server_sse(x, NULL, final_json(x, json_string("")));
        return;
    }
    server_fail_library(&fault, "", &choice->error);
    server_sse(x, NULL, server_error_json(x, &fault));
}

static json_t *native_body(server_exchange *x)
{
    return final_json(x, take_content(x->state));
}

static const server_format native_stream = {NULL, native_event, NULL, NULL, server_answer_free};
static const server_format native_whole = {NULL, server_answer_keep, NULL, native_body, server_answer_free};

void server_native_completion(server_exchange *x)
{
    server_request request;
    server_fault fault;
    server_job *job = NULL;
    if (server_request_read(&request, x, SERVER_NATIVE, &fault)) job = server_prompt_texts(&request, &fault);
    if (job && job->n_choices > 1) {
        server_job_release(job);
        job = NULL;
        server_fail_field(&fault, "prompt", "expected one prompt; /v1/completions takes several");
    }
    if (!job) {
        server_reply_fault(x, &fault);
        return;
    }
    server_answer *a = server_answer_new(x, &request, job, "cmpl-");
    if (!a) {
        server_job_release(job);
        return;
    }
    server_begin(x, request.model, job, request.stream, request.stream ? &native_stream : &native_whole, a);
}
