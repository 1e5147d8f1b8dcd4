/* SPDX-License-Identifier: MIT */
/*
 * Thoughts and calls in the form that the model's chat template shows: short templates here, and those that models ship
 * where the optional data folder has them. A call that a template writes is read back as it was. A call that the
 * request forces, and an answer that is bound to a schema, come after the thoughts.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/form.h"
#include "call/reader.h"
#include "support/program/call_templates.h"
#include "support/program/http.h"
#include "support/model/tiny_model.h"
#include "support/model/tiny_vocab.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define CHAT         "/v1/chat/completions"

/* ---------------------------------------------------------------- templates */

static char model_file[256];

static int files_write(void **state)
{
    (void)state;
    strcpy(model_file, test_temporary("forms.gguf"));
    tiny_model_write(model_file, &(tiny_model_options){.seed = 7, .n_ctx = 8192});
    return 0;
}

static vouch_model *model_with(const char *chat_template)
{
    vouch_model_options o = vouch_model_options_default();
    vouch_model *model;
    vouch_error err = {0};
    o.chat_template = chat_template;
    o.text_only = true;
    if (vouch_model_open(&model, model_file, &o, &err)) fail_msg("%s", err.message);
    return model;
}

/* -------------------------------------------------------------- round trips */

static char *rendered(const vouch_model *model, json_t *messages, bool for_answer, size_t *n_text)
{
    json_t *conversation = json_pack("{s:O, s:o, s:b}", "messages", messages, "tools", json_loads(CALL_TOOLS, 0, NULL),
                                     "add_generation_prompt", for_answer);
    char *json = json_dumps(conversation, 0), *text;
    size_t n = 0;
    vouch_error err = {0};
    const vouch_status status = vouch_render_chat(model, json, strlen(json), NULL, 0, &n, &err);
    if (status != VOUCH_E_BUFFER) fail_msg("%s: %s", json, err.message);
    text = calloc(1, n + 1);
    assert_int_equal(vouch_render_chat(model, json, strlen(json), text, n, &n, &err), VOUCH_OK);
    json_decref(conversation);
    free(json);
    *n_text = n;
    return text;
}

/* The template writes a message with these calls, and the reader reads the same calls, in pieces of any length. */
static void round_trip(const char *name, const vouch_model *model, const server_form *form, test_random *random,
                       int n_calls)
{
    json_t *messages = json_pack("[{s:s, s:s}]", "role", "user", "content", "look it up");
    json_t *calls = json_array(), *tools = json_loads(CALL_TOOLS, 0, NULL);
    size_t n_prompt, n_answer;
    char *prompt = rendered(model, messages, true, &n_prompt);
    for (int i = 0; i < n_calls; i++) json_array_append_new(calls, call_random(random, i));
    json_t *content = test_below(random, 2) ? json_null() : json_string("");
    json_array_append_new(messages, json_pack("{s:s, s:o, s:o}", "role", "assistant", "content", content, "tool_calls",
                                              json_deep_copy(calls)));
    char *whole = rendered(model, messages, false, &n_answer);
    const char *answer = call_answer(prompt, n_prompt, whole, &n_answer);
    server_reader reader;
    while (n_prompt > 0 && strchr(" \n", prompt[n_prompt - 1])) n_prompt--;
    const size_t n_think = strlen(form->think);
    const bool thinks = n_prompt > n_think && memcmp(prompt + n_prompt - n_think, form->think, n_think) == 0 &&
                        memcmp(prompt, whole, n_prompt) == 0;
    const size_t n_end = strlen(form->think_end); /* some write the end of thoughts alone for answers without any */
    if (!thinks && n_answer > n_end && memcmp(answer, form->think_end, n_end) == 0) answer += n_end, n_answer -= n_end;
    server_reader_begin(&reader, form, tools, thinks);
    for (size_t at = 0, n; at < n_answer; at += n) {
        n = 1 + test_below(random, 9);
        if (n > n_answer - at) n = n_answer - at;
        server_reader_push(&reader, answer + at, n);
    }
    server_reader_end(&reader, false);
    if (reader.n_calls != (size_t)n_calls)
        fail_msg("%s: %zu of %d calls in '%s' (content '%.*s')", name, reader.n_calls, n_calls, answer,
                 (int)reader.content.n, reader.content.n ? reader.content.bytes : "");
    for (int i = 0; i < n_calls; i++) {
        json_t *wanted = json_object_get(json_array_get(calls, (size_t)i), "function");
        const server_call *got = &reader.calls[i];
        const char *arguments = http_text_at(wanted, "arguments");
        assert_string_equal(got->name, http_text_at(wanted, "name"));
        assert_true(got->is_over);
        if (got->id && *got->id >= 'a')
            assert_string_equal(got->id, http_text_at(json_array_get(calls, (size_t)i), "id"));
        if (!call_same_json(arguments, strlen(arguments), got->arguments.bytes, got->arguments.n))
            fail_msg("%s: '%s'\n read as %.*s\n in %s", name, arguments, (int)got->arguments.n, got->arguments.bytes,
                     answer);
    }
    size_t n_white = 0;
    while (n_white < reader.content.n && strchr("\n ", reader.content.bytes[n_white])) n_white++;
    if (n_white < reader.content.n)
        fail_msg("%s: content '%.*s' in '%s'", name, (int)reader.content.n, reader.content.bytes, answer);
    server_reader_free(&reader);
    json_decref(messages);
    json_decref(calls);
    json_decref(tools);
    free(prompt);
    free(whole);
}

