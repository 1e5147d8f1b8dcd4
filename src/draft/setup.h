/* SPDX-License-Identifier: MIT */
/* What leads from the public options to a drafter. One struct serves all drafters, and what they are made of. */
#ifndef VOUCH_DRAFT_SETUP_H
#define VOUCH_DRAFT_SETUP_H

#include "draft/bridge.h"
#include "model/head/draft_target.h"
#include "model/pass/shared_pass.h"
#include "sample/sample.h"
#include "text/grammar/constraint.h"

/* Everything that a drafter may need when a session opens it. Pointers outlive the drafter. */
typedef struct vouch_drafter_setup {
    const vouch_speculation *speculation; /* resolved: no default is left */
    const vouch_sampling *sampling;
    const vouch_breakers *breakers; /* of DRY */
    const uint64_t *seed;           /* of the running answer; changes between answers */
    uint64_t scope;                 /* of the session's answers */
    int32_t n_ctx, prefill_chunk;
    vouch_kv_type kv_type;
    int32_t branches;                          /* most guesses of a draft model or a head with one parent; 1: chains */
    bool draws_paths;                          /* `branches` independent paths of drawn guesses instead of siblings */
    vouch_draw_fn *draw_guess;                 /* draws a guess from q as the judge's rule demands */
    vouch_constraint *constraint;              /* the session's grammar; NULL: none */
    const vouch_weights *target, *draft_model; /* draft_model NULL: none */
    const vouch_memory *target_memory;
    vouch_vocabulary target_tokens, draft_tokens;
    const void *files[VOUCH_DRAFTERS]; /* what the drafters read from their files, by number; NULL: nothing */
    struct vouch_answers *answers;     /* of the draft memory; NULL: none */
    vouch_shared_passes *passes;       /* of the engine */
} vouch_drafter_setup;

/* Most guesses of one level that are fed together. */
static inline int32_t vouch_setup_level(const vouch_drafter_setup *setup)
{
    const int32_t k = setup->speculation->n_draft, branches = setup->branches;
    const int32_t most = branches < k ? branches : k;
    return most < VOUCH_MAX_TOP ? most : VOUCH_MAX_TOP;
}

/* The keys and values of a head are few: F16 unless the session's are F32. */
static inline vouch_kv_type vouch_head_kv_type(const vouch_drafter_setup *setup)
{
    return setup->kv_type == VOUCH_KV_F32 ? VOUCH_KV_F32 : VOUCH_KV_F16;
}

#endif
