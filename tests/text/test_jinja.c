/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of chat templates, by itself: it gives what jinja2 gives (golden/jinja.h), its errors name
 * the line, each byte of the text is marked as the template's or the caller's, and no template exceeds the limits.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "golden/jinja.h"
#include "support/test.h"
#include "text/jinja/json.h"
#include "text/jinja/template.h"

static const jinja_limits most = {.steps = 2000 * 1000, .bytes = 16 << 20, .depth = 200};

typedef struct rendering {
    jinja_run run;
    json_t *root;
    jinja_string text;
    vouch_status status;
    vouch_error err;
} rendering;

/* context: a JSON object. */
static rendering render(const char *source, size_t n, const char *context)
{
    rendering r = {.status = VOUCH_OK};
    jinja_value variables;
    vouch_jinja_run_begin(&r.run, &most);
    assert_int_equal(vouch_json_read(&r.root, context, strlen(context), &r.err), VOUCH_OK);
    assert_int_equal(vouch_jinja_from_json(&r.run, r.root, JINJA_OF_CALLER, NULL, &variables, &r.err), VOUCH_OK);
    r.status = vouch_jinja_render(&r.run, source, n, &variables, &r.text, &r.err);
    return r;
}

static void rendering_free(rendering *r)
{
    vouch_jinja_run_end(&r->run);
    json_decref(r->root);
}

/* ------------------------------------------------------------------ what jinja2 gives */

static void small_templates(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof jinja_cases / sizeof *jinja_cases; i++) {
        const char *source = jinja_cases[i].source, *text = jinja_cases[i].text;
        rendering r = render(source, strlen(source), jinja_context);
        const bool is_right =
            text ? r.status == VOUCH_OK && r.text.n == strlen(text) && memcmp(r.text.bytes, text, r.text.n) == 0
                 : r.status == VOUCH_E_ARGUMENT;
        if (!is_right)
            print_error("%s\n  expected %s\n  got      %.*s\n", source, text ? text : "an error",
                        r.status ? 200 : (int)r.text.n, r.status ? r.err.message : r.text.bytes);
        wrong += !is_right;
        rendering_free(&r);
    }
    assert_int_equal(wrong, 0);
}

static uint64_t hash_add(uint64_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash;
}

/* The templates of models, over conversations with tools, thoughts and documents. */
static void templates_of_models(void **state)
{
    (void)state;
    size_t n_models = 0, wrong = 0;
    for (size_t i = 0; i < sizeof jinja_models / sizeof *jinja_models; i++) {
        char name[256];
        snprintf(name, sizeof name, "templates/%s", jinja_models[i].name);
        const char *path = test_data(name);
        if (!path) continue;
        size_t n;
        char *source = read_whole(path, &n);
        uint64_t hash = 0xcbf29ce484222325u;
        for (size_t j = 0; j < sizeof jinja_conversations / sizeof *jinja_conversations; j++) {
            rendering r = render(source, n, jinja_conversations[j]);
            hash = r.status ? hash_add(hash, "refused\n", 8) : hash_add(hash, "ok\n", 3);
            if (!r.status) hash = hash_add(hash_add(hash, r.text.bytes, r.text.n), "\n", 1);
            rendering_free(&r);
        }
        if (hash != jinja_models[i].hash) print_error("%s differs\n", name);
        wrong += hash != jinja_models[i].hash;
        n_models++;
        free(source);
    }
    assert_int_equal(wrong, 0);
    if (n_models == 0) test_skip("VOUCH_DATA has no templates");
}

/* ------------------------------------------------------------------------- errors */

static void errors_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *source, *says;
    } cases[] = {
        {"a\nb\n{{ 1 / 0 }}", "chat template, line 3: division by zero"},
        {"{{ x\n\n}", "line 1: a tag has no end: }} is missing"},
        {"\n{# x\n\n", "line 2: a comment has no end"},
        {"\n\n{% raw %}\n", "line 3: a raw block has no end"},
        {"{% if a %}\n{% for i in l %}\n{% endif %}", "line 3: "},
        {"{{ 'abc }}", "a string has no end"},
        {"{{ a ? b }}", "'?' is not expected in a tag"},
        {"{{ x.y.z }}", "'x' is undefined"},
        {"{{ f(1) }}", "'f' is undefined"},
        {"{{ 'a'|nope }}", "there is no filter 'nope'"},
        {"{{ 'a' is nope }}", "there is no test 'nope'"},
        {"{{ 'a' + 1 }}", "a string + an int has no meaning"},
        {"{{ raise_exception('Roles must alternate') }}", "it refuses this conversation: \"Roles must alternate\""},
        {"{% for i in l recursive %}{% endfor %}", "recursive loops: vouch doesn't support them"},
        {"{{ f(*l) }}", "arguments given by * or **: vouch doesn't support them"},
        {"{{ f(**d) }}", "arguments given by * or **: vouch doesn't support them"},
        {"{% include 'x' %}", "vouch doesn't support 'include' in a template"},
        {"{% import 'x' as y %}", "vouch doesn't support 'import' in a template"},
        {"{% block x %}{% endblock %}", "vouch doesn't support 'block' in a template"},
        {"{% with a = 1 %}{% endwith %}", "vouch doesn't support 'with' in a template"},
        {"{{ 99999999999999999999 }}", "is too large"},
        {"{{ 9 * 10 ** 18 + 9 * 10 ** 18 }}", "too large for 64 bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rendering r = render(cases[i].source, strlen(cases[i].source), "{\"l\": [1]}");
        if (r.status != VOUCH_E_ARGUMENT || !strstr(r.err.message, cases[i].says))
            fail_msg("%s: wanted \"%s\", got %d: %s", cases[i].source, cases[i].says, r.status, r.err.message);
        rendering_free(&r);
    }
}

