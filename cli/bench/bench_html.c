/* SPDX-License-Identifier: MIT */
/*
 * A benchmark over prompts as one HTML file. It loads nothing from elsewhere and has no script; light or dark is the
 * reader's choice. The plots fill the width of the window. A table that is wider than the window scrolls by itself,
 * with shadows at its hidden edges and a sentence below it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "report/plot.h"
#include "report/rates.h"
#include "report/sheet.h"

/* The sentence below a table (.hint) appears where the table's box is narrower than the table. */
void cli_bench_style(FILE *out, size_t n_series, size_t table_rem)
{
    fputs("<style>\n", out);
    cli_plot_style(out, n_series);
    fputs("body{margin:0;padding:1rem clamp(.75rem,2vw,2.5rem);background:var(--bg);color:var(--fg);"
          "font:16px/1.5 system-ui,sans-serif}\n"
          "h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.1rem;margin:0 0 .4em}"
          "section p{font-size:.85rem}p{margin:.4em 0;max-width:110ch;overflow-wrap:anywhere}\n"
          ".d{color:var(--dim)}.bad{color:var(--bad);font-weight:600}.best{font-size:1.15rem}\n"
          "dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.1em 1em;margin:.8em 0;font-size:.9rem}"
          "dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}\n"
          "section{background:var(--card);border-radius:8px;padding:1rem;margin:1rem 0;min-width:0}"
          "figure{margin:0;min-width:0}figcaption{font-size:.85rem;overflow-wrap:anywhere}svg{display:block}"
          "section svg{width:100%;height:auto;max-width:640px}\n"
          ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:1rem;"
          "align-items:start}"
          ".plots section{margin:0}"
          ".categories{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));"
          "gap:1rem 2rem}\n"
          ".box{container-type:inline-size}.hint{display:none;color:var(--dim);font-size:.85rem}"
          ".scroll{overflow-x:auto;background:linear-gradient(to right,var(--card) 40%,transparent) 0/3rem 100%,"
          "linear-gradient(to left,var(--card) 40%,transparent) 100%/3rem 100%,"
          "linear-gradient(to right,var(--shade),transparent) 0/1rem 100%,"
          "linear-gradient(to left,var(--shade),transparent) 100%/1rem 100%;background-repeat:no-repeat;"
          "background-attachment:local,local,scroll,scroll}\n"
          "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;width:100%}"
          "th,td{padding:.25em .7em;text-align:right;vertical-align:bottom;border-bottom:1px solid var(--rule)}"
          "td{white-space:nowrap}th{font-weight:600}th:first-child,td:first-child{text-align:left;padding-left:0}\n",
          out);
    fprintf(out, "table{min-width:%zurem}@container(max-width:%zurem){.hint{display:block}}\n</style>\n", table_rem,
            table_rem);
}

static void put_answers(FILE *out, size_t n)
{
    fprintf(out, "%zu answer%s%s", n, n == 1 ? "" : "s", n < CLI_FEW ? "*" : "");
}

/* The configuration with the highest speed relative to plain decoding. */
static void put_best(FILE *out, const cli_comparison *b)
{
    size_t best = 0;
    double speedup = 1;
    for (size_t i = 1; i < b->configs.n; i++) {
        const cli_summary s = cli_bench_summary(b, i, NULL);
        if (!b->configs.items[i].speculates || !(s.speedup > speedup)) continue;
        best = i;
        speedup = s.speedup;
    }
    fputs("<p class=\"best\">", out);
    if (best == 0) {
        fputs("Nothing here is faster than plain decoding.</p>\n", out);
        return;
    }
    fputs("Fastest: <b>", out);
    cli_put_html(out, b->configs.items[best].name);
    fprintf(out, "</b>, <b>%.2f&times;</b> the speed of plain decoding over ", speedup);
    put_answers(out, cli_bench_summary(b, best, NULL).n_answers);
    fputs(".</p>\n", out);
}

