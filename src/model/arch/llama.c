/* SPDX-License-Identifier: MIT */
/* Llama 2 and 3 (Touvron et al., arXiv 2302.13971); with experts, Mixtral (Jiang et al., arXiv 2401.04088). Then the
 * families that differ from Llama by a detail; some of them may have experts, too. */
#include <math.h>
#include <string.h>

#include "base/angle.h"
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mamba_tensors.h"
#include "model/load/mixture.h"

static vouch_status read_llama(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->experts.normalised = true;
    return vouch_mixture_read(gguf, h, err);
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
    VOUCH_TRY(read_llama(gguf, h, err));
    h->heat_length = h->rope_scaling.n_ctx_original;
    return vouch_dense_read_scale(gguf, h, "attention.temperature_scale", &h->heat, err);
}

/* Arcee's AFM: no gate, squared ReLU. */
static vouch_status read_arcee(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->activation = VOUCH_RELU_SQUARED;
    h->gate = VOUCH_GATE_NONE;
    return vouch_dense_read(gguf, h, err);
}

/* BitNet b1.58 (Ma et al., arXiv 2402.17764): a norm before W_o and before W_down. The output matrix is the embedding.
 */
static vouch_status read_bitnet(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_inner_norms = true;
    return vouch_dense_read(gguf, h, err);
}

/* Apertus (arXiv 2509.14233): no gate, xIELU, whose numbers each layer has, norms of heads. */
static vouch_status read_apertus(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    static const char *const keys[] = {"alpha_n", "alpha_p", "beta", "eps"};
    static const double usual[] = {0.8, 0.8, 0.5, -1e-6}; /* where training begins; files have all */
    double values[VOUCH_MOST_LAYERS];
    h->activation = VOUCH_XIELU;
    h->gate = VOUCH_GATE_NONE;
    h->head_norms = VOUCH_REQUIRED;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    for (int k = 0; k < 4; k++) {
        for (int32_t i = 0; i < h->n_layers; i++) values[i] = usual[k];
        VOUCH_TRY(vouch_key_floats(gguf, "xielu", keys[k], -1e3, 1e3, h->n_layers, values, err));
        for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].xielu[k] = (float)values[i];
    }
    return VOUCH_OK;
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

/* openPangu: as Llama, but factors of RoPE's frequencies are ignored. */
static vouch_status read_pangu(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_no_rope_factors = true;
    return vouch_dense_read(gguf, h, err);
}

/* Hunyuan (dense) and Maincoder: queries and keys of each head get an RMSNorm after RoPE. */
static vouch_status read_late_norms(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    h->head_norm = VOUCH_HEAD_RMS_LATE;
    return vouch_dense_read(gguf, h, err);
}

/* Hunyuan for pictures and text: the base of the angles is stretched for long contexts. */
static vouch_status read_hunyuan_vl(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    double stretch = 0;
    VOUCH_TRY(read_late_norms(gguf, h, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "rope.scaling.alpha", false, 0, 1e9, &stretch, err));
    if (stretch > 0 && h->head_dim > 2)
        h->rope_base *= vouch_power(stretch, (double)h->head_dim / (double)(h->head_dim - 2));
    return VOUCH_OK;
}

/* Hunyuan-A13B (Tencent): Hunyuan with experts. */
static vouch_status read_hunyuan_moe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    h->head_norm = VOUCH_HEAD_RMS_LATE;
    return read_llama(gguf, h, err);
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

/* PaddleOCR's text model has no experts, but its file may have a count of them. */
static vouch_status read_paddleocr(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->experts.are_allowed = true;
    return vouch_dense_read(gguf, h, err);
}

/* ERNIE 4.5, dense and with experts. Ignores biases of W_o, as llama.cpp does. */
static vouch_status read_ernie(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_no_feed_bias = true;
    return read_paddleocr(gguf, h, err);
}

static vouch_status read_ernie_moe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_no_feed_bias = true;
    return read_llama(gguf, h, err);
}

