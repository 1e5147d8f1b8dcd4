/* SPDX-License-Identifier: MIT */
/*
 * The ways to answer that a benchmark compares, each a session of its own that stays open: what a drafter keeps
 * from one answer to the next belongs to its way.
 *
 *   0   the target alone     1   the draft model alone, where there is one
 *   then each --spec with each -k and each --accept
 */
#ifndef VOUCH_CLI_WAYS_H
#define VOUCH_CLI_WAYS_H

#include "common/engine.h"

typedef struct cli_way {
    char name[96];
    bool speculates;
    bool lossless; /* greedy text is the target's with any lenience */
    int32_t k; /* as given; 0: the drafter's default */
    vouch_session *session;
} cli_way;

typedef struct cli_ways {
    cli_way *items; /* [n] */
    size_t n;
} cli_ways;

/* With room for n_ctx tokens each. Returns an exit status; a failure has been complained about, and cli_ways_close is
 * due in any case. */
int cli_ways_open(cli_ways *ways, const cli_engine *engine, int32_t n_ctx);
void cli_ways_close(cli_ways *ways);
/* The lenience of the lossy ones; 1: there are none. */
double cli_ways_lenience(const cli_ways *ways, const cli_engine *engine);
/* The one whose passes may have the most rows. */
vouch_session *cli_ways_widest(const cli_ways *ways);

#endif
