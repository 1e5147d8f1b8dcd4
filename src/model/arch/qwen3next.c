/* SPDX-License-Identifier: MIT */
/* Qwen3-Next and Qwen3.5, dense and with experts (Alibaba): three of four layers are gated delta nets (arXiv
 * 2412.06464), the fourth is attention whose heads have gates. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

static vouch_status read_delta_net(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_delta_hparams *r = &h->delta;
    int32_t inner = 0;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.conv_kernel", true, 2, VOUCH_MAX_CONV, &r->width, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.state_size", true, 1, 1024, &r->head_dim, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.group_count", true, 1, 4096, &r->n_key_heads, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.time_step_rank", true, 1, 4096, &r->n_heads, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.inner_size", true, 1, 1 << 22, &inner, err));
    if (r->n_heads % r->n_key_heads != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.ssm.time_step_rank %d is no multiple of ssm.group_count %d",
                          vouch_gguf_path(gguf), h->arch, r->n_heads, r->n_key_heads);
    if (inner != r->n_heads * r->head_dim)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: %s.ssm.inner_size is %d, must be ssm.time_step_rank %d times ssm.state_size %d",
                          vouch_gguf_path(gguf), h->arch, inner, r->n_heads, r->head_dim);
    return VOUCH_OK;
}

static vouch_status read_qwen3next(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    h->has_head_gates = true;
    h->feed_norm = "post_attention_norm";
    h->experts.normalised = true;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_recurrent(gguf, h, 4, err));
    return read_delta_net(gguf, h, err);
}

/* Takes a matrix and its scale. */
static vouch_status take_scaled(vouch_loader *loader, int32_t index, const char *tensor, vouch_matrix *matrix,
                                vouch_affine *after, int64_t n_out, int64_t n_in)
{
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, tensor), true, matrix, n_out, n_in));
    return vouch_loader_affine(loader, index, tensor, after, (vouch_rows){0, n_out, n_out});
}

/* Takes all tensors of a delta net except those of rates and decays. */
static vouch_status take_delta_net(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    const vouch_hparams *h = loader->hparams;
    const vouch_delta_hparams *all = &h->delta;
    const int64_t n_keys = (int64_t)all->n_key_heads * all->head_dim, n_values = (int64_t)all->n_heads * all->head_dim;
    *r = (vouch_recurrent){.conv = {.n_channels = 2 * n_keys + n_values, .width = all->width, .has_silu = true},
                           .kind = VOUCH_DELTA_NET,
                           .n_heads = all->n_heads,
                           .n_key_heads = all->n_key_heads,
                           .n_keys = all->head_dim,
                           .n_values = all->head_dim,
                           .k = n_keys,
                           .v = 2 * n_keys};
    VOUCH_TRY(take_scaled(loader, index, "attn_qkv", &r->in[0], &r->in_after, r->conv.n_channels, h->n_embd));
    VOUCH_TRY(take_scaled(loader, index, "attn_gate", &r->gate, &r->gate_after, n_values, h->n_embd));
    VOUCH_TRY(take_scaled(loader, index, "ssm_out", &r->out, &r->out_after, h->n_embd, n_values));
    VOUCH_TRY(vouch_loader_transposed(loader, vouch_loader_name(loader, index, "ssm_conv1d"), &r->conv.weights,
                                      r->conv.n_channels, r->conv.width));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ssm_dt", "bias"), true, &r->decay_bias,
                                  r->n_heads));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ssm_a", NULL), true, &r->a, r->n_heads));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "ssm_norm"), true, &r->norm, r->n_values);
}

/* Qwen3-Next: rates and decays are one matrix, whose scales are ignored, as llama.cpp does. Older files have ssm_in,
 * too. */
static vouch_status take_qwen3next(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    vouch_recurrent *r = &layer->recurrent;
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    if (layer->attention.n_heads > 0) return VOUCH_OK;
    VOUCH_TRY(take_delta_net(loader, index, r));
    r->in_after.scale = r->gate_after.scale = r->out_after.scale = NULL;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ssm_ba"), true, &r->rate,
                                  2 * (int64_t)r->n_heads, h->n_embd));
    return vouch_loader_ignore_tensor(loader, index, "ssm_in");
}

static vouch_status take_qwen35(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    vouch_recurrent *r = &layer->recurrent;
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    if (layer->attention.n_heads > 0) return VOUCH_OK;
    VOUCH_TRY(take_delta_net(loader, index, r));
    r->is_tiled = true;
    VOUCH_TRY(take_scaled(loader, index, "ssm_beta", &r->rate, &r->rate_after, r->n_heads, h->n_embd));
    return take_scaled(loader, index, "ssm_alpha", &r->decay, &r->decay_after, r->n_heads, h->n_embd);
}

#define QWEN(id, take_it)                                                  \
    const vouch_arch vouch_arch_##id = {.name = #id,                       \
                                        .rotary = VOUCH_ROTARY_HALF_SPLIT, \
                                        .has_feed_scales = true,           \
                                        .read = read_qwen3next,            \
                                        .take = take_it}

QWEN(qwen3next, take_qwen3next);
QWEN(qwen35, take_qwen35);
QWEN(qwen35moe, take_qwen35);
