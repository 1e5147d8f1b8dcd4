/* SPDX-License-Identifier: MIT */
#include "work/watch.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tool/term.h"

enum { MOST_EVENTS = 64, TICK = 250 /* milliseconds */ };

struct server_deadline {
    int fd;
    _Atomic double due; /* tool_now() */
    server_deadline *next, *before;
};

struct server_watch {
    int epoll, wakes; /* wakes: an eventfd that ends the thread */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest, and is held while the functions run */
    server_watched *first;
    server_deadline *first_deadline;
    uint64_t n_serials;
};

/* An event may come from a socket whose watching has just ended, so serials tell, not addresses. */
static server_watched *find(server_watch *watch, uint64_t serial)
{
    server_watched *watched = watch->first;
    while (watched && watched->serial != serial) watched = watched->next;
    return watched;
}

static void shut_late_sockets(server_watch *watch)
{
    const double now = tool_now();
    for (server_deadline *deadline = watch->first_deadline; deadline; deadline = deadline->next) {
        if (now < atomic_load(&deadline->due)) continue;
        atomic_store(&deadline->due, INFINITY);
        shutdown(deadline->fd, SHUT_RDWR);
    }
}

static void *watch_run(void *arg)
{
    server_watch *watch = arg;
    struct epoll_event events[MOST_EVENTS];
    for (bool ends = false; !ends;) {
        const int n = epoll_wait(watch->epoll, events, MOST_EVENTS, TICK);
        pthread_mutex_lock(&watch->lock);
        for (int i = 0; i < n; i++) {
            server_watched *watched = find(watch, events[i].data.u64);
            if (watched) watched->gone(watched->user);
            ends |= events[i].data.u64 == 0;
        }
        for (server_watched *watched = watch->first; watched; watched = watched->next) watched->tick(watched->user);
        shut_late_sockets(watch);
        pthread_mutex_unlock(&watch->lock);
    }
    return NULL;
}

server_watch *server_watch_open(void)
{
    server_watch *watch = calloc(1, sizeof *watch);
    if (!watch) return NULL;
    watch->epoll = epoll_create1(EPOLL_CLOEXEC);
    watch->wakes = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&watch->lock, NULL);
    struct epoll_event event = {.events = EPOLLIN};
    if (watch->epoll >= 0 && watch->wakes >= 0 && epoll_ctl(watch->epoll, EPOLL_CTL_ADD, watch->wakes, &event) == 0 &&
        pthread_create(&watch->thread, NULL, watch_run, watch) == 0)
        return watch;
    if (watch->epoll >= 0) close(watch->epoll);
    if (watch->wakes >= 0) close(watch->wakes);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
    return NULL;
}

void server_watch_close(server_watch *watch)
{
    if (!watch) return;
    const uint64_t one = 1;
    if (write(watch->wakes, &one, sizeof one) == (ssize_t)sizeof one) pthread_join(watch->thread, NULL);
    close(watch->epoll);
    close(watch->wakes);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

bool server_watch_add(server_watch *watch, server_watched *watched)
{
    pthread_mutex_lock(&watch->lock);
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = watch->n_serials + 1};
    if (epoll_ctl(watch->epoll, EPOLL_CTL_ADD, watched->fd, &event)) {
        pthread_mutex_unlock(&watch->lock);
        return false;
    }
    watched->serial = ++watch->n_serials;
    watched->before = NULL;
    watched->next = watch->first;
    if (watch->first) watch->first->before = watched;
    watch->first = watched;
    pthread_mutex_unlock(&watch->lock);
    return true;
}

void server_watch_remove(server_watch *watch, server_watched *watched)
{
    pthread_mutex_lock(&watch->lock);
    if (watched->serial) {
        epoll_ctl(watch->epoll, EPOLL_CTL_DEL, watched->fd, NULL);
        if (watched->next) watched->next->before = watched->before;
        if (watched->before) watched->before->next = watched->next;
        else watch->first = watched->next;
        watched->serial = 0;
    }
    pthread_mutex_unlock(&watch->lock);
}

server_deadline *server_deadline_open(server_watch *watch, int fd, double seconds)
{
    server_deadline *deadline = calloc(1, sizeof *deadline);
    if (!deadline) return NULL;
    deadline->fd = fd;
    server_deadline_set(deadline, seconds);
    pthread_mutex_lock(&watch->lock);
    deadline->next = watch->first_deadline;
    if (deadline->next) deadline->next->before = deadline;
    watch->first_deadline = deadline;
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
