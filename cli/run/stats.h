/* SPDX-License-Identifier: MIT */
/* What the run came to: a summary for people, an object for programs. */
#ifndef VOUCH_CLI_STATS_H
#define VOUCH_CLI_STATS_H

#include "run/answer.h"

/* With --stats, before the first token: the memory there is. */
void cli_stats_open(const cli_engine *engine);
/* Prints the figures so far, after any answer or before the first. */
void cli_stats_show(const cli_engine *engine);
/* Prints and writes what the options ask for. Measures one plain pass, so the session must be at the end
 * of an answer. Returns an exit status; a failure has been complained about. */
int cli_stats_report(const cli_engine *engine, const cli_reply *reply);

#endif
