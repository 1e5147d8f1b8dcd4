/* SPDX-License-Identifier: MIT */
/* Models on demand, `vouch serve --models`: they come when a request asks for them, go when others need their memory or
 * nobody asks, and no request notices more than the time. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "support/model/tiny_model.h"
#include "support/program/http.h"

#define ROOT "Authorization: Bearer root\r\n"
#define USER "Authorization: Bearer user\r\n"

enum { N_MODELS = 3, N_CLIENTS = 16, N_PROMPTS = 12, MOST = 400 };

static const char *const names[N_MODELS] = {"falcon", "gorilla", "heron"};
static const char *const archs[N_MODELS] = {"llama", "jamba", "qwen3"};
static char folder[VOUCH_OS_PATH_SIZE], paths[N_MODELS][2 * VOUCH_OS_PATH_SIZE];
static char *expected[N_MODELS][N_PROMPTS];

static char *ask(const http_server *server, const char *headers, const char *model, int prompt, bool streams);

/* Three models, one of them in a folder of its own, beside files that are none; and the answers of each alone. */
static int group_begin(void **state)
{
    (void)state;
    char path[2 * VOUCH_OS_PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", test_temporary("models"));
    if (!vouch_os_folder_make(folder, 0700)) return -1;
    for (int m = 0; m < N_MODELS; m++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[m]);
        if (m == 2 && !vouch_os_folder_make(path, 0700)) return -1;
        snprintf(path, sizeof path, m == 2 ? "%s/%s/weights.gguf" : "%s/%s.gguf", folder, names[m]);
        snprintf(paths[m], sizeof paths[m], "%s", path);
        tiny_model_write(path, &(tiny_model_options){
                                   .arch = archs[m], .seed = 3 + (uint64_t)m, .n_layers = 4, .n_ff = 64, .n_ctx = 512});
        http_server server = http_server_start(ARGUMENTS(path, "--ctx", "512"));
        for (int i = 0; i < N_PROMPTS; i++) expected[m][i] = ask(&server, "", names[m], i, false);
        if (http_server_stop(&server, SIGTERM) != 0) return -1;
    }
    snprintf(path, sizeof path, "%s/broken.gguf", folder);
    write_whole(path, "GGUF", 4);
    snprintf(path, sizeof path, "%s/mmproj-x.gguf", folder);
    write_whole(path, "", 0);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    for (int m = 0; m < N_MODELS; m++)
        for (int i = 0; i < N_PROMPTS; i++) free(expected[m][i]);
    return 0;
}

/* Appends a text; a NUL in it becomes a blank. */
static void add_text(char *text, size_t size, json_t *part)
{
    const size_t n = part ? json_string_length(part) : 0;
    size_t used = strlen(text);
    for (size_t i = 0; i < n && used + 1 < size; i++) {
        const char c = json_string_value(part)[i];
        text[used++] = c ? c : ' ';
    }
    text[used] = '\0';
}

/* The text of an answer, or "status N: ...". The caller's. */
static char *ask(const http_server *server, const char *headers, const char *model, int prompt, bool streams)
{
    char body[256], text[2048] = "";
    snprintf(body, sizeof body,
             "{\"model\": \"%s\", \"prompt\": \"number %d of %d\", \"max_tokens\": 16, \"seed\": 5, \"stream\": %s}",
             model, prompt * 7, prompt, streams ? "true" : "false");
    http_reply reply = http_request(server->port, "POST", "/v1/completions", headers, body);
    if (reply.status != 200) {
        snprintf(text, sizeof text, "status %d: %s", reply.status, reply.body ? reply.body : "");
        http_reply_free(&reply);
        return strdup(text);
    }
    json_t *events = streams ? http_events(&reply, &streams) : NULL, *answer = streams ? NULL : http_json(&reply),
           *event;
    size_t i;
    json_array_foreach(events, i, event) {
        add_text(text, sizeof text, http_at(event, "choices.0.text"));
    }
    if (answer) add_text(text, sizeof text, http_at(answer, "choices.0.text"));
    if (events) http_reply_free(&reply);
    json_decref(events);
    json_decref(answer);
    return strdup(text);
}

