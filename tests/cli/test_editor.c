/* SPDX-License-Identifier: MIT */
/* Chat in a terminal: the line editor, pastes, the history of messages, commands, Ctrl-C and Ctrl-D. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "support/program/command.h"
#include "support/program/terminal.h"
#include "support/model/tiny_model.h"

static char target[256], home[256], saved[256];
static terminal t;

static int models_write(void **state)
{
    (void)state;
    strcpy(target, test_temporary("target.gguf"));
    strcpy(home, test_temporary("home"));
    strcpy(saved, test_temporary("saved.json"));
    tiny_model_write(target, &(tiny_model_options){.n_ctx = 32768, .seed = 1});
    return mkdir(home, 0700);
}

static int saved_remove(void **state)
{
    (void)state;
    unlink(saved);
    return 0;
}

#define CHAT(...)                                          \
    terminal_start(&t, "xterm", home,                     \
                   ARGUMENTS(program("vouch"), "run", "-m", target, "--chat", NO_CONTROL, __VA_ARGS__))

/* Saves and ends the conversation, and returns the content of message i. The caller frees it. */
static char *message_saved(size_t i, size_t n_messages)
{
    char line[300];
    snprintf(line, sizeof line, "/save %s\r", saved);
    terminal_say(&t, line);
    terminal_expect(&t, "messages saved to");
    terminal_say(&t, "\004");
    assert_int_equal(terminal_end(&t), 0);
    json_t *list = json_of(saved);
    assert_int_equal(json_array_size(list), n_messages);
    char *content = strdup(json_string_value(json_object_get(json_array_get(list, i), "content")));
    json_decref(list);
    unlink(saved);
    return content;
}

/* Types the keys and Return in a new conversation. The sent message must equal `message`. */
static void keys_send(const char *keys, const char *message)
{
    CHAT("-n", "2");
    terminal_expect(&t, "> ");
    terminal_say(&t, keys);
    terminal_say(&t, "\r");
    terminal_expect(&t, "\n"); /* the newline after the input */
    char *sent = message_saved(0, 2);
    assert_string_equal(sent, message);
    free(sent);
}

#define LEFT  "\033[D"
#define RIGHT "\033[C"
#define UP    "\033[A"
#define DOWN  "\033[B"
#define PASTE(text) "\033[200~" text "\033[201~"
#define FAMILY "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7" /* 3 people, 2 joiners */
#define THUMB  "\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd"                                      /* a thumb with a skin tone */

static void keys_edit_whole_characters(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"日本語" LEFT "\177x", "日x語"},
        {"日本語" LEFT LEFT RIGHT "。", "日本。語"},
        {"a" FAMILY "b" LEFT "\177", "ab"},
        {"a" FAMILY "b" LEFT LEFT "\033[3~", "ab"},
        {THUMB THUMB LEFT "-", THUMB "-" THUMB},
        {"か\xe3\x82\x99き\177\177ku", "ku"}, /* with a combining voiced sound mark */
        {"one two\027three", "one three"},
        {"12345\001\033[3~0\0056", "023456"},
        {"a\033\rb\\\rc\033[A\033[Dx", "a\nxb\nc"}, /* three rows, then up and left */
        {"a\\\\", "a\\\\"},
        {"//slash", "/slash"},
        {"/usr/bin/env", "/usr/bin/env"},
        {PASTE("/quit\rthe job"), "/quit\nthe job"},
        {PASTE("/* a comment */"), "/* a comment */"},
        {"a\xff"
         "b",
         "a\xef\xbf\xbd"
         "b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) keys_send(cases[i][0], cases[i][1]);
}

