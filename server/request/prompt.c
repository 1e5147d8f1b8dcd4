/* SPDX-License-Identifier: MIT */
/* From messages, texts and ids to the tokens of a job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/arguments.h"
#include "request/request.h"

enum { MOST_PROMPTS = 128, MOST_IDS = 1 << 22 };

/* Members that are null count as absent. A content of null says something. */
static void drop_nulls(json_t *object)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, name, value)
        if (json_is_null(value) && strcmp(name, "content") != 0) json_object_del(object, name);
}

/* Parts are texts; a refusal is one. cache_control is for servers that bill by it. */
static bool complete_parts(json_t *content, const char *path, server_fault *fault)
{
    json_t *part;
    size_t i;
    json_array_foreach(content, i, part) {
        char inner[96];
        snprintf(inner, sizeof inner, "%.64s[%zu]", path, i);
        if (!server_check_part(part, inner, fault)) return false;
        if (strcmp(server_word(part, "type"), "refusal") == 0 && json_is_string(server_part_text(part))) {
            json_object_set(part, "text", json_object_get(part, "refusal"));
            json_object_set_new(part, "type", json_string("text"));
            json_object_del(part, "refusal");
        }
        json_object_del(part, "cache_control");
        drop_nulls(part);
    }
    return true;
}

/* Messages of all roles but the assistant's have a content, and a tool's message names its call, as the OpenAI API has
 * it. The assistant's may lack both content and calls. Templates read the content nevertheless, so it is "", or its
 * refusal. */
static bool complete_messages(const json_t *messages, server_fault *fault)
{
    json_t *message;
    char id[10] = "";
    size_t i;
    json_array_foreach(messages, i, message) {
        char path[64];
        drop_nulls(message);
        const bool is_function = strcmp(server_word(message, "role"), "function") == 0;
        server_convert_legacy_message(message, i, id);
        const char *role = server_word(message, "role");
        json_t *content = json_object_get(message, "content"), *refusal = json_object_get(message, "refusal");
        const bool is_answer = strcmp(role, "assistant") == 0;
        snprintf(path, sizeof path, "messages[%zu].content", i);
        if (*role && !is_answer && (!content || json_is_null(content)))
            return server_fail_field(fault, path, "expected a string or an array of parts, got %s",
                                     content ? "null" : "nothing");
        if (!complete_parts(content, path, fault)) return false;
        snprintf(path, sizeof path, "messages[%zu].%s", i, is_function ? "role" : "tool_call_id");
        if (is_function && !*id)
            return server_fail_field(fault, path, "'function': expected a message with function_call before it");
        if (strcmp(role, "tool") == 0 && !*server_word(message, "tool_call_id"))
            return server_fail_field(fault, path, "expected the id of the call that this message answers");
        if (is_answer && json_is_string(refusal) && (!content || json_is_null(content)))
            json_object_set(message, "content", refusal);
        else if (is_answer && !content) json_object_set_new(message, "content", json_string(""));
        json_object_del(message, "refusal");
        json_object_del(message, "cache_control");
    }
    return true;
}

/* Templates write tools as they come, so they get what describes a tool alone. */
static void complete_tools(const json_t *tools)
{
    json_t *tool;
    size_t i;
    json_array_foreach(tools, i, tool) {
        json_t *function = json_object_get(tool, "function");
        json_object_del(tool, "cache_control");
        json_object_del(function, "cache_control");
        drop_nulls(tool);
        drop_nulls(function);
    }
}

bool server_complete_conversation(json_t *body, server_fault *fault)
{
    drop_nulls(body);
    complete_tools(json_object_get(body, "tools"));
    return complete_messages(json_object_get(body, "messages"), fault);
}

/* The object that the chat template reads, as text. */
static char *conversation_text(const server_request *r)
{
    json_t *object = json_object();
    const struct {
        const char *name;
        json_t *value;
    } parts[] = {{"messages", r->messages},
                 {"tools", r->tools},
                 {"documents", r->documents},
                 {"chat_template_kwargs", r->template_kwargs}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].value == r->tools && r->tools)
            json_object_set_new(object, parts[i].name, server_schemas_plain(r->tools));
        else if (parts[i].value) json_object_set(object, parts[i].name, parts[i].value);
    if (!r->add_generation_prompt) json_object_set_new(object, "add_generation_prompt", json_false());
    if (r->continue_final_message) json_object_set_new(object, "continue_final_message", json_true());
    if (r->reasoning_effort) json_object_set_new(object, "reasoning_effort", json_string(r->reasoning_effort));
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

