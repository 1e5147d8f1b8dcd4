/* SPDX-License-Identifier: MIT */
/* What a session's options name, opened (drafters.h has the picture). */
#include "engine/drafters.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/common.h"
#include "draft/compose.h"
#include "draft/custom.h"
#include "draft/model.h"
#include "draft/ngram.h"
#include "draft/prediction.h"
#include "draft/recycle.h"
#include "draft/suffix.h"
#include "decode/judge.h"

const char *vouch_drafter_name(int i)
{
    static const char *const names[VOUCH_DRAFTERS] = {"none",    "model",      "ngram",   "suffix",
                                                      "recycle", "prediction", "history", "custom"};
    return i >= 0 && i < VOUCH_DRAFTERS ? names[i] : NULL;
}

void vouch_drafters_name(unsigned drafters, char *out, size_t size)
{
    size_t used = 0;
    for (int bit = 0; bit < VOUCH_DRAFTERS && used < size; bit++)
        if (drafters >> bit & 1)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "," : "", vouch_drafter_name(bit));
}

static vouch_status check_head(const vouch_speculation *spec, int32_t n_vocab, vouch_error *err)
{
    const size_t n = spec->n_draft_head;
    vouch_status status = VOUCH_OK;
    if (n > 0 && !spec->draft_head)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: n_draft_head is %zu, but draft_head is NULL", n);
    if (n > (size_t)n_vocab)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "speculation: draft_head has %zu tokens, must be at most the draft model's %d", n,
                          n_vocab);
    bool *taken = calloc((size_t)n_vocab, sizeof *taken);
    if (!taken) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the draft model's head");
    for (size_t i = 0; i < n && status == VOUCH_OK; i++) {
        const int32_t token = spec->draft_head[i];
        if (token < 0 || token >= n_vocab || taken[token])
            status = vouch_fail(err, VOUCH_E_ARGUMENT,
                                "speculation: draft_head[%zu] is %d, must be 0 to %d and there once", i, token,
                                n_vocab - 1);
        else taken[token] = true;
    }
    free(taken);
    return status;
}

/* None where the draft model guesses all of the target's tokens, and no others. */
static vouch_status open_bridge(vouch_bridge **out, const vouch_model *model, const vouch_speculation *spec,
                                vouch_error *err)
{
    const vouch_model *draft = spec->draft_model;
    const int32_t n = model->info.n_vocab, n_draft = draft->info.n_vocab;
    const bool may_differ = spec->allow_vocab_mismatch && model->tokenizer && draft->tokenizer;
    *out = NULL;
    if (may_differ && vouch_model_check_pair(model, draft, NULL) != VOUCH_OK)
        VOUCH_TRY(vouch_bridge_open(out, model->tokenizer, n, draft->tokenizer, n_draft, err));
    else VOUCH_TRY(vouch_model_check_pair(model, draft, err));
    if (spec->n_draft_head == 0) return VOUCH_OK;
    if (!*out) VOUCH_TRY(vouch_bridge_open_same(out, n, err));
    const vouch_status status = vouch_bridge_trim(*out, spec->draft_head, (int32_t)spec->n_draft_head, err);
    if (status != VOUCH_OK) vouch_bridge_close(*out);
    return status;
}

static vouch_status open_model(vouch_drafter_ref *out, const vouch_model *model, const vouch_session_options *o,
                               int32_t branches, vouch_pool *pool, vouch_error *err)
{
    const vouch_speculation *spec = &o->speculation;
    vouch_bridge *bridge;
    VOUCH_TRY(check_head(spec, spec->draft_model->info.n_vocab, err));
    VOUCH_TRY(open_bridge(&bridge, model, spec, err));
    const vouch_drafter_model_options options = {.sampling = &o->sampling,
                                                 .draft_sampling = spec->draft_sampling,
                                                 .draw = vouch_rule_get(spec->accept)->draw_guess,
                                                 .n_ctx = o->n_ctx,
                                                 .prefill_chunk = o->prefill_chunk,
                                                 .k = spec->n_draft,
                                                 .branches = branches,
                                                 .kv_type = o->kv_type,
                                                 .bridge = bridge,
                                                 .head = spec->draft_head,
                                                 .n_head = (int32_t)spec->n_draft_head};
    return vouch_drafter_model_open(out, spec->draft_model->weights, pool, &options, err);
}

static vouch_status open_source(vouch_source *out, const vouch_model *model, const vouch_session_options *o,
                                unsigned bit, vouch_error *err)
{
    const vouch_speculation *spec = &o->speculation;
    switch (bit) {
    case VOUCH_DRAFTER_SUFFIX: return vouch_source_suffix_open(out, o->n_ctx, err);
    case VOUCH_DRAFTER_HISTORY: return vouch_source_history_open(out, spec->history_tokens, err);
    case VOUCH_DRAFTER_PREDICTION: return vouch_source_prediction_open(out, o->n_ctx, err);
    case VOUCH_DRAFTER_RECYCLE:
        return vouch_source_recycle_open(out, model->weights->kernels, model->info.n_vocab, spec->forget, err);
    default: return vouch_source_ngram_open(out, o->n_ctx, spec->ngram_min, spec->ngram_max, err);
    }
}

/* Nothing where no source is named, unless it is wanted all the same. */
static vouch_status open_composition(vouch_drafter_ref *out, const vouch_model *model,
                                     const vouch_session_options *o, bool is_wanted, vouch_error *err)
{
    const unsigned others = VOUCH_DRAFTER_NONE | VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_CUSTOM;
    vouch_source sources[VOUCH_DRAFTERS];
    int32_t n = 0;
    vouch_status status = VOUCH_OK;
    for (int bit = 0; bit < VOUCH_DRAFTERS && status == VOUCH_OK; bit++) {
        if (!((o->speculation.drafters & ~others) >> bit & 1)) continue;
        status = open_source(&sources[n], model, o, 1u << bit, err);
        n += status == VOUCH_OK;
    }
    if (status == VOUCH_OK && (n > 0 || is_wanted)) return vouch_drafter_compose_open(out, sources, n, err);
    while (n > 0) {
        n--;
        sources[n].ops->close(sources[n].self);
    }
    return status;
}

static vouch_status open_paid(vouch_drafter_ref *out, const vouch_model *model, const vouch_session_options *o,
                               int32_t branches, vouch_pool *pool, vouch_error *err)
{
    const vouch_speculation *spec = &o->speculation;
    if (spec->drafters & VOUCH_DRAFTER_MODEL) return open_model(out, model, o, branches, pool, err);
    if (spec->drafters & VOUCH_DRAFTER_CUSTOM)
        return vouch_drafter_custom_open(out, &spec->custom, model->info.n_vocab, err);
    return VOUCH_OK;
}

vouch_status vouch_drafters_open(vouch_drafters *out, const vouch_model *model, const vouch_session_options *o,
                                 bool is_paced, int32_t branches, vouch_pool *pool, vouch_error *err)
{
    const bool has_trees = (o->speculation.drafters & VOUCH_DRAFTER_MODEL) && branches > 1;
    *out = (vouch_drafters){0};
    VOUCH_TRY(open_composition(&out->free, model, o, is_paced && has_trees, err));
    const vouch_status status = open_paid(&out->paid, model, o, branches, pool, err);
    if (status != VOUCH_OK) vouch_drafters_close(out);
    return status;
}

vouch_source vouch_drafters_source(const vouch_drafters *drafters, unsigned bit)
{
    return vouch_drafter_compose_source(drafters->free, bit);
}
