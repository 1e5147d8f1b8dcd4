/* SPDX-License-Identifier: MIT */
#include "model/load/lora_files.h"
#include "model/load/dense.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/common.h"
#include "model/load/keys.h"
#include "model/load/latent_tensors.h"

/* --------------------------------------------------------------- hyperparameters */

static vouch_status check_heads(const vouch_gguf *gguf, const vouch_hparams *h, vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf), *arch = h->arch;
    char name[96];
    for (int32_t i = 0; i < h->n_layers; i++)
        if (h->layers[i].n_kv_heads > 0 && h->layers[i].n_heads % h->layers[i].n_kv_heads != 0)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.attention.head_count %d is no multiple of head_count_kv %d",
                              path, arch, h->layers[i].n_heads, h->layers[i].n_kv_heads);
    if (h->head_dim % 2 != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.%s gives a head width of %d, which must be even", path, arch,
                          vouch_gguf_has(gguf, vouch_key_name(name, sizeof name, arch, "attention.key_length"))
                              ? "attention.key_length"
                              : "embedding_length over attention.head_count",
                          h->head_dim);
    if (h->n_rot % 2 != 0 || h->n_rot > h->head_dim)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: %s.rope.dimension_count %d must be even and at most the head width %d", path, arch,
                          h->n_rot, h->head_dim);
    return VOUCH_OK;
}

/* The layers, and after them the blocks that are heads. */
static int32_t n_blocks(const vouch_hparams *h)
{
    return h->n_layers + h->n_nextn;
}

/* Reads the numbers that may differ from block to block. */
static vouch_status read_layers(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    int32_t values[VOUCH_MOST_LAYERS];
    const int32_t n = n_blocks(h), least = h->has_partial_layers ? 0 : 1;
    VOUCH_TRY(vouch_key_ints(gguf, h->arch, "attention.head_count", true, least, 4096, n, values, err));
    for (int32_t i = 0; i < n; i++) h->layers[i].n_heads = values[i];
    VOUCH_TRY(vouch_key_ints(gguf, h->arch, "attention.head_count_kv", false, least, 4096, n, values, err));
    for (int32_t i = 0; i < n; i++) h->layers[i].n_kv_heads = values[i];
    VOUCH_TRY(vouch_key_ints(gguf, h->arch, "feed_forward_length", true, least, 1 << 22, n, values, err));
    for (int32_t i = 0; i < n; i++) {
        h->layers[i].n_ff = values[i];
        if (h->layers[i].n_kv_heads == 0) h->layers[i].n_heads = 0;
        if (i >= h->n_layers) continue;
        h->n_heads = vouch_max(h->n_heads, h->layers[i].n_heads);
        h->n_kv_heads = vouch_max(h->n_kv_heads, h->layers[i].n_kv_heads);
        h->n_ff = vouch_max(h->n_ff, h->layers[i].n_ff);
    }
    return VOUCH_OK;
}

static vouch_status read_attention(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const char *arch = h->arch;
    if (h->n_heads == 0) return VOUCH_OK;
    h->head_dim = h->n_embd / h->n_heads;
    VOUCH_TRY(vouch_key_int(gguf, arch, "attention.key_length", false, 2, 1024, &h->head_dim, err));
    if (h->head_dim < 2 || h->head_dim > 1024)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.embedding_length %d over head_count %d gives a head width of %d",
                          vouch_gguf_path(gguf), arch, h->n_embd, h->n_heads, h->head_dim);
    h->value_dim = h->head_dim;
    VOUCH_TRY(vouch_key_int(gguf, arch, "attention.value_length", false, 2, 1024, &h->value_dim, err));
    h->n_rot = h->head_dim;
    const int32_t least = h->rotary == VOUCH_ROTARY_NONE ? 0 : 2;
    VOUCH_TRY(vouch_key_int(gguf, arch, "rope.dimension_count", false, least, 1024, &h->n_rot, err));
    h->rope_base = 10000;
    VOUCH_TRY(vouch_key_float(gguf, arch, "rope.freq_base", false, 1, 1e12, &h->rope_base, err));
    VOUCH_TRY(vouch_key_rope_scaling(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "attention.sliding_window", false, 0, INT_MAX, &h->window, err));
    for (int32_t i = 0; i < n_blocks(h); i++) h->layers[i].has_window = h->window > 0;
    return check_heads(gguf, h, err);
}

