/* SPDX-License-Identifier: MIT */
/* The findings of an analysis as text, JSON and plots. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "tool/file.h"
#include "tool/json.h"
#include "report/plot.h"
#include "report/provenance.h"
#include "report/sheet.h"
#include "tool/text.h"

enum { NAME = 26 }; /* columns of a row's name */

/* -------------------------------------------------------------------- tables */

static void put_head(FILE *out, const cli_analysis *a, const cli_provenance *provenance)
{
    const cli_options *o = a->engine->options;
    const double temperature = (double)o->session.sampling.temperature;
    cli_provenance_print(out, provenance);
    if (o->text || o->prompts) {
        fprintf(out, "%-10s ", o->text ? "text" : "prompts");
        tool_put_escaped(out, o->text ? o->text : o->prompts, strlen(o->text ? o->text : o->prompts), 0);
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
        const size_t used = tool_put_escaped(out, text->name, strlen(text->name), NAME);
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

static void put_speedups(FILE *out, const cli_analysis *a)
{
    fprintf(out, "\n%4s %14s %14s %14s %10s %16s\n", "", "acceptance at", "tokens/cycle,", "tokens/cycle,", "",
            "speed relative");
    fprintf(out, "%4s %14s %14s %14s %10s %16s\n", "k", "draft pos. k", "these texts", "constant acc.", "ms/cycle",
            "to plain decode");
    for (int32_t k = 0; k <= CLI_MOST_K; k++) {
        fprintf(out, "%4d", k);
        tool_put_number(out, 15, 4, "", k > 0 ? a->by_draft_position[k - 1] : NAN);
        tool_put_number(out, 15, 3, "", a->tokens[k]);
        tool_put_number(out, 15, 3, "", a->constant_tokens[k]);
        tool_put_number(out, 11, 3, "", cli_analysis_cycle_seconds(a, k) * 1e3);
        tool_put_number(out, 17, 2, "x", a->speedup[k]);
        fputc('\n', out);
    }
    fprintf(out,
            "\nthese texts: tokens divided by the expected number of cycles for k guesses a cycle;\n"
            "constant acc.: 1 + a + ... + a^k with the mean acceptance a. One row of the target\n"
            "takes %.3f ms, one guess of the draft model %.3f ms.\n",
            cli_cost_curve_seconds(&a->costs, 1) * 1e3, a->draft_seconds * 1e3);
    if (a->best_k > 0)
        fprintf(out, "Best: k = %d, %.2f times as fast as plain decoding.\n", a->best_k, a->speedup[a->best_k]);
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
        json_object_set_new(object, "name", tool_json_text(a->texts[i].name));
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
    const tool_json_entry entries[] = {
        {"model", tool_json_text(o->model)},
        {"draft_model", tool_json_text(o->draft_model)},
        {"provenance", ok ? cli_provenance_json(&provenance) : NULL},
        {"temperature", tool_json_float(o->session.sampling.temperature)},
        {"all", means_json(&a->all)},
        {"texts", texts_json(a)},
        {"positions", bins_json(a->positions, a->n_positions)},
        {"entropies", bins_json(a->entropies, a->n_entropies)},
        {"r_at_place", tool_json_reals(a->by_draft_position, CLI_MOST_K)},
        {"tokens_per_cycle", tool_json_reals(a->tokens, CLI_MOST_K + 1)},
        {"tokens_per_cycle_same_r", tool_json_reals(a->constant_tokens, CLI_MOST_K + 1)},
        {"pass_seconds", tool_json_reals(seconds, CLI_MOST_K + 1)},
        {"draft_seconds", tool_json_real(a->draft_seconds)},
        {"speedup", tool_json_reals(a->speedup, CLI_MOST_K + 1)},
        {"best_k", a->best_k < 0 ? json_null() : json_integer(a->best_k)},
        {"interrupted", json_boolean(a->interrupted)},
    };
    json_t *object = tool_json_object(entries, sizeof entries / sizeof *entries);
    cli_provenance_free(&provenance);
    const vouch_status status = tool_file_write_json(o->json, object, &err);
    json_decref(object);
    return status ? cli_flag_fail("json", &err) : CLI_DONE;
}

/* --------------------------------------------------------------------- plots */

/* The SVG has a heading and five panels. A viewer that knows CSS media queries lays them out in two or three columns
 * where the window has room for them, and enlarges them in a wider window. Any other viewer shows one column, which
 * fits a telephone. */
enum {
    PANELS = 5,
    PLOT_WIDTH = 328,
    PLOT_HEIGHT = CLI_LINES_HEIGHT * PLOT_WIDTH / CLI_PLOT_WIDTH,
    MARGIN = 16,
    PANEL_WIDTH = PLOT_WIDTH + 2 * MARGIN,
    PANEL_HEIGHT = PLOT_HEIGHT + 64,
    LINE = 16,        /* height of a line of the heading */
    HEAD_COLUMNS = 47 /* most characters of a line of the heading */
};

static size_t line_break(const char *text, size_t n)
{
    if (n <= HEAD_COLUMNS) return n;
    size_t at = HEAD_COLUMNS;
    while (at > 1 && text[at] != ' ') at--;
    if (at > 1) return at;
    for (at = HEAD_COLUMNS; at > 1 && ((unsigned char)text[at] & 0xc0) == 0x80;) at--; /* not inside a character */
    return at;
}

/* Writes "name: text" on as many lines as it takes. *y: the y of the line above, then of the last line written. */
static void put_fact(FILE *out, const char *name, const char *text, double *y)
{
    char line[HEAD_COLUMNS + 1], all[2000];
    snprintf(all, sizeof all, "%s: %s", name, text);
    for (const char *at = all; *at;) {
        const size_t n = line_break(at, strlen(at));
        memcpy(line, at, n);
        line[n] = 0;
        fprintf(out, "<text class=\"d\" x=\"0\" y=\"%.0f\">", *y += LINE);
        cli_put_html(out, line);
        fputs("</text>\n", out);
        at += n;
        while (*at == ' ') at++;
    }
}

/* Puts the heading where the first panel would stand. Returns the height of the heading. */
static double put_svg_head(FILE *out, const cli_analysis *a, const cli_provenance *provenance)
{
    char sampling[64] = "greedy (temperature 0)", texts[64];
    const double temperature = (double)a->engine->options->session.sampling.temperature;
    double y = 20;
    if (temperature > 0) snprintf(sampling, sizeof sampling, "temperature %g", temperature);
    snprintf(texts, sizeof texts, "%zu, %lld tokens%s", a->n_texts, (long long)a->all.n,
             a->interrupted ? "; interrupted, some are missing" : "");
    fputs("<g class=\"i0\" transform=\"translate(16,0)\">\n"
          "<text x=\"0\" y=\"20\" style=\"font-weight:600\">vouch analyze: how well a draft model fits</text>\n",
          out);
    for (size_t i = 0; i < provenance->n; i++) put_fact(out, provenance->facts[i].name, provenance->facts[i].text, &y);
    put_fact(out, "texts", texts, &y);
    put_fact(out, "sampling", sampling, &y);
    fputs("</g>\n", out);
    return y + LINE;
}

static void put_panel(FILE *out, int i, double top, const char *title, cli_lines lines)
{
    char attributes[96];
    bool few = false;
    for (size_t p = 0; lines.counts && p < lines.n_points; p++) few |= lines.counts[p] < CLI_FEW;
    fprintf(out,
            "<g class=\"i%d\" transform=\"translate(%d,%.0f)\">\n"
            "<text x=\"0\" y=\"20\" style=\"font-weight:600\">%s</text>\n",
            i, MARGIN, top, title);
    for (size_t s = 0; lines.names && s < lines.n_series; s++)
        fprintf(out,
                "<rect style=\"fill:var(--c%zu)\" x=\"%zu\" y=\"29\" width=\"9\" height=\"9\"/>"
                "<text class=\"d\" x=\"%zu\" y=\"38\">%s</text>\n",
                s, s * 150, s * 150 + 14, lines.names[s]);
    if (few) fprintf(out, "<text class=\"d\" x=\"0\" y=\"38\">hollow point: fewer than %d tokens</text>\n", CLI_FEW);
    snprintf(attributes, sizeof attributes, "x=\"0\" y=\"46\" width=\"%d\" height=\"%d\"", PLOT_WIDTH, PLOT_HEIGHT);
    lines.attributes = attributes;
    cli_plot_lines(out, &lines);
    fputs("</g>\n", out);
}

/* Points of a plot over bins: x, y and number of tokens of each bin. */
typedef struct bin_points {
    double x[CLI_POSITION_BINS], y[CLI_POSITION_BINS];
    int64_t n[CLI_POSITION_BINS];
} bin_points;

static void put_panels(FILE *out, const cli_analysis *a, double top)
{
    static const char *const names[] = {"these texts", "constant acceptance"};
    enum { N_K = CLI_MOST_K + 1 };
    double k[N_K], tokens[2 * N_K];
    bin_points bits, positions;
    for (size_t i = 0; i < N_K; i++) {
        k[i] = (double)i;
        tokens[i] = a->tokens[i];
        tokens[N_K + i] = a->constant_tokens[i];
    }
    for (size_t i = 0; i < a->n_entropies; i++) {
        bits.x[i] = a->entropies[i].entropy;
        bits.y[i] = a->entropies[i].sampled;
        bits.n[i] = a->entropies[i].n;
    }
    for (size_t i = 0; i < a->n_positions; i++) {
        positions.x[i] = a->positions[i].from;
        positions.y[i] = a->positions[i].sampled;
        positions.n[i] = a->positions[i].n;
    }
    const cli_lines panels[PANELS] = {{.x = k,
                                       .y = a->speedup,
                                       .n_points = N_K,
                                       .x_label = "k, guesses per cycle",
                                       .y_label = "times plain decoding",
                                       .reference = 1,
                                       .reference_label = "1.00\xc3\x97 plain decoding",
                                       .n_series = 1,
                                       .names = names},
                                      {.x = k,
                                       .y = tokens,
                                       .n_points = N_K,
                                       .x_label = "k, guesses per cycle",
                                       .y_label = "tokens per cycle",
                                       .n_series = 2,
                                       .names = names},
                                      {.x = k + 1,
                                       .y = a->by_draft_position,
                                       .n_points = CLI_MOST_K,
                                       .x_label = "position in the draft",
                                       .y_label = "acceptance rate",
                                       .n_series = 1,
                                       .names = names},
                                      {.x = bits.x,
                                       .y = bits.y,
                                       .counts = bits.n,
                                       .n_points = a->n_entropies,
                                       .x_label = "entropy, bits",
                                       .y_label = "acceptance rate",
                                       .n_series = 1,
                                       .names = names},
                                      {.x = positions.x,
                                       .y = positions.y,
                                       .counts = positions.n,
                                       .n_points = a->n_positions,
                                       .x_label = "position in the text",
                                       .y_label = "acceptance rate",
                                       .n_series = 1,
                                       .names = names}};
    static const char *const titles[PANELS] = {"Expected speed relative to plain decoding", "Expected tokens per cycle",
                                               "Acceptance by draft position", "Acceptance by entropy of the target",
                                               "Acceptance by position in the text"};
    for (int i = 0; i < PANELS; i++) put_panel(out, i + 1, top + i * PANEL_HEIGHT, titles[i], panels[i]);
}

/* Writes, for each layout, the size of the drawing and the places of heading and panels as CSS. The viewer uses the
 * last layout that fits the window. */
static void put_layouts(FILE *out, double head)
{
    static const struct {
        int columns;
        double scale;
    } layouts[] = {{2, 1}, {2, 1.25}, {3, 1}, {3, 1.2}, {3, 1.45}, {3, 1.75}};
    const double first = head > PANEL_HEIGHT ? head : PANEL_HEIGHT; /* height of the first row */
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        const int n = layouts[l].columns, rows = (PANELS + n) / n;
        const double scale = layouts[l].scale, width = scale * n * PANEL_WIDTH;
        fprintf(out, "@media(min-width:%.0fpx){.all{width:%.0fpx;height:%.0fpx}", width, width,
                scale * (first + (rows - 1) * PANEL_HEIGHT + MARGIN));
        for (int i = 0; i <= PANELS; i++)
            fprintf(out, ".i%d{transform:translate(%.1fpx,%.1fpx) scale(%g)}", i,
                    scale * (MARGIN + i % n * PANEL_WIDTH), i < n ? 0 : scale * (first + (i / n - 1) * PANEL_HEIGHT),
                    scale);
        fputs("}\n", out);
    }
}

static bool svg_put(FILE *out, const cli_analysis *a)
{
    cli_provenance provenance;
    cli_sheet head;
    bool ok = cli_provenance_of(&provenance, a->engine) && cli_sheet_open(&head);
    if (ok) {
        const double top = put_svg_head(head.out, a, &provenance);
        char *text = cli_sheet_take(&head);
        ok = text != NULL;
        fprintf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"all\" width=\"%d\" height=\"%.0f\" "
                "role=\"img\">\n<style>\n",
                PANEL_WIDTH, top + PANELS * PANEL_HEIGHT);
        cli_plot_style(out, 2);
        fputs(".all{background:var(--card)}\n", out);
        put_layouts(out, top);
        fprintf(out, "</style>\n<rect width=\"100%%\" height=\"100%%\" style=\"fill:var(--card)\"/>\n%s",
                ok ? text : "");
        put_panels(out, a, top);
        fputs("</svg>\n", out);
        free(text);
    }
    cli_provenance_free(&provenance);
    return ok;
}

int cli_analysis_write_svg(const cli_analysis *a)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_flag_fail("svg", &err);
    if (svg_put(sheet.out, a))
        return cli_sheet_save(&sheet, a->engine->options->svg, &err) ? cli_flag_fail("svg", &err) : CLI_DONE;
    cli_sheet_drop(&sheet);
    return cli_flag_fail("svg", &err);
}
