/* SPDX-License-Identifier: MIT */
/*
 * The thread pool: every thread runs, none leaves a barrier early, each piece of work is done exactly once, and
 * sleeping threads wake. Under ThreadSanitizer these tests also show that a stage may read what the stage before it
 * wrote.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/pool.h"
#include "support/test.h"

static vouch_pool *pool_open(int32_t n)
{
    vouch_pool *pool;
    vouch_error err;
    if (vouch_pool_open(&pool, n, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return pool;
}

/* -------------------------------------------------------------- every thread */

typedef struct roll {
    int32_t size;
    atomic_int seen[VOUCH_MAX_THREADS];
} roll;

static void answer_roll(void *arg, vouch_pool *team, int32_t thread)
{
    roll *r = arg;
    (void)team;
    atomic_fetch_add(&r->seen[thread], 1);
}

/* Includes more threads than processors. */
static void every_thread_runs_once_a_run(void **state)
{
    (void)state;
    const int32_t sizes[] = {1, 2, 3, 5, 16, VOUCH_MAX_THREADS};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        static roll r;
        memset(&r, 0, sizeof r);
        vouch_pool *pool = pool_open(sizes[i]);
        assert_int_equal(vouch_pool_size(pool), sizes[i]);
        for (int run = 1; run <= 3; run++) {
            vouch_pool_run(pool, answer_roll, &r);
            for (int32_t t = 0; t < VOUCH_MAX_THREADS; t++) assert_int_equal(r.seen[t], t < sizes[i] ? run : 0);
        }
        vouch_pool_close(pool);
    }
    vouch_pool_close(NULL);
}

/* --------------------------------------------------------- barrier and work */

enum { N_STAGES = 40, N_CELLS = 257, PATIENCE = 20000 };

/* Each stage computes a row, in pieces, from the whole row before it. The rows aren't atomic: only the barrier orders
 * reads after writes. */
typedef struct relay {
    int64_t grain;
    uint32_t rows[N_STAGES + 1][N_CELLS];
    atomic_int times[N_STAGES + 1][N_CELLS];
} relay;

static uint32_t mix_row(const uint32_t *row, int64_t cell)
{
    uint32_t sum = (uint32_t)cell;
    for (int i = 0; i < N_CELLS; i++) sum = sum * 31 + row[i];
    return sum;
}

static void run_relay(void *arg, vouch_pool *team, int32_t thread)
{
    relay *r = arg;
    for (int s = 1; s <= N_STAGES; s++) {
        vouch_work work = vouch_pool_share(team, thread, N_CELLS, r->grain);
        while (vouch_work_next(&work))
            for (int64_t i = work.begin; i < work.end; i++) {
                r->rows[s][i] = mix_row(r->rows[s - 1], i);
                atomic_fetch_add(&r->times[s][i], 1);
            }
        vouch_pool_barrier(team, thread);
    }
}

static void a_barrier_separates_stages(void **state)
{
    (void)state;
    static relay expected, r;
    for (int s = 1; s <= N_STAGES; s++)
        for (int i = 0; i < N_CELLS; i++) expected.rows[s][i] = mix_row(expected.rows[s - 1], i);
    const int32_t sizes[] = {1, 2, 3, 5, 9};
    const int64_t grains[] = {1, 7, 64, N_CELLS, N_CELLS + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        vouch_pool *pool = pool_open(sizes[i]);
        for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++) {
            memset(&r, 0, sizeof r);
            r.grain = grains[g];
            vouch_pool_run(pool, run_relay, &r);
            assert_memory_equal(r.rows, expected.rows, sizeof r.rows);
            for (int s = 1; s <= N_STAGES; s++)
                for (int c = 0; c < N_CELLS; c++) assert_int_equal(r.times[s][c], 1);
        }
        vouch_pool_close(pool);
    }
}

/* Thread 1 arrives late at each stage. `early` counts departures from a stage before all threads have arrived. */
typedef struct race {
    int32_t size;
    bool open; /* no barrier, and thread 1 waits until the others have left: all of them are early */
    atomic_int at[3], gone[3], early;
} race;

