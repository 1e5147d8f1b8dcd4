/* SPDX-License-Identifier: MIT */
/* generation_config.json of a Hugging Face folder, as keys of GGUF: general.sampling.*, vouch.sampling.typical_p. */
#ifndef VOUCH_FORMAT_HF_SAMPLING_H
#define VOUCH_FORMAT_HF_SAMPLING_H

#include "format/gguf.h"

/* Adds a key for each parameter that the file sets. Without the file it adds nothing. Errors: IO, FORMAT (names file,
 * member and value), MEMORY. */
vouch_status vouch_hf_sampling_add(vouch_gguf_writer *keys, const char *folder, vouch_error *err);

#endif
