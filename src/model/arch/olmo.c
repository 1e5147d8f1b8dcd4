/* SPDX-License-Identifier: MIT */
/* OLMo (arXiv 2402.00838): LayerNorm without weights, clamped queries, keys and values. OLMo 2 and 3 (2501.00656):
 * norms only after the branches, and one norm over all heads. OLMoE (2409.02060) and MiniMax-M2: one norm over
 * all heads, and experts. EXAONE 4 (2507.11407): norms only after the branches. K-EXAONE: experts, norms of heads. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/mixture.h"

static vouch_status read_olmo(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norm = VOUCH_NORM_LAYER;
    h->has_bare_norms = true;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    return vouch_dense_read_scale(gguf, h, "attention.clamp_kqv", &h->clamp, err);
}

static vouch_status read_after_only(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_no_norms_before = true;
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    return vouch_dense_read(gguf, h, err);
}

/* Layers with a window rotate by unscaled angles. */
static vouch_status read_olmo2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norm = VOUCH_HEADS_RMS;
    VOUCH_TRY(read_after_only(gguf, h, err));
    return vouch_dense_read_window_angles(gguf, h, 4, h->rope_base, err);
}

static vouch_status read_olmoe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    h->head_norm = VOUCH_HEADS_RMS;
    return vouch_mixture_read(gguf, h, err);
}

static vouch_status read_minimax_m2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->experts.normalised = true;
    return read_olmoe(gguf, h, err);
}

/* The 32B model, with 64 layers, has windows in three layers of four, and only these rotate. */
static vouch_status read_exaone4(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_after_only(gguf, h, err));
    if (h->n_layers != 64) h->window = 0;
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, 4, VOUCH_LAST, err));
    if (h->window > 0) vouch_dense_rotate(h, VOUCH_ROTARY_OF_MODEL, VOUCH_ROTARY_OF_NONE);
    return VOUCH_OK;
}

/* Only layers with a window rotate. */
static vouch_status read_exaone_moe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, 4, VOUCH_LAST, err));
    vouch_dense_rotate(h, VOUCH_ROTARY_OF_MODEL, VOUCH_ROTARY_OF_NONE);
    return VOUCH_OK;
}

const vouch_arch vouch_arch_olmo = {
    .name = "olmo", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_olmo, .take = vouch_dense_take};
const vouch_arch vouch_arch_olmo2 = {
    .name = "olmo2", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_olmo2, .take = vouch_dense_take};
const vouch_arch vouch_arch_olmoe = {
    .name = "olmoe", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_olmoe, .take = vouch_mixture_take};
const vouch_arch vouch_arch_minimax_m2 = {
    .name = "minimax-m2", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_minimax_m2, .take = vouch_mixture_take};
const vouch_arch vouch_arch_exaone_moe = {
    .name = "exaone-moe", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_exaone_moe, .take = vouch_mixture_take};
const vouch_arch vouch_arch_exaone4 = {
    .name = "exaone4", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_exaone4, .take = vouch_dense_take};