static void run_race(void *arg, vouch_pool *team, int32_t thread)
{
    race *r = arg;
    for (int s = 0; s < 3; s++) {
        if (thread == 1 && !r->open) usleep(2000);
        while (thread == 1 && r->open && atomic_load(&r->gone[s]) < r->size - 1) sched_yield();
        atomic_fetch_add(&r->at[s], 1);
        if (!r->open) vouch_pool_barrier(team, thread);
        if (atomic_load(&r->at[s]) != r->size) atomic_fetch_add(&r->early, 1);
        if (thread != 1) atomic_fetch_add(&r->gone[s], 1);
    }
}

static void nobody_leaves_a_barrier_early(void **state)
{
    (void)state;
    for (int32_t size = 2; size <= 6; size++) {
        race closed = {.size = size}, open = {.size = size, .open = true};
        vouch_pool *pool = pool_open(size);
        vouch_pool_run(pool, run_race, &closed);
        assert_int_equal(closed.early, 0);
        vouch_pool_run(pool, run_race, &open);
        assert_int_equal(open.early, 3 * (size - 1));
        vouch_pool_close(pool);
    }
}

static void take_nothing(void *arg, vouch_pool *team, int32_t thread)
{
    vouch_work work = vouch_pool_share(team, thread, 0, 4);
    if (vouch_work_next(&work)) atomic_fetch_add((atomic_int *)arg, 1);
}

static void empty_work_has_no_pieces(void **state)
{
    (void)state;
    atomic_int pieces = 0;
    vouch_pool *pool = pool_open(3);
    vouch_pool_run(pool, take_nothing, &pieces);
    assert_int_equal(pieces, 0);
    vouch_pool_close(pool);
}

/* All threads begin. Then the thread `late` holds its first piece until all other pieces are done, so the other threads
 * must have taken the rest of its share. */
typedef struct lateness {
    int32_t size, late;
    atomic_int times[N_CELLS], begun;
    _Atomic int64_t done;
    bool gave_up;
} lateness;

static void run_late(void *arg, vouch_pool *team, int32_t thread)
{
    lateness *l = arg;
    vouch_work work = vouch_pool_share(team, thread, N_CELLS, 2);
    atomic_fetch_add(&l->begun, 1);
    while (atomic_load(&l->begun) < l->size) sched_yield();
    for (bool first = true; vouch_work_next(&work); first = false) {
        const int64_t n = work.end - work.begin;
        for (int i = 0; first && thread == l->late && atomic_load(&l->done) < N_CELLS - n; i++) {
            l->gave_up |= i == PATIENCE;
            if (l->gave_up) break;
            usleep(1000);
        }
        for (int64_t i = work.begin; i < work.end; i++) atomic_fetch_add(&l->times[i], 1);
        atomic_fetch_add(&l->done, n);
    }
    vouch_pool_barrier(team, thread);
}

static void others_take_the_work_of_a_late_thread(void **state)
{
    (void)state;
    for (int32_t size = 2; size <= 5; size++) {
        vouch_pool *pool = pool_open(size);
        for (int32_t late = 0; late < size; late++) {
            lateness l = {.size = size, .late = late};
            vouch_pool_run(pool, run_late, &l);
            assert_false(l.gave_up);
            for (int i = 0; i < N_CELLS; i++) assert_int_equal(l.times[i], 1);
        }
        vouch_pool_close(pool);
    }
}

/* The program's signal handlers must not run on the library's threads. The workers block SIGINT but not SIGSEGV. */
static void note_mask(void *arg, vouch_pool *team, int32_t thread)
{
    atomic_int *n_wrong = arg;
    sigset_t mask;
    (void)team;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    if (sigismember(&mask, SIGINT) == (thread == 0) || sigismember(&mask, SIGSEGV)) atomic_fetch_add(n_wrong, 1);
}