/* Where a field is to blame, the library's message has its path: "conversation: messages[2].role is ...". */
static void blame_message(server_fault *fault)
{
    const char *path = strstr(fault->message, "messages[");
    if (!path) path = strstr(fault->message, "tools[");
    if (path) snprintf(fault->param, sizeof fault->param, "%.*s", (int)strcspn(path, ": "), path);
}

/* The field that the client wrote the conversation in. */
static const char *conversation_param(const server_request *r)
{
    return r->where == SERVER_RESPONSES ? "input" : "messages";
}

/* The tokens of the conversation, [*n], the caller's to free; NULL with a fault. */
static int32_t *conversation_tokens(const server_request *r, size_t *n, server_fault *fault)
{
    const vouch_model *model = r->model->options->model;
    const char *param = conversation_param(r);
    if (!json_is_array(r->messages) || json_array_size(r->messages) == 0) {
        server_fail_field(fault, param, "expected an array of at least one message");
        return NULL;
    }
    if (!complete_messages(r->messages, fault)) return NULL;
    complete_tools(r->tools);
    const json_t *opens = json_object_get(r->document, "add_generation_prompt");
    if (r->continue_final_message && json_is_true(opens)) {
        server_fail_field(fault, "continue_final_message", "leave out add_generation_prompt, which opens another turn");
        return NULL;
    }
    char *text = conversation_text(r);
    vouch_error err = {0};
    int32_t *tokens = NULL;
    *n = 0;
    vouch_status status = text ? vouch_tokenize_chat_json(model, text, strlen(text), NULL, 0, n, &err) : VOUCH_E_MEMORY;
    if (status == VOUCH_OK || status == VOUCH_E_BUFFER) {
        tokens = calloc(*n + 1, sizeof *tokens);
        status = tokens ? vouch_tokenize_chat_json(model, text, strlen(text), tokens, *n, n, &err) : VOUCH_E_MEMORY;
    }
    free(text);
    if (status == VOUCH_OK) return tokens;
    free(tokens);
    if (status == VOUCH_E_MEMORY) {
        server_fail_memory(fault);
        return NULL;
    }
    server_fail_library(fault, param, &err);
    blame_message(fault);
    return NULL;
}

/* The last answer in the conversation, which another server may have written, belongs to the draft memory, too. */
static void remember_answer(const server_request *r)
{
    vouch_draft_memory *memory = r->session.speculation.draft_memory;
    const vouch_model *model = r->model->options->model;
    const char *text = NULL;
    for (size_t i = json_array_size(r->messages); memory && i > 0 && !text; i--) {
        const json_t *message = json_array_get(r->messages, i - 1);
        if (strcmp(server_word(message, "role"), "assistant") == 0) text = server_word(message, "content");
    }
    size_t n = 0;
    if (!text || !*text || vouch_tokenize(model, text, strlen(text), 0, NULL, 0, &n, NULL) != VOUCH_E_BUFFER) return;
    int32_t *tokens = calloc(n, sizeof *tokens);
    if (tokens && !vouch_tokenize(model, text, strlen(text), 0, tokens, n, &n, NULL))
        (void)vouch_draft_memory_add(memory, r->session.scope, tokens, n, NULL);
    free(tokens);
}

server_job *server_prompt_chat(const server_request *r, server_fault *fault)
{
    server_job *job = server_request_job(r, 1, fault);
    size_t n = 0;
    int32_t *tokens = job ? conversation_tokens(r, &n, fault) : NULL;
    int32_t *owned = tokens ? server_job_allocate(job, n, sizeof *owned) : NULL;
    if (owned && n > 0) memcpy(owned, tokens, n * sizeof *owned);
    else if (tokens && !owned) server_fail_memory(fault);
    free(tokens);
    if (owned && server_request_prompt(r, job, 0, owned, n, conversation_param(r), fault) &&
        server_request_bind(r, job, server_thoughts_of(r->model->form, r->model->options->model, owned, n), fault)) {
        remember_answer(r);
        return job;
    }
    server_job_release(job);
    return NULL;
}

