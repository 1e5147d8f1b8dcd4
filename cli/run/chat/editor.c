/* SPDX-License-Identifier: MIT */
#include "run/chat/editor.h"

#ifndef VOUCH_EDITLINE

cli_editor *cli_editor_open(cli_editor_words *complete)
{
    (void)complete;
    return NULL;
}

cli_editor_end cli_editor_read(cli_editor *editor, char **text, size_t *n)
{
    (void)editor, (void)text, (void)n;
    return CLI_EDITOR_OVER;
}

void cli_editor_close(cli_editor *editor)
{
    (void)editor;
}

#else

#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <utf8proc.h>
#include <wchar.h>

#include "os/os.h"
#include "tool/term.h"
#include "tool/text.h"
#include "run/chat/paste.h"
#include "run/chat/recall.h"

_Static_assert(sizeof(wchar_t) == 4, "a wchar_t is a code point");

struct cli_editor {
    EditLine *el;
    FILE *out; /* buffered; writes to standard error */
    cli_editor_words *complete;
    cli_pastes pastes; /* of this message */
    cli_recall recall;
    size_t recalled;           /* index in `recall` of the message in the line; recall.n: the line holds a new one */
    wchar_t *typed;            /* the new message, while the line shows a recalled one; owned */
    cli_editor_end end;        /* why reading ended */
    unsigned char bytes[4096]; /* [first, last) were read and wait to be decoded */
    size_t first, last;
};

/* ------------------------------------------------------------- the terminal */

/* Globals, because signal handlers use them. */
static struct termios original;
static volatile sig_atomic_t is_open, resized, continued;

/* Async-signal-safe. A failed write is ignored: there is no place to report it. */
static void terminal_say(const char *text)
{
    (void)!vouch_os_write(STDERR_FILENO, text, strlen(text));
}

/* Async-signal-safe. */
static void terminal_restore(void)
{
    if (!is_open) return;
    is_open = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &original);
    terminal_say("\033[?2004l");
}

static void signal_note(int number)
{
    if (number == SIGWINCH) resized = 1;
    else continued = 1;
}

static void signal_end(int number)
{
    terminal_restore();
    signal(number, SIG_DFL);
    raise(number);
}

static void signals_set(bool on)
{
    static const int notes[] = {SIGWINCH, SIGCONT}, ends[] = {SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction old, action = {.sa_handler = on ? signal_note : SIG_DFL}; /* without SA_RESTART: read() returns */
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) sigaction(notes[i], &action, NULL);
    action.sa_handler = on ? signal_end : SIG_DFL;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(ends[i], &action, NULL);
    tool_interrupt_restore(on ? terminal_restore : NULL);
}

/* The mode during an answer: no echo, no lines, Ctrl-C sends a signal and discards no keys. */
static void terminal_quiet(void)
{
    struct termios quiet = original;
    quiet.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR);
    quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    quiet.c_lflag |= NOFLSH;
    quiet.c_cc[VMIN] = 1;
    quiet.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet);
}

/* -------------------------------------------------------------------- input */

static cli_editor *editor_of(EditLine *el)
{
    void *editor = NULL;
    el_wget(el, EL_CLIENTDATA, &editor);
    return editor;
}

static void redraw(cli_editor *editor)
{
    if (continued) {
        terminal_say("\033[?2004h");
        el_wset(editor->el, EL_PREP_TERM, 0);
        el_wset(editor->el, EL_PREP_TERM, 1);
    }
    resized = continued = 0;
    el_resize(editor->el);
    terminal_say("\r\033[J");
    el_wset(editor->el, EL_REFRESH);
}

/* Waits for input. False after a signal that the editor heeds, with EINTR in errno, even where the signal came just
 * before: these signals are blocked except while ppoll waits. Other threads block all signals (pool.c). */
static bool input_wait(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    sigset_t heeded, before;
    sigemptyset(&heeded);
    sigaddset(&heeded, SIGINT);
    sigaddset(&heeded, SIGWINCH);
    sigaddset(&heeded, SIGCONT);
    pthread_sigmask(SIG_BLOCK, &heeded, &before);
    const bool came = tool_interrupted() || resized || continued;
    const bool ready = !came && ppoll(&input, 1, NULL, &before) > 0;
    if (came) errno = EINTR;
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return ready;
}

