/* SPDX-License-Identifier: MIT */
#include "model/load/loader.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ tensors */

const char *vouch_loader_name_of(vouch_loader *loader, int32_t layer, const char *tensor, const char *kind)
{
    snprintf(loader->name, sizeof loader->name, "blk.%d.%s%s%s", layer, tensor, kind ? "." : "", kind ? kind : "");
    return loader->name;
}

const char *vouch_loader_name(vouch_loader *loader, int32_t layer, const char *tensor)
{
    return vouch_loader_name_of(loader, layer, tensor, "weight");
}

const char *vouch_loader_norm_name(vouch_loader *loader, int32_t layer, const char *tensor)
{
    const char *name = vouch_loader_name_of(loader, layer, tensor, NULL);
    return vouch_gguf_find_tensor(loader->gguf, name) ? name : vouch_loader_name(loader, layer, tensor);
}

bool vouch_loader_has(vouch_loader *loader, int32_t layer, const char *tensor)
{
    return vouch_gguf_find_tensor(loader->gguf, vouch_loader_name(loader, layer, tensor)) != NULL;
}

static vouch_status check_type(const vouch_loader *w, const char *name, const vouch_gguf_tensor *tensor)
{
    if (vouch_type_get_info(tensor->type)) return VOUCH_OK;
    const char *type = vouch_type_gguf_name(tensor->type);
    return vouch_fail(w->err, VOUCH_E_UNSUPPORTED,
                      "%s: tensor '%s' has type %s (id %u), which is not supported (supported: " VOUCH_TYPE_NAMES ")",
                      vouch_gguf_path(w->gguf), name, type ? type : "unknown", tensor->type);
}

static void mark_taken(vouch_loader *w, const vouch_gguf_tensor *tensor)
{
    w->is_taken[tensor - vouch_gguf_get_tensor(w->gguf, 0)] = true;
}

/* "'NAME'", and where a folder has another name for it "'NAME' (OTHER NAME)". */
static const char *title_of(const vouch_loader *w, const vouch_gguf_tensor *t, char title[256])
{
    const char *origin = vouch_gguf_origin(w->gguf, t);
    const int used = snprintf(title, 256, "'%.*s'", (int)(t->name.size < 100 ? t->name.size : 100), t->name.data);
    const bool is_same = origin && strlen(origin) == t->name.size && memcmp(origin, t->name.data, t->name.size) == 0;
    if (origin && !is_same) snprintf(title + used, 256 - (size_t)used, " (%.100s)", origin);
    return title;
}

/* Finds a tensor of these dimensions, whose first is the longest run in memory; n_dims are printed. */
static vouch_status find_shape(vouch_loader *w, const char *name, bool required, const int64_t dim[4], int n_dims,
                               const vouch_gguf_tensor **tensor)
{
    const vouch_gguf_tensor *t = *tensor = vouch_gguf_find_tensor(w->gguf, name);
    const char *path = vouch_gguf_path(w->gguf);
    if (!t) return required ? vouch_fail(w->err, VOUCH_E_FORMAT, "%s: tensor '%s' is missing", path, name) : VOUCH_OK;
    VOUCH_TRY(check_type(w, name, t));
    mark_taken(w, t);
    if (t->dim[0] == dim[0] && t->dim[1] == dim[1] && t->dim[2] == dim[2] && t->dim[3] == dim[3]) return VOUCH_OK;
    char wanted[96], title[256];
    int used = 0;
    for (int i = 0; i < n_dims; i++)
        used += snprintf(wanted + used, sizeof wanted - (size_t)used, "%s%lld", i ? ", " : "", (long long)dim[i]);
    return vouch_fail(w->err, VOUCH_E_FORMAT, "%s: tensor %s has shape [%lld, %lld, %lld, %lld], must be [%s]", path,
                      title_of(w, t, title), (long long)t->dim[0], (long long)t->dim[1], (long long)t->dim[2],
                      (long long)t->dim[3], wanted);
}

