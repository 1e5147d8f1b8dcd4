/* SPDX-License-Identifier: MIT */
#include "model/memory/states.h"

#include <assert.h>
#include <string.h>

#include "base/common.h"
#include "base/hash.h"

/* Scratch of vouch_states_plan, one per provisional row. */
struct vouch_plan_row {
    int32_t size;      /* the row and its descendants */
    int32_t largest;   /* child with most descendants; -1: no child */
    int32_t next, end; /* steps for its other children begin at next; its last descendant has step end - 1 */
};

/* -------------------------------------------------------------------- layout */

static int64_t heads_floats(const vouch_recurrent *r)
{
    return r->n_heads * vouch_recurrent_head(r);
}

static int64_t state_floats(const vouch_recurrent *r)
{
    return heads_floats(r) + (r->conv.width - 1) * r->conv.n_channels;
}

static size_t state_bytes(const vouch_recurrent *r)
{
    return (size_t)state_floats(r) * sizeof(float);
}

void vouch_states_layout(vouch_states *states, const vouch_weights *weights, int32_t max_rows, vouch_arena *arena)
{
    size_t head = 0, values = 0, rows = (size_t)max_rows;
    int32_t n_recurrent = 0;
    for (int32_t l = 0; l < weights->hparams.n_layers; l++)
        n_recurrent += weights->layers[l].recurrent.conv.n_channels > 0;
    states->kernels = weights->kernels;
    states->n_layers = n_recurrent > 0 ? weights->hparams.n_layers : 0;
    states->layers = vouch_arena_take(arena, (size_t)states->n_layers, sizeof *states->layers);
    for (int32_t l = 0; l < states->n_layers; l++) {
        const vouch_recurrent *r = &weights->layers[l].recurrent;
        if (r->conv.n_channels == 0) continue;
        const size_t n = (size_t)state_floats(r);
        const vouch_layer_state layer = {
            .recurrent = r,
            .state = vouch_arena_take(arena, n, sizeof(float)),
            .checkpoint = vouch_arena_take(arena, n, sizeof(float)),
            .inputs = vouch_arena_take(arena, rows * (size_t)vouch_recurrent_inputs(r), sizeof(float))};
        if (states->layers) states->layers[l] = layer;
        if (head < (size_t)vouch_recurrent_head(r)) head = (size_t)vouch_recurrent_head(r);
        if (values < (size_t)r->n_values) values = (size_t)r->n_values;
    }
    if (n_recurrent == 0) return;
    states->order = vouch_arena_take(arena, rows, sizeof *states->order);
    states->levels = vouch_arena_take(arena, rows, sizeof *states->levels);
    states->plan = vouch_arena_take(arena, rows + 1, sizeof *states->plan);
    states->head = vouch_arena_take(arena, head, sizeof(float));
    states->values = vouch_arena_take(arena, values, sizeof(float));
}

/* -------------------------------------------------------------------- replay */

/* Updates the state of 16 channels of a Mamba mixer by one row. */
static void channels_step(const vouch_kernels *kernels, const vouch_recurrent *r, int32_t head, float *state,
                          const float *row, float *y)
{
    const int64_t first = (int64_t)head * VOUCH_TILE;
    const float *c = row + r->conv.n_channels;
    const vouch_channel_scan scan = {.n_channels = VOUCH_TILE,
                                     .n_state = r->n_keys,
                                     .a = (const float *)(const void *)r->channel_a.data + first * r->n_keys,
                                     .dt = row + vouch_recurrent_rates(r) + first,
                                     .x = c + r->v + first,
                                     .skip = r->skip + first,
                                     .b = c + r->k,
                                     .c = c + r->q};
    kernels->scan_channels(y, state, &scan, 0, VOUCH_TILE);
}

void vouch_state_step(const vouch_kernels *kernels, const vouch_recurrent *r, int32_t head, float *state,
                      const float *row, float *y)
{
    if (r->kind == VOUCH_MAMBA) {
        channels_step(kernels, r, head, state, row, y);
        return;
    }
    const float *c = row + r->conv.n_channels, *rates = row + vouch_recurrent_rates(r), *decays = rates + r->n_heads;
    const int64_t per_head = r->has_key_decays ? r->n_keys : 1; /* decays */
    const int32_t key_head = r->is_tiled ? head % r->n_key_heads : head / (r->n_heads / r->n_key_heads);
    const bool is_wkv = vouch_recurrent_is_wkv(r), erases = r->kind == VOUCH_WKV7;
    const bool reads_before = r->kind == VOUCH_WKV6 && r->wkv.bonus; /* then the rate is the factor of v */
    const int64_t n = (int64_t)r->n_heads * r->n_keys;
    const vouch_scan scan = {.n_keys = r->n_keys,
                             .n_values = r->n_values,
                             .q = c + r->q + (int64_t)key_head * r->n_keys,
                             .k = c + r->k + (int64_t)key_head * r->n_keys,
                             .v = c + r->v + (int64_t)head * r->n_values,
                             .decay = decays + head * per_head,
                             .decay_step = r->has_key_decays,
                             .rate = is_wkv ? 1 : rates[head],
                             .skip = r->skip        ? r->skip[head]
                                     : reads_before ? rates[head]
                                                    : 0,
                             .has_delta = r->kind == VOUCH_DELTA_NET,
                             .reads_before = reads_before,
                             .erase = erases ? c + 3 * n + (int64_t)head * r->n_keys : NULL,
                             .write = erases ? c + 4 * n + (int64_t)head * r->n_keys : NULL};
    kernels->scan(y, state, &scan);
}

