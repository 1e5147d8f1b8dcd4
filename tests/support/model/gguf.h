/* SPDX-License-Identifier: MIT */
/* Makes, opens and reads GGUF files in memory. Each function fails the test if it can't do its work. */
#ifndef VOUCH_TESTS_GGUF_H
#define VOUCH_TESTS_GGUF_H

#include "format/gguf.h"
#include "support/test.h"

/* The caller closes the writer, or hands it to writer_finish. */
vouch_gguf_writer *writer_open(void);
/* Closes the writer and returns the bytes that it wrote. The caller frees them. */
void *writer_finish(vouch_gguf_writer *writer, size_t *size);
/* A file the size of stories260K: a vocabulary and a megabyte of tensors, "blk.0.weight" to "blk.47.weight". The caller
 * frees it. */
unsigned char *write_larger(size_t *size);

/* Opens the bytes under the name "some.gguf". They must stay valid until the file is closed. */
vouch_gguf *open_bytes(const void *bytes, size_t size);
/* The value of an integer key. */
int64_t get_int(const vouch_gguf *gguf, const char *key);
/* Reads every array and both ends of every tensor, so that sanitizers notice a wrong size. Returns a sum of what it
 * read. */
unsigned gguf_walk(const vouch_gguf *gguf);

#endif
