/* SPDX-License-Identifier: MIT */
/*
 * Turns text into ids, and answers questions about a tokenizer.
 *
 *   text ──► names of special tokens, where asked for ──► their ids
 *       └──► the text between them
 *             ├─ bytes that are no UTF-8 ──► the token of each byte, or U+FFFD where it has none
 *             └─ well-formed stretches ─┬► NFC (Qwen), or spaces ready (spaces.c) ──► words ──► merges ──► ids
 *                                       └► unigram.c ──► ids
 *
 * In a word, a character that has a byte without a token becomes U+FFFD before the merges.
 *
 * Nothing of a text vanishes. The original tokenizers drop a byte without a token, so that "a\x04b" and "ab"
 * look alike to the model. A vocabulary that can't spell U+FFFD gets "?" instead. Only a vocabulary that can't
 * spell "?" either loses the byte.
 *
 * Which special tokens a text may name:
 *
 *                   VOUCH_TOKENIZE_SPECIAL   plain text   chat: template   assistant   system, user
 *   control         yes                      no           yes              no          no
 *   user-defined    yes                      yes          yes              yes         white space only
 *
 * User-defined tokens (<think>, <tool_call>, runs of spaces in code models) joined the vocabulary after the
 * merges were learned. The original tokenizers always find them. A model that has said "<think>" said that
 * token, so its own turns keep it. A user's text in a chat names none but runs of white space. (No text
 * becomes a control token by merging. A text may become a user-defined token where the file lists that token
 * in its merges, too.)
 */
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"
#include "text/jinja/value.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- encoder */

vouch_status vouch_encoder_open(encoder *e, const vouch_tokenizer *tokenizer, int32_t *tokens, size_t capacity,
                                vouch_error *err)
{
    *e = (encoder){.tokenizer = tokenizer, .tokens = tokens, .capacity = tokens ? capacity : 0, .after_special = true};
    e->match = pcre2_match_data_create(1, NULL);
    return e->match ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to tokenize");
}

void vouch_encoder_close(encoder *e)
{
    pcre2_match_data_free(e->match);
    free(e->symbols);
    free(e->heap);
}

vouch_status vouch_encoder_result(const encoder *e, size_t *n_tokens, vouch_error *err)
{
    *n_tokens = e->count;
    if (e->count <= e->capacity) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_BUFFER, "%zu tokens do not fit into a buffer for %zu", e->count, e->capacity);
}

static size_t character_length(const char *text)
{
    const unsigned char lead = (unsigned char)text[0];
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

static bool lacks_byte(const vouch_tokenizer *tokenizer, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tokenizer->byte_token[(unsigned char)text[i]] < 0) return true;
    return false;
}

/* Encodes a word, with the replacement in place of each character that has a byte without a token. */
static vouch_status encoder_lacking_word(encoder *e, const char *word, size_t n, vouch_error *err)
{
    const vouch_text replacement = e->tokenizer->replacement;
    if (n > INT32_MAX / 3) /* a character of one byte becomes the three of U+FFFD */
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "a word of %zu bytes has bytes that the vocabulary can't spell; such a word has at most %d "
                          "bytes: give the text in pieces",
                          n, INT32_MAX / 3);
    char *replaced = malloc(3 * n);
    if (!replaced) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to tokenize a word of %zu bytes", n);
    size_t used = 0;
    for (size_t i = 0, length; i < n; i += length) {
        length = character_length(word + i);
        const bool lacks = lacks_byte(e->tokenizer, word + i, length);
        const vouch_text piece = lacks ? replacement : (vouch_text){word + i, length};
        memcpy(replaced + used, piece.data, piece.size);
        used += piece.size;
    }
    const vouch_status status = used > 0 ? vouch_bpe_word(e, replaced, used, err) : VOUCH_OK;
    free(replaced);
    return status;
}

