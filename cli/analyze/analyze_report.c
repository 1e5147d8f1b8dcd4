/* SPDX-License-Identifier: MIT */
/* The findings of an analysis as text, JSON and plots. */
#include <math.h>
#include <string.h>

#include "analyze/analyze.h"
#include "common/file.h"
#include "common/json.h"
#include "common/plot.h"
#include "common/provenance.h"
#include "common/sheet.h"
#include "common/text.h"

enum { NAME = 26 }; /* columns of a row's name */

/* -------------------------------------------------------------------- tables */

static void put_head(FILE *out, const cli_analysis *a, const cli_provenance *provenance)
{
    const cli_options *o = a->engine->options;
    const double temperature = (double)o->session.sampling.temperature;
    cli_provenance_print(out, provenance);
    if (o->text || o->prompts) {
        fprintf(out, "%-10s ", o->text ? "text" : "prompts");
        cli_put_escaped(out, o->text ? o->text : o->prompts, strlen(o->text ? o->text : o->prompts), 0);
        fputc('\n', out);
    } else {
        fprintf(out, "texts      the target's answers to %zu built-in prompts\n", a->n_asked);
    }
    if (temperature == 0) fprintf(out, "sampling   greedy (temperature 0): p and q are point masses\n");
    else fprintf(out, "sampling   temperature %g\n", temperature);
    if (a->interrupted) fprintf(out, "interrupted: the report covers %zu of %zu texts\n", a->n_texts, a->n_asked);
    fputc('\n', out);
}

static void put_means_head(FILE *out, const char *title)
{
    fprintf(out, "%-*s %8s  %9s %9s %9s %9s\n", NAME, title, "", "accepted,", "accepted,", "same", "entropy,");
    fprintf(out, "%-*s %8s  %9s %9s %9s %9s\n", NAME, "", "tokens", "sampled", "greedy", "argmax", "bits");
}

static void put_means(FILE *out, const cli_means *m)
{
    fprintf(out, " %8lld  %9.4f %9.4f %9.4f %9.3f\n", (long long)m->n, m->sampled, m->greedy, m->same_argmax,
            m->entropy);
}

static void put_texts(FILE *out, const cli_analysis *a)
{
    put_means_head(out, "text");
    for (size_t i = 0; i < a->n_texts; i++) {
        const cli_analyzed_text *text = &a->texts[i];
        const cli_means m = cli_means_of(text->at, text->n);
        const size_t used = cli_put_escaped(out, text->name, strlen(text->name), NAME);
        fprintf(out, "%*s", NAME - (int)used, "");
        put_means(out, &m);
    }
    fprintf(out, "%-*s", NAME, "all");
    put_means(out, &a->all);
    fprintf(out, "\naccepted, sampled: expected acceptance rate of guesses drawn from q: mean of\n"
                 "sum min(p, q). accepted, greedy: the same for guesses by argmax. same argmax:\n"
                 "share of tokens where p and q have the same likeliest token. entropy: of the\n"
                 "target's own distribution, at temperature 1 and without any cut or penalty.\n");
}

static void put_bins(FILE *out, const char *title, const char *format, const cli_means *bins, size_t n)
{
    fputc('\n', out);
    put_means_head(out, title);
    for (size_t i = 0; i < n; i++) {
        char range[40];
        snprintf(range, sizeof range, format, bins[i].from, bins[i].to);
        fprintf(out, "%-*s", NAME, range);
        put_means(out, &bins[i]);
    }
}

/* "-" where x is not finite. */
static void put_number(FILE *out, int width, int decimals, const char *unit, double x)
{
    char text[32] = "-";
    if (isfinite(x)) snprintf(text, sizeof text, "%.*f%s", decimals, x, unit);
    fprintf(out, "%*s", width, text);
}

