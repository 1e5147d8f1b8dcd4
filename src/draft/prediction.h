/* SPDX-License-Identifier: MIT */
/* The caller's own guess of the answer (a file before it is edited, say), followed as far as it holds. */
#ifndef VOUCH_DRAFT_PREDICTION_H
#define VOUCH_DRAFT_PREDICTION_H

#include "base/status.h"
#include "draft/source.h"

/* For sequences of at most n_ctx tokens. Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_source_prediction_open(vouch_source *out, int32_t n_ctx, vouch_error *err);
/* What the answers to come are guessed to be, from the next on; the first n_ctx of the tokens, copied. */
void vouch_source_prediction_set(vouch_source prediction, const int32_t *tokens, size_t n_tokens);

#endif
