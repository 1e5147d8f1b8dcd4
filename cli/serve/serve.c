/* SPDX-License-Identifier: MIT */
/* vouch serve: opens the models and the server, and waits for the signal that ends it. */
#include <string.h>

#include "cli.h"

/* "https://host:port" as browsers write it, "localhost" or "*". */
static bool is_origin(const char *text)
{
    const char *host = strstr(text, "://");
    if (strcmp(text, "*") == 0 || strcmp(text, "localhost") == 0 || strcmp(text, "null") == 0) return true;
    return host && host > text && host[3] && !strpbrk(host + 3, "/?# ");
}

/* The letters of a metric's name as Prometheus has them. */
static bool is_metric_name(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789";
    return strspn(name, first) > 0 && name[strspn(name, rest)] == 0;
}

bool cli_serve_check(cli_options *options, cli_given given)
{
    if (!is_metric_name(options->serve.metrics_prefix)) {
        tool_complain("--metrics-prefix '%s': expected letters, digits, _ and :, and no digit first, such as vllm",
                      options->serve.metrics_prefix);
        return false;
    }
    for (size_t i = 0; i < options->serve.origins.n; i++) {
        if (is_origin(options->serve.origins.items[i])) continue;
        tool_complain("--cors '%s': expected an origin such as https://chat.example or http://localhost:3000, "
                      "localhost or *",
                      options->serve.origins.items[i]);
        return false;
    }
    if (options->serve.admin_key && (!*options->serve.admin_key || options->serve.admin_key_file)) {
        tool_complain(*options->serve.admin_key ? "--admin-key and --admin-key-file exclude each other: leave out one"
                                                : "--admin-key '': expected a key");
        return false;
    }
    if (!options->serve.tls_cert != !options->serve.tls_key) {
        tool_complain("--%s needs --%s, too", options->serve.tls_cert ? "tls-cert" : "tls-key",
                      options->serve.tls_cert ? "tls-key" : "tls-cert");
        return false;
    }
    if (options->draft_model && options->models.n > 1) {
        tool_complain("--draft-model drafts for a single model, but --model is given %zu times; leave out the others",
                      options->models.n);
        return false;
    }
    return cli_check_asking(options, given) && cli_check_speculation(options, given);
}

#ifndef VOUCH_SERVER

int cli_serve_run(const cli_options *options)
{
    (void)options;
    tool_complain("this vouch was built without its server: install libmicrohttpd-dev and build with SERVER=1");
    return CLI_FAILED;
}

#else

#include <stdlib.h>
#include <time.h>

#include "os/os.h"
#include "tool/file.h"
#include "options/recommended.h"
#include "serve/scopes.h"
#include "server.h"

typedef struct serving {
    const cli_options *options;
    size_t n_models, n_open;
    cli_options *model_options;   /* [n_models] the command's options, with the path of each model */
    cli_engine *engines;          /* [n_open] */
    server_model_options *models; /* [n_models] */
    char **names;                 /* [n_models] */
    char *key_text, *admin_text, *certificate, *private_key;
    const char **keys; /* [n_keys] */
    size_t n_keys;
    uint64_t *scopes;          /* [n_keys]; NULL: all keys share one */
    vouch_prompt_cache *cache; /* NULL: none */
    server *server;
} serving;

/* -------------------------------------------------------------------- models */

/* The name of a model given as a path: its last part without ".gguf". */
static char *name_of_path(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    size_t from = n;
    while (from > 0 && path[from - 1] != '/') from--;
    if (n - from > 5 && strncmp(path + n - 5, ".gguf", 5) == 0) n -= 5;
    return strndup(path + from, n - from);
}

/* Splits NAME=FILE. A word without "=" is a path. */
static int model_name(serving *s, size_t i, const char *text)
{
    const char *equal = strchr(text, '='), *slash = strchr(text, '/');
    const bool has_name = equal && (!slash || equal < slash);
    s->names[i] = has_name ? strndup(text, (size_t)(equal - text)) : name_of_path(text);
    s->model_options[i] = *s->options;
    s->model_options[i].model = has_name ? equal + 1 : text;
    for (size_t j = 0; j < i; j++)
        if (s->names[i] && strcmp(s->names[i], s->names[j]) == 0) {
            tool_complain("--model '%s': the name '%s' is given twice; choose another, as in --model NAME=FILE",
                          s->model_options[i].model, s->names[i]);
            return CLI_WRONG_USAGE;
        }
    return CLI_DONE;
}

