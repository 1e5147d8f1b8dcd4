/* SPDX-License-Identifier: MIT */
/*
 * Memory: checked sizes, and one block laid out for many arrays.
 *
 * A module that needs many buffers writes one layout function that takes the buffers from an arena. The layout function
 * runs twice. The first run counts bytes in an arena without memory; vouch_arena_allocate then allocates the block, and
 * the second run hands out addresses. So the size is known before allocation, only one allocation can fail, only one
 * block needs freeing, and decoding allocates nothing (law L6).
 *
 *   base ▼ 64-byte aligned
 *   [ array 0 | pad | array 1 | pad | ... ]
 *
 * A block of 128 KiB or more is mapped instead of taken from the heap. Its pages read as zero and get memory when a
 * thread first writes to them. So a KV cache costs only its filled part, and a session opens in 0.15 ms: touching
 * 90 MiB takes 11 to 54 ms (virtual machine on a Xeon), or 390 ms when the kernel has to compact memory for huge pages.
 * Blocks of 4 MiB or more ask for huge pages. The price: on a system that promises more memory than it has, the process
 * can be killed in the middle of an answer instead of being refused at open.
 */
#ifndef VOUCH_BASE_MEMORY_H
#define VOUCH_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct vouch_arena {
    char *base;    /* NULL while counting */
    size_t used;   /* bytes taken so far */
    size_t size;   /* bytes of the block; 0 while counting */
    bool overflow; /* a size did not fit into size_t */
} vouch_arena;

/* Takes the next `count` items of `size` bytes, 64-byte aligned and zeroed. Returns NULL while counting. */
void *vouch_arena_take(vouch_arena *arena, size_t count, size_t size);
/* After a counting run: allocates the counted bytes and starts over. Error: MEMORY; the message names `what`. */
vouch_status vouch_arena_allocate(vouch_arena *arena, const char *what, vouch_error *err);
void vouch_arena_free(vouch_arena *arena);

/* *product = a * b; false when the product exceeds size_t. */
static inline bool vouch_mul_size(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

#endif