static void pastes_are_one_message(void **state)
{
    (void)state;
    enum { LINES = 700 };
    char *text = malloc(LINES * 40 + 64), *message = malloc(LINES * 40 + 64);
    size_t n = 0;
    keys_send("x" PASTE("one\rtwo\r\nthree\tfour") LEFT "y", "xone\ntwo\nthree\tfouyr");
    n += (size_t)sprintf(text, "see \033[200~");
    size_t m = (size_t)sprintf(message, "see ");
    for (int i = 0; i < LINES; i++) {
        n += (size_t)sprintf(text + n, "line %d [paste 1: \xe6\x97\xa5\r", i);
        m += (size_t)sprintf(message + m, "line %d [paste 1: \xe6\x97\xa5\n", i);
    }
    strcpy(text + n, "\033[201~ there");
    strcpy(message + m, " there");
    CHAT("-n", "2", "-c", "32768");
    terminal_expect(&t, "> ");
    terminal_say(&t, text);
    terminal_expect(&t, "[paste 1: 700 lines, ");
    terminal_say(&t, "\r");
    terminal_expect(&t, "\n");
    char *sent = message_saved(0, 2);
    assert_string_equal(sent, message);
    free(sent);
    free(text);
    free(message);
}

/* A paste of 200 KB in one line, which a terminal without an editor would cut. The number of tokens equals that of the
 * same line on a pipe. */
static void pastes_have_no_limit(void **state)
{
    (void)state;
    enum { SIZE = 200000 };
    char *text = malloc(SIZE + 2), count[64] = "the message has ";
    for (size_t i = 0; i < SIZE; i++) text[i] = "the stones laughed "[i % 19];
    strcpy(text + SIZE, "\n");
    const setting piped = {.input = text};
    result r = run_as(&piped, "vouch", ARGUMENTS("run", "-m", target, "--chat", "-n", "2", NO_CONTROL));
    const char *at = strstr(r.err, count);
    assert_non_null(at);
    snprintf(count, sizeof count, "%.*s", (int)strcspn(at + 16, "w") + 16, at);
    result_free(&r);
    CHAT("-n", "2");
    terminal_expect(&t, "> ");
    terminal_say(&t, "\033[200~");
    terminal_type(&t, text, SIZE);
    terminal_say(&t, "\033[201~");
    terminal_expect(&t, "[paste 1: 1 line, 200 KB]");
    terminal_say(&t, "\r");
    terminal_expect(&t, count);
    terminal_expect(&t, "> "); /* the conversation continues */
    terminal_say(&t, "Hello\r\004");
    assert_int_equal(terminal_end(&t), 0);
    free(text);
}

/* The trace makes the answer longer than the terminal's buffer, so it can't end before Ctrl-C arrives. */
static void control_c_stops_and_clears(void **state)
{
    (void)state;
    struct termios before, after;
    CHAT("-c", "4096", "-n", "4000", "--trace");
    assert_int_equal(tcgetattr(t.fd, &before), 0);
    terminal_expect(&t, "> ");
    terminal_say(&t, "Hello\r");
    terminal_expect(&t, "cycle 20");         /* the first tokens may be parts of a character, and no text yet */
    terminal_say(&t, PASTE("typed\rahead")); /* typed during the answer */
    terminal_say(&t, "\003");
    terminal_expect(&t, "answer stopped");
    terminal_expect(&t, "ahead");
    terminal_say(&t, "\003");
    terminal_expect(&t, "/exit or Ctrl-D ends");
    terminal_expect(&t, "> ");
    terminal_say(&t, "gone");
    terminal_expect(&t, "gone"); /* wait until the keys are read: the signal of Ctrl-C may arrive before them */
    terminal_say(&t, "\003");
    terminal_expect(&t, "/exit or Ctrl-D ends");
    char line[300];
    snprintf(line, sizeof line, "/save %s\r", saved);
    terminal_say(&t, line);
    terminal_expect(&t, "2 messages saved to");
    terminal_say(&t, "x\177\004");
    terminal_expect(&t, "\033[?2004l");
    assert_int_equal(tcgetattr(t.fd, &after), 0);
    assert_int_equal(before.c_lflag, after.c_lflag);
    assert_int_equal(before.c_iflag, after.c_iflag);
    assert_int_equal(terminal_end(&t), 0);
}

