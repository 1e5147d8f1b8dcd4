/* SPDX-License-Identifier: MIT */
/* Sampling of answers that people read, in `vouch run` and `vouch serve`: flags, then what the model's file recommends,
 * then the defaults of vouch_model_sampling. The other commands are greedy unless --temp is given. */
#ifndef VOUCH_CLI_RECOMMENDED_H
#define VOUCH_CLI_RECOMMENDED_H

#include "options/options.h"

/* Sets the parameters whose flags were not given, as vouch_model_sampling has them. Draws a seed where
 * options->seed_is_drawn, unless the answer is greedy. */
void cli_sampling_take(cli_options *options, const vouch_model *model);

#endif
