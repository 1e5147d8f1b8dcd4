/* SPDX-License-Identifier: MIT */
#include "kernels/tune.h"

#include <assert.h>
#include <stdlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "kernels/tables.h"

enum {
    LEAST_BYTES = 16 << 20,
    LEAST_PART = 32,         /* a type with less than this fraction of all bytes isn't measured */
    LEAST_OF_TYPE = 4 << 20, /* nor one with fewer bytes */
    SAMPLE_BYTES = 2 << 20,  /* for each thread */
    LEAST_SAMPLES = 4,       /* a type has at least so many, so that each one lies elsewhere */
    MOST_PIECES = 16,        /* of a sample, each in one matrix */
    GRAIN = 2,               /* tiles, as in a stage of a pass */
    ROUNDS = 5,
    LEAST_ROUNDS = 3,
    MOST_ROWS = 8
};

#define MOST_SECONDS 0.01 /* for one number of rows; the least rounds may take longer */

static const vouch_reading readings[] = {VOUCH_USUAL_READING, {1, 8192}, {1, 4096}, {2, 16384}};
enum { N_READINGS = sizeof readings / sizeof readings[0] };

/* What is measured at `rows` holds for groups of [first, last] rows. */
static const struct {
    int32_t rows, first, last;
} steps[] = {{1, 1, 1}, {2, 2, 3}, {5, 4, 5}, {8, 6, 8}};
enum { N_STEPS = sizeof steps / sizeof steps[0] };

/* The tiles of a part of one matrix. */
typedef struct piece {
    vouch_matrix w;
    int64_t first; /* the piece's first tile, counted in the sample */
} piece;

typedef struct tuner {
    const vouch_kernels *kernels;
    const vouch_matrix *matrices; /* [n] */
    size_t n;
    vouch_type type;
    size_t sample_bytes;
    size_t matrix; /* where the next sample begins */
    int64_t tile;
    piece pieces[MOST_PIECES];
    int32_t n_pieces;
    int64_t n_tiles, most_tiles; /* of the sample; of any sample */
    vouch_acts acts;
    vouch_reading readings[VOUCH_MAX_GROUP + 1];
    float *y; /* [MOST_ROWS][most_tiles * VOUCH_TILE] */
} tuner;

void vouch_tuning_init(vouch_tuning *tuning)
{
    tuning->n_trials = 0;
    for (int t = 0; t < VOUCH_TYPE_COUNT; t++)
        for (int r = 0; r <= VOUCH_MAX_GROUP; r++) tuning->readings[t][r] = (vouch_reading)VOUCH_USUAL_READING;
}

/* Adds the next piece of the type to the sample, at most `room` bytes of it. Returns its bytes. */
static size_t take_piece(tuner *t, size_t room)
{
    while (t->matrices[t->matrix].type != t->type || t->tile >= t->matrices[t->matrix].n_tiles) {
        t->matrix = (t->matrix + 1) % t->n;
        t->tile = 0;
    }
    piece *next = &t->pieces[t->n_pieces++];
    next->w = t->matrices[t->matrix];
    next->w.data += (size_t)t->tile * next->w.tile_bytes;
    next->w.n_tiles -= t->tile;
    const size_t fit = room / next->w.tile_bytes + 1;
    if ((size_t)next->w.n_tiles > fit) next->w.n_tiles = (int64_t)fit;
    next->w.n_out = next->w.n_tiles * VOUCH_TILE; /* the rows after a matrix's last are zeros */
    next->first = t->n_tiles;
    t->tile += next->w.n_tiles;
    t->n_tiles += next->w.n_tiles;
    return vouch_matrix_bytes(&next->w);
}

static void take_sample(tuner *t)
{
    size_t left = t->sample_bytes;
    t->n_pieces = 0;
    t->n_tiles = 0;
    while (left > 0 && t->n_pieces < MOST_PIECES) {
        const size_t bytes = take_piece(t, left);
        left -= bytes < left ? bytes : left;
    }
}

static void multiply_on_thread(void *arg, vouch_pool *team, int32_t thread)
{
    const tuner *t = arg;
    for (int32_t i = 0; i < t->n_pieces; i++) {
        const vouch_matrix *w = &t->pieces[i].w;
        vouch_acts acts = t->acts;
        acts.n_in = w->n_in;
        const vouch_result y = {t->y + t->pieces[i].first * VOUCH_TILE, t->most_tiles * VOUCH_TILE, VOUCH_TILE,
                                VOUCH_FROM_ZERO, NULL};
        vouch_work work = vouch_pool_share(team, thread, w->n_tiles, GRAIN);
        while (vouch_work_next(&work)) t->kernels->matmul[w->type](w, &acts, y, work.begin, work.end);
        vouch_pool_barrier(team, thread);
    }
}

