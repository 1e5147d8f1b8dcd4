/* SPDX-License-Identifier: MIT */
/* vouch count, for tests/house/test_newcomers.sh: prints how many tokens a model's vocabulary has. */
#include "cli.h"

int cli_count_run(const cli_options *options)
{
    cli_engine engine;
    const int status = cli_engine_open_text(&engine, options);
    if (!status) printf("%d\n", vouch_model_get_info(engine.model)->n_vocab);
    cli_engine_close(&engine);
    return status;
}
