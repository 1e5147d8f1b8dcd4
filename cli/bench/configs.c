/* SPDX-License-Identifier: MIT */
#include "bench/configs.h"

#include <stdlib.h>

vouch_status cli_bench_remember(vouch_draft_memory **out, const vouch_model *model, vouch_speculation *speculation,
                                vouch_error *err)
{
    *out = NULL;
    const bool remembers = speculation->drafters & cli_drafters_taking("draft-memory");
    const vouch_status status = remembers ? vouch_draft_memory_open(out, model, NULL, 0, err) : VOUCH_OK;
    speculation->draft_memory = *out;
    return status;
}

static int config_open(cli_configs *configs, const vouch_model *model, vouch_session_options *options, const char *name)
{
    cli_config *config = &configs->items[configs->n];
    vouch_error err;
    vouch_status status = cli_bench_remember(&config->memory, model, &options->speculation, &err);
    if (!status) status = vouch_session_open(&config->session, model, options, &err);
    if (status) {
        tool_complain("%s: %s", name, err.message);
        vouch_draft_memory_close(config->memory);
        return status == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    config->speculates = options->speculation.drafters != VOUCH_DRAFTER_NONE;
    config->lossless = !config->speculates || options->speculation.lenience == 1 || options->sampling.temperature == 0;
    snprintf(config->name, sizeof config->name, "%s%s", name, config->lossless ? "" : " lossy");
    config->k = options->speculation.n_draft;
    configs->n++;
    return CLI_DONE;
}

/* Names the config "ngram,recycle k=4 match". */
static int spec_open(cli_configs *configs, const cli_engine *engine, vouch_session_options *options)
{
    const vouch_speculation *s = &options->speculation;
    char words[CLI_DRAFTERS_SIZE], name[CLI_DRAFTERS_SIZE + 32], k[16] = "";
    const bool named = engine->options->bench.rules.n > 1 || s->accept != VOUCH_ACCEPT_AUTO;
    const char *rule = s->accept == VOUCH_ACCEPT_AUTO ? "auto" : vouch_accept_name((int)s->accept);
    if (s->n_draft > 0) snprintf(k, sizeof k, " k=%d", s->n_draft);
    snprintf(name, sizeof name, "%s%s%s%s", cli_spec_text(s->drafters, words), k, named ? " " : "", named ? rule : "");
    return config_open(configs, engine->model, options, name);
}

int cli_configs_open(cli_configs *configs, const cli_engine *engine, int32_t n_ctx)
{
    const cli_options *o = engine->options;
    const size_t n_k = o->bench.draft_lengths.n, n_rules = o->bench.rules.n, n = o->bench.drafters.n * n_k * n_rules;
    vouch_session_options options = o->session;
    vouch_error err;
    options.n_ctx = n_ctx;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    options.speculation.accept = VOUCH_ACCEPT_AUTO;
    *configs = (cli_configs){.items = calloc(2 + n, sizeof *configs->items)};
    if (!configs->items) {
        tool_complain("not enough memory");
        return CLI_FAILED;
    }
    int status = config_open(configs, engine->model, &options, "target only");
    /* A draft model with another token table can't read the target's prompts. */
    if (!status && engine->draft && !vouch_model_check_pair(engine->model, engine->draft, &err))
        status = config_open(configs, engine->draft, &options, "draft only");
    cli_engine_speculate(engine, &options.speculation);
    for (size_t i = 0; i < n && !status; i++) {
        options.speculation.drafters = (unsigned)o->bench.drafters.items[i / n_rules / n_k];
        options.speculation.n_draft = o->bench.draft_lengths.items[i / n_rules % n_k];
        options.speculation.accept = (vouch_accept)o->bench.rules.items[i % n_rules];
        if (options.speculation.drafters != VOUCH_DRAFTER_NONE) status = spec_open(configs, engine, &options);
    }
    return status;
}

void cli_configs_close(cli_configs *configs)
{
    for (size_t i = 0; i < configs->n; i++) {
        vouch_session_close(configs->items[i].session);
        vouch_draft_memory_close(configs->items[i].memory);
    }
    free(configs->items);
    *configs = (cli_configs){0};
}

double cli_configs_lenience(const cli_configs *configs, const cli_engine *engine)
{
    bool lossless = true;
    for (size_t i = 0; i < configs->n; i++) lossless &= configs->items[i].lossless;
    return lossless ? 1 : engine->options->session.speculation.lenience;
}

vouch_session *cli_configs_widest(const cli_configs *configs)
{
    enum { DEFAULT_K = 16 }; /* the most guesses of a tree that pace chooses */
    const cli_config *widest = &configs->items[0];
    int32_t most = -1;
    for (size_t i = 0; i < configs->n; i++) {
        const int32_t k = configs->items[i].k > 0 ? configs->items[i].k : DEFAULT_K;
        if (!configs->items[i].speculates || k <= most) continue;
        widest = &configs->items[i];
        most = k;
    }
    return widest->session;
}
