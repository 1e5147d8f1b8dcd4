/* SPDX-License-Identifier: MIT */
/*
 * A session opens, steps and closes. It owns one sequence and its memory, and connects the rooms:
 *
 *   decode   the cycle, over the session's target (target.h)
 *   draft    the drafter
 *   text     the stream that turns committed tokens into text
 *
 * prompt.c gives it its texts, and look.c reads its logits between two steps.
 *
 * Between calls target and drafter hold at most the first n_tokens - 1 tokens: the last one is the first row of the
 * next pass, whether a prompt, a cancelled prompt, an answer or a rejection ended with it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/floats.h"
#include "base/hash.h"
#include "draft/registry.h"
#include "engine/file/draft_memory.h"
#include "engine/options.h"
#include "engine/session.h"

enum { FEWEST_LOGITS = 16 }; /* so that vouch_session_time_pass can measure passes of up to 16 rows */

static vouch_finish commit_token(void *self, int32_t token)
{
    vouch_session *s = self;
    const int32_t n_thoughts = s->thinking.n;
    s->n_answer++;
    vouch_thoughts_step(&s->thoughts, &s->thinking, token);
    s->stats.thought_tokens += s->thinking.n - n_thoughts;
    if (s->target.constraint)
        vouch_constraint_settle(s->target.constraint, VOUCH_FOLLOWER_JUDGE, s->cycle.tokens, s->cycle.n_tokens);
    const bool ends = s->model->tokenizer && vouch_tokenizer_ends_answer(s->model->tokenizer, token);
    if (ends && (!s->options.ignore_eos || vouch_engine_target_must_end(&s->target))) return VOUCH_FINISH_EOS;
    if (vouch_stream_push(s->stream, token)) return VOUCH_FINISH_STOP;
    return s->n_answer == s->options.max_tokens ? VOUCH_FINISH_LENGTH : VOUCH_FINISH_NONE;
}

static void look_at_token(void *self, int32_t i, int32_t token, const float *logits)
{
    vouch_session *s = self;
    const int32_t n_top = s->options.top_logprobs;
    vouch_logprobs_of_row(logits, s->model->info.n_vocab, token, n_top, s->logprobs + (size_t)i * (size_t)(1 + n_top));
}

/* ------------------------------------------------------------------- opening */

static void fill_shape(vouch_session *s)
{
    const vouch_speculation *spec = &s->options.speculation;
    for (int32_t n = 1; n <= VOUCH_MAX_DRAFT + 1; n++) s->cost[n] = vouch_cost_default(n);
    s->shape = (vouch_shape){.n = spec->n_draft, .depth = spec->tree_depth, .branches = spec->tree_branches};
    /* A paid drafter without free ones drafts n_draft guesses; composition weighs each guess against its cost. */
    if (spec->drafters & ~vouch_drafters_paid()) s->shape.price.cost = s->cost;
}

/* Without pace, a paid drafter beside free ones makes half of the guesses (n_paid). */
static void open_pace(vouch_session *s)
{
    const vouch_speculation *spec = &s->options.speculation;
    const vouch_drafters *drafters = &s->cycle.drafters;
    if (drafters->free.ops && drafters->paid.ops) s->cycle.n_paid = (spec->n_draft + 1) / 2;
    if (!s->choice.is_paced) return;
    const vouch_pace_options options = {.has_paid = drafters->paid.ops,
                                        .paid_share = drafters->paid_share,
                                        .paid_at_once = drafters->paid_at_once,
                                        .cost = &s->engine->cost,
                                        .n_threads = vouch_pool_size(s->engine->pool)};
    vouch_pace_init(&s->pace, &options);
    s->cycle.pace = &s->pace;
}

/* The tokens that end an answer. min_tokens bans them at its beginning; a complete grammar leaves no others. */
static void layout_ends(vouch_session *s, vouch_arena *arena)
{
    const vouch_tokenizer *t = s->model->tokenizer;
    const bool is_asked = s->options.min_tokens > 0 || s->options.grammar;
    const int32_t n_vocab = is_asked && t ? vouch_tokenizer_size(t) : 0;
    int32_t n = 0;
    for (int32_t id = 0; id < n_vocab; id++) n += vouch_tokenizer_ends_answer(t, id);
    int32_t *ends = vouch_arena_take(arena, (size_t)n, sizeof *ends);
    s->target.ends = ends;
    s->target.n_ends = n;
    for (int32_t id = 0, i = 0; ends && id < n_vocab; id++)
        if (vouch_tokenizer_ends_answer(t, id)) ends[i++] = id;
}

