/* SPDX-License-Identifier: MIT */
/* Drives the cycles of all sessions of an engine, and the prompts beside them (engine.h has the picture). */
#include <assert.h>
#include <math.h>

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

/* Frees pages that no sequence needs. */
static bool free_pages(vouch_engine *e)
{
    vouch_prefixes *p = &e->prefixes;
    return p->pages && (vouch_prefix_files_take_back(p, false) > 0 || vouch_prefixes_forget(p) ||
                        vouch_prefix_files_take_back(p, true) > 0);
}

/* Reserves pages for n rows of a session. Where pages run short, takes pages that no sequence owns, then pages of
 * sessions that have nothing to do, then those of other sessions from number `first` on. */
static bool reserve(vouch_engine *e, vouch_session *s, int32_t n, int32_t first)
{
    while (!vouch_memory_reserve(s->target.memory, n))
        if (!free_pages(e) && !preempt(e, s, first)) return false;
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
        if (has_work(s) && s->load_until == 0) ++*(vouch_session_lacks(s) ? n_lacking : n_decoding);
    }
}

/* Seconds of a pass that prompts may take beside n_decoding sessions. */
static double prompt_room_seconds(const vouch_engine *e, int32_t n_decoding)
{
    if (n_decoding == 0) return INFINITY;
    return e->options.inter_token_seconds - vouch_cost_seconds(&e->cost) * vouch_cost_of(&e->cost, n_decoding);
}

/* Rows of prompts that this pass takes beside n_decoding sessions; seconds of their time are spent already. */
static int32_t prompt_rows(const vouch_engine *e, int32_t n_decoding, double seconds)
{
    const int32_t most = e->options.prefill_chunk;
    if (n_decoding == 0 || e->prompt_seconds == 0) return most;
    const double n = (prompt_room_seconds(e, n_decoding) - seconds) / e->prompt_seconds;
    return n < VOUCH_LEAST_CHUNK ? VOUCH_LEAST_CHUNK : n > most ? most : (int32_t)n;
}

/* Loads pages of the first prompt that has some in files, for the time that a pass has for prompts, and for a moment
 * where nobody waits for a pass. Returns the seconds that it took. (Of two prompts that load by turns, each could
 * forget the other's pages.) */
