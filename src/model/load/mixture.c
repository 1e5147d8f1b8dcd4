/* SPDX-License-Identifier: MIT */
#include "model/load/mixture.h"

#include "model/load/dense.h"
#include "model/load/keys.h"

/* ---------------------------------------------------------------------- keys */

static vouch_status read_groups(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_expert_hparams *e = &h->experts;
    e->n_groups = e->n_groups_used = 0;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_group_count", false, 0, e->n_experts, &e->n_groups, err));
    if (e->n_groups < 1) e->n_groups = 1;
    e->n_groups_used = e->n_groups;
    if (e->n_groups == 1) return VOUCH_OK;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_group_used_count", true, 1, e->n_groups, &e->n_groups_used, err));
    if (e->n_experts % e->n_groups != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.expert_count %d is no multiple of expert_group_count %d",
                          vouch_gguf_path(gguf), h->arch, e->n_experts, e->n_groups);
    const int32_t most = e->n_experts / e->n_groups * e->n_groups_used;
    if (e->n_used > most)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: %s.expert_used_count is %d, but %d groups of %d experts have only %d",
                          vouch_gguf_path(gguf), h->arch, e->n_used, e->n_groups_used, e->n_experts / e->n_groups,
                          most);
    return VOUCH_OK;
}

static vouch_status read_weighting(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_expert_hparams *e = &h->experts;
    int32_t stated = 0;
    bool is_normalised = false;
    double scale = 0;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_gating_func", false, 0, VOUCH_GATING_CHOSEN, &stated, err));
    VOUCH_TRY(vouch_key_bool(gguf, h->arch, "expert_weights_norm", &is_normalised, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "expert_weights_scale", false, 0, 1e6, &scale, err));
    if (stated) e->gating = (vouch_gating)stated;
    if (!e->gating) e->gating = VOUCH_GATING_SOFTMAX;
    e->normalised |= is_normalised;
    e->scale = scale == 0 ? 1.0f : (float)scale;
    return VOUCH_OK;
}

vouch_status vouch_mixture_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_expert_hparams *e = &h->experts;
    e->are_allowed = true;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_count", false, 0, VOUCH_MAX_EXPERTS, &e->n_experts, err));
    if (e->n_experts == 0) return VOUCH_OK;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_used_count", true, 1, e->n_experts, &e->n_used, err));
    VOUCH_TRY(read_groups(gguf, h, err));
    return read_weighting(gguf, h, err);
}

vouch_status vouch_mixture_read_limits(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const int32_t n = h->n_layers + h->n_nextn;
    double limits[VOUCH_MOST_LAYERS] = {0}, dense[VOUCH_MOST_LAYERS] = {0};
    VOUCH_TRY(vouch_key_floats(gguf, h->arch, "swiglu_clamp_exp", 0, 1e9, n, limits, err));
    VOUCH_TRY(vouch_key_floats(gguf, h->arch, "swiglu_clamp_shexp", 0, 1e9, n, dense, err));
    for (int32_t i = 0; i < n; i++) {
        h->layers[i].limit = (float)limits[i];
        h->layers[i].dense_limit = (float)dense[i];
    }
    h->limits_results = true;
    return VOUCH_OK;
}

/* ------------------------------------------------------------------- tensors */

/* Reads the number of inputs of a layer's matrix, or of its stacked matrices. Errors: FORMAT (no such tensor; too
 * wide). */
static vouch_status find_width(vouch_loader *loader, int32_t index, const char *tensor, int32_t *width)
{
    enum { MOST = 1 << 22 };
    const char *name = vouch_loader_name(loader, index, tensor);
    const vouch_gguf_tensor *found = vouch_gguf_find_tensor(loader->gguf, name);
    if (!found)
        return vouch_fail(loader->err, VOUCH_E_FORMAT, "%s: tensor '%s' is missing", vouch_gguf_path(loader->gguf),
                          name);
    if (found->dim[0] < 1 || found->dim[0] > MOST)
        return vouch_fail(loader->err, VOUCH_E_FORMAT, "%s: tensor '%s' has a first dimension of %lld, must be 1 to %d",
                          vouch_gguf_path(loader->gguf), name, (long long)found->dim[0], (int)MOST);
    *width = (int32_t)found->dim[0];
    return VOUCH_OK;
}