static int model_open(serving *s, size_t i)
{
    vouch_error err;
    cli_engine *engine = &s->engines[s->n_open++];
    const int status = cli_engine_open(engine, &s->model_options[i]);
    if (status) return status;
    cli_sampling_take(&s->model_options[i], engine->model);
    server_model_options *m = &s->models[i];
    *m = (server_model_options){.name = s->names[i],
                                .path = s->model_options[i].model,
                                .model = engine->model,
                                .draft = engine->draft,
                                .pooling = cli_engine_pooling(engine),
                                .session = s->model_options[i].session};
    cli_engine_check_think(engine);
    m->session.n_ctx = cli_engine_context(engine);
    cli_engine_speculate(engine, &m->session.speculation);
    if (vouch_session_check(m->model, &m->session, &err)) {
        tool_complain("%s: %s", m->path, err.message);
        return CLI_WRONG_USAGE;
    }
    return CLI_DONE;
}

static int models_open(serving *s)
{
    const tool_texts *given = &s->options->models;
    s->n_models = given->n > 0 ? given->n : 1;
    s->model_options = calloc(s->n_models, sizeof *s->model_options);
    s->engines = calloc(s->n_models, sizeof *s->engines);
    s->models = calloc(s->n_models, sizeof *s->models);
    s->names = calloc(s->n_models, sizeof *s->names);
    int status = s->model_options && s->engines && s->models && s->names ? CLI_DONE : CLI_FAILED;
    if (status) tool_complain("not enough memory");
    for (size_t i = 0; i < s->n_models && !status; i++)
        status = model_name(s, i, given->n > 0 ? given->items[i] : s->options->model);
    for (size_t i = 0; i < s->n_models && !status; i++) status = model_open(s, i);
    return status;
}

/* ---------------------------------------------------------------------- keys */

static int text_read(const char *flag, const char *path, char **text)
{
    size_t n;
    vouch_error err;
    if (path && tool_file_read(path, text, &n, &err)) return cli_flag_refuse(flag, &err);
    return CLI_DONE;
}

static int admin_key_read(serving *s)
{
    const char *path = s->options->serve.admin_key_file;
    const int status = text_read("admin-key-file", path, &s->admin_text);
    if (status || !path) return status;
    s->admin_text[strcspn(s->admin_text, "\r\n")] = '\0';
    if (*s->admin_text) return CLI_DONE;
    tool_complain("--admin-key-file %s: its first line is empty; expected the key", path);
    return CLI_FAILED;
}

/* Keys of the command line, and the lines of --api-key-file. */
static int keys_read(serving *s)
{
    const cli_options *o = s->options;
    size_t n_lines = 0;
    int status = text_read("api-key-file", o->serve.key_file, &s->key_text);
    for (const char *at = s->key_text; at && *at; at++) n_lines += *at == '\n' || *at == '\r';
    s->keys = calloc(o->serve.keys.n + n_lines + 1, sizeof *s->keys);
    if (!s->keys) {
        tool_complain("not enough memory for the keys");
        return CLI_FAILED;
    }
    for (size_t i = 0; i < o->serve.keys.n; i++) s->keys[s->n_keys++] = o->serve.keys.items[i];
    char *rest = s->key_text;
    for (char *line; !status && rest && (line = strtok_r(rest, "\r\n", &rest));) s->keys[s->n_keys++] = line;
    if (!status && o->serve.key_file && s->n_keys == o->serve.keys.n) {
        tool_complain("--api-key-file %s: the file has no key; expected one a line", o->serve.key_file);
        status = CLI_FAILED;
    }
    if (!status) status = admin_key_read(s);
    if (!status) status = text_read("tls-cert", o->serve.tls_cert, &s->certificate);
    return status ? status : text_read("tls-key", o->serve.tls_key, &s->private_key);
}

/* Each key has a scope of its own in the draft memory and the prompt cache, unless the operator shares one. */
static int scopes_open(serving *s)
{
    const cli_options *o = s->options;
    const char *flag = o->draft_memory ? "draft-memory" : "prompt-cache";
    const char *folder = o->draft_memory ? o->draft_memory : o->prompt_cache;
    return o->serve.shares_memory ? CLI_DONE : cli_scopes_open(&s->scopes, s->keys, s->n_keys, flag, folder);
}

static bool is_loopback(const char *host)
{
    const bool is_v4 = strncmp(host, "127.", 4) == 0 && host[strspn(host, "0123456789.")] == 0;
    return is_v4 || strcmp(host, "::1") == 0 || strcmp(host, "localhost") == 0;
}