static void put_speedups(FILE *out, const cli_analysis *a)
{
    fprintf(out, "\n%4s %14s %14s %14s %10s %16s\n", "", "acceptance at", "tokens/cycle,", "tokens/cycle,", "",
            "speed relative");
    fprintf(out, "%4s %14s %14s %14s %10s %16s\n", "k", "draft pos. k", "these texts", "constant acc.", "ms/cycle",
            "to plain decode");
    for (int32_t k = 0; k <= CLI_MOST_K; k++) {
        fprintf(out, "%4d", k);
        put_number(out, 15, 4, "", k > 0 ? a->by_draft_position[k - 1] : NAN);
        put_number(out, 15, 3, "", a->tokens[k]);
        put_number(out, 15, 3, "", a->constant_tokens[k]);
        put_number(out, 11, 3, "", cli_analysis_cycle_seconds(a, k) * 1e3);
        put_number(out, 17, 2, "x", a->speedup[k]);
        fputc('\n', out);
    }
    fprintf(out, "\nthese texts: tokens divided by the expected number of cycles for k guesses a cycle;\n"
                 "constant acc.: 1 + a + ... + a^k with the mean acceptance a. One row of the target\n"
                 "takes %.3f ms, one guess of the draft model %.3f ms.\n",
            cli_cost_curve_seconds(&a->costs, 1) * 1e3, a->draft_seconds * 1e3);
    if (a->best_k > 0) fprintf(out, "Best: k = %d, %.2f times as fast as plain decoding.\n", a->best_k, a->speedup[a->best_k]);
    else if (a->best_k < 0) fprintf(out, "Best: unknown. No text has 2 tokens, so that no guess can be judged.\n");
    else fprintf(out, "Best: k = 0. On these texts the draft model costs more time than it saves.\n");
}

int cli_analysis_print(const cli_analysis *a)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_provenance provenance;
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_engine_fail(&err);
    if (!cli_provenance_of(&provenance, a->engine)) {
        cli_sheet_drop(&sheet);
        cli_provenance_free(&provenance);
        return cli_engine_fail(&err);
    }
    put_head(sheet.out, a, &provenance);
    cli_provenance_free(&provenance);
    put_texts(sheet.out, a);
    put_bins(sheet.out, "position in the text", "%.0f to %.0f", a->positions, a->n_positions);
    put_bins(sheet.out, "entropy, bits", "%.2f to %.2f", a->entropies, a->n_entropies);
    put_speedups(sheet.out, a);
    return cli_sheet_print(&sheet, &err) ? cli_engine_fail(&err) : CLI_DONE;
}

/* ---------------------------------------------------------------------- JSON */

static json_t *means_json(const cli_means *m)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f}", "tokens", (json_int_t)m->n, "r", m->sampled, "argmax", m->greedy,
                     "agree", m->same_argmax, "entropy", m->entropy);
}

