/* SPDX-License-Identifier: MIT */
/* A draft model as a guesser (guesser.h), with the target's token table or a bridge to another one (bridge.h). */
#ifndef VOUCH_DRAFT_MODEL_H
#define VOUCH_DRAFT_MODEL_H

#include "draft/drafter.h"
#include "draft/setup.h"

/* Opens the drafter of trees over setup->draft_model. `bridge` leads to another token table or a trimmed head; NULL:
 * neither. The drafter owns it, and a failed call closes it. Past the context that the draft model was trained for it
 * guesses nothing. Errors: MEMORY, UNSUPPORTED (kv_type); on failure *out has no ops. */
vouch_status vouch_drafter_model_open(vouch_drafter_ref *out, const vouch_drafter_setup *setup, vouch_bridge *bridge,
                                      vouch_error *err);

#endif
