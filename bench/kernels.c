/* SPDX-License-Identifier: MIT */
/*
 * Compares the matrix kernels with the roofline. For each type, matrix of a model and number of rows it prints the
 * time, the bytes and multiply-adds per second, and the share of the machine's limit:
 *
 *   share = max(bytes of packed weights / read bandwidth, rows x multiply-adds / peak) / time
 *
 * The same threads measure both limits in the same rounds, and the bandwidth on the same bytes (roofline.h).
 *
 *   memory   [ matrix | copy | copy | ... ]   copies fill --set, so that a matrix has left the caches when its turn
 *                                             comes again. A matrix larger than --set has no copies.
 *   round    read all bytes; measure the peak; multiply all copies by 1 row, by 2 rows, ... The first round doesn't
 *            count.
 *
 * The tiles of all copies are one range that the threads share, without a barrier between two matrices. So the figures
 * are the kernels' alone; `vouch bench` measures whole passes. Activations are quantised beforehand. The summary weighs
 * each matrix by its number of occurrences in a pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tool/file.h"
#include "tool/statistics.h"
#include "tool/term.h"
#include "base/memory.h"
#include "base/pool.h"
#include "kernels/kernels.h"
#include "support/arguments.h"
#include "support/roofline.h"
#include "support/shapes.h"
#include "bits/values.h"

enum { MOST_ROWS = 64, MOST_JOBS = 4096, GRAIN = 2 };

typedef struct options {
    bool help;
    const char *types, *shapes, *cpu, *json;
    tool_ints rows;
    int32_t n_threads, n_reps, set_megabytes;
} options;

#define AT(member) .offset = offsetof(options, member)

static const tool_flag flags[] = {
    {"types", NULL, 't', TOOL_FLAG_FILE, AT(types), "T,T,...", NULL, 1, "What", "types (default: all)", NULL, NULL},
    {"shapes", NULL, 's', TOOL_FLAG_FILE, AT(shapes), "S,S,...", NULL, 1, "What",
     "models: " BENCH_SHAPE_NAMES " (default: all)", NULL, NULL},
    {"rows", NULL, 'r', TOOL_FLAG_INTS, AT(rows), "N,N,...", "[1, 64]", 1, "What", "rows of a pass (default 1 to 16)",
     NULL, NULL},
    {"reps", NULL, 0, TOOL_FLAG_INT, AT(n_reps), "N", "[1, 1000]", 1, "How", "rounds", NULL, NULL},
    {"set", NULL, 0, TOOL_FLAG_INT, AT(set_megabytes), "MB", "[1, 65536]", 1, "How",
     "size of the weights; one that fits into the\ncaches measures the kernels without memory", NULL, NULL},
    {"threads", NULL, 0, TOOL_FLAG_INT, AT(n_threads), "N", "[1, 256]", 1, "How",
     "threads (default: one per processor)", NULL, NULL},
    {"cpu", NULL, 0, TOOL_FLAG_FILE, AT(cpu), "ISA", NULL, 1, "How", "instruction set (default auto: the widest)", NULL,
     NULL},
    {"json", NULL, 'j', TOOL_FLAG_FILE, AT(json), "FILE", NULL, 1, "Output", "the figures as JSON", NULL, NULL},
    BENCH_HELP,
};

static const bench_command command = {
    "kernels", "kernels [--types T,T,...] [--shapes S,S,...] [--rows N,N,...] [--json FILE]\n",
    "  kernels --types Q8_0,Q4_0 --shapes qwen3-0.6b --threads 2\n"
    "  kernels --types Q4_K --shapes llama-8b --rows 1,5,8 --cpu avx2 --json kernels.json\n",
    flags, sizeof flags / sizeof flags[0]};

/* -------------------------------------------------------------------- jobs */

/* The measurements of one matrix at one number of rows. */
typedef struct figure {
    double *seconds;      /* [n_reps], per matrix; sorted at the end */
    double median, limit; /* seconds; limit: the roofline's */
    bool by_memory;       /* memory, not arithmetic, sets the limit */
} figure;

