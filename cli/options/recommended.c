/* SPDX-License-Identifier: MIT */
#include "options/recommended.h"

#include "options/option_checks.h"

void cli_sampling_take(cli_options *options, const vouch_model *model)
{
    vouch_sampling *sampling = &options->session.sampling;
    vouch_model_sampling(model, options->sampling_given, sampling);
    options->seed_is_drawn &= sampling->temperature > 0;
    if (options->seed_is_drawn) sampling->seed = cli_seed_draw();
}
