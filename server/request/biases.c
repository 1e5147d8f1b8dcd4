/* SPDX-License-Identifier: MIT */
/*
 * logit_bias. The OpenAI API names tokens by their ids: {"15043": -100, ...}. /completion also takes pairs, [[15043,
 * -100], ...], in which false bans the token, and texts instead of ids: each token of the text gets the bias.
 */
#include "request/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BIASES = 1024 };

/* The id that a key of the object spells; -1: it spells none. */
static int64_t spelled_id(const char *key)
{
    char *end;
    const long long id = strtoll(key, &end, 10);
    return *key < '0' || *key > '9' || *end ? -1 : id;
}

/* Appends the tokens of a text to the job's biases. */
static bool add_text(const server_request *r, server_job *job, vouch_logit_bias *biases, const char *path,
                     const char *text, size_t n_text, server_fault *fault)
{
    size_t *n = &job->options.sampling.n_bias, n_tokens = 0;
    int32_t tokens[MOST_BIASES];
    vouch_error err;
    const vouch_status status =
        vouch_tokenize(r->model->options->model, text, n_text, 0, tokens, MOST_BIASES - *n, &n_tokens, &err);
    if (status == VOUCH_E_BUFFER)
        return server_fail_field(fault, path, "the texts have too many tokens; at most %d tokens can have a bias",
                                 MOST_BIASES);
    if (status) return server_fail_library(fault, path, &err);
    for (size_t i = 0; i < n_tokens; i++) biases[(*n)++].token = tokens[i];
    return true;
}

/* Appends one entry: the token with this id, or where the id is -1 and the request may name texts, a text's tokens. */
static bool add_entry(const server_request *r, server_job *job, vouch_logit_bias *biases, const char *path, int64_t id,
                      const char *text, size_t n_text, const json_t *value, server_fault *fault)
{
    const int32_t n_vocab = vouch_model_get_info(r->model->options->model)->n_vocab;
    const bool takes_texts = r->where == SERVER_NATIVE, is_ban = json_is_false(value);
    const double bias = json_number_value(value);
    size_t *n = &job->options.sampling.n_bias, i = *n;
    if (!is_ban && !(json_is_number(value) && fabs(bias) <= 1e6))
        return server_fail_field(fault, path, "expected a number in [-1e6, 1e6]");
    if (id < 0 && n_text > 0 && takes_texts) {
        if (!add_text(r, job, biases, path, text, n_text, fault)) return false;
    } else if (id < 0 || id >= n_vocab) {
        return server_fail_field(fault, path, "expected the id of a token, 0 to %d%s", n_vocab - 1,
                                 takes_texts ? ", or a text" : "");
    } else if (*n == MOST_BIASES) {
        return server_fail_field(fault, path, "at most %d tokens can have a bias", MOST_BIASES);
    } else {
        biases[(*n)++].token = (int32_t)id;
    }
    /* The OpenAI API bans a token with -100. */
    for (; i < *n; i++) biases[i].bias = is_ban || bias <= -100 ? -INFINITY : (float)bias;
    return true;
}

bool server_request_biases(const server_request *r, server_job *job, server_fault *fault)
{
    json_t *given = r->logit_bias, *value;
    const char *key;
    char path[96];
    size_t i;
    if (!given) return true;
    if (!json_is_object(given) && !(json_is_array(given) && r->where == SERVER_NATIVE))
        return server_fail_field(fault, "logit_bias", "expected an object, got %s", server_json_kind(given));
    vouch_logit_bias *biases = server_job_allocate(job, MOST_BIASES, sizeof *biases);
    if (!biases) return server_fail_memory(fault);
    job->options.sampling.bias = biases;
    json_object_foreach(given, key, value) {
        snprintf(path, sizeof path, "logit_bias.%.60s", key);
        if (!add_entry(r, job, biases, path, spelled_id(key), key, strlen(key), value, fault)) return false;
    }
    json_array_foreach(given, i, value) {
        const json_t *token = json_array_get(value, 0);
        snprintf(path, sizeof path, "logit_bias[%zu]", i);
        if (!add_entry(r, job, biases, path, json_is_integer(token) ? json_integer_value(token) : -1,
                       json_string_value(token), json_string_length(token), json_array_get(value, 1), fault))
            return false;
    }
    return true;
}
