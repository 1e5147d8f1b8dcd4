/* SPDX-License-Identifier: MIT */
#include "work/worker.h"

#include <stdio.h>
#include <stdlib.h>

#include "os/os.h"
#include "tool/term.h"

/* A session and the choice that it answers. */
typedef struct live {
    vouch_session *session;
    server_job *job;
    int32_t choice;
    bool is_paused;
    double last; /* tool_now() of the last token; 0: none yet */
} live;

struct server_worker {
    server_worker_options options;
    vouch_engine *engine;
    pthread_t thread;
    live *lives; /* [n_lives], room for options.engine.n_sessions; the thread's */
    int32_t n_lives;

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t change;
    server_job *first, *last; /* jobs with choices that wait */
    int32_t n_waiting;        /* these choices */
    bool notified, cancels, ends;
    bool forgets; /* `forgotten` tells when it is false again */
    pthread_cond_t forgotten;
    server_worker_state state;
};

/* -------------------------------------------------------------------- queue */

bool server_worker_submit(server_worker *w, server_job *job)
{
    pthread_mutex_lock(&w->lock);
    const bool fits = w->n_waiting == 0 || w->n_waiting + job->n_choices <= w->options.n_queue;
    if (fits) {
        server_job_hold(job);
        for (int32_t i = 0; i < job->n_choices; i++) job->choices[i].queued = tool_now();
        if (w->last) w->last->next = job;
        else w->first = job;
        w->last = job;
        w->n_waiting += job->n_choices;
        pthread_cond_signal(&w->change);
    }
    pthread_mutex_unlock(&w->lock);
    return fits;
}

void server_worker_notify(server_worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->notified = true;
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
}

