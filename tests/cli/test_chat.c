/* SPDX-License-Identifier: MIT */
/* Conversations and chat templates, with piped input and in a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/command.h"
#include "support/program/terminal.h"
#include "support/model/tiny_model.h"
#include "support/model/tiny_vocab.h"

/* A target, a draft model close to it, and the target as a base model, without a chat template. */
static char target[256], draft[256], base[256];
static terminal t;

/* Copies a model and renames its chat template's key, which makes it a base model. */
static void base_write(const char *path, const char *from)
{
    size_t n;
    char *bytes = read_whole(from, &n);
    char *key = memmem(bytes, n, "tokenizer.chat_template", 23);
    assert_non_null(key);
    key[22] = 'X';
    write_whole(path, bytes, n);
    free(bytes);
}

/* Copies a model with a template that can't be run: its first tag has no end. */
static void other_template_write(const char *path, const char *from)
{
    size_t n;
    char *bytes = read_whole(from, &n), *at = memmem(bytes, n, "tokenizer.chat_template", 23);
    assert_non_null(at);
    uint64_t length;
    memcpy(&length, at + 23 + 4, sizeof length);
    at += 23 + 4 + 8;
    for (char *past = at + length; (at = memmem(at, (size_t)(past - at), "%}", 2)) != NULL; at++) at[1] = 'X';
    write_whole(path, bytes, n);
    free(bytes);
}

