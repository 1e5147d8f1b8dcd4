/* SPDX-License-Identifier: MIT */
/* Gemma (arXiv 2403.08295), Gemma 2 (2408.00118) and Gemma 3 (2503.19786): GELU, a scaled embedding; then windows in
 * some layers, norms after the branches, softcaps, and norms of queries and keys. Gemma 4: other widths in layers with
 * a window, shared keys and values, per-layer embeddings, experts beside the feed-forward network. */
#include <math.h>

#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

static vouch_status read_gemma(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->activation = VOUCH_GELU;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    h->embedding_scale = sqrtf((float)h->n_embd);
    return VOUCH_OK;
}

/* The 27B models divide scores by sqrt(n_embd / n_heads), not by sqrt(head_dim). attention.scale, which vouch writes
 * and llama.cpp doesn't read, has another factor. */
static vouch_status scale_scores(const vouch_gguf *gguf, vouch_hparams *h, int32_t n_layers_27b, vouch_error *err)
{
    if (h->n_layers == n_layers_27b) h->attention_scale = 1 / sqrtf((float)(h->n_embd / h->n_heads));
    return vouch_dense_read_scale(gguf, h, "attention.scale", &h->attention_scale, err);
}

static vouch_status read_gemma2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norms_after = VOUCH_REQUIRED;
    h->attention_softcap = 50;
    h->logit_softcap = 30;
    h->window = 4096;
    VOUCH_TRY(read_gemma(gguf, h, err));
    VOUCH_TRY(scale_scores(gguf, h, 46, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attn_logit_softcapping", &h->attention_softcap, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "final_logit_softcapping", &h->logit_softcap, err));
    return vouch_dense_read_windows(gguf, h, 2, VOUCH_LAST, err);
}

static vouch_status read_gemma3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    VOUCH_TRY(read_gemma(gguf, h, err));
    VOUCH_TRY(scale_scores(gguf, h, 62, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "final_logit_softcapping", &h->logit_softcap, err));
    return vouch_dense_read_window_angles(gguf, h, 6, 10000, err);
}

/* The last layers have no keys and values. They read those of the last layer before them of the same kind, with or
 * without a window. */
static vouch_status share_keys(const vouch_gguf *gguf, vouch_hparams *h, int32_t n_shared, vouch_error *err)
{
    int32_t lenders[2] = {-1, -1}; /* without a window, with one */
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.shared_kv_layers", false, 0, h->n_layers - 1, &n_shared, err));
    for (int32_t i = 0; i < h->n_layers; i++) {
        int32_t *lender = &lenders[h->layers[i].has_window];
        if (i < h->n_layers - n_shared) *lender = i;
        else if (*lender >= 0) h->layers[i].shared_back = i - *lender;
        if (*lender < 0 || h->layers[i].n_heads % h->layers[*lender].n_kv_heads != 0)
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "%s: %s.attention.shared_kv_layers is %d, but layer %d finds no earlier layer of its "
                              "kind whose keys and values fit",
                              vouch_gguf_path(gguf), h->arch, n_shared, i);
        h->layers[i].n_kv_heads = h->layers[*lender].n_kv_heads;
    }
    return VOUCH_OK;
}

/* Layers with a window have heads of another width. */
static vouch_status read_windows4(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    int32_t width = 0;
    h->attention_scale = 1;
    h->n_rot_window = h->n_rot;
    VOUCH_TRY(vouch_dense_read_window_angles(gguf, h, 1, 10000, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.key_length_swa", true, 2, 1024, &width, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.value_length_swa", true, width, width, &width, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "rope.dimension_count_swa", false, 2, width, &h->n_rot_window, err));
    if (h->n_rot_window % 2 != 0 || h->n_rot_window > width || h->value_dim != h->head_dim)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: %s.rope.dimension_count_swa %d must be even and at most key_length_swa %d, and "
                          "value_length %d must equal key_length %d",
                          vouch_gguf_path(gguf), h->arch, h->n_rot_window, width, h->value_dim, h->head_dim);
    for (int32_t i = 0; i < h->n_layers; i++)
        if (h->layers[i].has_window) h->layers[i].head_dim = width;
    return VOUCH_OK;
}

static vouch_status read_gemma4(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    h->has_value_norm = h->keys_may_be_values = h->experts.normalised = true;
    h->activation = VOUCH_GELU;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    h->embedding_scale = sqrtf((float)h->n_embd);
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "final_logit_softcapping", &h->logit_softcap, err));
    VOUCH_TRY(read_windows4(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "embedding_length_per_layer_input", true, 0, 1 << 16, &h->n_layer_input,
                            err));
    return share_keys(gguf, h, 0, err);
}

/* The first layers cut their gates at a deviation from the mean, which the file gives as a number of deviations; -inf
 * means no cut. llama.cpp has the numbers of the published models, and takes the deviation of a sample, n - 1. */
static vouch_status read_sparsity(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    double all[VOUCH_MOST_LAYERS];
    for (int32_t i = 0; i < h->n_layers; i++) all[i] = i < 10 ? 1.6448533535003662 : 0;
    VOUCH_TRY(vouch_key_floats(gguf, h->arch, "activation_sparsity_scale", -INFINITY, 10, h->n_layers, all, err));
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].sparsity = all[i] > 0 ? (float)all[i] : 0;
    return VOUCH_OK;
}

