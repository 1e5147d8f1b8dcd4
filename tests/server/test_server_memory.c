/* SPDX-License-Identifier: MIT */
/* The draft memory and the prompt cache of `vouch serve`: whose answers and prompts a key finds, who may clear them,
 * what a restart finds, and that they change no byte. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "support/program/http.h"
#include "support/model/tiny_model.h"

#define TEXT  "/v1/completions"
#define CLEAR "/admin/draft-memory/clear"
#define ONE   "Authorization: Bearer one\r\n"
#define TWO   "Authorization: Bearer two\r\n"
#define ROOT  "Authorization: Bearer root\r\n"

enum { N_CLIENTS = 8, MOST_REQUESTS = 200 };

static char target[256];

static int group_begin(void **state)
{
    (void)state;
    strcpy(target, test_temporary("target.gguf"));
    tiny_model_write(target, &(tiny_model_options){.seed = 7, .n_ctx = 4096});
    return 0;
}

static json_t *ask(const http_server *server, const char *headers, const char *prompt)
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"prompt\": \"%s\", \"max_tokens\": 60, \"temperature\": 0, \"ignore_eos\": true, "
             "\"speculative\": {\"drafters\": \"history\", \"k\": 6}}",
             prompt);
    http_reply reply = http_request(server->port, "POST", TEXT, headers, body);
    if (reply.status != 200) fail_msg("status %d: %s", reply.status, reply.body);
    return http_json(&reply);
}

/* Tokens of an answer that a guess from earlier answers gave. */
static json_int_t accepted(const http_server *server, const char *headers, const char *prompt)
{
    json_t *answer = ask(server, headers, prompt);
    const json_int_t n = json_integer_value(http_at(answer, "metrics.speculative_decoding.num_accepted_draft_tokens"));
    json_decref(answer);
    return n;
}

static int status_to(const http_server *server, const char *method, const char *path, const char *headers)
{
    http_reply reply = http_request(server->port, method, path, headers, strcmp(method, "POST") == 0 ? "{}" : NULL);
    const int status = reply.status;
    http_reply_free(&reply);
    return status;
}

static size_t count_files(const char *folder)
{
    size_t n;
    int64_t n_bytes;
    assert_int_equal(vouch_draft_memory_remove(folder, true, &n, &n_bytes, NULL), VOUCH_OK);
    return n;
}

/* Two keys never get guesses from each other's answers, not after a restart either. Only the operator forgets them. */
static void keys_are_apart(void **state)
{
    (void)state;
    const char *folder = test_path("apart");
    const char *const *arguments = ARGUMENTS(target, "--api-key", "one", "--api-key", "two", "--admin-key", "root",
                                             "--draft-memory", folder, "--draft-memory-size", "1M");
    http_server server = http_server_start(arguments);
    assert_int_equal(accepted(&server, ONE, "the fox"), 0);
    assert_true(accepted(&server, ONE, "the fox") > 30);
    assert_int_equal(accepted(&server, TWO, "the fox"), 0);
    assert_true(accepted(&server, TWO, "the fox") > 30);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    assert_int_equal(count_files(folder), 2);

    server = http_server_start(arguments);
    assert_true(accepted(&server, ONE, "the fox") > 30);
    assert_int_equal(accepted(&server, ONE, "a river"), 0);
    assert_int_equal(accepted(&server, TWO, "a river"), 0);
    assert_int_equal(status_to(&server, "GET", "/admin/draft-memory", ONE), 200);
    assert_int_equal(status_to(&server, "POST", CLEAR, ""), 401);
    assert_int_equal(status_to(&server, "POST", CLEAR, ONE), 403);
    assert_int_equal(status_to(&server, "POST", "/admin/speculation", TWO), 403);
    assert_true(accepted(&server, ONE, "the fox") > 30);
    assert_int_equal(status_to(&server, "POST", CLEAR, ROOT), 200);
    assert_int_equal(count_files(folder), 0);
    assert_int_equal(accepted(&server, ONE, "the fox"), 0);
    http_reply reply = http_request(server.port, "POST", CLEAR, ROOT, "{\"modell\": \"x\"}");
    assert_int_equal(reply.status, 400);
    http_reply_free(&reply);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);

    server = http_server_start(ARGUMENTS(target, "--api-key", "one", "--api-key", "two", "--share-memory"));
    assert_int_equal(accepted(&server, ONE, "the fox"), 0);
    assert_true(accepted(&server, TWO, "the fox") > 30);
    reply = http_request(server.port, "POST", CLEAR, TWO, "{}");
    assert_int_equal(reply.status, 403);
    assert_non_null(strstr(reply.body, "start it with --admin-key"));
    http_reply_free(&reply);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

