/* SPDX-License-Identifier: MIT */
/*
 * Ollama's API over the models of this server. A stream has a line of JSON for each piece, and the last line has
 * `"done": true` with the figures:
 *
 *   {"model", "created_at", "message": {"role", "content", "thinking", "tool_calls"}, "done"}     /api/chat
 *   {"model", "created_at", "response", "thinking", "done"}                                       /api/generate
 */
#include "api/ollama.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/answer.h"
#include "api/usage.h"
#include "call/arguments.h"
#include "os/os.h"
#include "tool/json.h"

/* Front ends ask for a version of Ollama that has what they use: the one whose API this is. */
#define OLLAMA_VERSION "0.12.6"

/* The state of an answer. */
typedef struct ollama_answer {
    bool is_chat; /* /api/chat */
} ollama_answer;

/* ------------------------------------------------------------------------ answers */

static json_t *time_json(int64_t nanoseconds)
{
    struct tm parts;
    const time_t when = (time_t)(nanoseconds / 1000000000);
    char date[32] = "", text[48];
    if (gmtime_r(&when, &parts)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, sizeof text, "%s.%09lldZ", date, (long long)(nanoseconds % 1000000000));
    return json_string(text);
}

static json_t *now_json(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return time_json((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

static json_t *take_text(server_text *text)
{
    json_t *string = server_json_bytes(text->bytes, text->n);
    text->n = 0;
    return string;
}

/* The calls with their arguments as objects. Arguments that are cut are no object, and become an empty one. */
static json_t *calls_json(const server_reader *reader)
{
    json_t *calls = json_array();
    for (size_t i = 0; i < reader->n_calls; i++) {
        const server_text *text = &reader->calls[i].arguments;
        json_t *arguments = server_is_object(text->bytes, text->n) ? json_loadb(text->bytes, text->n, 0, NULL) : NULL;
        if (!arguments) arguments = json_object();
        json_array_append_new(calls, json_pack("{s:{s:i, s:s, s:o}}", "function", "index", (int)i, "name",
                                               reader->calls[i].name, "arguments", arguments));
    }
    return calls;
}

/* A line with what the choice has said and not given out. */
static json_t *line_json(const server_answer *a, bool has_calls)
{
    const ollama_answer *o = a->more;
    server_said *said = &a->said[0];
    server_reader *reader = &said->reader;
    json_t *line =
        json_pack("{s:o, s:o}", "model", tool_json_text(a->request.model->options->name), "created_at", now_json());
    json_t *part = o->is_chat ? json_pack("{s:s}", "role", "assistant") : line;
    json_object_set_new(part, o->is_chat ? "content" : "response", take_text(&reader->content));
    if (reader->thoughts.n > 0) json_object_set_new(part, "thinking", take_text(&reader->thoughts));
    if (has_calls && reader->n_calls > 0) json_object_set_new(part, "tool_calls", calls_json(reader));
    if (o->is_chat) json_object_set_new(line, "message", part);
    if (said->logprobs) json_object_set_new(line, "logprobs", said->logprobs);
    said->logprobs = NULL;
    json_object_set_new(line, "done", json_false());
    return line;
}

static json_int_t nanoseconds(double seconds)
{
    return (json_int_t)(1e9 * seconds);
}

/* Adds what the last line has besides. */
static void finish_line(const server_exchange *x, json_t *line)
{
    const server_choice *choice = &x->job->choices[0];
    const server_usage usage = server_usage_of(x->job, 1);
    const bool is_cut = choice->finish == VOUCH_FINISH_LENGTH || choice->finish == VOUCH_FINISH_CONTEXT;
    const tool_json_entry entries[] = {
        {"done", json_true()},
        {"done_reason", json_string(is_cut ? "length" : "stop")},
        {"total_duration", json_integer(nanoseconds(choice->ended - choice->queued))},
        {"load_duration", json_integer(nanoseconds(usage.queue_seconds))},
        {"prompt_eval_count", json_integer(usage.prompt_tokens)},
        {"prompt_eval_duration", json_integer(nanoseconds(usage.prefill_seconds))},
        {"eval_count", json_integer(usage.completion_tokens)},
        {"eval_duration", json_integer(nanoseconds(usage.decode_seconds))},
    };
    json_t *more = tool_json_object(entries, sizeof entries / sizeof *entries);
    json_object_update(line, more);
    json_decref(more);
}

static void send_line(server_exchange *x, json_t *line)
{
    server_text_json(&x->out, line);
    server_text_put(&x->out, "\n");
}

static void give(server_exchange *x, int32_t choice)
{
    server_answer *a = x->state;
    const server_said *said = &a->said[choice];
    if (said->reader.content.n > 0 || said->reader.thoughts.n > 0) send_line(x, line_json(a, false));
}

static void stream_fail(server_exchange *x, const server_fault *fault)
{
    send_line(x, server_error_json(x, fault));
}

static void stream_event(server_exchange *x, const server_event *event)
{
    server_answer *a = x->state;
    server_fault fault;
    server_answer_stream(x, event, give);
    if (event->kind != SERVER_EVENT_END) return;
    const server_choice *choice = &x->job->choices[0];
    if (choice->error.code != VOUCH_OK) {
        server_fail_library(&fault, "", &choice->error);
        stream_fail(x, &fault);
        return;
    }
    if (a->said[0].reader.n_calls > 0) send_line(x, line_json(a, true));
    json_t *line = line_json(a, false);
    finish_line(x, line);
    send_line(x, line);
}

static void whole(server_exchange *x, server_text *json)
{
    json_t *line = line_json(x->state, true);
    finish_line(x, line);
    server_text_json(json, line);
}

static const server_format stream_format = {
    .event = stream_event, .fail = stream_fail, .free = server_answer_free, .type = "application/x-ndjson"};
static const server_format whole_format = {.event = server_answer_keep, .body = whole, .free = server_answer_free};

/* A request without a text asks to load the model; with "keep_alive" 0, to let it go. */
static void reply_loaded(server_exchange *x, bool is_chat)
{
    server_fault fault;
    const server_model *m = server_find_model(x->server, json_object_get(x->json, "model"), &fault);
    const bool goes = m && m->options->is_on_demand && x->keep_seconds == 0;
    if (goes) server_worker_unload(m->worker);
    else if (m && m->options->is_on_demand) server_worker_load(m->worker);
    json_t *line = json_pack("{s:O, s:o, s:b, s:s}", "model", json_object_get(x->json, "model"), "created_at",
                             now_json(), "done", 1, "done_reason", goes ? "unload" : "load");
    if (is_chat) json_object_set_new(line, "message", json_pack("{s:s, s:s}", "role", "assistant", "content", ""));
    else json_object_set_new(line, "response", json_string(""));
    server_reply_json(x, 200, line);
}

static void answer(server_exchange *x, bool is_chat)
{
    server_request request;
    server_fault fault = {0};
    server_job *job = NULL;
    unsigned where = 0;
    if (server_ollama_convert(x, is_chat, &where, &fault)) {
        if (where == 0) {
            reply_loaded(x, is_chat);
            return;
        }
        if (server_request_read(&request, x, where, &fault))
            job = where == SERVER_CHAT ? server_prompt_chat(&request, &fault) : server_prompt_texts(&request, &fault);
    }
    if (!job) {
        server_reply_fault(x, &fault);
        return;
    }
    server_answer *a = server_answer_new(x, &request, job, "ollama-", sizeof(ollama_answer));
    if (!a) return;
    ((ollama_answer *)a->more)->is_chat = is_chat;
    server_begin(x, request.model, job, request.stream, request.stream ? &stream_format : &whole_format, a);
}

void server_ollama_chat(server_exchange *x)
{
    answer(x, true);
}

void server_ollama_generate(server_exchange *x)
{
    answer(x, false);
}

/* ------------------------------------------------------------------------- models */

/* "134.5M", "1.5B" */
static json_t *size_json(int64_t n_parameters)
{
    char text[24];
    const double n = (double)n_parameters;
    if (n < 1e9) snprintf(text, sizeof text, "%.2fM", n * 1e-6);
    else snprintf(text, sizeof text, "%.1fB", n * 1e-9);
    return json_string(text);
}

static json_t *details_json(const vouch_model_info *info)
{
    char level[32];
    snprintf(level, sizeof level, "%.*s", (int)strcspn(info->weight_types, " ,"), info->weight_types);
    return json_pack("{s:s, s:s, s:s, s:[s], s:o, s:s}", "parent_model", "", "format", "gguf", "family",
                     info->architecture, "families", info->architecture, "parameter_size",
                     size_json(info->n_parameters), "quantization_level", level);
}

static json_t *modified_json(const server_model *m)
{
    vouch_os_info file;
    return time_json(vouch_os_info_of(m->options->path, &file) ? file.modified : 0);
}

static json_t *model_json(const server_model *m)
{
    const vouch_model_info *info = vouch_model_get_info(m->options->model);
    const tool_json_entry entries[] = {
        {"name", tool_json_text(m->options->name)}, {"model", tool_json_text(m->options->name)},
        {"modified_at", modified_json(m)},          {"size", json_integer(info->file_bytes)},
        {"digest", json_string(info->digest)},      {"details", details_json(info)},
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

void server_ollama_tags(server_exchange *x)
{
    json_t *models = json_array();
    for (size_t i = 0; i < x->server->options->n_models; i++)
        json_array_append_new(models, model_json(&x->server->models[i]));
    server_reply_json(x, 200, json_pack("{s:o}", "models", models));
}

static json_t *expires_json(double seconds)
{
    if (isinf(seconds)) return json_string("9999-01-01T00:00:00Z");
    return time_json((int64_t)time(NULL) * 1000000000 + (int64_t)(seconds * 1e9));
}

/* The models that are loaded, and when they go. */
void server_ollama_ps(server_exchange *x)
{
    json_t *models = json_array();
    server_shelf_hold(x->server->shelf);
    for (size_t i = 0; i < x->server->options->n_models; i++) {
        const server_model *m = &x->server->models[i];
        const server_worker_state state = server_worker_get_state(m->worker);
        if (state.stage != SERVER_STAGE_LOADED) continue;
        json_t *model = model_json(m);
        json_object_del(model, "modified_at");
        json_object_set_new(model, "size", json_integer(state.bytes));
        json_object_set_new(model, "size_vram", json_integer(0));
        json_object_set_new(model, "context_length", json_integer(m->options->session.n_ctx));
        json_object_set_new(model, "expires_at", expires_json(state.goes_in));
        json_array_append_new(models, model);
    }
    server_shelf_release(x->server->shelf);
    server_reply_json(x, 200, json_pack("{s:o}", "models", models));
}

static json_t *capabilities_json(const server_model *m)
{
    const vouch_model_info *info = vouch_model_get_info(m->options->model);
    json_t *list = json_array();
    json_array_append_new(list, json_string("completion"));
    if (strstr(info->chat_template_text, "tools")) json_array_append_new(list, json_string("tools"));
    if (info->token_fim_prefix >= 0) json_array_append_new(list, json_string("insert"));
    if (info->chat_template_thinks || *info->thoughts_begin) json_array_append_new(list, json_string("thinking"));
    return list;
}

/* The keys of the file that front ends read. */
static json_t *keys_json(const vouch_model_info *info)
{
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"context_length", info->n_ctx_train},    {"embedding_length", info->n_embd},
                 {"block_count", info->n_layers},          {"feed_forward_length", info->n_ff},
                 {"attention.head_count", info->n_heads},  {"attention.head_count_kv", info->n_kv_heads},
                 {"attention.key_length", info->head_dim}, {"vocab_size", info->n_vocab}};
    json_t *keys = json_pack("{s:s, s:s, s:I}", "general.architecture", info->architecture, "general.basename",
                             info->name, "general.parameter_count", (json_int_t)info->n_parameters);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s.%s", info->architecture, sizes[i].name);
        json_object_set_new(keys, name, json_integer(sizes[i].value));
    }
    return keys;
}

void server_ollama_show(server_exchange *x)
{
    server_fault fault;
    json_t *name = json_object_get(x->json, "model");
    if (!name) name = json_object_get(x->json, "name"); /* of older clients */
    const server_model *m = name ? server_ollama_model(x->server, name, &fault) : NULL;
    if (!name) server_fail_field(&fault, "model", "expected the name of a model");
    if (!m) {
        server_reply_fault(x, &fault);
        return;
    }
    const vouch_model_info *info = vouch_model_get_info(m->options->model);
    const tool_json_entry entries[] = {
        {"modelfile", json_string("")},
        {"parameters", json_string("")},
        {"template", tool_json_text(info->chat_template_text)},
        {"details", details_json(info)},
        {"model_info", keys_json(info)},
        {"capabilities", capabilities_json(m)},
        {"modified_at", modified_json(m)},
    };
    server_reply_json(x, 200, tool_json_object(entries, sizeof entries / sizeof *entries));
}

void server_ollama_version(server_exchange *x)
{
    server_reply_json(x, 200, json_pack("{s:s, s:s}", "version", OLLAMA_VERSION, "vouch", VOUCH_VERSION));
}

void server_ollama_refuse(server_exchange *x)
{
    server_fault fault;
    server_fail(&fault, 501, "not_implemented", "", "%.100s: %s", x->route->path, x->route->about);
    server_reply_fault(x, &fault);
}
