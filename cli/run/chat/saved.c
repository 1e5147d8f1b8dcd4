/* SPDX-License-Identifier: MIT */
#include "run/chat/saved.h"

#include <stdio.h>
#include <unistd.h>

#include "os/os.h"
#include "tool/term.h"

/* FILE.json; false: there is no such flag, or the path is too long for a file. */
static bool messages_path(const cli_engine *engine, char path[VOUCH_OS_PATH_SIZE])
{
    const char *file = engine->options->session_file;
    return file && snprintf(path, VOUCH_OS_PATH_SIZE, "%s.json", file) < VOUCH_OS_PATH_SIZE;
}

int cli_saved_load_messages(const cli_engine *engine, cli_conversation *talk)
{
    vouch_error err;
    char path[VOUCH_OS_PATH_SIZE];
    if (!messages_path(engine, path) || !vouch_os_exists(path)) return CLI_DONE;
    if (cli_conversation_load(talk, path, &err)) return cli_flag_refuse("session", &err);
    tool_note("--session: the conversation goes on after %zu messages; /clear begins a new one", talk->n);
    return CLI_DONE;
}

int cli_saved_keep_messages(const cli_engine *engine, const cli_conversation *talk)
{
    vouch_error err;
    char path[VOUCH_OS_PATH_SIZE];
    if (!messages_path(engine, path)) return CLI_DONE;
    /* A new file is the user's alone, as the session's is; an old one keeps its mode. */
    const int fd = vouch_os_open(path, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NEW, 0600);
    if (fd >= 0) close(fd);
    if (!cli_conversation_save(talk, path, &err)) return CLI_DONE;
    if (fd >= 0) (void)vouch_os_remove(path);
    return cli_flag_fail("session", &err);
}
