/* SPDX-License-Identifier: MIT */
/* The classic drafter: a smaller model (Leviathan et al., arXiv 2211.17192), with the same token table or a bridge. */
#ifndef VOUCH_DRAFT_MODEL_H
#define VOUCH_DRAFT_MODEL_H

#include "draft/bridge.h"
#include "draft/drafter.h"
#include "model/sequence.h"

typedef struct vouch_drafter_model_options {
    const vouch_sampling *sampling; /* the session's: q is processed as p is */
    vouch_draft_sampling draft_sampling;
    vouch_draw_fn *draw;   /* of a guess from q: the rule that judges it says which */
    int32_t n_ctx;         /* of the session; the draft model's own may be shorter */
    int32_t prefill_chunk;
    int32_t k;             /* most guesses of a proposal */
    int32_t branches;      /* most for one place, of which VOUCH_MAX_TOP are used; 1: chains */
    vouch_kv_type kv_type;
    vouch_bridge *bridge;  /* to another token table or a trimmed head; NULL: neither. Taken over, on failure, too */
    const int32_t *head;   /* [n_head] the tokens of the trimmed head that the bridge knows; copied */
    int32_t n_head;        /* 0: it is whole */
} vouch_drafter_model_options;

/* weights and pool must outlive it. Past the draft model's trained context it proposes nothing.
 * Errors: MEMORY, UNSUPPORTED (kv_type); on failure *out has no ops. */
vouch_status vouch_drafter_model_open(vouch_drafter_ref *out, const vouch_weights *weights, vouch_pool *pool,
                                      const vouch_drafter_model_options *options, vouch_error *err);

#endif
