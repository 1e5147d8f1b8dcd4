/* SPDX-License-Identifier: MIT */
#include "train/network/lora.h"

#include <string.h>

#include "base/hash.h"
#include "base/philox.h"

enum { N_MATRICES = 7 };

/* A matrix of a layer, and where its factors begin in those of the layer: A, then B. */
typedef struct adapted {
    real *w; /* [n_out, n_in] */
    int64_t n_out, n_in, at;
} adapted;

static void matrices_of(adapted matrices[N_MATRICES], const train_lora *lora, const train_layer *layer)
{
    const train_layer_shape *s = &lora->layer;
    const int64_t n = s->n_embd, q = s->heads.n_heads * s->heads.head_dim, kv = s->heads.n_kv_heads * s->heads.head_dim;
    const adapted all[N_MATRICES] = {
        {layer->q, q, n, 0},          {layer->k, kv, n, 0},       {layer->v, kv, n, 0},        {layer->o, n, q, 0},
        {layer->gate, s->n_ff, n, 0}, {layer->up, s->n_ff, n, 0}, {layer->down, n, s->n_ff, 0}};
    int64_t at = 0;
    for (int i = 0; i < N_MATRICES; i++) {
        matrices[i] = all[i];
        matrices[i].at = at;
        at += lora->rank * (all[i].n_in + all[i].n_out);
    }
}

int64_t train_lora_size(const train_lora *lora)
{
    adapted matrices[N_MATRICES];
    matrices_of(matrices, lora, &(train_layer){0});
    const adapted *last = &matrices[N_MATRICES - 1];
    return last->at + lora->rank * (last->n_in + last->n_out);
}

/* ---------------------------------------------------------------------- opening */

static void lay_out(train_lora *lora)
{
    const size_t n = (size_t)lora->n_layers;
    lora->factors = vouch_arena_take(&lora->arena, n * (size_t)train_lora_size(lora), sizeof(real));
    lora->fixed = vouch_arena_take(&lora->arena, n * (size_t)train_layer_size(&lora->layer), sizeof(real));
}

/* A: uniform in [-1, 1) / sqrt(inputs), as linear layers usually begin. B: 0, so that the layers begin as they are. */
static void factors_begin(const train_lora *lora, uint64_t seed)
{
    const uint64_t own = vouch_hash_word(VOUCH_HASH_START, seed); /* other numbers than the lessons draw */
    for (int32_t l = 0; l < lora->n_layers; l++) {
        adapted matrices[N_MATRICES];
        matrices_of(matrices, lora, &(train_layer){0});
        for (int k = 0; k < N_MATRICES; k++) {
            real *a = lora->factors + l * train_lora_size(lora) + matrices[k].at;
            const double bound = 1 / sqrt((double)matrices[k].n_in);
            for (int64_t i = 0; i < lora->rank * matrices[k].n_in; i++)
                a[i] = (real)(bound *
                              (2 * vouch_uniform_of(own, (int64_t)l * N_MATRICES + k, VOUCH_PURPOSE_DRAFT, (int32_t)i) -
                               1));
        }
    }
}

vouch_status train_lora_open(train_lora *lora, const train_layer_shape *shape, int32_t n_layers, const real *layers,
                             int64_t rank, uint64_t seed, vouch_error *err)
{
    if (rank < 1 || rank > shape->n_embd)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`lora` is %lld: expected a rank, 1 to the width of the layers, %lld",
                          (long long)rank, (long long)shape->n_embd);
    *lora = (train_lora){.rank = rank, .layer = *shape, .n_layers = n_layers};
    lay_out(lora);
    VOUCH_TRY(vouch_arena_allocate(&lora->arena, "the factors of a draft model", err));
    lay_out(lora);
    memcpy(lora->fixed, layers, (size_t)(n_layers * train_layer_size(shape)) * sizeof *layers);
    factors_begin(lora, seed);
    return VOUCH_OK;
}

void train_lora_close(train_lora *lora)
{
    vouch_arena_free(&lora->arena);
}

/* ------------------------------------------------------------- forward and back */

/* w = fixed + scale b a */
static void matrix_merge(const adapted *m, const real *fixed, const real *factors, int64_t rank)
{
    const real *a = factors + m->at, *b = a + rank * m->n_in;
    real_product_nn(m->w, m->n_in, b, rank, a, m->n_in, m->n_out, m->n_in, rank, false);
    for (int64_t i = 0; i < m->n_out * m->n_in; i++) m->w[i] = fixed[i] + TRAIN_LORA_SCALE * m->w[i];
}

void train_lora_merge(const train_lora *lora, real *layers)
{
    const int64_t size = train_layer_size(&lora->layer);
    for (int32_t l = 0; l < lora->n_layers; l++) {
        adapted to[N_MATRICES], from[N_MATRICES];
        const train_layer layer = train_layer_at(&lora->layer, layers + l * size);
        const train_layer fixed = train_layer_at(&lora->layer, lora->fixed + l * size);
        matrices_of(to, lora, &layer);
        matrices_of(from, lora, &fixed);
        for (int k = 0; k < N_MATRICES; k++)
            matrix_merge(&to[k], from[k].w, lora->factors + l * train_lora_size(lora), lora->rank);
    }
}

void train_lora_back(const train_lora *lora, real *grads, int32_t layer, const train_layer *dlayer)
{
    const int64_t rank = lora->rank, begin = layer * train_lora_size(lora);
    adapted matrices[N_MATRICES];
    matrices_of(matrices, lora, dlayer);
    for (int k = 0; k < N_MATRICES; k++) {
        const adapted *m = &matrices[k];
        const real *a = lora->factors + begin + m->at, *b = a + rank * m->n_in;
        real *da = grads + begin + m->at, *db = da + rank * m->n_in;
        for (int64_t i = 0; i < m->n_out * m->n_in; i++) m->w[i] *= TRAIN_LORA_SCALE;
        real_product_tn(da, m->n_in, b, rank, m->w, m->n_in, rank, m->n_in, m->n_out, true);
        real_product_nt(db, rank, m->w, m->n_in, a, m->n_in, m->n_out, rank, m->n_in, true);
    }
}
