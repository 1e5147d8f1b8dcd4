/* SPDX-License-Identifier: MIT */
/* LoRA adapters of `vouch serve`: a request's own scales, those of requests that set none, and who may change them. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/model/tiny_lora.h"
#include "support/program/http.h"

#define ROOT "Authorization: Bearer root\r\n"
#define USER "Authorization: Bearer user\r\n"

static char base[256], first[256], second[256], half[300];

static int group_begin(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "%s", test_temporary("base.gguf"));
    snprintf(first, sizeof first, "%s", test_temporary("first.gguf"));
    snprintf(second, sizeof second, "%s", test_temporary("second.gguf"));
    snprintf(half, sizeof half, "%s=0.5", second);
    tiny_model_write(base, &(tiny_model_options){.seed = 7, .n_ctx = 512});
    tiny_lora_write(first, base, &(tiny_lora_options){.seed = 1});
    tiny_lora_write(second, base, &(tiny_lora_options){.seed = 2, .rank = 9});
    return 0;
}

/* The greedy text with these scales; "": without the field. The caller's. */
static char *text_with(const http_server *server, const char *headers, const char *path, const char *lora)
{
    char body[512];
    snprintf(body, sizeof body, "{\"prompt\": \"the river\", \"%s\": 24, \"temperature\": 0, \"ignore_eos\": true%s%s}",
             strcmp(path, "/completion") == 0 ? "n_predict" : "max_tokens", *lora ? ", \"lora\": " : "", lora);
    http_reply reply = http_request(server->port, "POST", path, headers, body);
    if (reply.status != 200) fail_msg("status %d: %s", reply.status, reply.body);
    json_t *answer = http_json(&reply);
    char *text = strdup(http_text_at(answer, strcmp(path, "/completion") == 0 ? "content" : "choices.0.text"));
    json_decref(answer);
    return text;
}

static void check_text(const http_server *server, const char *lora, const char *expected)
{
    static const char *const where[] = {"/completion", "/v1/completions"};
    for (int i = 0; i < 2; i++) {
        char *text = text_with(server, USER, where[i], lora);
        assert_string_equal(text, expected);
        free(text);
    }
}

static int status_of_body(const http_server *server, const char *path, const char *headers, const char *body)
{
    http_reply reply = http_request(server->port, "POST", path, headers, body);
    const int status = reply.status;
    http_reply_free(&reply);
    return status;
}

static char *command_text(const char *one, const char *two)
{
    result r =
        two   ? RUN(GREEDY, base, "--raw", "-p", "the river", "-n", "24", "--ignore-eos", "--lora", one, "--lora", two)
        : one ? RUN(GREEDY, base, "--raw", "-p", "the river", "-n", "24", "--ignore-eos", "--lora", one)
              : RUN(GREEDY, base, "--raw", "-p", "the river", "-n", "24", "--ignore-eos");
    assert_int_equal(r.status, 0);
    char *text = strndup(r.out, r.n_out - (r.n_out > 0 && r.out[r.n_out - 1] == '\n'));
    result_free(&r);
    return text;
}

static void requests_choose_their_adapters(void **state)
{
    (void)state;
    http_server server =
        http_server_start(ARGUMENTS(base, "--lora", first, "--lora", half, "--api-key", "user", "--admin-key", "root"));
    char *both = text_with(&server, USER, "/completion", ""), *none = text_with(&server, USER, "/completion", "[]"),
         *one = text_with(&server, USER, "/completion", "[{\"id\": 0, \"scale\": 1}]");
    assert_string_not_equal(both, none);
    assert_string_not_equal(one, none);
    check_text(&server, "", both);
    check_text(&server, "[{\"id\": 0, \"scale\": 1.0}, {\"id\": 1, \"scale\": 0.5}]", both);
    check_text(&server, "[{\"id\": 1, \"scale\": 0}]", none);
    /* The command has the same texts. */
    char *texts[] = {command_text(NULL, NULL), command_text(first, NULL), command_text(first, half)};
    assert_string_equal(texts[0], none);
    assert_string_equal(texts[1], one);
    assert_string_equal(texts[2], both);
    for (int i = 0; i < 3; i++) free(texts[i]);
    /* The operator changes what requests without scales get. */
    assert_int_equal(status_of_body(&server, "/lora-adapters", USER, "[]"), 403);
    assert_int_equal(status_of_body(&server, "/lora-adapters", "", "[]"), 401);
    check_text(&server, "", both);
    assert_int_equal(status_of_body(&server, "/lora-adapters", ROOT, "[{\"id\": 0, \"scale\": 1}]"), 200);
    check_text(&server, "", one);
    http_reply reply = http_request(server.port, "GET", "/lora-adapters", USER, NULL);
    assert_int_equal(reply.status, 200);
    json_t *list = http_json(&reply);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(http_text_at(list, "0.path"), first);
    assert_true(json_number_value(http_at(list, "0.scale")) == 1 && json_number_value(http_at(list, "1.scale")) == 0);
    json_decref(list);
    free(both);
    free(none);
    free(one);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

static void wrong_scales_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"{}",
                                        "[1]",
                                        "[{\"id\": 0}]",
                                        "[{\"id\": 1, \"scale\": 1}]",
                                        "[{\"id\": -1, \"scale\": 1}]",
                                        "[{\"id\": 0, \"scale\": \"1\"}]",
                                        "[{\"id\": 0, \"scale\": 1e9}]",
                                        "[{\"id\": 0, \"scale\": 1, \"x\": 2}]"};
    http_server server = http_server_start(ARGUMENTS(base, "--lora", first));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char body[256];
        snprintf(body, sizeof body, "{\"prompt\": \"x\", \"max_tokens\": 1, \"lora\": %s}", wrong[i]);
        assert_int_equal(status_of_body(&server, "/v1/completions", "", body), 400);
        assert_int_equal(status_of_body(&server, "/lora-adapters", "", wrong[i]), 400);
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    server = http_server_start(ARGUMENTS(base));
    assert_int_equal(status_of_body(&server, "/v1/completions", "",
                                    "{\"prompt\": \"x\", \"max_tokens\": 1, \"lora\": []}"),
                     200);
    assert_int_equal(status_of_body(&server, "/v1/completions", "",
                                    "{\"prompt\": \"x\", \"lora\": [{\"id\": 0, \"scale\": 1}]}"),
                     400);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_choose_their_adapters),
        cmocka_unit_test(wrong_scales_are_refused),
    };
    return cmocka_run_group_tests_name("server_lora", tests, group_begin, NULL);
}
