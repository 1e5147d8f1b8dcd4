/* SPDX-License-Identifier: MIT */
/*
 * `vouch serve` where memory runs out within a request: each allocation fails once, for each n up to the number of a
 * request's allocations. The answer is the one without the failure, or an error: a status, or an event of a stream,
 * which then has given nothing but a beginning of the whole one. The next request gets its answer.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/model/tiny_model.h"
#include "support/program/http.h"
#include "support/program/shortage.h"

enum {
    HANG = 60,  /* seconds after which a request counts as hanging */
    BURST = 30, /* allocations that fail together; more of them would only stop libmicrohttpd */
};

static char model[256];
static bool is_able;

static int model_write(void **state)
{
    (void)state;
    strcpy(model, test_temporary("tiny.gguf"));
    tiny_model_write(model, &(tiny_model_options){.seed = 1});
    is_able = shortage_begin();
    return 0;
}

/* ---------------------------------------------------------------- comparing */

/* Removes what differs from answer to answer: times, speeds and ids. */
static void blur(json_t *value)
{
    static const char *const changing[] = {"id", "item_id", "created", "created_at", "completed_at"};
    const char *key;
    json_t *member;
    void *next;
    size_t i;
    json_array_foreach(value, i, member) blur(member);
    json_object_foreach_safe(value, next, key, member) {
        bool changes = json_is_real(member);
        for (i = 0; i < sizeof changing / sizeof *changing; i++) changes |= strcmp(key, changing[i]) == 0;
        if (changes) json_object_set_new(value, key, json_null());
        else blur(member);
    }
}

/* The events of a stream, or the body as the only one. *is_whole: it is a body, or the stream came to its end. */
static json_t *events_of(const http_reply *reply, bool streams, bool *is_whole)
{
    json_t *events = json_array(), *last;
    *is_whole = true;
    if (streams && reply->status == 200) {
        json_decref(events);
        events = http_events(reply, is_whole);
        last = json_array_get(events, json_array_size(events) - 1);
        const char *type = http_text_at(last, "type");
        *is_whole |= strcmp(type, "message_stop") == 0 || strcmp(type, "response.completed") == 0 ||
                     strcmp(type, "response.incomplete") == 0 || json_is_true(json_object_get(last, "stop"));
    } else {
        json_array_append_new(events, json_loadb(reply->body, reply->n, 0, NULL));
    }
    blur(events);
    return events;
}

static bool is_error(json_t *event)
{
    return json_is_object(json_object_get(event, "error")) || strcmp(http_text_at(event, "type"), "error") == 0;
}

/* NULL: the reply is the whole one or an error, or the connection ended before its end, where it may: nothing was sent,
 * because libmicrohttpd had no memory for the connection, or there was none for the error either. */
static const char *wrong_of(const http_reply *reply, const json_t *whole, bool streams, int n_failed)
{
    if (reply->status == 0) return n_failed > 1 || (n_failed == 1 && !*reply->head) ? NULL : "the connection ended";
    bool is_whole;
    json_t *events = events_of(reply, streams, &is_whole);
    const size_t n = json_array_size(events);
    const char *wrong = NULL;
    if (reply->status != 200) wrong = reply->status >= 500 && is_error(json_array_get(events, 0)) ? NULL : "its status";
    else if (!json_equal(events, whole)) {
        size_t same = 0;
        while (same < n && json_equal(json_array_get(events, same), json_array_get(whole, same))) same++;
        if (is_whole && !is_error(json_array_get(events, same))) wrong = "another answer";
        else if (!is_error(json_array_get(events, same))) wrong = "a cut answer without an error";
    }
    json_decref(events);
    return wrong;
}

/* -------------------------------------------------------------------- sweeps */

typedef struct request {
    const char *path, *body;
    bool streams;
} request;

static http_reply ask(const http_server *server, const request *r)
{
    alarm(HANG);
    http_reply reply = http_post(server->port, r->path, r->body);
    alarm(0);
    return reply;
}

