/* SPDX-License-Identifier: MIT */
/* What the files of Windows share. */
#ifndef VOUCH_OS_WINDOWS_H
#define VOUCH_OS_WINDOWS_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <wchar.h>

#include "os/os.h"

/* Returns the Windows handle of a file descriptor of the C library. */
HANDLE vouch_os_handle_of(int descriptor);
/* Whether standard input is a console. */
bool vouch_os_console_is_input(void);
/* One UTF-16 unit of the console's input; WEOF at the end or after Ctrl-C. */
wint_t vouch_os_console_read(void);

#endif
