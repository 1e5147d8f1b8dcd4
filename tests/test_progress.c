/* SPDX-License-Identifier: MIT */
/* The line of progress on a terminal, however narrow, whatever share it is told: past the end, of no time at all. */
#include <math.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#include "common/term.c"
#include "common/text.c"

/* What a line that began ten seconds ago shows. columns 0: nobody knows how many the terminal has. */
static void shown(double share, unsigned short columns, char *seen, size_t capacity)
{
    const struct winsize size = {.ws_col = columns};
    int terminal;
    size_t n = 0;
    ssize_t got;
    const pid_t child = forkpty(&terminal, NULL, NULL, &size);
    if (child < 0) test_skip("no pseudo-terminal here");
    if (child == 0) {
        cli_progress progress = {.label = "checking", .start = cli_now() - 10};
        cli_progress_report(&progress, share);
        _exit(0);
    }
    while (n + 1 < capacity && (got = read(terminal, seen + n, capacity - n - 1)) > 0) n += (size_t)got;
    seen[n] = 0;
    close(terminal);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void shares_stay_within_the_whole(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *line; /* how it begins */
    } cases[] = {
        {0.5, "checking [==========          ]  50 %, 0:1"}, /* seconds that this machine decides */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_stay_within_the_whole),
                                       cmocka_unit_test(lines_fit_the_terminal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