typedef struct job {
    const bench_shape *shape;
    char names[32];      /* the matrices with this shape: "attn_k, attn_v" */
    int32_t count;       /* occurrences in a pass */
    vouch_matrix matrix; /* the first copy */
    int64_t n_copies;
    double *reads, *peaks;     /* [n_reps]: bytes per second, multiply-adds per second */
    double read, peak;         /* medians of reads and peaks */
    figure figures[MOST_ROWS]; /* one for each of options.rows */
} job;

typedef struct bench {
    options o;
    const vouch_kernels *kernels;
    vouch_pool *pool;
    job *jobs;
    int32_t n_jobs;
    vouch_arena weights, work;
    vouch_acts acts;
    float *y;   /* [threads][most outputs * most rows] */
    size_t n_y; /* floats per thread */
    float *x;   /* random activations, [most rows][most inputs] */
    size_t n_x;
    unsigned char *packing; /* [threads][a tile's rows in the file's layout] */
    size_t n_packing;       /* bytes per thread */
    tool_progress progress;
} bench;

/* Whether a comma-separated list contains the name; NULL contains all names. */
static bool list_holds(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || !at[n])) return true;
    return !list;
}

/* The type's name, or NULL if no kernel exists for it. */
static const char *type_name(const bench *b, uint32_t type)
{
    const vouch_type_info *info = vouch_type_get_info(type);
    return info && b->kernels->matmul[type] ? info->name : NULL;
}

/* Whether every word of the list is one of the n known names. Complains about the first that isn't. */
static bool list_check(const char *flag, const char *list, const char *const *known, size_t n)
{
    char all[512] = "", word[32];
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", known[i]);
    for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        size_t i = 0;
        while (i < n && strcmp(known[i], word) != 0) i++;
        if (i < n) continue;
        tool_complain("%s '%s': expected %s", flag, word, all);
        return false;
    }
    return true;
}

/* Adds a matrix of a model: to an existing job of the same shape, or as a new job. */
static void job_add(bench *b, int32_t first, const bench_shape *shape, uint32_t type, const bench_matrix *m,
                    int32_t count)
{
    const vouch_type_info *info = vouch_type_get_info(type);
    if (m->n_in % info->block_length != 0) return;
    for (int32_t i = first; i < b->n_jobs; i++) {
        job *j = &b->jobs[i];
        if (j->matrix.n_out != m->n_out || j->matrix.n_in != m->n_in) continue;
        const size_t used = strlen(j->names);
        if (!strstr(j->names, m->name)) snprintf(j->names + used, sizeof j->names - used, ", %s", m->name);
        j->count += count;
        return;
    }
    job *j = &b->jobs[b->n_jobs++];
    *j = (job){.shape = shape, .count = count};
    snprintf(j->names, sizeof j->names, "%s", m->name);
    vouch_matrix_shape(&j->matrix, (vouch_type)type, m->n_out, m->n_in);
    const size_t set = (size_t)b->o.set_megabytes << 20, bytes = vouch_matrix_bytes(&j->matrix);
    j->n_copies = (int64_t)((set + bytes - 1) / bytes);
}

static void jobs_add(bench *b)
{
    const bench_shape *shape;
    for (size_t s = 0; (shape = bench_shape_at(s)) != NULL; s++)
        for (uint32_t type = 0; type < VOUCH_TYPE_COUNT; type++) {
            const char *name = type_name(b, type);
            if (!name || !list_holds(b->o.types, name) || !list_holds(b->o.shapes, shape->name)) continue;
            const int32_t first = b->n_jobs;
            bench_matrix matrices[BENCH_LAYER_MATRICES];
            const bench_matrix head = {"head", shape->n_vocab, shape->n_embd, 0};
            for (int32_t layer = 0; layer < shape->n_layers; layer++) {
                const int n = bench_layer_matrices(shape, layer, matrices);
                for (int i = 0; i < n; i++)
                    job_add(b, first, shape, type, &matrices[i], matrices[i].n_stack ? shape->n_used : 1);
            }
            job_add(b, first, shape, type, &head, 1);
        }
}

/* ------------------------------------------------------------------ memory */

