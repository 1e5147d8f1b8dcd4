/* SPDX-License-Identifier: MIT */
/*
 * `vouch serve`. Law L7: a request gets the same bytes alone and beside any others, streamed or not, with every drafter
 * that it asks for. Law L5: a bad request gets an error that names the field, and the server goes on.
 * test_server_http.c has what lies below the requests: connections, headers, clients that go, and signals.
 */
#include <ctype.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/http.h"
#include "support/model/tiny_model.h"

#define ASK  "\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 1"
#define CHAT "/v1/chat/completions"
#define TEXT "/v1/completions"

enum { N_REQUESTS = 60, N_CLIENTS = 16 };

static char target[256], draft[256];
static http_server server; /* with a draft model, for most tests */

static int server_begin(void **state)
{
    (void)state;
    strcpy(target, test_temporary("target.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    tiny_model_write(target, &(tiny_model_options){.seed = 7, .n_ctx = 4096});
    tiny_model_write(draft, &(tiny_model_options){.seed = 7, .n_ctx = 4096, .noise = 0.02f});
    server = http_server_start(ARGUMENTS(target, "--draft-model", draft, "--parallel", "5"));
    return 0;
}

static int server_end(void **state)
{
    (void)state;
    return http_server_stop(&server, SIGTERM);
}

static json_t *post(const char *path, const char *body)
{
    http_reply reply = http_post(server.port, path, body);
    if (reply.status != 200) fail_msg("%s: status %d: %s", body, reply.status, reply.body);
    return http_json(&reply);
}

/* -------------------------------------------------------------------- load */

/* Request i: prompts that share beginnings, and every drafter, rule and temperature. */
static void request_write(int i, bool stream, char *body, size_t size)
{
    static const char *const drafters[] = {"auto", "none", "ngram", "suffix,recycle", "draft", "draft,recycle"};
    static const char *const text = "the quick brown fox jumps over the lazy dog and over the fence and over the fence";
    snprintf(body, size,
             "{\"prompt\": \"%.*s %d\", \"max_tokens\": %d, \"temperature\": %s, \"seed\": %d, \"ignore_eos\": true, "
             "\"stream\": %s, \"speculative\": {\"drafters\": \"%s\", \"accept\": \"%s\", \"k\": %d}}",
             10 + i * 7 % 70, text, i % 9, 5 + i * 11 % 60, i % 3 == 0 ? "0" : "0.9", i, stream ? "true" : "false",
             drafters[i % 6], i % 2 ? "coupled" : "match", i % 5 == 0 ? 4 : 0);
}

/* Adds the string to the text, with a space in place of each NUL. */
static void text_add(char *text, const json_t *string)
{
    const char *bytes = json_string_value(string);
    text += strlen(text);
    for (size_t i = 0; i < json_string_length(string); i++) text[i] = bytes[i] ? bytes[i] : ' ';
}

/* The text of the answer, the caller's to free; NULL: the answer wasn't whole. */
static char *answer_of(http_reply *reply, bool stream)
{
    char *text = calloc(1, reply->n + 1);
    bool is_whole = reply->status == 200;
    if (is_whole && !stream) {
        json_t *body = json_loadb(reply->body, reply->n, JSON_ALLOW_NUL, NULL);
        json_t *found = http_at(body, "choices.0.text");
        is_whole = found != NULL;
        if (found) text_add(text, found);
        json_decref(body);
    } else if (is_whole) {
        json_t *events = http_events(reply, &is_whole), *event;
        size_t i;
        json_array_foreach(events, i, event)
            if (json_is_string(http_at(event, "choices.0.text"))) text_add(text, http_at(event, "choices.0.text"));
        json_decref(events);
    }
    http_reply_free(reply);
    if (is_whole) return text;
    free(text);
    return NULL;
}

static char *ask(int i, bool stream)
{
    char body[1024];
    request_write(i, stream, body, sizeof body);
    http_reply reply = http_post(server.port, "/v1/completions", body);
    return answer_of(&reply, stream);
}

static char *alone[N_REQUESTS];
static int n_next, n_wrong;
static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER;

static void *client_run(void *arg)
{
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&next_lock);
        const int i = n_next++;
        pthread_mutex_unlock(&next_lock);
        if (i >= 2 * N_REQUESTS) return NULL;
        char *text = ask(i % N_REQUESTS, i >= N_REQUESTS);
        pthread_mutex_lock(&next_lock);
        n_wrong += !text || strcmp(text, alone[i % N_REQUESTS]) != 0;
        pthread_mutex_unlock(&next_lock);
        free(text);
    }
}

static void load_leaves_no_trace(void **state)
{
    (void)state;
    pthread_t clients[N_CLIENTS];
    int n_same = 0;
    for (int i = 0; i < N_REQUESTS; i++) {
        alone[i] = ask(i, false);
        assert_non_null(alone[i]);
        n_same += i > 0 && strcmp(alone[i], alone[0]) == 0;
    }
    assert_true(n_same < N_REQUESTS / 4); /* answers that are all the same would prove nothing */
    for (int i = 0; i < N_CLIENTS; i++) assert_int_equal(pthread_create(&clients[i], NULL, client_run, NULL), 0);
    for (int i = 0; i < N_CLIENTS; i++) pthread_join(clients[i], NULL);
    assert_int_equal(n_wrong, 0);
    for (int i = 0; i < N_REQUESTS; i++) free(alone[i]);
}

/* The text of a request is the text of `vouch run`. */
static void the_text_is_that_of_run(void **state)
{
    (void)state;
    json_t *body = post("/v1/completions", "{\"prompt\": \"the quick brown\", \"max_tokens\": 30, \"temperature\": 0, "
                                           "\"logit_bias\": {\"0\": -100, \"1\": -100, \"2\": -100, \"3\": -100}}");
    result r = RUN(GREEDY, target, "--raw", "-p", "the quick brown", "-n", "30", "--spec", "none", NO_CONTROL);
    assert_int_equal(r.status, 0);
    const char *text = http_text_at(body, "choices.0.text");
    size_t from = 0, same = 0;
    for (; r.out[from] && text[same] && r.out[from] == text[same]; from++) same++;
    /* Beyond the first wrong byte, the JSON has U+FFFD. */
    const bool is_whole = (!r.out[from] || r.out[from] == '\n') && !text[same];
    assert_true(same > 0 && (is_whole || strncmp(text + same, "\xef\xbf\xbd", 3) == 0));
    assert_int_equal(whole(http_at(body, "usage"), "completion_tokens"), 30);
    result_free(&r);
    json_decref(body);
}

/* ------------------------------------------------------------------ answers */

static void chat_answers(void **state)
{
    (void)state;
    json_t *body = post("/v1/chat/completions",
                        "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}], \"max_completion_tokens\": 7, "
                        "\"temperature\": 0, \"ignore_eos\": true, \"n\": 3, \"user\": \"me\", \"store\": false}");
    assert_string_equal(http_text_at(body, "object"), "chat.completion");
    assert_int_equal(json_array_size(http_at(body, "choices")), 3);
    assert_string_equal(http_text_at(body, "choices.2.message.role"), "assistant");
    assert_string_equal(http_text_at(body, "choices.0.message.content"),
                        http_text_at(body, "choices.2.message.content"));
    assert_string_equal(http_text_at(body, "choices.0.finish_reason"), "length");
    assert_int_equal(whole(http_at(body, "usage"), "completion_tokens"), 21);
    json_decref(body);
}

/* Of the draft model's guesses a seed's text doesn't depend: the rule is coupled, unless the request names another. */
static void seeds_give_other_texts(void **state)
{
    (void)state;
    json_t *body = post("/v1/completions", "{\"prompt\": \"a\", \"max_tokens\": 30, \"temperature\": 1, \"seed\": 4, "
                                           "\"n\": 2, \"ignore_eos\": true}");
    json_t *second = post("/v1/completions", "{\"prompt\": \"a\", \"max_tokens\": 30, \"temperature\": 1, \"seed\": 5, "
                                             "\"ignore_eos\": true, \"speculative\": {\"drafters\": \"none\", "
                                             "\"accept\": \"coupled\"}}");
    assert_string_not_equal(http_text_at(body, "choices.0.text"), http_text_at(body, "choices.1.text"));
    assert_string_equal(http_text_at(body, "choices.1.text"), http_text_at(second, "choices.0.text"));
    json_decref(body);
    json_decref(second);
}

static void prompts_come_as_texts_and_ids(void **state)
{
    (void)state;
    json_t *ids = post("/v1/completions", "{\"prompt\": [[103, 104], [103, 104, 105]], \"max_tokens\": 9, "
                                          "\"temperature\": 0, \"echo\": true, \"ignore_eos\": true}");
    json_t *text = post("/v1/completions", "{\"prompt\": \"ab\", \"max_tokens\": 9, \"temperature\": 0}");
    assert_int_equal(json_array_size(http_at(ids, "choices")), 2);
    assert_int_equal(whole(http_at(ids, "usage"), "prompt_tokens"), 5);
    assert_memory_equal(http_text_at(ids, "choices.0.text"), "ab", 2);
    assert_memory_equal(http_text_at(ids, "choices.1.text"), "abc", 3);
    assert_int_equal(whole(http_at(text, "usage"), "prompt_tokens"), 2);
    json_decref(ids);
    json_decref(text);
}

