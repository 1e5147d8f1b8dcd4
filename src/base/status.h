/* SPDX-License-Identifier: MIT */
/* Errors: fill a vouch_error, pass a status up. */
#ifndef VOUCH_BASE_STATUS_H
#define VOUCH_BASE_STATUS_H

#include "vouch.h"

/* Fills *err (which may be NULL) with code and message; returns code. Messages are cut at the
 * buffer's end; bytes that are no printable UTF-8 text become '?', so that a name taken from a
 * hostile file can't upset a terminal. */
__attribute__((format(printf, 3, 4)))
vouch_status vouch_fail(vouch_error *err, vouch_status code, const char *format, ...);

#define VOUCH_TRY(expression)                              \
    do {                                                   \
        const vouch_status try_status = (expression);      \
        if (try_status != VOUCH_OK) return try_status;     \
    } while (0)

#endif
