/* SPDX-License-Identifier: MIT */
/*
 * The configs to answer that a benchmark compares, each a session of its own that stays open: what a drafter keeps
 * from one answer to the next belongs to its config.
 *
 *   0   the target alone     1   the draft model alone, where there is one
 *   then each --spec with each -k and each --accept
 */
#ifndef VOUCH_CLI_CONFIGS_H
#define VOUCH_CLI_CONFIGS_H

#include "common/engine.h"

typedef struct cli_config {
    char name[96];
    bool speculates;
    bool lossless; /* greedy text is the target's with any lenience */
    int32_t k; /* as given; 0: the drafter's default */
    vouch_session *session;
} cli_config;

typedef struct cli_configs {
    cli_config *items; /* [n] */
    size_t n;
} cli_configs;

/* With room for n_ctx tokens each. Returns an exit status; a failure has been complained about, and cli_configs_close is
 * due in any case. */
int cli_configs_open(cli_configs *configs, const cli_engine *engine, int32_t n_ctx);
void cli_configs_close(cli_configs *configs);
/* The lenience of the lossy ones; 1: there are none. */
double cli_configs_lenience(const cli_configs *configs, const cli_engine *engine);
/* The one whose passes may have the most rows. */
vouch_session *cli_configs_widest(const cli_configs *configs);

#endif
