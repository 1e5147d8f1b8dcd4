/* SPDX-License-Identifier: MIT */
/*
 * A record: the keys and values of one page of tokens, or the recurrent states after the last of some tokens. Files of
 * a prompt cache have one (prompt_cache.c), files of a session have several (engine/session_file.c). It names all
 * tokens from the beginning of the sequence, and counts only where all of them are the same. Numbers are little endian:
 *
 *    0  "VOUCHPG1" of a page, "VOUCHST1" of states
 *    8  u64  hash of all that follows
 *   16  u64  the model's digest
 *   24  u64  the model's stamp, which tells its files from others of the same digest
 *   32  u64  scope
 *   40  u64  bytes of the payload
 *   48  u32  version of the float order
 *   52  u16  type of the keys and values
 *   54  u16  1: angles of long contexts
 *   56  u32  tokens of a page
 *   60  u32  n, number of tokens
 *   64  i32  [n] tokens, padded to 8 bytes
 *       payload: the page as it is in memory (pages.h), or the states (states.h), padded to 8 bytes
 */
#ifndef VOUCH_ENGINE_RECORD_H
#define VOUCH_ENGINE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the numbers in a record depend on, beside the tokens. */
typedef struct vouch_record_model {
    uint64_t digest, stamp; /* of the model */
    uint32_t kv_type, page_size;
    bool has_long_angles; /* of the rotation of queries and keys (layer.h, vouch_rotary) */
} vouch_record_model;

/* These numbers as one. */
uint64_t vouch_record_model_hash(const vouch_record_model *model);

/* The tokens whose last page, or whose recurrent states, a record has. */
typedef struct vouch_record_id {
    uint64_t scope;
    uint64_t hash; /* of the scope and of all tokens: for a file's name */
    int32_t n_tokens;
    bool is_state;
} vouch_record_id;

enum { VOUCH_RECORD_FIELDS = 64 }; /* bytes before the tokens */

/* Bytes of a record before its payload, and of the whole record. */
size_t vouch_record_head(int32_t n_tokens);
size_t vouch_record_size(int32_t n_tokens, size_t n_payload);
/* Where the tokens are in a record. */
int32_t *vouch_record_tokens(unsigned char *record);

/* Completes a record whose tokens and payload are in their places. */
void vouch_record_finish(unsigned char *record, const vouch_record_model *model, const vouch_record_id *id,
                         size_t n_payload);
/* Whether these n bytes are the record of these tokens; its hash is set to 0. */
bool vouch_record_is_good(unsigned char *record, size_t n, const vouch_record_model *model, const vouch_record_id *id,
                          const int32_t *tokens, size_t n_payload);

#endif
