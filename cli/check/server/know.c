/* SPDX-License-Identifier: MIT */
/*
 * Finds out what a server is (/v1/models says who owns the models) and what it takes, by asking for one token.
 *
 *   vouch       a request has "speculative"; samplers that change nothing are named
 *   llama.cpp   "speculative.n_max" (older builds) and "cache_prompt" in a request; the same names of samplers
 *   vLLM        "cache_salt" leaves out the prefix cache; no switch for speculation in a request
 *   others      what the OpenAI API has
 */
#include <stdlib.h>
#include <string.h>

#include "check/server/ask.h"

static void note(ask_server *s, const char *what, const char *why)
{
    const size_t used = strlen(s->notes);
    snprintf(s->notes + used, sizeof s->notes - used, "%s: %s\n", what, why);
}

/* `base` is s->base or s->plain_base. The message names the flag that gave this address. */
static vouch_status fail(vouch_error *err, const ask_server *s, const char *base, const char *why)
{
    err->code = VOUCH_E_IO;
    snprintf(err->message, sizeof err->message, "--%sserver %.160s: %.255s", base == s->plain_base ? "plain-" : "",
             base, why);
    return err->code;
}

/* GET as JSON, or NULL with the reason in `why`. */
static vouch_status get(ask_check *c, const char *base, const char *path, json_t **value, char why[ASK_WHY_SIZE],
                        vouch_error *err)
{
    char address[ASK_MOST_ADDRESS + 32];
    ask_reply reply;
    snprintf(address, sizeof address, "%s%s", base, path);
    const vouch_status status = ask_client_ask(c->client, &(ask_request){address, NULL}, &reply, 1, err);
    *value = NULL;
    if (status) return status;
    snprintf(why, ASK_WHY_SIZE, "%s", reply.why);
    if (!*why && reply.status != 200)
        snprintf(why, ASK_WHY_SIZE, "%s answers %ld%s", path, reply.status,
                 reply.status == 401 || reply.status == 403 ? ": give a key with --api-key or OPENAI_API_KEY" : "");
    if (!*why) *value = json_loadb(reply.body, reply.n, 0, NULL);
    if (*value && !json_is_object(*value)) {
        json_decref(*value);
        *value = NULL;
    }
    if (!*why && !*value) snprintf(why, ASK_WHY_SIZE, "the answer of %s is no JSON object", path);
    ask_replies_free(&reply, 1);
    return VOUCH_OK;
}

/* ------------------------------------------------------------------- what it is */

static void models_read(ask_server *s, json_t *models, const char *wanted)
{
    json_t *data = json_object_get(models, "data"), *first = json_array_get(data, 0);
    const char *owner = json_string_value(json_object_get(first, "owned_by"));
    const char *id = json_string_value(json_object_get(first, "id"));
    s->kind = !owner                           ? ASK_OTHER
              : strcmp(owner, "vouch") == 0    ? ASK_VOUCH
              : strcmp(owner, "llamacpp") == 0 ? ASK_LLAMA
              : strcmp(owner, "vllm") == 0     ? ASK_VLLM
                                               : ASK_OTHER;
    snprintf(s->model, sizeof s->model, "%s", wanted ? wanted : id ? id : "");
}

/* "vouch 0.1.0", "llama.cpp b6210-...": as well as the server tells. */
static vouch_status version_read(ask_check *c, vouch_error *err)
{
    static const char *const names[] = {"a server of another kind", "vouch", "llama.cpp", "vLLM"};
    ask_server *s = &c->server;
    char why[ASK_WHY_SIZE];
    json_t *value;
    const bool is_llama = s->kind == ASK_LLAMA;
    const vouch_status status = get(c, s->base, is_llama ? "/props" : "/version", &value, why, err);
    if (status) return status;
    const char *version = json_string_value(json_object_get(value, is_llama ? "build_info" : "version"));
    snprintf(s->version, sizeof s->version, "%s%s%.60s", names[s->kind], version ? " " : "", version ? version : "");
    json_decref(value);
    return VOUCH_OK;
}

/* Fields that every request gets, and those that switch speculation and the prefix cache. */
static void fields_set(ask_server *s)
{
    /* llama.cpp tells nothing where it drafted nothing; of others, the first answer that tells shows it (ask_all). */
    s->tells_guesses = s->kind == ASK_VOUCH || s->kind == ASK_LLAMA;
    if (s->kind == ASK_VOUCH || s->kind == ASK_LLAMA)
        s->fields = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "top_k", 0, "min_p", 0, "typical_p", 1,
                              "repeat_penalty", 1, "presence_penalty", 0, "frequency_penalty", 0, "dry_multiplier", 0);
    if (s->kind == ASK_VLLM) s->fields = json_pack("{s:i, s:i, s:i}", "top_k", -1, "min_p", 0, "repetition_penalty", 1);
    if (s->kind == ASK_LLAMA) {
        s->cached = json_pack("{s:b}", "cache_prompt", 1);
        s->uncached = json_pack("{s:b}", "cache_prompt", 0);
    }
}

static void config_add(ask_server *s, const char *name, const char *base, json_t *fields)
{
    s->configs[s->n_configs++] = (ask_config){name, base, fields};
}

