/* SPDX-License-Identifier: MIT */
/* One pass for many sessions (engine.h has the picture). */
#include <assert.h>

#include "base/common.h"
#include "base/floats.h"
#include "engine/admit.h"
#include "engine/options.h"
#include "engine/session.h"

vouch_status vouch_engine_session_open(vouch_session **out, vouch_engine *engine, const vouch_session_options *options,
                                       vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    *out = NULL;
    const vouch_engine_options *engine_options = &engine->options;
    vouch_session_options o = options ? *options : vouch_session_options_default();
    if (engine->n_sessions == engine_options->n_sessions)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "%d sessions are open, all that n_sessions allows: close one first",
                          engine->n_sessions);
    if (o.n_ctx == 0) o.n_ctx = engine_options->n_ctx;
    if (o.n_ctx > engine_options->n_ctx)
        return vouch_options_out_of_range(err, "n_ctx of a session of this engine", o.n_ctx, 2, engine_options->n_ctx);
    o.n_threads = engine_options->n_threads;
    o.prefill_chunk = engine_options->prefill_chunk;
    o.kv_type = engine_options->kv_type;
    return vouch_session_join(out, engine, &o, err);
}

/* --------------------------------------------------------------------- pages */

/* Has the session something to do in the next pass? */
static bool has_work(const vouch_session *s)
{
    return s->answering && !s->is_paused;
}

/* Drops the pages of one session other than `mine`: of one that has nothing to do, or else of the last one among
 * sessions[first, n_sessions) that holds any. False: none holds any. */
static bool preempt(vouch_engine *e, const vouch_session *mine, int32_t first)
{
    vouch_session *last = NULL;
    for (int32_t i = 0; i < e->n_sessions && !(last && !has_work(last)); i++) {
        vouch_session *s = e->sessions[i];
        if (s != mine && s->target.memory->n_pages > 0 && (i >= first || !has_work(s))) last = s;
    }
    if (!last) return false;
    vouch_memory_rewind(last->target.memory, 0);
    e->stats.preemptions += last->answering;
    return true;
}

/* Reserves pages for n rows of a session. Where pages run short, takes pages that no sequence owns, then pages of
 * sessions that have nothing to do, then those of other sessions from number `first` on. */
static bool reserve(vouch_engine *e, vouch_session *s, int32_t n, int32_t first)
{
    while (!vouch_memory_reserve(s->target.memory, n))
        if (!(e->prefixes.pages && vouch_prefixes_forget(&e->prefixes)) && !preempt(e, s, first)) return false;
    return true;
}

void vouch_engine_make_room(vouch_engine *engine, vouch_session *session, int32_t n)
{
    const bool has_room = n <= 0 || reserve(engine, session, n, 0);
    assert(has_room); /* n_cache is at least n_ctx */
    (void)has_room;
}

/* ---------------------------------------------------------------------- plan */

/* Counts the sessions that decode, and the sessions whose tokens the cache lacks. */
static void count_work(const vouch_engine *e, int32_t *n_decoding, int32_t *n_lacking)
{
    *n_decoding = *n_lacking = 0;
    for (int32_t i = 0; i < e->n_sessions; i++) {
        const vouch_session *s = e->sessions[i];
        if (has_work(s)) ++*(vouch_session_lacks(s) ? n_lacking : n_decoding);
    }
}

/* Rows of prompts that this pass takes beside n_decoding sessions. */
static int32_t prompt_rows(const vouch_engine *e, int32_t n_decoding)
{
    const int32_t most = e->options.prefill_chunk;
    if (n_decoding == 0 || e->prompt_seconds == 0) return most;
    const double cycles = vouch_cost_seconds(&e->cost) * vouch_cost_of(&e->cost, n_decoding);
    const double n = (e->options.inter_token_seconds - cycles) / e->prompt_seconds;
    return n < VOUCH_LEAST_CHUNK ? VOUCH_LEAST_CHUNK : n > most ? most : (int32_t)n;
}

/* The limits of a session's draft beside `others` sequences. Guesses of a paid drafter have cost their time when
 * admission could leave them out, and drawn ones have to stay. So each session with a paid drafter gets an equal part
 * of VOUCH_ENGINE_GUESSES. (Without these parts, where nothing is drawn, 16 and 32 sequences are 2 % slower.) */
