/* SPDX-License-Identifier: MIT */
/* A head (model/head_weights.h) as a guesser (guesser.h): the drafter `head`. */
#ifndef VOUCH_DRAFT_HEAD_H
#define VOUCH_DRAFT_HEAD_H

#include "draft/head_options.h"
#include "model/head_weights.h"

/* Opens the drafter of trees over the head. head and passes must outlive it. Errors: MEMORY, UNSUPPORTED (kv_type); on
 * failure *out has no ops. */
vouch_status vouch_drafter_head_open(vouch_drafter_ref *out, const vouch_head_weights *head,
                                     vouch_shared_passes *passes, const vouch_drafter_head_options *options,
                                     vouch_error *err);

#endif
