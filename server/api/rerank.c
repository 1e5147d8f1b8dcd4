/* SPDX-License-Identifier: MIT */
/*
 * The model is asked whether a document meets the query's requirements, in the words that Qwen3's rerankers were
 * trained with (Zhang et al., arXiv 2506.05176, section 3). Its next token is "yes" or "no", and the score is
 *
 *   p(yes) / (p(yes) + p(no))
 *
 * Each document is a choice of one job. Its prompt begins with instruction and query, which all of them share.
 */
#include "api/rerank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request/request.h"
#include "tool/json.h"

enum { MOST_DOCUMENTS = 1024, TOP = 20 };

static const char system_text[] =
    "Judge whether the Document meets the requirements based on the Query and the Instruct provided. Note that the "
    "answer can only be \"yes\" or \"no\".";
static const char usual_instruction[] = "Given a web search query, retrieve relevant passages that answer the query";

typedef struct rerank_fields {
    json_t *model, *documents;
    const char *query, *instruction;
    int32_t top_n;
    bool return_documents;
} rerank_fields;

#define AT(member) offsetof(rerank_fields, member)

static const server_field fields[] = {
    {"model", SERVER_RERANK, SERVER_FIELD_VALUE, AT(model), NULL},
    {"query", SERVER_RERANK, SERVER_FIELD_STRING, AT(query), NULL},
    {"documents", SERVER_RERANK, SERVER_FIELD_VALUE, AT(documents), NULL},
    {"top_n", SERVER_RERANK, SERVER_FIELD_INT, AT(top_n), "[1, 2147483647]"},
    {"return_documents", SERVER_RERANK, SERVER_FIELD_BOOL, AT(return_documents), NULL},
    {"instruction", SERVER_RERANK, SERVER_FIELD_STRING, AT(instruction), NULL},
    {"user", SERVER_RERANK, SERVER_FIELD_IGNORED, 0, NULL},
};
const server_field_table server_rerank_fields = {fields, sizeof fields / sizeof *fields};

typedef struct verdict {
    int32_t index;
    double yes, no; /* probabilities; both 0: the model says something else */
} verdict;

typedef struct ranking {
    const server_model *model;
    json_t *documents; /* owned by the request */
    int32_t yes, no;   /* tokens */
    int32_t n, n_wanted;
    bool returns_documents;
    verdict verdicts[]; /* [n] */
} ranking;

/* ----------------------------------------------------------------------- answers */

static void event_take(server_exchange *x, const server_event *event)
{
    ranking *r = x->state;
    verdict *v = &r->verdicts[event->choice];
    if (event->kind != SERVER_EVENT_STEP || event->width == 0) return;
    const vouch_logprob *row = server_event_logprobs(event);
    for (int32_t i = 0; i < event->width; i++) {
        if (row[i].token == r->yes) v->yes = exp((double)row[i].logprob);
        if (row[i].token == r->no) v->no = exp((double)row[i].logprob);
    }
}

static double score_of(const verdict *v)
{
    return v->yes + v->no > 0 ? v->yes / (v->yes + v->no) : 0;
}

/* The best first; equal ones in the order of the request. */
static int compare(const void *a, const void *b)
{
    const verdict *one = a, *other = b;
    const double difference = score_of(other) - score_of(one);
    return difference > 0 ? 1 : difference < 0 ? -1 : one->index - other->index;
}

static void body(server_exchange *x, server_text *json)
{
    ranking *r = x->state;
    json_t *results = json_array();
    json_int_t n_tokens = 0;
    for (int32_t i = 0; i < r->n; i++) n_tokens += (json_int_t)x->job->choices[i].n_tokens;
    qsort(r->verdicts, (size_t)r->n, sizeof *r->verdicts, compare);
    for (int32_t i = 0; i < r->n_wanted; i++) {
        const verdict *v = &r->verdicts[i];
        json_t *result = json_pack("{s:i, s:f}", "index", (int)v->index, "relevance_score", score_of(v));
        if (r->returns_documents)
            json_object_set_new(result, "document",
                                json_pack("{s:O}", "text", json_array_get(r->documents, (size_t)v->index)));
        json_array_append_new(results, result);
    }
    server_text_json(json, json_pack("{s:o, s:s, s:o, s:{s:I, s:I}}", "model", tool_json_text(r->model->options->name),
                                     "object", "list", "results", results, "usage", "prompt_tokens", n_tokens,
                                     "total_tokens", n_tokens));
}

static const server_format format = {.event = event_take, .body = body, .free = free};

/* ---------------------------------------------------------------------- requests */

/* The only token of a word; false: it has several. */
static bool word_token(const vouch_model *model, const char *word, int32_t *token)
{
    size_t n = 0;
    return vouch_tokenize(model, word, strlen(word), 0, token, 1, &n, NULL) == VOUCH_OK && n == 1;
}

