/* SPDX-License-Identifier: MIT */
/* RWKV-6 (Finch; Peng et al., arXiv 2404.05892) and RWKV-7 (Goose; arXiv 2503.14456), whose layers have a mixer and a
 * channel mix, and both mixers in Qwen's layers (QRWKV6, ARWKV7; arXiv 2501.15570), which keep its feed-forward. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"

/* ------------------------------------------------------------------ hyperparameters */

/* No attention, whatever the file states: its count of KV heads is that of the mixers. `n_shifts`: rows that a layer
 * mixes with the row before. */
static vouch_status read_both(const vouch_gguf *gguf, vouch_hparams *h, int32_t n_shifts, vouch_error *err)
{
    vouch_wkv_hparams *w = &h->wkv;
    int32_t stated = 2;
    h->has_partial_layers = true;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "wkv.head_size", true, 1, 1024, &w->head_dim, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "token_shift_count", false, 0, INT32_MAX, &stated, err));
    const char *path = vouch_gguf_path(gguf);
    if (h->n_embd % w->head_dim != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.embedding_length %d is no multiple of wkv.head_size %d", path,
                          h->arch, h->n_embd, w->head_dim);
    if (stated != n_shifts)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.token_shift_count is %d, must be %d", path, h->arch, stated,
                          n_shifts);
    w->n_heads = h->n_embd / w->head_dim;
    w->n_kv_heads = h->layers[0].n_kv_heads > 0 ? h->layers[0].n_kv_heads : w->n_heads;
    for (int32_t i = 0; i < h->n_layers; i++) {
        if (h->layers[i].n_ff == 0)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.feed_forward_length is 0 in layer %d, must be > 0", path,
                              h->arch, i);
        h->layers[i].n_heads = h->layers[i].n_kv_heads = 0;
    }
    h->n_heads = h->n_kv_heads = h->head_dim = h->n_rot = 0;
    return VOUCH_OK;
}

/* The layers of RWKV's own models. */
static vouch_status read_own(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norm = VOUCH_NORM_LAYER;
    h->feed_norm = "attn_norm_2";
    h->has_embedding_norm = true;
    VOUCH_TRY(read_both(gguf, h, 2, err));
    h->wkv.n_kv_heads = h->wkv.n_heads;
    return VOUCH_OK;
}

static vouch_status read_ranks6(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const int32_t most = 1 << 16;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "time_mix_extra_dim", true, 1, most, &h->wkv.n_amount, err));
    return vouch_key_int(gguf, h->arch, "time_decay_extra_dim", true, 1, most, &h->wkv.n_decay, err);
}

static vouch_status read_ranks7(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const int32_t most = 1 << 16;
    vouch_wkv_hparams *w = &h->wkv;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.decay_lora_rank", true, 1, most, &w->n_decay, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.iclr_lora_rank", true, 1, most, &w->n_rate, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.value_residual_mix_lora_rank", true, 1, most, &w->n_value, err));
    return vouch_key_int(gguf, h->arch, "attention.gate_lora_rank", false, 0, most, &w->n_gate, err);
}

static vouch_status read_rwkv6(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_own(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "rescale_every_n_layers", false, 0, INT32_MAX, &h->wkv.n_rescale, err));
    return read_ranks6(gguf, h, err);
}

static vouch_status read_rwkv6qwen2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_both(gguf, h, 1, err));
    if (h->wkv.n_heads % h->wkv.n_kv_heads != 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: the %d heads of %s.embedding_length / wkv.head_size are no multiple of "
                          "attention.head_count_kv %d",
                          vouch_gguf_path(gguf), h->wkv.n_heads, h->arch, h->wkv.n_kv_heads);
    return read_ranks6(gguf, h, err);
}

static vouch_status read_rwkv7(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_own(gguf, h, err));
    VOUCH_TRY(read_ranks7(gguf, h, err));
    if (h->wkv.n_gate > 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.attention.gate_lora_rank is missing or 0, must be > 0",
                      vouch_gguf_path(gguf), h->arch);
}

static vouch_status read_arwkv7(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_both(gguf, h, 1, err));
    h->wkv.n_kv_heads = h->wkv.n_heads;
    return read_ranks7(gguf, h, err);
}