/* ------------------------------------------------------------------------- limits */

/* `before`, `times` copies of the piece, and `after`. The caller frees the text. */
static char *repeat(const char *before, const char *piece, size_t times, const char *after)
{
    const size_t n = strlen(piece);
    char *all = malloc(strlen(before) + n * times + strlen(after) + 1), *at = all;
    assert_non_null(all);
    at += sprintf(at, "%s", before);
    for (size_t i = 0; i < times; i++) at += sprintf(at, "%s", piece);
    strcpy(at, after);
    return all;
}

/* Without limits each template would run for years, take all memory or overflow the stack. The suite's time limit ends
 * a test that hangs. */
static void nothing_outlasts_its_limits(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
        "{% for i in range(1000000000000) %}{% endfor %}",
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{{ '' * 10 ** 18 }}",
        "{{ [] * 10 ** 18 }}",
        "{{ 'a' * 1000000000000 }}",
        "{{ 1 ** (10 ** 18) }}",
        "{{ range(10)[::9 * 10 ** 18]|length }}{{ 'a' * 1000000000000 }}",
        "{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}",
        "{% set n = namespace(s=[1]) %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}",
        "{% set n = namespace(s='ab') %}{% for i in range(20) %}{% set n.s = n.s + n.s %}{% endfor %}"
        "{% for i in range(10000000) %}{% if n.s.find('x') > 0 %}{% endif %}{% endfor %}",
        "{% set n = namespace(s='ab') %}{% for i in range(20) %}{% set n.s = n.s + n.s %}{% endfor %}"
        "{{ n.s.strip(n.s + 'x') }}{% for i in range(10000000) %}{{ n.s[-1] == n.s }}{% endfor %}",
        "{% set l = range(300000)|list %}{% for i in range(300000) %}{% set x = l.pop(0) %}{% endfor %}",
        "{% set l = [] %}{% set x = l.append(l) %}{{ l }}",
        "{% set l = [] %}{% set x = l.append(l) %}{{ l|tojson }}",
        "{% set l = [] %}{% set x = l.append(l) %}{% set k = [] %}{% set x = k.append(k) %}{{ l == k }}",
        "{{ 'a'|indent(1000000000000) }}{{ 'a\nb'|indent(1000000000000) }}",
        "{{ [1]|tojson(indent=1000000000000) }}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rendering r = render(cases[i], strlen(cases[i]), "{}");
        if (r.status != VOUCH_E_UNSUPPORTED) fail_msg("%s: %d %s", cases[i], r.status, r.err.message);
        rendering_free(&r);
    }
    static const char *const nested[][3] = {
        {"{{ ", "(", ""},
        {"{{ ", "[", ""},
        {"{{ ", "-", "1 }}"},
        {"{{ ", "not ", "1 }}"},
        {"", "{% if a %}", ""},
        {"", "{% for i in a %}", ""},
        {"{{ a", "[a", "}}"},
        {"{{ ", "{1:", ""},
        {"{% if a %}", "{% elif a %}", "{% endif %}"},
        {"{{ 1", " if 1 else 1", " }}"},
        {"{% set ", "(", ""},
    };
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        char *source = repeat(nested[i][0], nested[i][1], 100000, nested[i][2]);
        rendering r = render(source, strlen(source), "{}");
        if (r.status == VOUCH_OK) fail_msg("%.40s...", source);
        rendering_free(&r);
        free(source);
    }
}

/* -------------------------------------------------------------------------- marks */

/* The strings s and l come from the caller and hold the only capital letters; all other text is the template's. The
 * marks tell the two apart. */