static void layout_session(vouch_session *s, vouch_arena *arena)
{
    layout_ends(s, arena);
    s->embedding_row = vouch_arena_take(arena, (size_t)s->model->info.n_embd, sizeof *s->embedding_row);
    s->cycle.tokens = vouch_arena_take(arena, (size_t)s->options.n_ctx, sizeof *s->cycle.tokens);
    vouch_sampler_layout(&s->target.sampler, &s->options.sampling, s->model->info.n_vocab, s->options.n_ctx,
                         s->model->weights->kernels, arena);
    vouch_breakers_layout(&s->target.breakers, &s->options.sampling, s->model->tokenizer, s->model->info.n_vocab,
                          arena);
    s->target.sampler.breakers = &s->target.breakers;
    s->target.seed = &s->seeded.seed;
    vouch_dist_layout(&s->target.p, s->model->info.n_vocab, arena);
    s->scales = vouch_arena_take(arena, (size_t)s->model->info.n_adapters, sizeof *s->scales);
    if (s->options.logprobs)
        s->logprobs = vouch_arena_take(arena, (size_t)(VOUCH_MAX_DRAFT + 1) * (size_t)(1 + s->options.top_logprobs),
                                       sizeof *s->logprobs);
}

static vouch_status open_memory(vouch_session *s, vouch_error *err)
{
    vouch_arena arena = {0};
    layout_session(s, &arena);
    VOUCH_TRY(vouch_arena_allocate(&arena, "the session", err));
    s->arena = arena;
    layout_session(s, &s->arena);
    return VOUCH_OK;
}

static vouch_status open_drafters(vouch_session *s, vouch_error *err)
{
    const vouch_session_options *o = &s->options;
    const vouch_model *draft = o->speculation.draft_model;
    vouch_drafter_setup setup = {.speculation = &o->speculation,
                                 .sampling = &o->sampling,
                                 .breakers = &s->target.breakers,
                                 .seed = &s->seeded.seed,
                                 .n_ctx = o->n_ctx,
                                 .prefill_chunk = o->prefill_chunk,
                                 .kv_type = o->kv_type,
                                 .branches = s->choice.paid_branches,
                                 .draws_paths = vouch_rule_get(o->speculation.accept)->paths,
                                 .draw_guess = vouch_rule_get(o->speculation.accept)->draw_guess,
                                 .constraint = s->target.constraint,
                                 .target = s->model->weights,
                                 .target_memory = s->target.memory,
                                 .target_tokens = vouch_model_vocabulary(s->model),
                                 .draft_model = draft ? draft->weights : NULL,
                                 .draft_tokens = draft ? vouch_model_vocabulary(draft) : (vouch_vocabulary){0},
                                 .answers = s->answers,
                                 .scope = o->scope,
                                 .passes = &s->engine->draft_passes};
    const unsigned set = o->speculation.drafters;
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        setup.files[i] = o->speculation.files[i] ? o->speculation.files[i]->content : NULL;
    VOUCH_TRY(vouch_drafters_open(&s->cycle.drafters, set, &setup, s->choice.is_paced, err));
    const int32_t *layers, n = vouch_drafters_taps(&s->cycle.drafters, &layers);
    for (int32_t i = 0; i < n; i++) VOUCH_TRY(vouch_pass_open_tap(s->engine->pass, layers[i], err));
    return VOUCH_OK;
}

/* Rows with logits that a pass must have room for. */
static int32_t fewest_logits(const vouch_session_options *o)
{
    return o->speculation.n_draft < FEWEST_LOGITS ? FEWEST_LOGITS : o->speculation.n_draft + 1;
}

/* A banned token can't be forced. */
static vouch_status check_closing(const vouch_session *s, vouch_error *err)
{
    const vouch_sampling *p = &s->options.sampling;
    for (size_t i = 0; i < p->n_bias; i++)
        for (int32_t c = 0; c < s->thoughts.n_closing; c++)
            if (p->bias[i].token == s->thoughts.closing[c] && p->bias[i].bias == -INFINITY)
                return vouch_fail(err, VOUCH_E_ARGUMENT,
                                  "the budget of thoughts is %d, but logit_bias bans "
                                  "token %d, which ends them: leave out one of the two",
                                  s->options.thought_budget, p->bias[i].token);
    return VOUCH_OK;
}