/* -------------------------------------------------------------------------- tensors */

static vouch_status take_matrix(vouch_loader *loader, int32_t index, const char *tensor, int64_t n_out, int64_t n_in,
                                vouch_matrix *matrix)
{
    return vouch_loader_matrix(loader, vouch_loader_name(loader, index, tensor), true, matrix, n_out, n_in);
}

static vouch_status take_vector(vouch_loader *loader, int32_t index, const char *tensor, int64_t n,
                                const float **vector)
{
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, tensor), true, vector, n);
}

/* Takes the amounts of the n inputs, in this order, from one tensor. */
static vouch_status take_amounts(vouch_loader *loader, int32_t index, const vouch_wkv_input *inputs, int n,
                                 vouch_wkv *wkv)
{
    const int64_t n_embd = loader->hparams->n_embd;
    const float *all = NULL;
    VOUCH_TRY(vouch_loader_deep(loader, vouch_loader_name(loader, index, "time_mix_lerp_fused"), &all, n, n_embd));
    for (int i = 0; all && i < n; i++) wkv->amounts[inputs[i]] = all + i * n_embd;
    return VOUCH_OK;
}

/* Takes the mixer's parts that both versions have. */
static vouch_status take_common(vouch_loader *loader, int32_t index, vouch_recurrent_kind kind, int32_t n_shifts,
                                vouch_recurrent *r)
{
    static const char *const tensors[] = {"time_mix_receptance", "time_mix_key", "time_mix_value"};
    const vouch_wkv_hparams *w = &loader->hparams->wkv;
    const int64_t n = loader->hparams->n_embd, n_kv = (int64_t)w->n_kv_heads * w->head_dim;
    *r = (vouch_recurrent){.kind = kind,
                           .conv = {.n_channels = n_shifts * n, .width = 2},
                           .n_heads = w->n_heads,
                           .n_key_heads = w->n_heads,
                           .n_keys = w->head_dim,
                           .n_values = w->head_dim,
                           .k = n,
                           .v = 2 * n,
                           .has_key_decays = true,
                           .wkv.n_kv_heads = w->n_kv_heads};
    for (int i = 0; i < 3; i++) VOUCH_TRY(take_matrix(loader, index, tensors[i], i == 0 ? n : n_kv, n, &r->in[i]));
    return take_matrix(loader, index, "time_mix_output", n, n, &r->out);
}

static vouch_status take_norm(vouch_loader *loader, int32_t index, bool is_required, vouch_recurrent *r)
{
    const int64_t n = loader->hparams->n_embd;
    const char *name = vouch_loader_name(loader, index, "time_mix_ln");
    if (!is_required && !vouch_gguf_find_tensor(loader->gguf, name)) return VOUCH_OK;
    VOUCH_TRY(vouch_loader_vector(loader, name, true, &r->norm, n));
    return vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "time_mix_ln", "bias"), true,
                               &r->wkv.norm_bias, n);
}

