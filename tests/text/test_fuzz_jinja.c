/* SPDX-License-Identifier: MIT */
/*
 * Runs the fuzz target of the chat templates inside the ordinary tests: random templates, damaged
 * copies of templates that use the whole language, and damaged conversations.
 */
#include "fuzz/fuzz_jinja.c"
#include "golden/jinja.h"
#include "support/mutate.h"
#include "support/decode/replay.h"

/* Texts of random templates. Their parts: $ an expression, @ statements, % a variable. Later texts have more parts. */
/* clang-format off */
static const char *const expressions[] = {
    "%", "1", "'text'", "-7", "2.5", "none", "true", "[]", "'\xe4\xbd\xa0'", "9223372036854775807", "messages",
    "m.content", "m['role']", "loop.index0", "loop.previtem", "ns.a", "range(3)", "strftime_now('%%Y')", "{}",
    "1e308", "%.a", "$ + $", "$ - $", "$ * $", "$ / $", "$ // $", "$ %% $", "$ ** $", "$ ~ $", "$ == $", "$ < $",
    "$ in $", "$ not in $", "$ and $", "$ or $", "not $", "-$", "($)", "$ if $ else $", "[$, $]", "{'a': $, $: $}",
    "($, $)", "%[$]", "%[$:$]", "%[::-1]", "f($)", "f(a=$)", "range($)", "dict(a=$)", "namespace(a=$)",
    "$ is defined", "$ is string", "$ is mapping", "$ is $", "$ | tojson", "$ | tojson(indent=4)", "$ | length",
    "$ | trim", "$ | upper", "$ | replace('a', $)", "$ | join($)", "$ | list", "$ | sort",
    "$ | map(attribute='role')", "$ | map('upper')", "$ | selectattr('role', 'equalto', $)", "$ | reverse",
    "$ | items", "$ | default($)", "$ | string", "$ | int", "$ | batch(2)", "$ | indent(2)", "$ | unique",
    "$ | dictsort", "$ | first", "$ | sum", "$ | escape", "%.split($)", "%.strip()", "%.append($)", "%.items()",
    "%.keys()", "%.startswith($)", "%.replace($, $)", "%.format($)", "%.get($, $)", "%.pop()", "'a' * 99999",
    "% * 99", "% ~ %", "raise_exception($)"};
static const char *const statements[] = {
    "text ", "{{ $ }}", "{# comment #}", "{{- $ -}}", "{%- set % = $ -%}", "{% set % = $ %}",
    "{% set ns = namespace(a=$) %}", "{% set ns.a = $ %}", "{% set ns.a = ns.a ~ $ %}", "{% set x = x * 9 %}",
    "{% if $ %}@{% endif %}", "{% if $ %}@{% elif $ %}@{% else %}@{% endif %}",
    "{% for m in messages %}@{% endfor %}", "{% for % in $ %}@{% endfor %}",
    "{% for x in $ if $ %}@{% else %}@{% endfor %}",
    "{% for x in range(99) %}{% for y in range(99) %}@{% endfor %}{% endfor %}",
    "{% for x, y in m.items() %}@{% endfor %}", "{% set % %}@{% endset %}",
    "{% set x = 'a' * 9999 %}{% for m in range(99) %}{% set x = x ~ x %}{{ x | length }}{% endfor %}",
    "{% macro f(a, b=$) %}@{% endmacro %}", "{% macro f(a) %}@{{ f(a) }}{% endmacro %}{{ f($) }}", "{% break %}",
    "{% continue %}", "{% generation %}@{% endgeneration %}", "{% call f($) %}@{% endcall %}",
    "{% filter upper %}@{% endfilter %}"};
