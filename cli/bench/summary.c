/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "tool/statistics.h"

const cli_answered *cli_bench_answer(const cli_comparison *b, size_t question, size_t round, size_t config)
{
    return &b->answers[(question * b->n_rounds + round) * b->configs.n + config];
}

int32_t cli_bench_threads(const cli_comparison *b)
{
    const int32_t given = b->engine->options->session.n_threads;
    return given ? given : vouch_cpu_count();
}

const char *cli_bench_limit(const cli_comparison *b, char text[32])
{
    const int32_t most = b->engine->options->session.max_tokens;
    if (most > 0) snprintf(text, 32, "%d token%s", most, most == 1 ? "" : "s");
    else snprintf(text, 32, "the context's end");
    return text;
}

static bool is_before(const cli_answered *a, const cli_answered *b)
{
    const double x = a->stats.decode_seconds, y = b->stats.decode_seconds;
    return x < y || (x == y && a < b);
}

void cli_bench_close_question(cli_comparison *b, size_t question)
{
    for (size_t config = 0; config < b->configs.n; config++) {
        cli_answered *first = &b->answers[question * b->n_rounds * b->configs.n + config];
        size_t n = 0;
        for (size_t i = 0; i < b->n_rounds; i++) n += first[i * b->configs.n].counts;
        for (size_t i = 0; i < b->n_rounds; i++) {
            cli_answered *answer = &first[i * b->configs.n];
            size_t below = 0;
            for (size_t j = 0; j < b->n_rounds; j++)
                below += first[j * b->configs.n].counts && is_before(&first[j * b->configs.n], answer);
            answer->is_median = answer->counts && below == (n - 1) / 2;
        }
    }
}

/* Adds up the answers of a config. speeds, unless NULL, receives the tokens/s of each answer that took any time by the
 * clock. Returns the number of these answers. */
static size_t sum_up(const cli_comparison *b, size_t config, const char *category, cli_summary *out, double *speeds)
{
    size_t n_speeds = 0;
    for (size_t q = 0; q < b->questions.n; q++) {
        if (category && strcmp(b->questions.items[q].category, category) != 0) continue;
        for (size_t round = 0; round < b->n_rounds; round++) {
            const cli_answered *answer = cli_bench_answer(b, q, round, config);
            if (!answer->counts) continue;
            if (answer->is_median) {
                cli_stats_add(&out->sum, &answer->stats);
                out->n_turns += answer->n_turns;
                out->n_cut += answer->n_cut;
            }
            const double speed = cli_rates_of(&answer->stats).tokens_per_second;
            if (speeds && isfinite(speed)) speeds[n_speeds++] = speed;
            out->n_answers++;
            out->n_different += answer->differs;
        }
    }
    return n_speeds;
}

/* accepted / (accepted + rejections). A cycle with a draft, chain or tree, has one rejection, unless a whole path was
 * accepted or the answer ended with an accepted guess. */
static double guess_holds(const cli_summary *s)
{
    const int64_t rejections = s->sum.draft_cycles - s->sum.full_accepts - s->n_cut;
    return cli_ratio((double)s->sum.accepted, (double)(s->sum.accepted + rejections));
}

cli_summary cli_bench_summary(const cli_comparison *b, size_t config, const char *category)
{
    cli_summary s = {.slow = NAN, .fast = NAN}, plain = {.slow = NAN};
    double *speeds = calloc(b->questions.n * b->n_rounds, sizeof *speeds);
    sum_up(b, 0, category, &plain, NULL);
    const size_t n_speeds = sum_up(b, config, category, &s, speeds);
    if (n_speeds > 0) {
        s.slow = tool_quantile(speeds, n_speeds, 0.1);
        s.fast = tool_quantile(speeds, n_speeds, 0.9);
    }
    free(speeds);
    s.rates = cli_rates_of(&s.sum);
    s.speedup = cli_ratio(s.rates.tokens_per_second, cli_rates_of(&plain.sum).tokens_per_second);
    s.guess_holds = guess_holds(&s);
    s.theory_tokens_per_cycle = cli_theory_tokens_per_cycle(s.guess_holds, &s.sum);
    s.theory_speedup = cli_theory_speedup(s.guess_holds, &s.sum, &plain.sum, &b->costs);
    return s;
}
