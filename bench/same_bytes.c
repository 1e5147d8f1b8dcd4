/* SPDX-License-Identifier: MIT */
/*
 * Laws L1 and L2 on a real model: the answers to public prompts, greedy, must be the same to the byte without
 * speculation, with every drafter and draft length, with every number of threads, on every instruction set.
 *
 *   same_bytes [--model FILE] [--data FOLDER] [--prompts 8] [--tokens 128] [--cpu ISA] [--threads N]
 *
 * --prompts is the number from each of five sources. The plain C kernels, a hundred times slower, get the two
 * shortest prompts, three ways and an eighth of the tokens. The answers that all others are compared with
 * come from the widest instruction set on one thread without speculation. Ends with the number compared; exit
 * status 1 where two differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bench.h"

typedef struct way {
    const char *name;
    vouch_drafter_kind drafter;
    int32_t k;
} way;

static const way ways[] = {{"none", VOUCH_DRAFTER_NONE, 0},          {"ngram -k 1", VOUCH_DRAFTER_NGRAM, 1},
                           {"ngram -k 4", VOUCH_DRAFTER_NGRAM, 4},   {"ngram -k 8", VOUCH_DRAFTER_NGRAM, 8},
                           {"ngram -k 16", VOUCH_DRAFTER_NGRAM, 16}, {"draft -k 1", VOUCH_DRAFTER_MODEL, 1},
                           {"draft -k 3", VOUCH_DRAFTER_MODEL, 3},   {"draft -k 8", VOUCH_DRAFTER_MODEL, 8}};
enum { N_WAYS = sizeof ways / sizeof *ways, N_SOURCES = 5, MAX_EACH = 80, MAX_THREADS = 3 };

typedef struct run {
    char *prompts[N_SOURCES * MAX_EACH];
    bench_answer expected[N_SOURCES * MAX_EACH];
    int32_t n, n_each, n_tokens;
    long n_compared, n_different;
} run;

static void prompts_load(run *r, const char *data)
{
    static const char *const mt_bench[] = {"writing",    "roleplay", "reasoning",  "math", "coding",
                                           "extraction", "stem",     "humanities", NULL};
    /* One from each category of MT-bench, as far as there are any left. */
    for (int32_t i = 0; i < r->n_each; i++) {
        const char *const one[] = {mt_bench[i % 8], NULL};
        char *texts[MAX_EACH];
        int32_t n = 0;
        bench_prompts(data, "spec_bench.jsonl", one, i / 8 + 1, texts, &n);
        r->prompts[r->n++] = texts[n - 1];
        while (--n > 0) free(texts[n - 1]);
    }
    bench_prompts(data, "spec_bench.jsonl", (const char *const[]){"summarization", NULL}, r->n_each,
                  r->prompts, &r->n);
    bench_prompts(data, "spec_bench.jsonl", (const char *const[]){"qa", NULL}, r->n_each, r->prompts, &r->n);
    bench_prompts(data, "spec_bench.jsonl", (const char *const[]){"math_reasoning", NULL}, r->n_each,
                  r->prompts, &r->n);
    bench_prompts(data, "HumanEval.jsonl", NULL, r->n_each, r->prompts, &r->n);
}

static vouch_session *session_open(const vouch_model *model, const way *w, int32_t n_threads,
                                   int32_t n_tokens)
{
    vouch_session_options options = vouch_session_options_default();
    options.n_threads = n_threads;
    options.max_tokens = n_tokens;
    options.speculation.drafter = w->drafter;
    options.speculation.n_draft = w->k;
    options.speculation.draft_model = w->drafter == VOUCH_DRAFTER_MODEL ? model : NULL;
    return bench_session(model, &options);
}

static void answers_compute(run *r, const vouch_model *model)
{
    vouch_session *session = session_open(model, &ways[0], 1, r->n_tokens);
    for (int32_t i = 0; i < r->n; i++) r->expected[i] = bench_ask(session, r->prompts[i]);
    vouch_session_close(session);
}

static int longer(const void *a, const void *b)
{
    const size_t left = strlen(*(char *const *)a), right = strlen(*(char *const *)b);
    return (left > right) - (left < right);
}

