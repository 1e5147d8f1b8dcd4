/* SPDX-License-Identifier: MIT */
#include "check/server/answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tool/memory.h"
#include "tool/text.h"

#define NO_CHANCE (-1e4) /* stands for a log probability that is null: minus infinity */

__attribute__((format(printf, 2, 3))) static void answer_fail(ask_answer *a, const char *format, ...)
{
    va_list list;
    if (*a->error) return;
    va_start(list, format);
    vsnprintf(a->error, sizeof a->error, format, list);
    va_end(list);
}

static json_t *parse(const char *bytes, size_t n)
{
    json_error_t error;
    return json_loadb(bytes, n, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
}

/* The member at a path such as "usage.prompt_tokens"; NULL: there is none. */
static json_t *member(json_t *value, const char *path)
{
    char name[48];
    while (value && *path) {
        const size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        value = json_object_get(value, name);
        path += n + (path[n] == '.');
    }
    return value;
}

static int64_t count_at(json_t *value, const char *path, int64_t otherwise)
{
    const json_t *found = member(value, path);
    const double x = json_number_value(found);
    return json_is_number(found) && x >= 0 && x < 1e15 ? (int64_t)x : otherwise;
}

/* -------------------------------------------------------------------- text */

static void text_add(ask_answer *a, const json_t *string)
{
    const size_t n = json_string_length(string);
    if (!json_is_string(string) || n == 0) return;
    char *longer = realloc(a->text, a->n + n + 1);
    if (!longer) {
        tool_memory_refuse();
        return;
    }
    a->text = longer;
    memcpy(a->text + a->n, json_string_value(string), n);
    a->n += n;
    a->text[a->n] = '\0';
}

/* ------------------------------------------------------------------- tokens */

/* The key of a token; the caller frees it. NULL: memory is short. */
static char *key_of(const json_t *text, const json_t *bytes, const json_t *id)
{
    const char *value = json_is_string(text) ? json_string_value(text) : "";
    vouch_os_stream stream;
    size_t n;
    char *key = NULL;
    FILE *out = vouch_os_stream_open(&stream);
    if (!out) return NULL;
    fwrite(value, 1, json_is_string(text) ? strlen(value) : 0, out);
    const bool is_clear = *value && !strstr(value, "\xef\xbf\xbd") && strlen(value) == json_string_length(text);
    if (!is_clear && json_is_number(id)) fprintf(out, "[%.0f]", json_number_value(id));
    else if (!is_clear)
        for (size_t i = 0; i < json_array_size(bytes); i++)
            fprintf(out, "[%02x]", (unsigned)json_number_value(json_array_get(bytes, i)) & 255);
    return vouch_os_stream_close(&stream, &key, &n) ? key : NULL;
}

static double chance_of(const json_t *value)
{
    return json_is_number(value) ? fmax(json_number_value(value), NO_CHANCE) : NO_CHANCE;
}

/* Adds a chance to a set of likeliest tokens; tokens of the same key count together. */
static void top_add(json_t *top, const char *key, double logprob)
{
    const json_t *known = json_object_get(top, key);
    const double old = json_number_value(known);
    if (known) logprob = fmax(old, logprob) + log1p(exp(-fabs(old - logprob)));
    json_object_set_new(top, key, json_real(logprob));
}

/* Takes `top`. */
static void token_add(ask_answer *a, char *key, double logprob, json_t *top)
{
    const tool_json_entry entries[] = {
        {"token", json_string(key ? key : "")}, {"logprob", json_real(logprob)}, {"top", top}};
    if (!key) tool_memory_refuse();
    json_array_append_new(a->tokens, tool_json_object(entries, 3));
    free(key);
}

/* The form of chat, which llama.cpp also has in completions. */
static void read_content(ask_answer *a, const json_t *content)
{
    json_t *token, *likely;
    size_t i, j;
    json_array_foreach(content, i, token) {
        json_t *top = json_object();
        json_array_foreach(json_object_get(token, "top_logprobs"), j, likely) {
            char *key = key_of(json_object_get(likely, "token"), json_object_get(likely, "bytes"),
                               json_object_get(likely, "id"));
            top_add(top, key ? key : "", chance_of(json_object_get(likely, "logprob")));
            free(key);
        }
        token_add(a,
                  key_of(json_object_get(token, "token"), json_object_get(token, "bytes"),
                         json_object_get(token, "id")),
                  chance_of(json_object_get(token, "logprob")), top);
    }
}

/* The parallel arrays of completions. */
static void read_arrays(ask_answer *a, const json_t *logprobs)
{
    const json_t *values = json_object_get(logprobs, "token_logprobs"),
                 *tops = json_object_get(logprobs, "top_logprobs");
    json_t *text, *value;
    const char *name;
    size_t i;
    json_array_foreach(json_object_get(logprobs, "tokens"), i, text) {
        json_t *top = json_object();
        json_object_foreach(json_array_get(tops, i), name, value) {
            json_t *string = json_string(name);
            char *key = key_of(string, NULL, NULL);
            top_add(top, key ? key : "", chance_of(value));
            free(key);
            json_decref(string);
        }
        token_add(a, key_of(text, NULL, NULL), chance_of(json_array_get(values, i)), top);
    }
}

/* ------------------------------------------------------------- bodies and streams */

static void read_error(ask_answer *a, json_t *value)
{
    const json_t *error = json_object_get(value, "error");
    const char *message = json_is_string(error) ? json_string_value(error) : NULL;
    if (!message) message = json_string_value(json_object_get(error, "message"));
    if (!message) message = json_string_value(json_object_get(value, "message")); /* as vLLM has it */
    if (a->status >= 400) answer_fail(a, "status %ld: %.180s", a->status, message ? message : "no reason given");
    else if (error && !json_is_null(error)) answer_fail(a, "an error: %.200s", message ? message : "no reason given");
}

/* A body, or a chunk of a stream. */
static void read_value(ask_answer *a, json_t *value)
{
    json_t *choice = json_array_get(json_object_get(value, "choices"), 0),
           *logprobs = json_object_get(choice, "logprobs");
    json_t *message =
        json_object_get(choice, "message") ? json_object_get(choice, "message") : json_object_get(choice, "delta");
    const char *finish = json_string_value(json_object_get(choice, "finish_reason"));
    read_error(a, value);
    text_add(a, json_object_get(choice, "text"));
    text_add(a, json_object_get(message, "reasoning_content"));
    text_add(a, json_object_get(message, "reasoning"));
    text_add(a, json_object_get(message, "content"));
    if (finish) snprintf(a->finish, sizeof a->finish, "%s", finish);
    if (json_is_array(json_object_get(logprobs, "content"))) read_content(a, json_object_get(logprobs, "content"));
    else read_arrays(a, logprobs);
    a->n_prompt = count_at(value, "usage.prompt_tokens", a->n_prompt);
    a->n_answer = count_at(value, "usage.completion_tokens", a->n_answer);
    a->n_cached = count_at(value, "usage.prompt_tokens_details.cached_tokens", a->n_cached);
    a->n_drafted = count_at(value, "timings.draft_n", a->n_drafted);
    a->n_accepted = count_at(value, "timings.draft_n_accepted", a->n_accepted);
    a->n_drafted = count_at(value, "metrics.speculative_decoding.num_draft_tokens", a->n_drafted);
    a->n_accepted = count_at(value, "metrics.speculative_decoding.num_accepted_draft_tokens", a->n_accepted);
}

/* The lines "data: JSON" of a stream, until "data: [DONE]". */
static void read_stream(ask_answer *a, const ask_reply *reply)
{
    bool is_done = false;
    for (const char *line = reply->body, *end = reply->body + reply->n; line < end && !is_done && !*a->error;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((stop ? stop : end) - line);
        const char *data = line;
        line += n + 1;
        while (n > 0 && (data[n - 1] == '\r' || data[n - 1] == ' ')) n--;
        if (n < 5 || memcmp(data, "data:", 5) != 0) continue;
        data += 5, n -= 5;
        while (n > 0 && *data == ' ') data++, n--;
        is_done = n == 6 && memcmp(data, "[DONE]", 6) == 0;
        if (is_done) break;
        json_t *value = parse(data, n);
        if (!value) answer_fail(a, "the stream has an event that isn't JSON: %.*s", (int)(n < 60 ? n : 60), data);
        read_value(a, value);
        json_decref(value);
    }
    if (!is_done) answer_fail(a, "the stream ends without \"data: [DONE]\"");
}

void ask_answer_read(ask_answer *a, const ask_reply *reply, bool is_stream)
{
    *a = (ask_answer){.n_prompt = -1, .n_answer = -1, .n_cached = -1, .n_drafted = -1, .n_accepted = -1};
    a->tokens = json_array();
    a->text = calloc(1, 1);
    a->status = reply->status;
    a->is_gone = reply->is_gone;
    if (!a->text) tool_memory_refuse();
    if (*reply->why) answer_fail(a, "%s", reply->why);
    if (*a->error) return;
    if (is_stream && a->status < 400) {
        read_stream(a, reply);
    } else {
        json_t *value = parse(reply->body, reply->n);
        if (value) read_value(a, value);
        else if (a->status >= 400) answer_fail(a, "status %ld", a->status);
        else answer_fail(a, "the answer isn't JSON: %.*s", (int)(reply->n < 60 ? reply->n : 60), reply->body);
        if (a->status >= 400) answer_fail(a, "status %ld", a->status);
        json_decref(value);
    }
    if (!*a->finish) answer_fail(a, "the answer has no finish_reason");
}

void ask_answer_free(ask_answer *a)
{
    free(a->text);
    json_decref(a->tokens);
    *a = (ask_answer){0};
}

/* ------------------------------------------------------------------ differences */

typedef struct pair {
    const ask_answer *a, *b;
    const char *name_a, *name_b;
    ask_difference *difference;
} pair;

__attribute__((format(printf, 2, 3))) static void note(const pair *p, const char *format, ...)
{
    va_list list;
    if (*p->difference->what) return;
    va_start(list, format);
    vsnprintf(p->difference->what, sizeof p->difference->what, format, list);
    va_end(list);
}

/* A few bytes of the text from `at`, in quotes and escaped. */
static void excerpt(const ask_answer *a, size_t at, char text[64])
{
    enum { LONGEST = 16 };
    vouch_os_stream stream;
    char *bytes = NULL;
    size_t n = 0;
    FILE *out = vouch_os_stream_open(&stream);
    snprintf(text, 64, "\"...\"");
    if (!out) return;
    tool_put_escaped(out, a->text + at, a->n - at < LONGEST ? a->n - at : LONGEST, 0);
    if (vouch_os_stream_close(&stream, &bytes, &n)) snprintf(text, 64, "\"%.50s\"", bytes);
    free(bytes);
}

static void texts_compare(const pair *p)
{
    const ask_answer *a = p->a, *b = p->b;
    char of_a[64], of_b[64];
    size_t at = 0;
    while (at < a->n && at < b->n && a->text[at] == b->text[at]) at++;
    if (at == a->n && at == b->n) return;
    while (at > 0 && ((unsigned char)a->text[at] & 0xc0) == 0x80) at--;
    excerpt(a, at, of_a);
    excerpt(b, at, of_b);
    note(p, "the text differs from byte %zu: %s %s, %s %s", at, of_a, p->name_a, of_b, p->name_b);
}

static void value_compare(const pair *p, size_t i, const char *key, const json_t *a, const json_t *b, double tolerance)
{
    const double x = json_number_value(a), y = json_number_value(b), d = fabs(x - y);
    p->difference->n_values++;
    p->difference->most = fmax(p->difference->most, d);
    if (d > tolerance)
        note(p, "the log probability of token %zu, %.40s: %.7g %s, %.7g %s", i, key, x, p->name_a, y, p->name_b);
}

/* Log probabilities as far as the tokens are the same. */
static void tokens_compare(const pair *p, double tolerance)
{
    const size_t n_a = json_array_size(p->a->tokens), n_b = json_array_size(p->b->tokens);
    size_t i = 0;
    for (; i < n_a && i < n_b; i++) {
        json_t *a = json_array_get(p->a->tokens, i), *b = json_array_get(p->b->tokens, i), *value;
        const char *key = json_string_value(json_object_get(a, "token")), *name;
        if (!json_equal(json_object_get(a, "token"), json_object_get(b, "token"))) break;
        value_compare(p, i, key, json_object_get(a, "logprob"), json_object_get(b, "logprob"), tolerance);
        json_object_foreach(json_object_get(a, "top"), name, value) {
            const json_t *other = json_object_get(json_object_get(b, "top"), name);
            if (other) value_compare(p, i, name, value, other, tolerance);
        }
    }
    if (i < n_a && i < n_b)
        note(p, "token %zu differs: \"%.40s\" %s, \"%.40s\" %s", i,
             json_string_value(json_object_get(json_array_get(p->a->tokens, i), "token")), p->name_a,
             json_string_value(json_object_get(json_array_get(p->b->tokens, i), "token")), p->name_b);
    else if (n_a != n_b) note(p, "%zu tokens %s, %zu %s", n_a, p->name_a, n_b, p->name_b);
}

static void count_compare(const pair *p, const char *name, int64_t a, int64_t b)
{
    if (a >= 0 && b >= 0 && a != b)
        note(p, "%s of the usage: %lld %s, %lld %s", name, (long long)a, p->name_a, (long long)b, p->name_b);
}

void ask_answers_compare(const ask_answer *a, const ask_answer *b, unsigned what, double tolerance, const char *name_a,
                         const char *name_b, ask_difference *difference)
{
    const pair p = {a, b, name_a, name_b, difference};
    *difference = (ask_difference){0};
    if (*a->error || *b->error) {
        note(&p, "%s: %.200s", *a->error ? name_a : name_b, *a->error ? a->error : b->error);
        return;
    }
    if (what & ASK_TEXT) texts_compare(&p);
    if (what & ASK_FINISH && strcmp(a->finish, b->finish) != 0)
        note(&p, "finish_reason is %s %s, %s %s", a->finish, name_a, b->finish, name_b);
    if (what & ASK_USAGE) {
        count_compare(&p, "prompt_tokens", a->n_prompt, b->n_prompt);
        count_compare(&p, "completion_tokens", a->n_answer, b->n_answer);
        if ((a->n_answer < 0) != (b->n_answer < 0))
            note(&p, "the usage is missing %s", a->n_answer < 0 ? name_a : name_b);
    }
    if (what & ASK_TOKENS) tokens_compare(&p, tolerance);
}
