/* SPDX-License-Identifier: MIT */
/* 1_Pooling/config.json of a Hugging Face folder, which sentence-transformers reads, as the key ARCH.pooling_type of
 * GGUF. */
#ifndef VOUCH_FORMAT_HF_POOLING_H
#define VOUCH_FORMAT_HF_POOLING_H

#include "format/gguf.h"

/* Adds the key where the file names one kind of pooling that GGUF has a number for, and no layer follows the pooling.
 * Without the file it adds nothing. Errors: IO, FORMAT (names file, member and value), MEMORY. */
vouch_status vouch_hf_pooling_add(vouch_gguf_writer *keys, const char *arch, const char *folder, vouch_error *err);

#endif
