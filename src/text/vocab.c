/* SPDX-License-Identifier: MIT */
/*
 * Loads the tokenizer of a GGUF file: checks everything under tokenizer.* once, and copies it.
 *
 *   key (tokenizer.)          type           here
 *   ggml.model, ggml.pre      text           the rule (patterns.c): which algorithm, and the patterns for words
 *   ggml.tokens               [text]         offset, bytes
 *   ggml.token_type           [integer]      kind; absent: all normal; ends.c corrects some
 *   ggml.merges               [text]         merges, "left right", the best first (BPE)
 *   ggml.scores               [number]       rank (SentencePiece's BPE), scores (unigram); as long as tokens
 *   ggml.fim_{pre,suf,mid,pad,rep,sep}_token_id       for text in the middle (infill.c)
 *   ggml.{bos,eos,eot,eom,unknown}_token_id, ggml.add_bos_token; other ids are ignored: some files name a padding token
 *                                            that they don't have
 *   ggml.add_space_prefix, ggml.remove_extra_whitespaces (spaces.c), ggml.precompiled_charsmap (charsmap.c)
 *   vouch.end_token_ids      [integer]      further tokens that end an answer
 *   vouch.nfc, vouch.whole_words             override the pre-tokenizer's rule (format/hf/vocabulary/hf_tokenizer.h)
 *   vouch.token_flags                        flags of added tokens (added.c). Files made from Hugging Face folders
 *                                            have these four keys
 *   chat_template             text           chat.c
 *
 * RWKV's token texts are the bytes with the escapes of Python's bytes literals. Token texts of byte-level BPE are in
 * GPT-2's alphabet, which shows every byte as a visible character: 0x21 to 0x7e, 0xa1 to 0xac and 0xae to 0xff stand
 * for themselves, and U+0100 to U+0143 for the 68 others, in their order. Other tokenizers write a space as U+2581 and
 * a byte as <0xNN>. The loader decodes both forms: it stores for each token the bytes of plain text that the token
 * stands for. It stores the names of special tokens undecoded. A normal token with a character outside the alphabet is
 * undecoded, too, and no text becomes that token: Command R has such a token for U+200D beside the one that its merges
 * make.
 *
 * `slots` has the tokens that a text may become without being named as special: normal, unused and user-defined ones.
 * It has no control token and none outside the alphabet, so no merge and no whole word leads to one. Where two tokens
 * have the same bytes, the lower id is found, user-defined ones last. Where a merge is listed twice, its first rank
 * counts. A lookup takes at most MAX_PROBES steps: the loader refuses a file whose entries need more, which happens
 * only to entries made to collide.
 *
 * add_eos_token counts only where it is asked for (VOUCH_TOKENIZE_EOS): a prompt that ends with the token that ends a
 * text can't be continued.
 *
 * A vocabulary may lack tokens for some of the 256 bytes: SmolLM2's lacks 21, such as 0x04. encode.c replaces a
 * character that has such a byte by U+FFFD.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "text/internal.h"

enum { MAX_PROBES = 1024 };

/* The file's arrays while loading. */
typedef struct vocab_source {
    const vouch_gguf *gguf;
    const char *path;
    vouch_gguf_array tokens, kinds, merges, scores;
    vouch_text chat_template, model_name;
    name_facts facts;
    token_scheme scheme;
    size_t n_bytes; /* of all token texts */
} vocab_source;

/* ----------------------------------------------------------------- tables */

static uint64_t hash_mix(uint64_t h)
{
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9;
    h = (h ^ h >> 27) * 0x94d049bb133111eb;
    return h ^ h >> 31;
}

static uint64_t hash_text(const char *bytes, size_t n)
{
    return hash_mix(vouch_hash_bytes(VOUCH_HASH_START + n, bytes, n));
}

/* The slot that holds these bytes, or the free slot where they belong; NULL after MAX_PROBES others. */
static int32_t *slot_find(const vouch_tokenizer *tokenizer, const char *bytes, size_t n)
{
    size_t slot = hash_text(bytes, n) & tokenizer->slot_mask;
    for (int probe = 0; probe < MAX_PROBES; probe++, slot = (slot + 1) & tokenizer->slot_mask) {
        const int32_t id = tokenizer->slots[slot];
        if (id < 0) return &tokenizer->slots[slot];
        const vouch_text text = tokenizer_text(tokenizer, id);
        if (text.size == n && memcmp(text.data, bytes, n) == 0) return &tokenizer->slots[slot];
    }
    return NULL;
}

