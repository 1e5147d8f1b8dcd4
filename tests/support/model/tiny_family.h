/* SPDX-License-Identifier: MIT */
/* What the tiny models of each family have: a table, from which tiny_model.c writes files. */
#ifndef VOUCH_TESTS_TINY_FAMILY_H
#define VOUCH_TESTS_TINY_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

/* Norms of queries and keys. EACH_HEAD: of each head, all with the same weights. ALL_HEADS: of all heads together.
 * OWN_WEIGHTS: of each head, with weights of its own. GAINS: of each head, with one weight of each query's head. */
typedef enum tiny_heads { PLAIN, EACH_HEAD, ALL_HEADS, OWN_WEIGHTS, GAINS } tiny_heads;
/* Latent attention: W_uk and W_uv in one tensor, or apart. */
typedef enum tiny_latent { NO_LATENT, TOGETHER, APART } tiny_latent;
/* The layers of a family with recurrent mixers. EVERYTHING: each has mixer, attention and feed-forward. MIXER_ONLY:
 * each has a mixer alone. MIXER_OR_ATTENTION: mixer and attention alternate, each with a feed-forward. BY_TURNS: mixer,
 * attention, feed-forward by turns. MIXER_AND_FEED: each has a mixer and a feed-forward. */
typedef enum tiny_parts { EVERYTHING, MIXER_ONLY, MIXER_OR_ATTENTION, BY_TURNS, MIXER_AND_FEED } tiny_parts;
/* Recurrent mixers other than Mamba's. DELTA_NET_FUSED: rates and decays are one matrix. KEY_DELTA_NET: a decay for
 * each key. KEY_DELTA_NET_LOW: its matrices of decays and gates are products of two matrices of low rank.
 * KEY_DELTA_NET_MIXED: that of decays alone. WKV6 and WKV7: RWKV's, with channel mixes under LayerNorm; WKV7_BARE:
 * without gate and norm. */
typedef enum tiny_mixer {
    NO_MIXER,
    SHORT_CONVOLUTION,
    KEY_DELTA_NET,
    KEY_DELTA_NET_LOW,
    KEY_DELTA_NET_MIXED,
    DELTA_NET,
    DELTA_NET_FUSED,
    LIGHTNING,
    WKV6,
    WKV7,
    WKV7_BARE
} tiny_mixer;
/* Differences of a family's tensors and keys from llama's. */
typedef struct tiny_family {
    const char *name;   /* of the family, for tiny_model_options.arch */
    const char *stated; /* general.architecture; NULL: the name */
    bool layer_norm;    /* with biases, unless bare */
    bool layer_eps;     /* RMSNorm's epsilon under LayerNorm's key */
    bool bias;          /* of the matrices */
    bool no_gate, fused_qkv, fused_gate, norms_after, no_norms_before, bare_norms, no_feed_norm, second_norm;
    bool positions, embedding_norm, head_bias, norm_bias;
    bool is_uneven;   /* every second layer has one KV head and half the heads and hidden width */
    tiny_heads heads; /* norms of queries and keys */
    tiny_latent latent;
    bool low;           /* queries have a matrix of low rank */
    bool window_latent; /* layers with a window have other widths; rotated keys have a norm, and rows choose tokens */
    bool own_inputs; /* per-layer embeddings; layers by turns with a window and with heads twice as wide; the last two
                        share the keys and values of the layers before them */
    bool experts;    /* 6 experts, of which a row uses 3 */
    bool shared, shared_gate, selection_bias, fused_experts, expert_bias, normalised, grouped;
    bool adjugates; /* one for each two experts */
    bool both;      /* a dense network beside the experts */
    bool narrow;    /* the experts work in a narrower space */
    bool depth;     /* every second layer keeps the stream */
    bool adapters;
    bool sinks, narrow_values;
    bool own_gates, head_gates; /* a matrix of gates for attention: one for each element of its result; for each head */
    tiny_mixer mixer;
    bool gates; /* of attention's heads */
    const char *extra_norms[3];
    bool router_norm; /* the router has a norm */
    int32_t n_dense, gating;
    const char *feed_norm, *output_norm;
    int32_t window, window_period;
    struct {
        const char *key;
        float value;
    } numbers[5];
    const char *flag; /* a key that is true */
    int mamba;        /* 1: Mamba; 2: Mamba-2; 3: Mamba-2 with PLaMo 2's heads */
    tiny_parts parts;
    bool blocks;      /* of tokens, which attention chooses; all within n_ctx 128 */
    bool stacks;      /* of layers that take turns: each once, or twice where the number of layers is a multiple of 4 */
    bool adds_first;  /* each layer adds the first one's input */
    bool versions;    /* of the stream, and a path beside the mixer */
    int32_t streams;  /* versions of the stream under hyper-connections */
    bool balanced;    /* they mix, the output reads their mean, and latent keys have no rotated elements */
    bool part_norms;  /* Mamba's keys, queries and rates have norms */
    bool inner_norms; /* before attn_output and ffn_down */
    bool plain_nextn; /* the head's block has a dense network and fused queries, keys and values */
} tiny_family;

/* NULL: i is past the last one. Family 0 is llama. */
const tiny_family *tiny_family_at(int32_t i);

#endif