/* Reads one byte or more. False at the end of the input, and after a SIGINT. */
static bool bytes_fill(cli_editor *editor)
{
    if (editor->first > 0) {
        memmove(editor->bytes, editor->bytes + editor->first, editor->last - editor->first);
        editor->last -= editor->first;
        editor->first = 0;
    }
    for (;;) {
        const bool ready = input_wait();
        const ssize_t got =
            ready ? vouch_os_read(STDIN_FILENO, editor->bytes + editor->last, sizeof editor->bytes - editor->last) : -1;
        if (got > 0) {
            editor->last += (size_t)got;
            return true;
        }
        const bool again = got < 0 && errno == EINTR;
        if (again && (resized || continued)) redraw(editor);
        if (again && !tool_interrupted()) continue;
        editor->end = again ? CLI_EDITOR_CANCELLED : CLI_EDITOR_OVER;
        return false;
    }
}

/* Are these n bytes the beginning of a character that needs more bytes? */
static bool is_unfinished(const unsigned char *bytes, size_t n)
{
    const size_t length = bytes[0] < 0xc2 || bytes[0] > 0xf4 ? 1 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if ((bytes[i] & 0xc0) != 0x80) return false;
    return n < length;
}

/* libedit calls this to read a code point. A malformed byte becomes U+FFFD. */
static int code_read(EditLine *el, wchar_t *out)
{
    cli_editor *editor = editor_of(el);
    uint32_t code = 0xfffd;
    while (editor->first == editor->last || is_unfinished(editor->bytes + editor->first, editor->last - editor->first))
        if (!bytes_fill(editor)) return 0;
    const size_t n = tool_utf8_length((const char *)editor->bytes + editor->first, editor->last - editor->first, &code);
    editor->first += n ? n : 1;
    *out = (wchar_t)code;
    return 1;
}

/* ------------------------------------------------------------------ the line */

/* Encodes n code points as UTF-8. The caller frees the result. NULL: not enough memory. */
static char *utf8_of(const wchar_t *codes, size_t n, size_t *n_out)
{
    char *out = malloc(n * 4 + 1);
    size_t used = 0;
    for (size_t i = 0; out && i < n; i++)
        used += (size_t)utf8proc_encode_char((utf8proc_int32_t)codes[i], (utf8proc_uint8_t *)out + used);
    if (out) out[used] = 0;
    *n_out = used;
    return out;
}

/* Decodes n bytes of UTF-8 into code points and a 0. The caller frees the result. NULL: not enough memory. */
static wchar_t *codes_of(const char *text, size_t n)
{
    wchar_t *out = malloc((n + 1) * sizeof *out);
    size_t used = 0;
    for (size_t i = 0, length; out && i < n; i += length) {
        uint32_t code = 0xfffd;
        length = tool_utf8_length(text + i, n - i, &code);
        if (length == 0) length = 1;
        out[used++] = (wchar_t)code;
    }
    if (out) out[used] = 0;
    return out;
}

static size_t line_length(EditLine *el)
{
    const LineInfoW *line = el_wline(el);
    return (size_t)(line->lastchar - line->buffer);
}

static size_t line_cursor(EditLine *el)
{
    const LineInfoW *line = el_wline(el);
    return (size_t)(line->cursor - line->buffer);
}

static void line_replace(EditLine *el, const wchar_t *text)
{
    el_cursor(el, (int)line_length(el));
    el_deletestr(el, (int)line_length(el));
    el_winsertstr(el, text);
}

/* Inserts text into the line, or the name of a paste that holds the text. */
static bool line_insert(cli_editor *editor, const char *text, size_t n)
{
    const char *shown = text;
    if (cli_paste_is_long(text, n)) {
        char *copy = malloc(n + 1);
        if (!copy) return false;
        memcpy(copy, text, n + 1);
        shown = cli_paste_add(&editor->pastes, copy, n);
        if (!shown) return false;
    }
    wchar_t *codes = codes_of(shown, strlen(shown));
    if (!codes) return false;
    const bool ok = !*codes || el_winsertstr(editor->el, codes) == 0;
    free(codes);
    return ok;
}

