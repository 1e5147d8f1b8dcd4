/* SPDX-License-Identifier: MIT */
/* The parts of a vouch_model, for the session. */
#ifndef VOUCH_ENGINE_MODEL_H
#define VOUCH_ENGINE_MODEL_H

#include <stdatomic.h>

#include "draft/bridge.h"
#include "draft/draft_file.h"
#include "engine/file/recommend.h"
#include "model/head/head_weights.h"
#include "text/grammar/trie.h"
#include "text/tokenizer.h"

struct vouch_model {
    vouch_draft_file own;       /* a head (head_weights.h) in the model's own file; content NULL: none */
    vouch_weights *weights;     /* without memory where text_only was set; NULL: a tokenizer without its model */
    vouch_tokenizer *tokenizer; /* NULL: ids only */
    _Atomic(vouch_trie *) trie; /* of the tokenizer; NULL until the first session with a grammar */
    vouch_model_info info;
    vouch_recommendation recommendation;
    char *name;
    char weight_types[160];
    uint64_t adapters[VOUCH_MOST_LORAS]; /* [info.n_adapters] a hash of each file, which tells it from others */
    uint64_t stamp;                      /* vouch_gguf_stamp */
    char digest[17];                     /* vouch_gguf_digest; "": a tokenizer without its model */
};

static inline vouch_vocabulary vouch_model_vocabulary(const vouch_model *model)
{
    return (vouch_vocabulary){model->tokenizer, model->info.n_vocab};
}

/* As vouch_model_open, with a file that is open already and that the caller closes: for models in memory. The caller
 * has set the default floats (base/floats.h). */
vouch_status vouch_model_open_file(vouch_model **out, const vouch_gguf *gguf, const vouch_model_options *options,
                                   vouch_error *err);
/* A hash of all tokens' bytes: ids mean the same in models that share it. */
uint64_t vouch_model_vocabulary_hash(const vouch_model *model);

/* Fails with ARGUMENT where the model was opened with text_only. */
static inline vouch_status vouch_model_need_weights(const vouch_model *model, vouch_error *err)
{
    if (model->weights && model->weights->arena.base) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_ARGUMENT, "a model opened with text_only has no weights to compute with");
}

/* The tree of the model's tokens, which lives as long as the model. Any thread. Errors: MEMORY, UNSUPPORTED (a model
 * without a tokenizer). */
vouch_status vouch_model_trie(const vouch_trie **out, const vouch_model *model, vouch_error *err);

#endif
