/* SPDX-License-Identifier: MIT */
#include "run/sources.h"

#include <stdlib.h>

#include "os/os.h"
#include "tool/file.h"

/* Returns the exit status: wrong usage, because nothing has begun, unless memory is short. */
static int complain(const char *flag, const char *path, const vouch_error *err)
{
    if (err->code == VOUCH_E_IO) tool_complain("--%s: %s", flag, err->message); /* the message names the path */
    else tool_complain("--%s '%s': %s", flag, path, err->message);
    return err->code == VOUCH_E_MEMORY ? CLI_FAILED : CLI_WRONG_USAGE;
}

static vouch_status load(cli_engine *engine, const char *path,
                         vouch_status (*give)(cli_engine *, const char *, size_t, vouch_error *), vouch_error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    vouch_status status = tool_file_read(path, &bytes, &n, err);
    if (!status) status = give(engine, bytes, n, err);
    free(bytes);
    return status;
}

static vouch_status give_prediction(cli_engine *engine, const char *bytes, size_t n, vouch_error *err)
{
    return vouch_session_predict(engine->session, bytes, n, err);
}

static vouch_status give_history(cli_engine *engine, const char *bytes, size_t n, vouch_error *err)
{
    return vouch_session_add_history(engine->session, bytes, n, err);
}

int cli_sources_load(cli_engine *engine)
{
    const cli_options *options = engine->options;
    vouch_error err;
    if (options->prediction && load(engine, options->prediction, give_prediction, &err))
        return complain("prediction", options->prediction, &err);
    if (!options->history) return CLI_DONE;
    if (tool_file_check(options->history, &err)) return complain("history", options->history, &err);
    vouch_os_info info;
    if (!vouch_os_info_of(options->history, &info)) return CLI_DONE; /* a new history */
    if (info.kind != VOUCH_OS_FILE) {
        tool_complain("--history %s: not a regular file; expected a file that can keep answers", options->history);
        return CLI_WRONG_USAGE;
    }
    if (info.size == 0) return CLI_DONE; /* a new history */
    return load(engine, options->history, give_history, &err) ? complain("history", options->history, &err) : CLI_DONE;
}

int cli_sources_save(cli_engine *engine)
{
    const char *path = engine->options->history;
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    size_t n = 0;
    if (!path) return CLI_DONE;
    vouch_status status = vouch_session_get_history(engine->session, NULL, 0, &n, &err);
    char *bytes = status == VOUCH_E_BUFFER ? malloc(n) : NULL;
    if (bytes) status = vouch_session_get_history(engine->session, bytes, n, &n, &err);
    if (!status) status = tool_file_write(path, bytes, n, &err);
    free(bytes);
    if (status) complain("history", path, &err);
    return status ? CLI_FAILED : CLI_DONE;
}