static void check_template(const char *name, const char *text, int n_calls, int n_rounds)
{
    vouch_model *model = model_with(text);
    server_form *form = server_form_open(model);
    test_random random = {11};
    assert_true(form->shows_calls == (n_calls > 0) || !n_calls);
    for (int round = 0; n_calls > 0 && round < n_rounds; round++) {
        round_trip(name, model, form, &random, 1);
        if (n_calls > 1) round_trip(name, model, form, &random, 2 + (int)test_below(&random, (uint32_t)n_calls - 1));
    }
    server_form_close(form);
    vouch_model_close(model);
}

static void calls_are_read_as_templates_write_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_call_templates; i++)
        check_template(call_templates[i].name, call_templates[i].text, call_templates[i].n_calls,
                       test_is_quick() ? 20 : 300);
}

/* Templates that take tools and show no call: a sign in the prompt tells how the model calls. */
static void calls_of_templates_that_show_none(void **state)
{
    (void)state;
    static const struct {
        const char *template, *answer;
        int n_calls;
    } cases[] = {
        {"{% if xml_tools %}Call in <tool_call></tool_call>: {{ xml_tools | tojson }}{% endif %}",
         "<tool_call>\n{\"name\": \"look_up\", \"arguments\": {\"kind\": \"noun\"}}\n</tool_call>\n<tool_call>\n"
         "{\"name\": \"stop\", \"arguments\": {}}\n</tool_call>",
         2},
        {"{% if tools %}<|tool|>{{ tools | tojson }}<|/tool|>{% endif %}",
         "<|tool_call|>[{\"name\": \"look_up\", \"arguments\": {\"kind\": \"noun\"}}, {\"name\": \"stop\", "
         "\"arguments\": {}}]<|/tool_call|>",
         2},
        {"{{ tools | tojson if tools }} Answer <|tool_call|> and a list.",
         "<|tool_call|>[{\"name\": \"look_up\", \"arguments\": {\"kind\": \"noun\"}}]", 1},
        {"<|tool_list_start|>{{ tools | tojson if tools }}<|tool_list_end|>",
         "<|tool_call_start|>[look_up(kind=\"noun\"), stop()]<|tool_call_end|>", 2},
        {"{{ tools | tojson if tools }}", "{\"name\": \"look_up\", \"arguments\": {\"kind\": \"noun\"}}", 1},
    };
    json_t *tools = json_loads(CALL_TOOLS, 0, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s{%% for m in messages %%}{{ m.content }}{%% endfor %%}", cases[i].template);
        vouch_model *model = model_with(text);
        server_form *form = server_form_open(model);
        server_reader reader;
        server_reader_begin(&reader, form, tools, false);
        server_reader_push(&reader, cases[i].answer, strlen(cases[i].answer));
        server_reader_end(&reader, false);
        if (reader.n_calls != (size_t)cases[i].n_calls || reader.content.n > 0)
            fail_msg("%s: %zu calls, content '%.*s'", cases[i].answer, reader.n_calls, (int)reader.content.n,
                     reader.content.n ? reader.content.bytes : "");
        assert_string_equal(reader.calls[0].name, "look_up");
        server_text_add(&reader.calls[0].arguments, "", 1);
        assert_string_equal(reader.calls[0].arguments.bytes, "{\"kind\":\"noun\"}");
        server_reader_free(&reader);
        server_form_close(form);
        vouch_model_close(model);
    }
    json_decref(tools);
}

