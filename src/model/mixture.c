/* SPDX-License-Identifier: MIT */
#include "model/mixture.h"

#include <limits.h>

#include "model/dense.h"
#include "model/keys.h"

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

static vouch_status read_widths(const vouch_gguf *gguf, const vouch_mixture *family, vouch_hparams *h,
                                vouch_error *err)
{
    vouch_expert_hparams *e = &h->experts;
    int32_t n_shared = 0, stated = 0;
    int64_t shared = 0;
    e->n_ff = 0;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_feed_forward_length", false, 0, 1 << 22, &e->n_ff, err));
    if (e->n_ff == 0) e->n_ff = family->divides_width ? h->n_ff / e->n_used : h->n_ff;
    if (e->n_ff == 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.feed_forward_length is %d for %d experts: too narrow",
                          vouch_gguf_path(gguf), h->arch, h->n_ff, e->n_used);
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_shared_count", false, 0, VOUCH_MAX_EXPERTS, &n_shared, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_shared_feed_forward_length", false, 0, 1 << 22, &stated, err));
    switch (family->shared) {
    case VOUCH_SHARED_NONE: break;
    case VOUCH_SHARED_STATED: shared = stated; break;
    case VOUCH_SHARED_STATED_OR_FULL: shared = stated ? stated : h->n_ff; break;
    case VOUCH_SHARED_COUNTED: shared = (int64_t)n_shared * e->n_ff; break;
    case VOUCH_SHARED_COUNTED_STATED: shared = (int64_t)n_shared * (stated ? stated : e->n_ff); break;
    }
    if (shared > 1 << 22)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.expert_shared_count %d gives a shared network of width %lld, "
                          "more than %d", vouch_gguf_path(gguf), h->arch, n_shared, (long long)shared, 1 << 22);
    e->n_ff_shared = (int32_t)shared;
    return VOUCH_OK;
}

static vouch_status read_gating(const vouch_gguf *gguf, const vouch_mixture *family, vouch_hparams *h,
                                vouch_error *err)
{
    vouch_expert_hparams *e = &h->experts;
    int32_t stated = 0;
    double scale = 0;
    if (family->has_gating)
        VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_gating_func", false, 0, VOUCH_GATING_CHOSEN, &stated, err));
    e->gating = stated ? (vouch_gating)stated : family->gating ? family->gating : VOUCH_GATING_SOFTMAX;
    e->normalised = family->normalises;
    if (family->states_norm) {
        char name[96];
        VOUCH_TRY(vouch_gguf_get_bool(gguf, vouch_key_name(name, sizeof name, h->arch, "expert_weights_norm"), false,
                                      &e->normalised, err));
    }
    if (family->states_scale)
        VOUCH_TRY(vouch_key_float(gguf, h->arch, "expert_weights_scale", false, 0, 1e6, &scale, err));
    e->scale = scale == 0 ? 1.0f : (float)scale;
    return VOUCH_OK;
}

vouch_status vouch_mixture_read(const vouch_gguf *gguf, const vouch_mixture *family, vouch_hparams *h,
                                vouch_error *err)
{
    vouch_expert_hparams *e = &h->experts;
    const bool required = !family->is_optional;
    *e = (vouch_expert_hparams){.are_allowed = true,
                                .step = 1,
                                .has_shared_gate = family->has_shared_gate,
                                .biases_choice = family->biases_choice,
                                .has_scales = family->has_scales};
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_count", required, required, VOUCH_MAX_EXPERTS, &e->n_experts, err));
    if (e->n_experts == 0) return VOUCH_OK;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "expert_used_count", true, 1, e->n_experts, &e->n_used, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "leading_dense_block_count", false, 0, h->n_layers, &e->n_dense, err));
    VOUCH_TRY(read_groups(gguf, h, err));
    VOUCH_TRY(read_widths(gguf, family, h, err));
    return read_gating(gguf, family, h, err);
}

/* ------------------------------------------------------------------- tensors */

