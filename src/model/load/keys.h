/* SPDX-License-Identifier: MIT */
/* Numbers of a file's metadata, under "ARCH.key". A key that is missing leaves *value as it was, unless it is required.
 * Errors: FORMAT (missing, another type, out of range), UNSUPPORTED. */
#ifndef VOUCH_MODEL_KEYS_H
#define VOUCH_MODEL_KEYS_H

#include "format/gguf.h"
#include "model/hparams.h"

/* "ARCH.key" in `name`. */
const char *vouch_key_name(char *name, size_t size, const char *arch, const char *key);
vouch_status vouch_key_int(const vouch_gguf *gguf, const char *arch, const char *key, bool required, int32_t min,
                           int32_t max, int32_t *value, vouch_error *err);
vouch_status vouch_key_float(const vouch_gguf *gguf, const char *arch, const char *key, bool required, double min,
                             double max, double *value, vouch_error *err);
vouch_status vouch_key_bool(const vouch_gguf *gguf, const char *arch, const char *key, bool *value, vouch_error *err);
/* Reads one number for each of n layers: the key is a list of them, or one number for all. Ignores numbers beyond the
 * layers. */
vouch_status vouch_key_ints(const vouch_gguf *gguf, const char *arch, const char *key, bool required, int32_t min,
                            int32_t max, int32_t n, int32_t *values, vouch_error *err);
/* Reads floats in the same way; the key may be missing. */
vouch_status vouch_key_floats(const vouch_gguf *gguf, const char *arch, const char *key, double min, double max,
                              int32_t n, double *values, vouch_error *err);
/* Reads one flag for each of n layers, where the key is a list of at least `least`; flags past its end are 0. *is_list
 * is false where it is a number, or missing. */
vouch_status vouch_key_flags(const vouch_gguf *gguf, const char *arch, const char *key, int32_t least, int32_t n,
                             bool *is_list, uint8_t *flags, vouch_error *err);
/* Fills h->rope_scaling; h->n_ctx_train is set before. Kinds other than none, linear, yarn and longrope are refused. */
vouch_status vouch_key_rope_scaling(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);

#endif
