/* SPDX-License-Identifier: MIT */
/* Gemma (arXiv 2403.08295), Gemma 2 (2408.00118) and Gemma 3 (2503.19786): GELU, a scaled embedding; then windows in
 * some layers, norms after the branches, softcaps, and norms of queries and keys. */
#include <math.h>

#include "model/arch.h"
#include "model/dense.h"

static vouch_status read_gemma(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->activation = VOUCH_GELU;
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    h->embedding_scale = sqrtf((float)h->n_embd);
    return VOUCH_OK;
}

/* The 27B models scale scores by the embedding's share of a head, not by the head's width. */
static void scale_scores(vouch_hparams *h, int32_t n_layers_27b)
{
    if (h->n_layers == n_layers_27b) h->attention_scale = 1 / sqrtf((float)(h->n_embd / h->n_heads));
}

static vouch_status read_gemma2(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norms_after = VOUCH_REQUIRED;
    h->attention_softcap = 50;
    h->logit_softcap = 30;
    h->window = 4096;
    VOUCH_TRY(read_gemma(gguf, h, err));
    scale_scores(h, 46);
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attn_logit_softcapping", &h->attention_softcap, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "final_logit_softcapping", &h->logit_softcap, err));
    return vouch_dense_read_windows(gguf, h, 2, VOUCH_LAST, err);
}

static vouch_status read_gemma3(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->norms_after = h->head_norms = VOUCH_REQUIRED;
    VOUCH_TRY(read_gemma(gguf, h, err));
    scale_scores(h, 62);
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "final_logit_softcapping", &h->logit_softcap, err));
    return vouch_dense_read_window_angles(gguf, h, 6, 10000, err);
}

#define GEMMA(id)                                                                                                    \
    const vouch_arch vouch_arch_##id = {                                                                             \
        .name = #id, .rotary = VOUCH_ROTARY_HALF_SPLIT, .read = read_##id, .take = vouch_dense_take}

GEMMA(gemma);
GEMMA(gemma2);
GEMMA(gemma3);
