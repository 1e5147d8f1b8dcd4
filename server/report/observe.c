/* SPDX-License-Identifier: MIT */
/* /props as llama.cpp has it, /version and /tokenizer_info as vLLM has them, and /admin/speculation. */
#include "report/observe.h"

#include <stdlib.h>
#include <string.h>

#include "tool/sampling.h"
#include <microhttpd.h>
#include "request/request.h"

/* ------------------------------------------------------------------ speculation */

static json_t *drafters_json(unsigned drafters)
{
    json_t *array = json_array();
    if (drafters == VOUCH_DRAFTER_AUTO) json_array_append_new(array, json_string("auto"));
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (drafters >> i & 1) json_array_append_new(array, json_string(vouch_drafter_name(i)));
    return array;
}

static json_t *speculation_json(server_model *m)
{
    pthread_mutex_lock(&m->lock);
    const vouch_speculation s = m->speculation;
    pthread_mutex_unlock(&m->lock);
    const char *accept = s.accept == VOUCH_ACCEPT_AUTO ? "auto" : vouch_accept_name((int)s.accept);
    const tool_json_entry entries[] = {
        {"model", tool_json_text(m->options->name)},
        {"drafters", drafters_json(s.drafters)},
        {"k", json_integer(s.n_draft)},
        {"accept", json_string(accept)},
        {"lenience", tool_json_real(s.lenience)},
        {"draft_sampling", json_string(vouch_draft_sampling_name((int)s.draft_sampling))},
        {"branches", json_integer(s.tree_branches)},
        {"depth", json_integer(s.tree_depth)},
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

void server_reply_models(server_exchange *x, json_t *(*describe)(server_model *m))
{
    json_t *data = json_array();
    for (size_t i = 0; i < x->server->options->n_models; i++)
        json_array_append_new(data, describe(&x->server->models[i]));
    const tool_json_entry entries[] = {{"data", data}};
    server_reply_json(x, 200, tool_json_object(entries, 1));
}

void server_show_speculation(server_exchange *x)
{
    server_reply_models(x, speculation_json);
}

/* Reads the speculation of requests that set none: {"drafters": ..., "k": ...}; members that are absent stay as they
 * are. Under the lock of the model. */
static bool read_default(server_model *m, json_t *json, vouch_speculation *out, server_fault *fault)
{
    vouch_error err;
    vouch_session_options changed = m->options->session;
    changed.speculation = m->speculation;
    if (!server_read_speculation(json, "", &changed.speculation, NULL, fault)) return false;
    const unsigned drafters = changed.speculation.drafters;
    if (drafters & vouch_drafter_needing(VOUCH_NEED_PREDICTION))
        return server_fail_field(fault, "drafters", "prediction can't be a default: each request brings its own");
    if (drafters & vouch_drafter_needing(VOUCH_NEED_GRAMMAR))
        return server_fail_field(fault, "drafters",
                                 "grammar can't be a default: it needs an answer that is bound to "
                                 "a grammar. auto uses it where there is one");
    if (!server_check_drafters(&changed.speculation, "drafters", fault)) return false;
    if (vouch_session_check(m->options->model, &changed, &err)) return server_fail_library(fault, "", &err);
    *out = changed.speculation;
    return true;
}

/* Changes the speculation of requests that set none, from the next request on: {"model": NAME, "drafters": ..., "k":
 * ...}. */
void server_set_speculation(server_exchange *x)
{
    server_fault fault;
    server_model *m = server_find_model(x->server, json_object_get(x->json, "model"), &fault);
    if (!m) {
        server_reply_fault(x, &fault);
        return;
    }
    json_object_del(x->json, "model");
    pthread_mutex_lock(&m->lock); /* to the end, so that of two changes at once none is lost */
    const bool good = read_default(m, x->json, &m->speculation, &fault);
    pthread_mutex_unlock(&m->lock);
    if (good) server_reply_json(x, 200, speculation_json(m));
    else server_reply_fault(x, &fault);
}

/* ------------------------------------------------------------------------ props */

static json_t *token_name(const vouch_model *model, int32_t token)
{
    size_t n = 0;
    const char *bytes = token >= 0 ? vouch_token_bytes(model, token, &n) : NULL;
    return server_json_bytes(bytes, bytes ? n : 0);
}

void server_show_version(server_exchange *x)
{
    const tool_json_entry entries[] = {{"version", json_string(VOUCH_VERSION)}};
    server_reply_json(x, 200, tool_json_object(entries, 1));
}

/* As vLLM has it: clients tokenize and render conversations with it as the first model does. */
void server_show_tokenizer(server_exchange *x)
{
    const server_model *m = &x->server->models[0];
    const vouch_model *model = m->options->model;
    const vouch_model_info *info = vouch_model_get_info(model);
    const tool_json_entry entries[] = {
        {"tokenizer_class", tool_json_text(info->tokenizer)},
        {"bos_token", info->token_bos >= 0 ? token_name(model, info->token_bos) : json_null()},
        {"eos_token", info->token_eos >= 0 ? token_name(model, info->token_eos) : json_null()},
        {"pad_token", json_null()},
        {"chat_template", *info->chat_template_text ? tool_json_text(info->chat_template_text) : json_null()},
        {"vocab_size", json_integer(info->n_vocab)},
        {"model_max_length", json_integer(m->options->session.n_ctx)},
    };
    server_reply_json(x, 200, tool_json_object(entries, sizeof entries / sizeof *entries));
}

/* The drafters that this model's requests may name, whatever else they ask for. */
static json_t *accepted_drafters_json(server_model *m)
{
    json_t *list = json_array();
    pthread_mutex_lock(&m->lock);
    for (int i = 1; i < VOUCH_DRAFTERS; i++) {
        server_fault fault;
        vouch_speculation ignored;
        const vouch_drafter_info info = vouch_drafter_get_info(i);
        const tool_json_entry asked[] = {{"drafters", json_string(info.name)}};
        const tool_json_entry entries[] = {{"name", json_string(info.name)}, {"summary", json_string(info.summary)}};
        json_t *request = tool_json_object(asked, 1), *drafter = tool_json_object(entries, 2);
        if (read_default(m, request, &ignored, &fault)) json_array_append(list, drafter);
        json_decref(request);
        json_decref(drafter);
    }
    pthread_mutex_unlock(&m->lock);
    return list;
}

static json_t *rules_json(void)
{
    json_t *list = json_array();
    for (int i = 0; i < VOUCH_ACCEPTS; i++) json_array_append_new(list, json_string(vouch_accept_name(i)));
    return list;
}

/* The cost curve t(n); null until passes were measured. */
static json_t *pass_seconds_json(const server_model *m)
{
    const server_worker_state state = server_worker_get_state(m->worker);
    if (state.pass_seconds[0] <= 0) return json_null();
    json_t *list = json_array();
    for (int32_t n = 0; n < SERVER_COST_ROWS; n++) json_array_append_new(list, json_real(state.pass_seconds[n]));
    return list;
}

/* The model that the query names: /props?model=NAME. */
static server_model *find_queried_model(server_exchange *x, server_fault *fault)
{
    const char *word = MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND, "model");
    char *given = word ? server_unescaped(word) : NULL;
    json_t *name = given ? tool_json_text(given) : NULL;
    server_model *m = server_find_model(x->server, name, fault);
    json_decref(name);
    free(given);
    return m;
}

void server_show_props(server_exchange *x)
{
    server_fault fault;
    server_model *m = find_queried_model(x, &fault);
    if (!m) {
        server_reply_fault(x, &fault);
        return;
    }
    const vouch_model *model = m->options->model;
    const vouch_model_info *info = vouch_model_get_info(model);
    const vouch_sampling *s = &m->options->session.sampling;
    const tool_json_entry params[] = {
        {"seed", s->seed ? tool_json_seed(s->seed) : json_integer(-1)}, /* -1: a new one for each request */
        {"n_predict", json_integer(m->options->session.max_tokens ? m->options->session.max_tokens : -1)},
        {"speculative", speculation_json(m)},
    };
    const tool_json_entry defaults[] = {
        {"n_ctx", json_integer(m->options->session.n_ctx)},
        {"params", tool_sampling_add(tool_json_object(params, sizeof params / sizeof *params), s)},
    };
    const tool_json_entry entries[] = {
        {"default_generation_settings", tool_json_object(defaults, 2)},
        {"total_slots", json_integer(x->server->options->engine.n_sessions)},
        {"model_alias", tool_json_text(m->options->name)},
        {"model_path", tool_json_text(m->options->path)},
        {"drafters", accepted_drafters_json(m)},
        {"rules", rules_json()},
        {"pass_seconds", pass_seconds_json(m)},
        {"chat_template", tool_json_text(info->chat_template)},
        {"bos_token", token_name(model, info->token_bos)},
        {"eos_token", token_name(model, info->token_eos)},
        {"build_info", json_string("vouch-" VOUCH_VERSION)},
        {"cpu", tool_json_text(info->cpu)},
        {"n_threads",
         json_integer(x->server->options->engine.n_threads ? x->server->options->engine.n_threads : vouch_cpu_count())},
    };
    server_reply_json(x, 200, tool_json_object(entries, sizeof entries / sizeof *entries));
}
