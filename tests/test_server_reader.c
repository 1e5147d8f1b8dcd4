/* SPDX-License-Identifier: MIT */
/* Thoughts, content and tool calls of an answer, read whole and in all pieces: where it is cut changes nothing. What
 * can't be read as a call is content. */
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "support/test.h"

#define F(name, arguments) "[{\"name\":\"" name "\",\"arguments\":\"" arguments "\"}]"

/* In an answer, \1NAME\1 is a control token. */
static const struct {
    const char *answer;
    bool with_tools, thinks;
    const char *content, *thoughts, *calls;
} cases[] = {
    {"hello", true, false, "hello", "", ""},
    {"", true, true, "", "", ""},
    {"<think>hm</think>\n\nyes", false, false, "yes", "hm", ""},
    {"\n <think>hm</think>yes", false, false, "yes", "hm", ""},
    {" <thin", false, false, " <thin", "", ""},
    {"hm\n</think>\nyes", false, true, "yes", "hm\n", ""},
    {"never ends", false, true, "", "never ends", ""},
    {"a <think>b", false, false, "a <think>b", "", ""},
    /* Hermes and Qwen */
    {"<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call>", true, false, "", "",
     F("f", "{\\\"x\\\":1}")},
    {"well <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>\n<tool_call>{\"name\": \"g\", \"arguments\": "
     "{}}</tool_call> done", true, false, "well done", "",
     "[{\"name\":\"f\",\"arguments\":\"{}\"},{\"name\":\"g\",\"arguments\":\"{}\"}]"},
    {"<think>t</think>\n<tool_call>{\"name\": \"f\", \"arguments\": {}}", true, false, "", "t", F("f", "{}")},
    {"<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", false, false,
     "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", "", ""},
    {"<tool_call>{\"name\": \"f\"}</tool_call>!", true, false, "<tool_call>{\"name\": \"f\"}</tool_call>!", "", ""},
    {"<tool_call>{\"name\": \"f\", ", true, false, "<tool_call>{\"name\": \"f\", ", "", ""},
    {"<tool_call></tool_call>", true, false, "<tool_call></tool_call>", "", ""},
    {"a <tool_cal", true, false, "a <tool_cal", "", ""},
    /* Qwen3-Coder */
    {"<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n<parameter=s>\na\nb\n</parameter>\n</function>\n"
     "</tool_call>", true, false, "", "", F("f", "{\\\"x\\\":1,\\\"s\\\":\\\"a\\\\nb\\\"}")},
    {"<tool_call><function=f><parameter=word>1</parameter><parameter=x>\n[1]\n</parameter></function></tool_call>",
     true, false, "", "", F("f", "{\\\"word\\\":\\\"1\\\",\\\"x\\\":[1]}")}, /* the tool asks for a string */
    {"<tool_call><function=f></function></tool_call>", true, false, "", "", F("f", "{}")},
    {"<tool_call><function=f><parameter=x>1</function></tool_call>", true, false,
     "<tool_call><function=f><parameter=x>1</function></tool_call>", "", ""},
    /* Llama 3.1 */
    {"{\"name\": \"f\", \"parameters\": {\"x\": [1, 2]}}", true, false, "", "", F("f", "{\\\"x\\\":[1,2]}")},
    {"\1<|python_tag|>\1{\"name\": \"f\", \"parameters\": {}}", true, false, "", "", F("f", "{}")},
    {"<think>hm</think>\n\n{\"name\": \"f\", \"parameters\": {}}", true, false, "", "hm", F("f", "{}")},
    {"{\"a\": 1}", true, false, "{\"a\": 1}", "", ""},
    {"{ half", true, false, "{ half", "", ""},
    /* Mistral */
    {"\1[TOOL_CALLS]\1[{\"name\": \"f\", \"arguments\": {}}]", true, false, "", "", F("f", "{}")},
    {"\1[TOOL_CALLS]\1f\1[ARGS]\1{\"x\": 1}", true, false, "", "", F("f", "{\\\"x\\\":1}")},
    {"a[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{", true, false, "a[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{", "", ""},
    {"[TOOL_CALLS]f[CALL_ID]abc123xyz[ARGS]{}", true, false, "", "", F("f", "{}")},
    {"[TOOL_CALLS][]", true, false, "[TOOL_CALLS][]", "", ""},
    /* gpt-oss */
    {"\1<|channel|>\1analysis\1<|message|>\1hm\1<|end|>\1\1<|start|>\1assistant\1<|channel|>\1final\1<|message|>\1yes",
     true, false, "yes", "hm", ""},
    {"\1<|channel|>\1commentary to=functions.f \1<|constrain|>\1json\1<|message|>\1{\"x\": 1}\1<|call|>\1", true, false,
     "", "", F("f", "{\\\"x\\\":1}")},
    {"\1<|channel|>\1commentary to=functions.f \1<|message|>\1{\"x\": \1<|call|>\1", true, false, "{\"x\": ", "", ""},
    {"\1<|channel|>\1commentary\1<|message|>\1I will\1<|end|>\1", true, false, "I will", "", ""},
    /* The marks are text in the vocabularies of GGUF files. */
    {"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes\1<|return|>\1", true,
     false, "yes", "hm", ""},
    {"<|channel|>analysis<|message|>hm<|end|><|start|>assistant to=functions.f<|channel|>commentary json<|message|>"
     "{\"x\": 1}\1<|call|>\1", true, false, "", "hm", F("f", "{\\\"x\\\":1}")},
    {" to=functions.f<|channel|>commentary json<|message|>{}", true, false, "", "", F("f", "{}")},
    {" to=function", true, false, " to=function", "", ""},
    {"<|channel|>commentary to=functions.analysis <|constrain|>json<|message|>{}", true, false, "", "",
     F("analysis", "{}")},
    {"<|channel|>commentary to=functions.f<|message|>{}", false, false, "{}", "", ""},
    {"<|channel|>final<|message|>cut <|en", false, false, "cut <|en", "", ""},
    {"<|chan", false, false, "<|chan", "", ""},
};