/* Tokens of a prompt that came from the cache; those that ran give the same text. */
static json_int_t cached(const http_server *server, const char *headers, char **text)
{
    char prompt[1200] = "", body[1400];
    for (int i = 0; i < 100; i++) sprintf(prompt + strlen(prompt), "%s%d", i > 0 ? ", " : "", 30 + i * 7 % 300);
    snprintf(body, sizeof body, "{\"prompt\": [%s], \"max_tokens\": 20, \"temperature\": 0, \"ignore_eos\": true}",
             prompt);
    http_reply reply = http_request(server->port, "POST", TEXT, headers, body);
    if (reply.status != 200) fail_msg("status %d: %s", reply.status, reply.body);
    json_t *answer = http_json(&reply);
    const char *said = json_string_value(http_at(answer, "choices.0.text"));
    if (*text) assert_string_equal(said, *text);
    else *text = strdup(said);
    const json_int_t n = json_integer_value(http_at(answer, "usage.prompt_tokens_details.cached_tokens"));
    json_decref(answer);
    return n;
}

static json_int_t records(const http_server *server)
{
    http_reply reply = http_request(server->port, "GET", "/admin/prompt-cache", ROOT, NULL);
    assert_int_equal(reply.status, 200);
    json_t *answer = http_json(&reply);
    const json_int_t n = json_integer_value(http_at(answer, "records"));
    json_decref(answer);
    return n;
}

/* A key never finds a prompt that another one has sent, neither in memory nor in files. */
static void prompts_are_apart(void **state)
{
    (void)state;
    const char *folder = test_path("prompts"), *clear = "/admin/prompt-cache/clear";
    char *text = NULL;
    const char *const *arguments =
        ARGUMENTS(target, "--api-key", "one", "--api-key", "two", "--admin-key", "root", "--prompt-cache", folder);
    http_server server = http_server_start(arguments);
    assert_int_equal(cached(&server, ONE, &text), 0);
    assert_int_equal(cached(&server, ONE, &text), 64);
    assert_int_equal(cached(&server, TWO, &text), 0);
    assert_int_equal(cached(&server, TWO, &text), 64);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    server = http_server_start(arguments);
    assert_int_equal(records(&server), 2);
    assert_int_equal(cached(&server, ONE, &text), 64);
    assert_int_equal(status_to(&server, "POST", clear, ""), 401);
    assert_int_equal(status_to(&server, "POST", clear, ONE), 403);
    assert_int_equal(cached(&server, ONE, &text), 64);
    assert_int_equal(status_to(&server, "POST", clear, ROOT), 200);
    assert_int_equal(records(&server), 0);
    assert_int_equal(cached(&server, ONE, &text), 0); /* neither in memory */
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    server = http_server_start(ARGUMENTS(target, "--api-key", "one", "--api-key", "two", "--share-memory"));
    assert_int_equal(cached(&server, ONE, &text), 0);
    assert_int_equal(cached(&server, TWO, &text), 64);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    free(text);
}

/* Saves, restores or erases a slot, as `change` says. Returns the status of the reply, and in *n its number of tokens;
 * -1: the request was refused. */
static int change_slot(const http_server *server, const char *key, const char *change, const char *name, json_int_t *n)
{
    char path[64], body[300];
    snprintf(path, sizeof path, "/slots/%s", change);
    snprintf(body, sizeof body, "{\"filename\": \"%s\"}", name);
    http_reply reply = http_request(server->port, "POST", path, key, body);
    const int status = reply.status;
    *n = -1;
    if (status != 200) {
        http_reply_free(&reply);
        return status;
    }
    json_t *answer = http_json(&reply);
    static const char *const members[] = {"n_saved", "n_restored", "n_erased"};
    for (int i = 0; i < 3; i++)
        if (http_at(answer, members[i])) *n = json_integer_value(http_at(answer, members[i]));
    json_decref(answer);
    return status;
}