static double load_pages(vouch_engine *e)
{
    const double moment = 0.1, start = vouch_now();
    int32_t n_decoding, n_lacking;
    e->is_loading = false;
    if (e->prefixes.pages) (void)vouch_prefix_files_take_back(&e->prefixes, false);
    count_work(e, &n_decoding, &n_lacking);
    const double room = prompt_room_seconds(e, n_decoding);
    for (int32_t i = 0; i < e->n_sessions && !e->is_loading; i++) {
        vouch_session *s = e->sessions[i];
        if (!has_work(s) || s->load_until == 0) continue;
        vouch_session_load_pages(s, room < moment ? room : moment);
        e->is_loading = s->load_until > 0;
    }
    return vouch_now() - start;
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

/* The share of session i, which decodes beside `others`: a cycle, without guesses where pages for them are short.
 * False: it has to wait. */
static bool take_cycle(vouch_engine *e, int32_t i, int32_t others, vouch_share *share)
{
    share->is_cycle = true;
    share->most = shape_beside(share->session, others);
    if (reserve(e, share->session, share->most.n + 1, i + 1)) return true;
    share->most.n = 0;
    return reserve(e, share->session, 1, i + 1);
}

/* The share of session i, whose tokens the cache lacks: the next chunk. All sessions get equal parts of the room, and
 * later ones also the rows that earlier ones don't need. False: it has to wait. */
static bool take_chunk(vouch_engine *e, int32_t i, prompt_room *room, vouch_share *share)
{
    const int32_t equal = room->n_sessions > 0 ? room->rows / room->n_sessions : 0;
    int32_t part = equal > VOUCH_LEAST_CHUNK ? equal : vouch_min(room->rows, VOUCH_LEAST_CHUNK);
    room->n_sessions--;
    share->is_scored = vouch_session_is_scored(share->session);
    if (share->is_scored) part = vouch_min(part, room->scored_rows);
    share->past = vouch_session_chunk(share->session, part);
    const int32_t n = share->past - share->from;
    if (part == 0 || !reserve(e, share->session, n, i + 1)) return false;
    room->rows -= n;
    room->scored_rows -= share->is_scored ? n : 0;
    return true;
}

/* Gives shares to the sessions in the order in which they joined, and pages to the shares. A share keeps its pages:
 * only sessions that joined later, which have no share yet, can lose theirs. seconds: of the pass that are spent. */
static int32_t take_shares(vouch_engine *e, double seconds)
{
    int32_t n_decoding, n_shares = 0;
    prompt_room room;
    count_work(e, &n_decoding, &room.n_sessions);
    room.rows = prompt_rows(e, n_decoding, seconds);
    /* At least VOUCH_LEAST_CHUNK. */
    room.scored_rows = e->max_logits - n_decoding - (n_decoding > 0 ? VOUCH_ENGINE_GUESSES : 0);
    for (int32_t i = 0; i < e->n_sessions; i++) {
        vouch_session *s = e->sessions[i];
        if (!has_work(s) || s->load_until > 0) continue;
        vouch_share share = {.session = s, .from = vouch_memory_n_tokens(s->target.memory)};
        const bool has_share =
            vouch_session_lacks(s) ? take_chunk(e, i, &room, &share) : take_cycle(e, i, n_decoding - 1, &share);
        if (has_share) e->shares[n_shares++] = share;
    }
    return n_shares;
}

/* ------------------------------------------------------------- side by side */

typedef bool share_test(const vouch_share *share);

/* Stages first to last of the shares that pass a test. */
typedef struct stage_work {
    vouch_engine *engine;
    vouch_stage first, last;
    share_test *test;
} stage_work;

static void run_stages(const stage_work *w, int32_t i)
{
    vouch_share *share = &w->engine->shares[i];
    if (!w->test(share)) return;
    for (int s = (int)w->first; s <= (int)w->last; s++) vouch_cycle_run(&share->session->cycle, (vouch_stage)s);
}

static void run_part(void *arg, vouch_pool *team, int32_t thread)
{
    const stage_work *w = arg;
    vouch_work work = vouch_pool_share(team, thread, w->engine->n_shares, 1);
    while (vouch_work_next(&work))
        for (int64_t i = work.begin; i < work.end; i++) run_stages(w, (int32_t)i);
}

/* Runs stages of the cycles that pass a test, on all threads. */
static void side_by_side(vouch_engine *e, vouch_stage first, vouch_stage last, share_test *test)
{
    int32_t n = 0, only = -1;
    for (int32_t i = 0; i < e->n_shares; i++)
        if (test(&e->shares[i])) n++, only = i;
    stage_work work = {.engine = e, .first = first, .last = last, .test = test};
    if (n > 1) vouch_pool_run(e->pool, run_part, &work);
    else if (n == 1) run_stages(&work, only);
}

static bool is_cycle(const vouch_share *share)
{
    return share->is_cycle;
}

/* Must the drafters be told of the cycle's end in the caller's thread? A caller's own drafter, which has no
 * levels, stays in it. A head that gets hidden states may run a pass, which needs all threads. */
static bool is_told_apart(const vouch_share *share)
{
    const vouch_drafter_ops *paid = share->session->cycle.drafters.paid.ops;
    return share->is_cycle && paid && (!paid->levels || paid->hidden);
}

static bool is_told_beside(const vouch_share *share)
{
    return share->is_cycle && !is_told_apart(share);
}

/* Its drafter has staged rows. */
static bool has_rows(const vouch_share *share)
{
    return share->session->cycle.staging == VOUCH_STAGED_ROWS;
}

/* Runs what the drafters have staged: one pass for each draft model. */
static void run_staged(vouch_engine *e)
{
    for (int32_t i = 0; i < e->n_shares; i++)
        if (has_rows(&e->shares[i])) vouch_cycle_run_level(&e->shares[i].session->cycle);
}

/* ------------------------------------------------------------------ 1 choose */

static void choose(vouch_engine *e)
{
    for (int32_t i = 0; i < e->n_shares; i++) {
        vouch_share *share = &e->shares[i];
        vouch_session *s = share->session;
        s->cycle.staging = VOUCH_STAGED_NONE;
        if (share->is_cycle) vouch_cycle_begin(&s->cycle, &share->most, s->options.max_tokens - s->n_answer);
    }
    side_by_side(e, VOUCH_STAGE_CHOOSE, VOUCH_STAGE_CHOOSE, is_cycle);
}

/* ------------------------------------------------------------------- 2 draft */

/* Lets the pace of each session decide how much its paid drafter guesses, as if all sessions that ask theirs shared the
 * passes. Where a session then doesn't ask, the others bear larger parts of the passes, so they decide again. */
static void ask(vouch_engine *e)
{
    int32_t n_asking = e->n_shares, n_before;
    do {
        n_before = n_asking;
        n_asking = 0;
        for (int32_t i = 0; i < e->n_shares; i++)
            if (e->shares[i].is_cycle) n_asking += vouch_cycle_ask(&e->shares[i].session->cycle, n_before);
    } while (n_asking > 0 && n_asking < n_before);
}

/* Stages the next level of the sessions whose drafts are not complete, as far as the passes have room. Returns the
 * number of sessions that have staged rows. */
static int32_t stage_levels(vouch_engine *e)
{
    int32_t n = 0, n_waiting = 0;
    for (int32_t i = 0; i < e->n_shares; i++) {
        const vouch_share *share = &e->shares[i];
        vouch_cycle *cycle = &share->session->cycle;
        if (!share->is_cycle || cycle->staging == VOUCH_STAGED_NONE) continue;
        vouch_cycle_run(cycle, VOUCH_STAGE_LEVEL);
        n += has_rows(share);
        n_waiting += cycle->staging == VOUCH_STAGED_FULL;
    }
    assert(n > 0 || n_waiting == 0); /* an empty pass has room for a level of any session */
    return n;
}

/* Cuts the drafts to the guesses that pay, after `seconds` of drafting. A session alone has weighed its own. */
static void admit(vouch_engine *e, double seconds)
{
    vouch_offer offers[VOUCH_ENGINE_SESSIONS];
    int32_t n = 0, n_fixed = 0;
    const double pass = vouch_cost_seconds(&e->cost), spent = pass > 0 ? seconds / pass : 0;
    for (int32_t i = 0; i < e->n_shares; i++) {
        const vouch_cycle *cycle = &e->shares[i].session->cycle;
        if (!e->shares[i].is_cycle) continue;
        offers[n] = (vouch_offer){
            .expected = cycle->draft.expected, .n = cycle->draft.n, .n_fixed = vouch_cycle_n_fixed(cycle)};
        n_fixed += offers[n++].n_fixed;
    }
    if (n < 2) return;
    vouch_admit(offers, n, VOUCH_ENGINE_GUESSES - n_fixed, &e->cost, spent);
    for (int32_t i = 0, o = 0; i < e->n_shares; i++)
        if (e->shares[i].is_cycle) vouch_cycle_cut(&e->shares[i].session->cycle, offers[o++].n_admitted);
}

/* One pass of each draft model runs the next level of all sessions that draft with it. */
static void draft(vouch_engine *e)
{
    const double start = vouch_now();
    side_by_side(e, VOUCH_STAGE_OFFER, VOUCH_STAGE_OFFER, is_cycle);
    ask(e);
    while (stage_levels(e) > 0) {
        run_staged(e);
        side_by_side(e, VOUCH_STAGE_GROW, VOUCH_STAGE_GROW, has_rows);
    }
    side_by_side(e, VOUCH_STAGE_JOIN, VOUCH_STAGE_JOIN, is_cycle);
    admit(e, vouch_now() - start);
}

/* ------------------------------------------------------------------- 3 score */

/* Lists the rows of all shares, and sets first_row and first_logits of each target. Returns the number of rows;
 * *n_cycle_rows of them belong to cycles. */
static int32_t list_rows(vouch_engine *e, int32_t *n_cycle_rows)
{
    int32_t n = 0, n_logits = 0;
    *n_cycle_rows = 0;
    for (int32_t i = 0; i < e->n_shares; i++) {
        const vouch_share *share = &e->shares[i];
        const vouch_cycle *cycle = &share->session->cycle;
        vouch_engine_target *target = &share->session->target;
        target->first_row = n;
        target->first_logits = n_logits;
        vouch_row *first = e->rows + n;
        const int32_t rows =
            share->is_cycle
                ? vouch_engine_target_rows(target, cycle->tokens, cycle->n_tokens, &cycle->draft, first)
                : vouch_engine_target_chunk(target, cycle->tokens, share->from, share->past, share->is_scored, first);
        n += rows;
        n_logits += share->is_cycle || share->is_scored ? rows : 0;
        *n_cycle_rows += share->is_cycle ? rows : 0;
    }
    return n;
}

/* A pass of rows of cycles teaches t(n), unless all of them are the first of an answer: such a pass finds every cache
 * cold. A pass with rows of prompts teaches how long these take. */
static void learn_pass(vouch_engine *e, int32_t n_prompt_rows, bool is_cold)
{
    const vouch_cycle_pass *last = &e->last;
    if (n_prompt_rows == 0) {
        if (!is_cold) vouch_cost_learn(&e->cost, last->n_rows, last->seconds);
        return;
    }
    const double cycles = last->n_rows > 0 ? vouch_cost_seconds(&e->cost) * vouch_cost_of(&e->cost, last->n_rows) : 0;
    const double each = (last->seconds > cycles ? last->seconds - cycles : 0) / n_prompt_rows;
    e->prompt_seconds += (e->prompt_seconds > 0 ? 0.2 : 1) * (each - e->prompt_seconds);
}

/* One pass runs the rows of all shares. */
static void score(vouch_engine *e)
{
    int32_t n_cycle_rows;
    const int32_t n_rows = list_rows(e, &n_cycle_rows);
    const double start = vouch_now();
    vouch_pass_run(e->pass, e->rows, n_rows);
    e->n_prompt_rows = n_rows - n_cycle_rows;
    e->last = (vouch_cycle_pass){
        .seconds = vouch_now() - start, .n_rows = n_cycle_rows, .prompt_seconds = e->prompt_seconds * e->n_prompt_rows};
    e->stats.passes++;
    e->stats.rows += n_rows;
    e->stats.prompt_rows += e->n_prompt_rows;
}

/* ------------------------------------------------------------------- 4 judge */

static void judge(vouch_engine *e)
{
    side_by_side(e, VOUCH_STAGE_JUDGE, VOUCH_STAGE_JUDGE, is_cycle);
}

/* ------------------------------------------------------------------ 5 commit */

/* Fills the scores, or the vector, of a prompt's part. True with an event: they are whole, or have failed. */
static bool finish_part(const vouch_share *share, vouch_engine_event *event)
{
    vouch_session *s = share->session;
    if (!share->is_cycle && vouch_session_pool(s, share->from, share->past)) {
        *event = (vouch_engine_event){.session = s};
        return true;
    }
    if (!share->is_scored) return false;
    const vouch_status status = vouch_session_read_scores(s, share->from, share->past);
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
        for (int32_t i = 0; i < e->n_shares; i++) {
            const vouch_share *share = &e->shares[i];
            vouch_cycle *cycle = &share->session->cycle;
            cycle->staging = share->is_cycle ? VOUCH_STAGED_NONE : vouch_cycle_follow(cycle, share->past);
            n += has_rows(share);
        }
    }
}

