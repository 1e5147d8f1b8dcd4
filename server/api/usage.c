/* SPDX-License-Identifier: MIT */
#include "api/usage.h"

#include <math.h>

#include "tool/json.h"
#include "work/metrics.h"

/* --------------------------------------------------------------------- sums */

static void raise_to(double *most, double x)
{
    if (x > *most) *most = x;
}

static void add_choice(server_usage *usage, const server_choice *choice)
{
    server_stats_add(&usage->stats, &choice->stats);
    raise_to(&usage->queue_seconds, choice->begun - choice->queued);
    if (choice->first == 0) return; /* it gave no token */
    raise_to(&usage->first_seconds, choice->first - choice->queued);
    raise_to(&usage->prefill_seconds, choice->first - choice->begun);
    raise_to(&usage->decode_seconds, choice->ended - choice->first);
}

server_usage server_usage_of(const server_job *job, int32_t n_answers)
{
    server_usage usage = {0};
    for (int32_t i = 0; i < job->n_choices; i++) {
        if (i % n_answers == 0) {
            usage.prompt_tokens += (int64_t)job->choices[i].n_tokens;
            usage.cached_tokens += job->choices[i].n_cached;
        }
        add_choice(&usage, &job->choices[i]);
    }
    usage.completion_tokens = usage.stats.generated_tokens;
    usage.thought_tokens = usage.stats.thought_tokens;
    if (job->prediction) {
        const unsigned predicting = vouch_drafter_needing(VOUCH_NEED_PREDICTION);
        for (int i = 0; i < VOUCH_DRAFTERS; i++) {
            usage.predicted += predicting >> i & 1 ? usage.stats.drafted_by[i] : 0;
            usage.predicted_accepted += predicting >> i & 1 ? usage.stats.accepted_by[i] : 0;
        }
    }
    return usage;
}

server_usage server_usage_of_choice(const server_choice *choice)
{
    server_usage usage = {.prompt_tokens = (int64_t)choice->n_tokens, .cached_tokens = choice->n_cached};
    add_choice(&usage, choice);
    usage.completion_tokens = usage.stats.generated_tokens;
    usage.thought_tokens = usage.stats.thought_tokens;
    return usage;
}

/* --------------------------------------------------------------------- JSON */

