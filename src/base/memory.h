/* SPDX-License-Identifier: MIT */
/*
 * Memory: checked sizes, and one block laid out for many arrays.
 *
 * A room that needs many buffers writes one layout function that takes them from an arena.
 * It runs twice: over an arena without memory, which only counts, and, after
 * vouch_arena_allocate, for real. So the size is known before anything is allocated, there is
 * one allocation to fail and one to free, and decoding needs none (law L6).
 *
 *   base ▼ 64-byte aligned
 *   [ array 0 | pad | array 1 | pad | ... ]
 *
 * A block of 128 KiB or more is mapped, not taken from the heap. Its pages are zero and get memory when somebody first
 * writes them. So a KV cache costs only its filled part, and a session opens in 0.15 ms: touching 90 MiB takes 11 to
 * 54 ms (virtual machine on a Xeon), and 390 ms when the kernel has to compact memory for huge pages. Blocks of 4 MiB
 * or more ask for huge pages. The price: where the system has promised more memory than it has, it ends the process
 * in the middle of an answer instead of refusing at open.
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

/* The next `count` items of `size` bytes, 64-byte aligned, zeroed; NULL while counting. */
void *vouch_arena_take(vouch_arena *arena, size_t count, size_t size);
/* After a counting run: allocates what was counted and starts over. MEMORY names `what`. */
vouch_status vouch_arena_allocate(vouch_arena *arena, const char *what, vouch_error *err);
void vouch_arena_free(vouch_arena *arena);

/* *product = a * b; false when it does not fit. */
static inline bool vouch_mul_size(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

#endif
