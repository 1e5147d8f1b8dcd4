/* SPDX-License-Identifier: MIT */
/*
 * Builds the command with a rollback that leaves a trace: it replaces the keys and values of the last kept token by
 * those of the token before it. `vouch check` must find that law L3 is broken.
 */
#include "model/memory/memory.h"

int32_t __real_vouch_memory_rewind(vouch_memory *memory, int32_t n);
void __real_vouch_memory_keep_path(vouch_memory *memory, const int32_t *path, int32_t n);
int32_t __wrap_vouch_memory_rewind(vouch_memory *memory, int32_t n);
void __wrap_vouch_memory_keep_path(vouch_memory *memory, const int32_t *path, int32_t n);

static void last_replace(vouch_memory *memory)
{
    if (memory->n_tokens > 1) vouch_memory_move_slot(memory, memory->n_tokens - 1, memory->n_tokens - 2);
}

int32_t __wrap_vouch_memory_rewind(vouch_memory *memory, int32_t n)
{
    const bool forgets = n < memory->n_tokens;
    const int32_t left = __real_vouch_memory_rewind(memory, n);
    if (forgets) last_replace(memory);
    return left;
}

void __wrap_vouch_memory_keep_path(vouch_memory *memory, const int32_t *path, int32_t n)
{
    const bool forgets = n < memory->n_rows;
    __real_vouch_memory_keep_path(memory, path, n);
    if (forgets) last_replace(memory);
}
