/* SPDX-License-Identifier: MIT */
/* Conversations as JSON through a chat template: what is refused and where, other forms, and special tokens
 * as text. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "support/model/tokenizers.h"

static const char chat[] = "{% for t in tools or [] %}<|pad|>{{ t|tojson }}{% endfor %}"
                           "{% for d in documents or [] %}{{ d.text }}{% endfor %}"
                           "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.reasoning_content or '' }}"
                           "{{ m.content or '' }}{% for c in m.tool_calls or [] %}{{ c.function.name }}"
                           "{{ c.function.arguments|tojson }}{{ c.id }}{% endfor %}{{ m.tool_call_id }}<|im_end|>\n"
                           "{% endfor %}{{ extra }}{% if add_generation_prompt %}<|im_start|>assistant\n"
                           "{% if not enable_thinking|d(true) %}<think></think>{% endif %}{% endif %}";

static void assert_renders(const vouch_tokenizer *tokenizer, const char *json, const char *expected)
{
    char text[2000] = "";
    size_t n = 0, count = 0;
    vouch_error err = {0};
    if (vouch_tokenizer_render_json(tokenizer, json, strlen(json), text, sizeof text - 1, &n, &err) != VOUCH_OK)
        fail_msg("%s", err.message);
    text[n] = '\0';
    assert_string_equal(text, expected);
    assert_int_equal(vouch_tokenizer_render_json(tokenizer, json, strlen(json), NULL, 0, &count, &err), VOUCH_E_BUFFER);
    assert_int_equal(count, n);
}

/* The text ends after the last message, which the model continues. */
static void answers_are_continued(void **state)
{
    (void)state;
    static const char stripping[] = "{% for m in messages %}{{ m.role }}:{{ m.content|trim }};{% endfor %}"
                                    "{% if add_generation_prompt %}assistant:{% endif %}";
    vouch_tokenizer *tokenizer = templated_tokenizer(chat);
    assert_renders(tokenizer,
                   "{\"messages\": [{\"role\": \"assistant\", \"content\": \"Sure\"}, {\"role\": \"user\", "
                   "\"content\": \"Hi\"}, {\"role\": \"assistant\", \"content\": \" Sure, \"}], "
                   "\"continue_final_message\": true}",
                   "<|im_start|>assistant\nSure<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
                   "<|im_start|>assistant\n Sure, ");
    vouch_tokenizer_close(tokenizer);
    tokenizer = templated_tokenizer(stripping);
    assert_renders(tokenizer,
                   "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"assistant\", "
                   "\"content\": [{\"type\": \"text\", \"text\": \" a;b \"}]}], \"continue_final_message\": true}",
                   "user:Hi;assistant:a;b");
    static const char *const wrong[][2] = {
        {"[{\"role\": \"user\", \"content\": \"Hi\"}]", "isn't the assistant's"},
        {"[{\"role\": \"assistant\", \"content\": null}]", "has no text"},
        {"[{\"role\": \"assistant\", \"content\": \" \"}]", "doesn't write the last message"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char json[256];
        size_t n;
        vouch_error err = {0};
        snprintf(json, sizeof json, "{\"messages\": %s, \"continue_final_message\": true}", wrong[i][0]);
        assert_int_equal(vouch_tokenizer_render_json(tokenizer, json, strlen(json), NULL, 0, &n, &err),
                         VOUCH_E_ARGUMENT);
        if (!strstr(err.message, wrong[i][1])) fail_msg("%s", err.message);
    }
    vouch_tokenizer_close(tokenizer);
}

#define CALLED(content, id, arguments)                                                                      \
    "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}, {\"role\": \"assistant\"" content ", \"tool_calls\": " \
    "[{\"id\": \"" id "\", \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": " arguments "}}]}, " \
    "{\"role\": \"tool\", \"tool_call_id\": \"" id "\", \"content\": \"r\"}]}"
#define AS_TEXT "\"{\\\"x\\\": 1}\""
#define LONG    "\"{\\\"x\\\": [123456789012345678901234567890, 1e400, 0.10]}\""

/* A question right after a result, as blocks of the Anthropic API have it. */
#define ASKED_AGAIN(content)                                                                                    \
    "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}, {\"role\": \"assistant\", \"tool_calls\": [{\"id\": "   \
    "\"a\", \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": {\"x\": 1}}}]}, {\"role\": "        \
    "\"tool\", \"tool_call_id\": \"a\", \"content\": \"r\"}, {\"role\": \"user\", \"content\": " content "}, "        \
    "{\"role\": \"assistant\", \"content\": \"a\"}]}"

/* Clients send a call's content, arguments and id in the forms of one API. Each template gets what it reads. */
static void calls_take_the_form_that_a_template_reads(void **state)
{
    (void)state;
    static const char texts[] = "{% for m in messages %}{{ m.content + ';' }}{% for c in m.tool_calls or [] %}"
                                "{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}",
                      nulls[] = "{% for m in messages %}{% if m.content is none %}{% for c in m.tool_calls %}"
                                "{{ c.function.name + c.function.arguments }}{% endfor %}{% else %}{{ m.content }}"
                                "{% endif %};{% endfor %}",
                      nine[] = "{% for m in messages %}{% for c in m.tool_calls or [] %}{% if c.id|length != 9 %}"
                               "{{ raise_exception('nine') }}{% endif %}{{ c.id }}{{ c.function.arguments | tojson }}"
                               "{% endfor %}{% if m.tool_call_id %}={{ m.tool_call_id }}{% endif %}{% endfor %}",
                      named[] = "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.id }}"
                                "{{ c.function.arguments | tojson }}{% endfor %}{{ m.tool_call_id }}{% endfor %}",
                      kinds[] = "{% for m in messages %}{% for c in m.tool_calls or [] %}{% for v in "
                                "c.function.arguments.x %}{{ v is number }}{{ v is string }}{% endfor %}"
                                "{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}",
                      turns[] = "{% set ns = namespace(i=0) %}{% for m in messages %}{% if m.role == 'user' or (m.role "
                                "== 'assistant' and not m.tool_calls) %}{% if (m.role == 'user') != (ns.i % 2 == 0) %}"
                                "{{ raise_exception('turns') }}{% endif %}{% set ns.i = ns.i + 1 %}{% endif %}"
                                "{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.arguments | tojson }}"
                                "{% endfor %};{% endfor %}";
    static const struct {
        const char *template, *json, *expected;
    } cases[] = {
        {texts, CALLED(", \"content\": null", "a", AS_TEXT), "q;;{\"x\": 1}r;"},
        {texts, CALLED("", "a", AS_TEXT), "q;;{\"x\": 1}r;"},
        {texts, CALLED(", \"content\": \"so\"", "a", "{\"x\": 1}"), "q;so;{\"x\": 1}r;"},
        {texts, CALLED(", \"content\": null", "a", "null"), "q;;{}r;"},
        {texts, CALLED(", \"content\": null", "a", "\"{\\\"x\\\": \""), "q;;{\"arguments\": \"{\\\"x\\\": \"}r;"},
        /* cut */
        {texts, CALLED(", \"content\": null", "a", "\"\""), "q;;{}r;"},
        {nulls, CALLED(", \"content\": \"\"", "a", AS_TEXT), "q;f{\"x\": 1};r;"},
        {nulls, CALLED(", \"content\": null", "a", "{\"x\": 1}"), "q;f{\"x\":1};r;"},
        {nulls, CALLED("", "a", LONG), "q;f{\"x\": [123456789012345678901234567890, 1e400, 0.10]};r;"},
        {nine, CALLED("", "call_0123456789", AS_TEXT), "rMvm6TNZR{\"x\": 1}=rMvm6TNZR"},
        {nine, CALLED("", "abcdefghi", AS_TEXT), "abcdefghi{\"x\": 1}=abcdefghi"},
        {named, CALLED("", "call_7", AS_TEXT), "functions.f:0{\"x\": 1}functions.f:0"},
        {turns, ASKED_AGAIN("\"and\""), "q;{\"x\": 1};r\nand;a;"},
        {turns, ASKED_AGAIN("[{\"type\": \"text\", \"text\": \"and\"}]"), "q;{\"x\": 1};r\nand;a;"},
        {texts, ASKED_AGAIN("\"and\""), "q;;{\"x\": 1}r;and;a;"},
        {kinds, CALLED("", "a", LONG),
         "TrueFalseTrueFalseTrueFalse{\"x\": [123456789012345678901234567890, 1e400, 0.1]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vouch_tokenizer *tokenizer = templated_tokenizer(cases[i].template);
        assert_renders(tokenizer, cases[i].json, cases[i].expected);
        vouch_tokenizer_close(tokenizer);
    }
}

/* A developer's message is a system message where the template doesn't know the role, and system messages become one
 * where it would lose or refuse some. */
static void roles_take_the_form_that_a_template_reads(void **state)
{
    (void)state;
#define SAID(role, text) "{\"role\": \"" role "\", \"content\": \"" text "\"}"
#define QUESTION         SAID("user", "q")
#define EACH(what)       "{% for m in messages %}" what "{{ m.role }}:{{ m.content }};{% endfor %}"
    static const char plain[] = EACH(""),
                      knows[] = "{% for m in messages %}{{ 'D' if m.role == 'developer' else m.role }}:{{ m.content }};"
                                "{% endfor %}",
                      loses[] = "{% for m in messages if m.role != 'developer' %}{{ m.role }}:{{ m.content }};"
                                "{% endfor %}",
                      refuses[] = EACH("{% if m.role not in ['system', 'user'] %}{{ raise_exception('role') }}"
                                       "{% endif %}"),
                      first[] = "{{ messages[0].role }}:{{ messages[0].content }};{% for m in messages[1:] if m.role "
                                "!= 'system' %}{{ m.role }}:{{ m.content }};{% endfor %}",
                      last[] = "{% set n = namespace(s='') %}{% for m in messages if m.role == 'system' %}{% set n.s = "
                               "m.content %}{% endfor %}{{ n.s }};{{ messages[-1].content }};",
                      one[] = EACH("{% if m.role == 'system' and not loop.first %}{{ raise_exception('one') }}"
                                   "{% endif %}");
    static const struct {
        const char *template, *messages, *expected;
    } cases[] = {
        {plain, SAID("developer", "d") ", " QUESTION, "system:d;user:q;"},
        {knows, SAID("developer", "d") ", " QUESTION, "D:d;user:q;"},
        {loses, SAID("developer", "d") ", " QUESTION, "system:d;user:q;"},
        {refuses, SAID("developer", "d") ", " QUESTION, "system:d;user:q;"},
        {plain, QUESTION ", " SAID("developer", "d"), "user:q;system:d;"},
        {plain, SAID("system", "a") ", " SAID("system", "b") ", " QUESTION, "system:a;system:b;user:q;"},
        {first, SAID("system", "a") ", " SAID("system", "b") ", " QUESTION, "system:a\nb;user:q;"},
        {last, SAID("system", "a") ", " SAID("system", "b") ", " QUESTION, "a\nb;q;"},
        {one, SAID("system", "a") ", " SAID("system", "b") ", " SAID("system", "c") ", " QUESTION,
         "system:a\nb\nc;user:q;"},
        {one, SAID("system", "a") ", " SAID("developer", "b") ", " QUESTION, "system:a\nb;user:q;"},
        {one,
         "{\"role\": \"system\", \"content\": [{\"type\": \"text\", \"text\": \"a\"}]}, " SAID("system",
                                                                                               "b") ", " QUESTION,
         "system:a\nb;user:q;"},
        {one, SAID("system", "a") ", " QUESTION, "system:a;user:q;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[500];
        vouch_tokenizer *tokenizer = templated_tokenizer(cases[i].template);
        snprintf(json, sizeof json, "[%s]", cases[i].messages);
        assert_renders(tokenizer, json, cases[i].expected);
        vouch_tokenizer_close(tokenizer);
    }
#undef SAID
#undef QUESTION
#undef EACH
}

/* A template that asks for what tools may lack gets it; one that doesn't sees the tools as they are. */
static void tools_are_completed_where_a_template_asks(void **state)
{
    (void)state;
    static const char json[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}], \"tools\": [{\"type\": "
                               "\"function\", \"function\": {\"name\": \"f\"}}, {\"type\": \"function\", \"function\": "
                               "{\"name\": \"g\", \"parameters\": {}}}, {\"type\": \"function\", \"function\": "
                               "{\"name\": \"h\", \"parameters\": {\"properties\": {\"x\": {}}}}}]}";
    vouch_tokenizer *tokenizer = templated_tokenizer(
        "{% for t in tools %}{{ t.function.name + t.function.description }}{{ t.function.parameters.type + '(' }}"
        "{% for k, v in t.function.parameters.properties.items() %}{{ k + ':' + v.type + v.description }}{% endfor %})"
        "{% endfor %}{{ messages[0].content }}");
    assert_renders(tokenizer, json, "fobject()gobject()hobject(x:string)q");
    vouch_tokenizer_close(tokenizer);
    tokenizer = templated_tokenizer("{{ tools | tojson }}{{ messages[0].content }}");
    assert_renders(tokenizer, json,
                   "[{\"type\": \"function\", \"function\": {\"name\": \"f\"}}, {\"type\": \"function\", \"function\": "
                   "{\"name\": \"g\", \"parameters\": {}}}, {\"type\": \"function\", \"function\": {\"name\": \"h\", "
                   "\"parameters\": {\"properties\": {\"x\": {}}}}}]q");
    vouch_tokenizer_close(tokenizer);
}

static void bad_conversations(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "conversation: line 1"},
        {"{}", "conversation: messages is missing; expected an array of messages"},
        {"[]", "conversation: messages is empty"},
        {"{\"messages\": \"hi\"}", "messages is a string"},
        {"[3]", "messages[0] is a number; expected an object"},
        {"[{\"role\": \"user\", \"content\": \"a\"}, {\"content\": \"b\"}]", "messages[1].role is missing"},
        {"[{\"role\": \"wizard\"}]", "messages[0].role is \"wizard\"; expected system, developer, user"},
        {"[{\"role\": \"user\", \"content\": 3}]", "messages[0].content is a number; expected a string, null"},
        {"[{\"role\": \"user\", \"content\": [{\"type\": \"image_url\"}]}]",
         "messages[0].content[0].type is \"image_url\"; vouch reads parts of the type \"text\" only"},
        {"[{\"role\": \"user\", \"content\": [{\"type\": \"text\"}]}]", "messages[0].content[0].text is missing"},
        {"[{\"role\": \"assistant\", \"tool_calls\": {}}]", "messages[0].tool_calls is an object; expected an array"},
        {"[{\"role\": \"assistant\", \"tool_calls\": [{}]}]", "messages[0].tool_calls[0].function is missing"},
        {"[{\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": 1}}]}]",
         "messages[0].tool_calls[0].function.arguments is a number"},
        {"{\"messages\": [{\"role\": \"user\"}], \"tools\": [1]}", "tools[0] is a number; expected an object"},
        {"{\"messages\": [{\"role\": \"user\"}], \"documents\": 1}", "documents is a number; expected an array"},
        {"{\"messages\": [{\"role\": \"user\"}], \"chat_template_kwargs\": []}", "chat_template_kwargs is an array"},
    };
    vouch_tokenizer *tokenizer = templated_tokenizer(chat);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = 7;
        vouch_error err = {0};
        const vouch_status status =
            vouch_tokenizer_encode_json(tokenizer, cases[i][0], strlen(cases[i][0]), NULL, 0, &n, &err);
        if (status != VOUCH_E_ARGUMENT || !strstr(err.message, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], err.message);
        assert_int_equal(n, 0);
    }
    vouch_tokenizer_close(tokenizer);
}

