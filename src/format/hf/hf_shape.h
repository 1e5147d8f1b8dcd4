/* SPDX-License-Identifier: MIT */
/* Numbers of config.json that decide how the tensors of a Hugging Face folder are laid out. */
#ifndef VOUCH_FORMAT_HF_SHAPE_H
#define VOUCH_FORMAT_HF_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum { VOUCH_HF_MOST_LAYERS = 4096, VOUCH_HF_MOST_PAIRS = 512 };

typedef struct vouch_hf_shape {
    int64_t n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_rot, n_vocab;
    int64_t n_expert_ff, n_shared_ff; /* widths of an expert and of the shared network; 0: none */
    int64_t n_experts, n_groups;      /* groups of Mamba-2's heads; key heads of delta nets */
    int64_t delta_keys, delta_values; /* elements of a key head's key, and of all values that share it */
    int64_t values_per_key;           /* value heads of a key head */
    /* tie_word_embeddings is true (the embedding is also the output matrix), or it is false. Both are false in
     * heads. */
    bool is_tied, is_untied;
    /* Divisors of RoPE's frequencies [n_rot / 2], which GGUF stores as tensors; n_factors 0: none. */
    int64_t n_factors;
    float factors[VOUCH_HF_MOST_PAIRS], long_factors[VOUCH_HF_MOST_PAIRS];
    bool has_long_factors; /* `factors` are for prompts within the original context, long_factors for longer ones */
} vouch_hf_shape;

#endif