/* A stop text ends the answer before it, also where it spans tokens and chunks. */
static void stop_texts_end_answers(void **state)
{
    (void)state;
    char body[512], stop[16];
    json_t *whole_text = post("/v1/completions", "{\"prompt\": \"the quick\", \"max_tokens\": 40, \"temperature\": 0, "
                                                 "\"ignore_eos\": true}");
    const char *text = http_text_at(whole_text, "choices.0.text");
    size_t from = 4;
    while (text[from] && !(isalpha((unsigned char)text[from]) && isalpha((unsigned char)text[from + 1]))) from++;
    assert_true(text[from]);
    snprintf(stop, sizeof stop, "%.2s", text + from);
    for (int stream = 0; stream < 2; stream++) {
        snprintf(body, sizeof body,
                 "{\"prompt\": \"the quick\", \"max_tokens\": 40, \"temperature\": 0, \"ignore_eos\": true, "
                 "\"stop\": [\"never so\", \"%s\"], \"stream\": %s}",
                 stop, stream ? "true" : "false");
        http_reply reply = http_post(server.port, "/v1/completions", body);
        char *cut = answer_of(&reply, stream);
        assert_non_null(cut);
        assert_memory_equal(cut, text, strlen(cut));
        assert_ptr_equal(strstr(text, stop), text + strlen(cut));
        free(cut);
    }
    json_decref(whole_text);
}

/* A stream has one chunk for each token, traces account for all tokens and guesses, and the last chunks say how the
 * answer ended and what it took. Adds the numbers of guesses to *accepted and *rejected. */
static void stream_check(int *accepted, int *rejected)
{
    bool is_done;
    http_reply reply = http_post(server.port, "/v1/chat/completions",
                                 "{\"messages\": [{\"role\": \"user\", \"content\": \"hello hello\"}], "
                                 "\"max_tokens\": 50, \"temperature\": 0, \"stream\": true, \"ignore_eos\": true, "
                                 "\"stream_options\": {\"include_usage\": true}, "
                                 "\"speculative\": {\"drafters\": \"draft\", \"k\": 4, \"trace\": true}}");
    assert_int_equal(reply.status, 200);
    assert_non_null(strcasestr(reply.head, "Content-Type: text/event-stream"));
    json_t *events = http_events(&reply, &is_done), *event;
    assert_true(is_done);
    const size_t n = json_array_size(events);
    int n_tokens = 0, n_accepted = 0, n_rejected = 0;
    size_t i;
    json_array_foreach(events, i, event) {
        json_t *trace = http_at(event, "choices.0.vouch.0");
        if (!trace) continue;
        n_tokens++;
        const bool is_accepted = strcmp(http_text_at(trace, "origin"), "accepted") == 0;
        n_accepted += is_accepted;
        if (is_accepted) assert_string_equal(http_text_at(trace, "drafters.0"), "draft");
        n_rejected += (int)json_array_size(http_at(trace, "rejected"));
    }
    json_t *last = json_array_get(events, n - 1), *metrics = http_at(last, "metrics.speculative_decoding");
    assert_int_equal(n_tokens, 50);
    assert_int_equal(json_array_size(http_at(last, "choices")), 0);
    assert_int_equal(whole(http_at(last, "usage"), "completion_tokens"), 50);
    assert_int_equal(whole(metrics, "num_accepted_draft_tokens"), n_accepted);
    assert_int_equal(whole(metrics, "num_draft_tokens"), n_accepted + n_rejected);
    *accepted += n_accepted;
    *rejected += n_rejected;
    assert_string_equal(http_text_at(json_array_get(events, n - 2), "choices.0.finish_reason"), "length");
    assert_string_equal(http_text_at(json_array_get(events, 0), "choices.0.delta.role"), "assistant");
    json_decref(events);
    http_reply_free(&reply);
}

/* The chunks of one choice of a stream that carry text, without id, time and trace. */
static json_t *text_chunks(const char *path, const char *body, int index)
{
    bool is_done;
    http_reply reply = http_post(server.port, path, body);
    json_t *events = http_events(&reply, &is_done), *event, *chunks = json_array();
    size_t i;
    assert_true(is_done);
    json_array_foreach(events, i, event) {
        json_t *choice = http_at(event, "choices.0"), *text = http_at(choice, "text");
        if (!text) text = http_at(choice, "delta.content");
        if (!text || json_string_length(text) == 0 || whole(choice, "index") != index) continue;
        json_object_del(choice, "vouch");
        json_object_del(event, "id");
        json_object_del(event, "created");
        json_array_append(chunks, event);
    }
    json_decref(events);
    http_reply_free(&reply);
    return chunks;
}

/* Chunks of a stream that differ in their text alone have a prepared frame, and chunks with a trace are built from
 * their members: both are the same chunks. Each is written as Jansson writes it. Without drafters each step has one
 * token: bytes that are no UTF-8 become U+FFFD, and which of a step's chunks gets it depends on the step's tokens. */
static void framed_chunks_are_whole_chunks(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body;
    } asked[] = {
        {"/v1/chat/completions", "\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]"},
        {"/v1/completions", "\"prompt\": \"hello\""},
    };
    for (int i = 0; i < 4; i++) {
        char body[2][500];
        for (int trace = 0; trace < 2; trace++)
            snprintf(body[trace], sizeof body[trace],
                     "{%s, \"max_tokens\": 90, \"temperature\": 1.5, \"seed\": 3, \"n\": 2, \"ignore_eos\": true, "
                     "\"stream\": true, \"stream_options\": {\"include_usage\": %s}, "
                     "\"speculative\": {\"drafters\": \"none\", \"trace\": %s}}",
                     asked[i / 2].body, i % 2 ? "true" : "false", trace ? "true" : "false");
        for (int index = 0; index < 2; index++) {
            json_t *framed = text_chunks(asked[i / 2].path, body[0], index);
            json_t *built = text_chunks(asked[i / 2].path, body[1], index);
            assert_true(json_array_size(framed) > 10);
            if (!json_equal(framed, built)) fail_msg("%s: %s", body[0], json_dumps(framed, 0));
            json_decref(framed);
            json_decref(built);
        }
        http_reply reply = http_post(server.port, asked[i / 2].path, body[0]);
        int n_lines = 0;
        for (char *line = strstr(reply.body, "data: {"), *end; line; line = strstr(end, "data: {"), n_lines++) {
            end = strstr(line, "\n\n");
            json_t *chunk = json_loadb(line + 6, (size_t)(end - line - 6), 0, NULL);
            char *written = json_dumps(chunk, JSON_COMPACT);
            if (!http_at(chunk, "timings")) assert_memory_equal(written, line + 6, (size_t)(end - line - 6));
            free(written);
            json_decref(chunk);
        }
        assert_true(n_lines > 20);
        http_reply_free(&reply);
    }
}

/* The engine drops guesses that don't pay, so a single answer may have none. */
static void streams_tell_each_token(void **state)
{
    (void)state;
    int accepted = 0, rejected = 0;
    for (int i = 0; i < 100 && (!accepted || !rejected); i++) stream_check(&accepted, &rejected);
    assert_true(accepted > 0 && rejected > 0);
}

/* `timings` tell of an answer of n tokens, and of a prompt of as many as `usage` says. */
static void timings_check(const json_t *timings, const json_t *usage, int64_t n)
{
    static const char *const times[] = {"prompt_ms",    "prompt_per_token_ms",    "prompt_per_second",
                                        "predicted_ms", "predicted_per_token_ms", "predicted_per_second"};
    assert_int_equal(whole(timings, "predicted_n"), n);
    if (usage) assert_int_equal(whole(timings, "prompt_n") + whole(timings, "cache_n"), whole(usage, "prompt_tokens"));
    assert_true(whole(timings, "draft_n") >= whole(timings, "draft_n_accepted"));
    assert_true(whole(timings, "draft_n_accepted") >= 0);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const json_t *time = json_object_get(timings, times[i]);
        if (!json_is_number(time) || (n > 1 && json_number_value(time) <= 0)) fail_msg("%s", times[i]);
    }
}

/* Bodies and the last chunks of streams have llama.cpp's `timings`; with timings_per_token every chunk that follows a
 * token has them. */
static void answers_have_timings(void **state)
{
    (void)state;
    static const char *const paths[] = {CHAT, "/v1/completions"},
                             *const prompts[] = {"\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]",
                                                 "\"prompt\": \"hello\""};
    for (int i = 0; i < 8; i++) {
        char body[400];
        const bool with_usage = i & 1, per_token = i & 2;
        const char *path = paths[i / 4];
        snprintf(body, sizeof body, "{%s, \"max_tokens\": 12, \"temperature\": 0, \"ignore_eos\": true}",
                 prompts[i / 4]);
        json_t *whole_body = post(path, body), *event, *last = NULL;
        timings_check(http_at(whole_body, "timings"), http_at(whole_body, "usage"), 12);
        json_decref(whole_body);
        snprintf(body, sizeof body,
                 "{%s, \"max_tokens\": 12, \"temperature\": 0, \"ignore_eos\": true, \"stream\": true, "
                 "\"timings_per_token\": %s, \"stream_options\": {\"include_usage\": %s}}",
                 prompts[i / 4], per_token ? "true" : "false", with_usage ? "true" : "false");
        http_reply reply = http_post(server.port, path, body);
        bool is_done;
        json_t *events = http_events(&reply, &is_done);
        int64_t n = 0;
        size_t e;
        json_array_foreach(events, e, event) {
            const json_t *timings = http_at(event, "timings");
            const bool is_last = e == json_array_size(events) - 1;
            const char *text = http_text_at(event, i < 4 ? "choices.0.delta.content" : "choices.0.text");
            if (is_last) last = event;
            else if (per_token && text && *text) assert_true(timings && whole(timings, "predicted_n") >= n);
            else if (!per_token) assert_null(timings);
            if (timings) n = whole(timings, "predicted_n");
        }
        timings_check(http_at(last, "timings"), http_at(last, "usage"), 12);
        assert_int_equal(http_at(last, "usage") != NULL, with_usage);
        json_decref(events);
        http_reply_free(&reply);
    }
}

