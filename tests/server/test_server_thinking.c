/* SPDX-License-Identifier: MIT */
/* The fields of requests about thoughts, in the words of each API: the budget is enforced, the template gets its
 * variables, and speculation changes no byte. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/http.h"
#include "support/model/tiny_model.h"
#include "support/model/tiny_vocab.h"

#define CHAT     "/v1/chat/completions"
#define COUNT_OF CHAT "/input_tokens"
#define HELLO    "\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}], \"temperature\": 0"
#define ASKED    HELLO ", \"ignore_eos\": true, \"max_tokens\": 40"

/* As Qwen3's: enable_thinking false closes the thoughts in the prompt. Other variables show up in the prompt. */
static const char template_text[] =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n"
    "</think>\n\n{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}{% if reasoning_effort %}{{ reasoning_effort }}"
    "{% endif %}{% if thinking_budget %}{{ 'budget ' * thinking_budget }}{% endif %}{% if add_generation_prompt %}"
    "<|im_start|>assistant\n<think>\n{% if enable_thinking is defined and not enable_thinking %}\n</think>\n\n"
    "{% endif %}{% endif %}";

static char model[256], template_file[256];
static http_server server;

static int server_begin(void **state)
{
    (void)state;
    strcpy(model, test_temporary("thinks.gguf"));
    strcpy(template_file, test_temporary("thinks.jinja"));
    tiny_model_write(model, &(tiny_model_options){.seed = 7, .n_ctx = 2048});
    FILE *file = fopen(template_file, "w");
    assert_non_null(file);
    fputs(template_text, file);
    fclose(file);
    server = http_server_start(ARGUMENTS(model, "--chat-template", template_file));
    return 0;
}

static int server_end(void **state)
{
    (void)state;
    return http_server_stop(&server, SIGTERM);
}

static json_t *post_to(const http_server *to, const char *path, const char *body, int status)
{
    http_reply reply = http_post(to->port, path, body);
    if (reply.status != status) fail_msg("%s: status %d: %s", body, reply.status, reply.body);
    return http_json(&reply);
}

static json_t *post(const char *path, const char *body)
{
    return post_to(&server, path, body, 200);
}

static int64_t thoughts_in(json_t *body)
{
    return json_integer_value(http_at(body, "usage.completion_tokens_details.reasoning_tokens"));
}

/* Each way to ask for 5 tokens of thoughts, for none, and for any number. */
static void budgets_are_enforced(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        int64_t most; /* -1: all 40 tokens are thoughts */
    } cases[] = {
        {"", -1},
        {", \"thinking_budget_tokens\": -1", -1},
        {", \"thinking_budget_tokens\": 5", 5},
        {", \"reasoning_budget_tokens\": 5", 5},
        {", \"reasoning_budget\": 5", 5},
        {", \"thinking_budget\": 5", 5},
        {", \"reasoning\": {\"max_tokens\": 5}", 5},
        {", \"reasoning\": {\"max_tokens\": 5, \"effort\": \"low\"}", 5},
        {", \"reasoning\": {\"enabled\": true}", -1},
        {", \"reasoning\": {\"effort\": \"high\"}", -1},
        {", \"thinking\": {\"type\": \"enabled\", \"budget_tokens\": 5}", 5},
        {", \"thinking\": {\"type\": \"adaptive\"}", -1},
        {", \"reasoning_effort\": \"low\"", -1},
        {", \"thinking_budget_tokens\": 0", 0},
        {", \"reasoning\": {\"max_tokens\": 0}", 0},
        {", \"reasoning\": {\"enabled\": false}", 0},
        {", \"reasoning\": {\"effort\": \"none\"}", 0},
        {", \"thinking\": {\"type\": \"disabled\"}", 0},
        {", \"reasoning_effort\": \"none\"", 0},
        {", \"enable_thinking\": false", 0},
        {", \"chat_template_kwargs\": {\"enable_thinking\": false}", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *bodies[2];
        for (int off = 0; off < 2; off++) {
            char body[600];
            snprintf(body, sizeof body, "{" ASKED "%s, \"speculative\": {\"drafters\": \"%s\"}}", cases[i].fields,
                     off ? "none" : "auto");
            bodies[off] = post(CHAT, body);
        }
        assert_true(json_equal(http_at(bodies[0], "choices"), http_at(bodies[1], "choices")));
        const int64_t n = thoughts_in(bodies[0]);
        const bool is_right = cases[i].most < 0 ? n == 40 : n >= cases[i].most && n <= cases[i].most + 3;
        if (!is_right) fail_msg("%s: %lld tokens of thoughts", cases[i].fields, (long long)n);
        /* The answer goes on after the thoughts. */
        const bool answers = json_string_length(http_at(bodies[0], "choices.0.message.content")) > 0;
        if (answers != (cases[i].most >= 0)) fail_msg("%s: %s", cases[i].fields, json_dumps(bodies[0], 0));
        json_decref(bodies[0]);
        json_decref(bodies[1]);
    }
}

