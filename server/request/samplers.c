/* SPDX-License-Identifier: MIT */
/*
 * `samplers`, llama.cpp's list of the samplers that it applies, in their order. A sampler that the list doesn't name is
 * off. vouch's order is fixed (vouch.h). A list in another order is accepted where the samplers that are on give the
 * same distribution in both orders, and refused otherwise.
 */
#include <string.h>

#include "request/request.h"

typedef enum sampler {
    PENALTIES,
    DRY,
    TOP_N_SIGMA,
    TEMPERATURE,
    TOP_K,
    TYPICAL,
    TOP_P,
    MIN_P,
    XTC,
    N_SAMPLERS
} sampler;

/* In the order of the chain. */
static const char *const names[N_SAMPLERS] = {"penalties", "dry",   "top_n_sigma", "temperature", "top_k",
                                              "typ_p",     "top_p", "min_p",       "xtc"};
static const char order[] = "penalties, dry, top_n_sigma, temperature, top_k, typ_p, top_p, min_p, xtc";

json_t *server_samplers_json(void)
{
    json_t *list = json_array();
    for (int i = 0; i < N_SAMPLERS; i++) json_array_append_new(list, json_string(names[i]));
    return list;
}

static bool is_on(const vouch_sampling *s, sampler which)
{
    switch (which) {
    case PENALTIES: return s->repeat_penalty != 1 || s->frequency_penalty != 0 || s->presence_penalty != 0;
    case DRY: return s->dry_multiplier > 0;
    case TOP_N_SIGMA: return s->top_n_sigma > 0;
    case TEMPERATURE: return s->temperature != 1;
    case TOP_K: return s->top_k > 0;
    case TYPICAL: return s->typical_p < 1;
    case TOP_P: return s->top_p < 1;
    case MIN_P: return s->min_p > 0;
    default: return s->xtc_probability > 0;
    }
}

static void turn_off(vouch_sampling *s, sampler which)
{
    switch (which) {
    case PENALTIES:
        s->repeat_penalty = 1;
        s->frequency_penalty = s->presence_penalty = 0;
        break;
    case DRY: s->dry_multiplier = 0; break;
    case TOP_N_SIGMA: s->top_n_sigma = 0; break;
    case TEMPERATURE: s->temperature = 1; break;
    case TOP_K: s->top_k = 0; break;
    case TYPICAL: s->typical_p = 1; break;
    case TOP_P: s->top_p = 1; break;
    case MIN_P: s->min_p = 0; break;
    default: s->xtc_probability = 0;
    }
}

/* Whether two samplers that are on give the same in both orders. Top-k and top-n-sigma look at logits alone, which
 * temperature scales. Greedy decoding keeps the likeliest token, and so do top-p and min-p. */
static bool commute(const vouch_sampling *s, sampler a, sampler b)
{
    const sampler other = a == TEMPERATURE ? b : a;
    if (a != TEMPERATURE && b != TEMPERATURE) return false;
    return other == TOP_K || other == TOP_N_SIGMA || (s->temperature == 0 && (other == TOP_P || other == MIN_P));
}

static int find_sampler(const char *name)
{
    int i = 0;
    if (strcmp(name, "typical_p") == 0) return TYPICAL;
    while (i < N_SAMPLERS && strcmp(names[i], name) != 0) i++;
    return i;
}

bool server_read_samplers(const json_t *list, vouch_sampling *sampling, server_fault *fault)
{
    sampler given[N_SAMPLERS];
    size_t n = 0, i;
    const json_t *element;
    unsigned named = 0;
    if (!json_is_array(list)) return server_fail_field(fault, "samplers", "expected an array with some of %s", order);
    json_array_foreach(list, i, element) {
        const char *name = json_is_string(element) ? json_string_value(element) : "";
        const int which = find_sampler(name);
        if (which == N_SAMPLERS)
            return server_fail_field(fault, "samplers", "element %zu, '%.40s': expected one of %s", i, name, order);
        if (named >> which & 1) return server_fail_field(fault, "samplers", "%s is given twice", names[which]);
        named |= 1u << which;
        given[n++] = (sampler)which;
    }
    for (int which = 0; which < N_SAMPLERS; which++)
        if (!(named >> which & 1)) turn_off(sampling, (sampler)which);
    for (size_t later = 1; later < n; later++)
        for (i = 0; i < later; i++)
            if (given[i] > given[later] && is_on(sampling, given[i]) && is_on(sampling, given[later]) &&
                !commute(sampling, given[i], given[later]))
                return server_fail_field(fault, "samplers", "%s stands before %s, but the order is fixed; expected %s",
                                         names[given[i]], names[given[later]], order);
    return true;
}
