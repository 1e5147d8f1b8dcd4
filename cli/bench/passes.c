/* SPDX-License-Identifier: MIT */
/*
 * vouch bench without prompts: what passes of a model cost on this machine, t(n), which decides
 * what speculation is worth.
 *
 *   for each of --reps rounds
 *       a pass of n rows behind --depth tokens, for each n of --rows
 *       --decode plain steps from there on, where asked for
 *   before that, --reps times: a prompt of --prefill tokens from nothing, where asked for
 *
 * All of a round meet the machine in the same state, so that ratios hold where its speed wanders. Each figure
 * is the median over the rounds and the least; a round before them is not counted.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "common/statistics.h"
#include "common/file.h"
#include "common/probe.h"
#include "common/sheet.h"
#include "common/text.h"

/* One measurement: the seconds of each round. */
typedef struct series {
    double *seconds; /* [n_reps] */
    double median, least;
} series;

typedef struct bench {
    const cli_options *options;
    vouch_session *session;
    int32_t n_vocab;
    int32_t *tokens; /* of the prompt in hand */
    series passes[CLI_MOST_INTS], prefill, decode;
    int32_t n_rounds; /* complete, of --reps */
    cli_progress progress;
} bench;

/* ------------------------------------------------------------- measurements */

/* Makes the sequence n tokens that mean nothing. All but the last are run, what the cache has of them
 * excepted; it has nothing of them where `variant` is another than before. */
static vouch_status prompt_run(bench *b, int32_t n, int32_t variant, vouch_error *err)
{
    for (int32_t i = 0; i < n; i++) b->tokens[i] = (int32_t)(((int64_t)i * 7919 + variant) % b->n_vocab);
    return cli_session_prompt(b->session, b->tokens, (size_t)n, err);
}

static vouch_status prefill_measure(bench *b, int32_t round, vouch_error *err)
{
    const int32_t n = b->options->n_prefill;
    const double start = cli_now();
    const vouch_status status = prompt_run(b, n + 1, round + 2, err);
    if (round >= 0) b->prefill.seconds[round] = cli_now() - start;
    return status;
}

static vouch_status decode_measure(bench *b, int32_t round, vouch_error *err)
{
    vouch_step step;
    vouch_status status = VOUCH_OK;
    const double start = cli_now();
    for (int32_t i = 0; i < b->options->n_decode && !status; i++)
        status = cli_session_step(b->session, &step, err);
    if (round >= 0) b->decode.seconds[round] = cli_now() - start;
    return status ? status : prompt_run(b, b->options->depth + 1, 0, err);
}

/* Down after a prompt, then up and down by turns (costs.h says why). */
static vouch_status passes_measure(bench *b, int32_t round, vouch_error *err)
{
    const cli_ints *rows = &b->options->rows;
    for (size_t step = 0; step < rows->n; step++) {
        const size_t i = round % 2 != 0 ? rows->n - 1 - step : step;
        double seconds;
        if (cli_interrupted()) return err->code = VOUCH_E_CANCELLED;
        const vouch_status status = vouch_session_time_pass(b->session, rows->items[i], 1, &seconds, err);
        if (status) return status;
        if (round >= 0) b->passes[i].seconds[round] = seconds;
    }
    return VOUCH_OK;
}

static vouch_status all_measure(bench *b, vouch_error *err)
{
    const cli_options *o = b->options;
    const double n_rounds = o->n_reps + 1;
    vouch_status status = VOUCH_OK;
    b->progress = (cli_progress){.label = "reading prompts"};
    for (int32_t round = -1; o->n_prefill > 0 && round < o->n_reps && !status; round++) {
        status = prefill_measure(b, round, err);
        cli_progress_report(&b->progress, (round + 2) / n_rounds);
    }
    cli_progress_end(&b->progress);
    b->progress = (cli_progress){.label = "filling the cache"};
    if (!status) vouch_session_set_progress(b->session, cli_progress_report, &b->progress);
    if (!status) status = prompt_run(b, o->depth + 1, 0, err);
    vouch_session_set_progress(b->session, NULL, NULL);
    cli_progress_end(&b->progress);
    b->progress = (cli_progress){.label = "timing passes"};
    for (int32_t round = -1; round < o->n_reps && !status; round++) {
        status = passes_measure(b, round, err);
        if (!status && o->n_decode > 0) status = decode_measure(b, round, err);
        if (!status) b->n_rounds = round + 1;
        cli_progress_report(&b->progress, (round + 2) / n_rounds);
    }
    cli_progress_end(&b->progress);
    return status;
}