static merge_slot *merge_slot_find(const vouch_tokenizer *tokenizer, uint64_t pair)
{
    size_t slot = hash_mix(pair) & tokenizer->merge_mask;
    for (int probe = 0; probe < MAX_PROBES; probe++, slot = (slot + 1) & tokenizer->merge_mask) {
        merge_slot *at = &tokenizer->merges[slot];
        if (at->pair == pair || at->pair == NO_PAIR) return at;
    }
    return NULL;
}

static uint64_t pair_key(int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

int32_t vouch_vocab_find(const vouch_tokenizer *tokenizer, const char *bytes, size_t n)
{
    const int32_t *slot = slot_find(tokenizer, bytes, n);
    return slot ? *slot : -1;
}

uint32_t vouch_merge_find(const vouch_tokenizer *tokenizer, int32_t left, int32_t right, int32_t *result)
{
    if (left < 0 || right < 0) return NO_RANK;
    const merge_slot *slot = merge_slot_find(tokenizer, pair_key(left, right));
    if (!slot || slot->pair == NO_PAIR) return NO_RANK;
    *result = slot->result;
    return slot->rank;
}

/* A power of two of at least 4/3 n slots. */
static size_t table_size(size_t n)
{
    size_t size = 16;
    while (size - size / 4 < n) size *= 2;
    return size;
}

/* --------------------------------------------------------------- alphabet */

/* The byte that the character of code point `c` stands for in GPT-2's alphabet, or -1. */
static int alphabet_byte(int32_t c)
{
    if ((c >= 0x21 && c <= 0x7e) || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff)) return c;
    if (c < 0x100 || c > 0x143) return -1;
    const int32_t i = c - 0x100; /* index of the byte in the list of bytes 0x00-0x20, 0x7f-0xa0, 0xad */
    return i < 0x21 ? i : i < 0x43 ? i - 0x21 + 0x7f : 0xad;
}

/* Writes the bytes that the text stands for, at most text.size of them. Returns their number; -1: a character is
 * outside the alphabet. */
static ptrdiff_t alphabet_decode(vouch_text text, char *bytes)
{
    ptrdiff_t n = 0;
    for (size_t i = 0; i < text.size; i++) {
        int32_t c = (unsigned char)text.data[i];
        if (c >= 0x80) { /* the alphabet ends at U+0143: two bytes */
            if (c < 0xc2 || c > 0xc5 || i + 1 == text.size || ((unsigned char)text.data[i + 1] & 0xc0) != 0x80)
                return -1;
            c = (c & 0x1f) << 6 | ((unsigned char)text.data[++i] & 0x3f);
        }
        const int byte = alphabet_byte(c);
        if (byte < 0) return -1;
        bytes[n++] = (char)byte;
    }
    return n;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "<0x41>" to 0x41, or -1. */
static int byte_name_decode(vouch_text text)
{
    int value = 0;
    if (text.size != 6 || memcmp(text.data, "<0x", 3) != 0 || text.data[5] != '>') return -1;
    for (int i = 3; i < 5; i++) {
        const int digit = hex_digit(text.data[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Writes the bytes of a text with the escapes \t, \n, \r, \xNN, and \ before any other character that stands for
 * itself. Returns their number; -1: an escape isn't whole. */
static ptrdiff_t escapes_decode(vouch_text text, char *bytes)
{
    ptrdiff_t n = 0;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '\\') {
            if (++i == text.size) return -1;
            c = text.data[i];
            if (c == 'x') {
                const int high = i + 2 < text.size ? hex_digit(text.data[i + 1]) : -1;
                const int low = i + 2 < text.size ? hex_digit(text.data[i + 2]) : -1;
                if (high < 0 || low < 0) return -1;
                c = (char)(high * 16 + low);
                i += 2;
            } else {
                c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
            }
        }
        bytes[n++] = c;
    }
    return n;
}

/* ----------------------------------------------------------------- source */

static vouch_status source_check_counts(const vocab_source *source, vouch_error *err)
{
    const size_t n = source->tokens.count;
    if (source->tokens.type != VOUCH_GGUF_STRING)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.tokens is no array of strings", source->path);
    if (n == 0 || n >= INT32_MAX)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.tokens has %zu tokens; 1 to %d are possible",
                          source->path, n, INT32_MAX - 1);
    if (source->kinds.count != 0 && source->kinds.count != n)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.token_type has %zu values for %zu tokens",
                          source->path, source->kinds.count, n);
    if (source->scores.count != 0 && source->scores.count != n)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.scores has %zu values for %zu tokens", source->path,
                          source->scores.count, n);
    if (source->merges.count != 0 && source->merges.type != VOUCH_GGUF_STRING)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.merges is no array of strings", source->path);
    if (source->merges.count >= NO_RANK)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.merges has %zu merges; expected fewer than 2^32 - 1",
                          source->path, source->merges.count);
    return VOUCH_OK;
}

