/* SPDX-License-Identifier: MIT */
/*
 * A benchmark over prompts as one HTML file: nothing is loaded from elsewhere, there is no script, and light or dark
 * is the reader's choice. Tables scroll by themselves where the page is narrow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "common/plot.h"
#include "common/sheet.h"

static void put_style(FILE *out)
{
    fputs("<style>\n", out);
    cli_plot_style(out);
    fputs("body{margin:0 auto;padding:1em;max-width:1360px;background:var(--bg);color:var(--fg);"
          "font:16px/1.5 system-ui,sans-serif}\n"
          "h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.1em;margin:0 0 .4em}p{margin:.4em 0;overflow-wrap:anywhere}"
          ".d{color:var(--dim)}.bad{color:var(--bad);font-weight:600}\n"
          ".grid{columns:400px;column-gap:1em}"
          "section{background:var(--card);border-radius:8px;padding:1em;margin:1em 0;min-width:0}"
          ".grid section{margin:0 0 1em;break-inside:avoid}\n"
          ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9em;font-variant-numeric:tabular-nums}"
          "th,td{padding:.25em .7em;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}"
          "th:first-child,td:first-child{text-align:left;padding-left:0}\n</style>\n",
          out);
}

static void put_head(FILE *out, const cli_comparison *b)
{
    const cli_options *o = b->engine->options;
    const vouch_model_info *info = vouch_model_get_info(b->engine->model);
    char limit[32];
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\"><title>vouch bench</title>\n",
          out);
    put_style(out);
    fputs("</head><body>\n<h1>What speculation is worth here</h1>\n<p>", out);
    cli_put_html(out, *info->name ? info->name : o->model);
    fprintf(out, ", %s", info->weight_types);
    if (b->engine->draft) {
        const char *name = vouch_model_get_info(b->engine->draft)->name;
        fputs("; draft model ", out);
        cli_put_html(out, *name ? name : o->draft_model);
    }
    fprintf(out, "</p>\n<p class=\"d\">%s, %d threads; %zu prompt%s of ", info->cpu, cli_bench_threads(b),
            b->questions.n, b->questions.n == 1 ? "" : "s");
    cli_put_html(out, o->prompts);
    fprintf(out, ", %zu round%s, answers to %s, ", b->n_rounds, b->n_rounds == 1 ? "" : "s",
            cli_bench_limit(b, limit));
    if (o->session.sampling.temperature == 0) fputs("greedy", out);
    else fprintf(out, "temperature %g", (double)o->session.sampling.temperature);
    fputs(". All configs answered each prompt in turn.</p>\n", out);
    if (b->interrupted)
        fprintf(out, "<p class=\"bad\">Interrupted: %zu of %zu answers of each config are complete and stand here.</p>\n",
                b->n_complete, b->questions.n * b->n_rounds);
    if (b->questions.n_bad > 0) {
        fputs("<p>Left out:</p><ul>", out);
        for (size_t i = 0; i < b->questions.n_bad; i++) {
            fprintf(out, "<li>line %d: ", b->questions.bad[i].line);
            cli_put_html(out, b->questions.bad[i].reason);
            fputs("</li>", out);
        }
        fputs("</ul>\n", out);
    }
}

static void put_cell(FILE *out, int decimals, const char *unit, double x)
{
    if (isfinite(x)) fprintf(out, "<td>%.*f%s</td>", decimals, x, unit);
    else fputs("<td>&ndash;</td>", out);
}

static void put_configs(FILE *out, const cli_comparison *b)
{
    size_t n_different = 0;
    fputs("<section><h2>Ways</h2><div class=\"wide\"><table><tr><th></th><th>tokens/s</th><th>10 to 90 %</th>"
          "<th>speedup</th><th>in theory</th><th>tokens a cycle</th><th>in theory</th><th>guesses accepted</th>"
          "<th>whole drafts</th></tr>\n",
          out);
    for (size_t i = 0; i < b->configs.n; i++) {
        const cli_summary s = cli_bench_summary(b, i, NULL);
        n_different += s.n_different;
        fputs("<tr><td>", out);
        cli_put_html(out, b->configs.items[i].name);
        fputs("</td>", out);
        put_cell(out, 1, "", s.rates.tokens_per_second);
        fprintf(out, "<td>%.1f to %.1f</td>", s.slow, s.fast);
        put_cell(out, 2, "&times;", s.speedup);
        put_cell(out, 2, "&times;", s.theory_speedup);
        put_cell(out, 2, "", s.rates.tokens_per_cycle);
        put_cell(out, 2, "", s.theory_tokens_per_cycle);
        put_cell(out, 1, " %", 100 * s.rates.acceptance_rate);
        put_cell(out, 1, " %", 100 * s.rates.full_accept_fraction);
        fputs("</tr>\n", out);
    }
    fputs("</table></div><p class=\"d\">In theory: from the acceptance and the t(n) measured here, were each guess to "
          "hold with the same chance (arXiv 2211.17192). 10 to 90 %: of the answers.</p>\n",
          out);
    const double lenience = cli_configs_lenience(&b->configs, b->engine);
    if (lenience < 1)
        fprintf(out, "<p class=\"bad\">Lossy: with lenience %g no token gets more than p / %g.</p>\n", lenience,
                lenience);
    if (n_different > 0)
        fprintf(out, "<p class=\"bad\">%zu answers differ from those of the target alone: law L2 is broken.</p>\n",
                n_different);
    fputs("</section>\n", out);
}

static void figure_begin(FILE *out, const char *title)
{
    fprintf(out, "<section><h2>%s</h2>\n", title);
}

/* The configs' names from `first` on; the caller's to free(). */
static const char **config_names(const cli_comparison *b, size_t first)
{
    const char **names = calloc(b->configs.n, sizeof *names);
    for (size_t i = first; names && i < b->configs.n; i++) names[i - first] = b->configs.items[i].name;
    return names;
}

