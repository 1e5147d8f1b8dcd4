/* SPDX-License-Identifier: MIT */
#include "model/dense.h"

#include <limits.h>
#include <math.h>

#include "model/keys.h"

static vouch_status check_heads(const vouch_gguf *gguf, const vouch_hparams *h, int32_t value_length,
                                vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf), *arch = h->arch;
    if (h->n_heads % h->n_kv_heads != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.attention.head_count %d is no multiple of head_count_kv %d",
                          path, arch, h->n_heads, h->n_kv_heads);
    if (h->head_dim % 2 != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: the head width %d must be even", path, h->head_dim);
    if (value_length != h->head_dim)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s.attention.value_length %d must equal key_length %d", path,
                          arch, value_length, h->head_dim);
    if (h->n_rot % 2 != 0 || h->n_rot > h->head_dim)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: %s.rope.dimension_count %d must be even and at most the head width %d", path, arch,
                          h->n_rot, h->head_dim);
    return VOUCH_OK;
}

vouch_status vouch_dense_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const char *arch = h->arch;
    int32_t n_experts = 0, window = 0, value_length;
    double eps = 0;
    VOUCH_TRY(vouch_key_int(gguf, arch, "block_count", true, 1, 1024, &h->n_layers, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "context_length", true, 1, INT_MAX / 2, &h->n_ctx_train, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "embedding_length", true, 1, 1 << 20, &h->n_embd, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "feed_forward_length", true, 1, 1 << 22, &h->n_ff, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "attention.head_count", true, 1, 4096, &h->n_heads, err));
    h->n_kv_heads = h->n_heads;
    VOUCH_TRY(vouch_key_int(gguf, arch, "attention.head_count_kv", false, 1, h->n_heads, &h->n_kv_heads, err));
    h->head_dim = h->n_embd / h->n_heads;
    VOUCH_TRY(vouch_key_int(gguf, arch, "attention.key_length", false, 2, 1024, &h->head_dim, err));
    if (h->head_dim < 2 || h->head_dim > 1024)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.embedding_length %d over head_count %d gives a head width of %d",
                          vouch_gguf_path(gguf), arch, h->n_embd, h->n_heads, h->head_dim);
    value_length = h->head_dim;
    VOUCH_TRY(vouch_key_int(gguf, arch, "attention.value_length", false, 2, 1024, &value_length, err));
    h->n_rot = h->head_dim;
    VOUCH_TRY(vouch_key_int(gguf, arch, "rope.dimension_count", false, 2, 1024, &h->n_rot, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "expert_count", false, 0, INT_MAX, &n_experts, err));
    if (n_experts > 0 && !h->experts.are_allowed)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s.expert_count is %d: %s models with experts are not supported",
                          vouch_gguf_path(gguf), arch, n_experts, arch);
    VOUCH_TRY(vouch_key_int(gguf, arch, "attention.sliding_window", false, 0, INT_MAX, &window, err));
    if (window > 0 && window < h->n_ctx_train)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s.attention.sliding_window is %d in a context of %d: attention to a window is not "
                          "supported", vouch_gguf_path(gguf), arch, window, h->n_ctx_train);
    VOUCH_TRY(vouch_key_float(gguf, arch, "attention.layer_norm_rms_epsilon", true, 1e-12, 1, &eps, err));
    h->norm_eps = (float)eps;
    h->rope_base = 10000;
    VOUCH_TRY(vouch_key_float(gguf, arch, "rope.freq_base", false, 1, 1e12, &h->rope_base, err));
    VOUCH_TRY(vouch_key_rope_scaling(gguf, arch, &h->rope_scale, err));
    return check_heads(gguf, h, value_length, err);
}

typedef struct named_matrix {
    const char *name;
    vouch_matrix *matrix;
    int64_t n_out, n_in;
} named_matrix;

static vouch_status take_matrices(vouch_loader *loader, int32_t index, const named_matrix *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, all[i].name), true, all[i].matrix,
                                      all[i].n_out, all[i].n_in));
    return VOUCH_OK;
}

vouch_status vouch_dense_take_attention(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    const int64_t n_embd = h->n_embd, n_q = (int64_t)h->n_heads * h->head_dim,
                  n_kv = (int64_t)h->n_kv_heads * h->head_dim;
    vouch_attention *a = &layer->attention;
    a->n_heads = h->n_heads;
    a->n_kv_heads = h->n_kv_heads;
    a->head_dim = h->head_dim;
    a->scale = 1.0f / sqrtf((float)h->head_dim);
    layer->mix.scale = 1;
    const named_matrix matrices[] = {{"attn_q", &a->q, n_q, n_embd},
                                     {"attn_k", &a->k, n_kv, n_embd},
                                     {"attn_v", &a->v, n_kv, n_embd},
                                     {"attn_output", &a->o, n_embd, n_q}};
    VOUCH_TRY(take_matrices(loader, index, matrices, sizeof matrices / sizeof matrices[0]));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_norm"), true, &layer->mix.norm, n_embd);
}

vouch_status vouch_dense_take_feed_forward(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    const int64_t n_embd = h->n_embd, n_ff = h->n_ff;
    vouch_feed_forward *f = &layer->ffn;
    f->n_ff = h->n_ff;
    layer->feed.scale = 1;
    const named_matrix matrices[] = {{"ffn_gate", &f->gate, n_ff, n_embd},
                                     {"ffn_up", &f->up, n_ff, n_embd},
                                     {"ffn_down", &f->down, n_embd, n_ff}};
    VOUCH_TRY(take_matrices(loader, index, matrices, sizeof matrices / sizeof matrices[0]));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "ffn_norm"), true, &layer->feed.norm, n_embd);
}

vouch_status vouch_dense_take(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    return vouch_dense_take_feed_forward(loader, index, layer);
}
