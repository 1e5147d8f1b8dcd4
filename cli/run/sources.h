/* SPDX-License-Identifier: MIT */
/* The files that drafters learn from: a prediction of the answer, a history of answers. */
#ifndef VOUCH_CLI_SOURCES_H
#define VOUCH_CLI_SOURCES_H

#include "common/engine.h"

/* Gives the session what --prediction and --history name; a history that isn't there yet is empty. Returns an exit
 * status; a failure has been complained about. */
int cli_sources_load(cli_engine *engine);
/* Writes the history back, with the answers of this session and none that another has written since. */
int cli_sources_save(cli_engine *engine);

#endif
