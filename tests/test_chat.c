/* SPDX-License-Identifier: MIT */
/* Conversations and templates, from a file of lines and in a terminal. */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command.h"
#include "support/tiny_model.h"
#include "support/tiny_vocab.h"

/* A target, a draft near it, and the target again as a base model, without chat template. */
static char target[256], draft[256], base[256];

/* A copy of a model whose key for the chat template goes by another name. */
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

/* The same model with a template that isn't ChatML. */
static void other_template_write(const char *path, const char *from)
{
    size_t n;
    char *bytes = read_whole(from, &n), *at = memmem(bytes, n, "tokenizer.chat_template", 23);
    assert_non_null(at);
    uint64_t length;
    memcpy(&length, at + 23 + 4, sizeof length);
    at += 23 + 4 + 8;
    for (char *past = at + length; (at = memmem(at, (size_t)(past - at), "<|im_", 5)) != NULL; at++) at[2] = 'X';
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
    result r = run_as(&twice, "vouch", ARGUMENTS("run", "-m", target, "--chat", "-n", "8", NO_CONTROL));
    assert_int_equal(r.status, 0);
    result once = RUN("run", "-m", target, "-p", "Hello", "-n", "8", NO_CONTROL);
    assert_int_equal(strncmp(r.out, once.out, once.n_out), 0); /* the first turn is a single prompt */
    const char *last = r.out + r.n_out - once.n_out;
    assert_memory_equal(last, once.out, once.n_out); /* and so is the one after /clear */
    assert_non_null(strstr(r.err, "/clear forgets"));
    result_free(&r), result_free(&once);

    char lines[4000] = "";
    for (int i = 0; i < 60; i++) strcat(lines, "And the stones laughed at the river. ");
    strcat(lines, "\nHi\n");
    const setting tight = {.input = lines};
    r = run_as(&tight, "vouch", ARGUMENTS("run", "-m", target, "--chat", "-c", "128", "-n", "4", NO_CONTROL));
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "no longer fits"));
    assert_true(r.n_out > 1); /* the next turn was answered */
    result_free(&r);
    const setting nul = {.input = "a\0b\nHi\n", .n_input = 7};
    r = run_as(&nul, "vouch", ARGUMENTS("run", "-m", target, "--chat", "-n", "4", NO_CONTROL));
    assert_true(r.n_out > 1);
    expect(r, 1, "a line with a NUL byte is left out");
    /* Figures, though of nothing. */
    char json[256];
    strcpy(json, test_temporary("chat.json"));
    expect(RUN("run", "-m", target, "--chat", "--stats-json", json), 0, NULL);
    json_t *o = json_of(json);
    assert_int_equal(whole(o, "generated_tokens"), 0);
    json_decref(o);
}

/* A model without a template takes what needs none. */
static void base_models_go_on_with_text(void **state)
{
    (void)state;
    const setting lines = {.input = "Hello\n"};
    expect(RUN("run", "-m", base, "-p", "x", "--system", "y"), 2, "--system needs a chat template");
    expect(RUN("run", "-m", base, "-p", "x", "-n", "2"), 0, NULL);
    expect(run_as(&lines, "vouch", ARGUMENTS("run", "-m", base, "--chat")), 2, "no chat template");
    expect(
        run_as(&lines, "vouch", ARGUMENTS("run", "-m", base, "--chat", "--chat-template", "chatml", "-n", "4")), 0,
        NULL);
}

/* A model for conversations whose template isn't known is no base model. */
static void unknown_templates_are_refused(void **state)
{
    (void)state;
    char other[256];
    strcpy(other, test_temporary("other.gguf"));
    other_template_write(other, target);
    static const char message[] = "tokenizer.chat_template is not supported, only ChatML is: --raw";
    expect(RUN("run", "-m", other, "-p", "Hello"), 1, message);
    expect(RUN("run", "-m", other, "--chat"), 1, message);
    expect(RUN("run", "-m", other, "-p", "Hello", "-n", "4", "--raw"), 0, NULL);
    expect(RUN("run", "-m", other, "-p", "Hello", "-n", "4", "--chat-template", "chatml"), 0, NULL);
    result info = RUN("info", "-m", other);
    assert_non_null(strstr(info.out, "unsupported"));
    result_free(&info);
}

/* A file's template makes a base model answer as the model that has it. */
static void template_comes_from_a_file(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("chat.jinja"));
    static const char text[] = "{{ '<|im_start|>system\n" TINY_SYSTEM "<|im_end|>\n' }}{{ '<|im_start|>' + role }}";
    write_whole(path, text, sizeof text - 1);
    result own = RUN("run", "-m", target, "-p", "Hello", "-n", "12");
    result given = RUN("run", "-m", base, "-p", "Hello", "-n", "12", "--chat-template", path);
    result plain = RUN("run", "-m", base, "-p", "Hello", "-n", "12", "--chat-template", "chatml");
    result none = RUN("run", "-m", target, "-p", "Hello", "-n", "12", "--chat-template", "none");
    result raw = RUN("run", "-m", base, "-p", "Hello", "-n", "12", "--chat-template", "auto");
    assert_int_equal(own.status | given.status | plain.status | none.status | raw.status, 0);
    assert_string_equal(own.out, given.out);
    assert_string_not_equal(own.out, plain.out);
    assert_string_equal(none.out, raw.out);
    result_free(&own), result_free(&given), result_free(&plain), result_free(&none), result_free(&raw);
    write_whole(path, "{{ messages }}", 14);
    expect(RUN("run", "-m", base, "-p", "x", "--chat-template", path), 1, "only ChatML is supported");
    write_whole(path, "<|im_start|>\0{% rubbish", 22);
    expect(RUN("run", "-m", base, "-p", "x", "--chat-template", path), 1, "a NUL byte at offset 12");
    expect(RUN("run", "-m", base, "-p", "x", "--chat-template", "/nowhere/at/all"), 1,
           "--chat-template: /nowhere/at/all");
}

