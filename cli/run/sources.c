/* SPDX-License-Identifier: MIT */
#include "run/sources.h"

#include <stdlib.h>

#include "tool/file.h"

int cli_sources_load(cli_engine *engine)
{
    const char *path = engine->options->prediction;
    vouch_error err;
    char *bytes = NULL;
    size_t n = 0;
    if (!path) return CLI_DONE;
    vouch_status status = tool_file_read(path, &bytes, &n, &err);
    if (!status) status = vouch_session_predict(engine->session, bytes, n, &err);
    free(bytes);
    if (!status) return CLI_DONE;
    if (status == VOUCH_E_IO) tool_complain("--prediction: %s", err.message); /* the message names the path */
    else tool_complain("--prediction '%s': %s", path, err.message);
    return status == VOUCH_E_MEMORY ? CLI_FAILED : CLI_WRONG_USAGE;
}