/* clang-format on */
static const char *const variables[] = {"x", "y", "m", "messages", "tools", "ns", "loop", "a", "f", "nothing"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct writer {
    test_random random;
    size_t n;
    char text[1 << 14];
} writer;

/* Writes one of the texts of a list, and others in place of its parts. At depth 0 it chooses a text without parts. */
static void template_write(writer *w, const char *const *list, size_t n_list, size_t n_plain, int depth)
{
    const bool is_plain = depth <= 0 || test_below(&w->random, 2);
    const char *text = list[test_below(&w->random, (uint32_t)(is_plain ? n_plain : n_list))];
    for (; *text && w->n + 1 < sizeof w->text; text++) {
        const bool doubled = text[0] == '%' && text[1] == '%';
        const bool opens = w->n > 0 && w->text[w->n - 1] == '{';
        const bool is_tag = text[0] == '%' && (text[1] == '}' || text[1] == '-' || opens);
        if (*text == '$') template_write(w, expressions, COUNT(expressions), 21, depth - 1);
        else if (*text == '@')
            for (uint32_t left = test_below(&w->random, 4); left > 0 && depth > 0; left--)
                template_write(w, statements, COUNT(statements), 3, depth - 1);
        else if (*text == '%' && !doubled && !is_tag)
            template_write(w, variables, COUNT(variables), COUNT(variables), 0);
        else w->text[w->n++] = *text;
        text += doubled;
    }
}

static const char *const conversations[] = {
    "[{\"role\": \"user\", \"content\": \"Hi\"}]", "[]", "{}", "[{\"role\": \"user\"}]",
    "{\"messages\": [{\"role\": \"system\", \"content\": \"S\"}, {\"role\": \"user\", \"content\": [{\"type\": \""
    "text\", \"text\": \"a\"}]}, {\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"type\": \"funct"
    "ion\", \"id\": \"1\", \"function\": {\"name\": \"f\", \"arguments\": \"{\\\"a\\\": [1, {\\\"b\\\": 2.5}]}\"}"
    "}]}, {\"role\": \"tool\", \"tool_call_id\": \"1\", \"content\": \"42\"}], \"tools\": [{\"type\": \"function"
    "\", \"function\": {\"name\": \"f\", \"parameters\": {\"type\": \"object\"}}}], \"add_generation_prompt\": tr"
    "ue}"};
enum { N_CONVERSATIONS = COUNT(conversations) };

/* Uses most of the language; the damaged copies come from it. */
static const char whole[] =
    "{%- set ns = namespace(n=0, last='') -%}{# a comment #}\n"
    "{%- macro show(m, deep=0) -%}{{ '  ' * deep }}{{ m.role | upper }}: {{ m.content if m.content is string else "
    "m.content | tojson(indent=2) }}{% if deep < 3 %}{{ show(m, deep + 1) }}{% endif %}{%- endmacro -%}\n"
    "{%- if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% else %}"
    "{% set rest = messages %}{% endif -%}\n"
    "{%- for m in rest -%}{%- set ns.n = ns.n + loop.index0 * 2 -%}\n"
    "{%- if (m.role == 'user') != (loop.index0 % 2 == 0) and not loop.last -%}{% continue %}{%- endif -%}\n"
    "<|{{ m.role }}|>{{ show(m) }}{% for k, v in m.items() %}{{ k ~ '=' ~ v }}{{ ', ' if not loop.last }}{% endfor %}\n"
    "{%- for call in m.tool_calls or [] %}{{ call.function.arguments | tojson }}{% endfor -%}\n"
    "{%- endfor -%}{{ messages | map(attribute='role') | list | join('+') }}{{ (messages | selectattr('role', "
    "'equalto', 'user') | list)[-1] }}{% if tools is defined and tools %}{{ tools | length }}{% endif %}"
    "{{ ns.n // 3 ** 2 }}{{ 'a b c'.split(' ')[::-1] | reverse | join }}{{ 1.5e3 }}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}";

/* Feeds a template with one of the conversations. */
static void feed_both(const char *what, size_t number, const uint8_t *source, size_t n, const char *conversation)
{
    const size_t n_json = strlen(conversation);
    uint8_t *both = malloc(n + 1 + n_json);
    assert_non_null(both);
    if (n > 0) memcpy(both, source, n);
    both[n] = 0;
    memcpy(both + n + 1, conversation, n_json);
    feed(what, number, both, n + 1 + n_json);
    free(both);
}

static void random_templates(void **state)
{
    (void)state;
    static writer w = {.random = {6}};
    for (size_t i = 0; i < (test_is_quick() ? 3000 : 50000); i++) {
        w.n = 0;
        for (uint32_t left = 1 + test_below(&w.random, 6); left > 0; left--)
            template_write(&w, statements, COUNT(statements), 3, 5);
        feed_both("template", i, (const uint8_t *)w.text, w.n, conversations[test_below(&w.random, N_CONVERSATIONS)]);
    }
}

static void damaged_template(void **state)
{
    (void)state;
    static const char *const places[] = {"{%", "{{", "|", "in ", "if ", "set ", "[", "(", NULL};
    mutator m;
    mutator_open(&m, (const uint8_t *)whole, sizeof whole - 1, places, 7);
    feed_both("good", 0, m.good, m.size, conversations[4]);
    for (size_t n = 0; n < m.size; n++) {
        mutator_truncate(&m, n);
        feed_both("truncation", n, m.bytes, m.n, conversations[4]);
    }
    for (size_t i = 0; i < (test_is_quick() ? 2000 : 20000); i++) {
        mutator_next(&m);
        feed_both("mutation", i, m.bytes, m.n, conversations[i % N_CONVERSATIONS]);
    }
    mutator_close(&m);
}

static void damaged_conversation(void **state)
{
    (void)state;
    static const char *const places[] = {"{\"", "[", ": ", "content", "arguments", NULL};
    mutator m;
    const char *conversation = conversations[N_CONVERSATIONS - 1];
    mutator_open(&m, (const uint8_t *)conversation, strlen(conversation), places, 8);
    for (size_t i = 0; i < (test_is_quick() ? 1000 : 10000); i++) {
        mutator_next(&m);
        uint8_t *both = malloc(sizeof whole + m.n);
        assert_non_null(both);
        memcpy(both, whole, sizeof whole);
        memcpy(both + sizeof whole, m.bytes, m.n);
        feed("conversation", i, both, sizeof whole + m.n);
        free(both);
    }
    mutator_close(&m);
}

/* Damaged copies of small templates that each use one part of the language. */
static void damaged_parts(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    for (size_t i = 0; i < COUNT(jinja_cases); i++) {
        mutator m;
        mutator_open(&m, (const uint8_t *)jinja_cases[i].source, strlen(jinja_cases[i].source), none, i);
        for (size_t j = 0; j < (test_is_quick() ? 8 : 100); j++) {
            mutator_next(&m);
            feed_both("part", i * 100 + j, m.bytes, m.n, conversations[0]);
        }
        mutator_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_templates), cmocka_unit_test(damaged_template),
                                       cmocka_unit_test(damaged_conversation), cmocka_unit_test(damaged_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
