/* SPDX-License-Identifier: MIT */
/* The walk that rules share: from the last accepted guess to its accepted child, and so on. */
#include "decode/rules.h"

vouch_status vouch_judge_siblings(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial,
                                  vouch_siblings_fn *judge)
{
    const vouch_draft *draft = trial->draft;
    for (int32_t parent = out->n_accepted > 0 ? out->path[out->n_accepted - 1] : -1;;) {
        const vouch_dist *p;
        const vouch_status status = trial->row_p(trial->row_self, parent + 1, out->n_accepted, &p);
        if (status != VOUCH_OK) {
            out->origin = VOUCH_ORIGIN_ACCEPTED;
            return out->n_accepted > 0 ? VOUCH_OK : status;
        }
        const int32_t first = vouch_next_child(draft, parent, parent);
        vouch_siblings these = {.trial = trial,
                                .guesses = guesses,
                                .overlap = out->overlap,
                                .parent = parent,
                                .position = trial->position + out->n_accepted};
        vouch_residual_begin(&these.left, p, first >= 0 && draft->q ? draft->q[first] : NULL, trial->lenience);
        parent = judge(&these, first);
        if (parent < 0) {
            out->final_token = these.token;
            out->origin = first >= 0 ? VOUCH_ORIGIN_RESIDUAL : draft->n > 0 ? VOUCH_ORIGIN_BONUS : VOUCH_ORIGIN_PLAIN;
            return VOUCH_OK;
        }
        out->path[out->n_accepted++] = parent;
    }
}
