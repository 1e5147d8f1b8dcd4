/* SPDX-License-Identifier: MIT */
/* MiniMax-01 (arXiv 2501.08313) has experts, and lightning attention (2401.04658) in seven of eight layers; the eighth
 * has softmax attention. The stream doesn't carry x past a branch, but the branch's normalised input times a factor.
 * MiniMax-M3 has norms of heads, clamped SwiGLU and DeepSeek-V3's experts. Its attention chooses blocks of tokens. */
#include <limits.h>

#include "base/angle.h"
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

static vouch_status read_minimax_01(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->experts.normalised = true;
    h->carry = 1;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "residual_scale", &h->carry, err));
    if (h->value_dim != h->head_dim || h->head_dim % VOUCH_TILE != 0 || h->carry == 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: minimax-01.attention.key_length %d must be a multiple of %d and equal value_length %d, "
                          "and residual_scale %g isn't 0",
                          vouch_gguf_path(gguf), h->head_dim, (int)VOUCH_TILE, h->value_dim, (double)h->carry);
    return vouch_dense_read_recurrent(gguf, h, 8, err);
}

/* The decay of head h, counted from 1, is exp(-share * 2^(-8 h / n_heads)): the slopes are those of ALiBi. The share
 * falls from 1 in the first layer to nearly 0 in the last. */
static void fill_decays(float *decays, int32_t n_heads, int32_t layer, int32_t n_layers)
{
    const double e = 2.718281828459045, share = n_layers > 1 ? 1 - (double)layer / (n_layers - 1) + 1e-5 : 1;
    for (int32_t h = 0; decays && h < n_heads; h++)
        decays[h] = (float)vouch_power(e, -share * vouch_power(2, -8.0 * (h + 1) / n_heads));
}

/* W_qkv gives the query, the key and the value of the first head, then those of the next. The convolution has one
 * weight, which is 1, so c is silu(u). Ignores the matrices' scales, as llama.cpp does. */
static vouch_status take_lightning(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    static const char *const matrices[] = {"attn_qkv", "attn_gate", "attn_output"};
    const vouch_hparams *h = loader->hparams;
    const int64_t head = h->head_dim, n = h->n_heads * head;
    float *ones = vouch_arena_take(loader->arena, (size_t)(3 * n), sizeof *ones);
    float *decays = vouch_arena_take(loader->arena, (size_t)h->n_heads, sizeof *decays);
    for (int64_t i = 0; ones && i < 3 * n; i++) ones[i] = 1;
    fill_decays(decays, h->n_heads, index, h->n_layers);
    *r = (vouch_recurrent){.conv = {.n_channels = 3 * n, .width = 1, .weights = ones, .has_silu = true},
                           .kind = VOUCH_LIGHTNING,
                           .n_heads = h->n_heads,
                           .n_key_heads = h->n_heads,
                           .n_keys = h->head_dim,
                           .n_values = h->head_dim,
                           .k = n,
                           .v = 2 * n,
                           .a = decays};
    for (int i = 0; i < 3; i++)
        VOUCH_TRY(vouch_loader_parts(loader, vouch_loader_name(loader, index, "attn_qkv"), &r->in[i], h->n_heads,
                                     h->n_embd, (vouch_rows){i * head, head, 3 * head}));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_gate"), true, &r->gate, n, h->n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_output"), true, &r->out, h->n_embd,
                                  n));
    for (int i = 0; i < 3; i++) VOUCH_TRY(vouch_loader_ignore_tensor(loader, index, matrices[i]));
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_norm_2"), true, &r->norm, n);
}

static vouch_status take_minimax_01(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    return layer->attention.n_heads > 0 ? VOUCH_OK : take_lightning(loader, index, &layer->recurrent);
}

/* A row attends to the attention.indexer.top_k blocks that it chooses. A context of no more blocks needs no choice, and
 * vouch runs no longer one. */
static vouch_status read_minimax_m3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    int32_t n_blocks = 0, block = 0;
    h->head_norms = VOUCH_REQUIRED;
    h->activation = VOUCH_SWIGLU_OPENAI;
    h->experts.gating = VOUCH_GATING_SIGMOID;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.indexer.top_k", true, 1, INT_MAX, &n_blocks, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "attention.indexer.block_size", true, 1, INT_MAX, &block, err));
    h->n_ctx_most = n_blocks < INT_MAX / block ? n_blocks * block : INT_MAX;
    for (int32_t i = 0; i < h->n_layers; i++) h->layers[i].limit = h->layers[i].dense_limit = 7;
    return VOUCH_OK;
}

static vouch_status take_minimax_m3(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    static const char *const indexer[] = {"indexer.q_proj", "indexer.k_proj", "indexer.q_norm", "indexer.k_norm"};
    for (int i = 0; i < 4; i++) VOUCH_TRY(vouch_loader_ignore(loader, vouch_loader_name(loader, index, indexer[i])));
    return vouch_mixture_take(loader, index, layer);
}

const vouch_arch vouch_arch_minimax_m3 = {
    .name = "minimax-m3", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_minimax_m3, .take = take_minimax_m3};
const vouch_arch vouch_arch_minimax_01 = {
    .name = "minimax-01", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_minimax_01, .take = take_minimax_01};
