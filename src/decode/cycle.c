/* SPDX-License-Identifier: MIT */
/*
 * The cycle (cycle.h has the picture).
 *
 * Invariants, N = n_tokens:
 *   1  tokens beyond N are provisional: written and read within one cycle only.
 *   2  between cycles target and drafter hold at most N - 1 tokens, so that the last committed token is
 *      the first row of the next pass.
 *   3  N + guesses + 1 <= n_ctx: neither a pass nor a commit runs over the context's end.
 *      A path of guesses is shorter than the room that is left for tokens.
 *   4  a cycle that fails changes nothing but, by 2, how much of the same prefix is cached. It fails at
 *      n_tokens: where a later row has no p, the guesses accepted before it are committed, and the next
 *      cycle fails.
 *   5  accepted counts committed guesses: generated = accepted + the residual, bonus and plain tokens.
 */
#include "decode/cycle.h"

#include <assert.h>

#include "base/common.h"

/* What the judge needs to ask the target for a row. The accepted path goes behind the sequence as it grows. */
static vouch_status row_p(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    const vouch_cycle *cycle = self;
    if (depth > 0) cycle->tokens[cycle->n_tokens + depth - 1] = cycle->draft.tokens[row - 1];
    return cycle->target.row(cycle->target.self, cycle->tokens, cycle->n_tokens + depth, row, p);
}

void vouch_cycle_rewind(const vouch_cycle *cycle, int32_t n)
{
    cycle->target.rewind(cycle->target.self, n);
    if (cycle->drafter.ops) cycle->drafter.ops->rewind(cycle->drafter.self, n);
}

/* What fits: a path into the room, all guesses into the context. */
static vouch_shape shape_cut(const vouch_cycle *cycle, const vouch_shape *shape, int32_t room)
{
    vouch_shape cut = *shape;
    cut.n = vouch_min(vouch_min(cut.n, VOUCH_MAX_DRAFT), cycle->n_ctx - cycle->n_tokens - 1);
    cut.depth = vouch_min(vouch_min(cut.depth, room - 1), cut.n);
    if (cut.branches == 1) cut.n = vouch_min(cut.n, cut.depth);
    return cut;
}

/* 1. Guesses, cut at the first that is no token. */
static void draft_guesses(vouch_cycle *cycle, const vouch_shape *shape)
{
    vouch_draft *draft = &cycle->draft;
    *draft = (vouch_draft){0};
    if (!cycle->drafter.ops || shape->depth < 1) return;
    *draft = cycle->drafter.ops->propose(cycle->drafter.self, cycle->tokens, cycle->n_tokens, shape);
    const int32_t n = vouch_min(draft->n, shape->n);
    for (draft->n = 0; draft->n < n; draft->n++) {
        const int32_t token = draft->tokens[draft->n];
        if (token < 0 || token >= cycle->n_vocab) break;
    }
}

/* 4. Commits the accepted guesses and the final token, where there is one, until one ends the answer. */
static void commit(vouch_cycle *cycle, const vouch_judgement *judgement, vouch_cycle_result *out)
{
    const bool has_final = judgement->origin != VOUCH_ORIGIN_ACCEPTED;
    const int32_t n = judgement->n_accepted + has_final;
    if (has_final) cycle->tokens[out->first + n - 1] = judgement->final_token;
    while (out->n < n && out->finish == VOUCH_FINISH_NONE) {
        cycle->n_tokens++;
        out->finish = cycle->commit(cycle->commit_self, cycle->tokens[out->first + out->n++]);
    }
    if (out->finish == VOUCH_FINISH_NONE && cycle->n_tokens == cycle->n_ctx)
        out->finish = VOUCH_FINISH_CONTEXT;
    out->n_accepted = vouch_min(out->n, judgement->n_accepted);
    out->last = out->n < n ? VOUCH_ORIGIN_ACCEPTED : judgement->origin;
    /* Guesses behind the end were never part of the answer. */
    for (int32_t i = 0; i < out->n_guesses; i++) {
        vouch_guess *guess = &cycle->guesses[i];
        if (!guess->drafters && cycle->drafter.ops) guess->drafters = cycle->drafter.ops->bit;
        guess->depth = guess->parent < 0 ? 0 : cycle->guesses[guess->parent].depth + 1;
        if (guess->depth < out->n) continue;
        guess->verdict = VOUCH_NOT_REACHED;
        guess->p = guess->accept = guess->u = 0;
    }
}

