/* SPDX-License-Identifier: MIT */
/* The caller's own drafter (vouch_drafter in vouch.h) as a drafter (drafter.h). */
#ifndef VOUCH_DRAFT_CUSTOM_H
#define VOUCH_DRAFT_CUSTOM_H

#include "base/status.h"
#include "draft/drafter.h"

/* Errors: ARGUMENT (no propose function), MEMORY. On failure *out has no ops. */
vouch_status vouch_drafter_custom_open(vouch_drafter_ref *out, const vouch_drafter *custom, int32_t n_vocab,
                                       vouch_error *err);

#endif