static bool type_is_integer(vouch_gguf_type type)
{
    return type != VOUCH_GGUF_F32 && type != VOUCH_GGUF_F64 && type != VOUCH_GGUF_BOOL && type != VOUCH_GGUF_STRING &&
           type != VOUCH_GGUF_ARRAY;
}

static vouch_status source_open(vocab_source *source, const vouch_gguf *gguf, const char *chat_template,
                                token_scheme scheme, vouch_error *err)
{
    *source = (vocab_source){
        .gguf = gguf, .path = vouch_gguf_path(gguf), .chat_template = {"", 0}, .model_name = {"", 0}, .scheme = scheme};
    const bool merges = scheme == SCHEME_BYTES || scheme == SCHEME_CHARACTERS;
    VOUCH_TRY(vouch_gguf_get_array(gguf, "tokenizer.ggml.tokens", true, &source->tokens, err));
    VOUCH_TRY(vouch_gguf_get_array(gguf, "tokenizer.ggml.token_type", false, &source->kinds, err));
    if (merges) VOUCH_TRY(vouch_gguf_get_array(gguf, "tokenizer.ggml.merges", true, &source->merges, err));
    VOUCH_TRY(vouch_gguf_get_array(gguf, "tokenizer.ggml.scores", scheme == SCHEME_UNIGRAM, &source->scores, err));
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.name", false, &source->model_name, err));
    VOUCH_TRY(vouch_gguf_get_text(gguf, "tokenizer.chat_template", false, &source->chat_template, err));
    source->chat_template = vouch_chat_choose(source->chat_template, chat_template);
    VOUCH_TRY(source_check_counts(source, err));
    if (source->kinds.count != 0 && !type_is_integer(source->kinds.type))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.token_type is no array of integers", source->path);

    const unsigned char *cursor = source->tokens.data;
    for (size_t i = 0; i < source->tokens.count; i++) {
        const vouch_text text = vouch_gguf_next_text(&cursor);
        if (text.size > MAX_TOKEN_BYTES)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.tokens[%zu] has %zu bytes; expected at most %d",
                              source->path, i, text.size, MAX_TOKEN_BYTES);
        source->n_bytes += text.size;
        vouch_names_note(&source->facts, text);
    }
    return VOUCH_OK;
}

/* ---------------------------------------------------------------- loading */

static char *tokenizer_layout(vouch_tokenizer *t, const vocab_source *source)
{
    const size_t n = source->tokens.count;
    t->slot_mask = table_size(n) - 1;
    t->merge_mask = table_size(source->merges.count) - 1;
    t->offset = vouch_arena_take(&t->arena, n + 1, sizeof *t->offset);
    t->bytes = vouch_arena_take(&t->arena, source->n_bytes, 1);
    t->kind = vouch_arena_take(&t->arena, n, sizeof *t->kind);
    t->ends = vouch_arena_take(&t->arena, n, sizeof *t->ends);
    t->slots = vouch_arena_take(&t->arena, t->slot_mask + 1, sizeof *t->slots);
    t->merges = vouch_arena_take(&t->arena, t->merge_mask + 1, sizeof *t->merges);
    t->specials = vouch_arena_take(&t->arena, n, sizeof *t->specials);
    t->flags = vouch_arena_take(&t->arena, n, sizeof *t->flags);
    if (source->scheme == SCHEME_SCORES) t->rank = vouch_arena_take(&t->arena, n, sizeof *t->rank);
    if (source->scheme == SCHEME_UNIGRAM || source->scheme == SCHEME_LONGEST)
        t->words = vouch_arena_take(&t->arena, n, sizeof *t->words);
    return vouch_arena_take(&t->arena, source->chat_template.size + 1, 1);
}

static vouch_status slot_fill(vouch_tokenizer *t, const vocab_source *source, int32_t id, vouch_error *err)
{
    const vouch_text bytes = tokenizer_text(t, id);
    if (bytes.size == 0) return VOUCH_OK;
    int32_t *slot = slot_find(t, bytes.data, bytes.size);
    if (!slot)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tokenizer.ggml.tokens: token %d and many others have the same hash, as no "
                          "real vocabulary has",
                          source->path, id);
    if (*slot < 0) *slot = id;
    return VOUCH_OK;
}