/* PLaMo 3: fused matrices, norms of heads and after the branches, windows in seven layers of eight with angles of their
 * own. */
static vouch_status read_plamo3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->gate = VOUCH_GATE_FUSED;
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    h->has_no_rope_factors = true;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    return vouch_dense_read_window_angles(gguf, h, 8, 10000, err);
}

/* OpenELM (arXiv 2404.14619): norms of heads; heads and widths differ from layer to layer. */
static vouch_status read_openelm(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    h->has_no_rope_factors = true;
    return vouch_dense_read(gguf, h, err);
}

/* Ignores scales of the fused matrix, as llama.cpp does here. */
static vouch_status take_unscaled(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    layer->attention.q_after.scale = layer->attention.k_after.scale = layer->attention.v_after.scale = NULL;
    return VOUCH_OK;
}

/* Refact: ALiBi. Ignores biases of W_o and of the feed-forward, as llama.cpp does. */
static vouch_status read_refact(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->alibi = 8;
    h->has_no_feed_bias = true;
    return vouch_dense_read(gguf, h, err);
}

/* CogVLM (arXiv 2311.03079): its text model is Llama. */
static vouch_status read_cogvlm(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_no_rope_factors = true;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    h->rope_base = 10000;
    h->rope_scaling = (vouch_rope_scaling){.factor = 1, .magnitude = 1, .n_ctx_original = h->n_ctx_train};
    return VOUCH_OK;
}

/* Text doesn't use the matrices for pictures. */
static vouch_status take_cogvlm(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    static const char *const of_pictures[] = {"vis_attn_qkv", "vis_attn_output", "vis_gate", "vis_down", "vis_up"};
    for (size_t i = 0; i < sizeof of_pictures / sizeof of_pictures[0]; i++)
        VOUCH_TRY(vouch_loader_ignore(loader, vouch_loader_name(loader, index, of_pictures[i])));
    return take_unscaled(loader, index, layer);
}

/* Granite, dense and with experts: scales of embedding, branches, scores and logits. */
static vouch_status read_granite_moe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_llama(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "embedding_scale", &h->embedding_scale, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "residual_scale", &h->residual_scale, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attention.scale", &h->attention_scale, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "logit_scale", &h->logit_scale, err));
    if (h->logit_scale != 0) h->logit_scale = 1 / h->logit_scale;
    return VOUCH_OK;
}

static vouch_status read_granite(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    bool is_rotated = true;
    VOUCH_TRY(read_granite_moe(gguf, h, err));
    VOUCH_TRY(vouch_key_bool(gguf, h->arch, "rope.scaling.finetuned", &is_rotated, err));
    for (int32_t i = 0; i < h->n_layers && !is_rotated; i++) h->layers[i].rotary = VOUCH_ROTARY_OF_NONE;
    return VOUCH_OK;
}

/* Reads the tokens that choose adapters, and those whose embeddings they have. */
static vouch_status read_adapter_tokens(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    static const char *const keys[] = {"adapters.token_ids_activate", "adapters.token_ids_substitute"};
    int32_t values[2][VOUCH_MOST_ADAPTERS];
    char name[96];
    for (int i = 0; i < 2; i++) {
        vouch_gguf_array list;
        VOUCH_TRY(vouch_gguf_get_array(gguf, vouch_key_name(name, sizeof name, h->arch, keys[i]), true, &list, err));
        if (list.count != (size_t)h->adapters.n)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s has %zu tokens, must have one for each of %d adapters",
                              vouch_gguf_path(gguf), name, list.count, h->adapters.n);
        VOUCH_TRY(vouch_key_ints(gguf, h->arch, keys[i], true, 0, (1 << 24) - 1, h->adapters.n, values[i], err));
    }
    for (int32_t i = 0; i < h->adapters.n; i++) {
        for (int32_t j = 0; j < i; j++)
            if (values[0][j] == values[0][i])
                return vouch_fail(err, VOUCH_E_FORMAT,
                                  "%s: %s.%s[%d] is %d, as [%d] is: each adapter must have a token of its own",
                                  vouch_gguf_path(gguf), h->arch, keys[0], i, values[0][i], j);
        h->adapters.of[i].token = values[0][i];
        h->adapters.of[i].substitute = values[1][i];
    }
    return VOUCH_OK;
}

