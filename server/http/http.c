/* SPDX-License-Identifier: MIT */
#include "http/http.h"

#include <math.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "os/sockets.h"
#include "tool/json.h"
#include "tool/memory.h"
#include "tool/term.h"
#include "http/fields.h"

enum {
    MOST_CONNECTIONS = 1024,
    CONNECTION_MEMORY = 64 << 10, /* bytes for the headers of a request */
    N_THREADS = 4,
    FORGOTTEN = 1,            /* seconds after which a resumed connection is resumed again */
    OUT_OF_MEMORY = 503,      /* as server_fail_memory has it */
    STREAM_LIMIT = 256 << 10, /* bytes of events that may wait for a reader */
    MOST_PUSHED = 4 << 10,    /* bytes that an empty socket always takes; a socket buffers at least 4.5 KiB */
    SLOWEST = 16 << 10        /* fewest bytes per second of a body, in either direction, after --timeout */
};

/* ----------------------------------------------------------------- deadlines */

/* The client has --timeout seconds, and for n bytes as much longer as the slowest allowed client takes. */
static void set_deadline(server_exchange *x, size_t n)
{
    if (x->deadline) server_deadline_set(x->deadline, x->server->options->timeout_seconds + (double)n / SLOWEST);
}

void server_clear_deadline(server_exchange *x)
{
    if (x->deadline) server_deadline_set(x->deadline, INFINITY);
}

/* ------------------------------------------------------------------- replies */

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
    if (MHD_add_response_header(response, name, value) != MHD_YES) tool_memory_refuse();
}

static void add_origin(const server_exchange *x, struct MHD_Response *response)
{
    if (!x->origin) return;
    add_header(response, "Access-Control-Allow-Origin", x->origin);
    add_header(response, "Vary", "Origin");
}

/* A warning for each part of a schema that the answer's grammar doesn't bind. Names of the schema may have any
 * characters, a header only some. */
static void add_warnings(const server_exchange *x, struct MHD_Response *response)
{
    enum { MOST = 8 };
    const vouch_grammar *grammar = x->job ? x->job->grammar : NULL;
    const char *note;
    for (size_t i = 0; grammar && i < MOST && (note = vouch_grammar_unbound(grammar, i)) != NULL; i++) {
        char value[300] = "299 vouch \"";
        size_t n = strlen(value);
        for (; *note && n + 4 < sizeof value; note++) {
            if (*note == '"' || *note == '\\') value[n++] = '\\';
            value[n++] = (char)(*note >= ' ' && *note < 0x7f ? *note : '?');
        }
        value[n++] = '"';
        value[n] = '\0';
        add_header(response, "Warning", value);
    }
}

/* Sends the text as the reply, and frees it. If memory is short, sends the error out_of_memory instead. If memory is
 * too short for that error, too, there is no reply, and libmicrohttpd closes the connection. */
static void reply(server_exchange *x, int status, const char *type, server_text *text)
{
    struct MHD_Response *response = NULL;
    if (!text->failed) response = MHD_create_response_from_buffer(text->n, text->bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        server_text_free(text);
        tool_memory_refuse();
    } else {
        if (type) add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
        add_origin(x, response);
        add_warnings(x, response);
    }
    if (tool_memory_is_short()) {
        if (response) MHD_destroy_response(response);
        if (status != OUT_OF_MEMORY) server_reply_fault(x, &(server_fault){0});
        return;
    }
    x->response = response;
    x->status = status;
    set_deadline(x, text->n);
}

void server_reply_text(server_exchange *x, int status, const char *type, const char *text, size_t n)
{
    server_text copy = {0};
    server_text_add(&copy, text, n);
    reply(x, status, type, &copy);
}

void server_reply_json(server_exchange *x, int status, json_t *body)
{
    server_text text = {0};
    server_text_json(&text, body);
    reply(x, status, "application/json", &text);
}

/* The Anthropic API's words, where they differ. */
static const char *anthropic_type(const server_fault *fault)
{
    switch (fault->status) {
    case 403: return "permission_error";
    case 413: return "request_too_large";
    case 500: return "api_error";
    default: return server_fault_type(fault);
    }
}

