/* SPDX-License-Identifier: MIT */
/* The figures of `vouch bench --parallel` as a table, JSON, and a page with plots. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/load.h"
#include "tool/file.h"
#include "report/plot.h"
#include "report/sheet.h"
#include "tool/text.h"

/* ----------------------------------------------------------------- terminal */

static void put_head(FILE *out, const cli_load *b)
{
    const cli_options *o = b->engine->options;
    cli_provenance_print(out, &b->provenance);
    fprintf(out, "prompts    %zu of ", b->questions.n);
    tool_put_escaped(out, o->prompts, strlen(o->prompts), 0);
    fprintf(out, ", %zu round%s\nanswers    ", b->n_complete, b->n_complete == 1 ? "" : "s");
    if (o->session.max_tokens > 0) fprintf(out, "up to %d tokens", o->session.max_tokens);
    else fprintf(out, "up to the context's end");
    if (o->session.sampling.temperature == 0) fprintf(out, ", greedy\n\n");
    else fprintf(out, ", temperature %g\n\n", (double)o->session.sampling.temperature);
}

static void put_config(FILE *out, const cli_load *b, size_t config)
{
    char name[CLI_DRAFTERS_SIZE];
    cli_load_name(b, config, name);
    fprintf(out, "%s%s\n", config > 0 ? "\n" : "", config > 0 ? name : "plain");
    fprintf(out, "%8s%10s%9s%9s%18s%10s%7s%9s\n", "", "", "to", "to", "ms between tokens", "guesses", "tokens",
            "expected");
    fprintf(out, "%8s%10s%6d at%9s%9s%9s%10s%7s%9s\n", "at once", "tokens/s", b->at_once->items[0], "plain", "median",
            "99 %", "accepted", "/pass", "speed");
    for (size_t i = 0; i < b->at_once->n; i++) {
        const cli_load_figures f = cli_load_figure(b, i, config);
        fprintf(out, "%8d", b->at_once->items[i]);
        tool_put_number(out, 10, 1, "", f.speed);
        tool_put_number(out, 9, 2, "", f.to_first);
        tool_put_number(out, 9, 2, "", f.to_plain);
        tool_put_number(out, 9, 1, "", f.median_gap * 1e3);
        tool_put_number(out, 9, 1, "", f.late_gap * 1e3);
        tool_put_number(out, 10, 2, "", f.accepted);
        tool_put_number(out, 7, 2, "", f.tokens_per_pass);
        tool_put_number(out, 9, 2, "", f.expected_to_achieved);
        fputc('\n', out);
    }
}

int cli_load_print(const cli_load *b)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_engine_fail(&err);
    put_head(sheet.out, b);
    for (size_t config = 0; config < b->n_configs; config++) put_config(sheet.out, b, config);
    fprintf(sheet.out, "\ntokens/s: of all answers, with the time of the prompts; median of the rounds.\n"
                       "ms between tokens: of one answer; tokens that come together share their time.\n"
                       "expected speed: vouch's own estimate, relative to the measured speed.\n");
    return cli_sheet_print(&sheet, &err) ? cli_engine_fail(&err) : CLI_DONE;
}

/* --------------------------------------------------------------------- JSON */

