/* SPDX-License-Identifier: MIT */
/*
 * `vouch serve` that runs out of memory or threads, or whose files and connections fail: each call of a kind fails
 * once, for each n up to the number of a request's calls. The answer is the one without the failure, or an error: a
 * status, or an event of a stream, which then has given nothing but a beginning of the whole one. The next request gets
 * its answer. At its start the server fails at each n, too: it says why and ends, or it answers.
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
    START_STEP = 13, /* a start has thousands of allocations */
    BURST = 30,      /* allocations that fail together; more of them would only stop libmicrohttpd */
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
    static const char *const changing[] = {"id", "item_id", "created", "created_at", "completed_at", "id_slot"};
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

/* When a connection may end before its reply does. */
typedef enum may_end {
    MAY_NOT_END,
    MAY_REFUSE, /* before anything is sent: libmicrohttpd had no memory for the connection */
    MAY_END     /* there was no memory for the error either, or the connection itself failed */
} may_end;

/* NULL: the reply is the whole one or an error, or the connection ended where it may. */
static const char *wrong_of(const http_reply *reply, const json_t *whole, bool streams, may_end may)
{
    if (reply->status == 0)
        return may == MAY_END || (may == MAY_REFUSE && !*reply->head) ? NULL : "the connection ended";
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
    alarm(SHORTAGE_HANG);
    http_reply reply = http_post(server->port, r->path, r->body);
    alarm(0);
    return reply;
}

/* Fails the n-th call of a request. Returns whether there was one; adds to *n_wrong. */
static bool try(const http_server *server, const request *r, const json_t *whole, shortage_call call, long n,
                int n_more, int *n_wrong)
{
    const may_end may = n_more > 0 || call == SHORTAGE_READ || call == SHORTAGE_WRITE ? MAY_END : MAY_REFUSE;
    shortage_set(call, n, n_more);
    http_reply reply = ask(server, r);
    const bool came = shortage_came();
    shortage_set(SHORTAGE_NONE, 1, 0);
    const char *wrong = wrong_of(&reply, whole, r->streams, may);
    if (wrong)
        print_error("%s, %s %ld, %d more: %s: %d %.1000s\n", r->path, shortage_name(call), n, n_more, wrong,
                    reply.status, reply.body);
    http_reply_free(&reply);
    http_reply after = ask(server, r);
    const char *late = wrong_of(&after, whole, r->streams, MAY_NOT_END);
    if (late || after.status != 200)
        print_error("%s after %s %ld, %d more: %s: %d %.1000s\n", r->path, shortage_name(call), n, n_more,
                    late ? late : "refused", after.status, after.body);
    *n_wrong += wrong != NULL || late || after.status != 200;
    http_reply_free(&after);
    return came;
}

static const char *const options[] = {model, "--ctx", "256", "--parallel", "2", "--spec", "none", NULL};

/* Sweeps over one request. Every n in `make test`; in `make check` every 29th. */
static void sweep_one(const http_server *server, const request *r, shortage_call call, int *n_wrong)
{
    const int step = test_is_quick() ? 29 : 1;
    bool is_whole;
    http_reply reply = ask(server, r);
    if (reply.status != 200) fail_msg("%s: %d %s", r->path, reply.status, reply.body);
    json_t *whole = events_of(&reply, r->streams, &is_whole);
    assert_true(is_whole);
    http_reply_free(&reply);
    long n = 1;
    for (int n_absent = 0; n_absent < 2; n += step) { /* requests differ by a call or two */
        n_absent = try(server, r, whole, call, n, 0, n_wrong) ? 0 : n_absent + 1;
        if (n % BURST == 1) try(server, r, whole, call, n, BURST, n_wrong);
    }
    print_message("%s%s, %s: %ld calls\n", r->path, r->streams ? ", stream" : "", shortage_name(call),
                  n - 2 * step - 1);
    if (call == SHORTAGE_MALLOC || call == SHORTAGE_READ || call == SHORTAGE_WRITE) assert_true(n > 2 * step + 1);
    json_decref(whole);
}