/* Bodies and streams of the other APIs have them where llama.cpp's server has them: in the one object that tells that
 * the answer is over. */
static void other_apis_have_timings(void **state)
{
    (void)state;
    static const struct {
        const char *path, *members, *in_body, *in_stream; /* paths of `timings` */
    } apis[] = {
        {"/completion", "\"prompt\": \"hello\", \"n_predict\": 12", "timings", "timings"},
        {"/v1/messages", "\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}], \"max_tokens\": 12", "timings",
         "timings"},
        {"/v1/responses", "\"input\": \"hello\", \"max_output_tokens\": 12", "timings", "response.timings"},
    };
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        char body[300];
        snprintf(body, sizeof body, "{%s, \"temperature\": 0, \"ignore_eos\": true}", apis[i].members);
        json_t *whole_body = post(apis[i].path, body), *event;
        timings_check(http_at(whole_body, apis[i].in_body), NULL, 12);
        json_decref(whole_body);
        snprintf(body, sizeof body, "{%s, \"temperature\": 0, \"ignore_eos\": true, \"stream\": true}",
                 apis[i].members);
        http_reply reply = http_post(server.port, apis[i].path, body);
        bool is_done;
        json_t *events = http_events(&reply, &is_done);
        size_t e, n = 0;
        json_array_foreach(events, e, event) {
            const json_t *timings = http_at(event, apis[i].in_stream);
            if (!timings) continue;
            n++;
            timings_check(timings, NULL, 12);
            assert_true(e + 2 >= json_array_size(events)); /* message_stop follows message_delta */
        }
        assert_int_equal(n, 1);
        json_decref(events);
        http_reply_free(&reply);
    }
}

/* Guesses copied from the request's own prediction are counted as such. Returns how many were accepted. */
static int64_t prediction_check(void)
{
    static const char *const question = "\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}], "
                                        "\"temperature\": 0, \"max_tokens\": 60, \"ignore_eos\": true, "
                                        "\"logit_bias\": {\"0\": -100, \"1\": -100, \"2\": -100, \"3\": -100}";
    char body[4096];
    snprintf(body, sizeof body, "{%s}", question);
    json_t *plain = post("/v1/chat/completions", body);
    json_t *text = json_string(http_text_at(plain, "choices.0.message.content"));
    char *quoted = json_dumps(text, JSON_ENCODE_ANY);
    snprintf(body, sizeof body,
             "{%s, \"prediction\": {\"type\": \"content\", \"content\": %s}, "
             "\"speculative\": {\"drafters\": \"prediction\", \"k\": 8}}",
             question, quoted);
    json_t *predicted = post("/v1/chat/completions", body);
    assert_string_equal(http_text_at(predicted, "choices.0.message.content"), json_string_value(text));
    const json_t *details = http_at(predicted, "usage.completion_tokens_details");
    const int64_t accepted = whole(details, "accepted_prediction_tokens");
    assert_int_equal(accepted, whole(http_at(predicted, "metrics.speculative_decoding"), "num_accepted_draft_tokens"));
    free(quoted);
    json_decref(text);
    json_decref(plain);
    json_decref(predicted);
    return accepted;
}

static void predictions_are_used(void **state)
{
    (void)state;
    int64_t accepted = 0;
    for (int i = 0; i < 100 && accepted == 0; i++) accepted += prediction_check();
    assert_true(accepted > 0);
}

/* Log probabilities are those of the model: the same for a text as an answer and as a prompt. */
static void logprobs_are_the_models(void **state)
{
    (void)state;
    json_t *answer = post("/v1/completions", "{\"prompt\": [103, 104], \"max_tokens\": 8, \"temperature\": 0, "
                                             "\"logprobs\": 3, \"ignore_eos\": true}");
    json_t *logprobs = http_at(answer, "choices.0.logprobs");
    assert_int_equal(json_array_size(http_at(logprobs, "tokens")), 8);
    json_t *chat = post("/v1/chat/completions", "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}], "
                                                "\"max_tokens\": 5, \"temperature\": 0, \"logprobs\": true, "
                                                "\"top_logprobs\": 2, \"ignore_eos\": true}");
    for (int i = 0; i < 5; i++) {
        char path[64];
        snprintf(path, sizeof path, "choices.0.logprobs.content.%d", i);
        json_t *token = http_at(chat, path);
        assert_int_equal(json_array_size(http_at(token, "top_logprobs")), 2);
        /* A greedy token is the likeliest. */
        assert_true(json_equal(http_at(token, "logprob"), http_at(token, "top_logprobs.0.logprob")));
        assert_true(json_equal(http_at(token, "bytes"), http_at(token, "top_logprobs.0.bytes")));
    }
    json_t *echo = post("/v1/completions", "{\"prompt\": [103, 104, 105], \"max_tokens\": 0, \"logprobs\": 1, "
                                           "\"echo\": true}");
    assert_string_equal(http_text_at(echo, "choices.0.text"), "abc");
    assert_int_equal(json_array_size(http_at(echo, "choices.0.logprobs.token_logprobs")), 3);
    assert_true(json_is_null(http_at(echo, "choices.0.logprobs.token_logprobs.0")));
    assert_int_equal(whole(http_at(echo, "usage"), "completion_tokens"), 0);
    json_t *next = post("/v1/completions", "{\"prompt\": [103, 104], \"max_tokens\": 1, \"logprobs\": 1, "
                                           "\"temperature\": 0, \"logit_bias\": {\"105\": 100000}}");
    assert_string_equal(http_text_at(next, "choices.0.text"), "c");
    assert_true(json_equal(http_at(next, "choices.0.logprobs.token_logprobs.0"),
                           http_at(echo, "choices.0.logprobs.token_logprobs.2")));
    json_decref(answer);
    json_decref(chat);
    json_decref(echo);
    json_decref(next);
}

/* Answers that are bound to a schema follow it, sampled and at every length; forced tokens are a free draft. */
static void answers_follow_their_schema(void **state)
{
    (void)state;
    static const char *const ask =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}], \"max_tokens\": 200, \"temperature\": %d, "
        "\"seed\": %d, \"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"x\", "
        "\"schema\": {\"type\": \"object\", \"properties\": {\"colour\": {\"enum\": [\"red\", \"green\"]}, "
        "\"size\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 9}}, \"required\": [\"colour\", \"size\"], "
        "\"additionalProperties\": false}}}, \"speculative\": {\"drafters\": \"%s\"}}";
    char body[1024];
    for (int i = 0; i < 12; i++) {
        snprintf(body, sizeof body, ask, i % 3 > 0, i / 2, i % 2 ? "auto" : "none");
        json_t *answer = post(CHAT, body);
        json_t *value = json_loads(http_text_at(answer, "choices.0.message.content"), 0, NULL);
        assert_non_null(strstr("red green", http_text_at(value, "colour")));
        assert_true(whole(value, "size") >= 1 && whole(value, "size") <= 9);
        assert_int_equal(json_object_size(value), 2);
        assert_string_equal(http_text_at(answer, "choices.0.finish_reason"), "stop");
        json_decref(value);
        json_decref(answer);
    }
}

/* A call that the request demands is made, even by a model that knows nothing of tools. */
static void calls_are_forced(void **state)
{
    (void)state;
    static const char *const ask =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}], \"max_tokens\": 200, \"stream\": %s, "
        "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {\"type\": "
        "\"object\", \"properties\": {\"on\": {\"type\": \"boolean\"}}, \"required\": [\"on\"], "
        "\"additionalProperties\": false}}}, {\"type\": \"function\", \"function\": {\"name\": \"g\", "
        "\"parameters\": {\"const\": {}}}}], \"tool_choice\": %s}";
    char body[1024];
    snprintf(body, sizeof body, ask, "false", "{\"type\": \"function\", \"function\": {\"name\": \"f\"}}");
    json_t *answer = post(CHAT, body);
    assert_string_equal(http_text_at(answer, "choices.0.finish_reason"), "tool_calls");
    assert_string_equal(http_text_at(answer, "choices.0.message.tool_calls.0.function.name"), "f");
    const char *arguments = http_text_at(answer, "choices.0.message.tool_calls.0.function.arguments");
    assert_true(strcmp(arguments, "{\"on\":true}") == 0 || strcmp(arguments, "{\"on\":false}") == 0);
    json_decref(answer);
    /* The client sends the call back without content, and the result. */
    json_decref(post(CHAT, "{\"max_tokens\": 1, \"messages\": [{\"role\": \"user\", \"content\": \"x\"}, {\"role\": "
                           "\"assistant\", \"tool_calls\": [{\"id\": \"a\", \"type\": \"function\", \"function\": "
                           "{\"name\": \"f\", \"arguments\": \"{}\"}}]}, {\"role\": \"tool\", \"tool_call_id\": "
                           "\"a\", \"content\": \"done\"}]}"));
    snprintf(body, sizeof body, ask, "true", "\"required\"");
    http_reply reply = http_post(server.port, CHAT, body);
    bool is_done;
    json_t *events = http_events(&reply, &is_done), *event;
    int n_calls = 0;
    size_t i;
    json_array_foreach(events, i, event) {
        const char *name = json_string_value(http_at(event, "choices.0.delta.tool_calls.0.function.name"));
        n_calls += name && (strcmp(name, "f") == 0 || strcmp(name, "g") == 0);
    }
    assert_true(is_done);
    assert_int_equal(n_calls, 1);
    http_reply_free(&reply);
    json_decref(events);
}