static void configs_set(ask_server *s)
{
    s->has_plain = *s->plain_base || s->kind == ASK_VOUCH || s->kind == ASK_LLAMA;
    if (*s->plain_base) config_add(s, "plain", s->plain_base, json_object());
    else if (s->kind == ASK_VOUCH)
        config_add(s, "plain", s->base, json_pack("{s:{s:s}}", "speculative", "drafters", "none"));
    else if (s->kind == ASK_LLAMA) config_add(s, "plain", s->base, json_pack("{s:i}", "speculative.n_max", 0));
    config_add(s, s->has_plain ? "with speculation" : "as the server is", s->base, json_object());
    if (s->kind == ASK_VOUCH) /* pace drafts where it pays; a fixed number is drafted in any case */
        config_add(s, "with 4 guesses a cycle", s->base,
                   json_pack("{s:{s:s, s:i}}", "speculative", "drafters", "auto", "k", 4));
}

/* A server that drafts in spite of its switch has none: newer llama.cpp ignores the field. A plain server must answer,
 * and draft nothing. */
static vouch_status switch_try(ask_check *c, vouch_error *err)
{
    enum { TOKENS = 48 };
    ask_server *s = &c->server;
    ask_answer answer;
    if (!s->has_plain) return VOUCH_OK;
    ask_question q = ask_greedy(c, ask_first_api(s), &s->configs[0], ask_prompt(0), TOKENS, false);
    const vouch_status status = ask_all(c, &q, &answer, 1, err);
    ask_free(&q);
    if (status) return status;
    const bool drafts = answer.n_drafted > 0;
    if (*s->plain_base && (drafts || *answer.error)) {
        const vouch_status failed =
            fail(err, s, s->plain_base, drafts ? "drafts tokens; start it without speculation" : answer.error);
        ask_answer_free(&answer);
        return failed;
    }
    if (drafts) {
        note(s, "speculation off", "the server drafts in spite of its switch");
        s->has_plain = false;
        json_decref(s->configs[0].fields);
        memmove(s->configs, s->configs + 1, --s->n_configs * sizeof *s->configs);
        s->configs[0].name = "as the server is";
    }
    ask_answer_free(&answer);
    return VOUCH_OK;
}

/* --------------------------------------------------------------- what it takes */

/* Asks for one token, with n_top likeliest ones; -1: without log probabilities. */
static vouch_status probe(ask_check *c, bool is_chat, int n_top, ask_answer *answer, vouch_error *err)
{
    c->server.n_top[is_chat] = n_top;
    const ask_config *config = &c->server.configs[c->server.n_configs - 1];
    ask_question q = ask_greedy(c, is_chat, config, ask_prompt(0), 1, n_top >= 0);
    const vouch_status status = ask_all(c, &q, answer, 1, err);
    ask_free(&q);
    return status;
}

static vouch_status api_know(ask_check *c, bool is_chat, char why[ASK_WHY_SIZE], vouch_error *err)
{
    static const int tops[] = {20, 10, 5, 0};
    ask_server *s = &c->server;
    const char *path = is_chat ? "/v1/chat/completions" : "/v1/completions";
    ask_answer answer;
    vouch_status status = probe(c, is_chat, -1, &answer, err);
    if (status) return status;
    s->has[is_chat] = !*answer.error;
    snprintf(why, ASK_WHY_SIZE, "%s", answer.error);
    if (*answer.error) note(s, path, answer.error);
    ask_answer_free(&answer);
    if (!s->has[is_chat]) return VOUCH_OK;
    for (size_t i = 0; i < sizeof tops / sizeof *tops && !status; i++) {
        status = probe(c, is_chat, tops[i], &answer, err);
        if (status) break;
        const bool tells = !*answer.error && json_array_size(answer.tokens) > 0;
        ask_answer_free(&answer);
        if (tells) return VOUCH_OK;
    }
    s->n_top[is_chat] = -1;
    if (!status) note(s, path, "tells no log probabilities");
    return status;
}

vouch_status ask_know(ask_check *c, vouch_error *err)
{
    ask_server *s = &c->server;
    char why[ASK_WHY_SIZE], why_chat[ASK_WHY_SIZE] = "";
    json_t *models;
    vouch_status status = get(c, s->base, "/v1/models", &models, why, err);
    if (status) return status;
    if (!models) return fail(err, s, s->base, why);
    models_read(s, models, c->options->check.server.model);
    json_decref(models);
    if (!*s->model) return fail(err, s, s->base, "/v1/models lists no model; name one with --server-model");
    status = version_read(c, err);
    if (status) return status;
    fields_set(s);
    configs_set(s);
    s->n_top[0] = s->n_top[1] = -1;
    status = api_know(c, false, why, err);
    if (!status && !c->is_gone) status = api_know(c, true, why_chat, err);
    if (status) return status;
    if (!s->has[0] && !s->has[1]) return fail(err, s, s->base, *why ? why : why_chat);
    if (*s->plain_base) {
        status = get(c, s->plain_base, "/v1/models", &models, why, err);
        if (!status && !models) status = fail(err, s, s->plain_base, why);
        json_decref(models);
    }
    if (!status) status = switch_try(c, err);
    c->n_drafted = c->n_accepted = 0;
    return status;
}

void ask_know_free(ask_server *s)
{
    for (size_t i = 0; i < s->n_configs; i++) json_decref(s->configs[i].fields);
    json_decref(s->fields);
    json_decref(s->cached);
    json_decref(s->uncached);
}