static bool document_read(const ranking *r, const rerank_fields *f, server_job *job, int32_t i, server_fault *fault)
{
    const vouch_model *model = r->model->options->model;
    const json_t *document = json_array_get(f->documents, (size_t)i);
    const char *text = json_string_value(document);
    char path[32];
    vouch_error err;
    snprintf(path, sizeof path, "documents[%d]", (int)i);
    if (!text) return server_fail_field(fault, path, "expected a string, got %s", server_json_kind(document));
    server_text question = {0};
    server_text_format(&question, "<Instruct>: %s\n<Query>: %s\n<Document>: %s",
                       f->instruction ? f->instruction : usual_instruction, f->query, text);
    json_t *conversation =
        json_pack("{s:[{s:s, s:s}, {s:s, s:o}], s:{s:b}}", "messages", "role", "system", "content", system_text, "role",
                  "user", "content", server_json_bytes(question.bytes, question.n), "chat_template_kwargs",
                  "enable_thinking", 0);
    char *json = conversation ? json_dumps(conversation, JSON_COMPACT) : NULL;
    server_text_free(&question);
    json_decref(conversation);
    if (!json) return server_fail_memory(fault);
    size_t n = 0;
    int32_t *tokens = NULL;
    vouch_status status = vouch_tokenize_chat_json(model, json, strlen(json), NULL, 0, &n, &err);
    if (status == VOUCH_E_BUFFER && (tokens = server_job_allocate(job, n, sizeof *tokens)))
        status = vouch_tokenize_chat_json(model, json, strlen(json), tokens, n, &n, &err);
    free(json);
    if (status == VOUCH_E_BUFFER) return server_fail_memory(fault);
    if (status) return server_fail_library(fault, path, &err);
    if (n >= (size_t)r->model->options->session.n_ctx)
        return server_fail(fault, 400, "context_length_exceeded", path,
                           "%s: with query and instruction it has %zu tokens, and the context holds %d", path, n,
                           r->model->options->session.n_ctx);
    job->choices[i].tokens = tokens;
    job->choices[i].n_tokens = n;
    return true;
}

/* A job that gives one token for each document, with the likeliest ones. */
static server_job *job_read(const ranking *r, const rerank_fields *f, server_fault *fault)
{
    server_job *job = server_job_new(r->n);
    if (!job) {
        server_fail_memory(fault);
        return NULL;
    }
    vouch_session_options *o = &job->options;
    *o = r->model->options->session;
    o->sampling.temperature = 0;
    o->max_tokens = 1;
    o->min_tokens = 0;
    o->logprobs = true;
    o->top_logprobs = TOP;
    o->speculation = vouch_speculation_default();
    o->speculation.drafters = VOUCH_DRAFTER_NONE;
    for (int32_t i = 0; i < r->n; i++)
        if (!document_read(r, f, job, i, fault)) {
            server_job_release(job);
            return NULL;
        }
    return job;
}

static bool request_read(server_exchange *x, rerank_fields *f, const server_model **m, server_fault *fault)
{
    if (!server_fields_read(x->json, "", &server_rerank_fields, SERVER_RERANK, f, fault)) return false;
    *m = server_find_model(x->server, f->model, fault);
    if (!*m) return false;
    const size_t n = json_array_size(f->documents);
    if (!f->query || !*f->query) return server_fail_field(fault, "query", "expected a text");
    return (n > 0 && n <= MOST_DOCUMENTS) ||
           server_fail_field(fault, "documents", "expected an array of 1 to %d strings", MOST_DOCUMENTS);
}

void server_rerank(server_exchange *x)
{
    server_fault fault;
    rerank_fields f = {0};
    const server_model *m = NULL;
    ranking *r = NULL;
    server_job *job = NULL;
    if (request_read(x, &f, &m, &fault)) {
        const int32_t n = (int32_t)json_array_size(f.documents);
        r = calloc(1, sizeof *r + (size_t)n * sizeof *r->verdicts);
        if (r) {
            *r = (ranking){.model = m, .documents = f.documents, .n = n, .returns_documents = f.return_documents};
            r->n_wanted = f.top_n > 0 && f.top_n < n ? f.top_n : n;
            for (int32_t i = 0; i < n; i++) r->verdicts[i] = (verdict){.index = i};
            if (word_token(m->options->model, "yes", &r->yes) && word_token(m->options->model, "no", &r->no))
                job = job_read(r, &f, &fault);
            else server_fail(&fault, 501, "not_implemented", "model", "the model has no tokens for yes and no");
        } else server_fail_memory(&fault);
    }
    if (job) {
        server_begin(x, &x->server->models[m - x->server->models], job, false, &format, r);
        return;
    }
    free(r);
    server_reply_fault(x, &fault);
}
