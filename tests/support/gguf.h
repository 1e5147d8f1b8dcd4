/* SPDX-License-Identifier: MIT */
/* GGUF files for tests: made in memory, opened, read to their end. All of it asserts that it can. */
#ifndef VOUCH_TESTS_GGUF_H
#define VOUCH_TESTS_GGUF_H

#include "format/gguf.h"
#include "support/test.h"

/* To be closed. */
vouch_gguf_writer *writer_open(void);
/* What the writer, which is used up, has written; to be freed. */
void *writer_finish(vouch_gguf_writer *writer, size_t *size);
/* As large as stories260K: a vocabulary and a megabyte of tensors, "blk.0.weight" to "blk.47.weight". To be
 * freed. */
unsigned char *write_larger(size_t *size);

/* As "some.gguf"; the bytes must outlive it. */
vouch_gguf *open_bytes(const void *bytes, size_t size);
/* The value of an integer key. */
int64_t get_int(const vouch_gguf *gguf, const char *key);
/* Reads all that can be read; under the sanitizers, an error in a size shows here. */
unsigned gguf_walk(const vouch_gguf *gguf);

#endif
