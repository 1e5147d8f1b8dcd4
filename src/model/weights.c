/* SPDX-License-Identifier: MIT */
/*
 * From a GGUF file to packed weights.
 *
 * An architecture is a row of a table, a tensor of a layer is a row of another: name, shape and where it
 * goes. Opening walks these tables twice with the same function:
 *
 *   1 check   every tensor is there, has its shape and a supported type; their sizes are added up, and what
 *             the file has besides is refused
 *   2 place   matrices and vectors get their memory and become jobs
 *
 * Then the jobs, laid end to end, are done in batches of 32 MiB, which begin and end between two tiles of a
 * matrix. So the file and the packed weights are never whole in memory at the same time: the peak is the packed
 * weights and one batch.
 *
 *   file     [ given back | batch: loaded, all threads pack it |  not yet loaded          ]
 *   packed   [ done       | being written                      |  pages not yet touched   ]
 */
#include "model/weights.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/angle.h"

static const vouch_arch archs[] = {
    {.name = "llama"},
    {.name = "qwen3", .rope_half_split = true, .qk_norm = true},
};
enum { N_ARCHS = sizeof archs / sizeof archs[0] };

/* -------------------------------------------------------- hyperparameters */

static vouch_status find_arch(const vouch_gguf *gguf, const vouch_arch **arch, vouch_error *err)
{
    vouch_text name;
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", true, &name, err));
    for (size_t i = 0; i < N_ARCHS; i++)
        if (strlen(archs[i].name) == name.size && memcmp(archs[i].name, name.data, name.size) == 0) {
            *arch = &archs[i];
            return VOUCH_OK;
        }
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: general.architecture '%.*s' is not supported (supported: llama, qwen3)",
                      vouch_gguf_path(gguf), (int)(name.size < 64 ? name.size : 64), name.data);
}

/* An int32 under "ARCH.key". */
static vouch_status get_int(const vouch_gguf *gguf, const vouch_arch *arch, const char *key, bool required,
                            int32_t min, int32_t max, int32_t *value, vouch_error *err)
{
    char name[96];
    int64_t wide = *value;
    snprintf(name, sizeof name, "%s.%s", arch->name, key);
    VOUCH_TRY(vouch_gguf_get_int(gguf, name, required, min, max, &wide, err));
    *value = (int32_t)wide;
    return VOUCH_OK;
}

static vouch_status get_float(const vouch_gguf *gguf, const vouch_arch *arch, const char *key, bool required,
                              double min, double max, double *value, vouch_error *err)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%s", arch->name, key);
    VOUCH_TRY(vouch_gguf_get_float(gguf, name, required, value, err));
    if (!(*value >= min && *value <= max))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is %g, must be %g to %g", vouch_gguf_path(gguf), name, *value,
                          min, max);
    return VOUCH_OK;
}

/* Linear scaling, which is meant where no kind is named, divides the frequencies; other kinds are refused rather
 * than ignored. */
static vouch_status get_rope_scaling(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    char name[96];
    vouch_text kind = {"linear", 6};
    snprintf(name, sizeof name, "%s.rope.scaling.type", h->arch->name);
    VOUCH_TRY(vouch_gguf_get_text(gguf, name, false, &kind, err));
    h->rope_scale = 1;
    if (kind.size == 4 && memcmp(kind.data, "none", 4) == 0) return VOUCH_OK;
    if (kind.size != 6 || memcmp(kind.data, "linear", 6) != 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s '%.*s' is not supported (supported: none, linear)",
                          vouch_gguf_path(gguf), name, (int)(kind.size < 32 ? kind.size : 32), kind.data);
    const bool named = vouch_gguf_has(gguf, name);
    return get_float(gguf, h->arch, "rope.scaling.factor", named, 1e-3, 1e6, &h->rope_scale, err);
}

