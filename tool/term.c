/* SPDX-License-Identifier: MIT */
#include "tool/term.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"
#include "tool/text.h"
#include "tool/wrap.h"

/* Globals, because a signal handler gets no other arguments than the signal's number; and as standard output is one. */
static volatile sig_atomic_t shown_columns, interrupt_mode, interrupted;
static vouch_session *volatile interrupt_session;
static void (*volatile interrupt_restore)(void);
static bool output_closed;

static void put_line(FILE *stream, const char *prefix, const char *line)
{
    fputs(prefix, stream);
    tool_put_escaped(stream, line, strlen(line), 0);
    fputc('\n', stream);
}

/* One write for the whole message: what ends the program, or another thread, comes before it or after it. */
static void say(const char *prefix, const char *format, va_list arguments)
{
    char line[2048], *shown = NULL, *lines = NULL;
    size_t n;
    vouch_os_stream text;
    vsnprintf(line, sizeof line, format, arguments);
    FILE *stream = vouch_os_stream_open(&text);
    if (stream) put_line(stream, prefix, line);
    if (stream && vouch_os_stream_close(&text, &shown, &n) && (stream = vouch_os_stream_open(&text))) {
        tool_put_words(stream, shown, tool_terminal_width(STDERR_FILENO));
        if (!vouch_os_stream_close(&text, &lines, &n)) lines = NULL;
    }
    if (lines) fwrite(lines, 1, n, stderr);
    else put_line(stderr, prefix, line); /* There was no memory to wrap the words. */
    free(lines);
    free(shown);
}

void tool_complain(const char *format, ...)
{
    va_list arguments;
    if (output_closed) return;
    va_start(arguments, format);
    say("vouch: ", format, arguments);
    va_end(arguments);
}

void tool_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("vouch: note: ", format, arguments);
    va_end(arguments);
}

bool tool_output_closed(void)
{
    return output_closed;
}

vouch_status tool_print(const char *bytes, size_t n, vouch_error *err)
{
    const int before = errno; /* of the write that failed, where the caller comes from it */
    errno = 0;
    if (fwrite(bytes, 1, n, stdout) == n && fflush(stdout) == 0 && !ferror(stdout)) return VOUCH_OK;
    const int reason = errno ? errno : before;
    output_closed = reason == EPIPE || vouch_os_output_gone(); /* tells of an earlier write, too */
    errno = reason;
    err->code = VOUCH_E_IO;
    snprintf(err->message, sizeof err->message, "standard output: %s",
             errno ? strerror(errno) : "an earlier write failed");
    return err->code;
}

bool tool_color_wanted(FILE *stream, tool_color when)
{
    if (when != TOOL_COLOR_AUTO) return when == TOOL_COLOR_ALWAYS;
    const char *refused = getenv("NO_COLOR");
    return vouch_os_terminal_draws(fileno(stream)) && !(refused && *refused);
}

double tool_processor_seconds(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec;
}

double tool_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum {
    BAR = 20,
    WIDEST = 96,
    USUAL_COLUMNS = 80,
    EAGER_NOTE = 5, /* seconds */
    NOTE_EVERY = 60 /* seconds */
};

/* Wipes the line of progress off the terminal. Signal handlers may call it. */
static void line_wipe(void)
{
    char blank[WIDEST + 2];
    const size_t n = (size_t)shown_columns;
    memset(blank, ' ', sizeof blank);
    blank[0] = blank[n + 1] = '\r';
    if (n > 0) (void)!vouch_os_write(STDERR_FILENO, blank, n + 2);
    shown_columns = 0;
}

static int terminal_columns(void)
{
    const int columns = vouch_os_terminal_columns(STDERR_FILENO);
    return columns == 0 ? USUAL_COLUMNS + 1 : columns <= WIDEST ? columns : WIDEST + 1;
}

/* Shows the line in place of the last one. Shows nothing where it doesn't fit: a line that the terminal breaks can't be
 * wiped. */
static bool line_put(const char *line, int n)
{
    line_wipe();
    if (n >= terminal_columns()) return false;
    shown_columns = n;
    fputs(line, stderr);
    return true;
}

static void left_write(char *text, int seconds)
{
    if (seconds < 3600) snprintf(text, 16, "%d:%02d", seconds / 60, seconds % 60);
    else snprintf(text, 16, "%d h %02d", seconds / 3600, seconds / 60 % 60);
}

