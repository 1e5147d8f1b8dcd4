/* SPDX-License-Identifier: MIT */
/*
 * Unigram tokenization (Kudo, ACL 2018; SentencePiece): of all ways to write a text as tokens, the one with the highest
 * sum of scores, found by Viterbi's algorithm.
 *
 *   index   0     1     2     3          best[i]: the best path of tokens to text[i]: its score, its last token and
 *   text       T     h     e             where that token begins. Every token that begins at i may improve best[i + n].
 *
 * A character that no token of its own covers may become the unknown token, at the worst score less 10. User-defined
 * tokens score 0. Equal scores: the path found first stays, the one with the longer last token. Neighbouring
 * unknown tokens become one.
 *
 * Tokens are found in an array of ids sorted by their bytes, as special tokens are (specials.c).
 *
 * The file may bring a table that normalises the text before (tokenizer.ggml.precompiled_charsmap): a double array
 * (Aoe, IEEE TSE 15(9), 1989) over the bytes of the texts to replace, and the replacements:
 *
 *   u32 size of the array in bytes | u32 unit [size / 4] | replacements, each with a NUL at its end
 *   unit   bits 0-7, 31: its byte; bit 8: a text ends here; bits 10-30, times 256 if bit 9: XOR distance to children
 *   unit of a text's end: bits 0-30: where its replacement begins
 *
 * The longest text that begins at an index is replaced. The loader walks the whole array once, so that nothing in it
 * points outside.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"
#include "text/unicode.h"

enum { LONGEST_REPLACEMENT = 255 };

typedef struct unigram {
    int32_t *sorted; /* [n_sorted] ids by their bytes */
    size_t n_sorted;
    double *score; /* [n_tokens] */
    double unknown_score;
    uint32_t *units;    /* [n_units]; none: no table */
    char *replacements; /* [n_replacements] */
    size_t n_units, n_replacements;
} unigram;

/* ---------------------------------------------------------------- charsmap */

static uint32_t unit_distance(uint32_t unit)
{
    return unit >> 10 << ((unit & 1u << 9) >> 6);
}

static bool unit_ends_text(uint32_t unit)
{
    return unit >> 8 & 1;
}

/* The child of the unit whose children begin at `base`; n_units: none. */
static size_t unit_child(const unigram *u, size_t base, unsigned char byte)
{
    const size_t child = base ^ byte;
    return child < u->n_units && (u->units[child] & (1u << 31 | 0xff)) == byte ? child : u->n_units;
}

/* Checks one unit and pushes its children. False: something points outside. */
static bool unit_check(const unigram *u, size_t base, uint32_t *stack, size_t *n_stack, bool *seen)
{
    for (unsigned byte = 1; byte < 256; byte++) {
        if ((base ^ byte) >= u->n_units) return false;
        const size_t child = unit_child(u, base, (unsigned char)byte);
        if (child == u->n_units || seen[child]) continue;
        seen[child] = true;
        const size_t next = child ^ unit_distance(u->units[child]);
        if (unit_ends_text(u->units[child])) {
            const size_t text = next < u->n_units ? u->units[next] & ~(1u << 31) : u->n_replacements;
            const size_t n = text < u->n_replacements ? strlen(u->replacements + text) : SIZE_MAX;
            if (n > LONGEST_REPLACEMENT || vouch_utf8_valid_prefix(u->replacements + text, n) != n) return false;
        }
        stack[(*n_stack)++] = (uint32_t)next;
    }
    return true;
}

static vouch_status charsmap_check(const unigram *u, const char *path, vouch_error *err)
{
    uint32_t *stack = malloc(u->n_units * sizeof *stack);
    bool *seen = calloc(u->n_units, sizeof *seen);
    bool good = true;
    size_t n_stack = 0;
    vouch_status status = VOUCH_OK;
    if (!stack || !seen) status = vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    else if (u->n_units > 0) good = unit_check(u, unit_distance(u->units[0]), stack, &n_stack, seen);
    while (status == VOUCH_OK && good && n_stack > 0) good = unit_check(u, stack[--n_stack], stack, &n_stack, seen);
    if (!good)
        status = vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.precompiled_charsmap points outside itself", path);
    free(stack);
    free(seen);
    return status;
}