/* Some files of Nemotron-H have the epsilon of their RMSNorm under LayerNorm's name. */
static bool has_only_layer_norm_eps(const vouch_gguf *gguf, const char *arch)
{
    char name[96];
    return !vouch_gguf_has(gguf, vouch_key_name(name, sizeof name, arch, "attention.layer_norm_rms_epsilon")) &&
           vouch_gguf_has(gguf, vouch_key_name(name, sizeof name, arch, "attention.layer_norm_epsilon"));
}

vouch_status vouch_dense_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const char *arch = h->arch;
    int32_t n_experts = 0;
    double eps = 0;
    VOUCH_TRY(vouch_key_int(gguf, arch, "block_count", true, 1, VOUCH_MOST_LAYERS, &h->n_layers, err));
    if (!h->is_head) {
        VOUCH_TRY(vouch_key_int(gguf, arch, "nextn_predict_layers", false, 0, h->n_layers - 1, &h->n_nextn, err));
        h->n_layers -= h->n_nextn;
    }
    VOUCH_TRY(vouch_key_int(gguf, arch, "context_length", true, 1, INT_MAX / 2, &h->n_ctx_train, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "embedding_length", true, 1, 1 << 20, &h->n_embd, err));
    VOUCH_TRY(read_layers(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "expert_count", false, 0, INT_MAX, &n_experts, err));
    if (n_experts > 0 && !h->experts.are_allowed)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s.expert_count is %d: %s models with experts are not supported", vouch_gguf_path(gguf),
                          arch, n_experts, arch);
    const bool is_rms = h->norm == VOUCH_NORM_RMS && !has_only_layer_norm_eps(gguf, arch);
    VOUCH_TRY(vouch_key_float(gguf, arch, is_rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon",
                              true, 1e-12, 1, &eps, err));
    h->norm_eps = (float)eps;
    return read_attention(gguf, h, err);
}

vouch_status vouch_dense_read_windows(const vouch_gguf *gguf, vouch_hparams *h, int32_t period, vouch_full_layer full,
                                      vouch_error *err)
{
    bool is_list;
    uint8_t flags[VOUCH_MOST_LAYERS];
    VOUCH_TRY(vouch_key_flags(gguf, h->arch, "attention.sliding_window_pattern", h->n_layers, n_blocks(h), &is_list,
                              flags, err));
    if (!is_list)
        VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.sliding_window_pattern", false, 1, VOUCH_MOST_LAYERS, &period,
                                err));
    const int32_t without = full == VOUCH_FIRST ? 0 : period - 1;
    for (int32_t i = 0; i < n_blocks(h); i++)
        h->layers[i].has_window = h->window > 0 && (is_list ? flags[i] != 0 : i < h->n_layers && i % period != without);
    return VOUCH_OK;
}

vouch_status vouch_dense_read_window_angles(const vouch_gguf *gguf, vouch_hparams *h, int32_t period, double base,
                                            vouch_error *err)
{
    if (h->window == 0) return VOUCH_OK;
    h->rope_base_window = base;
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "rope.freq_base_swa", false, 1, 1e12, &h->rope_base_window, err));
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, period, VOUCH_LAST, err));
    vouch_dense_rotate(h, VOUCH_ROTARY_OF_WINDOW, VOUCH_ROTARY_OF_MODEL);
    return VOUCH_OK;
}

vouch_status vouch_dense_read_recurrent(const vouch_gguf *gguf, vouch_hparams *h, int32_t interval, vouch_error *err)
{
    bool is_list;
    uint8_t flags[VOUCH_MOST_LAYERS];
    VOUCH_TRY(vouch_key_flags(gguf, h->arch, "attention.recurrent_layers", h->n_layers, h->n_layers, &is_list, flags,
                              err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "full_attention_interval", false, 1, VOUCH_MOST_LAYERS, &interval, err));
    for (int32_t i = 0; i < h->n_layers; i++)
        if (is_list ? flags[i] != 0 : (i + 1) % interval != 0) h->layers[i].n_heads = h->layers[i].n_kv_heads = 0;
    return VOUCH_OK;
}

