/* SPDX-License-Identifier: MIT */
/* A head (model/head/head_weights.h) as a guesser (guesser.h): the drafter `head`. */
#ifndef VOUCH_DRAFT_HEAD_H
#define VOUCH_DRAFT_HEAD_H

#include "draft/drafter.h"
#include "draft/setup.h"

/* Opens the drafter of trees over the head in setup. Errors: MEMORY, UNSUPPORTED (kv_type); on failure *out has no ops.
 */
vouch_status vouch_drafter_head_open(vouch_drafter_ref *out, const vouch_drafter_setup *setup, vouch_error *err);

#endif
