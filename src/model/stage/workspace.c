/* SPDX-License-Identifier: MIT */
#include "model/stage/workspace.h"

#include <stddef.h>

#include "base/common.h"

/* -------------------------------------------------------------------- layout */

/* The widest layers. */
typedef struct widths {
    size_t n_embd, in;                                             /* in: what a stage reads of a row */
    size_t q, k, v, gates, mixed, head_dim, value_dim, norm, n_ff; /* norm: of one head */
    size_t own;                                                    /* weights of a convolution along a block */
    size_t low, heads, latent;                                     /* of latent attention; `low` also of delta nets */
} widths;

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static widths find_widths(const vouch_weights *w)
{
    widths all = {.n_embd = (size_t)w->hparams.n_embd, .in = (size_t)w->hparams.n_embd};
    for (int32_t l = 0; l < w->hparams.n_layers; l++) {
        const vouch_attention *a = &w->layers[l].attention;
        all.in = most(all.in, all.n_embd * (a->reads_pairs ? 2 : 1));
        all.q = most(all.q, (size_t)a->n_heads * (size_t)a->head_dim * (a->is_gated ? 2 : 1));
        all.k = most(all.k, (size_t)a->n_kv_heads * (size_t)a->head_dim);
        all.v = most(all.v, (size_t)a->n_kv_heads * (size_t)a->value_dim);
        all.gates = most(all.gates, (size_t)a->gate.n_out);
        all.mixed = most(all.mixed, (size_t)a->n_heads * (size_t)vouch_max(a->value_dim, a->latent.value_dim));
        all.head_dim = most(all.head_dim, (size_t)a->head_dim);
        all.value_dim = most(all.value_dim, (size_t)a->value_dim);
        const vouch_latent *m = &a->latent;
        all.heads = most(all.heads, (size_t)a->n_heads * (size_t)vouch_max(m->key_dim, m->value_dim));
        all.latent = most(all.latent, (size_t)vouch_max(m->rank, m->key_dim));
        const vouch_recurrent *r = &w->layers[l].recurrent;
        all.low = most(all.low, (size_t)(m->low.n_out + r->decay_low.n_out + r->gate_low.n_out));
        all.low = most(all.low, (size_t)(r->decay_low.n_out + r->gate_low.n_out + r->wkv.rate_low.n_out +
                                         r->wkv.value_low.n_out));
        all.low = most(all.low, (size_t)r->wkv.amount_low.n_out);
        all.low = most(all.low, (size_t)w->layers[l].laurel.left.n_out);
        all.own = most(all.own, (size_t)w->layers[l].mix.conv.weights.n_out);
        all.own = most(all.own, (size_t)w->layers[l].feed.conv.weights.n_out);
        if (r->kind == VOUCH_LIGHTNING) all.mixed = most(all.mixed, (size_t)r->out.n_in);
        const size_t group = r->n_key_heads > 0 ? (size_t)(r->out.n_in / r->n_key_heads) : 0;
        all.norm = most(all.norm, most((size_t)a->head_dim, most((size_t)r->n_values, group)));
        all.n_ff = most(all.n_ff, (size_t)w->layers[l].ffn.n_ff);
        all.n_ff = most(all.n_ff, (size_t)w->layers[l].extra_ffn.n_ff);
        all.n_ff = most(all.n_ff, (size_t)w->layers[l].experts.shared.n_ff);
    }
    return all;
}

/* True where some branch isn't added to the stream directly. */
static bool has_detours(const vouch_weights *w)
{
    for (int32_t l = 0; l < w->hparams.n_layers; l++) {
        const vouch_branch *mix = &w->layers[l].mix, *feed = &w->layers[l].feed;
        if (mix->conv.weights.n_out > 0 || feed->conv.weights.n_out > 0) return true;
        if (mix->hyper.weights.n_out > 0 || feed->hyper.weights.n_out > 0) return true;
        if (mix->stream_scale || feed->stream_scale || w->layers[l].extra_ffn.n_ff > 0) return true;
        if (mix->norm_after || feed->norm_after || mix->scale != 1 || feed->scale != 1) return true;
        if (w->layers[l].attention.o_after.scale || w->layers[l].recurrent.out_after.scale) return true;
        if (w->layers[l].channel_mix.gate.n_out > 0) return true;
        if (w->layers[l].ffn.down_after.scale || vouch_layer_has_both(&w->layers[l])) return true;
    }
    return false;
}

