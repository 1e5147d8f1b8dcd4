/* SPDX-License-Identifier: MIT */
#include "common/sampling.h"

#include "common/option_checks.h"

void cli_sampling_take(cli_options *options, const vouch_model *model)
{
    vouch_sampling *sampling = &options->session.sampling;
    vouch_model_sampling(model, options->sampling_given, sampling);
    options->seed_is_drawn &= sampling->temperature > 0;
    if (options->seed_is_drawn) sampling->seed = cli_seed_draw();
}

const char *cli_sampling_text(const vouch_sampling *sampling, unsigned fields, const char *mark,
                              char text[CLI_SAMPLING_SIZE])
{
    const vouch_sampling off = vouch_sampling_default();
    const bool is_greedy = sampling->temperature == 0;
    const bool has_penalty = sampling->repeat_penalty != 1 || sampling->frequency_penalty != 0 ||
                             sampling->presence_penalty != 0;
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
        used = (size_t)snprintf(text, CLI_SAMPLING_SIZE, "greedy%s", fields & VOUCH_SAMPLING_TEMPERATURE ? mark : "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows && used < CLI_SAMPLING_SIZE; i++)
        if (rows[i].is_shown) {
            char value[24];
            snprintf(value, sizeof value, "%.6g", rows[i].value);
            used += (size_t)snprintf(text + used, CLI_SAMPLING_SIZE - used, "%s%s %s%s", used ? ", " : "",
                                     rows[i].name, rows[i].value < INT32_MAX ? value : "all",
                                     fields & rows[i].field ? mark : "");
        }
    return text;
}