/* --------------------------------------------------------------- other APIs */

/* The names of a stream's events, with spaces between; the caller frees them. */
static char *event_names(const http_reply *reply)
{
    char *names = calloc(1, reply->n + 1);
    for (const char *line = reply->body; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "event: ", 7) != 0) continue;
        sprintf(names + strlen(names), "%.*s ", (int)strcspn(line + 7, "\n"), line + 7);
    }
    return names;
}

#define HELLO "\"temperature\": 0, \"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]"

/* The same conversation gives the same text through each API, streamed or not. */
static void messages_are_answered(void **state)
{
    (void)state;
    json_t *chat = post("/v1/chat/completions", "{\"max_tokens\": 9, " HELLO "}");
    json_t *message = post("/v1/messages", "{\"max_tokens\": 9, " HELLO "}");
    const char *text = http_text_at(chat, "choices.0.message.content");
    assert_string_equal(http_text_at(message, "content.0.text"), text);
    assert_string_equal(http_text_at(message, "stop_reason"), "max_tokens");
    assert_int_equal(whole(http_at(message, "usage"), "output_tokens"), 9);
    json_t *count = post("/v1/messages/count_tokens", "{" HELLO "}");
    assert_int_equal(whole(count, "input_tokens"), whole(http_at(chat, "usage"), "prompt_tokens"));
    http_reply reply = http_post(server.port, "/v1/messages", "{\"max_tokens\": 9, \"stream\": true, " HELLO "}");
    bool is_done;
    json_t *events = http_events(&reply, &is_done), *event;
    char joined[1024] = "", *names = event_names(&reply);
    size_t i;
    json_array_foreach(events, i, event)
        if (http_at(event, "delta.text")) strcat(joined, http_text_at(event, "delta.text"));
    assert_string_equal(joined, text);
    assert_memory_equal(names, "message_start content_block_start content_block_delta ", 54);
    assert_non_null(strstr(names, "content_block_stop message_delta message_stop "));
    free(names);
    http_reply_free(&reply);
    json_decref(events);
    json_decref(chat);
    json_decref(message);
    json_decref(count);
    reply = http_post(server.port, "/v1/messages", "{" HELLO "}");
    assert_int_equal(reply.status, 400);
    assert_non_null(strstr(reply.body, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\""));
    http_reply_free(&reply);
}

/* output_config.format binds an answer of the Anthropic API as response_format does one of the chat API. */
static void messages_obey_a_format(void **state)
{
    (void)state;
#define FORMAT "\"type\": \"json_schema\", \"schema\": {\"type\": \"array\", \"items\": {\"enum\": " \
               "[\"on\", \"off\"]}, \"minItems\": 2, \"maxItems\": 2}"
    json_t *message = post("/v1/messages", "{\"max_tokens\": 100, \"output_config\": {\"format\": {" FORMAT "}, "
                                           "\"effort\": \"low\"}, " HELLO "}");
    json_t *chat = post(CHAT, "{\"max_tokens\": 100, \"response_format\": {" FORMAT "}, " HELLO "}");
    json_t *answer = json_loads(http_text_at(message, "content.0.text"), 0, NULL);
    assert_int_equal(json_array_size(answer), 2);
    assert_string_equal(http_text_at(message, "content.0.text"), http_text_at(chat, "choices.0.message.content"));
    json_decref(answer);
    json_decref(message);
    json_decref(chat);
    message = post("/v1/messages", "{\"max_tokens\": 2, \"output_config\": {\"format\": null}, " HELLO "}");
    json_decref(message);
}