void vouch_dense_rotate(vouch_hparams *h, uint8_t with_window, uint8_t without)
{
    for (int32_t i = 0; i < n_blocks(h); i++) h->layers[i].rotary = h->layers[i].has_window ? with_window : without;
}

vouch_status vouch_dense_read_scale(const vouch_gguf *gguf, const vouch_hparams *h, const char *key, float *value,
                                    vouch_error *err)
{
    double wide = (double)*value;
    VOUCH_TRY(vouch_key_float(gguf, h->arch, key, false, 0, 1e6, &wide, err));
    *value = (float)wide;
    return VOUCH_OK;
}

/* ----------------------------------------------------------------------- tensors */

vouch_status vouch_dense_take_norm(vouch_loader *loader, int32_t index, const char *tensor, vouch_norm *norm)
{
    const vouch_hparams *h = loader->hparams;
    *norm = (vouch_norm){.kind = h->norm};
    if (h->has_bare_norms) return VOUCH_OK;
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_norm_name(loader, index, tensor), true, &norm->weight,
                                  h->n_embd));
    return vouch_loader_vector(loader, vouch_loader_name_of(loader, index, tensor, "bias"), false, &norm->bias,
                               h->n_embd);
}

static vouch_status take_norm_after(vouch_loader *loader, int32_t index, const char *tensor, const float **norm)
{
    const vouch_hparams *h = loader->hparams;
    if (h->norms_after == VOUCH_ABSENT) return VOUCH_OK;
    return vouch_loader_vector(loader, vouch_loader_norm_name(loader, index, tensor), h->norms_after == VOUCH_REQUIRED,
                               norm, h->n_embd);
}

vouch_status vouch_dense_take_feed_affine(vouch_loader *loader, int32_t index, const char *tensor, vouch_affine *affine,
                                          vouch_rows rows)
{
    VOUCH_TRY(vouch_loader_affine(loader, index, tensor, affine, rows));
    affine->is_bias_scaled = true;
    if (!loader->hparams->has_feed_scales) affine->scale = NULL;
    if (loader->hparams->has_no_feed_bias) affine->bias = NULL;
    return VOUCH_OK;
}

/* Takes W_q, W_k and W_v from three tensors, or from one in which they lie one below the other. */
static vouch_status take_projections(vouch_loader *loader, int32_t index, vouch_attention *a)
{
    const int64_t n_in = (int64_t)loader->hparams->n_embd * (a->reads_pairs ? 2 : 1),
                  n_q = (int64_t)a->n_heads * a->head_dim * (a->is_gated ? 2 : 1),
                  n_k = (int64_t)a->n_kv_heads * a->head_dim, n_v = (int64_t)a->n_kv_heads * a->value_dim;
    const bool is_fused = vouch_loader_has(loader, index, "attn_qkv");
    const int n_parts = vouch_attention_has_keys(a) ? 3 : 1;
    const struct {
        const char *name;
        vouch_matrix *matrix;
        vouch_affine *after;
        int64_t first, n;
    } parts[] = {{"attn_q", &a->q, &a->q_after, 0, n_q},
                 {"attn_k", &a->k, &a->k_after, n_q, n_k},
                 {"attn_v", &a->v, &a->v_after, n_q + n_k, n_v}};
    for (int i = 0; i < n_parts; i++) {
        const char *name = is_fused ? "attn_qkv" : parts[i].name;
        const vouch_rows rows = {is_fused ? parts[i].first : 0, parts[i].n, is_fused ? n_q + n_k + n_v : parts[i].n};
        VOUCH_TRY(vouch_loader_rows(loader, vouch_loader_name(loader, index, name), true, parts[i].matrix, n_in, rows));
        VOUCH_TRY(vouch_loader_affine(loader, index, name, parts[i].after, rows));
        VOUCH_TRY(vouch_lora_files_take(loader, index, name, parts[i].after, rows, i));
        if (i == 1 && loader->hparams->keys_may_be_values && !is_fused && !vouch_loader_has(loader, index, "attn_v")) {
            if (a->k_after.lora)
                return vouch_fail(loader->err, VOUCH_E_UNSUPPORTED, "%s: keys that are values can't have adapters",
                                  vouch_gguf_path(loader->gguf));
            a->v = a->k;
            a->v_after = a->k_after;
            break;
        }
    }
    return VOUCH_OK;
}

