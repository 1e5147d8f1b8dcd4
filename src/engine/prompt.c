/* SPDX-License-Identifier: MIT */
/*
 * The texts that a session is given: prompts, and a prediction that a drafter copies from.
 *
 * A prompt becomes the sequence. Its tokens but the last one run in chunks, in passes of the engine (schedule.c), until
 * target and drafter hold them. The last token is the first row of the first cycle.
 */
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/floats.h"
#include "draft/compose.h"
#include "draft/free/prediction.h"
#include "engine/session.h"

enum { CHECKPOINT_DISTANCE = 16 }; /* tokens from a checkpoint to the end of the prompt */

/* ------------------------------------------------------------------- chunks */

bool vouch_session_lacks(const vouch_session *session)
{
    return vouch_memory_n_tokens(session->target.memory) < session->cycle.n_tokens - 1;
}

/* Where a pass of the prompt stops, because recurrent layers get a copy of their states there: */
typedef struct stops {
    int32_t checkpoint; /* their checkpoint. The next prompt of a conversation often differs from this one in its last
                           tokens, which open the answer */
    int32_t pages[2];   /* copies for the table of prefixes: at the end of the last page before the checkpoint, and
                           where the prompt departs from others (prefixes.h) */
} stops;

/* 0: there is none. */
static stops stops_of(const vouch_session *s)
{
    const int32_t at = s->cycle.n_tokens - 1 - CHECKPOINT_DISTANCE, size = s->engine->pages->page_size;
    if (!vouch_memory_is_recurrent(s->target.memory) || s->n_answer > 0 || at <= 0) return (stops){0};
    if (!vouch_session_shares(s)) return (stops){.checkpoint = at};
    return (stops){.checkpoint = at, .pages = {at / size * size, s->branch}};
}

static int32_t stop_before(int32_t past, int32_t from, int32_t stop)
{
    return from < stop && stop < past ? stop : past;
}

int32_t vouch_session_chunk(const vouch_session *session, int32_t most)
{
    const int32_t from = vouch_memory_n_tokens(session->target.memory);
    const stops at = stops_of(session);
    int32_t past = vouch_min(from + most, session->cycle.n_tokens - 1);
    past = stop_before(past, from, at.checkpoint);
    for (int i = 0; i < 2; i++) past = stop_before(past, from, at.pages[i]);
    return past;
}

void vouch_session_filled(vouch_session *session, int32_t from, int32_t past, double seconds)
{
    vouch_session *s = session;
    const int32_t last = s->cycle.n_tokens - 1;
    if (past == stops_of(s).checkpoint) vouch_memory_checkpoint(s->target.memory);
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
    s->load_until = 0;
    s->scores = (vouch_scores){0};
    s->embedding = (vouch_embedding){0};
    if (s->n_answer > 0) return;
    if (s->n_seeded > 0) s->n_seeded--; /* no answer has begun; 0: a new seed has been set since */
    s->stats.prompt_tokens--;
    s->cycle.n_tokens = vouch_memory_n_tokens(s->target.memory) + 1;
    vouch_cycle_rewind(&s->cycle, s->cycle.n_tokens - 1);
}

/* A session by itself runs its prompt at once. A cancel takes effect after a chunk. */
static vouch_status run_prompt(vouch_session *s, vouch_error *err)
{
    const double moment = 0.1; /* seconds until it looks for a cancel */
    while (s->answering && (s->load_until > 0 || vouch_session_lacks(s))) {
        if (s->load_until > 0) vouch_session_load_pages(s, moment);
        else vouch_engine_run(s->engine, 0);
        if (!vouch_session_take_cancel(s)) continue;
        vouch_session_abandon(s);
        return vouch_fail(err, VOUCH_E_CANCELLED, "the prompt was cancelled");
    }
    return VOUCH_OK;
}

bool vouch_session_shares(const vouch_session *session)
{
    const int32_t *layers;
    return session->engine->prefixes.pages && vouch_drafters_taps(&session->cycle.drafters, &layers) == 0;
}

/* --------------------------------------------------------------------- pages */

