/* SPDX-License-Identifier: MIT */
/* What a vouch_model is made of, for the session. */
#ifndef VOUCH_ENGINE_MODEL_H
#define VOUCH_ENGINE_MODEL_H

#include "draft/bridge.h"
#include "model/weights.h"
#include "text/tokenizer.h"

struct vouch_model {
    vouch_weights *weights;     /* without memory where only the text was asked for */
    vouch_tokenizer *tokenizer; /* NULL: ids only */
    vouch_model_info info;
    uint64_t vocabulary_hash;   /* of all tokens' bytes: ids mean the same in models that share it */
    char *name;
    char weight_types[160];
};

static inline vouch_vocabulary vouch_model_vocabulary(const vouch_model *model)
{
    return (vouch_vocabulary){model->tokenizer, model->info.n_vocab};
}

/* ARGUMENT where it was opened for its text only. */
static inline vouch_status vouch_model_need_weights(const vouch_model *model, vouch_error *err)
{
    if (model->weights->arena.base) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_ARGUMENT, "a model opened with text_only has no weights to compute with");
}

#endif
