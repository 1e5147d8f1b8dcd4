/* SPDX-License-Identifier: MIT */
/*
 * Text around special tokens.
 *
 *   lstrip        "a  <mask>b"     the spaces before the name belong to the token
 *   rstrip        "<|user|>\nHi"   the white space after the name belongs to the token
 *   single_word   "un<word>s"      the name counts only where no letter, mark, digit or connector touches it
 *
 * Files made from Hugging Face folders say which tokens have these flags (tokenizer.vouch.token_flags). Other GGUF
 * files don't: there, as in llama.cpp, the names of Phi-3's tokens decide (ends.c).
 */
#include <string.h>
#include <utf8proc.h>

#include "format/hf/vocabulary/hf_tokenizer.h"
#include "text/internal.h"
#include "text/unicode.h"

vouch_status vouch_added_load(vouch_tokenizer *tokenizer, const vouch_gguf *gguf, vouch_text model_name,
                              vouch_error *err)
{
    static const char key[] = "tokenizer.vouch.token_flags";
    vouch_gguf_array flags;
    VOUCH_TRY(vouch_gguf_get_array(gguf, key, false, &flags, err));
    if (flags.count > 0 && (flags.type != VOUCH_GGUF_U8 || flags.count != (size_t)tokenizer->n_tokens))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s has %zu values; expected a byte for each of the %d tokens",
                          vouch_gguf_path(gguf), key, flags.count, tokenizer->n_tokens);
    for (size_t i = 0; i < tokenizer->n_specials; i++) {
        const int32_t id = tokenizer->specials[i];
        if (flags.count > 0) tokenizer->flags[id] = flags.data[id];
        else if (vouch_names_strip(model_name, tokenizer_text(tokenizer, id)))
            tokenizer->flags[id] = VOUCH_TOKEN_RSTRIP;
    }
    return VOUCH_OK;
}

/* Unicode's property White_Space. */
static bool is_white(int32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static bool is_word(int32_t c)
{
    const utf8proc_category_t category = utf8proc_category(c);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC;
}

/* The character that begins at text[0] of text[n], -1 where there is none, and its length. */
static int32_t character_at(const char *text, size_t n, size_t *length)
{
    *length = n > 0 ? vouch_utf8_length(text, n) : 0;
    return *length > 0 ? vouch_utf8_decode(text, *length) : -1;
}

/* The character that ends text[n], -1 where there is none, and its length. */
static int32_t character_before(const char *text, size_t n, size_t *length)
{
    for (*length = 1; *length <= 4 && *length <= n; (*length)++)
        if (vouch_utf8_length(text + n - *length, *length) == *length)
            return vouch_utf8_decode(text + n - *length, *length);
    return -1;
}

bool vouch_added_fits(const vouch_tokenizer *tokenizer, int32_t special, const char *text, size_t n, size_t at,
                      size_t length)
{
    if (!(tokenizer->flags[special] & VOUCH_TOKEN_SINGLE_WORD)) return true;
    size_t before, after;
    const int32_t left = character_before(text, at, &before),
                  right = character_at(text + at + length, n - at - length, &after);
    return (left < 0 || !is_word(left)) && (right < 0 || !is_word(right));
}

size_t vouch_added_begin(const vouch_tokenizer *tokenizer, int32_t special, const char *text, size_t start, size_t at)
{
    size_t length;
    if (!(tokenizer->flags[special] & VOUCH_TOKEN_LSTRIP)) return at;
    while (is_white(character_before(text + start, at - start, &length))) at -= length;
    return at;
}

size_t vouch_added_end(const vouch_tokenizer *tokenizer, int32_t special, const char *text, size_t at, size_t n)
{
    size_t length;
    if (!(tokenizer->flags[special] & VOUCH_TOKEN_RSTRIP)) return at;
    while (is_white(character_at(text + at, n - at, &length))) at += length;
    return at;
}