/* Fails the n-th allocation of a request. Returns whether there was one; adds to *n_wrong. */
static bool try(const http_server *server, const request *r, const json_t *whole, long n, int n_more, int *n_wrong)
{
    shortage_set(SHORTAGE_MALLOC, n, n_more);
    http_reply reply = ask(server, r);
    const bool came = shortage_came();
    shortage_set(SHORTAGE_NONE, 1, 0);
    const char *wrong = wrong_of(&reply, whole, r->streams, 1 + n_more);
    if (wrong) print_error("%s %ld, %d more: %s: %d %.1000s\n", r->path, n, n_more, wrong, reply.status, reply.body);
    http_reply_free(&reply);
    http_reply after = ask(server, r);
    const char *late = wrong_of(&after, whole, r->streams, 0);
    if (late || after.status != 200)
        print_error("%s after %ld, %d more: %s: %d %.1000s\n", r->path, n, n_more, late ? late : "refused",
                    after.status, after.body);
    *n_wrong += wrong != NULL || late || after.status != 200;
    http_reply_free(&after);
    return came;
}

/* Every n in `make test`; in `make check` every 29th. */
static void sweep(const request *requests, size_t n_requests)
{
    if (!is_able) test_skip("no programs that run out of memory in this build");
    http_server server =
        http_server_start((const char *const[]){model, "--ctx", "256", "--parallel", "2", "--spec", "none", NULL});
    int n_wrong = 0;
    for (size_t i = 0; i < n_requests; i++) {
        http_reply reply = ask(&server, &requests[i]);
        if (reply.status != 200) fail_msg("%s: %d %s", requests[i].path, reply.status, reply.body);
        bool is_whole;
        json_t *whole = events_of(&reply, requests[i].streams, &is_whole);
        assert_true(is_whole);
        http_reply_free(&reply);
        long n = 1;
        const int step = test_is_quick() ? 29 : 1;
        for (int n_absent = 0; n_absent < 2; n += step) { /* requests differ by an allocation or two */
            n_absent = try(&server, &requests[i], whole, n, 0, &n_wrong) ? 0 : n_absent + 1;
            if (n % BURST == 1) try(&server, &requests[i], whole, n, BURST, &n_wrong);
        }
        print_message("%s%s: %ld allocations\n", requests[i].path, requests[i].streams ? ", stream" : "", n - 2 * step);
        json_decref(whole);
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    assert_int_equal(n_wrong, 0);
}

#define CHAT      "\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}], \"temperature\": 0, \"max_tokens\": 6"
#define STREAM    ", \"stream\": true"
#define LOGPROBS  ", \"logprobs\": true, \"top_logprobs\": 2"
#define USAGE     ", \"stream_options\": {\"include_usage\": true}"
#define RESPONSE  "\"input\": \"Hello\", \"temperature\": 0, \"max_output_tokens\": 6"
#define TEXT      "\"prompt\": \"Hello\", \"temperature\": 0, \"max_tokens\": 6"

static void chat_fails(void **state)
{
    (void)state;
    static const request requests[] = {
        {"/v1/chat/completions", "{" CHAT "}", false},
        {"/v1/chat/completions", "{" CHAT LOGPROBS ", \"n\": 2, \"stop\": [\"never\"]}", false},
        {"/v1/chat/completions", "{" CHAT STREAM "}", true},
        {"/v1/chat/completions", "{" CHAT STREAM LOGPROBS USAGE "}", true},
    };
    sweep(requests, sizeof requests / sizeof *requests);
}

static void other_apis_fail(void **state)
{
    (void)state;
    static const request requests[] = {
        {"/v1/completions", "{" TEXT ", \"echo\": true, \"logprobs\": 2}", false},
        {"/v1/completions", "{" TEXT STREAM "}", true},
        {"/v1/messages", "{" CHAT "}", false},
        {"/v1/messages", "{" CHAT STREAM "}", true},
        {"/v1/responses", "{" RESPONSE "}", false},
        {"/v1/responses", "{" RESPONSE STREAM "}", true},
        {"/completion", "{\"prompt\": \"Hello\", \"temperature\": 0, \"n_predict\": 6, \"seed\": 1}", false},
        {"/completion", "{\"prompt\": \"Hello\", \"temperature\": 0, \"n_predict\": 6, \"seed\": 1" STREAM "}", true},
        {"/tokenize", "{\"content\": \"Hello\"}", false},
        {"/apply-template", "{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}", false},
    };
    sweep(requests, sizeof requests / sizeof *requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chat_fails),
        cmocka_unit_test(other_apis_fail),
    };
    return cmocka_run_group_tests(tests, model_write, NULL);
}
