/* SPDX-License-Identifier: MIT */
/* Llama 2 and 3 (Touvron et al., arXiv 2302.13971); with experts, Mixtral (Jiang et al., arXiv 2401.04088). Then the
 * families that differ from Llama by a detail. */
#include <math.h>

#include "model/arch.h"
#include "model/dense.h"
#include "model/keys.h"
#include "model/mixture.h"

static vouch_status read_llama(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const vouch_mixture mixture = {.is_optional = true, .normalises = true, .has_scales = true};
    return vouch_mixture_read(gguf, &mixture, h, err);
}

static vouch_status take_llama(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    return vouch_mixture_take(loader, index, layer);
}

/* SmolLM3: every fourth layer has no rotation (Yang et al., arXiv 2501.18795). */
static vouch_status read_smollm3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    for (int32_t i = 3; i < h->n_layers; i += 4) h->layers[i].rotary = VOUCH_ROTARY_OF_NONE;
    return VOUCH_OK;
}

/* Ministral 3: queries grow with their position. */
static vouch_status read_mistral3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    return vouch_dense_read_scale(gguf, h, "attention.temperature_scale", &h->heat, err);
}

/* Arcee's AFM: no gate, squared ReLU. */
static vouch_status read_arcee(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->activation = VOUCH_RELU_SQUARED;
    h->gate = VOUCH_GATE_NONE;
    return vouch_dense_read(gguf, h, err);
}

/* Seed-OSS: the norm before the feed-forward has another name. */
static vouch_status read_seed_oss(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->feed_norm = "post_attention_norm";
    return vouch_dense_read(gguf, h, err);
}

/* Baichuan: rotation with 32 layers (7B), ALiBi with 40 (13B). */
static vouch_status read_baichuan(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    if (h->n_layers == 40) h->alibi = 8;
    for (int32_t i = 0; i < h->n_layers; i++)
        h->layers[i].rotary = h->n_layers == 32 ? VOUCH_ROTARY_OF_MODEL : VOUCH_ROTARY_OF_NONE;
    return VOUCH_OK;
}

/* openPangu: as llama, without factors of the frequencies. */
static vouch_status read_pangu(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_no_rope_factors = true;
    return vouch_dense_read(gguf, h, err);
}

/* Hunyuan, dense, and Maincoder: norms of heads after their rotation. */
static vouch_status read_late_norms(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    h->head_norm = VOUCH_HEAD_RMS_LATE;
    return vouch_dense_read(gguf, h, err);
}

/* Orion: LayerNorm. */
static vouch_status read_orion(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norm = VOUCH_NORM_LAYER;
    return vouch_dense_read(gguf, h, err);
}

/* PLaMo: parallel branches. */
static vouch_status read_plamo(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->is_parallel = true;
    return vouch_dense_read(gguf, h, err);
}

/* Granite: scales of embedding, branches, scores and logits. */
static vouch_status read_granite(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    bool is_rotated = true;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "embedding_scale", &h->embedding_scale, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "residual_scale", &h->residual_scale, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attention.scale", &h->attention_scale, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "logit_scale", &h->logit_scale, err));
    if (h->logit_scale != 0) h->logit_scale = 1 / h->logit_scale;
    VOUCH_TRY(vouch_key_bool(gguf, h->arch, "rope.scaling.finetuned", &is_rotated, err));
    for (int32_t i = 0; i < h->n_layers && !is_rotated; i++) h->layers[i].rotary = VOUCH_ROTARY_OF_NONE;
    return VOUCH_OK;
}

/* MiniCPM, the same with the scales of its first release where the file has none. */
static vouch_status read_minicpm(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_granite(gguf, h, err));
    if (h->embedding_scale == 0) h->embedding_scale = 12;
    if (h->residual_scale == 0) h->residual_scale = 1.4f / sqrtf((float)h->n_layers);
    if (h->logit_scale == 0) h->logit_scale = 256.0f / (float)h->n_embd;
    return VOUCH_OK;
}

#define FAMILY(id, text, pairs, read_it, scales)                                                                     \
    const vouch_arch vouch_arch_##id = {.name = text,                                                                \
                                        .rotary = VOUCH_ROTARY_##pairs,                                              \
                                        .has_feed_scales = scales,                                                   \
                                        .read = read_it,                                                             \
                                        .take = vouch_dense_take}

const vouch_arch vouch_arch_llama = {.name = "llama",
                                     .rotary = VOUCH_ROTARY_ADJACENT,
                                     .has_feed_scales = true,
                                     .read = read_llama,
                                     .take = take_llama};
FAMILY(mistral3, "mistral3", ADJACENT, read_mistral3, true);
FAMILY(internlm2, "internlm2", ADJACENT, vouch_dense_read, false);
FAMILY(ernie4_5, "ernie4_5", ADJACENT, vouch_dense_read, true);
FAMILY(xverse, "xverse", ADJACENT, vouch_dense_read, false);
FAMILY(exaone, "exaone", HALF_SPLIT, vouch_dense_read, false);
FAMILY(nanbeige, "nanbeige", ADJACENT, vouch_dense_read, true);
FAMILY(pangu, "pangu-embedded", HALF_SPLIT, read_pangu, false);
FAMILY(smollm3, "smollm3", ADJACENT, read_smollm3, false);
FAMILY(arcee, "arcee", ADJACENT, read_arcee, false);
FAMILY(seed_oss, "seed_oss", HALF_SPLIT, read_seed_oss, false);
FAMILY(baichuan, "baichuan", ADJACENT, read_baichuan, false);
FAMILY(orion, "orion", HALF_SPLIT, read_orion, false);
FAMILY(plamo, "plamo", HALF_SPLIT, read_plamo, false);
FAMILY(granite, "granite", ADJACENT, read_granite, false);
FAMILY(minicpm, "minicpm", ADJACENT, read_minicpm, false);
FAMILY(hunyuan, "hunyuan-dense", HALF_SPLIT, read_late_norms, false);
FAMILY(maincoder, "maincoder", ADJACENT, read_late_norms, false);
