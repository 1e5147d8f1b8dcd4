/* SPDX-License-Identifier: MIT */
#include "run/stats.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/os.h"
#include "report/rates.h"
#include "report/sheet.h"
#include "tool/file.h"
#include "tool/json.h"
#include "tool/sampling.h"

/* Figures of one run. NAN: the figure doesn't apply. */
typedef struct figures {
    const vouch_stats *counts;
    cli_rates of; /* rates of these counts */
    double plain_tokens_per_second, speedup, predicted_tokens_per_second;
    double processor_share; /* of the time of steps and plain passes in which this thread ran, the lower one */
    int64_t peak_memory_bytes;
    int32_t n_threads;
} figures;

/* Measures plain passes to compare with, except after an interrupt: then the user doesn't want to wait. */
static figures figures_compute(const cli_engine *engine, const cli_reply *reply, bool interrupted)
{
    const vouch_stats *s = vouch_session_stats(engine->session);
    const int32_t n_threads = engine->options->session.n_threads;
    double pass = NAN;
    vouch_error err;
    const double wall = tool_now(), processor = tool_processor_seconds();
    if (interrupted || vouch_session_time_pass(engine->session, 1, 5, &pass, &err)) pass = NAN;
    const double share = cli_ratio(tool_processor_seconds() - processor, tool_now() - wall);
    figures f = {.counts = s,
                 .of = cli_rates_of(s),
                 .plain_tokens_per_second = cli_ratio(1, pass),
                 .predicted_tokens_per_second = cli_ratio(s->predicted_tokens, s->predicted_seconds),
                 .n_threads = n_threads ? n_threads : vouch_cpu_count()};
    f.speedup = cli_ratio(f.of.tokens_per_second, f.plain_tokens_per_second);
    /* More threads than processors take these from each other. fmin leaves NAN out. */
    f.processor_share =
        f.n_threads > vouch_cpu_count() ? NAN : fmin(cli_ratio(reply->processor_seconds, reply->seconds), share);
    f.peak_memory_bytes = vouch_os_memory_peak();
    return f;
}

/* Greedy text is the target's own with any lenience. */
static bool is_lossless(const cli_engine *engine)
{
    return vouch_session_stats(engine->session)->lenient_cycles == 0 ||
           engine->options->session.sampling.temperature == 0;
}

/* ----------------------------------------------------------------- summary */

static void print_percent(FILE *out, const char *label, double share)
{
    if (!isnan(share)) fprintf(out, "%s%.1f %%", label, 100 * share);
}

/* Other programs took the processors for so long that neither speed nor ratio mean much. */
static bool is_busy(const figures *f)
{
    return f->processor_share < 0.9;
}

