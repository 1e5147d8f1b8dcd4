/* SPDX-License-Identifier: MIT */
/* Thoughts, content and tool calls of an answer, read whole and in all pieces: where it is cut changes nothing. Text
 * that can't be read as a call is content. */
#include <stdlib.h>
#include <string.h>

#include "call/reader.h"
#include "support/program/call_templates.h"
#include "support/test.h"
#include "support/model/tiny_model.h"

#define F(name, arguments) "[{\"name\":\"" name "\",\"arguments\":\"" arguments "\"}]"

/* The templates that the answers follow. */
enum { HERMES, CODER, LLAMA, MISTRAL, NEMO, GPT_OSS, PYTHON, GEMMA, FUNCTIONARY, APERTUS, N_FORMS };
static const char *const templates[] = {"Hermes",  "Coder",  "Llama", "Mistral",     "Nemo",
                                        "gpt-oss", "Python", "Gemma", "Functionary", "Apertus"};
static server_form *forms[N_FORMS];

/* In an answer, \1NAME\1 is a control token. */
static const struct {
    int form;
    const char *answer;
    bool with_tools, thinks;
    const char *content, *thoughts, *calls;
} cases[] = {
    {HERMES, "hello", true, false, "hello", "", ""},
    {HERMES, "", true, true, "", "", ""},
    {HERMES, "<think>hm</think>\n\nyes", false, false, "yes", "hm", ""},
    {HERMES, "\n <think>hm</think>yes", false, false, "yes", "hm", ""},
    {HERMES, "<think>\n\n</think>\n\nyes", false, false, "yes", "", ""},
    {HERMES, "\n</think>\n\nyes", false, true, "yes", "", ""},
    {HERMES, "\n</thi", false, true, "", "\n</thi", ""},
    {HERMES, " <thin", false, false, " <thin", "", ""},
    {HERMES, "hm\n</think>\nyes", false, true, "yes", "hm\n", ""},
    {HERMES, "never ends", false, true, "", "never ends", ""},
    {HERMES, "a <think>b", false, false, "a <think>b", "", ""},
    /* Hermes and Qwen */
    {HERMES, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call>", true, false, "", "",
     F("f", "{\\\"x\\\":1}")},
    {HERMES, "\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call>", true, false, "", "",
     F("f", "{\\\"x\\\":1}")},
    {HERMES,
     "well <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>\n<tool_call>{\"name\": \"g\", "
     "\"arguments\": {}}</tool_call> done",
     true, false, "well done", "", "[{\"name\":\"f\",\"arguments\":\"{}\"},{\"name\":\"g\",\"arguments\":\"{}\"}]"},
    {HERMES, "<think>t</think>\n<tool_call>{\"name\": \"f\", \"arguments\": {}}", true, false, "", "t", F("f", "{}")},
    {HERMES, "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", false, false,
     "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", "", ""},
    {HERMES, "<tool_call>{\"name\": \"f\"}</tool_call>!", true, false, "<tool_call>{\"name\": \"f\"}</tool_call>!", "",
     ""},
    {HERMES, "<tool_call>{\"name\": \"f\", ", true, false, "<tool_call>{\"name\": \"f\", ", "", ""},
    {HERMES, "<tool_call></tool_call>", true, false, "<tool_call></tool_call>", "", ""},
    {HERMES, "a <tool_cal", true, false, "a <tool_cal", "", ""},
    {HERMES, "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"</tool_call>\"}}</tool_call>", true, false, "", "",
     F("f", "{\\\"x\\\":\\\"</tool_call>\\\"}")},
    {HERMES, "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 12345678901234567890}}</tool_call>", true, false, "",
     "", F("f", "{\\\"x\\\":12345678901234567890}")},
    {HERMES, "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1e999, \"y\": \"\\u0000\"}}</tool_call>", true, false,
     "", "", F("f", "{\\\"x\\\":1e999,\\\"y\\\":\\\"\\\\u0000\\\"}")},
    {HERMES, "<tool_call>{\"arguments\": {\"x\": 1}, \"name\": \"f\"}</tool_call>", true, false, "", "",
     F("f", "{\\\"x\\\":1}")},
    {HERMES, "<tool_call>{\"name\": \"f\", \"arguments\": \"{\\\"x\\\": 1}\"}</tool_call>", true, false, "", "",
     F("f", "{\\\"x\\\": 1}")},
    {HERMES, "<tool_call>{\"name\": \"f\", \"arguments\": null}</tool_call>", true, false, "", "", F("f", "{}")},
    {HERMES, "{\"name\": \"f\", \"arguments\": {}}", true, false, "", "", F("f", "{}")}, /* the marks forgotten */
    {HERMES, "{\"name\": \"Widget\", \"arguments\": {}}", true, false, "{\"name\": \"Widget\", \"arguments\": {}}", "",
     ""}, /* no tool has this name */
    {HERMES, "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": [1, ", true, false, "", "", F("f", "{\\\"x\\\":[1")},
    /* Qwen3-Coder */
    {CODER,
     "<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n<parameter=s>\na\nb\n</parameter>\n"
     "</function>\n</tool_call>",
     true, false, "", "", F("f", "{\\\"x\\\":1,\\\"s\\\":\\\"a\\\\nb\\\"}")},
    {CODER,
     "<tool_call><function=f><parameter=word>1</parameter><parameter=x>\n[1]\n</parameter></function>"
     "</tool_call>",
     true, false, "", "", F("f", "{\\\"word\\\":\\\"1\\\",\\\"x\\\":[1]}")}, /* asks for a string */
    {CODER, "<tool_call><function=f></function></tool_call>", true, false, "", "", F("f", "{}")},
    {CODER, "<tool_call><function=f><parameter=x>True</parameter><parameter=y>None</parameter></function></tool_call>",
     true, false, "", "", F("f", "{\\\"x\\\":true,\\\"y\\\":null}")},
    {CODER, "<tool_call><function=f><parameter=word>a</parameter>b\n</parameter></function></tool_call>", true, false,
     "", "", F("f", "{\\\"word\\\":\\\"a</parameter>b\\\"}")},
    {CODER, "<tool_call><function=f><parameter=word>\nhalf of", true, false, "", "",
     F("f", "{\\\"word\\\":\\\"half of")},
    {CODER, "<tool_call><function=f><parameter=kind>1</parameter><parameter=size>2</parameter></function></tool_call>",
     true, false, "", "", F("f", "{\\\"kind\\\":\\\"1\\\",\\\"size\\\":\\\"2\\\"}")}, /* lists of strings */
    {CODER, "<tool_call>\n<function=f", true, false, "<tool_call>\n<function=f", "", ""},
    /* Llama 3.1 */
    {LLAMA, "{\"name\": \"f\", \"parameters\": {\"x\": [1, 2]}}", true, false, "", "", F("f", "{\\\"x\\\":[1,2]}")},
    {LLAMA, "\1<|python_tag|>\1{\"name\": \"f\", \"parameters\": {}}", true, false, "", "", F("f", "{}")},
    {LLAMA, "<think>hm</think>\n\n{\"name\": \"f\", \"parameters\": {}}", true, false, "", "hm", F("f", "{}")},
    {LLAMA, "{\"a\": 1}", true, false, "{\"a\": 1}", "", ""},
    {LLAMA, "{ half", true, false, "{ half", "", ""},
    {LLAMA, "{\"name\": \"Bob\", \"age\": 3}", true, false, "{\"name\": \"Bob\", \"age\": 3}", "", ""},
    /* Mistral */
    {NEMO, "\1[TOOL_CALLS]\1[{\"name\": \"f\", \"arguments\": {}}]", true, false, "", "", F("f", "{}")},
    {NEMO,
     "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}, \"id\": \"abcdefghi\"}, {\"name\": \"g\", \"arguments\": "
     "{}}]",
     true, false, "", "", "[{\"name\":\"f\",\"arguments\":\"{}\"},{\"name\":\"g\",\"arguments\":\"{}\"}]"},
    {NEMO, "[TOOL_CALLS][]", true, false, "[TOOL_CALLS][]", "", ""},
    {MISTRAL, "\1[TOOL_CALLS]\1f\1[CALL_ID]\1abc123xyz\1[ARGS]\1{\"x\": 1}", true, false, "", "",
     F("f", "{\\\"x\\\":1}")},
    {MISTRAL, "a[TOOL_CALLS]f[CALL_ID]abc123xyz[ARGS]{}[TOOL_CALLS]g[CALL_ID]abc123xyz[ARGS]{", true, false, "a", "",
     "[{\"name\":\"f\",\"arguments\":\"{}\"},{\"name\":\"g\",\"arguments\":\"{\"}]"},
    /* Python, as LFM2 and Llama 4 write it */
    {PYTHON, "<|call_start|>[f(x=[1, None, 'it\\'s', \"q\"], y=True), g()]<|call_end|>", true, false, "", "",
     "[{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":[1,null,\\\"it's\\\",\\\"q\\\"],\\\"y\\\":true}\"},{\"name\":\"g\","
     "\"arguments\":\"{}\"}]"},
    {PYTHON, "<|call_start|>[a b(\"x y\"=1)]<|call_end|>", true, false, "", "", F("a b", "{\\\"x y\\\":1}")},
    {CODER, "<tool_call>\n<function=a b>\n</function>\n</tool_call>", true, false, "", "", F("a b", "{}")},
    {PYTHON, "<|call_start|>[f(word='don't', x=1)]<|call_end|>", true, false, "", "",
     F("f", "{\\\"word\\\":\\\"don't\\\",\\\"x\\\":1}")},
    /* Gemma 4 */
    {GEMMA, "<|tool_call>call:f{word:<|\"|>a \"b\" \\n<|\"|>,x:{<|\"|>k<|\"|>:[1,true]}}<tool_call|>", true, false, "",
     "", F("f", "{\\\"word\\\":\\\"a \\\\\\\"b\\\\\\\" \\\\\\\\n\\\",\\\"x\\\":{\\\"k\\\":[1,true]}}")},
    /* A name is the key of the arguments; an empty one is none. */
    {APERTUS, "<|tools_prefix|>[{\"f\": {\"x\": 1}}]<|tools_suffix|>", true, false, "", "", F("f", "{\\\"x\\\":1}")},
    {APERTUS, "<|tools_prefix|>[{\"\": {}}]", true, false, "<|tools_prefix|>[{\"\": {}}]", "", ""},
    {GPT_OSS, "<|channel|>commentary to=functions. <|message|>{}", true, false, "{}", "", ""},
    /* Functionary: a name alone is a call where a tool has it. */
    {FUNCTIONARY, "all\nhello", true, false, "hello", "", ""},
    {FUNCTIONARY, "f\n{\"x\": 1}>>>f\n{}", true, false, "", "",
     "[{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"},{\"name\":\"f\",\"arguments\":\"{}\"}]"},
    {FUNCTIONARY, "other\n{}", true, false, "other\n{}", "", ""},
    {FUNCTIONARY, "allow me", true, false, "allow me", "", ""},
    /* gpt-oss */
    {GPT_OSS,
     "\1<|channel|>\1analysis\1<|message|>\1hm\1<|end|>\1\1<|start|>\1assistant\1<|channel|>\1final"
     "\1<|message|>\1yes",
     true, false, "yes", "hm", ""},
    {GPT_OSS, "\1<|channel|>\1commentary to=functions.f \1<|constrain|>\1json\1<|message|>\1{\"x\": 1}\1<|call|>\1",
     true, false, "", "", F("f", "{\\\"x\\\":1}")},
    {GPT_OSS, "\1<|channel|>\1commentary to=functions.f \1<|message|>\1{\"x\": \1<|call|>\1", true, false, "", "",
     F("f", "{\\\"x\\\":")},
    {GPT_OSS, "\1<|channel|>\1commentary\1<|message|>\1I will\1<|end|>\1", true, false, "I will", "", ""},
    {GPT_OSS, "<|channel|>final<|message|>a<|end|><|message|>b", true, false, "ab", "", ""}, /* an empty header */
    /* The marks are text in the vocabularies of GGUF files. */
    {GPT_OSS, "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes\1<|return|>\1",
     true, false, "yes", "hm", ""},
    {GPT_OSS,
     "<|channel|>analysis<|message|>hm<|end|><|start|>assistant to=functions.f<|channel|>commentary json"
     "<|message|>{\"x\": 1}\1<|call|>\1",
     true, false, "", "hm", F("f", "{\\\"x\\\":1}")},
    {GPT_OSS, " to=functions.f<|channel|>commentary json<|message|>{}", true, false, "", "", F("f", "{}")},
    {GPT_OSS, " to=function", true, false, " to=function", "", ""},
    {GPT_OSS, "<|channel|>commentary to=functions.analysis <|constrain|>json<|message|>{}", true, false, "", "",
     F("analysis", "{}")},
    {GPT_OSS, "<|channel|>commentary to=functions.f<|message|>{}", false, false, "{}", "", ""},
    {GPT_OSS, "<|channel|>final<|message|>cut <|en", false, false, "cut <|en", "", ""},
    {GPT_OSS, "<|chan", false, false, "<|chan", "", ""},
};

static json_t *tools;

/* Takes these names as control tokens of the form. */
static void add_controls(server_form *form)
{
    static const char *const names[] = {"<|channel|>", "<|message|>", "<|start|>",     "<|end|>",
                                        "<|call|>",    "<|return|>",  "<|constrain|>", "[TOOL_CALLS]",
                                        "[ARGS]",      "[CALL_ID]",   "<|python_tag|>"};
    form->controls =
        realloc(form->controls, (form->n_controls + sizeof names / sizeof *names) * sizeof *form->controls);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) form->controls[form->n_controls++] = strdup(names[i]);
}

static int tools_begin(void **state)
{
    (void)state;
    tools = json_loads("[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {\"type\": "
                       "\"object\", \"properties\": {\"word\": {\"type\": \"string\"}, \"kind\": {\"enum\": "
                       "[\"1\", \"2\"]}, \"size\": {\"$ref\": \"#/$defs/size\"}}, \"$defs\": {\"size\": {\"enum\": "
                       "[\"2\"]}}}}}, {\"type\": \"function\", \"function\": {\"name\": \"a b\"}}]",
                       0, NULL);
    char path[256];
    strcpy(path, test_temporary("reader.gguf"));
    tiny_model_write(path, &(tiny_model_options){.seed = 7});
    for (int i = 0; i < N_FORMS; i++) {
        vouch_model_options o = vouch_model_options_default();
        vouch_model *model;
        o.text_only = true;
        o.chat_template = call_template_text(templates[i]);
        if (vouch_model_open(&model, path, &o, NULL)) return 1;
        forms[i] = server_form_open(model);
        add_controls(forms[i]);
        vouch_model_close(model);
    }
    return !tools;
}

static int tools_end(void **state)
{
    (void)state;
    json_decref(tools);
    for (int i = 0; i < N_FORMS; i++) server_form_close(forms[i]);
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
    server_reader_end(reader, false);
}

static void expect_same(size_t i, const char *what, const char *got, size_t n, const char *wanted)
{
    if (n == strlen(wanted) && (n == 0 || memcmp(got, wanted, n) == 0)) return;
    fail_msg("%s: %s is '%.*s', expected '%s'", cases[i].answer, what, (int)n, n ? got : "", wanted);
}

/* The calls as JSON; "": none. */
static char *calls_text(const server_reader *reader)
{
    json_t *all = json_array();
    for (size_t i = 0; i < reader->n_calls; i++) {
        const server_call *call = &reader->calls[i];
        json_array_append_new(all, json_pack("{s:s, s:o}", "name", call->name, "arguments",
                                             json_stringn(call->arguments.n ? call->arguments.bytes : "",
                                                          call->arguments.n)));
    }
    char *text = reader->n_calls > 0 ? json_dumps(all, JSON_COMPACT) : strdup("");
    json_decref(all);
    return text;
}

static void answers_are_told_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece <= strlen(cases[i].answer) + 1; piece++) {
            server_reader reader;
            server_reader_begin(&reader, forms[cases[i].form], cases[i].with_tools ? tools : NULL, cases[i].thinks);
            read_answer(&reader, cases[i].answer, piece);
            char *calls = calls_text(&reader);
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
    static const struct {
        int form;
        const char *answer;
    } answers[] = {
        {HERMES, "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call><tool_call>{\"name\": \"g\", "
                 "\"arguments\": {}}</tool_call>"},
        {NEMO, "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {}}]"},
        {MISTRAL, "[TOOL_CALLS]f[CALL_ID]a[ARGS]{}[TOOL_CALLS]g[CALL_ID]b[ARGS]{}"},
        {CODER, "<tool_call><function=f><parameter=x>1</parameter></function></tool_call><tool_call><function=g>"
                "<parameter=word>1</parameter></function></tool_call>"}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        for (int only_one = 0; only_one < 2; only_one++) {
            server_reader reader;
            server_reader_begin(&reader, forms[answers[i].form], tools, false);
            reader.only_one = only_one;
            read_answer(&reader, answers[i].answer, 3);
            assert_int_equal(reader.n_calls, only_one ? 1 : 2);
            assert_int_equal(reader.content.n, 0);
            server_reader_free(&reader);
        }
}

/* A call that a limit cuts is a call; half of its head is nothing. Cut at any byte, no markup becomes content. */
static void cut_calls_are_calls(void **state)
{
    (void)state;
    static const struct {
        int form;
        const char *answer;
    } answers[] = {{HERMES, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": \"abc\"}}\n</tool_call>"},
                   {NEMO, "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\": \"abc\"}, \"id\": \"abcdefghi\"}]"},
                   {MISTRAL, "[TOOL_CALLS]f[CALL_ID]abc123xyz[ARGS]{\"x\": \"abc\"}"},
                   {CODER, "<tool_call>\n<function=f>\n<parameter=word>\nabc\n</parameter>\n</function>\n</tool_call>"},
                   {PYTHON, "<|call_start|>[f(x='abc')]<|call_end|>"},
                   {GEMMA, "<|tool_call>call:f{x:<|\"|>abc<|\"|>}<tool_call|>"}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        size_t n_calls = 0;
        for (size_t n = 1; n <= strlen(answers[i].answer); n++) {
            server_reader reader;
            server_reader_begin(&reader, forms[answers[i].form], tools, false);
            server_reader_push(&reader, answers[i].answer, n);
            server_reader_end(&reader, true);
            const bool is_mark = n < strlen(forms[answers[i].form]->marks[0]);
            if (reader.content.n > 0 && !is_mark) fail_msg("%.*s", (int)n, answers[i].answer);
            n_calls += reader.n_calls;
            server_reader_free(&reader);
        }
        assert_true(n_calls > 8);
    }
}

/* Arguments that the model writes as a text and a limit cuts: what stands in the text so far, as the API has it. */
static void cut_texts_are_their_beginnings(void **state)
{
    (void)state;
    static const char answer[] = "<tool_call>{\"name\": \"f\", \"arguments\": "
                                 "\"{\\\"x\\\": \\\"a\\u00e9\\\\n\\ud83d\\ude00\\\"}\"}</tool_call>",
                      text[] = "{\"x\": \"a\xc3\xa9\\n\xf0\x9f\x98\x80\"}";
    size_t longest = 0;
    for (size_t n = strlen("<tool_call>{\"name\": \"f\", \"arguments\": \""); n < strlen(answer); n++) {
        server_reader reader;
        server_reader_begin(&reader, forms[HERMES], tools, false);
        server_reader_push(&reader, answer, n);
        server_reader_end(&reader, true);
        assert_int_equal(reader.n_calls, 1);
        const server_text *got = &reader.calls[0].arguments;
        assert_false(reader.calls[0].is_text);
        if (got->n > strlen(text) || got->n < longest || (got->n > 0 && memcmp(got->bytes, text, got->n) != 0))
            fail_msg("'%.*s' of %.*s", (int)got->n, got->n ? got->bytes : "", (int)n, answer);
        longest = got->n;
        server_reader_free(&reader);
    }
    assert_int_equal(longest, strlen(text));
}

/* A value without a type is read at its end, which is sought once, however many false ends stand in it. */
static void false_ends_are_passed_over(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const char head[] = "<tool_call>\n<function=f>\n<parameter=other>\n", part[] = "\n</parameter>x",
                      tail[] = "\n</parameter>\n</function>\n</tool_call>";
    server_reader reader;
    server_reader_begin(&reader, forms[CODER], tools, false);
    server_reader_push(&reader, head, strlen(head));
    for (int i = 0; i < N; i++)
        for (size_t at = 0; part[at]; at++) server_reader_push(&reader, &part[at], 1);
    server_reader_push(&reader, tail, strlen(tail));
    server_reader_end(&reader, false);
    assert_int_equal(reader.n_calls, 1);
    assert_true(reader.calls[0].is_over);
    assert_int_equal(reader.calls[0].arguments.n, strlen("{\"other\":\"\"}") + N * (strlen(part) + 1));
    server_reader_free(&reader);
}

/* Calls are read one after the other, so that their number is bounded by the answer and not by the stack (law L5). */
static void many_calls_are_read(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const char call[] = "[TOOL_CALLS]f[CALL_ID]a[ARGS]{}";
    server_text answer = {0};
    server_reader reader;
    for (int i = 0; i < N; i++) server_text_put(&answer, call);
    server_reader_begin(&reader, forms[MISTRAL], tools, false);
    push(&reader, answer.bytes, answer.n, 1000);
    server_reader_end(&reader, false);
    assert_int_equal(reader.n_calls, N);
    assert_int_equal(reader.content.n, 0);
    server_reader_free(&reader);
    server_text_free(&answer);
}

/* As deep as a grammar lets a model write. */
static void deep_arguments_are_read(void **state)
{
    (void)state;
    enum { DEEP = 1000 };
    server_text answer = {0};
    server_reader reader;
    server_text_put(&answer, "[TOOL_CALLS]f[CALL_ID]a[ARGS]{\"x\":");
    const size_t from = answer.n;
    for (int i = 1; i < DEEP; i++) server_text_put(&answer, "[");
    for (int i = 1; i < DEEP; i++) server_text_put(&answer, "]");
    server_text_put(&answer, "}");
    server_reader_begin(&reader, forms[MISTRAL], tools, false);
    push(&reader, answer.bytes, answer.n, 7);
    server_reader_end(&reader, false);
    assert_int_equal(reader.n_calls, 1);
    assert_int_equal(reader.content.n, 0);
    assert_int_equal(reader.calls[0].arguments.n, strlen("{\"x\":") + answer.n - from);
    server_reader_free(&reader);
    server_text_free(&answer);
}

/* The reader reads nothing outside of the text, whatever a model writes (law L5), and where the text is cut into pieces
 * changes nothing. */
static void any_text_is_read(void **state)
{
    (void)state;
    static const char *const parts[] = {"<think>",
                                        "</think>",
                                        "<tool_call>",
                                        "</tool_call>",
                                        "{\"name\": \"f\", ",
                                        "\"arguments\": {}}",
                                        "<function=f>",
                                        "<parameter=x>",
                                        "</parameter>",
                                        "\n",
                                        "</function>",
                                        "[TOOL_CALLS]",
                                        "[ARGS]",
                                        "a",
                                        "{",
                                        "\xff",
                                        "[",
                                        "]",
                                        "f",
                                        "(x=",
                                        ")",
                                        "<|call_start|>[",
                                        "<|tool_call>call:",
                                        "<|\"|>",
                                        "f\n",
                                        "[CALL_ID]",
                                        "'",
                                        ">>>",
                                        "all\n",
                                        ":",
                                        ",",
                                        "\"",
                                        "\\",
                                        "1"};
    static const char *const specials[] = {"<|channel|>", "<|message|>", "<|end|>", "[TOOL_CALLS]", "<|python_tag|>"};
    test_random random = {1};
    for (int round = 0; round < 20000; round++) {
        server_reader reader, whole;
        server_text all = {0};
        const bool thinks = round % 5 == 0;
        const json_t *with = round % 3 > 0 ? tools : NULL;
        server_reader_begin(&reader, forms[round % N_FORMS], with, thinks);
        server_reader_begin(&whole, forms[round % N_FORMS], with, thinks);
        reader.only_one = whole.only_one = round % 7 == 0;
        for (uint32_t n = test_below(&random, 16); n > 0; n--) {
            const char *part = parts[test_below(&random, sizeof parts / sizeof *parts)];
            const char *special = specials[test_below(&random, sizeof specials / sizeof *specials)];
            push(&reader, part, strlen(part), 1 + test_below(&random, 4));
            server_text_put(&all, part);
            if (round % 2 && test_below(&random, 4) == 0) server_reader_special(&reader, special, strlen(special));
        }
        server_reader_end(&reader, round % 11 == 0);
        assert_int_equal(reader.text.n, 0);
        if (round % 2 == 0) {
            server_reader_push(&whole, all.n ? all.bytes : "", all.n);
            server_reader_end(&whole, round % 11 == 0);
            char *one = calls_text(&reader), *other = calls_text(&whole);
            if (strcmp(one, other) != 0 || whole.content.n != reader.content.n)
                fail_msg("%d: '%.*s': %s and %s", round, (int)all.n, all.bytes, one, other);
            free(one);
            free(other);
        }
        server_text_free(&all);
        server_reader_free(&reader);
        server_reader_free(&whole);
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
        cmocka_unit_test(answers_are_told_apart),     cmocka_unit_test(further_calls_are_left_out),
        cmocka_unit_test(cut_calls_are_calls),        cmocka_unit_test(cut_texts_are_their_beginnings),
        cmocka_unit_test(false_ends_are_passed_over), cmocka_unit_test(many_calls_are_read),
        cmocka_unit_test(deep_arguments_are_read),    cmocka_unit_test(any_text_is_read),
        cmocka_unit_test(texts_become_json_strings),
    };
    return cmocka_run_group_tests(all, tools_begin, tools_end);
}
