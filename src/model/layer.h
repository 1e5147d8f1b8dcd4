/* SPDX-License-Identifier: MIT */
/*
 * A layer is data. It has up to three branches, and each hangs on the residual stream x in the same way:
 *
 *   x ──┬── norm ── branch ── norm_after? ── * scale ──┐
 *       └───────────────────────────────────────────── + ──► x
 *
 *   mix    attention, or a recurrent mixer: a row looks at the rows before it
 *   feed   the feed-forward network, a mixture of such experts, or both: a row by itself
 *   extra  a feed-forward network whose W_up x is an input of this layer alone (per-layer embeddings), in few models
 *
 * Attention and a recurrent mixer may stand in one branch; then their results are added. A layer may lack a branch.
 *
 * In a parallel layer mix and feed read the same x. Then the feed-forward doesn't see attention's result.
 *
 * An architecture (arch.h) fills these structs. The pass (forward.c) reads them, and nothing else says what a layer
 * does: heads and widths may differ from layer to layer.
 */
#ifndef VOUCH_MODEL_LAYER_H
#define VOUCH_MODEL_LAYER_H

#include "kernels/kernels.h"

typedef enum vouch_norm_kind {
    VOUCH_NORM_RMS,   /* x / sqrt(mean(x^2) + eps) * weight (Zhang, Sennrich, arXiv 1910.07467) */
    VOUCH_NORM_LAYER, /* (x - mean) / sqrt(variance + eps) * weight (Ba et al., arXiv 1607.06450) */
    VOUCH_NORM_NONE   /* x */
} vouch_norm_kind;

/* A norm of n_embd elements. A missing weight counts as 1, a missing bias as 0. */
typedef struct vouch_norm {
    vouch_norm_kind kind;
    const float *weight, *bias; /* [n_embd]; NULL: none */
} vouch_norm;

/* Adapters of a matrix (LoRA; Hu et al., arXiv 2106.09685): W x becomes W x + sum over i of B_i (s_i f_i A_i x), where
 * s_i is the scale that the row has for adapter i (stage/affine.h). */
typedef struct vouch_lora {
    const vouch_matrix *a, *b;    /* of each adapter: [rank, n_in], [n_out, rank]; n_out 0: it leaves this matrix */
    const float *factors;         /* f of each adapter */
    vouch_needs needs, low_needs; /* forms of activations that all A ask for, and all B */
    int32_t part;                 /* number among the matrices that read the same x */
} vouch_lora;

/* A result W x becomes W x * scale + bias, or (W x + bias) * scale where the bias is scaled. NULL: none. */
typedef struct vouch_affine {
    const vouch_lora *lora; /* changes W x */
    bool is_bias_scaled;
    const float *scale; /* [1] */
    const float *bias;  /* [n_out] */
} vouch_affine;

/* DFlash2 convolves along the rows r of a block, twice around each branch: its normalised input (side 0) and its result
 * (side 1). Element i of a row belongs to the group i * n_groups / n_embd. A weight is a learned number for each
 * element plus a number for each group that the row itself gives. Rows before the block count as 0:
 *
 *   own[r]  = W norm(x[r])                                                     [2, width, n_groups]
 *   y[r][i] = sum over t of (base[side][t][i] + own[r][side][t][group]) x[r - t][i] */
typedef struct vouch_block_conv {
    int32_t width, n_groups;
    vouch_matrix weights; /* W [2 * width * n_groups, n_embd]; n_out 0: none */
    const float *base;    /* [2][width][n_embd] */
} vouch_block_conv;

enum { VOUCH_MOST_VERSIONS = 8 }; /* of the stream (vouch_hyper, vouch_altup) */

/* Hyper-connections (Zhu et al., arXiv 2409.19606): the stream has n versions, and a branch reads a sum of them. A row
 * computes the weights from all its versions:
 *
 *   z            = W RMSNorm(version[0] | ... | version[n - 1])          [n, 2 n or 2 n + n * n], the rows of W
 *   read[j]      = sigmoid(scale[0] z[j] + base[j]) + eps
 *   write[j]     = most * sigmoid(scale[1] z[n + j] + base[n + j]) + write_eps
 *   mix          = the identity, or balance(scale[2] z[2 n ...] + base[2 n ...])          [n, n]
 *
 *   x            = sum over j of read[j] version[j]
 *   version[j]   = write[j] branch(x) + sum over i of mix[i][j] version[i]
 *
 * balance(m) makes the sums of all rows and columns nearly 1 (mHC; Xie et al., arXiv 2512.24880): a softmax of each row
 * plus eps, then in turn the columns and the rows are divided by their sums plus eps (Sinkhorn). W has n rows where the
 * versions are only read. */
