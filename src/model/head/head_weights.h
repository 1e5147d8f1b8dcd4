/* SPDX-License-Identifier: MIT */
/*
 * A head is a tiny model that reads hidden states of a target and guesses the target's next tokens (EAGLE: Li et al.,
 * arXiv 2401.15077). Its layers, keys and values are those of any model, so a pass (pass.h) runs its rows. Only a row's
 * input is made in another way. The row of token x[t + 1] predicts x[t + 2]:
 *
 *   f(t)   = W_fc ((taps(t) - mean) * inv_scale) + bias    of the target's hidden states at t (pass.h, taps)
 *   x      = W_join norm(embedding[x[t + 1]]) + bias + f(t)    the target's embedding
 *   s(t+1) = layers(x)
 *   logits = W_output norm(s)                              of the tokens that the head may guess
 *
 * For a guess, whose position the target has not run, f is W_leave s of the row before. A file without W_leave has
 * f = s there, and x = W_join [norm(embedding[x[t + 1]]) | f(t)] + bias. docs/heads.md has the file's keys and tensors.
 *
 * EAGLE-3's heads (Li et al., arXiv 2503.01840) neither add nor join the two inputs. The attention of their first layer
 * reads both, and the stream goes on from f:
 *
 *   x      = f(t)                                          f(t) = W_fc norms(taps(t)), or W_fc taps(t)
 *   W_q, W_k, W_v of the first layer read [norm(embedding[x[t + 1]]) | norm(x)]
 *
 * P-EAGLE's heads (Hui et al., arXiv 2602.01469) are such heads that guess several tokens in one pass. The rows after
 * the last token's read a mask instead of a token, and W_fc norms(mask_states) instead of f.
 *
 * DFlash's heads (Chen et al., arXiv 2602.06036) guess a block of tokens in one pass. The target's states reach them as
 * keys and values alone, and the rows of a block are the last token and masks:
 *
 *   f(t)   = norm(W_fc taps(t))                            layer l has the key and value W_k f(t), W_v f(t) at t
 *   s(i)   = layers(embedding[x[n - 1], mask, mask, ...])  at the positions from n - 1 on; rows see all f and all rows
 *   logits = W_output norm(s)                              of row i, for the token at its position or after it
 *
 * DSpark adds W_to from[x], of the token x before each guess, to the logits, and estimates the chance that the guess is
 * accepted: sigmoid(w [norm(s) | from[x]] + b).
 *
 * DFlash2 has convolutions along the rows of a block (layer.h), and chooses among a row's n_best likeliest tokens y:
 *
 *   score(y) = logits[y] + to[y] . (from[x] * W_gate norm(s))
 *
 * Some targets bring a head along (multi-token prediction: Gloeckle et al., arXiv 2404.19737; DeepSeek-V3, 2412.19437),
 * one more block after their layers. It reads the target's last state, and norms it once more:
 *
 *   x      = W_join [norm(embedding[x[t + 1]]) | norm(f(t))]
 *
 * where f(t) and s(t + 1) are taken after the output norms. MiMo-V2 has a block for each depth of a draft, and each
 * reads the target's states before the norm: that for depth d joins x[t + 1 + d] with f(t). EAGLE-1's heads, in files
 * of their own, join without norms, and have no output norm.
 *
 * Gemma 4's assistant (assistant.c), a file of its own, is narrower than its target and has no keys and values. Each of
 * its layers reads those of the target's last layer of the same kind, so every guess stands where the last token
 * stands. It joins the inputs in the same way, without their norms, and for the next guess f is W_leave s.
 */
#ifndef VOUCH_MODEL_HEAD_WEIGHTS_H
#define VOUCH_MODEL_HEAD_WEIGHTS_H

#include "model/head/draft_target.h"

enum { VOUCH_HEAD_TAPS = 16, VOUCH_HEAD_DEPTHS = 16, VOUCH_HEAD_BEST = 256 /* VOUCH_MAX_FOUND */ };

/* A head that guesses a block of tokens at once (dflash.c). */
typedef struct vouch_head_block {
    int32_t n_rows;               /* of a block; 0: the head guesses one by one */
    int32_t first;                /* the row that predicts the first guess: 0 or 1 */
    int32_t mask;                 /* token of the rows after the last token */
    const float *mask_embedding;  /* [width] in place of the mask's row of the embedding; NULL: that row */
    bool is_causal;               /* a row sees no row after it */
    float embedding_scale;        /* 0: 1 */
    const float *feature_norm;    /* [width] weights of RMSNorm, of f */
    vouch_weights *writer;        /* the layers' keys and values of f alone; its tensors are the body's */
    vouch_matrix from, to;        /* [n_vocab, rank], [n_draft, rank]: W_to from[x] is added to the logits after x;
                                     n_out 0: none. With a selector, both are [n_vocab, rank] */
    vouch_matrix gate;            /* [rank, width] of the selector; n_out 0: none */
    int32_t n_best;               /* tokens among which it chooses */
    vouch_matrix confidence;      /* [1, width + rank] of [norm(s) | from[x]], or [1, width]; n_out 0: none, always so
                                     without `from` */
    const float *confidence_bias; /* [1]; NULL: 0 */
} vouch_head_block;

