/* SPDX-License-Identifier: MIT */
/*
 * Thoughts and calls in the form that the model's chat template shows: short templates here, and those that models ship
 * where the optional data folder has them. A call that a template writes is read back as it was. A call that the
 * request forces, and an answer that is bound to a schema, come behind the thoughts.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form.h"
#include "reader.h"
#include "support/http.h"
#include "support/tiny_model.h"
#include "support/tiny_vocab.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define CHAT         "/v1/chat/completions"

/* ---------------------------------------------------------------- templates */

#define TURNS(calls)                                                                                           \
    "{{ tools | tojson if tools else '' }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"    \
    "{% for c in m.tool_calls or [] %}" calls "{% endfor %}<|im_end|>\n{% endfor %}"                           \
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
#define NAME  "{{ c.function.name }}"
#define GIVEN "{{ c.function.arguments | tojson }}"

static const struct {
    const char *name, *text;
    server_call_form form;
    server_thoughts thoughts;
} own[] = {
    {"plain", TURNS("") "{% endif %}", SERVER_CALL_JSON, SERVER_THOUGHTS_NONE},
    {"Llama", TURNS("{\"name\": \"" NAME "\", \"parameters\": " GIVEN "}") "{% endif %}", SERVER_CALL_PARAMETERS,
     SERVER_THOUGHTS_NONE},
    {"Qwen", TURNS("\n<tool_call>\n{\"name\": \"" NAME "\", \"arguments\": " GIVEN "}\n</tool_call>")
     "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}",
     SERVER_CALL_TAGS, SERVER_THOUGHTS_ALLOWED},
    {"Coder", TURNS("\n<tool_call>\n<function=" NAME ">\n{% for k, v in c.function.arguments | items %}<parameter="
                    "{{ k }}>\n{{ v if v is string else v | tojson }}\n</parameter>\n{% endfor %}</function>\n"
                    "</tool_call>") "<think>\n{% endif %}", SERVER_CALL_XML, SERVER_THOUGHTS_OPEN},
    {"Nemo", TURNS("{{ '[TOOL_CALLS][' if loop.first else ', ' }}{\"name\": \"" NAME "\", \"arguments\": " GIVEN
                   "}{{ ']' if loop.last }}") "{% endif %}", SERVER_CALL_LIST, SERVER_THOUGHTS_NONE},
    {"Mistral", TURNS("[TOOL_CALLS]" NAME "[ARGS]" GIVEN) "{% endif %}", SERVER_CALL_ARGS, SERVER_THOUGHTS_NONE},
    {"gpt-oss",
     "{% for m in messages %}{% if m.tool_calls %}{% for c in m.tool_calls %}<|start|>assistant to=functions." NAME
     "<|channel|>commentary json<|message|>" GIVEN "<|call|>{% endfor %}{% else %}<|start|>{{ m.role }}<|message|>"
     "{{ m.content }}<|end|>{% endif %}{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}",
     SERVER_CALL_CHANNEL, SERVER_THOUGHTS_CHANNEL},
};

static const struct {
    const char *file;
    server_call_form form;
    server_thoughts thoughts;
    int n_calls; /* most in one message */
} published[] = {
    {"templates/NousResearch-Hermes-3-Llama-3.1-8B-tool_use.jinja", SERVER_CALL_TAGS, SERVER_THOUGHTS_NONE, 2},
    {"templates/Qwen-Qwen2.5-7B-Instruct.jinja", SERVER_CALL_TAGS, SERVER_THOUGHTS_NONE, 2},
    {"templates/Qwen-Qwen3-0.6B.jinja", SERVER_CALL_TAGS, SERVER_THOUGHTS_ALLOWED, 2},
    {"templates/Qwen3-Coder.jinja", SERVER_CALL_XML, SERVER_THOUGHTS_NONE, 2},
    {"templates/meta-llama-Llama-3.1-8B-Instruct.jinja", SERVER_CALL_PARAMETERS, SERVER_THOUGHTS_NONE, 1},
    {"templates/mistralai-Mistral-Nemo-Instruct-2407.jinja", SERVER_CALL_LIST, SERVER_THOUGHTS_NONE, 2},
    {"templates/Mistral-Small-3.2-24B-Instruct-2506.jinja", SERVER_CALL_ARGS, SERVER_THOUGHTS_NONE, 2},
    {"templates/openai-gpt-oss-120b.jinja", SERVER_CALL_CHANNEL, SERVER_THOUGHTS_CHANNEL, 1},
};

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