static vouch_scoped_prefix prefix_of(const vouch_session *s, int32_t n)
{
    return (vouch_scoped_prefix){.scope = s->page_scope, .tokens = s->cycle.tokens, .n = n};
}

void vouch_session_take_pages(vouch_session *session)
{
    vouch_session *s = session;
    const vouch_scoped_prefix prompt = prefix_of(s, s->cycle.n_tokens - 1);
    const int32_t before = vouch_memory_n_tokens(s->target.memory);
    s->n_reused = vouch_prefixes_take(&s->engine->prefixes, s->target.memory, &prompt, &s->branch);
    s->engine->stats.shared_tokens += s->n_reused - before;
    s->n_prompt_run = s->n_reused;
}

void vouch_session_load_pages(vouch_session *session, double seconds)
{
    const vouch_scoped_prefix prompt = prefix_of(session, session->load_until);
    if (vouch_prefixes_load(&session->engine->prefixes, &prompt, seconds)) return;
    session->load_until = 0;
    vouch_session_take_pages(session);
}

void vouch_session_list_pages(const vouch_session *session, int32_t from)
{
    const vouch_session *s = session;
    const int32_t size = s->engine->pages->page_size, n = vouch_memory_n_tokens(s->target.memory);
    if (!vouch_session_shares(s) || s->embedding.out || n / size == from / size)
        return; /* a vector's text comes once */
    const stops at = stops_of(s);
    const vouch_scoped_prefix sequence = prefix_of(s, n);
    vouch_prefixes_add(&s->engine->prefixes, s->target.memory, &sequence, n == at.pages[0] || n == at.pages[1]);
}

/* ------------------------------------------------------------------ prompts */

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

/* The sequence becomes these tokens. The cache keeps the beginning that the old and the new sequence share, or takes
 * over a longer one that other sequences have left. */
static void set_sequence(vouch_session *s, const int32_t *tokens, int32_t n)
{
    vouch_cycle *cycle = &s->cycle;
    vouch_memory *memory = s->target.memory;
    int32_t common = 0;
    const bool needs_all = s->scores.out || s->embedding.out; /* rows */
    const int32_t most = needs_all ? 0 : vouch_min(n, cycle->n_tokens);
    while (common < most && tokens[common] == cycle->tokens[common]) common++;
    vouch_session_remember(s);
    vouch_cycle_end_answer(cycle);
    vouch_cycle_rewind(cycle, vouch_min(common, n - 1));
    memmove(cycle->tokens, tokens, (size_t)n * sizeof *tokens);
    cycle->n_tokens = n;
    s->n_reused = s->n_prompt_run = vouch_memory_n_tokens(memory);
    s->load_until = s->branch = 0;
    if (!vouch_session_shares(s) || needs_all) return;
    vouch_session_take_pages(s);
    const vouch_scoped_prefix prompt = prefix_of(s, n - 1);
    const int32_t kept = vouch_prefixes_kept(&s->engine->prefixes, &prompt);
    s->load_until = kept > s->n_reused ? kept : 0;
}

void vouch_session_begin_empty(vouch_session *session)
{
    vouch_session *s = session;
    vouch_session_remember(s);
    vouch_cycle_end_answer(&s->cycle);
    vouch_cycle_rewind(&s->cycle, 0);
    s->cycle.n_tokens = s->n_answer = s->load_until = 0;
    s->answering = false;
}

void vouch_session_take_sequence(vouch_session *session, const int32_t *tokens, int32_t n)
{
    memcpy(session->cycle.tokens, tokens, (size_t)n * sizeof *tokens);
    session->cycle.n_tokens = session->n_reused = session->n_prompt_run = n;
    const vouch_scoped_prefix sequence = prefix_of(session, n);
    if (vouch_session_shares(session))
        vouch_prefixes_add(&session->engine->prefixes, session->target.memory, &sequence, false);
}

