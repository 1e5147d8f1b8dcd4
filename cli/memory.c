/* SPDX-License-Identifier: MIT */
/* vouch memory: what the folder of a draft memory holds, and how to get rid of it. */
#include "cli.h"
#include "hub/fetch.h"

bool cli_memory_needs(cli_options *options, cli_given given)
{
    (void)given;
    if (options->draft_memory) return true;
    tool_complain("FOLDER is missing: expected the folder of --draft-memory");
    return false;
}

int cli_memory_run(const cli_options *options)
{
    const char *folder = options->draft_memory;
    vouch_error err;
    size_t n_files;
    int64_t n_bytes;
    char size[16];
    if (vouch_draft_memory_remove(folder, !options->clears_memory, &n_files, &n_bytes, &err)) {
        tool_complain("%s", err.message);
        return CLI_FAILED;
    }
    hub_size_write(size, n_bytes);
    if (options->clears_memory) tool_note("removed the answers of %s, %s", folder, size);
    else printf("%s: %zu file%s of answers, %s\n", folder, n_files, n_files == 1 ? "" : "s", size);
    return CLI_DONE;
}