static vouch_status check_heads(const vouch_gguf *gguf, const vouch_hparams *h, int32_t value_length,
                                vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf), *arch = h->arch->name;
    if (h->n_heads % h->n_kv_heads != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.attention.head_count %d is no multiple of head_count_kv %d",
                          path, arch, h->n_heads, h->n_kv_heads);
    if (h->head_dim % 2 != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: the head width %d must be even", path, h->head_dim);
    if (value_length != h->head_dim)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s.attention.value_length %d must equal key_length %d", path,
                          arch, value_length, h->head_dim);
    if (h->n_rot % 2 != 0 || h->n_rot > h->head_dim)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: %s.rope.dimension_count %d must be even and at most the head width %d", path, arch,
                          h->n_rot, h->head_dim);
    return VOUCH_OK;
}

static vouch_status read_hparams(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(find_arch(gguf, &h->arch, err));
    const vouch_arch *arch = h->arch;
    int32_t n_experts = 0, window = 0, value_length;
    double eps = 0;
    VOUCH_TRY(get_int(gguf, arch, "block_count", true, 1, 1024, &h->n_layers, err));
    VOUCH_TRY(get_int(gguf, arch, "context_length", true, 1, INT_MAX / 2, &h->n_ctx_train, err));
    VOUCH_TRY(get_int(gguf, arch, "embedding_length", true, 1, 1 << 20, &h->n_embd, err));
    VOUCH_TRY(get_int(gguf, arch, "feed_forward_length", true, 1, 1 << 22, &h->n_ff, err));
    VOUCH_TRY(get_int(gguf, arch, "attention.head_count", true, 1, 4096, &h->n_heads, err));
    h->n_kv_heads = h->n_heads;
    VOUCH_TRY(get_int(gguf, arch, "attention.head_count_kv", false, 1, h->n_heads, &h->n_kv_heads, err));
    h->head_dim = h->n_embd / h->n_heads;
    VOUCH_TRY(get_int(gguf, arch, "attention.key_length", false, 2, 1024, &h->head_dim, err));
    if (h->head_dim < 2 || h->head_dim > 1024)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.embedding_length %d over head_count %d gives a head width of %d",
                          vouch_gguf_path(gguf), arch->name, h->n_embd, h->n_heads, h->head_dim);
    value_length = h->head_dim;
    VOUCH_TRY(get_int(gguf, arch, "attention.value_length", false, 2, 1024, &value_length, err));
    h->n_rot = h->head_dim;
    VOUCH_TRY(get_int(gguf, arch, "rope.dimension_count", false, 2, 1024, &h->n_rot, err));
    VOUCH_TRY(get_int(gguf, arch, "expert_count", false, 0, INT_MAX, &n_experts, err));
    if (n_experts > 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s.expert_count is %d: mixtures of experts are not supported",
                          vouch_gguf_path(gguf), arch->name, n_experts);
    VOUCH_TRY(get_int(gguf, arch, "attention.sliding_window", false, 0, INT_MAX, &window, err));
    if (window > 0 && window < h->n_ctx_train)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s.attention.sliding_window is %d in a context of %d: attention to a window is not "
                          "supported", vouch_gguf_path(gguf), arch->name, window, h->n_ctx_train);
    VOUCH_TRY(get_float(gguf, arch, "attention.layer_norm_rms_epsilon", true, 1e-12, 1, &eps, err));
    h->norm_eps = (float)eps;
    h->rope_base = 10000;
    VOUCH_TRY(get_float(gguf, arch, "rope.freq_base", false, 1, 1e12, &h->rope_base, err));
    VOUCH_TRY(get_rope_scaling(gguf, h, err));
    return check_heads(gguf, h, value_length, err);
}

/* ---------------------------------------------------------------- tensors */

/* A matrix to pack, or a vector to copy, which counts as one tile. */
typedef struct job {
    vouch_matrix *matrix;
    float *vector;
    const vouch_gguf_tensor *tensor;
    int64_t first_tile, n_tiles; /* the first one's number over all jobs */
    size_t stride;               /* bytes of a tile in the file; the last may have fewer */
} job;

/* One walk over the tables. */
typedef struct walk {
    const vouch_gguf *gguf;
    vouch_weights *weights;
    vouch_arena *arena;
    vouch_error *err;
    job *jobs;       /* room for every tensor of the file */
    size_t n_jobs;
} walk;

