/* SPDX-License-Identifier: MIT */
/* LFM2, dense and with experts (Liquid AI): layers without KV heads mix by a short convolution of W_b x * W_x x, times
 * W_c x; the others are attention with normalised heads. */
#include "model/load/arch.h"
#include "model/load/keys.h"
#include "model/load/mixture.h"

/* Every layer with attention has the file's window, if the file has one. */
static vouch_status read_lfm2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->has_partial_layers = true;
    h->head_norms = VOUCH_REQUIRED;
    h->output_norm = "token_embd_norm";
    h->experts.normalised = true;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    return vouch_key_int(gguf, h->arch, "shortconv.l_cache", true, 2, VOUCH_MAX_CONV, &h->delta.width, err);
}

static vouch_status read_lfm2moe(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_lfm2(gguf, h, err));
    h->window = 0;
    return VOUCH_OK;
}

/* in_proj has the rows of W_b, W_c and W_x, in this order. */
static vouch_status take_convolution(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    const int64_t n = loader->hparams->n_embd;
    vouch_matrix *const parts[] = {&r->factor, &r->gate, &r->in[0]};
    r->kind = VOUCH_SHORT_CONVOLUTION;
    r->conv = (vouch_conv){.n_channels = n, .width = loader->hparams->delta.width};
    for (int i = 0; i < 3; i++)
        VOUCH_TRY(vouch_loader_rows(loader, vouch_loader_name(loader, index, "shortconv.in_proj"), true, parts[i], n,
                                    (vouch_rows){i * n, n, 3 * n}));
    VOUCH_TRY(vouch_loader_transposed(loader, vouch_loader_name(loader, index, "shortconv.conv"), &r->conv.weights, n,
                                      r->conv.width));
    return vouch_loader_matrix(loader, vouch_loader_name(loader, index, "shortconv.out_proj"), true, &r->out, n, n);
}

static vouch_status take_lfm2(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    VOUCH_TRY(vouch_mixture_take(loader, index, layer));
    return layer->attention.n_heads > 0 ? VOUCH_OK : take_convolution(loader, index, &layer->recurrent);
}

const vouch_arch vouch_arch_lfm2 = {
    .name = "lfm2", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_lfm2, .take = take_lfm2};
const vouch_arch vouch_arch_lfm2moe = {
    .name = "lfm2moe", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_lfm2moe, .take = take_lfm2};