/* A template whose calls can't be told from their text has none. Every answer is read to its end. */
static void odd_templates_have_no_calls(void **state)
{
    (void)state;
    static const char *const odd[] = {
        CALL_TURNS("<call name=\"" CALL_NAME "\"{% for k, v in c.function.arguments | items %} {{ k }}=\"{{ v }}\""
                   "{% endfor %}/>") "{% endif %}",
        CALL_TURNS(CALL_NAME "\n" CALL_EACH "{{ k }}: {{ v }}\n{% endfor %}") "{% endif %}",
        CALL_TURNS("<function=" CALL_NAME ">{\"{% for k, v in c.function.arguments | items %}{{ k }}\": \"{{ v }}\""
                   "{% endfor %}}</function>") "{% endif %}",
        CALL_TURNS("{{ c.function.name }}{{ c.function.arguments }}") "{% endif %}",
    };
    static const char *const answers[] = {"{\"name\": \"look_up\", \"arguments\": {}} and more", "look_up\nkind: a\n",
                                          "<call name=\"look_up\" kind=\"a\"/>",
                                          "<function=look_up>{\"kind\": \"a\"}x"};
    json_t *tools = json_loads(CALL_TOOLS, 0, NULL);
    for (size_t i = 0; i < COUNT(odd); i++) {
        vouch_model *model = model_with(odd[i]);
        server_form *form = server_form_open(model);
        server_text grammar = {0};
        server_form_put_calls(&grammar, form, tools, true);
        assert_false(grammar.failed);
        for (size_t a = 0; a < COUNT(answers); a++) {
            server_reader reader;
            server_reader_begin(&reader, form, tools, false);
            for (size_t at = 0; answers[a][at]; at++) server_reader_push(&reader, answers[a] + at, 1);
            server_reader_end(&reader, false);
            assert_int_equal(reader.text.n, 0);
            server_reader_free(&reader);
        }
        server_text_free(&grammar);
        server_form_close(form);
        vouch_model_close(model);
    }
    json_decref(tools);
}

static void calls_are_read_as_published_templates_write_them(void **state)
{
    (void)state;
    if (!call_published_path(0)) test_skip("VOUCH_DATA has no templates");
    for (size_t i = 0; i < n_call_published; i++) {
        size_t n;
        char *text = read_whole(call_published_path(i), &n);
        check_template(call_published[i].name, text, call_published[i].n_calls, test_is_quick() ? 2 : 100);
        free(text);
    }
}

/* ------------------------------------------------------------- forced calls */

