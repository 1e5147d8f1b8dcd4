/* SPDX-License-Identifier: MIT */
/*
 * The cycle (cycle.h has the picture).
 *
 * Invariants, N = n_tokens:
 *   1  Tokens beyond N are provisional: written and read within one cycle only.
 *   2  Between cycles target and drafters hold at most N - 1 tokens. The last committed token is the first row of the
 *      next pass.
 *   3  N + guesses + 1 <= n_ctx, so neither a pass nor a commit runs over the end of the context. No path of guesses
 *      is longer than the room for tokens, less one.
 *   4  A cycle that fails changes only how much of the prefix is cached (see 2). It fails at position N only: where a
 *      later row has no p, the guesses accepted before it are committed, and the next cycle fails.
 *   5  Only committed guesses count as accepted: generated = accepted + residual, bonus and plain tokens.
 */
#include "decode/cycle.h"

#include <assert.h>

#include "base/common.h"

static double now(const vouch_cycle *cycle)
{
    return cycle->now ? cycle->now() : vouch_now();
}

/* --------------------------------------------------------- choose and draft */

/* Cuts the limits: a path of guesses and the token after it fit into `room`, and all guesses fit into the context. */
static vouch_shape cut_to_room(const vouch_cycle *cycle, const vouch_shape *most, int32_t room)
{
    vouch_shape cut = *most;
    cut.n = vouch_min(vouch_min(cut.n, VOUCH_MAX_DRAFT), cycle->n_ctx - cycle->n_tokens - 1);
    cut.depth = vouch_min(vouch_min(cut.depth, room - 1), cut.n);
    if (cut.branches == 1) cut.n = vouch_min(cut.n, cut.depth);
    if (cut.depth < 1) cut.n = cut.depth = 0;
    return cut;
}

static vouch_draft ask_free(vouch_cycle *cycle, const vouch_draft *guide)
{
    const double start = now(cycle);
    const vouch_draft draft =
        vouch_drafters_ask_free(&cycle->drafters, cycle->tokens, cycle->n_tokens, &cycle->plan.free, guide);
    cycle->outcome.free_seconds += now(cycle) - start;
    return draft;
}

/* The free drafters make pace an offer. */
static void make_offer(vouch_cycle *cycle)
{
    static const vouch_draft no_guide;
    const vouch_drafters *drafters = &cycle->drafters;
    if (vouch_pace_rests(cycle->pace)) vouch_drafters_skip(drafters, cycle->n_tokens);
    const int32_t n_behind = vouch_drafters_behind(drafters, cycle->tokens, cycle->n_tokens);
    cycle->plan.free = vouch_pace_begin(cycle->pace, &cycle->most, n_behind);
    cycle->plan.offer = ask_free(cycle, &no_guide);
}

static bool may_draft(const vouch_cycle *cycle)
{
    return cycle->most.depth > 0 && vouch_drafters_any(&cycle->drafters);
}

void vouch_cycle_begin(vouch_cycle *cycle, const vouch_shape *most, int32_t room)
{
    assert(cycle->n_tokens >= 1 && cycle->n_tokens < cycle->n_ctx && room >= 1);
    const double start = now(cycle);
    cycle->most = cut_to_room(cycle, most, room);
    cycle->plan = (vouch_plan){.free = cycle->most};
    cycle->draft = (vouch_draft){0};
    cycle->outcome = (vouch_outcome){0};
    if (cycle->pace && may_draft(cycle)) make_offer(cycle);
    cycle->outcome.draft_seconds = now(cycle) - start;
}

