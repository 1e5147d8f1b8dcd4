/* SPDX-License-Identifier: MIT */
#include "work/shelf.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/term.h"

struct server_shelf {
    int64_t n_bytes; /* 0: no bound */
    pthread_mutex_t lock;
    server_place *places, *first, *last; /* all; the queue */
};

enum { TURN = 5 /* times as long as a model took to load it stays, at least, where others wait for its memory */ };

server_shelf *server_shelf_open(int64_t n_bytes)
{
    server_shelf *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->n_bytes = n_bytes;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void server_shelf_close(server_shelf *shelf)
{
    if (!shelf) return;
    pthread_mutex_destroy(&shelf->lock);
    free(shelf);
}

void server_shelf_add(server_shelf *shelf, server_place *place)
{
    pthread_mutex_lock(&shelf->lock);
    place->next = shelf->places;
    shelf->places = place;
    pthread_mutex_unlock(&shelf->lock);
}

/* ----------------------------------------------------- under the shelf's lock */

static void wake_first(server_shelf *s)
{
    if (s->first) s->first->wake(s->first->user);
}

static void enqueue(server_shelf *s, server_place *place)
{
    if (place->is_waiting) return;
    place->is_waiting = true;
    place->behind = NULL;
    if (s->last) s->last->behind = place;
    else s->first = place;
    s->last = place;
}

static void dequeue(server_shelf *s, server_place *place)
{
    server_place *before = NULL, *at = s->first;
    if (!place->is_waiting) return;
    while (at != place) before = at, at = at->behind;
    if (before) before->behind = place->behind;
    else s->first = place->behind;
    if (s->last == place) s->last = before;
    place->is_waiting = false;
    wake_first(s);
}

/* Bytes of all places but one; `pinned`: of those that never go. */
static int64_t bytes_beside(const server_shelf *s, const server_place *mine, bool pinned)
{
    int64_t n = 0;
    for (const server_place *p = s->places; p; p = p->next)
        if (p != mine && (p->is_pinned || !pinned)) n += p->bytes;
    return n;
}

static bool may_go(const server_place *p)
{
    if (p->bytes == 0 || p->is_pinned || p->since == 0 || atomic_load(&p->must_go)) return false;
    return p->is_idle || tool_now() > p->since + TURN * p->load_seconds;
}

/* Tells the models that are least of use to go, until n bytes will be free. Those that are on their way count. */
static void make_go(server_shelf *s, const server_place *mine, int64_t n)
{
    for (const server_place *p = s->places; p; p = p->next)
        if (p != mine && atomic_load(&p->must_go)) n -= p->bytes;
    while (n > 0) {
        server_place *best = NULL;
        for (server_place *p = s->places; p; p = p->next) {
            if (p == mine || !may_go(p)) continue;
            if (!best || p->is_idle > best->is_idle || (p->is_idle == best->is_idle && p->used < best->used)) best = p;
        }
        if (!best) return;
        n -= best->bytes;
        atomic_store(&best->must_go, true);
        best->wake(best->user);
    }
}

/* -------------------------------------------------------------------- places */

void server_shelf_remove(server_shelf *shelf, server_place *place)
{
    pthread_mutex_lock(&shelf->lock);
    dequeue(shelf, place);
    server_place **link = &shelf->places;
    while (*link && *link != place) link = &(*link)->next;
    if (*link) *link = place->next;
    pthread_mutex_unlock(&shelf->lock);
}

server_shelf_answer server_shelf_ask(server_shelf *shelf, server_place *place, vouch_error *err)
{
    server_shelf *s = shelf;
    pthread_mutex_lock(&s->lock);
    server_shelf_answer answer = SERVER_SHELF_WAIT;
    const int64_t never = place->expected + bytes_beside(s, place, true) - s->n_bytes;
    const int64_t now = place->expected + bytes_beside(s, place, false) - s->n_bytes;
    enqueue(s, place);
    if (s->n_bytes > 0 && never > 0) {
        answer = SERVER_SHELF_NEVER;
        *err = (vouch_error){.code = VOUCH_E_MEMORY};
        snprintf(
            err->message, sizeof err->message,
            "model: '%.200s' needs %.0f MB, %.0f MB more than --max-memory (%.0f MB) leaves beside the models that "
            "stay",
            place->name, (double)place->expected * 1e-6, (double)never * 1e-6, (double)s->n_bytes * 1e-6);
    } else if (s->first == place) {
        if (s->n_bytes == 0 || now <= 0) answer = SERVER_SHELF_READY;
        else make_go(s, place, now);
    }
    if (answer == SERVER_SHELF_READY) {
        place->bytes = place->expected;
        place->since = 0;
        atomic_store(&place->must_go, false);
    }
    if (answer != SERVER_SHELF_WAIT) dequeue(s, place);
    pthread_mutex_unlock(&s->lock);
    return answer;
}

void server_shelf_withdraw(server_shelf *shelf, server_place *place)
{
    pthread_mutex_lock(&shelf->lock);
    dequeue(shelf, place);
    for (server_place *p = shelf->places; p && !shelf->first; p = p->next) /* nobody needs their memory any more */
        if (atomic_exchange(&p->must_go, false)) p->wake(p->user);
    pthread_mutex_unlock(&shelf->lock);
}

bool server_shelf_settle(server_shelf *shelf, server_place *place, int64_t bytes, double load_seconds)
{
    pthread_mutex_lock(&shelf->lock);
    place->bytes = place->expected = bytes;
    place->load_seconds = load_seconds;
    place->since = place->used = tool_now();
    const bool fits = shelf->n_bytes == 0 || bytes + bytes_beside(shelf, place, false) <= shelf->n_bytes;
    pthread_mutex_unlock(&shelf->lock);
    return fits;
}

void server_shelf_use(server_shelf *shelf, server_place *place, bool is_idle)
{
    pthread_mutex_lock(&shelf->lock);
    place->is_idle = is_idle;
    place->used = tool_now();
    if (is_idle) wake_first(shelf);
    pthread_mutex_unlock(&shelf->lock);
}

void server_shelf_leave(server_shelf *shelf, server_place *place)
{
    pthread_mutex_lock(&shelf->lock);
    place->bytes = 0;
    atomic_store(&place->must_go, false);
    wake_first(shelf);
    pthread_mutex_unlock(&shelf->lock);
}

int32_t server_shelf_before(server_shelf *shelf, const server_place *place)
{
    int32_t n = 0;
    pthread_mutex_lock(&shelf->lock);
    const server_place *at = shelf->first;
    for (; at && at != place; at = at->behind) n++;
    pthread_mutex_unlock(&shelf->lock);
    return at ? n : -1;
}

void server_shelf_hold(server_shelf *shelf)
{
    pthread_mutex_lock(&shelf->lock);
}

void server_shelf_release(server_shelf *shelf)
{
    pthread_mutex_unlock(&shelf->lock);
}