/* The last layer finds the adapters of the rows. The file has no block for it. */
static vouch_status read_granite_switch(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    double gain = 15;
    VOUCH_TRY(read_granite(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "adapters.count", true, 1, VOUCH_MOST_ADAPTERS, &h->adapters.n, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "adapters.lora_rank", true, 1, 4096, &h->adapters.rank, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "adapters.router_gain", false, 0, 40, &gain, err));
    h->adapters.gain = (float)gain;
    if (h->n_layers == VOUCH_MOST_LAYERS || h->n_nextn > 0 || h->experts.n_experts > 0)
        return vouch_fail(
            err, VOUCH_E_UNSUPPORTED,
            "%s: %s.block_count %d must be below %d, and nextn_predict_layers %d and expert_count %d be 0",
            vouch_gguf_path(gguf), h->arch, h->n_layers, (int)VOUCH_MOST_LAYERS, h->n_nextn, h->experts.n_experts);
    h->layers[h->n_layers++].rotary = VOUCH_ROTARY_OF_NONE;
    return read_adapter_tokens(gguf, h, err);
}

/* Whether the first part of a tensor, one of n, has only zeros. */
static vouch_status find_idle(const vouch_loader *loader, const char *name, int64_t n, bool *is_idle)
{
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(loader->gguf, name);
    const size_t bytes = tensor->bytes / (size_t)n;
    VOUCH_TRY(vouch_gguf_load(loader->gguf, tensor, 0, bytes, loader->err));
    const char *data = tensor->data;
    *is_idle = data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0;
    return VOUCH_OK;
}

/* Takes the adapters of a matrix [n_out, n_in]. */
static vouch_status take_lora(vouch_loader *loader, int32_t index, const char *tensor, int64_t n_out, int64_t n_in,
                              vouch_lora *lora)
{
    const vouch_adapter_hparams *h = &loader->hparams->adapters;
    const int32_t n = h->n + 1;
    vouch_matrix first_a, first_b;
    bool is_first_idle;
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name_of(loader, index, tensor, "lora_a"), true, &first_a, n, n_in,
                                 (vouch_rows){0, h->rank, h->rank}));
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name_of(loader, index, tensor, "lora_b"), true, &first_b, n,
                                 h->rank, (vouch_rows){0, n_out, n_out}));
    VOUCH_TRY(find_idle(loader, loader->name, n, &is_first_idle));
    const vouch_loras all = vouch_loader_loras(loader, n, lora);
    for (int32_t i = 0; all.a && i < n; i++) {
        if (i == 0 && is_first_idle) continue;
        all.a[i] = vouch_matrix_at(&first_a, i);
        all.b[i] = vouch_matrix_at(&first_b, i);
        all.factors[i] = 1;
    }
    vouch_lora_find_needs(lora, n);
    return VOUCH_OK;
}

/* The layer that finds adapters. It has no tensors. */
static vouch_status take_finder(const vouch_loader *loader, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    for (int32_t i = 0; i < h->adapters.n; i++)
        if (h->adapters.of[i].substitute >= h->n_vocab)
            return vouch_fail(loader->err, VOUCH_E_FORMAT,
                              "%s: %s.adapters.token_ids_substitute[%d] is %d, must be below the vocabulary's size %d",
                              vouch_gguf_path(loader->gguf), h->arch, i, h->adapters.of[i].substitute, h->n_vocab);
    *layer = (vouch_layer){.attention = {.finds_adapters = true,
                                         .n_heads = 1,
                                         .n_kv_heads = 1,
                                         .head_dim = VOUCH_ADAPTER_HEAD,
                                         .value_dim = VOUCH_ADAPTER_HEAD,
                                         .rotary = VOUCH_ROTARY_OF_NONE,
                                         .scale = 1}};
    layer->mix.scale = layer->feed.scale = 1;
    return VOUCH_OK;
}