static int64_t prompt_of(const char *fields)
{
    char body[600];
    snprintf(body, sizeof body, "{" HELLO "%s}", fields);
    json_t *count = post(COUNT_OF, body);
    const int64_t n = json_integer_value(http_at(count, "input_tokens"));
    json_decref(count);
    return n;
}

/* The template hears of switch, effort and budget. A variable of the client's own wins. */
static void templates_get_variables(void **state)
{
    (void)state;
    const int64_t plain = prompt_of(""), closed = prompt_of(", \"enable_thinking\": false");
    assert_true(closed > plain);
    assert_int_equal(
        prompt_of(", \"reasoning_effort\": \"none\", \"chat_template_kwargs\": {\"reasoning_effort\": \"\"}"), closed);
    assert_int_equal(prompt_of(", \"thinking\": {\"type\": \"disabled\"}"), closed);
    assert_int_equal(prompt_of(", \"thinking_budget_tokens\": 0"), closed);
    assert_int_equal(prompt_of(", \"thinking\": {\"type\": \"enabled\"}"), plain);
    assert_true(prompt_of(", \"reasoning\": {\"effort\": \"high\"}") > plain);
    assert_true(prompt_of(", \"thinking_budget_tokens\": 9") > prompt_of(", \"thinking_budget_tokens\": 1"));
    assert_int_equal(prompt_of(", \"thinking_budget_tokens\": 9, \"chat_template_kwargs\": {\"thinking_budget\": 0}"),
                     plain);
    assert_int_equal(prompt_of(", \"enable_thinking\": false, \"chat_template_kwargs\": {\"enable_thinking\": true}"),
                     plain);
}

/* The other APIs, streams, and the server's own default. */
static void all_apis_have_budgets(void **state)
{
    (void)state;
    json_t *body = post("/v1/messages", "{" ASKED ", \"thinking\": {\"type\": \"enabled\", \"budget_tokens\": 5}}");
    assert_string_equal(http_text_at(body, "content.0.type"), "thinking");
    assert_string_equal(http_text_at(body, "content.1.type"), "text");
    json_decref(body);
    body = post("/v1/responses", "{\"input\": \"hello\", \"max_output_tokens\": 40, \"temperature\": 0, "
                                 "\"ignore_eos\": true, \"reasoning\": {\"max_tokens\": 5}}");
    const int64_t n = json_integer_value(http_at(body, "usage.output_tokens_details.reasoning_tokens"));
    assert_in_range(n, 5, 8);
    assert_string_equal(http_text_at(body, "output.1.type"), "message");
    json_decref(body);
    /* exclude leaves thoughts out of the answer, and counts them. */
    body = post(CHAT, "{" ASKED ", \"reasoning\": {\"max_tokens\": 5, \"exclude\": true}}");
    assert_null(http_at(body, "choices.0.message.reasoning_content"));
    assert_in_range(thoughts_in(body), 5, 8);
    json_decref(body);
    /* A raw text whose prompt opens thoughts. */
    body = post("/completion", "{\"prompt\": \"a<think>\", \"n_predict\": 40, \"temperature\": 0, "
                               "\"ignore_eos\": true, \"reasoning_budget_tokens\": 5}");
    const json_t *text = http_at(body, "content"); /* it may have NUL bytes */
    assert_non_null(memmem(json_string_value(text), json_string_length(text), "</think>", 8));
    json_decref(body);
    http_server bound =
        http_server_start(ARGUMENTS(model, "--chat-template", template_file, "--reasoning-budget", "5"));
    body = post_to(&bound, CHAT, "{" ASKED "}", 200);
    assert_in_range(thoughts_in(body), 5, 8);
    json_decref(body);
    body = post_to(&bound, CHAT, "{" ASKED ", \"reasoning_budget\": -1}", 200);
    assert_int_equal(thoughts_in(body), 40);
    json_decref(body);
    assert_int_equal(http_server_stop(&bound, SIGTERM), 0);
}