/* Objects are closed unless the schema or the request opens them, and a header names what isn't bound. */
static void schemas_are_closed_and_lenient(void **state)
{
    (void)state;
    static const struct {
        const char *more, *schema;
        int status;
        const char *warning; /* NULL: none */
        bool is_open;
    } cases[] = {
        {"", "{\"type\": \"object\", \"properties\": {}}", 200, NULL, false},
        {"\"open_objects\": true, ", "{\"type\": \"object\", \"properties\": {}, \"minProperties\": 1}", 200, NULL,
         true},
        {"", "{\"type\": \"object\", \"properties\": {}, \"minProperties\": 1, \"additionalProperties\": true}", 200,
         NULL, true},
        {"", "{\"enum\": [1], \"icon\": \"i\"}", 200, "Warning: 299 vouch \"\\\"/icon\\\": JSON Schema has no", false},
        {"", "{\"type\": \"object\", \"properties\": {\"a\\nb\": {\"format\": \"x\"}}}", 200,
         "Warning: 299 vouch \"\\\"/properties/a?b/format\\\": \\\"x\\\" is not supported", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[1000];
        snprintf(body, sizeof body,
                 "{\"max_tokens\": 30, %s\"response_format\": {\"type\": \"json_schema\", "
                 "\"json_schema\": {\"schema\": %s}}, " HELLO "}",
                 cases[i].more, cases[i].schema);
        http_reply reply = http_post(server.port, CHAT, body);
        assert_int_equal(reply.status, cases[i].status);
        if ((strstr(reply.head, "Warning:") != NULL) != (cases[i].warning != NULL) ||
            (cases[i].warning && !strstr(reply.head, cases[i].warning)))
            fail_msg("%s: %s", body, reply.head);
        json_t *answer = http_json(&reply);
        const char *text = http_text_at(answer, "choices.0.message.content");
        if (strncmp(cases[i].schema, "{\"type\"", 7) == 0 && (strchr(text, '"') != NULL) != cases[i].is_open)
            fail_msg("%s: %s", body, text);
        json_decref(answer);
    }
    static const char *const strict[] = {
        "\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"strict\": true, \"schema\": {\"type\": "
        "\"string\", \"format\": \"x\"}}}",
        "\"tool_choice\": \"required\", \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", "
        "\"strict\": true, \"parameters\": {\"type\": \"object\", \"properties\": {\"a\": {\"format\": \"x\"}}}}}]",
        "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"strict\": true, "
        "\"parameters\": {\"type\": \"object\", \"properties\": {\"a\": {\"format\": \"x\"}}}}}]",
    };
    for (int i = 0; i < 3; i++) {
        char body[1000];
        snprintf(body, sizeof body, "{\"max_tokens\": 30, %s, " HELLO "}", strict[i]);
        http_reply reply = http_post(server.port, CHAT, body);
        assert_int_equal(reply.status, 400);
        assert_non_null(strstr(reply.body, "/format"));
        http_reply_free(&reply);
    }
}

/* Blocks of the Anthropic API become the messages that the template reads. */
/* An answer that comes last is continued: the same tokens as the text that the template writes up to there. */
static void answers_are_continued(void **state)
{
    (void)state;
    static const char turns[] =
        "\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}, {\"role\": \"assistant\", \"content\": \"abc\"}]";
    char body[512];
    snprintf(body, sizeof body, "{%s, \"continue_final_message\": true}", turns);
    json_t *text = post("/apply-template", body);
    const char *prompt = http_text_at(text, "prompt");
    assert_string_equal(prompt + strlen(prompt) - 3, "abc");
    json_t *request =
        json_pack("{s:s, s:i, s:i, s:b}", "prompt", prompt, "max_tokens", 9, "temperature", 0, "ignore_eos", 1);
    char *given = json_dumps(request, 0);
    json_t *plain = post("/v1/completions", given);
    snprintf(body, sizeof body,
             "{%s, \"max_tokens\": 9, \"temperature\": 0, \"ignore_eos\": true, "
             "\"continue_final_message\": true, \"add_generation_prompt\": false}",
             turns);
    json_t *chat = post(CHAT, body);
    snprintf(body, sizeof body, "{%s, \"max_tokens\": 9, \"temperature\": 0, \"ignore_eos\": true}", turns);
    json_t *message = post("/v1/messages", body), *other = post(CHAT, body);
    const json_int_t n = whole(http_at(plain, "usage"), "prompt_tokens");
    assert_string_equal(http_text_at(chat, "choices.0.message.content"), http_text_at(plain, "choices.0.text"));
    assert_string_equal(http_text_at(message, "content.0.text"), http_text_at(plain, "choices.0.text"));
    assert_int_equal(whole(http_at(chat, "usage"), "prompt_tokens"), n);
    assert_true(whole(http_at(other, "usage"), "prompt_tokens") > n); /* without the field it is another turn */
    free(given);
    json_decref(text), json_decref(request), json_decref(plain);
    json_decref(chat), json_decref(message), json_decref(other);
}

static void blocks_become_messages(void **state)
{
    (void)state;
    json_t *blocks = post("/v1/messages/count_tokens",
                          "{\"system\": [{\"type\": \"text\", \"text\": \"be\"}], \"messages\": [{\"role\": "
                          "\"user\", \"content\": [{\"type\": \"text\", \"text\": \"hel\"}, {\"type\": "
                          "\"text\", \"text\": \"lo\"}]}]}");
    json_t *plain = post("/v1/messages/count_tokens", "{\"system\": \"be\", " HELLO "}");
    assert_int_equal(whole(blocks, "input_tokens"), whole(plain, "input_tokens"));
    json_decref(blocks);
    json_decref(plain);
}

static void responses_are_answered(void **state)
{
    (void)state;
    json_t *chat = post("/v1/chat/completions", "{\"max_tokens\": 9, " HELLO "}");
    json_t *response = post("/v1/responses", "{\"max_output_tokens\": 9, \"temperature\": 0, "
                                             "\"input\": \"hello\", \"parallel_tool_calls\": false}");
    const char *text = http_text_at(chat, "choices.0.message.content");
    assert_true(json_is_false(http_at(response, "parallel_tool_calls")));
    assert_string_equal(http_text_at(response, "tool_choice"), "auto");
    assert_true(json_is_null(http_at(response, "instructions")));
    assert_string_equal(http_text_at(response, "output.0.content.0.text"), text);
    assert_string_equal(http_text_at(response, "status"), "incomplete");
    http_reply reply = http_post(server.port, "/v1/responses",
                                 "{\"max_output_tokens\": 9, \"temperature\": 0, \"stream\": true, \"input\": "
                                 "[{\"role\": \"user\", \"content\": [{\"type\": \"input_text\", \"text\": "
                                 "\"hello\"}]}]}");
    bool is_done;
    json_t *events = http_events(&reply, &is_done), *event;
    char joined[1024] = "";
    size_t i;
    json_array_foreach(events, i, event) {
        assert_int_equal(whole(event, "sequence_number"), i);
        if (http_at(event, "delta")) strcat(joined, http_text_at(event, "delta"));
    }
    assert_string_equal(joined, text);
    event = json_array_get(events, json_array_size(events) - 1);
    assert_string_equal(http_text_at(event, "type"), "response.incomplete");
    assert_string_equal(http_text_at(event, "response.output.0.content.0.text"), text);
    assert_true(json_is_true(http_at(event, "response.parallel_tool_calls")));
    http_reply_free(&reply);
    json_decref(events);
    json_decref(chat);
    json_decref(response);
    response = post("/v1/responses", "{\"max_output_tokens\": 1, \"input\": \"hello\", \"tool_choice\": \"required\", "
                                     "\"instructions\": \"Be brief.\", "
                                     "\"tools\": [{\"type\": \"function\", \"name\": \"f\"}]}");
    assert_string_equal(http_text_at(response, "instructions"), "Be brief.");
    assert_string_equal(http_text_at(response, "tool_choice"), "required");
    json_decref(response);
}

/* /completion as llama.cpp has it: several prompts, texts between ids, tokens and log probabilities with their ids. */
static void native_completions_answer(void **state)
{
    (void)state;
    json_t *both = post("/completion", "{\"prompt\": [[103, 104], {\"prompt_string\": \"ab\"}, [103, \"b\"], "
                                       "[\"a\", 104]], \"n_predict\": 9, \"temperature\": 0, \"return_tokens\": true, "
                                       "\"ignore_eos\": true, \"n_probs\": 3}");
    assert_int_equal(json_array_size(both), 4);
    for (int i = 0; i < 4; i++) {
        json_t *one = json_array_get(both, (size_t)i), *rows = http_at(one, "completion_probabilities");
        assert_string_equal(http_text_at(one, "content"), http_text_at(both, "0.content"));
        assert_int_equal(whole(one, "index"), i);
        assert_int_equal(json_array_size(rows), 9);
        for (size_t t = 0; t < 9; t++) {
            json_t *row = json_array_get(rows, t);
            assert_true(json_equal(http_at(row, "id"), json_array_get(http_at(one, "tokens"), t)));
            assert_int_equal(json_array_size(http_at(row, "top_logprobs")), 3);
        }
        assert_int_equal(whole(http_at(one, "timings"), "predicted_n"), 9);
        assert_int_equal(whole(http_at(one, "generation_settings"), "n_predict"), 9);
        assert_true(json_is_boolean(http_at(one, "has_new_line")));
    }
    http_reply reply = http_post(server.port, "/completion",
                                 "{\"prompt\": [103, 104], \"n_predict\": 9, \"stream\": "
                                 "true, \"temperature\": 0, \"ignore_eos\": true}");
    bool is_done;
    json_t *events = http_events(&reply, &is_done), *event, *tokens = json_array();
    size_t i;
    json_array_foreach(events, i, event) json_array_extend(tokens, http_at(event, "tokens"));
    assert_true(json_equal(tokens, http_at(both, "0.tokens")));
    json_t *none = post("/completion", "{\"prompt\": [\"a\", 104], \"n_predict\": 0}");
    assert_string_equal(http_text_at(none, "content"), "");
    assert_int_equal(whole(none, "tokens_predicted"), 0);
    assert_int_equal(whole(none, "tokens_evaluated"), 2);
    json_decref(none);
    json_t *count = post("/v1/chat/completions/input_tokens", "{" HELLO "}");
    json_t *chat = post(CHAT, "{\"max_tokens\": 1, " HELLO "}");
    assert_int_equal(whole(count, "input_tokens"), whole(http_at(chat, "usage"), "prompt_tokens"));
    http_reply_free(&reply);
    json_decref(both);
    json_decref(events);
    json_decref(tokens);
    json_decref(count);
    json_decref(chat);
}

/* An answer of /completion has the members that the request chooses, by their paths. */
static void native_answers_have_chosen_members(void **state)
{
    (void)state;
#define NATIVE_REQUEST "{\"prompt\": \"ab<|im_end|>\", \"n_predict\": 5, \"temperature\": 0, \"ignore_eos\": true"
    json_t *all = post("/completion", NATIVE_REQUEST ", \"response_fields\": []}");
    json_t *chosen =
        post("/completion", NATIVE_REQUEST ", \"response_fields\": [\"prompt\", \"content\", \"\", \"/\", "
                                           "\"timings/predicted_n\", \"content/x\", \"nothing\", \"timings//x\"]}");
    assert_string_equal(http_text_at(all, "prompt"), "ab<|im_end|>");
    assert_int_equal(json_object_size(chosen), 3);
    assert_string_equal(http_text_at(chosen, "prompt"), "ab<|im_end|>");
    assert_string_equal(http_text_at(chosen, "content"), http_text_at(all, "content"));
    assert_int_equal(json_integer_value(json_object_get(chosen, "timings/predicted_n")), 5);
    http_reply reply =
        http_post(server.port, "/completion", NATIVE_REQUEST ", \"stream\": true, \"response_fields\": [\"stop\"]}");
    bool is_done;
    json_t *events = http_events(&reply, &is_done), *last = json_array_get(events, json_array_size(events) - 1);
    assert_int_equal(json_object_size(last), 1);
    assert_true(json_is_true(json_object_get(last, "stop")));
    http_reply_free(&reply);
    json_decref(events);
    json_decref(all);
    json_decref(chosen);
}

/* /completion also names the tokens of logit_bias by texts. */
static void texts_name_biased_tokens(void **state)
{
    (void)state;
    static const char *const biases[] = {"{}", "{\"c\": 100000}", "[[\"c\", 100000]]",
                                         "{\"c\": 100000, \"d\": -100, \"cd\": 0}",
                                         "[[\"c\", 100000], [\"cd\", false]]"};
    static const bool wanted[] = {false, true, true, true, false};
    for (size_t i = 0; i < sizeof biases / sizeof *biases; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"prompt\": [103, 104], \"n_predict\": 1, \"temperature\": 0, "
                 "\"logit_bias\": %s}",
                 biases[i]);
        json_t *answer = post("/completion", body);
        assert_int_equal(strcmp(http_text_at(answer, "content"), "c") == 0, wanted[i]);
        json_decref(answer);
    }
}

static void native_paths_answer(void **state)
{
    (void)state;
    json_t *text = post("/v1/completions", "{\"prompt\": \"ab\", \"max_tokens\": 9, \"temperature\": 0}");
    json_t *native = post("/completion", "{\"prompt\": \"ab\", \"n_predict\": 9, \"temperature\": 0}");
    assert_string_equal(http_text_at(native, "content"), http_text_at(text, "choices.0.text"));
    json_t *tokens = post("/tokenize", "{\"content\": \"ab\"}");
    char *ids = json_dumps(tokens, 0);
    json_t *back = post("/detokenize", ids);
    http_reply wrong = http_post(server.port, "/detokenize", "{\"tokens\": [1, 400]}");
    assert_non_null(strstr(wrong.body, "element 1: expected the id of a token, 0 to 399, got 400"));
    http_reply_free(&wrong);
    assert_string_equal(http_text_at(back, "content"), "ab");
    json_t *prompt = post("/apply-template", "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}");
    assert_non_null(strstr(http_text_at(prompt, "prompt"), "<|im_start|>user\nhello<|im_end|>"));
    http_reply reply = http_request(server.port, "GET", "/props", "", NULL);
    json_t *props = http_json(&reply);
    assert_int_equal(whole(props, "total_slots"), 5);
    assert_string_equal(http_text_at(props, "model_path"), target);
    assert_int_equal(whole(http_at(props, "default_generation_settings.params"), "seed"), -1);
    assert_true(json_number_value(http_at(props, "default_generation_settings.params.temperature")) == 0.8);
    assert_true(json_number_value(http_at(props, "default_generation_settings.params.top_p")) == 0.95);
    reply = http_request(server.port, "GET", "/slots", "", NULL);
    json_t *slots = http_json(&reply);
    assert_int_equal(json_array_size(slots), 5);
    free(ids);
    json_decref(text);
    json_decref(native);
    json_decref(tokens);
    json_decref(back);
    json_decref(prompt);
    json_decref(props);
    json_decref(slots);
}

