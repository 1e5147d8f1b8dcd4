/* SPDX-License-Identifier: MIT */
#include "text/grammar/until.h"

#include <string.h>

#include "text/grammar/characters.h"

/* A text ends with `length` characters of the mark, and `character` follows. The number of the mark's characters that
 * it ends with now. */
static int32_t next_length(const int32_t *mark, int32_t length, int32_t character)
{
    for (int32_t n = length + 1; n > 0; n--)
        if (mark[n - 1] == character && memcmp(mark, mark + length + 1 - n, ((size_t)n - 1) * sizeof *mark) == 0)
            return n;
    return 0;
}

static bool has(const int32_t *mark, int32_t n, int32_t character)
{
    while (n > 0 && mark[n - 1] != character) n--;
    return n > 0;
}

/* The body of the rule for texts that end with `length` characters of the mark. */
static vouch_expression rest_after(vouch_builder *b, const int32_t *mark, int32_t n, const int32_t *rules,
                                   int32_t length)
{
    vouch_ranges others = {0};
    vouch_parts parts = {0};
    for (int32_t i = 0; i < n; i++) {
        const int32_t next = next_length(mark, length, mark[i]);
        if (next == 0 || has(mark, i, mark[i])) continue;
        const vouch_expression one = vouch_expression_characters(b, mark[i], mark[i]);
        vouch_ranges_add(b, &others, mark[i], mark[i]);
        vouch_parts_add(b, &parts,
                        next == n ? one : vouch_expression_join(b, 2, one, vouch_expression_rule(b, rules[next])));
    }
    vouch_ranges_invert(b, &others);
    vouch_parts_add(b, &parts,
                    vouch_expression_join(b, 2, vouch_ranges_expression(b, &others),
                                          vouch_expression_rule(b, rules[0])));
    return vouch_expression_choice(b, &parts);
}

vouch_expression vouch_expression_until(vouch_builder *builder, const int32_t *mark, int32_t n)
{
    const char *owner = builder->owner ? builder->owner : "root";
    int32_t rules[VOUCH_LONGEST_MARK] = {0};
    for (int32_t i = 0; i < n; i++) rules[i] = vouch_builder_rule(builder, owner, strlen(owner));
    for (int32_t i = 0; i < n; i++) vouch_builder_define(builder, rules[i], rest_after(builder, mark, n, rules, i));
    return vouch_expression_rule(builder, rules[0]);
}
