/* SPDX-License-Identifier: MIT */
/*
 * The session half of the C API. A session owns one sequence and its memory, and connects the rooms:
 *
 *   decode   the cycle, over the session's target (target.h)
 *   draft    the drafter
 *   text     the stream that turns committed tokens into text
 *
 * Between calls target and drafter hold at most the first n_tokens - 1 tokens: the last one is the first row
 * of the next pass, whether a prompt, a cancelled prompt, an answer or a rejection ended with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/floats.h"
#include "draft/compose.h"
#include "draft/prediction.h"
#include "draft/registry.h"
#include "engine/history.h"
#include "engine/options.h"
#include "engine/session.h"
#include "engine/table.h"

enum {
    FEWEST_LOGITS = 16,
    CHECKPOINT_DISTANCE = 16 /* tokens from a checkpoint to the end of the prompt */
};

static vouch_finish commit_token(void *self, int32_t token)
{
    vouch_session *s = self;
    s->n_answer++;
    if (s->target.constraint)
        vouch_constraint_settle(s->target.constraint, VOUCH_FOLLOWER_JUDGE, s->cycle.tokens, s->cycle.n_tokens);
    const bool ends = s->model->tokenizer && vouch_tokenizer_ends_answer(s->model->tokenizer, token);
    if (ends && !s->options.ignore_eos) return VOUCH_FINISH_EOS;
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
    s->shape = (vouch_shape){
        .n = spec->n_draft, .depth = spec->tree_depth, .branches = spec->tree_branches};
    /* A paid drafter without free ones drafts n_draft guesses; composition weighs each guess against its cost. */
    if (spec->drafters & ~vouch_drafters_paid()) s->shape.cost = s->cost;
}

/* Without pace, a paid drafter beside free ones makes half of the guesses (n_paid). */
static void open_pace(vouch_session *s)
{
    const vouch_speculation *spec = &s->options.speculation;
    const vouch_drafters *drafters = &s->cycle.drafters;
    if (drafters->free.ops && drafters->paid.ops) s->cycle.n_paid = (spec->n_draft + 1) / 2;
    if (!s->is_paced) return;
    const vouch_pace_options options = {
        .has_paid = drafters->paid.ops,
        .paid_share = drafters->paid_share,
        .paid_at_once = drafters->paid_at_once,
        .cost = &s->engine->cost,
        .n_threads = vouch_pool_size(s->engine->pool)};
    vouch_pace_init(&s->pace, &options);
    s->cycle.pace = &s->pace;
}

