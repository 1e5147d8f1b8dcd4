/* SPDX-License-Identifier: MIT */
#include "work/slots.h"

#include <stdlib.h>
#include <string.h>

bool server_slots_open(server_slots *slots, int32_t n)
{
    *slots = (server_slots){.all = calloc((size_t)n, sizeof *slots->all), .n = n};
    return slots->all;
}

void server_slots_close(server_slots *slots)
{
    for (int32_t i = 0; i < slots->n && slots->all; i++) free(slots->all[i].tokens);
    free(slots->all);
}

/* Tokens of a slot that a prompt begins with; 0: it has others' prompts, or fewer than half of it are the same. */
static size_t common_tokens(const server_slot_state *s, const vouch_session_options *options, const int32_t *tokens,
                            size_t n_tokens)
{
    size_t n = 0;
    if (s->scope != options->scope) return 0;
    while (n < s->n && n < n_tokens && s->tokens[n] == tokens[n]) n++;
    return 2 * n > s->n ? n : 0;
}

int32_t server_slots_take(server_slots *slots, int32_t wanted, const vouch_session_options *options,
                          const int32_t *tokens, size_t n_tokens)
{
    int32_t best = -1;
    size_t n_best = 0;
    for (int32_t i = 0; i < slots->n; i++) {
        const server_slot_state *s = &slots->all[i];
        if (s->is_busy) continue;
        const size_t n = i == wanted ? SIZE_MAX : common_tokens(s, options, tokens, n_tokens);
        if (best >= 0 && (n < n_best || (n == n_best && s->used >= slots->all[best].used))) continue;
        best = i;
        n_best = n;
    }
    slots->all[best].is_busy = true;
    return best;
}

void server_slots_add(server_slots *slots, int32_t slot, const int32_t *tokens, size_t n_tokens)
{
    server_slot_state *s = &slots->all[slot];
    if (s->is_cut) return;
    if (n_tokens > s->most - s->n) {
        const size_t most = 2 * (s->n + n_tokens);
        int32_t *larger = realloc(s->tokens, most * sizeof *larger);
        if (!larger) {
            s->is_cut = true;
            return;
        }
        s->tokens = larger;
        s->most = most;
    }
    if (n_tokens > 0) memcpy(s->tokens + s->n, tokens, n_tokens * sizeof *tokens);
    s->n += n_tokens;
}

void server_slots_set(server_slots *slots, int32_t slot, const vouch_session_options *options, const int32_t *tokens,
                      size_t n_tokens)
{
    server_slot_state *s = &slots->all[slot];
    s->n = 0;
    s->is_cut = false;
    s->scope = options->scope;
    s->n_scales = options->n_adapter_scales;
    for (int32_t i = 0; i < s->n_scales; i++) s->scales[i] = options->adapter_scales[i];
    s->used = ++slots->clock;
    server_slots_add(slots, slot, tokens, n_tokens);
}

void server_slots_end(server_slots *slots, int32_t slot)
{
    slots->all[slot].is_busy = false;
    slots->all[slot].used = ++slots->clock;
}