static vouch_status check_shape(const walk *w, const char *name, const vouch_gguf_tensor *tensor, int64_t n_out,
                                int64_t n_in)
{
    const char *path = vouch_gguf_path(w->gguf);
    if (!vouch_type_get_info(tensor->type)) {
        const char *type = vouch_type_gguf_name(tensor->type);
        return vouch_fail(w->err, VOUCH_E_UNSUPPORTED,
                          "%s: tensor '%s' has type %s (id %u), which is not supported (supported: "
                          VOUCH_TYPE_NAMES ")",
                          path, name, type ? type : "unknown", tensor->type);
    }
    if (tensor->dim[0] != n_in || tensor->dim[1] != n_out || tensor->dim[2] != 1 || tensor->dim[3] != 1)
        return vouch_fail(w->err, VOUCH_E_FORMAT,
                          "%s: tensor '%s' has shape [%lld, %lld, %lld, %lld], must be [%lld, %lld]", path, name,
                          (long long)tensor->dim[0], (long long)tensor->dim[1], (long long)tensor->dim[2],
                          (long long)tensor->dim[3], (long long)n_in, (long long)n_out);
    return VOUCH_OK;
}

static vouch_status find_tensor(walk *w, const char *name, bool required, int64_t n_out, int64_t n_in,
                                const vouch_gguf_tensor **tensor)
{
    *tensor = vouch_gguf_find_tensor(w->gguf, name);
    if (!*tensor)
        return required ? vouch_fail(w->err, VOUCH_E_FORMAT, "%s: tensor '%s' is missing",
                                     vouch_gguf_path(w->gguf), name)
                        : VOUCH_OK;
    return check_shape(w, name, *tensor, n_out, n_in);
}

static vouch_status take_matrix(walk *w, const char *name, bool required, vouch_matrix *matrix, int64_t n_out,
                                int64_t n_in)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_tensor(w, name, required, n_out, n_in, &tensor));
    if (!tensor) return VOUCH_OK;
    if (!vouch_matrix_shape(matrix, (vouch_type)tensor->type, n_out, n_in))
        return vouch_fail(w->err, VOUCH_E_MEMORY, "tensor '%s' is too large for this machine", name);
    matrix->data = vouch_arena_take(w->arena, (size_t)matrix->n_tiles, matrix->tile_bytes);
    const size_t stride = tensor->bytes / (size_t)n_out * VOUCH_TILE;
    w->jobs[w->n_jobs++] = (job){.matrix = matrix, .tensor = tensor, .n_tiles = matrix->n_tiles, .stride = stride};
    return VOUCH_OK;
}

static vouch_status take_vector(walk *w, const char *name, bool required, const float **vector, int64_t n)
{
    const vouch_gguf_tensor *tensor;
    VOUCH_TRY(find_tensor(w, name, required, 1, n, &tensor));
    if (!tensor) return VOUCH_OK;
    if (tensor->type != VOUCH_TYPE_F32)
        return vouch_fail(w->err, VOUCH_E_UNSUPPORTED, "%s: tensor '%s' has type %s, must be F32",
                          vouch_gguf_path(w->gguf), name, vouch_type_get_info(tensor->type)->name);
    float *to = vouch_arena_take(w->arena, (size_t)n, sizeof *to);
    *vector = to;
    w->jobs[w->n_jobs++] = (job){.vector = to, .tensor = tensor, .n_tiles = 1, .stride = tensor->bytes};
    return VOUCH_OK;
}