/* The kind of token i, which should be 1 to 6 in the file. */
static int64_t token_get_kind(const vocab_source *source, size_t i, vouch_text text)
{
    if (source->kinds.count == 0) {
        const bool has_names = source->scheme != SCHEME_BYTES && source->scheme != SCHEME_LONGEST;
        const bool is_byte = has_names && byte_name_decode(text) >= 0;
        return vouch_names_correct(&source->facts, text, is_byte ? TOKEN_BYTE : TOKEN_NORMAL);
    }
    const int64_t kind = vouch_gguf_array_int(&source->kinds, i);
    const bool is_known = kind >= TOKEN_NORMAL && kind <= TOKEN_BYTE;
    return is_known ? (int64_t)vouch_names_correct(&source->facts, text, (token_kind)kind) : kind;
}

/* Writes the bytes that the text of an ordinary token stands for. Returns their number; -1: it is no such text. */
static ptrdiff_t text_decode(token_scheme scheme, vouch_text text, char *bytes)
{
    if (scheme == SCHEME_BYTES) return alphabet_decode(text, bytes);
    if (scheme == SCHEME_LONGEST) return escapes_decode(text, bytes);
    return (ptrdiff_t)vouch_spaces_unescape(text.data, text.size, bytes);
}

/* Loads kind and bytes of token i. The bytes go after those of token i - 1. */
static vouch_status token_load(vouch_tokenizer *t, const vocab_source *source, size_t i, vouch_text text,
                               vouch_error *err)
{
    const int64_t kind = token_get_kind(source, i, text);
    if (kind < TOKEN_NORMAL || kind > TOKEN_BYTE)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.token_type[%zu] is %lld; 1 to 6 are known",
                          source->path, i, (long long)kind);
    char *bytes = t->bytes + t->offset[i];
    ptrdiff_t n = -1;
    if (kind == TOKEN_NORMAL || kind == TOKEN_UNUSED) n = text_decode(source->scheme, text, bytes);
    if (n < 0 && source->scheme == SCHEME_LONGEST && (kind == TOKEN_NORMAL || kind == TOKEN_UNUSED))
        return vouch_fail(
            err, VOUCH_E_FORMAT,
            "%s: tokenizer.ggml.tokens[%zu] is \"%.*s\"; after \\x two hexadecimal digits are needed, and "
            "after any other \\ a character",
            source->path, i, TEXT_ARGS(text));
    const bool is_raw = n < 0;
    if (kind == TOKEN_BYTE) {
        const int value = byte_name_decode(text);
        if (value < 0)
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "%s: tokenizer.ggml.tokens[%zu] is \"%.*s\", a byte token; its name should be "
                              "<0x00> to <0xFF>",
                              source->path, i, TEXT_ARGS(text));
        bytes[0] = (char)value;
        n = 1;
        if (t->byte_token[value] < 0) t->byte_token[value] = (int32_t)i;
    } else if (is_raw) {
        if (text.size) memcpy(bytes, text.data, text.size);
        n = (ptrdiff_t)text.size;
    }
    t->kind[i] = (uint8_t)kind;
    t->offset[i + 1] = t->offset[i] + (size_t)n;
    if ((size_t)n > t->longest) t->longest = (size_t)n;
    const bool is_special = n > 0 && (kind == TOKEN_CONTROL || kind == TOKEN_UNKNOWN || kind == TOKEN_USER_DEFINED);
    if (is_special) t->specials[t->n_specials++] = (int32_t)i;
    const bool is_word = (kind == TOKEN_NORMAL || kind == TOKEN_UNUSED) && !is_raw;
    return is_word ? slot_fill(t, source, (int32_t)i, err) : VOUCH_OK;
}

static bool spells(const vouch_tokenizer *t, vouch_text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (t->byte_token[(unsigned char)text.data[i]] < 0) return false;
    return true;
}

static void replacement_choose(vouch_tokenizer *t)
{
    static const vouch_text choices[] = {{"\xef\xbf\xbd", 3}, {"?", 1}, {"", 0}};
    size_t i = 0;
    while (!spells(t, choices[i])) i++;
    t->replacement = choices[i];
    for (int byte = 0; byte < 256; byte++) t->lacks_bytes |= t->byte_token[byte] < 0;
}

/* RWKV's tokenizer has no token for what is unknown. */
static vouch_status bytes_check(const vouch_tokenizer *t, const vocab_source *source, vouch_error *err)
{
    for (int byte = 0; byte < 256; byte++)
        if (t->byte_token[byte] < 0)
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "%s: tokenizer.ggml.tokens has no token for the byte 0x%02x; an rwkv vocabulary needs "
                              "one for each of the 256 bytes",
                              source->path, (unsigned)byte);
    return VOUCH_OK;
}