/* Reads the terminal until `text` has come, or nothing does for so long. What came
 * after it stays in `seen`. */
static bool terminal_wait(int terminal, char *seen, size_t capacity, const char *text, int milliseconds)
{
    size_t n = strlen(seen);
    struct pollfd wait = {terminal, POLLIN, 0};
    for (;;) {
        const char *found = strstr(seen, text);
        if (found) {
            found += strlen(text);
            memmove(seen, found, strlen(found) + 1);
            return true;
        }
        if (n + 1 >= capacity || poll(&wait, 1, milliseconds) <= 0) return false;
        const ssize_t got = read(terminal, seen + n, capacity - n - 1);
        if (got <= 0) return false;
        for (ssize_t i = 0; i < got; i++)
            if (seen[n + (size_t)i] == 0) seen[n + (size_t)i] = '?';
        seen[n += (size_t)got] = 0;
    }
}

/* In a terminal a prompt that isn't given is a conversation. */
static void raw_in_a_terminal_needs_a_prompt(void **state)
{
    (void)state;
    static char seen[4096];
    int terminal;
    const pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child < 0) test_skip("no pseudo-terminal here");
    if (child == 0) {
        execl(program("vouch"), "vouch", "run", "-m", target, "--raw", (char *)NULL);
        _exit(127);
    }
    assert_true(terminal_wait(terminal, seen, sizeof seen, "--raw needs --prompt TEXT", 60000));
    assert_int_equal(status_of(child), 2);
    close(terminal);
}

/* In a terminal: Ctrl-C stops the answer and not the program, Ctrl-D ends it. The trace makes the answer
 * longer than a terminal's buffer, so it can't be over before Ctrl-C comes. */
static void chat_in_a_terminal(void **state)
{
    (void)state;
    enum { LONG = 60000 };
    static char seen[1 << 20];
    int terminal;
    const char *const arguments[] = {program("vouch"), "run",     "-m",       target, "-c", "4096", "-n",
                                     "4000",           "--trace", NO_CONTROL, NULL};
    const pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child < 0) test_skip("no pseudo-terminal here");
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        execv(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    assert_true(terminal_wait(terminal, seen, sizeof seen, "> ", LONG));
    assert_int_equal(write(terminal, "Hello\n", 6), 6);
    assert_true(terminal_wait(terminal, seen, sizeof seen, "cycle 1", LONG));
    assert_int_equal(write(terminal, "\003", 1), 1);
    assert_true(terminal_wait(terminal, seen, sizeof seen, "answer stopped", LONG));
    assert_true(terminal_wait(terminal, seen, sizeof seen, "> ", LONG));
    assert_int_equal(write(terminal, "half a line", 11), 11);
    for (int i = 0; i < 30; i++) { /* the first may come before the command reads */
        assert_int_equal(write(terminal, "\003", 1), 1);
        if (terminal_wait(terminal, seen, sizeof seen, "/exit or Ctrl-D ends", 500)) break;
        assert_true(i + 1 < 30);
    }
    assert_true(terminal_wait(terminal, seen, sizeof seen, "> ", LONG));
    assert_int_equal(write(terminal, "\004", 1), 1);
    assert_false(terminal_wait(terminal, seen, sizeof seen, "cycle 1 ", LONG));
    assert_int_equal(status_of(child), 0);
    close(terminal);
}

/* The line of progress is wiped, in the middle of what can be cancelled and of what can only be ended. */
static void interrupt_wipes_the_progress(void **state)
{
    (void)state;
    test_skip_slow();
    enum { LONG = 60000 };
    static char seen[1 << 16];
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
        int terminal;
        const pid_t child = forkpty(&terminal, NULL, NULL, NULL);
        if (child < 0) test_skip("no pseudo-terminal here");
        if (child == 0) {
            signal(SIGINT, SIG_DFL);
            execv(lines[i][0], (char *const *)(uintptr_t)lines[i]);
            _exit(127);
        }
        *seen = 0;
        assert_true(terminal_wait(terminal, seen, sizeof seen, " left", LONG));
        assert_int_equal(write(terminal, "\003", 1), 1);
        assert_true(terminal_wait(terminal, seen, sizeof seen, "      \rvouch: interrupted", LONG));
        while (read(terminal, seen, sizeof seen) > 0) {
        }
        assert_int_equal(status_of(child), 1);
        close(terminal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chat_reads_lines),
        cmocka_unit_test(base_models_go_on_with_text),
        cmocka_unit_test(unknown_templates_are_refused),
        cmocka_unit_test(template_comes_from_a_file),
        cmocka_unit_test(raw_in_a_terminal_needs_a_prompt),
        cmocka_unit_test(chat_in_a_terminal),
        cmocka_unit_test(interrupt_wipes_the_progress),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