static vouch_status encoder_word(void *user, const char *word, size_t n, vouch_error *err)
{
    encoder *e = user;
    const vouch_tokenizer *t = e->tokenizer;
    const bool spelled = t->pre.rule->scheme != SCHEME_BYTES || !t->lacks_bytes || !lacks_byte(t, word, n);
    const bool whole = !spelled && t->pre.rule->whole_words && vouch_vocab_find(t, word, n) >= 0;
    return spelled || whole ? vouch_bpe_word(e, word, n, err) : encoder_lacking_word(e, word, n, err);
}

/* Well-formed UTF-8. */
static vouch_status encoder_stretch(encoder *e, const char *text, size_t n, vouch_error *err)
{
    const vouch_tokenizer *t = e->tokenizer;
    const pretokenizer_rule *rule = t->pre.rule;
    const bool with_prefix = t->space_prefix && e->after_special;
    char *normal = NULL;
    size_t n_normal;
    e->after_special = false;
    if (rule->scheme == SCHEME_UNIGRAM) return vouch_unigram_text(e, text, n, err);
    if (t->charsmap) VOUCH_TRY(vouch_charsmap_text(t, with_prefix, text, n, &normal, &n_normal, err));
    else if (rule->scheme != SCHEME_BYTES)
        VOUCH_TRY(vouch_spaces_prepare(t, with_prefix, text, n, &normal, &n_normal, err));
    else if (rule->nfc) VOUCH_TRY(vouch_nfc(text, n, &normal, &n_normal, err));
    if (normal) {
        text = normal;
        n = n_normal;
    }
    const word_walk walk = {&t->pre, e->match, 0, encoder_word, e};
    const vouch_status status = vouch_pretokenizer_words(&walk, text, n, err);
    free(normal);
    return status;
}

/* Encodes a byte that is not UTF-8. */
static vouch_status encoder_byte(encoder *e, char byte, vouch_error *err)
{
    const vouch_tokenizer *t = e->tokenizer;
    e->after_special = false;
    if (t->pre.rule->scheme == SCHEME_BYTES && t->byte_token[(unsigned char)byte] < 0)
        return vouch_bpe_word(e, t->replacement.data, t->replacement.size, err);
    vouch_bpe_spell(e, &byte, 1);
    return VOUCH_OK;
}

/* Encodes any bytes, without looking for special tokens. */
static vouch_status encoder_bytes(encoder *e, const char *text, size_t n, vouch_error *err)
{
    if (e->tokenizer->pre.rule->scheme == SCHEME_LONGEST) {
        vouch_longest_text(e, text, n);
        return VOUCH_OK;
    }
    for (size_t i = 0; i < n;) {
        const size_t valid = vouch_utf8_valid_prefix(text + i, n - i);
        if (valid > 0) VOUCH_TRY(encoder_stretch(e, text + i, valid, err));
        i += valid;
        if (i < n) VOUCH_TRY(encoder_byte(e, text[i++], err));
    }
    return VOUCH_OK;
}

/* Encodes the text from *start to the special token text[at, at + length), then the token. *start moves after it. */
static vouch_status encoder_special(encoder *e, int32_t special, const char *text, size_t n, size_t at, size_t length,
                                    size_t *start, vouch_error *err)
{
    const size_t begin = vouch_added_begin(e->tokenizer, special, text, *start, at);
    VOUCH_TRY(encoder_bytes(e, text + *start, begin - *start, err));
    encoder_push(e, special);
    e->after_special = true;
    *start = vouch_added_end(e->tokenizer, special, text, at + length, n);
    return VOUCH_OK;
}

static vouch_status length_check(size_t n, vouch_error *err)
{
    enum { MOST = INT32_MAX / (VOUCH_NFC_GROWTH + 1) }; /* indices inside a word are int32_t (bpe.c) */
    if (n <= MOST) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_ARGUMENT, "the text has %zu bytes; at most %d can be tokenized at once", n, MOST);
}