#define TOOLS                                                                                                     \
    "[{\"type\": \"function\", \"function\": {\"name\": \"look_up\", \"description\": \"Looks a word up.\", "     \
    "\"parameters\": {\"type\": \"object\", \"properties\": {\"word\": {\"type\": \"string\"}, \"kind\": "        \
    "{\"type\": \"string\", \"enum\": [\"noun\", \"verb\"]}, \"most\": {\"$ref\": \"#/$defs/count\"}, \"exact\": " \
    "{\"type\": \"boolean\"}}, \"required\": [\"kind\", \"most\", \"exact\"], \"additionalProperties\": false, "  \
    "\"$defs\": {\"count\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 9}}}}}, {\"type\": "             \
    "\"function\", \"function\": {\"name\": \"stop\", \"description\": \"Stops.\", \"parameters\": {\"type\": "   \
    "\"object\", \"properties\": {}, \"additionalProperties\": false}}}]"

static const char *const arguments[] = {
    "{\"word\":\"3\",\"most\":3,\"list\":[1,\"a \\\"b\\\"\\n\",{\"x\":null}]}",
    "{\"word\":\"true\",\"exact\":false,\"deep\":{\"a\":{\"b\":[[],{}]}}}",
    "{\"word\":\"two\\nlines, <b> & caf\\u00e9\",\"most\":-1.5}",
    "{}",
};

static json_t *call_json(int i)
{
    char id[16];
    snprintf(id, sizeof id, "call%05d", i);
    return json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", id, "type", "function", "function", "name",
                     (size_t)i % COUNT(arguments) == 3 ? "stop" : "look_up", "arguments",
                     arguments[(size_t)i % COUNT(arguments)]);
}

static char *rendered(const vouch_model *model, json_t *messages, bool for_answer)
{
    json_t *conversation = json_pack("{s:O, s:o, s:b}", "messages", messages, "tools", json_loads(TOOLS, 0, NULL),
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
    return text;
}

/* The template writes a message with these calls, and the reader reads the same calls. */
static void round_trip(const char *name, const vouch_model *model, int first, int n_calls)
{
    json_t *messages = json_pack("[{s:s, s:s}]", "role", "user", "content", "look it up");
    json_t *calls = json_array(), *tools = json_loads(TOOLS, 0, NULL);
    char *prompt = rendered(model, messages, true);
    for (int i = 0; i < n_calls; i++) json_array_append_new(calls, call_json(first + i));
    json_array_append_new(messages, json_pack("{s:s, s:s, s:O}", "role", "assistant", "content", "", "tool_calls",
                                              calls));
    char *whole = rendered(model, messages, false);
    size_t shared = 0;
    while (prompt[shared] && prompt[shared] == whole[shared]) shared++;
    /* <think> and <tool_call> begin alike */
    if (shared > 1 && memcmp(whole + shared - 2, "<t", 2) == 0) shared -= 2;
    char *end = strstr(whole + shared, "<|im_end|>");
    if (!end) end = strstr(whole + shared, "<|eot_id|>");
    if (!end && strlen(whole) > 4 && strcmp(whole + strlen(whole) - 4, "</s>") == 0) end = whole + strlen(whole) - 4;
    if (end) *end = '\0';
    server_reader reader;
    server_reader_begin(&reader, tools, false);
    server_reader_push(&reader, whole + shared, strlen(whole + shared));
    server_reader_end(&reader);
    if (json_array_size(reader.calls) != (size_t)n_calls) fail_msg("%s: no calls in '%s'", name, whole + shared);
    for (int i = 0; i < n_calls; i++) {
        json_t *wanted = json_object_get(json_array_get(calls, (size_t)i), "function");
        json_t *got = json_array_get(reader.calls, (size_t)i);
        json_t *a = json_loads(http_text_at(wanted, "arguments"), 0, NULL);
        json_t *b = json_loads(http_text_at(got, "arguments"), 0, NULL);
        assert_string_equal(http_text_at(got, "name"), http_text_at(wanted, "name"));
        if (!json_equal(a, b)) fail_msg("%s: %s", name, http_text_at(got, "arguments"));
        json_decref(a);
        json_decref(b);
    }
    server_reader_free(&reader);
    json_decref(messages);
    json_decref(calls);
    json_decref(tools);
    free(prompt);
    free(whole);
}

static void check_template(const char *name, const char *text, server_call_form form, server_thoughts thoughts,
                           int n_calls)
{
    vouch_model *model = model_with(text);
    json_t *messages = json_pack("[{s:s, s:s}]", "role", "user", "content", "x");
    char *prompt = rendered(model, messages, true);
    int32_t *tokens = calloc(strlen(prompt) + 1, sizeof *tokens);
    size_t n;
    assert_int_equal(vouch_tokenize(model, prompt, strlen(prompt), VOUCH_TOKENIZE_SPECIAL, tokens, strlen(prompt), &n,
                                    NULL), VOUCH_OK);
    if (server_call_form_of(model) != form) fail_msg("%s: form %d", name, (int)server_call_form_of(model));
    if (server_thoughts_of(model, tokens, n) != thoughts)
        fail_msg("%s: thoughts %d", name, (int)server_thoughts_of(model, tokens, n));
    for (int first = 0; first < 4; first++)
        for (int i = 1; i <= n_calls; i++) round_trip(name, model, first, i);
    free(tokens);
    free(prompt);
    json_decref(messages);
    vouch_model_close(model);
}

static void calls_are_read_as_templates_write_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(own); i++)
        check_template(own[i].name, own[i].text, own[i].form, own[i].thoughts, own[i].form == SERVER_CALL_JSON ? 0
                                                       : own[i].form == SERVER_CALL_PARAMETERS ? 1 : 2);
}

