/* SPDX-License-Identifier: MIT */
#include "work/metrics.h"

const double server_bounds[SERVER_BUCKETS] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2,
                                              0.3,   0.5,   0.75,  1,    2,    3,    5,    10,   20,   60,  120,  600};

static void observe(server_histogram *h, double seconds, int64_t n)
{
    int i = 0;
    while (i < SERVER_BUCKETS && seconds > server_bounds[i]) i++;
    h->counts[i] += n;
    h->sum += seconds * (double)n;
    h->n += n;
}

void server_metrics_tokens(server_metrics *metrics, double seconds, int32_t n)
{
    observe(&metrics->between_tokens, seconds, n);
}

void server_stats_add(vouch_stats *sum, const vouch_stats *stats)
{
    sum->prompt_tokens += stats->prompt_tokens;
    sum->generated_tokens += stats->generated_tokens;
    sum->thought_tokens += stats->thought_tokens;
    sum->cycles += stats->cycles;
    sum->drafted += stats->drafted;
    sum->accepted += stats->accepted;
    sum->draft_cycles += stats->draft_cycles;
    sum->lenient_cycles += stats->lenient_cycles;
    for (int i = 0; i < VOUCH_MAX_DRAFT; i++) sum->accepted_at[i] += stats->accepted_at[i];
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        sum->accepted_by[i] += stats->accepted_by[i];
        sum->drafted_by[i] += stats->drafted_by[i];
    }
    sum->decode_seconds += stats->decode_seconds;
    sum->predicted_tokens += stats->predicted_tokens;
    sum->predicted_seconds += stats->predicted_seconds;
    if (stats->plain_step_seconds > 0) sum->plain_step_seconds = stats->plain_step_seconds;
}

void server_metrics_choice(server_metrics *m, const server_choice *choice)
{
    const bool is_long = choice->finish == VOUCH_FINISH_LENGTH || choice->finish == VOUCH_FINISH_CONTEXT;
    const int reason = choice->error.code == VOUCH_E_CANCELLED ? SERVER_REASON_ABORT
                       : choice->error.code                    ? SERVER_REASON_ERROR
                       : is_long                               ? SERVER_REASON_LENGTH
                                                               : SERVER_REASON_STOP;
    m->finished[reason]++;
    server_stats_add(&m->stats, &choice->stats);
    if (choice->begun == 0) return; /* it never left the queue */
    observe(&m->queue, choice->begun - choice->queued, 1);
    observe(&m->whole, choice->ended - choice->queued, 1);
    if (choice->first == 0) return;
    m->prompt_tokens += (int64_t)choice->n_tokens;
    m->cached_tokens += choice->n_cached;
    observe(&m->first_token, choice->first - choice->queued, 1);
    observe(&m->prefill, choice->first - choice->begun, 1);
    observe(&m->decode, choice->ended - choice->first, 1);
}