json_t *server_error_json(const server_exchange *x, const server_fault *fault)
{
    const server_dialect dialect = x->path ? server_dialect_of(x->path) : SERVER_DIALECT_OPENAI;
    if (dialect == SERVER_DIALECT_OLLAMA) {
        const tool_json_entry error[] = {{"error", tool_json_text(fault->message)}};
        return tool_json_object(error, 1);
    }
    if (dialect == SERVER_DIALECT_ANTHROPIC) {
        const tool_json_entry details[] = {{"error_code", json_string(fault->code)}};
        const tool_json_entry inner[] = {{"type", json_string(anthropic_type(fault))},
                                         {"message", tool_json_text(fault->message)},
                                         {"details", tool_json_object(details, 1)}};
        const tool_json_entry outer[] = {{"type", json_string("error")}, {"error", tool_json_object(inner, 3)}};
        return tool_json_object(outer, 2);
    }
    const tool_json_entry outer[] = {{"error", server_fault_json(fault)}};
    return tool_json_object(outer, 1);
}

void server_reply_fault(server_exchange *x, const server_fault *fault)
{
    server_fault memory;
    if (fault->status == 0 || tool_memory_is_short()) {
        server_fail_memory(&memory);
        fault = &memory;
    }
    tool_memory_forget();
    server_reply_json(x, fault->status, server_error_json(x, fault));
    if (!x->response || x->status != fault->status) return;
    if (fault->status == 429 || fault->status == 503) MHD_add_response_header(x->response, "Retry-After", "1");
    if (fault->status == 405) MHD_add_response_header(x->response, MHD_HTTP_HEADER_ALLOW, x->allowed);
    if (fault->status == 401) MHD_add_response_header(x->response, "WWW-Authenticate", "Bearer");
}

void server_sse(server_exchange *x, const char *name, json_t *value)
{
    if (name) server_text_format(&x->out, "event: %s\n", name);
    server_text_put(&x->out, "data: ");
    server_text_json(&x->out, value);
    server_text_put(&x->out, "\n\n");
}

void server_sse_fault(server_exchange *x, const server_fault *fault)
{
    server_sse(x, server_dialect_of(x->path) == SERVER_DIALECT_ANTHROPIC ? "error" : NULL, server_error_json(x, fault));
}

void server_make_id(server *s, const char *prefix, char id[64])
{
    uint64_t random = 0;
    if (!vouch_os_random(&random, sizeof random)) random = (uint64_t)(size_t)&random;
    snprintf(id, 64, "%s%016llx%06llx", prefix, (unsigned long long)random,
             (unsigned long long)atomic_fetch_add(&s->n_ids, 1));
}

/* ------------------------------------------------------------------ the answer */

/* Under the job's lock. */
static void resume(server_exchange *x)
{
    if (!x->suspended) return;
    x->suspended = false;
    x->resumed_at = tool_now();
    MHD_resume_connection(x->connection);
}

/* Passes the exchange's events to the format, and the end of the answer if it is over. If memory is short, sets
 * x->out.failed and leaves x->out as it was before. */
static void format_events(server_exchange *x, bool is_over)
{
    const size_t n = x->out.n;
    tool_memory_forget();
    for (size_t at = 0; at < x->events.n;) {
        const server_event *event = (const server_event *)(const void *)(x->events.bytes + at);
        x->format->event(x, event);
        at += event->size;
    }
    if (is_over && x->format->end && !x->events.failed) x->format->end(x);
    if (!x->out.failed && !x->events.failed && !tool_memory_is_short()) return;
    x->out.n = n;
    x->out.failed = true;
}

/* Sends x->out as a chunk, if the client has read all before it: then the socket takes the whole chunk and Nagle's
 * algorithm delays nothing. False: nothing is sent. */
static bool push_chunk(server_exchange *x)
{
    char head[24];
    if (x->out.n > MOST_PUSHED) return false;
    const size_t n_head = (size_t)snprintf(head, sizeof head, "%zx\r\n", x->out.n);
    const vouch_os_part parts[] = {{head, n_head}, {x->out.bytes, x->out.n}, {"\r\n", 2}};
    const ptrdiff_t n = vouch_os_socket_push(x->watched.socket, parts, 3);
    if (n < 0) return false;
    /* The system has no memory for the rest. A stream with a hole must not go on. */
    if ((size_t)n < n_head + x->out.n + 2) vouch_os_socket_shut(x->watched.socket);
    x->out.n = 0;
    return true;
}

