/* SPDX-License-Identifier: MIT */
#include "check/server/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/places.h"
#include "hub/wire.h"

enum { CONNECT_SECONDS = 10, TICK_MS = 50, ERROR_SIZE = CURL_ERROR_SIZE };

typedef struct exchange {
    CURL *curl;
    hub_body body;
    const char *why; /* the bytes were refused; NULL: they weren't */
    char error[ERROR_SIZE];
    CURLcode code;
} exchange;

struct ask_client {
    CURLM *multi;
    exchange exchanges[ASK_MOST_AT_ONCE]; /* their handles keep connections open */
    struct curl_slist *headers;
    char certificates[VOUCH_OS_PATH_SIZE];
    double seconds;
    ask_tick *tick;
    void *user;
};

static vouch_status memory_fail(vouch_error *err)
{
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the requests to a server"};
    return err->code;
}

/* Adds a header to the client's. */
static bool header_add(ask_client *c, const char *text)
{
    struct curl_slist *longer = curl_slist_append(c->headers, text);
    if (longer) c->headers = longer;
    return longer != NULL;
}

static bool headers_make(ask_client *c, const char *key)
{
    /* The empty "Expect:" keeps curl from waiting for a status 100 before it sends a long body. */
    if (!header_add(c, "Content-Type: application/json") || !header_add(c, "Expect:")) return false;
    if (!key || !*key) return true;
    const size_t size = strlen(key) + 32;
    char *text = malloc(size);
    if (text) snprintf(text, size, "Authorization: Bearer %s", key);
    const bool ok = text && header_add(c, text);
    free(text);
    return ok;
}

vouch_status ask_client_open(ask_client **out, const char *key, double seconds, ask_tick *tick, void *user,
                             vouch_error *err)
{
    ask_client *c = *out = calloc(1, sizeof *c);
    if (!c) return memory_fail(err);
    c->seconds = seconds;
    c->tick = tick;
    c->user = user;
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; i < ASK_MOST_AT_ONCE && !status; i++) status = hub_wire_open(&c->exchanges[i].curl, err);
    if (!status) c->multi = curl_multi_init();
    if (!status && !hub_certificates_find(c->certificates)) {
        *err = (vouch_error){VOUCH_E_ARGUMENT, "SSL_CERT_FILE: the path is too long"};
        status = err->code;
    }
    if (!status && (!c->multi || !headers_make(c, key))) status = memory_fail(err);
    if (!status) return VOUCH_OK;
    ask_client_close(c);
    *out = NULL;
    return status;
}

void ask_client_close(ask_client *c)
{
    if (!c) return;
    for (size_t i = 0; i < ASK_MOST_AT_ONCE; i++) curl_easy_cleanup(c->exchanges[i].curl);
    if (c->multi) curl_multi_cleanup(c->multi);
    curl_slist_free_all(c->headers);
    free(c);
}

void ask_replies_free(ask_reply *replies, size_t n)
{
    for (size_t i = 0; i < n; i++) free(replies[i].body);
}

/* ----------------------------------------------------------------- one exchange */

static size_t body_come(char *bytes, size_t unit, size_t n, void *user)
{
    exchange *x = user;
    n *= unit;
    if (x->body.n + n > ASK_MOST_REPLY) x->why = "the answer is larger than 8 MiB";
    else if (!hub_body_add(&x->body, bytes, n)) x->why = "not enough memory for the answer";
    return x->why ? 0 : n;
}

static bool exchange_begin(ask_client *c, exchange *x, const ask_request *request)
{
    CURL *curl = x->curl;
    *x = (exchange){.curl = curl, .code = CURLE_OK};
    if (!hub_body_add(&x->body, "", 0)) return false;
    hub_wire_begin(curl, request->address, CONNECT_SECONDS, c->certificates);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, c->headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(c->seconds * 1e3));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, body_come);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, x->error);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, x);
    if (request->body) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    return curl_multi_add_handle(c->multi, curl) == CURLM_OK;
}

/* Moves what came of an exchange into a reply. */
static void exchange_end(const ask_client *c, exchange *x, ask_reply *reply)
{
    char *to = NULL;
    curl_multi_remove_handle(c->multi, x->curl);
    curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &reply->status);
    curl_easy_getinfo(x->curl, CURLINFO_REDIRECT_URL, &to);
    reply->body = x->body.bytes;
    reply->n = x->body.n;
    x->body.bytes = NULL;
    reply->is_gone = x->code == CURLE_OPERATION_TIMEDOUT || x->code == CURLE_COULDNT_CONNECT ||
                     x->code == CURLE_COULDNT_RESOLVE_HOST;
    if (x->why) snprintf(reply->why, sizeof reply->why, "%s", x->why);
    else if (x->code == CURLE_OPERATION_TIMEDOUT)
        snprintf(reply->why, sizeof reply->why, "no whole answer in %g s (--timeout)", c->seconds);
    else if (x->code) snprintf(reply->why, sizeof reply->why, "%s", *x->error ? x->error : curl_easy_strerror(x->code));
    else if (reply->status >= 300 && reply->status < 400)
        snprintf(reply->why, sizeof reply->why, "it redirects to %.120s; give that address to --server",
                 to ? to : "another address");
}

/* -------------------------------------------------------------------- together */

/* Notes the exchanges that have ended; returns how many. */
static size_t ended_take(ask_client *c)
{
    CURLMsg *message;
    size_t n_ended = 0;
    int left;
    while ((message = curl_multi_info_read(c->multi, &left))) {
        exchange *x = NULL;
        if (message->msg != CURLMSG_DONE) continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&x);
        x->code = message->data.result;
        n_ended++;
    }
    return n_ended;
}

static vouch_status all_perform(ask_client *c, size_t n, vouch_error *err)
{
    int running = 0;
    for (size_t n_ended = 0; n_ended < n;) {
        if (curl_multi_perform(c->multi, &running)) return memory_fail(err);
        n_ended += ended_take(c);
        if (n_ended < n && curl_multi_poll(c->multi, NULL, 0, TICK_MS, NULL)) return memory_fail(err);
        if (!c->tick(c->user)) {
            *err = (vouch_error){VOUCH_E_CANCELLED, "interrupted"};
            return err->code;
        }
    }
    return VOUCH_OK;
}

vouch_status ask_client_ask(ask_client *c, const ask_request *requests, ask_reply *replies, size_t n, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    size_t begun = 0;
    memset(replies, 0, n * sizeof *replies);
    while (begun < n && !status)
        if (!exchange_begin(c, &c->exchanges[begun], &requests[begun])) {
            free(c->exchanges[begun].body.bytes);
            status = memory_fail(err);
        } else begun++;
    if (!status) status = all_perform(c, n, err);
    for (size_t i = 0; i < begun; i++) exchange_end(c, &c->exchanges[i], &replies[i]);
    if (status) {
        ask_replies_free(replies, n);
        memset(replies, 0, n * sizeof *replies);
    }
    return status;
}
