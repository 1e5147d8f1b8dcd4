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

/* ------------------------------------------------------------------ 1 choose */

void vouch_cycle_begin(vouch_cycle *cycle, const vouch_shape *most, int32_t room)
{
    assert(cycle->n_tokens >= 1 && cycle->n_tokens < cycle->n_ctx && room >= 1);
    vouch_shape cut = *most;
    cut.n = vouch_min(vouch_min(cut.n, VOUCH_MAX_DRAFT), cycle->n_ctx - cycle->n_tokens - 1);
    cut.depth = vouch_min(vouch_min(cut.depth, room - 1), cut.n);
    if (cut.branches == 1) cut.n = vouch_min(cut.n, cut.depth);
    if (cut.depth < 1) cut.n = cut.depth = 0;
    cycle->most = cycle->free = cut;
    cycle->paid = (vouch_shape){0};
    cycle->asked_paid = false;
    cycle->staging = VOUCH_STAGED_FULL; /* nothing is staged yet */
    cycle->offer = cycle->draft = (vouch_draft){0};
    cycle->paid_levels = 0;
    for (int i = 0; i < VOUCH_STAGES; i++) cycle->seconds[i] = 0;
}

static bool may_draft(const vouch_cycle *cycle)
{
    return cycle->most.depth > 0 && vouch_drafters_any(&cycle->drafters);
}

static void choose(vouch_cycle *cycle)
{
    const vouch_drafters *drafters = &cycle->drafters;
    if (!cycle->pace || !may_draft(cycle)) return;
    if (vouch_pace_rests(cycle->pace)) vouch_drafters_skip(drafters, cycle->n_tokens);
    const int32_t n_lacking = vouch_drafters_lack(drafters, cycle->tokens, cycle->n_tokens);
    cycle->free = vouch_pace_begin(cycle->pace, &cycle->most, n_lacking);
}

/* ------------------------------------------------------------------- 2 draft */

static vouch_draft ask_free(const vouch_cycle *cycle, const vouch_draft *guide)
{
    return vouch_drafters_ask_free(&cycle->drafters, cycle->tokens, cycle->n_tokens, &cycle->free, guide);
}

bool vouch_cycle_ask(vouch_cycle *cycle, int32_t n)
{
    const vouch_drafters *drafters = &cycle->drafters;
    vouch_shape *paid = &cycle->paid;
    if (!may_draft(cycle)) return false;
    if (cycle->pace) {
        const double part = vouch_drafters_paid_part(drafters, n);
        vouch_pace_choose(cycle->pace, &cycle->offer, n, part, paid, &cycle->free);
    } else {
        *paid = cycle->most;
        paid->price.cost = NULL;
        if (cycle->n_paid > 0) paid->n = vouch_min(paid->n, cycle->n_paid);
        if (cycle->n_paid > 0) paid->depth = vouch_min(paid->depth, cycle->n_paid);
        if (!drafters->paid.ops) paid->depth = 0;
    }
    return paid->depth > 0;
}

static void stage_level(vouch_cycle *cycle)
{
    vouch_drafters *drafters = &cycle->drafters;
    cycle->staging = VOUCH_STAGED_NONE;
    if (cycle->paid.depth < 1) return;
    if (!cycle->asked_paid) vouch_drafters_begin_paid(drafters, cycle->tokens, cycle->n_tokens, &cycle->paid);
    cycle->asked_paid = true;
    cycle->staging = vouch_drafters_stage_paid(drafters);
}

void vouch_cycle_run_level(vouch_cycle *cycle)
{
    cycle->seconds[VOUCH_STAGE_LEVEL] += vouch_drafters_run_paid(&cycle->drafters);
}

/* Makes one tree of the paid guesses and free guesses around them. Without paid guesses the free drafters guess alone;
 * with pace, their draft is the offer. Where it isn't, the cycle keeps a copy of the offer, because the free drafters
 * write their next draft over it. The draft ends before the first guess that is no token. */
static void join_drafts(vouch_cycle *cycle)
{
    vouch_draft guide = {0}, *out = &cycle->draft, *offer = &cycle->offer;
    if (!may_draft(cycle)) return;
    if (cycle->asked_paid) guide = vouch_drafters_end_paid(&cycle->drafters);
    cycle->paid_levels = vouch_draft_levels(&guide);
    if (guide.n > 0) {
        for (int32_t i = 0; i < offer->n; i++) {
            cycle->offer_tokens[i] = offer->tokens[i];
            cycle->offer_parents[i] = vouch_draft_parent(offer, i);
        }
        *offer = (vouch_draft){.n = offer->n, .tokens = cycle->offer_tokens, .parents = cycle->offer_parents};
    }
    *out = cycle->pace && guide.n == 0 ? *offer : ask_free(cycle, &guide);
    const int32_t n = vouch_min(out->n, cycle->most.n);
    for (out->n = 0; out->n < n; out->n++) {
        const int32_t token = out->tokens[out->n];
        if (token < 0 || token >= cycle->n_vocab) break;
    }
}

