/* SPDX-License-Identifier: MIT */
/* Layers with Mamba (Gu, Dao, arXiv 2312.00752) and Mamba-2 mixers (Dao, Gu, arXiv 2405.21060): the mixer. dense.h and
 * mixture.h have the rest of the decoder. */
#ifndef VOUCH_MODEL_MAMBA_H
#define VOUCH_MODEL_MAMBA_H

#include "model/load/loader.h"

/* Fill h->mamba; the caller has filled the rest of h. Errors: FORMAT, UNSUPPORTED. */
vouch_status vouch_mamba_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
vouch_status vouch_mamba2_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
vouch_status vouch_plamo2_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
/* Fill a layer's mixer and take its tensors ssm_*. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_mamba_take(vouch_loader *loader, int32_t index, vouch_recurrent *mixer);
vouch_status vouch_mamba2_take(vouch_loader *loader, int32_t index, vouch_recurrent *mixer);
vouch_status vouch_plamo2_take(vouch_loader *loader, int32_t index, vouch_recurrent *mixer);

#endif