static vouch_status take_shared(vouch_loader *loader, int32_t index, vouch_experts *e)
{
    const vouch_hparams *h = loader->hparams;
    const int64_t n_embd = h->n_embd, n_ff = h->experts.n_ff_shared;
    vouch_feed_forward *f = &e->shared;
    f->n_ff = (int32_t)n_ff;
    if (n_ff == 0) return VOUCH_OK;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_gate_shexp"), true, &f->gate, n_ff,
                                  n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_up_shexp"), true, &f->up, n_ff,
                                  n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_down_shexp"), true, &f->down, n_embd,
                                  n_ff));
    if (!h->experts.has_shared_gate) return VOUCH_OK;
    return vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_gate_inp_shexp"), true, &e->shared_gate,
                               1, n_embd);
}

/* Experts' scales; input scales matter to 4-bit activations only. */
static vouch_status take_scales(vouch_loader *loader, int32_t index, const char *tensor, const float **scales)
{
    const char *name = vouch_loader_name_of(loader, index, tensor, "scale");
    if (loader->hparams->experts.has_scales)
        VOUCH_TRY(vouch_loader_vector(loader, name, false, scales, loader->hparams->experts.n_experts));
    else VOUCH_TRY(vouch_loader_ignore(loader, name));
    return vouch_loader_ignore(loader, vouch_loader_name_of(loader, index, tensor, "input_scale"));
}

/* W_gate and W_up of all experts, each alone or the one above the other. */
static vouch_status take_inputs(vouch_loader *loader, int32_t index, vouch_experts *e)
{
    const int64_t n_embd = loader->hparams->n_embd, n_ff = e->n_ff, n = e->n_experts;
    const char *fused = vouch_loader_name(loader, index, "ffn_gate_up_exps");
    if (vouch_gguf_find_tensor(loader->gguf, fused)) {
        VOUCH_TRY(vouch_loader_stack(loader, fused, true, &e->gate, n, n_embd, (vouch_rows){0, n_ff, 2 * n_ff}));
        VOUCH_TRY(vouch_loader_stack(loader, fused, true, &e->up, n, n_embd, (vouch_rows){n_ff, n_ff, 2 * n_ff}));
        VOUCH_TRY(take_scales(loader, index, "ffn_gate_up_exps", &e->gate_scales));
        e->up_scales = e->gate_scales;
        return VOUCH_OK;
    }
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name(loader, index, "ffn_gate_exps"), true, &e->gate, n, n_embd,
                                 (vouch_rows){0, n_ff, n_ff}));
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name(loader, index, "ffn_up_exps"), true, &e->up, n, n_embd,
                                 (vouch_rows){0, n_ff, n_ff}));
    VOUCH_TRY(take_scales(loader, index, "ffn_gate_exps", &e->gate_scales));
    return take_scales(loader, index, "ffn_up_exps", &e->up_scales);
}

static vouch_status take_experts(vouch_loader *loader, int32_t index, vouch_experts *e)
{
    const vouch_hparams *h = loader->hparams;
    const vouch_expert_hparams *all = &h->experts;
    const int64_t n_embd = h->n_embd, n = all->n_experts;
    *e = (vouch_experts){.n_experts = all->n_experts,
                         .n_used = all->n_used,
                         .n_ff = all->n_ff,
                         .n_groups = all->n_groups,
                         .n_groups_used = all->n_groups_used,
                         .gating = all->gating,
                         .normalised = all->normalised,
                         .scale = all->scale};
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ffn_gate_inp"), true, &e->router, n,
                                  n_embd));
    if (all->biases_choice)
        VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "exp_probs_b", "bias"), false,
                                      &e->selection_bias, n));
    VOUCH_TRY(take_inputs(loader, index, e));
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name(loader, index, "ffn_down_exps"), true, &e->down, n, e->n_ff,
                                 (vouch_rows){0, n_embd, n_embd}));
    VOUCH_TRY(take_scales(loader, index, "ffn_down_exps", &e->down_scales));
    return take_shared(loader, index, e);
}

vouch_status vouch_mixture_take(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    const vouch_expert_hparams *e = &h->experts;
    if (e->n_experts == 0 || index < e->n_dense || (index + 1) % e->step != 0)
        return vouch_dense_take_feed_forward(loader, index, layer);
    VOUCH_TRY(vouch_dense_take_norm(loader, index, "ffn_norm", &layer->feed.norm));
    return take_experts(loader, index, &layer->experts);
}
