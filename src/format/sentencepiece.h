/* SPDX-License-Identifier: MIT */
/*
 * Reads SentencePiece's model files (tokenizer.model): the fields of sentencepiece_model.proto that tokenization needs.
 *
 *   ModelProto      1 pieces: SentencePiece, repeated | 2 trainer_spec | 3 normalizer_spec
 *   SentencePiece   1 piece: text | 2 score: float | 3 type: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused,
 *                   6 byte (the numbers of tokenizer.ggml.token_type)
 *   TrainerSpec     3 model_type: 1 unigram, 2 BPE | 24 treat_whitespace_as_suffix | 40 to 43 ids of unk, bos, eos, pad
 *   NormalizerSpec  2 precompiled_charsmap | 3 add_dummy_prefix | 4 remove_extra_whitespaces
 */
#ifndef VOUCH_FORMAT_SENTENCEPIECE_H
#define VOUCH_FORMAT_SENTENCEPIECE_H

#include "format/gguf.h"

typedef struct vouch_sentencepiece_piece {
    vouch_text text; /* in the file's bytes */
    float score;
    int32_t kind;
} vouch_sentencepiece_piece;

enum { VOUCH_SENTENCEPIECE_UNIGRAM = 1, VOUCH_SENTENCEPIECE_BPE = 2 };

typedef struct vouch_sentencepiece {
    vouch_sentencepiece_piece *pieces; /* [n_pieces] */
    size_t n_pieces;
    int32_t model_type;
    int32_t unk, bos, eos, pad; /* ids; -1: none */
    bool space_is_suffix, add_dummy_prefix, remove_extra_whitespaces;
    vouch_text charsmap; /* in the file's bytes; size 0: the text isn't normalised */
} vouch_sentencepiece;

/* Reads the model in bytes[size], which must outlive *out. Messages begin with `name`. Errors: FORMAT, MEMORY. On
 * failure *out holds nothing. */
vouch_status vouch_sentencepiece_read(vouch_sentencepiece *out, const void *bytes, size_t size, const char *name,
                                      vouch_error *err);
void vouch_sentencepiece_free(vouch_sentencepiece *model);

#endif
