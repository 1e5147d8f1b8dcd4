/* SPDX-License-Identifier: MIT */
/*
 * DRY, "don't repeat yourself" (vouch.h): a token loses the more of its logit, the longer the repetition is that it
 * would continue.
 *
 *     window     a b c c b c y a b c        lengths of the matches with the end of the window:
 *                    3 1   2                a b c, c and b c have occurred before
 *                      ^ ^   ^
 *                      c b   y              the tokens that followed them: one more of each would go on repeating
 *
 * The lengths are the Z array of the window read backwards (Gusfield, "Algorithms on Strings, Trees and Sequences",
 * section 1.4). With r(j) = the j-th token from the end, counted from 0, it is
 *
 *     z[k] = length of the longest common beginning of r(0) r(1) ... and r(k) r(k+1) ...
 *
 * The algorithm keeps the match [left, right) that reaches farthest. Inside it, r(k) ... equals r(k - left) ..., so
 * z[k - left] is known and only tokens from `right` on are compared: each once, so the time is linear. `right` only
 * grows. A limit on all lengths changes nothing of this.
 *
 * No match reaches over a sequence breaker, so the tokens after the last breaker limit the lengths. A breaker is a
 * text. Nearly always one token contains all of it, and a bit per token says so. Otherwise it ends in a token that
 * begins with its last bytes: a second bit says where the texts of the tokens have to be compared.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "os/os.h"
#include "sample/sample.h"

/* ------------------------------------------------------------------ breakers */

