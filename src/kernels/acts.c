/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "kernels/kernels.h"

void vouch_acts_layout(vouch_acts *acts, size_t max_rows, size_t n_in, vouch_needs needs, vouch_arena *arena)
{
    const size_t values = max_rows * n_in, blocks = values / VOUCH_BLOCK;
    if (needs & VOUCH_NEEDS_QUANTS) {
        acts->q = vouch_arena_take(arena, values, sizeof *acts->q);
        acts->d = vouch_arena_take(arena, blocks, sizeof *acts->d);
    }
    for (int i = 0; i < VOUCH_SUMS_COUNT; i++)
        if (needs >> i & 1)
            acts->sums[i] = vouch_arena_take(arena, blocks * (size_t)vouch_sums_infos[i].runs, sizeof *acts->sums[i]);
    if (needs & VOUCH_NEEDS_FLOATS)
        acts->x = vouch_arena_take(arena, max_rows * ((n_in + 15) / 16 * 16), sizeof *acts->x);
}