/* What remains for the plain C kernels. */
static void run_shorten(run *r, const vouch_model *model)
{
    qsort(r->prompts, (size_t)r->n, sizeof *r->prompts, longer);
    for (int32_t i = 0; i < r->n; i++) free(r->expected[i].text);
    for (int32_t i = 2; i < r->n; i++) free(r->prompts[i]);
    if (r->n > 2) r->n = 2;
    r->n_tokens = (r->n_tokens + 7) / 8;
    answers_compute(r, model);
}

static void difference_print(const bench_answer *expected, const bench_answer *got, int32_t prompt)
{
    size_t at = 0;
    while (at < expected->n_text && at < got->n_text && expected->text[at] == got->text[at]) at++;
    printf("    prompt %d differs at byte %zu: \"%.*s\" became \"%.*s\"\n", (int)prompt, at,
           (int)(expected->n_text - at < 40 ? expected->n_text - at : 40), expected->text + at,
           (int)(got->n_text - at < 40 ? got->n_text - at : 40), got->text + at);
}

/* One line: all prompts in one way, with so many threads. */
static void way_compare(run *r, const vouch_model *model, const way *w, int32_t n_threads)
{
    vouch_session *session = session_open(model, w, n_threads, r->n_tokens);
    long n = 0, different = 0;
    int64_t tokens = 0, drafted = 0, accepted = 0;
    double seconds = 0;
    for (int32_t i = 0; i < r->n; i++, n++) {
        bench_answer got = bench_ask(session, r->prompts[i]);
        const bench_answer *want = &r->expected[i];
        if (got.n_tokens != want->n_tokens || got.n_text != want->n_text ||
            memcmp(got.text, want->text, got.n_text) != 0) {
            different++;
            difference_print(want, &got, i);
        }
        tokens += got.n_tokens;
        drafted += got.drafted;
        accepted += got.accepted;
        seconds += got.seconds;
        free(got.text);
    }
    vouch_session_close(session);
    printf("%-12s %-12s %d threads  %3ld answers, %6lld tokens, %5.1f %% of %6lld guesses held, %6.1f "
           "tokens/s  %s\n",
           vouch_model_get_info(model)->cpu, w->name, (int)n_threads, n, (long long)tokens,
           drafted ? 100.0 * (double)accepted / (double)drafted : 0.0, (long long)drafted,
           (double)tokens / seconds, different ? "DIFFERENT" : "same");
    fflush(stdout);
    r->n_compared += n;
    r->n_different += different;
}

static void cpu_compare(run *r, const bench_flags *flags, const char *cpu)
{
    const bool few = strcmp(cpu, "ref") == 0;
    vouch_model *model = bench_open(flags->model, cpu);
    for (int32_t threads = 1; threads <= MAX_THREADS; threads++) {
        if (flags->n_threads && threads != flags->n_threads) continue;
        for (int i = 0; i < N_WAYS; i++)
            if (!few || i == 0 || i == 2 || i == 6) way_compare(r, model, &ways[i], threads);
    }
    vouch_model_close(model);
}

int main(int argc, char **argv)
{
    const bench_flags flags = bench_parse(argc, argv);
    static run r;
    size_t n_cpus = 0;
    r.n_each = flags.n_prompts ? flags.n_prompts : 8;
    r.n_tokens = flags.n_tokens ? flags.n_tokens : 128;
    if (r.n_each > MAX_EACH) r.n_each = MAX_EACH;
    prompts_load(&r, flags.data);
    while (vouch_cpu_name(n_cpus)) n_cpus++;

    vouch_model *model = bench_open(flags.model, NULL);
    printf("%d prompts, at most %d tokens each; expected answers from %s, 1 thread, no speculation\n",
           (int)r.n, (int)r.n_tokens, vouch_model_get_info(model)->cpu);
    fflush(stdout);
    answers_compute(&r, model);
    /* Narrowest, "ref", last. */
    for (size_t i = n_cpus; i-- > 0;) {
        if (flags.cpu && strcmp(flags.cpu, vouch_cpu_name(i)) != 0) continue;
        if (strcmp(vouch_cpu_name(i), "ref") == 0) run_shorten(&r, model);
        cpu_compare(&r, &flags, vouch_cpu_name(i));
    }
    vouch_model_close(model);
    printf("%ld answers compared, %ld different\n", r.n_compared, r.n_different);
    for (int32_t i = 0; i < r.n; i++) {
        free(r.prompts[i]);
        free(r.expected[i].text);
    }
    return r.n_different > 0 || r.n_compared == 0;
}