typedef struct vouch_hyper {
    vouch_matrix weights; /* W [.., n * n_embd]; n_out 0: no hyper-connections */
    const float *base;    /* [W's rows] */
    const float *scale;   /* [1, 2 or 3] */
} vouch_hyper;

/* Attention over depth (attention residuals; Kimi Team, arXiv 2603.15031). Some mixers keep the stream x before them,
 * and their result takes its place. From then on each branch reads a mixture of the kept streams s[0, n_kept) and of
 * s[n_kept] = x:
 *
 *   weight = softmax(query RMSNorm(s[i]))    y = sum over i of weight[i] s[i] */
typedef struct vouch_depth {
    const float *query; /* [n_embd]; NULL: the branch reads x */
    int32_t n_kept;     /* streams that are kept before this branch */
    bool keeps;         /* the branch keeps x as stream n_kept */
} vouch_depth;

/* How a branch reads the stream and how its result is added. */
typedef struct vouch_branch {
    vouch_norm norm;           /* of the branch's input */
    const float *norm_after;   /* [n_embd] RMSNorm of its result; NULL: none */
    float scale;               /* of its result; 1: none */
    const float *stream_scale; /* [1] of x after the addition; NULL: none */
    vouch_block_conv conv;
    vouch_hyper hyper;
    float carry; /* x becomes carry * norm(x) before the branch; 0: it stays (Wang et al., arXiv 2203.00555) */
    vouch_depth depth;
} vouch_branch;

/* Rotary embeddings (Su et al., arXiv 2104.09864): which elements of a head make a pair. */
typedef enum vouch_rotary_kind {
    VOUCH_ROTARY_NONE,
    VOUCH_ROTARY_ADJACENT,  /* (2i, 2i + 1) */
    VOUCH_ROTARY_HALF_SPLIT /* (i, i + n_rot / 2) */
} vouch_rotary_kind;

/* Angles that several layers share. A head's pair i turns by position * frequencies[i] and is scaled by `magnitude`. */
typedef struct vouch_rotary {
    vouch_rotary_kind kind;
    int32_t n_rot;            /* the first elements of a head, which are rotated; even */
    double magnitude;         /* of the rotated elements; 1 as a rule */
    double *frequencies;      /* [n_rot / 2] radians per position */
    double *long_frequencies; /* [n_rot / 2] in contexts of more than n_ctx_short; NULL: the same */
    int32_t n_ctx_short;
} vouch_rotary;

/* Norms of single heads of queries and keys. */
typedef enum vouch_head_norm {
    VOUCH_HEAD_RMS,      /* RMSNorm of each head before its rotation; weights [head_dim] */
    VOUCH_HEAD_RMS_LATE, /* the same after the rotation */
    VOUCH_HEAD_RMS_GAIN, /* as VOUCH_HEAD_RMS_LATE, without weights; a query is then multiplied by its head's weight,
                            [heads] */
    VOUCH_HEAD_RMS_OWN,  /* as VOUCH_HEAD_RMS, with weights [heads, head_dim] */
    VOUCH_HEAD_LAYER,    /* LayerNorm of each head; weights [heads, head_dim] */
    VOUCH_HEADS_RMS,     /* RMSNorm of all heads together; weights [heads * head_dim] */
    VOUCH_HEADS_LAYER,   /* LayerNorm likewise */
} vouch_head_norm;

/* Whether each head has weights of its own. */
static inline bool vouch_head_norm_is_own(vouch_head_norm norm)
{
    return norm == VOUCH_HEAD_RMS_OWN || norm == VOUCH_HEAD_LAYER;
}

/* Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1). All heads share one vector per token:
 *
 *   [c | r]   c = norm((W_k x)[0, rank)),  r = rotate((W_k x)[rank, ...))
 *
 * Head h has the key [W_uk c | r] and the value W_uv c. Both are absorbed: q W_uk c = (W_uk^T q) c, and a sum of values
 * is W_uv times the same sum of c. So this is attention with one KV head of width rank + n_rot, whose first `rank`
 * elements are its value. The cache keeps them twice, in the layouts of keys and of values (kernels/cache.h). A query
 * is W_q x, or W_q norm(W_low x). */