static vouch_status take_head_norm(vouch_loader *loader, const char *name, const vouch_attention *a, int32_t n_heads,
                                   const float **weights)
{
    const bool is_required = loader->hparams->head_norms == VOUCH_REQUIRED;
    if (loader->hparams->head_norms == VOUCH_ABSENT) return VOUCH_OK;
    if (a->head_norm == VOUCH_HEADS_RMS || a->head_norm == VOUCH_HEADS_LAYER)
        return vouch_loader_vector(loader, name, is_required, weights, (int64_t)n_heads * a->head_dim);
    if (a->head_norm == VOUCH_HEAD_RMS_GAIN)
        return vouch_loader_vectors(loader, name, is_required, weights, n_heads, 1);
    return vouch_loader_vectors(loader, name, is_required, weights, vouch_head_norm_is_own(a->head_norm) ? n_heads : 1,
                                a->head_dim);
}

static vouch_status take_attention(vouch_loader *loader, int32_t index, vouch_attention *a)
{
    const vouch_hparams *h = loader->hparams;
    const int32_t width_here = h->layers[index].head_dim;
    *a = (vouch_attention){
        .n_heads = h->layers[index].n_heads,
        .n_kv_heads = h->layers[index].n_kv_heads,
        .reads_pairs = h->layers[index].reads_pairs,
        .is_gated = h->has_head_gates,
        .head_dim = width_here > 0 ? width_here : h->head_dim,
        .value_dim = width_here > 0 ? width_here : h->value_dim,
        .has_value_norm = h->has_value_norm,
        .shared_back = h->layers[index].shared_back,
        .lender = h->layers[index].lender,
        .rotary = h->layers[index].rotary,
        .scale = h->attention_scale != 0 ? h->attention_scale : 1.0f / sqrtf((float)h->head_dim),
        .clamp = h->clamp,
        .head_norm = h->head_norm,
        .softcap = h->attention_softcap,
        .alibi = h->alibi,
        .window = h->layers[index].has_window ? h->window : 0,
        .has_chunks = h->has_chunks,
        .heat = h->layers[index].has_no_heat ? 0 : h->heat,
        .heat_length = h->heat_length,
        .heat_shift = h->heat_shift,
    };
    if (h->latent.rank > 0) VOUCH_TRY(vouch_latent_take(loader, index, a));
    else VOUCH_TRY(take_projections(loader, index, a));
    const int64_t width = a->latent.rank > 0 ? a->latent.value_dim : a->value_dim;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_output"), true, &a->o, h->n_embd,
                                  a->n_heads * width));
    VOUCH_TRY(vouch_loader_affine(loader, index, "attn_output", &a->o_after, (vouch_rows){0, h->n_embd, h->n_embd}));
    VOUCH_TRY(vouch_lora_files_take(loader, index, "attn_output", &a->o_after, (vouch_rows){0, h->n_embd, h->n_embd},
                                    0));
    if (h->has_no_feed_bias) a->o_after.bias = NULL;
    if (h->has_inner_norms)
        VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_norm_name(loader, index, "attn_sub_norm"), true, &a->o_norm,
                                      a->n_heads * width));
    VOUCH_TRY(take_head_norm(loader, vouch_loader_name(loader, index, "attn_q_norm"), a, a->n_heads, &a->q_norm));
    if (vouch_attention_has_keys(a) && a->head_norm != VOUCH_HEAD_RMS_GAIN)
        VOUCH_TRY(take_head_norm(loader, vouch_loader_name(loader, index, "attn_k_norm"), a, a->n_kv_heads,
                                 &a->k_norm));
    if (h->sinks == VOUCH_ABSENT) return VOUCH_OK;
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_sinks"), h->sinks == VOUCH_REQUIRED,
                               &a->sinks, a->n_heads);
}

vouch_status vouch_dense_take_attention(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    *layer = (vouch_layer){.is_parallel = h->is_parallel};
    layer->mix.scale = layer->feed.scale = h->residual_scale != 0 ? h->residual_scale : 1;
    layer->mix.carry = layer->feed.carry = h->carry;
    if (h->layers[index].n_heads > 0) VOUCH_TRY(take_attention(loader, index, &layer->attention));
    if (h->has_no_norms_before || h->layers[index].has_no_mix_norm) layer->mix.norm.kind = VOUCH_NORM_NONE;
    else VOUCH_TRY(vouch_dense_take_norm(loader, index, "attn_norm", &layer->mix.norm));
    if (h->feed_norm) return VOUCH_OK;
    return take_norm_after(loader, index, "post_attention_norm", &layer->mix.norm_after);
}

