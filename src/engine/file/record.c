/* SPDX-License-Identifier: MIT */
#include "engine/file/record.h"

#include <string.h>

#include "base/hash.h"
#include "engine/file/kept.h"
#include "model/memory/pages.h"

enum { MAGIC = 8 };

size_t vouch_record_head(int32_t n_tokens)
{
    return VOUCH_RECORD_FIELDS + ((size_t)n_tokens * sizeof(int32_t) + 7) / 8 * 8;
}

size_t vouch_record_size(int32_t n_tokens, size_t n_payload)
{
    return vouch_record_head(n_tokens) + (n_payload + 7) / 8 * 8;
}

int32_t *vouch_record_tokens(unsigned char *record)
{
    return (int32_t *)(void *)(record + VOUCH_RECORD_FIELDS);
}

uint64_t vouch_record_model_hash(const vouch_record_model *m)
{
    uint64_t hash = vouch_hash_word(vouch_hash_word(VOUCH_HASH_START, m->digest), m->stamp);
    hash = vouch_hash_word(vouch_hash_word(hash, VOUCH_FLOAT_ORDER), (uint64_t)m->kv_type << 32 | m->page_size);
    return vouch_hash_word(hash, m->has_long_angles);
}

/* The fields of the record, with the hash 0. */
static void fields_make(unsigned char fields[VOUCH_RECORD_FIELDS], const vouch_record_model *model,
                        const vouch_record_id *id, size_t n_payload)
{
    memset(fields, 0, VOUCH_RECORD_FIELDS);
    memcpy(fields, id->is_state ? "VOUCHST1" : "VOUCHPG1", MAGIC);
    vouch_kept_put(fields + 16, model->digest, 8);
    vouch_kept_put(fields + 24, model->stamp, 8);
    vouch_kept_put(fields + 32, id->scope, 8);
    vouch_kept_put(fields + 40, n_payload, 8);
    vouch_kept_put(fields + 48, VOUCH_FLOAT_ORDER, 4);
    vouch_kept_put(fields + 52, model->kv_type, 2);
    vouch_kept_put(fields + 54, model->has_long_angles, 2);
    vouch_kept_put(fields + 56, model->page_size, 4);
    vouch_kept_put(fields + 60, (uint32_t)id->n_tokens, 4);
}

static uint64_t record_hash(const unsigned char *record, size_t n)
{
    const size_t begin = 2 * sizeof(uint64_t);
    return vouch_hash_words(VOUCH_HASH_START, record + begin, n - begin);
}

void vouch_record_finish(unsigned char *record, const vouch_record_model *model, const vouch_record_id *id,
                         size_t n_payload)
{
    const size_t n = vouch_record_size(id->n_tokens, n_payload), head = vouch_record_head(id->n_tokens);
    const size_t tokens = VOUCH_RECORD_FIELDS + (size_t)id->n_tokens * sizeof(int32_t);
    fields_make(record, model, id, n_payload);
    memset(record + tokens, 0, head - tokens);
    memset(record + head + n_payload, 0, n - head - n_payload);
    vouch_kept_put(record + MAGIC, record_hash(record, n), 8);
}

bool vouch_record_is_good(unsigned char *record, size_t n, const vouch_record_model *model, const vouch_record_id *id,
                          const int32_t *tokens, size_t n_payload)
{
    unsigned char fields[VOUCH_RECORD_FIELDS];
    if (n != vouch_record_size(id->n_tokens, n_payload)) return false;
    const uint64_t hash = vouch_kept_get(record + MAGIC, 8);
    fields_make(fields, model, id, n_payload);
    memset(record + MAGIC, 0, 8);
    return memcmp(record, fields, sizeof fields) == 0 &&
           memcmp(record + sizeof fields, tokens, (size_t)id->n_tokens * sizeof *tokens) == 0 &&
           hash == record_hash(record, n);
}
