/* SPDX-License-Identifier: MIT */
/* Opens tokenizers and runs texts through them. Each function fails the test if it can't do its work. */
#ifndef VOUCH_TESTS_TOKENIZERS_H
#define VOUCH_TESTS_TOKENIZERS_H

#include "support/model/gguf.h"
#include "support/model/tiny_vocab.h"
#include "text/tokenizer.h"

/* pres: the names of four pre-tokenizers for tests. TINY_SIZE: a vocabulary size for tiny_tokenizer. */
enum { N_PRES = 4, TINY_SIZE = 600 };
extern const char *const pres[N_PRES];

/* Closes the writer and opens a tokenizer on the file that it wrote. */
vouch_status tokenizer_finish(vouch_gguf_writer *writer, vouch_tokenizer **out, vouch_error *err);
vouch_tokenizer *tiny_tokenizer(const char *pre, int32_t n_vocab);
/* A tiny tokenizer of qwen2 with this chat template in place of the file's. */
vouch_tokenizer *templated_tokenizer(const char *chat_template);
vouch_tokenizer *file_tokenizer(const char *path);

/* A list of token ids. The caller frees `at`. */
typedef struct ids {
    int32_t *at; /* [n] */
    size_t n;
} ids;

/* Both functions call the tokenizer twice: first for the count alone, then for the ids. */
ids encode(const vouch_tokenizer *tokenizer, const char *text, size_t n, unsigned flags);
ids encode_chat(const vouch_tokenizer *tokenizer, const vouch_message *messages, size_t n);
/* The bytes of all tokens, followed by a NUL. The caller frees them. */
char *decode(const vouch_tokenizer *tokenizer, ids list, size_t *n);

void assert_ids(const char *what, ids got, const int32_t *expected, size_t n);
void assert_same_ids(const char *what, ids got, ids expected);
/* A stream shows exactly the text, well-formed UTF-8, when it gets the text's tokens. */
void assert_shown(const vouch_tokenizer *tokenizer, const char *text, size_t n);
void assert_round_trip(const vouch_tokenizer *tokenizer, const char *text, size_t n);

#endif