/* True where some layer reads its input again after attention. */
static bool keeps_inputs(const vouch_weights *w)
{
    for (int32_t l = 0; l < w->hparams.n_layers; l++)
        if (w->layers[l].is_parallel || w->layers[l].experts.routes_early || w->layers[l].beside.reads_input)
            return true;
    return false;
}

static bool adds_first(const vouch_weights *w)
{
    return w->hparams.n_layers > 0 && w->layers[0].first_scale;
}

static bool has_both(const vouch_weights *w)
{
    for (int32_t l = 0; l < w->hparams.n_layers; l++)
        if (vouch_layer_has_both(&w->layers[l])) return true;
    return false;
}

/* A pass may run over caches of any type, so queries get the forms that any type of keys asks for. */
static void layout_thread(thread_space *space, const vouch_workspace *c, const widths *w, vouch_arena *arena)
{
    const size_t queries = (size_t)c->weights->kernels->group_rows;
    vouch_needs needs = VOUCH_NEEDS_FLOATS;
    if (w->head_dim % VOUCH_BLOCK == 0) needs |= vouch_type_needs(VOUCH_TYPE_Q8_0) | vouch_type_needs(VOUCH_TYPE_Q4_0);
    space->rows = vouch_arena_take(arena, VOUCH_FEW_ROWS * w->n_embd, sizeof(float));
    space->wide = vouch_arena_take(arena, (size_t)c->weights->layer_projection.n_out, sizeof(float));
    space->norms = vouch_arena_take(arena, (size_t)c->max_rows, sizeof(float));
    space->squares = vouch_arena_take(arena, (w->norm + 15) / 16, sizeof(float));
    space->mixed = vouch_arena_take(arena, queries * w->value_dim, sizeof(float));
    space->factors = vouch_arena_take(arena, queries, sizeof(float));
    space->slots = vouch_arena_take(arena, (size_t)c->n_slots, sizeof(int32_t));
    vouch_acts_layout(&space->queries, queries, w->head_dim, needs, arena);
    vouch_acts_layout(&space->scores, queries, (size_t)c->n_slots + VOUCH_TILE, VOUCH_NEEDS_FLOATS, arena);
    vouch_acts_layout(&space->latent, w->latent ? (size_t)c->max_rows : 0, w->latent, c->needs, arena);
}

static void layout_rows(vouch_workspace *c, vouch_arena *arena)
{
    const size_t rows = (size_t)c->max_rows;
    c->tokens = vouch_arena_take(arena, rows, sizeof *c->tokens);
    c->inputs = vouch_arena_take(arena, rows, sizeof *c->inputs);
    c->seconds = vouch_arena_take(arena, rows, sizeof *c->seconds);
    c->runs = vouch_arena_take(arena, rows, sizeof *c->runs);
    c->slots = vouch_arena_take(arena, rows, sizeof *c->slots);
    c->logits_rows = vouch_arena_take(arena, rows, sizeof *c->logits_rows);
    c->hidden_rows = vouch_arena_take(arena, rows, sizeof *c->hidden_rows);
    c->angles = vouch_arena_take(arena, (size_t)c->weights->n_rotaries, sizeof *c->angles);
    for (int32_t i = 0; i < c->weights->n_rotaries; i++) {
        const size_t n_rot = (size_t)c->weights->rotaries[i].n_rot;
        const angle_table table = {.cosines = vouch_arena_take(arena, rows * n_rot, sizeof(float)),
                                   .sines = vouch_arena_take(arena, rows * n_rot, sizeof(float))};
        if (c->angles) c->angles[i] = table;
    }
}

/* Takes n floats for each thread. member: offset of the pointer in thread_space that gets them. */
static void take_for_threads(vouch_workspace *c, vouch_arena *arena, size_t n, size_t member)
{
    for (int32_t t = 0; t < vouch_pool_size(c->pool); t++) {
        float *floats = vouch_arena_take(arena, n, sizeof *floats);
        if (c->threads) *(float **)(void *)((char *)&c->threads[t] + member) = floats;
    }
}