static vouch_status take_layer(walk *w, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = &w->weights->hparams;
    const int64_t n_embd = h->n_embd, n_q = (int64_t)h->n_heads * h->head_dim,
                  n_kv = (int64_t)h->n_kv_heads * h->head_dim;
    vouch_attention *a = &layer->attention;
    vouch_feed_forward *f = &layer->ffn;
    a->n_heads = h->n_heads;
    a->n_kv_heads = h->n_kv_heads;
    a->head_dim = h->head_dim;
    a->scale = 1.0f / sqrtf((float)h->head_dim);
    f->n_ff = h->n_ff;
    layer->mix.scale = layer->feed.scale = 1;
    const struct {
        const char *name;
        vouch_matrix *matrix;
        int64_t n_out, n_in;
    } matrices[] = {
        {"attn_q", &a->q, n_q, n_embd},         {"attn_k", &a->k, n_kv, n_embd},
        {"attn_v", &a->v, n_kv, n_embd},        {"attn_output", &a->o, n_embd, n_q},
        {"ffn_gate", &f->gate, h->n_ff, n_embd}, {"ffn_up", &f->up, h->n_ff, n_embd},
        {"ffn_down", &f->down, n_embd, h->n_ff},
    };
    const struct {
        const char *name;
        const float **vector;
        int64_t n;
        bool wanted;
    } vectors[] = {
        {"attn_norm", &layer->mix.norm, n_embd, true},
        {"ffn_norm", &layer->feed.norm, n_embd, true},
        {"attn_q_norm", &a->q_norm, h->head_dim, h->arch->qk_norm},
        {"attn_k_norm", &a->k_norm, h->head_dim, h->arch->qk_norm},
    };
    char name[64];
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
        snprintf(name, sizeof name, "blk.%d.%s.weight", index, matrices[i].name);
        VOUCH_TRY(take_matrix(w, name, true, matrices[i].matrix, matrices[i].n_out, matrices[i].n_in));
    }
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        if (!vectors[i].wanted) continue;
        snprintf(name, sizeof name, "blk.%d.%s.weight", index, vectors[i].name);
        VOUCH_TRY(take_vector(w, name, true, vectors[i].vector, vectors[i].n));
    }
    return VOUCH_OK;
}

/* The one set of angles of all layers. */
static vouch_status take_rotary(walk *w)
{
    vouch_weights *weights = w->weights;
    const vouch_hparams *h = &weights->hparams;
    vouch_rotary rotary = {.kind = h->arch->rope_half_split ? VOUCH_ROTARY_HALF_SPLIT : VOUCH_ROTARY_ADJACENT,
                           .n_rot = h->n_rot,
                           .base = h->rope_base,
                           .scale = h->rope_scale};
    VOUCH_TRY(take_vector(w, "rope_freqs.weight", false, &rotary.factors, h->n_rot / 2));
    rotary.frequencies = vouch_arena_take(w->arena, (size_t)h->n_rot / 2, sizeof *rotary.frequencies);
    weights->rotaries = vouch_arena_take(w->arena, 1, sizeof *weights->rotaries);
    weights->n_rotaries = 1;
    if (weights->rotaries) *weights->rotaries = rotary;
    return VOUCH_OK;
}

/* Once the factors are there. */
static void fill_frequencies(vouch_rotary *r)
{
    for (int32_t i = 0; i < r->n_rot / 2; i++)
        r->frequencies[i] =
            vouch_power(r->base, -2.0 * i / r->n_rot) / ((r->factors ? (double)r->factors[i] : 1.0) * r->scale);
}

static vouch_status take_all(walk *w)
{
    vouch_weights *weights = w->weights;
    const vouch_hparams *h = &weights->hparams;
    vouch_layer counted = {0};
    w->n_jobs = 0;
    weights->layers = vouch_arena_take(w->arena, (size_t)h->n_layers, sizeof *weights->layers);
    VOUCH_TRY(take_matrix(w, "token_embd.weight", true, &weights->embedding, h->n_vocab, h->n_embd));
    VOUCH_TRY(take_matrix(w, "output.weight", false, &weights->output, h->n_vocab, h->n_embd));
    VOUCH_TRY(take_vector(w, "output_norm.weight", true, &weights->output_norm, h->n_embd));
    VOUCH_TRY(take_rotary(w));
    for (int32_t i = 0; i < h->n_layers; i++)
        VOUCH_TRY(take_layer(w, i, weights->layers ? &weights->layers[i] : &counted));
    return VOUCH_OK;
}

