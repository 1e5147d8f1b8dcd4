/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bits/bits.h"
#include "check/check.h"
#include "cli.h"
#include "machine.h"
#include "report/sheet.h"
#include "tool/file.h"

enum { MOST_SHOWN = 8, MOST_KEPT = 100 };

typedef struct system_check {
    const char *vectors; /* the file to compare with; NULL: digests */
    cli_finding findings[BITS_PARTS];
    json_t *mismatches[BITS_PARTS]; /* at most MOST_KEPT texts each */
    json_t *digests;
    tool_progress progress;
    double start;
    bool interrupted;
} system_check;

static void on_compared(void *user, bits_part part, const char *mismatch)
{
    system_check *c = user;
    cli_finding_compare(&c->findings[part], !mismatch, "%s", mismatch ? mismatch : "");
    if (mismatch && json_array_size(c->mismatches[part]) < MOST_KEPT)
        json_array_append_new(c->mismatches[part], tool_json_text(mismatch));
}

static void on_found(void *user, const char *name, uint64_t digest)
{
    system_check *c = user;
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
    json_object_set_new(c->digests, name, json_string(text));
}

static bool on_progress(void *user, double share)
{
    system_check *c = user;
    tool_progress_report(&c->progress, share);
    return !tool_interrupted();
}

/* Vectors have neither a comparison of kernels with each other nor guesses. */
static bool is_shown(const system_check *c, int part)
{
    return !c->vectors || part == BITS_ORDER || part == BITS_MODELS;
}

/* The names of the tables from `first` on; table 0 is plain C. */
static void tables_list(size_t first, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = first; vouch_cpu_name(i) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > first ? ", " : "", vouch_cpu_name(i));
}

static void vectors_begin(cli_finding *findings)
{
    char tables[128];
    tables_list(0, tables, sizeof tables);
    snprintf(findings[BITS_ORDER].covered, sizeof findings->covered, "the vectors' operations on %s", tables);
    snprintf(findings[BITS_MODELS].covered, sizeof findings->covered, "logits of the vectors' models on %s", tables);
}

static void findings_begin(cli_finding *findings)
{
    static const char *const names[BITS_PARTS] = {"kernels", "float order", "tiny models", "with guesses"};
    static const char *const covered[BITS_PARTS] = {
        [BITS_ORDER] = "every operation in plain C, beside the digests of x86-64 Linux",
        [BITS_MODELS] = "logits, cache and tokens on every instruction set, beside the digests of x86-64 Linux",
        [BITS_DRAFTS] = "tokens and cache with guesses, beside those without",
    };
    char tables[128];
    for (int i = 0; i < BITS_PARTS; i++) {
        cli_finding *f = &findings[i];
        *f = (cli_finding){.law = i == BITS_DRAFTS ? "L2" : "L1", .name = names[i]};
        if (covered[i]) snprintf(f->covered, sizeof f->covered, "%s", covered[i]);
    }
    tables_list(1, tables, sizeof tables);
    char *text = findings[BITS_KERNELS].covered;
    const size_t size = sizeof findings[BITS_KERNELS].covered;
    if (*tables) snprintf(text, size, "every operation and type of weights, beside plain C: %s", tables);
    else snprintf(text, size, "plain C is all that this build can run on this processor");
}

/* What Ctrl-C cut short can be found broken, but doesn't count as holding. */
static void findings_cut(system_check *c)
{
    c->interrupted = true;
    for (int i = 0; i < BITS_PARTS; i++) {
        if (c->findings[i].n_broken > 0) continue;
        c->findings[i].n_compared = 0;
        snprintf(c->findings[i].covered, sizeof c->findings[i].covered, "interrupted");
    }
}

