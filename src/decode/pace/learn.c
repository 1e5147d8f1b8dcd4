/* SPDX-License-Identifier: MIT */
/* What a cycle teaches pace, and what pace had expected of it (pace.h). */
#include "base/common.h"
#include "decode/pace/parts.h"

void vouch_pace_init(vouch_pace *pace, const vouch_pace_options *options)
{
    *pace = (vouch_pace){.has_paid = options->has_paid,
                         .paid_share = options->paid_share,
                         .paid_at_once = options->paid_at_once,
                         .n_threads = options->n_threads,
                         .n_sharing = 1,
                         .part = 1};
    vouch_pace_estimates_init(&pace->seen, options->cost);
    vouch_pace_guards_init(&pace->guards);
}

void vouch_pace_begin_answer(vouch_pace *pace)
{
    pace->guards.n_cycles = 0;
}

/* By the estimates from before the cycle. */
static vouch_forecast forecast(const vouch_pace *p, const vouch_outcome *o, double tokens)
{
    const vouch_pace_estimates *seen = &p->seen;
    if (!(p->pass_seconds > 0)) return (vouch_forecast){0};
    const double pass = vouch_cost_of(seen->cost, o->n_rows) * vouch_cost_seconds(seen->cost) + o->prompt_seconds;
    const double paid = o->asked_paid ? vouch_paid_sum(vouch_pace_paid_time(p, p->paid_depth)) * p->pass_seconds : 0;
    const double others = seen->free_seconds.value + seen->judge_seconds.value * tokens;
    return (vouch_forecast){.tokens = tokens, .seconds = pass + paid + others};
}

vouch_forecast vouch_pace_learn(vouch_pace *pace, const vouch_outcome *outcome)
{
    vouch_pace *p = pace;
    vouch_pace_estimates *seen = &p->seen;
    const vouch_outcome *o = outcome;
    const int32_t levels = vouch_min(o->paid_levels, o->levels);
    const double tokens = o->expected > 0 ? o->expected : levels > 0 ? vouch_pace_tokens(p, levels) : 1;
    const vouch_forecast expected = forecast(p, o, tokens);
    if (levels > 0) p->worth = vouch_pace_worth(p, tokens, p->paid_costs[o->n_guesses + 1]);
    if (o->n_guesses > 0) vouch_pace_mean_add(&seen->usual, p->worth);
    vouch_pace_count(&p->guards, o->n_guesses);
    if (p->guards.n_cycles == 1 || !(o->pass_seconds > 0)) return expected; /* a cold first pass, or no time */
    if (o->free_seconds > 0) vouch_pace_mean_add(&seen->free_seconds, o->free_seconds);
    if (o->asked_paid) vouch_pace_learn_seconds(p, o);
    if (!p->has_paid && p->most.depth > 0 && p->pass_seconds > 0) vouch_pace_learn_rest(p, o, tokens);
    vouch_pace_mean_add(&seen->judge_seconds, o->judge_seconds / (o->n_accepted + 1));
    vouch_pace_learn_acceptance(p, o, levels);
    if (seen->cost->n_passes > 0) vouch_pace_learn_budget(p, o);
    return expected;
}