/* Takes everything but the weights from an arena: see vouch_arena. */
static void layout_work(bench *b, vouch_arena *arena)
{
    const size_t n_rows = (size_t)b->o.rows.items[b->o.rows.n - 1], n_threads = (size_t)vouch_pool_size(b->pool);
    const size_t n_reps = (size_t)b->o.n_reps;
    size_t n_in = 0, n_out = 0, row_bytes = 0;
    for (int32_t i = 0; i < b->n_jobs; i++) {
        job *j = &b->jobs[i];
        const vouch_type_info *info = vouch_type_get_info(j->matrix.type);
        const size_t bytes = (size_t)(j->matrix.n_in / info->block_length * info->block_bytes);
        if ((size_t)j->matrix.n_in > n_in) n_in = (size_t)j->matrix.n_in;
        if ((size_t)j->matrix.n_out > n_out) n_out = (size_t)j->matrix.n_out;
        if (bytes > row_bytes) row_bytes = bytes;
        j->reads = vouch_arena_take(arena, n_reps, sizeof(double));
        j->peaks = vouch_arena_take(arena, n_reps, sizeof(double));
        for (size_t r = 0; r < b->o.rows.n; r++)
            j->figures[r].seconds = vouch_arena_take(arena, n_reps, sizeof(double));
    }
    const size_t values = n_rows * n_in, blocks = values / VOUCH_BLOCK;
    b->acts.q = vouch_arena_take(arena, values, sizeof *b->acts.q);
    b->acts.d = vouch_arena_take(arena, blocks, sizeof *b->acts.d);
    for (int i = 0; i < VOUCH_SUMS_COUNT; i++)
        b->acts.sums[i] = vouch_arena_take(arena, blocks * (size_t)vouch_sums_infos[i].runs, sizeof *b->acts.sums[i]);
    b->acts.x = vouch_arena_take(arena, values, sizeof *b->acts.x);
    b->x = vouch_arena_take(arena, values, sizeof *b->x);
    b->n_x = values;
    b->n_y = n_rows * n_out;
    b->y = vouch_arena_take(arena, n_threads * b->n_y, sizeof *b->y);
    b->n_packing = VOUCH_TILE * row_bytes;
    b->packing = vouch_arena_take(arena, n_threads, b->n_packing);
}

static vouch_status memory_open(bench *b, vouch_error *err)
{
    size_t most = 0;
    for (int32_t i = 0; i < b->n_jobs; i++) {
        const size_t bytes = (size_t)b->jobs[i].n_copies * vouch_matrix_bytes(&b->jobs[i].matrix);
        if (bytes > most) most = bytes;
    }
    vouch_arena_take(&b->weights, most, 1);
    VOUCH_TRY(vouch_arena_allocate(&b->weights, "the weights", err));
    layout_work(b, &b->work);
    VOUCH_TRY(vouch_arena_allocate(&b->work, "activations and results", err));
    layout_work(b, &b->work);
    bits_fill_blocks(VOUCH_TYPE_F32, 1, 1, 0, (int64_t)b->n_x, (unsigned char *)b->x);
    return VOUCH_OK;
}

/* ---------------------------------------------------------------- measuring */

/* A job and its activations, for all threads. */
typedef struct task {
    bench *b;
    job *job;
    const vouch_acts *acts;
} task;

/* Multiplies the tiles [begin, end), counted through all copies. */
static void tiles_multiply(const task *t, float *y, int64_t begin, int64_t end)
{
    vouch_matrix matrix = t->job->matrix;
    const size_t bytes = vouch_matrix_bytes(&matrix);
    unsigned char *first = matrix.data;
    const vouch_result to_rows = {y, matrix.n_out, VOUCH_TILE, VOUCH_FROM_ZERO, NULL};
    while (begin < end) {
        const int64_t copy = begin / matrix.n_tiles, from = begin - copy * matrix.n_tiles;
        const int64_t left = end - copy * matrix.n_tiles, to = left < matrix.n_tiles ? left : matrix.n_tiles;
        matrix.data = first + (size_t)copy * bytes;
        t->b->kernels->matmul[matrix.type](&matrix, t->acts, to_rows, from, to);
        begin += to - from;
    }
}

static void multiply_on_thread(void *arg, vouch_pool *team, int32_t thread)
{
    const task *t = arg;
    float *y = t->b->y + (size_t)thread * t->b->n_y;
    vouch_work work = vouch_pool_share(team, thread, t->job->n_copies * t->job->matrix.n_tiles, GRAIN);
    while (vouch_work_next(&work)) tiles_multiply(t, y, work.begin, work.end);
}