/* Finds and checks a tensor [n, n_out, n_in]. n 0: it has two dimensions. */
static vouch_status find_stack(vouch_loader *w, const char *name, bool required, int64_t n, int64_t n_out, int64_t n_in,
                               const vouch_gguf_tensor **tensor)
{
    return find_shape(w, name, required, (const int64_t[4]){n_in, n_out, n ? n : 1, 1}, n ? 3 : 2, tensor);
}

static vouch_status find_tensor(vouch_loader *w, const char *name, bool required, int64_t n_out, int64_t n_in,
                                const vouch_gguf_tensor **tensor)
{
    return find_stack(w, name, required, 0, n_out, n_in, tensor);
}

static vouch_status add_job(vouch_loader *w, vouch_job job)
{
    if (w->n_jobs == w->max_jobs) {
        const size_t most = 2 * w->max_jobs + 64;
        vouch_job *jobs = realloc(w->jobs, most * sizeof *jobs);
        if (!jobs) return vouch_fail(w->err, VOUCH_E_MEMORY, "not enough memory for the list of tensors");
        w->jobs = jobs;
        w->max_jobs = most;
    }
    job.gguf = w->gguf;
    w->jobs[w->n_jobs++] = job;
    return VOUCH_OK;
}

/* Takes memory for these rows of each of n matrices, and adds the jobs that pack them. */
static vouch_status take_matrices(vouch_loader *w, const char *name, const vouch_gguf_tensor *tensor,
                                  vouch_matrix *matrix, int64_t n, int64_t n_in, vouch_rows rows)
{
    size_t count;
    if (!vouch_matrix_shape(matrix, (vouch_type)tensor->type, rows.n, n_in) ||
        !vouch_mul_size((size_t)n, (size_t)matrix->n_tiles, &count))
        return vouch_fail(w->err, VOUCH_E_MEMORY, "tensor '%s' is too large for this machine", name);
    matrix->data = vouch_arena_take(w->arena, count, matrix->tile_bytes);
    matrix->readings = w->tuning->readings[matrix->type];
    const size_t row = tensor->bytes / (size_t)(n * rows.of);
    for (int64_t i = 0; i < n; i++)
        VOUCH_TRY(add_job(w, (vouch_job){.matrix = matrix->data ? vouch_matrix_at(matrix, i) : *matrix,
                                         .tensor = tensor,
                                         .n_tiles = matrix->n_tiles,
                                         .stride = row * VOUCH_TILE,
                                         .offset = row * (size_t)(i * rows.of + rows.first),
                                         .bytes = row * (size_t)rows.n}));
    return VOUCH_OK;
}

vouch_status vouch_loader_stack(vouch_loader *w, const char *name, bool required, vouch_matrix *matrix, int64_t n,
                                int64_t n_in, vouch_rows rows)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_stack(w, name, required, n, rows.of, n_in, &tensor));
    return tensor ? take_matrices(w, name, tensor, matrix, n, n_in, rows) : VOUCH_OK;
}

vouch_status vouch_loader_split(vouch_loader *w, const char *name, vouch_matrix *matrix, int64_t n, int64_t n_in,
                                vouch_rows rows)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_tensor(w, name, true, n * rows.of, n_in, &tensor));
    return take_matrices(w, name, tensor, matrix, n, n_in, rows);
}