static void layout_session(vouch_session *s, vouch_arena *arena)
{
    s->cycle.tokens = vouch_arena_take(arena, (size_t)s->options.n_ctx, sizeof *s->cycle.tokens);
    vouch_sampler_layout(&s->target.sampler, &s->options.sampling, s->model->info.n_vocab, s->model->weights->kernels,
                         arena);
    vouch_dist_layout(&s->target.p, s->model->info.n_vocab, arena);
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

static vouch_status open_drafters(vouch_session *s, int32_t branches, vouch_error *err)
{
    const vouch_session_options *o = &s->options;
    const vouch_model *draft = o->speculation.draft_model;
    const vouch_drafter_setup setup = {.speculation = &o->speculation,
                                       .sampling = &o->sampling,
                                       .seed = &s->seeded.seed,
                                       .n_ctx = o->n_ctx,
                                       .prefill_chunk = o->prefill_chunk,
                                       .kv_type = o->kv_type,
                                       .branches = branches,
                                       .draw_guess = vouch_rule_get(o->speculation.accept)->draw_guess,
                                       .constraint = s->target.constraint,
                                       .target = s->model->weights,
                                       .target_memory = s->target.memory,
                                       .target_tokens = vouch_model_vocabulary(s->model),
                                       .draft_model = draft ? draft->weights : NULL,
                                       .head = o->speculation.head ? o->speculation.head->weights : NULL,
                                       .table = o->speculation.table ? o->speculation.table->rows : NULL,
                                       .draft_tokens = draft ? vouch_model_vocabulary(draft) : (vouch_vocabulary){0},
                                       .passes = &s->engine->draft_passes};
    VOUCH_TRY(vouch_drafters_open(&s->cycle.drafters, o->speculation.drafters, &setup, s->is_paced, err));
    const int32_t *layers, n = vouch_drafters_taps(&s->cycle.drafters, &layers);
    for (int32_t i = 0; i < n; i++) VOUCH_TRY(vouch_pass_open_tap(s->engine->pass, layers[i], err));
    return VOUCH_OK;
}

/* Rows with logits that a pass must have room for: those of a cycle, or of a pass that vouch_session_time_pass
 * measures. */
static int32_t fewest_logits(const vouch_session_options *o)
{
    return o->speculation.n_draft < FEWEST_LOGITS ? FEWEST_LOGITS : o->speculation.n_draft + 1;
}

static vouch_status open_constraint(vouch_session *s, vouch_error *err)
{
    const vouch_trie *trie;
    if (!s->options.grammar) return VOUCH_OK;
    VOUCH_TRY(vouch_model_trie(&trie, s->model, err));
    return vouch_constraint_open(&s->target.constraint, s->options.grammar, trie, err);
}

static vouch_status open_parts(vouch_session *s, const vouch_session_options *given, vouch_error *err)
{
    const vouch_session_options *o = &s->options;
    VOUCH_TRY(open_memory(s, err));
    s->target.prefill_chunk = o->prefill_chunk;
    s->target.pass = s->engine->pass;
    VOUCH_TRY(vouch_memory_open(&s->target.memory, s->engine->pages, o->n_ctx, fewest_logits(o), err));
    VOUCH_TRY(vouch_stream_open(&s->stream, s->model->tokenizer, given->stop, given->n_stop, VOUCH_MAX_DRAFT + 1, err));
    VOUCH_TRY(open_constraint(s, err));
    const int32_t branches = given->speculation.tree_branches > 0 ? o->speculation.tree_branches : 1;
    return open_drafters(s, branches, err);
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
    cycle->stats = &s->stats;
    vouch_drafters_name(s->options.speculation.drafters, s->drafter_name, sizeof s->drafter_name);
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
    s->is_paced = vouch_options_want_pace(&given->speculation);
    vouch_status status = vouch_options_resolve(&s->options, s->model, err);
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
    VOUCH_TRY(vouch_options_resolve(&resolved, model, err));
    vouch_engine *engine;
    const int32_t max_logits = fewest_logits(&resolved);
    const vouch_pages_options pages = vouch_pages_for(resolved.n_ctx, resolved.kv_type);
    const vouch_engine_options own = {.n_sessions = 1,
                                      .n_ctx = resolved.n_ctx,
                                      .n_cache = (int64_t)pages.n_pages * pages.page_size,
                                      .page_size = pages.page_size,
                                      .no_sharing = true,
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
    return vouch_options_resolve(&resolved, model, err);
}

void vouch_session_close(vouch_session *session)
{
    if (!session) return;
    vouch_engine *engine = session->engine;
    int32_t at = 0;
    while (engine->sessions[at] != session) at++;
    for (engine->n_sessions--; at < engine->n_sessions; at++) engine->sessions[at] = engine->sessions[at + 1];
    vouch_drafters_close(&session->cycle.drafters);
    vouch_stream_close(session->stream);
    vouch_constraint_close(session->target.constraint);
    vouch_memory_close(session->target.memory);
    if (session->is_alone) vouch_engine_close(engine);
    vouch_arena_free(&session->arena);
    free(session);
}

/* -------------------------------------------------------------------- prompt */

static vouch_status check_prompt(const vouch_session *s, const int32_t *tokens, size_t n_tokens, vouch_error *err)
{
    if (n_tokens == 0) return vouch_fail(err, VOUCH_E_ARGUMENT, "the prompt is empty: at least one token is needed");
    if (n_tokens >= (size_t)s->options.n_ctx)
        return vouch_fail(err, VOUCH_E_CONTEXT,
                          "the prompt has %zu tokens, the context holds %d and needs one for the answer: shorten the "
                          "prompt or use a larger context",
                          n_tokens, s->options.n_ctx);
    for (size_t i = 0; i < n_tokens; i++)
        if (tokens[i] < 0 || tokens[i] >= s->model->info.n_vocab)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "token %zu of the prompt is %d, must be 0 to %d", i, tokens[i],
                              s->model->info.n_vocab - 1);
    return VOUCH_OK;
}

bool vouch_session_take_cancel(vouch_session *session)
{
    return atomic_exchange(&session->cancelled, false);
}

bool vouch_session_lacks(const vouch_session *session)
{
    return vouch_memory_n_tokens(session->target.memory) < session->cycle.n_tokens - 1;
}

/* The position at which recurrent layers get a checkpoint; 0: none. The next prompt of a conversation often differs
 * from this one in its last tokens, which open the answer. */
static int32_t checkpoint_of(const vouch_session *s)
{
    const int32_t at = s->cycle.n_tokens - 1 - CHECKPOINT_DISTANCE;
    return vouch_memory_is_recurrent(s->target.memory) && s->n_answer == 0 && at > 0 ? at : 0;
}

int32_t vouch_session_chunk(const vouch_session *session, int32_t most)
{
    const int32_t from = vouch_memory_n_tokens(session->target.memory), checkpoint = checkpoint_of(session);
    return vouch_min(from + most, from < checkpoint ? checkpoint : session->cycle.n_tokens - 1);
}

void vouch_session_filled(vouch_session *session, int32_t from, int32_t past, double seconds)
{
    vouch_session *s = session;
    const int32_t last = s->cycle.n_tokens - 1;
    if (past == checkpoint_of(s)) vouch_memory_checkpoint(s->target.memory);
    s->stats.prefill_seconds += seconds;
    if (s->n_answer > 0) return; /* the session had lost its pages: these tokens have run before */
    if (past > s->n_prompt_run) {
        vouch_cycle_observe(&s->cycle, from, past);
        s->stats.prompt_tokens += past - s->n_prompt_run;
        s->n_prompt_run = past;
        if (s->progress) s->progress(s->progress_user, (double)(past - s->n_reused) / (double)(last - s->n_reused));
    }
}

void vouch_session_abandon(vouch_session *session)
{
    vouch_session *s = session;
    s->answering = false;
    s->scores = (vouch_scores){0};
    if (s->n_answer > 0) return;
    if (s->n_seeded > 0) s->n_seeded--; /* no answer has begun; 0: a new seed has been set since */
    s->stats.prompt_tokens--;
    s->cycle.n_tokens = vouch_memory_n_tokens(s->target.memory) + 1;
    vouch_cycle_rewind(&s->cycle, s->cycle.n_tokens - 1);
}

/* Runs the prompt's tokens but the last, in chunks. A cancel takes effect after a chunk. */
static vouch_status prefill(vouch_session *s, vouch_error *err)
{
    while (vouch_session_lacks(s)) {
        const double start = vouch_now();
        const int32_t from = vouch_memory_n_tokens(s->target.memory);
        const int32_t past = vouch_session_chunk(s, s->options.prefill_chunk);
        vouch_engine_target_run(&s->target, s->cycle.tokens, past, 0);
        vouch_session_filled(s, from, past, vouch_now() - start);
        while (vouch_cycle_follow(&s->cycle, past) != VOUCH_STAGED_NONE) vouch_cycle_run(&s->cycle);
        if (vouch_session_take_cancel(s)) return vouch_fail(err, VOUCH_E_CANCELLED, "the prompt was cancelled");
    }
    return VOUCH_OK;
}

bool vouch_session_shares(const vouch_session *session)
{
    const int32_t *layers;
    return session->engine->prefixes.pages && !vouch_memory_is_recurrent(session->target.memory) &&
           vouch_drafters_taps(&session->cycle.drafters, &layers) == 0;
}

/* The sequence becomes these tokens. The cache keeps the beginning that the old and the new sequence share, or takes
 * over a longer one that other sequences have left. */
static void set_sequence(vouch_session *s, const int32_t *tokens, int32_t n)
{
    vouch_cycle *cycle = &s->cycle;
    vouch_memory *memory = s->target.memory;
    int32_t common = 0;
    const int32_t most = s->scores.out ? 0 : vouch_min(n, cycle->n_tokens); /* scores need all rows */
    while (common < most && tokens[common] == cycle->tokens[common]) common++;
    vouch_cycle_end_answer(cycle);
    vouch_cycle_rewind(cycle, vouch_min(common, n - 1));
    memmove(cycle->tokens, tokens, (size_t)n * sizeof *tokens);
    s->n_reused = vouch_memory_n_tokens(memory);
    if (vouch_session_shares(s) && !s->scores.out) {
        const int32_t before = s->n_reused;
        s->n_reused = vouch_prefixes_take(&s->engine->prefixes, memory, tokens, n - 1);
        s->engine->stats.shared_tokens += s->n_reused - before;
    }
    s->n_prompt_run = s->n_reused;
    cycle->n_tokens = n;
}

vouch_status vouch_session_prompt(vouch_session *session, const int32_t *tokens, size_t n_tokens, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    vouch_session *s = session;
    const vouch_scores scores = s->next_scores;
    s->next_scores = (vouch_scores){0}; /* where this prompt fails, the next one must not fill them */
    VOUCH_TRY(check_prompt(s, tokens, n_tokens, err));
    if (vouch_session_take_cancel(s)) return vouch_fail(err, VOUCH_E_CANCELLED, "the prompt was cancelled");
    s->scores = n_tokens > 1 ? scores : (vouch_scores){0};
    set_sequence(s, tokens, (int32_t)n_tokens);
    vouch_stream_reset(s->stream, tokens[n_tokens - 1]);
    if (s->target.constraint) vouch_constraint_begin(s->target.constraint, (int32_t)n_tokens, tokens[n_tokens - 1]);
    s->n_answer = 0;
    s->answering = true;
    s->stats.prompt_tokens++; /* the last one, which runs with the first cycle */
    vouch_cycle_begin_answer(&s->cycle);
    s->seeded.seed = vouch_seed_of_answer(s->seed, s->n_seeded++);
    if (!s->is_alone || prefill(s, err) == VOUCH_OK) return VOUCH_OK;
    vouch_session_abandon(s);
    return VOUCH_E_CANCELLED;
}

/* Asks for the count, then for the tokens, which are the caller's to free(). */
static vouch_status encode(const vouch_session *s, const char *text, size_t n_text, unsigned flags,
                           const vouch_message *messages, size_t n_messages, int32_t **out, size_t *n_tokens,
                           vouch_error *err)
{
    const vouch_model *model = s->model;
    size_t capacity = 0;
    int32_t *tokens = NULL;
    vouch_status status;
    vouch_error failure = {0}; /* hides the error of the first call, which only asks for the count */
    for (;;) {
        status = messages ? vouch_tokenize_chat(model, messages, n_messages, tokens, capacity, n_tokens, &failure)
                          : vouch_tokenize(model, text, n_text, flags, tokens, capacity, n_tokens, &failure);
        if (status != VOUCH_E_BUFFER) break;
        free(tokens);
        capacity = *n_tokens;
        tokens = calloc(capacity, sizeof *tokens);
        if (!tokens) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a text of %zu tokens", *n_tokens);
    }
    if (status != VOUCH_OK && err) *err = failure;
    if (status == VOUCH_OK) *out = tokens;
    else free(tokens);
    return status;
}

static vouch_status prompt_encoded(vouch_session *s, const char *text, size_t n_text, const vouch_message *messages,
                                   size_t n_messages, vouch_error *err)
{
    size_t n = 0;
    int32_t *tokens = NULL;
    vouch_status status = encode(s, text, n_text, VOUCH_TOKENIZE_BOS, messages, n_messages, &tokens, &n, err);
    if (status == VOUCH_OK) status = vouch_session_prompt(s, tokens, n, err);
    else s->next_scores = (vouch_scores){0};
    free(tokens);
    return status;
}

vouch_status vouch_session_text(vouch_session *session, const char *text, size_t n_text, vouch_error *err)
{
    return prompt_encoded(session, text, n_text, NULL, 0, err);
}

vouch_status vouch_session_chat(vouch_session *session, const vouch_message *messages, size_t n_messages,
                                vouch_error *err)
{
    if (!messages || n_messages == 0)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "a conversation needs at least one message");
    return prompt_encoded(session, NULL, 0, messages, n_messages, err);
}

