/* SPDX-License-Identifier: MIT */
#ifndef VOUCH_CLI_NAMES_H
#define VOUCH_CLI_NAMES_H

#include "model/engine.h"

/* Puts the paths of models in place of their names (hub/name.h), and fetches what is missing, which may take long.
 * Prints a complaint and returns an exit status. */
int cli_names_find(cli_options *options);

#endif
