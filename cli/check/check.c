/* SPDX-License-Identifier: MIT */
#include "check/check.h"

#include <math.h>
#include <string.h>

#include "check/server/server.h"
#include "cli.h"
#include "tool/file.h"
#include "tool/json.h"
#include "report/provenance.h"
#include "report/sheet.h"

typedef struct law {
    const char *law, *name;
    double share; /* of the time */
    vouch_status (*check)(cli_check *check, cli_finding *finding, vouch_error *err);
    double (*least_rows)(const cli_check *check);
    unsigned bit; /* of cli_check_options.laws */
} law;

static const law laws[] = {
    {"L1", "same bits", 0.3, cli_check_bits, cli_check_bits_rows, CLI_LAW_L1},
    {"L2", "lossless, greedy", 0.3, cli_check_greedy, cli_check_greedy_rows, CLI_LAW_L2},
    {"L2", "lossless, sampled", 0.15, cli_check_sampled, cli_check_sampled_rows, CLI_LAW_L2},
    {"L3", "no trace", 0.1, cli_check_rollback, cli_check_rollback_rows, CLI_LAW_L3},
    {"L4", "never slower", 0.15, cli_check_speed, cli_check_speed_rows, CLI_LAW_L4},
};
enum { N_LAWS = sizeof laws / sizeof *laws };

/* ---------------------------------------------------------------------- time */

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

/* ------------------------------------------------------------------- verdict */

static vouch_status check_print(const cli_check *c, const cli_finding *findings, vouch_error *err)
{
    char broken[CLI_BROKEN_SIZE];
    cli_provenance provenance;
    cli_sheet sheet;
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory"};
    if (!cli_sheet_open(&sheet)) return err->code;
    const bool ok = cli_provenance_of(&provenance, c->engine);
    if (ok) cli_provenance_print(sheet.out, &provenance);
    cli_provenance_free(&provenance);
    if (!ok) {
        cli_sheet_drop(&sheet);
        return err->code;
    }
    fputc('\n', sheet.out);
    for (size_t i = 0; i < N_LAWS; i++) cli_finding_put(&findings[i], sheet.out);
    if (cli_findings_broken(findings, N_LAWS, broken) > 0)
        fprintf(sheet.out, "\nBroken here: %s. Please report this.\n", broken);
    else fprintf(sheet.out, "\nEvery law that was tried holds here.\n");
    return cli_sheet_print(&sheet, err);
}

static int check_write_json(const cli_check *c, const cli_finding *findings)
{
    const cli_options *o = c->engine->options;
    json_t *array = json_array();
    vouch_error err;
    for (size_t i = 0; i < N_LAWS; i++) json_array_append_new(array, cli_finding_json(&findings[i]));
    const tool_json_entry entries[] = {{"model", tool_json_text(o->model)},
                                       {"cpu", json_string(vouch_model_get_info(c->engine->model)->cpu)},
                                       {"seconds", json_real(tool_now() - c->start)},
                                       {"interrupted", json_boolean(c->interrupted)},
                                       {"laws", array}};
    json_t *object = tool_json_object(entries, sizeof entries / sizeof *entries);
    const vouch_status status = tool_file_write_json(o->json, object, &err);
    json_decref(object);
    return status ? cli_flag_fail("json", &err) : CLI_DONE;
}

/* ------------------------------------------------------------------- command */

/* Times a pass of one row. Chooses lengths of prompts and answers with which the first cases end in about the given
 * time, unless even the least lengths take longer. */
static vouch_status lengths_choose(cli_check *c, vouch_error *err)
{
    enum { LEAST_PROMPT = 8, LEAST_ANSWER = 6 };
    vouch_session_options options = c->engine->options->session;
    vouch_session *session = NULL;
    int32_t tokens[2];
    options.n_ctx = 8;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    cli_probe_text(c->engine->model, 0, tokens, 2);
    vouch_status status = vouch_session_open(&session, c->engine->model, &options, err);
    if (!status) status = cli_session_prompt(session, tokens, 2, err);
    if (!status) status = vouch_session_time_pass(session, 1, 1, &c->row_seconds, err);
    vouch_session_close(session);
    const double passes = c->seconds / fmax(c->row_seconds, 1e-9), prompt = passes / 50, answer = passes / 70;
    c->n_prompt = prompt < LEAST_PROMPT ? LEAST_PROMPT : prompt < CLI_PROBE_TOKENS ? (int32_t)prompt : CLI_PROBE_TOKENS;
    c->n_answer = answer < LEAST_ANSWER ? LEAST_ANSWER : answer < CLI_CHECK_ANSWER ? (int32_t)answer : CLI_CHECK_ANSWER;
    return status;
}