/* Ignores scales of matrices, as llama.cpp does. */
static vouch_status take_granite_switch(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const int64_t n_embd = loader->hparams->n_embd;
    if (index == loader->hparams->n_layers - 1) return take_finder(loader, layer);
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    vouch_attention *a = &layer->attention;
    vouch_feed_forward *f = &layer->ffn;
    const struct {
        const char *tensor;
        vouch_affine *after;
        int64_t n_out, n_in;
        int32_t part;
    } all[] = {{"attn_q", &a->q_after, a->q.n_out, n_embd, 0},   {"attn_k", &a->k_after, a->k.n_out, n_embd, 1},
               {"attn_v", &a->v_after, a->v.n_out, n_embd, 2},   {"attn_output", &a->o_after, n_embd, a->o.n_in, 0},
               {"ffn_gate", &f->gate_after, f->n_ff, n_embd, 0}, {"ffn_up", &f->up_after, f->n_ff, n_embd, 1},
               {"ffn_down", &f->down_after, n_embd, f->n_ff, 0}};
    enum { N = sizeof all / sizeof all[0] };
    vouch_lora *loras = vouch_arena_take(loader->arena, N, sizeof *loras), counted = {0};
    for (int i = 0; i < N; i++) {
        vouch_lora *lora = loras ? &loras[i] : &counted;
        *lora = (vouch_lora){.part = all[i].part};
        all[i].after->scale = NULL;
        all[i].after->lora = lora;
        VOUCH_TRY(take_lora(loader, index, all[i].tensor, all[i].n_out, all[i].n_in, lora));
    }
    return VOUCH_OK;
}

/* Granite 4: Mamba-2 in layers without heads. */
static vouch_status read_granite_hybrid(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_partial_layers = true;
    VOUCH_TRY(read_granite(gguf, h, err));
    return vouch_mamba2_read(gguf, h, err);
}

static vouch_status take_granite_hybrid(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    return layer->attention.n_heads > 0 ? VOUCH_OK : vouch_mamba2_take(loader, index, &layer->recurrent);
}

/* Granite with windows and sinks; some layers may have no rotation. */
static vouch_status read_granite_swa(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    int32_t rotates[VOUCH_MOST_LAYERS];
    h->sinks = VOUCH_REQUIRED;
    VOUCH_TRY(read_granite_moe(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, 1, VOUCH_LAST, err));
    for (int32_t i = 0; i < h->n_layers; i++) rotates[i] = 1;
    VOUCH_TRY(vouch_key_ints(gguf, h->arch, "attention.rope_pattern", false, 0, 1, h->n_layers, rotates, err));
    for (int32_t i = 0; i < h->n_layers; i++)
        if (!rotates[i]) h->layers[i].rotary = VOUCH_ROTARY_OF_NONE;
    return VOUCH_OK;
}

/* MiniCPM: as Granite. Where the file has no scales, they are those of MiniCPM's first release. */
static vouch_status read_minicpm(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_granite_moe(gguf, h, err));
    if (h->embedding_scale == 0) h->embedding_scale = 12;
    if (h->residual_scale == 0) h->residual_scale = 1.4f / sqrtf((float)h->n_layers);
    if (h->logit_scale == 0) h->logit_scale = 256.0f / (float)h->n_embd;
    return VOUCH_OK;
}

/* Talkie: norms without weights, also of the embedding, which each layer adds to its result; queries and keys of each
 * head are normalised after RoPE. Ignores scales of W_gate and W_up, as llama.cpp does. */
static vouch_status read_talkie(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_bare_norms = h->has_bare_embedding_norm = true;
    h->head_norms = VOUCH_REQUIRED;
    h->head_norm = VOUCH_HEAD_RMS_GAIN;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    return vouch_dense_read_scale(gguf, h, "logit_scale", &h->logit_scale, err);
}

