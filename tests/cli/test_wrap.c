/* SPDX-License-Identifier: MIT */
/* Lines break between words: whole texts, and texts that come in pieces of any length to a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tool/wrap.h"
#include "support/test.h"

enum { WIDTH = 20 };

/* The screen of a terminal of WIDTH columns. Fails if it had to break a line itself, other than inside a long word. */
static void screen_of(const char *bytes, size_t n, char *out, int *n_hard)
{
    char line[WIDTH + 1] = "";
    int x = 0;
    *n_hard = 0;
    for (size_t i = 0; i < n; i++) {
        int back = 0, used = 0;
        if (sscanf(bytes + i, "\033[%dD\033[K%n", &back, &used) == 1 && used > 0) {
            x = (x < WIDTH ? x : WIDTH - 1) - back; /* the cursor waits in the last column of a full line */
            assert_true(x >= 0);
            line[x] = 0;
            i += (size_t)used - 1;
        } else if (bytes[i] == '\n') {
            sprintf(out + strlen(out), "%s\n", line);
            memset(line, 0, sizeof line);
            x = 0;
        } else {
            if (x == WIDTH) {
                sprintf(out + strlen(out), "%s\n", line);
                memset(line, 0, sizeof line);
                x = 0;
                ++*n_hard;
            }
            line[x++] = bytes[i];
        }
    }
    strcat(out, line);
}

static void pieces_break_between_words(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"short", "short"},
        {"exactly twenty chars", "exactly twenty chars"},
        {"exactly twenty chars more", "exactly twenty chars\nmore"},
        {"one two three four five six", "one two three four\nfive six"},
        {"a\nline of its own\n\nand one more that is long", "a\nline of its own\n\nand one more that is\nlong"},
        {"a word of abcdefghijklmnopqrstuvwxyz letters", "a word of\nabcdefghijklmnopqrst\nuvwxyz letters"},
        {"12345678901234567890 1234567890123456789 x", "12345678901234567890\n1234567890123456789\nx"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t step = 1; step < 9; step++) {
            tool_wrap wrap = {0};
            const size_t n = strlen(cases[i][0]);
            char written[1000] = "", shown[1000] = "", trimmed[1000] = "";
            int n_hard;
            for (size_t at = 0; at < n; at += step) {
                size_t n_out;
                const char *out = tool_wrap_take(&wrap, cases[i][0] + at, n - at < step ? n - at : step, WIDTH, &n_out);
                assert_non_null(out);
                strncat(written, out, n_out);
            }
            screen_of(written, strlen(written), shown, &n_hard);
            assert_int_equal(n_hard, 0);
            size_t kept = 0;
            for (const char *c = shown; *c; c++) /* spaces at the end of a line can't be seen */
                if (*c != ' ' || (c[strspn(c, " ")] != '\n' && c[strspn(c, " ")])) trimmed[kept++] = *c;
            assert_string_equal(trimmed, cases[i][1]);
            tool_wrap_free(&wrap);
        }
}

static void wide_letters_take_two_columns(void **state)
{
    (void)state;
    tool_wrap wrap = {0};
    size_t n;
    const char *text = "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2 \xe6\xbc\xa2\xe5\xad\x97\xe6\xbc"
                       "\xa2\xe5\xad\x97\xe6\xbc\xa2"; /* 10 columns, a space, 10 columns */
    const char *out = tool_wrap_take(&wrap, text, strlen(text), WIDTH, &n);
    assert_non_null(memmem(out, n, "\033[8D\033[K\n", 8));
    tool_wrap_free(&wrap);
}

static void whole_texts_break_between_words(void **state)
{
    (void)state;
    static const struct {
        int width;
        const char *text, *shown;
    } cases[] = {{0, "one two three four five six\n", "one two three four five six\n"},
                 {20, "one two three four five six\n", "one two three four\nfive six\n"},
                 {20, "  indented  words stay so\nnext\n", "  indented  words\nstay so\nnext\n"},
                 {20, "abcdefghijklmnopqrstuvwxyz\n", "abcdefghijklmnopqrstuvwxyz\n"},
                 {20, "\n\n a\n", "\n\n a\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vouch_os_stream stream;
        char *shown;
        size_t n;
        FILE *file = vouch_os_stream_open(&stream);
        assert_non_null(file);
        tool_put_words(file, cases[i].text, cases[i].width);
        assert_true(vouch_os_stream_close(&stream, &shown, &n));
        assert_string_equal(shown, cases[i].shown);
        free(shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_break_between_words),
        cmocka_unit_test(wide_letters_take_two_columns),
        cmocka_unit_test(whole_texts_break_between_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
