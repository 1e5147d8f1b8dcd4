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
    if (options->loras.n > 0 && (options->models.n > 1 || options->serve.models_folder)) {
        tool_complain("--lora is made for a single model, but several are served; leave out the others");
        return false;
    }
    if (options->draft_model && options->serve.models_folder) {
        tool_complain("--draft-model drafts for a single model, and --models serves many; leave out one of them");
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

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "os/os.h"
#include "tool/file.h"
#include "serve/models.h"
#include "serve/scopes.h"

typedef struct serving {
    const cli_options *options;
    cli_served_models models;
    char *key_text, *admin_text, *certificate, *private_key;
    const char **keys; /* [n_keys] */
    size_t n_keys;
    uint64_t *scopes;          /* [n_keys]; NULL: all keys share one */
    vouch_prompt_cache *cache; /* NULL: none */
    int64_t memory_left;       /* before the models were opened; -1: not known */
    server *server;
} serving;

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
    const char *flag = o->draft_memory ? "draft-memory" : o->prompt_cache ? "prompt-cache" : "saved-slots";
    const char *folder = o->draft_memory ? o->draft_memory : o->prompt_cache ? o->prompt_cache : o->serve.slots_folder;
    return o->serve.shares_memory ? CLI_DONE : cli_scopes_open(&s->scopes, s->keys, s->n_keys, flag, folder);
}

static int slots_open(const serving *s)
{
    const char *folder = s->options->serve.slots_folder;
    vouch_os_info info;
    if (!folder || vouch_os_folder_make(folder, 0700)) return CLI_DONE;
    const int code = errno;
    if (code == EEXIST && vouch_os_info_of(folder, &info) && info.kind == VOUCH_OS_FOLDER) return CLI_DONE;
    tool_complain("--saved-slots %s: %s; expected a folder, or the name of a new one", folder, strerror(code));
    return CLI_WRONG_USAGE;
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

/* Bytes of all models together; 0: no bound. Models that come on demand leave a fifth of the memory that was free
 * before any model was opened. */
static int64_t most_memory(const serving *s)
{
    const cli_options *o = s->options;
    if (o->max_memory > 0 || !o->serve.models_folder) return o->max_memory;
    return s->memory_left > 0 ? s->memory_left / 5 * 4 : 0;
}

static void tell_models(const serving *s, int64_t most)
{
    size_t n_on_demand = 0;
    for (size_t i = 0; i < s->models.n; i++) {
        const server_model_options *m = &s->models.options[i];
        n_on_demand += m->is_on_demand;
        if (m->is_on_demand) continue;
        fprintf(stderr, "%s: weights %.0f MB, cache and passes %.0f MB; context %d, %d answers at once\n", m->name,
                (double)vouch_model_get_info(m->model)->packed_bytes * 1e-6, (double)server_memory(s->server, i) * 1e-6,
                m->session.n_ctx, s->options->n_parallel);
    }
    if (n_on_demand == 0) return;
    fprintf(stderr, "%zu models of %s come on demand", n_on_demand, s->options->serve.models_folder);
    if (most > 0) fprintf(stderr, ", within %.0f MB together", (double)most * 1e-6);
    fprintf(stderr, "\n");
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
                                    .models = s->models.options,
                                    .n_models = s->models.n,
                                    .supply = cli_served_supply(&s->models),
                                    .most_memory = most_memory(s),
                                    .idle_seconds = o->serve.idle > 0 ? o->serve.idle : INFINITY,
                                    .slots_folder = o->serve.slots_folder,
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
    tell_models(s, options.most_memory);
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
    s.memory_left = vouch_os_memory_left();
    int status = check_think(options);
    if (!status) status = keys_read(&s);
    if (!status) status = check_host(&s);
    if (!status) status = slots_open(&s);
    if (!status) status = scopes_open(&s);
    if (!status) status = cli_prompt_cache_open(&s.cache, options);
    if (!status) status = cli_served_open(&s.models, options);
    if (!status) status = serve(&s);
    cli_served_close(&s.models);
    cli_prompt_cache_check(s.cache);
    vouch_prompt_cache_close(s.cache);
    free(s.keys);
    free(s.scopes);
    free(s.key_text);
    free(s.admin_text);
    free(s.certificate);
    free(s.private_key);
    return status;
}

#endif
