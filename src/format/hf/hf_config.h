/* SPDX-License-Identifier: MIT */
/* config.json of a Hugging Face folder, as the metadata of GGUF. */
#ifndef VOUCH_FORMAT_HF_CONFIG_H
#define VOUCH_FORMAT_HF_CONFIG_H

#include "format/gguf.h"
#include "format/hf/hf_family.h"
#include "format/hf/hf_shape.h"
#include "format/json.h"

/* Checks the configuration and adds every "ARCH.key" that the family needs. Errors: FORMAT, UNSUPPORTED, MEMORY. */
typedef vouch_status vouch_hf_config_fn(const vouch_json *config, const vouch_hf_family *family,
                                        vouch_gguf_writer *keys, vouch_hf_shape *shape, vouch_error *err);
/* Doesn't add feed_forward_length, attention.head_count_kv, key_length and value_length if the caller has added
 * them. */
vouch_hf_config_fn vouch_hf_config_read;

#endif
