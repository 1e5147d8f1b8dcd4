/* SPDX-License-Identifier: MIT */
/* A vouch_prompt_cache as an engine sees it: records that are written, found by their tokens, and read. */
#ifndef VOUCH_ENGINE_PROMPT_CACHE_H
#define VOUCH_ENGINE_PROMPT_CACHE_H

#include "engine/file/model.h"
#include "engine/file/kept.h"

/* What the numbers in a record depend on, beside the tokens. */
typedef struct vouch_record_model {
    uint64_t digest, stamp; /* of the model */
    uint32_t kv_type, page_size;
} vouch_record_model;

/* The tokens whose last page, or whose recurrent states, a record has. */
typedef struct vouch_record_id {
    uint64_t scope;
    uint64_t hash; /* of the scope and of all tokens */
    int32_t n_tokens;
    bool is_state;
} vouch_record_id;

/* Bytes of a record before its payload. */
size_t vouch_record_head(int32_t n_tokens);

/* Looks for a record. Reads it into `room`, which holds a head of id->n_tokens and the payload, and returns the
 * payload; NULL: there is none with these tokens. A damaged record is removed. Any thread. */
const unsigned char *vouch_prompt_cache_read(vouch_prompt_cache *cache, const vouch_record_model *model,
                                             const vouch_record_id *id, const int32_t *tokens, unsigned char *room,
                                             size_t n_payload);
/* Whether there is a file of the record's name. Any thread. */
bool vouch_prompt_cache_has(const vouch_prompt_cache *cache, const vouch_record_model *model,
                            const vouch_record_id *id);
/* Notes that the record is in use. False: there is none. Any thread. */
bool vouch_prompt_cache_touch(const vouch_prompt_cache *cache, const vouch_record_model *model,
                              const vouch_record_id *id);
/* Writes a record. `room` has the tokens and the payload in their places (vouch_record_head). Where the files become
 * too many, removes those that weren't used for longest. A failure is told by vouch_prompt_cache_check. Any thread. */
void vouch_prompt_cache_write(vouch_prompt_cache *cache, const vouch_record_model *model, const vouch_record_id *id,
                              unsigned char *room, size_t n_payload);

/* Where the tokens are in a record. */
static inline int32_t *vouch_record_tokens(unsigned char *room)
{
    enum { VOUCH_RECORD_FIELDS = 64 };
    return (int32_t *)(void *)(room + VOUCH_RECORD_FIELDS);
}

#endif