static vouch_shape shape_beside(const vouch_session *s, int32_t others)
{
    vouch_shape most = s->shape;
    most.price.others = others;
    most.n = vouch_min(most.n, s->cycle.n_ctx - s->cycle.n_tokens - 1);
    if (others > 0 && s->cycle.drafters.paid.ops) most.n = vouch_min(most.n, VOUCH_ENGINE_GUESSES / (others + 1));
    return most;
}

/* The rows of prompts that the pass has room for, and the sessions that want them. */
typedef struct prompt_room {
    int32_t rows, scored_rows; /* scored_rows: rows that can have logits */
    int32_t n_sessions;        /* 0 or less: only sessions that have just lost their pages are left */
} prompt_room;

/* The turn of session i, which decodes beside `others`: a cycle, without guesses where pages for them are short. False:
 * it has to wait. */
static bool take_cycle(vouch_engine *e, int32_t i, int32_t others, vouch_turn *turn)
{
    turn->is_cycle = true;
    turn->most = shape_beside(turn->session, others);
    if (reserve(e, turn->session, turn->most.n + 1, i + 1)) return true;
    turn->most.n = 0;
    return reserve(e, turn->session, 1, i + 1);
}

/* The turn of session i, whose tokens the cache lacks: the next chunk. All sessions get equal parts of the room, and
 * later ones also the rows that earlier ones don't need. False: it has to wait. */
static bool take_chunk(vouch_engine *e, int32_t i, prompt_room *room, vouch_turn *turn)
{
    const int32_t equal = room->n_sessions > 0 ? room->rows / room->n_sessions : 0;
    int32_t part = equal > VOUCH_LEAST_CHUNK ? equal : vouch_min(room->rows, VOUCH_LEAST_CHUNK);
    room->n_sessions--;
    turn->is_scored = vouch_session_is_scored(turn->session);
    if (turn->is_scored) part = vouch_min(part, room->scored_rows);
    turn->past = vouch_session_chunk(turn->session, part);
    const int32_t n = turn->past - turn->from;
    if (part == 0 || !reserve(e, turn->session, n, i + 1)) return false;
    room->rows -= n;
    room->scored_rows -= turn->is_scored ? n : 0;
    return true;
}

/* Gives turns to the sessions in the order in which they joined, and pages to the turns. A turn keeps its pages:
 * only sessions that joined later, which have no turn yet, can lose theirs. */
static int32_t take_turns(vouch_engine *e)
{
    int32_t n_decoding, n_turns = 0;
    prompt_room room;
    count_work(e, &n_decoding, &room.n_sessions);
    room.rows = prompt_rows(e, n_decoding);
    /* At least VOUCH_LEAST_CHUNK. */
    room.scored_rows = e->max_logits - n_decoding - (n_decoding > 0 ? VOUCH_ENGINE_GUESSES : 0);
    for (int32_t i = 0; i < e->n_sessions; i++) {
        vouch_session *s = e->sessions[i];
        if (!has_work(s)) continue;
        vouch_turn turn = {.session = s, .from = vouch_memory_n_tokens(s->target.memory)};
        const bool has_turn = vouch_session_lacks(s) ? take_chunk(e, i, &room, &turn)
                                                     : take_cycle(e, i, n_decoding - 1, &turn);
        if (has_turn) e->turns[n_turns++] = turn;
    }
    return n_turns;
}

/* ------------------------------------------------------------- side by side */

typedef void turn_fn(vouch_engine *e, int32_t turn);
typedef bool turn_test(const vouch_turn *turn);

typedef struct turn_work {
    vouch_engine *engine;
    turn_fn *run;
    turn_test *test;
} turn_work;

static void run_turns(void *arg, vouch_pool *team, int32_t thread)
{
    const turn_work *w = arg;
    vouch_work work = vouch_pool_share(team, thread, w->engine->n_turns, 1);
    while (vouch_work_next(&work))
        for (int64_t i = work.begin; i < work.end; i++)
            if (w->test(&w->engine->turns[i])) w->run(w->engine, (int32_t)i);
}