/* Sends the events of a suspended stream from the worker's thread, under the job's lock. False: libmicrohttpd has to
 * send; what is formatted already waits in x->out. */
static bool push(server_exchange *x)
{
    server_job *job = x->job;
    if (!x->is_chunked || x->server->options->certificate || !x->suspended) return false;
    if (job->n_over == job->n_choices || job->events.failed || atomic_load(&job->full)) return false;
    server_job_swap(job, &x->events);
    format_events(x, false);
    return !x->out.failed && (x->out.n == 0 || push_chunk(x));
}

/* The job calls this under its lock after each event. Without a stream only the last event matters. */
static void on_event(void *user)
{
    server_exchange *x = user;
    x->has_news = true;
    if (atomic_load(&x->job->full)) set_deadline(x, 0);
    if (x->is_stream ? !push(x) : x->job->n_over == x->job->n_choices || x->job->events.failed) resume(x);
}

static void on_gone(void *user)
{
    server_exchange *x = user;
    pthread_mutex_lock(&x->job->lock);
    x->gone = true;
    atomic_store(&x->job->cancelled, true);
    resume(x);
    pthread_mutex_unlock(&x->job->lock);
    server_worker_notify(x->model->worker);
}

/* Seconds until the next ping. While the model is loading, they tell how far it is. */
static double ping_seconds(server_exchange *x)
{
    char news[200];
    server_worker_news(x->model->worker, news, sizeof news);
    const double usual = x->server->options->ping_seconds;
    return *news ? fmin(1, usual) : usual;
}

/* Where libmicrohttpd (0.9.75) has no memory for its list for poll, it forgets a connection that was resumed. */
static void on_tick(void *user)
{
    server_exchange *x = user;
    const double now = tool_now();
    pthread_mutex_lock(&x->job->lock);
    if (x->is_stream && now >= x->ping_due) {
        x->ping = x->suspended && !x->has_news;
        x->has_news = false;
        x->ping_due = now + ping_seconds(x);
        if (x->ping) resume(x);
    }
    if (x->resumed_at > 0 && now > x->resumed_at + FORGOTTEN) {
        x->resumed_at = now;
        MHD_resume_connection(x->connection);
    }
    pthread_mutex_unlock(&x->job->lock);
}

/* Watches the exchange's connection for a client that goes. */
static void watch_connection(server_exchange *x)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    x->ping_due = tool_now() + (x->model->options->is_on_demand ? 0 : x->server->options->ping_seconds);
    x->watched =
        (server_watched){.socket = (vouch_os_socket)info->connect_fd, .gone = on_gone, .tick = on_tick, .user = x};
    server_watch_add(x->server->watch, &x->watched);
}

void server_begin(server_exchange *x, server_model *model, server_job *job, bool is_stream, const server_format *format,
                  void *state)
{
    server_fault fault;
    x->model = model;
    x->job = job;
    x->format = format;
    x->state = state;
    x->is_stream = is_stream;
    if (is_stream) job->limit = STREAM_LIMIT;
    if (is_stream && format->begin) format->begin(x); /* it reads the choices, which then are the worker's */
    job->keep_seconds = x->keep_seconds;
    job->options.scope = x->scope;
    job->wake = on_event;
    job->wake_user = x;
    atomic_fetch_add(&x->server->n_jobs, 1);
    const bool drains = atomic_load(&x->server->drains), is_whole = !tool_memory_is_short();
    if (!drains && is_whole) {
        watch_connection(x);
        if (server_worker_submit(model->worker, job)) {
            server_clear_deadline(x);
            return;
        }
        server_watch_remove(x->server->watch, &x->watched);
    }
    atomic_fetch_sub(&x->server->n_jobs, 1);
    job->wake = NULL;
    x->job = NULL;
    server_job_release(job);
    if (drains) server_fail(&fault, 503, "shutting_down", "", "the server is shutting down");
    else if (!is_whole) server_fail_memory(&fault);
    else
        server_fail(&fault, 429, "queue_full", "", "%d answers wait already; try again later",
                    x->server->options->n_queue);
    server_reply_fault(x, &fault);
}

static void job_over(server_exchange *x)
{
    if (x->is_over) return;
    x->is_over = true;
    server_watch_remove(x->server->watch, &x->watched);
    atomic_fetch_sub(&x->server->n_jobs, 1);
}

