/* SPDX-License-Identifier: MIT */
/*
 * Between the tokens of a target and those of a draft model with another token table (token-level intersection:
 * Timor et al., arXiv 2502.05202).
 *
 *     target's token  ──► tokens that the draft model is fed: the one with the same bytes, or else several that
 *                         spell them
 *     draft's logits  ──► the target's: those of tokens that both have; q is 0 elsewhere
 *
 * A bridge also leaves out what the draft model's head was trimmed of (FR-Spec: Zhao et al., arXiv 2502.14856): then
 * its logits are those of a list of its tokens.
 *
 * Tokens are the same that stand for the same bytes, special ones by their names. So q is a distribution over the
 * target's tokens, and what is drafted from it is judged as ever: lossless, whatever the tables have in common.
 */
#ifndef VOUCH_DRAFT_BRIDGE_H
#define VOUCH_DRAFT_BRIDGE_H

#include "text/tokenizer.h"

/* The tokens of a model. */
typedef struct vouch_vocabulary {
    const vouch_tokenizer *tokenizer; /* NULL: ids only */
    int32_t n;                        /* ids, from the table's size on */
} vouch_vocabulary;

/* OK when both mean the same by every id. Errors: MISMATCH (names the first difference). */
vouch_status vouch_vocabulary_check_pair(vouch_vocabulary target, vouch_vocabulary draft, vouch_error *err);

typedef struct vouch_bridge {
    int32_t n_target;
    int32_t n_rows;  /* of the draft's logits */
    int32_t n_common;
    int32_t most;    /* tokens that one of the target's is spelled with */
    int32_t *row_of; /* [n_target] the row of the draft's logits for a token that it can guess, or -1 */
    int32_t *first;  /* [n_target + 1] a token is spelled pieces[first[t], first[t + 1]), at least one */
    int32_t *pieces;
} vouch_bridge;

/* n_target, n_draft: what the models have, from the tables' sizes on. Errors: MISMATCH (nothing in common), MEMORY. */
vouch_status vouch_bridge_open(vouch_bridge **out, const vouch_tokenizer *target, int32_t n_target,
                               const vouch_tokenizer *draft, int32_t n_draft, vouch_error *err);
/* Between equal tables of n tokens. Errors: MEMORY. */
vouch_status vouch_bridge_open_same(vouch_bridge **out, int32_t n, vouch_error *err);
/* From now on the rows are those of these tokens of the draft's, ids below n_rows, each once. Errors: MISMATCH (none
 * of them is the target's), MEMORY. */
vouch_status vouch_bridge_trim(vouch_bridge *bridge, const int32_t *tokens, int32_t n, vouch_error *err);
void vouch_bridge_close(vouch_bridge *bridge); /* NULL is allowed */
size_t vouch_bridge_memory(const vouch_bridge *bridge);
/* What the draft model is fed for one of its guesses. */
static inline int32_t vouch_bridge_token(const vouch_bridge *bridge, int32_t guess)
{
    return bridge->pieces[bridge->first[guess]];
}
/* The target's logits [n_target] from the draft's [n_rows]; -infinity where it has none. */
void vouch_bridge_logits(const vouch_bridge *bridge, const float *draft, float *target);

#endif
