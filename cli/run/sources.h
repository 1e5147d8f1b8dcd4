/* SPDX-License-Identifier: MIT */
/* The file that a drafter copies from: a prediction of the answer. */
#ifndef VOUCH_CLI_SOURCES_H
#define VOUCH_CLI_SOURCES_H

#include "model/engine.h"

/* Loads the file of --prediction into the session. Prints its own complaint; returns an exit status. */
int cli_sources_load(cli_engine *engine);

#endif
