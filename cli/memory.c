/* SPDX-License-Identifier: MIT */
/* vouch memory: what the folder of a draft memory or a prompt cache holds, and how to get rid of it. */
#include "cli.h"
#include "hub/fetch.h"

bool cli_memory_needs(cli_options *options, cli_given given)
{
    (void)given;
    if (options->draft_memory) return true;
    tool_complain("FOLDER is missing: expected the folder of --draft-memory or --prompt-cache");
    return false;
}

/* What a folder may hold, and how it is counted or removed. */
typedef struct kept {
    vouch_status (*remove)(const char *folder, bool only_count, size_t *n_files, int64_t *n_bytes, vouch_error *err);
    const char *what;
} kept;

int cli_memory_run(const cli_options *options)
{
    const char *folder = options->draft_memory;
    vouch_error err;
    size_t n_files;
    int64_t n_bytes;
    char size[16];
    static const kept kinds[] = {{vouch_draft_memory_remove, "answers"}, {vouch_prompt_cache_remove, "prompts"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].remove(folder, !options->clears_memory, &n_files, &n_bytes, &err)) {
            tool_complain("%s", err.message);
            return CLI_FAILED;
        }
        hub_size_write(size, n_bytes);
        if (options->clears_memory) tool_note("removed the %s of %s, %s", kinds[i].what, folder, size);
        else printf("%s: %zu file%s of %s, %s\n", folder, n_files, n_files == 1 ? "" : "s", kinds[i].what, size);
    }
    return CLI_DONE;
}
