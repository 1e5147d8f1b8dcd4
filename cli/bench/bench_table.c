/* SPDX-License-Identifier: MIT */
/* What a benchmark over prompts comes to, as text. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "common/sheet.h"
#include "common/text.h"

/* "12.3", or "-" where there is nothing to say, in so many columns. */
static void put_number(FILE *out, int width, int decimals, const char *unit, double x)
{
    char text[32] = "-";
    if (isfinite(x)) snprintf(text, sizeof text, "%.*f%s", decimals, x, unit);
    fprintf(out, "%*s", width, text);
}

static int name_width(const cli_comparison *b)
{
    size_t width = strlen("target only");
    for (size_t i = 0; i < b->configs.n; i++)
        if (strlen(b->configs.items[i].name) > width) width = strlen(b->configs.items[i].name);
    return (int)width + 1;
}

static int config_width(const cli_comparison *b, size_t config)
{
    const int n = (int)strlen(b->configs.items[config].name);
    return n > 8 ? n : 8;
}

static void put_head(FILE *out, const cli_comparison *b)
{
    const cli_options *o = b->engine->options;
    const vouch_model_info *info = vouch_model_get_info(b->engine->model);
    char limit[32];
    cli_put_escaped(out, o->model, strlen(o->model), 0);
    if (o->draft_model) {
        fprintf(out, ", draft ");
        cli_put_escaped(out, o->draft_model, strlen(o->draft_model), 0);
    }
    fprintf(out, "\n%s, %s, %d threads; ", info->weight_types, info->cpu, cli_bench_threads(b));
    fprintf(out, "%zu prompt%s, %zu round%s, answers to %s, ", b->questions.n, b->questions.n == 1 ? "" : "s",
            b->n_rounds, b->n_rounds == 1 ? "" : "s", cli_bench_limit(b, limit));
    if (o->session.sampling.temperature == 0) fprintf(out, "greedy\n");
    else fprintf(out, "temperature %g\n", (double)o->session.sampling.temperature);
    if (b->interrupted)
        fprintf(out, "interrupted: %zu of %zu answers of each config are complete\n", b->n_complete,
                b->questions.n * b->n_rounds);
    fputc('\n', out);
}

static void put_configs(FILE *out, const cli_comparison *b, int width)
{
    fprintf(out, "%-*s %9s %17s %8s %7s %7s %7s %9s %7s\n", width, "", "tokens/s", "10 to 90 %", "speedup", "theory",
            "a cycle", "theory", "accepted", "whole");
    for (size_t i = 0; i < b->configs.n; i++) {
        const cli_summary s = cli_bench_summary(b, i, NULL);
        char range[40];
        snprintf(range, sizeof range, "%.1f to %.1f", s.slow, s.fast);
        fprintf(out, "%-*s %9.1f %17s", width, b->configs.items[i].name, s.rates.tokens_per_second, range);
        put_number(out, 9, 2, "x", s.speedup);
        put_number(out, 8, 2, "x", s.theory_speedup);
        put_number(out, 8, 2, "", s.rates.tokens_per_cycle);
        put_number(out, 8, 2, "", s.theory_tokens_per_cycle);
        put_number(out, 10, 1, " %", 100 * s.rates.acceptance_rate);
        put_number(out, 8, 1, " %", 100 * s.rates.full_accept_fraction);
        fprintf(out, "\n");
    }
    fprintf(out, "\ntheory: from the acceptance and t(n) measured here, were each guess to hold with the same chance\n"
                 "a cycle: tokens a cycle; accepted: of the guesses; whole: drafts of which all held\n");
    const double lenience = cli_configs_lenience(&b->configs, b->engine);
    if (lenience < 1) fprintf(out, "lossy: with lenience %g no token gets more than p / %g\n", lenience, lenience);
}

