/* SPDX-License-Identifier: MIT */
/* Arctic (Snowflake): a dense network after attention, and experts that read the layer's input. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/mixture.h"

/* feed_forward_length is an expert's width; the dense network's is n_embd. */
static vouch_status read_arctic(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->experts.normalised = true;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    h->n_ff = h->n_embd;
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].n_ff = h->n_embd;
    return VOUCH_OK;
}

static vouch_status take_arctic(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    layer->beside.reads_input = true;
    VOUCH_TRY(vouch_dense_take_norm(loader, index, "ffn_norm_exps", &layer->beside.norm));
    return vouch_mixture_take_experts(loader, index, &layer->experts);
}

const vouch_arch vouch_arch_arctic = {
    .name = "arctic", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_arctic, .take = take_arctic};