typedef struct vouch_latent {
    int32_t rank;            /* 0: no latent attention */
    int32_t key_dim;         /* elements of a head's query: n_plain for W_uk^T, then n_rot */
    int32_t value_dim;       /* of W_uv c */
    vouch_matrix low;        /* [q_rank, n_embd]; n_out 0: none */
    const float *low_norm;   /* [q_rank] weights of RMSNorm */
    const float *norm;       /* [rank] likewise, of c */
    const float *rot_norm;   /* [n_rot] likewise, of r before its rotation; NULL: none */
    vouch_matrix up_k, up_v; /* W_uk^T [rank, n_plain] and W_uv [value_dim, rank] of head 0; vouch_matrix_at has the
                                others */
} vouch_latent;

/* Grouped-query attention (Ainslie et al., arXiv 2305.13245): n_heads / n_kv_heads query heads share a KV head. */
typedef struct vouch_attention {
    int32_t n_heads, n_kv_heads; /* n_heads 0: the layer has no attention */
    int32_t head_dim, value_dim; /* elements of a head's query and key, and of its value; equal as a rule */
    bool finds_adapters;         /* the layer finds the rows' adapters, and does nothing else */
    bool reads_pairs;            /* W_q, W_k and W_v are [..., 2 n_embd] and read [the row's second input | norm(x)]
                                    (pass.h) */
    bool is_gated;               /* a head's result times sigmoid(gate); W_q gives each head's query, then its gate */
    vouch_matrix gate;           /* gives the gates instead of W_q: [n_heads * value_dim, n_embd], or [n_heads, n_embd]
                                    with one gate for each head; latent attention: its value_dim; n_out 0: none */
    bool has_softplus;           /* softplus(gate) instead of sigmoid(gate) */
    int32_t rotary;              /* index into the weights' rotaries */
    float scale;                 /* of a score q k, 1 / sqrt(head_dim) as a rule */
    vouch_matrix q, k, v;        /* [heads * head_dim or value_dim, n_embd]; q.n_out 0: the layer writes keys and
                                    values, and adds nothing to the stream */
    vouch_affine q_after, k_after, v_after;
    float clamp; /* queries, keys and values lie in [-clamp, clamp]; 0: anywhere */
    vouch_head_norm head_norm;
    const float *q_norm, *k_norm; /* weights of head_norm; NULL: none */
    bool has_value_norm;          /* RMSNorm of each value, without weights */
    int32_t shared_back;          /* reads the keys and values of the layer this many before; 0: its own */
    int32_t lender;               /* reads those of another model: of its layer lender - 1 (pass.h); 0: none */
    float softcap;                /* a score s becomes softcap tanh(s / softcap); 0: none */
    float alibi;                  /* largest slope of ALiBi (Press et al., arXiv 2108.12409); 0: none */
    int32_t window;               /* a row sees this many tokens, itself included; 0: all */
    bool has_chunks;              /* a row sees the tokens of its chunk instead; each chunk has `window` positions */
    const float *sinks;           /* [n_heads] one more score in each softmax, without a value; NULL: none */
    float heat;                   /* queries *= 1 + heat ln(1 + floor((position + heat_shift) / heat_length)) */
    int32_t heat_length, heat_shift;
    const float *o_norm; /* [n_heads * value_dim] RMSNorm of W_o's input (Wang et al., arXiv 2210.06423); NULL: none */
    vouch_matrix o;      /* [n_embd, n_heads * value_dim] */
    vouch_affine o_after;
    vouch_latent latent;
} vouch_attention;

/* Whether the layer writes keys and values. */
static inline bool vouch_attention_has_keys(const vouch_attention *a)
{
    return a->n_kv_heads > 0 && a->shared_back == 0 && a->lender == 0;
}

enum { VOUCH_ADAPTER_HEAD = VOUCH_BLOCK }; /* width of the head of a layer that finds adapters */

enum { VOUCH_MOST_INS = 3 }; /* matrices of a convolution's inputs */

typedef enum vouch_recurrent_kind {
    VOUCH_SHORT_CONVOLUTION, /* of LFM2 */
    VOUCH_DELTA_NET,         /* gated (Yang et al., arXiv 2412.06464) */
    VOUCH_MAMBA2,            /* Dao, Gu, arXiv 2405.21060 */
    VOUCH_LIGHTNING,         /* attention (Qin et al., arXiv 2401.04658) */
    VOUCH_MAMBA,             /* Gu, Dao, arXiv 2312.00752; 16 channels count as a head */
    VOUCH_WKV6,              /* of RWKV-6 (Peng et al., arXiv 2404.05892) */
    VOUCH_WKV7               /* of RWKV-7 (Peng et al., arXiv 2503.14456) */
} vouch_recurrent_kind;

