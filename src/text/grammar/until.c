/* SPDX-License-Identifier: MIT */
#include "text/grammar/until.h"

#include <string.h>

#include "text/grammar/characters.h"

/* A text ends with `length` bytes of the mark, and `byte` follows. The number of the mark's bytes that it ends with
 * now. */
static int32_t next_length(const char *mark, int32_t length, char byte)
{
    for (int32_t n = length + 1; n > 0; n--)
        if (mark[n - 1] == byte && memcmp(mark, mark + length + 1 - n, (size_t)n - 1) == 0) return n;
    return 0;
}

/* The body of the rule for texts that end with `length` bytes of the mark. */
static vouch_expression rest_behind(vouch_builder *b, const char *mark, int32_t n, const int32_t *rules, int32_t length)
{
    vouch_ranges others = {0};
    vouch_parts parts = {0};
    for (int32_t i = 0; i < n; i++) {
        const int32_t next = next_length(mark, length, mark[i]);
        if (next == 0 || memchr(mark, mark[i], (size_t)i)) continue;
        const vouch_expression byte = vouch_expression_byte_range(b, mark[i], mark[i]);
        vouch_ranges_add(b, &others, mark[i], mark[i]);
        vouch_parts_add(b, &parts,
                        next == n ? byte : vouch_expression_join(b, 2, byte, vouch_expression_rule(b, rules[next])));
    }
    vouch_ranges_invert(b, &others);
    vouch_parts_add(b, &parts,
                    vouch_expression_join(b, 2, vouch_ranges_expression(b, &others),
                                          vouch_expression_rule(b, rules[0])));
    return vouch_expression_choice(b, &parts);
}

vouch_expression vouch_expression_until(vouch_builder *builder, const char *mark, int32_t n)
{
    const char *owner = builder->owner ? builder->owner : "root";
    int32_t rules[VOUCH_LONGEST_MARK] = {0};
    for (int32_t i = 0; i < n; i++) rules[i] = vouch_builder_rule(builder, owner, strlen(owner));
    for (int32_t i = 0; i < n; i++)
        vouch_builder_define(builder, rules[i], rest_behind(builder, mark, n, rules, i));
    return vouch_expression_rule(builder, rules[0]);
}
