/* SPDX-License-Identifier: MIT */
/*
 * Runs the command for Windows with Wine and the command for Linux, and compares them: both must give the same texts,
 * also when many clients ask at once. A conversation in a console of Windows must work. So must a server that Windows
 * runs as a service.
 */
#include <arpa/inet.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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
        snprintf(prompt, sizeof prompt, "C:\\prompt %d: gr\xc3\xbc\xc3\x9f %d \xe6\xbc\xa2\xe5\xad\x97", i, i * i);
        const char *const *arguments =
            ARGUMENTS("run", "-m", target, prompt, "-n", "40", "--ignore-eos", way[0], way[1], way[2], way[3]);
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

/* The same path for Windows. */
static void path_convert(const char *path, char to[512])
{
    snprintf(to, 512, "Z:%s", path);
    for (char *at = to; *at; at++)
        if (*at == '/') *at = '\\';
}

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)(void *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)(void *)&address, &size), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static char service[64];

/* Registers the server of a model as a service. Returns its port. */
static int service_create(const char *model)
{
    static int n_created;
    char file[512], path[512], command[1200];
    const int port = free_port();
    char *exe = realpath("build/windows/vouch.exe", NULL);
    assert_non_null(exe);
    path_convert(exe, path);
    path_convert(model, file);
    free(exe);
    snprintf(service, sizeof service, "vouch-test-%ld-%d", (long)getpid(), ++n_created);
    snprintf(command, sizeof command, "%s serve --port %d --threads 2 %s", path, port, file);
    expect(run_as(&(setting){0}, "sc", ARGUMENTS("create", service, "binPath=", command)), 0, NULL);
    return port;
}

/* Waits until the service manager reports this. */
static void service_says(const char *text)
{
    for (int i = 0;; i++, usleep(100000)) {
        result r = run_as(&(setting){0}, "sc", ARGUMENTS("query", service));
        assert_int_equal(r.status, 0);
        const bool is_there = strstr(r.out, text) != NULL;
        result_free(&r);
        if (is_there) return;
        if (i == 600) fail_msg("sc query never said %s", text);
    }
}

/* How many processes have this word among their arguments. */
static int n_processes(const char *word)
{
    glob_t all;
    int n = 0;
    assert_int_equal(glob("/proc/[0-9]*/cmdline", 0, NULL, &all), 0);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        char text[4096];
        FILE *file = fopen(all.gl_pathv[i], "r"); /* NULL: the process has ended */
        const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
        text[size] = '\0';
        for (const char *at = text; at < text + size && *at; at += strlen(at) + 1) n += strcmp(at, word) == 0;
        if (file) fclose(file);
    }
    globfree(&all);
    return n;
}

static int service_remove(void **state)
{
    (void)state;
    if (!*service) return 0;
    result stop = run_as(&(setting){0}, "net", ARGUMENTS("stop", service));
    result delete = run_as(&(setting){0}, "sc", ARGUMENTS("delete", service));
    const int status = delete.status;
    result_free(&stop);
    result_free(&delete);
    *service = '\0';
    return status;
}

static void a_service_starts_answers_and_stops(void **state)
{
    (void)state;
    skip_elsewhere();
    char port[16];
    const int number = service_create(target);
    snprintf(port, sizeof port, "%d", number);
    expect(run_as(&(setting){0}, "net", ARGUMENTS("start", service)), 0, NULL);
    service_says("RUNNING");
    assert_int_equal(n_processes(port), 1);
    http_reply reply = http_post(number, "/v1/completions", "{\"prompt\": \"Hello\", \"max_tokens\": 4}");
    assert_int_equal(reply.status, 200);
    http_reply_free(&reply);
    expect(run_as(&(setting){0}, "net", ARGUMENTS("stop", service)), 0, NULL);
    service_says("STOPPED");
    service_says("WIN32_EXIT_CODE    : 0 ");
    while (n_processes(port) > 0) usleep(10000);
}

/* Only a service that is connected before its model is opened can tell of this failure. */
static void a_service_tells_that_its_start_has_failed(void **state)
{
    (void)state;
    skip_elsewhere();
    size_t n;
    char cut[256];
    char *bytes = read_whole(target, &n);
    strcpy(cut, test_temporary("cut.gguf"));
    write_whole(cut, bytes, n / 2);
    free(bytes);
    service_create(cut);
    result r = run_as(&(setting){0}, "net", ARGUMENTS("start", service)); /* Wine's doesn't wait for the end */
    result_free(&r);
    service_says("STOPPED");
    service_says("WIN32_EXIT_CODE    : 1066 ");
    service_says("SERVICE_EXIT_CODE  : 1 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_those_of_linux),
        cmocka_unit_test(clients_get_the_texts_of_linux),
        cmocka_unit_test(paths_may_have_backslashes),
        cmocka_unit_test(a_console_holds_a_conversation),
        cmocka_unit_test_teardown(a_service_starts_answers_and_stops, service_remove),
        cmocka_unit_test_teardown(a_service_tells_that_its_start_has_failed, service_remove),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
