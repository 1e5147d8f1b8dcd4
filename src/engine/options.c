/* SPDX-License-Identifier: MIT */
/* A session's options (options.h). */
#include "engine/options.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "draft/registry.h"
#include "engine/file/draft_memory.h"

enum {
    DEFAULT_CTX = 4096,
    DEFAULT_CHUNK = 256,
    MAX_CHUNK = 512,
    MAX_CTX = 1 << 24,
    DEFAULT_DRAFT = 16,
    DEFAULT_BRANCHES = 8
};

vouch_speculation vouch_speculation_default(void)
{
    return (vouch_speculation){.lenience = 1, .accept = VOUCH_ACCEPT_AUTO, .ngram_min = 2, .ngram_max = 4};
}

vouch_session_options vouch_session_options_default(void)
{
    return (vouch_session_options){
        .sampling = vouch_sampling_default(), .speculation = vouch_speculation_default(), .thought_budget = -1};
}

vouch_status vouch_options_out_of_range(vouch_error *err, const char *what, long long value, long long min,
                                        long long max)
{
    return vouch_fail(err, VOUCH_E_ARGUMENT, "%s is %lld, must be %lld to %lld", what, value, min, max);
}

vouch_status vouch_options_check_lenience(const vouch_rule *rule, double lenience, vouch_error *err)
{
    if (!(lenience > 0 && lenience <= 1))
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: lenience is %g, must be above 0 and at most 1",
                          lenience);
    if (lenience < 1 && !rule->lenient)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: lenience is %g, must be 1 with the rule %s", lenience,
                          rule->name);
    return VOUCH_OK;
}

/* The sampling that AUTO stands for. */
static vouch_draft_sampling best_draft_sampling(const vouch_speculation *s)
{
    const vouch_rule *rule = vouch_rule_get(s->accept);
    const bool ignores_q = rule ? rule->ignores_q : s->lenience == 1; /* AUTO goes by whether guesses are drawn */
    return vouch_drafters_paid_type(s->drafters)->is_greedy && ignores_q ? VOUCH_DRAFT_GREEDY : VOUCH_DRAFT_SAMPLE;
}

/* Whether guesses are drawn from q. */
static bool draws_guesses(const vouch_session_options *o)
{
    return vouch_drafters_paid_type(o->speculation.drafters)->has_q && o->sampling.temperature > 0 &&
           o->speculation.draft_sampling == VOUCH_DRAFT_SAMPLE;
}

const char *vouch_draft_sampling_name(int i)
{
    static const char *const names[] = {
#define NAME(constant, name) #name,
        VOUCH_DRAFT_SAMPLING_LIST(NAME)
#undef NAME
    };
    return i >= 0 && i < (int)(sizeof names / sizeof *names) ? names[i] : NULL;
}

static vouch_status check_speculation(const vouch_speculation *s, vouch_error *err)
{
    const vouch_rule *rule = vouch_rule_get(s->accept);
    if (!rule) return vouch_options_out_of_range(err, "speculation: accept", (int)s->accept, 0, VOUCH_ACCEPT_AUTO);
    if (s->drafters >> VOUCH_DRAFTERS)
        return vouch_options_out_of_range(err, "speculation: drafters", s->drafters, 0, (1 << VOUCH_DRAFTERS) - 1);
    if ((s->drafters & VOUCH_DRAFTER_NONE) && s->drafters != VOUCH_DRAFTER_NONE)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: none can't be combined with other drafters");
    const unsigned paid = s->drafters & vouch_drafters_paid();
    if (paid & (paid - 1)) {
        char names[VOUCH_DRAFTER_NAMES];
        vouch_drafters_name(paid, names);
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: drafters has %s: expected one of them at most", names);
    }
    if (s->n_draft < 0 || s->n_draft > VOUCH_MAX_DRAFT)
        return vouch_options_out_of_range(err, "speculation: n_draft", s->n_draft, 0, VOUCH_MAX_DRAFT);
    if (s->tree_branches < 0 || s->tree_branches > VOUCH_MAX_DRAFT)
        return vouch_options_out_of_range(err, "speculation: tree_branches", s->tree_branches, 0, VOUCH_MAX_DRAFT);
    if (s->tree_depth < 0 || s->tree_depth > VOUCH_MAX_DRAFT)
        return vouch_options_out_of_range(err, "speculation: tree_depth", s->tree_depth, 0, VOUCH_MAX_DRAFT);
    if (s->tree_branches > 1 && !rule->trees)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "speculation: tree_branches is %d, must be 1 with the rule %s, which judges chains only",
                          s->tree_branches, rule->name);
    if (!vouch_draft_sampling_name((int)s->draft_sampling))
        return vouch_options_out_of_range(err, "speculation: draft_sampling", s->draft_sampling, 0, VOUCH_DRAFT_GREEDY);
    VOUCH_TRY(vouch_options_check_lenience(rule, s->lenience, err));
    const unsigned lacking = vouch_speculation_lacks(s);
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (lacking >> i & 1)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: the %s drafter needs %s", vouch_drafter_name(i),
                              vouch_drafter_type_get(i)->lacks);
    return VOUCH_OK;
}

/* What the model's own file brings stands in for a drafter's file, unless a draft model guesses. */
static void take_own(vouch_speculation *s, const vouch_model *model)
{
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (vouch_drafter_type_get(i)->in_model && !s->files[i] && !s->draft_model && model->own.content)
            s->files[i] = &model->own;
}