static void put_fact(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<dt>%s</dt><dd>", name);
    cli_put_html(out, text);
    fputs("</dd>", out);
}

static void put_facts(FILE *out, const cli_comparison *b)
{
    const cli_options *o = b->engine->options;
    char limit[32];
    fputs("<dl>", out);
    for (size_t i = 0; i < b->provenance.n; i++)
        put_fact(out, b->provenance.facts[i].name, b->provenance.facts[i].text);
    put_fact(out, "prompts", o->prompts);
    fprintf(out, "<dt>answers</dt><dd>%zu prompt%s, %zu round%s, up to %s, ", b->questions.n,
            b->questions.n == 1 ? "" : "s", b->n_rounds, b->n_rounds == 1 ? "" : "s", cli_bench_limit(b, limit));
    if (o->session.sampling.temperature == 0) fputs("greedy", out);
    else fprintf(out, "temperature %g", (double)o->session.sampling.temperature);
    fputs("; every configuration answered each prompt in turn</dd></dl>\n", out);
    if (b->questions.n_bad == 0) return;
    fprintf(out, "<details><summary>%zu line%s of the prompt file left out</summary><ul>", b->questions.n_bad,
            b->questions.n_bad == 1 ? " is" : "s are");
    for (size_t i = 0; i < b->questions.n_bad; i++) {
        fprintf(out, "<li>line %d: ", b->questions.bad[i].line);
        cli_put_html(out, b->questions.bad[i].reason);
        fputs("</li>", out);
    }
    fputs("</ul></details>\n", out);
}

static size_t table_width(const cli_comparison *b)
{
    size_t longest = 0;
    for (size_t i = 0; i < b->configs.n; i++)
        if (strlen(b->configs.items[i].name) > longest) longest = strlen(b->configs.items[i].name);
    return 46 + longest / 2;
}

static void put_head(FILE *out, const cli_comparison *b)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\"><title>vouch bench</title>\n",
          out);
    cli_bench_style(out, b->configs.n - 1, table_width(b));
    fputs("</head><body>\n<h1>Speculative decoding, measured against plain decoding</h1>\n", out);
    if (b->interrupted)
        fprintf(out,
                "<p class=\"bad\">Interrupted: %zu of %zu answers of each config are complete; the report covers "
                "these.</p>\n",
                b->n_complete, b->questions.n * b->n_rounds);
    if (b->n_complete > 0) put_best(out, b);
    put_facts(out, b);
}

/* --------------------------------------------------------------------- table */

void cli_bench_cell(FILE *out, int decimals, const char *unit, double x)
{
    if (isfinite(x)) fprintf(out, "<td>%.*f%s</td>", decimals, x, unit);
    else fputs("<td>&ndash;</td>", out);
}

static void put_config(FILE *out, const cli_comparison *b, size_t i, const cli_summary *s)
{
    if (i == 0) fputs("<tr><td><i style=\"background:var(--n)\"></i>", out);
    else fprintf(out, "<tr><td><i style=\"background:var(--c%zu)\"></i>", i - 1);
    cli_put_html(out, b->configs.items[i].name);
    fputs("</td>", out);
    cli_bench_cell(out, 2, "&times;", s->speedup);
    cli_bench_cell(out, 2, "&times;", s->theory_speedup);
    cli_bench_cell(out, 1, "", s->rates.tokens_per_second);
    if (isfinite(s->slow)) fprintf(out, "<td>%.1f to %.1f</td>", s->slow, s->fast);
    else cli_bench_cell(out, 1, "", s->slow);
    cli_bench_cell(out, 2, "", s->rates.tokens_per_cycle);
    cli_bench_cell(out, 2, "", s->theory_tokens_per_cycle);
    cli_bench_cell(out, 1, " %", 100 * s->rates.acceptance_rate);
    cli_bench_cell(out, 1, " %", 100 * s->rates.full_accept_fraction);
    fprintf(out, "<td>%zu%s</td></tr>\n", s->n_answers, s->n_answers < CLI_FEW ? "*" : "");
}

