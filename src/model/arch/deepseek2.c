/* SPDX-License-Identifier: MIT */
/* Latent attention: DeepSeek-V2 (arXiv 2405.04434), V3 and R1 (2412.19437), and Mistral 4, with experts; MiniCPM3
 * (2404.06395) and PLM (2503.12167), dense. In DeepSeek-V3.2 (2512.02556), GLM-5 and dots3-note (rednote) a row sees
 * only top_k chosen tokens. vouch leaves the choice out and allows contexts of at most top_k tokens, in which a row
 * sees all. dots3-note also has layers with a window, whose heads have other widths, and gates of heads. */
#include <limits.h>
#include <math.h>

#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/hyper_tensors.h"
#include "model/load/keys.h"
#include "model/load/latent_tensors.h"
#include "model/load/mixture.h"

static vouch_status read_deepseek2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attention.temperature_scale", &h->heat, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.temperature_length", false, 0, INT_MAX, &h->heat_length, err));
    if (h->heat_length == 0) h->heat_length = h->rope_scaling.n_ctx_original;
    return vouch_latent_read(gguf, h, err);
}

static vouch_status read_sparse(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.indexer.top_k", true, 1, INT_MAX, &h->n_ctx_most, err));
    return read_deepseek2(gguf, h, err);
}

static vouch_status read_glm_dsa(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->experts.gating = VOUCH_GATING_SIGMOID;
    return read_sparse(gguf, h, err);
}

/* Hunyuan 4: hyper-connections, sinks, a gate for each element of attention's result, and a choice of tokens only where
 * the file has an indexer. The shared network has no limits. */
static vouch_status read_hy_v4(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    double most = 0;
    h->sinks = VOUCH_REQUIRED;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.indexer.top_k", false, 0, INT_MAX, &h->n_ctx_most, err));
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_latent_read(gguf, h, err));
    h->attention_scale = 1 / sqrtf((float)h->latent.key_dim);
    VOUCH_TRY(vouch_hyper_read_keys(gguf, h, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "hyper_connection.magnitude", true, 0, 1e3, &most, err));
    h->hyper.most = (float)most;
    h->hyper.write_eps = h->hyper.eps;
    VOUCH_TRY(vouch_mixture_read_limits(gguf, h, err));
    h->limits_results = false;
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].dense_limit = 0;
    return VOUCH_OK;
}

static vouch_status take_sparse(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_latent_ignore_indexer(loader, index));
    return vouch_mixture_take(loader, index, layer);
}

/* The scales of attention's matrices are ignored, as in llama.cpp. */
static vouch_status take_hy_v4(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    vouch_attention *a = &layer->attention;
    VOUCH_TRY(take_sparse(loader, index, layer));
    a->o_after.scale = NULL;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_gate"), true, &a->gate,
                                  (int64_t)a->n_heads * a->latent.value_dim, loader->hparams->n_embd));
    VOUCH_TRY(vouch_loader_ignore_tensor(loader, index, "attn_gate"));
    return vouch_hyper_take(loader, index, layer);
}

/* Reads which layers have a window, and their widths and angles. */
static vouch_status read_dots_windows(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    bool is_list;
    uint8_t flags[VOUCH_MOST_LAYERS];
    VOUCH_TRY(vouch_key_flags(gguf, h->arch, "attention.sliding_window_pattern", h->n_layers, h->n_layers, &is_list,
                              flags, err));
    if (!is_list || h->window == 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: %s.attention.sliding_window_pattern must be a list of flags, and sliding_window %d > 0",
                          vouch_gguf_path(gguf), h->arch, h->window);
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].has_window = flags[i] != 0;
    VOUCH_TRY(vouch_latent_read_numbers(gguf, h, "_swa", &h->latent_window, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "rope.freq_base_swa", true, 1, 1e12, &h->rope_base_window, err));
    h->rope_scaling_window = h->rope_scaling;
    vouch_dense_rotate(h, VOUCH_ROTARY_OF_WINDOW, VOUCH_ROTARY_OF_MODEL);
    return VOUCH_OK;
}

static vouch_status read_dots3note(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_no_rope_factors = true;
    h->experts.gating = VOUCH_GATING_SIGMOID;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.indexer.top_k", true, 1, INT_MAX, &h->n_ctx_most, err));
    VOUCH_TRY(vouch_latent_read_numbers(gguf, h, "", &h->latent, err));
    if (h->rope_scaling.log_multiplier != 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s.rope.scaling.yarn_log_multiplier is %g, must be 0 for this architecture",
                          vouch_gguf_path(gguf), h->arch, h->rope_scaling.log_multiplier);
    return read_dots_windows(gguf, h, err);
}

/* Ignores scales of the gates, as llama.cpp does. */
static vouch_status take_dots3note(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    vouch_attention *a = &layer->attention;
    const int32_t n_rot = loader->hparams->n_rot;
    VOUCH_TRY(take_sparse(loader, index, layer));
    a->scale = 1 / sqrtf((float)a->latent.key_dim);
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_k_norm"), true, &a->latent.rot_norm,
                                  n_rot));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_gate"), true, &a->gate, a->n_heads,
                                  loader->hparams->n_embd));
    return vouch_loader_ignore_tensor(loader, index, "attn_gate");
}

/* Scales of embedding, branches and logits as in MiniCPM. Scores don't get the factor of latent_tensors.c. */
static vouch_status read_minicpm3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    h->embedding_scale = 12;
    h->residual_scale = 1.4f / sqrtf((float)h->n_layers);
    h->logit_scale = 256.0f / (float)h->n_embd;
    h->attention_scale = 1.0f / sqrtf((float)h->head_dim);
    return vouch_latent_read(gguf, h, err);
}

static vouch_status read_plm(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->activation = VOUCH_RELU_SQUARED;
    h->gate = VOUCH_GATE_NONE;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    return vouch_latent_read(gguf, h, err);
}

#define LATENT(id, text, pairs, scales, read_it, take_it)                                                            \
    const vouch_arch vouch_arch_##id = {.name = text,                                                                \
                                        .rotary = VOUCH_ROTARY_##pairs,                                              \
                                        .has_feed_scales = scales,                                                   \
                                        .read = read_it,                                                             \
                                        .take = take_it}

LATENT(deepseek2, "deepseek2", ADJACENT, false, read_deepseek2, vouch_mixture_take);
LATENT(deepseek32, "deepseek32", ADJACENT, true, read_sparse, take_sparse);
LATENT(glm_dsa, "glm-dsa", ADJACENT, true, read_glm_dsa, take_sparse);
LATENT(hy_v4, "hy_v4", ADJACENT, false, read_hy_v4, take_hy_v4);
LATENT(dots3note, "dots3note", ADJACENT, true, read_dots3note, take_dots3note);
LATENT(mistral4, "mistral4", ADJACENT, false, read_deepseek2, vouch_mixture_take);
LATENT(minicpm3, "minicpm3", HALF_SPLIT, false, read_minicpm3, vouch_dense_take);
LATENT(plm, "plm", ADJACENT, false, read_plm, vouch_dense_take);
