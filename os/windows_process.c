/* SPDX-License-Identifier: MIT */
/* Terminal and process of Windows (os.h). */
#include "os/windows.h"

#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The code pages that the console had before; 0: the process has no console. */
static UINT first_output_page, first_input_page;

static void console_restore(void)
{
    if (first_output_page) SetConsoleOutputCP(first_output_page);
    if (first_input_page) SetConsoleCP(first_input_page);
}

void vouch_os_start(void)
{
    _fmode = _O_BINARY;
    for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++) _setmode(descriptor, _O_BINARY);
    setvbuf(stderr, NULL, _IONBF, 0); /* as in Windows's own C library; Wine's keeps a message that fits its buffer */
    first_output_page = GetConsoleOutputCP();
    first_input_page = GetConsoleCP();
    atexit(console_restore);
    SetConsoleOutputCP(CP_UTF8);
    SetConsoleCP(CP_UTF8);
    for (int descriptor = STDOUT_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        DWORD mode;
        if (GetConsoleMode(vouch_os_handle_of(descriptor), &mode))
            SetConsoleMode(vouch_os_handle_of(descriptor), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    }
}

/* Shells of other systems set TERM. */
bool vouch_os_terminal_draws(int descriptor)
{
    const char *terminal = getenv("TERM");
    DWORD mode;
    return GetConsoleMode(vouch_os_handle_of(descriptor), &mode) && mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

_Noreturn void vouch_os_exit(int status)
{
    console_restore();
    _exit(status);
}

int vouch_os_terminal_columns(int descriptor)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(vouch_os_handle_of(descriptor), &info)) return 0;
    return info.srWindow.Right - info.srWindow.Left + 1;
}

bool vouch_os_input_wait(int milliseconds)
{
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    enum { STEP = 10 };
    for (int spent = 0;; spent += STEP) {
        DWORD n = 0;
        if (!PeekNamedPipe(input, NULL, 0, NULL, &n, NULL) || n > 0) return true; /* a failure is the end */
        if (spent >= milliseconds) return false;
        Sleep(STEP);
    }
}

bool vouch_os_console_is_input(void)
{
    DWORD mode;
    return GetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), &mode) != 0;
}

static volatile LONG n_interrupts;

/* A console gives UTF-8 to no function of the C library, so its UTF-16 is read. */
wint_t vouch_os_console_read(void)
{
    enum { CONTROL_Z = 26, LONGEST_HANDLER = 1000 /* milliseconds */ };
    static wchar_t units[1024];
    static DWORD n, at;
    const LONG before = n_interrupts;
    if (at == n) {
        at = 0;
        SetLastError(NO_ERROR);
        const bool ok = ReadConsoleW(GetStdHandle(STD_INPUT_HANDLE), units, sizeof units / sizeof *units, &n, NULL);
        if (ok && n > 0 && units[0] != CONTROL_Z) return units[at++];
        n = 0;
        /* Another thread runs the handler of Ctrl-C. */
        if (GetLastError() == ERROR_OPERATION_ABORTED)
            for (int i = 0; i < LONGEST_HANDLER && n_interrupts == before; i++) Sleep(1);
        return WEOF;
    }
    return units[at++];
}

bool vouch_os_output_gone(void)
{
    /* The C library keeps the error of its last write, for which errno has no better number than EINVAL. */
    const unsigned long last = _doserrno;
    return GetFileType(vouch_os_handle_of(STDOUT_FILENO)) == FILE_TYPE_PIPE &&
           (last == ERROR_NO_DATA || last == ERROR_BROKEN_PIPE || last == ERROR_PIPE_NOT_CONNECTED);
}

static void (*volatile interrupt_handler)(int);
static SRWLOCK interrupt_lock = SRWLOCK_INIT;

void vouch_os_interrupt_hold(void)
{
    AcquireSRWLockExclusive(&interrupt_lock);
}

void vouch_os_interrupt_resume(void)
{
    ReleaseSRWLockExclusive(&interrupt_lock);
}

/* Runs in a thread that the system makes. */
static BOOL WINAPI console_handle(DWORD event)
{
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) return FALSE;
    vouch_os_interrupt_hold();
    interrupt_handler(SIGINT);
    vouch_os_interrupt_resume();
    InterlockedIncrement(&n_interrupts);
    return TRUE;
}

void vouch_os_on_interrupt(void (*handler)(int), bool reads)
{
    (void)reads; /* reading from a console ends at Ctrl-C anyway */
    const bool is_first = !interrupt_handler;
    interrupt_handler = handler;
    if (is_first) SetConsoleCtrlHandler(console_handle, TRUE);
}

/* -------------------------------------------------------- requests to end */

static HANDLE requests; /* a semaphore that counts them */