static void series_sum_up(series *s, int32_t n)
{
    s->median = cli_quantile(s->seconds, (size_t)n, 0.5);
    s->least = s->seconds[0];
}

/* ------------------------------------------------------------------- output */

static void table_write(FILE *out, const bench *b, const cli_engine *engine)
{
    char kv_type[32];
    const cli_options *o = b->options;
    const vouch_model_info *info = vouch_model_get_info(engine->model);
    cli_put_escaped(out, o->model, strlen(o->model), 0);
    fprintf(out, ": %s\n%s, %d threads, cache in %s; passes behind %d tokens, medians of %d%s\n\n",
            info->weight_types, info->cpu, o->session.n_threads ? o->session.n_threads : vouch_cpu_count(),
            cli_choice_word(CLI_KV_TYPES, o->session.kv_type, kv_type), o->depth, b->n_rounds,
            b->n_rounds < o->n_reps ? ": interrupted" : "");
    fprintf(out, "%6s %12s %12s %10s %12s\n", "rows", "median ms", "least ms", "to 1 row", "tokens/s");
    for (size_t i = 0; i < o->rows.n; i++) {
        const series *s = &b->passes[i];
        fprintf(out, "%6d %12.3f %12.3f ", o->rows.items[i], s->median * 1e3, s->least * 1e3);
        if (o->rows.items[0] == 1) fprintf(out, "%10.3f", s->median / b->passes[0].median);
        else fprintf(out, "%10s", "-");
        fprintf(out, " %12.1f\n", o->rows.items[i] / s->median);
    }
    const struct {
        const char *label;
        int32_t n;
        const series *series;
    } others[] = {{"prefill", o->n_prefill, &b->prefill}, {"decode", o->n_decode, &b->decode}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].n > 0)
            fprintf(out, "%s of %d tokens: %.1f ms, least %.1f ms; %.1f tokens/s\n", others[i].label,
                    others[i].n, others[i].series->median * 1e3, others[i].series->least * 1e3,
                    others[i].n / others[i].series->median);
}

static int table_print(const bench *b, const cli_engine *engine)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_engine_fail(&err);
    table_write(sheet.out, b, engine);
    return cli_sheet_print(&sheet, &err) ? cli_engine_fail(&err) : CLI_DONE;
}

/* {KEY: n, "seconds_median": ..., "seconds_min": ...} */
static json_t *series_json(const char *key, int32_t n, const series *s)
{
    return json_pack("{s:i, s:f, s:f}", key, n, "seconds_median", s->median, "seconds_min", s->least);
}

static json_t *report_json(const bench *b, const cli_engine *engine)
{
    char kv_type[32];
    const cli_options *o = b->options;
    const vouch_model_info *info = vouch_model_get_info(engine->model);
    size_t n;
    char *path = cli_utf8_repair(o->model, strlen(o->model), &n);
    json_t *passes = json_array();
    for (size_t i = 0; i < o->rows.n; i++)
        if (json_array_append_new(passes, series_json("rows", o->rows.items[i], &b->passes[i]))) {
            json_decref(passes);
            passes = NULL;
        }
    json_t *object =
        json_pack("{s:s%, s:s, s:s, s:s, s:i, s:s, s:i, s:i, s:b, s:f, s:o, s:o*, s:o*}", "model", path, n,
                  "architecture", info->architecture, "weights", info->weight_types, "cpu", info->cpu,
                  "threads", o->session.n_threads ? o->session.n_threads : vouch_cpu_count(), "kv_type",
                  cli_choice_word(CLI_KV_TYPES, o->session.kv_type, kv_type), "depth", o->depth, "reps",
                  b->n_rounds, "interrupted", b->n_rounds < o->n_reps, "load_seconds", engine->load_seconds,
                  "passes", passes, "prefill",
                  o->n_prefill ? series_json("tokens", o->n_prefill, &b->prefill) : NULL, "decode",
                  o->n_decode ? series_json("tokens", o->n_decode, &b->decode) : NULL);
    free(path);
    return object;
}

