/* SPDX-License-Identifier: MIT */
/* SmallThinker (arXiv 2507.20984): the router reads a layer's input before attention; ReLU; every fourth layer has
 * neither window nor rotation. */
#include "model/load/arch.h"
#include "model/load/dense.h"
#include "model/load/mixture.h"

/* The windows are 4096 tokens wide whatever the file says, as in llama.cpp. */
static vouch_status read_smallthinker(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    enum { WINDOW = 4096, PERIOD = 4 };
    h->activation = VOUCH_RELU;
    h->experts.normalised = h->experts.routes_early = true;
    VOUCH_TRY(vouch_mixture_read(gguf, h, err));
    if (h->window == 0) return VOUCH_OK;
    h->window = WINDOW;
    VOUCH_TRY(vouch_dense_read_windows(gguf, h, PERIOD, VOUCH_FIRST, err));
    for (int32_t i = 0; i < h->n_layers; i += PERIOD) h->layers[i].rotary = VOUCH_ROTARY_OF_NONE;
    return VOUCH_OK;
}

const vouch_arch vouch_arch_smallthinker = {
    .name = "smallthinker", .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_smallthinker, .take = vouch_mixture_take};