/* Room for the model's mixtures of experts; nothing where it has none. */
static void layout_experts(vouch_workspace *c, vouch_arena *arena)
{
    expert_space *s = &c->experts;
    size_t n_used = 0, n_experts = 0, n_ff = 0, narrow = 0;
    for (int32_t l = 0; l < c->weights->hparams.n_layers; l++) {
        const vouch_experts *e = &c->weights->layers[l].experts;
        if (e->n_experts == 0) continue;
        n_used = most(n_used, (size_t)vouch_experts_per_row(e));
        n_experts = most(n_experts, (size_t)vouch_experts_n_networks(e));
        n_ff = most(n_ff, (size_t)vouch_max(e->n_ff, e->adjugates.n_ff));
        narrow = most(narrow, (size_t)e->narrow.n_out);
    }
    if (n_experts == 0) return;
    const size_t rows = (size_t)c->max_rows, chosen = rows * n_used, entries = chosen + rows;
    s->scores = vouch_arena_take(arena, rows * n_experts, sizeof *s->scores);
    s->shared = vouch_arena_take(arena, rows, sizeof *s->shared);
    s->chosen = vouch_arena_take(arena, chosen, sizeof *s->chosen);
    s->weights = vouch_arena_take(arena, chosen, sizeof *s->weights);
    s->entries = vouch_arena_take(arena, chosen, sizeof *s->entries);
    s->rows = vouch_arena_take(arena, entries, sizeof *s->rows);
    s->counts = vouch_arena_take(arena, n_experts, sizeof *s->counts);
    s->gate_factors = vouch_arena_take(arena, entries, sizeof *s->gate_factors);
    s->up_factors = vouch_arena_take(arena, entries, sizeof *s->up_factors);
    s->down_factors = vouch_arena_take(arena, entries, sizeof *s->down_factors);
    s->gate = vouch_arena_take(arena, chosen * n_ff, sizeof *s->gate);
    s->up = vouch_arena_take(arena, chosen * n_ff, sizeof *s->up);
    s->works = vouch_arena_take(arena, (chosen < n_experts ? chosen : n_experts) + 1, sizeof *s->works);
    s->narrow = vouch_arena_take(arena, rows * narrow, sizeof *s->narrow);
    vouch_acts_layout(&s->narrow_acts, rows, narrow, c->needs, arena);
    vouch_acts_layout(&s->in, chosen, most((size_t)c->weights->hparams.n_embd, narrow), c->needs, arena);
    vouch_acts_layout(&s->gated, chosen, n_ff, c->needs, arena);
    take_for_threads(c, arena, entries * VOUCH_EXPERT_UNIT, offsetof(thread_space, parts));
    take_for_threads(c, arena, n_experts, offsetof(thread_space, ranks));
}

/* Room for the model's recurrent mixers; nothing where it has none. */
static void layout_recurrent(vouch_workspace *c, vouch_arena *arena)
{
    const size_t rows = (size_t)c->max_rows;
    size_t row = 0, inner = 0, rates = 0, head = 0, values = 0;
    for (int32_t l = 0; l < c->weights->hparams.n_layers; l++) {
        const vouch_recurrent *r = &c->weights->layers[l].recurrent;
        row = most(row, (size_t)vouch_recurrent_row(r));
        inner = most(inner, (size_t)r->out.n_in);
        rates = most(rates, most((size_t)(r->n_heads + vouch_recurrent_n_decays(r)), (size_t)r->select.n_out));
        head = most(head, (size_t)vouch_recurrent_head(r));
        values = most(values, (size_t)r->n_values);
    }
    if (row == 0) return;
    c->recurrent = vouch_arena_take(arena, rows * row, sizeof *c->recurrent);
    c->rates = vouch_arena_take(arena, rows * rates, sizeof *c->rates);
    c->inner = vouch_arena_take(arena, rows * inner, sizeof *c->inner);
    vouch_acts_layout(&c->inner_acts, rows, inner, c->needs, arena);
    take_for_threads(c, arena, VOUCH_STATE_LEVELS * head, offsetof(thread_space, states));
    take_for_threads(c, arena, values, offsetof(thread_space, y));
}

/* Room for hyper-connections; nothing where the model has none. */
static void layout_hyper(vouch_workspace *c, vouch_arena *arena)
{
    const vouch_hparams *h = &c->weights->hparams;
    const size_t rows = (size_t)c->max_rows, n = (size_t)h->hyper.n, width = n * (size_t)h->n_embd;
    if (n == 0) return;
    c->hyper.versions = vouch_arena_take(arena, rows * width, sizeof(float));
    c->hyper.connections = vouch_arena_take(arena, rows * (2 * n + n * n), sizeof(float));
    vouch_acts_layout(&c->hyper.acts, rows, width, c->needs, arena);
}