bool server_count_prompt(const server_request *r, size_t *n, server_fault *fault)
{
    int32_t *tokens = conversation_tokens(r, n, fault);
    free(tokens);
    return tokens != NULL;
}

/* ---------------------------------------------------------------- completions */

/* llama.cpp has another form of a text: {"prompt_string": "..."}. Beside it, pictures and sounds may stand. */
static const json_t *text_of(const server_request *r, const json_t *value)
{
    const bool is_object = r->where == SERVER_NATIVE && json_is_object(value) && json_object_size(value) == 1;
    return is_object ? json_object_get(value, "prompt_string") : value;
}

/* A prompt is a string or an array that has an id; several of them may stand in an array. */
static bool is_one_prompt(const server_request *r, const json_t *value)
{
    const json_t *element;
    size_t i;
    json_array_foreach(value, i, element)
        if (json_is_integer(element)) return true;
    return json_is_string(text_of(r, value));
}

/* Appends the tokens of a text. */
static bool text_read(const server_request *r, const json_t *string, const char *path, unsigned flags, server_text *out,
                      server_fault *fault)
{
    const vouch_model *model = r->model->options->model;
    const char *text = json_string_value(string);
    const size_t n_text = json_string_length(string);
    vouch_error err;
    size_t n = 0;
    vouch_status status = vouch_tokenize(model, text, n_text, flags, NULL, 0, &n, &err);
    if (status == VOUCH_E_BUFFER) {
        int32_t *tokens = server_text_grow(out, n * sizeof *tokens);
        if (!tokens) return server_fail_memory(fault);
        status = vouch_tokenize(model, text, n_text, flags, tokens, n, &n, &err);
    }
    return status == VOUCH_OK || server_fail_library(fault, path, &err);
}

/* ---------------------------------------------------------- text in the middle */

/* Other files: [{"filename": "a.c", "text": "..."}]. Allocates *files. */
static bool read_files(const server_request *r, vouch_infill_file **files, server_fault *fault)
{
    const json_t *extra = r->input_extra, *element;
    size_t i;
    if (extra && !json_is_array(extra))
        return server_fail_field(fault, "input_extra",
                                 "expected an array of {\"filename\": ..., \"text\": ...}, got %s",
                                 server_json_kind(extra));
    *files = calloc(json_array_size(extra) + 1, sizeof **files);
    if (!*files) return server_fail_memory(fault);
    json_array_foreach(extra, i, element) {
        const json_t *text = json_object_get(element, "text"), *name = json_object_get(element, "filename");
        if (!json_is_string(text) || (name && !json_is_string(name)))
            return server_fail_field(fault, "input_extra",
                                     "element %zu: expected a string `text`, and `filename` as a "
                                     "string or absent",
                                     i);
        (*files)[i] = (vouch_infill_file){json_string_value(name), json_string_value(text), json_string_length(text)};
    }
    return true;
}

/* Appends the prompt for a text between two others: `prompt` and `suffix` of completions, or input_prefix with `prompt`
 * and input_suffix of /infill. Only the latter is cut to fit, and names repository and file as llama.cpp does. */
static bool infill_read(const server_request *r, const json_t *prompt, const char *path, server_text *out,
                        server_fault *fault)
{
    const char *prefix = r->infills ? r->input_prefix : json_string_value(prompt);
    const char *suffix = r->infills ? r->input_suffix : r->suffix;
    vouch_infill_file *files = NULL;
    if (!json_is_string(prompt))
        return server_fail_field(fault, path, "expected a string: text in the middle needs a text before it");
    if (!prefix || !suffix)
        return server_fail_field(fault, prefix ? "input_suffix" : "input_prefix", "expected a string, got nothing");
    if (!read_files(r, &files, fault)) {
        free(files);
        return false;
    }
    const vouch_infill infill = {.prefix = prefix,
                                 .n_prefix = strlen(prefix),
                                 .suffix = suffix,
                                 .n_suffix = strlen(suffix),
                                 .begun = r->infills ? json_string_value(prompt) : NULL,
                                 .n_begun = r->infills ? json_string_length(prompt) : 0,
                                 .files = files,
                                 .n_files = json_array_size(r->input_extra),
                                 .repository = r->infills ? "myproject" : NULL,
                                 .filename = r->infills ? "filename" : NULL,
                                 .n_ctx = r->infills ? r->session.n_ctx : 0,
                                 .n_predict = r->session.max_tokens};
    const vouch_model *model = r->model->options->model;
    vouch_error err;
    size_t n = 0;
    int32_t *tokens = NULL;
    vouch_status status = vouch_tokenize_infill(model, &infill, NULL, 0, &n, &err);
    if (status == VOUCH_E_BUFFER && (tokens = server_text_grow(out, n * sizeof *tokens)))
        status = vouch_tokenize_infill(model, &infill, tokens, n, &n, &err);
    free(files);
    if (status == VOUCH_E_BUFFER) return server_fail_memory(fault);
    return status == VOUCH_OK || server_fail_library(fault, r->infills ? "input_prefix" : "suffix", &err);
}

