/* SPDX-License-Identifier: MIT */
/* Families whose feed-forward is a mixture of experts: what they share, beside the rest of a dense decoder. */
#ifndef VOUCH_MODEL_MIXTURE_H
#define VOUCH_MODEL_MIXTURE_H

#include "model/loader.h"

/* Hidden width of the shared network. */
typedef enum vouch_shared_width {
    VOUCH_SHARED_NONE,
    VOUCH_SHARED_STATED,         /* expert_shared_feed_forward_length; without it there is no shared network */
    VOUCH_SHARED_STATED_OR_FULL, /* expert_shared_feed_forward_length, or feed_forward_length */
    VOUCH_SHARED_COUNTED,        /* expert_shared_count times an expert's width */
    VOUCH_SHARED_COUNTED_STATED  /* expert_shared_count times expert_shared_feed_forward_length, or as before */
} vouch_shared_width;

/* What a family fixes. Zero is the commonest case. */
typedef struct vouch_mixture {
    bool is_optional;     /* without expert_count, or with 0, the model is dense */
    bool divides_width;   /* without expert_feed_forward_length: feed_forward_length / expert_used_count */
    bool has_gating;      /* expert_gating_func is read; `gating` where the file states none */
    vouch_gating gating;  /* 0: softmax */
    bool normalises;      /* the chosen weights are divided by their sum, unless the file says otherwise */
    bool states_norm;     /* the file may say so: expert_weights_norm is read */
    bool states_scale;    /* expert_weights_scale scales them */
    bool biases_choice;   /* exp_probs_b, where the file has it, is added to the probabilities for the choice */
    bool has_scales;      /* tensors NAME.scale multiply the experts' results; elsewhere they are ignored, as in
                             llama.cpp */
    vouch_shared_width shared;
    bool has_shared_gate; /* ffn_gate_inp_shexp weighs the shared network */
} vouch_mixture;

/* vouch_dense_read, and then the numbers of the experts. Errors: FORMAT, UNSUPPORTED. */
vouch_status vouch_mixture_read(const vouch_gguf *gguf, const vouch_mixture *family, vouch_hparams *h,
                                vouch_error *err);
/* Takes a layer's feed-forward network or experts: ffn_norm, ffn_gate_inp, ffn_gate_exps, ffn_up_exps (or
 * ffn_gate_up_exps), ffn_down_exps, exp_probs_b, and ffn_gate_shexp, ffn_up_shexp, ffn_down_shexp. Errors: FORMAT,
 * UNSUPPORTED, MEMORY. */
vouch_status vouch_mixture_take(vouch_loader *loader, int32_t index, vouch_layer *layer);

#endif