/* Room for adapters; nothing where the model has none. */
static void layout_adapters(vouch_workspace *c, vouch_arena *arena)
{
    const vouch_adapters *h = &c->weights->adapters;
    adapter_space *s = &c->adapters;
    const size_t rows = (size_t)c->max_rows, rank = (size_t)h->most_rank, n_slots = (size_t)h->n_slots;
    if (h->n == 0) return;
    s->scales = vouch_arena_take(arena, rows * (size_t)h->n, sizeof *s->scales);
    s->listed = vouch_arena_take(arena, (size_t)h->n, sizeof *s->listed);
    for (int i = 0; i < VOUCH_MOST_PARTS; i++) {
        s->low[i] = vouch_arena_take(arena, n_slots * rows * rank, sizeof *s->low[i]);
        s->acts[i] = vouch_arena_take(arena, n_slots, sizeof *s->acts[i]);
        for (size_t slot = 0; slot < n_slots; slot++) {
            vouch_acts counted = {0};
            vouch_acts_layout(s->acts[i] ? &s->acts[i][slot] : &counted, rows, rank, c->needs, arena);
        }
    }
    take_for_threads(c, arena, rows * VOUCH_EXPERT_UNIT, offsetof(thread_space, adapted));
}

/* Room for the model's RWKV mixers; nothing where it has none. */
static void layout_wkv(vouch_workspace *c, vouch_arena *arena)
{
    const size_t rows = (size_t)c->max_rows, n_embd = (size_t)c->weights->hparams.n_embd;
    size_t rank = 0, amounts = 0, values = 0, n_mixers = 0;
    for (int32_t l = 0; l < c->weights->hparams.n_layers; l++) {
        const vouch_recurrent *r = &c->weights->layers[l].recurrent;
        if (r->conv.n_channels == 0 || !vouch_recurrent_is_wkv(r)) continue;
        const vouch_matrix *const narrow[] = {&r->decay_low, &r->gate_low, &r->wkv.rate_low, &r->wkv.value_low};
        for (int i = 0; i < 4; i++) rank = most(rank, (size_t)narrow[i]->n_out);
        rank = most(rank, (size_t)r->wkv.amount.n_in);
        amounts = most(amounts, r->wkv.amount_low.n_out > 0 ? VOUCH_WKV6_INPUTS * n_embd : 0);
        values = most(values, r->kind == VOUCH_WKV7 ? (size_t)r->out.n_in : 0);
        n_mixers++;
    }
    if (n_mixers == 0) return;
    for (int i = 0; i < VOUCH_WKV_INPUTS; i++) {
        vouch_acts_layout(&c->wkv.inputs[i], rows, n_embd, c->needs, arena);
        vouch_acts_layout(&c->wkv.lows[i], rows, rank, c->needs, arena);
    }
    c->wkv.amounts = vouch_arena_take(arena, rows * amounts, sizeof(float));
    c->wkv.first_values = vouch_arena_take(arena, rows * values, sizeof(float));
}

