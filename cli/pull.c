/* SPDX-License-Identifier: MIT */
/* vouch pull: fetches a model by its name, or says where it lies. */
#include "cli.h"
#include "hub/fetch.h"

bool cli_pull_needs(cli_options *options, cli_given given)
{
    (void)given;
    if (options->hub.name) return true;
    tool_complain("NAME is missing: expected a model's name, as in `vouch pull OWNER/NAME:Q4_K_M`");
    return false;
}

int cli_pull_run(const cli_options *options)
{
    hub_places places;
    vouch_error err;
    char path[VOUCH_OS_PATH_SIZE];
    const hub_wish wish = options->hub.with_draft ? HUB_WITH_DRAFT : options->hub.print_path ? HUB_ANY : HUB_NEWEST;
    if (hub_places_read(&places, &err) || hub_find(&places, options->hub.name, HUB_MODEL, wish, path, &err)) {
        tool_complain("%s", err.message);
        return err.code == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    if (options->hub.print_path) puts(path);
    else tool_note("%s is at %s", options->hub.name, path);
    return CLI_DONE;
}
