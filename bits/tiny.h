/* SPDX-License-Identifier: MIT */
/* Makes tiny models of random weights in memory, each the same on every machine: a table of families. */
#ifndef VOUCH_BITS_TINY_H
#define VOUCH_BITS_TINY_H

#include "format/gguf.h"
#include "vouch.h"

enum { BITS_VOCAB = 96 };

/* The name of family i and the type that its cache has; NULL past the last. */
const char *bits_tiny_name(int32_t i, vouch_kv_type *kv_type);
/* The family with this name. */
int32_t bits_tiny_find(const char *name);
/* Writes the GGUF file of family i into memory, which the caller frees. Errors: MEMORY. */
vouch_status bits_tiny_make(int32_t i, void **bytes, size_t *size, vouch_error *err);

#endif
