/* SPDX-License-Identifier: MIT */
/* What the files of Windows share. */
#ifndef VOUCH_OS_WINDOWS_H
#define VOUCH_OS_WINDOWS_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "os/os.h"

/* The system's handle of a descriptor of the C library. */
HANDLE vouch_os_handle_of(int descriptor);

#endif
