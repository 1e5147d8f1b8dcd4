/* SPDX-License-Identifier: MIT */
/* Kimi Linear (arXiv 2510.26692), Kimi-K3 and Ling 3 (inclusionAI): layers without KV heads are delta nets with a decay
 * for each key, the others have latent attention; experts as in DeepSeek-V3. Kimi doesn't rotate. In Ling 3 attention's
 * heads have gates, and a smallest decay bounds the others. Kimi-K3 has both, attention over depth, experts in a narrow
 * space, and an activation of its own. GLM-5 Next has hyper-connections and chooses its tokens as deepseek2.c says. */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/hyper_tensors.h"
#include "model/load/keys.h"
#include "model/load/latent_tensors.h"
#include "model/load/mixture.h"

/* The layers of both kinds have equally many heads. */
static vouch_status read_both(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_delta_hparams *r = &h->delta;
    h->has_partial_layers = true;
    h->experts.gating = VOUCH_GATING_SIGMOID;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_latent_read(gguf, h, err));
    h->attention_scale = 1 / sqrtf((float)h->latent.key_dim);
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.conv_kernel", true, 2, VOUCH_MAX_CONV, &r->width, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "kda.head_dim", true, 1, 1024, &r->head_dim, err));
    if (h->n_heads == 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.attention.head_count_kv is 0 in all layers, must be > 0 in one",
                          vouch_gguf_path(gguf), h->arch);
    r->n_heads = r->n_key_heads = h->n_heads;
    return VOUCH_OK;
}

/* Reads kda.gate_lower_bound, below which no logarithm of a decay lies. */
static vouch_status read_floor(const vouch_gguf *gguf, vouch_hparams *h, bool required, vouch_error *err)
{
    double floor = 0;
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "kda.gate_lower_bound", required, -1e3, 0, &floor, err));
    h->delta.decay_floor = (float)floor;
    return VOUCH_OK;
}

static vouch_status read_kimi_linear(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->experts.normalised = true;
    return read_both(gguf, h, err);
}

/* Files of models for pictures and text have RoPE sections, and rotate pairs half a head apart. */
static vouch_status read_bailingmoe3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    int32_t sections[4] = {0};
    bool is_bounded = true;
    VOUCH_TRY(read_both(gguf, h, err));
    VOUCH_TRY(vouch_key_ints(gguf, h->arch, "rope.dimension_sections", false, 0, 1024, 4, sections, err));
    if (sections[0] > 0 && sections[1] > 0) h->rotary = VOUCH_ROTARY_HALF_SPLIT;
    VOUCH_TRY(vouch_key_bool(gguf, h->arch, "kda.safe_gate", &is_bounded, err));
    VOUCH_TRY(read_floor(gguf, h, true, err));
    if (!is_bounded || h->delta.decay_floor == 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s.kda.safe_gate must be true, and kda.gate_lower_bound below 0, not %g",
                          vouch_gguf_path(gguf), h->arch, (double)h->delta.decay_floor);
    return vouch_mixture_read_limits(gguf, h, err);
}

static vouch_status read_kimi_k3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    double gate = 0, up = 0;
    h->activation = VOUCH_SITU;
    VOUCH_TRY(read_both(gguf, h, err));
    VOUCH_TRY(read_floor(gguf, h, false, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attn_res.block_size", true, 0, VOUCH_MOST_LAYERS, &h->depth_block, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_latent_length", false, 0, 1 << 20, &h->experts.n_narrow, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "activation.situ_beta", true, 1e-3, 1e6, &gate, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "activation.situ_linear_beta", true, 0, 1e6, &up, err));
    h->situ = (vouch_situ){.gate = (float)gate, .up = (float)up};
    if (h->n_nextn > 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s.nextn_predict_layers is %d, must be 0 for this architecture", vouch_gguf_path(gguf),
                          h->arch, h->n_nextn);
    return VOUCH_OK;
}

/* Limits of a shared or dense network are the experts' unless the file has them. */
static vouch_status read_glm5_limits(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    double dense[VOUCH_MOST_LAYERS];
    VOUCH_TRY(vouch_mixture_read_limits(gguf, h, err));
    h->limits_results = false;
    for (int32_t i = 0; i < h->n_layers; i++) dense[i] = (double)h->layers[i].limit;
    VOUCH_TRY(vouch_key_floats(gguf, h->arch, "swiglu_clamp_shexp", 0, 1e9, h->n_layers, dense, err));
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].dense_limit = (float)dense[i];
    return VOUCH_OK;
}

