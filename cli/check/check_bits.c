/* SPDX-License-Identifier: MIT */
/*
 * L1: the logits of a row depend on its tokens alone. One row at a time, with one thread, on the instruction set in use
 * gives the expected logits. Passes of other sizes, with other threads and on every instruction set of this machine
 * must give the same bits.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

enum { MOST_TOKENS = 96, FEWEST_TOKENS = 6 };

typedef struct bits {
    cli_check *check;
    cli_finding *finding;
    int32_t tokens[MOST_TOKENS], n;
    int64_t n_vocab;
    float *expected, *got; /* [n][n_vocab] */
    cli_oracle silent;
    int n_cases; /* tried on the current instruction set */
} bits;

/* A session that only reads, in passes of at most `rows` rows. Its silent drafter reserves logits of every row. */
static vouch_status reader_open(bits *b, vouch_session **out, const vouch_model *model, int32_t rows, int32_t n_threads,
                                vouch_error *err)
{
    vouch_session_options options = b->check->engine->options->session;
    options.n_ctx = MOST_TOKENS + VOUCH_MAX_DRAFT + 2;
    options.n_threads = n_threads;
    options.prefill_chunk = rows;
    options.speculation.drafters = VOUCH_DRAFTER_CUSTOM;
    options.speculation.custom = cli_oracle_drafter(&b->silent);
    options.speculation.n_draft = VOUCH_MAX_DRAFT; /* logits of VOUCH_MAX_DRAFT + 1 rows */
    return vouch_session_open(out, model, &options, err);
}

/* Logits of the first n tokens, from passes of `rows` rows. */
static vouch_status rows_read(bits *b, const vouch_model *model, int32_t n, int32_t rows, int32_t n_threads, float *out,
                              vouch_error *err)
{
    vouch_session *session = NULL;
    vouch_status status = reader_open(b, &session, model, rows, n_threads, err);
    if (!status) status = cli_session_prompt(session, b->tokens, (size_t)n, err);
    if (!status) status = vouch_session_logits(session, 0, n, out, err);
    vouch_session_close(session);
    cli_check_report(b->check);
    return status;
}

static vouch_status rows_compare(bits *b, const vouch_model *model, int32_t n, int32_t rows, int32_t n_threads,
                                 vouch_error *err)
{
    const vouch_status status = rows_read(b, model, n, rows, n_threads, b->got, err);
    if (status) return status;
    b->n_cases++;
    for (int64_t i = 0; i < n; i++) {
        const size_t size = (size_t)b->n_vocab * sizeof *b->got;
        const bool same = memcmp(b->got + i * b->n_vocab, b->expected + i * b->n_vocab, size) == 0;
        cli_finding_compare(b->finding, same, "row %d of a pass of %d rows, %d threads, %s", (int)(i % rows), rows,
                            n_threads, vouch_model_get_info(model)->cpu);
    }
    return VOUCH_OK;
}

/* *n: rows that passes of one row compute in `seconds`, at least FEWEST_TOKENS and at most b->n. */
static vouch_status rows_that_fit(bits *b, const vouch_model *model, double seconds, int32_t *n, vouch_error *err)
{
    vouch_session *session = NULL;
    double pass = 0;
    vouch_status status = reader_open(b, &session, model, 1, 1, err);
    if (!status) status = cli_session_prompt(session, b->tokens, 2, err);
    if (!status) status = vouch_session_time_pass(session, 1, 1, &pass, err);
    vouch_session_close(session);
    const double fit = seconds / (pass > 0 ? pass : 1e-9);
    *n = fit < FEWEST_TOKENS ? FEWEST_TOKENS : fit < b->n ? (int32_t)fit : b->n;
    return status;
}

static const int32_t rows[] = {5, 64, 2, 16, 3, 8, 17, 4, 33, 1};
enum { N_ROWS = sizeof rows / sizeof *rows, MOST_ROWS = 64, FEW_THREADS = 3 };

/* The number of different thread counts tried: 1, 2, 3, and all processors if there are more than 3. */
static int32_t thread_cases(void)
{
    return vouch_cpu_count() > FEW_THREADS ? FEW_THREADS + 1 : FEW_THREADS;
}