/* The matrices of an RWKV mixer read the row x, after its norm, mixed with the row before it, x_before:
 *
 *   m(i) = x + amount(i) (x_before - x)             [n_embd]
 *
 * RWKV-6 adds a part of an amount that depends on the row; W_low and the W_i are narrow:
 *
 *   amount(i) = W_i tanh(W_low (x + first_amount (x_before - x)))[i] + amounts[i] */
typedef enum vouch_wkv_input {
    VOUCH_WKV_DECAY,
    VOUCH_WKV_KEY,
    VOUCH_WKV_VALUE,
    VOUCH_WKV_QUERY,
    VOUCH_WKV_GATE,
    VOUCH_WKV_RATE,
    VOUCH_WKV_INPUTS
} vouch_wkv_input;
enum { VOUCH_WKV6_INPUTS = VOUCH_WKV_RATE }; /* RWKV-6 has all inputs but the last, the rates */

/* The parts that RWKV's mixers alone have. n = n_heads * n_keys; n_keys = n_values. */
typedef struct vouch_wkv {
    const float *amounts[VOUCH_WKV_INPUTS];          /* [n_embd] each; NULL: the mixer has no such input */
    const float *first_amount;                       /* [n_embd] */
    vouch_matrix amount_low;                         /* W_low [VOUCH_WKV6_INPUTS * rank, n_embd]; n_out 0: none */
    vouch_matrix amount;                             /* W_0 [n_embd, rank]; vouch_matrix_at has the others */
    int32_t n_kv_heads;                              /* a divisor of n_heads: several heads share W_k x and W_v x */
    const float *query_bias, *key_bias, *value_bias; /* of W_r, W_k and W_v; NULL: none */
    vouch_matrix rate_low, value_low, value;         /* [rank, n_embd] twice, [n, rank]; value.n_out 0: none */
    const float *rate_bias, *value_bias_low;         /* [n] */
    const float *bonus;                              /* [n]; RWKV-6 may have none */
    const float *key_norm_scale, *key_scale;         /* [n] k_k and k_a of the paper */
    const float *norm_bias;                          /* [n] of a head's LayerNorm */
} vouch_wkv;

/* A recurrent mixer remembers two things of the rows before: the last inputs of a causal convolution, and the states of
 * its heads (vouch_scan, vouch_channel_scan).
 *
 *   u = W_in x, or W_in x * W_factor x              [n_channels]
 *   c = conv(u)                                     [n_channels]
 *
 * Short convolution:
 *
 *   out   = W_out (c * W_gate x)
 *
 * Gated delta net; c holds the queries, keys and values of the heads:
 *
 *   rate  = sigmoid(W_rate x)                       [n_heads]
 *   decay = exp(a softplus(W_decay x + bias))       [n_heads]
 *   y     = scan(q / |q|, k / |k|, v, rate, decay)  [n_heads, n_values]
 *   out   = W_out (norm(y) * silu(W_gate x))
 *
 * Kimi Delta Attention (arXiv 2510.26692) is a delta net with a decay for each key. W_decay and W_gate may be products
 * of two narrow matrices; W_decay then reads W_decay_low x, and W_gate reads W_gate_low x:
 *
 *   decay = exp(a softplus(W_decay x + bias)), or exp(floor * sigmoid(a (W_decay x + bias)))    [n_heads, n_keys]
 *   out   = W_out (norm(y) * sigmoid(W_gate x))
 *
 * Lightning attention; c holds the queries, keys and values of the heads, and a is the decay itself:
 *
 *   y     = scan(q, k, v, 1, a)                     [n_heads, n_values]
 *   out   = W_out (norm(y) * sigmoid(W_gate x))     RMSNorm of all heads together
 *
 * Mamba-2; c holds values, keys (B) and queries (C):
 *
 *   rate  = softplus(W_decay x + bias)              [n_heads]
 *   decay = exp(a rate)                             [n_heads]
 *   y     = scan(q, k, v, rate, decay, skip)        [n_heads, n_values]
 *   out   = W_out norm(y * silu(W_gate x))          RMSNorm of each of n_key_heads groups
 *
 * Mamba; c holds the values:
 *
 *   z, k, q = norm(W_select c)                      [n_rank], [n_keys], [n_keys]
 *   rate  = softplus(W_step z + bias)               [n_channels]
 *   y     = scan_channels(q, k, c, rate, a, skip)   [n_channels]
 *   out   = W_out (y * silu(W_gate x))
 *
 * RWKV-6; u is the row after its norm, and the matrices read the mixtures of vouch_wkv:
 *
 *   decay = exp(-exp(W_decay tanh(W_decay_low m) + bias))                               [n_heads, n_keys]
 *   y     = scan(q, k, v, decay, skip = sum of bonus k q), where y reads the state before the row
 *   out   = W_out (LayerNorm(y) * silu(W_gate m))   of each head
 *
 * Without a bonus (RWKV-6 in Qwen's layers) it is gated linear attention (Yang et al., arXiv 2312.06635):
 *
 *   y     = scan(q / sqrt(n_keys), (1 - decay) k, v, decay)
 *   out   = W_out (y * sigmoid(W_gate m))
 *
 * RWKV-7; v_first are the values of the first layer, which has no W_value:
 *
 *   decay = exp(-exp(-1/2) sigmoid(W_decay tanh(W_decay_low m) + bias))                 [n_heads, n_keys]
 *   rate  = sigmoid(W_rate W_rate_low m + rate_bias)                                    [n_heads, n_keys]
 *   v     = v + sigmoid(W_value W_value_low m + value_bias) (v_first - v)
 *   e     = k key_norm_scale / |k key_norm_scale|                                       of each head
 *   k     = k + (rate - 1) k key_scale
 *   y     = scan(q, k, v, decay, erase = -e, write = e rate)
 *   out   = W_out ((LayerNorm(y) + v sum of bonus k q) * W_gate sigmoid(W_gate_low m))  of each head; LayerNorm and
 *           the gate may be absent
 *
 * PLaMo 2 has Mamba-2's heads without their norm, and Mamba's selection: k, q, z = norm(W_select c), and
 * rate = softplus(W_step z + bias) [n_heads]. */
