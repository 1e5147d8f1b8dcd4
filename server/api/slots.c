/* SPDX-License-Identifier: MIT */
#include "api/slots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "request/request.h"
#include "tool/json.h"
#include "tool/term.h"

enum { MOST_NAME = 200 };

/* What a request wants of a slot, and what came of it. */
typedef struct change {
    server_model *model;
    int32_t slot, id; /* of the model, of the server */
    const char *name; /* of the file */
    char path[VOUCH_OS_PATH_SIZE];
    vouch_session_options whose;
    float scales[VOUCH_MOST_LORAS];
    int32_t *tokens; /* [n_ctx] that are restored */
    bool is_busy;
    int32_t n;
    double seconds;
    vouch_error err;
} change;

typedef struct action {
    const char *name;
    server_errand *run;
    const char *n_tokens, *n_bytes; /* members of the reply */
} action;

/* -------------------------------------------------------------------- errands */

/* What the slot has for this key; NULL: nothing. */
static server_slot_state *own_slot(server_slots *slots, const change *c)
{
    server_slot_state *s = &slots->all[c->slot];
    return s->n > 0 && s->scope == c->whose.scope ? s : NULL;
}

static void save(vouch_engine *engine, server_slots *slots, void *user)
{
    change *c = user;
    const server_slot_state *s = own_slot(slots, c);
    if (!s) return;
    vouch_session_options whose = c->whose;
    whose.adapter_scales = s->scales;
    whose.n_adapter_scales = s->n_scales;
    (void)vouch_engine_save(engine, &whose, s->tokens, s->n, c->path, &c->n, &c->err);
}

static void restore(vouch_engine *engine, server_slots *slots, void *user)
{
    change *c = user;
    c->is_busy = slots->all[c->slot].is_busy;
    if (c->is_busy || vouch_engine_load(engine, &c->whose, c->path, c->tokens, &c->n, &c->err)) return;
    server_slots_set(slots, c->slot, &c->whose, c->tokens, (size_t)c->n);
}

static void erase(vouch_engine *engine, server_slots *slots, void *user)
{
    (void)engine;
    change *c = user;
    server_slot_state *s = own_slot(slots, c);
    c->is_busy = s && s->is_busy;
    if (!s || c->is_busy) return;
    c->n = (int32_t)s->n;
    s->n = 0;
}

static const action actions[] = {
    {"save", save, "n_saved", "n_written"},
    {"restore", restore, "n_restored", "n_read"},
    {"erase", erase, "n_erased", NULL},
};

/* ------------------------------------------------------------------- requests */

static const action *find_action(server_exchange *x, server_fault *fault)
{
    const char *word = MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND, "action");
    for (size_t i = 0; word && i < sizeof actions / sizeof *actions; i++)
        if (strcmp(word, actions[i].name) == 0) return &actions[i];
    server_fail_field(fault, "action", "expected ?action=save, ?action=restore or ?action=erase behind the path");
    return NULL;
}

static bool find_slot(const server_exchange *x, change *c, server_fault *fault)
{
    const server_options *o = x->server->options;
    const int32_t n = o->engine.n_sessions, n_all = n * (int32_t)o->n_models;
    char *end;
    errno = 0;
    const long id = strtol(x->rest, &end, 10);
    if (errno || *x->rest < '0' || *x->rest > '9' || *end || id >= n_all)
        return server_fail(fault, 404, "not_found", "id", "there is no slot %.40s; the slots are 0 to %d", x->rest,
                           n_all - 1);
    c->id = (int32_t)id;
    c->slot = c->id % n;
    c->model = &x->server->models[c->id / n];
    return true;
}

/* A name that is one file of the folder, on every system. */
static bool is_file_name(const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < ' ' || strchr("/\\:*?\"<>|", name[i])) return false;
    const bool is_new = n >= 4 && strcmp(name + n - 4, ".new") == 0; /* a file that is being written */
    return n > 0 && n <= MOST_NAME && !is_new && name[0] != '.' && name[n - 1] != '.' && name[n - 1] != ' ';
}

static bool find_file(const server_exchange *x, change *c, server_fault *fault)
{
    c->name = server_word(x->json, "filename");
    if (!is_file_name(c->name))
        return server_fail_field(
            fault, "filename",
            "expected the name of a file, of 1 to %d bytes, without / \\ : * ? \" < > | or control "
            "characters, without a dot at its beginning or end, a blank at its end, or .new",
            MOST_NAME);
    const int n = snprintf(c->path, sizeof c->path, "%s/%016" PRIx64 "-%s", x->server->options->slots_folder,
                           c->whose.scope, c->name);
    if (n >= 0 && (size_t)n < sizeof c->path) return true;
    return server_fail_field(fault, "filename", "with the folder, the path is too long");
}

