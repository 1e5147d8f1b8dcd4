/* SPDX-License-Identifier: MIT */
/*
 * Decoders whose feed-forward is a mixture of experts, in all layers or in some. A family sets fields of vouch_hparams,
 * as for a dense decoder (dense.h), and of h->experts: `gating` where the file states none; `normalised` where the
 * chosen weights are always divided by their sum; `weighs_inputs`; `routes_early`.
 *
 * The tensors say which layers have experts, how wide an expert is, and whether there is a shared network.
 */
#ifndef VOUCH_MODEL_MIXTURE_H
#define VOUCH_MODEL_MIXTURE_H

#include "model/load/loader.h"

/* Reads what vouch_dense_read reads, and the numbers of the experts. Errors: FORMAT, UNSUPPORTED. */
vouch_status vouch_mixture_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
/* Reads the limits of f(W_gate x) and W_up x in experts, and in shared and dense networks. Errors: FORMAT. */
vouch_status vouch_mixture_read_limits(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
/* Takes what vouch_dense_take takes, but a layer with ffn_down_exps gets experts: ffn_gate_inp, ffn_gate_exps and
 * ffn_up_exps (or ffn_gate_up_exps), and, where the file has them, exp_probs_b, ffn_gate_shexp, ffn_up_shexp,
 * ffn_down_shexp and ffn_gate_inp_shexp. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_mixture_take(vouch_loader *loader, int32_t index, vouch_layer *layer);
/* Takes the experts alone, with their router and shared network. Errors: as above. */
vouch_status vouch_mixture_take_experts(vouch_loader *loader, int32_t index, vouch_experts *experts);
/* Accepts a dense network beside a layer's experts, in families whose models don't use it. */
vouch_status vouch_mixture_ignore_dense(vouch_loader *loader, int32_t index);

#endif
