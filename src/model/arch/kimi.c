/* SPDX-License-Identifier: MIT */
/* Kimi Linear (arXiv 2510.26692) and Ling 3 (inclusionAI): layers without KV heads are delta nets with a decay for each
 * key, the others have latent attention; experts as in DeepSeek-V3. Kimi doesn't rotate. In Ling 3 attention's heads
 * have gates, and a smallest decay bounds the others. */
#include <math.h>
#include <stdio.h>

#include "model/load/arch.h"
#include "model/load/dense.h"
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
    double floor = 0;
    VOUCH_TRY(read_both(gguf, h, err));
    VOUCH_TRY(vouch_key_ints(gguf, h->arch, "rope.dimension_sections", false, 0, 1024, 4, sections, err));
    if (sections[0] > 0 && sections[1] > 0) h->rotary = VOUCH_ROTARY_HALF_SPLIT;
    VOUCH_TRY(vouch_key_bool(gguf, h->arch, "kda.safe_gate", &is_bounded, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "kda.gate_lower_bound", true, -1e3, 0, &floor, err));
    if (!is_bounded || floor == 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s.kda.safe_gate must be true, and kda.gate_lower_bound below 0, not %g",
                          vouch_gguf_path(gguf), h->arch, floor);
    h->delta.decay_floor = (float)floor;
    return vouch_mixture_read_limits(gguf, h, err);
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
        vouch_loader_ignore_all(loader, vouch_loader_name_of(loader, index, tensor, ""));
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
    VOUCH_TRY(take_product(loader, index, "ssm_g_a", "ssm_g_b", n, &r->gate_low, &r->gate));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ssm_beta"), true, &r->rate, r->n_heads,
                                  h->n_embd));
    vouch_loader_ignore_all(loader, vouch_loader_name_of(loader, index, "ssm_beta", ""));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ssm_dt", "bias"), true, &r->decay_bias,
                                  n));
    VOUCH_TRY(vouch_loader_vectors(loader, vouch_loader_name_of(loader, index, "ssm_a", NULL), true, &r->a, r->n_heads,
                                   1));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "ssm_norm"), true, &r->norm, r->n_values));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_output"), true, &r->out, h->n_embd,
                                  n));
    vouch_loader_ignore_all(loader, vouch_loader_name_of(loader, index, "attn_output", ""));
    return VOUCH_OK;
}

static vouch_status take_kimi(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    if (layer->attention.n_heads == 0) return take_delta_net(loader, index, &layer->recurrent);
    vouch_loader_ignore_all(loader, vouch_loader_name_of(loader, index, "attn_q", ""));
    return VOUCH_OK;
}

static vouch_status take_bailingmoe3(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    vouch_attention *a = &layer->attention;
    VOUCH_TRY(take_kimi(loader, index, layer));
    if (a->n_heads == 0) return VOUCH_OK;
    a->o_after.scale = NULL; /* as in llama.cpp */
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_gate"), true, &a->gate, a->n_heads,
                                  loader->hparams->n_embd));
    vouch_loader_ignore_all(loader, vouch_loader_name_of(loader, index, "attn_gate", ""));
    return VOUCH_OK;
}

const vouch_arch vouch_arch_kimi_linear = {
    .name = "kimi-linear", .rotary = VOUCH_ROTARY_NONE, .read = read_kimi_linear, .take = take_kimi};
const vouch_arch vouch_arch_bailingmoe3 = {
    .name = "bailingmoe3", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_bailingmoe3, .take = take_bailingmoe3};
