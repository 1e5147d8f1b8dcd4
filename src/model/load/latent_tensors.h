/* SPDX-License-Identifier: MIT */
/* Latent attention (layer.h) in a file: its keys and tensors. */
#ifndef VOUCH_MODEL_LATENT_TENSORS_H
#define VOUCH_MODEL_LATENT_TENSORS_H

#include "model/load/loader.h"

/* Reads the ranks and widths into h->latent; the caller has filled the rest of h. Sets the scale of scores, with YaRN's
 * factor. Errors: FORMAT, UNSUPPORTED. */
vouch_status vouch_latent_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
/* Reads ranks and widths alone. Their keys end with this suffix: "", or "_swa" for h->latent_window. Errors: as above.
 */
vouch_status vouch_latent_read_numbers(const vouch_gguf *gguf, const vouch_hparams *h, const char *suffix,
                                       vouch_latent_hparams *numbers, vouch_error *err);
/* Takes attn_q, or attn_q_a, attn_q_a_norm and attn_q_b; attn_kv_a_mqa and attn_kv_a_norm; attn_k_b and attn_v_b, or
 * attn_kv_b, which has both. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_latent_take(vouch_loader *loader, int32_t index, vouch_attention *a);
/* Accepts the tensors that choose the tokens which a row sees. In contexts of at most indexer.top_k tokens it sees all.
 */
vouch_status vouch_latent_ignore_indexer(vouch_loader *loader, int32_t index);

#endif
