/* SPDX-License-Identifier: MIT */
/* The sampling that a model's file recommends: the keys general.sampling of GGUF, which a Hugging Face folder gets from
 * its generation_config.json (format/hf/hf_sampling.h), and vouch.sampling.typical_p, for which GGUF has no key. */
#ifndef VOUCH_ENGINE_RECOMMEND_H
#define VOUCH_ENGINE_RECOMMEND_H

#include "format/gguf.h"

typedef struct vouch_recommendation {
    vouch_sampling sampling; /* with the defaults of vouch_model_sampling where the file says nothing */
    unsigned fields;         /* VOUCH_SAMPLING_ bits: the file recommends these */
} vouch_recommendation;

/* gguf NULL: a file without recommendations. Errors: FORMAT (names key and value). */
vouch_status vouch_recommendation_read(vouch_recommendation *out, const vouch_gguf *gguf, vouch_error *err);

#endif