/* A tensor nobody asked for would change the results if it were ignored (a bias, say). */
static vouch_status refuse_unknown_tensors(const walk *w)
{
    if (w->n_jobs == vouch_gguf_n_tensors(w->gguf)) return VOUCH_OK;
    for (size_t i = 0; i < vouch_gguf_n_tensors(w->gguf); i++) {
        const vouch_gguf_tensor *tensor = vouch_gguf_get_tensor(w->gguf, i);
        size_t j = 0;
        while (j < w->n_jobs && w->jobs[j].tensor != tensor) j++;
        if (j == w->n_jobs)
            return vouch_fail(w->err, VOUCH_E_UNSUPPORTED, "%s: tensor '%.*s' has no place in a %s model of %d layers",
                              vouch_gguf_path(w->gguf), (int)(tensor->name.size < 100 ? tensor->name.size : 100),
                              tensor->name.data, w->weights->hparams.arch->name, w->weights->hparams.n_layers);
    }
    return VOUCH_OK;
}

/* ------------------------------------------------------------------ packing */

/* Tiles are numbered over all jobs. */
typedef struct packing {
    const job *jobs;
    size_t n_jobs;
    int64_t first_tile, end_tile; /* of the batch */
    int64_t n_tiles;              /* of all jobs */
    vouch_progress_fn progress;
    void *user;
    _Atomic int64_t done;
} packing;

/* The tiles [begin, end) that one job has among those of a range. */
typedef struct part {
    const job *job;
    int64_t begin, end;
} part;

/* The first part of tiles [begin, end): what begin lies in. */
static part part_first(const packing *p, int64_t begin, int64_t end)
{
    size_t low = 0, high = p->n_jobs; /* the last job that begins at or before `begin` */
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (p->jobs[middle].first_tile <= begin) low = middle;
        else high = middle;
    }
    const job *one = &p->jobs[low];
    const int64_t left = end - one->first_tile;
    return (part){one, begin - one->first_tile, left < one->n_tiles ? left : one->n_tiles};
}

/* Packs the tiles [begin, end). */
static void pack_range(const packing *p, int64_t begin, int64_t end)
{
    while (begin < end) {
        const part one = part_first(p, begin, end);
        const job *from = one.job;
        if (from->matrix) vouch_matrix_pack(from->matrix, from->tensor->data, one.begin, one.end);
        else memcpy(from->vector, from->tensor->data, from->tensor->bytes);
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
    const size_t offset = (size_t)tile * one->job->stride, bytes = one->job->tensor->bytes;
    return offset < bytes ? offset : bytes;
}

/* Loads what the file has for a batch from first_tile on: as many tiles as fit, but one at least. */
static vouch_status batch_load(const walk *w, packing *p)
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
        VOUCH_TRY(vouch_gguf_load(w->gguf, one.job->tensor, begin, size, w->err));
        room -= size < room ? size : room;
        p->end_tile += one.end - one.begin;
    }
    return VOUCH_OK;
}

static void batch_release(const walk *w, const packing *p)
{
    for (int64_t tile = p->first_tile; tile < p->end_tile;) {
        const part one = part_first(p, tile, p->end_tile);
        const size_t begin = part_offset(&one, one.begin);
        vouch_gguf_release(w->gguf, one.job->tensor, begin, part_offset(&one, one.end) - begin);
        tile += one.end - one.begin;
    }
}

static vouch_status pack_all(walk *w, vouch_pool *pool, vouch_progress_fn progress, void *user)
{
    packing p = {.jobs = w->jobs, .n_jobs = w->n_jobs, .progress = progress, .user = user};
    for (size_t j = 0; j < w->n_jobs; j++) {
        w->jobs[j].first_tile = p.n_tiles;
        p.n_tiles += w->jobs[j].n_tiles;
    }
    for (; p.first_tile < p.n_tiles; p.first_tile = p.end_tile) {
        VOUCH_TRY(batch_load(w, &p));
        vouch_pool_run(pool, pack_on_thread, &p);
        batch_release(w, &p);
    }
    if (progress) progress(user, 1.0);
    return vouch_gguf_recheck(w->gguf, w->err);
}

/* ------------------------------------------------------------------- opening */