static bool wants_pace(const vouch_speculation *given)
{
    return given->drafters == VOUCH_DRAFTER_AUTO || (given->drafters != VOUCH_DRAFTER_NONE && given->n_draft == 0);
}

/* The most guesses with one parent, in the paid drafter's draft. */
static int32_t paid_branches(const vouch_session_options *o, bool is_paced)
{
    const vouch_drafter_type *paid = vouch_drafters_paid_type(o->speculation.drafters);
    const int32_t given = o->speculation.tree_branches;
    if (!paid->has_q || !vouch_rule_get(o->speculation.accept)->trees) return 1;
    if (given > 0) return given;
    return is_paced && paid->branches > 0 && !draws_guesses(o) ? paid->branches : 1;
}

/* Replaces the defaults of the draft's shape. */
static void resolve_shape(vouch_session_options *o, int32_t branches)
{
    vouch_speculation *s = &o->speculation;
    const bool has_free = s->drafters & ~vouch_drafters_paid();
    if (s->n_draft == 0) s->n_draft = DEFAULT_DRAFT;
    if (s->drafters == VOUCH_DRAFTER_NONE) s->n_draft = 0;
    if (!has_free) s->tree_branches = branches;
    if (s->tree_branches == 0) s->tree_branches = DEFAULT_BRANCHES;
    if (!vouch_rule_get(s->accept)->trees) s->tree_branches = 1;
    if (s->tree_depth == 0 || s->tree_depth > s->n_draft) s->tree_depth = s->n_draft;
}

vouch_status vouch_options_resolve(vouch_session_options *o, vouch_options_choice *choice, const vouch_model *model,
                                   vouch_error *err)
{
    if (o->n_ctx == 0) o->n_ctx = model->info.n_ctx_train < 2 ? 2 : vouch_min(DEFAULT_CTX, model->info.n_ctx_train);
    if (o->n_ctx < 2 || o->n_ctx > MAX_CTX) return vouch_options_out_of_range(err, "n_ctx", o->n_ctx, 2, MAX_CTX);
    if (o->prefill_chunk == 0) o->prefill_chunk = DEFAULT_CHUNK;
    if (o->prefill_chunk < 1 || o->prefill_chunk > MAX_CHUNK)
        return vouch_options_out_of_range(err, "prefill_chunk", o->prefill_chunk, 1, MAX_CHUNK);
    if (o->kv_type < VOUCH_KV_F16 || o->kv_type > VOUCH_KV_Q4_0)
        return vouch_options_out_of_range(err, "kv_type", o->kv_type, VOUCH_KV_F16, VOUCH_KV_Q4_0);
    if (o->top_logprobs < 0 || o->top_logprobs > VOUCH_MAX_LOGPROBS)
        return vouch_options_out_of_range(err, "top_logprobs", o->top_logprobs, 0, VOUCH_MAX_LOGPROBS);
    if (o->max_tokens < 0) return vouch_options_out_of_range(err, "max_tokens", o->max_tokens, 0, INT32_MAX);
    if (o->max_tokens == 0) o->max_tokens = INT32_MAX;
    if (o->min_tokens < 0 || o->min_tokens > o->max_tokens)
        return vouch_options_out_of_range(err, "min_tokens", o->min_tokens, 0, o->max_tokens);
    if (o->adapter_scales && o->n_adapter_scales != model->info.n_adapters)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "n_adapter_scales is %d, must be %d: the model has so many adapters",
                          o->n_adapter_scales, model->info.n_adapters);
    for (int32_t i = 0; o->adapter_scales && i < model->info.n_adapters; i++)
        if (!(fabsf(o->adapter_scales[i]) <= 1e6f))
            return vouch_fail(err, VOUCH_E_ARGUMENT, "adapter_scales[%d] is %g, must be -1e6 to 1e6", i,
                              (double)o->adapter_scales[i]);
    if (o->thought_budget < -1)
        return vouch_options_out_of_range(err, "thought_budget", o->thought_budget, -1, INT32_MAX);
    vouch_speculation *s = &o->speculation;
    vouch_options_choice made = {.is_paced = wants_pace(s)};
    take_own(s, model);
    if (s->drafters == VOUCH_DRAFTER_AUTO)
        s->drafters = vouch_drafter_auto(s->auto_with | vouch_drafters_given(s) |
                                         (o->grammar ? vouch_drafter_needing(VOUCH_NEED_GRAMMAR) : 0));
    if (s->draft_sampling == VOUCH_DRAFT_AUTO) s->draft_sampling = best_draft_sampling(s);
    if (s->accept == VOUCH_ACCEPT_AUTO) s->accept = vouch_rule_auto(s->lenience, draws_guesses(o));
    VOUCH_TRY(check_speculation(s, err));
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (s->files[i] && s->files[i]->target != model)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: the file of %s was opened for another model",
                              vouch_drafter_name(i));
    if (s->draft_memory && strcmp(s->draft_memory->model->digest, model->digest) != 0)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: draft_memory was opened for another model");
    made.paid_branches = paid_branches(o, made.is_paced);
    resolve_shape(o, made.paid_branches);
    if (choice) *choice = made;
    if (o->sampling.dry_multiplier > 0 && o->sampling.n_dry_sequence_breakers > 0 && !model->tokenizer)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "sampling: dry_sequence_breakers are texts, and the model has no tokenizer; set "
                          "n_dry_sequence_breakers to 0");
    return vouch_sampling_check(&o->sampling, model->info.n_vocab, err);
}