static void put_configs(FILE *out, const cli_comparison *b)
{
    size_t n_different = 0;
    fputs("<section class=\"box\"><h2>Configurations</h2>"
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Configurations\"><table>"
          "<tr><th>drafters</th><th>speed relative to plain decoding</th><th>predicted</th>"
          "<th>tokens/s</th><th>of 80 % of the answers</th><th>tokens per cycle</th><th>predicted</th>"
          "<th>guesses accepted</th><th>drafts accepted as a whole</th><th>answers</th></tr>\n",
          out);
    for (size_t i = 0; i < b->configs.n; i++) {
        const cli_summary s = cli_bench_summary(b, i, NULL);
        n_different += s.n_different;
        put_config(out, b, i, &s);
    }
    fputs("</table></div><p class=\"hint\">The table is wider than the window: scroll it sideways.</p>"
          "<p class=\"d\">Predicted: by the formula of arXiv 2211.17192 from the acceptance rate and the cost curve "
          "measured here, if every guess were accepted with the same probability. Of 80 % of the answers: a tenth of "
          "the answers is slower than this range, a tenth faster.</p>\n",
          out);
    if (b->n_complete < CLI_FEW)
        fprintf(out, "<p class=\"d\">* fewer than %d answers: other prompts may give quite other figures.</p>\n",
                CLI_FEW);
    const double lenience = cli_configs_lenience(&b->configs, b->engine);
    if (lenience < 1)
        fprintf(out,
                "<p class=\"bad\">Lossy: with lenience %g no token becomes more than 1 / %g times as likely.</p>\n",
                lenience, lenience);
    if (n_different > 0)
        fprintf(out, "<p class=\"bad\">%zu answers differ from those of the target alone: please report it.</p>\n",
                n_different);
    fputs("</section>\n", out);
}

/* --------------------------------------------------------------------- plots */

/* The names of the configs from `first` on. The caller frees the array, not the names. */
static const char **config_names(const cli_comparison *b, size_t first)
{
    const char **names = calloc(b->configs.n, sizeof *names);
    for (size_t i = first; names && i < b->configs.n; i++) names[i - first] = b->configs.items[i].name;
    return names;
}

/* One plot for each category and one for all, on the same scale. values [n_categories + 1][n]. */
static void put_categories(FILE *out, const cli_comparison *b, const char **names, size_t n, double *values)
{
    const size_t n_groups = b->questions.n_categories + 1;
    double largest = 1;
    for (size_t g = 0; g < n_groups; g++)
        for (size_t s = 0; s < n; s++) {
            const char *category = g == 0 ? NULL : b->questions.categories[g - 1];
            const double speedup = cli_bench_summary(b, s + 1, category).speedup;
            values[g * n + s] = speedup;
            if (isfinite(speedup)) largest = fmax(largest, speedup);
        }
    fputs("<section><h2>Speed relative to plain decoding, by category</h2>\n", out);
    cli_plot_legend(out, names, n, 'c');
    fputs("<div class=\"categories\">\n", out);
    for (size_t g = n_groups == 2; g < n_groups; g++) { /* for a single category, the plot of all would repeat it */
        const char *category = g == 0 ? NULL : b->questions.categories[g - 1];
        const size_t n_answers = cli_bench_summary(b, 0, category).n_answers;
        if (n_answers == 0) continue;
        fputs("<figure><figcaption>", out);
        if (category) cli_put_html(out, category);
        else fputs("<b>all categories</b>", out);
        fputs("<span class=\"d\">, ", out);
        put_answers(out, n_answers);
        fputs("</span></figcaption>\n", out);
        cli_plot_bars(out, &(cli_bars){names, values + g * n, n, largest, 1, "1.00\xc3\x97 plain", "\xc3\x97"});
        fputs("</figure>\n", out);
    }
    fputs("</div>\n", out);
    if (b->n_complete / b->questions.n_categories < CLI_FEW)
        fprintf(out, "<p class=\"d\">* fewer than %d answers of each configuration.</p>\n", CLI_FEW);
    fputs("</section>\n", out);
}

