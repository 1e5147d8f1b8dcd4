/* SPDX-License-Identifier: MIT */
/* The page at / (page.html), and what it asks for beside the API: /speculation. */
#include "page.h"

#include "common/json.h"

static const unsigned char page[] = {
#include "page.inc"
};

void server_page(server_exchange *x)
{
    server_reply_text(x, 200, "text/html; charset=utf-8", (const char *)page, sizeof page);
}

static json_t *drafters(void)
{
    json_t *list = json_array();
    for (int i = 1; i < VOUCH_DRAFTERS; i++) {
        const vouch_drafter_info info = vouch_drafter_get_info(i);
        if (1u << i == VOUCH_DRAFTER_CUSTOM) continue;
        const cli_json_entry entries[] = {
            {"name", json_string(info.name)},
            {"summary", json_string(info.summary)},
            {"needs", info.needs ? json_string(info.needs) : json_null()},
        };
        json_array_append_new(list, cli_json_object(entries, 3));
    }
    return list;
}

static json_t *rules(void)
{
    json_t *list = json_array();
    for (int i = 0; i < VOUCH_ACCEPTS; i++) json_array_append_new(list, json_string(vouch_accept_name(i)));
    return list;
}

/* t(n) of each model, in seconds; null until passes were measured. */
static json_t *costs(server *s)
{
    json_t *object = json_object();
    for (size_t i = 0; i < s->options->n_models; i++) {
        const server_worker_state state = server_worker_get_state(s->models[i].worker);
        json_t *list = state.pass_seconds[0] > 0 ? json_array() : json_null();
        for (int32_t n = 0; json_is_array(list) && n < SERVER_COST_ROWS; n++)
            json_array_append_new(list, json_real(state.pass_seconds[n]));
        json_object_set_new(object, s->options->models[i].name, list);
    }
    return object;
}

void server_get_speculation(server_exchange *x)
{
    const cli_json_entry entries[] = {
        {"drafters", drafters()},
        {"rules", rules()},
        {"pass_seconds", costs(x->server)},
    };
    server_reply_json(x, 200, cli_json_object(entries, 3));
}