/* Packs random rows into the tiles of the first copy, then copies it to the others. */
static void fill_on_thread(void *arg, vouch_pool *team, int32_t thread)
{
    const task *t = arg;
    const vouch_matrix *all = &t->job->matrix;
    const vouch_type_info *info = vouch_type_get_info(all->type);
    const int64_t n_blocks = all->n_in / info->block_length;
    unsigned char *rows = t->b->packing + (size_t)thread * t->b->n_packing;
    const size_t bytes = vouch_matrix_bytes(all);
    vouch_work work = vouch_pool_share(team, thread, all->n_tiles, GRAIN);
    while (vouch_work_next(&work))
        for (int64_t i = work.begin; i < work.end; i++) {
            const int64_t left = all->n_out - i * VOUCH_TILE, n = left < VOUCH_TILE ? left : VOUCH_TILE;
            vouch_matrix tile = *all;
            tile.n_out = n;
            tile.n_tiles = 1;
            tile.data = all->data + (size_t)i * all->tile_bytes;
            bits_fill_blocks((int32_t)all->type, 0.02f, 1, i * VOUCH_TILE * n_blocks, n * n_blocks, rows);
            vouch_matrix_pack(&tile, rows, 0, 1);
        }
    vouch_pool_barrier(team, thread);
    work = vouch_pool_share(team, thread, t->job->n_copies - 1, 1);
    while (vouch_work_next(&work))
        for (int64_t i = work.begin; i < work.end; i++) memcpy(all->data + (size_t)(i + 1) * bytes, all->data, bytes);
}

static void acts_prepare(bench *b, const vouch_matrix *m, int64_t n_rows)
{
    b->acts.n_rows = n_rows;
    b->acts.n_in = m->n_in;
    b->acts.group_rows = b->kernels->group_rows;
    b->acts.needs = vouch_type_needs(m->type);
    if (vouch_type_is_quantized(m->type)) b->kernels->quantize(&b->acts, b->x, m->n_in, 0, n_rows, 0, m->n_in);
    else b->kernels->interleave(&b->acts, b->x, m->n_in, 0, n_rows, 0, m->n_in);
}

/* Round -1 warms up and doesn't count. */
static void round_measure(bench *b, job *j, int32_t round)
{
    const size_t bytes = (size_t)j->n_copies * vouch_matrix_bytes(&j->matrix);
    const double read = bench_read_seconds(b->pool, j->matrix.data, bytes);
    const double peak = bench_peak(b->pool, b->kernels->name, !vouch_type_is_quantized(j->matrix.type));
    if (round >= 0) {
        j->reads[round] = (double)bytes / read;
        j->peaks[round] = peak;
    }
    for (size_t i = 0; i < b->o.rows.n; i++) {
        task t = {b, j, &b->acts};
        acts_prepare(b, &j->matrix, b->o.rows.items[i]);
        const double start = tool_now();
        vouch_pool_run(b->pool, multiply_on_thread, &t);
        if (round >= 0) j->figures[i].seconds[round] = (tool_now() - start) / (double)j->n_copies;
    }
}

static void job_measure(bench *b, job *j)
{
    const int32_t n_reps = b->o.n_reps;
    task fill = {.b = b, .job = j};
    j->matrix.data = (unsigned char *)b->weights.base;
    vouch_pool_run(b->pool, fill_on_thread, &fill);
    for (int32_t round = -1; round < n_reps; round++) {
        round_measure(b, j, round);
        const double share = (round + 2.0) / (n_reps + 1);
        tool_progress_report(&b->progress, ((double)(j - b->jobs) + share) / b->n_jobs);
    }
    j->read = tool_quantile(j->reads, (size_t)n_reps, 0.5);
    j->peak = tool_quantile(j->peaks, (size_t)n_reps, 0.5);
    for (size_t i = 0; i < b->o.rows.n; i++) {
        figure *f = &j->figures[i];
        const double by_memory = (double)vouch_matrix_bytes(&j->matrix) / j->read;
        const double by_peak = (double)b->o.rows.items[i] * (double)j->matrix.n_out * (double)j->matrix.n_in / j->peak;
        f->median = tool_quantile(f->seconds, (size_t)n_reps, 0.5);
        f->by_memory = by_memory >= by_peak;
        f->limit = f->by_memory ? by_memory : by_peak;
    }
}

