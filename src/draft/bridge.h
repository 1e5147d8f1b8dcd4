/* SPDX-License-Identifier: MIT */
/*
 * A bridge translates between the tokens of a target and of a draft model with another token table (token-level
 * intersection: Timor et al., arXiv 2502.05202).
 *
 *     target's token  ──► tokens that the draft model is fed: the one with the same bytes, or else several tokens that
 *                         spell these bytes
 *     draft's logits  ──► target's logits, for the tokens that both have; q is 0 elsewhere
 *
 * A bridge also serves a draft model with a trimmed head (FR-Spec: Zhao et al., arXiv 2502.14856), whose logits cover
 * only a list of its tokens.
 *
 * Two tokens are the same if they stand for the same bytes; special tokens, if they have the same name. So q is a
 * distribution over the target's tokens, and the judge treats it as any other q: lossless, however few tokens both
 * have.
 */
#ifndef VOUCH_DRAFT_BRIDGE_H
#define VOUCH_DRAFT_BRIDGE_H

#include "text/tokenizer.h"

/* The tokens of a model. */
typedef struct vouch_vocabulary {
    const vouch_tokenizer *tokenizer; /* NULL: ids only */
    int32_t n;                        /* number of ids, at least the table's size */
} vouch_vocabulary;

/* OK when every id means the same token in both. Errors: MISMATCH (names the first difference). */
vouch_status vouch_vocabulary_check_pair(vouch_vocabulary target, vouch_vocabulary draft, vouch_error *err);

typedef struct vouch_bridge {
    int32_t n_target;
    int32_t n_rows; /* of the draft's logits */
    int32_t n_common;
    int32_t most;    /* most draft tokens that spell one target token */
    int32_t *row_of; /* [n_target] the row of the draft's logits for a token that it can guess, or -1 */
    int32_t *first;  /* [n_target + 1] pieces[first[t], first[t + 1]) spell token t, at least one piece */
    int32_t *pieces;
} vouch_bridge;

/* n_target, n_draft: ids of the models, at least the tables' sizes. Errors: MISMATCH (no token in common), MEMORY. */
vouch_status vouch_bridge_open(vouch_bridge **out, const vouch_tokenizer *target, int32_t n_target,
                               const vouch_tokenizer *draft, int32_t n_draft, vouch_error *err);
/* Opens a bridge between equal tables of n tokens. Errors: MEMORY. */
vouch_status vouch_bridge_open_same(vouch_bridge **out, int32_t n, vouch_error *err);
/* For a draft model with fewer output rows (FR-Spec): of its n logits number i is that of its token tokens[i]. Ids are
 * below the former n_rows, none twice. Errors: MISMATCH (the target has none of the tokens), MEMORY. */
vouch_status vouch_bridge_trim(vouch_bridge *bridge, const int32_t *tokens, int32_t n, vouch_error *err);
void vouch_bridge_close(vouch_bridge *bridge); /* NULL is allowed */
size_t vouch_bridge_memory(const vouch_bridge *bridge);
/* The token that the draft model is fed for one of its guesses. */
static inline int32_t vouch_bridge_token(const vouch_bridge *bridge, int32_t guess)
{
    return bridge->pieces[bridge->first[guess]];
}
/* The target's logits [n_target] from the draft's [n_rows]; -infinity where it has none. */
void vouch_bridge_logits(const vouch_bridge *bridge, const float *draft, float *target);

#endif
