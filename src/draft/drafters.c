/* SPDX-License-Identifier: MIT */
/* Passes calls on to both drafters of a session (drafters.h). */
#include "draft/drafters.h"

#include <assert.h>

#include "base/common.h"

enum { PARTS = 2 };

static const vouch_drafter_ref *part(const vouch_drafters *drafters, int i)
{
    return i == 0 ? &drafters->free : &drafters->paid;
}

/* Calls an operation of both drafters, where they have it. */
#define CALL_BOTH(operation, ...)                                                                                      \
    for (int i = 0; i < PARTS; i++) {                                                                                  \
        const vouch_drafter_ref *d = part(drafters, i);                                                                \
        if (d->ops && d->ops->operation) d->ops->operation(d->self, __VA_ARGS__);                                      \
    }

void vouch_drafters_begin_paid(vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens,
                               const vouch_shape *shape)
{
    const vouch_drafter_ref *paid = &drafters->paid;
    if (paid->ops->levels) paid->ops->levels->begin(paid->self, tokens, n_tokens, shape);
    else drafters->paid_draft = paid->ops->propose(paid->self, tokens, n_tokens, shape);
}

vouch_staging vouch_drafters_stage_paid(const vouch_drafters *drafters)
{
    const vouch_drafter_ref *paid = &drafters->paid;
    return paid->ops->levels ? paid->ops->levels->stage(paid->self) : VOUCH_STAGED_NONE;
}

double vouch_drafters_run_paid(const vouch_drafters *drafters)
{
    return drafters->paid.ops->levels->run(drafters->paid.self);
}

void vouch_drafters_grow_paid(const vouch_drafters *drafters)
{
    drafters->paid.ops->levels->grow(drafters->paid.self);
}

double vouch_drafters_paid_part(const vouch_drafters *drafters, int32_t n)
{
    const vouch_drafter_ref *paid = &drafters->paid;
    return paid->ops && paid->ops->levels ? paid->ops->levels->part(paid->self, n) : 1;
}

vouch_draft vouch_drafters_end_paid(const vouch_drafters *drafters)
{
    const vouch_drafter_ref *paid = &drafters->paid;
    vouch_draft draft = paid->ops->levels ? paid->ops->levels->end(paid->self) : drafters->paid_draft;
    draft.drafter = paid->ops->bit;
    return draft;
}

vouch_draft vouch_drafters_ask_free(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens,
                                    const vouch_shape *shape, const vouch_draft *guide)
{
    const vouch_drafter_ref *free = &drafters->free;
    if (!free->ops) return *guide;
    if (shape->depth < 1) return (vouch_draft){0};
    const bool is_guided = guide->n > 0 && free->ops->propose_around;
    vouch_draft draft = is_guided ? free->ops->propose_around(free->self, tokens, n_tokens, shape, guide)
                                  : free->ops->propose(free->self, tokens, n_tokens, shape);
    draft.drafter = free->ops->bit;
    return draft;
}

int32_t vouch_drafters_lack(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens)
{
    const vouch_drafter_ref *paid = &drafters->paid;
    if (!paid->ops || !paid->ops->known) return 0;
    const int32_t n_lacking = n_tokens - paid->ops->known(paid->self, tokens, n_tokens) - 1;
    return n_lacking > 0 ? n_lacking : 0;
}

vouch_staging vouch_drafters_follow_paid(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens)
{
    const vouch_drafter_ref *paid = &drafters->paid;
    return paid->ops && paid->ops->levels ? paid->ops->levels->follow(paid->self, tokens, n_tokens) : VOUCH_STAGED_NONE;
}

void vouch_drafters_observe(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens)
{
    CALL_BOTH(observe, tokens, n_tokens)
}

void vouch_drafters_skip(const vouch_drafters *drafters, int32_t n_tokens)
{
    CALL_BOTH(skip, n_tokens)
}

void vouch_drafters_begin(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens)
{
    CALL_BOTH(begin, tokens, n_tokens)
}

void vouch_drafters_end(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens)
{
    CALL_BOTH(end, tokens, n_tokens)
}

void vouch_drafters_see(const vouch_drafters *drafters, const int32_t *tokens,
                        const vouch_seen *row){CALL_BOTH(see, tokens, row)}

int32_t vouch_drafters_taps(const vouch_drafters *drafters, const int32_t **layers)
{
    const vouch_drafter_ref *paid = &drafters->paid;
    *layers = NULL;
    return paid->ops && paid->ops->taps ? paid->ops->taps(paid->self, layers) : 0;
}

void vouch_drafters_hidden(vouch_drafters *drafters, const int32_t *tokens, int32_t position,
                           const float *const *states)
{
    assert(position <= drafters->n_hidden);
    if (position < drafters->n_hidden) return; /* the target ran it again */
    drafters->n_hidden++;
    drafters->paid.ops->hidden(drafters->paid.self, tokens, position, states);
}

int32_t vouch_drafters_rewind(vouch_drafters *drafters, int32_t n_tokens)
{
    int32_t kept = n_tokens;
    for (int i = 0; i < PARTS; i++) {
        const vouch_drafter_ref *d = part(drafters, i);
        if (d->ops) d->ops->rewind(d->self, n_tokens);
        if (d->ops && d->ops->n_hidden) kept = vouch_min(kept, d->ops->n_hidden(d->self));
    }
    drafters->n_hidden = vouch_min(drafters->n_hidden, kept);
    return kept;
}

void vouch_drafters_close(vouch_drafters *drafters)
{
    for (int i = 0; i < PARTS; i++) {
        const vouch_drafter_ref *d = part(drafters, i);
        if (d->ops) d->ops->close(d->self);
    }
    *drafters = (vouch_drafters){0};
}

size_t vouch_drafters_memory(const vouch_drafters *drafters)
{
    size_t bytes = 0;
    for (int i = 0; i < PARTS; i++) {
        const vouch_drafter_ref *d = part(drafters, i);
        if (d->ops) bytes += d->ops->memory(d->self);
    }
    return bytes;
}

uint64_t vouch_drafters_digest(const vouch_drafters *drafters)
{
    const vouch_drafter_ref *d = &drafters->free;
    return d->ops && d->ops->digest ? d->ops->digest(d->self) : 0;
}