static vouch_status tokens_load(vouch_tokenizer *t, const vocab_source *source, vouch_error *err)
{
    memset(t->slots, -1, (t->slot_mask + 1) * sizeof *t->slots);
    memset(t->byte_token, -1, sizeof t->byte_token);
    const unsigned char *cursor = source->tokens.data;
    for (size_t i = 0; i < source->tokens.count; i++)
        VOUCH_TRY(token_load(t, source, i, vouch_gguf_next_text(&cursor), err));
    t->n_tokens = (int32_t)source->tokens.count;
    for (int32_t i = 0; i < t->n_tokens; i++)
        if (t->kind[i] == TOKEN_USER_DEFINED) VOUCH_TRY(slot_fill(t, source, i, err));
    /* For a byte, byte-level BPE prefers the token of its character. Other tokenizers prefer the token <0xNN>. */
    for (int byte = 0; byte < 256; byte++) {
        const char c = (char)byte;
        const int32_t id = vouch_vocab_find(t, &c, 1);
        if (id >= 0 && (source->scheme == SCHEME_BYTES || t->byte_token[byte] < 0)) t->byte_token[byte] = id;
    }
    if (source->scheme == SCHEME_LONGEST) VOUCH_TRY(bytes_check(t, source, err));
    replacement_choose(t);
    vouch_specials_sort(t);
    if (t->words) vouch_words_sort(t);
    return VOUCH_OK;
}

/* Names of control tokens, to which no text merges. */
static bool is_control_name(const char *bytes, size_t n)
{
    const vouch_text name = {bytes, n};
    return vouch_names_end_answer(name) || vouch_names_infill(name) >= 0;
}

/* Finds the token that one side of merge i names. The error says which merge names none. */
static vouch_status merge_part(const vouch_tokenizer *t, const vocab_source *source, size_t i, vouch_text part,
                               char *bytes, size_t *n_bytes, int32_t *id, vouch_error *err)
{
    ptrdiff_t n = -1;
    if (part.size <= MAX_TOKEN_BYTES) n = text_decode(source->scheme, part, bytes);
    *id = n > 0 ? vouch_vocab_find(t, bytes, (size_t)n) : -1;
    if (*id < 0 && !is_control_name(bytes, n > 0 ? (size_t)n : 0))
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tokenizer.ggml.merges[%zu] has \"%.*s\", which is no ordinary token", source->path, i,
                          TEXT_ARGS(part));
    *n_bytes = n > 0 ? (size_t)n : 0;
    return VOUCH_OK;
}

static vouch_status merge_load(vouch_tokenizer *t, const vocab_source *source, size_t i, vouch_text merge,
                               vouch_error *err)
{
    const char *space = merge.size ? memchr(merge.data, ' ', merge.size) : NULL;
    const size_t n_left = space ? (size_t)(space - merge.data) : 0, n_right = space ? merge.size - n_left - 1 : 0;
    if (n_left == 0 || n_right == 0 || memchr(space + 1, ' ', n_right))
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tokenizer.ggml.merges[%zu] is \"%.*s\"; two tokens with one space between are needed",
                          source->path, i, TEXT_ARGS(merge));
    char bytes[2 * MAX_TOKEN_BYTES];
    size_t n_bytes, n_more;
    int32_t left, right;
    const vouch_text left_part = {merge.data, n_left}, right_part = {space + 1, n_right};
    VOUCH_TRY(merge_part(t, source, i, left_part, bytes, &n_bytes, &left, err));
    VOUCH_TRY(merge_part(t, source, i, right_part, bytes + n_bytes, &n_more, &right, err));
    const int32_t result = vouch_vocab_find(t, bytes, n_bytes + n_more);
    /* No text becomes a control token, though some files list such merges. */
    if (left < 0 || right < 0) return VOUCH_OK;
    if (result < 0 && is_control_name(bytes, n_bytes + n_more)) return VOUCH_OK;
    if (result < 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.merges[%zu], \"%.*s\", gives no ordinary token",
                          source->path, i, TEXT_ARGS(merge));
    merge_slot *slot = merge_slot_find(t, pair_key(left, right));
    if (!slot)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tokenizer.ggml.merges: merge %zu and many others have the same "
                          "hash, as no real vocabulary has",
                          source->path, i);
    if (slot->pair == NO_PAIR) *slot = (merge_slot){pair_key(left, right), (uint32_t)i, result};
    return VOUCH_OK;
}

