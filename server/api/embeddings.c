/* SPDX-License-Identifier: MIT */
#include "api/embeddings.h"

#include <stdlib.h>
#include <string.h>

#include "api/ollama.h"
#include "request/request.h"
#include "tool/json.h"
#include "tool/vector.h"

enum { MOST_TEXTS = 2048 };

typedef struct embedding_fields {
    json_t *model, *input, *prompt, *keep_alive;
    const char *encoding_format;
    int32_t dimensions;
} embedding_fields;

#define AT(member) offsetof(embedding_fields, member)
#define OPENAI     SERVER_EMBEDDINGS
#define OLLAMA     SERVER_OLLAMA_EMBED

static const server_field fields[] = {
    {"model", OPENAI | OLLAMA, SERVER_FIELD_VALUE, AT(model), NULL},
    {"input", OPENAI | OLLAMA, SERVER_FIELD_VALUE, AT(input), NULL},
    {"prompt", OLLAMA, SERVER_FIELD_VALUE, AT(prompt), NULL},
    {"dimensions", OPENAI | OLLAMA, SERVER_FIELD_INT, AT(dimensions), "[1, 65536]"},
    {"encoding_format", OPENAI, SERVER_FIELD_STRING, AT(encoding_format), NULL},
    {"user", OPENAI, SERVER_FIELD_IGNORED, 0, NULL},
    {"truncate", OLLAMA, SERVER_FIELD_IGNORED, 0, NULL}, /* a text that is too long is an error that says so */
    {"options", OLLAMA, SERVER_FIELD_IGNORED, 0, NULL},
    {"keep_alive", OLLAMA, SERVER_FIELD_VALUE, AT(keep_alive), NULL},
};
const server_field_table server_embedding_fields = {fields, sizeof fields / sizeof *fields};

typedef struct embeddings {
    const server_model *model;
    size_t n_kept; /* numbers of a vector that the client gets */
    bool is_base64;
    bool is_single; /* Ollama: of one text, as older clients read it */
    bool is_ollama;
} embeddings;

/* ----------------------------------------------------------------------- answers */

static json_t *base64_json(const float *x, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t n_bytes = n * sizeof *x;
    char *text = malloc(4 * ((n_bytes + 2) / 3) + 1), *out = text;
    if (!text) return NULL;
    for (size_t i = 0; i < n_bytes; i += 3) {
        unsigned char part[3] = {0};
        const size_t n_part = n_bytes - i < 3 ? n_bytes - i : 3;
        memcpy(part, (const char *)x + i, n_part); /* little endian, as the clients read it */
        const unsigned bits = (unsigned)part[0] << 16 | (unsigned)part[1] << 8 | part[2];
        for (size_t d = 0; d < 4; d++) *out++ = d > n_part ? '=' : digits[bits >> (18 - 6 * d) & 63];
    }
    json_t *string = json_stringn(text, (size_t)(out - text));
    free(text);
    return string;
}

static json_t *vector_json(const embeddings *e, float *x)
{
    tool_vector_normalize(x, e->n_kept);
    return e->is_base64 ? base64_json(x, e->n_kept) : tool_vector_json(x, e->n_kept);
}

static int64_t count_tokens(const server_job *job)
{
    int64_t n = 0;
    for (int32_t i = 0; i < job->n_choices; i++) n += (int64_t)job->choices[i].n_tokens;
    return n;
}

static json_t *openai_json(const embeddings *e, const server_job *job)
{
    json_t *data = json_array();
    const json_int_t n = count_tokens(job);
    for (int32_t i = 0; i < job->n_choices; i++)
        json_array_append_new(data, json_pack("{s:s, s:i, s:o}", "object", "embedding", "index", (int)i, "embedding",
                                              vector_json(e, job->choices[i].embedding)));
    return json_pack("{s:s, s:o, s:o, s:{s:I, s:I}}", "object", "list", "data", data, "model",
                     tool_json_text(e->model->options->name), "usage", "prompt_tokens", n, "total_tokens", n);
}

static json_t *ollama_json(const embeddings *e, const server_job *job)
{
    if (e->is_single) return json_pack("{s:o}", "embedding", vector_json(e, job->choices[0].embedding));
    json_t *vectors = json_array();
    double first = 0, last = 0;
    for (int32_t i = 0; i < job->n_choices; i++) {
        const server_choice *choice = &job->choices[i];
        json_array_append_new(vectors, vector_json(e, choice->embedding));
        if (i == 0 || choice->queued < first) first = choice->queued;
        if (choice->ended > last) last = choice->ended;
    }
    return json_pack("{s:o, s:o, s:I, s:I, s:I}", "model", tool_json_text(e->model->options->name), "embeddings",
                     vectors, "total_duration", (json_int_t)(1e9 * (last - first)), "load_duration", (json_int_t)0,
                     "prompt_eval_count", (json_int_t)count_tokens(job));
}

static void keep_nothing(server_exchange *x, const server_event *event)
{
    (void)x;
    (void)event;
}

static void body(server_exchange *x, server_text *json)
{
    const embeddings *e = x->state;
    server_text_json(json, e->is_ollama ? ollama_json(e, x->job) : openai_json(e, x->job));
}

static const server_format format = {.event = keep_nothing, .body = body, .free = free};

/* ---------------------------------------------------------------------- requests */

