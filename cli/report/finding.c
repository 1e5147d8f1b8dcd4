/* SPDX-License-Identifier: MIT */
#include "report/finding.h"

#include <stdarg.h>
#include <string.h>

#include "tool/text.h"

void cli_finding_compare(cli_finding *finding, bool holds, const char *format, ...)
{
    va_list arguments;
    finding->n_compared++;
    if (holds || finding->n_broken++ > 0) return;
    va_start(arguments, format);
    vsnprintf(finding->first, sizeof finding->first, format, arguments);
    va_end(arguments);
}

/* ------------------------------------------------------------------- report */

static const char *verdict_of(const cli_finding *f)
{
    return f->n_broken > 0 ? "broken" : f->n_compared > 0 ? "holds" : "not covered";
}

/* The bytes of text that a line of at most `room` bytes takes: whole words, or whole characters of a long word. */
static size_t line_length(const char *text, size_t room)
{
    size_t n = strlen(text);
    if (n <= room) return n;
    for (n = room; n > 0 && text[n] != ' ';) n--;
    if (n > 0) return n;
    for (n = room; n > 1 && ((unsigned char)text[n] & 0xc0) == 0x80;) n--;
    return n;
}

void cli_put_wrapped(const char *text, FILE *out)
{
    enum { INDENT = 4, ROOM = 80 - INDENT };
    while (*text) {
        const size_t n = line_length(text, ROOM);
        fprintf(out, "%*s", INDENT, "");
        tool_put_escaped(out, text, n, 0);
        fputc('\n', out);
        text += n;
        while (*text == ' ') text++;
    }
}

void cli_finding_put(const cli_finding *f, FILE *out)
{
    char failed[300];
    fprintf(out, "%s  %-18s %s", f->law, f->name, verdict_of(f));
    if (f->n_compared > 0) fprintf(out, ", %lld comparisons", (long long)f->n_compared);
    fputc('\n', out);
    snprintf(failed, sizeof failed, "%lld failed; first: %s", (long long)f->n_broken, f->first);
    if (f->n_broken > 0) cli_put_wrapped(failed, out);
    cli_put_wrapped(f->covered, out);
}

size_t cli_findings_broken(const cli_finding *findings, size_t n_findings, char text[CLI_BROKEN_SIZE])
{
    size_t n = 0, used = 0;
    text[0] = 0;
    for (size_t i = 0; i < n_findings; i++) {
        if (findings[i].n_broken == 0) continue;
        if (n == 0 || strcmp(findings[i].law, findings[i - 1].law) != 0 || findings[i - 1].n_broken == 0)
            used += (size_t)snprintf(text + used, CLI_BROKEN_SIZE - used, "%s%s", used ? ", " : "", findings[i].law);
        n++;
    }
    return n;
}

json_t *cli_finding_json(const cli_finding *f)
{
    const tool_json_entry entries[] = {{"law", json_string(f->law)},
                                       {"name", json_string(f->name)},
                                       {"verdict", json_string(verdict_of(f))},
                                       {"comparisons", json_integer(f->n_compared)},
                                       {"broken", json_integer(f->n_broken)},
                                       {"covered", tool_json_text(f->covered)},
                                       {"first", tool_json_text(f->first)}};
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}