static vouch_status open_constraint(vouch_session *s, vouch_error *err)
{
    const vouch_session_options *o = &s->options;
    const vouch_trie *trie = NULL;
    VOUCH_TRY(vouch_thoughts_open(&s->thoughts, s->model->tokenizer, o->thought_budget, o->grammar, err));
    const vouch_thoughts *thoughts = vouch_thoughts_bind(&s->thoughts) ? &s->thoughts : NULL;
    if (!o->grammar && !thoughts) return VOUCH_OK;
    VOUCH_TRY(check_closing(s, err));
    if (o->grammar) VOUCH_TRY(vouch_model_trie(&trie, s->model, err));
    return vouch_constraint_open(&s->target.constraint, o->grammar, trie, thoughts, s->model->info.n_vocab, err);
}

uint64_t vouch_page_scope(const vouch_model *model, uint64_t scope, const float *scales)
{
    for (int32_t i = 0; i < model->info.n_adapters; i++) {
        const float scale = scales ? scales[i] : 1;
        uint32_t bits;
        memcpy(&bits, &scale, sizeof bits);
        if (scale != 0) scope = vouch_hash_word(vouch_hash_word(scope, model->adapters[i]), bits);
    }
    return scope;
}

static void take_scales(vouch_session *s, const float *given)
{
    bool has_any = false;
    s->page_scope = vouch_page_scope(s->model, s->options.scope, given);
    for (int32_t i = 0; i < s->model->info.n_adapters; i++) {
        s->scales[i] = given ? given[i] : 1;
        has_any |= s->scales[i] != 0;
    }
    if (has_any) s->target.memory->scales = s->scales;
}

static vouch_status open_parts(vouch_session *s, const vouch_session_options *given, vouch_error *err)
{
    const vouch_session_options *o = &s->options;
    VOUCH_TRY(open_memory(s, err));
    s->target.prefill_chunk = o->prefill_chunk;
    s->target.pass = s->engine->pass;
    VOUCH_TRY(vouch_memory_open(&s->target.memory, s->engine->pages, o->n_ctx, fewest_logits(o), err));
    take_scales(s, given->adapter_scales);
    VOUCH_TRY(vouch_stream_open(&s->stream, s->model->tokenizer, given->stop, given->n_stop, VOUCH_MAX_DRAFT + 1, err));
    VOUCH_TRY(open_constraint(s, err));
    return open_drafters(s, err);
}

static vouch_status open_resolved(vouch_session *s, const vouch_session_options *given, vouch_error *err)
{
    VOUCH_TRY(open_parts(s, given, err));
    vouch_cycle *cycle = &s->cycle;
    cycle->target = vouch_engine_target_ops(&s->target);
    cycle->rule = vouch_rule_get(s->options.speculation.accept);
    s->seed = s->options.sampling.seed;
    s->seeded = (vouch_seeded_draw){s->seed, cycle->rule->draw};
    cycle->dice = vouch_dice_philox(&s->seeded);
    cycle->lenience = s->options.speculation.lenience;
    cycle->want_overlap = s->options.expected_acceptance;
    cycle->commit = commit_token;
    if (s->options.logprobs) cycle->look = look_at_token;
    cycle->commit_self = s;
    cycle->n_ctx = s->options.n_ctx;
    cycle->n_vocab = s->model->info.n_vocab;
    cycle->pass = &s->engine->last;
    cycle->stats = &s->stats;
    vouch_drafters_name(s->options.speculation.drafters, s->drafter_name);
    fill_shape(s);
    open_pace(s);
    return VOUCH_OK;
}

vouch_status vouch_session_join(vouch_session **out, vouch_engine *engine, const vouch_session_options *given,
                                vouch_error *err)
{
    *out = NULL;
    vouch_session *s = calloc(1, sizeof *s);
    if (!s) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a session");
    s->engine = engine;
    s->model = engine->model;
    s->options = *given;
    s->answers = given->speculation.draft_memory ? given->speculation.draft_memory->answers : NULL;
    const vouch_model *draft = given->speculation.draft_model;
    vouch_status status = vouch_options_resolve(&s->options, &s->choice, s->model, err);
    if (status == VOUCH_OK && draft) status = vouch_model_need_weights(draft, err);
    if (status == VOUCH_OK) status = open_resolved(s, given, err);
    engine->sessions[engine->n_sessions++] = s;
    if (status == VOUCH_OK) *out = s;
    else vouch_session_close(s);
    return status;
}

