/* SPDX-License-Identifier: MIT */
/*
 * The server: models behind HTTP, in the words of the OpenAI, Anthropic and Ollama APIs and of llama.cpp
 * (docs/server.md).
 *
 *   client ─ socket ─ libmicrohttpd, a few threads         http.c, watch.c
 *                       │ a request, read and checked      routes.c, fields.c, request.c, prompt.c
 *                       ▼
 *                      job ──► worker: one thread a model, one engine, one pass for all its sessions
 *                       │                                  job.c, worker.c
 *                       ▼ events
 *                     SSE or one JSON body                 openai.c, ...
 *
 * The room sees the library through vouch.h only, and common/ of the command.
 */
#ifndef VOUCH_SERVER_SERVER_H
#define VOUCH_SERVER_SERVER_H

#include "vouch.h"

typedef struct server server;

/* What has been loaded of a model that comes on demand. */
typedef struct server_stock {
    const vouch_model *model;
    vouch_speculation speculation; /* its draft model and files alone */
    int64_t bytes;                 /* of all this */
} server_stock;

/* Loads and unloads models, each in the thread of its worker. */
typedef struct server_supply {
    /* Loads model i. Errors: any, with a message for clients; then nothing is loaded. */
    vouch_status (*load)(void *user, size_t i, vouch_progress_fn progress, void *progress_user, server_stock *out,
                         vouch_error *err);
    void (*unload)(void *user, size_t i);
    void *user;
} server_supply;

typedef struct server_model_options {
    const char *name;
    const char *path;                 /* the model's file, which /props tells */
    bool is_on_demand;                /* `model` has no weights (text_only), and the supply loads them when needed */
    const vouch_model *model, *draft; /* draft may be NULL */
    const char *const *adapters;      /* [session.n_adapter_scales] paths of the model's adapters */
    vouch_pooling pooling;            /* of embeddings; NONE: the model makes none */
    vouch_session_options session;    /* the defaults of requests; its texts and arrays must outlive the server */
} server_model_options;

typedef struct server_options {
    const char *host;
    int32_t port;            /* 0: a free one */
    const char *const *keys; /* [n_keys] each of them grants access; n_keys 0: no key is asked for */
    size_t n_keys;
    const char *admin_key;      /* lets a request do everything, also change the server; NULL: where there are keys, no
                               request      may change it */
    const uint64_t *scopes;     /* [n_keys] of each key's answers and prompts (vouch_session_options); NULL: 0 */
    const char *const *origins; /* [n_origins] pages that may ask: "https://host:port", "localhost" or "*" */
    size_t n_origins;
    const char *certificate, *private_key; /* PEM texts of TLS; NULL: plain HTTP */
    const server_model_options *models;    /* [n_models] at least 1; the first is the default */
    size_t n_models;
    server_supply supply;        /* of models that come on demand */
    int64_t most_memory;         /* bytes of all models together; 0: no bound */
    double idle_seconds;         /* after which a model that came on demand goes; INFINITY: it stays */
    const char *slots_folder;    /* for files of slots (api/slots.h); NULL: none are saved */
    vouch_engine_options engine; /* of each model */
    int32_t n_queue;             /* most choices of a model that wait */
    const char *metrics_prefix;  /* of the names in /metrics: "vouch" */
    double ping_seconds;         /* a stream without news gets a comment this often */
    double timeout_seconds;      /* after this a client that sends or reads too slowly is dropped (docs/server.md) */
} server_options;

/* Whether connections can have TLS in this build. */
bool server_has_tls(void);
/* Opens workers and socket, and answers from now on, in threads of its own. `options` must outlive the server.
 * Errors: ARGUMENT (an option), MEMORY, IO (the address). */
vouch_status server_open(server **out, const server_options *options, vouch_error *err);
/* The port, also where 0 was asked for. */
int32_t server_port(const server *s);
/* Bytes of the engine of model i: cache and workspace. */
size_t server_memory(server *s, size_t i);
/* New work is refused with 503 from now on. */
void server_drain(server *s);
/* Whether some answer is still being computed or sent. */
bool server_is_busy(server *s);
/* Ends running work, and the server. NULL is allowed. */
void server_close(server *s);

#endif
