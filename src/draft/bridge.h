/* SPDX-License-Identifier: MIT */
/*
 * Between the tokens of a target and those of a draft model with another token table (token-level intersection:
 * Timor et al., arXiv 2502.05202).
 *
 *     target's token  ──► tokens that the draft model is fed: the one with the same bytes, or else several that
 *                         spell them
 *     draft's logits  ──► the target's: those of tokens that both have; q is 0 elsewhere
 *
 * Tokens are the same that stand for the same bytes, special ones by their names. So q is a distribution over the
 * target's tokens, and what is drafted from it is judged as ever: lossless, whatever the tables have in common.
 */
#ifndef VOUCH_DRAFT_BRIDGE_H
#define VOUCH_DRAFT_BRIDGE_H

#include "text/tokenizer.h"

typedef struct vouch_bridge {
    int32_t n_target, n_draft; /* tokens */
    int32_t n_common;
    int32_t most;    /* tokens that one of the target's is spelled with */
    int32_t *row_of; /* [n_target] the draft's id of a token that both have, or -1 */
    int32_t *first;  /* [n_target + 1] a token is spelled pieces[first[t], first[t + 1]), at least one */
    int32_t *pieces;
} vouch_bridge;

/* n_target, n_draft: what the models have, from the tables' sizes on. Errors: MISMATCH (nothing in common), MEMORY. */
vouch_status vouch_bridge_open(vouch_bridge **out, const vouch_tokenizer *target, int32_t n_target,
                               const vouch_tokenizer *draft, int32_t n_draft, vouch_error *err);
void vouch_bridge_close(vouch_bridge *bridge); /* NULL is allowed */
size_t vouch_bridge_memory(const vouch_bridge *bridge);
/* The target's logits [n_target] from the draft's [n_draft]; -infinity where it has none. */
void vouch_bridge_logits(const vouch_bridge *bridge, const float *draft, float *target);

#endif
