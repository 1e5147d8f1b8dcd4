/* SPDX-License-Identifier: MIT */
/*
 * The tokenizer of a Hugging Face folder as GGUF metadata: the keys tokenizer.* that llama.cpp's conversion writes, and
 * a few of our own for facts that llama.cpp has no keys for.
 *
 *   tokenizer.json            vocabulary, merges, added tokens, normaliser, pre-tokenizer, BOS and EOS rules
 *   tokenizer.model           SentencePiece's vocabulary (also spiece.model)
 *   vocab.json, merges.txt    GPT-2's vocabulary and merges
 *   tokenizer_config.json     special tokens by name, added tokens, chat template
 *   special_tokens_map.json   special tokens by name
 *   added_tokens.json         ids of added tokens
 *   chat_template.jinja       the chat template, preferred to tokenizer_config.json's
 *   generation_config.json    eos_token_id: the tokens that end an answer; without it, config.json's
 *   config.json               ids of special tokens that the other files don't name
 *
 * A byte-level tokenizer.json is preferred to tokenizer.model, and tokenizer.model to any other tokenizer.json.
 */
#ifndef VOUCH_FORMAT_HF_TOKENIZER_H
#define VOUCH_FORMAT_HF_TOKENIZER_H

#include "format/gguf.h"

/* Flags of added tokens: tokenizer.vouch.token_flags, an array of U8 [n_vocab]. */
enum {
    VOUCH_TOKEN_LSTRIP = 1,     /* swallows white space before it */
    VOUCH_TOKEN_RSTRIP = 2,     /* swallows white space after it */
    VOUCH_TOKEN_SINGLE_WORD = 4 /* counts only where no word character touches it */
};

/* Adds the keys tokenizer.*. `path` is a folder, or its tokenizer.json or tokenizer.model. n_vocab is the number of the
 * model's embeddings; 0: as many as the files have tokens. A missing id below n_vocab becomes the unused token
 * "[PAD<id>]". An added token with an id from n_vocab on is left out; any other token there is a FORMAT error. A folder
 * without tokenizer files adds nothing. The writer owns copies of everything. Errors: IO, FORMAT, UNSUPPORTED (names
 * the file and the part that vouch doesn't have), MEMORY; *writer then has some of the keys, and is of no use. */
vouch_status vouch_hf_tokenizer_add(vouch_gguf_writer *writer, const char *path, int32_t n_vocab, vouch_error *err);

#endif
