/* SPDX-License-Identifier: MIT */
/*
 * The keys "ARCH.key" of a GGUF file that its family's reader didn't ask for. Each of them is one of these:
 *
 *   idle        no logit depends on it, or tensors say the same
 *   changing    it can change logits, so other values than the neutral one are refused
 *   unknown     nobody is known to write it: vouch ignores it, and says so (vouch_gguf_unknown)
 */
#ifndef VOUCH_MODEL_KNOWN_KEYS_H
#define VOUCH_MODEL_KNOWN_KEYS_H

#include "format/gguf.h"

/* Call after the family's reader. Error: UNSUPPORTED (names key and value), MEMORY. */
vouch_status vouch_known_keys_check(const vouch_gguf *gguf, const char *arch, vouch_error *err);

#endif
