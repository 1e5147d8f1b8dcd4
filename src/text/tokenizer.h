/* SPDX-License-Identifier: MIT */
/*
 * Turns text into token ids and back, as GGUF files describe it: byte-level BPE (tokenizer.ggml.model "gpt2", the words
 * in tokenizer.ggml.pre), SentencePiece's BPE ("llama"), Gemma 4's BPE ("gemma4") and SentencePiece's unigram ("t5").
 * Also chat templates, and streaming detokenisation that never emits half a character.
 */
#ifndef VOUCH_TEXT_TOKENIZER_H
#define VOUCH_TEXT_TOKENIZER_H

#include "format/gguf.h"

/* Immutable once open; any number of threads may use it. */
typedef struct vouch_tokenizer vouch_tokenizer;

/* Everything is copied out of the file. chat_template: as in vouch_model_options. A file without
 * tokenizer.ggml.model, or with "no_vocab", "none" or "test", gives OK and *out NULL. Errors: FORMAT, UNSUPPORTED
 * (names the model or pre-tokenizer, and the supported ones), MEMORY. */
vouch_status vouch_tokenizer_open(vouch_tokenizer **out, const vouch_gguf *gguf, const char *chat_template,
                                  vouch_error *err);
void vouch_tokenizer_close(vouch_tokenizer *tokenizer); /* NULL is allowed */

int32_t vouch_tokenizer_size(const vouch_tokenizer *tokenizer);     /* of the vocabulary */
const char *vouch_tokenizer_name(const vouch_tokenizer *tokenizer); /* "bpe/smollm", "spm" */
int32_t vouch_tokenizer_bos(const vouch_tokenizer *tokenizer);      /* -1 where absent */
int32_t vouch_tokenizer_eos(const vouch_tokenizer *tokenizer);
/* The tokens of a prompt for text in the middle (infill.c). From PAD on they end answers. */
typedef enum vouch_infill_part {
    VOUCH_INFILL_PREFIX,
    VOUCH_INFILL_SUFFIX,
    VOUCH_INFILL_MIDDLE,
    VOUCH_INFILL_PAD,
    VOUCH_INFILL_REPOSITORY,
    VOUCH_INFILL_FILE,
    VOUCH_INFILL_PARTS
} vouch_infill_part;
int32_t vouch_tokenizer_infill(const vouch_tokenizer *tokenizer, vouch_infill_part part); /* -1 where absent */
/* EOS, EOT and the other tokens that end an answer. */
bool vouch_tokenizer_ends_answer(const vouch_tokenizer *tokenizer, int32_t token);
/* Control tokens, unused ids ([PAD151700]), and tokens that end an answer: their text is not part of an answer. */
bool vouch_tokenizer_is_special(const vouch_tokenizer *tokenizer, int32_t token);
/* The bytes the token stands for (specials: their name), owned by the tokenizer. */
vouch_text vouch_tokenizer_bytes(const vouch_tokenizer *tokenizer, int32_t token);
/* The ordinary token of these bytes; -1: none. */
int32_t vouch_tokenizer_find(const vouch_tokenizer *tokenizer, const char *bytes, size_t n);
/* As chat_template, _text, _lines, ... in vouch_model_info. */
const char *vouch_tokenizer_chat_template(const vouch_tokenizer *tokenizer);
const char *vouch_tokenizer_chat_text(const vouch_tokenizer *tokenizer);
int32_t vouch_tokenizer_chat_lines(const vouch_tokenizer *tokenizer);
const char *vouch_tokenizer_chat_problem(const vouch_tokenizer *tokenizer);
bool vouch_tokenizer_chat_thinks(const vouch_tokenizer *tokenizer);
const char *vouch_tokenizer_chat_fitting(const vouch_tokenizer *tokenizer);
/* As thoughts_begin and thoughts_end in vouch_model_info. */
const char *vouch_tokenizer_thoughts_begin(const vouch_tokenizer *tokenizer);
const char *vouch_tokenizer_thoughts_end(const vouch_tokenizer *tokenizer);