/* `to` becomes the state of a head after the first n_pending pending tokens. */
static void copy_head(const vouch_states *s, const vouch_layer_state *layer, int32_t head, int32_t n_pending, float *to)
{
    const vouch_recurrent *r = layer->recurrent;
    memcpy(to, vouch_layer_state_head(layer, head), (size_t)vouch_recurrent_head(r) * sizeof *to);
    for (int32_t i = 0; i < n_pending; i++)
        vouch_state_step(s->kernels, r, head, to, layer->inputs + i * vouch_recurrent_inputs(r), s->values);
}

/* The convolution's input `back` tokens before the end of the first n_pending pending tokens. */
static const float *input_before(const vouch_layer_state *layer, int32_t n_pending, int32_t back)
{
    const vouch_recurrent *r = layer->recurrent;
    if (back <= n_pending) return layer->inputs + (n_pending - back) * vouch_recurrent_inputs(r);
    return layer->state + heads_floats(r) + (r->conv.width - 1 - (back - n_pending)) * r->conv.n_channels;
}

const float *vouch_layer_state_input(const vouch_states *states, const vouch_layer_state *layer, int32_t back)
{
    return input_before(layer, states->n_pending, back);
}

/* `to` becomes a layer's whole state after the first n_pending pending tokens. */
static void copy_layer(const vouch_states *s, const vouch_layer_state *layer, int32_t n_pending, float *to)
{
    const vouch_recurrent *r = layer->recurrent;
    for (int32_t h = 0; h < r->n_heads; h++) copy_head(s, layer, h, n_pending, to + h * vouch_recurrent_head(r));
    to += heads_floats(r);
    for (int32_t back = (int32_t)r->conv.width - 1; back >= 1; back--, to += r->conv.n_channels)
        memcpy(to, input_before(layer, n_pending, back), (size_t)r->conv.n_channels * sizeof *to);
}

/* -------------------------------------------------------------- back and forth */

int32_t vouch_states_reach(const vouch_states *states, int32_t n_tokens, int32_t n)
{
    if (states->n_layers == 0 || n >= n_tokens - states->n_pending) return vouch_min(n, n_tokens);
    return states->n_checkpoint <= n ? states->n_checkpoint : 0;
}

void vouch_states_rewind(vouch_states *states, int32_t n_tokens, int32_t n)
{
    vouch_states *s = states;
    const int32_t n_state = n_tokens - s->n_pending;
    if (s->n_layers == 0) return;
    s->n_pending = n >= n_state ? n - n_state : 0;
    for (int32_t l = 0; l < s->n_layers && n < n_state; l++) {
        const vouch_layer_state *layer = &s->layers[l];
        if (!layer->recurrent) continue;
        if (n > 0) memcpy(layer->state, layer->checkpoint, state_bytes(layer->recurrent));
        else memset(layer->state, 0, state_bytes(layer->recurrent));
    }
    if (s->n_checkpoint > n) s->n_checkpoint = 0;
}

void vouch_states_share(vouch_states *states, const vouch_states *from, int32_t n_tokens, int32_t n)
{
    const int32_t n_state = n_tokens - from->n_pending;
    states->n_pending = states->n_checkpoint = 0;
    for (int32_t l = 0; l < states->n_layers; l++) {
        const vouch_layer_state *to = &states->layers[l], *layer = &from->layers[l];
        if (!to->recurrent) continue;
        if (n >= n_state) copy_layer(from, layer, n - n_state, to->state);
        else if (n > 0) memcpy(to->state, layer->checkpoint, state_bytes(to->recurrent));
    }
}

void vouch_states_checkpoint(vouch_states *states, int32_t n_tokens)
{
    for (int32_t l = 0; l < states->n_layers; l++)
        if (states->layers[l].recurrent)
            copy_layer(states, &states->layers[l], states->n_pending, states->layers[l].checkpoint);
    states->n_checkpoint = n_tokens;
}