/* ---------------------------------------------------- prediction and history */

static vouch_status find_source(const vouch_session *s, unsigned bit, const char *name, vouch_source *out,
                                vouch_error *err)
{
    *out = vouch_drafter_compose_source(s->cycle.drafters.free, bit);
    if (out->ops) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_ARGUMENT, "the drafters of this session are %s: %s is not among them",
                      s->drafter_name, name);
}

vouch_status vouch_session_predict(vouch_session *session, const char *text, size_t n_text, vouch_error *err)
{
    vouch_source source;
    int32_t *tokens = NULL;
    size_t n = 0;
    VOUCH_TRY(find_source(session, VOUCH_DRAFTER_PREDICTION, "prediction", &source, err));
    if (n_text > 0) VOUCH_TRY(encode(session, text, n_text, 0, NULL, 0, &tokens, &n, err));
    vouch_source_prediction_set(source, tokens, n);
    free(tokens);
    return VOUCH_OK;
}

vouch_status vouch_session_get_history(vouch_session *session, void *bytes, size_t capacity, size_t *n_bytes,
                                       vouch_error *err)
{
    const vouch_cycle *cycle = &session->cycle;
    vouch_source source;
    VOUCH_TRY(find_source(session, VOUCH_DRAFTER_HISTORY, "history", &source, err));
    source.ops->end(source.self, cycle->tokens, cycle->n_tokens);
    *n_bytes = vouch_history_size(source);
    if (capacity < *n_bytes)
        return vouch_fail(err, VOUCH_E_BUFFER, "the history has %zu bytes, there is room for %zu", *n_bytes, capacity);
    vouch_history_write(source, session->model, bytes);
    return VOUCH_OK;
}