/* Arguments that the schema of look_up accepts. */
static bool is_valid(const char *name, const char *text)
{
    json_t *a = json_loads(text, 0, NULL), *most = json_object_get(a, "most"), *word = json_object_get(a, "word");
    const char *kind = json_string_value(json_object_get(a, "kind"));
    const bool is_empty = json_is_object(a) && json_object_size(a) == 0;
    const bool is_good = json_object_size(a) == 3u + (word != NULL) && (!word || json_is_string(word)) && kind &&
                         (strcmp(kind, "noun") == 0 || strcmp(kind, "verb") == 0) && json_is_integer(most) &&
                         json_integer_value(most) >= 1 && json_integer_value(most) <= 9 &&
                         json_is_boolean(json_object_get(a, "exact"));
    json_decref(a);
    return strcmp(name, "look_up") == 0 ? is_good : strcmp(name, "stop") == 0 && is_empty;
}

/* The token </think> is made likely, and a budget ends other thoughts. The byte NUL, which would end a string of C, is
 * banned. */
static void ask(char *body, size_t size, int seed, const char *more)
{
    snprintf(body, size,
             "{\"messages\": [{\"role\": \"user\", \"content\": \"look it up\"}], \"max_tokens\": 1500, "
             "\"thinking_budget\": 200, \"temperature\": 0.8, \"seed\": %d, \"logit_bias\": {\"%d\": 5, \"%d\": "
             "-100}, \"tools\": " CALL_TOOLS ", %s, \"speculative\": {\"accept\": \"match\", \"drafters\": "
             "\"%s\"}}",
             seed, TINY_THINK_END, TINY_BYTES, more, seed % 2 ? "none" : "auto");
}

/* The deltas of a stream, joined, are the message of the answer. Returns the number of its calls. */
static int same_streamed(const http_server *server, const char *body, json_t *message)
{
    char *stream = calloc(1, strlen(body) + 32);
    sprintf(stream, "{\"stream\": true, %s", body + 1);
    http_reply reply = http_post(server->port, CHAT, stream);
    bool is_done;
    json_t *events = http_events(&reply, &is_done), *event, *call;
    json_t *calls = http_at(message, "tool_calls");
    char *thoughts = calloc(1, reply.n + 1), *content = calloc(1, reply.n + 1), *arguments = calloc(1, reply.n + 1);
    size_t i, j;
    int n = 0;
    assert_true(is_done);
    json_array_foreach(events, i, event) {
        json_t *delta = http_at(event, "choices.0.delta");
        if (http_at(delta, "reasoning_content")) strcat(thoughts, http_text_at(delta, "reasoning_content"));
        if (http_at(delta, "content")) strcat(content, http_text_at(delta, "content"));
        json_array_foreach(http_at(delta, "tool_calls"), j, call) {
            const bool begins = http_at(call, "id") != NULL;
            if (begins && n > 0)
                assert_string_equal(arguments,
                                    http_text_at(json_array_get(calls, (size_t)n - 1), "function.arguments"));
            if (begins) {
                assert_string_equal(http_text_at(call, "function.name"),
                                    http_text_at(json_array_get(calls, (size_t)n), "function.name"));
                *arguments = '\0';
                n++;
            }
            assert_int_equal(json_integer_value(http_at(call, "index")), n - 1);
            strcat(arguments, http_text_at(call, "function.arguments"));
        }
    }
    if (n > 0) assert_string_equal(arguments, http_text_at(json_array_get(calls, (size_t)n - 1), "function.arguments"));
    assert_int_equal(json_array_size(calls), n);
    if (http_at(message, "reasoning_content"))
        assert_string_equal(thoughts, http_text_at(message, "reasoning_content"));
    else assert_string_equal(thoughts, "");
    if (json_is_string(http_at(message, "content"))) assert_string_equal(content, http_text_at(message, "content"));
    else assert_string_equal(content, "");
    http_reply_free(&reply);
    json_decref(events);
    free(thoughts);
    free(content);
    free(arguments);
    free(stream);
    return n;
}

