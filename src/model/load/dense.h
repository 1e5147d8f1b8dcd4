/* SPDX-License-Identifier: MIT */
/* Reads the dense decoder, which most families use or vary: each layer has attention and then a feed-forward network. A
 * family sets fields of vouch_hparams before or after vouch_dense_read. vouch_dense_take follows these fields. */
#ifndef VOUCH_MODEL_DENSE_H
#define VOUCH_MODEL_DENSE_H

#include "model/load/loader.h"

/* Reads and checks all hyperparameters except n_vocab. The caller has set h->arch and h->norm. Every layer gets the
 * window of attention.sliding_window, if the file has one. Errors: FORMAT, UNSUPPORTED. */
vouch_status vouch_dense_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
/* Gives the window to the layers that attention.sliding_window_pattern lists. Without a list, all but the first or last
 * of each `period` layers get it. A block that is a head has none unless the list says so. */
typedef enum vouch_full_layer { VOUCH_LAST, VOUCH_FIRST } vouch_full_layer;
vouch_status vouch_dense_read_windows(const vouch_gguf *gguf, vouch_hparams *h, int32_t period, vouch_full_layer full,
                                      vouch_error *err);
/* vouch_dense_read_windows with VOUCH_LAST. Layers with the window rotate by unscaled angles of rope.freq_base_swa, or
 * of `base` without this key. */
vouch_status vouch_dense_read_window_angles(const vouch_gguf *gguf, vouch_hparams *h, int32_t period, double base,
                                            vouch_error *err);
/* Takes the heads from recurrent layers: those that attention.recurrent_layers names, or all but each
 * full_attention_interval-th, or each `interval`-th without this key. */
vouch_status vouch_dense_read_recurrent(const vouch_gguf *gguf, vouch_hparams *h, int32_t interval, vouch_error *err);
/* Sets the rotaries (VOUCH_ROTARY_OF_...) of the layers with a window and of the others. */
void vouch_dense_rotate(vouch_hparams *h, uint8_t with_window, uint8_t without);
/* Reads a float >= 0; 0 means none. Without the key, *value stays as it is. */
vouch_status vouch_dense_read_scale(const vouch_gguf *gguf, const vouch_hparams *h, const char *key, float *value,
                                    vouch_error *err);
/* Fills a layer and takes its tensors. Biases and scales are taken where the file has them; q, k, v or gate
 * and up may be fused. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_dense_take(vouch_loader *loader, int32_t index, vouch_layer *layer);
/* A norm before a branch. */
vouch_status vouch_dense_take_norm(vouch_loader *loader, int32_t index, const char *tensor, vouch_norm *norm);
/* The two halves of vouch_dense_take, and parts of the second: the norms before and after the feed-forward, and a
 * matrix's bias and scale. */
vouch_status vouch_dense_take_attention(vouch_loader *loader, int32_t index, vouch_layer *layer);
vouch_status vouch_dense_take_feed_forward(vouch_loader *loader, int32_t index, vouch_layer *layer);
vouch_status vouch_dense_take_feed_norms(vouch_loader *loader, int32_t index, vouch_layer *layer);
vouch_status vouch_dense_take_feed_affine(vouch_loader *loader, int32_t index, const char *tensor, vouch_affine *affine,
                                          vouch_rows rows);

#endif