vouch_status vouch_encoder_text(encoder *e, const char *text, size_t n, unsigned match, vouch_error *err)
{
    VOUCH_TRY(length_check(n, err));
    if (n == 0) return VOUCH_OK; /* text may be NULL */
    size_t start = 0;
    for (size_t i = 0, length; match != 0 && i < n;) {
        const int32_t special = vouch_specials_match(e->tokenizer, match, text + i, n - i, &length);
        if (special < 0) i++;
        else if (!vouch_added_fits(e->tokenizer, special, text, n, i, length)) i += length;
        else {
            VOUCH_TRY(encoder_special(e, special, text, n, i, length, &start, err));
            i = start;
        }
    }
    return encoder_bytes(e, text + start, n - start, err);
}

static size_t white_run(const char *text, size_t n)
{
    size_t length = 0;
    while (length < n && (text[length] == ' ' || (text[length] >= '\t' && text[length] <= '\r'))) length++;
    return length;
}

/* The special token whose name text[n] begins with, if text with this mark may name it. The first n_same bytes have the
 * mark. -1: none. */
static int32_t marked_special(const vouch_tokenizer *t, jinja_mark mark, const char *text, size_t n_same, size_t n,
                              size_t *length)
{
    if (!t->special_first[(unsigned char)text[0]]) return -1;
    const unsigned match = mark == JINJA_OF_TEMPLATE ? MATCH_CONTROL | MATCH_USER_DEFINED
                           : mark == JINJA_OF_MODEL  ? MATCH_USER_DEFINED
                                                     : 0;
    const int32_t named = match ? vouch_specials_match(t, match, text, n_same, length) : -1;
    if (named >= 0) return named;
    const size_t white = white_run(text, n < t->longest ? n : t->longest);
    return white ? vouch_specials_match(t, MATCH_USER_DEFINED, text, white, length) : -1;
}

vouch_status vouch_encoder_marked(encoder *e, const char *text, const uint8_t *marks, size_t n, vouch_error *err)
{
    VOUCH_TRY(length_check(n, err));
    size_t start = 0;
    for (size_t i = 0, same = 0, length; i < n;) {
        const jinja_mark mark = marks ? (jinja_mark)marks[i] : JINJA_OF_TEMPLATE;
        for (same = same > i ? same : i; same < n && (!marks || marks[same] == mark);) same++;
        const int32_t special = marked_special(e->tokenizer, mark, text + i, same - i, n - i, &length);
        if (special < 0) i++;
        else if (!vouch_added_fits(e->tokenizer, special, text, n, i, length)) i += length;
        else {
            VOUCH_TRY(encoder_special(e, special, text, n, i, length, &start, err));
            i = start;
        }
    }
    return encoder_bytes(e, text + start, n - start, err);
}

bool vouch_begins_with_bos(const vouch_tokenizer *t, const char *text, size_t n)
{
    if (t->bos < 0) return false;
    const vouch_text bos = tokenizer_text(t, t->bos);
    return bos.size > 0 && n >= bos.size && memcmp(text, bos.data, bos.size) == 0;
}

void vouch_encoder_bos(encoder *e)
{
    if (e->tokenizer->add_bos) encoder_push(e, e->tokenizer->bos);
}

vouch_status vouch_tokenizer_encode(const vouch_tokenizer *tokenizer, const char *text, size_t n_text, unsigned flags,
                                    int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err)
{
    *n_tokens = 0;
    if (!tokenizer)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "the model has no tokenizer; give token ids instead of text");
    encoder e;
    VOUCH_TRY(vouch_encoder_open(&e, tokenizer, tokens, capacity, err));
    const bool has_bos = flags & VOUCH_TOKENIZE_SPECIAL && vouch_begins_with_bos(tokenizer, text, n_text);
    if (flags & VOUCH_TOKENIZE_BOS && !has_bos) vouch_encoder_bos(&e);
    const unsigned match = MATCH_USER_DEFINED | (flags & VOUCH_TOKENIZE_SPECIAL ? MATCH_CONTROL : 0);
    vouch_status status = vouch_encoder_text(&e, text, n_text, match, err);
    if (status == VOUCH_OK && flags & VOUCH_TOKENIZE_EOS && tokenizer->add_eos) encoder_push(&e, tokenizer->eos);
    if (status == VOUCH_OK) status = vouch_encoder_result(&e, n_tokens, err);
    vouch_encoder_close(&e);
    return status;
}

