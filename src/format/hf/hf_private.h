/* SPDX-License-Identifier: MIT */
/*
 * Shared declarations of the files that implement vouch_hf_tokenizer_add:
 *
 *   hf_files.c       opens the files of the folder
 *   hf_words.c       normaliser and pre-tokenizer of tokenizer.json ──► hf_words
 *   hf_vocabulary.c  tokens, scores, kinds, merges                  ──► hf_vocabulary
 *   hf_tokenizer.c   special tokens, chat template; writes the keys
 */
#ifndef VOUCH_FORMAT_HF_PRIVATE_H
#define VOUCH_FORMAT_HF_PRIVATE_H

#include <jansson.h>

#include "base/filemap.h"
#include "format/gguf.h"
#include "format/sentencepiece.h"

/* Arguments of "%.*s" in a message: at most 60 bytes of the text. */
#define HF_TEXT(text) (int)((text).size < 60 ? (text).size : 60), (text).data

#define HF_SPACE_MARK "\xe2\x96\x81" /* U+2581, SentencePiece's space */

/* A file that the folder lacks is NULL, or a closed map. */
typedef struct hf_files {
    const char *name;   /* the vocabulary's path, for messages */
    char *paths[11];    /* owned; hf_files.c */
    json_t *tokenizer;  /* tokenizer.json */
    json_t *config;     /* tokenizer_config.json */
    json_t *specials;   /* special_tokens_map.json */
    json_t *added;      /* added_tokens.json */
    json_t *model;      /* config.json */
    json_t *generation; /* generation_config.json */
    json_t *vocab;      /* vocab.json; only where neither tokenizer.json nor SentencePiece's file is read */
    vouch_filemap sentencepiece, merges, chat_template;
} hf_files;

/* Opens the files that exist. On failure *files is closed. */
vouch_status vouch_hf_files_open(hf_files *files, const char *path, vouch_error *err);
void vouch_hf_files_close(hf_files *files);

/* Members of a JSON object; `object` may be anything. An absent member, or one of another type, gives NULL or the
 * default. */
const char *vouch_hf_text(const json_t *object, const char *key);
bool vouch_hf_bool(const json_t *object, const char *key, bool otherwise);

/* How a text becomes words. */
typedef struct hf_words {
    bool is_bytes;      /* byte-level: token texts are in GPT-2's alphabet */
    const char *pre;    /* tokenizer.ggml.pre; NULL where is_bytes is false */
    bool nfc;           /* the text is brought into Unicode's NFC first */
    bool space_prefix;  /* a space goes before a text */
    bool remove_spaces; /* spaces at the ends are removed, and so are repeated ones */
    bool splits_words;  /* no token has a space after its first character */
    char *charsmap;     /* [n_charsmap] owned; NULL: none */
    size_t n_charsmap;
} hf_words;

/* Reads `normalizer` and `pre_tokenizer` of tokenizer.json. Errors: FORMAT, UNSUPPORTED (quotes the step), MEMORY. On
 * failure *words holds nothing. */
vouch_status vouch_hf_words_read(hf_words *words, const hf_files *files, vouch_error *err);
void vouch_hf_words_free(hf_words *words);

typedef struct hf_token {
    vouch_text text; /* data NULL: the files have no token of this id */
    float score;
    uint8_t kind;  /* of tokenizer.ggml.token_type */
    uint8_t flags; /* VOUCH_TOKEN_LSTRIP... */
} hf_token;

enum { HF_NORMAL = 1, HF_UNKNOWN = 2, HF_CONTROL = 3, HF_USER_DEFINED = 4, HF_UNUSED = 5, HF_BYTE = 6 };

typedef struct hf_block hf_block; /* memory for texts that no file contains */

typedef struct hf_vocabulary {
    const char *model; /* tokenizer.ggml.model */
    hf_token *tokens;  /* [n_tokens] */
    size_t n_tokens;
    vouch_text *merges; /* [n_merges] "left right" */
    size_t n_merges;
    int64_t unknown; /* -1: none known */
    hf_block *blocks;
} hf_vocabulary;

/* Errors: as vouch_hf_tokenizer_add. On failure *vocabulary holds nothing. */
vouch_status vouch_hf_vocabulary_read(hf_vocabulary *vocabulary, const hf_files *files, const hf_words *words,
                                      const vouch_sentencepiece *sentencepiece, int32_t n_vocab, vouch_error *err);
void vouch_hf_vocabulary_free(hf_vocabulary *vocabulary);
/* The id of the token with this text, spelled as in the files; -1: none. O(n_tokens). */
int64_t vouch_hf_vocabulary_find(const hf_vocabulary *vocabulary, const char *text);

#endif
