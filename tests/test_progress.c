/* SPDX-License-Identifier: MIT */
/* The line of progress on a terminal, whatever share it is told: past the end, of no time at all. */
#include <math.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#include "../cli/term.c"
#include "../cli/text.c"

/* What a line that began ten seconds ago shows. */
static void shown(double share, char *seen, size_t capacity)
{
    int terminal;
    size_t n = 0;
    ssize_t got;
    const pid_t child = forkpty(&terminal, NULL, NULL, NULL);
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
        {0.5, "\rchecking [==========          ]  50 %, 0:1"}, /* seconds that this machine decides */
        {1, "\rchecking [====================] 100 %, 0:00 left   "},
        {5, "\rchecking [====================] 100 %, 0:00 left   "},
        {INFINITY, "\rchecking [====================] 100 %, 0:00 left   "},
        {NAN, "\rchecking [====================] 100 %, 0:00 left   "},
        {-1, ""},
        {0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char seen[4096];
        shown(cases[i].share, seen, sizeof seen);
        if (!*cases[i].line) assert_string_equal(seen, "");
        assert_int_equal(strncmp(seen, cases[i].line, strlen(cases[i].line)), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_stay_within_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
