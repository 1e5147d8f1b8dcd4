/* SPDX-License-Identifier: MIT */
/* A head that guesses a block of tokens at once (model/head/head_weights.h, block) as a guesser (guesser.h). */
#ifndef VOUCH_DRAFT_HEAD_BLOCK_H
#define VOUCH_DRAFT_HEAD_BLOCK_H

#include "draft/paid/guesser.h"
#include "draft/setup.h"

/* Opens the guesser over the head in setup. Errors: MEMORY, UNSUPPORTED (kv_type). */
vouch_status vouch_head_block_open(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_error *err);

#endif