static vouch_status merges_load(vouch_tokenizer *t, const vocab_source *source, vouch_error *err)
{
    for (size_t i = 0; i <= t->merge_mask; i++) t->merges[i].pair = NO_PAIR;
    const unsigned char *cursor = source->merges.data;
    for (size_t i = 0; i < source->merges.count; i++)
        VOUCH_TRY(merge_load(t, source, i, vouch_gguf_next_text(&cursor), err));
    return VOUCH_OK;
}

/* ------------------------------------------------------------------ scores */

typedef struct scored {
    double score;
    int32_t id;
} scored;

static int scored_compare(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    return x->score > y->score ? -1 : x->score < y->score ? 1 : x->id < y->id ? -1 : x->id > y->id;
}

static vouch_status ranks_load(vouch_tokenizer *t, const vocab_source *source, vouch_error *err)
{
    scored *order = malloc((size_t)t->n_tokens * sizeof *order);
    if (!order) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    for (int32_t i = 0; i < t->n_tokens; i++) {
        double score = 0;
        const vouch_status status = vouch_vocab_score(source->path, &source->scores, (size_t)i, &score, err);
        if (status != VOUCH_OK) {
            free(order);
            return status;
        }
        order[i] = (scored){score, i};
    }
    qsort(order, (size_t)t->n_tokens, sizeof *order, scored_compare);
    for (int32_t i = 0; i < t->n_tokens; i++) {
        const bool equal = i > 0 && order[i].score == order[i - 1].score;
        t->rank[order[i].id] = equal ? t->rank[order[i - 1].id] : (uint32_t)i;
    }
    free(order);
    return VOUCH_OK;
}

vouch_status vouch_vocab_score(const char *path, const vouch_gguf_array *scores, size_t i, double *score,
                               vouch_error *err)
{
    *score = 0;
    if (scores->count == 0) return VOUCH_OK;
    if (type_is_integer(scores->type)) *score = (double)vouch_gguf_array_int(scores, i);
    else if (scores->type == VOUCH_GGUF_F32 || scores->type == VOUCH_GGUF_F64)
        *score = vouch_gguf_array_float(scores, i);
    else return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.scores is no array of numbers", path);
    if (isfinite(*score)) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.scores[%zu] is %g; a finite number is needed", path, i,
                      *score);
}

/* ------------------------------------------------------------- special ids */

/* Without the key *id keeps its value, or becomes -1 if the vocabulary has no token of that id. */
static vouch_status special_id_load(const vouch_tokenizer *t, const vocab_source *source, const char *key, int32_t *id,
                                    vouch_error *err)
{
    int64_t value = *id < t->n_tokens ? *id : -1;
    VOUCH_TRY(vouch_gguf_get_int(source->gguf, key, false, 0, t->n_tokens - 1, &value, err));
    *id = (int32_t)value;
    return VOUCH_OK;
}

/* Hugging Face folders list any number of ending tokens, more than the keys of ends_load can name. */
static vouch_status end_list_load(vouch_tokenizer *t, const vocab_source *source, vouch_error *err)
{
    static const char key[] = "tokenizer.vouch.end_token_ids";
    vouch_gguf_array ids;
    VOUCH_TRY(vouch_gguf_get_array(source->gguf, key, false, &ids, err));
    for (size_t i = 0; i < ids.count; i++) {
        const int64_t id = type_is_integer(ids.type) ? vouch_gguf_array_int(&ids, i) : -1;
        if (id < 0 || id >= t->n_tokens)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s[%zu] is not the id of one of the %d tokens", source->path,
                              key, i, t->n_tokens);
        t->ends[id] = true;
    }
    return VOUCH_OK;
}

static vouch_status ends_load(vouch_tokenizer *t, const vocab_source *source, vouch_error *err)
{
    static const char *const ending[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                         "tokenizer.ggml.eom_token_id"};
    int32_t ids[3] = {t->eos, -1, -1};
    for (size_t i = 0; i < 3; i++) {
        VOUCH_TRY(special_id_load(t, source, ending[i], &ids[i], err));
        if (ids[i] >= 0) t->ends[ids[i]] = true;
    }
    t->eos = ids[0];
    VOUCH_TRY(end_list_load(t, source, err));
    for (size_t i = 0; i < t->n_specials; i++) {
        const int32_t id = t->specials[i];
        if (t->kind[id] == TOKEN_CONTROL && vouch_names_end_answer(tokenizer_text(t, id))) t->ends[id] = true;
    }
    return VOUCH_OK;
}

/* A file names the tokens by keys. Where it doesn't, the first token with a known name is meant. An id outside the
 * vocabulary names no token, as in llama.cpp. */
