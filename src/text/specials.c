/* SPDX-License-Identifier: MIT */
/*
 * Finds the names of special tokens in a text: the leftmost name, and of several that begin there the longest.
 *
 * The names lie sorted, so the names that begin with the bytes read so far are one range of the array. Binary search
 * narrows the range with each further byte:
 *
 *     <|im_end|>  <|im_start|>  <|pad|>          text "<|im_st..."
 *     [----------------------------------]       <|
 *     [--------------------------]               <|im_
 *                 [--------------]               <|im_s
 *
 * For each index of the text, the time is the length of the name times the logarithm of the number of names, however
 * alike the names are.
 */
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "text/internal.h"

/* A prefix comes first. */
static int bytes_compare(vouch_text s, vouch_text t)
{
    const int order = memcmp(s.data, t.data, s.size < t.size ? s.size : t.size);
    return order ? order : s.size < t.size ? -1 : s.size > t.size;
}

static int special_compare(const void *a, const void *b, void *tokenizer)
{
    const vouch_tokenizer *all = tokenizer;
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    const int order = bytes_compare(tokenizer_text(all, x), tokenizer_text(all, y));
    if (order != 0) return order;
    if (all->kind[x] != all->kind[y]) return all->kind[x] < all->kind[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Whether both have the same name and kind. Then the lower id, which comes first, serves for both. */
static bool special_repeats(const vouch_tokenizer *tokenizer, int32_t before, int32_t id)
{
    const vouch_text s = tokenizer_text(tokenizer, before), t = tokenizer_text(tokenizer, id);
    return s.size == t.size && memcmp(s.data, t.data, s.size) == 0 && tokenizer->kind[before] == tokenizer->kind[id];
}

void vouch_specials_sort(vouch_tokenizer *tokenizer)
{
    size_t n = 0;
    vouch_os_sort(tokenizer->specials, tokenizer->n_specials, sizeof *tokenizer->specials, special_compare, tokenizer);
    for (size_t i = 0; i < tokenizer->n_specials; i++)
        if (n == 0 || !special_repeats(tokenizer, tokenizer->specials[n - 1], tokenizer->specials[i]))
            tokenizer->specials[n++] = tokenizer->specials[i];
    tokenizer->n_specials = n;
    for (size_t i = 0; i < tokenizer->n_specials; i++) {
        const vouch_text name = tokenizer_text(tokenizer, tokenizer->specials[i]);
        tokenizer->special_first[(unsigned char)name.data[0]] = true;
    }
}

size_t vouch_sorted_bound(const vouch_tokenizer *tokenizer, const int32_t *ids, size_t low, size_t high, size_t depth,
                          int byte)
{
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const vouch_text name = tokenizer_text(tokenizer, ids[middle]);
        const int next = name.size > depth ? (unsigned char)name.data[depth] : -1;
        if (next < byte) low = middle + 1;
        else high = middle;
    }
    return low;
}

int32_t vouch_sorted_step(const vouch_tokenizer *tokenizer, const int32_t *ids, size_t *low, size_t *high, size_t depth,
                          int byte)
{
    *low = vouch_sorted_bound(tokenizer, ids, *low, *high, depth, byte);
    *high = vouch_sorted_bound(tokenizer, ids, *low, *high, depth, byte + 1);
    size_t same = *low; /* tokens that end here come first */
    while (same < *high && tokenizer_text(tokenizer, ids[same]).size == depth + 1) same++;
    return same > *low ? ids[same - 1] : -1;
}

static int word_compare(const void *a, const void *b, void *tokenizer)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    const int order = bytes_compare(tokenizer_text(tokenizer, x), tokenizer_text(tokenizer, y));
    return order ? order : x < y ? -1 : x > y;
}

void vouch_words_sort(vouch_tokenizer *tokenizer)
{
    tokenizer->n_words = 0;
    for (int32_t i = 0; i < tokenizer->n_tokens; i++) {
        const uint8_t kind = tokenizer->kind[i];
        const bool is_text = kind == TOKEN_NORMAL || kind == TOKEN_USER_DEFINED || kind == TOKEN_UNUSED;
        if (is_text && tokenizer_text(tokenizer, i).size > 0) tokenizer->words[tokenizer->n_words++] = i;
    }
    vouch_os_sort(tokenizer->words, tokenizer->n_words, sizeof *tokenizer->words, word_compare, tokenizer);
}

static bool kind_matches(uint8_t kind, unsigned match)
{
    return (match & (kind == TOKEN_USER_DEFINED ? MATCH_USER_DEFINED : MATCH_CONTROL)) != 0;
}

int32_t vouch_specials_match(const vouch_tokenizer *tokenizer, unsigned match, const char *text, size_t n,
                             size_t *length)
{
    int32_t found = -1;
    if (n == 0 || !tokenizer->special_first[(unsigned char)text[0]]) return found;
    size_t low = 0, high = tokenizer->n_specials;
    for (size_t depth = 0; depth < n && low < high;) {
        const int byte = (unsigned char)text[depth];
        low = vouch_sorted_bound(tokenizer, tokenizer->specials, low, high, depth, byte);
        high = vouch_sorted_bound(tokenizer, tokenizer->specials, low, high, depth, byte + 1);
        depth++;
        for (size_t i = low; i < high; i++) { /* names that end here come first; one of each kind */
            const int32_t id = tokenizer->specials[i];
            if (tokenizer_text(tokenizer, id).size != depth) break;
            if (!kind_matches(tokenizer->kind[id], match)) continue;
            found = id;
            *length = depth;
            break;
        }
    }
    return found;
}
