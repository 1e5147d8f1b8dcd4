/* SPDX-License-Identifier: MIT */
/*
 * Fork, join and barrier are one idea here: a word that changes, and threads that wait for it to.
 *
 *   run       the caller sets fn and arg, then changes `round`; workers wait for that, run, and meet at
 *             a last barrier, which is the join.
 *   barrier   the last of n arrivals resets the work counter and changes `phase`; the others wait for it.
 *
 * Waiting spins for a while, then sleeps on a futex. SPIN pauses, about half a millisecond, are more than lies
 * between two passes: with a tenth of that, threads slept at each pass, and on a virtual machine, where waking takes
 * long, one late thread sent all others to sleep, barrier after barrier: passes took three to six times as long.
 * Spinning less after a wait that had to sleep did the same.
 *
 * Now and then the system wakes a thread onto the processor of one that waits for it, and it would get its turn when
 * the other has spun to the end, at each of a pass's 150 barriers: 57 ms instead of 2, in one step of a hundred. So
 * every thread notes where it comes to a barrier, and who waits where another was last yields. Not always: a program
 * of low priority that wants the processor would have it for milliseconds each time.
 *
 * Whoever changes the word makes the system call only if somebody sleeps. Both sides are sequentially
 * consistent: the sleeper announces itself before it looks at the word again, the changer writes the word before
 * it looks for sleepers, so one of the two sees the other.
 */
#include "base/pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPIN = 20000, LOOK = 500, SPIN_CROWDED = 20, LINE = 128 };

/* A word to wait on, alone on its cache lines. */
typedef struct signal_word {
    _Alignas(LINE) atomic_uint value;
    atomic_uint sleepers;
} signal_word;

struct vouch_pool {
    signal_word round, phase;
    _Alignas(LINE) atomic_int arrived;
    _Alignas(LINE) _Atomic int64_t next; /* of the shared work, what was taken */
    _Alignas(LINE) vouch_pool_fn *fn;
    void *arg;
    bool stop;
    int32_t n_threads, n_started;
    int32_t spin; /* pauses before a thread sleeps */
    atomic_int *places; /* [n_threads] the processor a thread was last seen on */
    pthread_t *handles; /* [n_threads - 1] */
    struct worker *workers;
};

typedef struct worker {
    vouch_pool *pool;
    int32_t index;
} worker;

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Where the thread runs; -1: the system doesn't say. */
static int note_place(vouch_pool *pool, int32_t thread)
{
    const int here = sched_getcpu();
    if (atomic_load_explicit(&pool->places[thread], memory_order_relaxed) != here)
        atomic_store_explicit(&pool->places[thread], here, memory_order_relaxed);
    return here;
}

/* Whether another thread was last seen where this one runs. */
static bool shares_processor(vouch_pool *pool, int32_t thread)
{
    const int here = note_place(pool, thread);
    bool is_shared = false;
    for (int32_t i = 0; i < pool->n_threads; i++)
        is_shared |= i != thread && atomic_load_explicit(&pool->places[i], memory_order_relaxed) == here;
    return here >= 0 && is_shared;
}

