/* SPDX-License-Identifier: MIT */
/*
 * A worker: the thread that owns a model's engine. Between two passes it
 *
 *   1 drops the sessions of cancelled jobs        a client that has gone costs no further pass
 *   2 begins waiting choices, oldest job first    as long as the engine has room for sessions
 *   3 pauses and resumes sessions of full jobs    a client that doesn't read costs nothing either
 *
 * and then runs one pass for all sessions, and adds each session's step to its job. Without work it sleeps.
 */
#ifndef VOUCH_SERVER_WORKER_H
#define VOUCH_SERVER_WORKER_H

#include "work/metrics.h"

typedef struct server_worker server_worker;

typedef struct server_worker_options {
    const vouch_model *model; /* must outlive the worker */
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
/* Drops the pages of prompts that no running job uses, and returns when that is done. */
void server_worker_forget(server_worker *worker);
/* Cancels all jobs, waiting and running. */
void server_worker_cancel_all(server_worker *worker);

enum { SERVER_COST_ROWS = 17 }; /* a token and 16 guesses */

/* The state for /metrics, /slots and /props. */
typedef struct server_worker_state {
    int32_t n_running, n_waiting, n_sessions;
    vouch_engine_stats engine;             /* of the last pass */
    double pass_seconds[SERVER_COST_ROWS]; /* of 1, 2, ... rows; 0: no pass yet */
    size_t memory;                         /* bytes of the engine */
    server_metrics metrics;
} server_worker_state;
server_worker_state server_worker_get_state(server_worker *worker);

#endif