/* One row for each config; the first one names the category. */
static void put_category_rows(FILE *out, const cli_comparison *b, const char *category)
{
    const size_t n_answers = cli_bench_summary(b, 0, category).n_answers;
    for (size_t i = 1; i < b->configs.n && n_answers > 0; i++) {
        const cli_summary s = cli_bench_summary(b, i, category);
        fputs("<tr><td>", out);
        if (i == 1) cli_put_html(out, category);
        fprintf(out, "</td><td><i style=\"background:var(--c%zu)\"></i>", i - 1);
        cli_put_html(out, b->configs.items[i].name);
        fputs("</td>", out);
        cli_bench_cell(out, 2, "&times;", s.speedup);
        cli_bench_cell(out, 2, "", s.rates.tokens_per_cycle);
        cli_bench_cell(out, 1, " %", 100 * s.rates.acceptance_rate);
        fprintf(out, "<td>%zu%s</td></tr>\n", n_answers, n_answers < CLI_FEW ? "*" : "");
    }
}

static void put_category_table(FILE *out, const cli_comparison *b)
{
    fputs("<section class=\"box\"><h2>By category</h2>"
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"By category\"><table>"
          "<tr><th>category</th><th>drafters</th><th>speed relative to plain decoding</th><th>tokens per cycle</th>"
          "<th>guesses accepted</th><th>answers</th></tr>\n",
          out);
    for (size_t c = 0; c < b->questions.n_categories; c++) put_category_rows(out, b, b->questions.categories[c]);
    fputs("</table></div><p class=\"hint\">The table is wider than the window: scroll it sideways.</p></section>\n",
          out);
}

static bool put_speedups(FILE *out, const cli_comparison *b)
{
    const size_t n = b->configs.n - 1;
    const char **names = config_names(b, 1);
    double *values = calloc((b->questions.n_categories + 1) * n, sizeof *values);
    const bool ok = names && values;
    if (ok) put_categories(out, b, names, n, values);
    free(names);
    free(values);
    return ok;
}

/* Writes acceptance rates in % and numbers of guesses [n][deepest] by draft position. Returns deepest, the depth of the
 * deepest draft. */
static size_t acceptance_collect(const cli_comparison *b, size_t n, double *rates, int64_t *counts)
{
    size_t deepest = 0;
    for (size_t i = 0; i < n; i++) {
        const vouch_stats sum = cli_bench_summary(b, i + 1, NULL).sum;
        if (cli_draft_depth(&sum) > deepest) deepest = cli_draft_depth(&sum);
    }
    for (size_t i = 0; i < n; i++) {
        const vouch_stats sum = cli_bench_summary(b, i + 1, NULL).sum;
        for (size_t d = 0; d < deepest; d++) {
            counts[i * deepest + d] = sum.drafted_at[d];
            rates[i * deepest + d] = 100 * cli_ratio((double)sum.accepted_at[d], (double)sum.drafted_at[d]);
        }
    }
    return deepest;
}

static bool put_acceptance(FILE *out, const cli_comparison *b)
{
    const size_t n = b->configs.n - 1;
    const char **names = config_names(b, 1);
    double x[VOUCH_MAX_DRAFT], *rates = calloc(n * VOUCH_MAX_DRAFT, sizeof *rates);
    int64_t *counts = calloc(n * VOUCH_MAX_DRAFT, sizeof *counts);
    const bool ok = names && rates && counts;
    const size_t deepest = ok ? acceptance_collect(b, n, rates, counts) : 0;
    for (size_t d = 0; d < deepest; d++) x[d] = (double)d + 1;
    if (deepest > 0) {
        bool few = false;
        for (size_t i = 0; i < n * deepest; i++) few |= counts[i] > 0 && counts[i] < CLI_FEW;
        fputs("<section><h2>Acceptance rate by draft position</h2>\n", out);
        cli_plot_legend(out, names, n, 'c');
        cli_plot_lines(out, &(cli_lines){.x = x,
                                         .y = rates,
                                         .counts = counts,
                                         .n_points = deepest,
                                         .n_series = n,
                                         .names = names,
                                         .x_label = "position in the draft",
                                         .y_label = "% of the guesses drafted there"});
        if (few) fprintf(out, "<p class=\"d\">Hollow point: fewer than %d guesses.</p>\n", CLI_FEW);
        fputs("</section>\n", out);
    }
    free(names);
    free(rates);
    free(counts);
    return ok;
}