vouch_status vouch_loader_split_transposed(vouch_loader *w, const char *name, vouch_matrix *matrix, int64_t n,
                                           int64_t n_in, vouch_rows rows)
{
    const vouch_gguf_tensor *tensor;
    size_t count;
    assert(n_in <= VOUCH_MOST_TRANSPOSED && n_in % VOUCH_TILE == 0);
    VOUCH_TRY(find_tensor(w, name, true, n * rows.of, n_in, &tensor));
    const vouch_type type = tensor->type == VOUCH_TYPE_F16 ? VOUCH_TYPE_F16 : VOUCH_TYPE_F32;
    if (!vouch_matrix_shape(matrix, type, n_in, rows.n) || !vouch_mul_size((size_t)n, (size_t)matrix->n_tiles, &count))
        return vouch_fail(w->err, VOUCH_E_MEMORY, "tensor '%s' is too large for this machine", name);
    matrix->data = vouch_arena_take(w->arena, count, matrix->tile_bytes);
    const size_t row = tensor->bytes / (size_t)(n * rows.of), bytes = row * (size_t)rows.n;
    for (int64_t i = 0; i < n; i++)
        VOUCH_TRY(add_job(w, (vouch_job){.matrix = matrix->data ? vouch_matrix_at(matrix, i) : *matrix,
                                         .is_transposed = true,
                                         .tensor = tensor,
                                         .n_tiles = 1,
                                         .stride = bytes,
                                         .offset = row * (size_t)(i * rows.of + rows.first),
                                         .bytes = bytes}));
    return VOUCH_OK;
}

vouch_status vouch_loader_rows(vouch_loader *w, const char *name, bool required, vouch_matrix *matrix, int64_t n_in,
                               vouch_rows rows)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_tensor(w, name, required, rows.of, n_in, &tensor));
    return tensor ? take_matrices(w, name, tensor, matrix, 1, n_in, rows) : VOUCH_OK;
}

vouch_status vouch_loader_parts(vouch_loader *w, const char *name, vouch_matrix *matrix, int64_t n, int64_t n_in,
                                vouch_rows rows)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_tensor(w, name, true, n * rows.of, n_in, &tensor));
    VOUCH_TRY(take_matrices(w, name, tensor, matrix, n, n_in, rows));
    matrix->n_out *= n; /* the parts' tiles are adjacent */
    matrix->n_tiles *= n;
    return VOUCH_OK;
}

vouch_status vouch_loader_matrix(vouch_loader *w, const char *name, bool required, vouch_matrix *matrix, int64_t n_out,
                                 int64_t n_in)
{
    return vouch_loader_rows(w, name, required, matrix, n_in, (vouch_rows){0, n_out, n_out});
}

static vouch_status check_floats(const vouch_loader *w, const char *name, const vouch_gguf_tensor *tensor)
{
    if (tensor->type == VOUCH_TYPE_F32) return VOUCH_OK;
    return vouch_fail(w->err, VOUCH_E_UNSUPPORTED, "%s: tensor '%s' has type %s, must be F32", vouch_gguf_path(w->gguf),
                      name, vouch_type_get_info(tensor->type)->name);
}

static vouch_status take_floats(vouch_loader *w, const char *name, const vouch_gguf_tensor *tensor,
                                const float **vector, int64_t first, int64_t n)
{
    VOUCH_TRY(check_floats(w, name, tensor));
    float *to = vouch_arena_take(w->arena, (size_t)n, sizeof *to);
    const size_t bytes = (size_t)n * sizeof *to;
    *vector = to;
    return add_job(w, (vouch_job){.vector = to,
                                  .tensor = tensor,
                                  .n_tiles = 1,
                                  .stride = bytes,
                                  .offset = (size_t)first * sizeof *to,
                                  .bytes = bytes});
}

vouch_status vouch_loader_part(vouch_loader *w, const char *name, bool required, const float **vector, vouch_rows part)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_tensor(w, name, required, 1, part.of, &tensor));
    return tensor ? take_floats(w, name, tensor, vector, part.first, part.n) : VOUCH_OK;
}

vouch_status vouch_loader_vectors(vouch_loader *w, const char *name, bool required, const float **vectors, int64_t n,
                                  int64_t length)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_tensor(w, name, required, n, length, &tensor));
    return tensor ? take_floats(w, name, tensor, vectors, 0, n * length) : VOUCH_OK;
}

vouch_status vouch_loader_vector(vouch_loader *w, const char *name, bool required, const float **vector, int64_t n)
{
    return vouch_loader_vectors(w, name, required, vector, 1, n);
}

vouch_status vouch_loader_planes(vouch_loader *w, const char *name, const float **vectors, int64_t n, int64_t n_out,
                                 int64_t length)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_stack(w, name, true, n, n_out, length, &tensor));
    return take_floats(w, name, tensor, vectors, 0, n * n_out * length);
}