/* A head of EAGLE-3's kind that guesses several tokens in one pass: rows of masks stand after the last token's. */
typedef struct vouch_head_masks {
    int32_t n_rows;      /* rows that guess, with the last token's; 0: the head guesses one by one */
    int32_t token;       /* of the rows of masks */
    const float *states; /* [n_features] in place of the target's states */
} vouch_head_masks;

/* Centroids that find few likely tokens; only these get logits (assistant.c). Draft tokens [c n_each, (c + 1) n_each)
 * are those of centroid c. */
typedef struct vouch_head_centroids {
    vouch_matrix matrix; /* [centroids, width], scored by s after its norm; n_out 0: all tokens get logits */
    int32_t n_best;      /* centroids whose tokens get logits */
    int32_t n_each;      /* tokens of a centroid */
} vouch_head_centroids;

/* One of Medusa's heads (medusa.c), for the guesses of one depth. */
typedef struct vouch_head_depth {
    vouch_matrix block;  /* [width, width] of block 0; vouch_matrix_at has the others */
    const float *bias;   /* [n_blocks][width]; NULL: none */
    vouch_matrix output; /* [n_vocab, width] */
} vouch_head_depth;

typedef struct vouch_head_weights {
    vouch_weights *body; /* layers and output; hparams.n_embd is the head's width. Without an output matrix of
                            its own it has the target's, or some rows of it */
    int32_t n_taps;
    int32_t taps[VOUCH_HEAD_TAPS]; /* layers of the target, ascending */
    int32_t n_features;            /* n_taps times the target's width */
    const float *mean, *inv_scale; /* [n_features] standardise W_fc's input; NULL: no */
    const float *taps_norm;        /* [n_features] weights of RMSNorms of W_fc's input; NULL: none */
    int32_t taps_norm_width;       /* elements of each of these norms: the target's width, or n_features */
    vouch_matrix fc;               /* [width, n_features]; n_out 0: the features are the states */
    const float *fc_bias;          /* [width]; NULL: none */
    bool has_pairs;                /* the first layer reads pairs; the second input of a row is its normed embedding */
    vouch_matrix join;             /* [width, target's width + width of f]; n_out 0: pairs instead */
    bool adds_state;               /* join is [width, target's width], and f is added to its output */
    const float *join_bias;        /* [width]; NULL: none */
    float embedding_scale;         /* of the embedding that W_join reads; 0: none */
    vouch_norm token_norm, state_norm; /* of the two inputs that W_join or the first layer reads */
    bool is_normed;                    /* f and s are taken after the output norms */
    vouch_matrix leave;                /* [target's width, width] makes f of s; n_out 0: s itself */
    bool borrows_keys;                 /* its layers read keys and values of the target's memory */
    const vouch_weights *target;
    const vouch_matrix *embedding; /* [n_vocab, target's width] the target's, or the body's */
    vouch_head_block block;
    vouch_head_masks masks;
    vouch_head_centroids centroids;
    struct vouch_head_weights *deeper; /* the head for guesses one deeper, which reads the same states; NULL: none */
    vouch_head_depth *depths;          /* [n_depths] */
    int32_t n_depths, n_blocks;        /* n_depths 0: none */
    int32_t n_draft;                   /* tokens that it may guess */
    int32_t *tokens;                   /* [n_draft] their ids; NULL: all tokens of the target */
    vouch_arena rows; /* the target's output rows of these tokens, where the head has none of its own */
} vouch_head_weights;

/* Elements of f. */
static inline int64_t vouch_head_state_width(const vouch_head_weights *head)
{
    return head->leave.n_out > 0 ? head->leave.n_out : head->body->hparams.n_embd;
}

/* Opens a head's file, of vouch's own form or a published one (head_kind.h). The target's weights must outlive it.
 * Everything else is copied. Errors: FORMAT, UNSUPPORTED, MEMORY, IO, MISMATCH (another target; names both). */
vouch_status vouch_head_weights_open(vouch_head_weights **out, const vouch_gguf *gguf, const vouch_draft_target *target,
                                     vouch_pool *pool, vouch_error *err);
/* Fails where the file holds a head, which can't be opened as a model. Error: UNSUPPORTED. */
vouch_status vouch_head_refuse(const vouch_gguf *gguf, vouch_error *err);
/* Is the file one that converters write as mtp-*.gguf (mtp.c): blocks after a target's layers, without the layers? */
bool vouch_head_is_beside(const vouch_gguf *gguf);
/* Opens such a file. Errors: as vouch_head_weights_open. */
vouch_status vouch_head_weights_open_beside(vouch_head_weights **out, const vouch_gguf *gguf,
                                            const vouch_weights *target, vouch_pool *pool, vouch_error *err);
/* Opens the head in the target's own file (mtp.c). *out is NULL where the file has none. */
vouch_status vouch_head_weights_open_own(vouch_head_weights **out, const vouch_gguf *gguf, const vouch_weights *target,
                                         vouch_pool *pool, vouch_error *err);
void vouch_head_weights_close(vouch_head_weights *head); /* NULL is allowed */
size_t vouch_head_weights_bytes(const vouch_head_weights *head);

#endif
