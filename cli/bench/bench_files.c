/* SPDX-License-Identifier: MIT */
/* A benchmark over prompts for programs: --json has the sums, --csv a line for each answer. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "tool/file.h"
#include "tool/json.h"
#include "report/sheet.h"

/* -------------------------------------------------------------------- JSON */

static json_t *summary_json(const cli_summary *s)
{
    const size_t deepest = cli_draft_depth(&s->sum);
    const vouch_stats *sum = &s->sum;
    const tool_json_entry entries[] = {
        {"answers", json_integer((json_int_t)s->n_answers)},
        {"turns", json_integer(s->n_turns)},
        {"prompt_tokens", json_integer(sum->prompt_tokens)},
        {"generated_tokens", json_integer(sum->generated_tokens)},
        {"tokens_per_second", tool_json_real(s->rates.tokens_per_second)},
        {"tokens_per_second_p10", tool_json_real(s->slow)},
        {"tokens_per_second_p90", tool_json_real(s->fast)},
        {"predicted_tokens_per_second", tool_json_real(cli_ratio(sum->predicted_tokens, sum->predicted_seconds))},
        {"speedup", tool_json_real(s->speedup)},
        {"theory_speedup", tool_json_real(s->theory_speedup)},
        {"cycles", json_integer(sum->cycles)},
        {"tokens_per_cycle", tool_json_real(s->rates.tokens_per_cycle)},
        {"theory_tokens_per_cycle", tool_json_real(s->theory_tokens_per_cycle)},
        {"drafted", json_integer(sum->drafted)},
        {"accepted", json_integer(sum->accepted)},
        {"acceptance_rate", tool_json_real(s->rates.acceptance_rate)},
        {"guess_holds", tool_json_real(s->guess_holds)},
        {"full_accept_fraction", tool_json_real(s->rates.full_accept_fraction)},
        {"accepted_per_position", tool_json_counts(sum->accepted_at, deepest)},
        {"drafted_per_position", tool_json_counts(sum->drafted_at, deepest)},
        {"depth_histogram", tool_json_counts(sum->depth_histogram, cli_most_guesses(sum) + 1)},
        {"prefill_seconds", json_real(sum->prefill_seconds)},
        {"decode_seconds", json_real(sum->decode_seconds)},
        {"draft_seconds", json_real(sum->draft_seconds)},
        {"verify_seconds", json_real(sum->verify_seconds)},
        {"judge_seconds", json_real(sum->judge_seconds)},
        {"different_answers", json_integer((json_int_t)s->n_different)},
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

static json_t *config_json(const cli_comparison *b, size_t config)
{
    const cli_summary all = cli_bench_summary(b, config, NULL);
    json_t *categories = json_object();
    for (size_t c = 0; c < b->questions.n_categories; c++) {
        const cli_summary s = cli_bench_summary(b, config, b->questions.categories[c]);
        if (s.n_answers > 0) json_object_set_new(categories, b->questions.categories[c], summary_json(&s));
    }
    const tool_json_entry entries[] = {{"name", json_string(b->configs.items[config].name)},
                                       {"k", json_integer(b->configs.items[config].k)},
                                       {"lossless", json_boolean(b->configs.items[config].lossless)},
                                       {"all", summary_json(&all)},
                                       {"categories", categories}};
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

static json_t *configs_json(const cli_comparison *b)
{
    json_t *array = json_array();
    for (size_t i = 0; i < b->configs.n; i++) json_array_append_new(array, config_json(b, i));
    return array;
}

static json_t *costs_json(const cli_cost_curve *costs)
{
    json_t *array = json_array();
    for (size_t i = 0; i < costs->n; i++)
        if (costs->items[i].n > 0)
            json_array_append_new(array, json_pack("{s:i, s:f}", "rows", costs->items[i].rows, "seconds",
                                                   costs->items[i].seconds));
    return array;
}

static json_t *bad_lines_json(const cli_questions *q)
{
    json_t *array = json_array();
    for (size_t i = 0; i < q->n_bad; i++)
        json_array_append_new(array, json_pack("{s:i, s:o}", "line", q->bad[i].line, "reason",
                                               tool_json_text(q->bad[i].reason)));
    return array;
}

static json_t *bench_json(const cli_comparison *b)
{
    const cli_options *o = b->engine->options;
    const vouch_model_info *info = vouch_model_get_info(b->engine->model);
    json_t *configs = configs_json(b);
    const tool_json_entry entries[] = {
        {"provenance", cli_provenance_json(&b->provenance)},
        {"model", tool_json_text(o->model)},
        {"draft_model", o->draft_model ? tool_json_text(o->draft_model) : json_null()},
        {"weights", json_string(info->weight_types)},
        {"cpu", json_string(info->cpu)},
        {"threads", json_integer(cli_bench_threads(b))},
        {"prompts", tool_json_text(o->prompts)},
        {"questions", json_integer((json_int_t)b->questions.n)},
        {"left_out", bad_lines_json(&b->questions)},
        {"rounds", json_integer((json_int_t)b->n_rounds)},
        {"rounds_complete", json_integer((json_int_t)(b->n_complete / b->questions.n))},
        {"interrupted", json_boolean(b->interrupted)},
        {"max_tokens", json_integer(o->session.max_tokens)},
        {"temperature", tool_json_float(o->session.sampling.temperature)},
        {"seed", tool_json_seed(o->session.sampling.seed)},
        {"lenience", json_real(o->session.speculation.lenience)},
        {"costs", costs_json(&b->costs)},
        {"configs", configs},
        {"ways", json_incref(configs)}, /* the older name, for one release */
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

int cli_bench_write_json(const cli_comparison *b)
{
    json_t *object = bench_json(b);
    vouch_error err;
    const vouch_status status = tool_file_write_json(b->engine->options->json, object, &err);
    json_decref(object);
    return status ? cli_flag_fail("json", &err) : CLI_DONE;
}

/* --------------------------------------------------------------------- CSV */

/* RFC 4180: quoted where it has to be, a quote is doubled. */
static void put_field(FILE *out, const char *text)
{
    const bool plain = !text[strcspn(text, ",\"\r\n")];
    if (!plain) fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    if (!plain) fputc('"', out);
}

/* A rate that the counts leave undefined is an empty field. */
static void put_rate(FILE *out, int decimals, double rate)
{
    fputc(',', out);
    if (isfinite(rate)) fprintf(out, "%.*f", decimals, rate);
}

static void put_answer(FILE *out, const cli_comparison *b, size_t q, size_t round, size_t config)
{
    const cli_answered *a = cli_bench_answer(b, q, round, config);
    const vouch_stats *s = &a->stats;
    const cli_rates f = cli_rates_of(s);
    put_field(out, b->questions.items[q].id);
    fputc(',', out);
    put_field(out, b->questions.items[q].category);
    fprintf(out, ",%zu,", round + 1);
    put_field(out, b->configs.items[config].name);
    fprintf(out, ",%lld,%lld,%.6f", (long long)s->prompt_tokens, (long long)s->generated_tokens, s->decode_seconds);
    put_rate(out, 3, f.tokens_per_second);
    fprintf(out, ",%lld,%lld,%lld", (long long)s->cycles, (long long)s->drafted, (long long)s->accepted);
    put_rate(out, 4, f.tokens_per_cycle);
    fprintf(out, ",%.6f,%.6f,%.6f,%.6f,%s,%d\n", s->prefill_seconds, s->draft_seconds, s->verify_seconds,
            s->judge_seconds, a->differs ? "yes" : "no", a->n_turns);
}

int cli_bench_write_csv(const cli_comparison *b)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_flag_fail("csv", &err);
    fprintf(sheet.out, "question,category,round,config,prompt_tokens,generated_tokens,decode_seconds,tokens_per_second,"
                       "cycles,drafted,accepted,tokens_per_cycle,prefill_seconds,draft_seconds,verify_seconds,"
                       "judge_seconds,differs,turns\n");
    for (size_t q = 0; q < b->questions.n; q++)
        for (size_t round = 0; round < b->n_rounds; round++)
            for (size_t config = 0; config < b->configs.n; config++)
                if (cli_bench_answer(b, q, round, config)->counts) put_answer(sheet.out, b, q, round, config);
    return cli_sheet_save(&sheet, b->engine->options->bench.csv, &err) ? cli_flag_fail("csv", &err) : CLI_DONE;
}
