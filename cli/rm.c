/* SPDX-License-Identifier: MIT */
/* vouch rm: removes a fetched model. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "hub/fetch.h"

bool cli_rm_needs(cli_options *options, cli_given given)
{
    (void)given;
    if (options->hub.name) return true;
    tool_complain("NAME is missing: expected the name of a fetched model; `vouch list` prints them");
    return false;
}

int cli_rm_run(const cli_options *options)
{
    hub_places places;
    vouch_error err;
    int64_t freed;
    char size[16];
    if (hub_places_read(&places, &err) || hub_remove(&places, options->hub.name, &freed, &err)) {
        tool_complain("%s", err.message);
        return err.code == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    hub_size_write(size, freed);
    tool_note("removed %s, %s", options->hub.name, size);
    return CLI_DONE;
}