/* Describes the committed cycle of a share, and counts it. */
static vouch_engine_event describe(vouch_engine *e, const vouch_share *share)
{
    vouch_session *s = share->session;
    const vouch_cycle_result *result = &s->cycle.result;
    vouch_engine_event event = {.session = s, .status = s->cycle.status};
    if (event.status != VOUCH_OK) return event;
    vouch_session_describe(s, result, &event.step);
    e->stats.cycles++;
    e->stats.generated_tokens += result->n;
    e->stats.accepted += result->n_accepted;
    e->stats.drafted += result->n_guesses;
    return event;
}

/* Commits the judged cycles and the rows of prompts. Appends the events of cycles, and of prompts that are scored, to
 * the n_events that there are. Returns their number. */
static size_t commit(vouch_engine *e, size_t n_events)
{
    side_by_side(e, VOUCH_STAGE_COMMIT, VOUCH_STAGE_LEARN, is_told_beside);
    for (int32_t i = 0; i < e->n_shares; i++) {
        const vouch_share *share = &e->shares[i];
        if (is_told_apart(share)) run_stages(&(stage_work){e, VOUCH_STAGE_COMMIT, VOUCH_STAGE_LEARN, is_cycle}, i);
        if (share->is_cycle) e->events[n_events++] = describe(e, share);
        else vouch_session_filled(share->session, share->from, share->past, e->last.seconds);
        if (!share->is_cycle || share->session->cycle.status == VOUCH_OK)
            vouch_session_list_pages(share->session, share->from);
    }
    follow_prompts(e);
    for (int32_t i = 0; i < e->n_shares; i++) n_events += finish_part(&e->shares[i], &e->events[n_events]);
    return n_events;
}

