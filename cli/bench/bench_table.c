/* SPDX-License-Identifier: MIT */
/* The result of a benchmark over prompts as text, at most 80 columns wide unless a drafter's name is long. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "report/plot.h"
#include "report/rates.h"
#include "report/sheet.h"
#include "tool/text.h"

enum { WIDTH = 80, LEAST_NAME = 12, COUNT = 5, CATEGORY = 20, CELL = 7, CELLS = (WIDTH - CATEGORY - COUNT) / CELL };

/* Width of "10 ngram k=4": the column of configurations, which are numbered for the table of categories. */
static int name_width(const cli_comparison *b)
{
    size_t width = LEAST_NAME;
    for (size_t i = 0; i < b->configs.n; i++)
        if (strlen(b->configs.items[i].name) > width) width = strlen(b->configs.items[i].name);
    return (int)width + 3;
}

static void put_name(FILE *out, const cli_comparison *b, size_t i, int width)
{
    fprintf(out, "%2zu %-*s", i, width - 3, b->configs.items[i].name);
}

static void put_head(FILE *out, const cli_comparison *b)
{
    const cli_options *o = b->engine->options;
    char limit[32];
    cli_provenance_print(out, &b->provenance);
    fprintf(out, "prompts    %zu of ", b->questions.n);
    tool_put_escaped(out, o->prompts, strlen(o->prompts), 0);
    fprintf(out, ", %zu round%s\nanswers    up to %s, ", b->n_rounds, b->n_rounds == 1 ? "" : "s",
            cli_bench_limit(b, limit));
    if (o->session.sampling.temperature == 0) fprintf(out, "greedy\n");
    else fprintf(out, "temperature %g\n", (double)o->session.sampling.temperature);
    if (b->interrupted)
        fprintf(out, "interrupted: %zu of %zu answers of each config are complete\n", b->n_complete,
                b->questions.n * b->n_rounds);
    fputc('\n', out);
}

static void put_configs(FILE *out, const cli_comparison *b, int width)
{
    fprintf(out, "%-*s %8s %8s %11s %6s %8s %6s\n", width, "", "speed", "", "of 80 % of", "tokens", "guesses", "whole");
    fprintf(out, "%-*s %8s %8s %11s %6s %8s %6s\n", width, "   drafters", "vs plain", "tokens/s", "answers", "/cycle",
            "accepted", "drafts");
    for (size_t i = 0; i < b->configs.n; i++) {
        const cli_summary s = cli_bench_summary(b, i, NULL);
        char range[40] = "-";
        if (isfinite(s.slow)) snprintf(range, sizeof range, "%.*f to %.*f", s.slow < 10, s.slow, s.fast < 10, s.fast);
        put_name(out, b, i, width);
        tool_put_number(out, 9, 2, "x", s.speedup);
        tool_put_number(out, 9, 1, "", s.rates.tokens_per_second);
        fprintf(out, " %11s", range);
        tool_put_number(out, 7, 2, "", s.rates.tokens_per_cycle);
        tool_put_number(out, 9, 1, " %", 100 * s.rates.acceptance_rate);
        tool_put_number(out, 7, 0, " %", 100 * s.rates.full_accept_fraction);
        fprintf(out, "\n");
    }
    fprintf(out, "\nspeed vs plain: speed relative to plain decoding. of 80 %%: a tenth of the\n"
                 "answers is slower, a tenth faster. whole drafts: all guesses were accepted.\n");
    if (b->n_complete < CLI_FEW)
        fprintf(out, "Fewer than %d answers of each config: other prompts may give other figures.\n", CLI_FEW);
    const double lenience = cli_configs_lenience(&b->configs, b->engine);
    if (lenience < 1)
        fprintf(out, "lossy: with lenience %g no token becomes more than 1 / %g times as likely\n", lenience, lenience);
}

/* Prints the speeds that the formula and pace predict, and the ratio of pace's prediction to the measured speed. */
static void put_predictions(FILE *out, const cli_comparison *b, int width)
{
    fprintf(out, "\n%-*s %10s %10s %14s %14s\n", width, "predicted", "speed", "tokens", "tokens/s", "of the speed");
    fprintf(out, "%-*s %10s %10s %14s %14s\n", width, "   drafters", "vs plain", "/cycle", "by pace", "measured");
    for (size_t i = 1; i < b->configs.n; i++) {
        const cli_summary s = cli_bench_summary(b, i, NULL);
        const double by_pace = cli_ratio(s.sum.predicted_tokens, s.sum.predicted_seconds);
        put_name(out, b, i, width);
        tool_put_number(out, 11, 2, "x", s.theory_speedup);
        tool_put_number(out, 11, 2, "", s.theory_tokens_per_cycle);
        tool_put_number(out, 15, 1, "", by_pace);
        tool_put_number(out, 15, 1, " %", 100 * cli_ratio(by_pace, s.rates.tokens_per_second));
        fprintf(out, "\n");
    }
    fprintf(out, "\npredicted: from the acceptance rate and cost curve measured here, if each guess\n"
                 "were accepted with the same probability. by pace: as vouch itself estimates\n"
                 "when it chooses how much to draft.\n");
}

/* A figure that the report has for each category. */
typedef struct figure {
    const char *title, *unit;
    int decimals;
    double (*of)(const cli_summary *summary);
} figure;

