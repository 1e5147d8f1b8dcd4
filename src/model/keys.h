/* SPDX-License-Identifier: MIT */
/* Numbers of a file's metadata, under "ARCH.key". A key that is missing leaves *value as it was, unless it is required.
 * Errors: FORMAT (missing, another type, out of range), UNSUPPORTED. */
#ifndef VOUCH_MODEL_KEYS_H
#define VOUCH_MODEL_KEYS_H

#include "format/gguf.h"

/* "ARCH.key" in `name`. */
const char *vouch_key_name(char *name, size_t size, const char *arch, const char *key);
vouch_status vouch_key_int(const vouch_gguf *gguf, const char *arch, const char *key, bool required, int32_t min,
                           int32_t max, int32_t *value, vouch_error *err);
vouch_status vouch_key_float(const vouch_gguf *gguf, const char *arch, const char *key, bool required, double min,
                             double max, double *value, vouch_error *err);
/* By what positions are divided: linear scaling's factor, or 1. Other kinds of scaling are refused. */
vouch_status vouch_key_rope_scaling(const vouch_gguf *gguf, const char *arch, double *scale, vouch_error *err);

#endif