/* A schema binds what follows the thoughts, a GBNF text the whole answer. */
static void grammars_begin_behind_thoughts(void **state)
{
    (void)state;
    json_t *body = post(CHAT, "{" HELLO ", \"thinking_budget_tokens\": 5, \"response_format\": {\"type\": "
                              "\"json_schema\", \"json_schema\": {\"schema\": {\"enum\": [\"left\", \"right\"]}}}}");
    const char *content = http_text_at(body, "choices.0.message.content");
    assert_true(strcmp(content, "\"left\"") == 0 || strcmp(content, "\"right\"") == 0);
    assert_in_range(thoughts_in(body), 5, 8);
    json_decref(body);
    body = post(CHAT, "{" HELLO ", \"thinking_budget_tokens\": 0, \"grammar\": \"root ::= \\\"left\\\"\", "
                      "\"chat_template_kwargs\": {\"enable_thinking\": true}}");
    assert_string_equal(http_text_at(body, "choices.0.message.content"), "left");
    json_decref(body);
}

/* The command's flag, and the count in its statistics. */
static void the_command_has_a_budget(void **state)
{
    (void)state;
    char stats[256];
    strcpy(stats, test_temporary("stats.json"));
    expect(RUN("run", model, "--chat-template", template_file, "-p", "hello", "-n", "40", "--temp", "0", "--ignore-eos",
               "--reasoning-budget", "5", "--stats-json", stats),
           0, NULL);
    json_t *figures = json_of(stats);
    assert_in_range(whole(figures, "thought_tokens"), 5, 8);
    assert_int_equal(whole(figures, "generated_tokens"), 40);
    json_decref(figures);
    expect(RUN("run", model, "-p", "hello", "--reasoning-budget", "-2"), 2, "--reasoning-budget");
}

static void bad_wishes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *path, *fields, *param;
    } cases[] = {
        {CHAT, "\"thinking\": {\"type\": \"maybe\"}", "thinking.type"},
        {CHAT, "\"thinking\": {\"type\": \"enabled\", \"budget_tokens\": -2}", "thinking.budget_tokens"},
        {CHAT, "\"thinking\": true", "thinking"},
        {CHAT, "\"reasoning\": {\"max_tokens\": 1.5}", "reasoning.max_tokens"},
        {CHAT, "\"reasoning\": {\"enabled\": 1}", "reasoning.enabled"},
        {CHAT, "\"reasoning\": {\"efort\": \"low\"}", "reasoning.efort"},
        {CHAT, "\"reasoning_effort\": \"enormous\"", "reasoning_effort"},
        {CHAT, "\"reasoning\": {\"effort\": \"enormous\"}", "reasoning.effort"},
        {CHAT, "\"thinking_budget_tokens\": -2", "thinking_budget_tokens"},
        {CHAT, "\"thinking_budget_tokens\": 3, \"logit_bias\": {\"5\": -100}", "logit_bias"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[600];
        snprintf(body, sizeof body, "{" ASKED ", %s}", cases[i].fields);
        json_t *answer = post_to(&server, cases[i].path, body, 400);
        assert_string_equal(http_text_at(answer, "error.param"), cases[i].param);
        json_decref(answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_are_enforced),  cmocka_unit_test(templates_get_variables),
        cmocka_unit_test(all_apis_have_budgets), cmocka_unit_test(grammars_begin_behind_thoughts),
        cmocka_unit_test(bad_wishes_are_named),  cmocka_unit_test(the_command_has_a_budget),
    };
    return cmocka_run_group_tests(tests, server_begin, server_end);
}
