/* SPDX-License-Identifier: MIT */
/* The files that drafters copy from: a prediction of the answer, and a history of answers. */
#ifndef VOUCH_CLI_SOURCES_H
#define VOUCH_CLI_SOURCES_H

#include "model/engine.h"

/* Loads the files of --prediction and --history into the session. A history file that doesn't exist yet is an empty
 * history. Prints its own complaint; returns an exit status. */
int cli_sources_load(cli_engine *engine);
/* Writes the history with this session's answers to its file. Answers that another run has written meanwhile
 * are lost. */
int cli_sources_save(cli_engine *engine);

#endif
