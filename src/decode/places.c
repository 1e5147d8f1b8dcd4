/* SPDX-License-Identifier: MIT */
/* The walk that every rule shares: from the end of the accepted guesses, place by place. */
#include "decode/rules.h"

vouch_status vouch_judge_places(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial,
                                vouch_place_fn *place)
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
        vouch_site site = {.trial = trial,
                           .guesses = guesses,
                           .overlap = out->overlap,
                           .parent = parent,
                           .position = trial->position + out->n_accepted};
        vouch_residual_begin(&site.left, p, first >= 0 && draft->q ? draft->q[first] : NULL, trial->lenience);
        parent = place(&site, first);
        if (parent < 0) {
            out->final_token = site.token;
            out->origin = first >= 0 ? VOUCH_ORIGIN_RESIDUAL : draft->n > 0 ? VOUCH_ORIGIN_BONUS : VOUCH_ORIGIN_PLAIN;
            return VOUCH_OK;
        }
        out->path[out->n_accepted++] = parent;
    }
}