static bool put_speedups(FILE *out, const cli_comparison *b)
{
    const size_t n_groups = b->questions.n_categories + 1, n_series = b->configs.n - 1;
    const char **groups = calloc(n_groups, sizeof *groups), **names = config_names(b, 1);
    double *values = calloc(n_groups * n_series, sizeof *values);
    const bool ok = groups && names && values;
    for (size_t g = 0; ok && g < n_groups; g++) {
        const char *category = g == 0 ? NULL : b->questions.categories[g - 1];
        groups[g] = category ? category : "all";
        for (size_t s = 0; s < n_series; s++) values[g * n_series + s] = cli_bench_summary(b, s + 1, category).speedup;
    }
    if (ok) {
        figure_begin(out, "Speedup over the target alone");
        cli_plot_legend(out, names, n_series);
        cli_plot_bars(out, &(cli_bars){groups, n_groups, n_series, values, 1, "\xc3\x97"});
        fputs("</section>\n", out);
    }
    free(groups);
    free(names);
    free(values);
    return ok;
}

static bool put_acceptance(FILE *out, const cli_comparison *b)
{
    const size_t n = b->configs.n - 1;
    const char **names = config_names(b, 1);
    double x[VOUCH_MAX_DRAFT], *y = calloc(n * VOUCH_MAX_DRAFT, sizeof *y);
    size_t deepest = 0;
    const bool ok = names && y;
    for (size_t i = 0; i < n; i++) {
        const vouch_stats sum = cli_bench_summary(b, i + 1, NULL).sum;
        if (cli_draft_depth(&sum) > deepest) deepest = cli_draft_depth(&sum);
    }
    for (size_t d = 0; d < deepest; d++) x[d] = (double)d + 1;
    for (size_t i = 0; ok && i < n; i++) {
        const vouch_stats sum = cli_bench_summary(b, i + 1, NULL).sum;
        for (size_t d = 0; d < deepest; d++)
            y[i * deepest + d] = 100 * cli_ratio((double)sum.accepted_at[d], (double)sum.drafted_at[d]);
    }
    if (ok && deepest > 0) {
        figure_begin(out, "Accepted, by place in the draft");
        cli_plot_legend(out, names, n);
        cli_plot_lines(out, &(cli_lines){x, y, deepest, n, "place", "% of the guesses drafted there", NULL});
        fputs("</section>\n", out);
    }
    free(names);
    free(y);
    return ok;
}

static void put_costs(FILE *out, const cli_comparison *b)
{
    double x[CLI_MOST_COST_POINTS], y[CLI_MOST_COST_POINTS];
    size_t n = 0;
    for (size_t i = 0; i < b->costs.n; i++) {
        if (b->costs.items[i].n == 0) continue;
        x[n] = b->costs.items[i].rows;
        y[n++] = b->costs.items[i].seconds * 1e3;
    }
    figure_begin(out, "t(n): what a pass over n rows costs");
    cli_plot_lines(out, &(cli_lines){x, y, n, 1, "rows", "milliseconds", NULL});
    fputs("</section>\n", out);
}

static bool put_time(FILE *out, const cli_comparison *b)
{
    enum { PARTS = 4 };
    static const char *const parts[PARTS] = {"verify", "draft", "judge", "rest"};
    const char **names = config_names(b, 0);
    double *values = calloc(b->configs.n * PARTS, sizeof *values);
    const bool ok = names && values;
    for (size_t i = 0; ok && i < b->configs.n; i++) {
        const vouch_stats s = cli_bench_summary(b, i, NULL).sum;
        const double per_token = 1e3 / (double)s.generated_tokens;
        const double rest = s.decode_seconds - s.verify_seconds - s.draft_seconds - s.judge_seconds;
        const double ms[PARTS] = {s.verify_seconds * per_token, s.draft_seconds * per_token,
                                  s.judge_seconds * per_token, fmax(rest, 0) * per_token};
        memcpy(values + i * PARTS, ms, sizeof ms);
    }
    if (ok) {
        figure_begin(out, "Where the time of a token goes");
        cli_plot_legend(out, parts, PARTS);
        cli_plot_stacks(out, &(cli_stacks){names, b->configs.n, PARTS, values, " ms"});
        fputs("</section>\n", out);
    }
    free(names);
    free(values);
    return ok;
}

static bool page_put(FILE *out, const cli_comparison *b)
{
    put_head(out, b);
    bool ok = true;
    if (b->n_complete > 0) {
        put_configs(out, b);
        fputs("<div class=\"grid\">\n", out);
        ok = b->configs.n == 1 || (put_speedups(out, b) && put_acceptance(out, b));
        put_costs(out, b);
        ok = ok && put_time(out, b);
        fputs("</div>\n", out);
    }
    fprintf(out, "<p class=\"d\">vouch %s</p>\n</body></html>\n", vouch_version());
    return ok;
}

int cli_bench_write_html(const cli_comparison *b)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_flag_fail("html", &err);
    const bool whole = page_put(sheet.out, b);
    if (whole) return cli_sheet_save(&sheet, b->engine->options->html, &err) ? cli_flag_fail("html", &err) : CLI_DONE;
    cli_sheet_drop(&sheet);
    return cli_flag_fail("html", &err);
}