/* Code points from `at` to the end of the character that begins there. */
static size_t character_after(const LineInfoW *line, const wchar_t *at)
{
    const wchar_t *next = at;
    utf8proc_int32_t state = 0;
    if (at < line->lastchar) do
            next++;
        while (next < line->lastchar &&
               !utf8proc_grapheme_break_stateful((utf8proc_int32_t)next[-1], (utf8proc_int32_t)*next, &state));
    return (size_t)(next - at);
}

/* Code points of the character that ends at the cursor. Splits the line from its beginning: an emoji flag is a pair of
 * letters, so where one begins depends on the letters before it. */
static size_t character_before(const LineInfoW *line)
{
    const wchar_t *at = line->buffer;
    size_t n = 0;
    for (; at < line->cursor; at += n) {
        n = character_after(line, at);
        if (at + n >= line->cursor) return (size_t)(line->cursor - at);
    }
    return n;
}

/* --------------------------------------------------------------------- keys */

#define ACCEPT L"\033[vouch~" /* bound to ed-newline: a key function pushes it to make libedit end the line */

static unsigned char key_left(EditLine *el, wint_t c)
{
    (void)c;
    el_cursor(el, -(int)character_before(el_wline(el)));
    return CC_CURSOR;
}

static unsigned char key_right(EditLine *el, wint_t c)
{
    const LineInfoW *line = el_wline(el);
    (void)c;
    el_cursor(el, (int)character_after(line, line->cursor));
    return CC_CURSOR;
}

static unsigned char key_backspace(EditLine *el, wint_t c)
{
    (void)c;
    el_deletestr(el, (int)character_before(el_wline(el)));
    return CC_REFRESH;
}

static unsigned char key_delete(EditLine *el, wint_t c)
{
    const LineInfoW *line = el_wline(el);
    const size_t n = character_after(line, line->cursor);
    (void)c;
    el_cursor(el, (int)n);
    el_deletestr(el, (int)n);
    return CC_REFRESH;
}

/* Ctrl-D. */
static unsigned char key_end(EditLine *el, wint_t c)
{
    if (line_length(el) > 0) return key_delete(el, c);
    editor_of(el)->end = CLI_EDITOR_OVER;
    el_wpush(el, ACCEPT);
    return CC_NORM;
}

static unsigned char key_cancel(EditLine *el, wint_t c)
{
    (void)c;
    editor_of(el)->end = CLI_EDITOR_CANCELLED;
    el_wpush(el, ACCEPT);
    return CC_NORM;
}

static unsigned char key_newline(EditLine *el, wint_t c)
{
    (void)c;
    return el_winsertstr(el, L"\n") == 0 ? CC_REFRESH : CC_ERROR;
}

/* Sends the message. One backslash at its end becomes a line end instead; two stay and are sent. */
static unsigned char key_enter(EditLine *el, wint_t c)
{
    const LineInfoW *line = el_wline(el);
    size_t backslashes = 0;
    for (const wchar_t *at = line->lastchar; at > line->buffer && at[-1] == L'\\'; at--) backslashes++;
    if (backslashes % 2 == 1 && line->cursor == line->lastchar) {
        el_deletestr(el, 1);
        return key_newline(el, c);
    }
    el_wpush(el, ACCEPT);
    return CC_NORM;
}

/* Index of the first code point of the row that holds `at`. */
static size_t row_begin(const wchar_t *buffer, size_t at)
{
    while (at > 0 && buffer[at - 1] != L'\n') at--;
    return at;
}

static size_t row_end(const wchar_t *buffer, size_t n, size_t at)
{
    while (at < n && buffer[at] != L'\n') at++;
    return at;
}

