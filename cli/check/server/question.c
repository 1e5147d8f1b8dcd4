/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "check/server/ask.h"
#include "os/os.h"
#include "tool/memory.h"

const char *ask_prompt(size_t i)
{
    static const char *const prompts[ASK_PROMPTS] = {
        "red green blue red green blue red green blue red green",
        "def add(a, b):\n    return a + b\n\ndef sub(a, b):\n    return a - b\n\ndef mul(a, b):\n    return",
        "Copy the line.\nLine: the ship sails at nine from pier four\nCopy: the ship sails at nine from",
        "It was the best of times, it was the worst of times, it was the age of",
        "The first ten numbers are one, two, three, four, five, six, seven, eight, nine, ten. The first ten numbers",
        "[{\"id\": 1, \"name\": \"Ann\"}, {\"id\": 2, \"name\": \"Ben\"}, {\"id\": 3, \"name\":",
    };
    return prompts[i % ASK_PROMPTS];
}

/* -------------------------------------------------------------------- questions */

const char *ask_get_prompt(const ask_question *q)
{
    const json_t *message = json_array_get(json_object_get(q->body, "messages"), 0);
    return json_string_value(q->is_chat ? json_object_get(message, "content") : json_object_get(q->body, "prompt"));
}

void ask_set_prompt(ask_question *q, const char *prompt)
{
    json_t *message = json_array_get(json_object_get(q->body, "messages"), 0);
    json_object_set_new(q->is_chat ? message : q->body, q->is_chat ? "content" : "prompt", json_string(prompt));
}

void ask_set(ask_question *q, const char *name, json_t *value)
{
    json_object_set_new(q->body, name, value);
}

static void set_logprobs(ask_question *q, int n_top)
{
    if (n_top < 0) return;
    ask_set(q, "logprobs", q->is_chat ? json_true() : json_integer(n_top));
    if (q->is_chat) ask_set(q, "top_logprobs", json_integer(n_top));
}

static ask_question begin(const ask_check *c, bool is_chat, const ask_config *config, const char *prompt,
                          int max_tokens)
{
    ask_question q = {config->base, is_chat, json_object()};
    if (*c->server.model) ask_set(&q, "model", json_string(c->server.model));
    if (is_chat) ask_set(&q, "messages", json_pack("[{s:s, s:s}]", "role", "user", "content", prompt));
    else ask_set(&q, "prompt", json_string(prompt));
    ask_set(&q, "max_tokens", json_integer(max_tokens));
    json_object_update(q.body, c->server.fields);
    json_object_update(q.body, c->server.uncached);
    json_object_update(q.body, config->fields);
    return q;
}

ask_question ask_greedy(const ask_check *c, bool is_chat, const ask_config *config, const char *prompt, int max_tokens,
                        bool logprobs)
{
    ask_question q = begin(c, is_chat, config, prompt, max_tokens);
    ask_set(&q, "temperature", json_integer(0));
    if (logprobs) set_logprobs(&q, c->server.n_top[is_chat]);
    return q;
}

ask_question ask_sampled(const ask_check *c, bool is_chat, const ask_config *config, const char *prompt, int max_tokens,
                         int n_top, int64_t seed)
{
    ask_question q = begin(c, is_chat, config, prompt, max_tokens);
    ask_set(&q, "temperature", json_integer(1));
    ask_set(&q, "top_p", json_integer(1));
    ask_set(&q, "seed", json_integer(seed));
    set_logprobs(&q, n_top < c->server.n_top[is_chat] ? n_top : c->server.n_top[is_chat]);
    return q;
}

void ask_stream(ask_question *q)
{
    ask_set(q, "stream", json_true());
    ask_set(q, "stream_options", json_pack("{s:b}", "include_usage", 1));
}

ask_question ask_copy(const ask_question *q)
{
    return (ask_question){q->base, q->is_chat, json_deep_copy(q->body)};
}

void ask_free(ask_question *q)
{
    json_decref(q->body);
    q->body = NULL;
}