static vouch_status infill_load(vouch_tokenizer *t, const vocab_source *source, vouch_error *err)
{
    static const char *const keys[][2] = {
        {"tokenizer.ggml.prefix_token_id", "tokenizer.ggml.fim_pre_token_id"}, /* the first one is deprecated */
        {"tokenizer.ggml.suffix_token_id", "tokenizer.ggml.fim_suf_token_id"},
        {"tokenizer.ggml.middle_token_id", "tokenizer.ggml.fim_mid_token_id"},
        {NULL, "tokenizer.ggml.fim_pad_token_id"},
        {NULL, "tokenizer.ggml.fim_rep_token_id"},
        {NULL, "tokenizer.ggml.fim_sep_token_id"},
    };
    for (int part = 0; part < VOUCH_INFILL_PARTS; part++) {
        int64_t id = -1;
        for (int i = 0; i < 2; i++)
            if (keys[part][i])
                VOUCH_TRY(vouch_gguf_get_int(source->gguf, keys[part][i], false, INT64_MIN, INT64_MAX, &id, err));
        t->infill[part] = id >= 0 && id < t->n_tokens ? (int32_t)id : -1;
    }
    for (size_t i = 0; i < t->n_specials; i++) {
        const int32_t id = t->specials[i];
        const int part = t->kind[id] == TOKEN_CONTROL ? vouch_names_infill(tokenizer_text(t, id)) : -1;
        if (part >= 0 && t->infill[part] < 0) t->infill[part] = id;
    }
    for (int part = VOUCH_INFILL_PAD; part < VOUCH_INFILL_PARTS; part++)
        if (t->infill[part] >= 0) t->ends[t->infill[part]] = true;
    return VOUCH_OK;
}

static vouch_status special_ids_load(vouch_tokenizer *t, const vocab_source *source, vouch_error *err)
{
    const bool sentencepiece = source->scheme == SCHEME_SCORES, unigram = source->scheme == SCHEME_UNIGRAM;
    t->bos = sentencepiece ? 1 : -1; /* SentencePiece's own numbers, as llama.cpp has them */
    t->eos = sentencepiece ? 2 : unigram ? 1 : -1;
    t->unknown = sentencepiece ? 0 : unigram ? 2 : -1;
    VOUCH_TRY(special_id_load(t, source, "tokenizer.ggml.bos_token_id", &t->bos, err));
    VOUCH_TRY(special_id_load(t, source, "tokenizer.ggml.unknown_token_id", &t->unknown, err));
    VOUCH_TRY(ends_load(t, source, err));
    VOUCH_TRY(infill_load(t, source, err));
    t->add_bos = t->pre.rule->add_bos && t->bos >= 0;
    const bool always = t->add_bos && source->scheme == SCHEME_CHARACTERS; /* Gemma 4's files say false by mistake */
    VOUCH_TRY(vouch_gguf_get_bool(source->gguf, "tokenizer.ggml.add_bos_token", false, &t->add_bos, err));
    t->add_bos |= always;
    VOUCH_TRY(vouch_gguf_get_bool(source->gguf, "tokenizer.ggml.add_eos_token", false, &t->add_eos, err));
    t->add_eos &= t->eos >= 0;
    if (t->add_bos && t->bos < 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tokenizer.ggml.add_bos_token is true, but tokenizer.ggml.bos_token_id is absent",
                          source->path);
    t->space_prefix = sentencepiece;
    if (!sentencepiece && !unigram) return VOUCH_OK;
    VOUCH_TRY(vouch_gguf_get_bool(source->gguf, "tokenizer.ggml.add_space_prefix", false, &t->space_prefix, err));
    return vouch_gguf_get_bool(source->gguf, "tokenizer.ggml.remove_extra_whitespaces", false, &t->remove_spaces, err);
}