static void layout_workspace(vouch_workspace *c, vouch_arena *arena)
{
    const widths w = find_widths(c->weights);
    const size_t n_versions = (size_t)c->weights->hparams.n_versions;
    const size_t rows = (size_t)c->max_rows, n_threads = (size_t)vouch_pool_size(c->pool);
    layout_rows(c, arena);
    c->x = vouch_arena_take(arena, rows * w.n_embd, sizeof(float));
    if (c->weights->layer_projection.n_out > 0) {
        c->layer_inputs = vouch_arena_take(arena, rows * (size_t)c->weights->layer_projection.n_out, sizeof(float));
        vouch_acts_layout(&c->layer_acts, rows, w.n_embd, c->needs, arena);
    }
    c->versions = vouch_arena_take(arena, n_versions * rows * w.n_embd, sizeof(float));
    layout_hyper(c, arena);
    c->kept_streams = vouch_arena_take(arena, (size_t)c->weights->output_depth.n_kept * rows * w.n_embd, sizeof(float));
    if (keeps_inputs(c->weights)) c->kept = vouch_arena_take(arena, rows * w.n_embd, sizeof(float));
    if (adds_first(c->weights)) c->first = vouch_arena_take(arena, rows * w.n_embd, sizeof(float));
    if (c->weights->hparams.stacks.n_layers > 0) {
        c->low_state = vouch_arena_take(arena, rows * w.n_embd, sizeof(float));
        c->high_state = vouch_arena_take(arena, rows * w.n_embd, sizeof(float));
    }
    if (has_both(c->weights)) c->beside = vouch_arena_take(arena, rows * w.n_embd, sizeof(float));
    if (has_detours(c->weights)) {
        c->branch = vouch_arena_take(arena, rows * w.n_embd, sizeof(float));
        c->branch_squares = vouch_arena_take(arena, rows * ((w.n_embd + 15) / 16), sizeof(float));
    }
    c->own_weights = vouch_arena_take(arena, rows * w.own, sizeof(float));
    c->q = vouch_arena_take(arena, rows * w.q, sizeof(float));
    c->k = vouch_arena_take(arena, rows * w.k, sizeof(float));
    c->v = vouch_arena_take(arena, rows * w.v, sizeof(float));
    c->gates = vouch_arena_take(arena, rows * w.gates, sizeof(float));
    c->mixed = vouch_arena_take(arena, rows * w.mixed, sizeof(float));
    c->low = vouch_arena_take(arena, rows * w.low, sizeof(float));
    c->heads = vouch_arena_take(arena, rows * w.heads, sizeof(float));
    c->gate = vouch_arena_take(arena, rows * w.n_ff, sizeof(float));
    c->up = vouch_arena_take(arena, rows * w.n_ff, sizeof(float));
    c->logits = vouch_arena_take(arena, (size_t)c->max_logits * (size_t)c->output->n_out, sizeof(float));
    c->squares = vouch_arena_take(arena, rows * ((w.n_embd + 15) / 16), sizeof(float));
    vouch_acts_layout(&c->acts, rows, w.in, c->needs, arena);
    vouch_acts_layout(&c->mixed_acts, rows, w.mixed, c->needs, arena);
    vouch_acts_layout(&c->low_acts, rows, w.low, c->needs, arena);
    vouch_acts_layout(&c->gated_acts, rows, w.n_ff, c->needs, arena);
    c->taps = vouch_arena_take(arena, (size_t)c->weights->hparams.n_layers, sizeof *c->taps);
    c->threads = vouch_arena_take(arena, n_threads, sizeof *c->threads);
    for (size_t t = 0; t < n_threads; t++) {
        thread_space counted = {0};
        layout_thread(c->threads ? &c->threads[t] : &counted, c, &w, arena);
    }
    layout_experts(c, arena);
    layout_recurrent(c, arena);
    layout_adapters(c, arena);
    layout_wkv(c, arena);
}

/* ----------------------------------------------------------------- recurrent rows */

const float *vouch_workspace_input(const vouch_workspace *c, const row_run *run, int32_t layer, int32_t number)
{
    const vouch_recurrent *r = &c->weights->layers[layer].recurrent;
    const vouch_states *states = &run->memory->states;
    const vouch_layer_state *state = &states->layers[layer];
    if (number >= run->first) return vouch_workspace_row(c, r, run->begin + (number - run->first));
    if (number >= 0) return state->inputs + number * vouch_recurrent_inputs(r);
    return vouch_layer_state_input(states, state, -number - row_run_n_kept(run));
}

/* ------------------------------------------------------------------- opening */