static bool has_drafter(json_t *list, const char *name)
{
    json_t *drafter;
    size_t i;
    json_array_foreach(list, i, drafter)
        if (strcmp(http_text_at(drafter, "name"), name) == 0) return true;
    return false;
}

/* /props lists a drafter where a request that names it is answered, and only there. */
static void props_list_the_accepted_drafters(void **state)
{
    (void)state;
    int n_accepted = 0;
    http_reply props_reply = http_request(server.port, "GET", "/props?model=any", "", NULL);
    json_t *props = http_json(&props_reply);
    json_t *listed = http_at(props, "drafters");
    for (int i = 1; i < VOUCH_DRAFTERS; i++) {
        const char *name = vouch_drafter_name(i);
        char body[256];
        snprintf(body, sizeof body, "{\"prompt\": \"ab\", \"max_tokens\": 1, \"speculative\": {\"drafters\": \"%s\"}}",
                 name);
        http_reply reply = http_post(server.port, TEXT, body);
        if ((reply.status == 200) != has_drafter(listed, name))
            fail_msg("%s: /props %s it, a request gets status %d", name,
                     has_drafter(listed, name) ? "lists" : "doesn't list", reply.status);
        n_accepted += reply.status == 200;
        http_reply_free(&reply);
    }
    assert_true(n_accepted > 0 && n_accepted == (int)json_array_size(listed));
    json_decref(props);
}

static void metrics_count(void **state)
{
    (void)state;
    const double tokens = http_metric(&server, "vouch:generation_tokens_total{");
    const double n = http_metric(&server, "vouch:e2e_request_latency_seconds_count{");
    json_t *body = post("/v1/completions", "{\"prompt\": \"ab\", \"max_tokens\": 9, \"ignore_eos\": true}");
    assert_true(tokens >= 0 && n >= 0);
    assert_true(http_metric(&server, "vouch:generation_tokens_total{") == tokens + 9);
    assert_true(http_metric(&server, "vouch:e2e_request_latency_seconds_count{") == n + 1);
    assert_true(http_metric(&server, "vouch:num_requests_running{") >= 0);
    json_decref(body);
}

static void speculation_changes_while_serving(void **state)
{
    (void)state;
    static const char *const ask = "{\"prompt\": \"the quick\", \"max_tokens\": 30, \"temperature\": 0, "
                                   "\"ignore_eos\": true}";
    json_t *before = post("/v1/completions", ask);
    json_decref(post("/admin/speculation", "{\"drafters\": \"none\"}"));
    json_t *plain = post("/v1/completions", ask);
    assert_int_equal(whole(http_at(plain, "metrics.speculative_decoding"), "num_draft_tokens"), 0);
    assert_string_equal(http_text_at(plain, "choices.0.text"), http_text_at(before, "choices.0.text"));
    http_reply reply = http_post(server.port, "/admin/speculation", "{\"lenience\": 0.5, \"accept\": \"match\"}");
    assert_int_equal(reply.status, 400);
    http_reply_free(&reply);
    json_t *after = post("/admin/speculation", "{\"drafters\": \"auto\"}");
    assert_string_equal(http_text_at(after, "accept"), "auto"); /* the refused change has changed nothing */
    json_decref(before);
    json_decref(plain);
    json_decref(after);
}

/* ------------------------------------------------------------- bad requests */