static vouch_status take_talkie(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    layer->ffn.gate_after.scale = layer->ffn.up_after.scale = NULL;
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "layer_output_scale"), true,
                               &layer->first_scale, 1);
}

#define FAMILY(id, text, pairs, read_it, scales)                                                                     \
    const vouch_arch vouch_arch_##id = {.name = text,                                                                \
                                        .rotary = VOUCH_ROTARY_##pairs,                                              \
                                        .has_feed_scales = scales,                                                   \
                                        .read = read_it,                                                             \
                                        .take = vouch_mixture_take}

FAMILY(llama, "llama", ADJACENT, read_llama, true);
FAMILY(mistral3, "mistral3", ADJACENT, read_mistral3, true);
FAMILY(internlm2, "internlm2", ADJACENT, vouch_dense_read, false);
FAMILY(ernie4_5, "ernie4_5", ADJACENT, read_ernie, false);
FAMILY(ernie4_5_moe, "ernie4_5-moe", ADJACENT, read_ernie_moe, false);
FAMILY(paddleocr, "paddleocr", HALF_SPLIT, read_paddleocr, false);
FAMILY(xverse, "xverse", ADJACENT, vouch_dense_read, false);
FAMILY(exaone, "exaone", HALF_SPLIT, vouch_dense_read, false);
FAMILY(nanbeige, "nanbeige", ADJACENT, vouch_dense_read, true);
FAMILY(pangu, "pangu-embedded", HALF_SPLIT, read_pangu, false);
FAMILY(smollm3, "smollm3", ADJACENT, read_smollm3, false);
FAMILY(arcee, "arcee", ADJACENT, read_arcee, false);
FAMILY(bitnet, "bitnet", HALF_SPLIT, read_bitnet, true);
FAMILY(apertus, "apertus", HALF_SPLIT, read_apertus, false);
FAMILY(seed_oss, "seed_oss", HALF_SPLIT, read_seed_oss, false);
FAMILY(baichuan, "baichuan", ADJACENT, read_baichuan, false);
FAMILY(orion, "orion", HALF_SPLIT, read_orion, false);
FAMILY(plamo, "plamo", HALF_SPLIT, read_plamo, false);
FAMILY(granite, "granite", ADJACENT, read_granite, false);
FAMILY(granite_moe, "granitemoe", ADJACENT, read_granite_moe, false);
FAMILY(minicpm, "minicpm", ADJACENT, read_minicpm, false);
FAMILY(hunyuan, "hunyuan-dense", HALF_SPLIT, read_late_norms, false);
FAMILY(hunyuan_moe, "hunyuan-moe", HALF_SPLIT, read_hunyuan_moe, false);
FAMILY(maincoder, "maincoder", ADJACENT, read_late_norms, false);
FAMILY(hunyuan_vl, "hunyuan_vl", HALF_SPLIT, read_hunyuan_vl, false);
FAMILY(granite_swa, "granite_swa", ADJACENT, read_granite_swa, false);
const vouch_arch vouch_arch_granite_switch = {
    .name = "graniteswitch", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_granite_switch, .take = take_granite_switch};
const vouch_arch vouch_arch_granite_hybrid = {
    .name = "granitehybrid", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_granite_hybrid, .take = take_granite_hybrid};
FAMILY(refact, "refact", NONE, read_refact, false);
FAMILY(deci, "deci", ADJACENT, vouch_dense_read, false);
const vouch_arch vouch_arch_talkie = {.name = "talkie",
                                      .rotary = VOUCH_ROTARY_HALF_SPLIT,
                                      .has_feed_scales = true,
                                      .read = read_talkie,
                                      .take = take_talkie};
const vouch_arch vouch_arch_cogvlm = {
    .name = "cogvlm", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_cogvlm, .take = take_cogvlm};
const vouch_arch vouch_arch_plamo3 = {
    .name = "plamo3", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_plamo3, .take = take_unscaled};
const vouch_arch vouch_arch_openelm = {
    .name = "openelm", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_openelm, .take = take_unscaled};
