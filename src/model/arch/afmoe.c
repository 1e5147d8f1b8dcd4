/* SPDX-License-Identifier: MIT */
/* Trinity (Arcee) and Laguna (Poolside): gates of attention's result, norms of heads, windows in three layers of four,
 * and DeepSeek's experts with a biased sigmoid router. Muse Glimmer: Trinity without experts. Spark 2.5 (iFlytek):
 * gates of heads, windows, GELU, dense. HRM-Text: gates of attention's result, and stacks of layers that take turns. */
#include <math.h>

#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

/* The last of every four layers sees all tokens and has no rotation. */
static vouch_status read_afmoe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    enum { PERIOD = 4 };
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    h->experts.gating = VOUCH_GATING_SIGMOID;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    h->embedding_scale = sqrtf((float)h->n_embd);
    VOUCH_TRY(vouch_dense_read_window_angles(gguf, h, PERIOD, h->rope_base, err));
    h->rope_scaling_window = h->rope_scaling;
    for (int32_t i = PERIOD - 1; i < h->n_layers; i += PERIOD) h->layers[i].rotary = VOUCH_ROTARY_OF_NONE;
    return VOUCH_OK;
}

/* Muse Glimmer normalises the embedding without weights, and scales and softcaps the logits. Only layers with a window
 * rotate. */
static vouch_status read_muse_glimmer(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    h->has_bare_embedding_norm = true;
    h->norm_after_eps = 1e-8f;
    h->logit_softcap = 30;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_window_angles(gguf, h, 4, h->rope_base, err));
    vouch_dense_rotate(h, VOUCH_ROTARY_OF_WINDOW, VOUCH_ROTARY_OF_NONE);
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "final_logit_softcapping", &h->logit_softcap, err));
    return vouch_dense_read_scale(gguf, h, "logit_scale", &h->logit_scale, err);
}

/* The first of every four layers sees all tokens. Layers with a window rotate more elements of a head, by unscaled
 * angles. */
static vouch_status read_laguna(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->head_norms = VOUCH_REQUIRED;
    h->experts.gating = VOUCH_GATING_SIGMOID;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    if (h->window == 0) return VOUCH_OK;
    VOUCH_TRY(vouch_dense_read_window_angles(gguf, h, 4, h->rope_base, err));
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, 4, VOUCH_FIRST, err));
    vouch_dense_rotate(h, VOUCH_ROTARY_OF_WINDOW, VOUCH_ROTARY_OF_MODEL);
    h->n_rot_window = h->n_rot;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "rope.dimension_count_swa", false, 2, h->head_dim, &h->n_rot_window, err));
    if (h->n_rot_window % 2 != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: laguna.rope.dimension_count_swa %d must be even",
                          vouch_gguf_path(gguf), h->n_rot_window);
    return VOUCH_OK;
}

/* attention.sliding_window_pattern lists the layers with a window. */
static vouch_status read_spark(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->activation = VOUCH_GELU;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_window_angles(gguf, h, 1, h->rope_base, err));
    h->rope_scaling_window = h->rope_scaling;
    return VOUCH_OK;
}

/* The file has the weights of each layer once: first those of the low stack, then those of the high one. A layer of the
 * pass is a turn, and shares its weights with the same layer of the stack's first turn. */
static vouch_status read_hrm_text(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_stack_hparams *s = &h->stacks;
    int32_t n_high = 0;
    h->has_bare_norms = true;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "embedding_scale", &h->embedding_scale, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "hrm.layers_per_stack", true, 1, h->n_layers, &s->n_layers, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "hrm.h_cycles", true, 1, h->n_layers, &n_high, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "hrm.l_cycles", true, 1, h->n_layers, &s->n_low, err));
    if ((int64_t)s->n_layers * n_high * (s->n_low + 1) != h->n_layers)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: hrm_text.block_count is %d, must be hrm.layers_per_stack %d times hrm.h_cycles %d times "
                          "(hrm.l_cycles %d + 1)",
                          vouch_gguf_path(gguf), h->n_layers, s->n_layers, n_high, s->n_low);
    for (int32_t i = 0; i < h->n_layers; i++) {
        const int32_t turn = i / s->n_layers % (s->n_low + 1), first = turn == s->n_low ? s->n_low : 0;
        h->layers[i].twin_back = i - first * s->n_layers - i % s->n_layers;
    }
    return VOUCH_OK;
}