static int models_write(void **state)
{
    (void)state;
    strcpy(target, test_temporary("target.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    strcpy(base, test_temporary("base.gguf"));
    tiny_model_write(target, &(tiny_model_options){.n_ctx = 8192, .seed = 1});
    tiny_model_write(draft, &(tiny_model_options){.n_ctx = 8192, .seed = 1, .noise = 0.15f});
    base_write(base, target);
    return 0;
}

static void chat_reads_lines(void **state)
{
    (void)state;
    const setting twice = {.input = "Hello\n\n/help\nHello\r\n/clear\nHello\n/exit\nnever read\n"};
    result r = run_as(&twice, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-n", "8", NO_CONTROL));
    assert_int_equal(r.status, 0);
    result once = RUN(GREEDY, "-m", target, "-p", "Hello", "-n", "8", NO_CONTROL);
    assert_int_equal(strncmp(r.out, once.out, once.n_out), 0); /* the first turn equals a run with a single prompt */
    const char *last = r.out + r.n_out - once.n_out;
    assert_memory_equal(last, once.out, once.n_out); /* so does the turn after /clear */
    assert_non_null(strstr(r.err, "/clear forgets"));
    result_free(&r), result_free(&once);

    char lines[4000] = "";
    for (int i = 0; i < 60; i++) strcat(lines, "And the stones laughed at the river. ");
    strcat(lines, "\nHi\n");
    const setting tight = {.input = lines};
    r = run_as(&tight, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-c", "128", "-n", "4", NO_CONTROL));
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "the message has"));
    assert_true(r.n_out > 1); /* the next turn was answered */
    result_free(&r);
    const setting nul = {.input = "a\0b\nHi\n", .n_input = 7};
    r = run_as(&nul, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-n", "4", NO_CONTROL));
    assert_true(r.n_out > 1);
    expect(r, 1, "a line with a NUL byte is left out");
    /* An empty conversation still writes its statistics. */
    char json[256];
    strcpy(json, test_temporary("chat.json"));
    expect(RUN("run", "-m", target, "--chat", "--stats-json", json), 0, NULL);
    json_t *o = json_of(json);
    assert_int_equal(whole(o, "generated_tokens"), 0);
    json_decref(o);
}

/* The number of lines that begin with `text`. */
static int lines_with(const char *out, const char *text)
{
    int n = 0;
    for (const char *at = out; (at = strstr(at, text)) != NULL; at++) n += at == out || at[-1] == '\n';
    return n;
}

/* Fifty turns in a context that holds six: the oldest are dropped, the system message stays, and every line is
 * answered. The model sees the same tokens as in a conversation that begins at the first kept turn. */
static void old_turns_leave_the_context(void **state)
{
    (void)state;
    char lines[2000] = "";
    for (int i = 0; i < 50; i++) sprintf(lines + strlen(lines), "Question %d\n", i);
    const setting fifty = {.input = lines};
    result r = run_as(&fifty, "vouch",
                      ARGUMENTS(GREEDY, "-m", target, "--chat", "-c", "256", "-n", "8", "--system", "Be brief.",
                                "--stop", "\n", NO_CONTROL));
    assert_int_equal(r.status, 0);
    int answers = 0;
    for (size_t i = 0; i < r.n_out; i++) answers += r.out[i] == '\n';
    assert_int_equal(answers, 50);
    const int drops = lines_with(r.err, "vouch: note: the context of 256 tokens is full: the model no longer sees");
    assert_true(drops >= 3 && drops <= 25); /* each drop frees half of the context, not one turn */
    result_free(&r);
    /* When the context ends an answer, a note says so, and the next question is answered. */
    const setting two = {.input = "Hello\nHello\n"};
    r = run_as(&two, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-c", "128", "-n", "0", NO_CONTROL));
    assert_int_equal(r.status, 0);
    assert_int_equal(lines_with(r.err, "vouch: note: answer cut: the context of 128 tokens is full"), 2);
    assert_int_equal(lines_with(r.err, "vouch: note: the context of 128 tokens is full"), 1);
    result_free(&r);
}

/* A conversation that is kept in a file goes on where it ended, with the text that it would have had at once. */
static void a_kept_conversation_goes_on(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("kept"));
    const setting first = {.input = "Hello\n"}, second = {.input = "And then?\n"},
                  both = {.input = "Hello\nAnd then?\n"};
    result whole = run_as(&both, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-n", "12", NO_CONTROL));
    result one =
        run_as(&first, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-n", "12", "--session", path, NO_CONTROL));
    result two =
        run_as(&second, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-n", "12", "--session", path, NO_CONTROL));
    assert_int_equal(one.status, 0);
    assert_int_equal(two.status, 0);
    assert_int_equal(one.n_out + two.n_out, whole.n_out);
    assert_memory_equal(one.out, whole.out, one.n_out);
    assert_memory_equal(two.out, whole.out + one.n_out, two.n_out);
    assert_int_equal(lines_with(two.err, "vouch: note: --session: the conversation goes on after 2 messages"), 1);
    result_free(&whole), result_free(&one), result_free(&two);
}

/* A pipe may carry text of unknown content, so only four exact lines are commands. */
static void pipes_have_few_commands(void **state)
{
    (void)state;
    char path[256], line[600];
    strcpy(path, test_temporary("never.json"));
    snprintf(line, sizeof line,
             "/save %s\n/load %s\n/set temp 5\n/etc\n// note\n/clear now\n//quit\n /quit\n/quit\nHi\n", path, path);
    const setting lines = {.input = line};
    result r =
        run_as(&lines, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-n", "2", "--stop", "\n", NO_CONTROL));
    assert_int_equal(r.status, 0);
    assert_null(strstr(r.err, "/"));
    int answers = 0;
    for (size_t i = 0; i < r.n_out; i++) answers += r.out[i] == '\n';
    assert_int_equal(answers, 8);
    result_free(&r);
    FILE *saved = fopen(path, "r");
    assert_null(saved);
    /* "// note" is sent unchanged, "//quit" without its first slash. */
    const setting slashes = {.input = "// note\n"}, quit = {.input = "//quit\n"};
    r = run_as(&slashes, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-n", "8", NO_CONTROL));
    result once = RUN(GREEDY, "-m", target, "-p", "// note", "-n", "8", NO_CONTROL);
    assert_int_equal(strncmp(r.out, once.out, once.n_out), 0);
    result_free(&r), result_free(&once);
    r = run_as(&quit, "vouch", ARGUMENTS(GREEDY, "-m", target, "--chat", "-n", "8", NO_CONTROL));
    once = RUN(GREEDY, "-m", target, "-p", "/quit", "-n", "8", NO_CONTROL);
    assert_int_equal(strncmp(r.out, once.out, once.n_out), 0);
    result_free(&r), result_free(&once);
}

/* A model without a template refuses a conversation but takes a raw prompt. */
static void base_models_go_on_with_text(void **state)
{
    (void)state;
    const setting lines = {.input = "Hello\n"};
    expect(RUN("run", "-m", base, "-p", "x", "--system", "y"), 2, "--system needs a chat template");
    expect(RUN(GREEDY, "-m", base, "-p", "x", "-n", "2"), 0, NULL);
    expect(run_as(&lines, "vouch", ARGUMENTS("run", "-m", base, "--chat")), 2, "no chat template");
    /* The first message may stand on the command line. */
    const setting one = {.input = "Hello\n"}, two = {.input = "Hello\nHello\n"};
    result given = run_as(&two, "vouch", ARGUMENTS(GREEDY, target, "--chat", "-n", "8", NO_CONTROL));
    result both[] = {run_as(&one, "vouch", ARGUMENTS("chat", target, "Hello", "--temp", "0", "-n", "8", NO_CONTROL)),
                     run_as(&one, "vouch", ARGUMENTS(GREEDY, target, "-cnv", "-p", "Hello", "-n", "8", NO_CONTROL))};
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(both[i].out, given.out);
        result_free(&both[i]);
    }
    result_free(&given);
    expect(run_as(&lines, "vouch", ARGUMENTS(GREEDY, "-m", base, "--chat", "--chat-template", "chatml", "-n", "4")), 0,
           NULL);
}

/* A model whose template can't be run is refused: it is not treated as a base model. */
static void broken_templates_are_refused(void **state)
{
    (void)state;
    char other[256];
    strcpy(other, test_temporary("other.gguf"));
    other_template_write(other, target);
    static const char message[] = "other.gguf: chat template, line 1: a tag has no end: %} is missing; --raw";
    expect(RUN("run", "-m", other, "-p", "Hello"), 1, message);
    expect(RUN("run", "-m", other, "--chat"), 1, message);
    expect(RUN(GREEDY, "-m", other, "-p", "Hello", "-n", "4", "--raw"), 0, NULL);
    expect(RUN(GREEDY, "-m", other, "-p", "Hello", "-n", "4", "--chat-template", "chatml"), 0, NULL);
    result info = RUN("info", "-m", other);
    assert_non_null(strstr(info.out, "unsupported"));
    result_free(&info);
}

/* With the template from a file, a base model answers like the model that contains it. */
static void template_comes_from_a_file(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("chat.jinja"));
    static const char text[] =
        "{{ '<|im_start|>system\n" TINY_SYSTEM "<|im_end|>\n<|im_start|>user\n' + messages[0].content + "
        "'<|im_end|>\n<|im_start|>assistant\n' }}";
    write_whole(path, text, sizeof text - 1);
    result own = RUN(GREEDY, "-m", target, "-p", "Hello", "-n", "12");
    result given = RUN(GREEDY, "-m", base, "-p", "Hello", "-n", "12", "--chat-template", path);
    result plain = RUN(GREEDY, "-m", base, "-p", "Hello", "-n", "12", "--chat-template", "chatml");
    result none = RUN(GREEDY, "-m", target, "-p", "Hello", "-n", "12", "--chat-template", "none");
    result raw = RUN(GREEDY, "-m", base, "-p", "Hello", "-n", "12", "--chat-template", "auto");
    assert_int_equal(own.status | given.status | plain.status | none.status | raw.status, 0);
    assert_string_equal(own.out, given.out);
    assert_string_not_equal(own.out, plain.out);
    assert_string_equal(none.out, raw.out);
    result_free(&own), result_free(&given), result_free(&plain), result_free(&none), result_free(&raw);
    write_whole(path, "{{ message }}", 13);
    expect(RUN("run", "-m", base, "-p", "x", "--chat-template", path), 2, "it never names the variable messages");
    static const char picky[] = "{{ messages[0] }}\n{{ raise_exception('Only poems') }}";
    write_whole(path, picky, sizeof picky - 1);
    expect(RUN("run", "-m", base, "-p", "x", "--chat-template", path), 1,
           "chat template, line 2: it refuses this conversation: \"Only poems\": change the messages");
    write_whole(path, "<|im_start|>\0{% rubbish", 22);
    expect(RUN("run", "-m", base, "-p", "x", "--chat-template", path), 2, "a NUL byte at offset 12");
    expect(RUN("run", "-m", base, "-p", "x", "--chat-template", "/nowhere/at/all"), 2,
           "--chat-template '/nowhere/at/all': neither a name nor a file; `vouch run --chat-template list`");
    expect(RUN("run", "-m", base, "-p", "x", "--chat-template", "chatmll"), 2, "did you mean chatml?");
    expect(RUN("run", "-m", base, "-p", "x", "--chat-template", "gemma"), 2,
           "the model has no token <start_of_turn>, which gemma needs; its tokens fit chatml");
    expect(RUN("run", "-m", base, "--chat"), 2, "its tokens fit --chat-template chatml; or write --raw --prompt TEXT");
    result names = RUN("run", "--chat-template", "list"), same = RUN("serve", "--chat-template", "list");
    assert_int_equal(names.status, 0);
    assert_non_null(strstr(names.out, "\nllama3\n"));
    assert_string_equal(names.out, same.out);
    result_free(&names), result_free(&same);
}

static const char thinking[] =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined %}{{ 'T' if enable_thinking else 'F' }}{% endif %}";

/* --show-prompt prints text and tokens and answers nothing; --think sets the template's variable. */
static void prompts_are_shown(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("thinking.jinja"));
    write_whole(path, thinking, sizeof thinking - 1);
    static const char *const cases[][2] = {{"auto", "assistant\n\n\n1\t"},
                                           {"on", "assistant\nT\n\n1\t"},
                                           {"off", "assistant\nF\n\n1\t"},
                                           {"hide", "assistant\n\n\n1\t"}};
    for (size_t i = 0; i < 4; i++) {
        result r =
            RUN("run", "-m", target, "-p", "Hi", "--chat-template", path, "--show-prompt", "--think", cases[i][0]);
        assert_int_equal(r.status, 0);
        assert_int_equal(strncmp(r.out, "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", 52), 0);
        if (!strstr(r.out, cases[i][1])) fail_msg("%s: %s", cases[i][0], r.out);
        result_free(&r);
    }
    expect(RUN("run", "-m", target, "--chat", "--show-prompt"), 2, "--show-prompt needs a prompt");
    expect(RUN(GREEDY, "-m", target, "-p", "Hi", "-n", "2", "--think", "on"), 0, "--think on has no effect");
}

/* --think hide leaves out what stands between the marks that the template shows, texts or control tokens; a grammar
 * makes the model write them. The prompt may have opened the thoughts. */
static void thoughts_are_hidden_in_each_form(void **state)
{
    (void)state;
#define LONG_MARK "[what follows is a thought of the assistant and no part of its answer to the user]"
    static const struct {
        const char *begin, *end, *opens, *grammar, *shown;
    } cases[] = {
        {"<think>", "</think>", "", "\"<think>hm</think>\\n\\nyes\"", "yes"},
        {"[THINK]", "[/THINK]", "", "\"[THINK]h[/m[/THINK]yes [THINK\"", "yes [THINK"},
        {"[THINK]", "[/THINK]", "[THINK]", "\"hm[/THINK]yes\"", "yes"},
        {LONG_MARK, "[/THINK]", LONG_MARK "\n", "\"hm[/THINK]yes\"", "yes"},
        {"<|pad|>", "<|im_start|>", "", "%token \"<|pad|>\" \"hm\" %token \"<|im_start|>\" \"\\nyes\"", "yes"},
        {"<|pad|>", "<|im_start|>", "<|pad|>", "\"hm\" %token \"<|im_start|>\" \"yes \" %token \"<|pad|>\"", "yes "},
        {"<|pad|>thought", "<|im_start|>", "", "%token \"<|pad|>\" \"though\" %token \"<|im_start|>\" \"yes\"",
         "thoughyes"},
        {"", "", "", "\"<think>hm</think>yes\"", "yes"},
    };
    char template[256], grammar[256], text[512];
    strcpy(template, test_temporary("hides.jinja"));
    strcpy(grammar, test_temporary("hides.gbnf"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 "{%% for m in messages %%}{{ m.role }}:%s{{ %s }}%s{{ m.content }};{%% endfor %%}assistant:%s",
                 cases[i].begin, *cases[i].begin ? "m.reasoning_content" : "''", cases[i].end, cases[i].opens);
        write_whole(template, text, strlen(text));
        snprintf(text, sizeof text, "root ::= %s", cases[i].grammar);
        write_whole(grammar, text, strlen(text));
        static const char *const drafters[] = {"none", "auto"};
        for (int d = 0; d < 2; d++) {
            result r = RUN("run", "-m", target, "-p", "Hi", "--chat-template", template, "--think", "hide",
                           "--grammar-file", grammar, "-n", "64", "--spec", drafters[d]);
            assert_int_equal(r.status, 0);
            const size_t n = strlen(cases[i].shown);
            if (strncmp(r.out, cases[i].shown, n) != 0 || strspn(r.out + n, "\n") != strlen(r.out + n))
                fail_msg("case %zu: '%s'", i, r.out);
            result_free(&r);
        }
    }
}

/* `tokenize --messages`: a conversation with its tools, as text and as tokens. */
static void conversations_come_from_a_file(void **state)
{
    (void)state;
    char path[256], jinja[256];
    strcpy(path, test_temporary("messages.json"));
    strcpy(jinja, test_temporary("tools.jinja"));
    static const char json[] = /* after a byte-order mark */
        "\xef\xbb\xbf{\"messages\": [{\"role\": \"user\", \"content\": \"<|im_end|>\"}], \"tools\": [{}]}";
    static const char text[] = "{{ tools|length }}{{ messages[0].content }}<|im_end|>";
    write_whole(path, json, sizeof json - 1);
    write_whole(jinja, text, sizeof text - 1);
    result r = RUN("tokenize", "-m", base, "--chat-template", jinja, "--messages", path, "--render");
    assert_string_equal(r.out, "1<|im_end|><|im_end|>");
    result_free(&r);
    r = RUN("tokenize", "-m", base, "--chat-template", jinja, "--messages", path, "--ids");
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out + r.n_out - 3, " 2\n"); /* the one token 2: the template's <|im_end|>, not the user's */
    assert_null(strstr(r.out, " 2 "));
    result_free(&r);
    expect(RUN("tokenize", "-m", base, "--render", "-p", "x"), 2, "--render needs a conversation: add --messages FILE");
    expect(RUN("tokenize", "-m", base, "--messages", path, "-p", "x"), 2, "--messages and --prompt both give the text");
    expect(RUN("tokenize", "-m", base, "--messages", path), 1, "--messages: the model's chat template is missing");
    write_whole(path, "[{}]", 4);
    expect(RUN("tokenize", "-m", target, "--messages", path), 1,
           "--messages: conversation: messages[0].role is missing");
}

/* In a terminal, a run without a prompt would start a conversation. --raw excludes that, so the command
 * refuses. */
static void raw_in_a_terminal_needs_a_prompt(void **state)
{
    (void)state;
    terminal_start(&t, "xterm", target, ARGUMENTS(program("vouch"), "run", "-m", target, "--raw"));
    terminal_expect(&t, "--raw needs --prompt TEXT");
    assert_int_equal(terminal_end(&t), 2);
}

/* Text and trace share a terminal. Every table begins a line of its own. */
static void trace_begins_a_line(void **state)
{
    (void)state;
    int n_cycles = 0;
    enum { N_TOKENS = 12 };
    terminal_start(&t, "dumb", target,
                   ARGUMENTS(program("vouch"), GREEDY, "-m", target, "-p", "Hello", "-n", "12", "--spec", "none",
                             "--raw", "--trace", "--ignore-eos"));
    assert_false(terminal_wait(&t, "\001", TERMINAL_LONG)); /* reads to the end */
    for (const char *at = t.seen; (at = strstr(at, "cycle ")); at++, n_cycles++)
        assert_true(at > t.seen && at[-1] == '\n');
    assert_int_equal(n_cycles, N_TOKENS);
    assert_int_equal(terminal_end(&t), 0);
}

/* Ctrl-C erases the progress line, both while the command can cancel and while it can only end. */
static void interrupt_wipes_the_progress(void **state)
{
    (void)state;
    test_skip_slow();
    char path[256];
    strcpy(path, test_temporary("questions.txt"));
    FILE *stream = fopen(path, "w");
    for (int i = 0; i < 10000; i++) fprintf(stream, "What is %d?\n", i);
    assert_int_equal(fclose(stream), 0);
    const char *const *const lines[] = {
        ARGUMENTS(program("vouch"), "check", "-m", target, "--seconds", "3600"),
        ARGUMENTS(program("vouch"), "analyze", "-m", target, "-d", draft, "--prompts", path, "-n", "1000"),
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        terminal_start(&t, "xterm", target, lines[i]);
        terminal_expect(&t, " left");
        terminal_say(&t, "\003");
        terminal_expect(&t, "      \r"); /* check reports before it complains */
        terminal_expect(&t, "vouch: interrupted");
        assert_int_equal(terminal_end(&t), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chat_reads_lines),
        cmocka_unit_test(old_turns_leave_the_context),
        cmocka_unit_test(pipes_have_few_commands),
        cmocka_unit_test(a_kept_conversation_goes_on),
        cmocka_unit_test(base_models_go_on_with_text),
        cmocka_unit_test(trace_begins_a_line),
        cmocka_unit_test(broken_templates_are_refused),
        cmocka_unit_test(template_comes_from_a_file),
        cmocka_unit_test(prompts_are_shown),
        cmocka_unit_test(thoughts_are_hidden_in_each_form),
        cmocka_unit_test(conversations_come_from_a_file),
        cmocka_unit_test(raw_in_a_terminal_needs_a_prompt),
        cmocka_unit_test(interrupt_wipes_the_progress),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
