/* SPDX-License-Identifier: MIT */
/* The rotation of a Hugging Face folder's config.json, as keys of GGUF and divisors of the frequencies. */
#ifndef VOUCH_FORMAT_HF_ROPE_H
#define VOUCH_FORMAT_HF_ROPE_H

#include "format/hf/hf_reader.h"

/* Adds "ARCH.rope...", and fills n_rot and the factors of r->shape, whose head_dim is set before. Errors: FORMAT,
 * UNSUPPORTED. */
vouch_status vouch_hf_rope_read(const hf_reader *r);
/* Refuses members of a rotation's object that vouch doesn't know; NULL has none. `place` is the object's name. Error:
 * UNSUPPORTED. */
vouch_status vouch_hf_rope_members(const hf_reader *r, const char *place, const json_t *rope);

#endif
