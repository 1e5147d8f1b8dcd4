/* SPDX-License-Identifier: MIT */
#include "ways.h"

#include <stdlib.h>
#include <string.h>

static int way_open(cli_ways *ways, const vouch_model *model, const vouch_session_options *options, const char *name)
{
    cli_way *way = &ways->items[ways->n];
    vouch_error err;
    const vouch_status status = vouch_session_open(&way->session, model, options, &err);
    if (status) {
        cli_complain("%s: %s", name, err.message);
        return status == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    snprintf(way->name, sizeof way->name, "%s", name);
    way->speculates = options->speculation.drafters != VOUCH_DRAFTER_NONE;
    way->k = options->speculation.n_draft;
    ways->n++;
    return CLI_DONE;
}

static int spec_open(cli_ways *ways, const cli_engine *engine, vouch_session_options *options, unsigned drafters,
                     int32_t k)
{
    char words[64], name[96];
    cli_spec_text(drafters, words);
    if (k > 0) snprintf(name, sizeof name, "%s k=%d", words, k);
    else snprintf(name, sizeof name, "%s", words);
    options->speculation.drafters = drafters;
    options->speculation.n_draft = k;
    return way_open(ways, engine->model, options, name);
}

int cli_ways_open(cli_ways *ways, const cli_engine *engine, int32_t n_ctx)
{
    const cli_options *o = engine->options;
    vouch_session_options options = o->session;
    options.n_ctx = n_ctx;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    *ways = (cli_ways){.items = calloc(2 + o->drafters.n * o->draft_lengths.n, sizeof *ways->items)};
    if (!ways->items) {
        cli_complain("not enough memory");
        return CLI_FAILED;
    }
    int status = way_open(ways, engine->model, &options, "target only");
    if (!status && engine->draft) status = way_open(ways, engine->draft, &options, "draft only");
    options.speculation.draft_model = engine->draft;
    for (size_t i = 0; i < o->drafters.n && !status; i++)
        for (size_t j = 0; j < o->draft_lengths.n && !status; j++)
            if (o->drafters.items[i] != VOUCH_DRAFTER_NONE)
                status = spec_open(ways, engine, &options, (unsigned)o->drafters.items[i], o->draft_lengths.items[j]);
    return status;
}

void cli_ways_close(cli_ways *ways)
{
    for (size_t i = 0; i < ways->n; i++) vouch_session_close(ways->items[i].session);
    free(ways->items);
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
