/* SPDX-License-Identifier: MIT */
/*
 * HTTP: the glue to libmicrohttpd. An exchange is one request with its answer:
 *
 *   headers ─► checked (method, path, key, sizes) ─► body read ─► the route's function
 *                                                                  │
 *                   a reply at once  ◄─── server_reply_... ────────┤
 *                                                                  │ server_begin: a job
 *   stream: SSE from the job's events, as they come   ◄────────────┤
 *   otherwise: suspended until the job is over, then one body  ◄───┘
 *
 * An exchange belongs to the connection's thread and, while `suspended`, to the thread that holds the job's lock.
 * `suspended`, `resumed_at`, `gone`, `ping` and `has_news` are shared under this lock.
 *
 * libmicrohttpd sends the head and the end of a stream. The worker's thread sends the events between them while the
 * connection is suspended and the client keeps up. To wake libmicrohttpd's thread for each event takes 50 us a token
 * from the threads that compute (two cores of an EPYC 9005, busy). Where the client is slow, the request is HTTP/1.0 or
 * the connection has TLS, libmicrohttpd sends all.
 */
#ifndef VOUCH_SERVER_HTTP_H
#define VOUCH_SERVER_HTTP_H

#include <microhttpd.h>

#include "http/fault.h"
#include "call/form.h"
#include "server.h"
#include "work/watch.h"
#include "work/worker.h"

typedef struct server_exchange server_exchange;

/* A model at work. */
typedef struct server_model {
    const server_model_options *options;
    server_form *form; /* how the model writes thoughts and calls */
    server_worker *worker;
    atomic_bool fails_to_keep; /* so that a full disk is told once */
    pthread_mutex_t lock;
    vouch_speculation speculation;  /* under the lock: the default of requests that set none */
    float scales[VOUCH_MOST_LORAS]; /* likewise, of the model's adapters */
} server_model;

struct server {
    const server_options *options;
    server_model *models; /* [options->n_models] */
    size_t n_open;        /* models that are open */
    server_shelf *shelf;  /* their memory */
    server_watch *watch;
    struct MHD_Daemon *daemon;
    int32_t port;
    bool is_loopback;
    atomic_bool drains, fails_to_keep_prompts;
    atomic_flag moves_a_slot; /* a slot is being saved or restored; one at a time, since it holds a thread */
    atomic_int n_jobs;        /* exchanges whose job isn't over */
    atomic_int n_exchanges;   /* whose answer isn't sent */
    atomic_ullong n_ids;
    double started;
    int64_t started_at; /* seconds since 1970 */
};

enum { SERVER_MOST_BODY = 32 << 20 }; /* bytes of a request's body */

enum {
    SERVER_ROUTE_PUBLIC = 1u << 0,  /* no key */
    SERVER_ROUTE_ANSWERS = 1u << 1, /* runs the model, and streams where asked */
    SERVER_ROUTE_ADMIN = 1u << 2,   /* changes the server: where keys are asked for, only with the operator's */
    SERVER_ROUTE_REFUSED = 1u << 3  /* always 501 */
};

typedef struct server_route {
    const char *method, *path; /* a GET also answers HEAD. "{name}" at a path's end stands for any text */
    unsigned flags;
    void (*handle)(server_exchange *x);      /* replies, or begins a job */
    const char *about, *type;                /* for the OpenAPI document: what it does, and the type of its replies */
    const struct server_field_table *fields; /* of a POST's body; NULL: not from a table */
    unsigned where;                          /* the request's bit in the table */
} server_route;
extern const server_route server_routes[];
extern const size_t server_n_routes;

/* Turns a job's events into an answer. `state` is the format's own. */
typedef struct server_format {
    void (*begin)(server_exchange *x);                            /* stream: before the first event; may be NULL */
    void (*event)(server_exchange *x, const server_event *event); /* stream: appends to x->out; else keeps it */
    void (*end)(server_exchange *x);                              /* stream: after the last event; may be NULL */
    void (*fail)(server_exchange *x, const server_fault *fault);  /* stream: appends the error with which it ends */
    void (*body)(server_exchange *x, server_text *json);          /* otherwise: appends the body */
    void (*free)(void *state);
    const char *type; /* of a stream; NULL: SSE, with pings */
} server_format;