/* Runs a function for each turn that passes a test, on all threads. */
static void side_by_side(vouch_engine *e, turn_fn *run, turn_test *test)
{
    int32_t n = 0, last = -1;
    for (int32_t i = 0; i < e->n_turns; i++)
        if (test(&e->turns[i])) n++, last = i;
    turn_work work = {.engine = e, .run = run, .test = test};
    if (n > 1) vouch_pool_run(e->pool, run_turns, &work);
    else if (n == 1) run(e, last);
}

static bool is_cycle(const vouch_turn *turn)
{
    return turn->is_cycle;
}

/* Must the turn's drafters be told of a cycle's end in the caller's thread? A caller's drafter stays in it. A head that
 * gets hidden states may run a pass, which needs all threads. */
static bool is_told_apart(const vouch_turn *turn)
{
    const vouch_drafter_ops *paid = turn->session->cycle.drafters.paid.ops;
    return turn->is_cycle && paid && (paid->bit == VOUCH_DRAFTER_CUSTOM || paid->hidden);
}

static bool is_told_beside(const vouch_turn *turn)
{
    return turn->is_cycle && !is_told_apart(turn);
}

/* Its drafter has staged rows. */
static bool has_rows(const vouch_turn *turn)
{
    return turn->staging == VOUCH_STAGED_ROWS;
}

/* Runs what the drafters have staged: one pass for each draft model. */
static void run_staged(vouch_engine *e)
{
    for (int32_t i = 0; i < e->n_turns; i++)
        if (has_rows(&e->turns[i])) vouch_cycle_run(&e->turns[i].session->cycle);
}

/* --------------------------------------------------------------------- draft */

static void begin(vouch_engine *e, int32_t i)
{
    vouch_turn *turn = &e->turns[i];
    vouch_session *s = turn->session;
    vouch_cycle_begin(&s->cycle, &turn->most, s->options.max_tokens - s->n_answer);
    turn->staging = VOUCH_STAGED_FULL; /* nothing is staged yet */
}

static void grow(vouch_engine *e, int32_t i)
{
    vouch_cycle_grow(&e->turns[i].session->cycle);
}

static void end(vouch_engine *e, int32_t i)
{
    vouch_cycle_end(&e->turns[i].session->cycle);
}

/* Stages the next level of the sessions whose drafts are not complete, as far as the passes have room. Returns the
 * number of sessions that have staged rows. */
static int32_t stage_levels(vouch_engine *e)
{
    int32_t n = 0, n_waiting = 0;
    for (int32_t i = 0; i < e->n_turns; i++) {
        vouch_turn *turn = &e->turns[i];
        if (!turn->is_cycle || turn->staging == VOUCH_STAGED_NONE) continue;
        turn->staging = vouch_cycle_stage(&turn->session->cycle);
        n += has_rows(turn);
        n_waiting += turn->staging == VOUCH_STAGED_FULL;
    }
    assert(n > 0 || n_waiting == 0); /* an empty pass has room for a level of any session */
    return n;
}

/* Lets the pace of each session decide how much to draft, as if all sessions that ask their paid drafters shared the
 * passes. Where a session then doesn't ask, the others bear larger parts of the passes, so they decide again. */
static void choose(vouch_engine *e)
{
    int32_t n_asking = e->n_turns, n_before;
    do {
        n_before = n_asking;
        n_asking = 0;
        for (int32_t i = 0; i < e->n_turns; i++)
            if (e->turns[i].is_cycle) n_asking += vouch_cycle_choose(&e->turns[i].session->cycle, n_before);
    } while (n_asking > 0 && n_asking < n_before);
}

/* All sessions draft. One pass of each draft model runs the next level of all sessions that draft with it. */
static void run_levels(vouch_engine *e)
{
    side_by_side(e, begin, is_cycle);
    choose(e);
    while (stage_levels(e) > 0) {
        run_staged(e);
        side_by_side(e, grow, has_rows);
    }
    side_by_side(e, end, is_cycle);
}

