/* SPDX-License-Identifier: MIT */
/* In place of client.c, where vouch is built without libcurl. */
#include <stdio.h>

#include "check/server/client.h"

static vouch_status absent(vouch_error *err)
{
    err->code = VOUCH_E_UNSUPPORTED;
    snprintf(err->message, sizeof err->message,
             "this build has no libcurl, so it can't ask a server: build with HUB=1");
    return err->code;
}

vouch_status ask_client_open(ask_client **out, const char *key, double seconds, ask_tick *tick, void *user,
                             vouch_error *err)
{
    (void)key, (void)seconds, (void)tick, (void)user;
    *out = NULL;
    return absent(err);
}

void ask_client_close(ask_client *client)
{
    (void)client;
}

vouch_status ask_client_ask(ask_client *client, const ask_request *requests, ask_reply *replies, size_t n,
                            vouch_error *err)
{
    (void)client, (void)requests, (void)replies, (void)n;
    return absent(err);
}

void ask_replies_free(ask_reply *replies, size_t n)
{
    (void)replies, (void)n;
}
