/* SPDX-License-Identifier: MIT */
/* A head that guesses a block of tokens at once (model/head_weights.h, block) as a guesser (guesser.h). */
#ifndef VOUCH_DRAFT_HEAD_BLOCK_H
#define VOUCH_DRAFT_HEAD_BLOCK_H

#include "draft/guesser.h"
#include "draft/head_options.h"
#include "model/head_weights.h"

/* Head and passes must outlive it. Errors: MEMORY, UNSUPPORTED (kv_type). */
vouch_status vouch_head_block_open(vouch_guesser *out, const vouch_head_weights *head, vouch_shared_passes *passes,
                                   const vouch_drafter_head_options *options, vouch_error *err);

#endif