/* Asks twice, with and without a stream. Returns the message, and adds to *n_calls and *n_thoughts. */
static void check_forced(const http_server *server, int seed, const char *more, const char *name, int most,
                         int *n_calls, int *n_thoughts)
{
    char body[4096];
    ask(body, sizeof body, seed, more);
    http_reply reply = http_post(server->port, CHAT, body);
    if (reply.status != 200) fail_msg("status %d: %s", reply.status, reply.body);
    json_t *answer = http_json(&reply), *message = http_at(answer, "choices.0.message"), *call;
    size_t i;
    const int n = same_streamed(server, body, message);
    *n_thoughts += http_at(message, "reasoning_content") != NULL;
    if (strcmp(http_text_at(answer, "choices.0.finish_reason"), "length") != 0) {
        json_array_foreach(http_at(message, "tool_calls"), i, call) {
            const char *called = http_text_at(call, "function.name");
            if (!is_valid(called, http_text_at(call, "function.arguments")))
                fail_msg("%s(%s)", called, http_text_at(call, "function.arguments"));
            assert_true(!name || strcmp(called, name) == 0);
        }
        if (n == 0 || n > most) fail_msg("%d calls: %s", n, http_text_at(message, "content"));
        assert_string_equal(http_text_at(answer, "choices.0.finish_reason"), "tool_calls");
        *n_calls += n;
    }
    json_decref(answer);
}