/* Moves the cursor one row up (-1) or down (1). False: there is no such row. */
static bool row_move(EditLine *el, int by)
{
    const wchar_t *buffer = el_wline(el)->buffer;
    const size_t n = line_length(el), at = line_cursor(el), begin = row_begin(buffer, at);
    const size_t end = row_end(buffer, n, at), column = at - begin;
    if (by < 0 ? begin == 0 : end == n) return false;
    const size_t to = by < 0 ? row_begin(buffer, begin - 1) : end + 1, last = row_end(buffer, n, to);
    el_cursor(el, (int)((to + column < last ? to + column : last)) - (int)at);
    return true;
}

/* Replaces the line with an earlier (-1) or later (1) message. */
static unsigned char recall_move(EditLine *el, int by)
{
    cli_editor *editor = editor_of(el);
    const cli_recall *recall = &editor->recall;
    if (by < 0 ? editor->recalled == 0 : editor->recalled == recall->n) return CC_ERROR;
    if (editor->recalled == recall->n) {
        const size_t n = line_length(el);
        free(editor->typed);
        editor->typed = malloc((n + 1) * sizeof *editor->typed);
        if (!editor->typed) return CC_ERROR;
        memcpy(editor->typed, el_wline(el)->buffer, n * sizeof *editor->typed);
        editor->typed[n] = 0;
    }
    editor->recalled += (size_t)by;
    if (editor->recalled == recall->n) {
        line_replace(el, editor->typed);
        return CC_REFRESH;
    }
    const char *text = recall->items[editor->recalled];
    line_replace(el, L"");
    return line_insert(editor, text, strlen(text)) ? CC_REFRESH : CC_REFRESH_BEEP;
}

static unsigned char key_up(EditLine *el, wint_t c)
{
    (void)c;
    return row_move(el, -1) ? CC_CURSOR : recall_move(el, -1);
}

static unsigned char key_down(EditLine *el, wint_t c)
{
    (void)c;
    return row_move(el, 1) ? CC_CURSOR : recall_move(el, 1);
}

/* ------------------------------------------------------------------- pastes */

/* Reads up to the closing bracket. The caller frees the text. NULL: not enough memory, or the input ended. */
static char *paste_read(cli_editor *editor, size_t *n)
{
    static const char closing[] = "\033[201~";
    enum { CLOSING = sizeof closing - 1 };
    size_t used = 0, capacity = sizeof editor->bytes;
    char *text = malloc(capacity), *found = NULL;
    while (text && !found) {
        if (editor->first == editor->last && !bytes_fill(editor)) break;
        const size_t got = editor->last - editor->first, seen = used < CLOSING ? 0 : used - CLOSING;
        if (used + got > capacity) {
            char *larger = realloc(text, capacity *= 2);
            if (!larger) break;
            text = larger;
        }
        memcpy(text + used, editor->bytes + editor->first, got);
        used += got;
        editor->first = editor->last;
        found = memmem(text + seen, used - seen, closing, CLOSING);
    }
    if (!found) {
        free(text);
        return NULL;
    }
    const size_t length = (size_t)(found - text);
    editor->first -= used - length - CLOSING; /* gives back the bytes after the bracket */
    *n = length;
    return text;
}

/* Makes each line end a \n and each malformed byte a U+FFFD, and removes NULs. Frees `text` and returns a new
 * buffer. */
static char *paste_clean(char *text, size_t *n)
{
    size_t used = 0;
    for (size_t i = 0; i < *n; i++) {
        const bool is_pair = text[i] == '\r' && i + 1 < *n && text[i + 1] == '\n';
        if (text[i] && !is_pair) text[used++] = text[i] == '\r' ? '\n' : text[i];
    }
    char *clean = tool_utf8_repair(text, used, n);
    free(text);
    return clean;
}

static unsigned char key_paste(EditLine *el, wint_t c)
{
    cli_editor *editor = editor_of(el);
    size_t n = 0;
    char *text = paste_read(editor, &n);
    (void)c;
    if (text) text = paste_clean(text, &n);
    const bool ok = text && line_insert(editor, text, n);
    free(text);
    if (ok) return CC_REFRESH;
    terminal_say("\r\n");
    tool_complain("the paste did not arrive whole, or memory is short: nothing of it was taken");
    return CC_REDISPLAY;
}

