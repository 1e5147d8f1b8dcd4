/* SPDX-License-Identifier: MIT */
/* The paths of the server. */
#include "common/json.h"
#include "messages.h"
#include "native.h"
#include "observe.h"
#include "openai.h"
#include "page.h"
#include "responses.h"

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
    {"POST", "/v1/chat/completions/input_tokens", 0, server_count_chat_tokens},
    {"POST", "/chat/completions/input_tokens", 0, server_count_chat_tokens},
    {"POST", "/v1/responses", 0, server_responses},
    {"POST", "/responses", 0, server_responses},
    {"POST", "/v1/messages", SERVER_ROUTE_ANTHROPIC, server_messages},
    {"POST", "/v1/messages/count_tokens", SERVER_ROUTE_ANTHROPIC, server_count_tokens},
    {"POST", "/completion", 0, server_native_completion},
    {"POST", "/completions", 0, server_native_completion},
    {"POST", "/tokenize", 0, server_tokenize},
    {"POST", "/detokenize", 0, server_detokenize},
    {"POST", "/apply-template", 0, server_apply_template},
    {"GET", "/props", 0, server_show_props},
    {"GET", "/slots", 0, server_show_slots},
    {"GET", "/metrics", 0, server_show_metrics},
    {"GET", "/admin/speculation", 0, server_show_speculation},
    {"POST", "/admin/speculation", 0, server_set_speculation},
};
const size_t server_n_routes = sizeof server_routes / sizeof *server_routes;