/* Old files have the amounts in a tensor each. */
static vouch_status take_mixer6(vouch_loader *loader, int32_t index, int32_t n_shifts, vouch_recurrent *r)
{
    static const vouch_wkv_input order[] = {VOUCH_WKV_DECAY, VOUCH_WKV_KEY, VOUCH_WKV_VALUE, VOUCH_WKV_QUERY,
                                            VOUCH_WKV_GATE};
    static const char *const apart[] = {"time_mix_lerp_w", "time_mix_lerp_k", "time_mix_lerp_v", "time_mix_lerp_r",
                                        "time_mix_lerp_g"};
    const vouch_wkv_hparams *h = &loader->hparams->wkv;
    const int64_t n = loader->hparams->n_embd;
    vouch_wkv *w = &r->wkv;
    VOUCH_TRY(take_common(loader, index, VOUCH_WKV6, n_shifts, r));
    VOUCH_TRY(take_vector(loader, index, "time_mix_lerp_x", n, &w->first_amount));
    if (vouch_loader_has(loader, index, apart[0]) && !vouch_loader_has(loader, index, "time_mix_lerp_fused")) {
        for (int i = 0; i < VOUCH_WKV6_INPUTS; i++)
            VOUCH_TRY(take_vector(loader, index, apart[i], n, &w->amounts[order[i]]));
    } else {
        VOUCH_TRY(take_amounts(loader, index, order, VOUCH_WKV6_INPUTS, w));
    }
    VOUCH_TRY(take_matrix(loader, index, "time_mix_w1", (int64_t)VOUCH_WKV6_INPUTS * h->n_amount, n, &w->amount_low));
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name(loader, index, "time_mix_w2"), true, &w->amount,
                                 VOUCH_WKV6_INPUTS, h->n_amount, (vouch_rows){0, n, n}));
    VOUCH_TRY(take_vector(loader, index, "time_mix_decay", n, &r->decay_bias));
    VOUCH_TRY(take_matrix(loader, index, "time_mix_decay_w1", h->n_decay, n, &r->decay_low));
    VOUCH_TRY(take_matrix(loader, index, "time_mix_decay_w2", n, h->n_decay, &r->decay));
    return take_matrix(loader, index, "time_mix_gate", n, n, &r->gate);
}

/* The first layer's values have no residual; its tensors for one are there and without use. */
static vouch_status take_value_residual(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    static const char *const idle[] = {"time_mix_v0", "time_mix_v1", "time_mix_v2"};
    const int64_t n = loader->hparams->n_embd, n_low = loader->hparams->wkv.n_value;
    for (int i = 0; i < 3 && index == 0; i++)
        VOUCH_TRY(vouch_loader_ignore(loader, vouch_loader_name(loader, index, idle[i])));
    if (index == 0) return VOUCH_OK;
    VOUCH_TRY(take_vector(loader, index, "time_mix_v0", n, &r->wkv.value_bias_low));
    VOUCH_TRY(take_matrix(loader, index, "time_mix_v1", n_low, n, &r->wkv.value_low));
    return take_matrix(loader, index, "time_mix_v2", n, n_low, &r->wkv.value);
}

static vouch_status take_mixer7(vouch_loader *loader, int32_t index, int32_t n_shifts, bool has_gate,
                                vouch_recurrent *r)
{
    static const vouch_wkv_input order[] = {VOUCH_WKV_QUERY, VOUCH_WKV_DECAY, VOUCH_WKV_KEY,
                                            VOUCH_WKV_VALUE, VOUCH_WKV_RATE,  VOUCH_WKV_GATE};
    const vouch_wkv_hparams *h = &loader->hparams->wkv;
    const int64_t n = loader->hparams->n_embd;
    vouch_wkv *w = &r->wkv;
    VOUCH_TRY(take_common(loader, index, VOUCH_WKV7, n_shifts, r));
    VOUCH_TRY(take_amounts(loader, index, order, has_gate ? 6 : 5, w));
    VOUCH_TRY(take_vector(loader, index, "time_mix_w0", n, &r->decay_bias));
    VOUCH_TRY(take_matrix(loader, index, "time_mix_w1", h->n_decay, n, &r->decay_low));
    VOUCH_TRY(take_matrix(loader, index, "time_mix_w2", n, h->n_decay, &r->decay));
    VOUCH_TRY(take_vector(loader, index, "time_mix_a0", n, &w->rate_bias));
    VOUCH_TRY(take_matrix(loader, index, "time_mix_a1", h->n_rate, n, &w->rate_low));
    VOUCH_TRY(take_matrix(loader, index, "time_mix_a2", n, h->n_rate, &r->rate));
    VOUCH_TRY(take_value_residual(loader, index, r));
    if (has_gate) {
        VOUCH_TRY(take_matrix(loader, index, "time_mix_g1", h->n_gate, n, &r->gate_low));
        VOUCH_TRY(take_matrix(loader, index, "time_mix_g2", n, h->n_gate, &r->gate));
    }
    VOUCH_TRY(take_vector(loader, index, "time_mix_k_k", n, &w->key_norm_scale));
    VOUCH_TRY(take_vector(loader, index, "time_mix_k_a", n, &w->key_scale));
    return take_vector(loader, index, "time_mix_r_k", n, &w->bonus);
}

