/* SPDX-License-Identifier: MIT */
/*
 * The memory that the models share which come on demand. Each has a place:
 *
 *                     server_shelf_ask: READY
 *   nothing in memory ───────────────────────► bytes reserved ──► loaded: server_shelf_settle
 *        ▲       │ WAIT: in a queue, in the order of asking              │ busy, idle
 *        │       └─► models that are longest idle must go                ▼
 *        └──────────────────── server_shelf_leave ◄───────────── must_go, or idle for too long
 *
 * A model must go where the first in the queue needs its memory: at once where it is idle, and otherwise where it has
 * been there for several times as long as it took to load, so that all models have their turns. Then its worker begins
 * no further answer, ends those that run, and leaves. A pinned model never goes.
 *
 * Only a worker's thread calls the functions with its place. None is called under the worker's lock, which `wake`
 * takes.
 */
#ifndef VOUCH_SERVER_SHELF_H
#define VOUCH_SERVER_SHELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vouch.h"

typedef struct server_shelf server_shelf;

typedef struct server_place {
    const char *name;
    bool is_pinned;
    void (*wake)(void *user); /* the worker has to look again */
    void *user;
    atomic_bool must_go;
    /* The shelf's. */
    int64_t bytes;    /* in memory, or reserved; 0: nothing */
    int64_t expected; /* that it will need */
    bool is_idle, is_waiting;
    double used, since, load_seconds; /* tool_now() of the last use, and of the end of loading */
    struct server_place *next;        /* of all places */
    struct server_place *behind;      /* in the queue */
} server_place;

/* n_bytes: of all models together; 0: no bound. NULL: memory is short. */
server_shelf *server_shelf_open(int64_t n_bytes);
void server_shelf_close(server_shelf *shelf); /* NULL is allowed */
void server_shelf_add(server_shelf *shelf, server_place *place);
void server_shelf_remove(server_shelf *shelf, server_place *place); /* does nothing where it isn't there */

typedef enum server_shelf_answer { SERVER_SHELF_READY, SERVER_SHELF_WAIT, SERVER_SHELF_NEVER } server_shelf_answer;

/* Asks for place->expected bytes. READY: they are reserved. WAIT: ask again when woken, and every tenth of a second.
 * NEVER: err says by how much they are too many. */
server_shelf_answer server_shelf_ask(server_shelf *shelf, server_place *place, vouch_error *err);
/* Nobody wants the model any more: it leaves the queue. */
void server_shelf_withdraw(server_shelf *shelf, server_place *place);
/* The model is loaded, and needs so many bytes. False: they are more than there is room for; leave and ask again. */
bool server_shelf_settle(server_shelf *shelf, server_place *place, int64_t bytes, double load_seconds);
/* The model has work, or none. */
void server_shelf_use(server_shelf *shelf, server_place *place, bool is_idle);
/* The model's memory is free again. */
void server_shelf_leave(server_shelf *shelf, server_place *place);
/* Returns how many models wait in the queue before this one; -1: it doesn't wait. Any thread may call it. */
int32_t server_shelf_before(server_shelf *shelf, const server_place *place);
/* Between the two no model gets or gives up memory, so a list of the models shows one moment. Any thread may call them.
 */
void server_shelf_hold(server_shelf *shelf);
void server_shelf_release(server_shelf *shelf);

#endif
