/* SPDX-License-Identifier: MIT */
/* Mamba and Mamba-2 alone, and the families that mix them with attention. Granite's hybrid is in llama.c. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/mamba_tensors.h"
#include "model/load/mixture.h"

/* No attention and no feed-forward, whatever the file states. */
static vouch_status read_bare(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_partial_layers = true;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].n_heads = h->layers[i].n_kv_heads = h->layers[i].n_ff = 0;
    h->n_heads = h->n_kv_heads = h->n_ff = h->head_dim = h->n_rot = 0;
    return VOUCH_OK;
}

static vouch_status read_mamba(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_bare(gguf, h, err));
    return vouch_mamba_read(gguf, h, err);
}

static vouch_status take_mamba(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    return layer->attention.n_heads > 0 ? VOUCH_OK : vouch_mamba_take(loader, index, &layer->recurrent);
}

static vouch_status read_mamba2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_bare(gguf, h, err));
    return vouch_mamba2_read(gguf, h, err);
}

static vouch_status take_mamba2(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    return vouch_mamba2_take(loader, index, &layer->recurrent);
}

/* Jamba (Lieber et al., arXiv 2403.19887): Mamba in layers without heads, no rotation, experts in some layers. */
static vouch_status read_jamba(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_partial_layers = true;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    return vouch_mamba_read(gguf, h, err);
}

/* Falcon-H1 (Zuo et al., arXiv 2507.22448): attention and Mamba-2 side by side in every layer. */
static vouch_status read_falcon_h1(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_no_rope_factors = true;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    return vouch_mamba2_read(gguf, h, err);
}

static vouch_status take_falcon_h1(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    layer->attention.o_after.bias = NULL; /* as in llama.cpp; no released model has one */
    return vouch_mamba2_take(loader, index, &layer->recurrent);
}

/* Nemotron-H (arXiv 2504.03624): a layer has one branch: a feed-forward, else attention, else Mamba-2. Nemotron 3
 * (arXiv 2512.20848) has experts instead of the feed-forward. */
static vouch_status read_nemotron_h(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_partial_layers = true;
    h->activation = VOUCH_RELU_SQUARED;
    h->gate = VOUCH_GATE_NONE;
    h->feed_norm = "attn_norm";
    h->experts.gating = VOUCH_GATING_SIGMOID;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    for (int32_t i = 0; i < h->n_layers; i++)
        if (h->layers[i].n_ff > 0) h->layers[i].n_heads = h->layers[i].n_kv_heads = 0;
    return vouch_mamba2_read(gguf, h, err);
}

static vouch_status take_nemotron_h(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    if (vouch_layer_has_mix(layer) || vouch_layer_has_feed(layer)) return VOUCH_OK;
    return vouch_mamba2_take(loader, index, &layer->recurrent);
}

/* PLaMo 2: layers without heads have Mamba-2's heads with Mamba's selection. */
static vouch_status read_plamo2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_partial_layers = true;
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    h->head_norm = VOUCH_HEAD_RMS_OWN;
    h->gate = VOUCH_GATE_FUSED;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    return vouch_plamo2_read(gguf, h, err);
}

static vouch_status take_plamo2(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    vouch_attention *a = &layer->attention;
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    a->q_after.scale = a->k_after.scale = a->v_after.scale = NULL; /* as in llama.cpp */
    return a->n_heads > 0 ? VOUCH_OK : vouch_plamo2_take(loader, index, &layer->recurrent);
}

#define FAMILY(id, text, pairs, read_it, take_it, scales)               \
    const vouch_arch vouch_arch_##id = {.name = text,                   \
                                        .rotary = VOUCH_ROTARY_##pairs, \
                                        .has_feed_scales = scales,      \
                                        .read = read_it,                \
                                        .take = take_it}

FAMILY(mamba, "mamba", NONE, read_mamba, take_mamba, false);
FAMILY(mamba2, "mamba2", NONE, read_mamba2, take_mamba2, false);
FAMILY(jamba, "jamba", NONE, read_jamba, take_mamba, false);
FAMILY(plamo2, "plamo2", HALF_SPLIT, read_plamo2, take_plamo2, false);
FAMILY(falcon_h1, "falcon-h1", HALF_SPLIT, read_falcon_h1, take_falcon_h1, false);
FAMILY(nemotron_h, "nemotron_h", NONE, read_nemotron_h, take_nemotron_h, true);
FAMILY(nemotron_h_moe, "nemotron_h_moe", NONE, read_nemotron_h, take_nemotron_h, true);