/* --------------------------------------------------------------- completion */

/* Length of the longest common beginning of two words, at most `most`. */
static size_t common_length(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] && a[n] == b[n]) n++;
    return n;
}

/* Completes the last word before the cursor as far as all matching words agree. If that adds nothing, lists them. */
static unsigned char key_tab(EditLine *el, wint_t c)
{
    cli_editor *editor = editor_of(el);
    const LineInfoW *line = el_wline(el);
    size_t n_before, n_matches = 0, shared = SIZE_MAX;
    char *before = utf8_of(line->buffer, (size_t)(line->cursor - line->buffer), &n_before);
    const char *first = NULL, *typed = before ? strrchr(before, ' ') : NULL, *word;
    unsigned char result = CC_ERROR;
    (void)c;
    if (!before) return CC_ERROR;
    typed = typed ? typed + 1 : before;
    const size_t n_typed = strlen(typed);
    for (size_t i = 0; (word = editor->complete(before, i)) != NULL; i++) {
        if (strncmp(word, typed, n_typed) != 0) continue;
        shared = first ? common_length(first, word, shared) : strlen(word);
        if (!first) first = word;
        n_matches++;
    }
    if (first && (shared > n_typed || n_matches == 1)) {
        wchar_t *rest = codes_of(first + n_typed, shared - n_typed);
        if (rest && *rest) el_winsertstr(el, rest);
        if (n_matches == 1) el_winsertstr(el, L" ");
        free(rest);
        result = CC_REFRESH;
    } else if (first) {
        fputc('\n', editor->out);
        for (size_t i = 0; (word = editor->complete(before, i)) != NULL; i++)
            if (strncmp(word, typed, n_typed) == 0) fprintf(editor->out, "%s  ", word);
        fputc('\n', editor->out);
        el_wset(el, EL_REFRESH);
        result = CC_NORM;
    }
    free(before);
    return result;
}

/* ------------------------------------------------------------------ opening */

static wchar_t *prompt_text(EditLine *el)
{
    static wchar_t text[] = L"> ";
    (void)el;
    return text;
}

static void keys_bind(EditLine *el)
{
    static const struct {
        const wchar_t *name, *help;
        unsigned char (*run)(EditLine *, wint_t);
        const wchar_t *keys[6];
    } keys[] = {
        {L"vouch-left", L"one character to the left", key_left, {L"\\e[D", L"\\eOD", L"^B"}},
        {L"vouch-right", L"one character to the right", key_right, {L"\\e[C", L"\\eOC", L"^F"}},
        {L"vouch-up", L"the row above, or an earlier message", key_up, {L"\\e[A", L"\\eOA", L"^P"}},
        {L"vouch-down", L"the row below, or a later message", key_down, {L"\\e[B", L"\\eOB", L"^N"}},
        {L"vouch-backspace", L"deletes the character before the cursor", key_backspace, {L"^H", L"^?"}},
        {L"vouch-delete", L"deletes the character at the cursor", key_delete, {L"\\e[3~"}},
        {L"vouch-end", L"deletes as Delete does; ends the conversation on an empty line", key_end, {L"^D"}},
        {L"vouch-cancel", L"clears the line", key_cancel, {L"^C"}},
        {L"vouch-enter", L"sends the message", key_enter, {L"^M", L"^J"}},
        {L"vouch-newline", L"begins another line", key_newline, {L"\\e^M", L"\\e^J"}},
        {L"vouch-paste", L"takes a paste", key_paste, {L"\\e[200~"}},
        {L"vouch-complete", L"completes a command", key_tab, {L"^I"}},
    };
    static const wchar_t *const own[][2] = {
        {L"\\e[vouch~", L"ed-newline"}, {L"\\e[H", L"ed-move-to-beg"},  {L"\\eOH", L"ed-move-to-beg"},
        {L"\\e[1~", L"ed-move-to-beg"}, {L"\\e[F", L"ed-move-to-end"},  {L"\\eOF", L"ed-move-to-end"},
        {L"\\e[4~", L"ed-move-to-end"}, {L"\\e[1;5D", L"ed-prev-word"}, {L"\\e[1;5C", L"em-next-word"},
        {L"\\e[1;3D", L"ed-prev-word"}, {L"\\e[1;3C", L"em-next-word"}, {L"^W", L"ed-delete-prev-word"},
        {L"^U", L"vi-kill-line-prev"},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) el_wset(el, EL_BIND, own[i][0], own[i][1], NULL);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        el_wset(el, EL_ADDFN, keys[i].name, keys[i].help, keys[i].run);
        for (size_t j = 0; j < 6 && keys[i].keys[j]; j++) el_wset(el, EL_BIND, keys[i].keys[j], keys[i].name, NULL);
    }
}