static bool has_bit(const uint64_t *bits, int32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static bool contains(vouch_text text, vouch_text breaker)
{
    return memmem(text.data, text.size, breaker.data, breaker.size) != NULL;
}

/* Whether the text begins with the last n bytes of the breaker. */
static bool begins_with_end(vouch_text text, vouch_text breaker, size_t n)
{
    return n <= text.size && memcmp(text.data, breaker.data + breaker.size - n, n) == 0;
}

/* Sets the bits of a token. */
static void classify(vouch_breakers *b, int32_t token)
{
    const vouch_text text = vouch_tokenizer_bytes(b->tokenizer, token);
    const uint64_t bit = UINT64_C(1) << token % 64;
    for (size_t i = 0; i < b->n; i++) {
        if (contains(text, b->texts[i])) b->whole[token / 64] |= bit;
        for (size_t n = 1; n < b->texts[i].size && n <= text.size; n++)
            if (begins_with_end(text, b->texts[i], n)) b->end[token / 64] |= bit;
    }
}

void vouch_breakers_layout(vouch_breakers *breakers, const vouch_sampling *params, const vouch_tokenizer *tokenizer,
                           int32_t n_vocab, vouch_arena *arena)
{
    vouch_breakers *b = breakers;
    *b = (vouch_breakers){.tokenizer = tokenizer};
    if (!(params->dry_multiplier > 0)) return;
    b->n = params->n_dry_sequence_breakers;
    b->texts = vouch_arena_take(arena, b->n, sizeof *b->texts);
    char *bytes = vouch_arena_take(arena, b->n, VOUCH_MAX_BREAKER_BYTES);
    const size_t n_words = ((size_t)n_vocab + 63) / 64;
    b->whole = vouch_arena_take(arena, n_words, sizeof *b->whole);
    b->end = vouch_arena_take(arena, n_words, sizeof *b->end);
    if (!b->end || b->n == 0) return;
    for (size_t i = 0; i < b->n; i++, bytes += VOUCH_MAX_BREAKER_BYTES) {
        const size_t size = strlen(params->dry_sequence_breakers[i]);
        memcpy(bytes, params->dry_sequence_breakers[i], size);
        b->texts[i] = (vouch_text){.data = bytes, .size = size};
    }
    const int32_t n = vouch_min(n_vocab, vouch_tokenizer_size(tokenizer));
    for (int32_t token = 0; token < n; token++) classify(b, token);
}

/* Whether the texts of the tokens tokens[0, n) end with these bytes. */
static bool ends_with(const vouch_breakers *b, const int32_t *tokens, int32_t n, const char *bytes, size_t n_bytes)
{
    while (n_bytes > 0 && n > 0) {
        const vouch_text text = vouch_tokenizer_bytes(b->tokenizer, tokens[--n]);
        const size_t size = text.size < n_bytes ? text.size : n_bytes;
        n_bytes -= size;
        if (memcmp(text.data + text.size - size, bytes + n_bytes, size) != 0) return false;
    }
    return n_bytes == 0;
}

/* Whether a breaker that begins in an earlier token ends in the last one of tokens[0, n). */
static bool ends_breaker(const vouch_breakers *b, const int32_t *tokens, int32_t n)
{
    const vouch_text text = vouch_tokenizer_bytes(b->tokenizer, tokens[n - 1]);
    for (size_t i = 0; i < b->n; i++)
        for (size_t size = 1; size < b->texts[i].size && size <= text.size; size++)
            if (begins_with_end(text, b->texts[i], size) &&
                ends_with(b, tokens, n - 1, b->texts[i].data, b->texts[i].size - size))
                return true;
    return false;
}

/* How many of tokens[0, n) lie after the last breaker; n if there is none. */
static int32_t count_unbroken(const vouch_breakers *b, const int32_t *tokens, int32_t n)
{
    if (!b || b->n == 0) return n;
    for (int32_t i = n - 1; i >= 0; i--)
        if (has_bit(b->whole, tokens[i]) || (has_bit(b->end, tokens[i]) && ends_breaker(b, tokens, i + 1)))
            return n - 1 - i;
    return n;
}

/* --------------------------------------------------------------- repetitions */

/* Fills z[1, n), cut at `limit`, from the tokens tokens[0, n). */
static void fill_repeats(int32_t *z, const int32_t *tokens, int32_t n, int32_t limit)
{
    const int32_t *r = tokens + n - 1; /* r[-j] is r(j) */
    for (int32_t k = 1, left = 0, right = 0; k < n; k++) {
        int32_t length = k < right ? vouch_min(z[k - left], right - k) : 0;
        if (k + length >= right) {
            while (k + length < n && length < limit && r[-length] == r[-k - length]) length++;
            left = k;
            right = k + length;
        }
        z[k] = length;
    }
}

/* base^n by squaring: the powers of C libraries differ in their last bits. */
static double power(double base, int32_t n)
{
    double result = 1;
    for (; n > 0; n /= 2, base *= base)
        if (n % 2) result *= base;
    return result;
}

static float penalized(float logit, int32_t length, const vouch_sampling *params)
{
    const double loss = (double)params->dry_multiplier * power(params->dry_base, length - params->dry_allowed_length);
    return isfinite(logit) ? (float)fmax((double)logit - loss, -(double)FLT_MAX) : logit;
}

void vouch_dry(vouch_sampler *sampler, float *logits, const int32_t *history, size_t n_history)
{
    const vouch_sampling *params = &sampler->params;
    const vouch_breakers *breakers = sampler->breakers;
    const size_t most = (size_t)params->dry_penalty_last_n;
    const int32_t n = (int32_t)(n_history < most ? n_history : most), least = params->dry_allowed_length;
    const int32_t *tokens = history + n_history - n;
    int32_t *z = sampler->repeats, *longest = sampler->count; /* 1 + the longest match before a token; 0: none */
    const int32_t limit = count_unbroken(breakers, tokens, n);
    if (limit < least) return;
    fill_repeats(z, tokens, n, limit);
    for (int32_t k = 1; k < n; k++) {
        const int32_t follower = tokens[n - k];
        if (z[k] >= least && z[k] >= longest[follower]) longest[follower] = 1 + z[k];
    }
    for (int32_t k = 1; k < n; k++) {
        const int32_t token = tokens[n - k], length = longest[token] - 1;
        if (length < 0) continue;
        longest[token] = 0;
        if (breakers && breakers->n > 0 && has_bit(breakers->whole, token)) continue;
        logits[token] = penalized(logits[token], length, params);
    }
}
