/* SPDX-License-Identifier: MIT */
/* A program of the build in a pseudo-terminal, as somebody at a keyboard sees it. */
#ifndef VOUCH_TESTS_TERMINAL_H
#define VOUCH_TESTS_TERMINAL_H

#include "support/test.h"

#include <stdbool.h>
#include <sys/types.h>

enum { TERMINAL_LONG = 60000 }; /* milliseconds after which nothing will come any more */

typedef struct terminal {
    int fd;
    pid_t child;
    size_t n;
    char seen[1 << 20]; /* [n] and a NUL: what came and was not waited for */
} terminal;

/* Starts arguments[0], the path of a program, with TERM, 80 columns, and its state and home in `folder`. Skips the
 * test where there is no pseudo-terminal. */
void terminal_start(terminal *t, const char *term, const char *folder, const char *const *arguments);
/* Reads until `text` has come; false where nothing comes for so long. What came before it and itself are forgotten. */
bool terminal_wait(terminal *t, const char *text, int milliseconds);
/* Asserts that `text` comes. */
void terminal_expect(terminal *t, const char *text);
/* Types n bytes, and reads meanwhile. */
void terminal_type(terminal *t, const char *bytes, size_t n);
void terminal_say(terminal *t, const char *text);
/* Waits for the program's end, and closes. Its exit status, as status_of. */
int terminal_end(terminal *t);

#endif
