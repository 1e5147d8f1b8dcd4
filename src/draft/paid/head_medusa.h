/* SPDX-License-Identifier: MIT */
/*
 * Medusa's heads (Cai et al., arXiv 2401.10774) as a guesser: each depth has a network of its own, and all of them read
 * the same f, that of the last token. They run no rows of a model and share no pass.
 *
 *   h      = f, then for each block  h += silu(W_block h + bias)
 *   logits = W_output h
 */
#ifndef VOUCH_DRAFT_HEAD_MEDUSA_H
#define VOUCH_DRAFT_HEAD_MEDUSA_H

#include "draft/paid/guesser.h"
#include "draft/setup.h"

/* Opens the guesser over the head in setup. Errors: MEMORY. */
vouch_status vouch_head_medusa_open(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_error *err);

#endif
