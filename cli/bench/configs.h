/* SPDX-License-Identifier: MIT */
/*
 * The configs that a benchmark compares. Each has a session of its own that stays open, because a drafter may learn
 * from one answer for the next.
 *
 *   0   the target alone     1   the draft model alone, if there is one
 *   then each --spec with each -k and each --accept
 */
#ifndef VOUCH_CLI_CONFIGS_H
#define VOUCH_CLI_CONFIGS_H

#include "model/engine.h"

typedef struct cli_config {
    char name[CLI_DRAFTERS_SIZE + 40]; /* drafters, k, rule, "lossy" */
    bool speculates;
    bool lossless;              /* lenience 1, or greedy: greedy text is the target's under any lenience */
    int32_t k;                  /* of -k; 0: pace decides */
    vouch_draft_memory *memory; /* of its own; NULL: it doesn't remember */
    vouch_session *session;
} cli_config;

typedef struct cli_configs {
    cli_config *items; /* [n] */
    size_t n;
} cli_configs;

/* If a drafter of `speculation` copies from earlier answers, opens an empty memory for it and sets
 * speculation->draft_memory. The caller closes *out after the sessions. NULL: no drafter needs one. Errors: MEMORY. */
vouch_status cli_bench_remember(vouch_draft_memory **out, const vouch_model *model, vouch_speculation *speculation,
                                vouch_error *err);
/* Opens all sessions with a context of n_ctx tokens. Returns an exit status after complaining about a failure;
 * cli_configs_close is due in any case. */
int cli_configs_open(cli_configs *configs, const cli_engine *engine, int32_t n_ctx);
void cli_configs_close(cli_configs *configs);
/* The lenience of lossy configs; 1: there are none. */
double cli_configs_lenience(const cli_configs *configs, const cli_engine *engine);
/* The session whose passes may have the most rows. */
vouch_session *cli_configs_widest(const cli_configs *configs);

#endif
