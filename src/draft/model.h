/* SPDX-License-Identifier: MIT */
/* A draft model as a guesser (guesser.h), with the target's token table or a bridge to another one (bridge.h). */
#ifndef VOUCH_DRAFT_MODEL_H
#define VOUCH_DRAFT_MODEL_H

#include "draft/bridge.h"
#include "draft/drafter.h"
#include "model/shared_pass.h"
#include "text/grammar/constraint.h"

typedef struct vouch_drafter_model_options {
    const vouch_sampling *sampling; /* the session's: q is processed as p is */
    const vouch_breakers *breakers; /* of DRY; outlives the drafter; NULL: none */
    const uint64_t *seed;  /* of the running answer; outlives the drafter */
    vouch_draft_sampling draft_sampling;
    vouch_draw_fn *draw;   /* draws a guess from q as the judge's rule demands */
    int32_t n_ctx;         /* of the session; the draft model's own context may be shorter */
    int32_t prefill_chunk;
    int32_t k;             /* most guesses of a draft */
    int32_t branches;      /* most guesses with one parent; VOUCH_MAX_TOP at most are used. 1: chains */
    vouch_kv_type kv_type;
    vouch_constraint *constraint; /* the session's grammar; NULL: none */
    vouch_bridge *bridge;  /* to another token table or a trimmed head; NULL: neither. The drafter owns it, and a failed
                              call closes it */
    const int32_t *head;   /* [n_head] the tokens of the trimmed head, which the bridge knows; copied */
    int32_t n_head;        /* 0: the head is whole */
} vouch_drafter_model_options;

/* Opens the drafter of trees over the model. weights and passes must outlive it. Past the context that the draft
 * model was trained for it guesses nothing. Errors: MEMORY, UNSUPPORTED (kv_type); on failure *out has no ops. */
vouch_status vouch_drafter_model_open(vouch_drafter_ref *out, const vouch_weights *weights,
                                      vouch_shared_passes *passes, const vouch_drafter_model_options *options,
                                      vouch_error *err);

#endif