static struct {
    SRWLOCK lock;
    SERVICE_STATUS_HANDLE handle; /* NULL: the process is no service, or isn't connected yet */
    DWORD state, tick;
    HANDLE known; /* an event: the process is connected, or no service */
} service = {.lock = SRWLOCK_INIT, .state = SERVICE_START_PENDING};

/* Reports a new state to the service manager. With 0 it reports the old state again, so that the manager goes on
 * waiting. A service that stops without a request has failed. */
static void service_tell(DWORD state)
{
    enum {
        WAIT_HINT = 30000, /* The manager waits for so many milliseconds until it is told a state again. */
        FAILED = 1         /* This service has one exit code for all failures. */
    };
    AcquireSRWLockExclusive(&service.lock);
    const bool fails = state == SERVICE_STOPPED && service.state != SERVICE_STOP_PENDING;
    const bool has_stopped = service.state == SERVICE_STOPPED;
    if (state && !has_stopped) service.state = state;
    const bool runs = service.state == SERVICE_RUNNING, waits = !runs && service.state != SERVICE_STOPPED;
    SERVICE_STATUS status = {.dwServiceType = SERVICE_WIN32_OWN_PROCESS,
                             .dwCurrentState = service.state,
                             .dwControlsAccepted = runs ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN : 0,
                             .dwWin32ExitCode = fails ? ERROR_SERVICE_SPECIFIC_ERROR : NO_ERROR,
                             .dwServiceSpecificExitCode = fails ? FAILED : 0,
                             .dwCheckPoint = waits ? ++service.tick : 0,
                             .dwWaitHint = waits ? WAIT_HINT : 0};
    if (service.handle && !has_stopped) SetServiceStatus(service.handle, &status);
    ReleaseSRWLockExclusive(&service.lock);
}

static void service_stopped(void)
{
    service_tell(SERVICE_STOPPED);
}

/* Windows ends the process as soon as this handler returns. So the handler sleeps, and main ends the process. A service
 * also gets an event when any user logs off, and ignores it. */
static BOOL WINAPI end_handle(DWORD event)
{
    if (event == CTRL_LOGOFF_EVENT && service.handle) return TRUE;
    ReleaseSemaphore(requests, 1, NULL);
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(INFINITE);
    return TRUE;
}

/* Only a service that runs gets these controls. */
static void WINAPI service_control(DWORD control)
{
    if (control != SERVICE_CONTROL_STOP && control != SERVICE_CONTROL_SHUTDOWN) return;
    service_tell(SERVICE_STOP_PENDING);
    ReleaseSemaphore(requests, 1, NULL);
}

/* The service manager gives up a service that starts or stops and doesn't tell of it from time to time. */
static void WINAPI service_main(DWORD n_arguments, wchar_t **arguments)
{
    enum { STEP = 10000 /* milliseconds */ };
    (void)n_arguments;
    (void)arguments;
    const SERVICE_STATUS_HANDLE handle = RegisterServiceCtrlHandlerW(L"vouch", service_control);
    if (!handle) return;
    AcquireSRWLockExclusive(&service.lock);
    service.handle = handle;
    ReleaseSRWLockExclusive(&service.lock);
    atexit(service_stopped);
    SetEvent(service.known);
    for (;; Sleep(STEP)) service_tell(0);
}

static DWORD WINAPI service_connect(void *unused)
{
    wchar_t name[] = L"vouch";
    const SERVICE_TABLE_ENTRYW services[] = {{name, service_main}, {NULL, NULL}};
    (void)unused;
    StartServiceCtrlDispatcherW(services); /* fails at once where the process is no service */
    SetEvent(service.known);
    return 0;
}

void vouch_os_service_start(void)
{
    enum { LONGEST = 10000 /* milliseconds */ };
    service.known = CreateEventW(NULL, TRUE, FALSE, NULL);
    const HANDLE thread = CreateThread(NULL, 0, service_connect, NULL, 0, NULL);
    if (!thread) return;
    WaitForSingleObject(service.known, LONGEST);
    CloseHandle(thread);
}

void vouch_os_end_collect(void)
{
    requests = CreateSemaphoreW(NULL, 0, LONG_MAX, NULL);
    SetConsoleCtrlHandler(end_handle, TRUE);
}

bool vouch_os_end_wait(int milliseconds)
{
    if (service.state == SERVICE_START_PENDING) service_tell(SERVICE_RUNNING);
    return WaitForSingleObject(requests, milliseconds < 0 ? INFINITE : (DWORD)milliseconds) == WAIT_OBJECT_0;
}

/* -------------------------------------------------------------------- faults */

void vouch_os_on_lost_page(void (*handler)(int))
{
    (void)handler;
}

/* The linker sets the size. */
int64_t vouch_os_stack_limit(void)
{
    return INT64_MAX;
}