/* Restored pages are those of requests with the same `lora`; without it, of those that have none. */
static bool take_scales(const server_exchange *x, change *c, server_fault *fault)
{
    const json_t *lora = json_object_get(x->json, "lora");
    const int32_t n = c->whose.n_adapter_scales = c->model->options->session.n_adapter_scales;
    c->whose.adapter_scales = c->scales;
    pthread_mutex_lock(&c->model->lock);
    memcpy(c->scales, c->model->scales, sizeof c->scales);
    pthread_mutex_unlock(&c->model->lock);
    return !lora || server_lora_read(lora, n, c->scales, "lora", fault);
}

/* The library's message has the path, which is the operator's to know. */
static bool fail_library(const change *c, server_fault *fault)
{
    if (c->err.code == VOUCH_E_FORMAT)
        return server_fail_field(fault, "filename",
                                 "%s was saved with another model, KV type or adapter, or by another version, or is "
                                 "damaged",
                                 c->name);
    if (c->err.code == VOUCH_E_MEMORY) return server_fail_memory(fault);
    if (c->err.code != VOUCH_E_IO) return server_fail_library(fault, "filename", &c->err);
    tool_complain("--saved-slots: %s", c->err.message);
    return server_fail(fault, 500, "io_error", "filename", "the server can't read or write the file of %s", c->name);
}

static bool run(const server_exchange *x, change *c, const action *a, server_fault *fault)
{
    const double start = tool_now();
    if (a->run == restore && !vouch_os_exists(c->path))
        return server_fail(fault, 404, "not_found", "filename", "no slot was saved as %s with this key", c->name);
    if (atomic_flag_test_and_set(&x->server->moves_a_slot))
        return server_fail(fault, 503, "busy", "", "another slot is being saved or restored; try again later");
    const bool has_run = server_worker_call(c->model->worker, a->run, c);
    atomic_flag_clear(&x->server->moves_a_slot);
    if (!has_run)
        return server_fail(fault, 503, "model_not_loaded", "", "%.200s isn't loaded; POST /models/load does it",
                           c->model->options->name);
    c->seconds = tool_now() - start;
    if (c->is_busy) return server_fail(fault, 409, "slot_is_busy", "id", "an answer runs in slot %d", c->id);
    if (c->err.code) return fail_library(c, fault);
    if (a->run == save && c->n == 0)
        return server_fail_field(fault, "id",
                                 "slot %d has nothing to save: it has fewer than 64 tokens, or their pages are gone",
                                 c->id);
    return true;
}

static void reply(server_exchange *x, const change *c, const action *a)
{
    vouch_os_info info = {0};
    const tool_json_entry entries[] = {{"id_slot", json_integer(c->id)}, {a->n_tokens, json_integer(c->n)}};
    json_t *body = tool_json_object(entries, 2);
    if (a->n_bytes) {
        const tool_json_entry timings[] = {{a->run == save ? "save_ms" : "restore_ms", json_real(1e3 * c->seconds)}};
        (void)vouch_os_info_of(c->path, &info);
        json_object_set_new(body, "filename", tool_json_text(c->name));
        json_object_set_new(body, a->n_bytes, json_integer(info.size));
        json_object_set_new(body, "timings", tool_json_object(timings, 1));
    }
    server_reply_json(x, 200, body);
}

void server_change_slot(server_exchange *x)
{
    server_fault fault;
    change c = {.whose = vouch_session_options_default()};
    const action *a = NULL;
    c.whose.scope = x->scope;
    bool is_good = x->server->options->slots_folder != NULL;
    if (!is_good)
        server_fail(&fault, 501, "not_supported", "", "this server saves no slots; start it with --saved-slots FOLDER");
    else is_good = (a = find_action(x, &fault)) && find_slot(x, &c, &fault);
    if (is_good && a->n_bytes) is_good = find_file(x, &c, &fault);
    if (is_good) is_good = take_scales(x, &c, &fault);
    if (is_good) {
        server_clear_deadline(x);
        c.tokens = malloc((size_t)c.model->options->session.n_ctx * sizeof *c.tokens);
        is_good = c.tokens ? run(x, &c, a, &fault) : server_fail_memory(&fault);
    }
    if (is_good) reply(x, &c, a);
    else server_reply_fault(x, &fault);
    free(c.tokens);
}

/* ----------------------------------------------------------------------- list */

void server_show_slots(server_exchange *x)
{
    json_t *slots = json_array();
    for (size_t m = 0; m < x->server->options->n_models; m++) {
        const server_model *model = &x->server->models[m];
        for (int32_t i = 0; i < x->server->options->engine.n_sessions; i++) {
            const tool_json_entry entries[] = {
                {"id", json_integer((json_int_t)json_array_size(slots))},
                {"model", tool_json_text(model->options->name)},
                {"n_ctx", json_integer(model->options->session.n_ctx)},
                {"speculative", json_boolean(model->options->session.speculation.drafters != VOUCH_DRAFTER_NONE)},
                {"is_processing", json_boolean(server_worker_slot_is_busy(model->worker, i))},
            };
            json_array_append_new(slots, tool_json_object(entries, sizeof entries / sizeof *entries));
        }
    }
    server_reply_json(x, 200, slots);
}
