/* SPDX-License-Identifier: MIT */
/*
 * The cycle (cycle.h has the picture).
 *
 * Invariants, N = n_tokens:
 *   1  tokens beyond N are provisional: written and read within one cycle only.
 *   2  between cycles target and drafter hold at most N - 1 tokens, so that the last committed token is
 *      the first row of the next pass.
 *   3  N + guesses + 1 <= n_ctx: neither a pass nor a commit runs over the context's end.
 *   4  a cycle that fails changes nothing but, by 2, how much of the same prefix is cached. It fails at
 *      n_tokens: where a later row has no p, the guesses accepted before it are committed, and the next
 *      cycle fails.
 *   5  accepted counts committed guesses: generated = accepted + the residual, bonus and plain tokens.
 */
#include "spec/cycle.h"

#include <assert.h>

#include "base/common.h"

/* What the judge needs to ask the target for a row. */
static vouch_status row_p(void *self, int32_t row, const vouch_dist **p)
{
    const vouch_cycle *cycle = self;
    return cycle->target.row(cycle->target.self, cycle->tokens, cycle->n_tokens + row, row, p);
}

static void rewind_both(const vouch_cycle *cycle)
{
    cycle->target.rewind(cycle->target.self, cycle->n_tokens - 1);
    if (cycle->drafter.ops) cycle->drafter.ops->rewind(cycle->drafter.self, cycle->n_tokens - 1);
}

/* 1. At most k guesses, cut at the first that is no token, and put behind the sequence. */
static vouch_draft draft_guesses(vouch_cycle *cycle, int32_t k)
{
    if (!cycle->drafter.ops || k < 1) return (vouch_draft){0};
    vouch_draft draft = cycle->drafter.ops->propose(cycle->drafter.self, cycle->tokens, cycle->n_tokens, k);
    const int32_t n = vouch_min(draft.n, k);
    for (draft.n = 0; draft.n < n; draft.n++) {
        const int32_t token = draft.tokens[draft.n];
        if (token < 0 || token >= cycle->n_vocab) break;
        cycle->tokens[cycle->n_tokens + draft.n] = token;
    }
    return draft;
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
    for (int32_t i = out->n; i < out->n_guesses; i++) {
        vouch_guess *guess = &cycle->guesses[i];
        *guess = (vouch_guess){.token = guess->token, .verdict = VOUCH_NOT_REACHED, .q = guess->q};
    }
}

/* After commit: guesses behind the end of the answer have lost their verdicts. */
static void count(const vouch_cycle *cycle, const vouch_cycle_result *result, const vouch_judgement *judgement)
{
    vouch_stats *stats = cycle->stats;
    stats->generated_tokens += result->n;
    stats->cycles++;
    stats->drafted += result->n_guesses;
    stats->accepted += result->n_accepted;
    stats->draft_cycles += result->n_guesses > 0;
    stats->full_accepts += result->n_guesses > 0 && result->n_accepted == result->n_guesses;
    for (int32_t i = 0; i < result->n_guesses; i++) stats->drafted_at[i]++;
    for (int32_t i = 0; i < result->n_accepted; i++) stats->accepted_at[i]++;
    stats->depth_histogram[result->n_guesses]++;
    for (int32_t i = 0; i < result->n_guesses && cycle->guesses[i].verdict != VOUCH_NOT_REACHED; i++) {
        stats->judged++;
        stats->expected_acceptance_sum += judgement->overlap[i];
    }
}

vouch_status vouch_cycle_step(vouch_cycle *cycle, int32_t k, int32_t room, vouch_cycle_result *out)
{
    assert(cycle->n_tokens >= 1 && cycle->n_tokens < cycle->n_ctx && room >= 1);
    k = vouch_min(vouch_min(k, VOUCH_MAX_DRAFT), vouch_min(room - 1, cycle->n_ctx - cycle->n_tokens - 1));

    const double start = vouch_now();
    const vouch_draft draft = draft_guesses(cycle, k);

    const double drafted = vouch_now();
    cycle->target.score(cycle->target.self, cycle->tokens, cycle->n_tokens, draft.n);

    const double scored = vouch_now();
    vouch_judgement judgement;
    const vouch_status status = vouch_judge(&judgement, cycle->guesses, &draft, row_p, cycle, &cycle->dice,
                                            cycle->n_tokens, cycle->lenience, cycle->want_overlap);
    if (status != VOUCH_OK) {
        rewind_both(cycle);
        return status;
    }

    const double judged = vouch_now();
    *out = (vouch_cycle_result){.first = cycle->n_tokens, .n_guesses = draft.n};
    commit(cycle, &judgement, out);
    rewind_both(cycle);

    count(cycle, out, &judgement);
    vouch_stats *stats = cycle->stats;
    stats->draft_seconds += drafted - start;
    stats->verify_seconds += scored - drafted;
    stats->judge_seconds += judged - scored;
    stats->decode_seconds += vouch_now() - start;
    return VOUCH_OK;
}