static void check(const http_server *server, int model, int prompt, bool streams)
{
    char *text = ask(server, "", names[model], prompt, streams);
    assert_string_equal(text, expected[model][prompt]);
    free(text);
}

static json_t *get(const http_server *server, const char *path)
{
    http_reply reply = http_request(server->port, "GET", path, ROOT, NULL);
    assert_int_equal(reply.status, 200);
    return http_json(&reply);
}

/* The status of a model as the list has it; "": it isn't there. */
static const char *stage_of(const http_server *server, int model)
{
    static char value[32];
    json_t *list = get(server, "/v1/models"), *m;
    size_t i;
    *value = '\0';
    json_array_foreach(json_object_get(list, "data"), i, m) {
        if (strcmp(http_text_at(m, "id"), names[model]) == 0)
            snprintf(value, sizeof value, "%s", http_text_at(m, "status.value"));
    }
    json_decref(list);
    return value;
}

static void wait_for_stage(const http_server *server, int model, const char *status)
{
    for (int i = 0; i < 1000 && strcmp(stage_of(server, model), status) != 0; i++) usleep(10000);
    assert_string_equal(stage_of(server, model), status);
}

static int post(const http_server *server, const char *path, const char *headers, const char *body)
{
    http_reply reply = http_request(server->port, "POST", path, headers, body);
    const int status = reply.status;
    http_reply_free(&reply);
    return status;
}

/* Bytes that the server counts for the models in memory; *n: how many they are. */
static json_int_t bytes_in_memory(const http_server *server, size_t *n)
{
    json_int_t sum = 0;
    json_t *list = get(server, "/api/ps"), *m;
    size_t i;
    *n = json_array_size(json_object_get(list, "models"));
    json_array_foreach(json_object_get(list, "models"), i, m) sum += json_integer_value(json_object_get(m, "size"));
    json_decref(list);
    return sum;
}