static void stats_write(FILE *out, const cli_engine *engine, size_t n_hidden, const figures *f)
{
    const vouch_stats *s = f->counts;
    fprintf(out, "prompt    %lld tokens in %.3f s", (long long)s->prompt_tokens, s->prefill_seconds);
    if (s->prompt_tokens > 1 && s->prefill_seconds > 0)
        fprintf(out, ", %.1f tokens/s", (double)s->prompt_tokens / s->prefill_seconds);
    fprintf(out, "\nanswer    %lld tokens in %.3f s", (long long)s->generated_tokens, s->decode_seconds);
    if (!isnan(f->of.tokens_per_second)) fprintf(out, ", %.1f tokens/s", f->of.tokens_per_second);
    if (s->thought_tokens > 0) fprintf(out, ", %lld of thoughts", (long long)s->thought_tokens);
    if (!isnan(f->speedup) && s->drafted > 0)
        fprintf(out, ", %.2fx plain decoding (%.1f)%s", f->speedup, f->plain_tokens_per_second,
                is_busy(f) ? " on a busy machine" : "");
    if (!isnan(f->predicted_tokens_per_second)) fprintf(out, ", pace expected %.1f", f->predicted_tokens_per_second);
    fprintf(out, "\ndrafter   %s: %lld cycles", vouch_session_drafter(engine->session), (long long)s->cycles);
    if (!isnan(f->of.tokens_per_cycle)) fprintf(out, ", %.2f tokens per cycle", f->of.tokens_per_cycle);
    if (s->drafted > 0) {
        fprintf(out, "; %lld drafted, %lld accepted", (long long)s->drafted, (long long)s->accepted);
        print_percent(out, ", ", f->of.acceptance_rate);
        print_percent(out, "; whole drafts accepted ", f->of.full_accept_fraction);
    }
    int n_drafters = 0;
    for (int i = 0; i < VOUCH_DRAFTERS; i++) n_drafters += s->drafted_by[i] > 0;
    for (int i = 0; i < VOUCH_DRAFTERS && n_drafters > 1; i++)
        if (s->drafted_by[i] > 0)
            fprintf(out, "\n          %s: %lld drafted, %lld accepted", vouch_drafter_name(i),
                    (long long)s->drafted_by[i], (long long)s->accepted_by[i]);
    fprintf(out, "\nrule      %s, ", vouch_session_rule(engine->session));
    if (is_lossless(engine)) fprintf(out, "lossless");
    else
        fprintf(out, "lossy: lenience %g in %lld cycles, so a token had at most p / %g",
                engine->options->session.speculation.lenience, (long long)s->lenient_cycles,
                engine->options->session.speculation.lenience);
    fprintf(out, "\ntime      draft %.3f s, verify %.3f s, judge %.3f s; load %.3f s\n", s->draft_seconds,
            s->verify_seconds, s->judge_seconds, engine->load_seconds);
    if (n_hidden > 0) fprintf(out, "hidden    %zu bytes of thoughts (--think hide)\n", n_hidden);
    if (is_busy(f))
        fprintf(out,
                "busy      other programs took the processor for %.0f %% of the time: measure again when they "
                "rest\n",
                100 * (1 - f->processor_share));
    char sampling[TOOL_SAMPLING_SIZE];
    fprintf(out, "sampling  %s; seed %llu\n", tool_sampling_text(&engine->options->session.sampling, 0, "", sampling),
            (unsigned long long)engine->options->session.sampling.seed);
    fprintf(out, "machine   %s, %d threads, peak memory %.0f MB\n", vouch_model_get_info(engine->model)->cpu,
            f->n_threads, (double)f->peak_memory_bytes * 1e-6);
}

/* Returns the command's exit status. */
static int stats_print(const cli_engine *engine, size_t n_hidden, const figures *f)
{
    cli_sheet sheet;
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory for the statistics"};
    if (!cli_sheet_open(&sheet)) return cli_engine_fail(&err);
    stats_write(sheet.out, engine, n_hidden, f);
    return cli_sheet_show(&sheet, stderr, &err) ? cli_engine_fail(&err) : CLI_DONE;
}

/* -------------------------------------------------------------------- JSON */

/* {"ngram": 12}: one entry for each drafter that drafted. */
static json_t *by_drafter_json(const int64_t *counts, const int64_t *drafted)
{
    json_t *object = json_object();
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (drafted[i] > 0) json_object_set_new(object, vouch_drafter_name(i), json_integer(counts[i]));
    return object;
}

