/* SPDX-License-Identifier: MIT */
/*
 * Writes a history of answers as bytes and reads it back. Numbers are little endian:
 *
 *    0  "VOUCHHIS"
 *    8  u32  version, 1
 *   12  u32  tokens in the vocabulary
 *   16  u64  hash of the vocabulary: with another vocabulary, the ids have another meaning
 *   24  u64  number of tokens that follow
 *   32  u64  hash of the bytes of these tokens: FNV-1a, begun with 0
 *   40  i32  tokens; -1 after each answer
 */
#include "engine/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { HEADER = 40, VERSION = 1 };

static const char magic[] = "VOUCHHIS";

static void put(unsigned char *bytes, uint64_t x, int n)
{
    for (int i = 0; i < n; i++) bytes[i] = (unsigned char)(x >> 8 * i);
}

static uint64_t get(const unsigned char *bytes, int n)
{
    uint64_t x = 0;
    for (int i = 0; i < n; i++) x |= (uint64_t)bytes[i] << 8 * i;
    return x;
}

size_t vouch_history_size(vouch_source history)
{
    int32_t n;
    vouch_source_history_tokens(history, &n);
    return HEADER + 4 * (size_t)n;
}

void vouch_history_write(vouch_source history, const vouch_model *model, unsigned char *bytes)
{
    int32_t n;
    const int32_t *tokens = vouch_source_history_tokens(history, &n);
    for (int32_t i = 0; i < n; i++) put(bytes + HEADER + 4 * (size_t)i, (uint32_t)tokens[i], 4);
    memcpy(bytes, magic, 8);
    put(bytes + 8, VERSION, 4);
    put(bytes + 12, (uint32_t)model->info.n_vocab, 4);
    put(bytes + 16, vouch_model_vocabulary_hash(model), 8);
    put(bytes + 24, (uint64_t)n, 8);
    put(bytes + 32, vouch_hash_bytes(0, bytes + HEADER, 4 * (size_t)n), 8);
}

static int32_t token_at(const unsigned char *bytes, size_t i)
{
    return (int32_t)(uint32_t)get(bytes + HEADER + 4 * i, 4);
}

static vouch_status check(const vouch_model *model, const unsigned char *bytes, size_t n_bytes, vouch_error *err)
{
    if (n_bytes < HEADER || memcmp(bytes, magic, 8) != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "not a history of answers: expected %s at its beginning", magic);
    if (get(bytes + 8, 4) != VERSION)
        return vouch_fail(err, VOUCH_E_FORMAT, "the history has version %u: expected %d; begin a new history",
                          (unsigned)get(bytes + 8, 4), VERSION);
    if (get(bytes + 12, 4) != (uint64_t)model->info.n_vocab || get(bytes + 16, 8) != vouch_model_vocabulary_hash(model))
        return vouch_fail(err, VOUCH_E_MISMATCH,
                          "the history belongs to a model with another vocabulary (%u tokens; this model has %d): "
                          "use one history for each vocabulary",
                          (unsigned)get(bytes + 12, 4), model->info.n_vocab);
    const uint64_t n = get(bytes + 24, 8);
    if (n != (n_bytes - HEADER) / 4 || (n_bytes - HEADER) % 4 != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "the history is damaged: it says %llu tokens and has %zu bytes for them",
                          (unsigned long long)n, n_bytes - HEADER);
    if (get(bytes + 32, 8) != vouch_hash_bytes(0, bytes + HEADER, n_bytes - HEADER))
        return vouch_fail(err, VOUCH_E_FORMAT, "the history is damaged: its tokens don't match their hash");
    for (size_t i = 0; i < n; i++)
        if (token_at(bytes, i) < VOUCH_HISTORY_SEPARATOR || token_at(bytes, i) >= model->info.n_vocab)
            return vouch_fail(err, VOUCH_E_FORMAT, "the history is damaged: token %zu is %d, expected -1 to %d", i,
                              token_at(bytes, i), model->info.n_vocab - 1);
    return VOUCH_OK;
}

vouch_status vouch_history_read(vouch_source history, const vouch_model *model, const unsigned char *bytes,
                                size_t n_bytes, vouch_error *err)
{
    VOUCH_TRY(check(model, bytes, n_bytes, err));
    const size_t n = (n_bytes - HEADER) / 4;
    int32_t *tokens = malloc(n * sizeof *tokens + 1);
    if (!tokens) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a history of %zu tokens", n);
    for (size_t i = 0; i < n; i++) tokens[i] = token_at(bytes, i);
    for (size_t from = 0, past; from < n; from = past + 1) {
        for (past = from; past < n && tokens[past] != VOUCH_HISTORY_SEPARATOR;) past++;
        vouch_source_history_add(history, tokens + from, past - from < INT32_MAX ? (int32_t)(past - from) : INT32_MAX);
    }
    free(tokens);
    return VOUCH_OK;
}