static void calls_are_read_as_published_templates_write_them(void **state)
{
    (void)state;
    if (!test_data(published[0].file)) skip();
    for (size_t i = 0; i < COUNT(published); i++) {
        size_t n;
        char *text = read_whole(test_data(published[i].file), &n);
        check_template(published[i].file, text, published[i].form, published[i].thoughts, published[i].n_calls);
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

/* The token </think> is made likely, so that thoughts end. The byte NUL, which would end a string of C, is banned. */
static void ask(char *body, size_t size, int seed, const char *more)
{
    snprintf(body, size,
             "{\"messages\": [{\"role\": \"user\", \"content\": \"look it up\"}], \"max_tokens\": 2500, "
             "\"temperature\": 0.8, \"seed\": %d, \"logit_bias\": {\"%d\": 5, \"%d\": -100}, \"tools\": " TOOLS ", %s, "
             "\"speculative\": {\"accept\": \"match\", \"drafters\": \"%s\"}}", seed, TINY_THINK_END,
             TINY_BYTES, more, seed % 2 ? "none" : "auto");
}

/* The deltas of a stream, joined, are the message of the answer. Returns the number of its calls. */
static int same_streamed(const http_server *server, const char *body, json_t *message)
{
    char *stream = calloc(1, strlen(body) + 32);
    sprintf(stream, "{\"stream\": true, %s", body + 1);
    http_reply reply = http_post(server->port, CHAT, stream);
    bool is_done;
    json_t *events = http_events(&reply, &is_done), *event, *call;
    char *thoughts = calloc(1, reply.n + 1), *content = calloc(1, reply.n + 1);
    size_t i, j;
    int n = 0;
    assert_true(is_done);
    json_array_foreach(events, i, event)
    {
        json_t *delta = http_at(event, "choices.0.delta");
        if (http_at(delta, "reasoning_content")) strcat(thoughts, http_text_at(delta, "reasoning_content"));
        if (http_at(delta, "content")) strcat(content, http_text_at(delta, "content"));
        json_array_foreach(http_at(delta, "tool_calls"), j, call)
        {
            const json_t *same = json_array_get(http_at(message, "tool_calls"), (size_t)n);
            assert_int_equal(json_integer_value(http_at(call, "index")), n++);
            assert_true(json_equal(http_at(call, "function"), json_object_get(same, "function")));
        }
    }
    assert_int_equal(json_array_size(http_at(message, "tool_calls")), n);
    if (http_at(message, "reasoning_content"))
        assert_string_equal(thoughts, http_text_at(message, "reasoning_content"));
    else assert_string_equal(thoughts, "");
    if (json_is_string(http_at(message, "content"))) assert_string_equal(content, http_text_at(message, "content"));
    else assert_string_equal(content, "");
    http_reply_free(&reply);
    json_decref(events);
    free(thoughts);
    free(content);
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
        json_array_foreach(http_at(message, "tool_calls"), i, call)
        {
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

static void check_server(const char *chat_template, server_thoughts thoughts, bool writes_several)
{
    http_server server =
        http_server_start((const char *const[]){model_file, "--chat-template", chat_template, "--ctx", "8192", NULL});
    int n_calls = 0, n_several = 0, n_thoughts = 0;
    for (int seed = 0; seed < (test_is_quick() ? 1 : 6); seed++) {
        check_forced(&server, seed, "\"tool_choice\": \"required\"", NULL, 1000, &n_several, &n_thoughts);
        check_forced(&server, seed, "\"tool_choice\": \"required\", \"parallel_tool_calls\": false", NULL, 1, &n_calls,
                     &n_thoughts);
        check_forced(&server, seed, "\"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": \"look_up\"}}",
                     "look_up", 1, &n_calls, &n_thoughts);
    }
    if (!test_is_quick()) { /* of a few random answers, all may be cut off */
        assert_true(n_calls >= 4);
        assert_true(!writes_several || n_several > 6);
        assert_true(thoughts != SERVER_THOUGHTS_NONE || n_thoughts == 0);
        assert_true(thoughts != SERVER_THOUGHTS_OPEN || n_thoughts > 4);
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

static void calls_are_forced_in_each_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(own); i++) {
        char path[256];
        strcpy(path, test_temporary("template.jinja"));
        write_whole(path, own[i].text, strlen(own[i].text));
        check_server(path, own[i].thoughts,
                     own[i].form == SERVER_CALL_ARGS);
    }
}

static void calls_are_forced_in_published_forms(void **state)
{
    (void)state;
    test_skip_slow();
    if (!test_data(published[0].file)) skip();
    for (size_t i = 0; i < COUNT(published); i++)
        check_server(test_data(published[i].file), published[i].thoughts, false);
}

/* A list of required parameters that holds anything but names is refused in each form (law L5). */
static void required_parameters_have_names(void **state)
{
    (void)state;
    static const char *const lists[] = {"[1]", "[\"word\", null]", "\"word\"", "{}"};
    for (size_t i = 0; i < COUNT(own); i++) {
        char path[256], body[1024];
        strcpy(path, test_temporary("template.jinja"));
        write_whole(path, own[i].text, strlen(own[i].text));
        http_server server = http_server_start((const char *const[]){model_file, "--chat-template", path, NULL});
        for (size_t l = 0; l < COUNT(lists); l++) {
            snprintf(body, sizeof body,
                     "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 2, "
                     "\"tool_choice\": \"required\", \"tools\": [{\"type\": \"function\", \"function\": {\"name\": "
                     "\"f\", \"parameters\": {\"type\": \"object\", \"properties\": {\"word\": {\"type\": "
                     "\"string\"}}, \"required\": %s}}}]}", lists[l]);
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

/* Content that follows the schema, behind thoughts where the template opens them; none where the client turns them
 * off, or where the request's own grammar binds the answer from its first token on. */
static void schemas_begin_behind_thoughts(void **state)
{
    (void)state;
    static const size_t thinking[] = {2, 3, 6};
    for (size_t t = 0; t < COUNT(thinking); t++) {
        char path[256], body[2048];
        int n_thoughts = 0, n_good = 0;
        strcpy(path, test_temporary("template.jinja"));
        write_whole(path, own[thinking[t]].text, strlen(own[thinking[t]].text));
        http_server server = http_server_start((const char *const[]){model_file, "--chat-template", path, NULL});
        for (int seed = 0; seed < 24; seed++) {
            static const char *const kinds[] = {
                SCHEMA, SCHEMA ", \"chat_template_kwargs\": {\"enable_thinking\": false}",
                "\"grammar\": \"root ::= \\\"{\\\\\\\"colour\\\\\\\": \\\\\\\"red\\\\\\\"}\\\"\""};
            const int kind = seed % 3;
            snprintf(body, sizeof body,
                     "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 1000, \"seed\": %d, "
                     "\"logit_bias\": {\"%d\": 9}, %s}", seed, TINY_THINK_END, kinds[kind]);
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
            if (kind == 2 || (kind == 1 && own[thinking[t]].thoughts == SERVER_THOUGHTS_ALLOWED))
                assert_false(has_thoughts);
            json_decref(answer);
        }
        assert_true(n_good >= 12);
        if (own[thinking[t]].thoughts == SERVER_THOUGHTS_OPEN) assert_true(n_thoughts == 16);
        assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_read_as_templates_write_them),
        cmocka_unit_test(calls_are_read_as_published_templates_write_them),
        cmocka_unit_test(calls_are_forced_in_each_form),
        cmocka_unit_test(calls_are_forced_in_published_forms),
        cmocka_unit_test(required_parameters_have_names),
        cmocka_unit_test(schemas_begin_behind_thoughts),
    };
    return cmocka_run_group_tests(tests, files_write, NULL);
}
