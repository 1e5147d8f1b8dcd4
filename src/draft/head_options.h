/* SPDX-License-Identifier: MIT */
/* What a head's drafter, and the guesser below it, are opened with. */
#ifndef VOUCH_DRAFT_HEAD_OPTIONS_H
#define VOUCH_DRAFT_HEAD_OPTIONS_H

#include "draft/drafter.h"
#include "model/shared_pass.h"
#include "text/grammar/constraint.h"

typedef struct vouch_drafter_head_options {
    const vouch_sampling *sampling; /* the session's: q is processed as p is */
    const vouch_breakers *breakers; /* of DRY; outlives the drafter; NULL: none */
    const uint64_t *seed;  /* of the running answer; outlives the drafter */
    vouch_draft_sampling draft_sampling;
    vouch_draw_fn *draw;   /* draws a guess from q as the judge's rule demands */
    int32_t n_vocab;       /* of the target */
    int32_t n_embd;        /* of the target */
    const vouch_memory *target_memory; /* of the session; for heads that borrow the target's keys */
    int32_t n_ctx;         /* of the session */
    int32_t prefill_chunk; /* hidden states that it keeps until it runs their rows together */
    int32_t k;             /* most guesses of a draft */
    int32_t branches;      /* most guesses with one parent; VOUCH_MAX_TOP at most are used. 1: chains */
    vouch_kv_type kv_type;
    vouch_constraint *constraint; /* the session's grammar; NULL: none */
} vouch_drafter_head_options;

#endif
