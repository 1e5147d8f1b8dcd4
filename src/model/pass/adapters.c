/* SPDX-License-Identifier: MIT */
/*
 * Adapters that tokens choose (Granite Switch, IBM): a token that stands for an adapter turns it on for itself and for
 * all tokens after it. A layer of one head finds the rows' adapters before all others run. It has keys and values like
 * other layers, so the choice follows a row's path, and a rollback undoes it:
 *
 *   key     gain if the token chooses an adapter, else -gain                       query  1
 *   value   1, then the bits of the number of the adapter that the token chooses, or of 0
 *   number  round(sum over b of 2^b mixed[1 + b] / mixed[0])
 *
 * Beside a token that chooses an adapter, the softmax gives each other token a relative weight of exp(-2 gain). If two
 * tokens choose different adapters, the row gets the rounded mean of their numbers, as in llama.cpp. The value holds
 * bits because every type of the cache stores 0 and 1 exactly, but not every number.
 *
 * stage/affine.h has what the matrices compute with the adapters that are found here.
 */
#include "model/pass/adapters.h"

#include <math.h>
#include <string.h>

#include "model/pass/attention.h"
#include "model/stage/affine.h"
#include "model/stage/stream.h"

enum { N_BITS = 10, HEAD = VOUCH_ADAPTER_HEAD };
_Static_assert(VOUCH_MOST_ADAPTERS < 1 << N_BITS && 1 + N_BITS <= HEAD, "a value has room for all bits");

/* The number of the adapter that a token chooses; 0: none. The last one of equal tokens counts. */
static int32_t chosen_by(const vouch_hparams *h, int32_t token)
{
    int32_t number = h->adapters.n;
    while (number > 0 && h->adapters.of[number - 1].token != token) number--;
    return number;
}

int32_t vouch_adapters_substitute(const vouch_hparams *h, int32_t token)
{
    const int32_t number = chosen_by(h, token);
    return number > 0 ? h->adapters.of[number - 1].substitute : token;
}

/* ---------------------------------------------------------------------- find */

/* Writes a row's query, and its key and value to the cache. */
static void store_row(const vouch_workspace *c, int32_t layer, int64_t row)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const vouch_hparams *h = &c->weights->hparams;
    const row_slot *to = &c->slots[row];
    const int32_t number = chosen_by(h, c->tokens[row]);
    vouch_matrix keys = vouch_page_keys(to->store, to->page, layer, 0);
    vouch_matrix values = vouch_page_values(to->store, to->page, layer, 0);
    float *query = c->q + row * HEAD, key[HEAD] = {0}, value[HEAD] = {1};
    memset(query, 0, HEAD * sizeof *query);
    query[0] = 1;
    key[0] = number > 0 ? h->adapters.gain : -h->adapters.gain;
    for (int b = 0; b < N_BITS; b++) value[1 + b] = (float)(number >> b & 1);
    kernels->set_row(&keys, to->slot, key);
    kernels->set_column(&values, to->slot, value);
}

static int32_t number_of(const float *mixed, int32_t most)
{
    float sum = 0;
    for (int b = 0; b < N_BITS; b++) sum += (float)(1 << b) * mixed[1 + b];
    const float number = roundf(sum / mixed[0]);
    return number > (float)most ? most : (int32_t)number;
}

/* Reads off the rows' adapters, and lists those of some row. */
static void list_adapters(vouch_workspace *c)
{
    const int32_t n = c->weights->hparams.adapters.n;
    float *scales = c->adapters.scales;
    memset(scales, 0, (size_t)c->n_rows * (size_t)(n + 1) * sizeof *scales);
    for (int64_t r = 0; r < c->n_rows; r++) scales[r * (n + 1) + number_of(c->mixed + r * HEAD, n)] = 1;
    vouch_adapters_list(c);
}

void vouch_adapters_find(vouch_workspace *c, vouch_pool *team, thread_space *my)
{
    const int32_t layer = c->weights->hparams.n_layers - 1;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) store_row(c, layer, r);
    vouch_pool_barrier(team, my->thread);
    vouch_attention_mix(c, team, my, layer);
    if (my->thread == 0) list_adapters(c);
    vouch_pool_barrier(team, my->thread);
}