static void marks_follow_each_byte(void **state)
{
    (void)state;
    static const char *const expressions[] = {
        "'a' + s + 'b'",
        "'a' ~ s ~ 'b'",
        "s * 2",
        "'-' * 2 ~ s",
        "s[1:3] ~ 'x'",
        "s[::-1]",
        "s[0] ~ 'x'",
        "s.split('B')",
        "s.split('B')|join('-')",
        "'-'.join(l)",
        "l|join('-')",
        "s.replace('B', 'x')",
        "'axa'.replace('x', s)",
        "s|replace('B', '-')",
        "s.strip('A') ~ 'a'",
        "s|trim",
        "s.lower()|upper",
        "s|title|upper",
        "s|capitalize|upper",
        "'%s-%s' % (s, 'x')",
        "'{}-{}'.format(s, 'x')",
        "'{a}'.format(a=s)",
        "l|tojson",
        "d|tojson(indent=2)",
        "{'k': s}|tojson",
        "[s, 'x']",
        "d",
        "s|list",
        "s|reverse",
        "l|sort|join('x')",
        "l|map('lower')|map('upper')|join",
        "(s ~ '\\n' ~ s)|indent(2)",
        "s|escape",
        "('<'|safe) + s",
        "s|urlencode",
        "s|default('x')",
        "s|string",
        "l|first ~ 'x'",
        "l|last",
        "l|min ~ l|max",
        "s.removeprefix('A')",
        "(s ~ '\\nx').splitlines()",
        "d|items|list",
        "d.items()|list",
        "d|dictsort",
        "d.KEY",
        "d['KEY'] ~ 'x'",
        "s.rsplit('B', 1)",
        "s if true else 'x'",
        "nothing or s",
        "s.title().upper()",
        "s|upper ~ '\\u00e4'",
        "l|unique|join",
        "l|select|join('+')",
    };
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        char source[400];
        snprintf(source, sizeof source,
                 "{%% macro f(x) %%}x{{ x }}{%% endmacro %%}{%% set b %%}b{{ %s }}{%% endset %%}{{ b }}{{ f(b) }}"
                 "{%% filter trim %%} {{ b }} {%% endfilter %%}{%% for i in [b] %%}{{ i }}{%% endfor %%}",
                 expressions[i]);
        rendering r =
            render(source, strlen(source), "{\"s\": \"ABBC\", \"l\": [\"AB\", \"C\"], \"d\": {\"KEY\": \"VALUE\"}}");
        if (r.status != VOUCH_OK) fail_msg("%s: %s", source, r.err.message);
        size_t n_caller = 0;
        for (size_t j = 0; r.status == VOUCH_OK && j < r.text.n; j++) {
            const bool is_capital = r.text.bytes[j] >= 'A' && r.text.bytes[j] <= 'Z';
            const bool is_caller = vouch_jinja_mark(r.text, j) == JINJA_OF_CALLER;
            if (is_capital != is_caller)
                fail_msg("%s: byte %zu of %.*s", expressions[i], j, (int)r.text.n, r.text.bytes);
            n_caller += is_caller;
        }
        if (r.status == VOUCH_OK && n_caller == 0) fail_msg("%s: no byte is the caller's", expressions[i]);
        rendering_free(&r);
    }
}

/* --------------------------------------------------------------------------- JSON */

static void json_becomes_values(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } bad[] = {{"", "conversation: line 1, column "},
               {"{\"a\": 1", "line 1"},
               {"{\"a\": \"\xff\"}", "unable to decode byte 0xff"},
               {"{\"a\": 1, \"a\": 2}", "duplicate"},
               {"{\"a\": 1e999}", "real"},
               {"[1] 2", "end of file"},
               {"{\"a\": 99999999999999999999}", "big"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *root = NULL;
        vouch_error err = {0};
        assert_int_equal(vouch_json_read(&root, bad[i].json, strlen(bad[i].json), &err), VOUCH_E_ARGUMENT);
        if (!strstr(err.message, bad[i].says)) fail_msg("%s: %s", bad[i].json, err.message);
    }
    /* Too deep: the path tells where. */
    char *deep = repeat("{\"a\":", "[", 300, "");
    char *whole = repeat(deep, "]", 300, "}");
    json_t *root;
    jinja_run run;
    jinja_value value;
    vouch_error err = {0};
    const json_path top = {.up = NULL};
    vouch_jinja_run_begin(&run, &most);
    assert_int_equal(vouch_json_read(&root, whole, strlen(whole), &err), VOUCH_OK);
    assert_int_equal(vouch_jinja_from_json(&run, root, JINJA_OF_CALLER, &top, &value, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "conversation: a[0][0]"));
    assert_non_null(strstr(err.message, "is nested deeper than 100 levels"));
    vouch_jinja_run_end(&run);
    json_decref(root);
    free(deep);
    free(whole);
    /* Order, numbers and a NUL stay as they are. */
    rendering r = render("{{ x|tojson }}{{ z|length }}", 28,
                         "{\"x\": {\"b\": 1, \"a\": [1.5, true, null]}, \"z\": \"a\\u0000b\"}");
    assert_int_equal(r.status, VOUCH_OK);
    assert_int_equal(r.text.n, strlen("{\"b\": 1, \"a\": [1.5, true, null]}3"));
    assert_memory_equal(r.text.bytes, "{\"b\": 1, \"a\": [1.5, true, null]}3", r.text.n);
    rendering_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_templates),        cmocka_unit_test(templates_of_models),
        cmocka_unit_test(errors_name_the_line),   cmocka_unit_test(nothing_outlasts_its_limits),
        cmocka_unit_test(marks_follow_each_byte), cmocka_unit_test(json_becomes_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