struct server_exchange {
    server *server;
    struct MHD_Connection *connection;
    server_deadline *deadline; /* the connection's; NULL: the connection is about to close */
    char *path;                /* of the request, with single slashes and none at its end; NULL: not read yet */
    const server_route *route;
    const char *rest;    /* what stands for "{name}" in the route's path; "": nothing */
    const char *allowed; /* the path's methods, for status 405 */
    uint64_t scope;      /* of the request's key */
    double keep_seconds; /* that the model stays afterwards (server_job) */
    const char *origin;  /* of the page that may read the answer; NULL: none asks */
    server_text body;
    bool body_too_long, is_handled;
    json_t *json; /* the body; NULL for GET */
    /* The reply, once there is one. */
    struct MHD_Response *response;
    int status;
    /* A job's answer. */
    server_model *model;
    server_job *job;
    const server_format *format;
    void *state;
    bool is_stream, is_over;
    server_text events, out; /* out holds SSE text; its first out_sent bytes are sent. out.failed, with and without a
                                stream: something of the answer is missing, because memory was short */
    size_t out_sent;
    server_watched watched;
    bool is_chunked;   /* a stream of this request is sent in chunks, which HTTP/1.0 doesn't know */
    double resumed_at; /* tool_now(); 0: libmicrohttpd has come back since, or needn't */
    double ping_due;   /* tool_now() */
    bool suspended, gone, ping;
    bool has_news; /* events have come since the last ping was due */
};

void server_reply_json(server_exchange *x, int status, json_t *body); /* takes the body */
void server_reply_text(server_exchange *x, int status, const char *type, const char *text, size_t n);
void server_reply_fault(server_exchange *x, const server_fault *fault);
/* An error as the route's API writes it. */
json_t *server_error_json(const server_exchange *x, const server_fault *fault);
/* Queues the job. The exchange owns job and `state` from now on. Replies 429 or 503 where the job can't be queued. */
void server_begin(server_exchange *x, server_model *model, server_job *job, bool is_stream, const server_format *format,
                  void *state);

/* A client that waits for something long has no deadline. The reply gives it one again. */
void server_clear_deadline(server_exchange *x);

/* Keeps the model's answers, where its draft memory has a folder. */
void server_keep_answers(server_model *model);

/* Appends an SSE event; `name` may be NULL. Takes the value. */
void server_sse(server_exchange *x, const char *name, json_t *value);
/* Appends the error with which a stream ends, as all APIs but the Responses write it. */
void server_sse_fault(server_exchange *x, const server_fault *fault);
/* "chatcmpl-4b1f..." : unique in this server. */
void server_make_id(server *s, const char *prefix, char id[64]);

/* Whose form the errors of a path have. */
typedef enum server_dialect {
    SERVER_DIALECT_OPENAI,
    SERVER_DIALECT_ANTHROPIC, /* /v1/messages and all paths under it */
    SERVER_DIALECT_OLLAMA     /* all paths under /api */
} server_dialect;
server_dialect server_dialect_of(const char *path);
/* Checks a request before its body is read (admit.c): a known path, an own host, an allowed origin, a key, and a length
 * that can be read in one way only. Sets x->path, x->route, and x->origin where a page of another site may
 * read the answer. False with a fault: the request is refused. */
bool server_admit(server_exchange *x, const char *method, const char *target, server_fault *fault);
/* Answers OPTIONS: the methods of a path, and to a browser what a page of an allowed origin may send. Needs no key. */
void server_answer_options(server_exchange *x, const char *target);

/* Starts and stops the daemon on the server's options. */
vouch_status server_http_open(server *s, vouch_error *err);
void server_http_close(server *s);

#endif