/* Takes the channel mix; has_gate: RWKV-6's. */
static vouch_status take_channel_mix(vouch_loader *loader, int32_t index, bool has_gate, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    vouch_feed_forward *f = &layer->ffn;
    vouch_channel_mix *m = &layer->channel_mix;
    f->n_ff = h->layers[index].n_ff;
    f->activation = VOUCH_RELU_SQUARED;
    VOUCH_TRY(take_matrix(loader, index, "channel_mix_key", f->n_ff, h->n_embd, &f->up));
    VOUCH_TRY(take_matrix(loader, index, "channel_mix_value", h->n_embd, f->n_ff, &f->down));
    VOUCH_TRY(take_vector(loader, index, "channel_mix_lerp_k", h->n_embd, &m->up_amount));
    if (has_gate) {
        VOUCH_TRY(take_vector(loader, index, "channel_mix_lerp_r", h->n_embd, &m->gate_amount));
        VOUCH_TRY(take_matrix(loader, index, "channel_mix_receptance", h->n_embd, h->n_embd, &m->gate));
    }
    return vouch_dense_take_feed_norms(loader, index, layer);
}

static vouch_status take_rwkv6(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    static const float half = 0.5f;
    const vouch_wkv_hparams *w = &loader->hparams->wkv;
    vouch_recurrent *r = &layer->recurrent;
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    VOUCH_TRY(take_mixer6(loader, index, 2, r));
    VOUCH_TRY(vouch_loader_vectors(loader, vouch_loader_name(loader, index, "time_mix_first"), true, &r->wkv.bonus,
                                   w->n_heads, w->head_dim));
    VOUCH_TRY(take_norm(loader, index, true, r));
    if (w->n_rescale > 0 && (index + 1) % w->n_rescale == 0) layer->feed.stream_scale = &half;
    return take_channel_mix(loader, index, true, layer);
}

static vouch_status take_rwkv6qwen2(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_wkv_hparams *w = &loader->hparams->wkv;
    const int64_t n = loader->hparams->n_embd, n_kv = (int64_t)w->n_kv_heads * w->head_dim;
    vouch_recurrent *r = &layer->recurrent;
    const struct {
        const char *tensor;
        const float **bias;
        int64_t n;
    } biases[] = {{"time_mix_receptance", &r->wkv.query_bias, n},
                  {"time_mix_key", &r->wkv.key_bias, n_kv},
                  {"time_mix_value", &r->wkv.value_bias, n_kv}};
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    VOUCH_TRY(take_mixer6(loader, index, 1, r));
    for (int i = 0; i < 3; i++)
        VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, biases[i].tensor, "bias"), false,
                                      biases[i].bias, biases[i].n));
    r->has_sigmoid_gate = true;
    return vouch_dense_take_feed_forward(loader, index, layer);
}

static vouch_status take_rwkv7(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    VOUCH_TRY(take_mixer7(loader, index, 2, true, &layer->recurrent));
    VOUCH_TRY(take_norm(loader, index, true, &layer->recurrent));
    return take_channel_mix(loader, index, false, layer);
}

static vouch_status take_arwkv7(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const bool has_gate = vouch_loader_has(loader, index, "time_mix_g1");
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    VOUCH_TRY(take_mixer7(loader, index, 1, has_gate, &layer->recurrent));
    VOUCH_TRY(take_norm(loader, index, false, &layer->recurrent));
    return vouch_dense_take_feed_forward(loader, index, layer);
}

const vouch_arch vouch_arch_rwkv6 = {.name = "rwkv6", .read = read_rwkv6, .take = take_rwkv6};
const vouch_arch vouch_arch_rwkv6qwen2 = {.name = "rwkv6qwen2", .read = read_rwkv6qwen2, .take = take_rwkv6qwen2};
const vouch_arch vouch_arch_rwkv7 = {.name = "rwkv7", .read = read_rwkv7, .take = take_rwkv7};
const vouch_arch vouch_arch_arwkv7 = {.name = "arwkv7", .read = read_arwkv7, .take = take_arwkv7};