/* A second Ctrl-C or a signal ends the program and restores the terminal's settings. */
static void terminal_is_given_back(void **state)
{
    (void)state;
    struct termios before, after;
    CHAT("-n", "2");
    assert_int_equal(tcgetattr(t.fd, &before), 0);
    terminal_expect(&t, "> ");
    assert_int_equal(tcgetattr(t.fd, &after), 0);
    assert_int_not_equal(before.c_lflag, after.c_lflag);
    kill(t.child, SIGTERM);
    terminal_expect(&t, "\033[?2004l");
    assert_int_equal(tcgetattr(t.fd, &after), 0);
    assert_int_equal(before.c_lflag, after.c_lflag);
    assert_int_equal(terminal_end(&t), 128 + SIGTERM);
}

static void messages_come_back(void **state)
{
    (void)state;
    struct stat info;
    char path[300];
    snprintf(path, sizeof path, "%s/vouch/messages", home);
    unlink(path);
    CHAT("-n", "2");
    terminal_expect(&t, "> ");
    terminal_say(&t, "first\rsecond\\\rrow\r\004");
    assert_int_equal(terminal_end(&t), 0);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    /* The next conversation recalls messages: up from an unfinished line, then down to it again. */
    keys_send("unfinished" UP "!", "second\nrow!");
    keys_send("un" UP UP DOWN DOWN "finished", "unfinished");
    write_whole(path, "\"first\"\nrubbish\n\"broken", 23);
    keys_send(UP "?", "first?");
}

static void commands_are_carried_out(void **state)
{
    (void)state;
    char line[600], other[256];
    strcpy(other, test_temporary("other.json"));
    CHAT("-n", "2");
    terminal_expect(&t, "> ");
    static const char *const steps[][2] = {
        {"/hepl\r", "did you mean /help?"},
        {"/stat\t\r", "0 cycles"},
        {"/help\r", "/load"},
        {"/set\r", "max-tokens              2"},
        {"/set max-tokens 3\r", "max-tokens              3"},
        {"/set temp hot\r", "/set temp 'hot': not a number"},
        {"/set temq 1\r", "did you mean temp?"},
        {"/set model x\r", "can be given at the start only"},
        {"/set seed\r", "needs a value"},
        {"/set spec draft\r", "needs a draft model"},
        {"/set spec none\r", "spec                    none"},
        {"/set lenience 0.5\r", "lenience"},
        {"/set color always\r", "color                   always"},
        {"/clear now\r", "takes nothing after it"},
        {"/save\r", "/save needs a value"},
        {"/load -\r", "expected the name of a file"},
        {"/load /nowhere/at/all\r", "/nowhere/at/all: No such file"},
        {"/system Be kind.\r", "> "},
        {"/system\r", "Be kind."},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        terminal_say(&t, steps[i][0]);
        terminal_expect(&t, steps[i][1]);
    }
    static const char *const bad[][2] = {
        {"{", "not JSON"},
        {"{\"turns\": []}", "expected a list of messages"},
        {"[1]", "messages[0]: expected an object"},
        {"[{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"system\", \"content\": \"b\"}]",
         "messages[1].role: \"system\""},
        {"[{\"content\": \"a\"}]", "messages[0].role: missing"},
        {"[{\"role\": \"user\", \"content\": 3}]", "messages[0].content: not a text"},
        {"[{\"role\": \"user\", \"content\": \"a\\u0000b\"}]", "not JSON"},
    };
    snprintf(line, sizeof line, "/load %s\r", other);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_whole(other, bad[i][0], strlen(bad[i][0]));
        terminal_say(&t, line);
        terminal_expect(&t, bad[i][1]);
    }
    write_whole(other, "a diary", 7);
    snprintf(line, sizeof line, "/save %s\r", other);
    terminal_say(&t, line);
    terminal_expect(&t, "take another name");
    static const char good[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, "
                               "{\"role\": \"assistant\", \"content\": \"b\"}]}";
    write_whole(other, good, sizeof good - 1);
    snprintf(line, sizeof line, "/load %s\r", other);
    terminal_say(&t, line);
    terminal_expect(&t, "2 messages loaded");
    terminal_say(&t, "Hello\r");
    char *first = message_saved(0, 4);
    assert_string_equal(first, "a");
    free(first);
}

