/* SPDX-License-Identifier: MIT */
#include "report/provenance.h"

#include <string.h>
#include <stdlib.h>
#include <time.h>

#include "os/os.h"
#include "report/sheet.h"
#include "tool/text.h"

static void put_date(FILE *out)
{
    const time_t now = time(NULL);
    char text[32] = "unknown";
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
    fputs(text, out);
}

/* Prints the system's name for the processor; the architecture where it has none (Arm). */
static void put_processor(FILE *out, const cli_engine *engine)
{
    const int32_t given = engine->options->session.n_threads;
    char name[200];
    vouch_os_processor_name(name, sizeof name);
    const int32_t n_threads = given ? given : vouch_cpu_count();
    fprintf(out, "%s, %s, %d thread%s", *name ? name : "unknown", vouch_model_get_info(engine->model)->cpu, n_threads,
            n_threads == 1 ? "" : "s");
}

/* Quotes the argument unless a shell would read it as it is. */
static void put_argument(FILE *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";
    if (*text && strspn(text, plain) == strlen(text)) {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (; *text; text++) fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, out);
    fputc('\'', out);
}

static void put_command(FILE *out, const cli_options *o)
{
    size_t i = 0;
    while (o->command >> (i + 1)) i++;
    fprintf(out, "vouch %s", cli_command_names[i]);
    for (int a = 0; a < o->n_arguments; a++) {
        fputc(' ', out);
        put_argument(out, o->arguments[a]);
    }
}

/* Prints a line such as "model.gguf, 98.4 MB, Q4_1 x210, F32 x61". */
static void put_model(FILE *out, const char *path, const vouch_model *model)
{
    const vouch_model_info *info = vouch_model_get_info(model);
    const char *slash = strrchr(path, '/');
    const double bytes = (double)info->file_bytes;
    fprintf(out, "%s, ", slash && slash[1] ? slash + 1 : path);
    if (bytes >= 1e9) fprintf(out, "%.2f GB", bytes / 1e9);
    else if (bytes >= 1e6) fprintf(out, "%.1f MB", bytes / 1e6);
    else fprintf(out, "%.0f kB", bytes / 1e3);
    fprintf(out, ", %s", info->weight_types);
}

/* The text written to `sheet` becomes the next fact. */
static bool fact_add(cli_provenance *p, const char *name, bool for_terminals, cli_sheet *sheet)
{
    p->facts[p->n].name = name;
    p->facts[p->n].for_terminals = for_terminals;
    p->facts[p->n].text = cli_sheet_take(sheet);
    return p->facts[p->n++].text != NULL;
}

bool cli_provenance_of(cli_provenance *p, const cli_engine *engine)
{
    static const char *const names[CLI_MOST_FACTS] = {"target", "draft", "processor", "date", "version", "command"};
    const cli_options *o = engine->options;
    *p = (cli_provenance){0};
    for (size_t i = 0; i < CLI_MOST_FACTS; i++) {
        cli_sheet sheet;
        if (i == 1 && !engine->draft) continue;
        if (!cli_sheet_open(&sheet)) return false;
        if (i == 0) put_model(sheet.out, o->model, engine->model);
        else if (i == 1) put_model(sheet.out, o->draft_model, engine->draft);
        else if (i == 2) put_processor(sheet.out, engine);
        else if (i == 3) put_date(sheet.out);
        else if (i == 4) fprintf(sheet.out, "vouch %s", vouch_version());
        else put_command(sheet.out, o);
        if (!fact_add(p, names[i], i < 3, &sheet)) return false;
    }
    return true;
}

void cli_provenance_free(cli_provenance *p)
{
    for (size_t i = 0; i < p->n; i++) free(p->facts[i].text);
    p->n = 0;
}

void cli_provenance_print(FILE *out, const cli_provenance *p)
{
    for (size_t i = 0; i < p->n && p->facts[i].for_terminals; i++) {
        fprintf(out, "%-10s ", p->facts[i].name);
        tool_put_escaped(out, p->facts[i].text, strlen(p->facts[i].text), 0);
        fputc('\n', out);
    }
}

json_t *cli_provenance_json(const cli_provenance *p)
{
    tool_json_entry entries[CLI_MOST_FACTS];
    for (size_t i = 0; i < p->n; i++)
        entries[i] = (tool_json_entry){p->facts[i].name, tool_json_text(p->facts[i].text)};
    return tool_json_object(entries, p->n);
}