static json_t *stats_json(const cli_engine *engine, const cli_reply *reply, const figures *f)
{
    const vouch_stats *s = f->counts;
    const vouch_sampling *sampling = &engine->options->session.sampling;
    const size_t depth = cli_draft_depth(s);
    const tool_json_entry entries[] = {
        {"prompt_tokens", json_integer(s->prompt_tokens)},
        {"prefill_seconds", tool_json_real(s->prefill_seconds)},
        {"generated_tokens", json_integer(s->generated_tokens)},
        {"thought_tokens", json_integer(s->thought_tokens)},
        {"decode_seconds", tool_json_real(s->decode_seconds)},
        {"tokens_per_second", tool_json_real(f->of.tokens_per_second)},
        {"cycles", json_integer(s->cycles)},
        {"drafted", json_integer(s->drafted)},
        {"accepted", json_integer(s->accepted)},
        {"acceptance_rate", tool_json_real(f->of.acceptance_rate)},
        {"expected_acceptance", tool_json_real(f->of.expected_acceptance)},
        {"tokens_per_cycle", tool_json_real(f->of.tokens_per_cycle)},
        {"full_accept_fraction", tool_json_real(f->of.full_accept_fraction)},
        {"accepted_per_position", tool_json_counts(s->accepted_at, depth)},
        {"drafted_per_position", tool_json_counts(s->drafted_at, depth)},
        {"accepted_per_drafter", by_drafter_json(s->accepted_by, s->drafted_by)},
        {"drafted_per_drafter", by_drafter_json(s->drafted_by, s->drafted_by)},
        {"draft_seconds", tool_json_real(s->draft_seconds)},
        {"verify_seconds", tool_json_real(s->verify_seconds)},
        {"judge_seconds", tool_json_real(s->judge_seconds)},
        {"plain_tokens_per_second", tool_json_real(f->plain_tokens_per_second)},
        {"speedup", tool_json_real(f->speedup)},
        {"processor_share", tool_json_real(f->processor_share)},
        {"predicted_tokens_per_second", tool_json_real(f->predicted_tokens_per_second)},
        {"load_seconds", tool_json_real(engine->load_seconds)},
        {"peak_memory_bytes", json_integer(f->peak_memory_bytes)},
        {"drafter", json_string(vouch_session_drafter(engine->session))},
        {"depth_histogram", tool_json_counts(s->depth_histogram, cli_most_guesses(s) + 1)},
        {"session_memory_bytes", json_integer((json_int_t)vouch_session_memory(engine->session))},
        {"drafter_memory_bytes", json_integer((json_int_t)vouch_session_drafter_memory(engine->session))},
        {"seed", tool_json_seed(sampling->seed)},
        {"cpu", json_string(vouch_model_get_info(engine->model)->cpu)},
        {"threads", json_integer(f->n_threads)},
        {"accept", json_string(vouch_session_rule(engine->session))},
        {"lossless", json_boolean(is_lossless(engine))},
        {"lenience", json_real(engine->options->session.speculation.lenience)},
        {"finish", json_string(cli_finish_name(reply->finish))},
        {"trace", json_incref(reply->trace)}, /* last, because it may be absent */
    };
    json_t *object = tool_json_object(entries, sizeof entries / sizeof *entries - (reply->trace ? 0 : 1));
    return tool_sampling_add(object, sampling);
}

void cli_stats_open(const cli_engine *engine)
{
    if (!engine->options->stats) return;
    const vouch_model_info *draft = engine->draft ? vouch_model_get_info(engine->draft) : NULL;
    const int64_t weights = vouch_model_get_info(engine->model)->packed_bytes + (draft ? draft->packed_bytes : 0);
    fprintf(stderr, "memory    weights %.1f MB, session %.1f MB, of which drafters %.1f MB\n", (double)weights * 1e-6,
            (double)vouch_session_memory(engine->session) * 1e-6,
            (double)vouch_session_drafter_memory(engine->session) * 1e-6);
}

void cli_stats_show(const cli_engine *engine, const cli_reply *reply)
{
    const figures f = figures_compute(engine, reply, false);
    (void)stats_print(engine, reply->n_hidden, &f); /* it has told an error; the chat goes on */
}

int cli_stats_report(const cli_engine *engine, const cli_reply *reply)
{
    const cli_options *options = engine->options;
    if (!options->stats && !options->stats_json) return CLI_DONE;
    const figures f = figures_compute(engine, reply, reply->interrupted);
    const int shown = options->stats ? stats_print(engine, reply->n_hidden, &f) : CLI_DONE;
    if (!options->stats_json) return shown;
    json_t *object = stats_json(engine, reply, &f);
    vouch_error err;
    const vouch_status status = tool_file_write_json(options->stats_json, object, &err);
    json_decref(object);
    return status ? cli_flag_fail("stats-json", &err) : shown;
}