static vouch_status report_print(const system_check *c, vouch_error *err)
{
    char broken[CLI_BROKEN_SIZE];
    cli_sheet sheet;
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory"};
    if (!cli_sheet_open(&sheet)) return err->code;
    cli_machine_put(sheet.out, false);
    fputc('\n', sheet.out);
    for (int i = 0; i < BITS_PARTS; i++) {
        if (!is_shown(c, i)) continue;
        cli_finding_put(&c->findings[i], sheet.out);
        for (size_t k = 1; k < MOST_SHOWN && k < json_array_size(c->mismatches[i]); k++)
            cli_put_wrapped(json_string_value(json_array_get(c->mismatches[i], k)), sheet.out);
    }
    if (cli_findings_broken(c->findings, BITS_PARTS, broken) > 0)
        fprintf(sheet.out, "\nBroken here: %s. Please report this.\n", broken);
    else if (!c->interrupted && c->vectors)
        fprintf(sheet.out, "\nThis build gives the bits of these vectors%s.\n",
                c->findings[BITS_ORDER].n_compared == 0    ? ", which have no operations"
                : c->findings[BITS_MODELS].n_compared == 0 ? ", which have no models"
                                                           : "");
    else if (!c->interrupted) fprintf(sheet.out, "\nThis build gives the bits that vouch has on every system.\n");
    return cli_sheet_print(&sheet, err);
}

static int json_save(const system_check *c, const cli_options *options)
{
    json_t *array = json_array();
    vouch_error err;
    for (int i = 0; i < BITS_PARTS; i++) {
        if (!is_shown(c, i)) continue;
        json_t *finding = cli_finding_json(&c->findings[i]);
        json_object_set(finding, "mismatches", c->mismatches[i]);
        json_array_append_new(array, finding);
    }
    const tool_json_entry entries[] = {{"machine", cli_machine_json()},
                                       {"seconds", json_real(tool_now() - c->start)},
                                       {"interrupted", json_boolean(c->interrupted)},
                                       {"laws", array},
                                       c->vectors ? (tool_json_entry){"vectors", tool_json_text(c->vectors)}
                                                  : (tool_json_entry){"digests", json_incref(c->digests)}};
    json_t *object = tool_json_object(entries, sizeof entries / sizeof *entries);
    const vouch_status status = tool_file_write_json(options->json, object, &err);
    json_decref(object);
    return status ? cli_flag_fail("json", &err) : CLI_DONE;
}

int cli_check_system(const cli_options *options)
{
    system_check c = {.vectors = options->check.vectors,
                      .digests = json_object(),
                      .progress = {.label = "checking"},
                      .start = tool_now()};
    const bits_listener listener = {&c, on_compared, on_found, on_progress};
    char broken[CLI_BROKEN_SIZE];
    int status = CLI_DONE;
    vouch_error err;
    if (options->json && tool_file_check(options->json, &err)) return cli_flag_refuse("json", &err);
    for (int i = 0; i < BITS_PARTS; i++) c.mismatches[i] = json_array();
    findings_begin(c.findings);
    if (c.vectors) vectors_begin(c.findings);
    tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
    vouch_status checked = c.vectors ? bits_check_vectors(c.vectors, &listener, &err) : bits_check(&listener, &err);
    tool_interrupt_set(TOOL_INTERRUPT_ENDS);
    tool_progress_end(&c.progress);
    if (checked == VOUCH_E_CANCELLED) {
        findings_cut(&c);
        checked = VOUCH_OK;
    }
    const bool has_findings = checked == VOUCH_OK;
    if (checked) status = c.vectors ? cli_flag_refuse("vectors", &err) : cli_engine_fail(&err);
    else if (report_print(&c, &err)) status = cli_engine_fail(&err);
    if (has_findings && options->json) status = cli_first_failure(status, json_save(&c, options));
    if (!status && cli_findings_broken(c.findings, BITS_PARTS, broken) > 0) status = CLI_FAILED;
    if (c.interrupted) {
        tool_complain("interrupted: the report covers what was tried by then");
        status = CLI_FAILED;
    }
    for (int i = 0; i < BITS_PARTS; i++) json_decref(c.mismatches[i]);
    json_decref(c.digests);
    return status;
}