static void wait_for_change(vouch_pool *pool, int32_t thread, signal_word *word, unsigned old)
{
    for (int32_t i = 0; i < pool->spin; i++) {
        if (atomic_load_explicit(&word->value, memory_order_acquire) != old) return;
        if (i % LOOK == LOOK - 1 && shares_processor(pool, thread)) sched_yield();
        else pause_briefly();
    }
    atomic_fetch_add(&word->sleepers, 1);
    while (atomic_load(&word->value) == old)
        syscall(SYS_futex, &word->value, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
    atomic_fetch_sub(&word->sleepers, 1);
    note_place(pool, thread);
}

static void change(signal_word *word)
{
    atomic_fetch_add(&word->value, 1);
    if (atomic_load(&word->sleepers) != 0)
        syscall(SYS_futex, &word->value, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void vouch_pool_barrier(vouch_pool *team, int32_t thread)
{
    if (team->n_threads == 1) {
        atomic_store_explicit(&team->next, 0, memory_order_relaxed);
        return;
    }
    const unsigned phase = atomic_load_explicit(&team->phase.value, memory_order_relaxed);
    note_place(team, thread);
    if (atomic_fetch_add(&team->arrived, 1) == team->n_threads - 1) {
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&team->next, 0, memory_order_relaxed);
        change(&team->phase);
    } else {
        wait_for_change(team, thread, &team->phase, phase);
    }
}

vouch_range vouch_pool_divide(const vouch_pool *team, int32_t thread, int64_t total)
{
    return (vouch_range){total * thread / team->n_threads, total * (thread + 1) / team->n_threads};
}

vouch_work vouch_pool_share(vouch_pool *team, int32_t thread, int64_t total, int64_t grain)
{
    const int64_t rounds = total * 7 / 8 / (grain * team->n_threads); /* of grains for every thread */
    return (vouch_work){.total = total,
                        .grain = grain,
                        .fixed = rounds * grain * team->n_threads,
                        .team = team,
                        .thread = thread};
}

bool vouch_work_next(vouch_work *work)
{
    if (!work->shared) {
        const int64_t own = work->fixed / work->team->n_threads;
        work->shared = true;
        work->begin = work->thread * own;
        work->end = work->begin + own;
        if (own > 0) return true;
    }
    const int64_t left = work->total - work->fixed;
    const int64_t taken = atomic_fetch_add_explicit(&work->team->next, work->grain, memory_order_relaxed);
    if (taken >= left) return false;
    work->begin = work->fixed + taken;
    work->end = work->fixed + (taken + work->grain < left ? taken + work->grain : left);
    return true;
}

static void *worker_main(void *arg)
{
    const worker *me = arg;
    vouch_pool *pool = me->pool;
    for (unsigned round = 0;; round++) {
        wait_for_change(pool, me->index, &pool->round, round);
        if (pool->stop) return NULL;
        pool->fn(pool->arg, pool, me->index);
        vouch_pool_barrier(pool, me->index);
    }
}

void vouch_pool_run(vouch_pool *pool, vouch_pool_fn *fn, void *arg)
{
    pool->fn = fn;
    pool->arg = arg;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    if (pool->n_threads > 1) change(&pool->round);
    fn(arg, pool, 0);
    vouch_pool_barrier(pool, 0);
}

int32_t vouch_pool_size(const vouch_pool *pool)
{
    return pool->n_threads;
}

static vouch_status start_workers(vouch_pool *pool, vouch_error *err)
{
    for (int32_t i = 0; i < pool->n_threads; i++) atomic_init(&pool->places[i], -1);
    for (int32_t i = 0; i < pool->n_threads - 1; i++) {
        pool->workers[i] = (worker){pool, i + 1};
        if (pthread_create(&pool->handles[i], NULL, worker_main, &pool->workers[i]) != 0)
            return vouch_fail(err, VOUCH_E_MEMORY, "can't start thread %d of %d: use fewer threads", i + 2,
                              pool->n_threads);
        pool->n_started++;
    }
    return VOUCH_OK;
}

vouch_status vouch_pool_open(vouch_pool **out, int32_t n_threads, vouch_error *err)
{
    *out = NULL;
    const int32_t n_cpus = vouch_cpu_count();
    if (n_threads == 0) n_threads = n_cpus;
    if (n_threads < 1 || n_threads > VOUCH_MAX_THREADS)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "threads must be 1 to %d, not %d", VOUCH_MAX_THREADS,
                          n_threads);
    void *block = NULL;
    if (posix_memalign(&block, LINE, sizeof(vouch_pool)) != 0)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the thread pool");
    vouch_pool *pool = block;
    *pool = (vouch_pool){.n_threads = n_threads, .spin = n_threads > n_cpus ? SPIN_CROWDED : SPIN};
    pool->handles = calloc((size_t)n_threads, sizeof *pool->handles);
    pool->workers = calloc((size_t)n_threads, sizeof *pool->workers);
    pool->places = calloc((size_t)n_threads, sizeof *pool->places);
    vouch_status status = pool->handles && pool->workers && pool->places
                              ? start_workers(pool, err)
                              : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the thread pool");
    if (status != VOUCH_OK) {
        vouch_pool_close(pool);
        return status;
    }
    *out = pool;
    return VOUCH_OK;
}

void vouch_pool_close(vouch_pool *pool)
{
    if (!pool) return;
    pool->stop = true;
    change(&pool->round);
    for (int32_t i = 0; i < pool->n_started; i++) pthread_join(pool->handles[i], NULL);
    free(pool->handles);
    free(pool->workers);
    free(pool->places);
    free(pool);
}
