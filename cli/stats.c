/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "file.h"

/* Figures that follow from the counts. NAN: not applicable here. */
typedef struct figures {
    const vouch_stats *counts;
    double tokens_per_second, acceptance_rate, expected_acceptance, tokens_per_cycle, full_accept_fraction;
    double plain_tokens_per_second, speedup;
    int64_t peak_memory_bytes;
    int32_t n_threads;
} figures;

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static figures figures_compute(const cli_engine *engine)
{
    const vouch_stats *s = vouch_session_stats(engine->session);
    const int32_t n_threads = engine->options->session.n_threads;
    double pass = NAN;
    struct rusage usage;
    vouch_error err;
    if (vouch_session_time_pass(engine->session, 1, 5, &pass, &err)) pass = NAN;
    figures f = {.counts = s,
                 .tokens_per_second = ratio((double)s->generated_tokens, s->decode_seconds),
                 .acceptance_rate = ratio((double)s->accepted, (double)s->drafted),
                 .expected_acceptance = ratio(s->expected_acceptance_sum, (double)s->judged),
                 .tokens_per_cycle = ratio((double)s->generated_tokens, (double)s->cycles),
                 .full_accept_fraction = ratio((double)s->full_accepts, (double)s->draft_cycles),
                 .plain_tokens_per_second = ratio(1, pass),
                 .n_threads = n_threads ? n_threads : vouch_cpu_count()};
    f.speedup = ratio(f.tokens_per_second, f.plain_tokens_per_second);
    if (getrusage(RUSAGE_SELF, &usage) == 0) f.peak_memory_bytes = (int64_t)usage.ru_maxrss * 1024;
    return f;
}

/* ----------------------------------------------------------------- summary */

static void print_percent(const char *label, double share)
{
    if (!isnan(share)) fprintf(stderr, "%s%.1f %%", label, 100 * share);
}

static void stats_print(const cli_engine *engine, const figures *f)
{
    const vouch_stats *s = f->counts;
    fprintf(stderr, "prompt    %lld tokens in %.3f s", (long long)s->prompt_tokens, s->prefill_seconds);
    if (s->prefill_seconds > 0)
        fprintf(stderr, ", %.1f tokens/s", (double)s->prompt_tokens / s->prefill_seconds);
    fprintf(stderr, "\nanswer    %lld tokens in %.3f s", (long long)s->generated_tokens, s->decode_seconds);
    if (!isnan(f->tokens_per_second)) fprintf(stderr, ", %.1f tokens/s", f->tokens_per_second);
    if (!isnan(f->speedup))
        fprintf(stderr, ", %.2fx plain decoding (%.1f)", f->speedup, f->plain_tokens_per_second);
    fprintf(stderr, "\ndrafter   %s: %lld cycles", vouch_session_drafter(engine->session),
            (long long)s->cycles);
    if (!isnan(f->tokens_per_cycle)) fprintf(stderr, ", %.2f tokens a cycle", f->tokens_per_cycle);
    if (s->drafted > 0) {
        fprintf(stderr, "; %lld drafted, %lld accepted", (long long)s->drafted, (long long)s->accepted);
        print_percent(", ", f->acceptance_rate);
        print_percent(", all of a draft ", f->full_accept_fraction);
    }
    int n_drafters = 0;
    for (int i = 0; i < VOUCH_DRAFTERS; i++) n_drafters += s->drafted_by[i] > 0;
    for (int i = 0; i < VOUCH_DRAFTERS && n_drafters > 1; i++)
        if (s->drafted_by[i] > 0)
            fprintf(stderr, "\n          %s: %lld drafted, %lld accepted", vouch_drafter_name(i),
                    (long long)s->drafted_by[i], (long long)s->accepted_by[i]);
    fprintf(stderr, "\ntime      draft %.3f s, verify %.3f s, judge %.3f s; load %.3f s\n", s->draft_seconds,
            s->verify_seconds, s->judge_seconds, engine->load_seconds);
    fprintf(stderr, "machine   %s, %d threads, at most %.0f MB of memory, drafters %.1f MB; seed %llu\n",
            vouch_model_get_info(engine->model)->cpu, f->n_threads, (double)f->peak_memory_bytes * 1e-6,
            (double)vouch_session_drafter_memory(engine->session) * 1e-6,
            (unsigned long long)engine->options->session.sampling.seed);
}

/* -------------------------------------------------------------------- JSON */

