/* SPDX-License-Identifier: MIT */
/* Hyper-connections (layer.h) in a file: their keys and tensors. */
#ifndef VOUCH_MODEL_HYPER_TENSORS_H
#define VOUCH_MODEL_HYPER_TENSORS_H

#include "model/load/loader.h"

/* Reads hyper_connection.count and .epsilon into h->hyper.n and h->hyper.eps. Errors: FORMAT. */
vouch_status vouch_hyper_read_keys(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
/* Takes hc_attn_* and hc_ffn_* of a layer, whose branches the caller has filled. Errors: FORMAT, UNSUPPORTED, MEMORY.
 */
vouch_status vouch_hyper_take(vouch_loader *loader, int32_t index, vouch_layer *layer);
/* Takes output_hc_*. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_hyper_take_last(vouch_loader *loader, vouch_hyper *last);

#endif
