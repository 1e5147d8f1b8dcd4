/* SPDX-License-Identifier: MIT */
/* The tables of a bridge, built once, when a session opens (bridge.h). */
#include "draft/bridge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "text/unicode.h"

vouch_status vouch_vocabulary_check_pair(vouch_vocabulary target, vouch_vocabulary draft, vouch_error *err)
{
    if (target.tokenizer && draft.tokenizer) return vouch_tokenizer_check_pair(target.tokenizer, draft.tokenizer, err);
    if (target.tokenizer || draft.tokenizer)
        return vouch_fail(err, VOUCH_E_MISMATCH, "the %s model has no token table to compare with the %s's",
                          target.tokenizer ? "draft" : "target", target.tokenizer ? "target" : "draft");
    if (target.n != draft.n)
        return vouch_fail(err, VOUCH_E_MISMATCH, "the target has %d tokens, the draft model %d", target.n, draft.n);
    return VOUCH_OK;
}

static vouch_status out_of_memory(vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to compare two token tables");
}

static vouch_status pair_tokens(vouch_bridge *b, const vouch_tokenizer *target, const vouch_tokenizer *draft,
                                vouch_error *err)
{
    int32_t *specials = calloc((size_t)b->n_rows, sizeof *specials), n_specials = 0;
    bool *taken = calloc((size_t)b->n_rows, sizeof *taken);
    if (!specials || !taken) {
        free(specials);
        free(taken);
        return out_of_memory(err);
    }
    for (int32_t d = 0; d < vouch_tokenizer_size(draft); d++)
        if (vouch_tokenizer_is_special(draft, d)) specials[n_specials++] = d;
    for (int32_t t = 0; t < b->n_target; t++) {
        const vouch_text text = vouch_tokenizer_bytes(target, t);
        b->row_of[t] = -1;
        if (text.size == 0) continue;
        if (!vouch_tokenizer_is_special(target, t)) {
            b->row_of[t] = vouch_tokenizer_find(draft, text.data, text.size);
            b->n_common += b->row_of[t] >= 0;
            continue;
        }
        for (int32_t i = 0; i < n_specials && b->row_of[t] < 0; i++) {
            const vouch_text name = vouch_tokenizer_bytes(draft, specials[i]);
            if (name.size == text.size && memcmp(name.data, text.data, text.size) == 0) b->row_of[t] = specials[i];
        }
    }
    /* BOS and EOS pair up even under different names. */
    const int32_t roles[2][2] = {{vouch_tokenizer_bos(target), vouch_tokenizer_bos(draft)},
                                 {vouch_tokenizer_eos(target), vouch_tokenizer_eos(draft)}};
    for (int i = 0; i < 2; i++)
        if (roles[i][0] >= 0 && roles[i][1] >= 0 && b->row_of[roles[i][0]] < 0) b->row_of[roles[i][0]] = roles[i][1];
    /* Two target tokens can't share one draft token: the later one loses it. */
    for (int32_t t = 0; t < b->n_target; t++) {
        const int32_t row = b->row_of[t];
        if (row < 0) continue;
        if (taken[row]) b->row_of[t] = -1;
        taken[row] = true;
    }
    free(specials);
    free(taken);
    return VOUCH_OK;
}

/* Spells the text in draft tokens. A text that can't be spelled becomes token 0. */
static vouch_status spell(const vouch_tokenizer *draft, vouch_text text, int32_t *out, size_t capacity, size_t *n,
                          vouch_error *err)
{
    const vouch_status status = vouch_tokenizer_encode(draft, text.data, text.size, 0, out, capacity, n, err);
    if (status == VOUCH_E_MEMORY) return status;
    if (status == VOUCH_OK && *n > 0) return status;
    *n = 1;
    if (capacity > 0) out[0] = 0;
    return VOUCH_OK;
}