typedef struct vouch_recurrent {
    vouch_matrix in[VOUCH_MOST_INS]; /* [n_channels, n_embd], in matrices one below the other; n_out 0: none */
    vouch_matrix factor;             /* [n_channels, n_embd]; n_out 0: none */
    vouch_affine in_after;           /* of the first matrix */
    vouch_conv conv;                 /* n_channels 0: the layer has no recurrent mixer */
    vouch_recurrent_kind kind;
    int32_t n_heads;          /* 0: none */
    int32_t n_key_heads;      /* a divisor of n_heads: several heads share queries and keys */
    int32_t n_keys, n_values; /* elements of a head's query and key, and of its value */
    int64_t q, k, v;          /* offsets of the queries, keys and values of all heads from c */
    bool is_tiled;            /* head i has key head i % n_key_heads; else i / (n_heads / n_key_heads) */
    vouch_matrix rate, decay; /* [n_heads, n_embd]. If decay is empty, rate is fused, [2 * n_heads, n_embd]: for each
                                 key head the rates of its heads, then their decays */
    vouch_affine rate_after, decay_after;
    const float *decay_bias, *a; /* [n_heads]; with has_key_decays the biases are [n_heads, n_keys] */
    bool has_key_decays; /* a decay for each key: decay [n_heads * n_keys, n_embd], n_key_heads = n_heads, q = 0 */
    float decay_floor;   /* logarithm of the smallest decay, for the sigmoid; 0: softplus */
    bool is_a_negated;   /* the sigmoid's a is -a[h] */
    vouch_matrix decay_low, gate_low; /* [n, n_embd]; W_decay and W_gate are [..., n] then; n_out 0: none */
    vouch_matrix channel_a;           /* [n_channels, n_keys] F32, Mamba's */
    const float *skip;                /* [n_heads], Mamba: [n_channels] */
    vouch_matrix select;              /* [n_rank + 2 * n_keys, n_channels]; n_out 0: none */
    vouch_matrix step;                /* [n_rates, n_rank] */
    int32_t n_rank;
    bool has_rank_last;                         /* W_select gives z last */
    vouch_norm rank_norm, key_norm, query_norm; /* of z, k and q */
    const float *norm; /* [n_values] RMSNorm of a head's result; Mamba-2, lightning: [n_heads * n_values]; NULL: none */
    vouch_matrix gate; /* [n_inner, n_embd], n_inner = n_heads * n_values, or n_channels without heads */
    vouch_affine gate_after;
    bool has_sigmoid_gate; /* sigmoid(W_gate x) instead of silu(W_gate x) */
    vouch_wkv wkv;    /* RWKV: in[] are W_r, W_k and W_v, and W_rate has n rows; conv.n_channels counts the inputs of
                         the channel mix, too, and conv has no weights */
    vouch_matrix out; /* [n_embd, n_inner] */
    vouch_affine out_after;
} vouch_recurrent;