static void sweep(const request *requests, size_t n_requests)
{
    int n_wrong = 0;
    if (!is_able) test_skip("no programs that run out of memory in this build");
    for (shortage_call call = SHORTAGE_MALLOC; call <= SHORTAGE_WRITE; call++) {
        shortage_set(call, SHORTAGE_NEVER, 0);
        http_server server = http_server_start(options);
        for (size_t i = 0; i < n_requests; i++) sweep_one(&server, &requests[i], call, &n_wrong);
        assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    }
    assert_int_equal(n_wrong, 0);
}

#define CHAT      "\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}], \"temperature\": 0, \"max_tokens\": 6"
/* Messages of all kinds that chat templates read in different forms. For each kind the server first tries out which
 * form this template reads. */
#define FORMS \
    "\"messages\": [{\"role\": \"system\", \"content\": \"a\"}, {\"role\": \"developer\", \"content\": \"b\"}, " \
    "{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"c\"}]}, " \
    "{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"d\", \"type\": \"function\", " \
    "\"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]}, " \
    "{\"role\": \"tool\", \"tool_call_id\": \"d\", \"content\": \"e\"}, {\"role\": \"user\", \"content\": \"g\"}], " \
    "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\"}}], \"temperature\": 0, \"max_tokens\": 6"
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
        {"/v1/chat/completions", "{" FORMS "}", false},
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

/* ------------------------------------------------------------------- starts */

/* Starts a server whose n-th call fails, or all from the n-th up to the moment when it listens, and asks it. NULL: it
 * did as it should. */
static const char *wrong_start(const request *r, const json_t *whole, shortage_call call, long n, int n_more,
                               bool *came)
{
    const char *wrong = NULL;
    size_t n_said;
    shortage_set(call, n, n_more);
    http_server server = http_server_begin(options);
    const bool listens = http_server_listens(&server);
    if (listens) {
        if (n_more > 0) shortage_set(SHORTAGE_NONE, 1, 0);
        http_reply reply = ask(&server, r);
        wrong = wrong_of(&reply, whole, r->streams, MAY_END);
        http_reply_free(&reply);
    }
    *came = shortage_came();
    shortage_set(SHORTAGE_NONE, 1, 0);
    const int status = http_server_stop(&server, SIGTERM);
    char *said = read_whole(server.err, &n_said);
    if (status >= 128) wrong = "crashed or hung";
    else if (!listens && status == 0) wrong = "ended with exit status 0";
    else if (!listens && !*said && (call != SHORTAGE_WRITE || n_more == 0)) wrong = "ended without a message";
    if (wrong) print_error("start, %s %ld, %d more: %s: %d %s\n", shortage_name(call), n, n_more, wrong, status, said);
    free(said);
    return wrong;
}

static void starts_fail(void **state)
{
    (void)state;
    static const request chat = {"/v1/chat/completions", "{" CHAT "}", false};
    int n_wrong = 0;
    bool is_whole;
    if (!is_able) test_skip("no programs that run out of memory in this build");
    shortage_set(SHORTAGE_NONE, 1, 0);
    http_server server = http_server_start(options);
    http_reply reply = ask(&server, &chat);
    json_t *whole = events_of(&reply, chat.streams, &is_whole);
    http_reply_free(&reply);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    for (shortage_call call = SHORTAGE_MALLOC; call <= SHORTAGE_WRITE; call++) {
        const int step = call != SHORTAGE_MALLOC ? 1 : test_is_quick() ? 97 : START_STEP;
        long n = 1;
        for (bool came = true; came; n += step) {
            n_wrong += wrong_start(&chat, whole, call, n, 0, &came) != NULL;
            bool ignored;
            if (came) n_wrong += wrong_start(&chat, whole, call, n, INT_MAX, &ignored) != NULL;
        }
        print_message("start, %s: %ld calls\n", shortage_name(call), n - step - 1);
    }
    json_decref(whole);
    assert_int_equal(n_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chat_fails),
        cmocka_unit_test(other_apis_fail),
        cmocka_unit_test(starts_fail),
    };
    return cmocka_run_group_tests(tests, model_write, NULL);
}
