/* SPDX-License-Identifier: MIT */
/* The command with a judge under which the first guess that is rejected takes the place after all. `vouch check` has to
 * find law L2 broken. */
#include "decode/judge.h"

vouch_status __real_vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_rule *rule,
                                const vouch_trial *trial);
vouch_status __wrap_vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_rule *rule,
                                const vouch_trial *trial);

vouch_status __wrap_vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_rule *rule,
                                const vouch_trial *trial)
{
    const vouch_status status = __real_vouch_judge(out, guesses, rule, trial);
    if (status != VOUCH_OK || out->origin != VOUCH_ORIGIN_RESIDUAL) return status;
    const int32_t parent = out->n_accepted > 0 ? out->path[out->n_accepted - 1] : -1;
    out->final_token = trial->draft->tokens[vouch_next_child(trial->draft, parent, parent)];
    return VOUCH_OK;
}