static void put_categories(FILE *out, const cli_comparison *b)
{
    enum { NAME = 24 };
    fprintf(out, "\n%-*s", NAME, "speedup");
    for (size_t i = 1; i < b->configs.n; i++) fprintf(out, " %*s", config_width(b, i), b->configs.items[i].name);
    fprintf(out, "\n");
    for (size_t c = 0; c < b->questions.n_categories; c++) {
        const char *name = b->questions.categories[c];
        const size_t used = cli_put_escaped(out, name, strlen(name), NAME);
        fprintf(out, "%*s", NAME - (int)used, "");
        for (size_t i = 1; i < b->configs.n; i++)
            put_number(out, config_width(b, i) + 1, 2, "x", cli_bench_summary(b, i, name).speedup);
        fprintf(out, "\n");
    }
}

/* What pace expected of its cycles, beside what they gave. */
static void put_predictions(FILE *out, const cli_comparison *b, int width)
{
    bool any = false;
    for (size_t i = 0; i < b->configs.n; i++) {
        const cli_summary s = cli_bench_summary(b, i, NULL);
        const double predicted = cli_ratio(s.sum.predicted_tokens, s.sum.predicted_seconds);
        if (isnan(predicted)) continue;
        if (!any) fprintf(out, "\ntokens/s as pace expected them, of those achieved; by category\n");
        any = true;
        fprintf(out, "%-*s %8.1f %%  ", width, b->configs.items[i].name, 100 * predicted / s.rates.tokens_per_second);
        for (size_t c = 0; c < b->questions.n_categories; c++) {
            const cli_summary one = cli_bench_summary(b, i, b->questions.categories[c]);
            put_number(out, 6, 0, "", 100 * cli_ratio(one.sum.predicted_tokens, one.sum.predicted_seconds) /
                                          one.rates.tokens_per_second);
        }
        fprintf(out, "\n");
    }
}

static void put_positions(FILE *out, const cli_comparison *b, int width)
{
    bool any = false;
    for (size_t i = 0; i < b->configs.n; i++) {
        const cli_summary s = cli_bench_summary(b, i, NULL);
        const size_t deepest = cli_draft_depth(&s.sum);
        if (deepest == 0) continue;
        if (!any) fprintf(out, "\naccepted at the 1st, 2nd, ... place of a draft, of those drafted there, %%\n");
        any = true;
        fprintf(out, "%-*s", width, b->configs.items[i].name);
        for (size_t d = 0; d < deepest && d < 12; d++)
            put_number(out, 6, 1, "", 100 * cli_ratio((double)s.sum.accepted_at[d], (double)s.sum.drafted_at[d]));
        fprintf(out, deepest > 12 ? " ...\n" : "\n");
    }
}

static void put_seconds(FILE *out, const cli_comparison *b, int width)
{
    fprintf(out, "\n%-*s %9s %9s %9s %9s %9s\n", width, "seconds", "prefill", "draft", "verify", "judge", "rest");
    for (size_t i = 0; i < b->configs.n; i++) {
        const vouch_stats s = cli_bench_summary(b, i, NULL).sum;
        fprintf(out, "%-*s %9.2f %9.2f %9.2f %9.2f %9.2f\n", width, b->configs.items[i].name, s.prefill_seconds,
                s.draft_seconds, s.verify_seconds, s.judge_seconds,
                s.decode_seconds - s.draft_seconds - s.verify_seconds - s.judge_seconds);
    }
}

static void put_costs(FILE *out, const cli_comparison *b)
{
    const char *between = "\nt(n), ms: ";
    for (size_t i = 0; i < b->costs.n; i++) {
        if (b->costs.items[i].n == 0) continue;
        fprintf(out, "%s%d: %.2f", between, b->costs.items[i].rows, b->costs.items[i].seconds * 1e3);
        between = ", ";
    }
    fputc('\n', out);
}

int cli_bench_print(const cli_comparison *b)
{
    const int width = name_width(b);
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_engine_fail(&err);
    put_head(sheet.out, b);
    put_configs(sheet.out, b, width);
    if (b->configs.n > 1) put_categories(sheet.out, b);
    put_positions(sheet.out, b, width);
    put_predictions(sheet.out, b, width);
    put_seconds(sheet.out, b, width);
    put_costs(sheet.out, b);
    return cli_sheet_print(&sheet, &err) ? cli_engine_fail(&err) : CLI_DONE;
}