/* Takes the events that have come, and gives them to the format. */
static void take_events(server_exchange *x)
{
    bool was_full;
    const bool is_over = server_job_take(x->job, &x->events, &was_full);
    if (was_full) server_worker_notify(x->model->worker);
    server_clear_deadline(x);
    format_events(x, is_over);
    if (is_over) job_over(x);
}

/* Something of the answer is missing. The worker needs no longer run the job. */
static void give_up(server_exchange *x, server_fault *fault)
{
    atomic_store(&x->job->cancelled, true);
    server_worker_notify(x->model->worker);
    job_over(x);
    server_fail_memory(fault);
}

/* Ends a stream with an error. False: there is no memory for that. */
static bool stream_fail(server_exchange *x)
{
    server_fault fault;
    give_up(x, &fault);
    tool_memory_forget();
    x->out.failed = false;
    x->format->fail(x, &fault);
    if (!tool_memory_is_short()) return true;
    vouch_os_socket_shut(x->watched.socket); /* wakes libmicrohttpd, which would keep the socket */
    return false;
}

/* libmicrohttpd's thread has come back to the exchange. */
static void come_back(server_exchange *x)
{
    pthread_mutex_lock(&x->job->lock);
    x->suspended = false;
    x->resumed_at = 0;
    pthread_mutex_unlock(&x->job->lock);
}

/* Suspends the connection until there is something to do; false: there is already. */
static bool wait_for_events(server_exchange *x)
{
    server_job *job = x->job;
    pthread_mutex_lock(&job->lock);
    const bool ready = job->n_over == job->n_choices || job->events.failed || x->gone || x->ping ||
                       (x->is_stream && job->events.n > 0);
    if (!ready) {
        x->suspended = true;
        MHD_suspend_connection(x->connection);
    }
    pthread_mutex_unlock(&job->lock);
    return !ready;
}

static bool is_gone(server_exchange *x, bool *ping)
{
    pthread_mutex_lock(&x->job->lock);
    const bool gone = x->gone;
    *ping = x->ping;
    x->ping = false;
    pthread_mutex_unlock(&x->job->lock);
    return gone;
}

static void put_ping(server_exchange *x)
{
    char news[200];
    server_worker_news(x->model->worker, news, sizeof news);
    server_text_format(&x->out, ": %s\n\n", *news ? news : "ping");
}

/* libmicrohttpd asks for the next bytes of a stream. */
static ssize_t stream_read(void *cls, uint64_t position, char *bytes, size_t most)
{
    (void)position;
    server_exchange *x = cls;
    come_back(x);
    for (;;) {
        if (x->out.failed && !stream_fail(x)) return MHD_CONTENT_READER_END_WITH_ERROR;
        if (x->out_sent < x->out.n) {
            const size_t left = x->out.n - x->out_sent, n = left < most ? left : most;
            memcpy(bytes, x->out.bytes + x->out_sent, n);
            x->out_sent += n;
            if (x->is_over || atomic_load(&x->job->full)) set_deadline(x, n);
            return (ssize_t)n;
        }
        x->out.n = x->out_sent = 0;
        if (x->is_over) {
            set_deadline(x, 0);
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        bool ping;
        /* After END_WITH_ERROR libmicrohttpd would keep the socket until its thread wakes up for another reason. */
        if (is_gone(x, &ping)) return MHD_CONTENT_READER_END_OF_STREAM;
        take_events(x);
        if (x->out.n == 0 && ping && !x->is_over && !x->format->type) put_ping(x);
        if (x->out.n == 0 && !x->out.failed && !x->is_over && wait_for_events(x)) return 0;
    }
}

static enum MHD_Result send_stream(server_exchange *x)
{
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, stream_read, x, NULL);
    if (!response) return MHD_NO;
    tool_memory_forget();
    const char *type = x->format->type ? x->format->type : "text/event-stream; charset=utf-8";
    add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    add_header(response, "X-Accel-Buffering", "no");
    add_origin(x, response);
    add_warnings(x, response);
    const bool is_whole = !tool_memory_is_short();
    const enum MHD_Result result = is_whole ? MHD_queue_response(x->connection, MHD_HTTP_OK, response) : MHD_NO;
    MHD_destroy_response(response);
    return result;
}