/* -------------------------------------------------------------- questions */

static bool id_is_inside(const vouch_tokenizer *tokenizer, int32_t token)
{
    return tokenizer && token >= 0 && token < tokenizer->n_tokens;
}

int32_t vouch_tokenizer_size(const vouch_tokenizer *tokenizer)
{
    return tokenizer->n_tokens;
}

const char *vouch_tokenizer_name(const vouch_tokenizer *tokenizer)
{
    return tokenizer->pre.rule->name;
}

int32_t vouch_tokenizer_bos(const vouch_tokenizer *tokenizer)
{
    return tokenizer->bos;
}

int32_t vouch_tokenizer_eos(const vouch_tokenizer *tokenizer)
{
    return tokenizer->eos;
}

bool vouch_tokenizer_ends_answer(const vouch_tokenizer *tokenizer, int32_t token)
{
    return id_is_inside(tokenizer, token) && tokenizer->ends[token];
}

bool vouch_tokenizer_is_special(const vouch_tokenizer *tokenizer, int32_t token)
{
    if (!id_is_inside(tokenizer, token)) return false;
    const uint8_t kind = tokenizer->kind[token];
    return kind == TOKEN_CONTROL || kind == TOKEN_UNKNOWN || kind == TOKEN_UNUSED || tokenizer->ends[token];
}

int32_t vouch_tokenizer_infill(const vouch_tokenizer *tokenizer, vouch_infill_part part)
{
    return tokenizer->infill[part];
}

vouch_text vouch_tokenizer_bytes(const vouch_tokenizer *tokenizer, int32_t token)
{
    return id_is_inside(tokenizer, token) ? tokenizer_text(tokenizer, token) : (vouch_text){NULL, 0};
}

int32_t vouch_tokenizer_find(const vouch_tokenizer *tokenizer, const char *bytes, size_t n)
{
    return vouch_vocab_find(tokenizer, bytes, n);
}

static const char *kind_name(uint8_t kind)
{
    static const char *const names[] = {"?", "normal", "unknown", "control", "user-defined", "unused", "byte"};
    return names[kind <= TOKEN_BYTE ? kind : 0];
}

vouch_status vouch_tokenizer_check_pair(const vouch_tokenizer *target, const vouch_tokenizer *draft, vouch_error *err)
{
    if (!target && !draft) return VOUCH_OK;
    if (!target || !draft)
        return vouch_fail(err, VOUCH_E_MISMATCH, "the %s has a tokenizer and the %s has none",
                          target ? "target" : "draft", target ? "draft" : "target");
    const int32_t n = target->n_tokens < draft->n_tokens ? target->n_tokens : draft->n_tokens;
    for (int32_t i = 0; i < n; i++) {
        const vouch_text a = tokenizer_text(target, i), b = tokenizer_text(draft, i);
        if (a.size != b.size || memcmp(a.data, b.data, a.size) != 0)
            return vouch_fail(err, VOUCH_E_MISMATCH,
                              "token %d is \"%.*s\" in the target and \"%.*s\" in the draft; a draft model needs the "
                              "target's token table",
                              i, TEXT_ARGS(a), TEXT_ARGS(b));
        if (target->kind[i] != draft->kind[i])
            return vouch_fail(err, VOUCH_E_MISMATCH,
                              "token %d, \"%.*s\", is %s in the target and %s in the draft; a draft model needs the "
                              "target's token table",
                              i, TEXT_ARGS(a), kind_name(target->kind[i]), kind_name(draft->kind[i]));
    }
    if (target->n_tokens != draft->n_tokens)
        return vouch_fail(err, VOUCH_E_MISMATCH,
                          "the target has %d tokens and the draft %d, of which the first %d are equal; a draft model "
                          "needs the target's token table",
                          target->n_tokens, draft->n_tokens, n);
    return VOUCH_OK;
}