size_t vouch_states_size(const vouch_weights *weights)
{
    size_t n = 0;
    for (int32_t l = 0; l < weights->hparams.n_layers; l++) {
        const vouch_recurrent *r = &weights->layers[l].recurrent;
        if (r->conv.n_channels > 0) n += (size_t)state_floats(r);
    }
    return n;
}

void vouch_states_save(const vouch_states *states, float *to)
{
    for (int32_t l = 0; l < states->n_layers; l++) {
        const vouch_layer_state *layer = &states->layers[l];
        if (!layer->recurrent) continue;
        copy_layer(states, layer, states->n_pending, to);
        to += state_floats(layer->recurrent);
    }
}

void vouch_states_load(vouch_states *states, const float *from)
{
    states->n_pending = states->n_checkpoint = 0;
    for (int32_t l = 0; l < states->n_layers; l++) {
        const vouch_layer_state *layer = &states->layers[l];
        if (!layer->recurrent) continue;
        memcpy(layer->state, from, state_bytes(layer->recurrent));
        from += state_floats(layer->recurrent);
    }
}

void vouch_states_save_checkpoint(const vouch_states *states, float *to)
{
    for (int32_t l = 0; l < states->n_layers; l++) {
        const vouch_layer_state *layer = &states->layers[l];
        if (!layer->recurrent) continue;
        memcpy(to, layer->checkpoint, state_bytes(layer->recurrent));
        to += state_floats(layer->recurrent);
    }
}

void vouch_states_load_checkpoint(vouch_states *states, const float *from, int32_t n_checkpoint)
{
    states->n_checkpoint = n_checkpoint;
    for (int32_t l = 0; l < states->n_layers; l++) {
        const vouch_layer_state *layer = &states->layers[l];
        if (!layer->recurrent) continue;
        memcpy(layer->checkpoint, from, state_bytes(layer->recurrent));
        from += state_floats(layer->recurrent);
    }
}

void vouch_states_move(vouch_states *states, int32_t to, int32_t from)
{
    for (int32_t l = 0; l < states->n_layers; l++) {
        const vouch_layer_state *layer = &states->layers[l];
        if (!layer->recurrent) continue;
        const int64_t n = vouch_recurrent_inputs(layer->recurrent);
        memcpy(layer->inputs + to * n, layer->inputs + from * n, (size_t)n * sizeof *layer->inputs);
    }
}

uint64_t vouch_states_digest(const vouch_states *states, uint64_t hash)
{
    const vouch_states *s = states;
    for (int32_t l = 0; l < s->n_layers; l++) {
        const vouch_layer_state *layer = &s->layers[l];
        const vouch_recurrent *r = layer->recurrent;
        for (int32_t h = 0; r && h < r->n_heads; h++) {
            copy_head(s, layer, h, s->n_pending, s->head);
            hash = vouch_hash_bytes(hash, s->head, (size_t)vouch_recurrent_head(r) * sizeof *s->head);
        }
        for (int32_t back = 1; r && back < r->conv.width; back++)
            hash = vouch_hash_bytes(hash, vouch_layer_state_input(s, layer, back),
                                    (size_t)r->conv.n_channels * sizeof(float));
    }
    return hash;
}

/* ----------------------------------------------------------------------- plan */

void vouch_states_plan(vouch_states *states, const int32_t *parents, int32_t n)
{
    if (states->n_layers == 0) return;
    struct vouch_plan_row *rows = states->plan + 1; /* rows[-1]: the sequence, which the roots follow */
    for (int32_t i = -1; i < n; i++) rows[i] = (struct vouch_plan_row){.size = 1, .largest = -1};
    for (int32_t i = n - 1; i >= 0; i--) rows[parents[i]].size += rows[i].size;
    for (int32_t i = 0; i < n; i++) {
        int32_t *largest = &rows[parents[i]].largest;
        if (*largest < 0 || rows[i].size > rows[*largest].size) *largest = i;
    }
    rows[-1].end = n;
    for (int32_t i = 0; i < n; i++) {
        const int32_t parent = parents[i], size = rows[i].size;
        const bool continues = rows[parent].largest == i;
        const int32_t step = continues ? rows[parent].end - size : rows[parent].next;
        if (!continues) rows[parent].next += size;
        rows[i].next = step + 1;
        rows[i].end = step + size;
        states->order[step] = i;
        states->levels[i] = (parent < 0 ? 0 : states->levels[parent]) + !continues;
        assert(states->levels[i] < VOUCH_STATE_LEVELS);
    }
}
