/* SPDX-License-Identifier: MIT */
/* The models that there are, /v1/models, and which of them are in memory: /models/load and /models/unload. */
#include "api/models.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "request/request.h"
#include "tool/json.h"

/* The time as the Anthropic API writes it, such as 2026-11-25T15:47:59Z. */
static json_t *time_json(int64_t seconds)
{
    char text[32] = "";
    struct tm parts;
    const time_t when = (time_t)seconds;
    if (gmtime_r(&when, &parts)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_string(text);
}

/* As llama.cpp's router has it. */
static json_t *status_json(const server_model *m)
{
    const server_worker_state state = server_worker_get_state(m->worker);
    json_t *status = json_pack("{s:s, s:[]}", "value", server_stage_name(state.stage), "args");
    if (state.stage == SERVER_STAGE_LOADING) json_object_set_new(status, "progress", tool_json_real(state.progress));
    if (state.stage == SERVER_STAGE_FAILED) {
        json_object_set_new(status, "failed", json_true());
        json_object_set_new(status, "error", tool_json_text(state.fail.message));
    }
    return status;
}

static json_t *model_json(const server *s, const server_model *m)
{
    const vouch_model_info *info = vouch_model_get_info(m->options->model);
    const tool_json_entry meta[] = {
        {"architecture", tool_json_text(info->architecture)},
        {"n_params", json_integer(info->n_parameters)},
        {"n_vocab", json_integer(info->n_vocab)},
        {"n_ctx", json_integer(m->options->session.n_ctx)},
        {"n_ctx_train", json_integer(info->n_ctx_train)},
        {"n_embd", json_integer(info->n_embd)},
        {"size", json_integer(info->file_bytes)},
        {"weight_types", tool_json_text(info->weight_types)},
        {"cpu", tool_json_text(info->cpu)},
        {"chat_template", tool_json_text(info->chat_template)},
        {"thinks", json_boolean(info->chat_template_thinks)},
        {"draft_model",
         m->options->draft ? tool_json_text(vouch_model_get_info(m->options->draft)->name) : json_null()},
    };
    const tool_json_entry entries[] = {
        {"id", tool_json_text(m->options->name)},
        {"object", json_string("model")},
        {"created", json_integer(s->started_at)},
        {"owned_by", json_string("vouch")},
        {"root", tool_json_text(m->options->name)}, /* this and the next one are vLLM's */
        {"max_model_len", json_integer(m->options->session.n_ctx)},
        {"type", json_string("model")}, /* this and the next ones are the Anthropic API's */
        {"display_name", tool_json_text(m->options->name)},
        {"created_at", time_json(s->started_at)},
        {"lifecycle", json_string("active")},
        {"status", status_json(m)},
        {"meta", tool_json_object(meta, sizeof meta / sizeof *meta)},
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

void server_list_models(server_exchange *x)
{
    const server_options *o = x->server->options;
    json_t *data = json_array();
    for (size_t i = 0; i < o->n_models; i++) json_array_append_new(data, model_json(x->server, &x->server->models[i]));
    const tool_json_entry entries[] = {
        {"object", json_string("list")},
        {"data", data},
        {"has_more", json_false()},
        {"first_id", tool_json_text(o->models[0].name)},
        {"last_id", tool_json_text(o->models[o->n_models - 1].name)},
    };
    server_reply_json(x, 200, tool_json_object(entries, sizeof entries / sizeof *entries));
}

void server_show_model(server_exchange *x)
{
    server_fault fault;
    const server_model *found = NULL;
    char *name = server_unescaped(x->rest);
    for (size_t i = 0; name && i < x->server->options->n_models; i++)
        if (strcmp(x->server->models[i].options->name, name) == 0) found = &x->server->models[i];
    if (found) {
        server_reply_json(x, 200, model_json(x->server, found));
    } else {
        if (name) server_fail_model(&fault, name);
        else server_fail_memory(&fault);
        server_reply_fault(x, &fault);
    }
    free(name);
}

/* -------------------------------------------------------------- load and unload */

static const server_field fields[] = {
    {"model", SERVER_ADMIN, SERVER_FIELD_VALUE, offsetof(server_named, model), NULL},
};
const server_field_table server_named_fields = {fields, sizeof fields / sizeof *fields};

/* The model that a request names, which must come on demand. NULL: the fault is replied. */
static server_model *find_on_demand(server_exchange *x)
{
    server_fault fault;
    server_named given = {0};
    server_model *m = NULL;
    if (!server_fields_read(x->json, "", &server_named_fields, SERVER_ADMIN, &given, &fault)) {
        server_reply_fault(x, &fault);
        return NULL;
    }
    if (!given.model) server_fail_field(&fault, "model", "expected the name of a model");
    else m = server_find_model(x->server, given.model, &fault);
    if (m && m->options->is_on_demand) return m;
    if (m)
        server_fail_field(&fault, "model", "%.200s stays in memory; models of --models come and go", m->options->name);
    server_reply_fault(x, &fault);
    return NULL;
}

static void reply_success(server_exchange *x)
{
    server_reply_json(x, 200, json_pack("{s:b}", "success", 1));
}

void server_load_model(server_exchange *x)
{
    server_model *m = find_on_demand(x);
    if (!m) return;
    server_worker_load(m->worker);
    reply_success(x);
}

void server_unload_model(server_exchange *x)
{
    server_model *m = find_on_demand(x);
    if (!m) return;
    server_worker_unload(m->worker);
    reply_success(x);
}