vouch_status vouch_session_add_history(vouch_session *session, const void *bytes, size_t n_bytes, vouch_error *err)
{
    vouch_source source;
    VOUCH_TRY(find_source(session, VOUCH_DRAFTER_HISTORY, "history", &source, err));
    return vouch_history_read(source, session->model, bytes, n_bytes, err);
}

void vouch_session_set_progress(vouch_session *session, vouch_progress_fn fn, void *user)
{
    session->progress = fn;
    session->progress_user = user;
}

/* ---------------------------------------------------------------------- step */

void vouch_session_describe(vouch_session *session, const vouch_cycle_result *result, vouch_step *step)
{
    vouch_session *s = session;
    const vouch_cycle *cycle = &s->cycle;
    if (result->finish != VOUCH_FINISH_NONE) {
        s->answering = false;
        atomic_store(&s->cancelled, false); /* a cancel of this answer came too late; it must not reach the next one */
        vouch_stream_finish(s->stream);
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
                         .finish = result->finish};
}

vouch_status vouch_session_step(vouch_session *session, vouch_step *step, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    vouch_session *s = session;
    vouch_cycle *cycle = &s->cycle;
    *step = (vouch_step){0};
    if (!s->is_alone)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "vouch_session_step needs a session by itself; this one belongs to an "
                                                 "engine: call vouch_engine_step");
    if (!s->answering) return vouch_fail(err, VOUCH_E_ARGUMENT, "the answer is over or was never begun: give a prompt");
    if (vouch_session_take_cancel(s)) return vouch_fail(err, VOUCH_E_CANCELLED, "the answer was cancelled");
    vouch_cycle_result result;
    const vouch_status status =
        vouch_cycle_step(cycle, &s->shape, s->options.max_tokens - s->n_answer, &result);
    if (status != VOUCH_OK)
        return vouch_fail(err, status, "token %d of the sequence: %s", cycle->n_tokens, vouch_status_text(status));
    vouch_session_describe(s, &result, step);
    return VOUCH_OK;
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
    session->is_paused = is_paused;
}

void vouch_session_cancel(vouch_session *session)
{
    atomic_store(&session->cancelled, true);
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
