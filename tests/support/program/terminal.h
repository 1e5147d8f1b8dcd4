/* SPDX-License-Identifier: MIT */
/* Runs a program of the build in a pseudo-terminal, as a person at a keyboard does. */
#ifndef VOUCH_TESTS_TERMINAL_H
#define VOUCH_TESTS_TERMINAL_H

#include "support/test.h"

#include <stdbool.h>
#include <sys/types.h>

enum { TERMINAL_LONG = 60000 }; /* milliseconds without output after which a test gives up */

typedef struct terminal {
    int fd;
    pid_t child;
    size_t n;
    char seen[1 << 20]; /* [n] and a NUL: output that no wait has consumed yet */
} terminal;

/* Forks, and gives the child a new pseudo-terminal of so many columns. *fd is its other end. Returns what fork does; -1
 * also if there is no pseudo-terminal. */
pid_t terminal_fork(int *fd, unsigned short columns);
/* Starts the program at the path arguments[0] with this TERM, 80 columns, and HOME and state in `folder`. Skips the
 * test if there is no pseudo-terminal. */
void terminal_start(terminal *t, const char *term, const char *folder, const char *const *arguments);
/* Reads until `text` appears, and drops the output up to its end. False if nothing comes for this long. */
bool terminal_wait(terminal *t, const char *text, int milliseconds);
/* Fails the test unless `text` appears within TERMINAL_LONG. */
void terminal_expect(terminal *t, const char *text);
/* Types n bytes, and reads the output meanwhile so that the program never blocks. */
void terminal_type(terminal *t, const char *bytes, size_t n);
void terminal_say(terminal *t, const char *text);
/* Waits for the end of the program and closes the terminal. Returns the exit status as status_of does. */
int terminal_end(terminal *t);

#endif
