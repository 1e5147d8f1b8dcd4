/* SPDX-License-Identifier: MIT */
#include "draft/paid/head_depths.h"

#include <math.h>
#include <string.h>

void vouch_depths_layout(vouch_depths *d, vouch_arena *arena)
{
    d->values = vouch_arena_take(arena, (size_t)d->n_depths * (size_t)d->n_draft, sizeof *d->values);
    d->nothing = vouch_arena_take(arena, (size_t)d->n_draft, sizeof *d->nothing);
}

void vouch_depths_open(vouch_depths *d)
{
    for (int64_t t = 0; t < d->n_draft; t++) d->nothing[t] = NAN;
}

void vouch_depths_begin(vouch_depths *d)
{
    d->asked[0] = 0;
    d->n_asked = 1;
}

void vouch_depths_ask(vouch_depths *d, int32_t n_fed, const int32_t *parents, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t number = n_fed + i, parent = parents ? parents[i] : number - 1;
        d->depths[number] = parent < 0 ? 0 : d->depths[parent] + 1;
        d->asked[i] = d->depths[number] + 1;
    }
    d->n_asked = n;
}

float *vouch_depths_values(const vouch_depths *d, int32_t depth)
{
    return d->values + depth * d->n_draft;
}

void vouch_depths_keep(vouch_depths *d, vouch_pass *pass, int32_t first)
{
    for (int32_t i = 0; i < d->n_depths; i++)
        memcpy(vouch_depths_values(d, i), vouch_pass_logits(pass, first + i), (size_t)d->n_draft * sizeof *d->values);
}

const float *vouch_depths_logits(const vouch_depths *d, int32_t i)
{
    return d->asked[i] < d->n_depths ? vouch_depths_values(d, d->asked[i]) : d->nothing;
}
