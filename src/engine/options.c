/* SPDX-License-Identifier: MIT */
/* A session's options (options.h). */
#include "engine/options.h"

#include "base/common.h"
#include "draft/registry.h"
#include "engine/table.h"

enum { DEFAULT_CTX = 4096, DEFAULT_CHUNK = 256, MAX_CHUNK = 512, MAX_CTX = 1 << 24, DEFAULT_DRAFT = 16,
       DEFAULT_HISTORY = 1 << 16, MAX_HISTORY = 1 << 24, DEFAULT_BRANCHES = 8 };

/* A head's second to fourth guess for a position need no pass of the head. */
enum { HEAD_BRANCHES = 4 };

vouch_speculation vouch_speculation_default(void)
{
    return (vouch_speculation){.lenience = 1, .accept = VOUCH_ACCEPT_AUTO, .ngram_min = 2, .ngram_max = 4};
}

vouch_session_options vouch_session_options_default(void)
{
    return (vouch_session_options){.sampling = vouch_sampling_default(),
                                   .speculation = vouch_speculation_default()};
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

/* The sampling that AUTO stands for. A head predicts less exactly than a draft model. So the target accepts one of a
 * head's few likeliest tokens more often than one token drawn from q, and pace may cut a tree of such point masses. */
static vouch_draft_sampling best_draft_sampling(const vouch_speculation *s)
{
    const bool ignores_q = s->accept == VOUCH_ACCEPT_MATCH || (s->accept == VOUCH_ACCEPT_AUTO && s->lenience == 1);
    return (s->drafters & VOUCH_DRAFTER_HEAD) && ignores_q ? VOUCH_DRAFT_GREEDY : VOUCH_DRAFT_SAMPLE;
}

/* The rule that AUTO stands for. */
static vouch_accept best_rule(const vouch_speculation *s, float temperature)
{
    const bool samples =
        (s->drafters & vouch_drafters_with_q()) && s->draft_sampling == VOUCH_DRAFT_SAMPLE && temperature > 0;
    return samples || s->lenience < 1 ? VOUCH_ACCEPT_REJECTION : VOUCH_ACCEPT_MATCH;
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
        char names[64];
        vouch_drafters_name(paid, names, sizeof names);
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: drafters has %s: expected one of them at most", names);
    }
    if (s->n_draft < 0 || s->n_draft > VOUCH_MAX_DRAFT)
        return vouch_options_out_of_range(err, "speculation: n_draft", s->n_draft, 0, VOUCH_MAX_DRAFT);
    if (s->tree_branches < 0 || s->tree_branches > VOUCH_MAX_DRAFT)
        return vouch_options_out_of_range(err, "speculation: tree_branches", s->tree_branches, 0, VOUCH_MAX_DRAFT);
    if (s->tree_depth < 0 || s->tree_depth > VOUCH_MAX_DRAFT)
        return vouch_options_out_of_range(err, "speculation: tree_depth", s->tree_depth, 0, VOUCH_MAX_DRAFT);
    if (s->history_tokens != 0 && (s->history_tokens < 4 || s->history_tokens > MAX_HISTORY))
        return vouch_options_out_of_range(err, "speculation: history_tokens", s->history_tokens, 4, MAX_HISTORY);
    if (s->tree_branches > 1 && !rule->trees)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "speculation: tree_branches is %d, must be 1 with the rule %s, which judges chains only",
                          s->tree_branches, rule->name);
    if (s->draft_sampling < VOUCH_DRAFT_AUTO || s->draft_sampling > VOUCH_DRAFT_GREEDY)
        return vouch_options_out_of_range(err, "speculation: draft_sampling", s->draft_sampling, 0, VOUCH_DRAFT_GREEDY);
    VOUCH_TRY(vouch_options_check_lenience(rule, s->lenience, err));
    if ((s->drafters & VOUCH_DRAFTER_HEAD) && !s->head)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "speculation: the head drafter needs a head, and the model has none; set head");
    if ((s->drafters & VOUCH_DRAFTER_MODEL) && !s->draft_model)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: the draft drafter needs a draft model; set draft_model");
    if ((s->drafters & VOUCH_DRAFTER_TABLE) && !s->table)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: the table drafter needs a table; set table");
    return VOUCH_OK;
}

bool vouch_options_want_pace(const vouch_speculation *given)
{
    return given->drafters == VOUCH_DRAFTER_AUTO || (given->drafters != VOUCH_DRAFTER_NONE && given->n_draft == 0);
}

int32_t vouch_options_paid_branches(const vouch_speculation *given, const vouch_session_options *resolved)
{
    const vouch_speculation *s = &resolved->speculation;
    const bool is_drawn = resolved->sampling.temperature > 0 && s->draft_sampling == VOUCH_DRAFT_SAMPLE;
    if (given->tree_branches > 0) return s->tree_branches;
    if (!vouch_options_want_pace(given) || !(s->drafters & VOUCH_DRAFTER_HEAD) || is_drawn) return 1;
    return vouch_min(s->tree_branches, HEAD_BRANCHES);
}

vouch_status vouch_options_resolve(vouch_session_options *o, const vouch_model *model, vouch_error *err)
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
    vouch_speculation *s = &o->speculation;
    const bool is_paced = vouch_options_want_pace(s);
    if (!s->head && !s->draft_model && model->head.weights) s->head = &model->head;
    if (s->drafters == VOUCH_DRAFTER_AUTO)
        s->drafters = vouch_drafter_auto(s->auto_with | (s->draft_model ? VOUCH_DRAFTER_MODEL : 0) |
                                         (s->head ? VOUCH_DRAFTER_HEAD : 0) | (s->table ? VOUCH_DRAFTER_TABLE : 0) |
                                         (o->grammar ? VOUCH_DRAFTER_GRAMMAR : 0));
    if (s->draft_sampling == VOUCH_DRAFT_AUTO) s->draft_sampling = best_draft_sampling(s);
    if (s->accept == VOUCH_ACCEPT_AUTO) s->accept = best_rule(s, o->sampling.temperature);
    VOUCH_TRY(check_speculation(s, err));
    VOUCH_TRY(vouch_model_need_weights(model, err));
    if (s->draft_model) VOUCH_TRY(vouch_model_need_weights(s->draft_model, err));
    if (s->head && s->head->target != model)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: head was opened for another model");
    if (s->table && s->table->target != model)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: table was opened for another model");
    if (s->n_draft == 0) s->n_draft = DEFAULT_DRAFT;
    if (s->drafters == VOUCH_DRAFTER_NONE) s->n_draft = 0;
    if (s->history_tokens == 0) s->history_tokens = DEFAULT_HISTORY;
    if (!(s->drafters & ~vouch_drafters_paid()) && (s->tree_branches == 0 || !(s->drafters & vouch_drafters_with_q())))
        s->tree_branches = is_paced && (s->drafters & VOUCH_DRAFTER_HEAD) ? HEAD_BRANCHES : 1;
    if (s->tree_branches == 0) s->tree_branches = DEFAULT_BRANCHES;
    if (!vouch_rule_get(s->accept)->trees) s->tree_branches = 1;
    if (s->tree_depth == 0 || s->tree_depth > s->n_draft) s->tree_depth = s->n_draft;
    return vouch_sampling_check(&o->sampling, model->info.n_vocab, err);
}