#define TOOL "{\"type\": \"function\", \"function\": {\"name\": \"f\"}}"
static const struct {
    const char *path, *body;
    int status;
    const char *param, *says; /* param "": null */
} bad_requests[] = {
    {CHAT, "", 400, "", "no valid JSON"},
    {CHAT, "{", 400, "", "no valid JSON"},
    {CHAT, "[]", 400, "body", "expected an object"},
    {CHAT, "{\"a\": 1e400}", 400, "", "no valid JSON"},
    {CHAT, "{\"messages\": 1, \"messages\": 2}", 400, "", "duplicate"},
    {CHAT, "{\"x\": \"\\ud800\"}", 400, "", "no valid JSON"},
    {CHAT, "{\"x\": \"\xff\"}", 400, "", "no valid JSON"},
    {CHAT, "{}", 400, "messages", "expected an array"},
    {CHAT, "{\"messages\": []}", 400, "messages", "at least one"},
    {CHAT, "{\"messages\": \"x\"}", 400, "messages", "expected an array"},
    {CHAT, "{\"messages\": [{\"role\": \"king\", \"content\": \"x\"}]}", 400, "messages[0].role", "king"},
    {CHAT, "{\"messages\": [{\"role\": \"user\", \"content\": 3}]}", 400, "messages[0].content", "content"},
    {CHAT, "{" ASK ", \"temprature\": 1}", 400, "temprature", "did you mean temperature?"},
    {CHAT, "{" ASK ", \"temperature\": \"1\"}", 400, "temperature", "got a string"},
    {CHAT, "{" ASK ", \"temperature\": -1}", 400, "temperature", "[0, 100]"},
    {CHAT, "{" ASK ", \"temperature\": true}", 400, "temperature", "got a boolean"},
    {CHAT, "{" ASK ", \"top_p\": 1.5}", 400, "top_p", "[0, 1]"},
    {CHAT, "{" ASK ", \"min_p\": 1}", 400, "min_p", "[0, 1)"},
    {CHAT, "{" ASK ", \"top_k\": 1.5}", 400, "top_k", "a fraction"},
    {CHAT, "{" ASK ", \"top_k\": 1e308}", 400, "top_k", "outside"},
    {CHAT, "{" ASK ", \"n\": 0}", 400, "n", "[1, 64]"},
    {CHAT, "{" ASK ", \"max_completion_tokens\": -2}", 400, "max_completion_tokens", "outside"},
    {CHAT, "{" ASK ", \"stream\": \"yes\"}", 400, "stream", "true or false"},
    {CHAT, "{" ASK ", \"stream_options\": {}}", 400, "stream_options", "only with"},
    {CHAT, "{" ASK ", \"stop\": [1]}", 400, "stop[0]", "expected a string"},
    {CHAT, "{" ASK ", \"seed\": 1.5}", 400, "seed", "expected an integer"},
    {CHAT, "{" ASK ", \"seed\": 18446744073709551616}", 400, "", "at most 9223372036854775807"},
    {CHAT, "{\"messages\": [{\"role\": \"user\", \"content\": \"a\\u0000\"}]}", 400, "", "U+0000"},
    {CHAT, "{\"messages\": [{\"role\": \"user\"}]}", 400, "messages[0].content", "got nothing"},
    {CHAT, "{" ASK ", \"add_generation_prompt\": true, \"continue_final_message\": true}", 400,
     "continue_final_message", "opens another turn"},
    {CHAT, "{\"messages\": [{\"role\": \"system\", \"content\": null}]}", 400, "messages[0].content", "got null"},
    {CHAT, "{\"messages\": [{\"role\": \"tool\", \"content\": \"x\"}]}", 400, "messages[0].tool_call_id", "the call"},
    {CHAT, "{" ASK ", \"logit_bias\": {\"x\": 1}}", 400, "logit_bias.x", "id of a token"},
    {CHAT, "{" ASK ", \"logit_bias\": {\"400\": 1}}", 400, "logit_bias.400", "0 to 399"},
    {CHAT, "{" ASK ", \"logit_bias\": {\"1\": \"a\"}}", 400, "logit_bias.1", "expected a number"},
    {CHAT, "{" ASK ", \"logit_bias\": []}", 400, "logit_bias", "expected an object, got an array"},
    {"/completion", "{\"prompt\": \"x\", \"logit_bias\": [[1, 1], [400, 1]]}", 400, "logit_bias[1]", "id of a token"},
    {"/completion", "{\"prompt\": \"x\", \"logit_bias\": {\"\": 1}}", 400, "logit_bias.", "or a text"},
    {"/completion", "{\"prompt\": \"x\", \"logit_bias\": [1]}", 400, "logit_bias[0]", "expected a number"},
    {"/completion", "{\"prompt\": \"x\", \"response_fields\": \"content\"}", 400, "response_fields", "an array"},
    {"/completion", "{\"prompt\": \"x\", \"response_fields\": [\"a\", 1]}", 400, "response_fields", "element 1"},
    {CHAT, "{" ASK ", \"prediction\": \"x\"}", 400, "prediction.type", "expected content"},
    {CHAT, "{" ASK ", \"prediction\": {\"type\": \"content\", \"content\": 1}}", 400, "prediction.content", "expected"},
    {CHAT, "{" ASK ", \"speculative\": {\"k\": 65}}", 400, "speculative.k", "[0, 64]"},
    {CHAT, "{" ASK ", \"speculative\": {\"drafters\": \"oracle\"}}", 400, "speculative.drafters", "oracle"},
    {CHAT, "{" ASK ", \"speculative\": {\"drafters\": [\"ngram\", 1]}}", 400, "speculative.drafters", "element 1"},
    {CHAT, "{" ASK ", \"speculative\": {\"drafters\": \"none,ngram\"}}", 400, "", "none can't be combined"},
    {CHAT, "{" ASK ", \"speculative\": {\"drafters\": \"prediction\"}}", 400, "speculative.drafters", "prediction"},
    {CHAT, "{" ASK ", \"speculative\": {\"drafters\": \"\"}}", 400, "speculative.drafters", "is empty"},
    {CHAT, "{" ASK ", \"speculative\": {\"drafters\": [\"auto\", \"ngram\"]}}", 400, "speculative.drafters", "alone"},
    {"/admin/speculation", "{\"trace\": true}", 400, "trace", "unknown field"},
    {CHAT, "{" ASK ", \"speculative\": {\"accept\": \"always\"}}", 400, "speculative.accept", "always"},
    {CHAT, "{" ASK ", \"speculative\": {\"lenience\": 0}}", 400, "speculative.lenience", "(0, 1]"},
    {CHAT, "{" ASK ", \"speculative\": {\"lenience\": 0.5, \"accept\": \"match\"}}", 400, "speculative.lenience",
     "match needs 1: send \"lenience\": 1"},
    {CHAT, "{" ASK ", \"speculative\": {\"branches\": 2, \"accept\": \"block\"}}", 400, "speculative.branches",
     "block judges chains"},
    {CHAT, "{" ASK ", \"speculative\": {\"drafters\": [\"ngram\", \"ngram\"]}}", 400, "speculative.drafters",
     "'ngram' is given twice"},
    {CHAT, "{" ASK ", \"speculative\": {\"lenient\": 0.5}}", 400, "speculative.lenient", "did you mean"},
    {CHAT, "{" ASK ", \"top_logprobs\": 1}", 400, "top_logprobs", "only with"},
    {CHAT, "{" ASK ", \"logprobs\": true, \"top_logprobs\": 21}", 400, "top_logprobs", "[0, 20]"},
    {CHAT, "{" ASK ", \"model\": 1}", 400, "model", "expected a string"},
    {CHAT, "{" ASK ", \"tools\": {}}", 400, "tools", "expected an array"},
    {CHAT, "{" ASK ", \"tools\": [{\"type\": \"text\"}]}", 400, "tools[0]",
     "type 'text' is not supported; expected function"},
    {CHAT, "{" ASK ", \"tools\": [" TOOL ", {\"type\": \"function\", \"function\": {\"name\": 5}}]}", 400, "tools[1]",
     "a function with a name"},
    {CHAT, "{" ASK ", \"tools\": [" TOOL "], \"tool_choice\": {\"type\": \"function\"}}", 400, "tool_choice",
     "that names a tool"},
    {CHAT, "{" ASK ", \"tools\": [" TOOL "], \"tool_choice\": \"function\"}", 400, "tool_choice", "expected auto"},
    {"/v1/responses", "{\"input\": \"x\", \"reasoning\": {\"effort\": 5}}", 400, "reasoning.effort",
     "expected a string, got a number"},
    {"/v1/responses", "{\"input\": \"x\", \"reasoning\": {\"depth\": 5}}", 400, "reasoning.depth", "unknown field"},
    {"/v1/responses", "{\"input\": \"x\", \"text\": {\"form\": {}}}", 400, "text.form", "did you mean format"},
    {"/v1/responses", "{\"input\": [5]}", 400, "input[0]", "expected an object"},
    {"/v1/responses", "{\"input\": [{\"type\": \"function_call\", \"call_id\": \"x\"}]}", 400, "input[0]",
     "expected the name"},
    {"/v1/responses", "{\"input\": [{\"type\": \"function_call_output\", \"output\": \"\"}]}", 400, "input[0]",
     "expected the id"},
    {"/v1/responses", "{\"input\": \"x\", \"reasoning\": \"high\"}", 400, "reasoning", "expected an object"},
    {"/v1/responses", "{\"input\": \"x\", \"text\": 1}", 400, "text", "expected an object"},
    {"/v1/responses", "{\"input\": \"x\", \"instructions\": []}", 400, "instructions", "expected a string"},
    {CHAT, "{" ASK ", \"tool_choice\": \"required\"}", 400, "tool_choice", "no tools"},
    {CHAT, "{" ASK ", \"tool_choice\": \"sometimes\"}", 400, "tool_choice", "expected auto"},
    {CHAT, "{" ASK ", \"response_format\": 5}", 400, "response_format", "expected an object, got a number"},
    {CHAT, "{" ASK ", \"response_format\": {\"type\": \"xml\"}}", 400, "response_format.type", "json_schema"},
    {CHAT, "{" ASK ", \"response_format\": {\"type\": \"json_schema\"}}", 400, "response_format.json_schema.schema",
     "expected a JSON Schema"},
    {CHAT,
     "{" ASK ", \"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\": "
     "{\"minimum\": []}}}}",
     400, "response_format.json_schema.schema", "/minimum"},
    {CHAT, "{" ASK ", \"grammar\": \"root ::= (\"}", 400, "grammar", "line 1"},
    {CHAT, "{" ASK ", \"speculative\": {\"drafters\": \"grammar\"}}", 400, "speculative.drafters", "bound"},
    {TEXT, "{\"prompt\": \"x\", \"logprobs\": 21}", 400, "logprobs", "[0, 20]"},
    {TEXT, "{\"prompt\": \"x\", \"max_tokens\": 0}", 400, "max_tokens", "only with echo"},
    {CHAT, "{" ASK ", \"audio\": {\"voice\": \"x\"}}", 400, "audio", "does not support"},
    {TEXT, "{}", 400, "prompt", "expected a string"},
    {TEXT, "{\"prompt\": \"\"}", 400, "prompt", "no tokens"},
    {TEXT, "{\"prompt\": [400]}", 400, "prompt", "0 to 399"},
    {TEXT, "{\"prompt\": [-1]}", 400, "prompt", "0 to 399"},
    {TEXT, "{\"prompt\": [1.5]}", 400, "prompt[0]", "expected a string"},
    {TEXT, "{\"prompt\": [1, \"x\"]}", 400, "prompt", "element 1"},
    {TEXT, "{\"prompt\": \"x\", \"suffix\": \"y\"}", 400, "suffix", "in the middle"},
    {TEXT, "{\"prompt\": \"x\", \"best_of\": 3}", 400, "best_of", "does not support"},
    {TEXT, "{\"prompt\": [\"a\", \"b\", \"c\"], \"n\": 60}", 400, "n", "180 answers"},
};

static void bad_requests_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_requests / sizeof *bad_requests; i++) {
        http_reply reply = http_post(server.port, bad_requests[i].path, bad_requests[i].body);
        const int status = reply.status;
        json_t *body = http_json(&reply);
        const char *param = json_string_value(http_at(body, "error.param"));
        const char *message = http_text_at(body, "error.message");
        const bool good = status == bad_requests[i].status && strstr(message, bad_requests[i].says) &&
                          strcmp(param ? param : "", bad_requests[i].param) == 0 &&
                          strcmp(http_text_at(body, "error.type"), "invalid_request_error") == 0;
        if (!good) fail_msg("%s: %d, param %s: %s", bad_requests[i].body, status, param, message);
        json_decref(body);
    }
}

/* The errors of the Anthropic API name the field in their message alone. */
static void bad_messages_are_named(void **state)
{
    (void)state;
    static const char *const bodies[][2] = {
        {"{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": 1}]}]}",
         "messages[0].content[0]: text: expected a string"},
        {"{\"messages\": [{\"role\": \"assistant\", \"content\": [{\"type\": \"thinking\"}]}]}",
         "messages[0].content[0]: thinking: expected a string"},
        {"{\"messages\": [], \"thinking\": true}", "thinking: expected an object, got a boolean"},
        {"{\"messages\": [], \"output_config\": {\"format\": {\"type\": \"xml\"}}}",
         "output_config.format.type: 'xml': expected json_schema"},
        {"{\"messages\": [], \"output_config\": {\"format\": {\"type\": \"json_schema\"}}}",
         "output_config.format.schema: expected a JSON Schema"},
        {"{\"max_tokens\": 1, " HELLO ", \"output_config\": {\"format\": {\"type\": \"json_schema\", "
         "\"schema\": {\"type\": \"strin\"}}}}",
         "the schema at \"/type\": expected null, boolean, integer, number, string, array, "
         "object, or an array of them"},
        {"{\"messages\": [], \"thinking\": {\"type\": \"often\"}}",
         "thinking.type: 'often': expected enabled, adaptive or disabled"},
        {"{\"messages\": [], \"thinking\": {\"kind\": \"enabled\"}}", "thinking.kind: unknown field; leave it out"},
        {"{\"messages\": [{\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"x\"}]}]}",
         "messages[0].content[0]: expected the id and the name of the call"},
        {"{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"tool_result\"}]}]}",
         "messages[0].content[0]: tool_use_id: expected the id of the call that this answers"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        http_reply reply = http_post(server.port, "/v1/messages", bodies[i][0]);
        assert_int_equal(reply.status, 400);
        json_t *error = json_loads(reply.body, 0, NULL);
        assert_string_equal(http_text_at(error, "error.message"), bodies[i][1]);
        json_decref(error);
        http_reply_free(&reply);
    }
}

