/* SPDX-License-Identifier: MIT */
/* Answers that drafters copy from, and pages of prompts, as an operator sees them: /admin/draft-memory and
 * /admin/prompt-cache. */
#include "report/observe.h"
#include "request/request.h"
#include "tool/json.h"

static json_t *memory_json(server_model *m)
{
    const vouch_draft_memory *memory = m->options->session.speculation.draft_memory;
    const vouch_draft_memory_info info = memory ? vouch_draft_memory_get_info(memory) : (vouch_draft_memory_info){0};
    const tool_json_entry entries[] = {
        {"model", tool_json_text(m->options->name)},
        {"bytes", json_integer((json_int_t)info.n_bytes)},
        {"tokens", json_integer(info.n_tokens)},
        {"most_tokens", json_integer(info.n_most)},
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

void server_show_memory(server_exchange *x)
{
    server_reply_models(x, memory_json);
}

static bool memory_clear(const server_model *m, server_fault *fault)
{
    vouch_error err;
    vouch_draft_memory *memory = m->options->session.speculation.draft_memory;
    if (!memory || !vouch_draft_memory_clear(memory, &err)) return true;
    return server_fail(fault, 500, "io_error", "", "%s", err.message);
}

void server_clear_memory(server_exchange *x)
{
    server_fault fault;
    server_named given = {0};
    bool is_good = server_fields_read(x->json, "", &server_named_fields, SERVER_ADMIN, &given, &fault);
    const server_model *only = is_good && given.model ? server_find_model(x->server, given.model, &fault) : NULL;
    if (given.model && !only) is_good = false;
    for (size_t i = 0; i < x->server->options->n_models && is_good; i++)
        if (!only || only == &x->server->models[i]) is_good = memory_clear(&x->server->models[i], &fault);
    if (is_good) server_show_memory(x);
    else server_reply_fault(x, &fault);
}

void server_show_prompts(server_exchange *x)
{
    vouch_prompt_cache *cache = x->server->options->engine.prompt_cache;
    const vouch_prompt_cache_info info = cache ? vouch_prompt_cache_get_info(cache) : (vouch_prompt_cache_info){0};
    const tool_json_entry entries[] = {
        {"bytes", json_integer(info.n_bytes)},
        {"most_bytes", json_integer(info.n_most)},
        {"records", json_integer(info.n_records)},
        {"records_read", json_integer(info.n_read)},
        {"records_written", json_integer(info.n_written)},
        {"records_damaged", json_integer(info.n_damaged)},
    };
    server_reply_json(x, 200, tool_json_object(entries, sizeof entries / sizeof *entries));
}

static void forget(vouch_engine *engine, server_slots *slots, void *user)
{
    (void)slots;
    (void)user;
    vouch_engine_forget(engine);
}

void server_clear_prompts(server_exchange *x)
{
    server_fault fault;
    vouch_error err;
    const server *s = x->server;
    for (size_t i = 0; i < s->options->n_models; i++) (void)server_worker_call(s->models[i].worker, forget, NULL);
    vouch_prompt_cache *cache = s->options->engine.prompt_cache;
    if (!cache || !vouch_prompt_cache_clear(cache, &err)) {
        server_show_prompts(x);
        return;
    }
    server_fail(&fault, 500, "io_error", "", "%s", err.message);
    server_reply_fault(x, &fault);
}
