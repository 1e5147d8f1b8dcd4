/* SPDX-License-Identifier: MIT */
/*
 * Runs the command for Windows with Wine and the command for Linux, and compares them: both must give the same texts,
 * also when many clients ask at once. A conversation in a console of Windows must work.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "support/model/tiny_model.h"
#include "support/program/command.h"
#include "support/program/http.h"
#include "support/program/terminal.h"

#define LINUX "../release/vouch" /* from build/wine */

static char target[256], draft[256];

static int models_write(void **state)
{
    (void)state;
    strcpy(target, test_temporary("target.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    tiny_model_write(target, &(tiny_model_options){.n_ctx = 8192, .seed = 1});
    tiny_model_write(draft, &(tiny_model_options){.n_ctx = 8192, .seed = 1, .noise = 0.15f});
    return 0;
}

static void skip_elsewhere(void)
{
    if (!test_is_windows()) test_skip("only make test-windows has the command for Windows");
}

/* 50 prompts, greedy and sampled, with and without guesses. */
static void texts_are_those_of_linux(void **state)
{
    (void)state;
    skip_elsewhere();
    const char *const ways[][4] = {{"--temp", "0", "--spec", "none"},
                                   {"--temp", "0", "--draft-model", draft},
                                   {"--seed", "7", "--spec", "none"},
                                   {"--seed", "7", "--draft-model", draft}};
    char prompt[100];
    for (int i = 0; i < 50; i++) {
        const char *const *way = ways[i % 4];
        snprintf(prompt, sizeof prompt, "Prompt %d: gr\xc3\xbc\xc3\x9f %d \xe6\xbc\xa2\xe5\xad\x97", i, i * i);
        const char *const *arguments =
            ARGUMENTS("run", "-m", target, "-p", prompt, "-n", "40", "--ignore-eos", way[0], way[1], way[2], way[3]);
        result windows = run_as(&(setting){0}, "vouch", arguments), linux = run_as(&(setting){0}, LINUX, arguments);
        if (linux.status != 0) print_error("%s", linux.err);
        assert_int_equal(linux.status, 0);
        if (windows.status != 0) print_error("%s", windows.err);
        assert_int_equal(windows.status, 0);
        assert_true(linux.n_out > 10);
        assert_int_equal(windows.n_out, linux.n_out);
        assert_memory_equal(windows.out, linux.out, linux.n_out);
        result_free(&windows);
        result_free(&linux);
    }
}

enum { CLIENTS = 16 };

/* The texts of as many clients at once; the caller frees them. */
static void served(const char *build, char *texts[CLIENTS])
{
    char given[64];
    snprintf(given, sizeof given, "%s", getenv("BUILD"));
    setenv("BUILD", build, 1);
    http_server server = http_server_start(ARGUMENTS(target));
    setenv("BUILD", given, 1);
    int clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        char body[200], request[400];
        snprintf(body, sizeof body,
                 "{\"prompt\": \"Client %d\", \"max_tokens\": 60, \"seed\": %d, \"temperature\": %d}", i, i, i % 2);
        const int n = snprintf(request, sizeof request,
                               "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                               strlen(body), body);
        clients[i] = http_connect(server.port);
        assert_true(clients[i] >= 0 && http_send(clients[i], request, (size_t)n));
    }
    for (int i = 0; i < CLIENTS; i++) {
        http_reply reply = http_read(clients[i]);
        assert_int_equal(reply.status, 200);
        json_t *answer = http_json(&reply);
        texts[i] = json_dumps(json_object_get(answer, "choices"), JSON_SORT_KEYS);
        json_decref(answer);
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

static void clients_get_the_texts_of_linux(void **state)
{
    (void)state;
    skip_elsewhere();
    char *windows[CLIENTS], *linux[CLIENTS];
    served("wine", windows);
    served("release", linux);
    for (int i = 0; i < CLIENTS; i++) {
        assert_string_equal(windows[i], linux[i]);
        free(windows[i]);
        free(linux[i]);
    }
}

/* The path with the marks that Windows puts between names; valid until the next call. */
static const char *with_backslashes(const char *path)
{
    static char text[256];
    snprintf(text, sizeof text, "%s", path);
    for (char *at = text; *at; at++)
        if (*at == '/') *at = '\\';
    return text;
}

/* The server takes the model's name from the path. */
static void paths_may_have_backslashes(void **state)
{
    (void)state;
    skip_elsewhere();
    http_server server = http_server_start(ARGUMENTS(with_backslashes(target)));
    http_reply reply = http_request(server.port, "GET", "/v1/models", "", NULL);
    json_t *models = http_json(&reply);
    const char *name = strrchr(target, '/') + 1, *id = http_text_at(models, "data.0.id");
    assert_int_equal(strlen(id), strlen(name) - strlen(".gguf"));
    assert_memory_equal(id, name, strlen(id));
    json_decref(models);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

/* Does the terminal itself handle lines? Wine ends that after the first output. */
static bool is_cooked(int fd)
{
    struct termios modes;
    return tcgetattr(fd, &modes) == 0 && (modes.c_lflag & ICANON) != 0;
}

/* Wine shows its console in a pseudo-terminal. It draws every letter by itself. */
static void a_console_holds_a_conversation(void **state)
{
    (void)state;
    skip_elsewhere();
    static terminal t;
    terminal_start(&t, "xterm", test_temporary(""), ARGUMENTS(program("vouch"), GREEDY, "-m", target, "-n", "8"));
    terminal_expect(&t, "/exit");
    terminal_expect(&t, "> ");
    for (int i = 0; is_cooked(t.fd); i++, usleep(10000)) assert_true(i < TERMINAL_LONG / 10);
    terminal_say(&t, "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2\xe5\xad\x97\r");
    terminal_expect(&t, "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2\xe5\xad\x97");
    terminal_expect(&t, "> ");
    terminal_say(&t, "/help\r");
    terminal_expect(&t, "/clear");
    terminal_expect(&t, "> ");
    terminal_say(&t, "/load ~\\nothing\r"); /* ~ is C:/Users/NAME */
    terminal_expect(&t, "C:/users/");
    terminal_expect(&t, "/nothing");
    terminal_expect(&t, "> ");
    terminal_say(&t, "/exit\r");
    assert_int_equal(terminal_end(&t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_those_of_linux),
        cmocka_unit_test(clients_get_the_texts_of_linux),
        cmocka_unit_test(paths_may_have_backslashes),
        cmocka_unit_test(a_console_holds_a_conversation),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
