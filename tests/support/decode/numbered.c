/* SPDX-License-Identifier: MIT */
#include "support/decode/numbered.h"

#include <stdlib.h>
#include <string.h>

#include "engine/file/draft_memory.h"
#include "support/test.h"

static int32_t numbered(int32_t tokens[100], int32_t number)
{
    const int32_t n = 5 + number % 90;
    for (int32_t i = 0; i < n; i++) tokens[i] = (number * 7 + i * i) % 400;
    return n;
}

void numbered_add(vouch_draft_memory *memory, uint64_t scope, int32_t number)
{
    int32_t tokens[100];
    const int32_t n = numbered(tokens, number);
    vouch_answers_add(memory->answers, scope, tokens, n);
}

int32_t numbered_count(const vouch_draft_memory *memory, int32_t most)
{
    int64_t position = 0;
    int32_t *tokens, n, count = 0, expected[100];
    uint64_t scope;
    while (vouch_answers_next(memory->answers, &position, &scope, &tokens, &n)) {
        bool is_known = false;
        for (int32_t i = 0; i < most && !is_known; i++) {
            const int32_t n_lost = numbered(expected, i) - n; /* the ring may have begun to overwrite the oldest */
            const bool fits = n_lost == 0 || (count == 0 && n_lost > 0);
            is_known = fits && memcmp(expected + n_lost, tokens, (size_t)n * sizeof *tokens) == 0;
        }
        assert_true(is_known);
        free(tokens);
        count++;
    }
    return count;
}