static void put_costs(FILE *out, const cli_comparison *b)
{
    double x[CLI_MOST_COST_POINTS], y[CLI_MOST_COST_POINTS];
    int64_t counts[CLI_MOST_COST_POINTS];
    size_t n = 0;
    bool few = false;
    for (size_t i = 0; i < b->costs.n; i++) {
        if (b->costs.items[i].n == 0) continue;
        x[n] = b->costs.items[i].rows;
        counts[n] = b->costs.items[i].n;
        few |= counts[n] < CLI_FEW;
        y[n++] = b->costs.items[i].seconds * 1e3;
    }
    if (n == 0) return;
    fputs("<section><h2>Cost curve t(n): time of a pass of n rows</h2>\n", out);
    cli_plot_lines(out, &(cli_lines){.x = x,
                                     .y = y,
                                     .counts = counts,
                                     .n_points = n,
                                     .n_series = 1,
                                     .x_label = "rows",
                                     .y_label = "milliseconds, median"});
    if (few) fprintf(out, "<p class=\"d\">Hollow point: fewer than %d measurements.</p>\n", CLI_FEW);
    fputs("</section>\n", out);
}

static bool put_time(FILE *out, const cli_comparison *b)
{
    enum { PARTS = 4 };
    static const char *const parts[PARTS] = {"target's passes", "drafting", "judging", "rest"};
    const char **names = config_names(b, 0);
    double *values = calloc(b->configs.n * PARTS, sizeof *values);
    const bool ok = names && values;
    for (size_t i = 0; ok && i < b->configs.n; i++) {
        const vouch_stats s = cli_bench_summary(b, i, NULL).sum;
        const double per_token = cli_ratio(1e3, (double)s.generated_tokens);
        const double rest = s.decode_seconds - s.verify_seconds - s.draft_seconds - s.judge_seconds;
        const double ms[PARTS] = {s.verify_seconds * per_token, s.draft_seconds * per_token,
                                  s.judge_seconds * per_token, fmax(rest, 0) * per_token};
        memcpy(values + i * PARTS, ms, sizeof ms);
    }
    if (ok) {
        fputs("<section><h2>Milliseconds per token, by part</h2>\n", out);
        cli_plot_legend(out, parts, PARTS, 'p');
        cli_plot_stacks(out, &(cli_stacks){names, parts, b->configs.n, PARTS, values, " ms"});
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
        ok = b->configs.n == 1 || put_speedups(out, b);
        if (b->configs.n > 1) put_category_table(out, b);
        fputs("<div class=\"plots\">\n", out);
        ok = ok && (b->configs.n == 1 || put_acceptance(out, b));
        put_costs(out, b);
        ok = ok && put_time(out, b);
        fputs("</div>\n", out);
    }
    fputs("</body></html>\n", out);
    return ok;
}

int cli_bench_write_html(const cli_comparison *b)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_flag_fail("html", &err);
    const bool whole = page_put(sheet.out, b);
    if (whole)
        return cli_sheet_save(&sheet, b->engine->options->bench.html, &err) ? cli_flag_fail("html", &err) : CLI_DONE;
    cli_sheet_drop(&sheet);
    return cli_flag_fail("html", &err);
}
