/* SPDX-License-Identifier: MIT */
/*
 * SentencePiece's normalisation (tokenizer.ggml.precompiled_charsmap): a double array (Aoe, IEEE TSE 15(9), 1989) over
 * the bytes of the texts to replace, and the replacements:
 *
 *   u32 size of the array in bytes | u32 unit [size / 4] | replacements, each with a NUL at its end
 *   unit   bits 0-7, 31: its byte; bit 8: a text ends here; bits 10-30, times 256 if bit 9: XOR distance to children
 *   unit of a text's end: bits 0-30: where its replacement begins
 *
 * The longest text that begins at an index is replaced. Then spaces are prepared, as in spaces.c. The loader walks the
 * whole array once, so that nothing in it points outside.
 */
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"
#include "text/unicode.h"

enum { LONGEST_REPLACEMENT = 255 };

typedef struct charsmap {
    uint32_t *units;    /* [n_units]; none: no table */
    char *replacements; /* [n_replacements] */
    size_t n_units, n_replacements;
} charsmap;

/* ----------------------------------------------------------------- loading */

static uint32_t unit_distance(uint32_t unit)
{
    return unit >> 10 << ((unit & 1u << 9) >> 6);
}

static bool unit_ends_text(uint32_t unit)
{
    return unit >> 8 & 1;
}

/* The child of the unit whose children begin at `base`; n_units: none. */
static size_t unit_child(const charsmap *m, size_t base, unsigned char byte)
{
    const size_t child = base ^ byte;
    return child < m->n_units && (m->units[child] & (1u << 31 | 0xff)) == byte ? child : m->n_units;
}

/* Checks one unit and pushes its children. False: something points outside. */
static bool unit_check(const charsmap *m, size_t base, uint32_t *stack, size_t *n_stack, bool *seen)
{
    for (unsigned byte = 1; byte < 256; byte++) {
        if ((base ^ byte) >= m->n_units) return false;
        const size_t child = unit_child(m, base, (unsigned char)byte);
        if (child == m->n_units || seen[child]) continue;
        seen[child] = true;
        const size_t next = child ^ unit_distance(m->units[child]);
        if (unit_ends_text(m->units[child])) {
            const size_t text = next < m->n_units ? m->units[next] & ~(1u << 31) : m->n_replacements;
            const size_t n = text < m->n_replacements ? strlen(m->replacements + text) : SIZE_MAX;
            if (n > LONGEST_REPLACEMENT || vouch_utf8_valid_prefix(m->replacements + text, n) != n) return false;
        }
        stack[(*n_stack)++] = (uint32_t)next;
    }
    return true;
}

static vouch_status charsmap_check(const charsmap *m, const char *path, vouch_error *err)
{
    uint32_t *stack = malloc(m->n_units * sizeof *stack);
    bool *seen = calloc(m->n_units, sizeof *seen);
    bool good = true;
    size_t n_stack = 0;
    vouch_status status = VOUCH_OK;
    if (!stack || !seen) status = vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    else if (m->n_units > 0) good = unit_check(m, unit_distance(m->units[0]), stack, &n_stack, seen);
    while (status == VOUCH_OK && good && n_stack > 0) good = unit_check(m, stack[--n_stack], stack, &n_stack, seen);
    if (!good)
        status = vouch_fail(err, VOUCH_E_FORMAT, "%s: tokenizer.ggml.precompiled_charsmap points outside itself", path);
    free(stack);
    free(seen);
    return status;
}

static vouch_status charsmap_load(charsmap *m, const vouch_gguf *gguf, vouch_error *err)
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
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is damaged: its first bytes don't fit its size, %zu bytes", path,
                          key, map.count);
    m->n_units = size / 4;
    m->n_replacements = map.count - sizeof size - size;
    m->units = malloc(size + 1);
    m->replacements = malloc(m->n_replacements);
    if (!m->units || !m->replacements) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    memcpy(m->units, map.data + sizeof size, size);
    memcpy(m->replacements, map.data + sizeof size + size, m->n_replacements);
    return charsmap_check(m, path, err);
}

vouch_status vouch_charsmap_open(vouch_tokenizer *tokenizer, const vouch_gguf *gguf, vouch_error *err)
{
    tokenizer->charsmap = calloc(1, sizeof *tokenizer->charsmap);
    if (!tokenizer->charsmap) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    return charsmap_load(tokenizer->charsmap, gguf, err);
}

void vouch_charsmap_close(charsmap *map)
{
    if (!map) return;
    free(map->units);
    free(map->replacements);
    free(map);
}

/* ------------------------------------------------------------------- texts */

/* The replacement for the first *length bytes of text[n]. */
static vouch_text prefix_normalise(const charsmap *m, const char *text, size_t n, size_t *length)
{
    vouch_text found = {NULL, 0};
    size_t base = m->n_units > 0 ? unit_distance(m->units[0]) : 0;
    for (size_t i = 0; i < n; i++) {
        const size_t child = text[i] ? unit_child(m, base, (unsigned char)text[i]) : m->n_units;
        if (child == m->n_units) break;
        base = child ^ unit_distance(m->units[child]);
        if (!unit_ends_text(m->units[child])) continue;
        found.data = m->replacements + (m->units[base] & ~(1u << 31));
        *length = i + 1;
    }
    if (found.data) return (vouch_text){found.data, strlen(found.data)};
    *length = vouch_utf8_length(text, n);
    if (*length > 0) return (vouch_text){text, *length};
    *length = 1; /* a byte inside a character whose beginning the table has replaced */
    return (vouch_text){"\xef\xbf\xbd", 3};
}

/* Normalises the text. Writes at most `room` bytes of the result and returns its full size. */
static size_t text_normalise(const vouch_tokenizer *t, bool with_prefix, const char *text, size_t n, char *out,
                             size_t room)
{
    size_t used = 0, length;
    bool in_word = false, any_word = false;
    for (size_t i = 0; i < n; i += length) {
        const vouch_text piece = prefix_normalise(t->charsmap, text + i, n - i, &length);
        for (size_t j = 0; j < piece.size; j++) {
            const bool space = piece.data[j] == ' ';
            const bool adds = !space && !in_word && (any_word ? t->remove_spaces : with_prefix);
            if (adds && used++ < room) out[used - 1] = ' ';
            any_word |= !space;
            in_word = !space;
            if (space && t->remove_spaces) continue;
            if (used++ < room) out[used - 1] = piece.data[j];
        }
    }
    return used;
}

vouch_status vouch_charsmap_text(const vouch_tokenizer *tokenizer, bool with_prefix, const char *text, size_t n,
                                 char **out, size_t *n_out, vouch_error *err)
{
    const size_t room = text_normalise(tokenizer, with_prefix, text, n, NULL, 0);
    *out = NULL;
    if (room > INT32_MAX - 1)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "the text has %zu bytes when normalised; at most %d can be tokenized at once", room,
                          INT32_MAX - 1);
    char *normal = *out = malloc(room + 1);
    if (!normal) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to tokenize a text of %zu bytes", n);
    (void)text_normalise(tokenizer, with_prefix, text, n, normal, room);
    *n_out = vouch_spaces_unescape(normal, room, normal);
    return VOUCH_OK;
}