vouch_status vouch_loader_deep(vouch_loader *w, const char *name, const float **vectors, int64_t n, int64_t length)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_shape(w, name, true, (const int64_t[4]){length, 1, 1, n}, 4, &tensor));
    return take_floats(w, name, tensor, vectors, 0, n * length);
}

vouch_status vouch_loader_transposed(vouch_loader *w, const char *name, const float **vectors, int64_t n, int64_t width)
{
    VOUCH_TRY(vouch_loader_vectors(w, name, true, vectors, n, width));
    w->jobs[w->n_jobs - 1].width = width;
    w->jobs[w->n_jobs - 1].of = n;
    return VOUCH_OK;
}

vouch_status vouch_loader_columns(vouch_loader *w, const char *name, float *vectors, int64_t width, vouch_rows columns)
{
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(w->gguf, name);
    const bool is_deep = tensor && tensor->dim[2] == columns.n;
    VOUCH_TRY(find_stack(w, name, true, is_deep ? columns.n : 0, is_deep ? 1 : columns.n, width, &tensor));
    VOUCH_TRY(check_floats(w, name, tensor));
    const size_t bytes = (size_t)(columns.n * width) * sizeof *vectors;
    return add_job(w, (vouch_job){.vector = vectors ? vectors + columns.first : NULL,
                                  .width = width,
                                  .of = columns.of,
                                  .tensor = tensor,
                                  .n_tiles = 1,
                                  .stride = bytes,
                                  .bytes = bytes});
}

vouch_status vouch_loader_affine(vouch_loader *w, int32_t layer, const char *tensor, vouch_affine *affine,
                                 vouch_rows rows)
{
    VOUCH_TRY(vouch_loader_part(w, vouch_loader_name_of(w, layer, tensor, "bias"), false, &affine->bias, rows));
    VOUCH_TRY(vouch_loader_vector(w, vouch_loader_name_of(w, layer, tensor, "scale"), false, &affine->scale, 1));
    return vouch_loader_ignore(w, vouch_loader_name_of(w, layer, tensor, "input_scale"));
}

vouch_loras vouch_loader_loras(vouch_loader *w, int32_t n, vouch_lora *lora)
{
    const vouch_loras all = {.a = vouch_arena_take(w->arena, (size_t)n, sizeof *all.a),
                             .b = vouch_arena_take(w->arena, (size_t)n, sizeof *all.b),
                             .factors = vouch_arena_take(w->arena, (size_t)n, sizeof *all.factors)};
    lora->a = all.a;
    lora->b = all.b;
    lora->factors = all.factors;
    return all;
}

void vouch_lora_find_needs(vouch_lora *lora, int32_t n)
{
    lora->needs = lora->low_needs = 0;
    for (int32_t i = 0; lora->a && i < n; i++) {
        if (lora->a[i].n_out == 0) continue;
        lora->needs |= vouch_type_needs(lora->a[i].type);
        lora->low_needs |= vouch_type_needs(lora->b[i].type);
    }
}

vouch_status vouch_loader_ignore(vouch_loader *w, const char *name)
{
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(w->gguf, name);
    if (tensor) mark_taken(w, tensor);
    return VOUCH_OK;
}

vouch_status vouch_loader_ignore_scales(vouch_loader *w, int32_t layer, const char *tensor)
{
    VOUCH_TRY(vouch_loader_ignore(w, vouch_loader_name_of(w, layer, tensor, "scale")));
    return vouch_loader_ignore(w, vouch_loader_name_of(w, layer, tensor, "input_scale"));
}

vouch_status vouch_loader_ignore_tensor(vouch_loader *w, int32_t layer, const char *tensor)
{
    VOUCH_TRY(vouch_loader_ignore(w, vouch_loader_name(w, layer, tensor)));
    VOUCH_TRY(vouch_loader_ignore(w, vouch_loader_name_of(w, layer, tensor, "bias")));
    return vouch_loader_ignore_scales(w, layer, tensor);
}

