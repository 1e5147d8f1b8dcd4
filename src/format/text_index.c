/* SPDX-License-Identifier: MIT */
#include "format/text_index.h"

#include <stdlib.h>
#include <string.h>

static int text_compare(const vouch_text *a, const vouch_text *b)
{
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return a->size ? memcmp(a->data, b->data, a->size) : 0;
}

static int slot_compare(const void *a, const void *b)
{
    return text_compare(*(const vouch_text *const *)a, *(const vouch_text *const *)b);
}

void vouch_text_index_build(const vouch_text **index, const void *entries, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i++) index[i] = (const vouch_text *)(const void *)((const char *)entries + i * stride);
    if (n > 1) qsort(index, n, sizeof *index, slot_compare);
}

const vouch_text *vouch_text_index_duplicate(const vouch_text *const *index, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (text_compare(index[i - 1], index[i]) == 0) return index[i];
    return NULL;
}

const vouch_text *vouch_text_index_find(const vouch_text *const *index, size_t n, const char *name)
{
    const vouch_text wanted = {name, strlen(name)};
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = text_compare(index[middle], &wanted);
        if (order == 0) return index[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}