static bool is_wanted(const cli_check *c, size_t i)
{
    return c->engine->options->check.laws == 0 || (c->engine->options->check.laws & laws[i].bit);
}

static double least_seconds(const cli_check *c, size_t i)
{
    return is_wanted(c, i) ? laws[i].least_rows(c) * c->row_seconds : 0;
}

/* A law that Ctrl-C cut short can be found broken, but doesn't count as holding. CANCELLED: before any comparison. */
static vouch_status laws_check(cli_check *c, cli_finding *findings, vouch_error *err)
{
    vouch_status status = lengths_choose(c, err);
    int64_t n_compared = 0;
    double shares = 0; /* of the laws to come */
    for (size_t i = 0; i < N_LAWS; i++) {
        shares += is_wanted(c, i) ? laws[i].share : 0;
        c->later_seconds += least_seconds(c, i);
    }
    for (size_t i = 0; i < N_LAWS; i++) {
        const double now = tool_now(), left = c->start + c->seconds - now;
        cli_finding *f = &findings[i];
        *f = (cli_finding){.law = laws[i].law, .name = laws[i].name, .covered = "not asked for"};
        if (!is_wanted(c, i)) continue;
        c->deadline = now + left * laws[i].share / shares;
        shares -= laws[i].share;
        c->law_end = now + least_seconds(c, i);
        c->later_seconds -= least_seconds(c, i);
        f->covered[0] = 0;
        if (!status) status = laws[i].check(c, f, err);
        if (status == VOUCH_E_CANCELLED) snprintf(f->covered, sizeof f->covered, "interrupted");
        if (status && f->n_broken == 0) f->n_compared = 0;
        n_compared += f->n_compared;
    }
    c->interrupted = status == VOUCH_E_CANCELLED && n_compared > 0;
    return c->interrupted ? VOUCH_OK : status;
}

static int models_check(const cli_options *options)
{
    cli_engine engine = {0};
    cli_check c = {.engine = &engine, .progress = {.label = "checking"}, .seconds = options->check.seconds};
    cli_finding findings[N_LAWS];
    char broken[CLI_BROKEN_SIZE];
    vouch_error err;
    if (options->json && tool_file_check(options->json, &err)) return cli_flag_refuse("json", &err);
    int status = cli_engine_open(&engine, options);
    if (!status) {
        c.start = tool_now();
        tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
        vouch_status checked = laws_check(&c, findings, &err);
        tool_interrupt_set(TOOL_INTERRUPT_ENDS);
        tool_progress_end(&c.progress);
        const bool has_findings = checked == VOUCH_OK;
        if (!checked) checked = check_print(&c, findings, &err);
        if (checked) status = cli_engine_fail(&err);
        if (has_findings && options->json) status = cli_first_failure(status, check_write_json(&c, findings));
    }
    if (!status && cli_findings_broken(findings, N_LAWS, broken) > 0) status = CLI_FAILED;
    if (c.interrupted) {
        tool_complain("interrupted: the report covers what was tried by then");
        status = CLI_FAILED;
    }
    cli_engine_close(&engine);
    return status;
}

bool cli_check_check(cli_options *options, cli_given given)
{
    if (options->check.system) return cli_given_stands_alone(given, "system");
    if (options->check.vectors) return cli_given_stands_alone(given, "vectors");
    if (options->check.new_vectors) return cli_given_stands_alone(given, "write-vectors");
    return cli_check_server_flags(options, given);
}

int cli_check_run(const cli_options *options)
{
    if (options->check.server.address) return cli_check_server(options);
    if (options->check.new_vectors) return cli_check_write_vectors(options);
    return options->check.system || options->check.vectors ? cli_check_system(options) : models_check(options);
}