static vouch_status read_glm5_next(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_both(gguf, h, err));
    char name[96];
    if (!vouch_gguf_has(gguf, vouch_key_name(name, sizeof name, h->arch, "rope.dimension_count")))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is missing, must be 0", vouch_gguf_path(gguf), name);
    if (h->n_rot > 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s is %d, must be 0", vouch_gguf_path(gguf), name, h->n_rot);
    VOUCH_TRY(read_floor(gguf, h, false, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.indexer.top_k", true, 1, INT_MAX, &h->n_ctx_most, err));
    VOUCH_TRY(vouch_hyper_read_keys(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "hyper_connection.sinkhorn_iterations", true, 1, 1000, &h->hyper.n_rounds,
                            err));
    h->hyper.most = 2;
    h->hyper.ends_in_mean = true;
    return read_glm5_limits(gguf, h, err);
}

/* Takes W_q, W_k and W_v with their convolutions. Ignores their biases and scales, as llama.cpp does. */
static vouch_status take_inputs(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    static const char *const parts[] = {"q", "k", "v"};
    const int64_t n = (int64_t)r->n_heads * r->n_keys;
    float *conv = vouch_arena_take(loader->arena, (size_t)(r->conv.n_channels * r->conv.width), sizeof *conv);
    char tensor[24];
    r->conv.weights = conv;
    for (int i = 0; i < 3; i++) {
        snprintf(tensor, sizeof tensor, "attn_%s", parts[i]);
        VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, tensor), true, &r->in[i], n,
                                      loader->hparams->n_embd));
        VOUCH_TRY(vouch_loader_ignore_tensor(loader, index, tensor));
        snprintf(tensor, sizeof tensor, "ssm_conv1d_%s", parts[i]);
        VOUCH_TRY(vouch_loader_columns(loader, vouch_loader_name(loader, index, tensor), conv, r->conv.width,
                                       (vouch_rows){i * n, n, 3 * n}));
    }
    return VOUCH_OK;
}

/* Takes a matrix [n, n_embd], or, with a second tensor, the product of [n, head_dim] and [head_dim, n_embd]. */
static vouch_status take_product(vouch_loader *loader, int32_t index, const char *first, const char *second, int64_t n,
                                 vouch_matrix *low, vouch_matrix *matrix)
{
    const int64_t n_embd = loader->hparams->n_embd, n_low = loader->hparams->delta.head_dim;
    if (!vouch_loader_has(loader, index, second))
        return vouch_loader_matrix(loader, vouch_loader_name(loader, index, first), true, matrix, n, n_embd);
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, first), true, low, n_low, n_embd));
    return vouch_loader_matrix(loader, vouch_loader_name(loader, index, second), true, matrix, n, n_low);
}

/* Takes a, [n_heads] or [n_heads, 1]. */
static vouch_status take_rates(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    const char *name = vouch_loader_name_of(loader, index, "ssm_a", NULL);
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(loader->gguf, name);
    const bool is_flat = tensor && tensor->dim[0] == r->n_heads;
    return vouch_loader_vectors(loader, name, true, &r->a, is_flat ? 1 : r->n_heads, is_flat ? r->n_heads : 1);
}

/* Takes W_gate: ssm_g, or a product. */
static vouch_status take_gate(vouch_loader *loader, int32_t index, int64_t n, vouch_recurrent *r)
{
    if (!vouch_loader_has(loader, index, "ssm_g"))
        return take_product(loader, index, "ssm_g_a", "ssm_g_b", n, &r->gate_low, &r->gate);
    return vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ssm_g"), true, &r->gate, n,
                               loader->hparams->n_embd);
}

static vouch_status take_delta_net(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    const vouch_hparams *h = loader->hparams;
    const vouch_delta_hparams *all = &h->delta;
    const int64_t n = (int64_t)all->n_heads * all->head_dim;
    *r = (vouch_recurrent){.conv = {.n_channels = 3 * n, .width = all->width, .has_silu = true},
                           .kind = VOUCH_DELTA_NET,
                           .n_heads = all->n_heads,
                           .n_key_heads = all->n_heads,
                           .n_keys = all->head_dim,
                           .n_values = all->head_dim,
                           .k = n,
                           .v = 2 * n,
                           .has_key_decays = true,
                           .decay_floor = all->decay_floor,
                           .has_sigmoid_gate = true};
    VOUCH_TRY(take_inputs(loader, index, r));
    VOUCH_TRY(take_product(loader, index, "ssm_f_a", "ssm_f_b", n, &r->decay_low, &r->decay));
    VOUCH_TRY(take_gate(loader, index, n, r));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ssm_beta"), true, &r->rate, r->n_heads,
                                  h->n_embd));
    VOUCH_TRY(vouch_loader_ignore_tensor(loader, index, "ssm_beta"));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ssm_dt", "bias"), true, &r->decay_bias,
                                  n));
    VOUCH_TRY(take_rates(loader, index, r));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "ssm_norm"), true, &r->norm, r->n_values));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_output"), true, &r->out, h->n_embd,
                                  n));
    return vouch_loader_ignore_tensor(loader, index, "attn_output");
}

