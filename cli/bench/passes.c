/* SPDX-License-Identifier: MIT */
/*
 * vouch bench without prompts: the cost curve t(n), the time of a pass over n rows. It decides what speculation can
 * gain on this machine.
 *
 *   --reps times   a prompt of --prefill tokens into an empty cache, if asked for
 *   --reps times   a pass of n rows after --depth tokens, for each n of --rows
 *                  --decode plain steps from there on, if asked for
 *
 * All passes of a round meet the machine in the same state, so that their ratios hold while its speed drifts. Figures
 * are the median and the least over the rounds; a first round warms up and isn't counted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "tool/file.h"
#include "model/probe.h"
#include "report/rates.h"
#include "report/sheet.h"
#include "tool/statistics.h"
#include "tool/text.h"

/* The seconds of one kind of work in each round. */
typedef struct series {
    double *seconds; /* [n_reps] */
    double median, least;
} series;

typedef struct bench {
    const cli_options *options;
    const cli_provenance *provenance;
    vouch_session *session;
    int32_t n_vocab;
    int32_t *tokens; /* of the prompt to run */
    series passes[TOOL_MOST_INTS], prefill, decode;
    int32_t n_rounds; /* complete ones */
    tool_progress progress;
    double progress_done, progress_part; /* shares of the whole work: done before the running prompt; its own */
} bench;

/* ------------------------------------------------------------- measurements */

/* A vouch_progress_fn: progress of the prompt that is running. */
static void prompt_progress(void *user, double share)
{
    bench *b = user;
    tool_progress_report(&b->progress, b->progress_done + b->progress_part * share);
}

/* Sets the sequence to n arbitrary tokens and runs all but the last. Another `variant` has other tokens, so that
 * nothing of the cache can be reused. */
static vouch_status prompt_run(bench *b, int32_t n, int32_t variant, vouch_error *err)
{
    for (int32_t i = 0; i < n; i++) b->tokens[i] = (int32_t)(((int64_t)i * 7919 + variant) % b->n_vocab);
    return cli_session_prompt(b->session, b->tokens, (size_t)n, err);
}

static vouch_status prefill_measure(bench *b, int32_t round, vouch_error *err)
{
    const int32_t n = b->options->bench.n_prefill;
    const double start = tool_now();
    const vouch_status status = prompt_run(b, n + 1, round + 2, err);
    if (round >= 0) b->prefill.seconds[round] = tool_now() - start;
    return status;
}

static vouch_status decode_measure(bench *b, int32_t round, vouch_error *err)
{
    vouch_step step;
    vouch_status status = VOUCH_OK;
    const double start = tool_now();
    for (int32_t i = 0; i < b->options->bench.n_decode && !status; i++)
        status = cli_session_step(b->session, &step, err);
    if (round >= 0) b->decode.seconds[round] = tool_now() - start;
    return status ? status : prompt_run(b, b->options->bench.depth + 1, 0, err);
}

/* Round -1 follows a prompt and goes from the most rows to the fewest. Later rounds alternate: up, down, up, ...
 * (cost_curve.h says why). */
static vouch_status passes_measure(bench *b, int32_t round, vouch_error *err)
{
    const tool_ints *rows = &b->options->bench.rows;
    for (size_t step = 0; step < rows->n; step++) {
        const size_t i = round % 2 != 0 ? rows->n - 1 - step : step;
        double seconds;
        if (tool_interrupted()) return err->code = VOUCH_E_CANCELLED;
        const vouch_status status = vouch_session_time_pass(b->session, rows->items[i], 1, &seconds, err);
        if (status) return status;
        if (round >= 0) b->passes[i].seconds[round] = seconds;
    }
    return VOUCH_OK;
}

static void progress_begin(bench *b, const char *label, double part)
{
    tool_progress_end(&b->progress);
    b->progress = (tool_progress){.label = label};
    b->progress_done = 0;
    b->progress_part = part;
}

