/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

void *vouch_arena_take(vouch_arena *arena, size_t count, size_t size)
{
    size_t bytes, end;
    if (!vouch_mul_size(count, size, &bytes) || __builtin_add_overflow(arena->used, bytes, &end) ||
        __builtin_add_overflow(end, ALIGNMENT - 1, &end)) {
        arena->overflow = true;
        return NULL;
    }
    void *taken = arena->base ? arena->base + arena->used : NULL;
    arena->used = end / ALIGNMENT * ALIGNMENT;
    return taken;
}

vouch_status vouch_arena_allocate(vouch_arena *arena, const char *what, vouch_error *err)
{
    void *block = NULL;
    const size_t bytes = arena->used ? arena->used : ALIGNMENT;
    if (arena->overflow || posix_memalign(&block, ALIGNMENT, bytes) != 0)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %s (%zu bytes)", what, bytes);
    memset(block, 0, bytes);
    *arena = (vouch_arena){.base = block};
    return VOUCH_OK;
}

void vouch_arena_free(vouch_arena *arena)
{
    free(arena->base);
    *arena = (vouch_arena){0};
}