static void a_model_comes_with_its_first_request(void **state)
{
    (void)state;
    http_server server = http_server_start(ARGUMENTS("--models", folder, "--ctx", "512"));
    json_t *list = get(&server, "/v1/models");
    assert_int_equal(json_array_size(json_object_get(list, "data")), N_MODELS);
    json_decref(list);
    for (int m = 0; m < N_MODELS; m++) {
        assert_string_equal(stage_of(&server, m), "unloaded");
        check(&server, m, 0, m == 1);
        assert_string_equal(stage_of(&server, m), "loaded");
    }
    /* Without a model that comes, and with one that never leaves its folder. */
    assert_int_equal(post(&server, "/tokenize", "", "{\"content\": \"x\", \"model\": \"falcon\"}"), 200);
    assert_int_equal(post(&server, "/v1/completions", "", "{\"model\": \"../models/falcon\", \"prompt\": \"x\"}"), 404);
    assert_int_equal(post(&server, "/models/load", "", "{\"model\": \"/etc/passwd\"}"), 404);
    assert_int_equal(post(&server, "/models/load", "", "{}"), 400);
    assert_int_equal(post(&server, "/models/load", "", "{\"model\": \"falcon\", \"path\": \"x\"}"), 400);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

static void the_operator_loads_and_unloads(void **state)
{
    (void)state;
    const char *falcon = "{\"model\": \"falcon\"}";
    http_server server = http_server_start(ARGUMENTS("--models", folder, "--ctx", "512", "--api-key", "user",
                                                     "--admin-key", "root", "--model", paths[2]));
    assert_int_equal(post(&server, "/models/load", USER, falcon), 403);
    assert_int_equal(post(&server, "/models/load", "", falcon), 401);
    assert_string_equal(stage_of(&server, 0), "unloaded");
    assert_int_equal(post(&server, "/models/load", ROOT, falcon), 200);
    wait_for_stage(&server, 0, "loaded");
    assert_int_equal(post(&server, "/models/unload", USER, falcon), 403);
    assert_int_equal(post(&server, "/models/unload", ROOT, falcon), 200);
    wait_for_stage(&server, 0, "unloaded");
    assert_int_equal(post(&server, "/models/unload", ROOT, falcon), 200); /* it is unloaded already */
    char *text = ask(&server, USER, "falcon", 1, false);
    assert_string_equal(text, expected[0][1]);
    free(text);
    /* --model gives a model that stays, under the name of its file. */
    assert_int_equal(post(&server, "/models/unload", ROOT, "{\"model\": \"weights\"}"), 400);
    text = ask(&server, USER, "weights", 1, false);
    assert_string_equal(text, expected[2][1]);
    free(text);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

static void idle_models_go(void **state)
{
    (void)state;
    http_server server = http_server_start(ARGUMENTS("--models", folder, "--ctx", "512", "--idle", "0.3"));
    check(&server, 0, 2, false);
    wait_for_stage(&server, 0, "sleeping");
    check(&server, 0, 3, true);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    /* A client may let a model go sooner, and never keeps it longer than the operator says. */
    server = http_server_start(ARGUMENTS("--models", folder, "--ctx", "512", "--idle", "3600"));
    check(&server, 1, 2, false);
    assert_int_equal(post(&server, "/api/generate", "",
                          "{\"model\": \"gorilla\", \"prompt\": \"x\", \"keep_alive\": 0, "
                          "\"stream\": false, \"options\": {\"num_predict\": 2}}"),
                     200);
    wait_for_stage(&server, 1, "sleeping");
    assert_int_equal(post(&server, "/api/generate", "", "{\"model\": \"gorilla\"}"), 200); /* loads it */
    wait_for_stage(&server, 1, "loaded");
    assert_int_equal(post(&server, "/api/generate", "", "{\"model\": \"gorilla\", \"keep_alive\": \"0s\"}"), 200);
    wait_for_stage(&server, 1, "unloaded");
    assert_int_equal(post(&server, "/api/generate", "", "{\"model\": \"gorilla\", \"keep_alive\": \"soon\"}"), 400);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

/* A limit that holds the largest two models: bytes of all three in memory, less the smallest. */
static json_int_t limit_of_two(void)
{
    json_int_t sum = 0, before = 0, least = INT64_MAX;
    size_t n;
    http_server server = http_server_start(ARGUMENTS("--models", folder, "--ctx", "512"));
    for (int m = 0; m < N_MODELS; m++, before = sum) {
        check(&server, m, 0, false);
        sum = bytes_in_memory(&server, &n);
        if (sum - before < least) least = sum - before;
    }
    assert_int_equal(n, N_MODELS);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    return sum - least;
}

typedef struct client {
    const http_server *server;
    pthread_t thread;
    int number, n;
    char *wrong; /* the first wrong answer; NULL: none */
} client;

static void *client_run(void *arg)
{
    client *c = arg;
    test_random random = {(uint64_t)c->number};
    for (int i = 0; i < c->n && !c->wrong; i++) {
        const int m = (int)test_below(&random, N_MODELS), prompt = (int)test_below(&random, N_PROMPTS);
        char *text = ask(c->server, "", names[m], prompt, i % 2);
        if (strcmp(text, expected[m][prompt]) != 0)
            asprintf(&c->wrong, "%s, prompt %d, %s: '%s' for '%s'", names[m], prompt, i % 2 ? "streamed" : "whole",
                     text, expected[m][prompt]);
        free(text);
    }
    return NULL;
}

/* Many clients ask three models where two have room. Every answer is right, and the memory is never exceeded. */
static void models_take_turns(void **state)
{
    (void)state;
    char limit[32];
    const json_int_t most = limit_of_two();
    snprintf(limit, sizeof limit, "%lld", (long long)most);
    client clients[N_CLIENTS] = {0};
    http_server server =
        http_server_start(ARGUMENTS("--models", folder, "--ctx", "512", "--max-memory", limit, "--parallel", "8"));
    for (int i = 0; i < N_CLIENTS; i++) {
        clients[i] = (client){.server = &server, .number = i, .n = test_is_quick() ? 6 : MOST / N_CLIENTS};
        assert_int_equal(pthread_create(&clients[i].thread, NULL, client_run, &clients[i]), 0);
    }
    size_t n;
    for (int i = 0; i < 20; i++, usleep(5000)) assert_true(bytes_in_memory(&server, &n) <= most);
    for (int i = 0; i < N_CLIENTS; i++) pthread_join(clients[i].thread, NULL);
    for (int i = 0; i < N_CLIENTS; i++)
        if (clients[i].wrong) fail_msg("client %d: %s", i, clients[i].wrong);
    assert_true(bytes_in_memory(&server, &n) <= most && n <= 2);
    double n_loads = 0;
    for (int m = 0; m < N_MODELS; m++) {
        char metric[64];
        snprintf(metric, sizeof metric, "vouch:model_loads_total{model_name=\"%s\"}", names[m]);
        n_loads += http_metric(&server, metric);
    }
    assert_true(n_loads > N_MODELS); /* some came more than once */
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

/* One client changes its mind where one model has room: the first goes as soon as the second is asked for, though
 * nothing else happens. */
static void one_makes_room(void **state)
{
    (void)state;
    char limit[32];
    size_t n;
    http_server server = http_server_start(ARGUMENTS("--models", folder, "--ctx", "512"));
    json_int_t sum = 0, before = 0, most = 0;
    for (int m = 0; m < 2; m++, before = sum) {
        check(&server, m, 0, false);
        sum = bytes_in_memory(&server, &n);
        if (sum - before > most) most = sum - before;
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    snprintf(limit, sizeof limit, "%lld", (long long)most);
    server = http_server_start(ARGUMENTS("--models", folder, "--ctx", "512", "--max-memory", limit));
    for (int i = 0; i < 20; i++) check(&server, i % 2, i % N_PROMPTS, i % 3 == 0);
    assert_true(bytes_in_memory(&server, &n) <= most && n == 1);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

static void a_model_that_does_not_fit_says_so(void **state)
{
    (void)state;
    http_server server = http_server_start(ARGUMENTS("--models", folder, "--ctx", "512", "--max-memory", "100K"));
    for (int i = 0; i < 2; i++) {
        char *text = ask(&server, "", "falcon", 0, false);
        assert_non_null(strstr(text, "status 503"));
        assert_non_null(strstr(text, "MB more than --max-memory (0 MB) leaves"));
        free(text);
    }
    assert_string_equal(stage_of(&server, 0), "unloaded");
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    /* A file that is gone by then is an error of its request alone. */
    server = http_server_start(ARGUMENTS("--models", folder, "--ctx", "512"));
    size_t n;
    char *bytes = read_whole(paths[2], &n);
    assert_true(vouch_os_remove(paths[2]));
    char *text = ask(&server, "", "heron", 0, false);
    assert_non_null(strstr(text, "status 500"));
    assert_non_null(strstr(text, "heron can't be loaded"));
    free(text);
    check(&server, 0, 4, false);
    write_whole(paths[2], bytes, n);
    free(bytes);
    check(&server, 2, 4, false);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_comes_with_its_first_request),
        cmocka_unit_test(the_operator_loads_and_unloads),
        cmocka_unit_test(idle_models_go),
        cmocka_unit_test(models_take_turns),
        cmocka_unit_test(one_makes_room),
        cmocka_unit_test(a_model_that_does_not_fit_says_so),
    };
    return cmocka_run_group_tests_name("server_models", tests, group_begin, group_end);
}
