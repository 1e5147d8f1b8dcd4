/* SPDX-License-Identifier: MIT */
/*
 * The fields of a request about thoughts, in the words of five APIs:
 *
 *   reasoning_effort                                  OpenAI, chat
 *   reasoning: {effort, max_tokens, enabled}          OpenAI's responses, OpenRouter
 *   thinking: {type, budget_tokens}                   Anthropic; chat APIs of other vendors
 *   thinking_budget_tokens, reasoning_budget_tokens   llama.cpp
 *   enable_thinking, thinking_budget                  Qwen
 *
 *   chat_template_kwargs: {enable_thinking, thinking} vLLM
 *
 * All become two things: variables that chat templates know, and the session's budget, which is enforced whatever the
 * template does. A variable of chat_template_kwargs wins over one that is derived here.
 */
#include <string.h>

#include "request/request.h"

/* The request's wish; a number of -1: none. */
typedef struct wish {
    const char *effort, *param; /* NULL: nothing; the field that has it */
    int32_t thinks;             /* 0: off, 1: on */
    int32_t budget;
} wish;

typedef struct reasoning {
    const char *effort;
    int32_t max_tokens;
    json_t *enabled;
    bool exclude;
} reasoning;

static bool read_reasoning(server_request *r, wish *w, server_fault *fault)
{
    static const server_field fields[] = {
        {"effort", 1, SERVER_FIELD_STRING, offsetof(reasoning, effort), NULL},
        {"max_tokens", 1, SERVER_FIELD_INT, offsetof(reasoning, max_tokens), "[0, 2147483647]"},
        {"enabled", 1, SERVER_FIELD_VALUE, offsetof(reasoning, enabled), NULL},
        {"exclude", 1, SERVER_FIELD_BOOL, offsetof(reasoning, exclude), NULL},
        {"summary", 1, SERVER_FIELD_IGNORED, 0, NULL},
        {"generate_summary", 1, SERVER_FIELD_IGNORED, 0, NULL},
        {"context", 1, SERVER_FIELD_IGNORED, 0, NULL},
        {"mode", 1, SERVER_FIELD_IGNORED, 0, NULL},
    };
    static const server_field_table table = {fields, sizeof fields / sizeof *fields};
    reasoning given = {.max_tokens = -1};
    if (!r->reasoning) return true;
    if (!server_fields_read(r->reasoning, "reasoning", &table, 1, &given, fault)) return false;
    if (given.enabled && !json_is_boolean(given.enabled))
        return server_fail_field(fault, "reasoning.enabled", "expected true or false, got %s",
                                 server_json_kind(given.enabled));
    if (given.enabled) w->thinks = json_is_true(given.enabled);
    if (given.effort) w->effort = given.effort, w->param = "reasoning.effort";
    if (given.max_tokens >= 0) w->budget = given.max_tokens;
    r->hides_thoughts = given.exclude;
    return true;
}

typedef struct thinking {
    const char *type;
    int32_t budget_tokens;
} thinking;

static bool read_thinking(const server_request *r, wish *w, server_fault *fault)
{
    static const server_field fields[] = {
        {"type", 1, SERVER_FIELD_STRING, offsetof(thinking, type), NULL},
        {"budget_tokens", 1, SERVER_FIELD_INT, offsetof(thinking, budget_tokens), "[0, 2147483647]"},
        {"display", 1, SERVER_FIELD_IGNORED, 0, NULL},
        {"clear_thinking", 1, SERVER_FIELD_IGNORED, 0, NULL},
    };
    static const server_field_table table = {fields, sizeof fields / sizeof *fields};
    thinking given = {.type = "", .budget_tokens = -1};
    if (!r->thinking) return true;
    if (!server_fields_read(r->thinking, "thinking", &table, 1, &given, fault)) return false;
    const bool is_on = strcmp(given.type, "enabled") == 0 || strcmp(given.type, "adaptive") == 0;
    if (!is_on && strcmp(given.type, "disabled") != 0)
        return server_fail_field(fault, "thinking.type", "'%.60s': expected enabled, adaptive or disabled", given.type);
    w->thinks = is_on;
    if (is_on && given.budget_tokens >= 0) w->budget = given.budget_tokens;
    return true;
}

static bool read_effort(const char *effort, const char *param, server_fault *fault)
{
    static const char *const words[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(effort, words[i]) == 0) return true;
    return server_fail_field(fault, param, "'%.60s': expected none, minimal, low, medium, high, xhigh or max", effort);
}

/* Sets a variable that the client hasn't set. Takes the value. */
static void set_default(json_t *variables, const char *name, json_t *value)
{
    if (json_object_get(variables, name)) json_decref(value);
    else json_object_set_new(variables, name, value);
}

static void read_switch(const json_t *value, wish *w)
{
    if (json_is_boolean(value)) w->thinks = json_is_true(value);
}

bool server_read_thinking(server_request *r, server_fault *fault)
{
    wish w = {.effort = r->reasoning_effort, .param = "reasoning_effort", .thinks = -1, .budget = -1};
    read_switch(json_object_get(r->template_kwargs, "thinking"), &w);
    read_switch(json_object_get(r->template_kwargs, "enable_thinking"), &w);
    read_switch(json_object_get(r->document, "enable_thinking"), &w);
    if (!read_reasoning(r, &w, fault) || !read_thinking(r, &w, fault)) return false;
    if (w.effort && !read_effort(w.effort, w.param, fault)) return false;
    if (w.effort && strcmp(w.effort, "none") == 0) w.thinks = 0;
    if (w.budget >= 0) r->session.thought_budget = w.budget;
    if (w.thinks == 0) r->session.thought_budget = 0;
    if (r->grammar) r->session.thought_budget = -1; /* it binds the answer from its first token on */
    if (r->session.thought_budget == 0) w.thinks = 0;
    r->reasoning_effort = w.effort;
    if (!r->messages || (w.thinks < 0 && r->session.thought_budget < 0)) return true;
    if (r->template_kwargs && !json_is_object(r->template_kwargs)) return true; /* refused later, by its name */
    if (!r->template_kwargs) {
        r->template_kwargs = json_object();
        json_object_set_new(r->document, "chat_template_kwargs", r->template_kwargs);
    }
    if (w.thinks >= 0) set_default(r->template_kwargs, "enable_thinking", json_boolean(w.thinks));
    if (w.thinks >= 0) set_default(r->template_kwargs, "thinking", json_boolean(w.thinks));
    if (r->session.thought_budget >= 0)
        set_default(r->template_kwargs, "thinking_budget", json_integer(r->session.thought_budget));
    return true;
}
