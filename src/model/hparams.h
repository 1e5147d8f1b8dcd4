/* SPDX-License-Identifier: MIT */
/*
 * A model's hyperparameters: the numbers of its file, and the properties that its family fixes. layer.h has the numbers
 * of single layers. Zero means "none" or the usual value, so a family sets only the fields in which it differs.
 */
#ifndef VOUCH_MODEL_HPARAMS_H
#define VOUCH_MODEL_HPARAMS_H

#include "model/layer.h"

/* Hyperparameters of a family with mixtures of experts (mixture.h). */
typedef struct vouch_expert_hparams {
    bool are_allowed; /* the family may have experts */
    int32_t n_experts, n_used, n_groups, n_groups_used;
    vouch_gating gating; /* 0: softmax */
    bool normalised, weighs_inputs, routes_early;
    int32_t adjugate_group; /* number of experts that share an adjugate (layer.h); 0: no adjugates */
    float adjugate_scale;
    float scale;
    float shared_scale; /* 0: 1 */
    int32_t n_narrow;   /* width of the experts' inputs and results (layer.h); 0: n_embd */
} vouch_expert_hparams;
/* Hyperparameters of a family with Mamba or Mamba-2 mixers (mamba_tensors.h). */
typedef struct vouch_mamba_hparams {
    int32_t n_inner, n_state; /* channels; floats of a channel's state or keys of a head */
    int32_t width;            /* of the convolution */
    int32_t n_rank;           /* of W_step; Mamba-2: the heads */
    int32_t n_heads;          /* PLaMo 2's, which has W_step, too; else 0 */
    int32_t n_groups;         /* of heads that share keys and queries; Mamba: 0 */
    bool has_bare_norms;      /* of W_select's result, without weights */
} vouch_mamba_hparams;
/* Hyperparameters of a family with gated delta nets or short convolutions (layer.h). */
typedef struct vouch_delta_hparams {
    int32_t width;                          /* of the convolution */
    int32_t n_heads, n_key_heads, head_dim; /* of delta nets */
    float decay_floor;                      /* layer.h */
} vouch_delta_hparams;
enum { VOUCH_MOST_LAYERS = 1024, VOUCH_MOST_ADAPTERS = 1023 };

/* Adapters that tokens choose (pass/adapters.c). */
typedef struct vouch_adapter_hparams {
    int32_t n;    /* without adapter 0, which a row without such a token has; 0: the model has none */
    int32_t rank; /* layer.h */
    float gain;   /* score of a token that chooses an adapter; others have -gain */
    struct {
        int32_t token, substitute; /* adapter i + 1: what chooses it, and whose embedding the token has */
    } of[VOUCH_MOST_ADAPTERS];
} vouch_adapter_hparams;
/* Hyperparameters of a family with RWKV's mixers (layer.h). */
typedef struct vouch_wkv_hparams {
    int32_t head_dim, n_heads, n_kv_heads;
    int32_t n_amount, n_decay, n_rate, n_value, n_gate; /* ranks of the narrow products; n_gate 0: none */
    int32_t n_rescale; /* the stream is halved after each n_rescale-th layer; 0: never */
} vouch_wkv_hparams;

/* Indices of a model's rotaries. */
enum { VOUCH_ROTARY_OF_MODEL, VOUCH_ROTARY_OF_NONE, VOUCH_ROTARY_OF_WINDOW };

/* Hyperparameters of a family with latent attention (layer.h). */
typedef struct vouch_latent_hparams {
    int32_t rank; /* 0: none */
    int32_t q_rank, key_dim, value_dim;
} vouch_latent_hparams;

/* Whether the layers of a family have some tensor. */
typedef enum vouch_presence { VOUCH_ABSENT, VOUCH_OPTIONAL, VOUCH_REQUIRED } vouch_presence;

/* Where the gate of a feed-forward is: in ffn_gate, in the first half of ffn_up's rows, or nowhere. */
typedef enum vouch_gate { VOUCH_GATE_SEPARATE, VOUCH_GATE_FUSED, VOUCH_GATE_NONE } vouch_gate;

/* Scaling of positions, for contexts beyond the trained one. */
typedef struct vouch_rope_scaling {
    double factor;          /* positions are divided by it; 1: none */
    bool is_yarn;           /* divides slow pairs only (Peng et al., arXiv 2309.00071) */
    double fast, slow;      /* YaRN: least turns of a fast pair in the trained context, most turns of a slow pair */
    double magnitude;       /* factor of rotated queries and keys */
    double log_multiplier;  /* YaRN: yarn_log_multiplier; 0: none */
    int32_t n_ctx_original; /* trained context */
} vouch_rope_scaling;

/* Hyper-connections (layer.h). */
typedef struct vouch_hyper_hparams {
    int32_t n;        /* versions; 0: none */
    int32_t n_rounds; /* of the balance of mix; 0: mix is the identity */
    float eps, write_eps;
    float most;        /* of a weight to write with */
    bool ends_in_mean; /* the output reads the mean of the versions instead of a weighted sum */
} vouch_hyper_hparams;

/* Two stacks of layers that take turns on two states of a row, low and high (hierarchical reasoning; Wang et al., arXiv
 * 2506.21734). A state begins as a learned vector and as the embedding; a stack's rows are their sum, and its result,
 * normalised without weights, is the new state. Each turn has keys and values of its own:
 *
 *   again and again:  n_low times  low = norm(layers_low(low + high));  then  high = norm(layers_high(low + high)) */