/* The rows that plain decoding would have had: one before each committed token. */
static void show_rows(const vouch_cycle *cycle, const vouch_judgement *judgement, const vouch_cycle_result *result)
{
    const vouch_drafter_ref *drafter = &cycle->drafter;
    if (!drafter->ops || !drafter->ops->see) return;
    for (int32_t i = 0; i < result->n; i++) {
        const int32_t row = i == 0 ? 0 : judgement->path[i - 1] + 1;
        const vouch_seen seen = {.n_tokens = result->first + i,
                                 .logits = cycle->target.logits(cycle->target.self, row)};
        drafter->ops->see(drafter->self, cycle->tokens, &seen);
    }
}

/* After commit: guesses behind the end of the answer have lost their verdicts. */
static void count(const vouch_cycle *cycle, const vouch_cycle_result *result, const vouch_judgement *judgement)
{
    vouch_stats *stats = cycle->stats;
    const int32_t last = result->n_accepted > 0 ? judgement->path[result->n_accepted - 1] : -1;
    bool full = result->n_guesses > 0;
    for (int32_t i = 0; i < result->n_guesses; i++) {
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
        stats->expected_acceptance_sum += judgement->overlap[i];
    }
    stats->generated_tokens += result->n;
    stats->cycles++;
    stats->drafted += result->n_guesses;
    stats->accepted += result->n_accepted;
    stats->draft_cycles += result->n_guesses > 0;
    stats->lenient_cycles += result->n_guesses > 0 && cycle->lenience < 1;
    stats->full_accepts += full;
    stats->depth_histogram[result->n_guesses]++;
}

static void pace_learn(const vouch_cycle *cycle, const vouch_lap *lap)
{
    const vouch_forecast forecast = vouch_pace_forecast(cycle->pace);
    cycle->stats->predicted_tokens += forecast.tokens;
    cycle->stats->predicted_seconds += forecast.seconds;
    vouch_pace_learn(cycle->pace, lap);
    cycle->stats->plain_step_seconds = vouch_pace_plain_seconds(cycle->pace);
}

vouch_status vouch_cycle_step(vouch_cycle *cycle, const vouch_shape *shape, int32_t room, vouch_cycle_result *out)
{
    assert(cycle->n_tokens >= 1 && cycle->n_tokens < cycle->n_ctx && room >= 1);
    const vouch_shape fits = shape_cut(cycle, shape, room);

    const double start = vouch_now();
    draft_guesses(cycle, &fits);

    const double drafted = vouch_now();
    const vouch_draft *draft = &cycle->draft;
    cycle->target.score(cycle->target.self, cycle->tokens, cycle->n_tokens, draft);

    const double scored = vouch_now();
    const vouch_trial trial = {.draft = draft,
                               .row_p = row_p,
                               .row_self = cycle,
                               .dice = &cycle->dice,
                               .position = cycle->n_tokens,
                               .lenience = cycle->lenience,
                               .want_overlap = cycle->want_overlap};
    vouch_judgement judgement;
    const vouch_status status = vouch_judge(&judgement, cycle->guesses, cycle->rule, &trial);
    if (status != VOUCH_OK) {
        vouch_cycle_rewind(cycle, cycle->n_tokens - 1);
        return status;
    }

    const double judged = vouch_now();
    *out = (vouch_cycle_result){.first = cycle->n_tokens, .n_guesses = draft->n};
    commit(cycle, &judgement, out);
    cycle->target.keep(cycle->target.self, judgement.path, vouch_min(out->n_accepted, out->n - 1));

    const double kept = vouch_now();
    show_rows(cycle, &judgement, out);
    vouch_cycle_rewind(cycle, cycle->n_tokens - 1);
    const double end = vouch_now();

    count(cycle, out, &judgement);
    vouch_stats *stats = cycle->stats;
    stats->draft_seconds += (drafted - start) + (end - kept);
    stats->verify_seconds += scored - drafted;
    stats->judge_seconds += judged - scored;
    stats->decode_seconds += end - start;
    if (cycle->pace && fits.depth >= 1) { /* it was asked */
        const vouch_lap lap = {.n_guesses = draft->n,
                               .n_accepted = judgement.n_accepted,
                               .pass_seconds = scored - drafted,
                               .judge_seconds = end - scored};
        pace_learn(cycle, &lap);
    }
    return VOUCH_OK;
}
