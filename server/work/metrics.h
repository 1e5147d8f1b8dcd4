/* SPDX-License-Identifier: MIT */
/* Counters of a worker since the server's start. */
#ifndef VOUCH_SERVER_METRICS_H
#define VOUCH_SERVER_METRICS_H

#include "work/job.h"

enum { SERVER_BUCKETS = 24 };

extern const double server_bounds[SERVER_BUCKETS]; /* upper bounds of the buckets, in seconds */

typedef struct server_histogram {
    int64_t counts[SERVER_BUCKETS + 1]; /* the last: above all bounds */
    double sum;
    int64_t n;
} server_histogram;

/* Why an answer ended. */
enum { SERVER_REASON_STOP, SERVER_REASON_LENGTH, SERVER_REASON_ABORT, SERVER_REASON_ERROR, SERVER_REASONS };

typedef struct server_metrics {
    int64_t finished[SERVER_REASONS]; /* choices */
    int64_t prompt_tokens, cached_tokens;
    vouch_stats stats; /* sums of the counters */
    server_histogram first_token, between_tokens, whole, queue, prefill, decode;
} server_metrics;

/* Counts this time between two tokens n times. */
void server_metrics_tokens(server_metrics *metrics, double seconds, int32_t n);
/* Counts a choice that has ended. */
void server_metrics_choice(server_metrics *metrics, const server_choice *choice);
/* Adds the counters of one answer on which the figures of requests and /metrics are built. */
void server_stats_add(vouch_stats *sum, const vouch_stats *stats);

#endif
