/* SPDX-License-Identifier: MIT */
/* A vouch_prompt_cache as an engine sees it: records that are written, found by their tokens, and read. */
#ifndef VOUCH_ENGINE_PROMPT_CACHE_H
#define VOUCH_ENGINE_PROMPT_CACHE_H

#include "engine/file/record.h"
#include "vouch.h"

/* Looks for a record. Reads it into `room`, which holds vouch_record_size bytes, and returns the payload; NULL: there
 * is none with these tokens. A damaged record is removed. Any thread. */
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

#endif
