/* SPDX-License-Identifier: MIT */
/* One drafter asked by itself, in the order that the cycle keeps. */
#ifndef TESTS_SUPPORT_DRAFT_H
#define TESTS_SUPPORT_DRAFT_H

#include "draft/drafter.h"

static inline vouch_draft draft_alone(const vouch_drafter_ref *d, const int32_t *tokens, int32_t n_tokens,
                                      const vouch_shape *shape)
{
    const vouch_level_ops *levels = d->ops->levels;
    levels->begin(d->self, tokens, n_tokens, shape);
    while (levels->stage(d->self) == VOUCH_STAGED_ROWS) {
        levels->run(d->self);
        levels->grow(d->self);
    }
    vouch_draft draft = levels->end(d->self);
    draft.drafter = d->ops->bit;
    return draft;
}

/* Brings the drafter up to date with tokens[0, n_tokens - 1). */
static inline void draft_follow(const vouch_drafter_ref *d, const int32_t *tokens, int32_t n_tokens)
{
    const vouch_level_ops *levels = d->ops->levels;
    while (levels->follow(d->self, tokens, n_tokens) == VOUCH_STAGED_ROWS) levels->run(d->self);
}

#endif