static void workers_take_no_signals(void **state)
{
    (void)state;
    atomic_int wrong = 0;
    vouch_pool *pool = pool_open(4);
    vouch_pool_run(pool, note_mask, &wrong);
    assert_int_equal(wrong, 0);
    vouch_pool_close(pool);
}

/* ---------------------------------------------------------- short runs, sleep */

static void add_one(void *arg, vouch_pool *team, int32_t thread)
{
    vouch_work work = vouch_pool_share(team, thread, 4, 1);
    while (vouch_work_next(&work)) atomic_fetch_add((_Atomic int64_t *)arg, work.end - work.begin);
}

static void many_short_runs(void **state)
{
    (void)state;
    const int32_t sizes[] = {1, 2, 3, 7};
    const int n = test_is_quick() ? 2000 : 20000;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        _Atomic int64_t sum = 0;
        vouch_pool *pool = pool_open(sizes[i]);
        for (int run = 0; run < n; run++) vouch_pool_run(pool, add_one, &sum);
        assert_int_equal(sum, 4 * n);
        vouch_pool_close(pool);
    }
}

/* Pauses between and inside runs are longer than the pool spins, so its threads fall asleep and must wake. */
static void sleepers_wake(void **state)
{
    (void)state;
    for (int32_t size = 2; size <= 4; size++) {
        vouch_pool *pool = pool_open(size);
        _Atomic int64_t sum = 0;
        for (int run = 1; run <= 5; run++) {
            usleep(3000);
            race r = {.size = size};
            vouch_pool_run(pool, run_race, &r);
            vouch_pool_run(pool, add_one, &sum);
            assert_int_equal(sum, 4 * run);
        }
        usleep(3000);
        vouch_pool_close(pool); /* closes while the workers sleep */
    }
}

/* The number of this process's threads that run or are ready to. */
static int count_running(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[300], line[512] = "";
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        if (fgets(line, sizeof line, file)) {
            const char *after_name = strrchr(line, ')');
            n += after_name && after_name[2] == 'R';
        }
        fclose(file);
    }
    closedir(folder);
    return n;
}

/* An idle pool costs nothing: soon after a run, only the calling thread is awake. */
static void an_idle_team_sleeps(void **state)
{
    (void)state;
    vouch_pool *pool = pool_open(4);
    _Atomic int64_t sum = 0;
    vouch_pool_run(pool, add_one, &sum);
    int n = 4;
    for (int wait = 0; wait < 500 && n > 1; wait++) {
        usleep(10000);
        n = count_running();
    }
    assert_int_equal(n, 1);
    vouch_pool_close(pool);
}

/* Closing right after opening, without a run. */
static void pools_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) vouch_pool_close(pool_open(1 + i % 5));
}

static void wrong_sizes_are_refused(void **state)
{
    (void)state;
    const int32_t wrong[] = {-1, INT32_MIN, VOUCH_MAX_THREADS + 1, INT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        vouch_error err;
        vouch_pool *pool = (vouch_pool *)&err;
        assert_int_equal(vouch_pool_open(&pool, wrong[i], &err), VOUCH_E_ARGUMENT);
        assert_null(pool);
        assert_non_null(strstr(err.message, "threads must be 1 to 256"));
    }
    vouch_pool *pool = pool_open(0);
    assert_int_equal(vouch_pool_size(pool), vouch_cpu_count());
    assert_true(vouch_cpu_count() >= 1);
    vouch_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_runs_once_a_run),
        cmocka_unit_test(a_barrier_separates_stages),
        cmocka_unit_test(nobody_leaves_a_barrier_early),
        cmocka_unit_test(empty_work_has_no_pieces),
        cmocka_unit_test(others_take_the_work_of_a_late_thread),
        cmocka_unit_test(workers_take_no_signals),
        cmocka_unit_test(many_short_runs),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(an_idle_team_sleeps),
        cmocka_unit_test(pools_come_and_go),
        cmocka_unit_test(wrong_sizes_are_refused),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