/* A slot outlives the server in a file, which is its key's alone. */
static void slots_are_kept(void **state)
{
    (void)state;
    const char *folder = test_path("slots");
    char *text = NULL;
    json_int_t n;
    const char *const *arguments = ARGUMENTS(target, "--api-key", "one", "--api-key", "two", "--admin-key", "root",
                                             "--saved-slots", folder, "--parallel", "2");
    http_server server = http_server_start(arguments);
    assert_int_equal(change_slot(&server, ONE, "0?action=save", "a", &n), 400); /* nothing is there yet */
    assert_int_equal(cached(&server, ONE, &text), 0);
    assert_int_equal(change_slot(&server, TWO, "0?action=save", "a", &n), 400); /* it is another's */
    assert_int_equal(change_slot(&server, ONE, "0?action=save", "a", &n), 200);
    assert_int_equal(n, 64);
    assert_int_equal(change_slot(&server, ONE, "0?action=save", "a", &n), 200); /* again */
    static const char *const wrong[] = {"",    ".",      "..", ".a", "../a",  "a/b",     "a\\\\b",
                                        "a:b", "/tmp/a", "a.", "a ", "a.new", "a\\u0001"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(change_slot(&server, ONE, "0?action=save", wrong[i], &n), 400);
        assert_int_equal(change_slot(&server, ONE, "0?action=restore", wrong[i], &n), 400);
    }
    static const char *const nowhere[] = {"2?action=save", "-1?action=save", "x?action=save", "0x?action=erase",
                                          "99999999999999999999?action=restore"};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        assert_int_equal(change_slot(&server, ONE, nowhere[i], "a", &n), 404);
    assert_int_equal(change_slot(&server, ONE, "0", "a", &n), 400);
    assert_int_equal(change_slot(&server, ONE, "0?action=steal", "a", &n), 400);
    assert_int_equal(change_slot(&server, "", "0?action=save", "a", &n), 401);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    char **names;
    const ptrdiff_t n_names = vouch_os_folder_list(folder, &names);
    vouch_os_names_free(names, n_names);
    assert_int_equal(n_names, 2); /* one of slots, and the salt */

    server = http_server_start(arguments);
    assert_int_equal(change_slot(&server, TWO, "1?action=restore", "a", &n), 404);
    assert_int_equal(change_slot(&server, ONE, "1?action=restore", "b", &n), 404);
    assert_int_equal(change_slot(&server, ONE, "1?action=restore", "a", &n), 200);
    assert_int_equal(n, 64);
    assert_int_equal(cached(&server, TWO, &text), 0);
    assert_int_equal(cached(&server, ONE, &text), 64);
    assert_int_equal(change_slot(&server, ONE, "1?action=save", "b", &n), 200); /* the answer ran in slot 1 */
    assert_int_equal(change_slot(&server, TWO, "1?action=erase", "", &n), 200);
    assert_int_equal(n, 0);
    assert_int_equal(change_slot(&server, ONE, "1?action=erase", "", &n), 200);
    assert_true(n > 64);
    assert_int_equal(change_slot(&server, ONE, "1?action=save", "b", &n), 400);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    free(text);
}

/* Whatever happens to a file, the answers stay the same, and the client is told. */
static void damaged_slots_are_refused(void **state)
{
    (void)state;
    char path[VOUCH_OS_PATH_SIZE];
    const char *folder = test_path("damaged slots");
    char *text = NULL;
    json_int_t n;
    test_random random = {5};
    const char *const *arguments = ARGUMENTS(target, "--saved-slots", folder);
    http_server server = http_server_start(ARGUMENTS(target));
    assert_int_equal(change_slot(&server, "", "0?action=save", "a", &n), 501);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    server = http_server_start(arguments);
    assert_int_equal(cached(&server, "", &text), 0);
    assert_int_equal(change_slot(&server, "", "0?action=save", "a", &n), 200);
    snprintf(path, sizeof path, "%s/%016d-a", folder, 0);
    size_t size;
    char *bytes = read_whole(path, &size);
    for (int i = 0; i < 40; i++) {
        const size_t at = test_below(&random, (uint32_t)size);
        bytes[at] ^= 4;
        write_whole(path, bytes, i % 4 == 3 ? at : size);
        bytes[at] ^= 4;
        assert_int_equal(change_slot(&server, "", "0?action=restore", "a", &n), 400);
    }
    free(bytes);
    assert_int_equal(cached(&server, "", &text), 64);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    free(text);
}

