/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <string.h>

#include "os/os.h"

enum { ALIGNMENT = 64, MAPPED_FROM = 1 << 17, HUGE_FROM = 1 << 22 };

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

static void *allocate_block(size_t bytes)
{
    void *block;
    if (bytes >= MAPPED_FROM) {
        block = vouch_os_pages_take(bytes);
        if (block && bytes >= HUGE_FROM) vouch_os_pages_join(block, bytes);
        return block;
    }
    block = vouch_os_aligned_take(ALIGNMENT, bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

vouch_status vouch_arena_allocate(vouch_arena *arena, const char *what, vouch_error *err)
{
    const size_t bytes = arena->used ? arena->used : ALIGNMENT;
    void *block = arena->overflow ? NULL : allocate_block(bytes);
    if (!block && arena->overflow)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %s: more bytes than this machine can address",
                          what);
    if (!block)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %s (%.1f MiB)", what, (double)bytes / 0x1p20);
    *arena = (vouch_arena){.base = block, .size = bytes};
    return VOUCH_OK;
}

void vouch_arena_free(vouch_arena *arena)
{
    if (arena->size >= MAPPED_FROM) vouch_os_pages_free(arena->base, arena->size);
    else vouch_os_aligned_free(arena->base);
    *arena = (vouch_arena){0};
}