/* As vouch_tokenize and vouch_tokenize_chat in vouch.h; a NULL tokenizer is UNSUPPORTED. User-defined
 * tokens are vocabulary and found without VOUCH_TOKENIZE_SPECIAL, but not in a system or user message
 * (encode.c). More than 2^29 bytes of text at once, or an unknown role, is an ARGUMENT error. */
vouch_status vouch_tokenizer_encode(const vouch_tokenizer *tokenizer, const char *text, size_t n_text, unsigned flags,
                                    int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err);
vouch_status vouch_tokenizer_encode_chat(const vouch_tokenizer *tokenizer, const vouch_message *messages,
                                         size_t n_messages, int32_t *tokens, size_t capacity, size_t *n_tokens,
                                         vouch_error *err);

/* As vouch_tokenize_infill. */
vouch_status vouch_tokenizer_encode_infill(const vouch_tokenizer *tokenizer, const vouch_infill *infill,
                                           int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err);

/* As vouch_tokenize_chat_json and vouch_render_chat. */
vouch_status vouch_tokenizer_encode_json(const vouch_tokenizer *tokenizer, const char *json, size_t n_json,
                                         int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err);
vouch_status vouch_tokenizer_render_json(const vouch_tokenizer *tokenizer, const char *json, size_t n_json, char *text,
                                         size_t capacity, size_t *n_text, vouch_error *err);
/* As chat_variables in vouch_model_options. Call it at most once, before other threads see the tokenizer. */
vouch_status vouch_tokenizer_set_variables(vouch_tokenizer *tokenizer, const char *json, vouch_error *err);

/* OK when the two tables give every id the same bytes and kind. MISMATCH names the first id that differs, with both
 * texts, or both sizes where one table is the beginning of the other. Two NULLs are OK, one NULL is a MISMATCH. */
vouch_status vouch_tokenizer_check_pair(const vouch_tokenizer *target, const vouch_tokenizer *draft, vouch_error *err);

/*
 * Streaming: takes tokens and gives text, in whole UTF-8 characters that can't begin a stop text. Bytes that can't
 * become a character leave as U+FFFD. Allocates nothing after open.
 */
typedef struct vouch_stream vouch_stream;

/* max_tokens: the most tokens pushed between two takes; it sizes the buffer. The tokenizer must outlive the stream. It
 * may be NULL; then no text ever appears. Copies the stop texts. Errors: ARGUMENT (a stop text is empty or not
 * UTF-8), MEMORY. */
vouch_status vouch_stream_open(vouch_stream **out, const vouch_tokenizer *tokenizer, const char *const *stop,
                               size_t n_stop, size_t max_tokens, vouch_error *err);
void vouch_stream_close(vouch_stream *stream);
/* Begins a new text after the token `before`; -1: at the beginning of a text, as after open. */
void vouch_stream_reset(vouch_stream *stream, int32_t before);
size_t vouch_stream_memory(const vouch_stream *stream);
/* Whether the tokenizer puts a space after this token (-1: before a text), so that the text after it loses one. */
bool vouch_stream_drops_space(const vouch_tokenizer *tokenizer, int32_t token);
/* Adds a token's text; special tokens have none. True when a stop text is now complete: the text before it is ready,
 * the rest is dropped, and the answer ends with this token. */
bool vouch_stream_push(vouch_stream *stream, int32_t token);
/* The number of the stop text that is complete; -1: none. */
int32_t vouch_stream_stop(const vouch_stream *stream);
/* The answer is over: held-back text becomes ready, an unfinished character becomes U+FFFD. */
void vouch_stream_finish(vouch_stream *stream);
/* The text that became ready since the last take; valid until the next push. */
vouch_text vouch_stream_take(vouch_stream *stream);

#endif
