/* SPDX-License-Identifier: MIT */
/*
 * A small byte-level vocabulary for tests that have no data, the same for the same arguments:
 *
 *   0 <|endoftext|>   1 <|im_start|>   2 <|im_end|>   3 <|pad|>      control
 *   4 <think>         5 </think>                                     user-defined
 *   6 ... 261         the bytes 0x00 ... 0xff in GPT-2's alphabet
 *   262 ...           tokens merged from two earlier ones
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

/* What the chat template says where there is no system message. */
#define TINY_SYSTEM "You are a tiny model."

/* Adds the keys tokenizer.* of a vocabulary of exactly n_vocab tokens, pre-tokenizer "smollm". Below
 * TINY_MERGES tokens there is no room for one: tokenizer.ggml.model is "none". */
void tiny_vocab_add(vouch_gguf_writer *writer, int32_t n_vocab, uint64_t seed);
/* The same with another tokenizer.ggml.pre. */
void tiny_vocab_add_pre(vouch_gguf_writer *writer, int32_t n_vocab, uint64_t seed, const char *pre);

/* Writes what the byte is in GPT-2's alphabet, 1 or 2 bytes; returns how many. */
int tiny_vocab_letter(int byte, char *out);

#endif
