/* SPDX-License-Identifier: MIT */
/* The paths of the server. */
#include "common/json.h"
#include "openai.h"
#include "page.h"

static void health(server_exchange *x)
{
    const bool drains = atomic_load(&x->server->drains);
    const cli_json_entry entries[] = {{"status", json_string(drains ? "shutting down" : "ok")}};
    server_reply_json(x, drains ? 503 : 200, cli_json_object(entries, 1));
}

const server_route server_routes[] = {
    {"GET", "/", SERVER_ROUTE_PUBLIC, server_page},
    {"GET", "/speculation", 0, server_get_speculation},
    {"GET", "/health", SERVER_ROUTE_PUBLIC, health},
    {"GET", "/v1/health", SERVER_ROUTE_PUBLIC, health},
    {"GET", "/v1/models", 0, server_list_models},
    {"GET", "/models", 0, server_list_models},
    {"POST", "/v1/chat/completions", 0, server_chat_completions},
    {"POST", "/chat/completions", 0, server_chat_completions},
    {"POST", "/v1/completions", 0, server_completions},
};
const size_t server_n_routes = sizeof server_routes / sizeof *server_routes;
