/* SPDX-License-Identifier: MIT */
/* Builds the command with a broken judge: instead of the residual's token it emits the first rejected guess. `vouch
 * check` must find that law L2 is broken. */
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