/* Twice the number, as a JSON value. */
static json_t *twice(const json_t *number)
{
    return json_real(2 * json_number_value(number));
}

/* The largest number that the document allows a field; NULL: it names none. */
static json_t *largest(json_t *property)
{
    json_t *range = http_at(property, "anyOf.0");
    return http_at(range ? range : property, "maximum");
}

/* /openapi.json says which fields a request has, and the server refuses the same values. */
static void the_document_is_true(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body;
    } requests[] = {{CHAT, "{" ASK "}"},
                    {TEXT, "{\"prompt\": \"x\", \"max_tokens\": 1}"},
                    {"/completion", "{\"prompt\": \"x\", \"n_predict\": 1}"}};
    http_reply reply = http_request(server.port, "GET", "/openapi.json", "", NULL);
    json_t *document = http_json(&reply), *paths = http_at(document, "paths"), *property;
    assert_string_equal(http_text_at(document, "openapi"), "3.1.0");
    int n = 0;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        json_t *post_of = http_at(json_object_get(paths, requests[i].path), "post.requestBody.content");
        json_t *schema = json_object_get(json_object_get(post_of, "application/json"), "schema");
        const char *name;
        assert_true(json_is_false(http_at(schema, "additionalProperties")));
        json_object_foreach(http_at(schema, "properties"), name, property) {
            json_t *body = json_loads(requests[i].body, 0, NULL), *most = largest(property);
            if (most) json_object_set_new(body, name, twice(most));
            char *text = json_dumps(body, 0);
            http_reply refused = http_post(server.port, requests[i].path, text);
            assert_int_equal(refused.status, most ? 400 : 200);
            if (most) assert_non_null(strstr(refused.body, name));
            n += most != NULL;
            http_reply_free(&refused);
            free(text);
            json_decref(body);
        }
    }
    assert_true(n > 30);
    json_t *conversation = http_at(json_object_get(paths, "/apply-template"), "post.requestBody.content");
    json_t *members = http_at(json_object_get(conversation, "application/json"), "schema.properties");
    static const char *const names[] = {"model",
                                        "messages",
                                        "tools",
                                        "documents",
                                        "add_generation_prompt",
                                        "continue_final_message",
                                        "reasoning_effort",
                                        "chat_template_kwargs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_non_null(json_object_get(members, names[i]));
    json_decref(document);
}

/* Arrays may be 64 deep; the parser never sees more. */
static void deep_documents_are_refused(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    char *body = malloc(DEPTH + 1);
    memset(body, '[', DEPTH);
    body[DEPTH] = 0;
    http_reply reply = http_post(server.port, CHAT, body);
    assert_int_equal(reply.status, 400);
    assert_non_null(strstr(reply.body, "levels"));
    http_reply_free(&reply);
    free(body);
}

static void prompts_beyond_the_context_are_refused(void **state)
{
    (void)state;
    enum { N = 30000 };
    char *body = malloc(N + 64);
    strcpy(body, "{\"stream\": true, \"prompt\": \"");
    const size_t from = strlen(body);
    for (size_t i = 0; i < N; i++) body[from + i] = (char)('a' + i * 7 % 26);
    strcpy(body + from + N, "\"}");
    http_reply reply = http_post(server.port, TEXT, body);
    assert_int_equal(reply.status, 400);
    assert_non_null(strstr(reply.body, "context_length_exceeded"));
    http_reply_free(&reply);
    free(body);
}

/* --think sets the template's variable for requests that don't. */
static void thinking_has_a_default(void **state)
{
    (void)state;
    static const char template[] =
        "{% for m in messages %}{{ m.content }}{% endfor %}"
        "{% if enable_thinking is defined %}{{ 'T' if enable_thinking else 'F' }}{% endif %}";
    char path[256];
    strcpy(path, test_temporary("thinking.jinja"));
    write_whole(path, template, sizeof template - 1);
    http_server thinking = http_server_start(ARGUMENTS(target, "--chat-template", path, "--think", "off"));
    for (int i = 0; i < 2; i++) {
        char body[256];
        snprintf(body, sizeof body, "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]%s}",
                 i ? ", \"chat_template_kwargs\": {\"enable_thinking\": true}" : "");
        http_reply reply = http_post(thinking.port, "/apply-template", body);
        json_t *prompt = http_json(&reply);
        assert_string_equal(http_text_at(prompt, "prompt"), i ? "hiT" : "hiF");
        json_decref(prompt);
    }
    assert_int_equal(http_server_stop(&thinking, SIGTERM), 0);
    expect(RUN("serve", target, "--think", "hide"), 2, "reasoning_content");
}

/* A drafter that only some requests can have is no default for all, nor is one whose file the server lacks. */
static void refuse_defaults(const http_server *of)
{
    static const char *const cases[][2] = {{"draft", "--draft-model"},
                                           {"table", "--draft-table"},
                                           {"head", "start the server with --head"},
                                           {"ngram,grammar", "auto uses it"},
                                           {"prediction", "brings its own"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[64];
        snprintf(body, sizeof body, "{\"drafters\": \"%s\"}", cases[i][0]);
        http_reply reply = http_post(of->port, "/admin/speculation", body);
        assert_int_equal(reply.status, 400);
        assert_non_null(strstr(reply.body, cases[i][1]));
        http_reply_free(&reply);
    }
}

static void several_models_have_names(void **state)
{
    (void)state;
    char first[300], second[300];
    snprintf(first, sizeof first, "large=%s", target);
    snprintf(second, sizeof second, "a small:one=%s", draft);
    http_server both = http_server_start(ARGUMENTS("--model", first, "--model", second, "--parallel", "2"));
    refuse_defaults(&both);
    static const struct {
        const char *body, *says;
        int status;
    } cases[] = {
        {"{\"prompt\": \"x\", \"max_tokens\": 1}", "\"model\":\"large\"", 200},
        {"{\"prompt\": \"x\", \"max_tokens\": 1, \"model\": \"a small:one\"}", "\"model\":\"a small:one\"", 200},
        {"{\"prompt\": \"x\", \"max_tokens\": 1, \"model\": \"other\"}", "model_not_found", 404}};
    for (size_t i = 0; i < 3; i++) {
        http_reply reply = http_post(both.port, TEXT, cases[i].body);
        assert_int_equal(reply.status, cases[i].status);
        assert_non_null(strstr(reply.body, cases[i].says));
        http_reply_free(&reply);
    }
    /* Paths and queries have names escaped. */
    static const struct {
        const char *path, *member, *says;
        int status;
    } names[] = {{"/props?model=large", "model_alias", "large", 200},
                 {"/props?model=a%20small%3Aone", "model_alias", "a small:one", 200},
                 {"/props?model=other", "error.code", "model_not_found", 404},
                 {"/v1/models/a%20small%3aone", "id", "a small:one", 200},
                 {"/v1/models/a%2520small:one", "error.code", "model_not_found", 404}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        http_reply reply = http_request(both.port, "GET", names[i].path, "", NULL);
        assert_int_equal(reply.status, names[i].status);
        json_t *answer = http_json(&reply);
        assert_string_equal(http_text_at(answer, names[i].member), names[i].says);
        json_decref(answer);
    }
    assert_int_equal(http_server_stop(&both, SIGTERM), 0);
    expect(RUN("serve", "--model", first, "--model", first), 2, "given twice");
    expect(RUN("serve", "--model", "=x"), 2, "NAME=FILE");
    expect(RUN("serve", target, "--tls-cert", "x"), 2, "--tls-key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_leaves_no_trace),
        cmocka_unit_test(the_text_is_that_of_run),
        cmocka_unit_test(chat_answers),
        cmocka_unit_test(seeds_give_other_texts),
        cmocka_unit_test(prompts_come_as_texts_and_ids),
        cmocka_unit_test(stop_texts_end_answers),
        cmocka_unit_test(streams_tell_each_token),
        cmocka_unit_test(framed_chunks_are_whole_chunks),
        cmocka_unit_test(answers_have_timings),
        cmocka_unit_test(other_apis_have_timings),
        cmocka_unit_test(predictions_are_used),
        cmocka_unit_test(logprobs_are_the_models),
        cmocka_unit_test(answers_follow_their_schema),
        cmocka_unit_test(calls_are_forced),
        cmocka_unit_test(messages_are_answered),
        cmocka_unit_test(messages_obey_a_format),
        cmocka_unit_test(schemas_are_closed_and_lenient),
        cmocka_unit_test(answers_are_continued),
        cmocka_unit_test(blocks_become_messages),
        cmocka_unit_test(responses_are_answered),
        cmocka_unit_test(native_completions_answer),
        cmocka_unit_test(native_answers_have_chosen_members),
        cmocka_unit_test(texts_name_biased_tokens),
        cmocka_unit_test(native_paths_answer),
        cmocka_unit_test(props_list_the_accepted_drafters),
        cmocka_unit_test(metrics_count),
        cmocka_unit_test(speculation_changes_while_serving),
        cmocka_unit_test(bad_requests_are_named),
        cmocka_unit_test(bad_messages_are_named),
        cmocka_unit_test(the_document_is_true),
        cmocka_unit_test(deep_documents_are_refused),
        cmocka_unit_test(prompts_beyond_the_context_are_refused),
        cmocka_unit_test(thinking_has_a_default),
        cmocka_unit_test(several_models_have_names),
    };
    return cmocka_run_group_tests(tests, server_begin, server_end);
}