int32_t vouch_cycle_n_fixed(const vouch_cycle *cycle)
{
    const vouch_draft *draft = &cycle->draft;
    int32_t n = 0;
    while (n < draft->n && (!draft->expected || vouch_draft_is_drawn(draft, n))) n++;
    return n;
}

void vouch_cycle_cut(vouch_cycle *cycle, int32_t n)
{
    assert(n >= vouch_cycle_n_fixed(cycle) && n <= cycle->draft.n);
    cycle->draft.n = n;
}

/* ------------------------------------------------------------------- 4 judge */

/* p of a row. Penalties look at the tokens before the row, so this writes its path after the sequence. */
static vouch_status row_p(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    const vouch_cycle *cycle = self;
    for (int32_t i = row - 1, at = cycle->n_tokens + depth; i >= 0; i = vouch_draft_parent(&cycle->draft, i))
        cycle->tokens[--at] = cycle->draft.tokens[i];
    return cycle->target.row(cycle->target.self, cycle->tokens, cycle->n_tokens + depth, row, p);
}

static void judge(vouch_cycle *cycle)
{
    const vouch_trial trial = {.draft = &cycle->draft,
                               .row_p = row_p,
                               .row_self = cycle,
                               .dice = &cycle->dice,
                               .position = cycle->n_tokens,
                               .lenience = cycle->lenience,
                               .want_overlap = cycle->want_overlap};
    cycle->status = vouch_judge(&cycle->judgement, cycle->guesses, cycle->rule, &trial);
}

/* ------------------------------------------------------------------ 5 commit */

/* The row before committed token i. */
static int32_t row_before(const vouch_cycle *cycle, int32_t i)
{
    return i == 0 ? 0 : cycle->judgement.path[i - 1] + 1;
}

/* Commits the accepted guesses, and the final token if there is one, until one of them ends the answer. Takes back the
 * verdicts of guesses after that: nothing exists there. */
static void commit(vouch_cycle *cycle)
{
    const vouch_judgement *judgement = &cycle->judgement;
    vouch_cycle_result *out = &cycle->result;
    const vouch_target *target = &cycle->target;
    const bool has_final = judgement->origin != VOUCH_ORIGIN_ACCEPTED;
    const int32_t n = judgement->n_accepted + has_final;
    *out = (vouch_cycle_result){.first = cycle->n_tokens, .n_guesses = cycle->draft.n};
    for (int32_t i = 0; i < judgement->n_accepted; i++)
        cycle->tokens[out->first + i] = cycle->draft.tokens[judgement->path[i]];
    if (has_final) cycle->tokens[out->first + n - 1] = judgement->final_token;
    while (out->n < n && out->finish == VOUCH_FINISH_NONE) {
        cycle->n_tokens++;
        out->finish = cycle->commit(cycle->commit_self, cycle->tokens[out->first + out->n++]);
    }
    if (out->finish == VOUCH_FINISH_NONE && cycle->n_tokens == cycle->n_ctx) out->finish = VOUCH_FINISH_CONTEXT;
    out->n_accepted = vouch_min(out->n, judgement->n_accepted);
    out->last = out->n < n ? VOUCH_ORIGIN_ACCEPTED : judgement->origin;
    for (int32_t i = 0; i < out->n_guesses; i++) {
        vouch_guess *guess = &cycle->guesses[i];
        guess->depth = guess->parent < 0 ? 0 : cycle->guesses[guess->parent].depth + 1;
        if (guess->depth < out->n) continue;
        guess->verdict = VOUCH_NOT_REACHED;
        guess->p = guess->accept = guess->u = 0;
    }
    for (int32_t i = 0; cycle->look && i < out->n; i++) {
        const float *logits = target->logits(target->self, row_before(cycle, i));
        cycle->look(cycle->commit_self, i, cycle->tokens[out->first + i], logits);
    }
    target->keep(target->self, judgement->path, vouch_min(out->n_accepted, out->n - 1));
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
 * them rest they get nothing but hidden states. Then all forget what isn't committed. */
static void tell(vouch_cycle *cycle)
{
    const vouch_cycle_result *result = &cycle->result;
    const bool rests = cycle->pace && vouch_pace_rests(cycle->pace);
    const int32_t n = vouch_drafters_any(&cycle->drafters) ? result->n : 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t row = row_before(cycle, i);
        const vouch_seen seen = {.n_tokens = result->first + i,
                                 .logits = cycle->target.logits(cycle->target.self, row)};
        if (!rests) vouch_drafters_see(&cycle->drafters, cycle->tokens, &seen);
        show_hidden(cycle, seen.n_tokens - 1, row);
    }
    vouch_cycle_rewind(cycle, cycle->n_tokens - 1);
}

/* ------------------------------------------------------ counting and learning */

static void count_guesses(vouch_stats *stats, const vouch_cycle *cycle)
{
    const int32_t n = cycle->result.n_guesses, n_accepted = cycle->result.n_accepted;
    const int32_t last = n_accepted > 0 ? cycle->judgement.path[n_accepted - 1] : -1;
    bool full = n > 0; /* no guess follows the last accepted one */
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
        stats->expected_acceptance_sum += cycle->judgement.overlap[i];
    }
    stats->drafted += n;
    stats->draft_cycles += n > 0;
    stats->lenient_cycles += n > 0 && cycle->lenience < 1;
    stats->full_accepts += full;
    stats->depth_histogram[n]++;
}

