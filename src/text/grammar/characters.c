/* SPDX-License-Identifier: MIT */
/* Sets of characters (characters.h). */
#include "text/grammar/characters.h"

#include <stdlib.h>
#include <string.h>

void vouch_ranges_free(vouch_ranges *ranges)
{
    free(ranges->ranges);
    *ranges = (vouch_ranges){0};
}

void vouch_ranges_add(vouch_builder *builder, vouch_ranges *ranges, int32_t first, int32_t last)
{
    if (first > last || builder->status != VOUCH_OK) return;
    if (ranges->n == ranges->room) {
        const int32_t room = ranges->room > 0 ? 2 * ranges->room : 8;
        void *moved = realloc(ranges->ranges, (size_t)room * sizeof *ranges->ranges);
        if (!moved) {
            vouch_builder_fail(builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
            return;
        }
        ranges->ranges = moved;
        ranges->room = room;
    }
    ranges->ranges[ranges->n++] = (vouch_range){first, last};
}

static int compare_ranges(const void *a, const void *b)
{
    const vouch_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

void vouch_ranges_normalize(vouch_ranges *ranges)
{
    int32_t n = 0;
    if (ranges->n > 0) qsort(ranges->ranges, (size_t)ranges->n, sizeof *ranges->ranges, compare_ranges);
    for (int32_t i = 0; i < ranges->n; i++) {
        const vouch_range next = ranges->ranges[i];
        vouch_range *last = n > 0 ? &ranges->ranges[n - 1] : NULL;
        if (!last || next.first > last->last + 1) ranges->ranges[n++] = next;
        else if (next.last > last->last) last->last = next.last;
    }
    ranges->n = n;
}

void vouch_ranges_invert(vouch_builder *builder, vouch_ranges *ranges)
{
    vouch_ranges others = {0};
    int32_t first = 0;
    vouch_ranges_normalize(ranges);
    for (int32_t i = 0; i < ranges->n; i++) {
        vouch_ranges_add(builder, &others, first, ranges->ranges[i].first - 1);
        first = ranges->ranges[i].last + 1;
    }
    vouch_ranges_add(builder, &others, first, VOUCH_LAST_CHARACTER);
    vouch_ranges_free(ranges);
    *ranges = others;
}

/* Writes a character below 0x110000 as `n` bytes of UTF-8. */
static void encode(int32_t character, int n, int32_t *bytes)
{
    static const int32_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = n - 1; i > 0; i--, character >>= 6) bytes[i] = 0x80 | (character & 0x3f);
    bytes[0] = leads[n] | character;
}

/* Adds the characters [first, last], which all have n bytes, cut into pieces whose bytes vary independently: the bytes
 * up to some index are fixed, the next one varies, and all later ones take every value from 0x80 to 0xbf. */
static void add_equal_length(vouch_builder *builder, vouch_parts *out, int32_t first, int32_t last, int n)
{
    while (first <= last) {
        int free_bytes = 0;
        int32_t block = 1; /* characters that differ in the last free_bytes bytes */
        while (free_bytes < n - 1 && first % (block * 64) == 0 && first + block * 64 - 1 <= last) {
            block *= 64;
            free_bytes++;
        }
        /* The byte before the free ones runs up to the end of its own block of 64, or to `last`. */
        const int32_t whole = block * 64, end = first - first % whole + whole - 1;
        int32_t piece = free_bytes == n - 1 ? last : end < last ? end : last;
        piece = first + (piece - first + 1) / block * block - 1;
        int32_t low[4], high[4];
        encode(first, n, low);
        encode(piece, n, high);
        vouch_parts bytes = {0};
        for (int i = 0; i < n; i++)
            vouch_parts_add(builder, &bytes, vouch_expression_byte_range(builder, low[i], high[i]));
        vouch_parts_add(builder, out, vouch_expression_sequence(builder, &bytes));
        first = piece + 1;
    }
}

vouch_expression vouch_expression_characters(vouch_builder *builder, int32_t first, int32_t last)
{
    static const struct {
        int32_t first, last;
        int n;
    } lengths[] = {{0, 0x7f, 1}, {0x80, 0x7ff, 2}, {0x800, 0xd7ff, 3}, {0xe000, 0xffff, 3}, {0x10000, 0x10ffff, 4}};
    vouch_parts parts = {0};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int32_t from = first > lengths[i].first ? first : lengths[i].first;
        const int32_t to = last < lengths[i].last ? last : lengths[i].last;
        if (from <= to) add_equal_length(builder, &parts, from, to, lengths[i].n);
    }
    return vouch_expression_choice(builder, &parts);
}

vouch_expression vouch_ranges_expression(vouch_builder *builder, vouch_ranges *ranges)
{
    vouch_parts parts = {0};
    vouch_ranges_normalize(ranges);
    for (int32_t i = 0; i < ranges->n; i++)
        vouch_parts_add(builder, &parts,
                        vouch_expression_characters(builder, ranges->ranges[i].first, ranges->ranges[i].last));
    vouch_ranges_free(ranges);
    return vouch_expression_choice(builder, &parts);
}