/* Ignores scales of the gates, as llama.cpp does. */
static vouch_status take_gates(vouch_loader *loader, int32_t index, vouch_attention *a, int64_t n_gates)
{
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_gate"), true, &a->gate, n_gates,
                                  loader->hparams->n_embd));
    return vouch_loader_ignore_scales(loader, index, "attn_gate");
}

static vouch_status take_afmoe(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    vouch_attention *a = &layer->attention;
    return take_gates(loader, index, a, (int64_t)a->n_heads * a->value_dim);
}

/* One gate for each element of a head's result, or one for each head: the tensor says which. */
static vouch_status take_laguna(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    vouch_attention *a = &layer->attention;
    const vouch_gguf_tensor *gate = vouch_gguf_find_tensor(loader->gguf, vouch_loader_name(loader, index, "attn_gate"));
    a->has_softplus = true;
    return take_gates(loader, index, a,
                      gate && gate->dim[1] == a->n_heads ? a->n_heads : (int64_t)a->n_heads * a->value_dim);
}

static vouch_status take_spark(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    return take_gates(loader, index, &layer->attention, layer->attention.n_heads);
}

/* Takes the scales of attention's matrices, of which each turn may have its own (blk.TURN.attn_q.scale, ...). Ignores
 * those of the feed-forward, as llama.cpp does. */
static vouch_status take_turn(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    vouch_attention *a = &layer->attention;
    const struct {
        const char *tensor;
        vouch_affine *after;
    } all[] = {{"attn_q", &a->q_after}, {"attn_k", &a->k_after}, {"attn_v", &a->v_after}, {"attn_output", &a->o_after}};
    static const char *const unscaled[] = {"attn_gate", "ffn_gate", "ffn_up", "ffn_down"};
    for (int i = 0; i < 4; i++) {
        VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, all[i].tensor, "scale"), false,
                                      &all[i].after->scale, 1));
        VOUCH_TRY(vouch_loader_ignore_scales(loader, index, all[i].tensor));
        VOUCH_TRY(vouch_loader_ignore_scales(loader, index, unscaled[i]));
    }
    layer->ffn.gate_after.scale = layer->ffn.up_after.scale = layer->ffn.down_after.scale = NULL;
    return VOUCH_OK;
}

static vouch_status take_hrm_text(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_stack_hparams *s = &loader->hparams->stacks;
    const int32_t block = index < s->n_layers ? index : s->n_layers + index % s->n_layers;
    VOUCH_TRY(vouch_dense_take(loader, block, layer));
    vouch_attention *a = &layer->attention;
    VOUCH_TRY(take_gates(loader, block, a, (int64_t)a->n_heads * a->value_dim));
    return take_turn(loader, index, layer);
}

const vouch_arch vouch_arch_hrm_text = {.name = "hrm_text",
                                        .rotary = VOUCH_ROTARY_HALF_SPLIT,
                                        .read = read_hrm_text,
                                        .take = take_hrm_text,
                                        .take_twin = take_turn};
const vouch_arch vouch_arch_afmoe = {
    .name = "afmoe", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_afmoe, .take = take_afmoe};
const vouch_arch vouch_arch_muse_glimmer = {
    .name = "muse-glimmer", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_muse_glimmer, .take = take_afmoe};
const vouch_arch vouch_arch_laguna = {
    .name = "laguna", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_laguna, .take = take_laguna};
const vouch_arch vouch_arch_spark2_5 = {
    .name = "spark2_5", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_spark, .take = take_spark};
