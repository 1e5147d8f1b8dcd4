/* SPDX-License-Identifier: MIT */
/* The progress line on terminals of any width, for any share, even above 1, infinite or NaN. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#include "tool/term.c"
#include "tool/text.c"

#include "support/program/terminal.h" /* a type of it has the name of a variable of term.c */

/* `seen` receives what a terminal shows of a report `spent` seconds after the first one. columns: the terminal's
 * width; 0: unknown. */
static void shown_of(tool_progress progress, double spent, double share, unsigned short columns, char *seen,
                     size_t capacity)
{
    int fd;
    size_t n = 0;
    ssize_t got;
    const pid_t child = terminal_fork(&fd, columns);
    if (child < 0) test_skip("no pseudo-terminal here");
    if (child == 0) {
        progress.start = tool_now() - spent;
        tool_progress_report(&progress, share);
        _exit(0);
    }
    while (n + 1 < capacity && (got = read(fd, seen + n, capacity - n - 1)) > 0) n += (size_t)got;
    seen[n] = 0;
    close(fd);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void shown(double share, unsigned short columns, char *seen, size_t capacity)
{
    shown_of((tool_progress){.label = "checking"}, 10, share, columns, seen, capacity);
}

/* An eager progress line names the work at once; its bar replaces the name later. */
static void eager_lines_come_at_once(void **state)
{
    (void)state;
    static const char label[] = "loading a-model.gguf, 98 MB";
    const tool_progress eager = {.label = label, .is_eager = true}, patient = {.label = label};
    char seen[4096], wanted[256];
    shown_of(eager, 0, 0, 0, seen, sizeof seen);
    assert_string_equal(seen, label);
    shown_of(eager, 0, 0, (unsigned short)strlen(label), seen, sizeof seen);
    assert_string_equal(seen, "");
    shown_of(patient, 0, 0, 0, seen, sizeof seen);
    assert_string_equal(seen, "");
    shown_of(eager, 10, 1, 80, seen, sizeof seen);
    snprintf(wanted, sizeof wanted, "%s\r%*s\r%s [====================] 100 %%, 0:00 left", label, (int)strlen(label),
             "", label);
    assert_string_equal(seen, wanted);
}

/* `seen` receives what a log gets of two reports, `spent` seconds after the first one. */
static void logged_of(tool_progress progress, double spent, char *seen, size_t capacity)
{
    int ends[2];
    size_t n = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        progress.start = tool_now() - spent;
        for (int i = 0; i < 2; i++) tool_progress_report(&progress, 0.25);
        tool_progress_end(&progress);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], seen + n, capacity - 1 - n)) > 0;) n += (size_t)got;
    seen[n] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* In a log: nothing at first, then a line a minute. */
static void logs_get_a_line_a_minute(void **state)
{
    (void)state;
    static const struct {
        bool is_eager;
        double spent, first;
        const char *wanted; /* the line's beginning: its last digits depend on this machine's speed */
    } cases[] = {
        {true, 1, 0, ""},
        {true, 6, 0, "vouch: note: loading, 25 %, 0:"},
        {false, 6, 0, ""},
        {false, 70, 0, "vouch: note: loading, 25 %, 3:"},
        {false, 70, 0.125, "vouch: note: loading, 25 %, 7:"}, /* resumed */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char seen[256];
        const tool_progress progress = {.label = "loading", .is_eager = cases[i].is_eager, .first = cases[i].first};
        logged_of(progress, cases[i].spent, seen, sizeof seen);
        const char *end = strchr(seen, '\n');
        assert_int_equal(strncmp(seen, cases[i].wanted, strlen(cases[i].wanted)), 0);
        assert_string_equal(end ? end : "none", *cases[i].wanted ? "\n" : "none");
    }
}

static void shares_stay_within_the_whole(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *line; /* the beginning of the line */
    } cases[] = {
        {0.5, "checking [==========          ]  50 %, 0:1"}, /* the last digits depend on this machine's speed */
        {1, "checking [====================] 100 %, 0:00 left"},
        {5, "checking [====================] 100 %, 0:00 left"},
        {INFINITY, "checking [====================] 100 %, 0:00 left"},
        {NAN, "checking [====================] 100 %, 0:00 left"},
        {-1, ""},
        {0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char seen[4096];
        shown(cases[i].share, 0, seen, sizeof seen);
        if (!*cases[i].line) assert_string_equal(seen, "");
        assert_int_equal(strncmp(seen, cases[i].line, strlen(cases[i].line)), 0);
    }
}

static void lines_fit_the_terminal(void **state)
{
    (void)state;
    static const struct {
        unsigned short columns;
        const char *line;
    } cases[] = {{200, "checking [====================] 100 %, 0:00 left"},
                 {49, "checking [====================] 100 %, 0:00 left"},
                 {48, "checking 100 %, 0:00 left"},
                 {26, "checking 100 %, 0:00 left"},
                 {25, ""},
                 {1, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char seen[4096];
        shown(1, cases[i].columns, seen, sizeof seen);
        assert_string_equal(seen, cases[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_stay_within_the_whole), cmocka_unit_test(lines_fit_the_terminal),
        cmocka_unit_test(eager_lines_come_at_once), cmocka_unit_test(logs_get_a_line_a_minute)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
