/* SPDX-License-Identifier: MIT */
/* Families after GPT-2: LayerNorm with biases, as a rule GELU and no gate. They differ in how positions enter, and in
 * whether the branches are parallel. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"

static vouch_status read_plain(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norm = VOUCH_NORM_LAYER;
    if (h->activation == VOUCH_SILU) h->activation = VOUCH_GELU;
    h->gate = VOUCH_GATE_NONE;
    return vouch_dense_read(gguf, h, err);
}

/* GPT-2 and StarCoder (arXiv 2305.06161): learned positions. */
static vouch_status read_gpt2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_positions = true;
    return read_plain(gguf, h, err);
}

/* BLOOM (arXiv 2211.05100): ALiBi, a norm of the embedding. */
static vouch_status read_bloom(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->alibi = 8;
    h->has_embedding_norm = true;
    return read_plain(gguf, h, err);
}

/* MPT: ALiBi or learned positions, clamped queries, keys and values. Norms of keys count only if there are norms of
 * queries. */
static vouch_status read_mpt(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_positions = vouch_gguf_find_tensor(gguf, "position_embd.weight");
    h->head_norm = VOUCH_HEADS_LAYER;
    if (vouch_gguf_find_tensor(gguf, "blk.0.attn_q_norm.weight")) h->head_norms = VOUCH_REQUIRED;
    VOUCH_TRY(read_plain(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attention.clamp_kqv", &h->clamp, err));
    return vouch_dense_read_scale(gguf, h, "attention.max_alibi_bias", &h->alibi, err);
}

static vouch_status take_mpt(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    if (loader->hparams->head_norms == VOUCH_ABSENT) {
        VOUCH_TRY(vouch_loader_ignore(loader, vouch_loader_name(loader, index, "attn_k_norm")));
        VOUCH_TRY(vouch_loader_ignore(loader, vouch_loader_name_of(loader, index, "attn_k_norm", "bias")));
    }
    return vouch_dense_take(loader, index, layer);
}

/* Jais (arXiv 2308.16149): ALiBi, a gate; scores are divided by the width of a head. */
static vouch_status read_jais(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norm = VOUCH_NORM_LAYER;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    h->attention_scale = 1.0f / (float)h->head_dim;
    return vouch_dense_read_scale(gguf, h, "attention.max_alibi_bias", &h->alibi, err);
}

/* GPT-NeoX (arXiv 2204.06745) and Pythia: parallel branches with a norm each. */
static vouch_status read_gptneox(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_key_bool(gguf, h->arch, "use_parallel_residual", &h->is_parallel, err));
    return read_plain(gguf, h, err);
}

static vouch_status read_falcon(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->is_parallel = true;
    return read_plain(gguf, h, err);
}

/* Falcon (arXiv 2311.16867): attention may have a norm of its own, attn_norm_2. */
static vouch_status take_falcon(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    if (!vouch_gguf_find_tensor(loader->gguf, vouch_loader_name(loader, index, "attn_norm_2"))) return VOUCH_OK;
    return vouch_dense_take_norm(loader, index, "attn_norm_2", &layer->mix.norm);
}

/* Nemotron (arXiv 2402.16819) and Jais 2: squared ReLU. */
static vouch_status read_squared(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->activation = VOUCH_RELU_SQUARED;
    return read_plain(gguf, h, err);
}

/* StableLM (arXiv 2402.17834): gated; norms of heads in the 12B model; without ffn_norm the branches are parallel. */
static vouch_status read_stablelm(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norm = VOUCH_NORM_LAYER;
    h->head_norms = VOUCH_OPTIONAL;
    h->head_norm = VOUCH_HEAD_LAYER;
    h->is_parallel = !vouch_gguf_find_tensor(gguf, "blk.0.ffn_norm.weight");
    return vouch_dense_read(gguf, h, err);
}

#define GPT(id, text, pairs, read_it, take_it)                                                                       \
    const vouch_arch vouch_arch_##id = {                                                                             \
        .name = text, .rotary = VOUCH_ROTARY_##pairs, .read = read_it, .take = take_it}

GPT(gpt2, "gpt2", NONE, read_gpt2, vouch_dense_take);
GPT(starcoder, "starcoder", NONE, read_gpt2, vouch_dense_take);
GPT(starcoder2, "starcoder2", HALF_SPLIT, read_plain, vouch_dense_take);
GPT(codeshell, "codeshell", HALF_SPLIT, read_plain, vouch_dense_take);
GPT(bloom, "bloom", NONE, read_bloom, vouch_dense_take);
GPT(mpt, "mpt", NONE, read_mpt, take_mpt);
GPT(jais, "jais", NONE, read_jais, vouch_dense_take);
GPT(gptneox, "gptneox", HALF_SPLIT, read_gptneox, vouch_dense_take);
GPT(falcon, "falcon", HALF_SPLIT, read_falcon, take_falcon);
GPT(nemotron, "nemotron", HALF_SPLIT, read_squared, vouch_dense_take);
GPT(jais2, "jais2", HALF_SPLIT, read_squared, vouch_dense_take);
GPT(stablelm, "stablelm", HALF_SPLIT, read_stablelm, vouch_dense_take);
