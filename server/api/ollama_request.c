/* SPDX-License-Identifier: MIT */
/*
 * Turns a request of Ollama's API into one of the chat API or of completions. These are Ollama's:
 *
 *   {"model", "messages", "tools", "think", "format", "stream", "keep_alive", "options": {"num_predict", ...}}
 *   {"model", "prompt", "suffix", "system", "raw", ...}
 *
 * A stream is the default. A prompt becomes a conversation, unless it is raw, has a suffix, or the model has no
 * template.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ollama.h"
#include "request/request.h"

enum { TALK = SERVER_OLLAMA_CHAT, PROMPT = SERVER_OLLAMA_GENERATE, BOTH = TALK | PROMPT };

typedef struct ollama_fields {
    json_t *messages, *tools, *tool_choice, *think, *format, *options;
    json_t *stream, *keep_alive, *model, *prompt, *suffix, *system, *logprobs, *top_logprobs, *speculative, *prediction;
    bool raw;
} ollama_fields;

#define AT(member) offsetof(ollama_fields, member)

static const server_field fields[] = {
    {"model", BOTH, SERVER_FIELD_VALUE, AT(model), NULL},
    {"messages", TALK, SERVER_FIELD_VALUE, AT(messages), NULL},
    {"tools", TALK, SERVER_FIELD_VALUE, AT(tools), NULL},
    {"tool_choice", TALK, SERVER_FIELD_VALUE, AT(tool_choice), NULL}, /* not Ollama's: as the chat API has it */
    {"prompt", PROMPT, SERVER_FIELD_VALUE, AT(prompt), NULL},
    {"suffix", PROMPT, SERVER_FIELD_VALUE, AT(suffix), NULL},
    {"system", PROMPT, SERVER_FIELD_VALUE, AT(system), NULL},
    {"raw", PROMPT, SERVER_FIELD_BOOL, AT(raw), NULL},
    {"images", PROMPT, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"context", PROMPT, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"template", BOTH, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"think", BOTH, SERVER_FIELD_VALUE, AT(think), NULL},
    {"format", BOTH, SERVER_FIELD_VALUE, AT(format), NULL},
    {"options", BOTH, SERVER_FIELD_VALUE, AT(options), NULL},
    {"stream", BOTH, SERVER_FIELD_VALUE, AT(stream), NULL},
    {"keep_alive", BOTH, SERVER_FIELD_VALUE, AT(keep_alive), NULL},
    {"logprobs", BOTH, SERVER_FIELD_VALUE, AT(logprobs), NULL},
    {"top_logprobs", BOTH, SERVER_FIELD_VALUE, AT(top_logprobs), NULL},
    {"truncate", BOTH, SERVER_FIELD_IGNORED, 0, NULL},
    {"shift", BOTH, SERVER_FIELD_IGNORED, 0, NULL},
    {"speculative", BOTH, SERVER_FIELD_VALUE, AT(speculative), NULL},
    {"prediction", TALK, SERVER_FIELD_VALUE, AT(prediction), NULL},
};
const server_field_table server_ollama_fields = {fields, sizeof fields / sizeof *fields};

/* Ollama's names of options; `same` NULL: it concerns how a model is loaded, or changes nothing here. */
static const struct {
    const char *name, *same;
} options[] = {
    {"num_predict", "max_tokens"},
    {"temperature", "temperature"},
    {"top_k", "top_k"},
    {"top_p", "top_p"},
    {"min_p", "min_p"},
    {"typical_p", "typical_p"},
    {"seed", "seed"},
    {"stop", "stop"},
    {"repeat_penalty", "repeat_penalty"},
    {"repeat_last_n", "repeat_last_n"},
    {"presence_penalty", "presence_penalty"},
    {"frequency_penalty", "frequency_penalty"},
    {"mirostat", "mirostat"},
    {"num_ctx", NULL},
    {"num_keep", NULL},
    {"num_batch", NULL},
    {"num_gpu", NULL},
    {"main_gpu", NULL},
    {"num_thread", NULL},
    {"use_mmap", NULL},
    {"use_mlock", NULL},
    {"low_vram", NULL},
    {"f16_kv", NULL},
    {"vocab_only", NULL},
    {"numa", NULL},
    {"penalize_newline", NULL},
    {"mirostat_tau", NULL},
    {"mirostat_eta", NULL},
    {"tfs_z", NULL},
};

static bool convert_options(json_t *given, json_t *out, server_fault *fault)
{
    const char *name;
    json_t *value;
    if (!given) return true;
    if (!json_is_object(given))
        return server_fail_field(fault, "options", "expected an object, got %s", server_json_kind(given));
    json_object_foreach(given, name, value) {
        size_t i = 0;
        while (i < sizeof options / sizeof *options && strcmp(options[i].name, name) != 0) i++;
        if (i == sizeof options / sizeof *options) {
            char path[80];
            snprintf(path, sizeof path, "options.%.60s", name);
            return server_fail_field(fault, path, "unknown option; docs/server.md lists those of Ollama's API");
        }
        if (!options[i].same || json_is_null(value)) continue;
        /* -2 fills the context, and -1 has no limit: an answer ends with its context in any case. */
        if (strcmp(name, "num_predict") == 0 && json_is_integer(value) && json_integer_value(value) < 0)
            json_object_set_new(out, options[i].same, json_integer(-1));
        else json_object_set(out, options[i].same, value);
    }
    return true;
}

