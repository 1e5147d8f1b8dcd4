/* SPDX-License-Identifier: MIT */
#include "model/load/hyper_tensors.h"

#include <stdio.h>

#include "model/load/keys.h"

vouch_status vouch_hyper_read_keys(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    double eps = 0;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "hyper_connection.count", true, 2, VOUCH_MOST_VERSIONS, &h->hyper.n, err));
    VOUCH_TRY(vouch_key_float(gguf, h->arch, "hyper_connection.epsilon", true, 0, 1, &eps, err));
    h->hyper.eps = (float)eps;
    return VOUCH_OK;
}

/* Takes PREFIX_fn, PREFIX_base and PREFIX_scale. */
static vouch_status take_part(vouch_loader *loader, const char *prefix, int64_t n_out, int64_t n_scales,
                              vouch_hyper *hyper)
{
    const vouch_hparams *h = loader->hparams;
    char name[64];
    snprintf(name, sizeof name, "%s_fn.weight", prefix);
    VOUCH_TRY(vouch_loader_matrix(loader, name, true, &hyper->weights, n_out, (int64_t)h->hyper.n * h->n_embd));
    snprintf(name, sizeof name, "%s_base.weight", prefix);
    VOUCH_TRY(vouch_loader_vector(loader, name, true, &hyper->base, n_out));
    snprintf(name, sizeof name, "%s_scale.weight", prefix);
    return vouch_loader_vector(loader, name, true, &hyper->scale, n_scales);
}

vouch_status vouch_hyper_take(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const int64_t n = loader->hparams->hyper.n;
    const bool has_mix = loader->hparams->hyper.n_rounds > 0;
    const int64_t n_out = 2 * n + (has_mix ? n * n : 0), n_scales = has_mix ? 3 : 2;
    char prefix[32];
    snprintf(prefix, sizeof prefix, "blk.%d.hc_attn", index);
    VOUCH_TRY(take_part(loader, prefix, n_out, n_scales, &layer->mix.hyper));
    snprintf(prefix, sizeof prefix, "blk.%d.hc_ffn", index);
    return take_part(loader, prefix, n_out, n_scales, &layer->feed.hyper);
}

vouch_status vouch_hyper_take_last(vouch_loader *loader, vouch_hyper *last)
{
    return take_part(loader, "output_hc", loader->hparams->hyper.n, 1, last);
}
