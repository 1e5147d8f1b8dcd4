/* SPDX-License-Identifier: MIT */
/*
 * A small byte-level vocabulary for tests without data files. The same arguments give the same vocabulary:
 *
 *   0 <|endoftext|>   1 <|im_start|>   2 <|im_end|>   3 <|pad|>      control
 *   4 <think>         5 </think>                                     user-defined
 *   6 ... 261         the bytes 0x00 ... 0xff in GPT-2's alphabet
 *   262 ...           tokens merged from two earlier tokens
 */
#ifndef VOUCH_TESTS_TINY_VOCAB_H
#define VOUCH_TESTS_TINY_VOCAB_H

#include "format/gguf.h"

enum {
    TINY_ENDOFTEXT,
    TINY_IM_START,
    TINY_IM_END,
    TINY_PAD,
    TINY_THINK,
    TINY_THINK_END,
    TINY_BYTES,
    TINY_MERGES = TINY_BYTES + 256
};

/* The chat template's system message for conversations without one. */
#define TINY_SYSTEM "You are a tiny model."

/* Adds the keys tokenizer.* for a vocabulary of exactly n_vocab tokens with the pre-tokenizer "smollm". Fewer than
 * TINY_MERGES tokens can't hold all bytes; then it only sets tokenizer.ggml.model to "none". */
void tiny_vocab_add(vouch_gguf_writer *writer, int32_t n_vocab, uint64_t seed);
/* The same with the given tokenizer.ggml.pre. */
void tiny_vocab_add_pre(vouch_gguf_writer *writer, int32_t n_vocab, uint64_t seed, const char *pre);

/* Writes the letter for a byte in GPT-2's alphabet, as 1 or 2 bytes of UTF-8. Returns their number. */
int tiny_vocab_letter(int byte, char *out);

#endif