/* ------------------------------------------------------------------- output */

static void job_print(const bench *b, const job *j)
{
    const double bytes = (double)vouch_matrix_bytes(&j->matrix),
                 macs = (double)j->matrix.n_out * (double)j->matrix.n_in;
    printf("\n%s %s %s [%lld, %lld], %.2f MB, %d in a pass: limits %.1f GB/s, %.0f G multiply-adds/s\n",
           vouch_type_get_info(j->matrix.type)->name, j->shape->name, j->names, (long long)j->matrix.n_out,
           (long long)j->matrix.n_in, bytes * 1e-6, j->count, j->read * 1e-9, j->peak * 1e-9);
    printf("%6s %12s %8s %10s %8s\n", "rows", "us", "GB/s", "G macs/s", "share");
    for (size_t i = 0; i < b->o.rows.n; i++) {
        const figure *f = &j->figures[i];
        const int32_t rows = b->o.rows.items[i];
        printf("%6d %12.2f %8.1f %10.1f %8.2f  %s\n", rows, f->median * 1e6, bytes / f->median * 1e-9,
               rows * macs / f->median * 1e-9, f->limit / f->median, f->by_memory ? "memory" : "arithmetic");
    }
    fflush(stdout);
}

/* Share of the roofline of all matrices of a pass together: jobs [begin, end). */
static double share_together(const bench *b, int32_t begin, int32_t end, size_t rows)
{
    double limit = 0, seconds = 0;
    for (int32_t i = begin; i < end; i++) {
        limit += b->jobs[i].count * b->jobs[i].figures[rows].limit;
        seconds += b->jobs[i].count * b->jobs[i].figures[rows].median;
    }
    return limit / seconds;
}

/* The end of the run of jobs with the model and type of job `begin`. */
static int32_t group_end(const bench *b, int32_t begin)
{
    int32_t end = begin + 1;
    while (end < b->n_jobs && b->jobs[end].shape == b->jobs[begin].shape &&
           b->jobs[end].matrix.type == b->jobs[begin].matrix.type)
        end++;
    return end;
}

static void summary_print(const bench *b)
{
    printf("\nshare of the roofline, all matrices of a pass together, by rows\n%-14s%-8s", "", "");
    for (size_t i = 0; i < b->o.rows.n; i++) printf("%6d", b->o.rows.items[i]);
    putchar('\n');
    for (int32_t begin = 0, end; begin < b->n_jobs; begin = end) {
        end = group_end(b, begin);
        printf("%-14s%-8s", b->jobs[begin].shape->name, vouch_type_get_info(b->jobs[begin].matrix.type)->name);
        for (size_t i = 0; i < b->o.rows.n; i++) printf("%6.2f", share_together(b, begin, end, i));
        putchar('\n');
    }
}

/* Warns if the peak varied by more than 20 %: other programs used the processor. */
static void noise_print(const bench *b)
{
    double most = 1;
    for (int32_t i = 0; i < b->n_jobs; i++) { /* peaks are sorted */
        const double ratio = b->jobs[i].peaks[b->o.n_reps - 1] / b->jobs[i].peaks[0];
        if (ratio > most) most = ratio;
    }
    if (most > 1.2) printf("the machine was busy: the peak varied by a factor of %.1f between rounds\n", most);
}

static json_t *job_json(const bench *b, const job *j)
{
    json_t *rows = json_array();
    const double bytes = (double)vouch_matrix_bytes(&j->matrix),
                 macs = (double)j->matrix.n_out * (double)j->matrix.n_in;
    for (size_t i = 0; i < b->o.rows.n; i++) {
        const figure *f = &j->figures[i];
        const int32_t n = b->o.rows.items[i];
        json_array_append_new(rows, json_pack("{s:i, s:f, s:f, s:f, s:f, s:s}", "rows", n, "seconds_median", f->median,
                                              "bytes_per_second", bytes / f->median, "macs_per_second",
                                              n * macs / f->median, "share", f->limit / f->median, "bound",
                                              f->by_memory ? "memory" : "arithmetic"));
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:i, s:f, s:f, s:o}", "type",
                     vouch_type_get_info(j->matrix.type)->name, "shape", j->shape->name, "matrix", j->names, "n_out",
                     (json_int_t)j->matrix.n_out, "n_in", (json_int_t)j->matrix.n_in, "bytes",
                     (json_int_t)vouch_matrix_bytes(&j->matrix), "count", j->count, "read_bytes_per_second", j->read,
                     "peak_macs_per_second", j->peak, "rows", rows);
}

