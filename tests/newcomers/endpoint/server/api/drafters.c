/* SPDX-License-Identifier: MIT */
/* GET /v1/drafters, for tests/house/test_newcomers.sh: the names of all drafters. */
#include "http/http.h"
#include "tool/json.h"

void server_list_drafters(server_exchange *x);

void server_list_drafters(server_exchange *x)
{
    json_t *names = json_array();
    for (int i = 0; vouch_drafter_name(i); i++) json_array_append_new(names, json_string(vouch_drafter_name(i)));
    const tool_json_entry entries[] = {{"names", names}};
    server_reply_json(x, 200, tool_json_object(entries, 1));
}