json_t *server_usage_json(const server_usage *u)
{
    const tool_json_entry prompt[] = {{"cached_tokens", json_integer(u->cached_tokens)}};
    const tool_json_entry completion[] = {
        {"reasoning_tokens", json_integer(u->thought_tokens)},
        {"accepted_prediction_tokens", json_integer(u->predicted_accepted)},
        {"rejected_prediction_tokens", json_integer(u->predicted - u->predicted_accepted)},
    };
    const tool_json_entry entries[] = {
        {"prompt_tokens", json_integer(u->prompt_tokens)},
        {"completion_tokens", json_integer(u->completion_tokens)},
        {"total_tokens", json_integer(u->prompt_tokens + u->completion_tokens)},
        {"prompt_tokens_details", tool_json_object(prompt, 1)},
        {"completion_tokens_details", tool_json_object(completion, 3)},
    };
    return tool_json_object(entries, 5);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* The first token comes with the prompt's pass, so the others alone have a speed. */
json_t *server_timings_json(const server_progress *p)
{
    const double run = (double)p->n_run, later = p->n_generated > 1 ? (double)(p->n_generated - 1) : 0;
    const double prompt_ms = p->prefill_seconds * 1e3, ms = p->decode_seconds * 1e3;
    const tool_json_entry entries[] = {
        {"cache_n", json_integer(p->n_cached)},
        {"prompt_n", json_integer(p->n_run)},
        {"prompt_ms", tool_json_real(prompt_ms)},
        {"prompt_per_token_ms", tool_json_real(ratio(prompt_ms, run))},
        {"prompt_per_second", tool_json_real(ratio(run, p->prefill_seconds))},
        {"predicted_n", json_integer(p->n_generated)},
        {"predicted_ms", tool_json_real(ms)},
        {"predicted_per_token_ms", tool_json_real(ratio(ms, later))},
        {"predicted_per_second", tool_json_real(ratio(later, p->decode_seconds))},
        {"draft_n", json_integer(p->n_drafted)},
        {"draft_n_accepted", json_integer(p->n_accepted)},
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

json_t *server_usage_timings(const server_usage *u)
{
    return server_timings_json(&(server_progress){.n_run = u->prompt_tokens - u->cached_tokens,
                                                  .n_cached = u->cached_tokens,
                                                  .n_generated = u->completion_tokens,
                                                  .n_drafted = u->stats.drafted,
                                                  .n_accepted = u->stats.accepted,
                                                  .prefill_seconds = u->prefill_seconds,
                                                  .decode_seconds = u->decode_seconds});
}

/* Cycles with a draft, by the number of guesses that they accepted: accepted_at[d] of them accepted more than d. */
static json_t *histogram_json(const vouch_stats *s)
{
    int64_t counts[VOUCH_MAX_DRAFT + 1] = {s->draft_cycles};
    int n = 1;
    for (int d = 0; d < VOUCH_MAX_DRAFT && s->accepted_at[d] > 0; d++) {
        counts[d] -= s->accepted_at[d];
        counts[n++] = s->accepted_at[d];
    }
    return tool_json_counts(counts, (size_t)n);
}

static json_t *drafters_json(const vouch_stats *s)
{
    json_t *object = json_object();
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        if (s->drafted_by[i] == 0) continue;
        const tool_json_entry entries[] = {{"drafted", json_integer(s->drafted_by[i])},
                                           {"accepted", json_integer(s->accepted_by[i])}};
        json_object_set_new(object, vouch_drafter_name(i), tool_json_object(entries, 2));
    }
    return object;
}

json_t *server_metrics_json(const server_usage *u)
{
    const vouch_stats *s = &u->stats;
    const double steps = (double)s->draft_cycles, generated = (double)s->generated_tokens;
    const tool_json_entry speculative[] = {
        {"mean_acceptance_length", tool_json_real(1 + ratio((double)s->accepted, steps))},
        {"draft_acceptance_rate", tool_json_real(ratio((double)s->accepted, (double)s->drafted))},
        {"acceptance_histogram", histogram_json(s)},
        {"num_spec_steps", json_integer(s->draft_cycles)},
        {"num_accepted_draft_tokens", json_integer(s->accepted)},
        {"num_draft_tokens", json_integer(s->drafted)},
        {"cycles", json_integer(s->cycles)},
        {"tokens_per_cycle", tool_json_real(ratio(generated, (double)s->cycles))},
        {"drafters", drafters_json(s)},
        {"lossless", json_boolean(s->lenient_cycles == 0)},
    };
    const tool_json_entry timing[] = {
        {"queue_seconds", tool_json_real(u->queue_seconds)},
        {"time_to_first_token_seconds", tool_json_real(u->first_seconds)},
        {"prefill_seconds", tool_json_real(u->prefill_seconds)},
        {"decode_seconds", tool_json_real(u->decode_seconds)},
        {"tokens_per_second", tool_json_real(ratio(generated, u->decode_seconds))},
        {"plain_tokens_per_second",
         s->plain_step_seconds > 0 ? tool_json_real(1 / s->plain_step_seconds) : json_null()},
    };
    const tool_json_entry entries[] = {
        {"speculative_decoding", tool_json_object(speculative, sizeof speculative / sizeof *speculative)},
        {"timing", tool_json_object(timing, sizeof timing / sizeof *timing)},
    };
    return tool_json_object(entries, 2);
}

/* -------------------------------------------------------------------- traces */

json_t *server_token_text(const vouch_model *model, int32_t token)
{
    size_t n = 0;
    const char *bytes = vouch_token_bytes(model, token, &n);
    return server_json_bytes(bytes, bytes ? n : 0);
}

/* Adds the figures of a guess to the object. */
static void add_guess(json_t *object, const vouch_guess *guess)
{
    json_t *drafters = json_array();
    for (int d = 0; d < VOUCH_DRAFTERS; d++)
        if (guess->drafters >> d & 1) json_array_append_new(drafters, json_string(vouch_drafter_name(d)));
    json_object_set_new(object, "drafters", drafters);
    json_object_set_new(object, "q", tool_json_real(guess->q));
    json_object_set_new(object, "p", tool_json_real(guess->p));
    json_object_set_new(object, "accept", tool_json_real(guess->accept));
    json_object_set_new(object, "u", tool_json_real(guess->u));
}

static json_t *rejected_json(const vouch_model *model, const vouch_guess *guess)
{
    const tool_json_entry entries[] = {
        {"token", json_integer(guess->token)},
        {"text", server_token_text(model, guess->token)},
        {"depth", json_integer(guess->depth)},
        {"verdict", json_string(guess->verdict == VOUCH_REJECTED ? "rejected" : "not_reached")},
    };
    json_t *object = tool_json_object(entries, 4);
    add_guess(object, guess);
    return object;
}

json_t *server_trace_json(const vouch_model *model, const server_event *event, int32_t i, int64_t cycle)
{
    static const char *const origins[] = {[VOUCH_ORIGIN_ACCEPTED] = "accepted",
                                          [VOUCH_ORIGIN_PLAIN] = "plain",
                                          [VOUCH_ORIGIN_RESIDUAL] = "residual",
                                          [VOUCH_ORIGIN_BONUS] = "bonus"};
    const vouch_guess *guesses = server_event_guesses(event);
    const int32_t token = server_event_tokens(event)[i];
    const bool is_accepted = i < event->n_accepted, is_last = i == event->n_tokens - 1;
    json_t *rejected = json_array();
    const tool_json_entry entries[] = {
        {"token", json_integer(token)},
        {"text", server_token_text(model, token)},
        {"origin", json_string(is_accepted ? "accepted" : origins[event->last])},
        {"cycle", json_integer(cycle)},
    };
    json_t *object = tool_json_object(entries, 4);
    for (int32_t g = 0; g < event->n_guesses; g++) {
        const vouch_guess *guess = &guesses[g];
        if (guess->depth != i && !(is_last && guess->depth > i)) continue;
        if (guess->verdict != VOUCH_ACCEPTED) json_array_append_new(rejected, rejected_json(model, guess));
        else if (guess->depth == i) add_guess(object, guess);
    }
    json_object_set_new(object, "rejected", rejected);
    return object;
}
