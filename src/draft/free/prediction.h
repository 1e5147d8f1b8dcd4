/* SPDX-License-Identifier: MIT */
/* Guesses from the caller's own prediction of the answer, such as a file before it is edited. */
#ifndef VOUCH_DRAFT_PREDICTION_H
#define VOUCH_DRAFT_PREDICTION_H

#include "base/status.h"
#include "draft/source.h"

/* For sequences of at most n_ctx tokens. Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_source_prediction_open(vouch_source *out, int32_t n_ctx, vouch_error *err);
/* Sets the prediction for the next answer and all later ones. Copies the tokens, at most n_ctx of them. */
void vouch_source_prediction_set(vouch_source prediction, const int32_t *tokens, size_t n_tokens);

#endif