/* Round -1 warms up. */
static vouch_status all_measure(bench *b, vouch_error *err)
{
    const cli_options *o = b->options;
    const double part = 1.0 / (o->bench.n_reps + 1);
    vouch_status status = VOUCH_OK;
    vouch_session_set_progress(b->session, prompt_progress, b);
    progress_begin(b, "reading prompts", part);
    for (int32_t round = -1; o->bench.n_prefill > 0 && round < o->bench.n_reps && !status; round++) {
        status = prefill_measure(b, round, err);
        b->progress_done += part;
    }
    progress_begin(b, "filling the cache", 1);
    if (!status) status = prompt_run(b, o->bench.depth + 1, 0, err);
    vouch_session_set_progress(b->session, NULL, NULL);
    progress_begin(b, "timing passes", 0);
    for (int32_t round = -1; round < o->bench.n_reps && !status; round++) {
        status = passes_measure(b, round, err);
        if (!status && o->bench.n_decode > 0) status = decode_measure(b, round, err);
        if (!status) b->n_rounds = round + 1;
        tool_progress_report(&b->progress, (round + 2) * part);
    }
    tool_progress_end(&b->progress);
    return status;
}

static void series_sum_up(series *s, int32_t n)
{
    s->median = tool_quantile(s->seconds, (size_t)n, 0.5);
    s->least = s->seconds[0];
}

/* ------------------------------------------------------------------- output */

static void table_write(FILE *out, const bench *b)
{
    char kv_type[32];
    const cli_options *o = b->options;
    cli_provenance_print(out, b->provenance);
    fprintf(out, "cache      %s, %d tokens before each pass\nrounds     %d%s\n\n",
            tool_choice_word(CLI_KV_TYPES, o->session.kv_type, kv_type), o->bench.depth, b->n_rounds,
            b->n_rounds < o->bench.n_reps ? ": interrupted" : "");
    fprintf(out, "%6s %12s %12s %10s %12s\n", "rows", "median ms", "least ms", "x 1 row", "tokens/s");
    for (size_t i = 0; i < o->bench.rows.n; i++) {
        const series *s = &b->passes[i];
        fprintf(out, "%6d %12.3f %12.3f ", o->bench.rows.items[i], s->median * 1e3, s->least * 1e3);
        tool_put_number(out, 10, 3, "", o->bench.rows.items[0] == 1 ? cli_ratio(s->median, b->passes[0].median) : NAN);
        tool_put_number(out, 13, 1, "", cli_ratio(o->bench.rows.items[i], s->median));
        fputc('\n', out);
    }
    const struct {
        const char *label;
        int32_t n;
        const series *series;
    } others[] = {{"prefill", o->bench.n_prefill, &b->prefill}, {"decode", o->bench.n_decode, &b->decode}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].n > 0) {
            const series *s = others[i].series;
            fprintf(out, "%s of %d tokens: %.1f ms, least %.1f ms; ", others[i].label, others[i].n, s->median * 1e3,
                    s->least * 1e3);
            tool_put_number(out, 0, 1, " tokens/s", cli_ratio(others[i].n, s->median));
            fputc('\n', out);
        }
}

static int table_print(const bench *b)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_engine_fail(&err);
    table_write(sheet.out, b);
    return cli_sheet_print(&sheet, &err) ? cli_engine_fail(&err) : CLI_DONE;
}

/* Returns {KEY: n, "seconds_median": ..., "seconds_min": ...}. */
static json_t *series_json(const char *key, int32_t n, const series *s)
{
    return json_pack("{s:i, s:f, s:f}", key, n, "seconds_median", s->median, "seconds_min", s->least);
}

static json_t *passes_json(const bench *b, const vouch_model *model)
{
    const tool_ints *rows = &b->options->bench.rows;
    json_t *passes = json_array();
    for (size_t i = 0; i < rows->n; i++) {
        json_t *pass = series_json("rows", rows->items[i], &b->passes[i]);
        json_object_set_new(pass, "bytes", json_real(vouch_model_pass_bytes(model, rows->items[i])));
        json_array_append_new(passes, pass);
    }
    if (json_array_size(passes) == rows->n) return passes;
    json_decref(passes);
    return NULL;
}