/* The tokens of a text, or ids, of choice i. */
static bool choice_read(const embeddings *e, server_job *job, int32_t i, const json_t *input, const char *path,
                        server_fault *fault)
{
    const unsigned flags = VOUCH_TOKENIZE_BOS | VOUCH_TOKENIZE_EOS;
    const vouch_model *model = e->model->options->model;
    const int32_t n_ctx = e->model->options->session.n_ctx;
    const vouch_model_info *info = vouch_model_get_info(model);
    server_choice *choice = &job->choices[i];
    const char *text = json_string_value(input);
    const size_t n_text = json_string_length(input);
    vouch_error err;
    size_t n = json_array_size(input);
    const vouch_status status = text ? vouch_tokenize(model, text, n_text, flags, NULL, 0, &n, &err) : VOUCH_OK;
    if (status != VOUCH_OK && status != VOUCH_E_BUFFER) return server_fail_library(fault, path, &err);
    if (n == 0 || (text && n_text == 0)) return server_fail_field(fault, path, "the text is empty");
    if (n + 1 >= (size_t)n_ctx)
        return server_fail(
            fault, 400, "context_length_exceeded", path,
            "%s: the text has %zu tokens, and the context of %d needs two more; shorten it or start the server with "
            "a larger --ctx",
            path, n, n_ctx);
    int32_t *tokens = server_job_allocate(job, n, sizeof *tokens);
    choice->embedding = server_job_allocate(job, (size_t)info->n_embd, sizeof *choice->embedding);
    if (!tokens || !choice->embedding) return server_fail_memory(fault);
    if (text && vouch_tokenize(model, text, n_text, flags, tokens, n, &n, &err))
        return server_fail_library(fault, path, &err);
    for (size_t t = 0; !text && t < n; t++) {
        const json_t *id = json_array_get(input, t);
        const json_int_t token = json_integer_value(id);
        if (!json_is_integer(id) || token < 0 || token >= info->n_vocab)
            return server_fail_token(fault, path, t, id, info->n_vocab);
        tokens[t] = (int32_t)token;
    }
    choice->tokens = tokens;
    choice->n_tokens = n;
    return true;
}

/* A text or ids, or several of them. */
static server_job *job_read(const embeddings *e, const json_t *input, const char *name, server_fault *fault)
{
    const bool is_ids = json_is_array(input) && json_is_integer(json_array_get(input, 0));
    const bool is_one = json_is_string(input) || is_ids;
    const size_t n = is_one ? 1 : json_array_size(input);
    bool is_good = n > 0 && n <= MOST_TEXTS;
    if (!is_good) {
        server_fail_field(fault, name, "expected a string, ids of tokens, or an array of 1 to %d of them", MOST_TEXTS);
        return NULL;
    }
    server_job *job = server_job_new((int32_t)n);
    if (!job) {
        server_fail_memory(fault);
        return NULL;
    }
    job->options = e->model->options->session;
    job->options.speculation = vouch_speculation_default();
    job->options.speculation.drafters = VOUCH_DRAFTER_NONE;
    job->prompt_only = true;
    job->pooling = e->model->options->pooling;
    for (size_t i = 0; i < n && is_good; i++) {
        char path[48];
        const json_t *one = is_one ? input : json_array_get(input, i);
        snprintf(path, sizeof path, is_one ? "%s" : "%s[%zu]", name, i);
        is_good = json_is_string(one) || json_is_array(one) ||
                  server_fail_field(fault, path, "expected a string or ids of tokens, got %s", server_json_kind(one));
        is_good = is_good && choice_read(e, job, (int32_t)i, one, path, fault);
    }
    if (is_good) return job;
    server_job_release(job);
    return NULL;
}

static bool request_read(server_exchange *x, embeddings *e, server_job **job, server_fault *fault)
{
    embedding_fields f = {0};
    if (!server_fields_read(x->json, "", &server_embedding_fields, e->is_ollama ? OLLAMA : OPENAI, &f, fault))
        return false;
    e->model =
        e->is_ollama ? server_ollama_model(x->server, f.model, fault) : server_find_model(x->server, f.model, fault);
    if (!e->model || !server_ollama_keep(f.keep_alive, &x->keep_seconds, fault)) return false;
    const int32_t n_embd = vouch_model_get_info(e->model->options->model)->n_embd;
    if (e->model->options->pooling == VOUCH_POOLING_NONE)
        return server_fail(fault, 501, "not_implemented", "model",
                           "%.100s wasn't made for embeddings; start the server with --pooling mean or last",
                           e->model->options->name);
    if (f.dimensions > n_embd) return server_fail_field(fault, "dimensions", "the model's vectors have %d", n_embd);
    e->n_kept = (size_t)(f.dimensions ? f.dimensions : n_embd);
    e->is_base64 = f.encoding_format && strcmp(f.encoding_format, "base64") == 0;
    if (f.encoding_format && !e->is_base64 && strcmp(f.encoding_format, "float") != 0)
        return server_fail_field(fault, "encoding_format", "expected float or base64");
    const json_t *input = e->is_single ? f.prompt : f.input;
    *job = job_read(e, input, e->is_single ? "prompt" : "input", fault);
    return *job;
}

static void answer(server_exchange *x, bool is_ollama, bool is_single)
{
    server_fault fault;
    server_job *job = NULL;
    embeddings *e = calloc(1, sizeof *e);
    if (e) *e = (embeddings){.is_ollama = is_ollama, .is_single = is_single};
    else server_fail_memory(&fault);
    if (e && request_read(x, e, &job, &fault)) {
        server_begin(x, &x->server->models[e->model - x->server->models], job, false, &format, e);
        return;
    }
    free(e);
    server_reply_fault(x, &fault);
}

void server_embeddings(server_exchange *x)
{
    answer(x, false, false);
}

void server_ollama_embed(server_exchange *x)
{
    answer(x, true, false);
}

void server_ollama_embedding(server_exchange *x)
{
    answer(x, true, true);
}