void server_worker_forget(server_worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->forgets = true;
    pthread_cond_signal(&w->change);
    while (w->forgets && !w->ends) pthread_cond_wait(&w->forgotten, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void server_worker_cancel_all(server_worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->cancels = true;
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
}

server_worker_state server_worker_get_state(server_worker *w)
{
    pthread_mutex_lock(&w->lock);
    server_worker_state state = w->state;
    state.n_waiting = w->n_waiting;
    state.n_sessions = w->options.engine.n_sessions;
    pthread_mutex_unlock(&w->lock);
    return state;
}

/* The next waiting choice, with a reference to its job; false: none waits. */
static bool queue_take(server_worker *w, server_job **job, int32_t *choice)
{
    pthread_mutex_lock(&w->lock);
    server_job *first = w->first;
    if (first) {
        *job = first;
        *choice = first->n_begun++;
        w->n_waiting--;
        if (first->n_begun < first->n_choices) {
            server_job_hold(first);
        } else { /* the queue's reference becomes the caller's */
            w->first = first->next;
            if (!w->first) w->last = NULL;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return first != NULL;
}

/* Takes the first cancelled job out of the queue, with the queue's reference; with `all`, the first job. NULL: none. */
static server_job *queue_take_cancelled(server_worker *w, bool all)
{
    pthread_mutex_lock(&w->lock);
    server_job *before = NULL, *job = w->first;
    while (job && !all && !atomic_load(&job->cancelled)) before = job, job = job->next;
    if (job) {
        if (before) before->next = job->next;
        else w->first = job->next;
        if (w->last == job) w->last = before;
        w->n_waiting -= job->n_choices - job->n_begun;
    }
    pthread_mutex_unlock(&w->lock);
    return job;
}

/* ------------------------------------------------------------------ choices */

/* Ends a choice whose session, if any, is closed; gives back the job's reference. */
static void choice_end(server_worker *w, server_job *job, int32_t choice)
{
    job->choices[choice].ended = tool_now();
    pthread_mutex_lock(&w->lock);
    server_metrics_choice(&w->state.metrics, &job->choices[choice]);
    pthread_mutex_unlock(&w->lock);
    server_job_add(job, SERVER_EVENT_END, choice, NULL, NULL);
    server_job_release(job);
}

static void live_end(server_worker *w, int32_t at)
{
    const live l = w->lives[at];
    server_choice *choice = &l.job->choices[l.choice];
    choice->stats = *vouch_session_stats(l.session);
    vouch_session_close(l.session);
    w->lives[at] = w->lives[--w->n_lives];
    choice_end(w, l.job, l.choice);
}

static vouch_status session_begin(server_worker *w, server_job *job, server_choice *choice, vouch_session **out)
{
    vouch_session_options options = job->options;
    options.sampling.seed = choice->seed;
    vouch_status status = vouch_engine_session_open(out, w->engine, &options, &choice->error);
    if (!status && job->prediction)
        status = vouch_session_predict(*out, job->prediction, job->n_prediction, &choice->error);
    if (!status && choice->prompt_logprobs)
        status = vouch_session_score_prompt(*out, job->options.top_logprobs, choice->prompt_logprobs, &choice->error);
    if (!status && choice->embedding)
        status = vouch_session_embed(*out, choice->tokens, choice->n_tokens, job->pooling, choice->embedding,
                                     &choice->error);
    else if (!status) status = vouch_session_prompt(*out, choice->tokens, choice->n_tokens, &choice->error);
    if (!status) return VOUCH_OK;
    vouch_session_close(*out);
    return status;
}

static void choice_begin(server_worker *w, server_job *job, int32_t number)
{
    server_choice *choice = &job->choices[number];
    live *l = &w->lives[w->n_lives];
    *l = (live){.job = job, .choice = number};
    choice->begun = tool_now();
    if (session_begin(w, job, choice, &l->session)) {
        choice_end(w, job, number);
        return;
    }
    w->n_lives++;
    const bool is_scored = choice->prompt_logprobs && choice->n_tokens > 1;
    if (!job->prompt_only || is_scored || choice->embedding) return;
    choice->finish = VOUCH_FINISH_LENGTH;
    live_end(w, w->n_lives - 1);
}

static void live_step(server_worker *w, int32_t at, const vouch_engine_event *event)
{
    live *l = &w->lives[at];
    server_choice *choice = &l->job->choices[l->choice];
    if (event->status != VOUCH_OK) {
        choice->error.code = event->status;
        snprintf(choice->error.message, sizeof choice->error.message, "%s", vouch_status_text(event->status));
        live_end(w, at);
        return;
    }
    if (event->step.n_tokens == 0) { /* the prompt is scored, or is a vector now */
        if (!l->job->prompt_only) return;
        choice->finish = VOUCH_FINISH_LENGTH;
        live_end(w, at);
        return;
    }
    if (choice->first == 0) {
        choice->first = tool_now();
        choice->n_cached = (int64_t)choice->n_tokens - vouch_session_stats(l->session)->prompt_tokens;
    }
    const double now = tool_now();
    if (l->last > 0) {
        pthread_mutex_lock(&w->lock);
        server_metrics_tokens(&w->state.metrics, (now - l->last) / event->step.n_tokens, event->step.n_tokens);
        pthread_mutex_unlock(&w->lock);
    }
    l->last = now;
    choice->finish = event->step.finish;
    choice->stop = event->step.stop;
    const vouch_stats *stats = vouch_session_stats(l->session);
    const server_progress progress = {.n_run = stats->prompt_tokens,
                                      .n_cached = choice->n_cached,
                                      .n_generated = stats->generated_tokens,
                                      .n_drafted = stats->drafted,
                                      .n_accepted = stats->accepted,
                                      .prefill_seconds = choice->first - choice->begun,
                                      .decode_seconds = now - choice->first};
    server_job_add(l->job, SERVER_EVENT_STEP, l->choice, &event->step, &progress);
    if (choice->finish != VOUCH_FINISH_NONE) live_end(w, at);
}

/* -------------------------------------------------------------------- thread */

static void drop_cancelled(server_worker *w, bool all)
{
    for (int32_t i = w->n_lives - 1; i >= 0; i--) {
        live *l = &w->lives[i];
        if (!all && !atomic_load(&l->job->cancelled)) continue;
        l->job->choices[l->choice].error = (vouch_error){VOUCH_E_CANCELLED, "the request was cancelled"};
        live_end(w, i);
    }
    for (server_job *job; (job = queue_take_cancelled(w, all));) {
        while (job->n_begun < job->n_choices) {
            const int32_t choice = job->n_begun++;
            job->choices[choice].error = (vouch_error){VOUCH_E_CANCELLED, "the request was cancelled"};
            server_job_hold(job);
            choice_end(w, job, choice);
        }
        server_job_release(job);
    }
}

/* Pauses the sessions of full jobs and resumes the others. Returns the number of sessions that may run. */
static int32_t pause_full(server_worker *w)
{
    int32_t n = 0;
    for (int32_t i = 0; i < w->n_lives; i++) {
        live *l = &w->lives[i];
        const bool is_full = atomic_load(&l->job->full);
        if (is_full != l->is_paused) vouch_session_pause(l->session, is_full);
        l->is_paused = is_full;
        n += !is_full;
    }
    return n;
}

static void forget_if_asked(server_worker *w)
{
    pthread_mutex_lock(&w->lock);
    if (w->forgets) vouch_engine_forget(w->engine);
    w->forgets = false;
    pthread_cond_broadcast(&w->forgotten);
    pthread_mutex_unlock(&w->lock);
}

/* Steps 1 to 3 of worker.h. Sleeps while there is nothing to run; false: the worker ends. */
static bool prepare_pass(server_worker *w)
{
    for (;;) {
        pthread_mutex_lock(&w->lock);
        const bool cancels = w->cancels || w->ends, ends = w->ends;
        w->notified = w->cancels = false;
        pthread_mutex_unlock(&w->lock);
        drop_cancelled(w, cancels);
        forget_if_asked(w);
        server_job *job;
        int32_t choice;
        while (w->n_lives < w->options.engine.n_sessions && queue_take(w, &job, &choice)) choice_begin(w, job, choice);
        const bool runs = pause_full(w) > 0;
        pthread_mutex_lock(&w->lock);
        w->state.n_running = w->n_lives;
        const bool has_room = w->n_lives < w->options.engine.n_sessions;
        while (!ends && !runs && !w->notified && !w->forgets && !w->cancels && !w->ends && !(w->first && has_room))
            pthread_cond_wait(&w->change, &w->lock);
        pthread_mutex_unlock(&w->lock);
        if (runs || ends) return !ends;
    }
}

static void *worker_run(void *arg)
{
    server_worker *w = arg;
    const vouch_engine_event *events;
    size_t n_events;
    while (prepare_pass(w)) {
        vouch_engine_step(w->engine, &events, &n_events);
        pthread_mutex_lock(&w->lock);
        w->state.engine = *vouch_engine_get_stats(w->engine);
        vouch_engine_pass_seconds(w->engine, SERVER_COST_ROWS, w->state.pass_seconds);
        pthread_mutex_unlock(&w->lock);
        for (size_t i = 0; i < n_events; i++) {
            int32_t at = 0;
            while (w->lives[at].session != events[i].session) at++;
            live_step(w, at, &events[i]);
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------- opening */

vouch_status server_worker_open(server_worker **out, const server_worker_options *options, vouch_error *err)
{
    *out = NULL;
    server_worker *w = calloc(1, sizeof *w);
    live *lives = calloc((size_t)options->engine.n_sessions, sizeof *lives);
    if (!w || !lives) {
        free(w);
        free(lives);
        *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the server"};
        return VOUCH_E_MEMORY;
    }
    w->options = *options;
    w->lives = lives;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->change, NULL);
    pthread_cond_init(&w->forgotten, NULL);
    vouch_status status = vouch_engine_open(&w->engine, options->model, &options->engine, err);
    if (!status) w->state.memory = vouch_engine_memory(w->engine);
    if (!status && !vouch_os_thread_start(&w->thread, worker_run, w)) {
        *err = (vouch_error){VOUCH_E_MEMORY, "the system gives no more threads"};
        vouch_engine_close(w->engine);
        w->engine = NULL;
        status = VOUCH_E_MEMORY;
    }
    if (!status) *out = w;
    else server_worker_close(w);
    return status;
}

void server_worker_close(server_worker *w)
{
    if (!w) return;
    if (w->engine) {
        pthread_mutex_lock(&w->lock);
        w->ends = true;
        pthread_cond_signal(&w->change);
        pthread_cond_broadcast(&w->forgotten);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        vouch_engine_close(w->engine);
    }
    pthread_cond_destroy(&w->forgotten);
    pthread_cond_destroy(&w->change);
    pthread_mutex_destroy(&w->lock);
    free(w->lives);
    free(w);
}