static vouch_status charsmap_load(unigram *u, const vouch_gguf *gguf, vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf), *key = "tokenizer.ggml.precompiled_charsmap";
    vouch_gguf_array map;
    uint32_t size;
    VOUCH_TRY(vouch_gguf_get_array(gguf, key, false, &map, err));
    if (map.count == 0) return VOUCH_OK;
    if (map.type != VOUCH_GGUF_U8 && map.type != VOUCH_GGUF_I8)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is no array of bytes", path, key);
    if (map.count >= sizeof size) memcpy(&size, map.data, sizeof size);
    if (map.count < sizeof size || size % 4 != 0 || size >= map.count - sizeof size || map.data[map.count - 1] != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s of %zu bytes doesn't hold what its first four bytes say", path,
                          key, map.count);
    u->n_units = size / 4;
    u->n_replacements = map.count - sizeof size - size;
    u->units = malloc(size + 1);
    u->replacements = malloc(u->n_replacements);
    if (!u->units || !u->replacements) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    memcpy(u->units, map.data + sizeof size, size);
    memcpy(u->replacements, map.data + sizeof size + size, u->n_replacements);
    return charsmap_check(u, path, err);
}

/* The replacement for the beginning of text[n], and in *length how much of it that replaces. */
static vouch_text prefix_normalise(const unigram *u, const char *text, size_t n, size_t *length)
{
    vouch_text found = {NULL, 0};
    size_t base = u->n_units > 0 ? unit_distance(u->units[0]) : 0;
    for (size_t i = 0; i < n; i++) {
        const size_t child = text[i] ? unit_child(u, base, (unsigned char)text[i]) : u->n_units;
        if (child == u->n_units) break;
        base = child ^ unit_distance(u->units[child]);
        if (!unit_ends_text(u->units[child])) continue;
        found.data = u->replacements + (u->units[base] & ~(1u << 31));
        *length = i + 1;
    }
    if (found.data) return (vouch_text){found.data, strlen(found.data)};
    *length = vouch_utf8_length(text, n);
    if (*length > 0) return (vouch_text){text, *length};
    *length = 1; /* the table replaced the beginning of this character */
    return (vouch_text){"\xef\xbf\xbd", 3};
}

/* The normalised text. Writes at most `room` bytes and returns the full number. */
static size_t text_normalise(const vouch_tokenizer *t, const char *text, size_t n, char *out, size_t room)
{
    size_t used = 0, length;
    bool in_word = false, prefixed = false;
    for (size_t i = 0; i < n; i += length) {
        const vouch_text piece = prefix_normalise(t->unigram, text + i, n - i, &length);
        for (size_t j = 0; j < piece.size; j++) {
            const bool space = piece.data[j] == ' ';
            const bool first = !space && !in_word && ((t->space_prefix && !prefixed) || t->remove_spaces);
            if (first && used++ < room) out[used - 1] = ' ';
            prefixed |= first;
            in_word = !space;
            if (space && t->remove_spaces) continue;
            if (used++ < room) out[used - 1] = piece.data[j];
        }
    }
    return used;
}

/* -------------------------------------------------------------------- open */

static int bytes_compare(const void *a, const void *b, void *tokenizer)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    const vouch_text s = tokenizer_text(tokenizer, x), t = tokenizer_text(tokenizer, y);
    const int order = memcmp(s.data, t.data, s.size < t.size ? s.size : t.size);
    return order ? order : s.size < t.size ? -1 : s.size > t.size ? 1 : x < y ? -1 : x > y;
}

static vouch_status scores_load(vouch_tokenizer *t, unigram *u, const vouch_gguf *gguf, vouch_error *err)
{
    vouch_gguf_array scores;
    float worst = FLT_MAX;
    VOUCH_TRY(vouch_gguf_get_array(gguf, "tokenizer.ggml.scores", true, &scores, err));
    for (int32_t i = 0; i < t->n_tokens; i++) {
        VOUCH_TRY(vouch_vocab_score(vouch_gguf_path(gguf), &scores, (size_t)i, &u->score[i], err));
        if (t->kind[i] == TOKEN_NORMAL && (float)u->score[i] < worst) worst = (float)u->score[i];
        if (t->kind[i] == TOKEN_USER_DEFINED) u->score[i] = 0;
        const uint8_t kind = t->kind[i];
        const bool is_text = kind == TOKEN_NORMAL || kind == TOKEN_USER_DEFINED || kind == TOKEN_UNUSED;
        if (is_text && tokenizer_text(t, i).size > 0) u->sorted[u->n_sorted++] = i;
    }
    u->unknown_score = (double)(worst - 10.0f);
    qsort_r(u->sorted, u->n_sorted, sizeof *u->sorted, bytes_compare, t);
    return VOUCH_OK;
}