/* 1. Given the offer, pace says how much the paid drafter adds to it. Without pace the limits are fixed. */
bool vouch_cycle_choose(vouch_cycle *cycle, int32_t n)
{
    vouch_plan *plan = &cycle->plan;
    const vouch_drafters *drafters = &cycle->drafters;
    if (!may_draft(cycle)) return false;
    if (cycle->pace) {
        const double part = vouch_drafters_paid_part(drafters, n);
        vouch_pace_choose(cycle->pace, &plan->offer, n, part, &plan->paid, &plan->free);
    } else {
        plan->paid = cycle->most;
        plan->paid.price.cost = NULL;
        if (cycle->n_paid > 0) plan->paid.n = vouch_min(plan->paid.n, cycle->n_paid);
        if (cycle->n_paid > 0) plan->paid.depth = vouch_min(plan->paid.depth, cycle->n_paid);
        if (!drafters->paid.ops) plan->paid.depth = 0;
    }
    return plan->paid.depth > 0;
}

/* 2. The paid drafter stages the rows of its next level. */
vouch_staging vouch_cycle_stage(vouch_cycle *cycle)
{
    const double start = now(cycle);
    vouch_drafters *drafters = &cycle->drafters;
    vouch_outcome *o = &cycle->outcome;
    if (cycle->plan.paid.depth < 1) return VOUCH_STAGED_NONE;
    if (!o->asked_paid) vouch_drafters_begin_paid(drafters, cycle->tokens, cycle->n_tokens, &cycle->plan.paid);
    o->asked_paid = true;
    const vouch_staging staged = vouch_drafters_stage_paid(drafters);
    o->paid_seconds += now(cycle) - start;
    return staged;
}

void vouch_cycle_run(vouch_cycle *cycle)
{
    cycle->outcome.paid_seconds += vouch_drafters_run_paid(&cycle->drafters);
}

void vouch_cycle_grow(vouch_cycle *cycle)
{
    const double start = now(cycle);
    vouch_drafters_grow_paid(&cycle->drafters);
    cycle->outcome.grow_seconds += now(cycle) - start;
}

/* Copies the offer into the cycle, because the free drafters write their next draft over it. */
static void keep_offer(vouch_cycle *cycle)
{
    vouch_draft *offer = &cycle->plan.offer;
    for (int32_t i = 0; i < offer->n; i++) {
        cycle->offer_tokens[i] = offer->tokens[i];
        cycle->offer_parents[i] = vouch_draft_parent(offer, i);
    }
    *offer = (vouch_draft){.n = offer->n, .tokens = cycle->offer_tokens, .parents = cycle->offer_parents};
}

/* Makes one tree of the paid guesses and free guesses around them. Without paid guesses the free drafters guess alone;
 * with pace, their draft is the offer. The draft ends before the first guess that is no token. */
static void join_drafts(vouch_cycle *cycle)
{
    const vouch_plan *plan = &cycle->plan;
    vouch_draft guide = {0}, *out = &cycle->draft;
    if (cycle->outcome.asked_paid) guide = vouch_drafters_end_paid(&cycle->drafters);
    cycle->outcome.paid_levels = vouch_draft_levels(&guide);
    if (guide.n > 0) keep_offer(cycle);
    *out = cycle->pace && guide.n == 0 ? plan->offer : ask_free(cycle, &guide);
    const int32_t n = vouch_min(out->n, cycle->most.n);
    for (out->n = 0; out->n < n; out->n++) {
        const int32_t token = out->tokens[out->n];
        if (token < 0 || token >= cycle->n_vocab) break;
    }
}

void vouch_cycle_end(vouch_cycle *cycle)
{
    const double start = now(cycle);
    vouch_outcome *o = &cycle->outcome;
    if (may_draft(cycle)) join_drafts(cycle);
    o->draft_seconds += o->paid_seconds + o->grow_seconds + now(cycle) - start;
}

void vouch_cycle_plan(vouch_cycle *cycle, const vouch_shape *most, int32_t room)
{
    vouch_cycle_begin(cycle, most, room);
    vouch_cycle_choose(cycle, 1);
    while (vouch_cycle_stage(cycle) == VOUCH_STAGED_ROWS) {
        vouch_cycle_run(cycle);
        vouch_cycle_grow(cycle);
    }
    vouch_cycle_end(cycle);
}

int32_t vouch_cycle_n_fixed(const vouch_cycle *cycle)
{
    const vouch_draft *draft = &cycle->draft;
    int32_t n = 0;
    while (n < draft->n && (!draft->expected || (draft->q && draft->q[n]))) n++;
    return n;
}