enum { VOUCH_MAX_CONV = 16 }; /* widest convolution */

/* Floats of a head's state. */
static inline int64_t vouch_recurrent_head(const vouch_recurrent *r)
{
    return (int64_t)r->n_keys * r->n_values;
}

static inline int64_t vouch_recurrent_n_rates(const vouch_recurrent *r)
{
    return r->kind == VOUCH_MAMBA ? r->conv.n_channels : r->n_heads;
}

static inline bool vouch_recurrent_is_wkv(const vouch_recurrent *r)
{
    return r->kind == VOUCH_WKV6 || r->kind == VOUCH_WKV7;
}

/* Floats of a row's c: RWKV has queries, keys, values, and then `erase` and `write`. */
static inline int64_t vouch_recurrent_n_results(const vouch_recurrent *r)
{
    if (!vouch_recurrent_is_wkv(r)) return r->conv.n_channels;
    return (r->kind == VOUCH_WKV7 ? 5 : 3) * (int64_t)r->n_heads * r->n_keys;
}

/* Decays of a row. */
static inline int64_t vouch_recurrent_n_decays(const vouch_recurrent *r)
{
    if (r->kind == VOUCH_MAMBA) return 0;
    return r->has_key_decays ? (int64_t)r->n_heads * r->n_keys : r->n_heads;
}

/* Offset of the rates in a row. A row has u, c, keys and queries of W_select, rates, decays, in this order. */
static inline int64_t vouch_recurrent_rates(const vouch_recurrent *r)
{
    return r->conv.n_channels + vouch_recurrent_n_results(r) + (r->select.n_out > 0 ? 2 * (int64_t)r->n_keys : 0);
}

/* Floats of a row. */
static inline int64_t vouch_recurrent_row(const vouch_recurrent *r)
{
    return vouch_recurrent_rates(r) + vouch_recurrent_n_rates(r) + vouch_recurrent_n_decays(r);
}

/* The first floats of a row, from which a state can be computed again. */
static inline int64_t vouch_recurrent_inputs(const vouch_recurrent *r)
{
    return r->n_heads > 0 ? vouch_recurrent_row(r) : r->conv.n_channels;
}

typedef enum vouch_activation {
    VOUCH_SILU,          /* z / (1 + exp(-z)) */
    VOUCH_GELU,          /* z / 2 (1 + tanh(sqrt(2 / pi) (z + 0.044715 z^3))) (Hendrycks, Gimpel, arXiv 1606.08415) */
    VOUCH_GELU_EXACT,    /* z / 2 (1 + erf(z / sqrt(2))) */
    VOUCH_RELU,          /* max(z, 0) */
    VOUCH_RELU_SQUARED,  /* max(z, 0)^2 (So et al., arXiv 2109.08668) */
    VOUCH_XIELU,         /* xielu of the network, below (Huang, Schlag, arXiv 2411.13010) */
    VOUCH_SWIGLU_OPENAI, /* z / (1 + exp(-1.702 z)), times up + 1 instead of up (arXiv 2508.10925) */
    VOUCH_SITU           /* of Kimi-K3, with the network's caps, below */
} vouch_activation;

/* f(z) = gate tanh(z / gate) sigmoid(z), times up tanh(u / up) instead of u = W_up x. */
typedef struct vouch_situ {
    float gate, up; /* caps; up 0: u stays */
} vouch_situ;

/* W_down (f(W_gate x) * W_up x) (Shazeer, arXiv 2002.05202), or W_down (f(W_up x) / divisors) without a gate. */
typedef struct vouch_feed_forward {
    int32_t n_ff;
    vouch_activation activation;
    float limit;           /* W_gate x is at most `limit`, W_up x lies in [-limit, limit]; 0: anywhere */
    bool limits_result;    /* `limit` bounds f(W_gate x) instead of W_gate x */
    vouch_matrix gate, up; /* [n_ff, n_embd]; gate.n_out 0: no gate */
    vouch_matrix down;     /* [n_embd, n_ff] */
    vouch_affine gate_after, up_after, down_after;
    const float *divisors;  /* [n_ff] of AWQ (Lin et al., arXiv 2306.00978); NULL: none */
    const float *down_norm; /* [n_ff] RMSNorm of W_down's input (Wang et al., arXiv 2210.06423); NULL: none */
    float sparsity; /* f(max(z - cutoff, 0)) instead of f(z), cutoff = mean + sparsity * deviation of W_gate x; 0: no */
    /* z > 0: positive z^2 + slope z;  otherwise: negative (exp(min(z, most)) - 1 - z) + slope z */
    struct {
        float positive, negative, slope, most;
    } xielu;
    vouch_situ situ;
} vouch_feed_forward;