vouch_status vouch_unigram_open(vouch_tokenizer *tokenizer, const vouch_gguf *gguf, vouch_error *err)
{
    unigram *u = tokenizer->unigram = calloc(1, sizeof *u);
    const size_t n = (size_t)tokenizer->n_tokens;
    if (u) u->sorted = malloc(n * sizeof *u->sorted);
    if (u) u->score = malloc(n * sizeof *u->score);
    if (!u || !u->sorted || !u->score) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    VOUCH_TRY(scores_load(tokenizer, u, gguf, err));
    return charsmap_load(u, gguf, err);
}

void vouch_unigram_close(unigram *u)
{
    if (!u) return;
    free(u->sorted);
    free(u->score);
    free(u->units);
    free(u->replacements);
    free(u);
}

/* ------------------------------------------------------------------ encode */

typedef struct path_end {
    double score;
    int32_t token; /* -1: none yet */
    int32_t begin; /* of the token */
} path_end;

static void path_offer(path_end *best, double score, int32_t token, size_t begin)
{
    if (best->token != -1 && score <= best->score) return;
    *best = (path_end){score, token, (int32_t)begin};
}

enum { UNKNOWN = -2 }; /* in place of a token's id */

/* Extends the best path to text[i] by every token that begins there. The character at text[i] has `length` bytes. */
static void path_extend(const vouch_tokenizer *t, const char *text, size_t n, size_t i, size_t length, path_end *best)
{
    const unigram *u = t->unigram;
    size_t low = 0, high = u->n_sorted;
    bool covered = false;
    for (size_t depth = 0; i + depth < n && low < high;) {
        const int byte = (unsigned char)text[i + depth];
        low = vouch_sorted_bound(t, u->sorted, low, high, depth, byte);
        high = vouch_sorted_bound(t, u->sorted, low, high, depth, byte + 1);
        depth++;
        size_t same = low; /* tokens that end here come first; of equal ones the last counts */
        while (same < high && tokenizer_text(t, u->sorted[same]).size == depth) same++;
        if (same == low) continue;
        const int32_t token = u->sorted[same - 1];
        path_offer(&best[i + depth], best[i].score + u->score[token], token, i);
        covered |= depth == length;
    }
    if (!covered) path_offer(&best[i + length], best[i].score + u->unknown_score, UNKNOWN, i);
}

static vouch_status path_encode(encoder *e, const char *text, size_t n, vouch_error *err)
{
    const vouch_tokenizer *t = e->tokenizer;
    path_end *best = malloc((n + 1) * sizeof *best);
    if (!best) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to tokenize a text of %zu bytes", n);
    for (size_t i = 0; i <= n; i++) best[i] = (path_end){0, -1, 0};
    for (size_t i = 0, length; i < n; i += length) {
        length = vouch_utf8_length(text + i, n - i);
        path_extend(t, text, n, i, length, best);
    }
    /* The last token comes first; `next` turns the path around. */
    int32_t next = -1;
    for (int32_t end = (int32_t)n; end > 0;) {
        const int32_t begin = best[end].begin;
        best[end].begin = next;
        next = end;
        end = begin;
    }
    bool unknown = false;
    for (int32_t end = next; end > 0; end = best[end].begin) {
        const bool is_unknown = best[end].token == UNKNOWN;
        if (!is_unknown) encoder_push(e, best[end].token);
        else if (!unknown) encoder_push(e, t->unknown);
        unknown = is_unknown;
    }
    free(best);
    return VOUCH_OK;
}

vouch_status vouch_unigram_text(encoder *e, const char *text, size_t n, vouch_error *err)
{
    const size_t room = text_normalise(e->tokenizer, text, n, NULL, 0);
    if (room > INT32_MAX - 1)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "the text has %zu bytes when normalised; at most %d can be tokenized at once", room,
                          INT32_MAX - 1);
    char *normal = malloc(room + 1);
    if (!normal) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to tokenize a text of %zu bytes", n);
    (void)text_normalise(e->tokenizer, text, n, normal, room);
    const vouch_status status = path_encode(e, normal, vouch_spaces_unescape(normal, room, normal), err);
    free(normal);
    return status;
}
