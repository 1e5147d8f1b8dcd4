/* SPDX-License-Identifier: MIT */
/*
 * Names in sorted order: O(log n) lookups, and duplicates found in O(n log n).
 *
 * An index is an array of pointers to names. Each name is the first member of its entry, so casting a pointer to the
 * name gives the entry:
 *
 *   index    [ * | * | * ]            sorted by size, then bytes: a hostile file whose names
 *              |    \   \             share a long beginning costs no more than another
 *   entries  { name, ... } { name, ... } { name, ... }     in the file's order
 */
#ifndef VOUCH_FORMAT_TEXT_INDEX_H
#define VOUCH_FORMAT_TEXT_INDEX_H

#include "format/gguf.h"

/* Points index[0..n) at the entries, `stride` bytes apart, and sorts it. */
void vouch_text_index_build(const vouch_text **index, const void *entries, size_t n, size_t stride);
/* A name that occurs twice, or NULL. */
const vouch_text *vouch_text_index_duplicate(const vouch_text *const *index, size_t n);
/* NULL if the index has no such name. */
const vouch_text *vouch_text_index_find(const vouch_text *const *index, size_t n, const char *name);

#endif
