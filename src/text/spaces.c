/* SPDX-License-Identifier: MIT */
/*
 * Prepares a text for the tokenizers that write a space as U+2581: SentencePiece and its descendants.
 *
 * Their token texts have U+2581 where the text has a space. The loader turns it into a space in the tokens, and this
 * file does the same in the text: a text that has U+2581 itself gives the same tokens as one with a space there. So a
 * token's bytes are the bytes that it shows.
 *
 *   "Hi  you"  ─► " Hi  you"    with the prefix: at the beginning of a text, and after a special token
 *              ─► " Hi you"     with the prefix, where the file removes extra spaces
 */
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"

size_t vouch_spaces_unescape(const char *text, size_t n, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        const bool escaped = n - i >= 3 && memcmp(text + i, "\xe2\x96\x81", 3) == 0;
        out[used++] = escaped ? ' ' : text[i];
        i += escaped ? 3 : 1;
    }
    return used;
}

/* Keeps one space between words and none at the ends. */
static size_t spaces_remove(char *text, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' || (used > 0 && text[used - 1] != ' ')) text[used++] = text[i];
    return used > 0 && text[used - 1] == ' ' ? used - 1 : used;
}

vouch_status vouch_spaces_prepare(const vouch_tokenizer *tokenizer, bool with_prefix, const char *text, size_t n,
                                  char **out, size_t *n_out, vouch_error *err)
{
    char *prepared = malloc(n + 1);
    *out = prepared;
    if (!prepared) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to tokenize a text of %zu bytes", n);
    prepared[0] = ' ';
    size_t used = vouch_spaces_unescape(text, n, prepared + 1);
    if (tokenizer->remove_spaces) used = spaces_remove(prepared + 1, used);
    if (!with_prefix) memmove(prepared, prepared + 1, used);
    *n_out = used + with_prefix;
    return VOUCH_OK;
}