/* Bytes per second of the next sample, read in this way. */
static double measure(tuner *t, int32_t rows, vouch_reading reading, vouch_pool *pool)
{
    size_t bytes = 0;
    take_sample(t);
    t->acts.n_rows = rows;
    t->readings[rows] = reading;
    for (int32_t i = 0; i < t->n_pieces; i++) {
        t->pieces[i].w.readings = t->readings;
        bytes += vouch_matrix_bytes(&t->pieces[i].w);
    }
    const double start = vouch_now();
    vouch_pool_run(pool, multiply_on_thread, t);
    return (double)bytes / (vouch_now() - start);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Measures the readings that this number of rows can have. Each round begins with another one. */
static void measure_rows(vouch_tuning *tuning, tuner *t, int step, vouch_pool *pool)
{
    const int32_t rows = steps[step].rows;
    double speeds[N_READINGS][ROUNDS];
    vouch_reading can[N_READINGS];
    int n_readings = 0, n = -1, best = 0; /* n: rounds that count; the first one wakes the threads */
    for (int i = 0; i < N_READINGS; i++)
        if (readings[i].tiles == 1 || rows <= t->kernels->pair_rows) can[n_readings++] = readings[i];
    for (const double start = vouch_now(); n < ROUNDS && (n < LEAST_ROUNDS || vouch_now() - start < MOST_SECONDS); n++)
        for (int k = 0; k < n_readings; k++) {
            const int i = (k + n + 1) % n_readings;
            const double speed = measure(t, rows, can[i], pool);
            if (n >= 0) speeds[i][n] = speed;
        }
    assert(tuning->n_trials + n_readings <= VOUCH_MOST_TRIALS);
    vouch_kernel_trial *trials = tuning->trials + tuning->n_trials;
    for (int i = 0; i < n_readings; i++) {
        qsort(speeds[i], (size_t)n, sizeof speeds[i][0], ascending);
        trials[i] = (vouch_kernel_trial){.type = vouch_type_get_info(t->type)->name,
                                         .rows = rows,
                                         .tiles = can[i].tiles,
                                         .ahead = can[i].ahead,
                                         .bytes_per_second = speeds[i][n / 2]};
        if (trials[i].bytes_per_second > trials[best].bytes_per_second * (best == 0 ? 1.02 : 1)) best = i;
    }
    tuning->n_trials += n_readings;
    trials[best].is_chosen = true;
    for (int32_t r = steps[step].first; r <= steps[step].last; r++) tuning->readings[t->type][r] = can[best];
}

/* Room for the largest sample of the type, and for inputs of its widest matrix. */
static void layout(tuner *t, float **x, vouch_arena *arena)
{
    size_t n_in = 0, least_tile = SIZE_MAX;
    for (size_t i = 0; i < t->n; i++) {
        const vouch_matrix *w = &t->matrices[i];
        if (w->type != t->type) continue;
        if ((size_t)w->n_in > n_in) n_in = (size_t)w->n_in;
        if (w->tile_bytes < least_tile) least_tile = w->tile_bytes;
    }
    t->most_tiles = (int64_t)(t->sample_bytes / least_tile) + MOST_PIECES;
    t->acts.n_in = (int64_t)n_in;
    vouch_acts_layout(&t->acts, MOST_ROWS, n_in, t->acts.needs, arena);
    t->y = vouch_arena_take(arena, (size_t)t->most_tiles * VOUCH_TILE * MOST_ROWS, sizeof *t->y);
    *x = vouch_arena_take(arena, MOST_ROWS * n_in, sizeof **x);
}

/* Without memory the usual readings stay. */
static void measure_type(vouch_tuning *tuning, tuner *t, vouch_pool *pool)
{
    vouch_arena arena = {0};
    float *x;
    t->acts = (vouch_acts){.group_rows = t->kernels->group_rows, .needs = vouch_type_needs(t->type)};
    layout(t, &x, &arena);
    if (vouch_arena_allocate(&arena, "measuring kernels", NULL) != VOUCH_OK) return;
    layout(t, &x, &arena);
    /* All inputs are the same, so the arrays hold for any width and number of rows. */
    t->acts.n_rows = MOST_ROWS;
    for (int64_t i = 0; i < MOST_ROWS * t->acts.n_in; i++) x[i] = 1;
    t->kernels->quantize(&t->acts, x, t->acts.n_in, 0, MOST_ROWS, 0, t->acts.n_in);
    t->matrix = 0;
    t->tile = 0;
    for (int step = 0; step < N_STEPS; step++) measure_rows(tuning, t, step, pool);
    vouch_arena_free(&arena);
}

void vouch_tuning_measure(vouch_tuning *tuning, const vouch_kernels *kernels, const vouch_matrix *matrices, size_t n,
                          vouch_pool *pool)
{
    size_t bytes[VOUCH_TYPE_COUNT] = {0}, all = 0;
    for (size_t i = 0; i < n; i++) {
        if (!vouch_type_is_quantized(matrices[i].type)) continue;
        bytes[matrices[i].type] += vouch_matrix_bytes(&matrices[i]);
        all += vouch_matrix_bytes(&matrices[i]);
    }
    if (kernels == &vouch_kernels_ref || all < LEAST_BYTES) return; /* the reference has one way to read */
    for (int type = 0; type < VOUCH_TYPE_COUNT; type++) {
        if (bytes[type] < LEAST_OF_TYPE || bytes[type] < all / LEAST_PART) continue;
        tuner t = {.kernels = kernels, .matrices = matrices, .n = n, .type = (vouch_type)type};
        t.sample_bytes = (size_t)SAMPLE_BYTES * (size_t)vouch_pool_size(pool);
        if (t.sample_bytes > bytes[type] / LEAST_SAMPLES) t.sample_bytes = bytes[type] / LEAST_SAMPLES;
        measure_type(tuning, &t, pool);
    }
}
