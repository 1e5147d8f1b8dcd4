/* SPDX-License-Identifier: MIT */
/*
 * The drafters of a session: the free ones, composed into one tree, and at most one paid drafter.
 *
 *     session ──┬── free   composition (compose.h): n-gram, suffix, recycle, ...     microseconds a draft
 *               └── paid   draft model, head or the caller's own                    takes time for each guess
 *
 * This object tells both of them each change of the sequence: prompts, answers, committed rows, rollback. It decides
 * nothing; pace decides (pace.h).
 */
#ifndef VOUCH_DRAFT_DRAFTERS_H
#define VOUCH_DRAFT_DRAFTERS_H

#include "draft/drafter.h"

typedef struct vouch_drafters {
    vouch_drafter_ref free, paid; /* ops NULL: none */
    vouch_draft paid_draft;       /* of the running cycle, where the paid drafter guesses at once */
    double paid_share;            /* first estimate of the time of a paid guess, in plain passes of the target */
    bool paid_at_once;            /* a paid draft of any depth takes the time of one guess */
    int32_t n_hidden;             /* positions whose hidden states the drafters have got */
} vouch_drafters;

static inline bool vouch_drafters_any(const vouch_drafters *drafters)
{
    return drafters->free.ops || drafters->paid.ops;
}

/* The draft of the paid drafter, level by level (drafter.h). There is such a drafter, and shape->depth is at least 1. A
 * drafter that guesses at once does so in `begin`, and stages no rows. */
void vouch_drafters_begin_paid(vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens,
                               const vouch_shape *shape);
vouch_staging vouch_drafters_stage_paid(const vouch_drafters *drafters);
double vouch_drafters_run_paid(const vouch_drafters *drafters);
void vouch_drafters_grow_paid(const vouch_drafters *drafters);
/* The part of a level's time that falls to each of n sequences whose paid drafters share a pass, relative to a level
 * alone. */
double vouch_drafters_paid_part(const vouch_drafters *drafters, int32_t n);
/* Ends the draft. Returns its guesses, each with its drafter's bit. */
vouch_draft vouch_drafters_end_paid(const vouch_drafters *drafters);
/* The guesses of `guide` with guesses of the free drafters around them: more branches, and continuations. guide->n 0:
 * the free drafters alone. Without free drafters: the guide itself. */
vouch_draft vouch_drafters_ask_free(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens,
                                    const vouch_shape *shape, const vouch_draft *guide);
/* The paid drafter follows a prompt, as vouch_level_ops.follow. NONE where there is no such drafter, or where it
 * guesses at once. */
vouch_staging vouch_drafters_follow_paid(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens);
/* Tokens that the paid drafter has to catch up with, besides the one that it runs for its first guess. */
int32_t vouch_drafters_lack(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens);

/* As the functions of one drafter (drafter.h). */
/* The drafters need not learn from the tokens before n_tokens that they have not observed yet. */
void vouch_drafters_skip(const vouch_drafters *drafters, int32_t n_tokens);
void vouch_drafters_observe(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens);
void vouch_drafters_begin(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens);
void vouch_drafters_end(const vouch_drafters *drafters, const int32_t *tokens, int32_t n_tokens);
void vouch_drafters_see(const vouch_drafters *drafters, const int32_t *tokens, const vouch_seen *row);
/* Returns how many tokens the target may keep: n_tokens, or fewer where a drafter needs hidden states again. */
int32_t vouch_drafters_rewind(vouch_drafters *drafters, int32_t n_tokens);
/* The layers whose hidden states a drafter takes (drafter.h). Returns their number; 0: none takes any. */
int32_t vouch_drafters_taps(const vouch_drafters *drafters, const int32_t **layers);
/* Gives the drafters the hidden states of a position, at most n_hidden. Below n_hidden they have them already. */
void vouch_drafters_hidden(vouch_drafters *drafters, const int32_t *tokens, int32_t position,
                           const float *const *states);
void vouch_drafters_close(vouch_drafters *drafters);
size_t vouch_drafters_memory(const vouch_drafters *drafters);
/* A hash of all that the free drafters have learned; 0: there are none. The state of the paid drafter is left out,
 * because it depends on when pace asked it. */
uint64_t vouch_drafters_digest(const vouch_drafters *drafters);

#endif