static vouch_status read_vocabulary_size(const vouch_gguf *gguf, int32_t n_tokens, vouch_hparams *h, vouch_error *err)
{
    const vouch_gguf_tensor *embedding = vouch_gguf_find_tensor(gguf, "token_embd.weight");
    if (!embedding)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor 'token_embd.weight' is missing", vouch_gguf_path(gguf));
    if (embedding->dim[1] > 1 << 24)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tensor 'token_embd.weight' has %lld rows, more than %d tokens are not supported",
                          vouch_gguf_path(gguf), (long long)embedding->dim[1], 1 << 24);
    h->n_vocab = (int32_t)embedding->dim[1];
    if (n_tokens != 0 && n_tokens != h->n_vocab)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tensor 'token_embd.weight' has %d rows, but tokenizer.ggml.tokens %d",
                          vouch_gguf_path(gguf), h->n_vocab, n_tokens);
    int32_t stated = h->n_vocab;
    return get_int(gguf, h->arch, "vocab_size", false, h->n_vocab, h->n_vocab, &stated, err);
}

/* Angles are positions divided by these. */
static vouch_status check_rope_factors(const vouch_gguf *gguf, vouch_error *err)
{
    const float least = 1e-3f, most = 1e9f;
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, "rope_freqs.weight");
    if (!tensor) return VOUCH_OK;
    VOUCH_TRY(vouch_gguf_load(gguf, tensor, 0, tensor->bytes, err));
    for (size_t i = 0; i < tensor->bytes / sizeof(float); i++) {
        float factor;
        memcpy(&factor, (const char *)tensor->data + i * sizeof factor, sizeof factor);
        if (!(factor >= least && factor <= most))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: rope_freqs.weight[%zu] is %g, must be %g to %g",
                              vouch_gguf_path(gguf), i, (double)factor, (double)least, (double)most);
    }
    return VOUCH_OK;
}

vouch_status vouch_weights_open(vouch_weights **out, const vouch_gguf *gguf, int32_t n_tokens,
                                const vouch_kernels *kernels, vouch_pool *pool, vouch_progress_fn progress, void *user,
                                vouch_error *err)
{
    *out = NULL;
    vouch_status status = VOUCH_E_MEMORY;
    vouch_weights *weights = calloc(1, sizeof *weights);
    const size_t n_tensors = vouch_gguf_n_tensors(gguf);
    walk w = {.gguf = gguf, .weights = weights, .err = err, .jobs = calloc(n_tensors + 1, sizeof(job))};
    if (!weights || !w.jobs) {
        vouch_fail(err, status, "not enough memory for the weights' table");
        goto done;
    }
    weights->kernels = kernels;
    if ((status = read_hparams(gguf, &weights->hparams, err)) != VOUCH_OK) goto done;
    if ((status = read_vocabulary_size(gguf, n_tokens, &weights->hparams, err)) != VOUCH_OK) goto done;

    vouch_arena counting = {0};
    w.arena = &counting;
    if ((status = take_all(&w)) != VOUCH_OK) goto done;
    if ((status = refuse_unknown_tensors(&w)) != VOUCH_OK) goto done;
    weights->head = weights->output.n_out ? &weights->output : &weights->embedding;
    if ((status = check_rope_factors(gguf, err)) != VOUCH_OK) goto done;
    if (!pool) {
        weights->arena.used = counting.used;
        status = vouch_gguf_recheck(gguf, err);
        goto done;
    }
    if ((status = vouch_arena_allocate(&counting, "the packed weights", err)) != VOUCH_OK) goto done;
    weights->arena = counting;
    w.arena = &weights->arena;
    if ((status = take_all(&w)) != VOUCH_OK) goto done;
    if ((status = pack_all(&w, pool, progress, user)) != VOUCH_OK) goto done;
    for (int32_t i = 0; i < weights->n_rotaries; i++) fill_frequencies(&weights->rotaries[i]);
done:
    if (status == VOUCH_OK) *out = weights;
    else vouch_weights_close(weights);
    free(w.jobs);
    return status;
}

void vouch_weights_close(vouch_weights *weights)
{
    if (!weights) return;
    vouch_arena_free(&weights->arena);
    free(weights);
}