void vouch_cycle_cut(vouch_cycle *cycle, int32_t n)
{
    assert(n >= vouch_cycle_n_fixed(cycle) && n <= cycle->draft.n);
    cycle->draft.n = n;
}

/* -------------------------------------------------------------------- score */

/* 3. One pass of the target. */
static double score(vouch_cycle *cycle)
{
    const double start = now(cycle);
    cycle->target.score(cycle->target.self, cycle->tokens, cycle->n_tokens, &cycle->draft);
    return now(cycle) - start;
}

/* ----------------------------------------------- judge, commit and roll back */

/* p of a row. Penalties look at the tokens before the row, so this writes the accepted guesses behind the sequence. */
static vouch_status row_p(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    const vouch_cycle *cycle = self;
    if (depth > 0) cycle->tokens[cycle->n_tokens + depth - 1] = cycle->draft.tokens[row - 1];
    return cycle->target.row(cycle->target.self, cycle->tokens, cycle->n_tokens + depth, row, p);
}

/* 4. The rule gives each guess its verdict. */
static vouch_status judge(vouch_cycle *cycle, vouch_judgement *judgement)
{
    const double start = now(cycle);
    const vouch_trial trial = {.draft = &cycle->draft,
                               .row_p = row_p,
                               .row_self = cycle,
                               .dice = &cycle->dice,
                               .position = cycle->n_tokens,
                               .lenience = cycle->lenience,
                               .want_overlap = cycle->want_overlap};
    const vouch_status status = vouch_judge(judgement, cycle->guesses, cycle->rule, &trial);
    cycle->rule_seconds = now(cycle) - start;
    return status;
}

/* Sets the depths of the guesses. Takes back the verdicts behind the end of the answer: nothing exists there. */
static void forget_verdicts(vouch_cycle *cycle, const vouch_cycle_result *result)
{
    for (int32_t i = 0; i < result->n_guesses; i++) {
        vouch_guess *guess = &cycle->guesses[i];
        guess->depth = guess->parent < 0 ? 0 : cycle->guesses[guess->parent].depth + 1;
        if (guess->depth < result->n) continue;
        guess->verdict = VOUCH_NOT_REACHED;
        guess->p = guess->accept = guess->u = 0;
    }
}

/* 5. Commits the accepted guesses, and the final token if there is one, until one of them ends the answer. */
static void commit(vouch_cycle *cycle, const vouch_judgement *judgement, vouch_cycle_result *out)
{
    const bool has_final = judgement->origin != VOUCH_ORIGIN_ACCEPTED;
    const int32_t n = judgement->n_accepted + has_final;
    *out = (vouch_cycle_result){.first = cycle->n_tokens, .n_guesses = cycle->draft.n};
    if (has_final) cycle->tokens[out->first + n - 1] = judgement->final_token;
    while (out->n < n && out->finish == VOUCH_FINISH_NONE) {
        cycle->n_tokens++;
        out->finish = cycle->commit(cycle->commit_self, cycle->tokens[out->first + out->n++]);
    }
    if (out->finish == VOUCH_FINISH_NONE && cycle->n_tokens == cycle->n_ctx) out->finish = VOUCH_FINISH_CONTEXT;
    out->n_accepted = vouch_min(out->n, judgement->n_accepted);
    out->last = out->n < n ? VOUCH_ORIGIN_ACCEPTED : judgement->origin;
    forget_verdicts(cycle, out);
}

/* Gives the drafters the hidden states of a row of the last pass, where they take any. */
static void show_hidden(vouch_cycle *cycle, int32_t position, int32_t row)
{
    const float *states[VOUCH_MAX_TAPS];
    const int32_t *layers, n = vouch_drafters_taps(&cycle->drafters, &layers);
    for (int32_t i = 0; i < n; i++) states[i] = cycle->target.hidden(cycle->target.self, row, layers[i]);
    if (n > 0) vouch_drafters_hidden(&cycle->drafters, cycle->tokens, position, states);
}

