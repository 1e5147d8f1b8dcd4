/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdarg.h>

#include "check/check.h"

void cli_check_report(cli_check *c)
{
    const double now = tool_now(), least_end = fmax(now, c->law_end) + c->later_seconds;
    const double end = fmax(c->start + c->seconds, least_end);
    c->progress.label = least_end > c->start + c->seconds ? "checking the least" : "checking";
    tool_progress_report(&c->progress, (now - c->start) / (end - c->start));
}

bool cli_check_goes_on(cli_check *c)
{
    cli_check_report(c);
    return tool_now() < c->deadline;
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
