/* SPDX-License-Identifier: MIT */
/* The figures of a job, which every API reports: tokens, times, and how speculation went. */
#ifndef VOUCH_SERVER_USAGE_H
#define VOUCH_SERVER_USAGE_H

#include "request/request.h"

/* Sums over the choices that have ended. */
typedef struct server_usage {
    int64_t prompt_tokens, cached_tokens; /* of each prompt once, whatever n is */
    int64_t completion_tokens, thought_tokens;
    int64_t predicted, predicted_accepted; /* guesses copied from the request's prediction */
    vouch_stats stats;                     /* the counters alone */
    double queue_seconds, first_seconds, prefill_seconds, decode_seconds; /* of the slowest choice */
} server_usage;

server_usage server_usage_of(const server_job *job, int32_t n_answers);
server_usage server_usage_of_choice(const server_choice *choice);
/* `usage` of the OpenAI API. */
json_t *server_usage_json(const server_usage *usage);
/* `timings` of llama.cpp, while an answer runs and for a whole one. */
json_t *server_timings_json(const server_progress *progress);
json_t *server_usage_timings(const server_usage *usage);
/* `metrics`: speculative_decoding as vLLM has it, drafters, timing. */
json_t *server_metrics_json(const server_usage *usage);

json_t *server_token_text(const vouch_model *model, int32_t token);
/* The trace of token i of a step: how it came to be, and which guesses were rejected for its position. */
json_t *server_trace_json(const vouch_model *model, const server_event *event, int32_t i, int64_t cycle);

#endif
