/* SPDX-License-Identifier: MIT */
/* Opens and closes engines. */
#include "engine/engine.h"

#include <assert.h>
#include <stdlib.h>

#include "base/floats.h"
#include "engine/options.h"

/* ------------------------------------------------------------------- opening */

vouch_engine_options vouch_engine_options_default(void)
{
    return (vouch_engine_options){0};
}

static vouch_status resolve(vouch_engine_options *o, const vouch_model *model, vouch_error *err)
{
    VOUCH_TRY(vouch_model_need_weights(model, err));
    vouch_session_options session = vouch_session_options_default();
    session.n_ctx = o->n_ctx;
    session.prefill_chunk = o->prefill_chunk;
    session.kv_type = o->kv_type;
    VOUCH_TRY(vouch_options_resolve(&session, NULL, model, err));
    o->n_ctx = session.n_ctx;
    o->prefill_chunk = session.prefill_chunk;
    if (o->prefill_chunk < VOUCH_LEAST_CHUNK)
        return vouch_options_out_of_range(err, "prefill_chunk of an engine", o->prefill_chunk, VOUCH_LEAST_CHUNK, 512);
    if (o->n_sessions == 0) o->n_sessions = 8;
    if (o->n_sessions < 1 || o->n_sessions > VOUCH_ENGINE_SESSIONS)
        return vouch_options_out_of_range(err, "n_sessions", o->n_sessions, 1, VOUCH_ENGINE_SESSIONS);
    if (o->page_size == 0) o->page_size = VOUCH_SHARED_PAGE_SIZE;
    if (o->page_size < VOUCH_TILE || o->page_size > VOUCH_MOST_PAGE_SIZE || o->page_size % VOUCH_TILE != 0)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "page_size is %d, must be a multiple of %d, %d to %d", o->page_size,
                          VOUCH_TILE, VOUCH_TILE, VOUCH_MOST_PAGE_SIZE);
    const int64_t most = (int64_t)o->n_sessions * ((o->n_ctx + o->page_size - 1) / o->page_size) * o->page_size;
    if (o->n_cache == 0) o->n_cache = most;
    if (o->n_cache < o->n_ctx || o->n_cache > INT32_MAX)
        return vouch_options_out_of_range(err, "n_cache", o->n_cache, o->n_ctx, INT32_MAX);
    if (o->inter_token_seconds == 0) o->inter_token_seconds = 0.05;
    if (!(o->inter_token_seconds > 0 && o->inter_token_seconds <= 3600))
        return vouch_fail(err, VOUCH_E_ARGUMENT, "inter_token_seconds is %g, must be above 0 and at most 3600",
                          o->inter_token_seconds);
    return VOUCH_OK;
}

static void layout(vouch_engine *e, vouch_arena *arena)
{
    const size_t n = (size_t)e->options.n_sessions;
    e->sessions = vouch_arena_take(arena, n, sizeof(vouch_session *));
    e->shares = vouch_arena_take(arena, n, sizeof *e->shares);
    e->events = vouch_arena_take(arena, n, sizeof *e->events);
    e->rows = vouch_arena_take(arena, (size_t)e->max_rows, sizeof *e->rows);
}

/* Whether the context is so long that the model turns its keys by other angles. */
static bool has_long_angles(const vouch_engine *engine)
{
    const vouch_weights *w = engine->model->weights;
    bool has = false;
    for (int32_t i = 0; i < w->n_rotaries; i++)
        has |= w->rotaries[i].long_frequencies && engine->options.n_ctx > w->rotaries[i].n_ctx_short;
    return has;
}

vouch_record_model vouch_engine_record_model(const vouch_engine *engine)
{
    return (vouch_record_model){.digest = strtoull(engine->model->digest, NULL, 16),
                                .stamp = engine->model->stamp,
                                .kv_type = engine->options.kv_type,
                                .has_long_angles = has_long_angles(engine),
                                .page_size = (uint32_t)engine->options.page_size};
}

