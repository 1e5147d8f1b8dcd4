/* SPDX-License-Identifier: MIT */
/* Reads config.json of Gemma 4's assistants, heads whose layers have two widths and two rotations. */
#ifndef VOUCH_FORMAT_HF_ASSISTANT_H
#define VOUCH_FORMAT_HF_ASSISTANT_H

#include "format/hf_config.h"

/* Adds the keys of a file of the architecture gemma4-assistant. The members of text_config are at the top. Errors:
 * FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_hf_assistant_read(const vouch_json *config, const vouch_hf_family *family, vouch_gguf_writer *keys,
                                     vouch_hf_shape *shape, vouch_error *err);

#endif