vouch_status vouch_session_prompt(vouch_session *session, const int32_t *tokens, size_t n_tokens, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    vouch_session *s = session;
    const vouch_scores scores = s->next_scores;
    const vouch_embedding embedding = s->next_embedding;
    s->next_scores = (vouch_scores){0}; /* where this prompt fails, the next one must not fill them */
    s->next_embedding = (vouch_embedding){0};
    VOUCH_TRY(check_prompt(s, tokens, n_tokens, err));
    if (vouch_session_take_cancel(s)) return vouch_fail(err, VOUCH_E_CANCELLED, "the prompt was cancelled");
    s->scores = n_tokens > 1 ? scores : (vouch_scores){0};
    s->embedding = embedding;
    set_sequence(s, tokens, (int32_t)n_tokens);
    vouch_stream_reset(s->stream, tokens[n_tokens - 1]);
    if (s->target.constraint) vouch_constraint_begin(s->target.constraint, tokens, (int32_t)n_tokens);
    s->thinking = vouch_thoughts_begin(&s->thoughts, tokens, (int32_t)n_tokens);
    s->n_answer = 0;
    s->is_remembered = false;
    s->answering = true;
    s->target.earliest_end = s->options.min_tokens > 0 ? (int64_t)n_tokens + s->options.min_tokens : 0;
    s->stats.prompt_tokens++; /* the last one, which runs with the first cycle */
    vouch_cycle_begin_answer(&s->cycle);
    s->seeded.seed = vouch_seed_of_answer(s->seed, s->n_seeded++);
    return s->is_alone ? run_prompt(s, err) : VOUCH_OK;
}

/* -------------------------------------------------------------------- texts */

/* A conversation, or where that is NULL a text. */
typedef struct wording {
    const vouch_message *messages; /* [n_messages] */
    size_t n_messages;
    const char *text; /* [n_text] */
    size_t n_text;
    unsigned flags; /* of vouch_tokenize */
} wording;

/* Asks for the count, then for the tokens, which are the caller's to free(). */
static vouch_status encode(const vouch_model *model, const wording *w, int32_t **out, size_t *n_tokens,
                           vouch_error *err)
{
    size_t capacity = 0;
    int32_t *tokens = NULL;
    vouch_status status;
    vouch_error failure = {0}; /* hides the error of the first call, which only asks for the count */
    for (;;) {
        status = w->messages
                     ? vouch_tokenize_chat(model, w->messages, w->n_messages, tokens, capacity, n_tokens, &failure)
                     : vouch_tokenize(model, w->text, w->n_text, w->flags, tokens, capacity, n_tokens, &failure);
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

static vouch_status prompt_encoded(vouch_session *s, const wording *words, vouch_error *err)
{
    size_t n = 0;
    int32_t *tokens = NULL;
    vouch_status status = encode(s->model, words, &tokens, &n, err);
    if (status == VOUCH_OK) status = vouch_session_prompt(s, tokens, n, err);
    else s->next_scores = (vouch_scores){0};
    free(tokens);
    return status;
}

vouch_status vouch_session_text(vouch_session *session, const char *text, size_t n_text, vouch_error *err)
{
    return prompt_encoded(session, &(wording){.text = text, .n_text = n_text, .flags = VOUCH_TOKENIZE_BOS}, err);
}

vouch_status vouch_session_chat(vouch_session *session, const vouch_message *messages, size_t n_messages,
                                vouch_error *err)
{
    if (!messages || n_messages == 0)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "a conversation needs at least one message");
    return prompt_encoded(session, &(wording){.messages = messages, .n_messages = n_messages}, err);
}

/* --------------------------------------------------------------- prediction */

vouch_status vouch_session_predict(vouch_session *session, const char *text, size_t n_text, vouch_error *err)
{
    const unsigned set = vouch_drafter_needing(VOUCH_NEED_PREDICTION);
    const vouch_source source = vouch_drafter_compose_source(session->cycle.drafters.free, set);
    const wording words = {.text = text, .n_text = n_text};
    int32_t *tokens = NULL;
    size_t n = 0;
    if (!source.ops) {
        char names[VOUCH_DRAFTER_NAMES];
        vouch_drafters_name(set, names);
        return vouch_fail(err, VOUCH_E_ARGUMENT, "the drafters of this session are %s: %s is not among them",
                          session->drafter_name, names);
    }
    if (n_text > 0) VOUCH_TRY(encode(session->model, &words, &tokens, &n, err));
    vouch_source_prediction_set(source, tokens, n);
    free(tokens);
    return VOUCH_OK;
}