static double speedup_of(const cli_summary *s)
{
    return s->speedup;
}

static double tokens_per_cycle_of(const cli_summary *s)
{
    return s->rates.tokens_per_cycle;
}

static double percent_accepted_of(const cli_summary *s)
{
    return 100 * s->rates.acceptance_rate;
}

/* Prints CELLS configurations side by side, and the next ones below them. */
static void put_categories(FILE *out, const cli_comparison *b, const figure *f)
{
    for (size_t first = 1; first < b->configs.n; first += CELLS) {
        const size_t end = first + CELLS < b->configs.n ? first + CELLS : b->configs.n;
        fprintf(out, "\n%s, by category and number of the config\n", f->title);
        fprintf(out, "%-*s%*s", CATEGORY, "", COUNT, "n");
        for (size_t i = first; i < end; i++) fprintf(out, "%*zu", CELL, i);
        fputc('\n', out);
        for (size_t c = 0; c < b->questions.n_categories; c++) {
            const char *name = b->questions.categories[c];
            const size_t used = tool_put_escaped(out, name, strlen(name), CATEGORY);
            fprintf(out, "%*s%*zu", CATEGORY - (int)used, "", COUNT, cli_bench_summary(b, 0, name).n_answers);
            for (size_t i = first; i < end; i++) {
                const cli_summary s = cli_bench_summary(b, i, name);
                tool_put_number(out, CELL, f->decimals, f->unit, f->of(&s));
            }
            fprintf(out, "\n");
        }
    }
}

static void put_draft_positions(FILE *out, const cli_comparison *b, int width)
{
    enum { RATE = 6, DOTS = 4 };
    bool any = false;
    for (size_t i = 0; i < b->configs.n; i++) {
        const cli_summary s = cli_bench_summary(b, i, NULL);
        const size_t deepest = cli_draft_depth(&s.sum);
        const size_t fit = width + RATE + DOTS < WIDTH ? (size_t)(WIDTH - DOTS - width) / RATE : 1;
        if (deepest == 0) continue;
        if (!any) fprintf(out, "\nacceptance rate by draft position (1, 2, ...), %%\n");
        any = true;
        put_name(out, b, i, width);
        for (size_t d = 0; d < deepest && d < fit; d++)
            tool_put_number(out, RATE, 1, "",
                            100 * cli_ratio((double)s.sum.accepted_at[d], (double)s.sum.drafted_at[d]));
        fprintf(out, deepest > fit ? " ...\n" : "\n");
    }
}

static void put_seconds(FILE *out, const cli_comparison *b, int width)
{
    fprintf(out, "\n%-*s %9s %9s %9s %9s %9s\n", width, "seconds", "prefill", "drafting", "target", "judging", "rest");
    for (size_t i = 0; i < b->configs.n; i++) {
        const vouch_stats s = cli_bench_summary(b, i, NULL).sum;
        put_name(out, b, i, width);
        fprintf(out, " %9.2f %9.2f %9.2f %9.2f %9.2f\n", s.prefill_seconds, s.draft_seconds, s.verify_seconds,
                s.judge_seconds, s.decode_seconds - s.draft_seconds - s.verify_seconds - s.judge_seconds);
    }
}

static void put_cost_row(FILE *out, const cli_cost_point *const *points, size_t n, bool is_rows)
{
    fprintf(out, "%-4s", is_rows ? "rows" : "ms");
    for (size_t i = 0; i < n; i++)
        if (is_rows) fprintf(out, " %8d", points[i]->rows);
        else fprintf(out, " %8.2f", points[i]->seconds * 1e3);
    fputc('\n', out);
}

static void put_costs(FILE *out, const cli_comparison *b)
{
    enum { ON_A_LINE = 8 };
    const cli_cost_point *points[CLI_MOST_COST_POINTS];
    size_t n = 0;
    for (size_t i = 0; i < b->costs.n; i++)
        if (b->costs.items[i].n > 0) points[n++] = &b->costs.items[i];
    if (n > 0) fprintf(out, "\ncost curve: time of a pass by its rows, median\n");
    for (size_t first = 0; first < n; first += ON_A_LINE) {
        const size_t count = n - first < ON_A_LINE ? n - first : ON_A_LINE;
        put_cost_row(out, points + first, count, true);
        put_cost_row(out, points + first, count, false);
    }
}

int cli_bench_print(const cli_comparison *b)
{
    static const figure figures[] = {{"speed relative to plain decoding", "x", 2, speedup_of},
                                     {"tokens per cycle", "", 2, tokens_per_cycle_of},
                                     {"guesses accepted", " %", 0, percent_accepted_of}};
    const int width = name_width(b);
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_engine_fail(&err);
    put_head(sheet.out, b);
    put_configs(sheet.out, b, width);
    for (size_t i = 0; b->configs.n > 1 && i < sizeof figures / sizeof *figures; i++)
        put_categories(sheet.out, b, &figures[i]);
    if (b->configs.n > 1) put_predictions(sheet.out, b, width);
    put_draft_positions(sheet.out, b, width);
    put_seconds(sheet.out, b, width);
    put_costs(sheet.out, b);
    return cli_sheet_print(&sheet, &err) ? cli_engine_fail(&err) : CLI_DONE;
}
