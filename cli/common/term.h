/* SPDX-License-Identifier: MIT */
/*
 * The terminal and the outside: messages on standard error, text on standard output, colours,
 * progress, the clock, and Ctrl-C.
 *
 * Standard output carries the result and nothing else. A failed write there is remembered, so that it
 * is reported once and the exit status can't be 0.
 */
#ifndef VOUCH_CLI_TERM_H
#define VOUCH_CLI_TERM_H

#include <stdbool.h>
#include <stdio.h>

#include "vouch.h"

/* "vouch: ..." and "vouch: note: ..." on standard error: one line, whatever the arguments hold. */
__attribute__((format(printf, 1, 2))) void cli_complain(const char *format, ...);
__attribute__((format(printf, 1, 2))) void cli_note(const char *format, ...);

/* Writes and flushes. IO with the reason once standard output has failed. */
vouch_status cli_print(const char *bytes, size_t n, vouch_error *err);

typedef enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER } cli_color;
/* auto: on a terminal that is not "dumb", unless NO_COLOR is set. */
bool cli_color_wanted(FILE *stream, cli_color when);

double cli_now(void); /* seconds of a monotonic clock */

/* A line "label [=====     ] 42 %, 1:05 left" on standard error, if that is a terminal, for what takes more than 2
 * seconds. cli_progress_report is a vouch_progress_fn. */
typedef struct cli_progress {
    const char *label;
    double start; /* of the clock; 0: not yet reported */
    int shown;    /* seconds left on the terminal + 1; 0: nothing there */
} cli_progress;
void cli_progress_report(void *progress, double share);
void cli_progress_end(cli_progress *progress); /* wipes the line */

/* What Ctrl-C does; it is ignored where the caller of this program ignores it. */
typedef enum cli_interrupt {
    CLI_INTERRUPT_ENDS,    /* the program, with status 1: the progress line is wiped, one line says so */
    CLI_INTERRUPT_CANCELS, /* the first is remembered, and what the session aimed at does is CANCELLED; another ends */
    CLI_INTERRUPT_READS    /* ends what is being read and nothing else, as often as it likes */
} cli_interrupt;
void cli_interrupt_set(cli_interrupt mode);
bool cli_interrupted(void); /* since it was set */
/* The session in hand, or NULL: it has to outlive that. Cancelled at once where the first Ctrl-C has been. */
void cli_interrupt_aim(vouch_session *session);

#endif