typedef struct vouch_stack_hparams {
    int32_t n_layers; /* of a stack; 0: the model has no stacks */
    int32_t n_low;    /* turns of the low stack before each of the high one */
} vouch_stack_hparams;

typedef struct vouch_hparams {
    const char *arch; /* general.architecture, and the prefix of the file's keys */
    int32_t n_vocab, n_layers, n_embd, head_dim, value_dim, n_rot, n_ctx_train;
    int32_t n_heads, n_kv_heads, n_ff; /* the most of any layer */
    int32_t n_rot_window;              /* in layers with a window; 0: n_rot */
    int32_t n_rot_factors;             /* of whose pairs the file has factors; 0: n_rot */
    int32_t n_nextn; /* blocks after n_layers that guess further tokens (arXiv 2404.19737); no layers of the model */
    bool is_head;    /* all layers of the file are a head's; nextn_predict_layers isn't read */
    int32_t first_block; /* the file's number of layer 0; 0 as a rule */
    float norm_eps;
    vouch_rotary_kind rotary; /* of the layers that rotate; set to the family's kind before its `read` */
    bool has_no_rope_factors; /* ignores rope_freqs.weight, which llama.cpp's test models have */
    double rope_base;
    double rope_base_window; /* in layers with a window; 0: the same angles */
    vouch_rope_scaling rope_scaling;
    vouch_rope_scaling rope_scaling_window; /* factor 0: none */
    vouch_expert_hparams experts;
    vouch_mamba_hparams mamba;
    vouch_delta_hparams delta;
    vouch_wkv_hparams wkv;
    vouch_latent_hparams latent;
    vouch_latent_hparams latent_window; /* in layers with a window; rank 0: the same */
    vouch_stack_hparams stacks;
    vouch_hyper_hparams hyper;
    vouch_adapter_hparams adapters;
    int32_t n_ctx_most; /* longest context that vouch computes as the model does; 0: any */

    vouch_norm_kind norm;
    vouch_head_norm head_norm;
    vouch_activation activation;
    vouch_situ situ; /* layer.h */
    vouch_gate gate;
    bool is_parallel;
    bool has_partial_layers;  /* a layer may have no heads, or n_ff 0 */
    bool has_bare_norms;      /* without weights */
    bool has_no_norms_before; /* of the branches */
    vouch_presence norms_after, head_norms, sinks;
    bool has_no_feed_bias;   /* ignores biases of W_o and of the feed-forward, as llama.cpp does */
    bool has_feed_scales;    /* uses scales of feed-forward matrices, which llama.cpp ignores in other families */
    bool has_inner_norms;    /* o_norm and down_norm of layer.h */
    bool has_head_gates;     /* of attention's heads */
    bool limits_results;     /* limits_result of layer.h */
    const char *output_norm; /* tensor of the norm after the layers; NULL: output_norm */
    const char *feed_norm;   /* tensor of the norm before the feed-forward; NULL: ffn_norm */
    bool has_embedding_norm, has_bare_embedding_norm; /* bare: without weights */
    float norm_after_eps;                             /* of the norms after branches; 0: norm_eps */
    bool has_output_bias;                             /* the logits may have one */
    bool has_positions;                               /* learned embeddings of positions */
    int32_t window;                                   /* of the layers that have one */
    bool has_chunks;                                  /* the windows are chunks */
    float embedding_scale;                            /* 0: 1 */
    float residual_scale;                             /* of both branches; 0: 1 */
    float carry;                                      /* of both branches (layer.h) */
    float attention_scale;                            /* 0: 1 / sqrt(head_dim) */
    float value_scale;                                /* of attention's result; 0: 1 */
    float attention_softcap, clamp, alibi;
    float heat; /* of the layers with attention temperature (layer.h) */
    int32_t heat_length, heat_shift;
    float logit_scale;   /* 0: 1 */
    float logit_softcap; /* a logit z becomes softcap tanh(z / softcap); 0: none */
    bool has_value_norm, keys_may_be_values;
    int32_t n_layer_input; /* width of each layer's own input; 0: none */
    int32_t n_versions;    /* of the stream (vouch_altup); 0: one */
    int32_t depth_block;   /* every layer whose number is a multiple keeps the stream (vouch_depth); 0: none does */
    struct {
        int32_t n_heads, n_kv_heads, n_ff;
        int32_t head_dim;            /* of keys and values; 0: the model's */
        int32_t shared_back, lender; /* layer.h */
        int32_t twin_back;           /* has the weights of the layer this many before; 0: its own */
        bool has_window, has_no_heat;
        bool has_no_mix_norm;     /* the file has no norm before the mixer: the family sets one, or there is none */
        bool reads_pairs;         /* layer.h */
        float sparsity;           /* of the feed-forward (layer.h) */
        float xielu[4];           /* of VOUCH_XIELU, as the file has them: alpha_n, alpha_p, beta, eps */
        float limit, dense_limit; /* of experts, and of shared and dense networks (layer.h); 0: none */
        uint8_t rotary;           /* VOUCH_ROTARY_OF_... */
    } layers[VOUCH_MOST_LAYERS];
} vouch_hparams;

#endif
