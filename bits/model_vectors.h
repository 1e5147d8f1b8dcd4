/* SPDX-License-Identifier: MIT */
/* Whole models in a file of vectors: a GGUF file beside it, tokens, and the logits at each of their positions. */
#ifndef VOUCH_BITS_MODEL_VECTORS_H
#define VOUCH_BITS_MODEL_VECTORS_H

#include "bits/compare.h"
#include "format/json.h"

/* Runs the model on every table of this machine and compares its logits. Errors: IO, FORMAT (json->path and the
 * member), MEMORY, CANCELLED, and those of opening the model and a session. */
vouch_status bits_model_check(const vouch_json *json, const json_t *vector, bits_work *work, int64_t number,
                              vouch_error *err);
/* The vectors with plain C's logits: a new array. Errors: MEMORY. */
vouch_status bits_models_write(json_t **models, vouch_error *err);

#endif