static json_t *report_json(const bench *b)
{
    json_t *kernels = json_array(), *together = json_array();
    for (int32_t i = 0; i < b->n_jobs; i++) json_array_append_new(kernels, job_json(b, &b->jobs[i]));
    for (int32_t begin = 0, end; begin < b->n_jobs; begin = end) {
        end = group_end(b, begin);
        for (size_t i = 0; i < b->o.rows.n; i++)
            json_array_append_new(together,
                                  json_pack("{s:s, s:s, s:i, s:f}", "shape", b->jobs[begin].shape->name, "type",
                                            vouch_type_get_info(b->jobs[begin].matrix.type)->name, "rows",
                                            b->o.rows.items[i], "share", share_together(b, begin, end, i)));
    }
    return json_pack("{s:s, s:i, s:i, s:I, s:o, s:o}", "cpu", b->kernels->name, "threads", vouch_pool_size(b->pool),
                     "reps", b->o.n_reps, "set_bytes", (json_int_t)b->o.set_megabytes << 20, "kernels", kernels,
                     "together", together);
}

/* ------------------------------------------------------------------ command */

static bool options_check(bench *b)
{
    vouch_error err;
    b->kernels = vouch_kernels_find(b->o.cpu);
    if (!b->kernels) {
        tool_complain("--cpu '%s': not available; the widest instruction set here is %s", b->o.cpu,
                      vouch_kernels_find(NULL)->name);
        return false;
    }
    if (b->o.json && tool_file_check(b->o.json, &err)) {
        tool_complain("--json: %s", err.message);
        return false;
    }
    const char *types[VOUCH_TYPE_COUNT], *shapes[16];
    size_t n_types = 0, n_shapes = 0;
    for (uint32_t type = 0; type < VOUCH_TYPE_COUNT; type++)
        if (type_name(b, type)) types[n_types++] = type_name(b, type);
    for (; n_shapes < 16 && bench_shape_at(n_shapes); n_shapes++) shapes[n_shapes] = bench_shape_at(n_shapes)->name;
    return list_check("--types", b->o.types, types, n_types) && list_check("--shapes", b->o.shapes, shapes, n_shapes);
}

static vouch_status bench_run(bench *b, vouch_error *err)
{
    VOUCH_TRY(vouch_pool_open(&b->pool, b->o.n_threads, err));
    jobs_add(b);
    VOUCH_TRY(memory_open(b, err));
    printf("%s, %d threads, medians of %d rounds over %d MB\n", b->kernels->name, vouch_pool_size(b->pool), b->o.n_reps,
           b->o.set_megabytes);
    for (int32_t i = 0; i < b->n_jobs; i++) {
        job_measure(b, &b->jobs[i]);
        tool_progress_end(&b->progress);
        job_print(b, &b->jobs[i]);
    }
    summary_print(b);
    noise_print(b);
    if (!b->o.json) return VOUCH_OK;
    json_t *report = report_json(b);
    const vouch_status status = tool_file_write_json(b->o.json, report, err);
    json_decref(report);
    return status;
}

int main(int argc, char **argv)
{
    bench b = {.o = {.n_reps = 5, .set_megabytes = 512, .rows.n = 16}, .progress = {.label = "measuring"}};
    vouch_error err;
    for (int32_t i = 0; i < 16; i++) b.o.rows.items[i] = i + 1;
    bench_arguments_parse(&command, argc, argv, &b.o);
    if (!options_check(&b)) return 2;
    b.jobs = calloc(MOST_JOBS, sizeof *b.jobs);
    const vouch_status status = b.jobs ? bench_run(&b, &err) : vouch_fail(&err, VOUCH_E_MEMORY, "not enough memory");
    if (status) tool_complain("%s", err.message);
    vouch_arena_free(&b.work);
    vouch_arena_free(&b.weights);
    vouch_pool_close(b.pool);
    free(b.jobs);
    return status ? 1 : 0;
}