/* -------------------------------------------------------------------- driver */

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

/* Do all cycles of the pass begin their answers? */
static bool all_begin(const vouch_engine *e)
{
    for (int32_t i = 0; i < e->n_shares; i++)
        if (e->shares[i].is_cycle && e->shares[i].session->n_answer > 0) return false;
    return true;
}

size_t vouch_engine_run(vouch_engine *engine, size_t n_events)
{
    vouch_engine *e = engine;
    const double start = vouch_now();
    e->n_shares = take_shares(e, load_pages(e));
    if (e->n_shares == 0) return n_events;
    const bool is_cold = all_begin(e);
    choose(e);
    draft(e);
    score(e);
    judge(e);
    n_events = commit(e, n_events);
    learn_pass(e, e->n_prompt_rows, is_cold);
    e->stats.draft_passes = e->draft_passes.n_runs;
    e->stats.draft_rows = e->draft_passes.n_rows;
    e->stats.seconds += vouch_now() - start;
    return n_events;
}

bool vouch_engine_step(vouch_engine *engine, const vouch_engine_event **events, size_t *n_events)
{
    VOUCH_DEFAULT_FLOATS();
    vouch_engine *e = engine;
    const size_t n_cancelled = take_cancels(e);
    *events = e->events;
    *n_events = vouch_engine_run(e, n_cancelled);
    for (size_t i = n_cancelled; i < *n_events; i++)
        if (e->events[i].status != VOUCH_OK) e->events[i].session->answering = false;
    return e->n_shares > 0 || *n_events > 0 || e->is_loading;
}