static vouch_status take_shared_matrix(vouch_loader *loader, int32_t index, const char *tensor, vouch_matrix *matrix,
                                       vouch_affine *after, int64_t n_out, int64_t n_in)
{
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, tensor), true, matrix, n_out, n_in));
    return vouch_dense_take_feed_affine(loader, index, tensor, after, (vouch_rows){0, n_out, n_out});
}

static vouch_status take_shared(vouch_loader *loader, int32_t index, vouch_experts *e)
{
    const vouch_hparams *h = loader->hparams;
    const int64_t n_embd = h->n_embd;
    vouch_feed_forward *f = &e->shared;
    if (!vouch_loader_has(loader, index, "ffn_down_shexp")) return VOUCH_OK;
    f->activation = e->activation;
    f->situ = h->situ;
    f->limit = h->layers[index].dense_limit;
    f->limits_result = h->limits_results;
    VOUCH_TRY(find_width(loader, index, "ffn_down_shexp", &f->n_ff));
    if (h->gate != VOUCH_GATE_NONE)
        VOUCH_TRY(take_shared_matrix(loader, index, "ffn_gate_shexp", &f->gate, &f->gate_after, f->n_ff, n_embd));
    VOUCH_TRY(take_shared_matrix(loader, index, "ffn_up_shexp", &f->up, &f->up_after, f->n_ff, n_embd));
    VOUCH_TRY(take_shared_matrix(loader, index, "ffn_down_shexp", &f->down, &f->down_after, n_embd, f->n_ff));
    return vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_gate_inp_shexp"), false, &e->shared_gate,
                               1, n_embd);
}

/* Takes the experts' scales, or else their biases. Ignores input scales, which are for 4-bit activations. */
static vouch_status take_affine(vouch_loader *loader, int32_t index, const char *tensor, int64_t n_out,
                                const float **scales, const float **biases)
{
    const int64_t n = loader->hparams->experts.n_experts;
    const bool has_scales = loader->hparams->has_feed_scales;
    const char *name = vouch_loader_name_of(loader, index, tensor, "scale");
    if (has_scales) VOUCH_TRY(vouch_loader_vector(loader, name, false, scales, n));
    else VOUCH_TRY(vouch_loader_ignore(loader, name));
    name = vouch_loader_name_of(loader, index, tensor, "bias");
    if (!has_scales) VOUCH_TRY(vouch_loader_vectors(loader, name, false, biases, n, n_out));
    return vouch_loader_ignore(loader, vouch_loader_name_of(loader, index, tensor, "input_scale"));
}

/* Takes one of the experts' stacked matrices with its scales and biases. */
static vouch_status take_stack(vouch_loader *loader, int32_t index, const char *tensor, int64_t n_in, vouch_rows rows,
                               vouch_matrix *matrix, const float **scales, const float **biases)
{
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name(loader, index, tensor), true, matrix,
                                 loader->hparams->experts.n_experts, n_in, rows));
    return take_affine(loader, index, tensor, rows.of, scales, biases);
}

/* Width of an expert's input and result. */
static int64_t inputs_of(const vouch_hparams *h)
{
    return h->experts.n_narrow > 0 ? h->experts.n_narrow : h->n_embd;
}

/* Takes W_gate and W_up of all experts, from two tensors, or from one with W_gate above W_up. */
static vouch_status take_inputs(vouch_loader *loader, int32_t index, vouch_experts *e)
{
    const bool is_fused = vouch_loader_has(loader, index, "ffn_gate_up_exps");
    const int64_t n_in = inputs_of(loader->hparams), n_ff = e->n_ff;
    const vouch_rows gate = {0, n_ff, is_fused ? 2 * n_ff : n_ff}, up = {is_fused ? n_ff : 0, n_ff, gate.of};
    if (loader->hparams->gate != VOUCH_GATE_NONE)
        VOUCH_TRY(take_stack(loader, index, is_fused ? "ffn_gate_up_exps" : "ffn_gate_exps", n_in, gate, &e->gate,
                             &e->gate_scales, &e->gate_biases));
    return take_stack(loader, index, is_fused ? "ffn_gate_up_exps" : "ffn_up_exps", n_in, up, &e->up, &e->up_scales,
                      &e->up_biases);
}

