/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <stdlib.h>
#include <time.h>

#include "tool/term.h"
#include "http/http.h"

static vouch_status fail_memory(vouch_error *err)
{
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the server"};
    return VOUCH_E_MEMORY;
}

static vouch_status models_open(server *s, vouch_error *err)
{
    const server_options *o = s->options;
    for (; s->n_open < o->n_models; s->n_open++) {
        server_model *m = &s->models[s->n_open];
        m->options = &o->models[s->n_open];
        m->speculation = m->options->session.speculation;
        for (int32_t i = 0; i < m->options->session.n_adapter_scales; i++)
            m->scales[i] = m->options->session.adapter_scales[i];
        server_worker_options worker = {.model = m->options,
                                        .number = s->n_open,
                                        .supply = m->options->is_on_demand ? &o->supply : NULL,
                                        .shelf = s->shelf,
                                        .idle_seconds = o->idle_seconds,
                                        .engine = o->engine,
                                        .n_queue = o->n_queue};
        worker.engine.n_ctx = m->options->session.n_ctx;
        m->form = server_form_open(m->options->model);
        const vouch_status status = m->form ? server_worker_open(&m->worker, &worker, err) : fail_memory(err);
        if (status) {
            server_form_close(m->form);
            return status;
        }
        pthread_mutex_init(&m->lock, NULL);
    }
    return VOUCH_OK;
}

vouch_status server_open(server **out, const server_options *options, vouch_error *err)
{
    *out = NULL;
    server *s = calloc(1, sizeof *s);
    if (s) s->models = calloc(options->n_models, sizeof *s->models);
    if (s) s->shelf = server_shelf_open(options->most_memory);
    if (!s || !s->models || !s->shelf) {
        if (s) {
            server_shelf_close(s->shelf);
            free(s->models);
        }
        free(s);
        return fail_memory(err);
    }
    s->options = options;
    s->started = tool_now();
    s->started_at = (int64_t)time(NULL);
    vouch_status status = models_open(s, err);
    if (!status) status = server_http_open(s, err);
    if (!status) *out = s;
    else server_close(s);
    return status;
}

int32_t server_port(const server *s)
{
    return s->port;
}

size_t server_memory(server *s, size_t i)
{
    return server_worker_get_state(s->models[i].worker).memory;
}

void server_drain(server *s)
{
    atomic_store(&s->drains, true);
}

bool server_is_busy(server *s)
{
    return atomic_load(&s->n_exchanges) > 0;
}

/* Waits until the number is 0, but no longer than `seconds`. */
static void wait_for_none(atomic_int *number, double seconds)
{
    for (const double start = tool_now(); atomic_load(number) > 0 && tool_now() < start + seconds;)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Every job ends with CANCELLED, which resumes its connection: libmicrohttpd can't stop with a suspended one. Then
 * there is a moment for the last replies to be sent. */
void server_close(server *s)
{
    if (!s) return;
    server_drain(s);
    for (size_t i = 0; i < s->n_open; i++) server_worker_cancel_all(s->models[i].worker);
    wait_for_none(&s->n_jobs, 5);
    wait_for_none(&s->n_exchanges, 0.5);
    server_http_close(s);
    for (size_t i = 0; i < s->n_open; i++) {
        server_worker_close(s->models[i].worker);
        server_form_close(s->models[i].form);
        pthread_mutex_destroy(&s->models[i].lock);
    }
    server_shelf_close(s->shelf);
    free(s->models);
    free(s);
}