static vouch_status read_gemma3n(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    int32_t active = 0;
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    h->has_value_norm = true;
    h->attention_scale = 1;
    h->logit_softcap = 30;
    h->n_versions = 4;
    h->n_layer_input = 256;
    VOUCH_TRY(read_gemma(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "final_logit_softcapping", &h->logit_softcap, err));
    VOUCH_TRY(vouch_dense_read_window_angles(gguf, h, 5, 10000, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "embedding_length_per_layer_input", false, 1, 1 << 16, &h->n_layer_input,
                            err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "altup.num_inputs", false, 2, VOUCH_MOST_VERSIONS, &h->n_versions, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "altup.active_idx", false, 0, 0, &active, err));
    VOUCH_TRY(read_sparsity(gguf, h, err));
    return share_keys(gguf, h, h->n_layers > 20 ? h->n_layers - 20 : 0, err);
}

static vouch_status read_assistant(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->is_head = true;
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    h->activation = VOUCH_GELU;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    return read_windows4(gguf, h, err);
}

/* The extra branch: W_down (gelu(W_gate x) * the layer's own input). */
static vouch_status take_extra(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    const int32_t n = h->n_layer_input;
    vouch_feed_forward *f = &layer->extra_ffn;
    *f = (vouch_feed_forward){.n_ff = n, .activation = VOUCH_GELU};
    layer->extra = (vouch_branch){.norm.kind = VOUCH_NORM_NONE, .scale = 1};
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "inp_gate"), true, &f->gate, n, h->n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "proj"), true, &f->down, h->n_embd, n));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "post_norm"), true, &layer->extra.norm_after,
                               h->n_embd);
}

static vouch_status take_laurel(vouch_loader *loader, int32_t index, vouch_laurel *l)
{
    const int64_t n = loader->hparams->n_embd;
    const vouch_gguf_tensor *left = vouch_gguf_find_tensor(loader->gguf, vouch_loader_name(loader, index, "laurel_l"));
    const int64_t rank = left && left->dim[1] > 0 && left->dim[1] < n ? left->dim[1] : n;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "laurel_l"), true, &l->left, rank, n));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "laurel_r"), true, &l->right, n, rank));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "laurel_post_norm"), true, &l->norm, n);
}

static vouch_status take_altup(vouch_loader *loader, int32_t index, vouch_altup *a)
{
    const int64_t n = loader->hparams->n_versions, n_embd = loader->hparams->n_embd;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "altup_router"), true, &a->router, n,
                                  n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "altup_router_norm"), true, &a->router_norm,
                                  n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "altup_predict_coef"), true, &a->predict,
                                  n * n, n));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "altup_correct_coef"), true, &a->correct, n,
                                  n));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "altup_correct_scale"), true, &a->correct_scale,
                               n_embd);
}

/* Layers that share keys have weights for them in the file all the same. */
static vouch_status ignore_shared(vouch_loader *loader, int32_t index, const vouch_layer *layer)
{
    static const char *const unused[] = {"attn_k", "attn_v", "attn_k_norm"};
    static const char *const kinds[] = {"weight", "scale", "input_scale"};
    for (int i = 0; i < 3 && layer->attention.shared_back > 0; i++)
        for (int k = 0; k < 3; k++)
            VOUCH_TRY(vouch_loader_ignore(loader, vouch_loader_name_of(loader, index, unused[i], kinds[k])));
    return VOUCH_OK;
}

static vouch_status take_gemma3n(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    VOUCH_TRY(take_extra(loader, index, layer));
    VOUCH_TRY(take_laurel(loader, index, &layer->laurel));
    VOUCH_TRY(take_altup(loader, index, &layer->altup));
    return ignore_shared(loader, index, layer);
}

/* Experts beside the feed-forward network. The router has a norm of its own. */
static vouch_status take_experts(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const int64_t n = loader->hparams->n_embd;
    vouch_beside *b = &layer->beside;
    if (!vouch_loader_has(loader, index, "ffn_gate_inp")) return VOUCH_OK;
    VOUCH_TRY(vouch_mixture_take_experts(loader, index, &layer->experts));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ffn_gate_inp", "scale"), true,
                                  &layer->experts.router_norm, n));
    VOUCH_TRY(vouch_dense_take_norm(loader, index, "pre_ffw_norm_2", &b->norm));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "post_ffw_norm_1"), true, &b->dense_after,
                                  n));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "post_ffw_norm_2"), true, &b->experts_after, n);
}

static vouch_status take_gemma4(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const bool has_extra = loader->hparams->n_layer_input > 0;
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    VOUCH_TRY(take_experts(loader, index, layer));
    if (has_extra) VOUCH_TRY(take_extra(loader, index, layer));
    VOUCH_TRY(ignore_shared(loader, index, layer));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "layer_output_scale"), false,
                               has_extra ? &layer->extra.stream_scale : &layer->feed.stream_scale, 1);
}

const vouch_arch vouch_arch_gemma4 = {.name = "gemma4",
                                      .rotary = VOUCH_ROTARY_HALF_SPLIT,
                                      .has_feed_scales = true,
                                      .read = read_gemma4,
                                      .take = take_gemma4};

/* The head (assistant.c). Its layers are Gemma 4's, with queries only. */
const vouch_arch vouch_arch_gemma4_assistant = {
    .name = "gemma4-assistant", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_assistant, .take = take_gemma4};

const vouch_arch vouch_arch_gemma3n = {
    .name = "gemma3n", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_gemma3n, .take = take_gemma3n};

#define GEMMA(id)                                                                                                    \
    const vouch_arch vouch_arch_##id = {                                                                             \
        .name = #id, .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_##id, .take = vouch_dense_take}

GEMMA(gemma);
GEMMA(gemma2);
GEMMA(gemma3);
