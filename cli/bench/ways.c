/* SPDX-License-Identifier: MIT */
#include "bench/ways.h"

#include <stdlib.h>

static int way_open(cli_ways *ways, const vouch_model *model, const vouch_session_options *options, const char *name)
{
    cli_way *way = &ways->items[ways->n];
    vouch_error err;
    const vouch_status status = vouch_session_open(&way->session, model, options, &err);
    if (status) {
        cli_complain("%s: %s", name, err.message);
        return status == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    way->speculates = options->speculation.drafters != VOUCH_DRAFTER_NONE;
    way->lossless = !way->speculates || options->speculation.lenience == 1 || options->sampling.temperature == 0;
    snprintf(way->name, sizeof way->name, "%s%s", name, way->lossless ? "" : " lossy");
    way->k = options->speculation.n_draft;
    ways->n++;
    return CLI_DONE;
}

/* "ngram,recycle k=4 match" */
static int spec_open(cli_ways *ways, const cli_engine *engine, vouch_session_options *options)
{
    const vouch_speculation *s = &options->speculation;
    char words[64], name[96], k[16] = "";
    const bool named = engine->options->rules.n > 1 || s->accept != VOUCH_ACCEPT_AUTO;
    const char *rule = s->accept == VOUCH_ACCEPT_AUTO ? "auto" : vouch_accept_name((int)s->accept);
    if (s->n_draft > 0) snprintf(k, sizeof k, " k=%d", s->n_draft);
    snprintf(name, sizeof name, "%s%s%s%s", cli_spec_text(s->drafters, words), k, named ? " " : "",
             named ? rule : "");
    return way_open(ways, engine->model, options, name);
}

int cli_ways_open(cli_ways *ways, const cli_engine *engine, int32_t n_ctx)
{
    const cli_options *o = engine->options;
    const size_t n_k = o->draft_lengths.n, n_rules = o->rules.n, n = o->drafters.n * n_k * n_rules;
    vouch_session_options options = o->session;
    vouch_error err;
    options.n_ctx = n_ctx;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    options.speculation.accept = VOUCH_ACCEPT_AUTO;
    *ways = (cli_ways){.items = calloc(2 + n, sizeof *ways->items)};
    if (!ways->items) {
        cli_complain("not enough memory");
        return CLI_FAILED;
    }
    int status = way_open(ways, engine->model, &options, "target only");
    /* A draft model with other tokens can't read the target's. */
    if (!status && engine->draft && !vouch_model_check_pair(engine->model, engine->draft, &err))
        status = way_open(ways, engine->draft, &options, "draft only");
    cli_engine_speculate(engine, &options.speculation);
    for (size_t i = 0; i < n && !status; i++) {
        options.speculation.drafters = (unsigned)o->drafters.items[i / n_rules / n_k];
        options.speculation.n_draft = o->draft_lengths.items[i / n_rules % n_k];
        options.speculation.accept = (vouch_accept)o->rules.items[i % n_rules];
        if (options.speculation.drafters != VOUCH_DRAFTER_NONE) status = spec_open(ways, engine, &options);
    }
    return status;
}

void cli_ways_close(cli_ways *ways)
{
    for (size_t i = 0; i < ways->n; i++) vouch_session_close(ways->items[i].session);
    free(ways->items);
    *ways = (cli_ways){0};
}

double cli_ways_lenience(const cli_ways *ways, const cli_engine *engine)
{
    bool lossless = true;
    for (size_t i = 0; i < ways->n; i++) lossless &= ways->items[i].lossless;
    return lossless ? 1 : engine->options->session.speculation.lenience;
}

vouch_session *cli_ways_widest(const cli_ways *ways)
{
    enum { DEFAULT_K = 16 }; /* a tree's */
    const cli_way *widest = &ways->items[0];
    int32_t most = -1;
    for (size_t i = 0; i < ways->n; i++) {
        const int32_t k = ways->items[i].k > 0 ? ways->items[i].k : DEFAULT_K;
        if (!ways->items[i].speculates || k <= most) continue;
        widest = &ways->items[i];
        most = k;
    }
    return widest->session;
}
