/* SPDX-License-Identifier: MIT */
/* A head (model/head/head_weights.h) drafts: the drafter `head`. */
#ifndef VOUCH_DRAFT_HEAD_H
#define VOUCH_DRAFT_HEAD_H

#include "draft/drafter.h"
#include "draft/paid/guesser.h"
#include "draft/setup.h"

/* Opens the drafter of trees over the head in setup. Errors: MEMORY, UNSUPPORTED (kv_type); on failure *out has no ops.
 */
vouch_status vouch_drafter_head_open(vouch_drafter_ref *out, const vouch_drafter_setup *setup, vouch_error *err);

/* The guessers of its kinds, one file each. Errors: MEMORY, UNSUPPORTED (kv_type). */
typedef vouch_status vouch_head_open_fn(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_error *err);
vouch_head_open_fn vouch_head_chain_open;   /* keys and values of its own; perhaps rows of masks (P-EAGLE) */
vouch_head_open_fn vouch_head_lent_open;    /* no keys and values of its own */
vouch_head_open_fn vouch_head_block_open;   /* a block of guesses from one pass */
vouch_head_open_fn vouch_head_modules_open; /* a module for each depth */
vouch_head_open_fn vouch_head_medusa_open;  /* a network for each depth */

#endif
