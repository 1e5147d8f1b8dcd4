/* SPDX-License-Identifier: MIT */
/* A head that guesses a block of tokens at once (model/head_weights.h, block) as a guesser (guesser.h). */
#ifndef VOUCH_DRAFT_HEAD_BLOCK_H
#define VOUCH_DRAFT_HEAD_BLOCK_H

#include "draft/guesser.h"
#include "model/head_weights.h"
#include "model/shared_pass.h"

typedef struct vouch_head_block_options {
    int32_t n_vocab, n_embd; /* of the target */
    int32_t n_ctx;           /* of the session */
    int32_t prefill_chunk;   /* hidden states that it keeps until it runs their rows together */
    int32_t k;               /* most guesses of a draft */
    vouch_kv_type kv_type;
} vouch_head_block_options;

/* Head and passes must outlive it. Errors: MEMORY, UNSUPPORTED (kv_type). */
vouch_status vouch_head_block_open(vouch_guesser *out, const vouch_head_weights *head, vouch_shared_passes *passes,
                                   const vouch_head_block_options *options, vouch_error *err);
/* For the drafter over the guesser `self`: these do what the functions of these names in drafter.h do. */
int32_t vouch_head_block_taps(const void *self, const int32_t **layers);
void vouch_head_block_hidden(void *self, int32_t position, const float *const *states);
int32_t vouch_head_block_n_hidden(const void *self);

#endif
