/* SPDX-License-Identifier: MIT */
/* Errors: fill a vouch_error and return its status to the caller. */
#ifndef VOUCH_BASE_STATUS_H
#define VOUCH_BASE_STATUS_H

#include "vouch.h"

/* Fills *err (NULL is allowed) with code and message; returns code. The end of the buffer cuts long messages. Bytes
 * that are not printable UTF-8 become '?', so that a name from a hostile file can't control the terminal. */
__attribute__((format(printf, 3, 4))) vouch_status vouch_fail(vouch_error *err, vouch_status code, const char *format,
                                                              ...);

#define VOUCH_TRY(expression)                              \
    do {                                                   \
        const vouch_status try_status = (expression);      \
        if (try_status != VOUCH_OK) return try_status;     \
    } while (0)

#endif