static void check_server(const char *chat_template, call_thoughts thoughts, bool writes_several, int n_seeds)
{
    http_server server =
        http_server_start((const char *const[]){model_file, "--chat-template", chat_template, "--ctx", "8192", NULL});
    int n_calls = 0, n_several = 0, n_thoughts = 0;
    for (int seed = 0; seed < n_seeds; seed++) {
        check_forced(&server, seed, "\"tool_choice\": \"required\"", NULL, 1000, &n_several, &n_thoughts);
        check_forced(&server, seed, "\"tool_choice\": \"required\", \"parallel_tool_calls\": false", NULL, 1, &n_calls,
                     &n_thoughts);
        check_forced(&server, seed, "\"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": \"look_up\"}}",
                     "look_up", 1, &n_calls, &n_thoughts);
    }
    /* Of a few random answers, all may be cut off. */
    if (n_seeds > 2 && n_calls < n_seeds / 2) fail_msg("%s: %d calls", chat_template, n_calls);
    if (n_seeds > 2) {
        assert_true(!writes_several || n_several > n_seeds / 2);
        assert_true(thoughts != CALL_THINKS_NEVER || n_thoughts == 0);
        assert_true(thoughts != CALL_THINKS || n_thoughts > 4);
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

/* test_server_loop forces a call in all of them. */
static void calls_are_forced_in_each_form(void **state)
{
    (void)state;
    for (size_t i = 1; i < n_call_templates; i += test_is_quick() ? 8 : 2) {
        char path[256];
        strcpy(path, test_temporary("template.jinja"));
        write_whole(path, call_templates[i].text, strlen(call_templates[i].text));
        check_server(path, call_templates[i].thoughts, strcmp(call_templates[i].name, "Mistral") == 0,
                     test_is_quick() ? 1 : 6);
    }
}

static void calls_are_forced_in_published_forms(void **state)
{
    (void)state;
    test_skip_slow();
    if (!call_published_path(0)) test_skip("VOUCH_DATA has no templates");
    for (size_t i = 0; i < n_call_published; i++) check_server(call_published_path(i), CALL_MAY_THINK, false, 2);
}

/* A list of required parameters that holds anything but names is refused in all forms (law L5). */
static void required_parameters_have_names(void **state)
{
    (void)state;
    static const char *const lists[] = {"[1]", "[\"word\", null]", "\"word\"", "{}"};
    for (size_t i = 1; i < n_call_templates; i += 4) {
        char path[256], body[1024];
        strcpy(path, test_temporary("template.jinja"));
        write_whole(path, call_templates[i].text, strlen(call_templates[i].text));
        http_server server = http_server_start((const char *const[]){model_file, "--chat-template", path, NULL});
        for (size_t l = 0; l < COUNT(lists); l++) {
            snprintf(body, sizeof body,
                     "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 2, "
                     "\"tool_choice\": \"required\", \"tools\": [{\"type\": \"function\", \"function\": {\"name\": "
                     "\"f\", \"parameters\": {\"type\": \"object\", \"properties\": {\"word\": {\"type\": "
                     "\"string\"}}, \"required\": %s}}}]}",
                     lists[l]);
            http_reply reply = http_post(server.port, CHAT, body);
            assert_int_equal(reply.status, 400);
            json_t *answer = http_json(&reply);
            assert_string_equal(http_text_at(answer, "error.param"), "tools[0].function.parameters");
            json_decref(answer);
        }
        assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    }
}

/* ------------------------------------------------------------------- schemas */

#define SCHEMA                                                                                                    \
    "\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"type\": \"object\", "      \
    "\"properties\": {\"colour\": {\"enum\": [\"red\", \"green\"]}}, \"required\": [\"colour\"], "                \
    "\"additionalProperties\": false}}}"

/* Content that follows the schema, after thoughts where the template opens them; none where the client turns them
 * off, or where the request's own grammar binds the answer from its first token on. */
static void schemas_begin_after_thoughts(void **state)
{
    (void)state;
    static const size_t thinking[] = {2, 3, 6};
    for (size_t t = 0; t < COUNT(thinking); t++) {
        char path[256], body[2048];
        int n_thoughts = 0, n_good = 0;
        strcpy(path, test_temporary("template.jinja"));
        write_whole(path, call_templates[thinking[t]].text, strlen(call_templates[thinking[t]].text));
        http_server server = http_server_start((const char *const[]){model_file, "--chat-template", path, NULL});
        for (int seed = 0; seed < 24; seed++) {
            static const char *const kinds[] = {
                SCHEMA, SCHEMA ", \"chat_template_kwargs\": {\"enable_thinking\": false}",
                "\"grammar\": \"root ::= \\\"{\\\\\\\"colour\\\\\\\": \\\\\\\"red\\\\\\\"}\\\"\""};
            const int kind = seed % 3;
            snprintf(body, sizeof body,
                     "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 1000, \"seed\": %d, "
                     "\"logit_bias\": {\"%d\": 9}, %s}",
                     seed, TINY_THINK_END, kinds[kind]);
            http_reply reply = http_post(server.port, CHAT, body);
            if (reply.status != 200) fail_msg("status %d: %s", reply.status, reply.body);
            json_t *answer = http_json(&reply), *message = http_at(answer, "choices.0.message");
            const bool has_thoughts = http_at(message, "reasoning_content") != NULL;
            if (strcmp(http_text_at(answer, "choices.0.finish_reason"), "stop") == 0) {
                json_t *value = json_loads(http_text_at(message, "content"), 0, NULL);
                if (!value) fail_msg("%s", http_text_at(message, "content"));
                assert_non_null(strstr("red green", http_text_at(value, "colour")));
                json_decref(value);
                n_good++;
            }
            n_thoughts += has_thoughts;
            if (kind > 0) assert_false(has_thoughts);
            json_decref(answer);
        }
        assert_true(n_good >= 12);
        if (call_templates[thinking[t]].thoughts == CALL_THINKS) assert_true(n_thoughts == 8);
        assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_read_as_templates_write_them),
        cmocka_unit_test(calls_of_templates_that_show_none),
        cmocka_unit_test(odd_templates_have_no_calls),
        cmocka_unit_test(calls_are_read_as_published_templates_write_them),
        cmocka_unit_test(calls_are_forced_in_each_form),
        cmocka_unit_test(calls_are_forced_in_published_forms),
        cmocka_unit_test(required_parameters_have_names),
        cmocka_unit_test(schemas_begin_after_thoughts),
    };
    return cmocka_run_group_tests(tests, files_write, NULL);
}