void vouch_loader_ignore_all(vouch_loader *w, const char *prefix)
{
    const size_t length = strlen(prefix);
    for (size_t i = 0; i < vouch_gguf_n_tensors(w->gguf); i++) {
        const vouch_text name = vouch_gguf_get_tensor(w->gguf, i)->name;
        if (name.size > length && memcmp(name.data, prefix, length) == 0) w->is_taken[i] = true;
    }
}

vouch_status vouch_loader_refuse_others(const vouch_loader *w)
{
    const vouch_hparams *h = w->hparams;
    const int32_t n_blocks = h->adapters.n > 0 ? h->n_layers - 1 : h->n_layers; /* one layer finds adapters */
    for (size_t i = 0; i < vouch_gguf_n_tensors(w->gguf); i++) {
        const vouch_gguf_tensor *tensor = vouch_gguf_get_tensor(w->gguf, i);
        char title[256];
        if (!w->is_taken[i])
            return vouch_fail(w->err, VOUCH_E_UNSUPPORTED, "%s: tensor %s has no place in a %s model of %d layers",
                              vouch_gguf_path(w->gguf), title_of(w, tensor, title), h->arch, n_blocks);
    }
    return VOUCH_OK;
}

/* ------------------------------------------------------------------ packing */

/* Tiles are numbered over all jobs. */
typedef struct packing {
    const vouch_job *jobs;
    size_t n_jobs;
    int64_t first_tile, end_tile; /* of the batch */
    int64_t n_tiles;              /* of all jobs */
    vouch_progress_fn progress;
    void *user;
    _Atomic int64_t done;
} packing;

/* The tiles [begin, end) of one job. */
typedef struct part {
    const vouch_job *job;
    int64_t begin, end;
} part;

/* The part of the tiles [begin, end) that lies in the job of tile `begin`. */
static part part_first(const packing *p, int64_t begin, int64_t end)
{
    size_t low = 0, high = p->n_jobs; /* the last job that begins at or before `begin` */
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (p->jobs[middle].first_tile <= begin) low = middle;
        else high = middle;
    }
    const vouch_job *one = &p->jobs[low];
    const int64_t left = end - one->first_tile;
    return (part){one, begin - one->first_tile, left < one->n_tiles ? left : one->n_tiles};
}

/* to [width, of] gets the transpose of bytes [n, width] in its first n columns. */
static void copy_transposed(float *to, int64_t of, const unsigned char *bytes, int64_t n, int64_t width)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < width; j++)
            memcpy(&to[j * of + i], bytes + (size_t)(i * width + j) * sizeof *to, sizeof *to);
}

/* Row i of the file becomes column i of the matrix, a tile of rows at a time. */
static void pack_transposed(const vouch_matrix *matrix, const vouch_job *job, const unsigned char *rows)
{
    _Alignas(64) unsigned char tile[VOUCH_MOST_TRANSPOSED * VOUCH_TILE * sizeof(float)];
    float row[VOUCH_MOST_TRANSPOSED];
    vouch_matrix few;
    for (int64_t i = 0; i < matrix->n_in; i++) {
        if (i % VOUCH_TILE == 0) {
            const int64_t left = matrix->n_in - i;
            vouch_matrix_shape(&few, (vouch_type)job->tensor->type, left < VOUCH_TILE ? left : VOUCH_TILE,
                               matrix->n_out);
            few.data = tile;
            vouch_matrix_pack(&few, rows + job->bytes / (size_t)matrix->n_in * (size_t)i, 0, 1);
        }
        vouch_matrix_get_row(&few, i % VOUCH_TILE, row);
        for (int64_t o = 0; o < matrix->n_out; o++) {
            const uint16_t half = vouch_float_to_half(row[o]);
            unsigned char *to = vouch_matrix_element(matrix, o, i);
            if (matrix->type == VOUCH_TYPE_F16) memcpy(to, &half, sizeof half);
            else memcpy(to, &row[o], sizeof row[o]);
        }
    }
}