/* The last answer of a conversation is remembered though another server wrote it. */
static void a_conversation_brings_its_answer(void **state)
{
    (void)state;
    http_server server = http_server_start(ARGUMENTS(target));
    json_t *answer = ask(&server, "", "zebra");
    json_t *said = json_pack("{s:[{s:s,s:s},{s:s,s:O},{s:s,s:s}],s:i}", "messages", "role", "user", "content", "hi",
                             "role", "assistant", "content", http_at(answer, "choices.0.text"), "role", "user",
                             "content", "go on", "max_tokens", 1);
    char *body = json_dumps(said, 0);
    assert_int_equal(status_to(&server, "POST", CLEAR, ""), 200);
    assert_int_equal(accepted(&server, "", "zebra"), 0);
    assert_int_equal(status_to(&server, "POST", CLEAR, ""), 200);
    http_reply reply = http_post(server.port, "/v1/chat/completions", body);
    assert_int_equal(reply.status, 200);
    http_reply_free(&reply);
    assert_true(accepted(&server, "", "zebra") > 0);
    free(body);
    json_decref(said);
    json_decref(answer);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

/* ------------------------------------------------------------------ same bytes */

typedef struct client {
    const http_server *server;
    int first, n;
    char **texts; /* [n] of all clients */
} client;

static void *client_run(void *arg)
{
    const client *c = arg;
    static const char *const rules[] = {"\"temperature\": 0",
                                        "\"temperature\": 1, \"speculative\": {\"accept\": \"match\"}",
                                        "\"temperature\": 1, \"speculative\": {\"accept\": \"coupled\"}"};
    for (int i = c->first; i < c->n; i += N_CLIENTS) {
        char body[512];
        snprintf(body, sizeof body,
                 "{\"prompt\": \"request %d of all\", \"max_tokens\": %d, \"seed\": %d, \"ignore_eos\": true, %s}",
                 i % 40, 40 + i % 30, i % 3, rules[i % 3]);
        http_reply reply = http_post(c->server->port, TEXT, body);
        json_t *json = reply.status == 200 ? http_json(&reply) : NULL;
        c->texts[i] = strdup(json ? http_text_at(json, "choices.0.text") : "failed");
        json_decref(json);
    }
    return NULL;
}

static void run_all(const http_server *server, int n, char **texts)
{
    pthread_t threads[N_CLIENTS];
    client clients[N_CLIENTS];
    for (int i = 0; i < N_CLIENTS; i++) {
        clients[i] = (client){server, i, n, texts};
        assert_int_equal(pthread_create(&threads[i], NULL, client_run, &clients[i]), 0);
    }
    for (int i = 0; i < N_CLIENTS; i++) pthread_join(threads[i], NULL);
}

static void compare_all(const http_server *server, int n, char *const *expected)
{
    char *texts[MOST_REQUESTS];
    run_all(server, n, texts);
    for (int i = 0; i < n; i++) {
        assert_string_equal(texts[i], expected[i]);
        free(texts[i]);
    }
}

/* Many requests at once get the bytes that they get without a memory: while it is empty, when it knows all answers,
 * restored from disk, and so small that it forgets all the time. */
static void the_bytes_stay_the_same(void **state)
{
    (void)state;
    const int n = test_is_quick() ? 48 : MOST_REQUESTS;
    const char *folder = test_path("same");
    char *expected[MOST_REQUESTS];
    http_server server = http_server_start(ARGUMENTS(target, "--draft-memory-size", "0"));
    run_all(&server, n, expected);
    assert_string_not_equal(expected[0], "failed");
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    server = http_server_start(ARGUMENTS(target, "--draft-memory", folder));
    compare_all(&server, n, expected);
    compare_all(&server, n, expected);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    server = http_server_start(ARGUMENTS(target, "--draft-memory", folder));
    compare_all(&server, n, expected);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    server = http_server_start(ARGUMENTS(target, "--draft-memory", folder, "--draft-memory-size", "66K",
                                         "--prompt-cache", folder, "--prompt-cache-size", "1M"));
    compare_all(&server, n, expected);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    for (int i = 0; i < n; i++) free(expected[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_apart),
        cmocka_unit_test(prompts_are_apart),
        cmocka_unit_test(slots_are_kept),
        cmocka_unit_test(damaged_slots_are_refused),
        cmocka_unit_test(a_conversation_brings_its_answer),
        cmocka_unit_test(the_bytes_stay_the_same),
    };
    return cmocka_run_group_tests_name("server_memory", tests, group_begin, NULL);
}
