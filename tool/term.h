/* SPDX-License-Identifier: MIT */
/*
 * Messages on standard error, text on standard output, colours, progress, the clock, and Ctrl-C.
 *
 * Standard output carries the result and nothing else. stdio remembers a failed write there, so that main reports it
 * and the exit status isn't 0.
 */
#ifndef VOUCH_TOOL_TERM_H
#define VOUCH_TOOL_TERM_H

#include <stdbool.h>
#include <stdio.h>

#include "vouch.h"

/* Print "vouch: ..." and "vouch: note: ..." on standard error. Control characters are escaped, so it is one line. */
__attribute__((format(printf, 1, 2))) void tool_complain(const char *format, ...);
__attribute__((format(printf, 1, 2))) void tool_note(const char *format, ...);

/* Writes to standard output and flushes it. Errors: IO, with the reason, now and from then on. */
vouch_status tool_print(const char *bytes, size_t n, vouch_error *err);
/* Has the reader of standard output gone away, as head does? Then the command ends without a complaint. */
bool tool_output_closed(void);

typedef enum tool_color { TOOL_COLOR_AUTO, TOOL_COLOR_ALWAYS, TOOL_COLOR_NEVER } tool_color;
/* AUTO: true on a terminal that is not "dumb", unless NO_COLOR is set. */
bool tool_color_wanted(FILE *stream, tool_color when);

double tool_now(void); /* seconds of a monotonic clock */
/* Processor time of this thread in seconds. Less than the elapsed time where other programs ran instead. */
double tool_processor_seconds(void);

/* A line "label [=====     ] 42 %, 1:05 left" on standard error, with bytes "label [== ] 42 %, 12 of 29 MB, 1.3 MB/s,
 * 1:05 left". On a terminal it appears after 2 seconds; an eager one
 * at once, without bar and time for the first 2 seconds. A log gets a line without bar each minute, of an eager one the
 * first after 5 seconds. tool_progress_report is a vouch_progress_fn. */
typedef struct tool_progress {
    const char *label;
    bool is_eager;
    double bytes; /* of all the work: the line says how many are done, and how many a second; 0: it counts no bytes */
    double start; /* tool_now() of the first report; 0: none yet */
    double first; /* the first report's share: resumed work begins above 0 */
    double noted; /* seconds between start and the last line in a log; 0: none yet */
    int shown;    /* seconds left as the terminal shows them, plus 1; 0: nothing is shown. -1: an eager one has shown
                     its label */
} tool_progress;
void tool_progress_report(void *progress, double share);
void tool_progress_end(tool_progress *progress); /* wipes the line */

/* Makes the program end with status 1 and one line when it reads a mapped page of a file that another process has
 * truncated. */
void tool_catch_cut_files(void);

/* The effect of Ctrl-C, unless this program was started with SIGINT ignored. */
typedef enum tool_interrupt {
    TOOL_INTERRUPT_ENDS,    /* ends the program with status 1, after wiping the progress and printing one line */
    TOOL_INTERRUPT_CANCELS, /* the first Ctrl-C cancels the session of tool_interrupt_aim; the second ends the program
                             */
    TOOL_INTERRUPT_READS    /* only makes a blocked read return, each time */
} tool_interrupt;
void tool_interrupt_set(tool_interrupt mode);
bool tool_interrupted(void); /* has Ctrl-C come since the last tool_interrupt_set? */
/* Sets the function that is called before a signal ends the program. It must be async-signal-safe. NULL: nothing. */
void tool_interrupt_restore(void (*restore)(void));
/* Ctrl-C cancels this session; at once if Ctrl-C came before this call. Pass NULL before closing the session. */
void tool_interrupt_aim(vouch_session *session);

#endif