vouch_status vouch_dense_take_feed_norms(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    const char *norm = h->feed_norm ? h->feed_norm : "ffn_norm";
    if (h->has_no_norms_before) layer->feed.norm.kind = VOUCH_NORM_NONE;
    else if (layer->is_parallel && !vouch_loader_has(loader, index, norm)) layer->feed.norm = layer->mix.norm;
    else VOUCH_TRY(vouch_dense_take_norm(loader, index, norm, &layer->feed.norm));
    return take_norm_after(loader, index, "post_ffw_norm", &layer->feed.norm_after);
}

static vouch_status take_gate_and_up(vouch_loader *loader, int32_t index, vouch_feed_forward *f)
{
    const int64_t n_embd = loader->hparams->n_embd, n_ff = f->n_ff;
    const bool is_fused = loader->hparams->gate == VOUCH_GATE_FUSED;
    const vouch_rows gate = {0, n_ff, is_fused ? 2 * n_ff : n_ff}, up = {is_fused ? n_ff : 0, n_ff, gate.of};
    if (loader->hparams->gate != VOUCH_GATE_NONE) {
        const char *name = is_fused ? "ffn_up" : "ffn_gate";
        VOUCH_TRY(vouch_loader_rows(loader, vouch_loader_name(loader, index, name), true, &f->gate, n_embd, gate));
        VOUCH_TRY(vouch_dense_take_feed_affine(loader, index, name, &f->gate_after, gate));
        VOUCH_TRY(vouch_lora_files_take(loader, index, name, &f->gate_after, gate, 0));
    }
    VOUCH_TRY(vouch_loader_rows(loader, vouch_loader_name(loader, index, "ffn_up"), true, &f->up, n_embd, up));
    VOUCH_TRY(vouch_dense_take_feed_affine(loader, index, "ffn_up", &f->up_after, up));
    return vouch_lora_files_take(loader, index, "ffn_up", &f->up_after, up, 1);
}

static double softplus(double x)
{
    return x > 20 ? x : log1p(exp(x));
}

/* The trained numbers are those before a softplus, which keeps both bends positive. */
static void take_xielu(const float trained[4], vouch_feed_forward *f)
{
    f->xielu.negative = trained[2] + (float)softplus(trained[0]);
    f->xielu.positive = (float)softplus(trained[1]);
    f->xielu.slope = trained[2];
    f->xielu.most = trained[3];
}

vouch_status vouch_dense_take_feed_forward(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    vouch_feed_forward *f = &layer->ffn;
    if (h->layers[index].n_ff == 0) return VOUCH_OK;
    f->n_ff = h->layers[index].n_ff;
    f->activation = h->activation;
    f->limit = h->layers[index].dense_limit;
    f->limits_result = h->limits_results;
    f->sparsity = h->layers[index].sparsity;
    f->situ = h->situ;
    if (h->activation == VOUCH_XIELU) take_xielu(h->layers[index].xielu, f);
    if (h->has_inner_norms)
        VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_norm_name(loader, index, "ffn_sub_norm"), true,
                                      &f->down_norm, f->n_ff));
    VOUCH_TRY(take_gate_and_up(loader, index, f));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_down"), true, &f->down, h->n_embd,
                                  f->n_ff));
    const vouch_rows down = {0, h->n_embd, h->n_embd};
    VOUCH_TRY(vouch_dense_take_feed_affine(loader, index, "ffn_down", &f->down_after, down));
    VOUCH_TRY(vouch_lora_files_take(loader, index, "ffn_down", &f->down_after, down, 0));
    if (h->gate == VOUCH_GATE_NONE)
        VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ffn.act", "scales"), false,
                                      &f->divisors, f->n_ff));
    return vouch_dense_take_feed_norms(loader, index, layer);
}

vouch_status vouch_dense_take(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    return vouch_dense_take_feed_forward(loader, index, layer);
}