static json_t *bins_json(const cli_means *bins, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *object = means_json(&bins[i]);
        json_object_set_new(object, "from", json_real(bins[i].from));
        json_object_set_new(object, "to", json_real(bins[i].to));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *texts_json(const cli_analysis *a)
{
    json_t *array = json_array();
    for (size_t i = 0; i < a->n_texts; i++) {
        const cli_means m = cli_means_of(a->texts[i].at, a->texts[i].n);
        json_t *object = means_json(&m);
        json_object_set_new(object, "name", cli_json_text(a->texts[i].name));
        json_array_append_new(array, object);
    }
    return array;
}

int cli_analysis_write_json(const cli_analysis *a)
{
    const cli_options *o = a->engine->options;
    double seconds[CLI_MOST_K + 1];
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_provenance provenance;
    const bool ok = cli_provenance_of(&provenance, a->engine);
    for (int32_t k = 0; k <= CLI_MOST_K; k++) seconds[k] = cli_cost_curve_seconds(&a->costs, k + 1);
    const cli_json_entry entries[] = {
        {"model", cli_json_text(o->model)},
        {"draft_model", cli_json_text(o->draft_model)},
        {"provenance", ok ? cli_provenance_json(&provenance) : NULL},
        {"temperature", cli_json_float(o->session.sampling.temperature)},
        {"all", means_json(&a->all)},
        {"texts", texts_json(a)},
        {"positions", bins_json(a->positions, a->n_positions)},
        {"entropies", bins_json(a->entropies, a->n_entropies)},
        {"r_at_place", cli_json_reals(a->by_draft_position, CLI_MOST_K)},
        {"tokens_per_cycle", cli_json_reals(a->tokens, CLI_MOST_K + 1)},
        {"tokens_per_cycle_same_r", cli_json_reals(a->constant_tokens, CLI_MOST_K + 1)},
        {"pass_seconds", cli_json_reals(seconds, CLI_MOST_K + 1)},
        {"draft_seconds", json_real(a->draft_seconds)},
        {"speedup", cli_json_reals(a->speedup, CLI_MOST_K + 1)},
        {"best_k", a->best_k < 0 ? json_null() : json_integer(a->best_k)},
        {"interrupted", json_boolean(a->interrupted)},
    };
    json_t *object = cli_json_object(entries, sizeof entries / sizeof *entries);
    cli_provenance_free(&provenance);
    const vouch_status status = cli_file_write_json(o->json, object, &err);
    json_decref(object);
    return status ? cli_flag_fail("json", &err) : CLI_DONE;
}

/* --------------------------------------------------------------------- plots */

enum { PANEL = CLI_LINES_HEIGHT + 50, MARGIN = 16 };

/* The i-th panel: a title, the names of its lines in their colours, the lines. */
static void put_panel(FILE *out, int i, const char *title, const char *const *names, cli_lines lines)
{
    char place[96];
    double x = MARGIN;
    fprintf(out, "<text x=\"%d\" y=\"%d\" font-weight=\"600\">%s</text>\n<text y=\"%d\">", MARGIN, i * PANEL + 24,
            title, i * PANEL + 42);
    for (size_t s = 0; names && s < lines.n_series; s++) {
        fprintf(out, "<tspan x=\"%.0f\" class=\"f%zu\">&#9632;</tspan> %s ", x, s, names[s]);
        x += 24 + 7 * (double)strlen(names[s]);
    }
    snprintf(place, sizeof place, "x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", MARGIN, i * PANEL + 46,
             CLI_PLOT_WIDTH, CLI_LINES_HEIGHT);
    lines.place = place;
    fputs("</text>\n", out);
    cli_plot_lines(out, &lines);
}

static void put_panels(FILE *out, const cli_analysis *a)
{
    static const char *const ways[] = {"walked through the texts", "r the same"};
    double k[CLI_MOST_K + 1], tokens[2 * (CLI_MOST_K + 1)], bits[CLI_ENTROPY_BINS], r[CLI_ENTROPY_BINS],
        from[CLI_POSITION_BINS], by_position[CLI_POSITION_BINS];
    const size_t n_k = CLI_MOST_K + 1;
    for (size_t i = 0; i < n_k; i++) {
        k[i] = (double)i;
        tokens[i] = a->tokens[i];
        tokens[n_k + i] = a->constant_tokens[i];
    }
    for (size_t i = 0; i < a->n_entropies; i++) {
        bits[i] = a->entropies[i].entropy;
        r[i] = a->entropies[i].sampled;
    }
    for (size_t i = 0; i < a->n_positions; i++) {
        from[i] = a->positions[i].from;
        by_position[i] = a->positions[i].sampled;
    }
    put_panel(out, 0, "Expected speedup", NULL, (cli_lines){k, a->speedup, n_k, 1, "k", "times plain", NULL});
    put_panel(out, 1, "Expected tokens a cycle", ways, (cli_lines){k, tokens, n_k, 2, "k", "tokens", NULL});
    put_panel(out, 2, "Acceptance by place in the draft", NULL,
              (cli_lines){k + 1, a->by_draft_position, CLI_MOST_K, 1, "place", "r", NULL});
    put_panel(out, 3, "Acceptance by entropy", NULL,
              (cli_lines){bits, r, a->n_entropies, 1, "bits of entropy of p", "r", NULL});
    put_panel(out, 4, "Acceptance by position in the text", NULL,
              (cli_lines){from, by_position, a->n_positions, 1, "position", "r", NULL});
}

int cli_analysis_write_svg(const cli_analysis *a)
{
    enum { PANELS = 5 };
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_flag_fail("svg", &err);
    const int width = CLI_PLOT_WIDTH + 2 * MARGIN, height = PANELS * PANEL + MARGIN;
    fprintf(sheet.out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                       "role=\"img\">\n<style>\n", width, height, width, height);
    cli_plot_style(sheet.out);
    fprintf(sheet.out, "</style>\n<rect width=\"%d\" height=\"%d\" style=\"fill:var(--card)\"/>\n", width, height);
    put_panels(sheet.out, a);
    fputs("</svg>\n", sheet.out);
    return cli_sheet_save(&sheet, a->engine->options->svg, &err) ? cli_flag_fail("svg", &err) : CLI_DONE;
}
