/* SPDX-License-Identifier: MIT */
/*
 * A team of threads that run one function together.
 *
 *   caller:   vouch_pool_run(pool, fn, arg)
 *   threads:  fn(arg, team, 0) ... fn(arg, team, n - 1); thread 0 is the caller.
 *             They meet at vouch_pool_barrier and share work with vouch_pool_share.
 *
 * The pool's threads receive no signals except faults that they cause themselves.
 *
 * A forward pass is one run, with a barrier between its stages: a pass of a small model has 150 barriers in 2 ms. So a
 * waiting thread spins, and sleeps on a futex only after half a millisecond. With more threads than processors it
 * sleeps almost at once.
 */
#ifndef VOUCH_BASE_POOL_H
#define VOUCH_BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct vouch_pool vouch_pool;
typedef void vouch_pool_fn(void *arg, vouch_pool *team, int32_t thread);

enum { VOUCH_MAX_THREADS = 256 };

/* n_threads 0: vouch_cpu_count(). Errors: ARGUMENT, MEMORY (also for a thread that can't start). */
vouch_status vouch_pool_open(vouch_pool **out, int32_t n_threads, vouch_error *err);
void vouch_pool_close(vouch_pool *pool); /* NULL is allowed */
int32_t vouch_pool_size(const vouch_pool *pool);

/* Runs fn on every thread of the team and returns when all calls have returned. One caller at a time. */
void vouch_pool_run(vouch_pool *pool, vouch_pool_fn *fn, void *arg);

/* Inside a run: no thread leaves before all threads have arrived. */
void vouch_pool_barrier(vouch_pool *team, int32_t thread);
/* Inside a run: divides a stage's work, the integers [0, total), among the threads, in multiples of `grain`. Each
 * thread gets an even part and takes it in ascending order, in shrinking pieces. A thread without work takes half of
 * another thread's rest, so that all threads end together even if one is slower. Every thread of a stage passes the
 * same total and grain and takes pieces until none is left. total / grain is below 2^32.
 *
 *   vouch_work work = vouch_pool_share(team, thread, total, grain);
 *   while (vouch_work_next(&work)) for (int64_t i = work.begin; i < work.end; i++) ... */
typedef struct vouch_work {
    int64_t begin, end; /* the current piece */
    int64_t total, grain;
    vouch_pool *team;
    int32_t thread;
} vouch_work;

/* One thread's even part of the integers [0, total), without sharing. */
typedef struct vouch_range {
    int64_t begin, end;
} vouch_range;

vouch_range vouch_pool_divide(const vouch_pool *team, int32_t thread, int64_t total);
vouch_work vouch_pool_share(vouch_pool *team, int32_t thread, int64_t total, int64_t grain);
bool vouch_work_next(vouch_work *work);

#endif