enum { VOUCH_MAX_EXPERTS = 1024 };

/* How an expert's score becomes its probability. */
typedef enum vouch_gating {
    VOUCH_GATING_SOFTMAX = 1,
    VOUCH_GATING_SIGMOID,
    VOUCH_GATING_CHOSEN /* the softmax of the chosen experts' scores; they are chosen by their scores */
} vouch_gating;

/* Adjugate experts (Wu et al., arXiv 2508.07785): each per_group experts share a small one, which the weights of the
 * chosen among them count for, too:
 *
 *   y += scale * weight[e] * adjugate[e / per_group](x) */
typedef struct vouch_adjugates {
    int32_t per_group, n_ff; /* per_group 0: none */
    float scale;
    vouch_matrix gate, up, down; /* of the first group; vouch_matrix_at has the others */
} vouch_adjugates;

/* A mixture of experts (Shazeer et al., arXiv 1701.06538): a row passes through n_used of n_experts feed-forward
 * networks, which its router chooses (router.h), and through the shared one (Dai et al., arXiv 2401.06066):
 *
 *   y = sum of weight[e] * expert[e](x) over the chosen, best first  +  sigmoid(w_shared x) * shared(x)
 *
 * The chosen experts may work in a narrower space, which the router and the shared network don't (LatentMoE; Elango et
 * al., arXiv 2601.18089):
 *
 *   y = W_widen norm(sum of weight[e] * expert[e](W_narrow x))  +  ...
 */
typedef struct vouch_experts {
    int32_t n_experts, n_used, n_ff;
    vouch_activation activation; /* of an expert */
    float limit;                 /* of an expert, as in vouch_feed_forward; limits_result likewise */
    bool limits_result;
    vouch_situ situ;                 /* likewise */
    int32_t n_groups, n_groups_used; /* groups of experts (Liu et al., arXiv 2412.19437), and groups from which a row
                                      * chooses; 1: no groups */
    vouch_gating gating;
    bool normalised;             /* the chosen weights are divided by their sum */
    float scale;                 /* of the weights */
    bool weighs_inputs;          /* expert[e](weight[e] * x) instead of weight[e] * expert[e](x) */
    bool routes_early;           /* the router reads the layer's input, without a norm, instead of the experts' input */
    const float *router_norm;    /* [n_embd] the router reads RMSNorm(x) / sqrt(n_embd), with these weights, instead of
                                    the experts' input; NULL: no */
    vouch_matrix router;         /* [n_experts, n_embd] */
    const float *router_bias;    /* [n_experts] of the scores; NULL: none */
    const float *selection_bias; /* [n_experts] added to the probabilities for the choice only; NULL: none */
    vouch_matrix narrow, widen;  /* [n_narrow, n_embd], [n_embd, n_narrow]; n_out 0: n_narrow = n_embd */
    vouch_norm narrow_norm;      /* [n_narrow] between the experts and W_widen */
    vouch_matrix gate, up; /* [n_ff, n_narrow] of expert 0, gate.n_out 0: no gate; vouch_matrix_at has the others */
    vouch_matrix down;     /* [n_narrow, n_ff] likewise */
    const float *gate_scales, *up_scales, *down_scales; /* [n_experts] of the products; NULL: none */
    const float *gate_biases, *up_biases;               /* [n_experts, n_ff] of products without scales; NULL: none */
    const float *down_biases;                           /* [n_experts, n_narrow] likewise */
    vouch_adjugates adjugates;
    vouch_feed_forward shared; /* n_ff 0: none */
    vouch_matrix shared_gate;  /* [1, n_embd] w_shared; n_out 0: the shared network's weight is shared_scale */
    float shared_scale;        /* 1 as a rule */
} vouch_experts;

/* The most networks that a row passes through, the shared one left out. */
static inline int32_t vouch_experts_per_row(const vouch_experts *e)
{
    return e->adjugates.per_group > 0 ? 2 * e->n_used : e->n_used;
}

