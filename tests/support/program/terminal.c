/* SPDX-License-Identifier: MIT */
#include "support/program/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/program/command.h"

pid_t terminal_fork(int *fd, unsigned short columns)
{
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    *fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (*fd < 0 || grantpt(*fd) != 0 || unlockpt(*fd) != 0) return -1;
    const int inner = open(ptsname(*fd), O_RDWR | O_NOCTTY);
    if (inner < 0 || ioctl(inner, TIOCSWINSZ, &size) != 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        ioctl(inner, TIOCSCTTY, 0);
        for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++) dup2(inner, descriptor);
        close(*fd);
    }
    close(inner);
    return child;
}

void terminal_start(terminal *t, const char *term, const char *folder, const char *const *arguments)
{
    t->n = 0;
    *t->seen = 0;
    t->child = terminal_fork(&t->fd, 80);
    if (t->child < 0) test_skip("no pseudo-terminal here");
    if (t->child == 0) {
        signal(SIGINT, SIG_DFL);
        setenv("TERM", term, 1);
        setenv("HOME", folder, 1);
        setenv("XDG_STATE_HOME", folder, 1);
        /* With the locale C the editor itself has to choose UTF-8. Wine's console needs a locale with UTF-8. */
        setenv("LC_ALL", test_is_windows() ? "C.UTF-8" : "C", 1);
        execv(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
}

/* Removes the escape sequences with which Wine's console draws letters. A step to the right becomes a space. A sequence
 * whose end hasn't arrived yet stays. */
static void drawing_drop(terminal *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        int steps = 0, used = 0;
        if (sscanf(t->seen + i, "\033[%dC%n", &steps, &used) == 1 && used > 0) {
            t->seen[n++] = ' ';
            i += (size_t)used - 1;
        } else if (strncmp(t->seen + i, "\033[", 2) == 0 && t->seen[i + 2 + strspn(t->seen + i + 2, "?0123456789;")]) {
            i += 2 + strspn(t->seen + i + 2, "?0123456789;");
        } else {
            t->seen[n++] = t->seen[i];
        }
    }
    t->seen[t->n = n] = 0;
}

/* Appends the available output to `seen`. False at the end of the output and when `seen` is full. */
static bool terminal_read(terminal *t)
{
    if (t->n + 1 >= sizeof t->seen) return false;
    const ssize_t got = read(t->fd, t->seen + t->n, sizeof t->seen - t->n - 1);
    if (got <= 0) return false;
    for (ssize_t i = 0; i < got; i++)
        if (t->seen[t->n + (size_t)i] == 0) t->seen[t->n + (size_t)i] = '?';
    t->seen[t->n += (size_t)got] = 0;
    if (test_is_windows()) drawing_drop(t);
    return true;
}

/* The end of the first place where the text stands; NULL: nowhere. A message may break its line at a space. */
static const char *text_end(const char *seen, const char *text)
{
    for (; *seen; seen++) {
        const char *at = seen, *left = text;
        for (; *left && *at; left++) {
            if (*left == ' ' && strncmp(at, "\r\n", 2) == 0) at += 2;
            else if (*left == *at) at++;
            else break;
        }
        if (!*left) return at;
    }
    return NULL;
}

bool terminal_wait(terminal *t, const char *text, int milliseconds)
{
    struct pollfd wait = {t->fd, POLLIN, 0};
    for (;;) {
        const char *found = text_end(t->seen, text);
        if (found) {
            t->n -= (size_t)(found - t->seen);
            memmove(t->seen, found, t->n + 1);
            return true;
        }
        if (poll(&wait, 1, milliseconds) <= 0 || !terminal_read(t)) return false;
    }
}

void terminal_expect(terminal *t, const char *text)
{
    if (!terminal_wait(t, text, TERMINAL_LONG)) fail_msg("no '%s' came, but '%s'", text, t->seen);
}

void terminal_type(terminal *t, const char *bytes, size_t n)
{
    while (n > 0) {
        struct pollfd wait = {t->fd, POLLIN | POLLOUT, 0};
        assert_true(poll(&wait, 1, TERMINAL_LONG) > 0);
        if (wait.revents & POLLIN) terminal_read(t);
        if (!(wait.revents & POLLOUT)) continue;
        const ssize_t done = write(t->fd, bytes, n < 512 ? n : 512);
        assert_true(done > 0);
        bytes += done;
        n -= (size_t)done;
    }
}

void terminal_say(terminal *t, const char *text)
{
    terminal_type(t, text, strlen(text));
}

int terminal_end(terminal *t)
{
    while (terminal_read(t) || t->n + 1 >= sizeof t->seen) t->n = 0;
    const int status = status_of(t->child);
    close(t->fd);
    return status;
}
