/* SPDX-License-Identifier: MIT */
#include "work/worker.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/os.h"
#include "tool/term.h"

/* What another thread wants from the worker's; on that thread's stack. */
typedef struct errand {
    server_errand *run;
    void *user;
    bool is_over, has_run;
    struct errand *next;
} errand;

/* A session and the choice that it answers. */
typedef struct live {
    vouch_session *session;
    server_job *job;
    int32_t choice, slot;
    bool is_paused;
    double last; /* tool_now() of the last token; 0: none yet */
} live;

struct server_worker {
    server_worker_options options;
    pthread_t thread;
    bool has_thread;
    /* The thread's. */
    vouch_engine *engine;       /* NULL: the model isn't loaded */
    server_stock stock;         /* of a model that came on demand */
    vouch_engine_stats earlier; /* of its engines before this one */
    server_place place;
    bool is_idle;
    double keep_seconds, goes_at; /* tool_now() at which an idle model goes */
    live *lives;                  /* [n_lives], room for options.engine.n_sessions */
    int32_t n_lives;
    server_slots slots;

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t change;
    server_job *first, *last; /* jobs with choices that wait */
    int32_t n_waiting;        /* these choices */
    bool notified, cancels, ends, loads, unloads;
    struct errand *errands; /* `errand_over` tells that one is over */
    pthread_cond_t errand_over;
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
        w->notified = true;
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

/* Queues an errand of the caller's, and returns when it is over. */
static void errand_wait(server_worker *w, errand *e)
{
    pthread_mutex_lock(&w->lock);
    if (w->state.stage == SERVER_STAGE_LOADED && !w->ends) {
        errand **end = &w->errands;
        while (*end) end = &(*end)->next;
        *end = e;
        pthread_cond_signal(&w->change);
        while (!e->is_over) pthread_cond_wait(&w->errand_over, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}

bool server_worker_call(server_worker *w, server_errand *run, void *user)
{
    errand e = {.run = run, .user = user};
    if (w) errand_wait(w, &e);
    return e.has_run;
}

bool server_worker_slot_is_busy(const server_worker *w, int32_t slot)
{
    return atomic_load(&w->slots.all[slot].is_busy);
}

static void ask_for(server_worker *w, bool loads)
{
    pthread_mutex_lock(&w->lock);
    w->loads = loads;
    w->unloads = !loads;
    w->notified = true;
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
}

void server_worker_load(server_worker *w)
{
    ask_for(w, true);
}

void server_worker_unload(server_worker *w)
{
    ask_for(w, false);
}

const char *server_stage_name(server_stage stage)
{
    static const char *const names[] = {
#define SERVER_STAGE_NAME(constant, name) #name,
        SERVER_STAGE_LIST(SERVER_STAGE_NAME)
#undef SERVER_STAGE_NAME
    };
    return names[stage];
}

void server_worker_news(server_worker *w, char *text, size_t size)
{
    const server_worker_state state = server_worker_get_state(w);
    const char *name = w->options.model->name;
    *text = '\0';
    if (state.stage == SERVER_STAGE_LOADING)
        snprintf(text, size, "loading %s, %d %%", name, (int)(100 * state.progress));
    else if (state.stage == SERVER_STAGE_WAITING)
        snprintf(text, size, "%s waits for memory, %d models before it", name,
                 (int)fmax(0, server_shelf_before(w->options.shelf, &w->place)));
}

server_worker_state server_worker_get_state(server_worker *w)
{
    pthread_mutex_lock(&w->lock);
    server_worker_state state = w->state;
    state.goes_in = state.goes_in == 0 ? INFINITY : fmax(0, state.goes_in - tool_now()); /* kept as a moment */
    state.n_waiting = w->n_waiting;
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
static server_job *queue_take_job(server_worker *w, bool all)
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
    server_slots_end(&w->slots, l.slot);
    w->lives[at] = w->lives[--w->n_lives];
    choice_end(w, l.job, l.choice);
}

/* The draft model and the files that came with the model. */
static void stock_take(const server_stock *stock, vouch_speculation *speculation)
{
    const vouch_speculation *from = &stock->speculation;
    speculation->draft_model = from->draft_model;
    speculation->draft_vocab = from->draft_vocab;
    speculation->n_draft_vocab = from->n_draft_vocab;
    memcpy(speculation->files, from->files, sizeof from->files);
}

static vouch_status session_begin(server_worker *w, server_job *job, server_choice *choice, vouch_session **out)
{
    vouch_session_options options = job->options;
    options.sampling.seed = choice->seed;
    if (w->options.supply) stock_take(&w->stock, &options.speculation);
    if (job->keep_seconds >= 0) w->keep_seconds = job->keep_seconds;
    else w->keep_seconds = INFINITY;
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

static void slot_begin(server_worker *w, live *l)
{
    const int32_t n = w->slots.n, first = (int32_t)w->options.number * n;
    const vouch_session_options *o = &l->job->options;
    server_choice *choice = &l->job->choices[l->choice];
    l->slot =
        server_slots_take(&w->slots, l->choice == 0 ? l->job->slot - first : -1, o, choice->tokens, choice->n_tokens);
    if (!choice->embedding) server_slots_set(&w->slots, l->slot, o, choice->tokens, choice->n_tokens);
    choice->slot = first + l->slot;
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
    slot_begin(w, l);
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
    server_slots_add(&w->slots, l->slot, event->step.tokens, (size_t)event->step.n_tokens);
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

/* Ends the cancelled jobs of the queue, or all, with this error. */
static void queue_drop(server_worker *w, bool all, const vouch_error *err)
{
    for (server_job *job; (job = queue_take_job(w, all));) {
        while (job->n_begun < job->n_choices) {
            const int32_t choice = job->n_begun++;
            job->choices[choice].error = *err;
            server_job_hold(job);
            choice_end(w, job, choice);
        }
        server_job_release(job);
    }
}

static void drop_cancelled(server_worker *w, bool all)
{
    const vouch_error cancelled = {VOUCH_E_CANCELLED, "the request was cancelled"};
    for (int32_t i = w->n_lives - 1; i >= 0; i--) {
        live *l = &w->lives[i];
        if (!all && !atomic_load(&l->job->cancelled)) continue;
        l->job->choices[l->choice].error = cancelled;
        live_end(w, i);
    }
    queue_drop(w, all, &cancelled);
}

/* The worker may be loading its model: so the jobs of the queue end here, and the others in the worker's thread. */
void server_worker_cancel_all(server_worker *w)
{
    const vouch_error cancelled = {VOUCH_E_CANCELLED, "the request was cancelled"};
    queue_drop(w, true, &cancelled);
    pthread_mutex_lock(&w->lock);
    w->cancels = true;
    w->loads = false;
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
}

/* ---------------------------------------------------------------- the model */

static void set_stage(server_worker *w, server_stage stage)
{
    pthread_mutex_lock(&w->lock);
    w->state.stage = stage;
    w->state.progress = 0;
    pthread_mutex_unlock(&w->lock);
}

static void on_progress(void *user, double share)
{
    server_worker *w = user;
    pthread_mutex_lock(&w->lock);
    w->state.progress = share;
    pthread_mutex_unlock(&w->lock);
}

/* The model and its engine are there to stay. */
static void note_loaded(server_worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->state.memory = vouch_engine_memory(w->engine);
    w->state.bytes = w->stock.bytes + (int64_t)w->state.memory;
    w->state.stage = SERVER_STAGE_LOADED;
    w->state.n_loads++;
    pthread_mutex_unlock(&w->lock);
}

/* Runs the errands that wait now; those that come meanwhile wait for the next pass. Without a model none runs. */
static void run_errands(server_worker *w)
{
    pthread_mutex_lock(&w->lock);
    errand *e = w->errands;
    w->errands = NULL;
    while (e) {
        errand *next = e->next; /* e is its caller's again once it is over */
        pthread_mutex_unlock(&w->lock);
        e->has_run = w->engine != NULL;
        if (e->has_run) e->run(w->engine, &w->slots, e->user);
        pthread_mutex_lock(&w->lock);
        e->is_over = true;
        pthread_cond_broadcast(&w->errand_over);
        e = next;
    }
    pthread_mutex_unlock(&w->lock);
}

/* Unloads the model. Its memory counts as free only after its state says so (server_shelf_hold). */
static void model_drop(server_worker *w, server_stage stage)
{
    vouch_engine_close(w->engine);
    w->engine = NULL;
    w->options.supply->unload(w->options.supply->user, w->options.number);
    w->stock = (server_stock){0};
    w->earlier = w->state.engine;
    pthread_mutex_lock(&w->lock);
    w->state.stage = stage;
    w->state.memory = 0;
    w->state.bytes = 0;
    w->state.goes_in = 0;
    w->unloads = false;
    pthread_mutex_unlock(&w->lock);
    server_shelf_leave(w->options.shelf, &w->place);
    run_errands(w); /* they needn't wait until it is back */
}

/* There is room for it, as far as was known. Without an error and without an engine it needs more, and has to ask
 * again. */
static vouch_status model_load(server_worker *w, vouch_error *err)
{
    const server_supply *supply = w->options.supply;
    const double start = tool_now();
    set_stage(w, SERVER_STAGE_LOADING);
    vouch_status status = supply->load(supply->user, w->options.number, on_progress, w, &w->stock, err);
    if (status) {
        server_shelf_leave(w->options.shelf, &w->place);
        return status;
    }
    status = vouch_engine_open(&w->engine, w->stock.model, &w->options.engine, err);
    const int64_t bytes = w->stock.bytes + (int64_t)(status ? 0 : vouch_engine_memory(w->engine));
    if (status) model_drop(w, SERVER_STAGE_FAILED);
    else if (server_shelf_settle(w->options.shelf, &w->place, bytes, tool_now() - start)) note_loaded(w);
    else model_drop(w, SERVER_STAGE_WAITING);
    return status;
}

/* Somebody wants the model. Loads it where there is room; tells the jobs where there never will be. */
static void model_bring(server_worker *w)
{
    vouch_error err;
    server_shelf_answer answer;
    vouch_status status = VOUCH_OK;
    do {
        answer = server_shelf_ask(w->options.shelf, &w->place, &err);
        if (answer == SERVER_SHELF_READY) status = model_load(w, &err);
    } while (answer == SERVER_SHELF_READY && !status && !w->engine);
    if (answer == SERVER_SHELF_WAIT) {
        set_stage(w, SERVER_STAGE_WAITING);
        return;
    }
    if (w->engine) {
        w->is_idle = false;
        w->keep_seconds = INFINITY;
        server_shelf_use(w->options.shelf, &w->place, false);
        return;
    }
    tool_complain("%s", err.message);
    pthread_mutex_lock(&w->lock);
    w->loads = false;
    w->state.stage = SERVER_STAGE_FAILED;
    w->state.fail = err;
    pthread_mutex_unlock(&w->lock);
    queue_drop(w, true, &err);
}

/* Notes when the model begins to have nothing to do, and when it has work again. */
static void model_note_idle(server_worker *w, bool is_idle)
{
    if (is_idle == w->is_idle) return;
    w->is_idle = is_idle;
    const double seconds = fmin(w->keep_seconds, w->options.idle_seconds);
    w->goes_at = is_idle && !isinf(seconds) ? tool_now() + seconds : INFINITY;
    server_shelf_use(w->options.shelf, &w->place, is_idle);
    pthread_mutex_lock(&w->lock);
    w->state.goes_in = isinf(w->goes_at) ? 0 : w->goes_at;
    pthread_mutex_unlock(&w->lock);
}

/* Whether somebody asks for the model. */
static bool model_is_wanted(server_worker *w, bool *unloads)
{
    pthread_mutex_lock(&w->lock);
    if (w->engine) w->loads = false;
    else w->unloads = false;
    const bool is_wanted = w->first || w->loads;
    *unloads = w->unloads;
    pthread_mutex_unlock(&w->lock);
    return is_wanted;
}

/* Unloads a model when another one needs its memory, or when nobody needs it. */
static void model_let_go(server_worker *w)
{
    bool unloads;
    const bool is_wanted = model_is_wanted(w, &unloads), must = atomic_load(&w->place.must_go);
    model_note_idle(w, w->n_lives == 0 && !is_wanted);
    const bool sleeps = w->is_idle && tool_now() >= w->goes_at;
    if (w->n_lives == 0 && (must || (w->is_idle && (unloads || sleeps))))
        model_drop(w, is_wanted ? SERVER_STAGE_WAITING : sleeps ? SERVER_STAGE_SLEEPING : SERVER_STAGE_UNLOADED);
}

/* Step 3 of worker.h, for a model that comes on demand. Returns the seconds after which to look again. */
static double model_tend(server_worker *w, bool ends)
{
    enum { AGAIN = 100 /* milliseconds */ };
    bool unloads;
    if (w->engine) model_let_go(w);
    if (w->engine) return w->is_idle ? w->goes_at - tool_now() : INFINITY;
    if (model_is_wanted(w, &unloads) && !ends) {
        model_bring(w);
    } else if (w->place.is_waiting) {
        server_shelf_withdraw(w->options.shelf, &w->place);
        set_stage(w, SERVER_STAGE_UNLOADED);
    }
    return w->engine ? 0 : w->place.is_waiting ? 1e-3 * AGAIN : INFINITY;
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

/* Sleeps until something changes, or for so many seconds; under the lock. */
static void wait_for_change(server_worker *w, double seconds)
{
    struct timespec until;
    if (seconds > 1e6) {
        pthread_cond_wait(&w->change, &w->lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    const int64_t ns = until.tv_nsec + (int64_t)(fmax(0, seconds) * 1e9);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    (void)pthread_cond_timedwait(&w->change, &w->lock, &until);
}

/* Steps 1 to 5 of worker.h. Sleeps while there is nothing to run; false: the worker ends. */
static bool prepare_pass(server_worker *w)
{
    for (;;) {
        pthread_mutex_lock(&w->lock);
        const bool cancels = w->cancels || w->ends, ends = w->ends;
        w->notified = w->cancels = false;
        pthread_mutex_unlock(&w->lock);
        drop_cancelled(w, cancels);
        run_errands(w);
        const double seconds = w->options.supply ? model_tend(w, ends) : INFINITY;
        const bool begins = w->engine && !atomic_load(&w->place.must_go);
        server_job *job;
        int32_t choice;
        while (begins && w->n_lives < w->options.engine.n_sessions && queue_take(w, &job, &choice))
            choice_begin(w, job, choice);
        const bool runs = pause_full(w) > 0;
        pthread_mutex_lock(&w->lock);
        w->state.n_running = w->n_lives;
        const bool has_room = begins && w->n_lives < w->options.engine.n_sessions;
        const bool has_news = w->notified || w->errands || w->cancels || w->ends || (w->first && has_room);
        if (!ends && !runs && !has_news) wait_for_change(w, seconds);
        pthread_mutex_unlock(&w->lock);
        if (runs || ends) return !ends;
    }
}

/* What an engine has counted, and the engines before it. */
static vouch_engine_stats stats_sum(const vouch_engine_stats *a, const vouch_engine_stats *b)
{
    return (vouch_engine_stats){.passes = a->passes + b->passes,
                                .rows = a->rows + b->rows,
                                .prompt_rows = a->prompt_rows + b->prompt_rows,
                                .shared_tokens = a->shared_tokens + b->shared_tokens,
                                .cycles = a->cycles + b->cycles,
                                .generated_tokens = a->generated_tokens + b->generated_tokens,
                                .drafted = a->drafted + b->drafted,
                                .accepted = a->accepted + b->accepted,
                                .preemptions = a->preemptions + b->preemptions,
                                .seconds = a->seconds + b->seconds,
                                .draft_passes = a->draft_passes + b->draft_passes,
                                .draft_rows = a->draft_rows + b->draft_rows};
}

static void *worker_run(void *arg)
{
    server_worker *w = arg;
    const vouch_engine_event *events;
    size_t n_events;
    while (prepare_pass(w)) {
        vouch_engine_step(w->engine, &events, &n_events);
        pthread_mutex_lock(&w->lock);
        w->state.engine = stats_sum(&w->earlier, vouch_engine_get_stats(w->engine));
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

/* ------------------------------------------------------------------- open and close */

static void wake_worker(void *user)
{
    server_worker_notify(user);
}

/* A model that comes on demand gets a place; another one its engine. */
static vouch_status model_place(server_worker *w, vouch_error *err)
{
    const vouch_model *model = w->options.model->model;
    w->stock.model = model;
    w->place = (server_place){.name = w->options.model->name, .is_pinned = !w->options.supply, .user = w};
    w->place.wake = wake_worker;
    w->place.expected = (int64_t)vouch_model_get_info(model)->packed_bytes;
    if (w->options.supply) {
        server_shelf_add(w->options.shelf, &w->place);
        return VOUCH_OK;
    }
    w->stock.bytes = w->place.expected;
    const vouch_status status = vouch_engine_open(&w->engine, model, &w->options.engine, err);
    if (status) return status;
    note_loaded(w);
    w->place.bytes = w->state.bytes;
    server_shelf_add(w->options.shelf, &w->place);
    return VOUCH_OK;
}

vouch_status server_worker_open(server_worker **out, const server_worker_options *options, vouch_error *err)
{
    *out = NULL;
    server_worker *w = calloc(1, sizeof *w);
    live *lives = calloc((size_t)options->engine.n_sessions, sizeof *lives);
    server_slots slots;
    if (!w || !lives || !server_slots_open(&slots, options->engine.n_sessions)) {
        free(w);
        free(lives);
        *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the server"};
        return VOUCH_E_MEMORY;
    }
    w->slots = slots;
    w->options = *options;
    w->lives = lives;
    w->keep_seconds = INFINITY;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->change, NULL);
    pthread_cond_init(&w->errand_over, NULL);
    vouch_status status = model_place(w, err);
    if (!status && !(w->has_thread = vouch_os_thread_start(&w->thread, worker_run, w))) {
        *err = (vouch_error){VOUCH_E_MEMORY, "the system gives no more threads"};
        status = VOUCH_E_MEMORY;
    }
    if (!status) *out = w;
    else server_worker_close(w);
    return status;
}

void server_worker_close(server_worker *w)
{
    if (!w) return;
    if (w->has_thread) {
        pthread_mutex_lock(&w->lock);
        w->ends = true;
        pthread_cond_signal(&w->change);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    if (w->options.supply && w->engine) model_drop(w, SERVER_STAGE_UNLOADED);
    vouch_engine_close(w->engine);
    server_shelf_remove(w->options.shelf, &w->place);
    pthread_cond_destroy(&w->errand_over);
    pthread_cond_destroy(&w->change);
    pthread_mutex_destroy(&w->lock);
    server_slots_close(&w->slots);
    free(w->lives);
    free(w);
}