/* Networks that it chooses from. The adjugates come after the experts. */
static inline int32_t vouch_experts_n_networks(const vouch_experts *e)
{
    return e->n_experts + (e->adjugates.per_group > 0 ? e->n_experts / e->adjugates.per_group : 0);
}

/* Matrix i of matrices that lie one after the other. */
static inline vouch_matrix vouch_matrix_at(const vouch_matrix *first, int64_t i)
{
    vouch_matrix matrix = *first;
    if (matrix.data) matrix.data += (size_t)i * vouch_matrix_bytes(first); /* experts without a gate have none */
    return matrix;
}

/* A layer with a feed-forward network and experts adds their results, each after a norm of its own:
 *
 *   x += norm_after(norm_dense(ffn(norm(x))) + norm_experts(experts(norm_beside(x)))) */
typedef struct vouch_beside {
    vouch_norm norm;                          /* of the experts' input */
    bool reads_input;                         /* the experts read the layer's input instead of x */
    const float *dense_after, *experts_after; /* [n_embd] weights of RMSNorm; NULL: none */
} vouch_beside;

/* A narrow path beside the mixer, which reads norm(x) as the mixer does (LAuReL; Menghani et al., arXiv 2411.07501):
 *
 *   x = (x + mixer(norm(x)) + norm(x) + norm_laurel(W_right W_left norm(x))) / sqrt(2) */
typedef struct vouch_laurel {
    vouch_matrix left, right; /* [rank, n_embd], [n_embd, rank] */
    const float *norm;        /* [n_embd] weights of RMSNorm */
} vouch_laurel;

/* Alternating updates (AltUp; Baykal et al., arXiv 2301.13310): the stream has n versions. The layer computes with a
 * prediction of the first, and its error corrects the predictions of all. m(x) = tanh(W_router norm(x) / n_embd) [n]:
 *
 *   before   guess[j] = version[j] + sum over i of (W_predict m(version[0]))[j, i] version[i];  x = guess[0]
 *   after    version[j] = guess[j] + (1 + W_correct m(x))[j] (x - guess[0]) */
typedef struct vouch_altup {
    vouch_matrix router;        /* [n, n_embd] */
    const float *router_norm;   /* [n_embd] weights of RMSNorm */
    vouch_matrix predict;       /* [n * n, n] */
    vouch_matrix correct;       /* [n, n] */
    const float *correct_scale; /* [n_embd] of version[0], as the extra branch reads it */
} vouch_altup;

/* RWKV's feed-forward network (channel mix) reads its row x, after the norm, mixed with the row before it; its result
 * may have a gate:
 *
 *   sigmoid(W_gate (x + gate_amount (x_before - x))) * ffn(x + up_amount (x_before - x)) */
typedef struct vouch_channel_mix {
    const float *up_amount;   /* [n_embd]; NULL: the network reads x alone */
    const float *gate_amount; /* [n_embd] */
    vouch_matrix gate;        /* [n_embd, n_embd]; n_out 0: none */
} vouch_channel_mix;

typedef struct vouch_layer {
    bool is_parallel;
    vouch_branch mix;
    vouch_attention attention; /* n_heads 0: none */
    vouch_recurrent recurrent; /* conv.n_channels 0: none */
    vouch_branch feed;
    vouch_feed_forward ffn; /* n_ff 0: none */
    vouch_channel_mix channel_mix;
    vouch_experts experts; /* n_experts 0: none */
    vouch_beside beside;   /* where the layer has both */
    vouch_branch extra;
    vouch_feed_forward extra_ffn; /* up is empty; n_ff 0: none */
    const float *first_scale;     /* [1] of the first layer's input, which is added to the layer's result; NULL: none */
    vouch_laurel laurel; /* in models whose stream has versions; the extra branch is added to all but the first */
    vouch_altup altup;   /* likewise */
} vouch_layer;

/* Whether the layer has this branch; it may lack one. */
static inline bool vouch_layer_has_mix(const vouch_layer *layer)
{
    if (layer->attention.finds_adapters) return false;
    return layer->attention.n_heads > 0 || layer->recurrent.conv.n_channels > 0;
}
static inline bool vouch_layer_has_feed(const vouch_layer *layer)
{
    return layer->ffn.n_ff > 0 || layer->experts.n_experts > 0;
}
static inline bool vouch_layer_has_both(const vouch_layer *layer)
{
    return layer->ffn.n_ff > 0 && layer->experts.n_experts > 0;
}

#endif