/* Tools, variables, and two forms that this template can't read: content in parts, and arguments as text. */
static void conversations_are_rendered(void **state)
{
    (void)state;
    vouch_tokenizer *tokenizer = templated_tokenizer(chat);
    assert_renders(tokenizer, "[{\"role\": \"user\", \"content\": \"Hi\"}]",
                   "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
    assert_renders(tokenizer,
                   "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"add_generation_prompt\": false, "
                   "\"tools\": [{\"b\": 1, \"a\": 2}], \"chat_template_kwargs\": {\"extra\": 5}}",
                   "<|pad|>{\"b\": 1, \"a\": 2}<|im_start|>user\nHi<|im_end|>\n5");
    assert_renders(tokenizer,
                   "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"a\"}, "
                   "{\"type\": \"text\", \"text\": \"b\"}]}], \"enable_thinking\": false}",
                   "<|im_start|>user\na\nb<|im_end|>\n<|im_start|>assistant\n<think></think>");
    assert_renders(tokenizer,
                   "{\"messages\": [{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"7\", "
                   "\"function\": {\"name\": \"f\", \"arguments\": \"{\\\"x\\\": 1}\"}}]}, {\"role\": \"tool\", "
                   "\"content\": \"2\", \"tool_call_id\": \"7\"}], \"add_generation_prompt\": false}",
                   "<|im_start|>assistant\nf{\"x\": 1}7<|im_end|>\n<|im_start|>tool\n27<|im_end|>\n");
    vouch_tokenizer_close(tokenizer);
    /* A template that can read both forms gets them as they are. */
    tokenizer =
        templated_tokenizer("{% for m in messages %}{% if m.content is string %}S{{ m.content }}{% else %}"
                            "{% for p in m.content or [] %}P{{ p.text }}{% endfor %}{% endif %}"
                            "{% for c in m.tool_calls or [] %}{{ c.function.arguments }}{% endfor %}{% endfor %}");
    assert_renders(tokenizer,
                   "[{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"a\"}]}, {\"role\": "
                   "\"assistant\", "
                   "\"content\": \"\", \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": \"{ }\"}}]}]",
                   "PaS{ }");
    vouch_tokenizer_close(tokenizer);
    /* The caller's variables hold for every conversation, unless it has its own. */
    vouch_error err = {0};
    tokenizer = templated_tokenizer(chat);
    assert_int_equal(vouch_tokenizer_set_variables(tokenizer, "[1]", &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "chat_variables is an array; expected a JSON object"));
    assert_int_equal(vouch_tokenizer_set_variables(tokenizer, "{\"extra\": \"E\", \"enable_thinking\": false}", &err),
                     0);
    assert_renders(tokenizer, "[{\"role\": \"user\"}]",
                   "<|im_start|>user\n<|im_end|>\nE<|im_start|>assistant\n<think></think>");
    assert_renders(tokenizer, "{\"messages\": [{\"role\": \"user\"}], \"extra\": \"F\", \"enable_thinking\": true}",
                   "<|im_start|>user\n<|im_end|>\nF<|im_start|>assistant\n");
    vouch_tokenizer_close(tokenizer);
}

/* Every special token of the vocabulary, as text in every string of a conversation: none becomes a token. The name "x"
 * (special -1) gives the number of special tokens that the template writes by itself. */
static void text_names_no_special_token(void **state)
{
    (void)state;
    static const char *const places[] = {
        "{\"messages\": [{\"role\": \"user\", \"content\": \"%s\"}]}",
        "{\"messages\": [{\"role\": \"system\", \"content\": \"%s\"}]}",
        "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"%s\"}]}]}",
        "{\"messages\": [{\"role\": \"tool\", \"content\": \"%s\", \"tool_call_id\": \"%s\"}]}",
        ("{\"messages\": [{\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"%s\", \"function\": "
         "{\"name\": \"%s\", \"arguments\": {\"%s\": \"%s\"}}}]}]}"),
        ("{\"messages\": [{\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"1\", \"function\": "
         "{\"name\": \"f\", \"arguments\": \"{\\\"a\\\": \\\"%s\\\"}\"}}]}]}"),
        ("{\"messages\": [{\"role\": \"user\"}], "
         "\"tools\": [{\"%s\": {\"description\": \"%s\", \"enum\": [\"%s\"]}}]}"),
        "{\"messages\": [{\"role\": \"user\"}], \"documents\": [{\"text\": \"%s\"}]}",
        "{\"messages\": [{\"role\": \"user\"}], \"extra\": \"%s\"}",
        "{\"messages\": [{\"role\": \"user\"}], \"chat_template_kwargs\": {\"extra\": \"%s\"}}",
    };
    vouch_tokenizer *tokenizer = templated_tokenizer(chat);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t plain = 0;
        for (int32_t special = -1; special < TINY_BYTES; special++) {
            char name[40] = "x", json[600];
            int32_t tokens[600];
            size_t n = 0, n_special = 0;
            vouch_error err = {0};
            const vouch_text bytes = vouch_tokenizer_bytes(tokenizer, special);
            if (special >= 0) snprintf(name, sizeof name, "%.*s", (int)bytes.size, bytes.data);
            snprintf(json, sizeof json, places[i], name, name, name, name);
            if (vouch_tokenizer_encode_json(tokenizer, json, strlen(json), tokens, 600, &n, &err))
                fail_msg("%s", err.message);
            for (size_t j = 0; j < n; j++) n_special += tokens[j] < TINY_BYTES;
            if (special < 0) plain = n_special;
            if (n_special != plain) fail_msg("%s: %zu special tokens, not %zu", json, n_special, plain);
        }
        assert_true(plain >= 3);
    }
    /* An answer may hold user-defined tokens, and no control token. */
    for (int32_t special = 0; special < TINY_BYTES; special++) {
        const vouch_text bytes = vouch_tokenizer_bytes(tokenizer, special);
        char json[200];
        int32_t tokens[200];
        size_t n, found = 0;
        snprintf(json, sizeof json, "{\"messages\": [{\"role\": \"assistant\", \"content\": \"x%.*s\"}]}",
                 (int)bytes.size, bytes.data);
        assert_int_equal(vouch_tokenizer_encode_json(tokenizer, json, strlen(json), tokens, 200, &n, NULL), VOUCH_OK);
        for (size_t j = 0; j < n; j++) found += tokens[j] < TINY_BYTES;
        assert_int_equal(found, special >= TINY_THINK ? 4 : 3);
    }
    vouch_tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_continued),
        cmocka_unit_test(calls_take_the_form_that_a_template_reads),
        cmocka_unit_test(roles_take_the_form_that_a_template_reads),
        cmocka_unit_test(tools_are_completed_where_a_template_asks),
        cmocka_unit_test(bad_conversations),
        cmocka_unit_test(conversations_are_rendered),
        cmocka_unit_test(text_names_no_special_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