/* Lets the sessions draft, and cuts the drafts to the guesses that pay. */
static void draft(vouch_engine *e)
{
    vouch_offer offers[VOUCH_ENGINE_SESSIONS];
    int32_t n = 0, n_fixed = 0;
    const double start = vouch_now(), pass = vouch_cost_seconds(&e->cost);
    run_levels(e);
    const double spent = pass > 0 ? (vouch_now() - start) / pass : 0;
    for (int32_t i = 0; i < e->n_turns; i++) {
        const vouch_cycle *cycle = &e->turns[i].session->cycle;
        if (!e->turns[i].is_cycle) continue;
        offers[n] = (vouch_offer){
            .expected = cycle->draft.expected, .n = cycle->draft.n, .n_fixed = vouch_cycle_n_fixed(cycle)};
        n_fixed += offers[n++].n_fixed;
    }
    vouch_admit(offers, n, VOUCH_ENGINE_GUESSES - n_fixed, &e->cost, spent);
    for (int32_t i = 0, o = 0; i < e->n_turns; i++)
        if (e->turns[i].is_cycle) vouch_cycle_cut(&e->turns[i].session->cycle, offers[o++].n_admitted);
}

/* ---------------------------------------------------------------------- pass */

/* Lists the rows of all turns, and sets first_row and first_logits of each target. Returns the number of rows;
 * *n_cycle_rows of them belong to cycles. */
static int32_t list_rows(vouch_engine *e, int32_t *n_cycle_rows)
{
    int32_t n = 0, n_logits = 0;
    *n_cycle_rows = 0;
    for (int32_t i = 0; i < e->n_turns; i++) {
        const vouch_turn *turn = &e->turns[i];
        vouch_session *s = turn->session;
        vouch_engine_target *target = &s->target;
        target->first_row = n;
        target->first_logits = n_logits;
        if (turn->is_cycle) {
            const vouch_cycle *cycle = &s->cycle;
            const int32_t rows =
                vouch_engine_target_rows(target, cycle->tokens, cycle->n_tokens, &cycle->draft, e->rows + n);
            n += rows;
            n_logits += rows;
            *n_cycle_rows += rows;
        } else {
            const int32_t rows = vouch_engine_target_chunk(target, s->cycle.tokens, turn->from, turn->past,
                                                           turn->is_scored, e->rows + n);
            n += rows;
            n_logits += turn->is_scored ? rows : 0;
        }
    }
    return n;
}

static void learn_prompt_seconds(vouch_engine *e, double seconds, int32_t n_cycle_rows, int32_t n_prompt_rows)
{
    const double cycles =
        n_cycle_rows > 0 ? vouch_cost_seconds(&e->cost) * vouch_cost_of(&e->cost, n_cycle_rows) : 0;
    const double each = (seconds > cycles ? seconds - cycles : 0) / n_prompt_rows;
    e->prompt_seconds += (e->prompt_seconds > 0 ? 0.2 : 1) * (each - e->prompt_seconds);
}

/* Adds the pages that the turn has filled to the table of prefixes. */
static void list_pages(vouch_engine *e, const vouch_turn *turn)
{
    const vouch_session *s = turn->session;
    const int32_t size = e->pages->page_size, n = vouch_memory_n_tokens(s->target.memory);
    if (vouch_session_shares(s) && n / size > turn->from / size)
        vouch_prefixes_add(&e->prefixes, s->target.memory, s->cycle.tokens, n);
}

static void finish(vouch_engine *e, int32_t i)
{
    vouch_turn *turn = &e->turns[i];
    vouch_session *s = turn->session;
    vouch_engine_event *event = &turn->event;
    turn->n_drafted = s->stats.drafted;
    *event = (vouch_engine_event){.session = s, .status = vouch_cycle_finish(&s->cycle, &e->last, &turn->result)};
    if (event->status == VOUCH_OK) vouch_session_describe(s, &turn->result, &event->step);
    else s->answering = false;
}

/* The part of finishing that all sessions share. */
static void count_cycle(vouch_engine *e, const vouch_turn *turn)
{
    if (turn->event.status != VOUCH_OK) return;
    e->stats.generated_tokens += turn->result.n;
    e->stats.accepted += turn->result.n_accepted;
    e->stats.drafted += turn->session->stats.drafted - turn->n_drafted;
    list_pages(e, turn);
}