/* "json", or a schema. */
static bool convert_format(json_t *format, json_t *out, server_fault *fault)
{
    if (!format || (json_is_string(format) && !*json_string_value(format))) return true;
    if (json_is_object(format))
        json_object_set_new(out, "response_format",
                            json_pack("{s:s, s:{s:s, s:O}}", "type", "json_schema", "json_schema", "name", "answer",
                                      "schema", format));
    else if (json_is_string(format) && strcmp(json_string_value(format), "json") == 0)
        json_object_set_new(out, "response_format", json_pack("{s:s}", "type", "json_object"));
    else return server_fail_field(fault, "format", "expected json or a JSON Schema");
    return true;
}

/* true and false, or how much: "low", "medium", "high". */
static bool convert_think(json_t *think, json_t *out, server_fault *fault)
{
    if (!think) return true;
    if (json_is_boolean(think)) return json_object_set(out, "enable_thinking", think) == 0 || server_fail_memory(fault);
    if (json_is_string(think)) return json_object_set(out, "reasoning_effort", think) == 0 || server_fail_memory(fault);
    return server_fail_field(fault, "think", "expected true, false, low, medium or high");
}

/* The calls of a message: their arguments are objects, and they have no id. */
static json_t *convert_calls(const json_t *calls, int *n_calls)
{
    json_t *out = json_array(), *call;
    size_t i;
    json_array_foreach(calls, i, call) {
        const json_t *function = json_object_get(call, "function");
        json_t *arguments = json_object_get(function, "arguments");
        char id[24], *text = json_is_string(arguments) ? NULL : json_dumps(arguments, JSON_COMPACT | JSON_ENCODE_ANY);
        snprintf(id, sizeof id, "call_%d", (*n_calls)++);
        json_array_append_new(out, json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", id, "type", "function", "function",
                                             "name", server_word(function, "name"), "arguments",
                                             text                        ? text
                                             : json_is_string(arguments) ? json_string_value(arguments)
                                                                         : "{}"));
        free(text);
    }
    return out;
}

/* Results of tools answer the calls in their order. */
static bool convert_message(json_t *message, size_t i, int *n_calls, int *n_results, server_fault *fault)
{
    char path[48];
    snprintf(path, sizeof path, "messages[%zu]", i);
    if (!json_is_object(message)) return server_fail_field(fault, path, "expected an object");
    if (json_array_size(json_object_get(message, "images")) > 0)
        return server_fail_field(fault, path, "images are not supported; send text alone");
    json_object_del(message, "images");
    json_t *thinking = json_object_get(message, "thinking"), *calls = json_object_get(message, "tool_calls");
    if (json_is_string(thinking) && *json_string_value(thinking))
        json_object_set(message, "reasoning_content", thinking);
    json_object_del(message, "thinking");
    if (json_array_size(calls) > 0) json_object_set_new(message, "tool_calls", convert_calls(calls, n_calls));
    else json_object_del(message, "tool_calls");
    if (strcmp(server_word(message, "role"), "tool") != 0) return true;
    if (*n_results == *n_calls) return server_fail_field(fault, path, "a result of a tool without a call before it");
    char id[24];
    snprintf(id, sizeof id, "call_%d", (*n_results)++);
    json_object_set_new(message, "tool_call_id", json_string(id));
    json_t *name = json_object_get(message, "tool_name");
    if (name) json_object_set(message, "name", name);
    json_object_del(message, "tool_name");
    return true;
}

/* Whether the model's conversations have a form, so that a prompt can become one. */
static bool has_template(const server_model *m)
{
    return strcmp(vouch_model_get_info(m->options->model)->chat_template, "jinja") == 0;
}

static bool convert_prompt(const ollama_fields *f, const server_model *m, json_t *out, unsigned *where,
                           server_fault *fault)
{
    const char *suffix = json_is_string(f->suffix) ? json_string_value(f->suffix) : "";
    if (f->prompt && !json_is_string(f->prompt)) return server_fail_field(fault, "prompt", "expected a string");
    if (f->suffix && !json_is_string(f->suffix)) return server_fail_field(fault, "suffix", "expected a string");
    if (f->system && !json_is_string(f->system)) return server_fail_field(fault, "system", "expected a string");
    *where = f->raw || *suffix || !has_template(m) ? SERVER_COMPLETIONS : SERVER_CHAT;
    if (*where == SERVER_COMPLETIONS) {
        json_object_set(out, "prompt", f->prompt);
        if (*suffix) json_object_set(out, "suffix", f->suffix);
        return true;
    }
    json_t *messages = json_array();
    if (f->system && *json_string_value(f->system))
        json_array_append_new(messages, json_pack("{s:s, s:O}", "role", "system", "content", f->system));
    json_array_append_new(messages, json_pack("{s:s, s:O}", "role", "user", "content", f->prompt));
    json_object_set_new(out, "messages", messages);
    return true;
}