/* Spells each token of the target with one draft token, or with at most as many as its text has bytes in NFC. */
static vouch_status spell_tokens(vouch_bridge *b, const vouch_tokenizer *target, const vouch_tokenizer *draft,
                                 vouch_error *err)
{
    size_t room = 0, used = 0;
    for (int32_t t = 0; t < b->n_target; t++) {
        const size_t n = vouch_tokenizer_bytes(target, t).size;
        room += b->row_of[t] >= 0 || n == 0 ? 1 : VOUCH_NFC_GROWTH * n;
    }
    b->pieces = calloc(room, sizeof *b->pieces);
    if (!b->pieces || room > INT32_MAX)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to spell the target's tokens with the draft's");
    for (int32_t t = 0; t < b->n_target; t++) {
        size_t n = 1;
        b->first[t] = (int32_t)used;
        if (b->row_of[t] >= 0) b->pieces[used] = b->row_of[t];
        else VOUCH_TRY(spell(draft, vouch_tokenizer_bytes(target, t), b->pieces + used, room - used, &n, err));
        used += n;
        assert(used <= room);
        if ((int32_t)n > b->most) b->most = (int32_t)n;
    }
    b->first[b->n_target] = (int32_t)used;
    int32_t *fitting = realloc(b->pieces, (used + 1) * sizeof *b->pieces); /* the room was for the worst case */
    if (fitting) b->pieces = fitting;
    return VOUCH_OK;
}

static vouch_status bridge_allocate(vouch_bridge **out, int32_t n_target, int32_t n_rows, vouch_error *err)
{
    vouch_bridge *b = *out = calloc(1, sizeof *b);
    if (!b) return out_of_memory(err);
    b->n_target = n_target;
    b->n_rows = n_rows;
    b->row_of = calloc((size_t)n_target, sizeof *b->row_of);
    b->first = calloc((size_t)n_target + 1, sizeof *b->first);
    return b->row_of && b->first ? VOUCH_OK : out_of_memory(err);
}

static vouch_status bridge_finish(vouch_bridge **out, vouch_bridge *b, vouch_status status)
{
    *out = status == VOUCH_OK ? b : NULL;
    if (status != VOUCH_OK) vouch_bridge_close(b);
    return status;
}

vouch_status vouch_bridge_open(vouch_bridge **out, const vouch_tokenizer *target, int32_t n_target,
                               const vouch_tokenizer *draft, int32_t n_draft, vouch_error *err)
{
    vouch_bridge *b;
    vouch_status status = bridge_allocate(&b, n_target, n_draft, err);
    if (status == VOUCH_OK) status = pair_tokens(b, target, draft, err);
    if (status == VOUCH_OK && b->n_common == 0)
        status = vouch_fail(err, VOUCH_E_MISMATCH, "target and draft model have no token in common");
    if (status == VOUCH_OK) status = spell_tokens(b, target, draft, err);
    return bridge_finish(out, b, status);
}

vouch_status vouch_bridge_open_same(vouch_bridge **out, int32_t n, vouch_error *err)
{
    vouch_bridge *b;
    vouch_status status = bridge_allocate(&b, n, n, err);
    if (status == VOUCH_OK) {
        b->pieces = calloc((size_t)n, sizeof *b->pieces);
        if (!b->pieces) status = out_of_memory(err);
    }
    for (int32_t t = 0; status == VOUCH_OK && t < n; t++) b->row_of[t] = b->pieces[t] = b->first[t] = t;
    if (status == VOUCH_OK) b->first[n] = b->n_common = n;
    if (b) b->most = 1;
    return bridge_finish(out, b, status);
}

vouch_status vouch_bridge_trim(vouch_bridge *bridge, const int32_t *tokens, int32_t n, vouch_error *err)
{
    vouch_bridge *b = bridge;
    int32_t *index = calloc((size_t)b->n_rows, sizeof *index); /* 1 + the new row */
    if (!index) return out_of_memory(err);
    for (int32_t i = 0; i < n; i++) index[tokens[i]] = i + 1;
    b->n_common = 0;
    for (int32_t t = 0; t < b->n_target; t++) {
        if (b->row_of[t] >= 0) b->row_of[t] = index[b->row_of[t]] - 1;
        b->n_common += b->row_of[t] >= 0;
    }
    b->n_rows = n;
    free(index);
    if (b->n_common > 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MISMATCH, "none of the %d tokens of the draft model's head is the target's", n);
}

void vouch_bridge_close(vouch_bridge *bridge)
{
    if (!bridge) return;
    free(bridge->row_of);
    free(bridge->first);
    free(bridge->pieces);
    free(bridge);
}

size_t vouch_bridge_memory(const vouch_bridge *bridge)
{
    return bridge ? sizeof *bridge +
                        (2 * (size_t)bridge->n_target + 1 + (size_t)bridge->first[bridge->n_target]) * sizeof(int32_t)
                  : 0;
}

void vouch_bridge_logits(const vouch_bridge *bridge, const float *draft, float *target)
{
    for (int32_t t = 0; t < bridge->n_target; t++)
        target[t] = bridge->row_of[t] < 0 ? -INFINITY : draft[bridge->row_of[t]];
}
