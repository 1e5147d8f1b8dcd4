/* SPDX-License-Identifier: MIT */
/*
 * The digest of a model's file tells whether two files have the same model: architecture, hyperparameters, token table,
 * and the tensors with their names, types and shapes. Of each tensor's data it reads a few samples, so it takes
 * milliseconds. Name, author, chat template and the order of keys and tensors don't count, and neither does a split
 * into parts. A head (draft/paid/head.h) names the digest of the target that it was taught for.
 */
#ifndef VOUCH_FORMAT_DIGEST_H
#define VOUCH_FORMAT_DIGEST_H

#include "format/gguf.h"

/* Of the sizes and times of the files that the model was read from: differs where one of them was written again. 0: it
 * was read from memory. */
uint64_t vouch_gguf_stamp(const vouch_gguf *gguf);
/* Errors: IO. */
vouch_status vouch_gguf_digest(const vouch_gguf *gguf, uint64_t *digest, vouch_error *err);

#endif
