/* SPDX-License-Identifier: MIT */
/* Sampling parameters: their defaults and their ranges. */
#include "sample/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

vouch_sampling vouch_sampling_default(void)
{
    static const char *const breakers[] = {"\n", ":", "\"", "*"};
    return (vouch_sampling){
        .temperature = 0,
        .top_p = 1,
        .typical_p = 1,
        .xtc_threshold = 0.1f,
        .dry_base = 1.75f,
        .dry_allowed_length = 2,
        .dry_penalty_last_n = 64,
        .dry_sequence_breakers = breakers,
        .n_dry_sequence_breakers = sizeof breakers / sizeof *breakers,
        .repeat_penalty = 1,
        .penalty_window = 64,
    };
}

static vouch_status out_of_range(vouch_error *err, const char *name, double value, const char *range)
{
    return vouch_fail(err, VOUCH_E_ARGUMENT, "sampling: %s is %g; it must be %s", name, value, range);
}

/* Rejects biases that ban every token: a distribution needs one. */
static vouch_status check_bans(const vouch_sampling *params, int32_t n_vocab, vouch_error *err)
{
    int32_t n_left = n_vocab;
    if (params->n_bias < (size_t)n_vocab) return VOUCH_OK;
    bool *banned = calloc((size_t)n_vocab, sizeof *banned);
    if (!banned) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to check %zu biases", params->n_bias);
    for (size_t i = 0; i < params->n_bias; i++) {
        const vouch_logit_bias *b = &params->bias[i];
        if (b->bias > -INFINITY || banned[b->token]) continue;
        banned[b->token] = true;
        n_left--;
    }
    free(banned);
    if (n_left > 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_ARGUMENT, "sampling: logit_bias bans every token; leave at least one");
}

static vouch_status check_xtc(const vouch_sampling *params, vouch_error *err)
{
    if (!(params->xtc_probability >= 0 && params->xtc_probability <= 1))
        return out_of_range(err, "xtc_probability", params->xtc_probability, "at least 0 and at most 1 (0: off)");
    if (!(params->xtc_threshold >= 0 && params->xtc_threshold <= 1))
        return out_of_range(err, "xtc_threshold", params->xtc_threshold, "at least 0 and at most 1");
    return VOUCH_OK;
}

static vouch_status check_dry(const vouch_sampling *params, vouch_error *err)
{
    const size_t n = params->n_dry_sequence_breakers;
    if (!(params->dry_multiplier >= 0 && params->dry_multiplier < INFINITY))
        return out_of_range(err, "dry_multiplier", params->dry_multiplier, "a number >= 0 (0: off)");
    if (!(params->dry_base >= 1 && params->dry_base < INFINITY))
        return out_of_range(err, "dry_base", params->dry_base, "a number >= 1");
    if (params->dry_allowed_length < 0)
        return out_of_range(err, "dry_allowed_length", params->dry_allowed_length, ">= 0");
    if (params->dry_penalty_last_n < 0)
        return out_of_range(err, "dry_penalty_last_n", params->dry_penalty_last_n, ">= 0 (0: off)");
    if (n > VOUCH_MAX_BREAKERS)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "sampling: n_dry_sequence_breakers is %zu; it must be at most %d", n,
                          VOUCH_MAX_BREAKERS);
    if (n > 0 && !params->dry_sequence_breakers)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "sampling: n_dry_sequence_breakers is %zu, but dry_sequence_breakers "
                          "is NULL; set both",
                          n);
    for (size_t i = 0; i < n; i++) {
        const char *text = params->dry_sequence_breakers[i];
        const size_t size = text ? strlen(text) : 0;
        if (size < 1 || size > VOUCH_MAX_BREAKER_BYTES)
            return vouch_fail(err, VOUCH_E_ARGUMENT,
                              "sampling: dry_sequence_breakers[%zu] has %zu bytes; it must have "
                              "1 to %d",
                              i, size, VOUCH_MAX_BREAKER_BYTES);
    }
    return VOUCH_OK;
}

vouch_status vouch_sampling_check(const vouch_sampling *params, int32_t n_vocab, vouch_error *err)
{
    /* Each test is true for valid values, so that NaN fails all of them. */
    if (!(params->temperature >= 0 && params->temperature < INFINITY))
        return out_of_range(err, "temperature", params->temperature, "a number >= 0 (0: greedy)");
    if (params->top_k < 0) return out_of_range(err, "top_k", params->top_k, ">= 0 (0: off)");
    if (!(params->top_p > 0 && params->top_p <= 1))
        return out_of_range(err, "top_p", params->top_p, "above 0 and at most 1 (1: off)");
    if (!(params->min_p >= 0 && params->min_p < 1))
        return out_of_range(err, "min_p", params->min_p, "at least 0 and below 1 (0: off)");
    if (!(params->typical_p > 0 && params->typical_p <= 1))
        return out_of_range(err, "typical_p", params->typical_p, "above 0 and at most 1 (1: off)");
    if (!(params->top_n_sigma >= 0 && params->top_n_sigma < INFINITY))
        return out_of_range(err, "top_n_sigma", params->top_n_sigma, "a number >= 0 (0: off)");
    VOUCH_TRY(check_xtc(params, err));
    VOUCH_TRY(check_dry(params, err));
    if (!(params->repeat_penalty > 0 && params->repeat_penalty < INFINITY))
        return out_of_range(err, "repeat_penalty", params->repeat_penalty, "a number > 0 (1: off)");
    if (!(fabsf(params->frequency_penalty) < INFINITY))
        return out_of_range(err, "frequency_penalty", params->frequency_penalty, "a finite number (0: off)");
    if (!(fabsf(params->presence_penalty) < INFINITY))
        return out_of_range(err, "presence_penalty", params->presence_penalty, "a finite number (0: off)");
    if (params->penalty_window < 0)
        return out_of_range(err, "penalty_window", params->penalty_window, ">= 0 (0: no penalties)");
    if (params->n_bias > 0 && !params->bias)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "sampling: n_bias is %zu, but bias is NULL; set bias or n_bias = 0",
                          params->n_bias);
    for (size_t i = 0; i < params->n_bias; i++) {
        const vouch_logit_bias *b = &params->bias[i];
        if (b->token < 0 || b->token >= n_vocab)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "sampling: bias of token %d: the vocabulary has tokens 0 to %d",
                              b->token, n_vocab - 1);
        if (!(b->bias < INFINITY)) /* -INFINITY is a ban */
            return vouch_fail(err, VOUCH_E_ARGUMENT,
                              "sampling: bias of token %d is %g; it must be a finite number, or -inf to ban the token",
                              b->token, (double)b->bias);
    }
    return check_bans(params, n_vocab, err);
}
