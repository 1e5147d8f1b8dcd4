/* SPDX-License-Identifier: MIT */
#include "engine/file/recommend.h"

#include <math.h>
#include <stdio.h>

#include "sample/sample.h"

#define PREFIX "general.sampling."

/* A value beyond [low, high] becomes the nearest one, as llama.cpp takes it: a top_k of -1 is off, too. */
static vouch_status read_float(vouch_recommendation *r, const vouch_gguf *gguf, const char *key, unsigned field,
                               double low, double high, float *out, vouch_error *err)
{
    double value = 0;
    if (!vouch_gguf_has(gguf, key)) return VOUCH_OK;
    VOUCH_TRY(vouch_gguf_get_float(gguf, key, true, &value, err));
    *out = (float)fmin(fmax(value, low), high);
    r->fields |= field;
    return VOUCH_OK;
}

/* A negative number becomes `negative`. */
static vouch_status read_whole(vouch_recommendation *r, const vouch_gguf *gguf, const char *key, unsigned field,
                               int32_t negative, int32_t *out, vouch_error *err)
{
    int64_t value = 0;
    if (!vouch_gguf_has(gguf, key)) return VOUCH_OK;
    VOUCH_TRY(vouch_gguf_get_int(gguf, key, true, INT64_MIN, INT64_MAX, &value, err));
    *out = value < 0 ? negative : value > INT32_MAX ? INT32_MAX : (int32_t)value;
    r->fields |= field;
    return VOUCH_OK;
}

vouch_status vouch_recommendation_read(vouch_recommendation *out, const vouch_gguf *gguf, vouch_error *err)
{
    *out = (vouch_recommendation){.sampling = vouch_sampling_default()};
    vouch_sampling *s = &out->sampling;
    s->temperature = 0.8f;
    s->top_p = 0.95f;
    if (!gguf) return VOUCH_OK;
    VOUCH_TRY(read_float(out, gguf, PREFIX "temp", VOUCH_SAMPLING_TEMPERATURE, 0, 1e6, &s->temperature, err));
    VOUCH_TRY(read_whole(out, gguf, PREFIX "top_k", VOUCH_SAMPLING_TOP_K, 0, &s->top_k, err));
    VOUCH_TRY(read_float(out, gguf, PREFIX "top_p", VOUCH_SAMPLING_TOP_P, 1e-6, 1, &s->top_p, err));
    VOUCH_TRY(read_float(out, gguf, PREFIX "min_p", VOUCH_SAMPLING_MIN_P, 0, 0.999999, &s->min_p, err));
    VOUCH_TRY(read_float(out, gguf, "vouch.sampling.typical_p", VOUCH_SAMPLING_TYPICAL_P, 1e-6, 1, &s->typical_p, err));
    VOUCH_TRY(read_float(out, gguf, PREFIX "xtc_probability", VOUCH_SAMPLING_XTC_PROBABILITY, 0, 1, &s->xtc_probability,
                         err));
    VOUCH_TRY(read_float(out, gguf, PREFIX "xtc_threshold", VOUCH_SAMPLING_XTC_THRESHOLD, 0, 1, &s->xtc_threshold,
                         err));
    VOUCH_TRY(read_float(out, gguf, PREFIX "penalty_repeat", VOUCH_SAMPLING_REPEAT_PENALTY, 1e-3, 1e3,
                         &s->repeat_penalty, err));
    return read_whole(out, gguf, PREFIX "penalty_last_n", VOUCH_SAMPLING_PENALTY_WINDOW, INT32_MAX, &s->penalty_window,
                      err);
}