static void address_write(const ask_question *q, char address[ASK_MOST_ADDRESS + 32])
{
    snprintf(address, ASK_MOST_ADDRESS + 32, "%s/v1/%s", q->base, q->is_chat ? "chat/completions" : "completions");
}

/* The body as text; the caller frees it. ASCII, so that a shell and a terminal leave it as it is. */
static char *body_text(const ask_question *q)
{
    char *text = json_dumps(q->body, JSON_COMPACT | JSON_ENSURE_ASCII);
    if (!text) tool_memory_refuse();
    return text;
}

char *ask_curl(const ask_question *q, const ask_check *c)
{
    char address[ASK_MOST_ADDRESS + 32], *line = NULL, *body = body_text(q);
    size_t n;
    vouch_os_stream stream;
    FILE *out = body ? vouch_os_stream_open(&stream) : NULL;
    address_write(q, address);
    if (out) {
        const bool is_stream = json_is_true(json_object_get(q->body, "stream"));
        fprintf(out, "curl -s%s '%s' -H 'Content-Type: application/json'%s -d '", is_stream ? "N" : "", address,
                c->key && *c->key ? " -H \"Authorization: Bearer $OPENAI_API_KEY\"" : "");
        for (const char *at = body; *at; at++)
            if (*at == '\'') fputs("'\\''", out);
            else fputc(*at, out);
        fputc('\'', out);
        if (!vouch_os_stream_close(&stream, &line, &n)) line = NULL;
    }
    free(body);
    return line;
}

/* ---------------------------------------------------------------------- asking */

/* Counts what an answer says of guesses and of the cache. */
static void usage_count(ask_check *c, const ask_answer *a)
{
    c->server.tells_guesses |= a->n_drafted >= 0;
    if (a->n_cached > 0) c->n_cached += a->n_cached;
    if (a->n_drafted > 0) c->n_drafted += a->n_drafted;
    if (a->n_accepted > 0) c->n_accepted += a->n_accepted;
}

/* Answers of a server that has stopped to answer. */
static void answers_miss(ask_answer *answers, size_t n)
{
    const ask_reply reply = {.why = "the server stopped to answer", .is_gone = true};
    for (size_t i = 0; i < n; i++) ask_answer_read(&answers[i], &reply, false);
}

vouch_status ask_all(ask_check *c, const ask_question *questions, ask_answer *answers, size_t n, vouch_error *err)
{
    char addresses[ASK_MOST_AT_ONCE][ASK_MOST_ADDRESS + 32];
    char *bodies[ASK_MOST_AT_ONCE] = {NULL};
    ask_request requests[ASK_MOST_AT_ONCE] = {{NULL, NULL}};
    ask_reply replies[ASK_MOST_AT_ONCE];
    if (c->is_gone) {
        answers_miss(answers, n);
        return VOUCH_OK;
    }
    for (size_t i = 0; i < n; i++) {
        address_write(&questions[i], addresses[i]);
        bodies[i] = body_text(&questions[i]);
        requests[i] = (ask_request){addresses[i], bodies[i] ? bodies[i] : "{}"};
    }
    const vouch_status status = ask_client_ask(c->client, requests, replies, n, err);
    for (size_t i = 0; i < n && !status; i++) {
        ask_answer_read(&answers[i], &replies[i], json_is_true(json_object_get(questions[i].body, "stream")));
        usage_count(c, &answers[i]);
        c->is_gone |= answers[i].is_gone;
    }
    if (!status) {
        c->n_requests += (int64_t)n;
        ask_replies_free(replies, n);
    }
    for (size_t i = 0; i < n; i++) free(bodies[i]);
    return status;
}

vouch_status ask_warm(ask_check *c, const ask_question *question, vouch_error *err)
{
    ask_answer answer;
    if (c->server.uncached) return VOUCH_OK;
    ask_question q = ask_copy(question);
    ask_set(&q, "max_tokens", json_integer(1));
    const vouch_status status = ask_all(c, &q, &answer, 1, err);
    ask_free(&q);
    if (!status) ask_answer_free(&answer);
    return status;
}