/* libedit writes in the locale's encoding. In containers the locale is often unset; then a UTF-8 locale is set here. */
static bool locale_set(void)
{
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 || setlocale(LC_CTYPE, "C.UTF-8") ||
           setlocale(LC_CTYPE, "en_US.UTF-8");
}

static bool libedit_open(cli_editor *editor)
{
    const int fd = dup(STDERR_FILENO);
    editor->out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!editor->out && fd >= 0) close(fd);
    editor->el = editor->out ? el_init("vouch", stdin, editor->out, editor->out) : NULL;
    EditLine *el = editor->el;
    if (!el) return false;
    el_wset(el, EL_CLIENTDATA, editor);
    el_wset(el, EL_PROMPT, prompt_text);
    el_wset(el, EL_EDITOR, L"emacs");
    el_wset(el, EL_GETCFN, code_read);
    el_wset(el, EL_SIGNAL, 0);
    el_wset(el, EL_SETTY, L"-d", L"-icrnl", L"-inlcr", NULL);
    el_wset(el, EL_SETTY, L"-d", L"intr=", NULL);
    el_source(el, NULL); /* ~/.editrc, as in other programs with libedit */
    keys_bind(el);
    return true;
}

cli_editor *cli_editor_open(cli_editor_words *complete)
{
    cli_editor *editor = vouch_os_terminal_draws(STDIN_FILENO) ? calloc(1, sizeof *editor) : NULL;
    if (!editor) return NULL;
    editor->complete = complete;
    if (tcgetattr(STDIN_FILENO, &original) != 0 || !locale_set() || !libedit_open(editor)) {
        cli_editor_close(editor);
        return NULL;
    }
    cli_recall_open(&editor->recall);
    is_open = 1;
    signals_set(true);
    terminal_quiet();
    terminal_say("\033[?2004h");
    return editor;
}

cli_editor_end cli_editor_read(cli_editor *editor, char **text, size_t *n)
{
    int count = 0;
    size_t n_line = 0;
    editor->end = CLI_EDITOR_MESSAGE;
    editor->recalled = editor->recall.n;
    const wchar_t *codes = el_wgets(editor->el, &count);
    char *line = codes && count > 0 ? utf8_of(codes, (size_t)count - 1, &n_line) : NULL; /* without its line end */
    terminal_quiet();
    if (!codes) fputs("\n", stderr);
    if (!codes && editor->end == CLI_EDITOR_MESSAGE) editor->end = CLI_EDITOR_OVER;
    if (editor->end == CLI_EDITOR_MESSAGE) {
        *text = line ? cli_paste_expand(&editor->pastes, line, n_line, n) : NULL;
        if (*text) cli_recall_add(&editor->recall, *text, *n);
        else editor->end = CLI_EDITOR_MEMORY;
    }
    free(line);
    cli_paste_free(&editor->pastes);
    return editor->end;
}

void cli_editor_close(cli_editor *editor)
{
    if (!editor) return;
    if (editor->el) el_end(editor->el);
    if (editor->out) fclose(editor->out);
    if (is_open) signals_set(false);
    terminal_restore();
    cli_recall_close(&editor->recall);
    free(editor->typed);
    free(editor);
}

#endif