/* ------------------------------------------------------------------ command */

static int bench_report(bench *b, const cli_engine *engine)
{
    const cli_options *o = b->options;
    for (size_t i = 0; i < o->rows.n; i++) series_sum_up(&b->passes[i], b->n_rounds);
    series_sum_up(&b->prefill, o->n_reps);
    series_sum_up(&b->decode, b->n_rounds);
    const int status = table_print(b, engine);
    if (status || !o->json) return status;
    json_t *object = report_json(b, engine);
    vouch_error err;
    const vouch_status written = cli_file_write_json(o->json, object, &err);
    json_decref(object);
    return written ? cli_flag_fail("json", &err) : CLI_DONE;
}

/* What there is when Ctrl-C comes is reported. */
static int bench_measure(bench *b, const cli_engine *engine)
{
    vouch_error err;
    cli_interrupt_set(CLI_INTERRUPT_CANCELS);
    const vouch_status status = all_measure(b, &err);
    cli_interrupt_set(CLI_INTERRUPT_ENDS);
    if (status && (status != VOUCH_E_CANCELLED || b->n_rounds == 0)) return cli_engine_fail(&err);
    const int reported = bench_report(b, engine);
    if (!status) return reported;
    cli_complain("interrupted: %d of %d rounds are complete and reported", b->n_rounds, b->options->n_reps);
    return CLI_FAILED;
}

static int passes_run(cli_engine *engine)
{
    const cli_options *o = engine->options;
    const size_t n_reps = (size_t)o->n_reps;
    const int32_t room = cli_bench_room(o), most_rows = o->rows.items[o->rows.n - 1];
    cli_oracle silent = {.mode = CLI_ORACLE_SILENT};
    vouch_session_options session = o->session;
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    if (session.n_ctx == 0) session.n_ctx = room;
    session.max_tokens = 0;
    session.ignore_eos = true;
    session.speculation.drafters = VOUCH_DRAFTER_CUSTOM;
    session.speculation.custom = cli_oracle_drafter(&silent); /* so that there is room for so many rows */
    session.speculation.n_draft = most_rows > 1 ? most_rows - 1 : 1;
    int status = cli_engine_start(engine, &session);
    if (status) return status;

    bench b = {
        .options = o, .session = engine->session, .n_vocab = vouch_model_get_info(engine->model)->n_vocab};
    double *seconds = calloc((o->rows.n + 2) * n_reps, sizeof *seconds);
    b.tokens = calloc((size_t)room, sizeof *b.tokens);
    if (seconds && b.tokens) {
        for (size_t i = 0; i < o->rows.n; i++) b.passes[i].seconds = seconds + i * n_reps;
        b.prefill.seconds = seconds + o->rows.n * n_reps;
        b.decode.seconds = seconds + (o->rows.n + 1) * n_reps;
        status = bench_measure(&b, engine);
    } else {
        status = cli_engine_fail(&err);
    }
    free(b.tokens);
    free(seconds);
    return status;
}

int cli_bench_passes(const cli_options *options)
{
    cli_engine engine = {0};
    int status = cli_engine_open(&engine, options);
    if (!status) status = passes_run(&engine);
    cli_engine_close(&engine);
    return status;
}
