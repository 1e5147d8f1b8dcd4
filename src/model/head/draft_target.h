/* SPDX-License-Identifier: MIT */
/* The model that the file of a drafter is for. */
#ifndef VOUCH_MODEL_DRAFT_TARGET_H
#define VOUCH_MODEL_DRAFT_TARGET_H

#include "model/load/weights.h"

typedef struct vouch_draft_target {
    const vouch_weights *weights;
    const char *digest; /* vouch_gguf_digest in hexadecimal digits */
    int32_t n_vocab;
    bool may_differ; /* accepts a file for another target whose sizes are the same */
} vouch_draft_target;

#endif
