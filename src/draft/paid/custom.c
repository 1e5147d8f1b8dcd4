/* SPDX-License-Identifier: MIT */
/*
 * The caller's own drafter. It gets the whole sequence each time. Its guesses count as point masses, so the text is
 * exact however it guesses. The draft is cut at k and at the first guess outside the vocabulary.
 */
#include "draft/paid/custom.h"
#include "draft/registry.h"

#include <stdlib.h>

#include "base/common.h"

typedef struct custom {
    vouch_drafter drafter;
    int32_t n_vocab;
    int32_t n_known; /* length of the sequence at the last call */
    int32_t guesses[VOUCH_MAX_DRAFT];
} custom;

static vouch_draft custom_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    custom *c = self;
    const int32_t k = shape->depth;
    for (int32_t i = 0; i < k; i++) c->guesses[i] = -1; /* a guess counted but not written stays invalid */
    const int32_t n = c->drafter.propose(c->drafter.user, tokens, n_tokens, k, c->guesses);
    c->n_known = n_tokens;
    vouch_draft draft = {.tokens = c->guesses};
    while (draft.n < n && draft.n < k && c->guesses[draft.n] >= 0 && c->guesses[draft.n] < c->n_vocab) draft.n++;
    return draft;
}

static void custom_rewind(void *self, int32_t n_tokens)
{
    custom *c = self;
    c->n_known = vouch_min(c->n_known, n_tokens);
}

static int32_t custom_known(const void *self, const int32_t *tokens, int32_t n_tokens)
{
    (void)tokens;
    (void)n_tokens;
    return ((const custom *)self)->n_known;
}

static void custom_close(void *self)
{
    free(self);
}

static size_t custom_memory(const void *self)
{
    (void)self;
    return sizeof(custom);
}

static const vouch_drafter_ops custom_ops = {
    .name = "custom",
    .bit = VOUCH_DRAFTER_CUSTOM,
    .propose = custom_propose,
    .rewind = custom_rewind,
    .known = custom_known,
    .close = custom_close,
    .memory = custom_memory,
};

vouch_status vouch_drafter_custom_open(vouch_drafter_ref *out, const vouch_drafter *drafter, int32_t n_vocab,
                                       vouch_error *err)
{
    *out = (vouch_drafter_ref){0};
    if (!drafter->propose)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: custom.propose is NULL; a custom drafter needs it");
    custom *c = calloc(1, sizeof *c);
    if (!c) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the custom drafter (%zu bytes)", sizeof *c);
    c->drafter = *drafter;
    c->n_vocab = n_vocab;
    *out = (vouch_drafter_ref){.ops = &custom_ops, .self = c};
    return VOUCH_OK;
}

static vouch_status open_paid(vouch_drafter_ref *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    return vouch_drafter_custom_open(out, &setup->speculation->custom, setup->target_tokens.n, err);
}

static bool is_given(const vouch_speculation *speculation)
{
    return speculation->custom.propose;
}

const vouch_drafter_type vouch_drafter_type_custom = {.needs = "a vouch_drafter",
                                                      .need = VOUCH_NEED_OPTION,
                                                      .is_given = is_given,
                                                      .lacks = "a function; set custom.propose",
                                                      .open_paid = open_paid};
