/* SPDX-License-Identifier: MIT */
/* The plain dense decoder that most families are or vary: grouped-query attention, then gated SiLU, an RMSNorm before
 * each, the same numbers in every layer. */
#ifndef VOUCH_MODEL_DENSE_H
#define VOUCH_MODEL_DENSE_H

#include "model/loader.h"

/* Reads and checks all hyperparameters except n_vocab; h->arch is there. Errors: FORMAT, UNSUPPORTED. */
vouch_status vouch_dense_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
/* Fills a layer and takes its tensors: attn_q, attn_k, attn_v, attn_output, ffn_gate, ffn_up, ffn_down, attn_norm,
 * ffn_norm. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_dense_take(vouch_loader *loader, int32_t index, vouch_layer *layer);
/* Its two halves. */
vouch_status vouch_dense_take_attention(vouch_loader *loader, int32_t index, vouch_layer *layer);
vouch_status vouch_dense_take_feed_forward(vouch_loader *loader, int32_t index, vouch_layer *layer);

#endif