static void finish_prompt(vouch_engine *e, const vouch_turn *turn, double seconds)
{
    vouch_session *s = turn->session;
    vouch_session_filled(s, turn->from, turn->past, seconds);
    list_pages(e, turn);
}

/* Fills the scores of a prompt's part. True with an event: the prompt is scored, or has failed. */
static bool finish_scores(const vouch_turn *turn, vouch_engine_event *event)
{
    vouch_session *s = turn->session;
    if (!turn->is_scored) return false;
    const vouch_status status = vouch_session_read_scores(s, turn->from, turn->past);
    if (status != VOUCH_OK) vouch_session_abandon(s);
    if (vouch_session_is_scored(s)) return false; /* more parts follow */
    *event = (vouch_engine_event){.session = s, .status = status};
    return true;
}

/* The paid drafters follow the rows of prompts. One pass of each draft model runs the rows of all sessions. */
static void follow_prompts(vouch_engine *e)
{
    for (int32_t n = 1; n > 0; run_staged(e)) {
        n = 0;
        for (int32_t i = 0; i < e->n_turns; i++) {
            vouch_turn *turn = &e->turns[i];
            turn->staging = turn->is_cycle ? VOUCH_STAGED_NONE : vouch_cycle_follow(&turn->session->cycle, turn->past);
            n += has_rows(turn);
        }
    }
}

/* Finishes all turns and appends the events of cycles to the n_events that there are. Returns their number. */
static size_t finish_turns(vouch_engine *e, size_t n_events)
{
    side_by_side(e, finish, is_told_beside);
    for (int32_t i = 0; i < e->n_turns; i++) {
        const vouch_turn *turn = &e->turns[i];
        if (is_told_apart(turn)) finish(e, i);
        if (turn->is_cycle) {
            count_cycle(e, turn);
            e->events[n_events++] = turn->event;
        } else {
            finish_prompt(e, turn, e->last.seconds);
        }
    }
    follow_prompts(e);
    for (int32_t i = 0; i < e->n_turns; i++) n_events += finish_scores(&e->turns[i], &e->events[n_events]);
    return n_events;
}

/* Ends the answers of cancelled sessions. */
static size_t take_cancels(vouch_engine *e)
{
    size_t n = 0;
    for (int32_t i = 0; i < e->n_sessions; i++) {
        vouch_session *s = e->sessions[i];
        if (!s->answering || !vouch_session_take_cancel(s)) continue;
        vouch_session_abandon(s);
        e->events[n++] = (vouch_engine_event){.session = s, .status = VOUCH_E_CANCELLED};
    }
    return n;
}

bool vouch_engine_step(vouch_engine *engine, const vouch_engine_event **events, size_t *n_events)
{
    VOUCH_DEFAULT_FLOATS();
    vouch_engine *e = engine;
    const double start = vouch_now();
    *events = e->events;
    *n_events = take_cancels(e);
    e->n_turns = take_turns(e);
    if (e->n_turns == 0) return *n_events > 0;

    draft(e);
    int32_t n_cycle_rows;
    const int32_t n_rows = list_rows(e, &n_cycle_rows), n_prompt_rows = n_rows - n_cycle_rows;
    const double begin = vouch_now();
    vouch_pass_run(e->pass, e->rows, n_rows);
    e->last = (vouch_cycle_pass){
        .seconds = vouch_now() - begin, .n_rows = n_cycle_rows, .prompt_seconds = e->prompt_seconds * n_prompt_rows};
    *n_events = finish_turns(e, *n_events);
    if (n_prompt_rows > 0) learn_prompt_seconds(e, e->last.seconds, n_cycle_rows, n_prompt_rows);
    else vouch_cost_learn(&e->cost, n_rows, e->last.seconds);
    e->stats.passes++;
    e->stats.draft_passes = e->draft_passes.n_runs;
    e->stats.draft_rows = e->draft_passes.n_rows;
    e->stats.rows += n_rows;
    e->stats.prompt_rows += n_prompt_rows;
    e->stats.seconds += vouch_now() - start;
    return true;
}
