/* SPDX-License-Identifier: MIT */
/* In place of transfer.c, where vouch is built without libcurl. */
#include <stdio.h>

#include "hub/transfer.h"

static vouch_status absent(vouch_error *err)
{
    err->code = VOUCH_E_UNSUPPORTED;
    snprintf(err->message, sizeof err->message,
             "this build has no libcurl, so it can't fetch models: build with HUB=1, or download the file and name it");
    return err->code;
}

vouch_status hub_client_open(hub_client **out, const hub_places *places, vouch_error *err)
{
    (void)places;
    *out = NULL;
    return absent(err);
}

void hub_client_close(hub_client *client)
{
    (void)client;
}

vouch_status hub_get(hub_client *client, const char *address, const char *what, char **body, size_t *n_body,
                     vouch_error *err)
{
    (void)client;
    (void)address;
    (void)what;
    *body = NULL;
    *n_body = 0;
    return absent(err);
}

vouch_status hub_download_run(hub_client *client, const hub_download *d, vouch_error *err)
{
    (void)client;
    (void)d;
    return absent(err);
}
