/* SPDX-License-Identifier: MIT */
/*
 * A layer is data. It has two branches, and each hangs on the residual stream x in the same way:
 *
 *   x ──┬── norm ── branch ── norm_after? ── * scale ──┐
 *       └───────────────────────────────────────────── + ──► x
 *
 *   mix    attention: a row looks at its keys and values
 *   feed   the feed-forward network: a row by itself
 *
 * An architecture (arch.h) fills these structs. The pass (forward.c) reads them, and nothing else says what a layer
 * does: heads and widths may differ from layer to layer.
 */
#ifndef VOUCH_MODEL_LAYER_H
#define VOUCH_MODEL_LAYER_H

#include "kernels/kernels.h"

/* How a branch reads the stream and how its result is added. */
typedef struct vouch_branch {
    const float *norm;       /* [n_embd] RMSNorm of the branch's input */
    const float *norm_after; /* [n_embd] RMSNorm of its result; NULL: none */
    float scale;             /* of its result; 1: none */
} vouch_branch;

/* Rotary embeddings (Su et al., arXiv 2104.09864): which elements of a head make a pair. */
typedef enum vouch_rotary_kind {
    VOUCH_ROTARY_NONE,
    VOUCH_ROTARY_ADJACENT,  /* (2i, 2i + 1) */
    VOUCH_ROTARY_HALF_SPLIT /* (i, i + n_rot / 2) */
} vouch_rotary_kind;

/* Angles that several layers share. Pair i of a head turns by position * frequencies[i]. */
typedef struct vouch_rotary {
    vouch_rotary_kind kind;
    int32_t n_rot;             /* the first elements of a head, which are rotated; even */
    double base;               /* frequencies[i] = base^(-2 i / n_rot) / (scale * factors[i]) */
    double scale;              /* linear scaling of positions: they are divided by it */
    const float *factors;      /* [n_rot / 2], or NULL: 1 */
    double *frequencies;       /* [n_rot / 2] radians per position */
} vouch_rotary;

/* Grouped-query attention (Ainslie et al., arXiv 2305.13245): n_heads / n_kv_heads query heads share a KV head. */
typedef struct vouch_attention {
    int32_t n_heads, n_kv_heads, head_dim;
    int32_t rotary;               /* index into the weights' rotaries */
    float scale;                  /* of a score q k, 1 / sqrt(head_dim) as a rule */
    vouch_matrix q, k, v;         /* [heads * head_dim, n_embd] */
    const float *q_norm, *k_norm; /* [head_dim] RMSNorm of each head before its rotation; NULL: none */
    vouch_matrix o;               /* [n_embd, n_heads * head_dim] */
} vouch_attention;

/* W_down (silu(W_gate x) * W_up x) (Shazeer, arXiv 2002.05202). */
typedef struct vouch_feed_forward {
    int32_t n_ff;
    vouch_matrix gate, up; /* [n_ff, n_embd] */
    vouch_matrix down;     /* [n_embd, n_ff] */
} vouch_feed_forward;

typedef struct vouch_layer {
    vouch_branch mix;
    vouch_attention attention;
    vouch_branch feed;
    vouch_feed_forward ffn;
} vouch_layer;

#endif
