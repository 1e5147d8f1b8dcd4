/* SPDX-License-Identifier: MIT */
/*
 * Llama 4 (Meta, 2025). Three layers of four rotate, normalise the rotated heads, and attend within chunks of 8192
 * positions. Every fourth layer sees all tokens without rotation, and its queries grow with their position (Nakanishi,
 * arXiv 2501.19399). An expert's input is the row times the expert's weight.
 */
#include "base/memory.h"
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

static vouch_status read_llama4(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    enum { CHUNK = 8192, PERIOD = 4 };
    h->window = -1;
    h->has_chunks = true;
    h->heat = 0.1f;
    h->heat_length = CHUNK;
    h->heat_shift = 1;
    h->experts.gating = VOUCH_GATING_SIGMOID;
    h->experts.weighs_inputs = true;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    if (h->window == 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: llama4.attention.sliding_window is 0, must be %d or absent",
                          vouch_gguf_path(gguf), (int)CHUNK);
    h->window = CHUNK;
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, PERIOD, VOUCH_LAST, err));
    for (int32_t i = 0; i < h->n_layers; i++) {
        const bool is_rotated = (i + 1) % PERIOD != 0;
        h->layers[i].has_no_heat = is_rotated;
        h->layers[i].rotary = is_rotated ? VOUCH_ROTARY_OF_MODEL : VOUCH_ROTARY_OF_NONE;
    }
    return VOUCH_OK;
}

/* Maverick, with 128 experts, doesn't normalise heads. */
static vouch_status take_llama4(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    if (h->experts.n_experts == 128 || h->layers[index].rotary == VOUCH_ROTARY_OF_NONE) return VOUCH_OK;
    float *ones = vouch_arena_take(loader->arena, (size_t)h->head_dim, sizeof *ones);
    for (int32_t i = 0; ones && i < h->head_dim; i++) ones[i] = 1;
    layer->attention.head_norm = VOUCH_HEAD_RMS_LATE;
    layer->attention.q_norm = layer->attention.k_norm = ones;
    return VOUCH_OK;
}

const vouch_arch vouch_arch_llama4 = {
    .name = "llama4", .rotary = VOUCH_ROTARY_ADJACENT, .read = read_llama4, .take = take_llama4};
