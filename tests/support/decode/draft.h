/* SPDX-License-Identifier: MIT */
/* One drafter asked by itself, in the order that the cycle keeps; and hashes of the guesses of sessions. */
#ifndef TESTS_SUPPORT_DRAFT_H
#define TESTS_SUPPORT_DRAFT_H

#include "base/hash.h"
#include "draft/drafter.h"
#include "support/decode/answer.h"

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

/* Adds the guesses of a step to a hash. */
static inline uint64_t draft_hash(uint64_t hash, const vouch_step *step)
{
    for (int32_t i = 0; i < step->n_guesses; i++) {
        hash = vouch_hash_word(hash, (uint64_t)step->guesses[i].token);
        hash = vouch_hash_word(hash, (uint64_t)(step->guesses[i].parent + 1));
    }
    return hash;
}

/* The hash of all guesses of an answer, from a session by itself. */
static inline uint64_t draft_hash_alone(const vouch_model *model, const vouch_session_options *options,
                                        const int32_t *prompt, int32_t n_prompt)
{
    uint64_t hash = VOUCH_HASH_START;
    vouch_session *session = answer_open(model, options);
    vouch_step step = {0};
    assert_int_equal(vouch_session_prompt(session, prompt, (size_t)n_prompt, NULL), VOUCH_OK);
    while (step.finish == VOUCH_FINISH_NONE) {
        assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
        hash = draft_hash(hash, &step);
    }
    vouch_session_close(session);
    return hash;
}

#endif
