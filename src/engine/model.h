/* SPDX-License-Identifier: MIT */
/* What a vouch_model is made of, for the session. */
#ifndef VOUCH_ENGINE_MODEL_H
#define VOUCH_ENGINE_MODEL_H

#include "model/weights.h"
#include "text/tokenizer.h"

struct vouch_model {
    vouch_weights *weights;
    vouch_tokenizer *tokenizer; /* NULL: ids only */
    vouch_model_info info;
    char *name;
    char weight_types[160];
};

#endif