/* Shows the drafters the rows that plain decoding would have run: the row before each committed token. While pace lets
 * them rest they get nothing but hidden states. */
static void show_rows(vouch_cycle *cycle, const vouch_judgement *judgement, const vouch_cycle_result *result)
{
    const bool rests = cycle->pace && vouch_pace_rests(cycle->pace);
    if (!vouch_drafters_any(&cycle->drafters)) return;
    for (int32_t i = 0; i < result->n; i++) {
        const int32_t row = i == 0 ? 0 : judgement->path[i - 1] + 1;
        const vouch_seen seen = {.n_tokens = result->first + i,
                                 .logits = cycle->target.logits(cycle->target.self, row)};
        if (!rests) vouch_drafters_see(&cycle->drafters, cycle->tokens, &seen);
        show_hidden(cycle, seen.n_tokens - 1, row);
    }
}

static void look_at_rows(vouch_cycle *cycle, const vouch_judgement *judgement, const vouch_cycle_result *result)
{
    for (int32_t i = 0; cycle->look && i < result->n; i++) {
        const int32_t row = i == 0 ? 0 : judgement->path[i - 1] + 1;
        cycle->look(cycle->commit_self, i, cycle->tokens[result->first + i],
                    cycle->target.logits(cycle->target.self, row));
    }
}

static void roll_back(vouch_cycle *cycle, const vouch_judgement *judgement, const vouch_cycle_result *result)
{
    cycle->target.keep(cycle->target.self, judgement->path, vouch_min(result->n_accepted, result->n - 1));
    const double start = now(cycle);
    show_rows(cycle, judgement, result);
    vouch_cycle_rewind(cycle, cycle->n_tokens - 1);
    cycle->outcome.tell_seconds = now(cycle) - start;
}

/* ----------------------------------------------------- counting and learning */

/* `last` is the number of the last accepted guess; -1: none is accepted. */
static void count_guesses(vouch_stats *stats, const vouch_cycle *cycle, const double *overlap, int32_t n, int32_t last)
{
    bool full = n > 0;
    for (int32_t i = 0; i < n; i++) {
        const vouch_guess *guess = &cycle->guesses[i];
        const bool accepted = guess->verdict == VOUCH_ACCEPTED;
        stats->drafted_at[guess->depth]++;
        stats->accepted_at[guess->depth] += accepted;
        for (int bit = 0; bit < VOUCH_DRAFTERS; bit++) {
            if (!(guess->drafters >> bit & 1)) continue;
            stats->drafted_by[bit]++;
            stats->accepted_by[bit] += accepted;
        }
        if (guess->parent == last) full = false;
        if (guess->verdict == VOUCH_NOT_REACHED) continue;
        stats->judged++;
        stats->expected_acceptance_sum += overlap[i];
    }
    stats->drafted += n;
    stats->draft_cycles += n > 0;
    stats->lenient_cycles += n > 0 && cycle->lenience < 1;
    stats->full_accepts += full;
    stats->depth_histogram[n]++;
}

static void count(vouch_cycle *cycle, const vouch_judgement *judgement, const vouch_cycle_result *result)
{
    vouch_stats *stats = cycle->stats;
    const vouch_outcome *o = &cycle->outcome;
    const int32_t last = result->n_accepted > 0 ? judgement->path[result->n_accepted - 1] : -1;
    count_guesses(stats, cycle, judgement->overlap, result->n_guesses, last);
    stats->generated_tokens += result->n;
    stats->cycles++;
    stats->accepted += result->n_accepted;
    stats->draft_seconds += o->draft_seconds + o->tell_seconds;
    stats->verify_seconds += o->pass_seconds;
    stats->judge_seconds += cycle->rule_seconds;
    stats->decode_seconds += o->draft_seconds + o->pass_seconds + o->judge_seconds;
}