vouch_status vouch_session_open(vouch_session **out, const vouch_model *model, const vouch_session_options *options,
                                vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    *out = NULL;
    vouch_session_options o = options ? *options : vouch_session_options_default();
    vouch_session_options resolved = o;
    VOUCH_TRY(vouch_options_resolve(&resolved, NULL, model, err));
    VOUCH_TRY(vouch_model_need_weights(model, err));
    vouch_engine *engine;
    const int32_t max_logits = fewest_logits(&resolved);
    vouch_pages_options pages = vouch_pages_for(resolved.n_ctx, resolved.kv_type);
    if (o.prompt_cache) { /* pages of the size that engines have */
        pages.page_size = VOUCH_SHARED_PAGE_SIZE;
        pages.n_pages = (resolved.n_ctx + pages.page_size - 1) / pages.page_size;
    }
    const vouch_engine_options own = {.n_sessions = 1,
                                      .n_ctx = resolved.n_ctx,
                                      .n_cache = (int64_t)pages.n_pages * pages.page_size,
                                      .page_size = pages.page_size,
                                      .no_sharing = !o.prompt_cache,
                                      .prompt_cache = o.prompt_cache,
                                      .n_threads = resolved.n_threads,
                                      .prefill_chunk = resolved.prefill_chunk,
                                      .kv_type = resolved.kv_type};
    const int32_t max_rows = max_logits > resolved.prefill_chunk ? max_logits : resolved.prefill_chunk;
    VOUCH_TRY(vouch_engine_open_parts(&engine, model, &own, max_rows, max_logits, err));
    const vouch_status status = vouch_session_join(out, engine, &o, err);
    if (status == VOUCH_OK) (*out)->is_alone = true;
    else vouch_engine_close(engine);
    return status;
}

vouch_status vouch_session_check(const vouch_model *model, const vouch_session_options *options, vouch_error *err)
{
    vouch_session_options resolved = *options;
    return vouch_options_resolve(&resolved, NULL, model, err);
}

vouch_accept vouch_session_options_rule(const vouch_model *model, const vouch_session_options *options)
{
    vouch_session_options resolved = *options;
    const bool is_good = vouch_options_resolve(&resolved, NULL, model, NULL) == VOUCH_OK;
    return is_good ? resolved.speculation.accept : options->speculation.accept;
}

void vouch_session_close(vouch_session *session)
{
    if (!session) return;
    vouch_engine *engine = session->engine;
    int32_t at = 0;
    while (engine->sessions[at] != session) at++;
    for (engine->n_sessions--; at < engine->n_sessions; at++) engine->sessions[at] = engine->sessions[at + 1];
    vouch_session_remember(session);
    vouch_drafters_close(&session->cycle.drafters);
    vouch_stream_close(session->stream);
    vouch_constraint_close(session->target.constraint);
    vouch_thoughts_close(&session->thoughts);
    vouch_memory_close(session->target.memory);
    if (session->is_alone) vouch_engine_close(engine);
    vouch_arena_free(&session->arena);
    free(session);
}

/* ---------------------------------------------------------------------- step */

void vouch_session_remember(vouch_session *session)
{
    enum { LEAD = 16 }; /* tokens of the prompt that are kept before an answer, so that its first ones can be guessed */
    vouch_session *s = session;
    if (!s->answers || s->n_answer == 0 || s->is_remembered) return;
    s->is_remembered = true;
    /* The drafters learn from its last tokens before they can copy them from it. */
    vouch_drafters_observe(&s->cycle.drafters, s->cycle.tokens, s->cycle.n_tokens);
    const int32_t from = vouch_max(0, s->cycle.n_tokens - s->n_answer - LEAD);
    vouch_answers_add(s->answers, s->options.scope, s->cycle.tokens + from, s->cycle.n_tokens - from);
}