static vouch_status tokenizer_load(vouch_tokenizer *t, const pretokenizer_rule *rule, const vouch_gguf *gguf,
                                   const char *chat_template, vouch_error *err)
{
    vocab_source source;
    t->rule = *rule;
    VOUCH_TRY(vouch_gguf_get_bool(gguf, "tokenizer.vouch.nfc", false, &t->rule.nfc, err));
    VOUCH_TRY(vouch_gguf_get_bool(gguf, "tokenizer.vouch.whole_words", false, &t->rule.whole_words, err));
    VOUCH_TRY(vouch_pretokenizer_open(&t->pre, &t->rule, err));
    VOUCH_TRY(source_open(&source, gguf, chat_template, rule->scheme, err));
    tokenizer_layout(t, &source);
    VOUCH_TRY(vouch_arena_allocate(&t->arena, "the tokenizer", err));
    char *template_copy = tokenizer_layout(t, &source);
    VOUCH_TRY(tokens_load(t, &source, err));
    VOUCH_TRY(merges_load(t, &source, err));
    VOUCH_TRY(special_ids_load(t, &source, err));
    VOUCH_TRY(vouch_added_load(t, gguf, source.model_name, err));
    if (rule->scheme == SCHEME_SCORES) VOUCH_TRY(ranks_load(t, &source, err));
    if (rule->scheme == SCHEME_UNIGRAM) VOUCH_TRY(vouch_unigram_open(t, gguf, err));
    const bool has_map = rule->scheme == SCHEME_SCORES && vouch_gguf_has(gguf, "tokenizer.ggml.precompiled_charsmap");
    if (has_map || rule->scheme == SCHEME_UNIGRAM) VOUCH_TRY(vouch_charsmap_open(t, gguf, err));
    if (source.chat_template.size) memcpy(template_copy, source.chat_template.data, source.chat_template.size);
    template_copy[source.chat_template.size] = '\0';
    VOUCH_TRY(vouch_chat_open(t, (vouch_text){template_copy, source.chat_template.size}, chat_template, err));
    VOUCH_TRY(vouch_thoughts_read(t, err));
    if (chat_template && source.chat_template.size == 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "chat template: it is empty: give a Jinja template, or \"chatml\"");
    if (!chat_template || t->chat_error.code == VOUCH_OK) return VOUCH_OK;
    return vouch_fail(err, t->chat_error.code, "%s", t->chat_error.message);
}

static bool text_is_among(vouch_text text, const char *const *values)
{
    while (*values && (strlen(*values) != text.size || memcmp(text.data, *values, text.size) != 0)) values++;
    return *values != NULL;
}

static vouch_status rule_find(const pretokenizer_rule **rule, const vouch_gguf *gguf, vouch_text model,
                              vouch_error *err)
{
    static const char *const known[] = {"gpt2", "llama", "gemma4", "t5", "rwkv", NULL};
    static const char *const others[] = {"bert", "plamo2", "hybriddna", "whitespace", NULL};
    const char *path = vouch_gguf_path(gguf);
    vouch_text pre = {"", 0};
    if (!text_is_among(model, known))
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: tokenizer.ggml.model is \"%.*s\"%s; supported: gpt2 (byte-level BPE), llama "
                          "(SentencePiece), gemma4, t5 (unigram), rwkv",
                          path, TEXT_ARGS(model), text_is_among(model, others) ? ", which vouch doesn't have" : "");
    VOUCH_TRY(vouch_gguf_get_text(gguf, "tokenizer.ggml.pre", false, &pre, err));
    *rule = vouch_pretokenizer_rule(model, pre);
    if (*rule) return VOUCH_OK;
    char names[256];
    vouch_pretokenizer_names(names, sizeof names);
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: tokenizer.ggml.pre is \"%.*s\"; supported: %s", path,
                      TEXT_ARGS(pre), names);
}

vouch_status vouch_tokenizer_open(vouch_tokenizer **out, const vouch_gguf *gguf, const char *chat_template,
                                  vouch_error *err)
{
    static const char *const none[] = {"none", "no_vocab", "test", NULL}; /* test: llama.cpp's test models */
    *out = NULL;
    vouch_text model = {"none", 4};
    const pretokenizer_rule *rule = NULL;
    VOUCH_TRY(vouch_gguf_get_text(gguf, "tokenizer.ggml.model", false, &model, err));
    if (text_is_among(model, none)) {
        if (!chat_template) return VOUCH_OK;
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: a chat template needs a tokenizer, and the file has none",
                          vouch_gguf_path(gguf));
    }
    VOUCH_TRY(rule_find(&rule, gguf, model, err));
    vouch_tokenizer *t = calloc(1, sizeof *t);
    if (!t) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    const vouch_status status = tokenizer_load(t, rule, gguf, chat_template, err);
    if (status != VOUCH_OK) {
        vouch_tokenizer_close(t);
        return status;
    }
    *out = t;
    return VOUCH_OK;
}

void vouch_tokenizer_close(vouch_tokenizer *tokenizer)
{
    if (!tokenizer) return;
    vouch_pretokenizer_close(&tokenizer->pre);
    vouch_unigram_close(tokenizer->unigram);
    vouch_charsmap_close(tokenizer->charsmap);
    json_decref(tokenizer->chat_variables);
    free(tokenizer->thoughts_begin);
    free(tokenizer->thoughts_end);
    free(tokenizer->thoughts_closing);
    vouch_arena_free(&tokenizer->arena);
    free(tokenizer);
}
