/* SPDX-License-Identifier: MIT */
#include "support/model/hybrid.h"

#include <assert.h>
#include <math.h>

enum { MOST_CHANNELS = 512, MOST_WIDTH = 4 };
static float conv_weights[MOST_WIDTH * MOST_CHANNELS], conv_bias[MOST_CHANNELS], decay_bias[MOST_CHANNELS],
    decays[MOST_CHANNELS], norm[MOST_CHANNELS];

static void fill(void)
{
    for (int i = 0; i < MOST_WIDTH * MOST_CHANNELS; i++) conv_weights[i] = 0.7f * (float)sin(1 + 3 * i);
    for (int i = 0; i < MOST_CHANNELS; i++) {
        conv_bias[i] = 0.3f * (float)sin(2 * i);
        decay_bias[i] = 0.2f * (float)sin(i) - 1;
        decays[i] = -0.2f - 0.1f * (float)sin(5 * i);
        norm[i] = 1 + 0.3f * (float)sin(7 * i);
    }
}

/* The first n rows of a matrix, which share its bytes. */
static vouch_matrix first_rows(const vouch_matrix *from, int64_t n)
{
    vouch_matrix matrix = *from;
    assert(n <= from->n_out);
    matrix.n_out = n;
    matrix.n_tiles = (n + VOUCH_TILE - 1) / VOUCH_TILE;
    return matrix;
}

static vouch_recurrent delta_net(const vouch_layer *l)
{
    const vouch_attention *a = &l->attention;
    const int64_t n_keys = (int64_t)a->n_kv_heads * a->head_dim, n_values = (int64_t)a->n_heads * a->head_dim;
    return (vouch_recurrent){.in[0] = first_rows(&l->ffn.up, 2 * n_keys + n_values),
                             .conv = {.n_channels = 2 * n_keys + n_values,
                                      .width = 4,
                                      .weights = conv_weights,
                                      .bias = conv_bias,
                                      .has_silu = true},
                             .kind = VOUCH_DELTA_NET,
                             .n_heads = a->n_heads,
                             .n_key_heads = a->n_kv_heads,
                             .n_keys = a->head_dim,
                             .n_values = a->head_dim,
                             .k = n_keys,
                             .v = 2 * n_keys,
                             .rate = first_rows(&a->k, a->n_heads),
                             .decay = first_rows(&a->v, a->n_heads),
                             .decay_bias = decay_bias,
                             .a = decays,
                             .norm = norm,
                             .gate = first_rows(&l->ffn.gate, n_values),
                             .out = a->o};
}

static vouch_recurrent short_convolution(const vouch_layer *l)
{
    const vouch_attention *a = &l->attention;
    const int64_t n = a->q.n_out;
    return (vouch_recurrent){.in[0] = a->q,
                             .factor = first_rows(&l->ffn.gate, n),
                             .conv = {.n_channels = n, .width = 3, .weights = conv_weights},
                             .gate = first_rows(&l->ffn.up, n),
                             .out = a->o};
}

void hybrid_layers(vouch_weights *weights)
{
    fill();
    for (int32_t i = 0; i < weights->hparams.n_layers; i++) {
        vouch_layer *l = &weights->layers[i];
        if (i % 3 == 2) continue;
        l->recurrent = i % 3 == 0 ? delta_net(l) : short_convolution(l);
        l->recurrent.is_tiled = i == 3;
        l->attention = (vouch_attention){0};
    }
}
