/* SPDX-License-Identifier: MIT */
/*
 * Published heads in folders (config.json and safetensors), opened as if they were GGUF files:
 *
 *   EAGLE-3              architecture `eagle3`, as llama.cpp's converter writes it
 *   P-EAGLE              `eagle3`, with mask_hidden
 *   EAGLE-1, EAGLE-2     `eagle`: the two differ in the tree that their guesses grow, not in the head
 *   Medusa               `medusa`
 *   DFlash, DSpark       `dflash`, as llama.cpp's converter writes it
 *   Gemma 4's assistants `gemma4-assistant`, as llama.cpp's converter writes it
 */
#ifndef VOUCH_FORMAT_HF_HEAD_H
#define VOUCH_FORMAT_HF_HEAD_H

#include "format/hf/hf_config.h"
#include "format/safetensors.h"

/* Finds the family of the head that has these tensors; NULL: they are no head's. Cuts "model." and "medusa_head." from
 * the names of a head's tensors. */
const vouch_hf_family *vouch_hf_head_find(vouch_safetensors *files, size_t n);
/* vouch_hf_config_read for a head. Changes the configuration: nested members go to the top. */
vouch_status vouch_hf_head_read(const vouch_json *config, const vouch_hf_family *family, vouch_gguf_writer *keys,
                                vouch_hf_shape *shape, vouch_error *err);

#endif
