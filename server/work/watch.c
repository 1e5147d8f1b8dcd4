/* SPDX-License-Identifier: MIT */
#include "work/watch.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "os/os.h"
#include "tool/term.h"

enum { TICK = 50 /* milliseconds */ };

struct server_deadline {
    vouch_os_socket socket;
    _Atomic double due; /* tool_now() */
    server_deadline *next, *before;
};

struct server_watch {
    pthread_t thread;
    pthread_mutex_t lock;  /* guards the rest, and is held while the functions run */
    pthread_cond_t begins; /* there is something to watch, or the watch ends */
    bool ends;
    server_watched *first;
    server_deadline *first_deadline;
};

static void shut_late_sockets(server_watch *watch)
{
    const double now = tool_now();
    for (server_deadline *deadline = watch->first_deadline; deadline; deadline = deadline->next) {
        if (now < atomic_load(&deadline->due)) continue;
        atomic_store(&deadline->due, INFINITY);
        vouch_os_socket_shut(deadline->socket);
    }
}

static void look_at(server_watched *watched)
{
    if (!watched->was_gone && vouch_os_socket_gone(watched->socket)) {
        watched->was_gone = true;
        watched->gone(watched->user);
    }
    watched->tick(watched->user);
}

static void *watch_run(void *arg)
{
    server_watch *watch = arg;
    const struct timespec tick = {.tv_nsec = TICK * 1000000L};
    pthread_mutex_lock(&watch->lock);
    while (!watch->ends) {
        if (!watch->first && !watch->first_deadline) {
            pthread_cond_wait(&watch->begins, &watch->lock);
            continue;
        }
        for (server_watched *watched = watch->first; watched; watched = watched->next) look_at(watched);
        shut_late_sockets(watch);
        pthread_mutex_unlock(&watch->lock);
        nanosleep(&tick, NULL);
        pthread_mutex_lock(&watch->lock);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

server_watch *server_watch_open(void)
{
    server_watch *watch = calloc(1, sizeof *watch);
    if (!watch) return NULL;
    pthread_mutex_init(&watch->lock, NULL);
    pthread_cond_init(&watch->begins, NULL);
    if (vouch_os_thread_start(&watch->thread, watch_run, watch)) return watch;
    pthread_cond_destroy(&watch->begins);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
    return NULL;
}

void server_watch_close(server_watch *watch)
{
    if (!watch) return;
    pthread_mutex_lock(&watch->lock);
    watch->ends = true;
    pthread_cond_signal(&watch->begins);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->begins);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

void server_watch_add(server_watch *watch, server_watched *watched)
{
    pthread_mutex_lock(&watch->lock);
    watched->is_watched = true;
    watched->before = NULL;
    watched->next = watch->first;
    if (watch->first) watch->first->before = watched;
    watch->first = watched;
    pthread_cond_signal(&watch->begins);
    pthread_mutex_unlock(&watch->lock);
}

void server_watch_remove(server_watch *watch, server_watched *watched)
{
    pthread_mutex_lock(&watch->lock);
    if (watched->is_watched) {
        if (watched->next) watched->next->before = watched->before;
        if (watched->before) watched->before->next = watched->next;
        else watch->first = watched->next;
        watched->is_watched = false;
    }
    pthread_mutex_unlock(&watch->lock);
}

server_deadline *server_deadline_open(server_watch *watch, vouch_os_socket socket, double seconds)
{
    server_deadline *deadline = calloc(1, sizeof *deadline);
    if (!deadline) return NULL;
    deadline->socket = socket;
    server_deadline_set(deadline, seconds);
    pthread_mutex_lock(&watch->lock);
    deadline->next = watch->first_deadline;
    if (deadline->next) deadline->next->before = deadline;
    watch->first_deadline = deadline;
    pthread_cond_signal(&watch->begins);
    pthread_mutex_unlock(&watch->lock);
    return deadline;
}

void server_deadline_set(server_deadline *deadline, double seconds)
{
    atomic_store(&deadline->due, tool_now() + seconds);
}

void server_deadline_extend(server_deadline *deadline, double seconds)
{
    double due = atomic_load(&deadline->due);
    while (!atomic_compare_exchange_weak(&deadline->due, &due, due + seconds)) continue;
}

void server_deadline_close(server_watch *watch, server_deadline *deadline)
{
    if (!deadline) return;
    pthread_mutex_lock(&watch->lock);
    if (deadline->next) deadline->next->before = deadline->before;
    if (deadline->before) deadline->before->next = deadline->next;
    else watch->first_deadline = deadline->next;
    pthread_mutex_unlock(&watch->lock);
    free(deadline);
}
