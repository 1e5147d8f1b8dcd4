/* SPDX-License-Identifier: MIT */
/*
 * RWKV's tokenizer: the longest token that begins the text becomes the first token, and so on with the rest. Any bytes
 * are a text, because the vocabulary has a token for each byte:
 *
 *   text      T h e _ c a t          tokens that begin here: "T", "Th", "The"
 *   tokens    [The] [_cat]
 *
 * Tokens are found as special tokens are (specials.c). The loader refuses a vocabulary that lacks a byte.
 */
#include "text/internal.h"

/* The longest token that begins text[n], and its *length; or -1. */
static int32_t longest_match(const vouch_tokenizer *t, const char *text, size_t n, size_t *length)
{
    int32_t found = -1;
    size_t low = 0, high = t->n_words;
    for (size_t depth = 0; depth < n && low < high; depth++) {
        const int32_t token = vouch_sorted_step(t, t->words, &low, &high, depth, (unsigned char)text[depth]);
        if (token < 0) continue;
        found = token;
        *length = depth + 1;
    }
    return found;
}

void vouch_longest_text(encoder *e, const char *text, size_t n)
{
    for (size_t i = 0, length; i < n; i += length) {
        const int32_t token = longest_match(e->tokenizer, text + i, n - i, &length);
        if (token >= 0) {
            encoder_push(e, token);
        } else {
            encoder_push(e, e->tokenizer->byte_token[(unsigned char)text[i]]); /* a token named <0xNN> */
            length = 1;
        }
    }
    e->after_special = false;
}