static json_t *tools;

static int tools_begin(void **state)
{
    (void)state;
    tools = json_loads("[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {\"type\": "
                       "\"object\", \"properties\": {\"word\": {\"type\": \"string\"}}}}}]", 0, NULL);
    return !tools;
}

static int tools_end(void **state)
{
    (void)state;
    json_decref(tools);
    return 0;
}

static void push(server_reader *reader, const char *text, size_t n, size_t piece)
{
    for (size_t at = 0; at < n; at += piece) server_reader_push(reader, text + at, at + piece < n ? piece : n - at);
}

/* Pushes the answer in pieces of so many bytes. */
static void read_answer(server_reader *reader, const char *answer, size_t piece)
{
    while (*answer) {
        const size_t n = strcspn(answer, "\1");
        if (*answer == '\1') {
            const size_t n_name = strcspn(answer + 1, "\1");
            server_reader_special(reader, answer + 1, n_name);
            answer += n_name + 2;
        } else {
            push(reader, answer, n, piece);
            answer += n;
        }
    }
    server_reader_end(reader);
}

static void expect_same(size_t i, const char *what, const char *got, size_t n, const char *wanted)
{
    if (n == strlen(wanted) && (n == 0 || memcmp(got, wanted, n) == 0)) return;
    fail_msg("%s: %s is '%.*s', expected '%s'", cases[i].answer, what, (int)n, n ? got : "", wanted);
}

static void answers_are_told_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece <= strlen(cases[i].answer) + 1; piece++) {
            server_reader reader;
            server_reader_begin(&reader, cases[i].with_tools ? tools : NULL, cases[i].thinks);
            read_answer(&reader, cases[i].answer, piece);
            char *calls = reader.calls && json_array_size(reader.calls) > 0
                              ? json_dumps(reader.calls, JSON_COMPACT)
                              : strdup("");
            expect_same(i, "content", reader.content.bytes, reader.content.n, cases[i].content);
            expect_same(i, "thoughts", reader.thoughts.bytes, reader.thoughts.n, cases[i].thoughts);
            expect_same(i, "calls", calls, strlen(calls), cases[i].calls);
            free(calls);
            server_reader_free(&reader);
        }
}

