/* SPDX-License-Identifier: MIT */
/*
 * Fork, join and barrier share one mechanism: a thread changes a word, and other threads wait for the change.
 *
 *   run       the caller sets fn and arg, then changes `round`. The workers wait for this change, call fn, and meet at
 *             a final barrier, which is the join.
 *   barrier   the last of n threads to arrive changes `phase`; the others wait for this change.
 *
 * Waiting. A thread spins first and then sleeps on a futex. It spins for SPIN pauses, about half a millisecond, because
 * the gap between two passes is 0.1 to 0.3 ms. With a tenth of SPIN, threads slept at each pass. Waking is slow on a
 * virtual machine: there, one late thread sent all others to sleep at barrier after barrier, and passes took three to
 * six times as long. Spinning less after a wait that ended in sleep had the same effect.
 *
 * Yielding. The system sometimes wakes thread B on the processor where thread A spins, waiting for B. B then runs only
 * when A has spun to the end, at each of a pass's 150 barriers: one step in a hundred took 57 ms instead of 2 ms. So
 * every thread records its processor at each barrier, and a waiting thread yields when another thread was last seen on
 * its processor. Yielding always would be wrong: a low-priority program would get the processor for milliseconds.
 *
 * Sharing work. Each thread owns a part of a stage. The word `left` holds the rest of the part, as front and back:
 *
 *     | taken | next piece: 3/4 of the rest | ... |     the owner takes from the front
 *             ^ front                             ^ back; an idle thread takes half of the rest from here
 *
 * While no thread is late, each thread changes only its own word, at a cost of a few nanoseconds, and reads its weights
 * in ascending order. (With one counter for all threads a piece cost 80 ns, and its first weights were not prefetched:
 * 5 % of a pass.) At a barrier all parts are empty. So an idle thread that looks at a part before its owner has set it
 * finds an empty part and never stale work.
 *
 * Sleeping. A thread that changes a word makes the system call only if a thread sleeps on that word. Both sides are
 * sequentially consistent: the sleeper counts itself before it reads the word again, and the changer writes the word
 * before it reads the count of sleepers. So at least one of the two sees the other.
 */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/common.h"
#include "os/os.h"

enum {
    SPIN = 20000,      /* pauses before a waiting thread sleeps */
    SPIN_CROWDED = 20, /* the same with more threads than processors */
    LOOK = 500,        /* pauses between two checks for a shared processor */
    LINE = 128         /* bytes: two cache lines, which processors fetch in pairs */
};

/* A word that threads wait on. No other data shares its cache lines. */
typedef struct signal_word {
    _Alignas(LINE) atomic_uint value;
    atomic_uint sleepers;
} signal_word;

typedef struct member {
    _Alignas(LINE) _Atomic uint64_t left; /* rest of this thread's part, in grains: front << 32 | back */
    atomic_int processor;                 /* the processor that this thread was last seen on */
} member;

struct vouch_pool {
    signal_word round, phase;
    _Alignas(LINE) atomic_int arrived;
    _Alignas(LINE) vouch_pool_fn *fn;
    void *arg;
    bool stop;
    int32_t n_threads, n_started;
    int32_t spin;       /* pauses before a thread sleeps */
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

/* Records and returns the processor that this thread runs on; -1 if the system can't tell. */
static int record_processor(vouch_pool *pool, int32_t thread)
{
    const int here = vouch_os_processor_here();
    atomic_int *processor = &pool->members[thread].processor;
    if (atomic_load_explicit(processor, memory_order_relaxed) != here)
        atomic_store_explicit(processor, here, memory_order_relaxed);
    return here;
}

/* Whether another thread was last seen on this thread's processor. */
static bool shares_processor(vouch_pool *pool, int32_t thread)
{
    const int here = record_processor(pool, thread);
    bool is_shared = false;
    for (int32_t i = 0; i < pool->n_threads; i++)
        is_shared |= i != thread && atomic_load_explicit(&pool->members[i].processor, memory_order_relaxed) == here;
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
    while (atomic_load(&word->value) == old) vouch_os_wait(&word->value, old);
    atomic_fetch_sub(&word->sleepers, 1);
    record_processor(pool, thread);
}

static void change(signal_word *word)
{
    atomic_fetch_add(&word->value, 1);
    if (atomic_load(&word->sleepers) != 0) vouch_os_wake(&word->value);
}

void vouch_pool_barrier(vouch_pool *team, int32_t thread)
{
    if (team->n_threads == 1) return;
    const unsigned phase = atomic_load_explicit(&team->phase.value, memory_order_relaxed);
    record_processor(team, thread);
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

/* Grains of the next piece when a part has n grains left. */
static int64_t piece_size(int64_t n)
{
    return (3 * n + 3) / 4;
}

vouch_work vouch_pool_share(vouch_pool *team, int32_t thread, int64_t total, int64_t grain)
{
    const vouch_range own = vouch_pool_divide(team, thread, (total + grain - 1) / grain);
    atomic_store_explicit(&team->members[thread].left, left_from(own.begin, own.end), memory_order_relaxed);
    return (vouch_work){.total = total, .grain = grain, .team = team, .thread = thread};
}

/* Makes the grains [begin, end) the current piece. */
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
        const int64_t past = front_of(left) + piece_size(back_of(left) - front_of(left));
        if (!atomic_compare_exchange_weak_explicit(own, &left, left_from(past, back_of(left)), memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        piece_set(work, front_of(left), past);
        return true;
    }
    return false;
}

/* Moves half of the other thread's remaining grains to this thread's part and takes the first piece of it. */
static bool take_from(vouch_work *work, int32_t other)
{
    _Atomic uint64_t *word = &work->team->members[other].left;
    uint64_t left = atomic_load_explicit(word, memory_order_relaxed);
    while (front_of(left) < back_of(left)) {
        const int64_t n = (back_of(left) - front_of(left) + 1) / 2, begin = back_of(left) - n;
        const int64_t past = begin + piece_size(n);
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

int32_t vouch_cpu_count(void)
{
    return vouch_min(vouch_os_processors(), VOUCH_MAX_THREADS);
}

int32_t vouch_pool_size(const vouch_pool *pool)
{
    return pool->n_threads;
}

static vouch_status start_workers(vouch_pool *pool, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    for (int32_t i = 0; i < pool->n_threads; i++) {
        atomic_init(&pool->members[i].left, 0);
        atomic_init(&pool->members[i].processor, -1);
    }
    for (int32_t i = 0; i < pool->n_threads - 1 && !status; i++) {
        pool->workers[i] = (worker){pool, i + 1};
        if (vouch_os_thread_start(&pool->handles[i], worker_main, &pool->workers[i])) pool->n_started++;
        else
            status = vouch_fail(err, VOUCH_E_MEMORY, "can't start thread %d of %d: use fewer threads", i + 2,
                                pool->n_threads);
    }
    return status;
}

vouch_status vouch_pool_open(vouch_pool **out, int32_t n_threads, vouch_error *err)
{
    *out = NULL;
    const int32_t n_cpus = vouch_cpu_count();
    if (n_threads == 0) n_threads = n_cpus;
    if (n_threads < 1 || n_threads > VOUCH_MAX_THREADS)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "threads must be 1 to %d, not %d", VOUCH_MAX_THREADS, n_threads);
    vouch_pool *pool = vouch_os_aligned_take(LINE, sizeof(vouch_pool) + (size_t)n_threads * sizeof(member));
    if (!pool) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the thread pool");
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
    vouch_os_aligned_free(pool);
}
