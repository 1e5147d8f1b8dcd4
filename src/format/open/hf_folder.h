/* SPDX-License-Identifier: MIT */
/*
 * A Hugging Face folder, opened as if it were a GGUF file.
 *
 *   config.json ─────────────────────► keys  "llama.block_count"           hf_config.c, hf_gemma4.c
 *   tokenizer files ─────────────────► keys  "tokenizer.ggml.tokens"       hf_tokenizer.c
 *   model.safetensors, or the parts ─► tensors "blk.0.attn_q.weight"       hf_tensors.c, by the family's rules
 *   that model.safetensors.index.json names
 *
 * Tensors with the same layout in GGUF and in the folder point into the mapped files. The others are made when they are
 * loaded (recipe.h). So a model loads from a folder in hardly more memory than from a GGUF file.
 */
#ifndef VOUCH_FORMAT_HF_FOLDER_H
#define VOUCH_FORMAT_HF_FOLDER_H

#include "format/gguf.h"

/* Errors, whose messages begin with a file's path: IO, FORMAT, UNSUPPORTED (model_type, dtype, ...), MEMORY. On failure
 * *out is NULL. */
vouch_status vouch_hf_folder_open(vouch_gguf **out, const char *folder, vouch_error *err);
/* Whether the folder has safetensors. A folder without them may still have a tokenizer. */
bool vouch_hf_folder_has_weights(const char *folder);

#endif
