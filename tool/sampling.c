/* SPDX-License-Identifier: MIT */
#include "tool/sampling.h"

const char *tool_sampling_text(const vouch_sampling *sampling, unsigned fields, const char *mark,
                               char text[TOOL_SAMPLING_SIZE])
{
    const vouch_sampling off = vouch_sampling_default();
    const bool is_greedy = sampling->temperature == 0;
    const bool has_penalty =
        sampling->repeat_penalty != 1 || sampling->frequency_penalty != 0 || sampling->presence_penalty != 0;
    const bool has_xtc = !is_greedy && sampling->xtc_probability > 0, has_dry = sampling->dry_multiplier > 0;
    const struct {
        const char *name;
        double value;
        unsigned field;
        bool is_shown;
    } rows[] = {
        {"temperature", (double)sampling->temperature, VOUCH_SAMPLING_TEMPERATURE, !is_greedy},
        {"top-k", sampling->top_k, VOUCH_SAMPLING_TOP_K, !is_greedy && sampling->top_k != off.top_k},
        {"top-p", (double)sampling->top_p, VOUCH_SAMPLING_TOP_P, !is_greedy && sampling->top_p != off.top_p},
        {"min-p", (double)sampling->min_p, VOUCH_SAMPLING_MIN_P, !is_greedy && sampling->min_p != off.min_p},
        {"typical", (double)sampling->typical_p, VOUCH_SAMPLING_TYPICAL_P, !is_greedy && sampling->typical_p != 1},
        {"top-n-sigma", (double)sampling->top_n_sigma, 0, !is_greedy && sampling->top_n_sigma != 0},
        {"xtc-probability", (double)sampling->xtc_probability, VOUCH_SAMPLING_XTC_PROBABILITY, has_xtc},
        {"xtc-threshold", (double)sampling->xtc_threshold, VOUCH_SAMPLING_XTC_THRESHOLD, has_xtc},
        {"dry-multiplier", (double)sampling->dry_multiplier, 0, has_dry},
        {"dry-base", (double)sampling->dry_base, 0, has_dry && sampling->dry_base != off.dry_base},
        {"dry-allowed-length", sampling->dry_allowed_length, 0,
         has_dry && sampling->dry_allowed_length != off.dry_allowed_length},
        {"dry-penalty-last-n", sampling->dry_penalty_last_n, 0,
         has_dry && sampling->dry_penalty_last_n != off.dry_penalty_last_n},
        {"repeat-penalty", (double)sampling->repeat_penalty, VOUCH_SAMPLING_REPEAT_PENALTY,
         sampling->repeat_penalty != 1},
        {"frequency-penalty", (double)sampling->frequency_penalty, 0, sampling->frequency_penalty != 0},
        {"presence-penalty", (double)sampling->presence_penalty, 0, sampling->presence_penalty != 0},
        {"penalty-window", sampling->penalty_window, VOUCH_SAMPLING_PENALTY_WINDOW,
         has_penalty && sampling->penalty_window != off.penalty_window},
    };
    size_t used = 0;
    *text = 0;
    if (is_greedy)
        used = (size_t)snprintf(text, TOOL_SAMPLING_SIZE, "greedy%s", fields & VOUCH_SAMPLING_TEMPERATURE ? mark : "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows && used < TOOL_SAMPLING_SIZE; i++)
        if (rows[i].is_shown) {
            char value[24];
            snprintf(value, sizeof value, "%.6g", rows[i].value);
            used +=
                (size_t)snprintf(text + used, TOOL_SAMPLING_SIZE - used, "%s%s %s%s", used ? ", " : "", rows[i].name,
                                 rows[i].value < INT32_MAX ? value : "all", fields & rows[i].field ? mark : "");
        }
    return text;
}

static json_t *breakers_json(const vouch_sampling *sampling)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sampling->n_dry_sequence_breakers; i++)
        json_array_append_new(list, tool_json_text(sampling->dry_sequence_breakers[i]));
    return list;
}

json_t *tool_sampling_add(json_t *object, const vouch_sampling *sampling)
{
    const vouch_sampling *s = sampling;
    const tool_json_entry entries[] = {
        {"temperature", tool_json_float(s->temperature)},
        {"top_k", json_integer(s->top_k)},
        {"top_p", tool_json_float(s->top_p)},
        {"min_p", tool_json_float(s->min_p)},
        {"typical_p", tool_json_float(s->typical_p)},
        {"top_n_sigma", tool_json_float(s->top_n_sigma)},
        {"xtc_probability", tool_json_float(s->xtc_probability)},
        {"xtc_threshold", tool_json_float(s->xtc_threshold)},
        {"dry_multiplier", tool_json_float(s->dry_multiplier)},
        {"dry_base", tool_json_float(s->dry_base)},
        {"dry_allowed_length", json_integer(s->dry_allowed_length)},
        {"dry_penalty_last_n", json_integer(s->dry_penalty_last_n)},
        {"dry_sequence_breakers", breakers_json(s)},
        {"repeat_penalty", tool_json_float(s->repeat_penalty)},
        {"frequency_penalty", tool_json_float(s->frequency_penalty)},
        {"presence_penalty", tool_json_float(s->presence_penalty)},
        {"repeat_last_n", json_integer(s->penalty_window)},
    };
    json_t *parameters = tool_json_object(entries, sizeof entries / sizeof *entries);
    const bool added = parameters && json_object_update(object, parameters) == 0;
    json_decref(parameters);
    if (added) return object;
    json_decref(object);
    return NULL;
}
