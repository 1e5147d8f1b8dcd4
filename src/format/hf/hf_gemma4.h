/* SPDX-License-Identifier: MIT */
/* Reads config.json of Gemma 4 and of its assistants, whose layers have two widths and two rotations. */
#ifndef VOUCH_FORMAT_HF_GEMMA4_H
#define VOUCH_FORMAT_HF_GEMMA4_H

#include "format/hf/hf_config.h"

/* Adds the keys of the architecture gemma4, or gemma4-assistant. The members of text_config are at the top. */
vouch_hf_config_fn vouch_hf_gemma4_read;
/* Checks that the tensors which a layer may lack are there where config.json says so: values (attention_k_eq_v) and
 * experts (enable_moe_block). Error: FORMAT. */
vouch_status vouch_hf_gemma4_check(const vouch_json *config, const vouch_gguf *gguf, vouch_error *err);

#endif