static json_t *real_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *counts_json(const int64_t *counts, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(array, json_integer(counts[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* Integers of JSON end at 2^63 - 1 here: a seed beyond is a text of its digits. */
static json_t *seed_json(uint64_t seed)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_string(digits);
}

/* {"ngram": 12}: of those that drafted. */
static json_t *by_drafter_json(const int64_t *counts, const int64_t *drafted)
{
    json_t *object = json_object();
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (drafted[i] > 0) json_object_set_new(object, vouch_drafter_name(i), json_integer(counts[i]));
    return object;
}

/* Places up to the deepest draft, so that arrays carry no tail of zeros. */
static size_t deepest_place(const vouch_stats *s)
{
    size_t n = VOUCH_MAX_DRAFT;
    while (n > 0 && s->drafted_at[n - 1] == 0) n--;
    return n;
}

static size_t most_guesses(const vouch_stats *s)
{
    size_t n = VOUCH_MAX_DRAFT;
    while (n > 0 && s->depth_histogram[n] == 0) n--;
    return n;
}

static json_t *stats_json(const cli_engine *engine, const cli_reply *reply, const figures *f)
{
    const vouch_stats *s = f->counts;
    const size_t depth = deepest_place(s);
    const struct {
        const char *key;
        json_t *value;
    } entries[] = {
        {"prompt_tokens", json_integer(s->prompt_tokens)},
        {"prefill_seconds", real_or_null(s->prefill_seconds)},
        {"generated_tokens", json_integer(s->generated_tokens)},
        {"decode_seconds", real_or_null(s->decode_seconds)},
        {"tokens_per_second", real_or_null(f->tokens_per_second)},
        {"cycles", json_integer(s->cycles)},
        {"drafted", json_integer(s->drafted)},
        {"accepted", json_integer(s->accepted)},
        {"acceptance_rate", real_or_null(f->acceptance_rate)},
        {"expected_acceptance", real_or_null(f->expected_acceptance)},
        {"tokens_per_cycle", real_or_null(f->tokens_per_cycle)},
        {"full_accept_fraction", real_or_null(f->full_accept_fraction)},
        {"accepted_per_position", counts_json(s->accepted_at, depth)},
        {"drafted_per_position", counts_json(s->drafted_at, depth)},
        {"accepted_per_drafter", by_drafter_json(s->accepted_by, s->drafted_by)},
        {"drafted_per_drafter", by_drafter_json(s->drafted_by, s->drafted_by)},
        {"draft_seconds", real_or_null(s->draft_seconds)},
        {"verify_seconds", real_or_null(s->verify_seconds)},
        {"judge_seconds", real_or_null(s->judge_seconds)},
        {"plain_tokens_per_second", real_or_null(f->plain_tokens_per_second)},
        {"speedup", real_or_null(f->speedup)},
        {"load_seconds", real_or_null(engine->load_seconds)},
        {"peak_memory_bytes", json_integer(f->peak_memory_bytes)},
        {"drafter", json_string(vouch_session_drafter(engine->session))},
        {"depth_histogram", counts_json(s->depth_histogram, most_guesses(s) + 1)},
        {"session_memory_bytes", json_integer((json_int_t)vouch_session_memory(engine->session))},
        {"drafter_memory_bytes", json_integer((json_int_t)vouch_session_drafter_memory(engine->session))},
        {"seed", seed_json(engine->options->session.sampling.seed)},
        {"cpu", json_string(vouch_model_get_info(engine->model)->cpu)},
        {"threads", json_integer(f->n_threads)},
        {"lenience", json_real(engine->options->session.speculation.lenience)},
        {"finish", json_string(cli_reply_finish(reply))},
        {"trace", json_incref(reply->trace)},
    };
    json_t *object = json_object();
    bool ok = object != NULL;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].key, "trace") == 0 && !entries[i].value) continue;
        if (json_object_set_new(object, entries[i].key, entries[i].value) != 0) ok = false;
    }
    if (ok) return object;
    json_decref(object);
    return NULL;
}

int cli_stats_report(const cli_engine *engine, const cli_reply *reply)
{
    const cli_options *options = engine->options;
    if (!options->stats && !options->stats_json) return CLI_DONE;
    const figures f = figures_compute(engine);
    if (options->stats) stats_print(engine, &f);
    if (!options->stats_json) return CLI_DONE;
    json_t *object = stats_json(engine, reply, &f);
    vouch_error err;
    const vouch_status status = cli_file_write_json(options->stats_json, object, &err);
    json_decref(object);
    if (!status) return CLI_DONE;
    cli_complain("--stats-json: %s", err.message);
    return CLI_FAILED;
}
