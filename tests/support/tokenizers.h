/* SPDX-License-Identifier: MIT */
/* Tokenizers for tests, and texts through them. All of it asserts that it can. */
#ifndef VOUCH_TESTS_TOKENIZERS_H
#define VOUCH_TESTS_TOKENIZERS_H

#include "support/gguf.h"
#include "support/tiny_vocab.h"
#include "text/tokenizer.h"

/* The pre-tokenizers, and the tokens of a tiny vocabulary for them. */
enum { N_PRES = 4, TINY_SIZE = 600 };
extern const char *const pres[N_PRES];

/* The tokenizer of a file made by a writer, which is used up. NULL is OK where there is none. */
vouch_status tokenizer_finish(vouch_gguf_writer *writer, vouch_tokenizer **out, vouch_error *err);
vouch_tokenizer *tiny_tokenizer(const char *pre, int32_t n_vocab);
vouch_tokenizer *file_tokenizer(const char *path);

/* [n] ids, to be freed. */
typedef struct ids {
    int32_t *at;
    size_t n;
} ids;

/* They ask for the count first, so both ways are walked every time. */
ids encode(const vouch_tokenizer *tokenizer, const char *text, size_t n, unsigned flags);
ids encode_chat(const vouch_tokenizer *tokenizer, const vouch_message *messages, size_t n);
/* The bytes of all tokens, with a NUL behind them; to be freed. */
char *decode(const vouch_tokenizer *tokenizer, ids list, size_t *n);

void assert_ids(const char *what, ids got, const int32_t *expected, size_t n);
void assert_same_ids(const char *what, ids got, ids expected);
void assert_round_trip(const vouch_tokenizer *tokenizer, const char *text, size_t n);

#endif