/* An open address without a key lets everyone in the network use the machine. */
static int check_host(const serving *s)
{
    if (s->n_keys > 0 || s->options->serve.no_key || is_loopback(s->options->serve.host)) return CLI_DONE;
    tool_complain("--host %s: other machines reach this address; add --api-key-file FILE, or --no-key to let everyone "
                  "in",
                  s->options->serve.host);
    return CLI_WRONG_USAGE;
}

/* -------------------------------------------------------------------- running */

/* The first request to end lets running answers end, the second doesn't. */
static void wait_for_end(const serving *s)
{
    enum { MOMENT = 20 /* milliseconds */ };
    vouch_os_end_wait(-1);
    server_drain(s->server);
    while (server_is_busy(s->server) && !vouch_os_end_wait(MOMENT)) continue;
}

static int serve(serving *s)
{
    const cli_options *o = s->options;
    vouch_error err;
    vouch_os_end_collect();
    const server_options options = {.host = o->serve.host,
                                    .port = o->serve.port,
                                    .keys = s->keys,
                                    .n_keys = s->n_keys,
                                    .scopes = s->scopes,
                                    .admin_key = s->admin_text ? s->admin_text : o->serve.admin_key,
                                    .origins = o->serve.origins.items,
                                    .n_origins = o->serve.origins.n,
                                    .certificate = s->certificate,
                                    .private_key = s->private_key,
                                    .models = s->models,
                                    .n_models = s->n_models,
                                    .engine = {.n_sessions = o->n_parallel,
                                               .n_threads = o->session.n_threads,
                                               .prefill_chunk = o->session.prefill_chunk,
                                               .kv_type = o->session.kv_type,
                                               .prompt_cache = s->cache,
                                               .inter_token_seconds = 1e-3 * o->serve.inter_token_ms},
                                    .n_queue = o->serve.n_queue,
                                    .metrics_prefix = o->serve.metrics_prefix,
                                    .ping_seconds = o->serve.ping,
                                    .timeout_seconds = o->serve.timeout};
    const vouch_status status = server_open(&s->server, &options, &err);
    if (status) {
        cli_engine_fail(&err);
        return status == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    for (size_t i = 0; i < s->n_models; i++)
        fprintf(stderr, "%s: weights %.0f MB, cache and passes %.0f MB; context %d, %d answers at once\n", s->names[i],
                (double)vouch_model_get_info(s->models[i].model)->packed_bytes * 1e-6,
                (double)server_memory(s->server, i) * 1e-6, s->models[i].session.n_ctx, o->n_parallel);
    const bool is_v6 = strchr(o->serve.host, ':') != NULL;
    printf("listening on http%s://%s%s%s:%d\n", s->certificate ? "s" : "", is_v6 ? "[" : "", o->serve.host,
           is_v6 ? "]" : "", server_port(s->server));
    /* A port that the user chose is known without the line. */
    const bool is_lost = tool_print("", 0, &err) != VOUCH_OK && o->serve.port == 0;
    if (!is_lost) wait_for_end(s);
    server_close(s->server);
    return is_lost ? cli_engine_fail(&err) : CLI_DONE;
}

/* A server gives thoughts apart from the answer, and each client decides what to show. */
static int check_think(const cli_options *options)
{
    if (options->think != CLI_THINK_HIDE) return CLI_DONE;
    tool_complain("--think hide: answers of a server have their thoughts in reasoning_content; expected auto, on or "
                  "off");
    return CLI_WRONG_USAGE;
}

int cli_serve_run(const cli_options *options)
{
    serving s = {.options = options};
    vouch_os_service_start();
    int status = check_think(options);
    if (!status) status = keys_read(&s);
    if (!status) status = check_host(&s);
    if (!status) status = scopes_open(&s);
    if (!status) status = cli_prompt_cache_open(&s.cache, options);
    if (!status) status = models_open(&s);
    if (!status) status = serve(&s);
    for (size_t i = 0; i < s.n_open; i++) cli_engine_close(&s.engines[i]);
    cli_prompt_cache_check(s.cache);
    vouch_prompt_cache_close(s.cache);
    for (size_t i = 0; s.names && i < s.n_models; i++) free(s.names[i]);
    free(s.names);
    free(s.models);
    free(s.engines);
    free(s.model_options);
    free(s.keys);
    free(s.scopes);
    free(s.key_text);
    free(s.admin_text);
    free(s.certificate);
    free(s.private_key);
    return status;
}

#endif