/* Leaves out the bar on a narrow terminal. */
static void line_show(const char *label, double share, const char *left)
{
    char line[2 * WIDEST];
    const int filled = (int)(share * BAR), percent = (int)(share * 100);
    int n = snprintf(line, sizeof line, "%s [%.*s%*s] %3d %%, %s left", label, filled,
                     "====================", BAR - filled, "", percent, left);
    if (line_put(line, n)) return;
    n = snprintf(line, sizeof line, "%s %d %%, %s left", label, percent, left);
    line_put(line, n);
}

/* The log gets a line a minute, and an eager progress its first one after EAGER_NOTE seconds. left: empty where nobody
 * knows it yet. */
static void note_in_log(tool_progress *progress, double spent, double share, const char *left)
{
    const bool is_eager = progress->is_eager || progress->bytes > 0;
    const bool is_first = is_eager && progress->noted == 0 && spent >= EAGER_NOTE;
    if (!is_first && spent - progress->noted < NOTE_EVERY) return;
    progress->noted = spent;
    if (*left) tool_note("%s, %d %%, %s left", progress->label, (int)(share * 100), left);
    else tool_note("%s", progress->label);
}

static void show_on_terminal(tool_progress *progress, double spent, double share, int seconds, const char *left)
{
    if (progress->is_eager && progress->shown == 0) {
        progress->shown = -1;
        line_put(progress->label, (int)strlen(progress->label));
    }
    if (spent < 2 || !*left || seconds + 1 == progress->shown) return;
    line_show(progress->label, share, left);
    progress->shown = seconds + 1;
}

void tool_progress_report(void *user, double share)
{
    tool_progress *progress = user;
    const double now = tool_now();
    share = fmax(0, fmin(share, 1)); /* 0 / 0 counts as 1: fmin prefers a number to NaN */
    if (progress->start == 0) {
        progress->start = now;
        progress->first = share;
    }
    const double spent = now - progress->start, done = share - progress->first;
    const int seconds = done > 0 ? (int)fmin(spent * (1 - share) / done + 0.5, 359999) : 0;
    char left[64] = "";
    int n = 0;
    if (done > 0 && progress->bytes > 0) {
        const double unit = progress->bytes >= 1e9 ? 1e9 : 1e6;
        n = snprintf(left, sizeof left, "%.*f of %.*f %s, %.1f MB/s, ", unit > 1e6, share * progress->bytes / unit,
                     unit > 1e6, progress->bytes / unit, unit > 1e6 ? "GB" : "MB",
                     done * progress->bytes / spent * 1e-6);
    }
    if (done > 0) left_write(left + n, seconds);
    if (isatty(STDERR_FILENO)) show_on_terminal(progress, spent, share, seconds, left);
    else note_in_log(progress, spent, share, left);
}

void tool_progress_end(tool_progress *progress)
{
    line_wipe();
    progress->shown = 0;
}

/* ------------------------------------------------------------------- signals */

static _Noreturn void end_with(const char *message)
{
    void (*restore)(void) = interrupt_restore;
    if (restore) restore();
    line_wipe();
    (void)!vouch_os_write(STDERR_FILENO, message, strlen(message)); /* a failure has nowhere to be reported */
    vouch_os_exit(EXIT_FAILURE);
}

static void on_cut_file(int number)
{
    (void)number;
    end_with("vouch: a file became shorter while vouch read it, or its disk failed\n");
}

void tool_catch_cut_files(void)
{
    vouch_os_on_lost_page(on_cut_file);
}

static void interrupt_handle(int number)
{
    vouch_session *session = interrupt_session;
    (void)number;
    if (interrupt_mode == TOOL_INTERRUPT_ENDS || (interrupt_mode == TOOL_INTERRUPT_CANCELS && interrupted))
        end_with("vouch: interrupted\n");
    interrupted = 1;
    if (session) vouch_session_cancel(session);
}

void tool_interrupt_set(tool_interrupt mode)
{
    vouch_os_interrupt_hold();
    interrupted = 0;
    interrupt_mode = mode;
    vouch_os_interrupt_resume();
    vouch_os_on_interrupt(interrupt_handle, mode == TOOL_INTERRUPT_READS);
}

void tool_interrupt_restore(void (*restore)(void))
{
    interrupt_restore = restore;
}

void tool_interrupt_aim(vouch_session *session)
{
    vouch_os_interrupt_hold(); /* a handler that still cancels the last session ends first */
    interrupt_session = session;
    vouch_os_interrupt_resume();
    if (session && interrupted) vouch_session_cancel(session);
}

bool tool_interrupted(void)
{
    return interrupted;
}
