/* SPDX-License-Identifier: MIT */
/* --think hide: thoughts are left out of a text that comes in pieces of any length. */
#include <stdlib.h>
#include <string.h>

#include "run/thoughts.h"
#include "support/test.h"

static void thoughts_are_hidden_however_the_text_is_cut(void **state)
{
    (void)state;
    static const struct {
        cli_thoughts_state state;
        const char *text, *shown;
    } cases[] = {
        {CLI_THOUGHTS_SHOWN, "plain text", "plain text"},
        {CLI_THOUGHTS_SHOWN, "<think>\nhm\n</think>\n\nanswer", "answer"},
        {CLI_THOUGHTS_SHOWN, "a<think>b</think> c<think>d</think>e", "ace"},
        {CLI_THOUGHTS_SHOWN, "a < b <thin", "a < b <thin"},
        {CLI_THOUGHTS_SHOWN, "a<<think>b</</think>c", "a<c"},
        {CLI_THOUGHTS_SHOWN, "<think>never ends", ""},
        {CLI_THOUGHTS_HIDDEN, "hm\n</think>\nanswer</think>", "answer</think>"},
        {CLI_THOUGHTS_SHOWN, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t step = 1; step < 12; step++) {
            cli_thoughts thoughts = {.state = cases[i].state, .begin = "<think>", .end = "</think>"};
            const size_t n = strlen(cases[i].text);
            char shown[100] = "";
            for (size_t at = 0;; at += step) {
                const bool is_end = at + step >= n;
                size_t n_out;
                const char *out = cli_thoughts_take(&thoughts, cases[i].text + (at < n ? at : n),
                                                    is_end ? n - (at < n ? at : n) : step, is_end, &n_out);
                assert_non_null(out);
                strncat(shown, out, n_out);
                if (is_end) break;
            }
            assert_string_equal(shown, cases[i].shown);
            assert_int_equal(thoughts.n_hidden, n - strlen(shown));
            cli_thoughts_free(&thoughts);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thoughts_are_hidden_however_the_text_is_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