/* Guesses of the offer that the cycle's tokens confirm: so many would have been accepted without the paid drafter. */
static int32_t offer_accepted(const vouch_cycle *cycle, const vouch_cycle_result *result)
{
    const vouch_draft *offer = &cycle->plan.offer;
    for (int32_t n = 0, parent = -1; n < result->n; n++) {
        int32_t i = vouch_next_child(offer, parent, -1);
        while (i >= 0 && offer->tokens[i] != cycle->tokens[result->first + n]) i = vouch_next_child(offer, parent, i);
        if (i < 0) return n;
        parent = i;
    }
    return result->n;
}

/* Pace learns from the cycles for which it chose. */
static void learn(vouch_cycle *cycle)
{
    if (!cycle->pace || cycle->most.depth < 1) return;
    const vouch_forecast forecast = vouch_pace_learn(cycle->pace, &cycle->outcome);
    cycle->stats->predicted_tokens += forecast.tokens;
    cycle->stats->predicted_seconds += forecast.seconds;
    cycle->stats->plain_step_seconds = vouch_pace_plain_seconds(cycle->pace);
}

vouch_status vouch_cycle_finish(vouch_cycle *cycle, const vouch_cycle_pass *pass, vouch_cycle_result *out)
{
    const double start = now(cycle);
    const vouch_draft *draft = &cycle->draft;
    vouch_outcome *o = &cycle->outcome;
    o->expected = draft->expected && draft->n > 0 ? draft->expected[draft->n] : 0;
    o->levels = vouch_draft_levels(draft);
    vouch_judgement judgement;
    const vouch_status status = judge(cycle, &judgement);
    if (status != VOUCH_OK) {
        vouch_cycle_rewind(cycle, cycle->n_tokens - 1);
        return status;
    }
    commit(cycle, &judgement, out);
    look_at_rows(cycle, &judgement, out);
    roll_back(cycle, &judgement, out);

    o->n_guesses = out->n_guesses;
    o->n_accepted = judgement.n_accepted;
    if (o->asked_paid) o->offer_accepted = offer_accepted(cycle, out);
    o->pass_seconds = pass->seconds;
    o->n_rows = pass->n_rows;
    o->prompt_seconds = pass->prompt_seconds;
    o->teaches = pass->teaches;
    o->judge_seconds = now(cycle) - start;
    count(cycle, &judgement, out);
    learn(cycle);
    return VOUCH_OK;
}

vouch_status vouch_cycle_step(vouch_cycle *cycle, const vouch_shape *most, int32_t room, vouch_cycle_result *out)
{
    vouch_cycle_plan(cycle, most, room);
    const vouch_cycle_pass pass = {.seconds = score(cycle), .n_rows = cycle->draft.n + 1, .teaches = true};
    return vouch_cycle_finish(cycle, &pass, out);
}

/* ------------------------------------------------------------------- answers */

void vouch_cycle_begin_answer(vouch_cycle *cycle)
{
    if (cycle->pace) vouch_pace_begin_answer(cycle->pace);
    vouch_drafters_begin(&cycle->drafters, cycle->tokens, cycle->n_tokens);
}

void vouch_cycle_end_answer(vouch_cycle *cycle)
{
    vouch_drafters_end(&cycle->drafters, cycle->tokens, cycle->n_tokens);
}

/* The drafters also get tokens[past], which the target runs next. */
void vouch_cycle_observe(vouch_cycle *cycle, int32_t first, int32_t past)
{
    for (int32_t i = first; i < past; i++) show_hidden(cycle, i, i - first);
    vouch_drafters_observe(&cycle->drafters, cycle->tokens, past + 1);
}

vouch_staging vouch_cycle_follow(vouch_cycle *cycle, int32_t past)
{
    if (cycle->pace && !vouch_pace_may_ask_paid(cycle->pace)) return VOUCH_STAGED_NONE;
    return vouch_drafters_follow_paid(&cycle->drafters, cycle->tokens, past + 1);
}

void vouch_cycle_rewind(vouch_cycle *cycle, int32_t n)
{
    cycle->target.rewind(cycle->target.self, vouch_drafters_rewind(&cycle->drafters, n));
}