/* Packs the tiles [begin, end). */
static void pack_range(const packing *p, int64_t begin, int64_t end)
{
    while (begin < end) {
        const part one = part_first(p, begin, end);
        const vouch_job *from = one.job;
        vouch_matrix matrix = from->matrix;
        const unsigned char *bytes = (const unsigned char *)from->tensor->data + from->offset;
        if (from->width > 0)
            copy_transposed(from->vector, from->of, bytes, (int64_t)(from->bytes / sizeof(float)) / from->width,
                            from->width);
        else if (from->vector) memcpy(from->vector, bytes, from->bytes);
        else if (from->is_transposed) pack_transposed(&matrix, from, bytes);
        else vouch_matrix_pack(&matrix, bytes, one.begin, one.end);
        begin += one.end - one.begin;
    }
}

static void pack_on_thread(void *arg, vouch_pool *team, int32_t thread)
{
    packing *p = arg;
    enum { PIECE = 64 }; /* tiles between two reports */
    vouch_work work = vouch_pool_share(team, thread, p->end_tile - p->first_tile, PIECE);
    while (vouch_work_next(&work))
        for (int64_t t = work.begin; t < work.end; t += PIECE) {
            const int64_t end = t + PIECE < work.end ? t + PIECE : work.end;
            pack_range(p, p->first_tile + t, p->first_tile + end);
            const int64_t done = atomic_fetch_add(&p->done, end - t) + end - t;
            if (thread == 0 && p->progress) p->progress(p->user, (double)done / (double)p->n_tiles);
        }
}

static size_t part_offset(const part *one, int64_t tile)
{
    const size_t offset = (size_t)tile * one->job->stride, bytes = one->job->bytes;
    return one->job->offset + (offset < bytes ? offset : bytes);
}

/* Loads the bytes of a batch from first_tile on: as many tiles as fit, but one at least. */
static vouch_status batch_load(const vouch_loader *w, packing *p)
{
    enum { BATCH_BYTES = 32 << 20 };
    size_t room = BATCH_BYTES;
    p->end_tile = p->first_tile;
    while (p->end_tile < p->n_tiles) {
        part one = part_first(p, p->end_tile, p->n_tiles);
        int64_t fit = (int64_t)(room / one.job->stride);
        if (fit == 0 && p->end_tile == p->first_tile) fit = 1;
        if (fit == 0) break;
        if (one.end > one.begin + fit) one.end = one.begin + fit;
        const size_t begin = part_offset(&one, one.begin), size = part_offset(&one, one.end) - begin;
        VOUCH_TRY(vouch_gguf_load(one.job->gguf, one.job->tensor, begin, size, w->err));
        room -= size < room ? size : room;
        p->end_tile += one.end - one.begin;
    }
    return VOUCH_OK;
}

static void batch_release(const packing *p)
{
    for (int64_t tile = p->first_tile; tile < p->end_tile;) {
        const part one = part_first(p, tile, p->end_tile);
        const size_t begin = part_offset(&one, one.begin);
        vouch_gguf_release(one.job->gguf, one.job->tensor, begin, part_offset(&one, one.end) - begin);
        tile += one.end - one.begin;
    }
}

vouch_status vouch_loader_pack(vouch_loader *w, vouch_pool *pool, vouch_progress_fn progress, void *user)
{
    packing p = {.jobs = w->jobs, .n_jobs = w->n_jobs, .progress = progress, .user = user};
    for (size_t j = 0; j < w->n_jobs; j++) {
        w->jobs[j].first_tile = p.n_tiles;
        p.n_tiles += w->jobs[j].n_tiles;
    }
    for (; p.first_tile < p.n_tiles; p.first_tile = p.end_tile) {
        VOUCH_TRY(batch_load(w, &p));
        vouch_pool_run(pool, pack_on_thread, &p);
        batch_release(&p);
    }
    if (progress) progress(user, 1.0);
    return vouch_gguf_recheck(w->gguf, w->err);
}