/* Tries the cases of one instruction set until its time is over, but at least the first. */
static vouch_status model_compare(bits *b, const vouch_model *model, int32_t n, double deadline, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    b->n_cases = 0;
    for (int32_t t = 1; t <= thread_cases(); t++)
        for (size_t r = 0; r < N_ROWS && !status; r++) {
            if ((t > 1 || r > 0) && (!cli_check_goes_on(b->check) || tool_now() > deadline)) return VOUCH_OK;
            status = rows_compare(b, model, n, rows[r], t > FEW_THREADS ? vouch_cpu_count() : t, err);
        }
    return status;
}

static vouch_status cpu_compare(bits *b, const char *cpu, int32_t n, double deadline, vouch_error *err)
{
    const cli_options *o = b->check->engine->options;
    vouch_model_options options = vouch_model_options_default();
    vouch_model *model = NULL;
    int32_t fitting = n;
    options.cpu = cpu;
    options.n_threads = o->session.n_threads;
    vouch_status status = vouch_model_open(&model, o->model, &options, err);
    if (!status) status = rows_that_fit(b, model, (deadline - tool_now()) / 4, &fitting, err);
    if (!status) status = model_compare(b, model, fitting < n ? fitting : n, deadline, err);
    vouch_model_close(model);
    return status;
}

/* The instruction set in use gets half of the time, the others share the rest, the widest first. */
static vouch_status all_compare(bits *b, vouch_error *err)
{
    const vouch_model *model = b->check->engine->model;
    const char *own = vouch_model_get_info(model)->cpu;
    char *covered = b->finding->covered;
    const size_t size = sizeof b->finding->covered;
    size_t n_cpus = 0;
    int32_t n = b->n;
    vouch_status status = rows_that_fit(b, model, (b->check->deadline - tool_now()) / 16, &n, err);
    if (!status) status = rows_read(b, model, n, 1, 1, b->expected, err);
    if (!status) status = model_compare(b, model, n, (tool_now() + b->check->deadline) / 2, err);
    const int32_t all = N_ROWS * thread_cases();
    snprintf(covered, size, "passes tried, of %d with 1 to %d rows and 1 to %d threads: %s %d", all, MOST_ROWS,
             thread_cases() > FEW_THREADS ? vouch_cpu_count() : FEW_THREADS, own, b->n_cases);
    while (vouch_cpu_name(n_cpus)) n_cpus++;
    for (size_t i = n_cpus; i-- > 0 && !status;) {
        const char *cpu = vouch_cpu_name(i);
        const double now = tool_now();
        if (strcmp(cpu, own) == 0) continue;
        status = cpu_compare(b, cpu, n, now + (b->check->deadline - now) / (double)(i + 1), err);
        snprintf(covered + strlen(covered), size - strlen(covered), ", %s %d", cpu, b->n_cases);
    }
    return status;
}

double cli_check_bits_rows(const cli_check *check)
{
    const int32_t given = check->engine->options->session.n_threads;
    return FEWEST_TOKENS * (2.0 + (given ? given : vouch_cpu_count())); /* the expected logits take a single thread */
}

vouch_status cli_check_bits(cli_check *check, cli_finding *finding, vouch_error *err)
{
    bits b = {.check = check,
              .finding = finding,
              .n_vocab = vouch_model_get_info(check->engine->model)->n_vocab,
              .silent = {.mode = CLI_ORACLE_SILENT}};
    for (int i = 0; i < CLI_PROBE_TEXTS && b.n < MOST_TOKENS - 2; i++)
        b.n += cli_probe_text(check->engine->model, i, b.tokens + b.n, MOST_TOKENS - b.n);
    b.expected = calloc((size_t)b.n * (size_t)b.n_vocab, sizeof *b.expected);
    b.got = calloc((size_t)b.n * (size_t)b.n_vocab, sizeof *b.got);
    vouch_status status = VOUCH_E_MEMORY;
    if (b.expected && b.got) status = all_compare(&b, err);
    else *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the logits to compare"};
    free(b.expected);
    free(b.got);
    return status;
}
