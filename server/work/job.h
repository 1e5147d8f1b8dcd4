/* SPDX-License-Identifier: MIT */
/*
 * A job: what one request asks of a model, and what comes back. A request has one choice for each prompt and each of
 * its `n` answers; a choice is one session of the engine.
 *
 *   HTTP thread ── server_worker_submit ──► queue ──► worker's thread: a session for each choice
 *        ▲                                                 │ after each pass
 *        └── server_job_take ◄── events ◄── server_job_add ┘
 *                                (bytes, bounded: a full job's sessions pause)
 *
 * The HTTP thread and the worker hold a reference each. The lock guards what is below it in the struct.
 */
#ifndef VOUCH_SERVER_JOB_H
#define VOUCH_SERVER_JOB_H

#include <pthread.h>
#include <stdatomic.h>

#include "work/text.h"
#include "vouch.h"

typedef enum server_event_kind {
    SERVER_EVENT_STEP,
    SERVER_EVENT_END /* of a choice; its result is final */
} server_event_kind;

/* How far a choice has come: `timings` of llama.cpp. */
typedef struct server_progress {
    int64_t n_run, n_cached; /* tokens of the prompt: run through the model; taken from the cache */
    int64_t n_generated, n_drafted, n_accepted;
    double prefill_seconds, decode_seconds; /* up to the first token; after it */
} server_progress;

/* One record of a job's events. Behind it lie guesses [n_guesses], logprobs [n_tokens][width], tokens [n_tokens] and
 * text [n_text]. */
typedef struct server_event {
    _Alignas(8) uint32_t size; /* of the record, a multiple of 8, so that the guesses behind it are aligned */
    server_event_kind kind;
    int32_t choice;
    int32_t n_tokens, n_accepted, n_guesses;
    int32_t width; /* 1 + top_logprobs; 0: no logprobs */
    uint32_t n_text;
    vouch_origin last;        /* where the last token came from */
    server_progress progress; /* at the end of the step */
} server_event;

const vouch_guess *server_event_guesses(const server_event *event);
const vouch_logprob *server_event_logprobs(const server_event *event);
const int32_t *server_event_tokens(const server_event *event);
const char *server_event_text(const server_event *event);

/* A choice: what to do, and how it ended. */
typedef struct server_choice {
    const int32_t *tokens; /* [n_tokens] the prompt, owned by the job; choices may share it */
    size_t n_tokens;
    uint64_t seed;
    float *embedding; /* [n_embd] of the prompt, in place of an answer. The worker fills it, the job owns it; NULL: not
                         wanted */
    vouch_logprob *prompt_logprobs; /* [n_tokens - 1][1 + top_logprobs] for all tokens of the prompt but the first. The
                                       worker fills it, the job owns it; NULL: not wanted */
    /* Filled before the END event. */
    vouch_error error; /* code VOUCH_OK: the answer ended as `finish` says */
    vouch_finish finish;
    int32_t stop;     /* with finish STOP: the number of the text in options.stop */
    int32_t slot;     /* in which it ran, as /slots numbers them */
    int64_t n_cached; /* tokens of the prompt that were in the cache */
    vouch_stats stats;
    double queued, begun, first, ended; /* seconds of tool_now: submitted, session open, first token, end */
} server_choice;

typedef struct server_job {
    atomic_int n_references;
    atomic_bool cancelled;         /* the client has gone; the worker drops its sessions before the next pass */
    atomic_bool full;              /* events wait that the client doesn't read */
    vouch_session_options options; /* the job owns stop and bias */
    vouch_grammar *grammar;        /* of the options, owned by the job; NULL: none */
    const char *prediction;        /* [n_prediction], owned by the job; NULL: none */
    size_t n_prediction;
    double keep_seconds;    /* that a model which came on demand stays after the answer; negative: the usual time */
    bool prompt_only;       /* no answer is wanted, only prompt_logprobs or embeddings */
    vouch_pooling pooling;  /* of embeddings */
    bool with_guesses;      /* events carry the guesses of their step */
    size_t limit;           /* bytes of events that may wait */
    server_choice *choices; /* [n_choices] */
    int32_t n_choices;
    int32_t slot;            /* that the first choice wants, if it is free, as /slots numbers them; -1: any */
    struct server_job *next; /* the worker's queue */
    int32_t n_begun;         /* choices that have left the queue; used by whoever takes the job from it */
    void **owned;            /* [n_owned] freed with the job */
    size_t n_owned;

    pthread_mutex_t lock;
    server_text events;
    int32_t n_over;           /* choices that have ended */
    void (*wake)(void *user); /* called under the lock after each event; NULL: nobody waits */
    void *wake_user;
} server_job;

/* NULL when memory is short. The caller holds the only reference. */
server_job *server_job_new(int32_t n_choices);
/* Zeroed memory that lives as long as the job; NULL when memory is short. */
void *server_job_allocate(server_job *job, size_t n, size_t size);
void server_job_hold(server_job *job);
void server_job_release(server_job *job); /* NULL is allowed */

/* The worker adds events; `step` and `progress` are NULL for END. */
void server_job_add(server_job *job, server_event_kind kind, int32_t choice, const vouch_step *step,
                    const server_progress *progress);
/* Exchanges the waiting events with the text *out, whose content is dropped. The caller holds the lock. */
void server_job_swap(server_job *job, server_text *out);
/* Does so under the lock. Returns whether all choices have ended. A job whose events ran out of memory is over, with
 * out->failed. Where *was_full, the worker has to be notified. */
bool server_job_take(server_job *job, server_text *out, bool *was_full);

#endif
