/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of the server's requests: a byte that chooses the path, and the body. Each body goes through all
 * that the server does before it queues the job: JSON, fields, conversion between the APIs, templates, grammars,
 * tokens.
 *
 * The server is being shut down (server_drain), so a good request for text ends with 503 instead of a job. The target
 * asserts that every answer is 200, 400, 404 or that 503: a request is never the reason of a failure of the server.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http/fields.h"
#include "http/http.h"
#include <microhttpd.h>
#include "support/model/tiny_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)            \
    do {                           \
        if (!(condition)) abort(); \
    } while (0)

static const server_options server_defaults = {.host = "127.0.0.1", .n_models = 1, .n_queue = 1};
static server_model_options model_options;
static server_model served;
static server draining = {.options = &server_defaults, .models = &served, .n_open = 1, .is_loopback = true};

static void open_once(void)
{
    char path[] = "/tmp/vouch-fuzz-XXXXXX";
    vouch_model *model;
    if (model_options.model) return;
    const int fd = mkstemp(path);
    MUST(fd >= 0 && close(fd) == 0);
    tiny_model_write(path, &(tiny_model_options){.seed = 7, .n_ctx = 512});
    const vouch_model_options options = vouch_model_options_default();
    MUST(vouch_model_open(&model, path, &options, NULL) == VOUCH_OK);
    unlink(path);
    model_options = (server_model_options){
        .name = "tiny", .path = "tiny.gguf", .model = model, .session = vouch_session_options_default()};
    model_options.session.n_ctx = 512;
    served.options = &model_options;
    MUST((served.form = server_form_open(model)) != NULL);
    served.speculation = model_options.session.speculation;
    pthread_mutex_init(&served.lock, NULL);
    atomic_store(&draining.drains, true);
}

static void exchange_free(server_exchange *x)
{
    if (x->format) x->format->free(x->state);
    if (x->response) MHD_destroy_response(x->response);
    json_decref(x->json);
    server_text_free(&x->out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const server_route *posts[64];
    size_t n_posts = 0;
    server_fault fault;
    open_once();
    for (size_t i = 0; i < server_n_routes; i++)
        if (strcmp(server_routes[i].method, "POST") == 0 && n_posts < 64) posts[n_posts++] = &server_routes[i];
    MUST(n_posts < 64);
    if (size == 0) return 0;
    server_exchange x = {.server = &draining, .route = posts[data[0] % n_posts]};
    x.json = server_json_parse((const char *)data + 1, size - 1, &fault);
    if (x.json) {
        x.route->handle(&x);
        MUST(x.response);
        MUST(x.status == 200 || x.status == 400 || x.status == 404 || x.status == 501 || x.status == 503);
    }
    exchange_free(&x);
    return 0;
}