/* The reply to a job that failed before it gave anything; otherwise the format's body. */
static void reply_body(server_exchange *x)
{
    if (x->out.failed) {
        server_fault fault;
        give_up(x, &fault);
        server_reply_fault(x, &fault);
        return;
    }
    tool_memory_forget();
    for (int32_t i = 0; i < x->job->n_choices; i++) {
        server_fault fault;
        if (x->job->choices[i].error.code == VOUCH_OK) continue;
        if (x->job->choices[i].error.code == VOUCH_E_CANCELLED)
            server_fail(&fault, 503, "cancelled", "", "%s", x->job->choices[i].error.message);
        else server_fail_library(&fault, "", &x->job->choices[i].error);
        server_reply_fault(x, &fault);
        return;
    }
    server_text text = {0};
    x->format->body(x, &text);
    reply(x, MHD_HTTP_OK, "application/json", &text);
}

/* MHD_NO closes the connection. */
static enum MHD_Result send_answer(server_exchange *x)
{
    bool ping;
    if (!x->response && x->job && x->is_stream) return send_stream(x);
    if (!x->response && x->job) {
        come_back(x);
        if (is_gone(x, &ping)) return MHD_NO;
        if (wait_for_events(x)) return MHD_YES;
        take_events(x);
        if (!x->is_over) return MHD_NO;
        reply_body(x);
    }
    if (!x->response) return MHD_NO;
    return MHD_queue_response(x->connection, (unsigned)x->status, x->response);
}

/* ---------------------------------------------------------- libmicrohttpd calls */

static void handle(server_exchange *x)
{
    server_fault fault;
    x->is_handled = true;
    tool_memory_forget();
    if (x->body.failed) {
        server_reply_fault(x, &(server_fault){0});
        return;
    }
    if (x->body_too_long) {
        server_fail(&fault, 413, "body_too_large", "", "the body is longer than %d bytes", SERVER_MOST_BODY);
        server_reply_fault(x, &fault);
        return;
    }
    if (strcmp(x->route->method, "POST") == 0 && !(x->json = server_json_parse(x->body.bytes, x->body.n, &fault))) {
        server_reply_fault(x, &fault);
        return;
    }
    x->route->handle(x);
}

static enum MHD_Result exchange_begin(server *s, struct MHD_Connection *connection, const char *path,
                                      const char *method, const char *version, void **memory)
{
    server_fault fault;
    server_exchange *x = calloc(1, sizeof *x);
    if (!x) return MHD_NO;
    *memory = x;
    x->server = s;
    x->connection = connection;
    x->keep_seconds = -1;
    x->is_chunked = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
    x->deadline = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    atomic_fetch_add(&s->n_exchanges, 1);
    set_deadline(x, 0);
    tool_memory_forget();
    if (strcmp(method, "OPTIONS") == 0) {
        server_answer_options(x, path);
        x->is_handled = true;
        return MHD_YES;
    }
    if (server_admit(x, method, path, &fault)) return MHD_YES;
    x->is_handled = true;
    server_reply_fault(x, &fault);
    /* It isn't certain where the body ends, so another request can't follow. */
    const bool closes = fault.status == 400 || fault.status == 411 || fault.status == 413;
    if (x->response && closes) MHD_add_response_header(x->response, "Connection", "close");
    return send_answer(x);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *path, const char *method,
                                  const char *version, const char *upload, size_t *n_upload, void **memory)
{
    server_exchange *x = *memory;
    if (!x) return exchange_begin(cls, connection, path, method, version, memory);
    if (*n_upload > 0) {
        if (x->deadline) server_deadline_extend(x->deadline, (double)*n_upload / SLOWEST);
        if (x->body.n + *n_upload > SERVER_MOST_BODY) x->body_too_long = true;
        else server_text_add(&x->body, upload, *n_upload);
        *n_upload = 0;
        return MHD_YES;
    }
    if (!x->is_handled) handle(x);
    return send_answer(x);
}

void server_keep_answers(server_model *model)
{
    vouch_error err;
    vouch_draft_memory *memory = model->options->session.speculation.draft_memory;
    const bool fails = memory && vouch_draft_memory_keep(memory, &err);
    if (atomic_exchange(&model->fails_to_keep, fails) || !fails) return;
    tool_complain("--draft-memory: %s; answers go on, and are not kept", err.message);
}

