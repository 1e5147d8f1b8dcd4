/* SPDX-License-Identifier: MIT */
/*
 * A family of architectures: how a file's metadata and tensors become layers (layer.h). Each family is one file in
 * arch/, and one line in the table of arch.c.
 */
#ifndef VOUCH_MODEL_ARCH_H
#define VOUCH_MODEL_ARCH_H

#include "model/load/loader.h"

typedef struct vouch_arch {
    const char *name; /* general.architecture */
    vouch_rotary_kind rotary;
    bool has_feed_scales; /* hparams.h */
    /* Reads and checks all hyperparameters except n_vocab. Errors: FORMAT, UNSUPPORTED. */
    vouch_status (*read)(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
    /* Fills layer `index` and takes its tensors. Errors: FORMAT, UNSUPPORTED, MEMORY. */
    vouch_status (*take)(vouch_loader *loader, int32_t index, vouch_layer *layer);
    /* Takes what layer `index` has of its own, where it has the weights of a layer before, which the caller has copied.
     * NULL: nothing. Errors: as above. */
    vouch_status (*take_twin)(vouch_loader *loader, int32_t index, vouch_layer *layer);
} vouch_arch;

/* The family of Gemma 4's assistants. The table lacks it, so that vouch_arch_find refuses such a file as a model:
 * assistant.c reads it as a head. */
extern const vouch_arch vouch_arch_gemma4_assistant;

/* The family of a file. Errors: FORMAT (the file names no architecture), UNSUPPORTED (the message names it). */
vouch_status vouch_arch_find(const vouch_gguf *gguf, const vouch_arch **arch, vouch_error *err);

#endif
