/* SPDX-License-Identifier: MIT */
/* The tensors of a Hugging Face folder, under GGUF's names and in its layouts. */
#ifndef VOUCH_FORMAT_HF_TENSORS_H
#define VOUCH_FORMAT_HF_TENSORS_H

#include "format/hf/hf_config.h"
#include "format/recipe.h"
#include "format/safetensors.h"

/* Adds the tensors of n files, whose names for messages and maps are already in gguf->files, to a model without
 * tensors. Errors: FORMAT, UNSUPPORTED, MEMORY. gguf->made receives everything that must be freed. */
vouch_status vouch_hf_tensors_add(vouch_gguf *gguf, const vouch_safetensors *files, size_t n,
                                  const vouch_hf_family *family, const vouch_hf_shape *shape, vouch_error *err);

#endif