static vouch_status take_adjugates(vouch_loader *loader, int32_t index, vouch_experts *e)
{
    const vouch_expert_hparams *all = &loader->hparams->experts;
    const int64_t n_embd = loader->hparams->n_embd;
    vouch_adjugates *a = &e->adjugates;
    if (all->adjugate_group == 0) return VOUCH_OK;
    *a = (vouch_adjugates){.per_group = all->adjugate_group, .scale = all->adjugate_scale};
    const int64_t n = e->n_experts / a->per_group;
    VOUCH_TRY(find_width(loader, index, "ffn_down_chexps", &a->n_ff));
    const vouch_rows in = {0, a->n_ff, a->n_ff}, out = {0, n_embd, n_embd};
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name(loader, index, "ffn_gate_chexps"), true, &a->gate, n, n_embd,
                                 in));
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name(loader, index, "ffn_up_chexps"), true, &a->up, n, n_embd,
                                 in));
    return vouch_loader_stack(loader, vouch_loader_name(loader, index, "ffn_down_chexps"), true, &a->down, n, a->n_ff,
                              out);
}

vouch_status vouch_mixture_take_experts(vouch_loader *loader, int32_t index, vouch_experts *e)
{
    const vouch_hparams *h = loader->hparams;
    const vouch_expert_hparams *all = &h->experts;
    const int64_t n_embd = h->n_embd, n_in = inputs_of(h), n = all->n_experts;
    *e = (vouch_experts){.n_experts = all->n_experts,
                         .n_used = all->n_used,
                         .activation = h->activation,
                         .limit = h->layers[index].limit,
                         .limits_result = h->limits_results,
                         .situ = h->situ,
                         .n_groups = all->n_groups,
                         .n_groups_used = all->n_groups_used,
                         .gating = all->gating,
                         .normalised = all->normalised,
                         .scale = all->scale,
                         .weighs_inputs = all->weighs_inputs,
                         .routes_early = all->routes_early,
                         .shared_scale = all->shared_scale != 0 ? all->shared_scale : 1};
    VOUCH_TRY(find_width(loader, index, "ffn_down_exps", &e->n_ff));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_gate_inp"), true, &e->router, n,
                                  n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ffn_gate_inp", "bias"), false,
                                  &e->router_bias, n));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "exp_probs_b", "bias"), false,
                                  &e->selection_bias, n));
    VOUCH_TRY(take_inputs(loader, index, e));
    VOUCH_TRY(take_stack(loader, index, "ffn_down_exps", e->n_ff, (vouch_rows){0, n_in, n_in}, &e->down,
                         &e->down_scales, &e->down_biases));
    VOUCH_TRY(take_adjugates(loader, index, e));
    return take_shared(loader, index, e);
}

/* Has the layer a tensor that only layers with experts have? */
static bool has_experts(vouch_loader *loader, int32_t index)
{
    return vouch_loader_has(loader, index, "ffn_down_exps") || vouch_loader_has(loader, index, "ffn_up_exps") ||
           vouch_loader_has(loader, index, "ffn_gate_up_exps") || vouch_loader_has(loader, index, "ffn_gate_inp");
}

vouch_status vouch_mixture_take(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    if (!has_experts(loader, index)) return vouch_dense_take(loader, index, layer);
    if (h->experts.n_experts == 0)
        return vouch_fail(loader->err, VOUCH_E_FORMAT, "%s: tensor '%s' needs %s.expert_count of 1 to %d",
                          vouch_gguf_path(loader->gguf), loader->name, h->arch, (int)VOUCH_MAX_EXPERTS);
    VOUCH_TRY(vouch_dense_take_attention(loader, index, layer));
    VOUCH_TRY(vouch_dense_take_feed_norms(loader, index, layer));
    return vouch_mixture_take_experts(loader, index, &layer->experts);
}

vouch_status vouch_mixture_ignore_dense(vouch_loader *loader, int32_t index)
{
    static const char *const tensors[] = {"ffn_gate", "ffn_up", "ffn_down"};
    for (int i = 0; i < 3; i++) VOUCH_TRY(vouch_loader_ignore_tensor(loader, index, tensors[i]));
    return VOUCH_OK;
}
