/* SPDX-License-Identifier: MIT */
/*
 * A kind of head files: how a file's metadata and tensors become a head (head_weights.h). A kind is one file here,
 * and one entry in the table of head_kind.c. Files of published kinds have no digest of their target, so a
 * head is accepted where all sizes agree.
 */
#ifndef VOUCH_MODEL_HEAD_KIND_H
#define VOUCH_MODEL_HEAD_KIND_H

#include "model/head/head_weights.h"

typedef struct vouch_head_kind {
    const char *arch; /* general.architecture */
    /* Fills the head, in which only `target` is set. vouch_head_weights_close frees it, after a failure, too. Errors:
     * FORMAT, UNSUPPORTED, MEMORY, IO, MISMATCH. */
    vouch_status (*open)(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_draft_target *target,
                         vouch_pool *pool, vouch_error *err);
} vouch_head_kind;

extern const vouch_head_kind vouch_head_kind_medusa, vouch_head_kind_native, vouch_head_kind_eagle,
    vouch_head_kind_eagle3, vouch_head_kind_assistant, vouch_head_kind_dflash;

/* Parts of `open`. */
/* Checks one of the target's sizes, which the head's file states under "ARCH.key". Error: MISMATCH (names the key). */
vouch_status vouch_head_check_size(const vouch_gguf *gguf, const char *arch, const char *key, bool required,
                                   int32_t size, vouch_error *err);
/* Reads the taps and n_features from an array of streams that counts as llama.cpp does: number i is the stream before
 * layer i, so its tap is i - 1. Where taps are set already, only checks them. Errors: FORMAT, MISMATCH, UNSUPPORTED. */
vouch_status vouch_head_read_taps(vouch_head_weights *head, const vouch_gguf *gguf, const char *name, vouch_error *err);
/* Reads the tensor of this name, the ids of the tokens that the head may guess, into n_draft and tokens. Without it the
 * head may guess all n_vocab tokens. */
vouch_status vouch_head_read_tokens(vouch_head_weights *head, const vouch_gguf *gguf, const char *name, int32_t n_vocab,
                                    vouch_error *err);

#endif
