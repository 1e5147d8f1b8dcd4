/* SPDX-License-Identifier: MIT */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *vouch_status_text(vouch_status status)
{
    switch (status) {
#define STATUS_CASE(name, value, text) \
    case name: return text;
        VOUCH_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

const char *vouch_version(void)
{
    return VOUCH_VERSION;
}

/* Length of the well-formed, printable UTF-8 character at s, or 0. */
static size_t printable_length(const unsigned char *s)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f;
    const size_t length = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
                          : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                          : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                        : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;   /* stops at the terminating NUL, too */
    if (s[0] == 0xc2 && s[1] < 0xa0) return 0; /* C1 controls */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90)) return 0; /* overlong */
    if ((s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90)) return 0;
    return length;
}

vouch_status vouch_fail(vouch_error *err, vouch_status code, const char *format, ...)
{
    if (!err) return code;
    err->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    for (unsigned char *s = (unsigned char *)err->message; *s;) {
        const size_t length = printable_length(s);
        if (length == 0) *s++ = '?';
        else s += length;
    }
    return code;
}