static vouch_status open_prefixes(vouch_engine *e, vouch_error *err)
{
    const vouch_engine_options *o = &e->options;
    const vouch_prefixes_options options = {.n_ctx = o->n_ctx,
                                            .n_states = o->n_sessions + 1,
                                            .cache = o->prompt_cache,
                                            .model = vouch_engine_record_model(e)};
    return vouch_prefixes_open(&e->prefixes, e->pages, &options, err);
}

static vouch_status open_parts(vouch_engine *e, vouch_error *err)
{
    const vouch_engine_options *o = &e->options;
    const vouch_weights *weights = e->model->weights;
    const vouch_pages_options pages = {
        .kv_type = o->kv_type,
        .page_size = o->page_size,
        .n_pages = (int32_t)((o->n_cache + o->page_size - 1) / o->page_size) + (o->n_sessions > 1 || !o->no_sharing)};
    const vouch_pass_options pass = {.n_ctx = o->n_ctx, .max_rows = e->max_rows, .max_logits = e->max_logits};
    vouch_arena arena = {0};
    layout(e, &arena);
    VOUCH_TRY(vouch_arena_allocate(&arena, "the engine", err));
    layout(e, &arena);
    e->arena = arena;
    VOUCH_TRY(vouch_pool_open(&e->pool, o->n_threads, err));
    e->draft_passes = (vouch_shared_passes){.pool = e->pool, .n_sequences = o->n_sessions};
    VOUCH_TRY(vouch_pages_open(&e->pages, weights, &pages, err));
    VOUCH_TRY(vouch_pass_open(&e->pass, weights, e->pool, &pass, err));
    if (!o->no_sharing) VOUCH_TRY(open_prefixes(e, err));
    vouch_weights_cost(weights, &e->cost);
    return VOUCH_OK;
}

vouch_status vouch_engine_open_parts(vouch_engine **out, const vouch_model *model, const vouch_engine_options *options,
                                     int32_t max_rows, int32_t max_logits, vouch_error *err)
{
    *out = NULL;
    vouch_engine *e = calloc(1, sizeof *e);
    if (!e) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for an engine");
    e->model = model;
    e->options = *options;
    e->max_rows = max_rows;
    e->max_logits = max_logits;
    const vouch_status status = open_parts(e, err);
    if (status == VOUCH_OK) *out = e;
    else vouch_engine_close(e);
    return status;
}

vouch_status vouch_engine_open(vouch_engine **out, const vouch_model *model, const vouch_engine_options *options,
                               vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    *out = NULL;
    vouch_engine_options o = options ? *options : vouch_engine_options_default();
    VOUCH_TRY(resolve(&o, model, err));
    const int32_t cycles = o.n_sessions + VOUCH_ENGINE_GUESSES; /* the most rows of cycles in a pass */
    return vouch_engine_open_parts(out, model, &o, cycles + o.prefill_chunk, cycles + VOUCH_LEAST_CHUNK, err);
}

void vouch_engine_close(vouch_engine *engine)
{
    if (!engine) return;
    vouch_prefixes_close(&engine->prefixes);
    vouch_pass_close(engine->pass);
    vouch_pages_close(engine->pages);
    vouch_pool_close(engine->pool);
    vouch_arena_free(&engine->arena);
    free(engine);
}

void vouch_engine_forget(vouch_engine *engine)
{
    vouch_prefixes_clear(&engine->prefixes);
}

const vouch_engine_stats *vouch_engine_get_stats(const vouch_engine *engine)
{
    return &engine->stats;
}

void vouch_engine_pass_seconds(const vouch_engine *engine, int32_t n, double *seconds)
{
    assert(n <= VOUCH_COST_ROWS);
    const double one = vouch_cost_seconds(&engine->cost);
    for (int32_t i = 0; i < n; i++) seconds[i] = one * vouch_cost_of(&engine->cost, i + 1);
}

size_t vouch_engine_memory(const vouch_engine *engine)
{
    return sizeof *engine + engine->arena.size + engine->prefixes.arena.size + vouch_pages_bytes(engine->pages) +
           vouch_pass_bytes(engine->pass) + vouch_shared_passes_bytes(&engine->draft_passes);
}