static json_t *report_json(const bench *b, const cli_engine *engine)
{
    char kv_type[32];
    const cli_options *o = b->options;
    const vouch_model_info *info = vouch_model_get_info(engine->model);
    tool_json_entry entries[16] = {
        {"provenance", cli_provenance_json(b->provenance)},
        {"model", tool_json_text(o->model)},
        {"architecture", json_string(info->architecture)},
        {"weights", json_string(info->weight_types)},
        {"cpu", json_string(info->cpu)},
        {"threads", json_integer(o->session.n_threads ? o->session.n_threads : vouch_cpu_count())},
        {"kv_type", json_string(tool_choice_word(CLI_KV_TYPES, o->session.kv_type, kv_type))},
        {"depth", json_integer(o->bench.depth)},
        {"reps", json_integer(b->n_rounds)},
        {"interrupted", json_boolean(b->n_rounds < o->bench.n_reps)},
        {"load_seconds", json_real(engine->load_seconds)},
        {"passes", passes_json(b, engine->model)}};
    size_t n = 12;
    if (o->bench.n_prefill)
        entries[n++] = (tool_json_entry){"prefill", series_json("tokens", o->bench.n_prefill, &b->prefill)};
    if (o->bench.n_decode)
        entries[n++] = (tool_json_entry){"decode", series_json("tokens", o->bench.n_decode, &b->decode)};
    return tool_json_object(entries, n);
}

/* ------------------------------------------------------------------ command */

static int bench_report(bench *b, const cli_engine *engine)
{
    const cli_options *o = b->options;
    for (size_t i = 0; i < o->bench.rows.n; i++) series_sum_up(&b->passes[i], b->n_rounds);
    series_sum_up(&b->prefill, o->bench.n_reps);
    series_sum_up(&b->decode, b->n_rounds);
    const int status = table_print(b);
    if (status || !o->json) return status;
    json_t *object = report_json(b, engine);
    vouch_error err;
    const vouch_status written = tool_file_write_json(o->json, object, &err);
    json_decref(object);
    return written ? cli_flag_fail("json", &err) : CLI_DONE;
}

/* After Ctrl-C the complete rounds are reported. */
static int bench_measure(bench *b, const cli_engine *engine)
{
    vouch_error err;
    tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
    const vouch_status status = all_measure(b, &err);
    tool_interrupt_set(TOOL_INTERRUPT_ENDS);
    if (status && (status != VOUCH_E_CANCELLED || b->n_rounds == 0)) return cli_engine_fail(&err);
    const int reported = bench_report(b, engine);
    if (!status) return reported;
    tool_complain("interrupted: the report covers %d of %d rounds", b->n_rounds, b->options->bench.n_reps);
    return CLI_FAILED;
}

/* A silent drafter (it never guesses) of n_draft guesses makes the session reserve space for passes of n_draft + 1
 * rows. */
static int session_start(cli_engine *engine, cli_oracle *silent, int32_t room)
{
    const tool_ints *rows = &engine->options->bench.rows;
    const int32_t most_rows = rows->items[rows->n - 1];
    vouch_session_options session = engine->options->session;
    if (session.n_ctx == 0) session.n_ctx = room;
    session.max_tokens = 0;
    session.ignore_eos = true;
    session.speculation.drafters = VOUCH_DRAFTER_CUSTOM;
    session.speculation.custom = cli_oracle_drafter(silent);
    session.speculation.n_draft = most_rows > 1 ? most_rows - 1 : 1;
    return cli_engine_start(engine, &session);
}

static int passes_run(cli_engine *engine)
{
    const cli_options *o = engine->options;
    const size_t n_reps = (size_t)o->bench.n_reps;
    const int32_t room = cli_bench_room(o);
    cli_oracle silent = {.mode = CLI_ORACLE_SILENT};
    cli_provenance provenance;
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    int status = session_start(engine, &silent, room);
    if (status) return status;

    bench b = {.options = o,
               .provenance = &provenance,
               .session = engine->session,
               .n_vocab = vouch_model_get_info(engine->model)->n_vocab};
    const bool ok = cli_provenance_of(&provenance, engine);
    double *seconds = calloc((o->bench.rows.n + 2) * n_reps, sizeof *seconds);
    b.tokens = calloc((size_t)room, sizeof *b.tokens);
    if (ok && seconds && b.tokens) {
        for (size_t i = 0; i < o->bench.rows.n; i++) b.passes[i].seconds = seconds + i * n_reps;
        b.prefill.seconds = seconds + o->bench.rows.n * n_reps;
        b.decode.seconds = seconds + (o->bench.rows.n + 1) * n_reps;
        status = bench_measure(&b, engine);
    } else {
        status = cli_engine_fail(&err);
    }
    cli_provenance_free(&provenance);
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
