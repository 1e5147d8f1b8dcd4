/* SPDX-License-Identifier: MIT */
#include "work/job.h"

#include <stdlib.h>
#include <string.h>

const vouch_guess *server_event_guesses(const server_event *event)
{
    return (const vouch_guess *)(const void *)(event + 1);
}

const vouch_logprob *server_event_logprobs(const server_event *event)
{
    return (const vouch_logprob *)(const void *)(server_event_guesses(event) + event->n_guesses);
}

const int32_t *server_event_tokens(const server_event *event)
{
    return (const int32_t *)(const void *)(server_event_logprobs(event) + event->n_tokens * event->width);
}

const char *server_event_text(const server_event *event)
{
    return (const char *)(server_event_tokens(event) + event->n_tokens);
}

server_job *server_job_new(int32_t n_choices)
{
    server_job *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    atomic_init(&job->n_references, 1);
    atomic_init(&job->cancelled, false);
    atomic_init(&job->full, false);
    pthread_mutex_init(&job->lock, NULL);
    job->limit = SIZE_MAX;
    job->keep_seconds = -1;
    job->n_choices = n_choices;
    job->slot = -1;
    job->choices = server_job_allocate(job, (size_t)n_choices, sizeof *job->choices);
    if (job->choices) return job;
    server_job_release(job);
    return NULL;
}

void *server_job_allocate(server_job *job, size_t n, size_t size)
{
    void **owned = realloc(job->owned, (job->n_owned + 1) * sizeof *owned);
    if (!owned) return NULL;
    job->owned = owned;
    owned[job->n_owned] = calloc(n ? n : 1, size);
    return owned[job->n_owned] ? owned[job->n_owned++] : NULL;
}

void server_job_hold(server_job *job)
{
    atomic_fetch_add(&job->n_references, 1);
}

void server_job_release(server_job *job)
{
    if (!job || atomic_fetch_sub(&job->n_references, 1) > 1) return;
    vouch_grammar_close(job->grammar);
    for (size_t i = 0; i < job->n_owned; i++) free(job->owned[i]);
    free(job->owned);
    server_text_free(&job->events);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

static void append(server_job *job, server_event event, const vouch_step *step)
{
    const size_t n_guesses = (size_t)event.n_guesses * sizeof *step->guesses;
    const size_t n_logprobs = (size_t)(event.n_tokens * event.width) * sizeof *step->logprobs;
    const size_t n_tokens = (size_t)event.n_tokens * sizeof *step->tokens;
    event.size = (uint32_t)((sizeof event + n_guesses + n_logprobs + n_tokens + event.n_text + 7) / 8 * 8);
    char *record = server_text_grow(&job->events, event.size);
    if (!record) return;
    memcpy(record, &event, sizeof event);
    record += sizeof event;
    if (n_guesses) memcpy(record, step->guesses, n_guesses);
    record += n_guesses;
    if (n_logprobs) memcpy(record, step->logprobs, n_logprobs);
    record += n_logprobs;
    if (n_tokens) memcpy(record, step->tokens, n_tokens);
    if (event.n_text) memcpy(record + n_tokens, step->text, event.n_text);
}

void server_job_add(server_job *job, server_event_kind kind, int32_t choice, const vouch_step *step,
                    const server_progress *progress)
{
    server_event event = {.kind = kind, .choice = choice};
    if (step) {
        event.n_tokens = step->n_tokens;
        event.n_accepted = step->n_accepted;
        event.n_guesses = job->with_guesses ? step->n_guesses : 0;
        event.width = step->logprobs ? 1 + job->options.top_logprobs : 0;
        event.n_text = (uint32_t)step->n_text;
        event.last = step->last;
        event.progress = *progress;
    }
    pthread_mutex_lock(&job->lock);
    append(job, event, step);
    job->n_over += kind == SERVER_EVENT_END;
    if (job->events.n >= job->limit) atomic_store(&job->full, true);
    if (job->wake) job->wake(job->wake_user);
    pthread_mutex_unlock(&job->lock);
}

void server_job_swap(server_job *job, server_text *out)
{
    const server_text events = job->events;
    job->events = *out;
    job->events.n = 0;
    *out = events;
}

bool server_job_take(server_job *job, server_text *out, bool *was_full)
{
    pthread_mutex_lock(&job->lock);
    server_job_swap(job, out);
    *was_full = atomic_exchange(&job->full, false);
    const bool is_over = job->n_over == job->n_choices || out->failed;
    pthread_mutex_unlock(&job->lock);
    return is_over;
}