/* Guesses of the offer that the cycle's tokens confirm: so many would have been accepted without the paid drafter. */
static int32_t offer_accepted(const vouch_cycle *cycle)
{
    const vouch_draft *offer = &cycle->offer;
    const vouch_cycle_result *result = &cycle->result;
    for (int32_t n = 0, parent = -1; n < result->n; n++) {
        int32_t i = vouch_next_child(offer, parent, -1);
        while (i >= 0 && offer->tokens[i] != cycle->tokens[result->first + n]) i = vouch_next_child(offer, parent, i);
        if (i < 0) return n;
        parent = i;
    }
    return result->n;
}

vouch_outcome vouch_cycle_outcome(const vouch_cycle *cycle)
{
    const double *s = cycle->seconds;
    const vouch_draft *draft = &cycle->draft;
    const double free = s[VOUCH_STAGE_OFFER] + s[VOUCH_STAGE_JOIN], paid = s[VOUCH_STAGE_LEVEL];
    return (vouch_outcome){.n_guesses = draft->n,
                           .n_accepted = cycle->judgement.n_accepted,
                           .offer_accepted = cycle->asked_paid ? offer_accepted(cycle) : 0,
                           .expected = draft->expected && draft->n > 0 ? draft->expected[draft->n] : 0,
                           .asked_paid = cycle->asked_paid,
                           .paid_levels = cycle->paid_levels,
                           .levels = vouch_draft_levels(draft),
                           .draft_seconds = s[VOUCH_STAGE_CHOOSE] + free + paid + s[VOUCH_STAGE_GROW],
                           .free_seconds = free,
                           .paid_seconds = paid,
                           .grow_seconds = s[VOUCH_STAGE_GROW],
                           .pass_seconds = cycle->pass->seconds,
                           .judge_seconds = s[VOUCH_STAGE_JUDGE] + s[VOUCH_STAGE_COMMIT] + s[VOUCH_STAGE_TELL],
                           .tell_seconds = s[VOUCH_STAGE_TELL],
                           .n_rows = cycle->pass->n_rows,
                           .prompt_seconds = cycle->pass->prompt_seconds};
}

/* Pace learns from the cycles for which it chose. */
static void learn(vouch_cycle *cycle)
{
    vouch_stats *stats = cycle->stats;
    const vouch_cycle_result *result = &cycle->result;
    const vouch_outcome o = vouch_cycle_outcome(cycle);
    count_guesses(stats, cycle);
    stats->generated_tokens += result->n;
    stats->cycles++;
    stats->accepted += result->n_accepted;
    stats->draft_seconds += o.draft_seconds + o.tell_seconds;
    stats->verify_seconds += o.pass_seconds;
    stats->judge_seconds += cycle->seconds[VOUCH_STAGE_JUDGE];
    stats->decode_seconds += o.draft_seconds + o.pass_seconds + o.judge_seconds;
    if (!cycle->pace || cycle->most.depth < 1) return;
    const vouch_forecast forecast = vouch_pace_learn(cycle->pace, &o);
    stats->predicted_tokens += forecast.tokens;
    stats->predicted_seconds += forecast.seconds;
    stats->plain_step_seconds = vouch_pace_plain_seconds(cycle->pace);
}

/* -------------------------------------------------------------------- stages */

void vouch_cycle_run(vouch_cycle *cycle, vouch_stage stage)
{
    double (*const now)(void) = cycle->now ? cycle->now : vouch_now;
    const bool has_failed = stage > VOUCH_STAGE_JUDGE && cycle->status != VOUCH_OK;
    if (has_failed && stage != VOUCH_STAGE_TELL) return;
    const double start = now();
    switch (has_failed ? VOUCH_STAGES : stage) {
    case VOUCH_STAGE_CHOOSE: choose(cycle); break;
    case VOUCH_STAGE_OFFER:
        /* Without pace there is nothing to weigh: the free drafters guess around the paid guesses at once (join). */
        if (cycle->pace && may_draft(cycle)) cycle->offer = ask_free(cycle, &(vouch_draft){0});
        break;
    case VOUCH_STAGE_LEVEL: stage_level(cycle); break;
    case VOUCH_STAGE_GROW: vouch_drafters_grow_paid(&cycle->drafters); break;
    case VOUCH_STAGE_JOIN: join_drafts(cycle); break;
    case VOUCH_STAGE_JUDGE: judge(cycle); break;
    case VOUCH_STAGE_COMMIT: commit(cycle); break;
    case VOUCH_STAGE_TELL: tell(cycle); break;
    case VOUCH_STAGE_LEARN: learn(cycle); break;
    case VOUCH_STAGES: vouch_cycle_rewind(cycle, cycle->n_tokens - 1); break;
    }
    cycle->seconds[stage] += now() - start;
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
