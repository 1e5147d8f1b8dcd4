/* SPDX-License-Identifier: MIT */
/*
 * Fork, join and barrier are one idea here: a word that changes, and threads that wait for it to.
 *
 *   run       the caller sets fn and arg, then changes `round`; workers wait for that, run, and meet at
 *             a last barrier, which is the join.
 *   barrier   the last of n arrivals changes `phase`; the others wait for it.
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
 * What a thread has left of its part of a stage is one word, front and back: it takes three quarters of that from the
 * front, again and again; who has nothing left takes half of another's from the back. While nobody is late, each
 * changes its own word alone, which costs a few nanoseconds, and walks through memory in ascending order to the end.
 * (Pieces from a counter for all cost 80 ns each, and their weights came from where nobody had fetched ahead: 5 % of a
 * pass.) At a barrier all parts are empty: so who looks for work before its owner has come finds none, rather than
 * what was there.
 *
 * Whoever changes the word makes the system call only if somebody sleeps. Both sides are sequentially
 * consistent: the sleeper announces itself before it looks at the word again, the changer writes the word before
 * it looks for sleepers, so one of the two sees the other.
 */
#include "base/pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
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

typedef struct member {
    _Alignas(LINE) _Atomic uint64_t left; /* of its part, in grains: the front in the upper half, the back below */
    atomic_int place;                     /* the processor it was last seen on */
} member;

struct vouch_pool {
    signal_word round, phase;
    _Alignas(LINE) atomic_int arrived;
    _Alignas(LINE) vouch_pool_fn *fn;
    void *arg;
    bool stop;
    int32_t n_threads, n_started;
    int32_t spin; /* pauses before a thread sleeps */
    pthread_t *handles; /* [n_threads - 1] */
    struct worker *workers;
    member members[]; /* [n_threads] */
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
    atomic_int *place = &pool->members[thread].place;
    if (atomic_load_explicit(place, memory_order_relaxed) != here)
        atomic_store_explicit(place, here, memory_order_relaxed);
    return here;
}

/* Whether another thread was last seen where this one runs. */
static bool shares_processor(vouch_pool *pool, int32_t thread)
{
    const int here = note_place(pool, thread);
    bool is_shared = false;
    for (int32_t i = 0; i < pool->n_threads; i++)
        is_shared |= i != thread && atomic_load_explicit(&pool->members[i].place, memory_order_relaxed) == here;
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
    if (team->n_threads == 1) return;
    const unsigned phase = atomic_load_explicit(&team->phase.value, memory_order_relaxed);
    note_place(team, thread);
    if (atomic_fetch_add(&team->arrived, 1) == team->n_threads - 1) {
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        change(&team->phase);
    } else {
        wait_for_change(team, thread, &team->phase, phase);
    }
}

vouch_range vouch_pool_divide(const vouch_pool *team, int32_t thread, int64_t total)
{
    return (vouch_range){total * thread / team->n_threads, total * (thread + 1) / team->n_threads};
}

static int64_t front_of(uint64_t left)
{
    return (int64_t)(left >> 32);
}

static int64_t back_of(uint64_t left)
{
    return (int64_t)(left & UINT32_MAX);
}

static uint64_t left_from(int64_t front, int64_t back)
{
    return (uint64_t)front << 32 | (uint64_t)back;
}

/* How many of the n grains left are taken at once. */
static int64_t most_of(int64_t n)
{
    return (3 * n + 3) / 4;
}

vouch_work vouch_pool_share(vouch_pool *team, int32_t thread, int64_t total, int64_t grain)
{
    const vouch_range own = vouch_pool_divide(team, thread, (total + grain - 1) / grain);
    atomic_store_explicit(&team->members[thread].left, left_from(own.begin, own.end), memory_order_relaxed);
    return (vouch_work){.total = total, .grain = grain, .team = team, .thread = thread};
}

/* The grains [begin, end) are the current piece. */
static void piece_set(vouch_work *work, int64_t begin, int64_t end)
{
    work->begin = begin * work->grain;
    work->end = end * work->grain < work->total ? end * work->grain : work->total;
}

static bool take_own(vouch_work *work)
{
    _Atomic uint64_t *own = &work->team->members[work->thread].left;
    uint64_t left = atomic_load_explicit(own, memory_order_relaxed);
    while (front_of(left) < back_of(left)) {
        const int64_t past = front_of(left) + most_of(back_of(left) - front_of(left));
        if (!atomic_compare_exchange_weak_explicit(own, &left, left_from(past, back_of(left)), memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        piece_set(work, front_of(left), past);
        return true;
    }
    return false;
}

/* Half of what another thread has left becomes the own part, whose first piece is taken at once. */
static bool take_from(vouch_work *work, int32_t other)
{
    _Atomic uint64_t *word = &work->team->members[other].left;
    uint64_t left = atomic_load_explicit(word, memory_order_relaxed);
    while (front_of(left) < back_of(left)) {
        const int64_t n = (back_of(left) - front_of(left) + 1) / 2, begin = back_of(left) - n;
        const int64_t past = begin + most_of(n);
        if (!atomic_compare_exchange_weak_explicit(word, &left, left_from(front_of(left), begin), memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        atomic_store_explicit(&work->team->members[work->thread].left, left_from(past, back_of(left)),
                              memory_order_relaxed);
        piece_set(work, begin, past);
        return true;
    }
    return false;
}

bool vouch_work_next(vouch_work *work)
{
    if (take_own(work)) return true;
    for (int32_t i = 1; i < work->team->n_threads; i++)
        if (take_from(work, (work->thread + i) % work->team->n_threads)) return true;
    return false;
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
    if (pool->n_threads > 1) change(&pool->round);
    fn(arg, pool, 0);
    vouch_pool_barrier(pool, 0);
}

int32_t vouch_pool_size(const vouch_pool *pool)
{
    return pool->n_threads;
}

/* The program's signals are for its own threads: a worker takes only those that it causes itself. Returns the mask
 * to go back to. */
static sigset_t block_signals(void)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t others, before;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&others, own[i]);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    return before;
}

static vouch_status start_workers(vouch_pool *pool, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    for (int32_t i = 0; i < pool->n_threads; i++) {
        atomic_init(&pool->members[i].left, 0);
        atomic_init(&pool->members[i].place, -1);
    }
    const sigset_t before = block_signals();
    for (int32_t i = 0; i < pool->n_threads - 1 && !status; i++) {
        pool->workers[i] = (worker){pool, i + 1};
        if (pthread_create(&pool->handles[i], NULL, worker_main, &pool->workers[i]) == 0) pool->n_started++;
        else status = vouch_fail(err, VOUCH_E_MEMORY, "can't start thread %d of %d: use fewer threads", i + 2,
                                 pool->n_threads);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
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
    if (posix_memalign(&block, LINE, sizeof(vouch_pool) + (size_t)n_threads * sizeof(member)) != 0)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the thread pool");
    vouch_pool *pool = block;
    *pool = (vouch_pool){.n_threads = n_threads, .spin = n_threads > n_cpus ? SPIN_CROWDED : SPIN};
    pool->handles = calloc((size_t)n_threads, sizeof *pool->handles);
    pool->workers = calloc((size_t)n_threads, sizeof *pool->workers);
    vouch_status status = pool->handles && pool->workers
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
    free(pool);
}