server_model *server_ollama_model(server *s, const json_t *name, server_fault *fault)
{
    const char *word = json_string_value(name);
    const size_t n = word ? strlen(word) : 0, n_tag = strlen(":latest");
    if (!word || n <= n_tag || strcmp(word + n - n_tag, ":latest") != 0) return server_find_model(s, name, fault);
    for (size_t i = 0; i < s->options->n_models; i++)
        if (strcmp(s->models[i].options->name, word) == 0) return &s->models[i];
    json_t *bare = json_stringn(word, n - n_tag);
    server_model *m = server_find_model(s, bare, fault);
    json_decref(bare);
    return m;
}

/* "1h30m", "300ms". False: the text is no duration. */
static bool read_duration(const char *text, double *seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
    enum { N_UNITS = sizeof units / sizeof *units };
    const bool is_negative = *text == '-';
    const char *at = text + is_negative;
    *seconds = 0;
    if (!*at) return false;
    while (*at) {
        char *end;
        const double n = strtod(at, &end);
        size_t unit = 0;
        if (end == at || !strchr("0123456789.", *at)) return false;
        const size_t n_name = strspn(end, "nmush");
        while (unit < N_UNITS && (strlen(units[unit].name) != n_name || strncmp(units[unit].name, end, n_name) != 0))
            unit++;
        if (unit == N_UNITS) return false;
        *seconds += n * units[unit].seconds;
        at = end + n_name;
    }
    if (is_negative) *seconds = INFINITY;
    return true;
}

bool server_ollama_keep(const json_t *value, double *seconds, server_fault *fault)
{
    if (!value || json_is_null(value)) return true;
    if (json_is_number(value)) {
        const double n = json_number_value(value);
        *seconds = n < 0 ? INFINITY : n;
        return true;
    }
    if (json_is_string(value) && read_duration(json_string_value(value), seconds)) return true;
    return server_fail_field(fault, "keep_alive",
                             "expected seconds or a duration such as \"5m\"; negative: as long as the "
                             "operator lets models stay");
}

/* Log probabilities are a switch and a number in chats, and a number in completions. */
static void convert_logprobs(const ollama_fields *f, json_t *out, unsigned where)
{
    if (!json_is_true(f->logprobs)) return;
    if (where == SERVER_CHAT) {
        json_object_set(out, "logprobs", f->logprobs);
        if (f->top_logprobs) json_object_set(out, "top_logprobs", f->top_logprobs);
    } else if (f->top_logprobs) {
        json_object_set(out, "logprobs", f->top_logprobs);
    } else {
        json_object_set_new(out, "logprobs", json_integer(0));
    }
}

static bool convert(server_exchange *x, const ollama_fields *f, bool is_chat, unsigned *where, json_t *out,
                    server_fault *fault)
{
    const server_model *m = server_ollama_model(x->server, f->model, fault);
    int n_calls = 0, n_results = 0;
    json_t *message;
    size_t i;
    if (!m) return false;
    if (!server_ollama_keep(f->keep_alive, &x->keep_seconds, fault)) return false;
    json_object_set_new(out, "model", json_string(m->options->name));
    json_object_set_new(out, "stream", json_boolean(!json_is_false(f->stream)));
    if (f->stream && !json_is_boolean(f->stream)) return server_fail_field(fault, "stream", "expected true or false");
    if (f->speculative) json_object_set(out, "speculative", f->speculative);
    if (f->prediction) json_object_set(out, "prediction", f->prediction);
    if (!convert_options(f->options, out, fault) || !convert_format(f->format, out, fault)) return false;
    const bool is_empty = is_chat ? json_array_size(f->messages) == 0
                                  : !f->prompt || (json_is_string(f->prompt) && !*json_string_value(f->prompt));
    *where = 0;
    if (is_empty && (!is_chat || !f->messages || json_is_array(f->messages))) return true;
    if (!is_chat && !convert_prompt(f, m, out, where, fault)) return false;
    if (is_chat) {
        *where = SERVER_CHAT;
        json_array_foreach(f->messages, i, message)
            if (!convert_message(message, i, &n_calls, &n_results, fault)) return false;
        json_object_set(out, "messages", f->messages);
        if (json_array_size(f->tools) > 0) json_object_set(out, "tools", f->tools);
        if (f->tool_choice) json_object_set(out, "tool_choice", f->tool_choice);
    }
    convert_logprobs(f, out, *where);
    return *where != SERVER_CHAT || convert_think(f->think, out, fault);
}

bool server_ollama_convert(server_exchange *x, bool is_chat, unsigned *where, server_fault *fault)
{
    ollama_fields f = {0};
    if (!json_is_object(x->json)) return server_fail_field(fault, "body", "expected an object");
    if (!server_fields_read(x->json, "", &server_ollama_fields, is_chat ? TALK : PROMPT, &f, fault)) return false;
    json_t *out = json_object();
    const bool is_good = out && convert(x, &f, is_chat, where, out, fault);
    if (!out) server_fail_memory(fault);
    if (is_good) {
        json_decref(x->json);
        x->json = out;
    } else {
        json_decref(out);
    }
    return is_good;
}
