/* SPDX-License-Identifier: MIT */
/* Statistics of a run: a summary for people, JSON for programs. */
#ifndef VOUCH_CLI_STATS_H
#define VOUCH_CLI_STATS_H

#include "run/answer.h"

/* With --stats, before the first token: prints the memory of weights and session. */
void cli_stats_open(const cli_engine *engine);
/* Prints the figures so far, after any answer or before the first. */
void cli_stats_show(const cli_engine *engine, const cli_reply *reply);
/* Prints the summary for --stats and writes the JSON for --stats-json. It measures a plain pass, so the session must be
 * at the end of an answer. Prints its own complaint; returns an exit status. */
int cli_stats_report(const cli_engine *engine, const cli_reply *reply);

#endif