/* Where the client wants one call, further ones are left out, in every form. */
static void further_calls_are_left_out(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call><tool_call>{\"name\": \"g\", \"arguments\": {}}"
        "</tool_call>",
        "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {}}]",
        "[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{}"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        for (int only_one = 0; only_one < 2; only_one++) {
            server_reader reader;
            server_reader_begin(&reader, tools, false);
            reader.only_one = only_one;
            read_answer(&reader, answers[i], 3);
            assert_int_equal(json_array_size(reader.calls), only_one ? 1 : 2);
            assert_int_equal(reader.content.n, 0);
            server_reader_free(&reader);
        }
}

/* Calls are read one behind the other, so that their number is bounded by the answer and not by the stack (law L5). */
static void many_calls_are_read(void **state)
{
    (void)state;
    enum { N = 200000 };
    static const char call[] = "[TOOL_CALLS]f[ARGS]{}";
    server_text answer = {0};
    server_reader reader;
    for (int i = 0; i < N; i++) server_text_put(&answer, call);
    server_reader_begin(&reader, tools, false);
    server_reader_push(&reader, answer.bytes, answer.n);
    server_reader_end(&reader);
    assert_int_equal(json_array_size(reader.calls), N);
    assert_int_equal(reader.content.n, 0);
    server_reader_free(&reader);
    server_text_free(&answer);
}

/* The reader loses no text and reads nothing outside of it, whatever a model writes (law L5). */
static void any_text_is_read(void **state)
{
    (void)state;
    static const char *const parts[] = {"<think>", "</think>", "<tool_call>", "</tool_call>", "{\"name\": \"f\", ",
                                        "\"arguments\": {}}", "<function=f>", "<parameter=x>", "</parameter>", "\n",
                                        "</function>", "[TOOL_CALLS]", "[ARGS]", "a", "{", "\xff", "[", "]"};
    static const char *const specials[] = {"<|channel|>", "<|message|>", "<|end|>", "[TOOL_CALLS]", "<|python_tag|>"};
    test_random random = {1};
    for (int round = 0; round < 20000; round++) {
        server_reader reader;
        server_reader_begin(&reader, round % 3 > 0 ? tools : NULL, round % 5 == 0);
        reader.only_one = round % 7 == 0;
        for (uint32_t n = test_below(&random, 12); n > 0; n--) {
            const char *part = parts[test_below(&random, sizeof parts / sizeof *parts)];
            const char *special = specials[test_below(&random, sizeof specials / sizeof *specials)];
            server_reader_push(&reader, part, strlen(part));
            if (round % 2 && test_below(&random, 4) == 0) server_reader_special(&reader, special, strlen(special));
        }
        server_reader_end(&reader);
        assert_int_equal(reader.text.n, 0);
        server_reader_free(&reader);
    }
}

/* A text that is written fast is the same as the one that Jansson writes. Bytes that are only put between quotes are
 * not: the texts need escapes and repairs. */
static void texts_become_json_strings(void **state)
{
    (void)state;
    int n_other = 0;
    for (int byte = 0; byte < 256; byte++)
        for (int before = 0; before < 2; before++) {
            const char bytes[] = {'a', (char)byte, 'b'};
            server_text fast = {0}, slow = {0}, raw = {0};
            server_text_string(&fast, bytes + !before, 2 + (size_t)before);
            server_text_json(&slow, server_json_bytes(bytes + !before, 2 + (size_t)before));
            server_text_put(&raw, "\"");
            server_text_add(&raw, bytes + !before, 2 + (size_t)before);
            server_text_put(&raw, "\"");
            assert_int_equal(fast.n, slow.n);
            assert_memory_equal(fast.bytes, slow.bytes, slow.n);
            n_other += raw.n != slow.n || memcmp(raw.bytes, slow.bytes, slow.n) != 0;
            server_text_free(&fast);
            server_text_free(&slow);
            server_text_free(&raw);
        }
    assert_int_equal(n_other, 2 * (32 + 2 + 128));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(answers_are_told_apart),
        cmocka_unit_test(further_calls_are_left_out),
        cmocka_unit_test(many_calls_are_read),
        cmocka_unit_test(any_text_is_read),
        cmocka_unit_test(texts_become_json_strings),
    };
    return cmocka_run_group_tests(all, tools_begin, tools_end);
}
