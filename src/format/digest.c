/* SPDX-License-Identifier: MIT */
/* Hashes the model in a file (digest.h). The hashes of its keys and tensors are added, so their order doesn't count. */
#include "format/digest.h"

#include "base/hash.h"
#include "format/gguf_private.h"

enum {
    SAMPLES = 8, /* of a tensor's data, at equal distances */
    SAMPLE_BYTES = 256,
};

static uint64_t hash_text(uint64_t hash, vouch_text text)
{
    return vouch_hash_bytes(vouch_hash_word(hash, text.size), text.data, text.size);
}

static bool begins_with(vouch_text text, vouch_text start)
{
    return text.size > start.size && text.data[start.size] == '.' && memcmp(text.data, start.data, start.size) == 0;
}

static bool is_equal(vouch_text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static uint64_t hash_key(const vouch_gguf_kv *kv)
{
    uint64_t hash = hash_text(VOUCH_HASH_START, kv->key);
    const unsigned char *cursor = kv->value.data;
    if (kv->value.type != VOUCH_GGUF_STRING)
        return vouch_hash_bytes(hash, cursor, kv->value.count * vouch_gguf_type_size(kv->value.type));
    for (size_t i = 0; i < kv->value.count; i++) hash = hash_text(hash, vouch_gguf_next_text(&cursor));
    return hash;
}

/* Word by word, which is four times as fast as byte by byte. */
static uint64_t hash_data(uint64_t hash, const unsigned char *data, size_t n)
{
    const size_t words = n / sizeof(uint64_t) * sizeof(uint64_t);
    return vouch_hash_bytes(vouch_hash_words(hash, data, words), data + words, n - words);
}

/* The samples are evenly spread: sample i begins at i / (SAMPLES - 1) of the largest possible offset. */
static vouch_status hash_tensor(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor, uint64_t *hash,
                                vouch_error *err)
{
    const size_t size = tensor->bytes < SAMPLE_BYTES ? tensor->bytes : SAMPLE_BYTES, last = tensor->bytes - size;
    *hash = vouch_hash_word(hash_text(VOUCH_HASH_START, tensor->name), tensor->type);
    for (int i = 0; i < VOUCH_GGUF_MAX_DIMS; i++) *hash = vouch_hash_word(*hash, (uint64_t)tensor->dim[i]);
    for (size_t i = 0; tensor->data && i < SAMPLES; i++) {
        const size_t offset = last / (SAMPLES - 1) * i + last % (SAMPLES - 1) * i / (SAMPLES - 1);
        VOUCH_TRY(vouch_gguf_load(gguf, tensor, offset, size, err));
        *hash = hash_data(*hash, (const unsigned char *)tensor->data + offset, size);
    }
    return VOUCH_OK;
}

vouch_status vouch_gguf_digest(const vouch_gguf *gguf, uint64_t *digest, vouch_error *err)
{
    vouch_text arch = {"", 0};
    uint64_t sum = 0;
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", true, &arch, err));
    for (size_t i = 0; i < gguf->n_kv; i++) {
        const vouch_gguf_kv *kv = &gguf->kv[i];
        if (begins_with(kv->key, arch) || is_equal(kv->key, "general.architecture") ||
            is_equal(kv->key, "tokenizer.ggml.tokens"))
            sum += hash_key(kv);
    }
    for (size_t i = 0; i < gguf->n_tensors; i++) {
        uint64_t hash;
        VOUCH_TRY(hash_tensor(gguf, &gguf->tensors[i], &hash, err));
        sum += hash;
    }
    *digest = vouch_hash_word(VOUCH_HASH_START, sum);
    return VOUCH_OK;
}

uint64_t vouch_gguf_stamp(const vouch_gguf *gguf)
{
    uint64_t hash = gguf->n_files > 0 ? VOUCH_HASH_START : 0;
    for (size_t i = 0; i < gguf->n_files; i++) {
        hash = vouch_hash_word(hash, gguf->files[i].map.size);
        hash = vouch_hash_word(hash, (uint64_t)gguf->files[i].map.modified);
    }
    return hash;
}