/* /set changes the next answer, which equals the answer with the command's option. */
static void settings_change_answers(void **state)
{
    (void)state;
    result r = RUN("run", "-m", target, "-p", "Hello", "-n", "9", "--temp", "0.8", "--seed", "7", "--spec", "none",
                   NO_CONTROL);
    assert_int_equal(r.status, 0);
    CHAT("-n", "2");
    terminal_expect(&t, "> ");
    terminal_say(&t, "/set temp 0.8\r/set seed 7\r/set n 9\r/set spec none\rHello\r");
    terminal_expect(&t, "Hello\r\n");
    char *answer = message_saved(1, 2);
    const size_t n = strlen(answer);
    assert_true(n > 0 && n <= r.n_out && n + 1 >= r.n_out); /* a newline may follow */
    assert_memory_equal(answer, r.out, n);
    free(answer);
    result_free(&r);
}

/* A dumb terminal has no editor and cuts long lines, so the command refuses them. */
static void dumb_terminals_refuse_long_lines(void **state)
{
    (void)state;
    static char line[5000];
    memset(line, 'x', sizeof line - 1);
    terminal_start(&t, "dumb", home, ARGUMENTS(program("vouch"), "run", "-m", target, "--chat", "-n", "2", NO_CONTROL));
    terminal_expect(&t, "> ");
    terminal_type(&t, line, sizeof line - 1);
    terminal_say(&t, "\n");
    terminal_expect(&t, "the line has 4095 bytes or more");
    terminal_say(&t, "Hello\n");
    terminal_expect(&t, "stopped after --max-tokens 2");
    terminal_say(&t, "\004");
    assert_int_equal(terminal_end(&t), 0);
}

/* On a terminal a note names the seed that vouch drew. With --seed there is no note. */
static void a_drawn_seed_is_named(void **state)
{
    (void)state;
    const char *const sampled[] = {program("vouch"), "run", "-m",       target, "-p", "x", "-n", "2",
                                   "--temp",         "1",   NO_CONTROL, NULL,   NULL, NULL};
    const char *arguments[sizeof sampled / sizeof *sampled];
    memcpy(arguments, sampled, sizeof sampled);
    terminal_start(&t, "xterm", home, arguments);
    terminal_expect(&t, "note: the seed of this answer was ");
    assert_int_equal(terminal_end(&t), 0);
    size_t n = 0;
    while (arguments[n]) n++;
    arguments[n] = "--seed", arguments[n + 1] = "5";
    terminal_start(&t, "xterm", home, arguments);
    terminal_expect(&t, "stopped after --max-tokens 2");
    assert_false(terminal_wait(&t, "the seed of", 1000));
    assert_int_equal(terminal_end(&t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(keys_edit_whole_characters, saved_remove),
        cmocka_unit_test_setup(pastes_are_one_message, saved_remove),
        cmocka_unit_test(pastes_have_no_limit),
        cmocka_unit_test_setup(control_c_stops_and_clears, saved_remove),
        cmocka_unit_test(terminal_is_given_back),
        cmocka_unit_test_setup(messages_come_back, saved_remove),
        cmocka_unit_test_setup(commands_are_carried_out, saved_remove),
        cmocka_unit_test_setup(settings_change_answers, saved_remove),
        cmocka_unit_test(dumb_terminals_refuse_long_lines),
        cmocka_unit_test(a_drawn_seed_is_named),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
