/* SPDX-License-Identifier: MIT */
/* Splits the time among the laws of a server, runs them, and ends with a report and an exit status. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/server/ask.h"
#include "check/server/report.h"
#include "check/server/server.h"
#include "cli.h"
#include "os/os.h"
#include "tool/file.h"
#include "tool/memory.h"

typedef struct law_row {
    const char *law, *name;
    double share; /* of the time */
    ask_law_fn *run;
    bool speculates; /* holds only where the server drafted */
    unsigned bit;    /* of cli_check_options.laws */
} law_row;

static const law_row rows[] = {
    {"L1", "log probabilities", 0.1, ask_law_values, true, CLI_LAW_L1},
    {"L2", "lossless, greedy", 0.2, ask_law_greedy, true, CLI_LAW_L2},
    {"L2", "lossless, sampled", 0.35, ask_law_sampled, false, CLI_LAW_L2},
    {"L7", "alone or beside", 0.1, ask_law_beside, false, CLI_LAW_L7},
    {"L7", "prefix cache", 0.1, ask_law_prefix, false, CLI_LAW_L7},
    {"S1", "streams", 0.1, ask_law_streams, false, CLI_LAW_S1},
    {"S2", "seeds", 0.05, ask_law_seeds, false, CLI_LAW_S2},
};
enum { N_ROWS = sizeof rows / sizeof *rows };
_Static_assert((int)N_ROWS == (int)ASK_LAWS, "the report has a finding for each law");

static bool is_wanted(const ask_check *c, size_t i)
{
    return c->options->check.laws == 0 || (c->options->check.laws & rows[i].bit);
}

bool ask_goes_on(const ask_check *c, const ask_law *law)
{
    return !c->is_gone && tool_now() < c->deadline && json_array_size(law->failures) < ASK_MOST_FAILURES;
}

bool ask_first_api(const ask_server *s)
{
    return !s->has[0];
}

static bool on_tick(void *user)
{
    ask_check *c = user;
    tool_progress_report(&c->progress, fmin(1, (tool_now() - c->start) / fmax(c->options->check.seconds, 1e-3)));
    return !tool_interrupted();
}

/* A law whose speculation drafted nothing says nothing of speculation. */
static void drafts_require(const ask_check *c, ask_law *law)
{
    cli_finding *f = &law->finding;
    if (!c->server.tells_guesses || c->n_drafted > 0 || f->n_broken > 0 || f->n_compared == 0) return;
    f->n_compared = 0;
    snprintf(f->covered, sizeof f->covered,
             "the server drafted nothing in these requests, so speculation wasn't tried");
}

/* CANCELLED: as the others, with what was tried by then. */
static vouch_status laws_run(ask_check *c, ask_law *laws, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    double shares = 0; /* of the laws to come */
    for (size_t i = 0; i < N_ROWS; i++) shares += is_wanted(c, i) ? rows[i].share : 0;
    for (size_t i = 0; i < N_ROWS; i++) {
        cli_finding *f = &laws[i].finding;
        const double now = tool_now(), left = c->start + c->options->check.seconds - now;
        const int64_t n_drafted = c->n_drafted;
        *f = (cli_finding){.law = rows[i].law, .name = rows[i].name, .covered = "not asked for"};
        laws[i].failures = json_array();
        if (!is_wanted(c, i)) continue;
        c->deadline = now + left * rows[i].share / shares;
        shares -= rows[i].share;
        snprintf(f->covered, sizeof f->covered, "%s",
                 c->is_gone ? "the server doesn't answer any more" : "interrupted");
        if (status || c->is_gone) continue;
        f->covered[0] = '\0';
        c->n_drafted = 0;
        status = rows[i].run(c, &laws[i], err);
        if (rows[i].speculates) drafts_require(c, &laws[i]);
        if (c->is_gone && f->n_compared == 0) snprintf(f->covered, sizeof f->covered, "the server stopped to answer");
        c->n_drafted += n_drafted;
        if (status && f->n_broken == 0) f->n_compared = 0;
        if (status == VOUCH_E_CANCELLED) snprintf(f->covered, sizeof f->covered, "interrupted");
    }
    return status;
}

/* ------------------------------------------------------------------------ address */

/* The address without slashes and "/v1" at its end. False: it is none of a server. */
static bool address_take(const char *text, char base[ASK_MOST_ADDRESS])
{
    const char *host = strncmp(text, "http://", 7) == 0    ? text + 7
                       : strncmp(text, "https://", 8) == 0 ? text + 8
                                                           : NULL;
    size_t n = strlen(text);
    if (!host || !*host || *host == '/' || n >= ASK_MOST_ADDRESS - 1) return false;
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at <= ' ' || (unsigned char)*at > '~' || strchr("'\"\\`$<>?#@", *at)) return false;
    while (n > 0 && text[n - 1] == '/') n--;
    if (n > 3 && strncmp(text + n - 3, "/v1", 3) == 0) n -= 3;
    while (n > 0 && text[n - 1] == '/') n--;
    snprintf(base, ASK_MOST_ADDRESS, "%.*s", (int)n, text);
    return text + n > host;
}

/* The flags that need --server, and those that may stand beside it. */
static const char *const server_flags[] = {"plain-server", "api-key", "server-model", "timeout", "seed", "tolerance"};
static const char *const other_flags[] = {"server", "seconds", "law", "json"};
enum { N_SERVER_FLAGS = sizeof server_flags / sizeof *server_flags };
enum { N_OTHER_FLAGS = sizeof other_flags / sizeof *other_flags };

