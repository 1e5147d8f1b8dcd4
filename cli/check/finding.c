/* SPDX-License-Identifier: MIT */
#include <stdarg.h>

#include "check/check.h"

bool cli_check_goes_on(cli_check *check)
{
    const double now = cli_now();
    cli_progress_report(&check->progress, (now - check->start) / check->seconds);
    return now < check->deadline;
}

void cli_check_compare(cli_finding *finding, bool holds, const char *format, ...)
{
    va_list arguments;
    finding->n_compared++;
    if (holds || finding->n_broken++ > 0) return;
    va_start(arguments, format);
    vsnprintf(finding->first, sizeof finding->first, format, arguments);
    va_end(arguments);
}