static json_t *cell_json(const cli_load *b, size_t i, size_t config)
{
    const cli_load_cell *c = cli_load_at(b, i, config);
    const cli_load_figures f = cli_load_figure(b, i, config);
    const tool_json_entry entries[] = {
        {"parallel", json_integer(b->at_once->items[i])},
        {"tokens_per_second", tool_json_real(f.speed)},
        {"tokens_per_second_by_round", tool_json_reals(c->speeds, b->n_complete)},
        {"to_first", tool_json_real(f.to_first)},
        {"to_plain", tool_json_real(f.to_plain)},
        {"between_tokens_median_seconds", tool_json_real(f.median_gap)},
        {"between_tokens_p99_seconds", tool_json_real(f.late_gap)},
        {"generated_tokens", json_integer(c->generated)},
        {"drafted", json_integer(c->drafted)},
        {"accepted", json_integer(c->accepted)},
        {"acceptance_rate", tool_json_real(f.accepted)},
        {"passes", json_integer(c->passes)},
        {"tokens_per_pass", tool_json_real(f.tokens_per_pass)},
        {"rows_per_pass", tool_json_real(f.rows_per_pass)},
        {"draft_passes_per_pass", tool_json_real(f.draft_passes_per_pass)},
        {"expected_to_achieved", tool_json_real(f.expected_to_achieved)},
        {"memory_bytes", json_integer((json_int_t)c->memory)},
        {"different_answers", json_integer((json_int_t)c->n_different)},
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}

static json_t *configs_json(const cli_load *b)
{
    json_t *array = json_array();
    for (size_t config = 0; config < b->n_configs; config++) {
        char name[CLI_DRAFTERS_SIZE];
        json_t *loads = json_array();
        for (size_t i = 0; i < b->at_once->n; i++) json_array_append_new(loads, cell_json(b, i, config));
        const tool_json_entry entries[] = {{"name", json_string(cli_load_name(b, config, name))}, {"loads", loads}};
        json_array_append_new(array, tool_json_object(entries, sizeof entries / sizeof *entries));
    }
    return array;
}

int cli_load_write_json(const cli_load *b)
{
    const cli_options *o = b->engine->options;
    const vouch_model_info *info = vouch_model_get_info(b->engine->model);
    const int32_t n_threads = o->session.n_threads ? o->session.n_threads : vouch_cpu_count();
    const tool_json_entry entries[] = {
        {"provenance", cli_provenance_json(&b->provenance)},
        {"model", tool_json_text(o->model)},
        {"draft_model", o->draft_model ? tool_json_text(o->draft_model) : json_null()},
        {"weights", json_string(info->weight_types)},
        {"cpu", json_string(info->cpu)},
        {"threads", json_integer(n_threads)},
        {"prompts", tool_json_text(o->prompts)},
        {"questions", json_integer((json_int_t)b->questions.n)},
        {"rounds_complete", json_integer((json_int_t)b->n_complete)},
        {"max_tokens", json_integer(o->session.max_tokens)},
        {"temperature", tool_json_float(o->session.sampling.temperature)},
        {"configs", configs_json(b)},
    };
    json_t *object = tool_json_object(entries, sizeof entries / sizeof *entries);
    vouch_error err;
    const vouch_status status = tool_file_write_json(o->json, object, &err);
    json_decref(object);
    return status ? cli_flag_fail("json", &err) : CLI_DONE;
}

/* --------------------------------------------------------------------- page */

static void put_table(FILE *out, const cli_load *b, const char *const *names)
{
    fputs("<section class=\"box\"><h2>By answers at once</h2>"
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"By answers at once\"><table>"
          "<tr><th>drafters</th><th>at once</th><th>tokens/s</th>",
          out);
    fprintf(out,
            "<th>relative to %d at once</th><th>relative to plain</th><th>ms between tokens, median</th>"
            "<th>99 %%</th><th>guesses accepted</th><th>tokens per pass</th><th>expected speed / measured</th>"
            "</tr>\n",
            b->at_once->items[0]);
    for (size_t config = 0; config < b->n_configs; config++)
        for (size_t i = 0; i < b->at_once->n; i++) {
            const cli_load_figures f = cli_load_figure(b, i, config);
            fprintf(out, "<tr><td><i style=\"background:var(--c%zu)\"></i>", config);
            cli_put_html(out, names[config]);
            fprintf(out, "</td><td>%d</td>", b->at_once->items[i]);
            cli_bench_cell(out, 1, "", f.speed);
            cli_bench_cell(out, 2, "", f.to_first);
            cli_bench_cell(out, 2, "", f.to_plain);
            cli_bench_cell(out, 1, "", f.median_gap * 1e3);
            cli_bench_cell(out, 1, "", f.late_gap * 1e3);
            cli_bench_cell(out, 2, "", f.accepted);
            cli_bench_cell(out, 2, "", f.tokens_per_pass);
            cli_bench_cell(out, 2, "", f.expected_to_achieved);
            fputs("</tr>\n", out);
        }
    fputs("</table></div><p class=\"hint\">The table is wider than the window: scroll it sideways.</p></section>\n",
          out);
}

static double speed_of(const cli_load_figures *f)
{
    return f->speed;
}

static double to_plain_of(const cli_load_figures *f)
{
    return f->to_plain;
}

static double late_of(const cli_load_figures *f)
{
    return f->late_gap * 1e3;
}

static double accepted_of(const cli_load_figures *f)
{
    return f->accepted * 100;
}

/* Draws one line for each config from number `first` on. y has room for all points. */
static void put_plot(FILE *out, const cli_load *b, const char *const *names, const char *title, const char *label,
                     double (*value)(const cli_load_figures *), double reference, double *y)
{
    double x[TOOL_MOST_INTS];
    for (size_t i = 0; i < b->at_once->n; i++) x[i] = b->at_once->items[i];
    for (size_t config = 0; config < b->n_configs; config++)
        for (size_t i = 0; i < b->at_once->n; i++) {
            const cli_load_figures f = cli_load_figure(b, i, config);
            y[config * b->at_once->n + i] = value(&f);
        }
    fprintf(out, "<section><h2>%s</h2>\n", title);
    cli_plot_legend(out, names, b->n_configs, 'c');
    cli_plot_lines(out, &(cli_lines){.x = x,
                                     .y = y,
                                     .n_points = b->at_once->n,
                                     .n_series = b->n_configs,
                                     .names = names,
                                     .x_label = "answers at once",
                                     .y_label = label,
                                     .reference = reference,
                                     .reference_label = "plain decoding"});
    fputs("</section>\n", out);
}

static void put_page(FILE *out, const cli_load *b, const char *const *names, double *y)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\"><title>vouch bench</title>\n",
          out);
    cli_bench_style(out, b->n_configs, 52);
    fputs("</head><body>\n<h1>Answers at once</h1>\n<dl>", out);
    for (size_t i = 0; i < b->provenance.n; i++) {
        fprintf(out, "<dt>%s</dt><dd>", b->provenance.facts[i].name);
        cli_put_html(out, b->provenance.facts[i].text);
        fputs("</dd>", out);
    }
    fputs("<dt>prompts</dt><dd>", out);
    cli_put_html(out, b->engine->options->prompts);
    fprintf(out, "</dd><dt>answers</dt><dd>%zu, %zu round%s; each number at once and each config in turn</dd></dl>\n",
            b->questions.n, b->n_complete, b->n_complete == 1 ? "" : "s");
    put_table(out, b, names);
    fputs("<div class=\"plots\">\n", out);
    put_plot(out, b, names, "Throughput", "tokens/s of all answers", speed_of, 0, y);
    put_plot(out, b, names, "Speed relative to plain decoding", "at the same number at once", to_plain_of, 1, y);
    put_plot(out, b, names, "Time between tokens", "milliseconds, 99th percentile", late_of, 0, y);
    put_plot(out, b, names, "Acceptance rate", "% of the guesses", accepted_of, 0, y);
    fputs("</div>\n</body></html>\n", out);
}

int cli_load_write_html(const cli_load *b)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    const char **names = calloc(b->n_configs, sizeof *names);
    char(*texts)[CLI_DRAFTERS_SIZE] = calloc(b->n_configs, sizeof *texts);
    double *y = calloc(b->n_configs * b->at_once->n, sizeof *y);
    const bool ok = names && texts && y && cli_sheet_open(&sheet);
    if (ok) {
        for (size_t i = 0; i < b->n_configs; i++) names[i] = cli_load_name(b, i, texts[i]);
        put_page(sheet.out, b, names, y);
    }
    free(names);
    free(texts);
    free(y);
    return !ok || cli_sheet_save(&sheet, b->engine->options->bench.html, &err) ? cli_flag_fail("html", &err) : CLI_DONE;
}