void vouch_session_describe(vouch_session *session, const vouch_cycle_result *result, vouch_step *step)
{
    vouch_session *s = session;
    const vouch_cycle *cycle = &s->cycle;
    if (result->finish != VOUCH_FINISH_NONE) {
        s->answering = false;
        atomic_store(&s->cancelled, false); /* a cancel of this answer came too late; it must not reach the next one */
        vouch_stream_finish(s->stream);
        vouch_session_remember(s);
    }
    const vouch_text text = vouch_stream_take(s->stream);
    *step = (vouch_step){.tokens = cycle->tokens + result->first,
                         .n_tokens = result->n,
                         .n_accepted = result->n_accepted,
                         .last = result->last,
                         .text = text.data,
                         .n_text = text.size,
                         .logprobs = s->logprobs,
                         .accept = s->options.speculation.accept,
                         .lenience = cycle->lenience,
                         .guesses = cycle->guesses,
                         .n_guesses = result->n_guesses,
                         .finish = result->finish,
                         .stop = vouch_stream_stop(s->stream)};
}

vouch_status vouch_session_step(vouch_session *session, vouch_step *step, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    vouch_session *s = session;
    *step = (vouch_step){0};
    if (!s->is_alone)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "vouch_session_step needs a session by itself; this one belongs to an "
                          "engine: call vouch_engine_step");
    if (!s->answering) return vouch_fail(err, VOUCH_E_ARGUMENT, "the answer is over or was never begun: give a prompt");
    if (vouch_session_take_cancel(s)) return vouch_fail(err, VOUCH_E_CANCELLED, "the answer was cancelled");
    while (vouch_engine_run(s->engine, 0) == 0) {} /* tokens that the cache has lost run first */
    const vouch_engine_event *event = s->engine->events;
    *step = event->step;
    if (event->status == VOUCH_OK) return VOUCH_OK;
    return vouch_fail(err, event->status, "token %d of the sequence: %s", s->cycle.n_tokens,
                      vouch_status_text(event->status));
}

vouch_status vouch_session_set_lenience(vouch_session *session, double lenience, vouch_error *err)
{
    VOUCH_TRY(vouch_options_check_lenience(session->cycle.rule, lenience, err));
    session->cycle.lenience = lenience;
    return VOUCH_OK;
}

void vouch_session_set_seed(vouch_session *session, uint64_t seed)
{
    session->seed = seed;
    session->n_seeded = 0;
}

void vouch_session_pause(vouch_session *session, bool is_paused)
{
    session->is_paused = is_paused && !session->is_alone;
}

void vouch_session_cancel(vouch_session *session)
{
    atomic_store(&session->cancelled, true);
}

bool vouch_session_take_cancel(vouch_session *session)
{
    return atomic_exchange(&session->cancelled, false);
}

void vouch_session_set_progress(vouch_session *session, vouch_progress_fn fn, void *user)
{
    session->progress = fn;
    session->progress_user = user;
}

/* ------------------------------------------------------------------- looking */

const int32_t *vouch_session_tokens(const vouch_session *session, size_t *n_tokens)
{
    *n_tokens = (size_t)session->cycle.n_tokens;
    return session->cycle.tokens;
}

const vouch_stats *vouch_session_stats(const vouch_session *session)
{
    return &session->stats;
}

void vouch_session_reset_stats(vouch_session *session)
{
    session->stats = (vouch_stats){0};
}

const char *vouch_session_rule(const vouch_session *session)
{
    return session->cycle.rule->name;
}

const char *vouch_session_drafter(const vouch_session *session)
{
    return session->drafter_name;
}

size_t vouch_session_drafter_memory(const vouch_session *session)
{
    const size_t passes = session->is_alone ? vouch_shared_passes_bytes(&session->engine->draft_passes) : 0;
    return vouch_drafters_memory(&session->cycle.drafters) + passes;
}

size_t vouch_session_memory(const vouch_session *session)
{
    const size_t engine = session->is_alone ? vouch_engine_memory(session->engine) : 0;
    return sizeof *session + session->arena.size + vouch_memory_bytes(session->target.memory) + engine +
           vouch_stream_memory(session->stream) + vouch_constraint_memory(session->target.constraint) +
           vouch_drafters_memory(&session->cycle.drafters);
}

const vouch_memory *vouch_session_target(const vouch_session *session)
{
    return session->target.memory;
}

vouch_drafters *vouch_session_get_drafters(vouch_session *session)
{
    return &session->cycle.drafters;
}