static vouch_status take_kimi(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    if (layer->attention.n_heads == 0) return take_delta_net(loader, index, &layer->recurrent);
    return vouch_loader_ignore_tensor(loader, index, "attn_q");
}

static vouch_status take_bailingmoe3(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    vouch_attention *a = &layer->attention;
    VOUCH_TRY(take_kimi(loader, index, layer));
    if (a->n_heads == 0) return VOUCH_OK;
    a->o_after.scale = NULL; /* as in llama.cpp */
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_gate"), true, &a->gate, a->n_heads,
                                  loader->hparams->n_embd));
    return vouch_loader_ignore_tensor(loader, index, "attn_gate");
}

/* Takes W_narrow, W_widen and the norm between them. */
static vouch_status take_narrow(vouch_loader *loader, int32_t index, vouch_experts *e)
{
    const int64_t n_embd = loader->hparams->n_embd, n = loader->hparams->experts.n_narrow;
    if (n == 0 || e->n_experts == 0) return VOUCH_OK;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_routed_down"), true, &e->narrow, n,
                                  n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_routed_up"), true, &e->widen, n_embd,
                                  n));
    const char *norm = vouch_loader_name(loader, index, "ffn_routed_norm");
    e->narrow_norm.kind = vouch_gguf_find_tensor(loader->gguf, norm) ? VOUCH_NORM_RMS : VOUCH_NORM_NONE;
    return vouch_loader_vector(loader, norm, false, &e->narrow_norm.weight, n);
}

static vouch_status take_depth(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const int32_t block = loader->hparams->depth_block;
    if (block == 0) return VOUCH_OK;
    layer->mix.depth = (vouch_depth){.n_kept = (index + block - 1) / block, .keeps = index % block == 0};
    layer->feed.depth.n_kept = index / block + 1;
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_res_score"), true,
                                  &layer->mix.depth.query, loader->hparams->n_embd));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "ffn_res_score"), true,
                               &layer->feed.depth.query, loader->hparams->n_embd);
}

/* Does a layer with attention have a gate? Then all have one. */
static bool has_gates(vouch_loader *loader)
{
    const vouch_hparams *h = loader->hparams;
    for (int32_t i = 0; i < h->n_layers; i++)
        if (h->layers[i].n_heads > 0 && vouch_loader_has(loader, i, "attn_gate")) return true;
    return false;
}

/* Ignores scales of matrices, as llama.cpp does. */
static vouch_status take_kimi_k3(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    vouch_attention *a = &layer->attention;
    VOUCH_TRY(take_kimi(loader, index, layer));
    VOUCH_TRY(take_narrow(loader, index, &layer->experts));
    VOUCH_TRY(take_depth(loader, index, layer));
    layer->recurrent.is_a_negated = true;
    if (a->n_heads == 0) return VOUCH_OK;
    const bool is_gated = has_gates(loader);
    a->o_after.scale = NULL;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_gate"), is_gated, &a->gate,
                                  (int64_t)a->n_heads * a->latent.value_dim, loader->hparams->n_embd));
    return vouch_loader_ignore_tensor(loader, index, "attn_gate");
}

static vouch_status take_glm5_next(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(take_kimi(loader, index, layer));
    layer->recurrent.is_a_negated = true;
    layer->attention.o_after.scale = NULL;
    VOUCH_TRY(vouch_latent_ignore_indexer(loader, index));
    return vouch_hyper_take(loader, index, layer);
}

const vouch_arch vouch_arch_glm5_next = {
    .name = "glm5-next", .rotary = VOUCH_ROTARY_NONE, .read = read_glm5_next, .take = take_glm5_next};
const vouch_arch vouch_arch_kimi_k3 = {
    .name = "kimi-k3", .rotary = VOUCH_ROTARY_NONE, .read = read_kimi_k3, .take = take_kimi_k3};
const vouch_arch vouch_arch_kimi_linear = {
    .name = "kimi-linear", .rotary = VOUCH_ROTARY_NONE, .read = read_kimi_linear, .take = take_kimi};
const vouch_arch vouch_arch_bailingmoe3 = {
    .name = "bailingmoe3", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_bailingmoe3, .take = take_bailingmoe3};
