/* SPDX-License-Identifier: MIT */
/* Phi-1 to Phi-2 (arXiv 2309.05463), and GPT-J before them: LayerNorm, parallel branches, no gate. Phi-3 and Phi-4
 * (2404.14219): fused matrices, long and short factors of the frequencies; Phi-3.5-MoE: experts, and norms with biases.
 * GLM-4 and ChatGLM (2406.12793): a fused gate, too. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

static vouch_status read_phi2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norm = VOUCH_NORM_LAYER;
    h->is_parallel = h->has_output_bias = true;
    h->activation = VOUCH_GELU;
    h->gate = VOUCH_GATE_NONE;
    return vouch_dense_read(gguf, h, err);
}

static vouch_status read_fused(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->gate = VOUCH_GATE_FUSED;
    return vouch_dense_read(gguf, h, err);
}

/* Ignores the window that files state, as llama.cpp does. */
static vouch_status read_phimoe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_output_bias = true;
    h->experts.normalised = true;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    h->window = 0;
    return VOUCH_OK;
}

/* Files with RoPE sections, for pictures, rotate pairs half a head apart. In a text all sections have equal
 * positions. */
static vouch_status read_glm4(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norms_after = VOUCH_REQUIRED;
    if (vouch_gguf_has(gguf, "glm4.rope.dimension_sections")) h->rotary = VOUCH_ROTARY_HALF_SPLIT;
    return read_fused(gguf, h, err);
}

const vouch_arch vouch_arch_phi2 = {
    .name = "phi2", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_phi2, .take = vouch_dense_take};
const vouch_arch vouch_arch_gptj = {
    .name = "gptj", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_phi2, .take = vouch_dense_take};
const vouch_arch vouch_arch_phi3 = {
    .name = "phi3", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_fused, .take = vouch_dense_take};
const vouch_arch vouch_arch_phimoe = {
    .name = "phimoe", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_phimoe, .take = vouch_mixture_take};
const vouch_arch vouch_arch_chatglm = {
    .name = "chatglm", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_fused, .take = vouch_dense_take};
const vouch_arch vouch_arch_glm4 = {
    .name = "glm4", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_glm4, .take = vouch_dense_take};
