/* SPDX-License-Identifier: MIT */
#include "check/server/report.h"

#include <string.h>

#include "report/sheet.h"
#include "tool/file.h"
#include "tool/text.h"

void ask_fail(ask_law *law, const char *name, const char *difference, json_t *commands, const ask_answer *a,
              const ask_answer *b, const char *seen)
{
    const tool_json_entry entries[] = {
        {"case", tool_json_text(name)},
        {"difference", tool_json_text(difference)},
        {"seen", seen ? json_string(seen) : json_null()},
        {"commands", commands},
        {"texts", a && b ? json_pack("[o, o]", tool_json_text(a->text), tool_json_text(b->text)) : json_null()}};
    json_array_append_new(law->failures, tool_json_object(entries, sizeof entries / sizeof *entries));
}

static const char *text_of(const json_t *failure, const char *name)
{
    const char *text = json_string_value(json_object_get(failure, name));
    return text ? text : "";
}

/* ----------------------------------------------------------------------- people */

static void line_put(FILE *out, const char *key, const char *text)
{
    fprintf(out, "%-14s", key);
    tool_put_escaped(out, text, strlen(text), 0);
    fputc('\n', out);
}

static void head_put(const ask_check *c, FILE *out)
{
    const ask_server *s = &c->server;
    line_put(out, "server", s->base);
    if (*s->plain_base) line_put(out, "plain server", s->plain_base);
    line_put(out, "software", s->version);
    line_put(out, "model", s->model);
    fprintf(out, "%-14s%s%s\n", "asked", s->has[0] ? "completions" : "",
            s->has[1] ? s->has[0] ? ", chat" : "chat" : "");
    fprintf(out, "%-14s%lld; ", "requests", (long long)c->n_requests);
    if (s->tells_guesses)
        fprintf(out, "%lld tokens drafted, %lld accepted\n", (long long)c->n_drafted, (long long)c->n_accepted);
    else fprintf(out, "the server doesn't say how many tokens were drafted\n");
    for (const char *at = s->notes; *at; at = strchr(at, '\n') + 1) {
        fprintf(out, "%-14s", "can't ask");
        tool_put_escaped(out, at, strcspn(at, "\n"), 0);
        fputc('\n', out);
    }
    fputc('\n', out);
}

/* Command lines stand unbroken, to be copied. */
static void failures_put(const json_t *failures, FILE *out)
{
    const json_t *failure, *line;
    size_t i, j;
    json_array_foreach(failures, i, failure) {
        char text[640];
        snprintf(text, sizeof text, "%s: %s%s%s%s", text_of(failure, "case"), text_of(failure, "difference"),
                 *text_of(failure, "seen") ? " (seen again " : "", text_of(failure, "seen"),
                 *text_of(failure, "seen") ? " times)" : "");
        fputc('\n', out);
        cli_put_wrapped(text, out);
        json_array_foreach(json_object_get(failure, "commands"), j, line) fprintf(out, "%s\n", json_string_value(line));
    }
    if (json_array_size(failures) > 0) fputc('\n', out);
}

vouch_status ask_report_print(const ask_check *c, const ask_law *laws, bool is_interrupted, vouch_error *err)
{
    cli_finding findings[ASK_LAWS];
    char broken[CLI_BROKEN_SIZE];
    cli_sheet sheet;
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory"};
    if (!cli_sheet_open(&sheet)) return err->code;
    head_put(c, sheet.out);
    for (size_t i = 0; i < ASK_LAWS; i++) {
        findings[i] = laws[i].finding;
        cli_finding_put(&laws[i].finding, sheet.out);
        failures_put(laws[i].failures, sheet.out);
    }
    if (c->is_gone) fprintf(sheet.out, "\nThe server stopped to answer.\n");
    if (cli_findings_broken(findings, ASK_LAWS, broken) > 0) fprintf(sheet.out, "\nBroken there: %s.\n", broken);
    else if (!is_interrupted && !c->is_gone) fprintf(sheet.out, "\nEvery law that was tried holds there.\n");
    return cli_sheet_print(&sheet, err);
}

/* ------------------------------------------------------------------------- JSON */

static json_t *notes_json(const char *notes)
{
    json_t *array = json_array();
    for (const char *at = notes; *at; at = strchr(at, '\n') + 1) {
        char line[ASK_NOTES_SIZE];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        json_array_append_new(array, tool_json_text(line));
    }
    return array;
}

vouch_status ask_report_write(const ask_check *c, const ask_law *laws, bool is_interrupted, vouch_error *err)
{
    const ask_server *s = &c->server;
    json_t *array = json_array();
    for (size_t i = 0; i < ASK_LAWS; i++) {
        json_t *finding = cli_finding_json(&laws[i].finding);
        json_object_set(finding, "failures", laws[i].failures);
        json_array_append_new(array, finding);
    }
    const tool_json_entry entries[] = {{"server", tool_json_text(s->base)},
                                       {"plain_server", *s->plain_base ? tool_json_text(s->plain_base) : json_null()},
                                       {"software", tool_json_text(s->version)},
                                       {"model", tool_json_text(s->model)},
                                       {"completions", json_boolean(s->has[0])},
                                       {"chat", json_boolean(s->has[1])},
                                       {"not_asked", notes_json(s->notes)},
                                       {"requests", json_integer(c->n_requests)},
                                       {"drafted", s->tells_guesses ? json_integer(c->n_drafted) : json_null()},
                                       {"accepted", s->tells_guesses ? json_integer(c->n_accepted) : json_null()},
                                       {"tolerance", tool_json_real(c->tolerance)},
                                       {"seconds", tool_json_real(tool_now() - c->start)},
                                       {"interrupted", json_boolean(is_interrupted)},
                                       {"gone", json_boolean(c->is_gone)},
                                       {"laws", array}};
    json_t *object = tool_json_object(entries, sizeof entries / sizeof *entries);
    const vouch_status status = tool_file_write_json(c->options->json, object, err);
    json_decref(object);
    return status;
}
