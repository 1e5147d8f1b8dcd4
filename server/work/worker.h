/* SPDX-License-Identifier: MIT */
/*
 * A worker: the thread that owns a model's engine. Between two passes it
 *
 *   1 drops the sessions of cancelled jobs        a client that has gone costs no further pass
 *   2 runs errands of other threads               what they want of the engine, such as the files of a slot
 *   3 loads or unloads the model                  where it comes on demand (shelf.h): jobs wait for it in the queue
 *   4 begins waiting choices, oldest job first    as long as the engine has room for sessions
 *   5 pauses and resumes sessions of full jobs    a client that doesn't read costs nothing either
 *
 * and then runs one pass for all sessions, and adds each session's step to its job. Without work it sleeps.
 */
#ifndef VOUCH_SERVER_WORKER_H
#define VOUCH_SERVER_WORKER_H

#include "server.h"
#include "work/metrics.h"
#include "work/shelf.h"
#include "work/slots.h"

typedef struct server_worker server_worker;

typedef struct server_worker_options {
    const server_model_options *model; /* must outlive the worker, as what follows */
    size_t number;                     /* of the model */
    const server_supply *supply;       /* of a model that comes on demand; NULL: it is there */
    server_shelf *shelf;               /* likewise */
    double idle_seconds;
    vouch_engine_options engine;
    int32_t n_queue; /* most choices that wait for a session */
} server_worker_options;

vouch_status server_worker_open(server_worker **out, const server_worker_options *options, vouch_error *err);
/* Ends the thread. Jobs that still run end with CANCELLED. NULL is allowed. */
void server_worker_close(server_worker *worker);

/* Queues the job and takes a reference of its own. False: the queue is full. */
bool server_worker_submit(server_worker *worker, server_job *job);
/* Something about a job has changed: it was cancelled, or its events were taken. */
void server_worker_notify(server_worker *worker);
/* Runs something in the worker's thread between two passes, and returns when that is done. False: the model isn't
 * loaded (or the worker ends, or is NULL), and it didn't run. */
typedef void server_errand(vouch_engine *engine, server_slots *slots, void *user);
bool server_worker_call(server_worker *worker, server_errand *run, void *user);
bool server_worker_slot_is_busy(const server_worker *worker, int32_t slot);
/* Loads a model that comes on demand, or unloads it once its jobs are over. Return at once. */
void server_worker_load(server_worker *worker);
void server_worker_unload(server_worker *worker);
/* Cancels all jobs, waiting and running. */
void server_worker_cancel_all(server_worker *worker);

enum { SERVER_COST_ROWS = 17 }; /* a token and 16 guesses */

/* Where a model is. SLEEPING: it went because nobody had asked for it. */
#define SERVER_STAGE_LIST(X) \
    X(UNLOADED, unloaded)    \
    X(WAITING, loading)      \
    X(LOADING, loading)      \
    X(LOADED, loaded)        \
    X(SLEEPING, sleeping)    \
    X(FAILED, unloaded)
typedef enum server_stage {
#define SERVER_STAGE_ENUM(constant, name) SERVER_STAGE_##constant,
    SERVER_STAGE_LIST(SERVER_STAGE_ENUM)
#undef SERVER_STAGE_ENUM
} server_stage;
const char *server_stage_name(server_stage stage); /* as llama.cpp's router has it */

/* The state for /metrics, /slots, /props and /v1/models. */
typedef struct server_worker_state {
    server_stage stage;
    double progress;  /* of LOADING, 0 to 1 */
    double goes_in;   /* seconds until a loaded model goes; INFINITY: it stays, or has work */
    int64_t n_loads;  /* of the model, since the start */
    int64_t bytes;    /* of the model in memory, with its engine */
    vouch_error fail; /* of FAILED */
    int32_t n_running, n_waiting;
    vouch_engine_stats engine;             /* of the last pass */
    double pass_seconds[SERVER_COST_ROWS]; /* of 1, 2, ... rows; 0: no pass yet */
    size_t memory;                         /* bytes of the engine */
    server_metrics metrics;
} server_worker_state;
server_worker_state server_worker_get_state(server_worker *worker);
/* What a job of the worker waits for: "loading NAME, 43 %". "": the model is there. */
void server_worker_news(server_worker *worker, char *text, size_t size);

#endif