/* A full disk is told once. */
static void check_prompt_cache(server *s)
{
    vouch_error err;
    vouch_prompt_cache *cache = s->options->engine.prompt_cache;
    if (cache && vouch_prompt_cache_check(cache, &err) && !atomic_exchange(&s->fails_to_keep_prompts, true))
        tool_complain("--prompt-cache: %s; answers go on, and pages are not kept", err.message);
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **memory,
                         enum MHD_RequestTerminationCode code)
{
    (void)cls;
    (void)connection;
    (void)code;
    server_exchange *x = *memory;
    if (!x) return;
    if (x->job) {
        server_watch_remove(x->server->watch, &x->watched);
        pthread_mutex_lock(&x->job->lock);
        x->job->wake = NULL;
        pthread_mutex_unlock(&x->job->lock);
        atomic_store(&x->job->cancelled, true);
        if (!x->is_over) server_worker_notify(x->model->worker);
        job_over(x);
        server_job_release(x->job);
        server_keep_answers(x->model);
        check_prompt_cache(x->server);
    }
    if (x->format && x->format->free) x->format->free(x->state);
    if (x->response) MHD_destroy_response(x->response);
    json_decref(x->json);
    free(x->path);
    server_text_free(&x->body);
    server_text_free(&x->events);
    server_text_free(&x->out);
    set_deadline(x, 0);
    atomic_fetch_sub(&x->server->n_exchanges, 1);
    free(x);
    *memory = NULL;
}

/* A connection has a deadline from its beginning to its end. Each request has as much time as the first. */
static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    server *s = cls;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        server_deadline_close(s->watch, *context);
        return;
    }
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *context = server_deadline_open(s->watch, (vouch_os_socket)info->connect_fd, s->options->timeout_seconds);
    if (!*context) vouch_os_socket_shut((vouch_os_socket)info->connect_fd);
}

/* ------------------------------------------------------------------- opening */

/* Paths are compared as they come; none needs an escape. Unescaped, "/health%00" would be "/health". */
static size_t keep_escapes(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

static void log_nothing(void *cls, const char *format, va_list arguments)
{
    (void)cls;
    (void)format;
    (void)arguments;
}

bool server_has_tls(void)
{
    return MHD_is_feature_supported(MHD_FEATURE_SSL) == MHD_YES;
}

vouch_status server_http_open(server *s, vouch_error *err)
{
    const server_options *o = s->options;
    vouch_os_listening got;
    *err = (vouch_error){.code = VOUCH_E_IO};
    if (o->certificate && !server_has_tls()) {
        *err = (vouch_error){VOUCH_E_UNSUPPORTED, "--tls-cert: this build has no TLS; put a proxy that has it before "
                                                  "the server"};
        return err->code;
    }
    if (!vouch_os_listen(o->host, o->port, &got)) {
        snprintf(err->message, sizeof err->message, "--host %.200s --port %d: %s", o->host, o->port, got.error);
        return err->code;
    }
    s->port = got.port;
    s->is_loopback = got.is_loopback;
    s->watch = server_watch_open();
    /* poll, because with epoll libmicrohttpd (0.9.75) misses the end of a connection that comes with the last data. */
    unsigned flags =
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;
    const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)o->certificate},
                                         {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->private_key},
                                         {MHD_OPTION_END, 0, NULL}};
    if (o->certificate) flags |= MHD_USE_TLS;
    if (s->watch)
        s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL,
                                     MHD_OPTION_LISTEN_SOCKET, (MHD_socket)got.socket, MHD_OPTION_THREAD_POOL_SIZE,
                                     (unsigned)N_THREADS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS,
                                     MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_CONNECTION_TIMEOUT,
                                     (unsigned)o->timeout_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                     (size_t)CONNECTION_MEMORY, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
                                     MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                                     MHD_OPTION_ARRAY, o->certificate ? tls : tls + 2, MHD_OPTION_END);
    if (s->daemon) return VOUCH_OK;
    vouch_os_socket_close(got.socket);
    if (!s->watch) *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory or threads for the HTTP server"};
    else
        snprintf(err->message, sizeof err->message, "the HTTP server could not start%s",
                 o->certificate ? ": check --tls-cert and --tls-key" : "");
    return err->code;
}

void server_http_close(server *s)
{
    if (s->daemon) MHD_stop_daemon(s->daemon);
    server_watch_close(s->watch);
}