/* Appends the tokens of one prompt. */
static bool prompt_read(const server_request *r, const json_t *value, const char *path, server_text *out,
                        server_fault *fault)
{
    const int32_t n_vocab = vouch_model_get_info(r->model->options->model)->n_vocab;
    const json_t *text = text_of(r, value);
    if (r->infills || (r->suffix && *r->suffix)) return infill_read(r, value, path, out, fault);
    if (json_is_string(text)) return text_read(r, text, path, VOUCH_TOKENIZE_SPECIAL | VOUCH_TOKENIZE_BOS, out, fault);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *id = json_array_get(value, i);
        const json_int_t token = json_integer_value(id);
        if (r->where == SERVER_NATIVE && json_is_string(id)) { /* llama.cpp's API allows texts between the ids */
            if (!text_read(r, id, path, VOUCH_TOKENIZE_SPECIAL, out, fault)) return false;
            continue;
        }
        if (!json_is_integer(id) || token < 0 || token >= n_vocab)
            return server_fail_token(fault, path, i, id, n_vocab);
        server_text_add(out, &(int32_t){(int32_t)token}, sizeof(int32_t));
    }
    return !out->failed || server_fail_memory(fault);
}

server_job *server_prompt_texts(const server_request *r, server_fault *fault)
{
    const bool is_one = json_is_object(r->prompt) || is_one_prompt(r, r->prompt);
    const size_t n = is_one ? 1 : json_array_size(r->prompt);
    if (r->echo && r->suffix && *r->suffix) {
        server_fail_field(fault, "suffix", "allowed only without echo");
        return NULL;
    }
    if (n == 0 || n > MOST_PROMPTS) {
        server_fail_field(fault, "prompt",
                          "expected a string, an array of token ids, or an array of at most %d of them", MOST_PROMPTS);
        return NULL;
    }
    server_job *job = server_request_job(r, (int32_t)n, fault);
    if (!job) return NULL;
    server_text all = {0};
    size_t ends[MOST_PROMPTS];
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        const json_t *value = is_one ? r->prompt : json_array_get(r->prompt, i);
        char path[32];
        snprintf(path, sizeof path, is_one ? "prompt" : "prompt[%zu]", i);
        if (json_array_size(json_object_get(value, "multimodal_data")) > 0)
            good = server_fail_field(fault, path, "multimodal_data: this server reads text only; leave it out");
        else if (!is_one_prompt(r, value))
            good = server_fail_field(fault, path, "expected a string or an array of token ids");
        else good = prompt_read(r, value, path, &all, fault);
        ends[i] = all.n / sizeof(int32_t);
    }
    int32_t *tokens = good ? server_job_allocate(job, ends[n - 1], sizeof *tokens) : NULL;
    if (tokens && all.n) memcpy(tokens, all.bytes, all.n);
    else if (good && !tokens) good = server_fail_memory(fault);
    for (size_t i = 0; i < n && good; i++) {
        const size_t from = i > 0 ? ends[i - 1] : 0;
        good = server_request_prompt(r, job, (int32_t)i, tokens + from, ends[i] - from, "prompt", fault);
    }
    server_text_free(&all);
    if (good) good = server_request_bind(r, job, SERVER_THOUGHTS_NONE, fault);
    if (good) return job;
    server_job_release(job);
    return NULL;
}