/* Forms of activations that the model's matrices ask for. A matrix that a layer lacks is of type 0, F32. */
static vouch_needs find_needs(const vouch_weights *w, const vouch_matrix *head)
{
    vouch_needs needs = vouch_type_needs(head->type) | vouch_type_needs(w->layer_projection.type) |
                        vouch_type_needs(w->last_read.weights.type);
    if (w->hparams.n_versions > 0) needs |= vouch_type_needs(w->spread.type) | vouch_type_needs(w->gather.type);
    for (int32_t l = 0; l < w->hparams.n_layers; l++) {
        const vouch_attention *a = &w->layers[l].attention;
        const vouch_latent *m = &a->latent;
        const vouch_feed_forward *f = &w->layers[l].ffn;
        const vouch_experts *e = &w->layers[l].experts;
        const vouch_recurrent *r = &w->layers[l].recurrent;
        /* clang-format off */
        const vouch_matrix *const all[] = {
            &m->low,         &m->up_k,   &m->up_v,    &w->layers[l].extra_ffn.gate, &w->layers[l].extra_ffn.down,
            &a->q,           &a->k,      &a->v,       &a->gate,  &a->o,     &f->gate,         &f->up,     &f->down,
            &e->router,      &e->gate,   &e->up,      &e->down,  &e->shared_gate, &e->shared.gate, &e->shared.up,
            &e->shared.down, &r->in[0],  &r->in[1],   &r->in[2], &r->factor, &r->rate,  &r->decay, &r->gate, &r->out,
            &r->select,      &r->step,   &r->decay_low, &r->gate_low, &w->layers[l].laurel.left,
            &r->wkv.amount_low, &r->wkv.amount, &r->wkv.rate_low, &r->wkv.value_low, &r->wkv.value,
            &w->layers[l].channel_mix.gate,
            &w->layers[l].laurel.right, &w->layers[l].mix.conv.weights, &w->layers[l].feed.conv.weights,
            &w->layers[l].mix.hyper.weights, &w->layers[l].feed.hyper.weights,
            &e->narrow,      &e->widen, &e->adjugates.gate, &e->adjugates.up, &e->adjugates.down};
        /* clang-format on */
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            if (all[i]->n_out > 0) needs |= vouch_type_needs(all[i]->type);
        const vouch_affine *const after[] = {&a->q_after,    &a->k_after,  &a->v_after,   &a->o_after,
                                             &f->gate_after, &f->up_after, &f->down_after};
        for (size_t i = 0; i < sizeof after / sizeof after[0]; i++)
            if (after[i]->lora) needs |= after[i]->lora->needs | after[i]->lora->low_needs;
    }
    return needs;
}

vouch_status vouch_workspace_open(vouch_workspace *c, const vouch_weights *weights, vouch_pool *pool,
                                  const vouch_workspace_options *options, vouch_error *err)
{
    const vouch_matrix *output = options->output ? options->output : weights->output;
    const int64_t n_positions = weights->positions.n_out;
    if (n_positions > 0 && options->n_ctx > n_positions)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "n_ctx: %d exceeds the %lld positions that the model has learned; use a smaller n_ctx",
                          options->n_ctx, (long long)n_positions);
    if (weights->hparams.n_ctx_most > 0 && options->n_ctx > weights->hparams.n_ctx_most)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "n_ctx: %d exceeds %d, up to which the model's sparse attention sees all tokens; use a "
                          "smaller n_ctx",
                          options->n_ctx, weights->hparams.n_ctx_most);
    *c = (vouch_workspace){.weights = weights,
                           .output = output,
                           .output_bias = options->output ? options->output_bias : weights->output_bias,
                           .n_ctx = options->n_ctx,
                           .pool = pool,
                           .n_slots = (options->n_ctx + VOUCH_TILE - 1) / VOUCH_TILE * VOUCH_TILE,
                           .max_rows = options->max_rows,
                           .max_logits = options->max_logits,
                           .needs = find_needs(weights, output)};
    vouch_arena arena = {0};
    layout_workspace(c, &arena);
    VOUCH_TRY(vouch_arena_allocate(&arena, "the workspace of a pass (use a smaller context)", err));
    layout_workspace(c, &arena);
    c->arena = arena;
    return VOUCH_OK;
}

void vouch_workspace_close(vouch_workspace *c)
{
    for (int32_t l = 0; c->taps && l < c->weights->hparams.n_layers; l++) vouch_arena_free(&c->taps[l].arena);
    vouch_arena_free(&c->arena);
}

/* The stream after the last layer stays in x. */
vouch_status vouch_workspace_open_tap(vouch_workspace *c, int32_t layer, vouch_error *err)
{
    const vouch_hparams *h = &c->weights->hparams;
    stream_tap *tap = &c->taps[layer];
    if (layer == h->n_layers - 1 || tap->x) return VOUCH_OK;
    vouch_arena arena = {0};
    vouch_arena_take(&arena, (size_t)c->max_rows * (size_t)h->n_embd, sizeof *tap->x);
    VOUCH_TRY(vouch_arena_allocate(&arena, "hidden states between layers (use a smaller prefill_chunk)", err));
    tap->x = vouch_arena_take(&arena, (size_t)c->max_rows * (size_t)h->n_embd, sizeof *tap->x);
    tap->arena = arena;
    return VOUCH_OK;
}

size_t vouch_workspace_bytes(const vouch_workspace *c)
{
    size_t bytes = c->arena.size;
    for (int32_t l = 0; l < c->weights->hparams.n_layers; l++) bytes += c->taps[l].arena.size;
    return bytes;
}