static bool is_listed(const char *name, const char *const *names, size_t n)
{
    while (n > 0 && strcmp(name, names[n - 1]) != 0) n--;
    return n > 0;
}

/* Whether a text can stand in a header: a line end would begin another one. */
static bool is_header(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) return false;
    return true;
}

bool cli_check_server_flags(const cli_options *options, cli_given given)
{
    char base[ASK_MOST_ADDRESS], plain[ASK_MOST_ADDRESS];
    const cli_check_server_options *s = &options->check.server;
    if (!s->address) {
        for (size_t i = 0; i < N_SERVER_FLAGS; i++) {
            if (!cli_given_find(given, server_flags[i])) continue;
            tool_complain("--%s belongs to --server URL, which is missing", server_flags[i]);
            return false;
        }
        if (!(options->check.laws & ~(unsigned)CLI_LAWS_OF_MODELS)) return true;
        tool_complain("--law: L7, S1 and S2 are asked of a server; expected --server URL, or laws of L1 to L4");
        return false;
    }
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        const char *name = cli_flag_at(i)->name;
        if (!given[i] || is_listed(name, server_flags, N_SERVER_FLAGS) || is_listed(name, other_flags, N_OTHER_FLAGS))
            continue;
        if (*name) tool_complain("--server and --%s exclude each other: the server has its own", name);
        else
            tool_complain("--server takes no model file; leave out '%s', or name a model with --server-model",
                          given[i]);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        const char *address = i ? s->plain_address : s->address;
        if (!address || address_take(address, base)) continue;
        const char *flag = i ? "plain-server" : "server";
        if (strchr(address, '@'))
            tool_complain("--%s: expected an address without a user or a password, since the report shows it; "
                          "--api-key takes a key",
                          flag);
        else tool_complain("--%s '%s': expected an address such as http://127.0.0.1:8080", flag, address);
        return false;
    }
    if (s->plain_address && address_take(s->address, plain) && strcmp(plain, base) == 0) {
        tool_complain("--plain-server '%s' is --server itself: expected one without speculation", s->plain_address);
        return false;
    }
    if (s->key && !is_header(s->key)) {
        tool_complain("--api-key: expected a key without control characters");
        return false;
    }
    if (options->check.laws & ~(unsigned)CLI_LAWS_OF_SERVERS) {
        tool_complain("--law: L3 and L4 can't be seen from outside a server; expected L1, L2, L7, S1 or S2");
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------ command */

static int findings_deliver(const ask_check *c, const ask_law *laws, bool is_interrupted)
{
    char broken[CLI_BROKEN_SIZE];
    cli_finding findings[N_ROWS];
    vouch_error err;
    int status = CLI_DONE;
    for (size_t i = 0; i < N_ROWS; i++) findings[i] = laws[i].finding;
    if (ask_report_print(c, laws, is_interrupted, &err)) status = cli_engine_fail(&err);
    if (c->options->json && ask_report_write(c, laws, is_interrupted, &err))
        status = cli_first_failure(status, cli_flag_fail("json", &err));
    if (!status && (cli_findings_broken(findings, N_ROWS, broken) > 0 || c->is_gone)) status = CLI_FAILED;
    if (!is_interrupted) return status;
    tool_complain("interrupted: the report covers what was tried by then");
    return CLI_FAILED;
}

int cli_check_server(const cli_options *options)
{
    const cli_check_server_options *o = &options->check.server;
    ask_check c = {.options = options, .progress = {.label = "checking"}, .start = tool_now(), .state = o->seed};
    ask_law laws[N_ROWS] = {{.failures = NULL}};
    vouch_error err;
    if (options->json && tool_file_check(options->json, &err)) return cli_flag_refuse("json", &err);
    address_take(o->address, c.server.base);
    if (o->plain_address) address_take(o->plain_address, c.server.plain_base);
    c.key = o->key ? o->key : getenv("OPENAI_API_KEY");
    if (c.key && !is_header(c.key)) {
        tool_complain("the variable OPENAI_API_KEY: expected a key without control characters");
        return CLI_WRONG_USAGE;
    }
    if (o->seed == 0) vouch_os_random(&c.state, sizeof c.state);
    tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
    vouch_status status = ask_client_open(&c.client, c.key, o->timeout, on_tick, &c, &err);
    if (!status) status = ask_know(&c, &err);
    const bool is_known = !status;
    c.tolerance = o->tolerance >= 0 ? o->tolerance : c.server.kind == ASK_VOUCH ? 0 : 0.02;
    if (is_known) status = laws_run(&c, laws, &err);
    const bool is_interrupted = status == VOUCH_E_CANCELLED;
    tool_interrupt_set(TOOL_INTERRUPT_ENDS);
    tool_progress_end(&c.progress);
    if (!status && tool_memory_is_short()) {
        err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the answers of the server"};
        status = err.code;
    }
    const bool is_told = is_known && (!status || is_interrupted);
    const int code = is_told ? findings_deliver(&c, laws, is_interrupted) : cli_engine_fail(&err);
    for (size_t i = 0; i < N_ROWS; i++) json_decref(laws[i].failures);
    ask_know_free(&c.server);
    ask_client_close(c.client);
    return code;
}
